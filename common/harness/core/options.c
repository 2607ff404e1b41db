#include "harness/core/options.h"

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

/** How many options the word `--name` may stand for, as getopt abbreviates; `found` is the exact or the last one. */
static int match_option(const struct argp_option *options, const char *name, size_t length,
                        const struct argp_option **found)
{
    int matches = 0;

    for (const struct argp_option *option = options; option->name || option->doc; option++) {
        if (!option->name || strncmp(option->name, name, length) != 0)
            continue;
        *found = option;
        if (option->name[length] == '\0')
            return 1;
        matches++;
    }
    return matches;
}

/** True for what argp itself answers. */
static bool is_help(const char *word)
{
    static const char *const words[] = {"--help", "--usage", "--version", "-?", "-V"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/** Finds what getopt would complain about in two lines, and says it in one. */
static bool check_words(const struct argp_option *options, int argc, char **argv, struct error *error)
{
    for (int i = 1; i < argc; i++) {
        const char *const word = argv[i];
        const struct argp_option *option = NULL;

        if (is_help(word))
            return true;
        if (strncmp(word, "--", 2) != 0 || word[2] == '\0')
            return error_set(error,
                             word[0] == '-' ? "%s: no such argument; --help lists them"
                                            : "%s: unexpected; every argument has a flag, --help lists them",
                             word);

        const size_t length = strcspn(word + 2, "=");
        const bool has_value = word[2 + length] == '=';

        if (match_option(options, word + 2, length, &option) != 1)
            return error_set(error, "%s: %s; --help lists them", word,
                             option ? "may be more than one argument" : "no such argument");
        if (has_value && !option->arg)
            return error_set(error, "%s: takes no value", word);
        if (option->arg && !has_value && ++i == argc)
            return error_set(error, "%s: needs a value", word);
    }
    return true;
}

bool options_run(const struct argp *argp, int argc, char **argv, void *input, struct error *error)
{
    error->text[0] = '\0';
    if (!check_words(argp->options, argc, argv, error))
        return false;
    return argp_parse(argp, argc, argv, ARGP_IN_ORDER, NULL, input) == 0;
}
