#include "base/environment.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/**
 * Returns whether `text` is an integer from 1 to `most` or, if `list` is set, a comma-separated list of such integers.
 */
static bool are_counts(const char *text, int64_t most, bool list)
{
    char number[24];
    int64_t value;

    for (size_t length;; text += length + 1) {
        length = list ? strcspn(text, ",") : strlen(text);
        if (length >= sizeof number)
            return false;
        memcpy(number, text, length);
        number[length] = '\0';
        if (!parse_integer("", number, 1, most, &value, &(struct error){0}))
            return false;
        if (!text[length])
            return true;
    }
}

bool simt_order_variable_check(struct error *error)
{
    const char *const order = getenv("SIMT_ORDER");
    int64_t seed;

    return !order || strcmp(order, "reverse") == 0 ||
           (strncmp(order, "random:", 7) == 0 &&
            parse_integer("", order + 7, 0, INT64_MAX, &seed, &(struct error){0})) ||
           error_set(error, "SIMT_ORDER: '%s'; where it is set, it must be reverse or random:SEED, such as random:1",
                     order);
}

bool environment_variables_check(struct error *error)
{
    static const struct {
        const char *name;
        int64_t most;
        bool list; /* whether a list is allowed: one number per level of nested parallel regions */
    } variables[] = {{"OMP_NUM_THREADS", 1024, true}, {"SIMT_EVENT_LIMIT", INT64_MAX, false}};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *const text = getenv(variables[i].name);

        if (text && !are_counts(text, variables[i].most, variables[i].list))
            return error_set(error, "%s: '%s'; where it is set, it must be 1 to %" PRId64 ", in digits",
                             variables[i].name, text, variables[i].most);
    }
    return simt_order_variable_check(error);
}
