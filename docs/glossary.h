/** @file glossary.h  The glossary's terms, and the links to them where a page first uses one. */
#ifndef GLOSSARY_H
#define GLOSSARY_H

#include "harness/core/error.h"

#include <stddef.h>
#include <stdio.h>

enum { GLOSSARY_MAX_WORDS = 256, GLOSSARY_WORD_SIZE = 48 };

/**
 * What leads to a term. In the glossary each heading with an {#id} is a term, and so is what the line behind it lists:
 * `<!-- words: warp, warps -->`. Without that line nothing leads there by itself.
 */
struct glossary_word {
    char word[GLOSSARY_WORD_SIZE], id[GLOSSARY_WORD_SIZE];
};

struct glossary {
    struct glossary_word words[GLOSSARY_MAX_WORDS];
    size_t count;
};

/** Reads the glossary. Returns false with the reason: a word twice, words of no term, no such file. */
bool glossary_read(const char *path, struct glossary *glossary, struct error *error);

/** The terms that a page has linked: a flag for each word. */
struct glossary_seen {
    bool words[GLOSSARY_MAX_WORDS];
};

/**
 * If a word of a term not yet linked stands at `text`, whole and in either case, writes it as a link and returns its length;
 * else 0. `before` is the character before `text`, or 0. Of several words the longest counts.
 */
size_t glossary_link(const struct glossary *glossary, struct glossary_seen *seen, const char *text, char before,
                     FILE *out);

#endif
