/**
 * @file source.h
 * @brief A kernel file in the rewriter: its text, its code without comments and literals, functions that navigate the
 *        code, and functions that write the output.
 */
#ifndef SIMT_REWRITER_SOURCE_H
#define SIMT_REWRITER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NOWHERE SIZE_MAX

enum { MAX_CONDITIONALS = 64, MAX_NESTING_DEPTH = 256, MAX_STRINGIZING_MACROS = 64 };

/** Text to be inserted before the character at `position`. */
struct insertion {
    size_t position, sequence;
    const char *text;
};

/** A function of the file: its name, which is empty for operator(), and which parameters are passed by value. */
struct declared_function {
    size_t name_begin, name_length;
    unsigned num_parameters;
    uint32_t by_value_parameter_mask; /* bit i: parameter i is passed by value, and its type may be a class */
    uint32_t class_parameter_mask;    /* bit i: its type is certainly a class */
};

/**
 * A conditional on __CUDA_ARCH__ that becomes an if: the positions of its first directive, of its `else` (NOWHERE if
 * there is none) and of its last directive, and the positions where these lines end. All are 0 before the first such
 * conditional.
 */
struct architecture_conditional {
    size_t if_begin, if_end, else_begin, else_end, endif_begin, endif_end;
};

struct source {
    const char *path;
    char *text;  /* a #line directive, then the file; ends with '\0' */
    char *code;  /* the text with comments and white space as ' ', literals as '"'; '\n' only where a directive ends */
    size_t size; /* number of characters, the same in text and code */
    size_t num_copied_characters; /* number of characters that have been written to the output */
    struct insertion *insertions;
    size_t num_insertions, insertion_capacity, num_inserted; /* the first `num_inserted` have been written */

    size_t stringizing_macros[MAX_STRINGIZING_MACROS]; /* names of macros like #define NAME(x) #x */
    size_t num_stringizing_macros;

    struct declared_function *functions;
    size_t num_functions, function_capacity;

    /*
     * The current position: the number of open braces; how many were open at the beginning of the current function and
     * of the current device function (0 if none); the number of open #if, and how many braces were open at each.
     */
    int num_open_braces, num_braces_at_function, num_braces_at_device_function;
    size_t device_body_begin;     /* position of the device function's body */
    bool in_host_device_function; /* the device function is a host function as well */
    bool in_host_only_function;   /* the current function certainly belongs to the host */
    int num_open_conditionals, num_braces_at_conditional[MAX_CONDITIONALS];
    struct architecture_conditional architecture_conditional;

    size_t checked_launch_kernel; /* the name in the last launch accepted by check_launch_matches_kernel(), or 0 */
    bool checked_kernel_is_own;   /* this name is certainly that of a kernel of the file */
};

/** Reads the file and puts a `#line` directive before its text. The caller frees the buffers, even after a failure. */
bool read_source(struct source *source, FILE *file);

/** Fills source->code from source->text. Returns false after printing an error. */
bool strip_comments_and_literals(struct source *source);

/** Finds the macros of the file that stringize a parameter. */
void find_stringizing_macros(struct source *source);

/**
 * Returns whether assert or a macro that stringizes its arguments is called at `position`, so that they must not be
 * rewritten: they would be printed so. Returns false for arguments with a launch, which are rewritten nevertheless.
 */
bool must_not_rewrite_call_arguments(const struct source *source, size_t position);

/** Checks that every brace is closed. If not, prints which one is not, or which comment contains its closing brace. */
bool check_braces_balanced(const struct source *source);

/** Prints "FILE:LINE: what" and returns false. */
bool print_error_at(const struct source *source, size_t position, const char *message);

/* --- walking through code ----------------------------------------------------------------------------------------- */

/** Returns whether a character may be part of a name: a letter, a digit or '_'. */
bool is_word_character(char c);
bool starts_with(const char *text, const char *prefix);

/** Returns whether `c` is one of `characters`, not counting the terminating '\0'. */
bool is_one_of(char c, const char *characters);

/** Returns the position of the next character that is not white space, at `position` or after it. */
size_t skip_space(const char *code, size_t position);
/** Returns the end of the text before `position` without the white space right before `position`. */
size_t skip_space_back(const char *code, size_t position);

/** Returns the end of the word or number at `position`; 1'000 is one number. */
size_t word_end(const char *text, size_t position);

