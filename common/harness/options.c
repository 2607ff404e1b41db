#include "harness/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool option_integer(const char *flag, const char *text, int64_t lowest, int64_t highest, int64_t *value,
                    struct error *error)
{
    char *end;

    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end == text || *end || text[0] == ' ')
        return error_set(error, "--%s: '%s' is not a whole number", flag, text);
    if (errno == ERANGE || *value < lowest || *value > highest)
        return error_set(error, "--%s: %s; it must be %" PRId64 " to %" PRId64, flag, text, lowest, highest);
    return true;
}

bool option_int(const char *flag, const char *text, int lowest, int highest, int *value, struct error *error)
{
    int64_t wide = 0;
    const bool good = option_integer(flag, text, lowest, highest, &wide, error);

    *value = (int)wide;
    return good;
}

bool option_float(const char *flag, const char *text, float *value, struct error *error)
{
    char *end;

    *value = strtof(text, &end);
    if (end == text || *end || text[0] == ' ' || !isfinite(*value))
        return error_set(error, "--%s: '%s' is not a finite number", flag, text);
    return true;
}

bool option_word(const char *flag, const char *text, const char *const *words, int count, int *value,
                 struct error *error)
{
    char list[160] = "";
    size_t used = 0;

    for (int i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i;
            return true;
        }
        if (used < sizeof list)
            used += snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    return error_set(error, "--%s: '%s'; it must be one of %s", flag, text, list);
}

/** Says what argp stumbled over: it stops behind the offending word. */
static bool explain_stop(const struct argp *argp, char **argv, int stop, struct error *error)
{
    const char *word = stop > 0 && argv[stop - 1] ? argv[stop - 1] : "";

    for (const struct argp_option *option = argp->options; option->name || option->doc; option++)
        if (option->name && strncmp(word, "--", 2) == 0 && strcmp(word + 2, option->name) == 0)
            return error_set(error, "%s: needs a value", word);
    return error_set(error, "%s: no such argument; --help lists them", word);
}

bool options_run(const struct argp *argp, int argc, char **argv, void *input, struct error *error)
{
    int stop = 0;

    error->text[0] = '\0';
    if (argp_parse(argp, argc, argv, ARGP_NO_ERRS | ARGP_IN_ORDER, &stop, input) == 0)
        return true;
    return error->text[0] ? false : explain_stop(argp, argv, stop, error);
}
