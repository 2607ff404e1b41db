/** @file proxy.h  What bulk copies and products may see of memory that loads and stores have written. */
#ifndef SIMT_PROXY_H
#define SIMT_PROXY_H

#include "shadow.h"

/** This epoch is of nothing but what a bulk copy writes. False: no memory. */
bool simt_proxy_note_epoch(void);

/**
 * Ends the launch unless copies and products may see what was last written to a word: by another copy, or before a
 * fence between the two ways to memory that is ordered before now.
 */
void simt_check_proxy(const struct shadow_cell *cell, enum shadow_space space, uintptr_t pc, const char *reader);

#endif
