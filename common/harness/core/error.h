/** @file error.h  An error as a value: one line for the user. */
#ifndef ERROR_H
#define ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What went wrong: what was given and what is allowed, one line without a newline. */
struct error {
    char text[640];
};

/** Formats the line, cut to fit. Returns false, so that a function can end with `return error_set(...)`. */
__attribute__((format(printf, 2, 3))) bool error_set(struct error *error, const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif
