/**
 * @file history.h
 * @brief Histories: the past accesses to a word that do not fit into its shadow cell. Used by shadow.c.
 *
 * A word needs a history if different threads use different bytes of it, if atomics follow a store that is not ordered
 * before every thread's accesses, if threads have read it at different epochs, or if it has been read by volatile
 * loads.
 */
#ifndef SIMT_HISTORY_H
#define SIMT_HISTORY_H

#include "device_memory.h"
#include "order/thread_sets.h"

/**
 * Kinds of past accesses. The kind of a volatile read or an atomic is the sum of one of these and an enum
 * atomic_size_and_flags.
 */
enum past_access_kind {
    PAST_READ = 0x00,
    PAST_ATOMIC_UPDATERS = 0x08, /**< all threads that updated the word with atomics, for the check of later loads */
    PAST_VOLATILE_READ = 0x10,
    PAST_WRITE = 0x20,
    PAST_ATOMIC = 0x30,
    PAST_KIND_MASK = 0x30
};

/**
 * Accesses at one epoch. Entries of the kinds PAST_READ, PAST_VOLATILE_READ and PAST_ATOMIC_UPDATERS represent accesses
 * by all threads in a set; those of other kinds represent an access by one thread.
 */
struct past_access {
    uint32_t epoch;
    uint16_t thread_or_set; /**< number of the thread or of the set of threads */
    uint8_t byte_mask;      /**< mask of the word's four bytes */
    uint8_t access_kind;
    uint32_t pc_slot;
    struct thread_set *unnumbered_set; /**< the set itself if it has no number, otherwise NULL */
};

/** Returns the set of threads of an entry that represents accesses by a set. */
static inline const struct thread_set *past_access_threads(const struct past_access *past)
{
    return past->unnumbered_set ? past->unnumbered_set : simt_thread_set_by_number(past->thread_or_set);
}

/** Past accesses to a word, oldest first. Loads in the same epoch share one entry, that of the first such load. */
struct access_history {
    struct past_access *accesses;
    uint32_t num_accesses;
    uint32_t capacity;
};

/**
 * Returns the history of a cell, or NULL if out of memory. The contents of the history are valid only if the cell has
 * READERS_WORD_IN_HISTORY.
 */
struct access_history *simt_history_find_or_create(const struct shadow_cell *cell);
/** Appends a past access. Returns false if out of memory. */
bool simt_history_add(struct access_history *history, struct past_access past);
/** Removes the past access with index `index`. */
void simt_history_remove(struct access_history *history, uint32_t index);
/** Removes all past accesses, but keeps the memory. */
void simt_history_clear(struct access_history *history);
/** Frees all histories; called at the beginning of a launch. */
void simt_histories_free(void);

#endif
