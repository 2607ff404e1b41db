#include "harness/core/option.h"

#include "base/edit_distance.h"
#include "base/number.h"
#include "base/standard_output.h"

#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *options_version_lines = "";

/** Prints the output of --version: the course, the compiler of the C files, and the program's own lines. */
static void show_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "MoE routing, kernel by kernel: 1.0\ncompiler: %s\n%s", COMPILER, options_version_lines);
}

void (*argp_program_version_hook)(FILE *stream, struct argp_state *state) = show_version;

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool parse_word(const char *name, const char *text, const char *const *words, int *value, struct error *error)
{
    char list[160] = "";
    size_t used = 0;

    for (int i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i;
            return true;
        }
        if (used < sizeof list)
            used += snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    return error_set(error, "--%s: '%s'; it must be one of %s", name, text, list);
}

static bool is_text(const struct option_row *option)
{
    return option->type == OPTION_TEXT || option->type == OPTION_PATH;
}

/** Sets the option's field from its value, then calls its on_parse(). */
static bool set_option(const struct option_row *option, const char *text, void *options, struct error *error)
{
    void *const field = (char *)options + option->field_offset;
    int64_t number = 0;
    bool good = true;
    int word = 0;

    if (option->given_offset)
        *(bool *)((char *)options + option->given_offset) = true;
    if (option->type == OPTION_PATH && !text[0])
        return error_set(error, "--%s: '' is not a file's name", option->name);
    if (option->value_words)
        good = parse_word(option->name, text, option->value_words, &word, error);
    else if (option->type == OPTION_INT || option->type == OPTION_INT64 || option->type == OPTION_BOOL)
        good = parse_integer(option->name, text, option->least, option->most, &number, error);
    if (!good && option->type == OPTION_BOOL && !option->value_words)
        error_set(error, "--%s: '%s'; it must be 0 or 1", option->name, text);

    if (option->type == OPTION_FLAG)
        *(bool *)field = true;
    else if (is_text(option))
        *(const char **)field = text;
    else if (option->type == OPTION_FLOAT)
        good = parse_float(option->name, text, field, error);
    else if (option->type == OPTION_INT64)
        *(int64_t *)field = number;
    else if (option->type == OPTION_BOOL)
        *(bool *)field = number == 1 || word == 1;
    else
        *(int *)field = option->value_words ? word : (int)number;
    return good && (!option->on_parse || option->on_parse(option, options, error));
}

/* --- command line ------------------------------------------------------------------------------------------------- */

/** Returns the next row, in the same table or in the table that continues it, or NULL after the last row. */
static const struct option_row *next_row(const struct option_row *option)
{
    option = option[1].next_table ? option[1].next_table : option + 1;
    return option->name || option->help ? option : NULL;
}

/**
 * Returns the number of options that the first `length` bytes of `name` abbreviate. Sets *found to the exact match if
 * there is one, else to the last match.
 */
static int match_option(const struct option_row *table, const char *name, size_t length,
                        const struct option_row **found)
{
    int matches = 0;

    for (const struct option_row *option = table; option; option = next_row(option)) {
        if (!option->name || strncmp(option->name, name, length) != 0)
            continue;
        *found = option;
        if (option->name[length] == '\0')
            return 1;
        matches++;
    }
    return matches;
}

/** Returns the option whose name is closest to a misspelt one, or NULL if none is similar. */
static const struct option_row *find_similar(const struct option_row *table, const char *name, size_t length)
{
    const struct option_row *similar = NULL;
    size_t least = length / 3 + 1;

    for (const struct option_row *option = table; option; option = next_row(option)) {
        const size_t distance = option->name ? edit_distance(name, length, option->name) : SIZE_MAX;

        if (distance < least) {
            least = distance;
            similar = option;
        }
    }
    return similar;
}

/** Sets the error for a word that begins with "--" but matches no option. */
static void refuse_unknown(const struct option_row *table, const char *word, size_t length, struct error *error)
{
    const struct option_row *const similar = find_similar(table, word + 2, length);

    if (similar)
        error_set(error, "%s: no such argument; is it --%s? --help lists them", word, similar->name);
    else
        error_set(error, "%s: no such argument; --help lists them", word);
}

/** Sets the error for a word that begins with "--" and abbreviates several options. */
static void refuse_ambiguous(const struct option_row *table, const char *word, size_t length, struct error *error)
{
    char list[256] = "";
    size_t used = 0;

    for (const struct option_row *option = table; option && used < sizeof list; option = next_row(option))
        if (option->name && strncmp(option->name, word + 2, length) == 0)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s", used ? ", " : "", option->name);
    error_set(error, "%s: may be more than one argument: %s", word, list);
}

