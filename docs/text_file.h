/** @file text_file.h  Text files as a whole, and their lines. */
#ifndef TEXT_FILE_H
#define TEXT_FILE_H

#include "harness/core/error.h"

#include <stddef.h>

/** Reads a text of at most 4 MiB without a NUL; the caller frees it. NULL with one line that names the file. */
char *text_file_read(const char *path, struct error *error);

/** Whether there is a regular file. */
bool text_file_exists(const char *path);

/** The next line without its newline, `*text` moved behind it; NULL at the end. Cuts the text up. */
char *text_line(char **text);

/** Whether `text` begins with `prefix`. */
bool text_begins(const char *text, const char *prefix);

#endif
