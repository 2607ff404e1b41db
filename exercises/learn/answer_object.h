/** @file answer_object.h  What a compiled answer may bring into the program that grades it. */
#ifndef ANSWER_OBJECT_H
#define ANSWER_OBJECT_H

#include "base/error.h"

#include <stdbool.h>

/**
 * Looks into an object file (64-bit ELF). An answer brings nothing that runs before main() or after it, and of names
 * that C programs go by only those of the functions that `header`, the text of exercise.h, declares; and it asks for
 * nothing but what CUDA's headers and the mathematics library offer. False with one line.
 */
bool answer_object_check(const char *path, const char *header, struct error *error);

#endif
