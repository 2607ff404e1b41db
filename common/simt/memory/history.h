/**
 * @file history.h
 * @brief All that must be remembered of a word of which its shadow cell has no room for all.
 *
 * That is: bytes of one word that different threads use, atomics after a store that not everybody knows of, readers at
 * different epochs, volatile loads.
 */
#ifndef SIMT_HISTORY_H
#define SIMT_HISTORY_H

#include "device_memory.h"
#include "order/thread_sets.h"

/** The kinds of what was done. To PAST_VOLATILE_READ and PAST_ATOMIC the enum atomic_kind is added. */
enum past_kind {
    PAST_READ = 0x00,
    PAST_AUTHORS =
        0x08, /**< who has updated it by atomics, of which only the last are kept: for loads that come after */
    PAST_VOLATILE_READ = 0x10,
    PAST_WRITE = 0x20,
    PAST_ATOMIC = 0x30,
    PAST_KIND = 0x30
};

/** Accesses at one epoch: of all threads of a set if they read, else of one thread. */
struct past {
    uint32_t epoch;
    uint16_t who;
    uint8_t bytes; /**< of the word's four */
    uint8_t kind;
    uint32_t site;
    struct thread_set *own; /**< the set, if there was no number left for it; else NULL */
};

static inline const struct thread_set *past_set(const struct past *past)
{
    return past->own ? past->own : simt_thread_set(past->who);
}

/** The oldest first, but loads at one epoch, which are where the first is. */
struct history {
    struct past *past;
    uint32_t count;
    uint32_t room;
};

/** The history of a cell; what is in it is of no worth unless the cell says that it has one. NULL: no memory. */
struct history *simt_history(const struct shadow_cell *cell);
/** False: no memory. */
bool simt_history_add(struct history *history, struct past past);
/** Takes the past access number `i` out of a list. */
void simt_history_remove(struct history *history, uint32_t i);
void simt_history_clear(struct history *history);
/** A launch begins. */
void simt_histories_forget(void);

#endif
