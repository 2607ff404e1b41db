/**
 * @file core/option.h
 * @brief A program's options as a table, for parsing, checks, --help and the command that reproduces a run.
 */
#ifndef OPTION_H
#define OPTION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kind of an option's value, and the type of the field that it sets. */
enum option_type {
    OPTION_FLAG,  /**< none: bool */
    OPTION_TEXT,  /**< any string: const char *, which points into argv */
    OPTION_PATH,  /**< a path, or a word that stands for one: like OPTION_TEXT, but not empty */
    OPTION_INT,   /**< int */
    OPTION_INT64, /**< int64_t; uint64_t if `least` is 0 */
    OPTION_FLOAT, /**< float, finite */
    OPTION_BOOL,  /**< bool: 0 or 1, or the index of one of two words */
    OPTION_WORD,  /**< int or an enum: the index of one of the words */
};

/** An option or, if `name` is NULL, the heading of a group in --help. An all-zero row terminates a table. */
struct option_row {
    const char *name;        /**< option name without the dashes */
    const char *placeholder; /**< placeholder for the value in --help; NULL for a flag */
    const char *help;
    int help_group; /**< group in --help, where each group is sorted by name */
    enum option_type type;
    size_t field_offset;            /**< offset of the field in the program's options */
    size_t given_offset;            /**< offset of a bool that is set if the option is given; 0 if there is none */
    int64_t least, most;            /**< allowed range of an integer or of an OPTION_BOOL without words */
    const char *const *value_words; /**< words of OPTION_WORD and some OPTION_BOOL; NULL-terminated */
    /** Called after the field has been set; may be NULL. On failure, returns false and sets *error. */
    bool (*on_parse)(const struct option_row *row, void *options, struct error *error);
    /**
     * The command that reproduces a run contains the option if `in_command_if_traits` is 0 or if the run has one of
     * these traits. A flag is included only if it is set, and a string only if it is not NULL.
     */
    unsigned in_command_if_traits;
    const struct option_row *next_table; /**< continuation of the table, or NULL; if set, the row is otherwise empty */
};

/** A trait that no run has. Other traits are bits from 2 up. */
enum { TRAIT_OF_NO_RUN = 1 };

/**
 * Lines "NAME: VALUE\n" that --version prints after the course's name and the compiler; "" unless a program sets them
 * before options_parse(). Tests read these lines to find out which features a build has.
 */
extern const char *options_version_lines;

/**
 * Parses the command line into `options`; --help and --version print and exit. `help_text` is the --help text before
 * and after the options. --help omits the options in `unsupported`, a NULL-terminated list or NULL: the program parses
 * these options only to report why it does not support them. On failure the error names the argument, its value and the
 * allowed values.
 */
bool options_parse(const struct option_row *table, const char *const *unsupported, const char *help_text, int argc,
                   char **argv, void *options, struct error *error);

/**
 * Returns the first option of a parsed command line that is not in `allowed_names`, a NULL-terminated list, or NULL if
 * every option is in the list.
 */
const char *options_find_given_but_disallowed(const struct option_row *table, const char *const *allowed_names,
                                              int argc, char **argv);

/**
 * Returns the shell command that reproduces a run with these traits: the program and, in the table's order, its
 * options. The caller frees the string. Returns NULL if out of memory.
 */
char *options_format_command(const struct option_row *table, const void *options, unsigned trait_mask,
                             const char *program);

#endif
