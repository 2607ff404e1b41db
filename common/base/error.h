/** @file base/error.h  Errors as values: one line for the user, and the program's exit code. */
#ifndef ERROR_H
#define ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The exit codes of a program. */
enum run_exit_code {
    RUN_VERIFIED = 0,
    RUN_WRONG = 1,
    RUN_BAD_INPUT = 2,
    RUN_CANNOT_RUN =
        3 /**< no device or an unsuitable one, too little memory, a rank that timed out, a missing library */
};

/** An error: a one-line message, without a newline, that names the invalid value and the allowed values. */
struct error {
    char text[1536];
    enum run_exit_code exit_code; /**< RUN_VERIFIED if there is no error */
    bool problem_is_unsupported;  /**< this kernel does not support the problem, but another kernel may */
};

/** Separates the advice from the rest of the message of a simulator fault, on the same line. */
#define ERROR_ADVICE_SEPARATOR "; try: "

/** Returns the part of a line from ERROR_ADVICE_SEPARATOR on, or the line's end ("") if it contains no advice. */
const char *error_find_advice_separator_or_end(const char *line);

/** A short phrase that describes what a checker expected or got. */
typedef char error_phrase[96];

/**
 * Formats the line, omitting its middle if it is too long, and replaces control characters with '?'. error_set() sets
 * the exit code to RUN_BAD_INPUT, error_set_as() to `exit_code`. Both return false, so that a function can end with
 * `return error_set(...)`.
 */
#define error_set(error, ...) error_set_as(error, RUN_BAD_INPUT, __VA_ARGS__)
__attribute__((format(printf, 3, 4))) bool error_set_as(struct error *error, enum run_exit_code exit_code,
                                                        const char *format, ...);

/** Formats a phrase, truncated to fit. */
__attribute__((format(printf, 2, 3))) void error_phrase_set(error_phrase *phrase, const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif
