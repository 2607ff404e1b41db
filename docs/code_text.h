/** @file code_text.h  A source file as coloured HTML. */
#ifndef CODE_TEXT_H
#define CODE_TEXT_H

#include "harness/core/error.h"

#include <stddef.h>
#include <stdio.h>

/** A file and what each of its bytes is. */
struct code_text {
    char *text;
    unsigned char *kinds; /**< of each byte: comment, keyword, ... */
    bool *marked;         /**< of each byte: to be emphasised */
    size_t *starts;       /**< of line n, from 1: where it begins; starts[num_lines + 1] is the end */
    int num_lines;
};

/** Reads a file of C or CUDA C. Returns false with the reason, nothing to free. */
bool code_text_read(const char *path, struct code_text *code, struct error *error);

void code_text_free(struct code_text *code);

/** How many bytes line `line` has, without its newline. */
size_t code_text_length(const struct code_text *code, int line);

/** Writes a line, from 1, without its newline. */
void code_text_write(FILE *out, const struct code_text *code, int line);

/** Writes text as HTML that can stand in a page for Doxygen. */
void code_write_escaped(FILE *out, const char *text, size_t length);

#endif
