/** @file history.c  Keeps the histories of words in a hash table, keyed by the addresses of their shadow cells. */
#include "history.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    const struct shadow_cell *cell;
    struct access_history history;
};

static struct entry *entries;
static size_t count;
static size_t room; /**< number of slots, a power of two */

static struct entry *slot_of(struct entry *table, size_t size, const struct shadow_cell *cell)
{
    size_t slot = ((uintptr_t)cell / sizeof *cell * UINT64_C(0x9e3779b97f4a7c15)) >> 24;

    while (table[slot & (size - 1)].cell && table[slot & (size - 1)].cell != cell)
        slot++;
    return &table[slot & (size - 1)];
}

static bool grow(void)
{
    const size_t size = room ? 2 * room : 1024;
    struct entry *larger = calloc(size, sizeof *larger);

    if (!larger)
        return false;
    for (size_t i = 0; i < room; i++) {
        if (entries[i].cell)
            *slot_of(larger, size, entries[i].cell) = entries[i];
    }
    free(entries);
    entries = larger;
    room = size;
    return true;
}

struct access_history *simt_history_find_or_create(const struct shadow_cell *cell)
{
    if (room > 0) {
        struct entry *entry = slot_of(entries, room, cell);

        if (entry->cell)
            return &entry->history;
    }
    if (2 * count >= room && !grow())
        return NULL;
    struct entry *entry = slot_of(entries, room, cell);

    entry->cell = cell;
    count++;
    return &entry->history;
}

bool simt_history_add(struct access_history *history, struct past_access past)
{
    if (history->num_accesses == history->capacity) {
        const uint32_t more = history->capacity ? 2 * history->capacity : 4;
        struct past_access *larger = realloc(history->accesses, more * sizeof *larger);

        if (!larger)
            return false;
        history->accesses = larger;
        history->capacity = more;
    }
    history->accesses[history->num_accesses++] = past;
    return true;
}

void simt_history_remove(struct access_history *history, uint32_t index)
{
    free(history->accesses[index].unnumbered_set);
    history->num_accesses--;
    memmove(&history->accesses[index], &history->accesses[index + 1],
            (history->num_accesses - index) * sizeof *history->accesses);
}

void simt_history_clear(struct access_history *history)
{
    while (history->num_accesses > 0)
        simt_history_remove(history, history->num_accesses - 1);
}

void simt_histories_free(void)
{
    if (count == 0)
        return;
    for (size_t i = 0; i < room; i++) {
        simt_history_clear(&entries[i].history);
        free(entries[i].history.accesses);
    }
    free(entries);
    entries = NULL;
    count = room = 0;
}