/** Returns whether a NULL-terminated list contains the name; the list itself may be NULL. */
static bool is_among(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

/** Prints the text of --help, --usage or --version, and exits. */
static _Noreturn void show_help(const struct option_row *table, const char *const *refused, const char *doc,
                                const char *program, const char *word)
{
    enum { MAX_ROWS = 64 }; /* more rows than any program has */
    char *const arguments[] = {(char *)program, (char *)word, NULL};
    struct argp_option rows[MAX_ROWS + 1] = {{0}};
    int count = 0;

    for (const struct option_row *option = table; option && count < MAX_ROWS; option = next_row(option))
        if (!option->name || !is_among(refused, option->name)) {
            rows[count] = (struct argp_option){
                option->name, option->name ? 256 + count : 0, option->placeholder, 0, option->help, option->help_group};
            count++;
        }

    const struct argp argp = {.options = rows, .doc = doc};

    struct error error = {.exit_code = RUN_VERIFIED};

    unsetenv("ARGP_HELP_FMT"); /* some values of this variable make argp print forever */
    argp_parse(&argp, 2, (char **)arguments, ARGP_NO_EXIT, NULL, NULL);
    if (!standard_output_flush(&error))
        fprintf(stderr, "%s: %s\n", program, error.text);
    exit(error.exit_code);
}

static bool is_help(const char *word)
{
    static const char *const words[] = {"--help", "--usage", "--version", "-?", "-V"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/**
 * Returns whether argv[i], which names no option, continues a list of numbers, because there is a space in the list: a
 * comma is at either side of it, or the option before it takes a list.
 */
static bool is_part_of_list(const struct option_row *table, char **argv, int i)
{
    const char *const previous = argv[i - 1], *const word = argv[i];
    const size_t length = strlen(previous);
    const struct option_row *option = NULL;

    if (strncmp(word, "--", 2) == 0)
        return false;
    if (i > 2 && strncmp(argv[i - 2], "--", 2) == 0)
        match_option(table, argv[i - 2] + 2, strlen(argv[i - 2] + 2), &option);
    return word[0] == ',' || (length > 0 && previous[length - 1] == ',') ||
           (isdigit((unsigned char)word[0]) && option && option->placeholder && strchr(option->placeholder, ','));
}

/** Finds the option that argv[*i] names and its value, which is in the same word or in the next one. */
static const struct option_row *find_option(const struct option_row *table, int argc, char **argv, int *i,
                                            const char **value, struct error *error)
{
    const char *const word = argv[*i];
    const struct option_row *option = NULL;
    const size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
    const bool has_value = length > 0 && word[2 + length] == '=';

    if (is_part_of_list(table, argv, *i))
        error_set(error, "%s: unexpected; a list is one argument, without spaces, such as 4,1,5,3", word);
    else if (strncmp(word, "--", 2) != 0 || word[2] == '\0')
        error_set(error,
                  word[0] == '-' ? "%s: no such argument; --help lists them"
                                 : "%s: unexpected; every argument has a flag, --help lists them",
                  word);
    else if (match_option(table, word + 2, length, &option) == 0)
        refuse_unknown(table, word, length, error);
    else if (match_option(table, word + 2, length, &option) > 1)
        refuse_ambiguous(table, word, length, error);
    else if (has_value && !option->placeholder)
        error_set(error, "%s: takes no value", word);
    else if (option->placeholder && !has_value && ++*i == argc)
        error_set(error, "%s: needs a value", word);
    else {
        *value = has_value ? word + 2 + length + 1 : argv[*i];
        return option;
    }
    return NULL;
}

bool options_parse(const struct option_row *table, const char *const *unsupported, const char *help_text, int argc,
                   char **argv, void *options, struct error *error)
{
    for (int sets = 0; sets <= 1; sets++) /* the first pass checks all words, the second sets the values */
        for (int i = 1; i < argc; i++) {
            const struct option_row *option;
            const char *value;

            if (is_help(argv[i])) {
                if (!sets)
                    break;
                show_help(table, unsupported, help_text, argv[0], argv[i]);
            }
            option = find_option(table, argc, argv, &i, &value, error);
            if (!option || (sets && !set_option(option, value, options, error)))
                return false;
        }
    return true;
}

const char *options_find_given_but_disallowed(const struct option_row *table, const char *const *allowed_names,
                                              int argc, char **argv)
{
    struct error error;
    const char *value;

    for (int i = 1; i < argc; i++) {
        const char *const name = find_option(table, argc, argv, &i, &value, &error)->name;

        if (!is_among(allowed_names, name))
            return name;
    }
    return NULL;
}

/* --- the command that repeats a run ------------------------------------------------------------------------------- */

/** Writes the shortest decimal form with at least six digits that parses as the same number. */
static void write_float(float value, FILE *stream)
{
    char text[32] = "";

    for (int digits = 6; digits <= 9 && (!text[0] || strtof(text, NULL) != value); digits++)
        snprintf(text, sizeof text, "%.*g", digits, value);
    fputs(text, stream);
}

/** Writes a word, quoted for a shell if necessary. */
static void write_quoted(const char *text, FILE *stream)
{
    const bool plain = text[0] && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                     "%+,-./:=@_")];

    if (plain) {
        fputs(text, stream);
        return;
    }
    putc('\'', stream);
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, stream);
    putc('\'', stream);
}

/** Writes a field's value in the form that its option accepts. */
static void write_value(const struct option_row *option, const void *field, FILE *stream)
{
    if (option->value_words)
        fputs(option->value_words[option->type == OPTION_BOOL ? *(const bool *)field : *(const int *)field], stream);
    else if (is_text(option))
        write_quoted(*(const char *const *)field, stream);
    else if (option->type == OPTION_INT64)
        fprintf(stream, "%" PRId64, *(const int64_t *)field);
    else if (option->type == OPTION_FLOAT)
        write_float(*(const float *)field, stream);
    else
        fprintf(stream, "%d", option->type == OPTION_BOOL ? *(const bool *)field : *(const int *)field);
}

char *options_format_command(const struct option_row *table, const void *options, unsigned trait_mask,
                             const char *program)
{
    char *text = NULL;
    size_t size;
    FILE *const stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    write_quoted(program, stream);
    for (const struct option_row *option = table; option; option = next_row(option)) {
        const void *const field = (const char *)options + option->field_offset;

        if (!option->name || (option->in_command_if_traits && !(option->in_command_if_traits & trait_mask)) ||
            (option->type == OPTION_FLAG && !*(const bool *)field) || (is_text(option) && !*(const char *const *)field))
            continue;
        fprintf(stream, " --%s%s", option->name, option->placeholder ? " " : "");
        if (option->placeholder)
            write_value(option, field, stream);
    }
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}