/** Returns the start of the word that ends at `end`, or `end` if there is none. */
size_t word_begin(const char *text, size_t end);

/** Returns whether `word`, and not only its beginning, is at `position`. */
bool is_word_at(const char *code, size_t position, const char *word);

/** Returns whether one of `words`, a NULL-terminated array, occurs in [begin, end). */
bool contains_any_word(const char *code, size_t begin, size_t end, const char *const *words);

/** Returns the position of `word` before `position` in the same declaration, or NOWHERE. */
size_t find_word_earlier_in_declaration(const char *code, size_t position, const char *word);

/** Returns whether the `{` or `(` at `open` begins the value of a member in a constructor: `a(int b) : c{b} {`. */
bool opens_member_initializer(const char *code, size_t open);

/**
 * Returns the beginning of the declaration whose body or value begins with the `{` at `open_brace`. It is after the
 * last `;`, brace or directive before it, not counting those in parentheses, as in `f(s a = s{1, 2}) {`, and in
 * initialisers of members, as in `: a{1}, b{2} {`; or, if the `{` itself is in parentheses, after the opening one.
 */
size_t declaration_begin_before_brace(const char *code, size_t open_brace);

/** Returns the position of `word` in [begin, end) outside parentheses that are closed there, or NOWHERE. */
size_t find_word_outside_parentheses(const char *code, size_t begin, size_t end, const char *word);

/**
 * Returns the position of the bracket that matches the one at `position`, searching forward (step 1) or back (step -1).
 * Returns NOWHERE if there is none in the same statement or directive, or if brackets are nested more than
 * MAX_NESTING_DEPTH deep. < and > count as brackets only inside < and >, and not as part of <<, or ->.
 */
size_t matching_bracket(const char *code, size_t position, int step);

/**
 * Returns whether the word that ends at `end` is a keyword that may be followed by a value, such as `return`; a name or
 * a number cannot be followed by one.
 */
bool is_keyword_before_value(const char *code, size_t end);

/**
 * Returns whether the `(` at `open` follows a type, or the comma of a list of declarations, so that the parentheses may
 * contain the name that is declared: `int (*name)[2]`.
 */
bool may_enclose_declarator(const char *code, size_t open);

/** Returns whether the statement at `position` begins like a declaration: a type, then a name. */
bool begins_declaration(const char *code, size_t position);

/** Returns whether the innermost brackets around `position` contain `...`, as those of a fold expression do. */
bool may_be_in_fold_expression(const char *code, size_t position);

/** Returns whether a value ends at `end`, so that an operator after it has two operands. */
bool value_ends_at(const char *code, size_t end);

/**
 * Returns the start of the chain of members and subscripts that ends at `end`, such as a.b[i]->c, or `end` if there is
 * none.
 */
size_t member_chain_begin(const char *code, size_t end);

/**
 * Returns the size, which is also the alignment, of the built-in type or vector whose name ends with the word in
 * [begin, end), or 0 for other words.
 */
unsigned size_of_built_in_type(const char *code, size_t begin, size_t end);

/**
 * Returns the end of the name at `position` and of its members, subscripts and calls, as in a.b[i]->c(d), or `position`
 * if there is no name.
 */
size_t postfix_expression_end(const char *code, size_t position);

/* --- output ------------------------------------------------------------------------------------------------------- */

/** Writes the text up to `end` with its insertions. */
void copy_to_output_until(struct source *source, size_t end);

/** Writes the text up to `end`; the insertions at `end` are to follow later. */
void copy_to_output_before_insertions(struct source *source, size_t end);

/** Writes the text up to `begin`, then `text` in place of [begin, end). */
void copy_to_output_replacing(struct source *source, size_t begin, size_t end, const char *text);

/** Makes room for one more entry of `entry_bytes` bytes. Returns false after an error message at `position`. */
bool reserve_array_entry(const struct source *source, size_t position, void **entries, size_t num_entries,
                         size_t *capacity, size_t entry_bytes);

/**
 * Records that `text`, which must outlive the source, is to be written before the character at `position`. Returns
 * false if memory runs out.
 */
bool add_insertion(struct source *source, size_t position, const char *text);

/**
 * Sorts the insertions that have not been written yet; those at the same position keep the order in which they were
 * made.
 */
void sort_insertions(struct source *source);

/** Writes [begin, end) on one line, without comments; strings that extend over several lines are joined. */
void write_joined_line(const struct source *source, size_t begin, size_t end);

#endif
