#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool parse_integer(const char *flag, const char *text, int64_t least, int64_t most, int64_t *value, struct error *error)
{
    char *end;

    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end == text || *end || isspace((unsigned char)text[0]) || text[0] == '+')
        return error_set(error, "--%s: '%s' is not a whole number%s", flag, text,
                         isspace((unsigned char)text[0]) ? " (leave out the white space)" : "");
    if (*value < least && most >= INT_MAX) /* only the type limits the value from above */
        return error_set(error, "--%s: %s; it must be %" PRId64 " or more", flag, text, least);
    if (errno == ERANGE || *value < least || *value > most)
        return error_set(error, "--%s: %s; it must be %" PRId64 " to %" PRId64, flag, text, least, most);
    return true;
}

bool parse_list_element(const char *flag, const char *list, int index, const char **at, int64_t most, const char *owner,
                        int64_t *value, struct error *error)
{
    const size_t length = strcspn(*at, ",");
    const char *const place = !*list       ? "the list is empty"
                              : !**at      ? "nothing after the last comma"
                              : index == 0 ? "nothing before the first comma"
                                           : "nothing between two commas";
    char element[64];

    if (length >= sizeof element)
        return error_set(error, "--%s: '%.40s...' is not a whole number", flag, *at);
    if (length == 0)
        return error_set(error, "--%s: '%s' has no number for %s %d (%s); 0 is for none", flag, list, owner, index,
                         place);
    snprintf(element, sizeof element, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return parse_integer(flag, element, 0, most, value, error);
}

bool parse_float(const char *flag, const char *text, float *value, struct error *error)
{
    char *end;

    *value = strtof(text, &end);
    if (end == text || *end || isspace((unsigned char)text[0]))
        return error_set(error, "--%s: '%s' is not a number%s", flag, text,
                         *end == ',' ? " (a decimal point is written '.')" : "");
    return isfinite(*value) || error_set(error, "--%s: '%s' is not a finite number", flag, text);
}
