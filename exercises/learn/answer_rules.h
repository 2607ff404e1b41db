/** @file answer_rules.h  What a region may hold, by its text: kernel code that stays where it is. */
#ifndef ANSWER_RULES_H
#define ANSWER_RULES_H

#include "regions.h"

/**
 * Looks at each region of a text as regions_fill() makes it. A region ends what it begins: comments, brackets and
 * braces. Its preprocessor lines are `#pragma unroll` and macros that nothing else in the file can meet. It has none of
 * the words with which a compiler is told to leave something out, or to put something elsewhere: asm, attributes. So an
 * answer is what a kernel is made of, and what it does is counted. False with one line, PATH:LINE: error: and what is
 * wrong.
 */
bool answer_rules_check(const struct text *text, struct error *error);

#endif
