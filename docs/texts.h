/** @file texts.h  Different texts in the order they came in, for lines that say where figures come from. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stdio.h>

enum { MAX_TEXTS = 40, TEXTS_SIZE = 512 };

struct texts {
    char texts[MAX_TEXTS][TEXTS_SIZE];
    int count;
};

/** Adds a text unless it is there or empty, without what Markdown would take for its own. Past MAX_TEXTS it adds nothing. */
void texts_add(struct texts *texts, const char *text);

/**
 * Adds a command with NAME for the program's own name, so that those of several chapters are one, and without " --out ...":
 * where it was written says nothing about the figures.
 */
void texts_add_command(struct texts *texts, const char *command, const char *program);

/** Writes "a, b and c", each between `quote`s. */
void texts_write(FILE *out, const struct texts *texts, const char *quote);

#endif
