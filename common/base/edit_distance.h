/** @file base/edit_distance.h  Compares a misspelt word with the words that are known. */
#ifndef EDIT_DISTANCE_H
#define EDIT_DISTANCE_H

#include <stddef.h>

/**
 * Returns the edit distance between `word`'s first `length` letters and `known_word`: the number of letters to add,
 * remove or replace. Returns SIZE_MAX if a word has more than 64 letters.
 */
size_t edit_distance(const char *word, size_t length, const char *known_word);
#endif
