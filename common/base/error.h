/** @file base/error.h  An error as a value: one line for the user, and how the program ends with it. */
#ifndef ERROR_H
#define ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a program ends. The numbers are its exit codes. */
enum run_result {
    RUN_VERIFIED = 0,
    RUN_WRONG = 1,
    RUN_BAD_INPUT = 2,
    RUN_NO_DEVICE = 3 /**< no device, or the device or the memory does not suffice */
};

/** What went wrong: what was given and what is allowed, one line without a newline. */
struct error {
    char text[640];
    enum run_result result; /**< RUN_VERIFIED as long as nothing went wrong */
    bool unsupported;       /**< the kernel does not take such a problem; another may do so */
};

/** What a checker expected, or what it got, in a few words. */
typedef char error_words[96];

/**
 * Formats the line, its middle left out if it does not fit, control characters as '?'; the result is RUN_BAD_INPUT, or
 * the given one. Returns false, so that a function can end with `return error_set(...)`.
 */
#define error_set(error, ...) error_set_as(error, RUN_BAD_INPUT, __VA_ARGS__)
__attribute__((format(printf, 3, 4))) bool error_set_as(struct error *error, enum run_result result, const char *format,
                                                        ...);

/** Formats the words, cut to fit. */
__attribute__((format(printf, 2, 3))) void error_words_set(error_words *words, const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif
