/**
 * @file thread_sets.h
 * @brief Sets of threads of a block, by small numbers: who has read a word. A set of one has its thread's number.
 */
#ifndef SIMT_THREAD_SETS_H
#define SIMT_THREAD_SETS_H

#include "device_limits.h"

#include <stdbool.h>
#include <stdint.h>

enum { THREAD_SETS = 1 << 13, THREAD_SET_NONE = THREAD_SETS };

struct thread_set {
    uint32_t warps; /**< those that have a lane in it */
    uint32_t lanes[BLOCK_WARPS];
};

/** A launch begins: if the numbers are running out, all sets of more than one are forgotten. False: no memory. */
bool simt_thread_sets_prepare(void);
const struct thread_set *simt_thread_set(unsigned number);
/** The set with a thread more, or one less; THREAD_SET_NONE if that is none, or there is no number left. */
unsigned simt_thread_set_add(unsigned number, unsigned thread);
unsigned simt_thread_set_remove(unsigned number, unsigned thread);
bool simt_thread_set_has(unsigned number, unsigned thread);

/** What simt_thread_set_add() has found before: its number, or 0. Words are read by the same threads again and again. */
extern uint16_t (*simt_thread_sets_next)[BLOCK_THREADS];

#endif
