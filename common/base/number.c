#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

bool parse_integer(const char *flag, const char *text, int64_t least, int64_t most, int64_t *value, struct error *error)
{
    char *end;

    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end == text || *end || isspace((unsigned char)text[0]) || text[0] == '+')
        return error_set(error, "--%s: '%s' is not a whole number", flag, text);
    if (*value < least && most >= INT_MAX) /* only the type limits the value from above */
        return error_set(error, "--%s: %s; it must be %" PRId64 " or more", flag, text, least);
    if (errno == ERANGE || *value < least || *value > most)
        return error_set(error, "--%s: %s; it must be %" PRId64 " to %" PRId64, flag, text, least, most);
    return true;
}

bool parse_float(const char *flag, const char *text, float *value, struct error *error)
{
    char *end;

    *value = strtof(text, &end);
    return (end != text && !*end && !isspace((unsigned char)text[0]) && isfinite(*value)) ||
           error_set(error, "--%s: '%s' is not a finite number", flag, text);
}
