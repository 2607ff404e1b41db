/**
 * @file core/option.h
 * @brief A program's options as a table: from it come parsing, checks, --help and the command that repeats a run.
 */
#ifndef OPTION_H
#define OPTION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What an option's value is, and the type of the field that it sets. */
enum option_type {
    OPTION_FLAG,  /**< has no value: bool */
    OPTION_TEXT,  /**< anything, a path: const char *, which stays argv's */
    OPTION_INT,   /**< int */
    OPTION_INT64, /**< int64_t, or uint64_t where the least is 0 */
    OPTION_FLOAT, /**< float, finite */
    OPTION_BOOL,  /**< bool: 0 or 1, or one of two words */
    OPTION_WORD,  /**< int or an enum: the place of one of some words */
};

/** One option; or, without a name, the heading of a group in --help. A row of nothing ends a table. */
struct option_row {
    const char *name;     /**< without its dashes */
    const char *argument; /**< what --help calls its value; NULL for a flag */
    const char *help;
    int group; /**< of --help, whose order in a group is the alphabet's */
    enum option_type type;
    size_t field;             /**< offset in the program's options */
    size_t given;             /**< offset of a bool that says that it was given; 0: nobody asks */
    int64_t least, most;      /**< of whole numbers, an OPTION_BOOL without words among them */
    const char *const *words; /**< of OPTION_WORD and some OPTION_BOOL; NULL ends them */
    /** What is special about it, once its field is set; NULL: nothing. False with the reason. */
    bool (*take)(const struct option_row *row, void *options, struct error *error);
    /**
     * It belongs to the command that repeats a run with one of these traits; 0: with any. Flags and texts: if they are
     * set.
     */
    unsigned repeats;
    const struct option_row *rest; /**< in place of all else: the table goes on there */
};

/** A trait that no run has; others are the operator's, from 2 on. */
enum { WITH_NO_RUN = 1 };

/**
 * Lines "NAME: VALUE\n" that --version adds to the course's name and the compiler; "" until a program sets it, before
 * options_parse(). Tests read there what a build can do.
 */
extern const char *options_version_lines;

/**
 * Parses the command line into `options`; --help and --version print and exit. `doc` is what --help says around the
 * options; of these it leaves out `refused`, a list that NULL ends, or NULL: the program parses them to say why it has
 * none. False with one line that names the argument, what was given and what is allowed.
 */
bool options_parse(const struct option_row *table, const char *const *refused, const char *doc, int argc, char **argv,
                   void *options, struct error *error);

/**
 * The first option on a command line that was parsed which is none of `names`, which NULL ends; NULL: there is none.
 */
const char *options_other(const struct option_row *table, const char *const *names, int argc, char **argv);

/**
 * The command that repeats a run with these traits, as a shell takes it: the program and, in the table's order, its
 * options. The caller frees it; NULL if memory is short.
 */
char *options_command(const struct option_row *table, const void *options, unsigned traits, const char *program);

#endif
