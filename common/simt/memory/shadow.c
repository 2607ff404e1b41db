/**
 * @file shadow.c
 * @brief The slow path of the race check: records the past accesses to a word that a new access can still race with,
 *        and checks whether they are ordered before the current access.
 *
 * The past accesses are kept in a list. A new access is checked against each of them, replaces those that it makes
 * redundant, and is added to the list:
 *
 *   - a store replaces all accesses: a later access that races with one of them also races with the store, or is
 *     ordered after both;
 *   - a load replaces loads that are ordered before it;
 *   - an atomic replaces atomics of its kind that it has seen, or that are ordered before it.
 *
 * Then the list is moved back into the cell if it fits.
 */
#include "shadow.h"

#include "history.h"
#include "machine/fault.h"
#include "machine/program_image.h"

#include <stdlib.h>
#include <string.h>

uintptr_t simt_pc_slots[1 << PC_SLOT_BITS];
struct last_recorded_volatile_load simt_last_recorded_volatile_loads[BLOCK_THREADS];
struct last_poll simt_last_polls[BLOCK_THREADS];
bool (*simt_advise_on_race_due_to_mbarrier_hook)(char *text, size_t size);
void (*simt_describe_group_wait_hook)(unsigned thread, const struct shadow_cell *cell, char *text, size_t size);
uintptr_t (*simt_find_unreplayed_access_hook)(uintptr_t pc, bool (*matches)(uintptr_t address, uintptr_t reference),
                                              uintptr_t reference);

uint32_t simt_pc_slot_find_or_add_slow_path(uintptr_t pc)
{
    enum { PROBES = 16, STRIDE = 2531 };

    for (uintptr_t i = 0; i < PROBES; i++) {
        uintptr_t *const slot = &simt_pc_slots[(pc + i * STRIDE) & PC_SLOT_MASK];

        if (*slot == 0)
            *slot = pc;
        if (*slot == pc)
            return (uint32_t)(slot - simt_pc_slots);
    }
    simt_pc_slots[pc & PC_SLOT_MASK] = PC_SLOT_COLLISION;
    return pc & PC_SLOT_MASK;
}

static unsigned running_thread(void)
{
    return simt_current_order.packed_thread >> WRITE_THREAD_SHIFT;
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

/** Returns a verb phrase for the access of the running thread. */
static const char *what_it_does(const struct word_access *access)
{
    return access->is_deallocation ? "frees" : simt_access_verb(access->access_type);
}

uintptr_t simt_pc_in_slot(uint32_t slot)
{
    const uintptr_t pc = simt_pc_slots[slot];

    return pc == PC_SLOT_COLLISION ? 0 : pc;
}

static bool in_block_only(const struct past_access *past, const struct word_access *access)
{
    const bool reached = access->access_type == ACCESS_ATOMIC || access->access_type == ACCESS_VOLATILE_LOAD;

    return reached && (past->access_kind & PAST_KIND_MASK) == PAST_ATOMIC &&
           ((past->access_kind | access->atomic_size_and_flags) & ATOMIC_BLOCK_SCOPE);
}

/** Returns a verb phrase for a past access. */
static const char *what_was_done(const struct past_access *past)
{
    static const char *const did[] = {"read", "read", "wrote", "updated atomically"};

    if (past->access_kind & ATOMIC_VOLATILE_STORE)
        return "wrote";
    return past->access_kind == PAST_ATOMIC_UPDATERS ? did[3] : did[(past->access_kind & PAST_KIND_MASK) >> 4];
}

/**
 * Returns a thread's poll or update, by the running block, of a word that was written after the past access, presumably
 * to wait for that access; returns NULL if there is none. If `in_block`, the word was written by a thread of the
 * running block, and only the running thread's polls count; otherwise it was written by a thread of another block.
 */
static const struct last_poll *find_poll(const struct past_access *past, bool in_block)
{
    for (unsigned i = 0; i < BLOCK_THREADS; i++) {
        const struct last_poll *const seen = &simt_last_polls[i];

        if (seen->epoch >= simt_current_order.order_within_block.block_begin_epoch &&
            simt_is_epoch_of_running_block(seen->epoch) && seen->write_epoch >= past->epoch &&
            simt_is_epoch_of_running_block(seen->write_epoch) == in_block && (!in_block || i == running_thread()))
            return seen;
    }
    return NULL;
}

enum { FENCES_TEXT = 480 };

/** Advises on the fences around the write that a poll has seen and around the poll, which order a past access. */
static void advise_on_fences(const struct past_access *past, const struct word_access *access,
                             const struct last_poll *poll, bool in_block, char text[FENCES_TEXT])
{
    snprintf(text, FENCES_TEXT,
             "%s" SIMT_ADVICE_PREFIX "%s between the %s" SIMT_PC_LOCATION_FORMAT " and the %s" SIMT_PC_LOCATION_FORMAT
             ", and another after the %s" SIMT_PC_LOCATION_FORMAT ", before %s; %s",
             in_block ? "" : "no pair of fences orders them", in_block ? "__threadfence_block()" : "__threadfence()",
             (past->access_kind & PAST_WRITE) ? "store" : "read", simt_pc_in_slot(past->pc_slot),
             (poll->packed_write & WRITE_IS_ATOMIC) ? "atomic" : "write",
             simt_pc_in_slot(poll->packed_write & PC_SLOT_MASK), poll->is_atomic ? "atomic" : "poll", poll->pc,
             access->access_type == ACCESS_LOAD ? "the data are read" : "this store",
             in_block ? "or __syncthreads() between the two"
                      : "if they announce data of other threads, or other threads use the data, also __syncthreads() "
                        "before the first fence and after the second");
}

/** Begins the advice on a race of two stores; the rest depends on whether the threads are in one block. */
#define TWO_STORES(parties)                                                                                            \
    SIMT_ADVICE_PREFIX "check the indices: two " parties                                                               \
                       " store to the same element; if each element should have one writer, an index (past the end "   \
                       "of a row, it falls into the next row) or a count that it depends on is wrong; if both should " \
                       "write, "

/**
 * Returns advice on a race within a block that involves an atomic or a poll, or two plain accesses on the same source
 * line; returns "" for other races.
 */
static const char *advice_in_block(const struct past_access *past, const struct word_access *access)
{
    static char of_fences[FENCES_TEXT];
    const bool wrote = past->access_kind == PAST_WRITE, read = past->access_kind == PAST_READ;
    const struct last_poll *const poll = find_poll(past, true);

    if (access->is_deallocation)
        return "";
    if (past->access_kind >= PAST_ATOMIC && access->access_type == ACCESS_ATOMIC)
        return SIMT_ADVICE_PREFIX "atomics of one size for both accesses";
    if ((wrote && access->access_type == ACCESS_VOLATILE_LOAD) ||
        ((past->access_kind & PAST_KIND_MASK) == PAST_VOLATILE_READ && access->access_type == ACCESS_STORE))
        return access->space == SPACE_SHARED ? SIMT_ADVICE_PREFIX
                   "__syncthreads() or, within a warp, __syncwarp() between the two, because volatile orders "
                   "nothing; or, if other threads poll this value, __threadfence() and then atomicExch() to "
                   "store it"
                                             : SIMT_ADVICE_PREFIX
                   "__threadfence() and then atomicExch(), to store a value that other threads poll; otherwise "
                   "__syncthreads() or, within a warp, __syncwarp() between the two";
    if (wrote && access->access_type == ACCESS_STORE)
        return TWO_STORES("threads") "a barrier between them, or a store by one of them only";
    if ((past->access_kind & PAST_KIND_MASK) == PAST_ATOMIC || past->access_kind == PAST_ATOMIC_UPDATERS ||
        access->access_type == ACCESS_ATOMIC)
        return access->space == SPACE_SHARED && !poll && (wrote || access->access_type == ACCESS_STORE)
                   ? SIMT_ADVICE_PREFIX "__syncthreads() between the two: an initialisation must be finished before "
                                        "others update"
               : access->space == SPACE_SHARED
                   ? SIMT_ADVICE_PREFIX "__syncthreads() between the two, or an atomic for both accesses "
                                        "(atomicAdd(p, 0) reads, atomicExch() writes)"
                   : SIMT_ADVICE_PREFIX "an atomic for both accesses (atomicAdd(p, 0) reads, atomicExch() writes), or "
                                        "__syncthreads() between the two";
    if (poll) {
        advise_on_fences(past, access, poll, true, of_fences);
        return of_fences;
    }
    if ((wrote && access->access_type == ACCESS_LOAD) || (read && access->access_type == ACCESS_STORE))
        return SIMT_KEEP_REST_IF_AT_FAULT_LINE_MARK SIMT_ADVICE_PREFIX
            "an atomic, such as atomicAdd(), if both threads update this word; otherwise "
            "__syncthreads() between the rounds of the loop, or a second array";
    return "";
}

/**
 * Returns whether a thread has polled or updated any word: a thread of the running block or, if not `in_block`, of any
 * block of the launch.
 */
static bool has_polled_anything(bool in_block)
{
    for (unsigned i = 0; i < BLOCK_THREADS; i++) {
        const uint32_t epoch = simt_last_polls[i].epoch;

        if (in_block ? epoch >= simt_current_order.order_within_block.block_begin_epoch &&
                           simt_is_epoch_of_running_block(epoch)
                     : epoch >= simt_current_order.launch_begin_epoch)
            return true;
    }
    return false;
}

/** Returns advice on a write that may come before another block's read of the old value, which it must not. */
static const char *advice_on_overwriting(const struct past_access *past)
{
    if (find_poll(past, false) || has_polled_anything(false))
        return "nothing makes the write wait for the read" SIMT_ADVICE_PREFIX
               "a counter that each block increases atomically, after its read and a __threadfence(), and the write "
               "only by the block that finds all others counted, after another __threadfence(); or two launches";
    return "nothing makes the write wait for the read" SIMT_ADVICE_PREFIX
           "two launches, or a second array for what is written; or, if threads update this word in place, an atomic";
}

/** Returns advice on a race between two blocks. */
static const char *advice_for_blocks(const struct past_access *past, const struct word_access *access)
{
    static char of_fences[FENCES_TEXT];
    const unsigned past_access_kind = past->access_kind & PAST_KIND_MASK;
    const struct last_poll *const poll = find_poll(past, false);

    if (in_block_only(past, access))
        return "an atomic that ends in _block reaches its block only" SIMT_ADVICE_PREFIX "the atomic without _block";
    if (access->access_type == ACCESS_VOLATILE_LOAD && past->access_kind == PAST_WRITE)
        return "nothing orders them" SIMT_ADVICE_PREFIX
               "__threadfence() and then atomicExch(), to store a value that other threads poll, and __threadfence() "
               "after the polling loop; for a lock, atomicCAS() to take it";
    if (access->access_type == ACCESS_STORE && past_access_kind == PAST_VOLATILE_READ)
        return "no pair of fences orders them" SIMT_ADVICE_PREFIX
               "__threadfence() before the flag or counter is written, and again after it is read; or, to overwrite "
               "what all blocks have read, a counter that each block increases atomically, after its read and a "
               "__threadfence(), and the write only by the block that finds all others counted";
    if (access->access_type == ACCESS_STORE && past->access_kind != PAST_ATOMIC_UPDATERS &&
        past_access_kind == PAST_READ)
        return advice_on_overwriting(past);
    if (access->access_type != ACCESS_ATOMIC && past->access_kind != PAST_ATOMIC_UPDATERS && poll) {
        advise_on_fences(past, access, poll, false, of_fences);
        return of_fences;
    }
    if (past->access_kind >= PAST_ATOMIC && access->access_type == ACCESS_ATOMIC)
        return "they have different sizes" SIMT_ADVICE_PREFIX "atomics of one size for both accesses";
    if (access->access_type != ACCESS_ATOMIC && past->access_kind != PAST_ATOMIC_UPDATERS && has_polled_anything(false))
        return "blocks are not ordered" SIMT_ADVICE_PREFIX
               "atomics, or two launches; or, if a flag or counter that is polled announces the data, "
               "__threadfence() before the flag is written, and again after each poll that has seen it";
    if (past->access_kind == PAST_WRITE && access->access_type == ACCESS_STORE)
        return "blocks are not ordered" TWO_STORES("blocks") "two launches, or a store by one of them only";
    return "blocks are not ordered" SIMT_ADVICE_PREFIX
           "atomics, or two launches; or, if threads update in place what others read, a second array";
}

/** Returns whether the two addresses in global memory belong to different allocations or variables. */
static bool is_in_other_array(uintptr_t address, uintptr_t reference)
{
    const uintptr_t offset = address - simt_memory.arena_begin, other_offset = reference - simt_memory.arena_begin;
    const bool in_arena = offset < simt_memory.arena_bytes, other_in_arena = other_offset < simt_memory.arena_bytes;
    uint64_t within;

    if (in_arena != other_in_arena)
        return true;
    return in_arena ? simt_arena_allocation_index(offset, &within) != simt_arena_allocation_index(other_offset, &within)
                    : strcmp(simt_device_variable_name_at(address), simt_device_variable_name_at(reference)) != 0;
}

/**
 * Writes why an index that is out of range, and hits another array, may have caused a race at `address`: one of the two
 * source lines accesses other arrays as well, or the two accesses have different sizes, below that of a word. Returns
 * false if neither is the case.
 */
static bool suspects_index(const struct past_access *past, const struct word_access *access, uintptr_t address,
                           char *text, size_t size)
{
    const uintptr_t sites[] = {access->pc, simt_pc_in_slot(past->pc_slot)};
    const int bytes = __builtin_popcount(access->byte_mask), past_bytes = __builtin_popcount(past->byte_mask);
    uintptr_t other = 0;
    char of[ARRAY_TEXT_SIZE];

    for (int i = 0; i < 2 && !other && access->space == SPACE_GLOBAL && !access->is_deallocation; i++) {
        other = sites[i] && simt_find_unreplayed_access_hook
                    ? simt_find_unreplayed_access_hook(sites[i], is_in_other_array, address)
                    : 0;
        if (!other)
            continue;
        simt_describe_position_in_array(other, false, of);
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX
                 "compare the index with the number of elements, because the line" SIMT_PC_LOCATION_FORMAT
                 " also accesses memory%s, which is another array; if the index is right, ",
                 sites[i], of);
    }
    /* A vector's load or store, as of a matrix's row, may access elements that are smaller than a word. */
    const bool has_other_size = bytes != past_bytes && !access->may_include_padding && !access->is_deallocation;

    if (!other && has_other_size)
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX "compare the indices with the numbers of elements, because accesses of %d and %d "
                                    "bytes seldom belong to one array; if they are right, ",
                 bytes, past_bytes);
    return other || has_other_size;
}

/** Inserts the suspicion of an index before the advice in a text about a race, or appends both if it has none. */
static void insert_suspicion(const char *text, const char *suspicion, char *result, size_t size)
{
    static const char same_beginning[] = "check the indices: ";
    const char *const advice = strstr(text, SIMT_ADVICE_PREFIX);
    const int length = advice ? (int)(advice - text) : (int)strlen(text);
    const char *rest = advice ? advice + strlen(SIMT_ADVICE_PREFIX)
                              : "__syncthreads() between the two accesses, or an atomic";

    if (strncmp(rest, same_beginning, strlen(same_beginning)) == 0)
        rest += strlen(same_beginning);
    snprintf(result, size, "%.*s%s%s",
             length - (length > 0 && text[length - 1] == SIMT_KEEP_REST_IF_AT_FAULT_LINE_MARK[0]), text, suspicion,
             rest);
}

/** Ends the launch because its access races with an access by an earlier launch that may still be running. */
static _Noreturn void fault_overlap(const struct past_access *past, struct word_access access)
{
    const struct overlapping_launch *launch = simt_overlapping_launch_that_ran_at(past->epoch);
    const struct overlapping_launch *missing = simt_launch_breaking_sync_chain_since(past->epoch);
    const int count = __builtin_popcount(past->byte_mask & access.byte_mask);

    simt_fault_dismiss_suspected_up_to(SUSPECT_UNWRITTEN_READ);
    if (missing)
        simt_fault_here(cudaErrorLaunchFailure, access.pc, "race with an earlier launch",
                        "%s %d byte%s that the launch" SIMT_PC_LOCATION_FORMAT " (%s) %s" SIMT_PC_LOCATION_FORMAT
                        "; the wait does not order the two, because the launch between" SIMT_PC_LOCATION_FORMAT
                        " (%s) never waits",
                        what_it_does(&access), count, count == 1 ? "" : "s", launch->call_site, launch->name,
                        what_was_done(past), simt_pc_in_slot(past->pc_slot), missing->call_site, missing->name);
    simt_fault_here(cudaErrorLaunchFailure, access.pc, "race with an earlier launch",
                    "%s %d byte%s that the launch" SIMT_PC_LOCATION_FORMAT " (%s) %s" SIMT_PC_LOCATION_FORMAT
                    ", and no cudaGridDependencySynchronize() orders the two",
                    what_it_does(&access), count, count == 1 ? "" : "s", launch->call_site, launch->name,
                    what_was_done(past), simt_pc_in_slot(past->pc_slot));
}

/** The threads on the other side of a race. */
struct racing {
    unsigned thread;
    bool others;      /**< other threads have made the same access */
    uintptr_t update; /**< call site of an atomic by which the reader of the two has updated the word before, or 0 */
};

/** Writes the advice for a read of a word that its thread has just updated by an atomic. */
static void advise_on_update(uintptr_t update, bool in_block, char *text, size_t size)
{
    snprintf(text, size,
             "%s" SIMT_ADVICE_PREFIX "use the value that the atomic" SIMT_PC_LOCATION_FORMAT
             " returns: before the read, another thread may update the word",
             in_block ? "" : "blocks are not ordered", update);
}

/**
 * Reports that the running thread's access is not ordered after the past one, which the racing threads have made. A
 * race within a block is only suspected until the next barrier, because some threads may have missed an earlier
 * barrier.
 */
static void fault_race(const struct past_access *past, struct word_access access, const struct racing *racing)
{
    if (past->epoch < simt_current_order.launch_begin_epoch)
        fault_overlap(past, access);
    const char *const kind = access.space == SPACE_SHARED ? "shared memory race" : "global memory race";
    const uint3 index = simt_thread_index(racing->thread);
    const uint3 block = simt_block_index(simt_block_running_at(past->epoch));
    const uint32_t bytes = past->byte_mask & access.byte_mask;
    const int count = __builtin_popcount(bytes);
    char of[ARRAY_TEXT_SIZE], what[ARRAY_TEXT_SIZE + 64], did_so[64];

    const bool in_block = simt_is_epoch_of_running_block(past->epoch);
    const char *advice = in_block ? advice_in_block(past, &access) : advice_for_blocks(past, &access);
    char of_update[200], of_mbarrier[400], of_index[420], of_arrays[800], both[1000];

    simt_describe_position_in_array(access.address + (uintptr_t)__builtin_ctz(bytes), access.space == SPACE_SHARED, of);
    if (in_block && (*advice == SIMT_KEEP_REST_IF_AT_FAULT_LINE_MARK[0] || !*advice) &&
        (past->access_kind == PAST_READ || access.access_type == ACCESS_LOAD) &&
        simt_advise_on_race_due_to_mbarrier_hook &&
        simt_advise_on_race_due_to_mbarrier_hook(of_mbarrier, sizeof of_mbarrier))
        advice = of_mbarrier;
    if (in_block && past->access_kind == PAST_WRITE && access.access_type == ACCESS_STORE &&
        strstr(of, " of dynamic shared memory")) {
        snprintf(of_arrays, sizeof of_arrays,
                 "%s; or, if they use different extern __shared__ arrays, an offset to the second, because all such "
                 "arrays begin at the same byte",
                 advice);
        advice = of_arrays;
    }
    if (racing->update) {
        advise_on_update(racing->update, in_block, of_update, sizeof of_update);
        advice = of_update;
    }
    if (suspects_index(past, &access, access.address + (uintptr_t)__builtin_ctz(bytes), of_index, sizeof of_index)) {
        insert_suspicion(advice, of_index, both, sizeof both);
        advice = both;
    }
    snprintf(what, sizeof what, "%s %d byte%s%s", what_it_does(&access), count, count == 1 ? "" : "s", of);
    snprintf(did_so, sizeof did_so, "%s%s" SIMT_PC_LOCATION_FORMAT "%s",
             in_block && past->access_kind == PAST_READ && access.access_type == ACCESS_STORE && !access.is_deallocation
                 ? "has already "
                 : "",
             what_was_done(past), simt_pc_in_slot(past->pc_slot), racing->others ? " (and others too)" : "");
    if (in_block)
        simt_fault_suspect(SUSPECT_RACE, cudaErrorLaunchFailure, access.pc, kind,
                           "%s that thread (%u,%u,%u) %s, no barrier between%s", what, index.x, index.y, index.z,
                           did_so, advice);
    else
        simt_fault_here(cudaErrorLaunchFailure, access.pc, kind,
                        "%s that thread (%u,%u,%u) of block (%u,%u,%u) %s, and %s", what, index.x, index.y, index.z,
                        block.x, block.y, block.z, did_so, advice);
}

/** A race between a thread's load and an atomic, kept until it is dismissed or reported. */
static struct deferred_race {
    bool present;
    struct racing racing;
    uintptr_t loaded;
    struct past_access past;
    struct word_access access;
} noted[BLOCK_THREADS];

unsigned simt_num_deferred_races;

void simt_deferred_race_report(void)
{
    struct deferred_race *race = &noted[running_thread()];

    if (!race->present)
        return;
    race->present = false;
    simt_num_deferred_races--;
    fault_race(&race->past, race->access, &race->racing);
}

/** Records a race that a later compare-and-swap may dismiss. Returns false if the race must be reported immediately. */
static bool defer_race(const struct past_access *past, struct word_access access, const struct racing *racing)
{
    /* The race can be dismissed only if the load, the atomic and the compare-and-swap access the same bytes. */
    const bool alike = !((past->access_kind ^ access.atomic_size_and_flags) & ATOMIC_SIZE_MASK);
    const bool atomic = past->access_kind == PAST_ATOMIC_UPDATERS ||
                        ((past->access_kind & PAST_KIND_MASK) == PAST_ATOMIC && alike);
    struct deferred_race *race = &noted[running_thread()];

    if (access.access_type != ACCESS_LOAD || !atomic)
        return false;
    if (race->present && race->loaded != simt_current_order.packed_last_load)
        simt_deferred_race_report();
    if (race->present)
        return true;
    *race = (struct deferred_race){true, *racing, simt_current_order.packed_last_load, *past, access};
    simt_num_deferred_races++;
    return true;
}

void simt_deferred_races_clear(void)
{
    if (simt_num_deferred_races > 0)
        memset(noted, 0, sizeof noted);
    simt_num_deferred_races = 0;
}

/** Returns a mask of the bytes that the block has written in a shared word. */
static uint32_t written(const struct shadow_cell *cell)
{
    return cell->write_epoch < simt_current_order.order_within_block.block_begin_epoch
               ? 0
               : cell->packed_write >> SHARED_WORD_WRITTEN_SHIFT & 0xf;
}

/**
 * Returns whether the bytes at an address may be padding, that is, whether they follow bytes that have been written in
 * the same word or in the first half of the same 8 aligned bytes.
 */
bool simt_shared_word_may_be_padding(const struct shadow_cell *cell, uintptr_t address)
{
    return written(cell) != 0 ||
           (address % 8 == 4 && !simt_word_is_outside_shared_variables(cell) && written(cell - 1) != 0);
}

/**
 * Returns the written word, of the array in shared memory that contains a word, that is the nearest to it; returns NULL
 * if no word of the array has been written.
 */
static const struct shadow_cell *nearest_written(const struct shadow_cell *cell)
{
    const size_t word = (size_t)(cell - simt_memory.shared_shadow);
    size_t begin, end;

    simt_shared_array_bounds(word * 4, &begin, &end);
    for (size_t distance = 0; distance <= (end - begin) / 4; distance++) {
        if (word >= begin / 4 + distance && written(cell - distance))
            return cell - distance;
        if (word + distance < (end + 3) / 4 && written(cell + distance))
            return cell + distance;
    }
    return NULL;
}

enum { SHAPE_TEXT = 48 };

/** Formats the shape of a block or grid: "128", "32 x 8" or "8 x 8 x 4". */
static const char *shape_text(uint3 shape, char text[SHAPE_TEXT])
{
    const size_t length = (size_t)snprintf(text, SHAPE_TEXT, "%u", shape.x);

    if (shape.z > 1)
        snprintf(text + length, SHAPE_TEXT - length, " x %u x %u", shape.y, shape.z);
    else if (shape.y > 1)
        snprintf(text + length, SHAPE_TEXT - length, " x %u", shape.y);
    return text;
}

/**
 * Writes that a launch has too few threads per block for an array in shared memory if, in the array that contains a
 * word, as many elements have been written as the block has threads, beginning with the first. Otherwise writes the
 * launch's shape if the block has fewer threads than the array has words, or if the grid's shape could be meant for the
 * block. Writes "" if neither is so.
 */
static void describe_small_block(const struct shadow_cell *cell, char *text, size_t size)
{
    const size_t threads = (size_t)simt_block_dim.x * simt_block_dim.y * simt_block_dim.z;
    const uint64_t blocks = (uint64_t)simt_grid_dim.x * simt_grid_dim.y * simt_grid_dim.z;
    size_t begin, end, written_end;
    char block[SHAPE_TEXT], grid[SHAPE_TEXT];
    uintptr_t call_site;
    const char *const kernel = simt_current_work(&call_site);
    bool in_order = true;

    simt_shared_array_bounds((size_t)(cell - simt_memory.shared_shadow) * 4, &begin, &end);
    for (written_end = begin; written_end < end && written(&simt_memory.shared_shadow[written_end / 4]) == 0xf;)
        written_end += 4;
    for (size_t at = written_end; at < end; at += 4)
        if (written(&simt_memory.shared_shadow[at / 4]))
            in_order = false;
    const size_t bytes = (written_end - begin) / threads;

    text[0] = '\0';
    if (in_order && simt_block_dim.y * simt_block_dim.z == 1 && threads > 1 && bytes * threads == written_end - begin &&
        (bytes == 4 || bytes == 8 || bytes == 16))
        snprintf(text, size,
                 "; the first %zu elements, one for each of the %zu threads per block of the "
                 "launch" SIMT_PC_LOCATION_FORMAT " of %.80s, have been written",
                 threads, threads, call_site, kernel);
    else if (threads < (end - begin) / 4 || (blocks > threads && blocks <= BLOCK_THREADS))
        snprintf(text, size, "; the launch" SIMT_PC_LOCATION_FORMAT " has blocks of %s threads in a grid of %s",
                 call_site, shape_text(simt_block_dim, block), shape_text(simt_grid_dim, grid));
}

/**
 * Writes that other bytes of an array have been written at `pc`, with advice on that store, whose index or condition
 * may be wrong. `of_launch` describes the launch if it may be wrong, else it is ""; `otherwise` is the advice if the
 * launch and the store are right.
 */
static void describe_other_store(uintptr_t pc, const char *of_launch, const char *otherwise, char *text, size_t size)
{
    snprintf(text, size,
             "; other bytes of it have been written, the nearest" SIMT_PC_LOCATION_FORMAT "%s" SIMT_ADVICE_PREFIX
             "%s the index and the condition of this read, and those of the store" SIMT_PC_LOCATION_FORMAT
             ": one of them uses elements that the other leaves out%s%s",
             pc, of_launch, *of_launch ? "check the launch: <<<grid, block>>>; then" : "check", pc,
             *of_launch ? "" : "; or, if both are right, ", *of_launch ? "" : otherwise);
}

void simt_record_suspected_uninitialised_shared_read(const struct shadow_cell *cell, uint32_t byte_mask,
                                                     enum access_type access, uintptr_t pc)
{
    const int count = __builtin_popcount(byte_mask);
    char of[ARRAY_TEXT_SIZE], of_launch[240], others[800] = "";

    /*
     * Only the first such read is recorded, because later ones may follow from it. The kernel continues, so that a race
     * that explains the read can still be found.
     */
    if (simt_fault_is_suspected())
        return;
    if (simt_word_is_outside_shared_variables(cell))
        simt_fault_outside_shared_variables(cell, byte_mask, access, pc);
    simt_describe_position_in_array(simt_memory.shared_begin + (uintptr_t)(cell - simt_memory.shared_shadow) * 4 +
                                        (uintptr_t)__builtin_ctz(byte_mask),
                                    true, of);
    const struct shadow_cell *const other = nearest_written(cell);
    const uintptr_t store = other ? simt_pc_in_slot(other->packed_write & PC_SLOT_MASK) : 0;

    if (store)
        describe_small_block(cell, of_launch, sizeof of_launch);
    if (store)
        describe_other_store(store, of_launch, simt_fault_advice("uninitialised shared memory"), others, sizeof others);
    simt_fault_suspect(SUSPECT_UNWRITTEN_READ, cudaErrorLaunchFailure, pc, "uninitialised shared memory",
                       "reads %d byte%s%s that no thread of the block has written%s", count, count == 1 ? "" : "s", of,
                       others);
}

/**
 * Writes which other bytes of an allocation have been written, with advice: by a copy that was too short, as it seems,
 * or by a store of this launch, or by both. Writes "" if neither is known.
 */
static void describe_other_writes(uintptr_t address, char *text, size_t size)
{
    size_t written_prefix_bytes;
    const uintptr_t other = simt_allocation_nearest_written_word(address, &written_prefix_bytes);
    const struct shadow_cell *const cell = other ? &simt_memory.arena_shadow[(other - simt_memory.arena_begin) / 4]
                                                 : NULL;
    const uintptr_t store = cell && cell->write_epoch >= simt_current_order.launch_begin_epoch
                                ? simt_pc_in_slot(cell->packed_write & PC_SLOT_MASK)
                                : 0;

    const uintptr_t site = simt_arena_allocation_site_if_unnamed(address);
    char made[64] = "";

    const struct host_write copy = simt_host_write_before_unwritten(address);
    char or_store[120] = "";

    text[0] = '\0';
    if (store)
        snprintf(or_store, sizeof or_store,
                 "; or, if it is right, the index and the condition of the store" SIMT_PC_LOCATION_FORMAT, store);
    if (site)
        snprintf(made, sizeof made, " of this allocation, made" SIMT_PC_LOCATION_FORMAT, site);
    if (copy.call)
        snprintf(text, size,
                 "; %s()" SIMT_PC_LOCATION_FORMAT " wrote bytes %zu to %zu%s" SIMT_ADVICE_PREFIX
                 "check the size of what it wrote: cudaMemcpy() and cudaMemset() count bytes, n * sizeof(float) for n "
                 "floats%s",
                 copy.call, copy.call_site, copy.begin, copy.end - 1, made, or_store);
    else if (store)
        describe_other_store(store, "", simt_fault_advice("uninitialised global memory"), text, size);
    else if (other && written_prefix_bytes > 0)
        snprintf(text, size,
                 "; only the first %zu byte%s ha%s been written%s" SIMT_ADVICE_PREFIX
                 "check the size of what was written: cudaMemcpy() and cudaMemset() count bytes, n * sizeof(float) for "
                 "n floats",
                 written_prefix_bytes, plural_ending(written_prefix_bytes), written_prefix_bytes == 1 ? "s" : "ve",
                 made);
}

/**
 * Returns the word, of the `num_words` words from `first` on, that the running launch (or, if `shared`, the running
 * block) has written and that is the nearest to word `word`; returns `num_words` if there is none.
 */
static size_t nearest_word_written_by_launch(const struct shadow_cell *first, size_t num_words, size_t word,
                                             bool shared)
{
    const uint32_t begin = shared ? simt_current_order.order_within_block.block_begin_epoch
                                  : simt_current_order.launch_begin_epoch;

    for (size_t distance = 0; distance < num_words; distance++) {
        if (word >= distance && first[word - distance].write_epoch >= begin)
            return word - distance;
        if (word + distance < num_words && first[word + distance].write_epoch >= begin)
            return word + distance;
    }
    return num_words;
}

void simt_describe_writes_near_poll(uintptr_t address, bool shared, uintptr_t poll_pc, char text[WRITES_TEXT])
{
    const struct shadow_cell *const shadow = shared ? simt_memory.shared_shadow : simt_memory.arena_shadow;
    const size_t at = address - (shared ? simt_memory.shared_begin : simt_memory.arena_begin);
    size_t begin = at, offset = 0, bytes = 0;

    text[0] = '\0';
    if (shared) {
        size_t end;

        simt_shared_array_bounds(at, &begin, &end);
        bytes = end - begin;
    } else if (at < simt_memory.arena_bytes) {
        simt_arena_array_name(address, &offset, &bytes);
        begin = at - offset;
    }
    const size_t num_words = bytes / 4, word = (at - begin) / 4;

    if (word >= num_words)
        return;
    const size_t nearest = nearest_word_written_by_launch(shadow + begin / 4, num_words, word, shared);
    const uintptr_t store = nearest < num_words
                                ? simt_pc_in_slot(shadow[begin / 4 + nearest].packed_write & PC_SLOT_MASK)
                                : 0;

    if (nearest == word && store == poll_pc)
        return;
    if (nearest == word)
        snprintf(text, WRITES_TEXT,
                 "; it was last written" SIMT_PC_LOCATION_FORMAT SIMT_ADVICE_PREFIX
                 "check the value that is written there, and the value for which this poll waits; ",
                 store);
    else if (nearest < num_words)
        snprintf(text, WRITES_TEXT,
                 "; the nearest bytes of this array that the launch has written are at byte %zu, "
                 "written" SIMT_PC_LOCATION_FORMAT SIMT_ADVICE_PREFIX
                 "compare the index of the store" SIMT_PC_LOCATION_FORMAT " with that of this poll; ",
                 4 * nearest, store, store);
    else
        snprintf(text, WRITES_TEXT,
                 "; the launch has written nothing in this array" SIMT_ADVICE_PREFIX
                 "check whether a thread reaches the store for which this poll waits; ");
}

/**
 * Checks bytes of global memory against the marks; `reads` is true if the access needs the bytes' values. Returns the
 * mask of the marked bytes of the word. Ends the launch if the access is not allowed.
 */
static uint32_t check_marks(struct word_access access, bool reads)
{
    const struct word_marks marks = simt_arena_word_marks(access.address);
    const uint32_t missing = marks.unwritten_mask & access.byte_mask;
    const bool writes = access.access_type == ACCESS_STORE || access.access_type == ACCESS_ATOMIC;
    char where[160], others[640];

    if (marks.inaccessible_mask & access.byte_mask)
        simt_fault_inaccessible(access.address, access.byte_mask, writes, access.pc);
    if (writes && (marks.ldg_read_mask & access.byte_mask))
        simt_fault_here(cudaErrorLaunchFailure, access.pc, "write to read-only data",
                        "writes %d byte%s that the same launch has read by __ldg()",
                        __builtin_popcount(access.byte_mask),
                        plural_ending((uint64_t)__builtin_popcount(access.byte_mask)));
    if (reads && missing && !simt_fault_is_suspected() &&
        !(access.may_include_padding && simt_arena_unwritten_bytes_may_be_padding(access.address)) &&
        simt_arena_describe_address(access.address + (uintptr_t)__builtin_ctz(missing), where, sizeof where)) {
        const int count = __builtin_popcount(missing);

        describe_other_writes(access.address + (uintptr_t)__builtin_ctz(missing), others, sizeof others);
        const char *const advice =
            access.access_type == ACCESS_ATOMIC ? SIMT_ADVICE_PREFIX
                "cudaMemset() before the launch, for all of it: cudaMalloc() does not clear memory"
            : has_polled_anything(true) ? SIMT_ADVICE_PREFIX
                "write it first, by cudaMemset(), cudaMemcpy() or a kernel: cudaMalloc() does not; or, if another "
                "thread writes it that this block waits for, __syncthreads() after the polling, before all threads "
                "that use it"
                                        : others;

        simt_fault_suspect(SUSPECT_UNWRITTEN_READ, cudaErrorLaunchFailure, access.pc, "uninitialised global memory",
                           "reads %d unwritten byte%s, %s%s", count, count == 1 ? "" : "s", where, advice);
    }
    return marks.inaccessible_mask | marks.unwritten_mask | marks.ldg_read_mask;
}

void simt_check_load_of_marked_global_word(struct shadow_cell *cell, struct word_access access)
{
    const uint32_t marked = check_marks(access, true) << GLOBAL_WORD_MARKED_SHIFT;

    cell->packed_write = (cell->packed_write & ~(uint32_t)WORD_STATE_MASK) | marked;
    shadow_check_load_races(cell, access);
}

void simt_check_store_to_marked_global_word(struct shadow_cell *cell, struct word_access access)
{
    const uint32_t marked = check_marks(access, access.reads_old_value) & ~(uint32_t)access.byte_mask;

    simt_arena_clear_unwritten(access.address, access.byte_mask);
    shadow_check_store_races(cell, access, marked << GLOBAL_WORD_MARKED_SHIFT);
}

/** Ends the launch if an asynchronous copy is writing the word and the copy's thread has not waited for it. */
static void check_no_copy(const struct shadow_cell *cell, struct word_access access)
{
    if (cell->read_epoch != EPOCH_NEVER_REACHED || (cell->packed_readers != READERS_ASYNC_COPY_IS_WRITING &&
                                                    cell->packed_readers != READERS_ASYNC_COPY_IS_REFILLING))
        return;
    const unsigned thread = cell->packed_write >> WRITE_THREAD_SHIFT;
    const uint3 index = simt_thread_index(thread);
    const int count = __builtin_popcount(access.byte_mask);
    const bool is_own = thread == running_thread();
    const uintptr_t copy = simt_pc_in_slot(cell->packed_write & PC_SLOT_MASK);
    char who[64] = "it", of_read[500] = "";

    if (access.access_type != ACCESS_STORE && !is_own && cell->packed_readers == READERS_ASYNC_COPY_IS_REFILLING)
        snprintf(of_read, sizeof of_read,
                 ": the copy refills memory that this thread may still have to read" SIMT_ADVICE_PREFIX
                 "__syncthreads() after this read, before the next copy" SIMT_PC_LOCATION_FORMAT
                 "; or, if this thread should read the new data, wait for the copy first (__pipeline_commit() and "
                 "__pipeline_wait_prior(0), or its mbarrier), then __syncthreads()",
                 copy);
    else if (access.access_type != ACCESS_STORE && simt_describe_group_wait_hook)
        simt_describe_group_wait_hook(thread, cell, of_read, sizeof of_read);
    /* If both are at one line, the word is written by the next copy at this line. */
    const char *const advice = access.access_type != ACCESS_STORE ? of_read
                               : is_own ? SIMT_KEEP_REST_IF_AT_FAULT_LINE_MARK SIMT_ADVICE_PREFIX
                                   "wait for the copy first (__pipeline_commit() and __pipeline_wait_prior(0), or its "
                                   "mbarrier) and, before the next copy refills memory that is still read, for its "
                                   "readers: at a second mbarrier, at which they arrive, or "
                                   "__syncthreads()"
                                        : SIMT_KEEP_REST_IF_AT_FAULT_LINE_MARK SIMT_ADVICE_PREFIX
                                   "one copy of these bytes in place of one by each thread: if (threadIdx.x == 0) "
                                   "before a bulk copy, or a different index in each thread";

    if (!is_own)
        snprintf(who, sizeof who, "thread (%u,%u,%u)", index.x, index.y, index.z);
    simt_fault_dismiss_suspected_up_to(SUSPECT_UNWRITTEN_READ);
    simt_fault_here(cudaErrorLaunchFailure, access.pc, "asynchronous copy under way",
                    "%s %d byte%s that %s copies asynchronously" SIMT_PC_LOCATION_FORMAT " and has not waited for%s",
                    what_it_does(&access), count, count == 1 ? "" : "s", who, copy, advice);
}

static bool of_readers(const struct past_access *past)
{
    return !(past->access_kind & PAST_WRITE);
}

/* --- from a cell to a list and back ------------------------------------------------------------------------------- */

static _Noreturn void fault_memory(uintptr_t pc)
{
    simt_fault_here(cudaErrorMemoryAllocation, pc, "out of memory",
                    "is one of more that use a word than the simulator can remember");
}

static void add(struct access_history *history, struct past_access past, uintptr_t pc)
{
    if (!simt_history_add(history, past))
        fault_memory(pc);
}

/** Returns the accesses in the cell or its history that later accesses may still race with. */
static struct access_history *open_history(const struct shadow_cell *cell, uint32_t horizon, uintptr_t pc)
{
    static struct access_history brief;

    if (cell->read_epoch >= horizon && cell->packed_readers >> 30 == READERS_WORD_IN_HISTORY >> 30) {
        struct access_history *history = simt_history_find_or_create(cell);

        if (!history)
            fault_memory(pc);
        for (uint32_t i = history->num_accesses; i-- > 0;) {
            if (history->accesses[i].epoch < horizon)
                simt_history_remove(history, i);
        }
        return history;
    }
    simt_history_clear(&brief);
    if (cell->write_epoch >= horizon) {
        const bool atomic = cell->packed_write & WRITE_IS_ATOMIC;
        const uint8_t bytes = cell->packed_write >> WRITE_BYTES_SHIFT & 0xf;
        static const uint8_t bytes_of[] = {
            [ATOMIC_4_BYTES] = 0xf, [ATOMIC_8_BYTES] = 0xf, [ATOMIC_LOW_2_BYTES] = 0x3, [ATOMIC_HIGH_2_BYTES] = 0xc};

        add(&brief,
            (struct past_access){.epoch = cell->write_epoch,
                                 .thread_or_set = (uint16_t)(cell->packed_write >> WRITE_THREAD_SHIFT),
                                 .byte_mask = atomic ? bytes_of[bytes & ATOMIC_SIZE_MASK] : bytes,
                                 .access_kind = atomic ? PAST_ATOMIC | bytes : PAST_WRITE,
                                 .pc_slot = cell->packed_write & PC_SLOT_MASK},
            pc);
    }
    if (cell->read_epoch >= horizon) {
        const uint8_t bytes = cell->packed_readers >> READERS_BYTES_SHIFT & 0xf;

        add(&brief,
            (struct past_access){
                .epoch = cell->read_epoch,
                .thread_or_set = cell->packed_readers >> READERS_SET_SHIFT & (NUM_THREAD_SETS - 1),
                .byte_mask = bytes ? bytes : 0xf,
                .access_kind = cell->packed_readers >= READERS_ARE_ATOMIC_UPDATERS ? PAST_ATOMIC_UPDATERS : PAST_READ,
                .pc_slot = cell->packed_readers & PC_SLOT_MASK},
            pc);
    }
    return &brief;
}

static void put_write(struct shadow_cell *cell, const struct past_access *past, uint32_t word_state)
{
    const bool atomic = (past->access_kind & PAST_KIND_MASK) == PAST_ATOMIC;

    cell->write_epoch = past->epoch;
    cell->packed_write = (uint32_t)past->thread_or_set << WRITE_THREAD_SHIFT | word_state | past->pc_slot |
                         (atomic ? WRITE_IS_ATOMIC | (uint32_t)(past->access_kind & 0xf) << WRITE_BYTES_SHIFT
                                 : (uint32_t)past->byte_mask << WRITE_BYTES_SHIFT);
}

static void put_read(struct shadow_cell *cell, const struct past_access *past)
{
    cell->read_epoch = past ? past->epoch : 0;
    cell->packed_readers = 0;
    if (!past)
        return;
    const bool lost = simt_epoch_can_never_be_ordered(past->epoch);
    const bool atomic_threads = past->access_kind == PAST_ATOMIC_UPDATERS;
    const uint32_t bytes = atomic_threads && lost && past->byte_mask == 0xf ? 0 : past->byte_mask;

    cell->packed_readers = (atomic_threads ? READERS_ARE_ATOMIC_UPDATERS
                            : lost         ? READERS_RACE_WITH_LATER_WRITES
                                           : 0) |
                           (uint32_t)past->thread_or_set << READERS_SET_SHIFT | bytes << READERS_BYTES_SHIFT |
                           past->pc_slot;
}

/** Stores the past accesses in the cell if they fit, otherwise in the history of the cell. */
static void store_history(struct shadow_cell *cell, struct access_history *brief, uint32_t word_state, uintptr_t pc)
{
    const struct past_access *read = NULL;
    const struct past_access *write = NULL;
    const struct past_access *latest_write = NULL;
    uint32_t latest = 0;
    bool room = true;

    for (uint32_t i = 0; i < brief->num_accesses; i++) {
        const struct past_access *past = &brief->accesses[i];
        const struct past_access **half = of_readers(past) ? &read : &write;

        room = room && !*half && !past->unnumbered_set && (past->access_kind & PAST_KIND_MASK) != PAST_VOLATILE_READ &&
               !(past->access_kind & (ATOMIC_1_BYTE | ATOMIC_VOLATILE_STORE));
        *half = past;
        latest = past->epoch > latest ? past->epoch : latest;
        if ((past->access_kind & PAST_WRITE) && (!latest_write || past->epoch >= latest_write->epoch))
            latest_write = past;
    }
    if (latest_write)
        put_write(cell, latest_write, word_state);
    if (room) {
        put_read(cell, read);
        return;
    }
    cell->read_epoch = latest;
    cell->packed_readers = READERS_WORD_IN_HISTORY;
    struct access_history *history = simt_history_find_or_create(cell);

    if (!history)
        fault_memory(pc);
    if (history == brief)
        return;
    simt_history_clear(history);
    for (uint32_t i = 0; i < brief->num_accesses; i++)
        add(history, brief->accesses[i], pc);
    brief->num_accesses = 0; /* the history now owns the sets of the entries */
}

/** Returns the epoch below which no access can race with an access of this launch. */
static uint32_t first_horizon(void)
{
    return simt_current_order.ordered_before_epoch < simt_current_order.launch_begin_epoch
               ? simt_current_order.ordered_before_epoch
               : simt_current_order.launch_begin_epoch;
}

void simt_check_and_record_ldg_load(const struct shadow_cell *cell, struct word_access access)
{
    const struct access_history *history = open_history(cell, first_horizon(), access.pc);

    for (uint32_t i = 0; i < history->num_accesses; i++) {
        const struct past_access *past = &history->accesses[i];
        const uint3 index = simt_thread_index(past->thread_or_set);
        const uint3 block = simt_block_index(simt_block_running_at(past->epoch));

        if (past->epoch >= simt_current_order.launch_begin_epoch && (past->access_kind & PAST_WRITE) &&
            (past->byte_mask & access.byte_mask))
            simt_fault_here(
                cudaErrorLaunchFailure, access.pc, "stale read-only data",
                "reads by __ldg() %d byte%s that thread (%u,%u,%u) of block (%u,%u,%u) wrote" SIMT_PC_LOCATION_FORMAT
                " in the same launch",
                __builtin_popcount(access.byte_mask), plural_ending((uint64_t)__builtin_popcount(access.byte_mask)),
                index.x, index.y, index.z, block.x, block.y, block.z, simt_pc_in_slot(past->pc_slot));
    }
    if (access.address - simt_memory.arena_begin < simt_memory.arena_bytes)
        simt_arena_mark_ldg_read(access.address, access.byte_mask);
}

/* --- a new access ------------------------------------------------------------------------------------------------- */

/** Returns whether two accesses cannot race even if they are unordered. */
static bool in_agreement(const struct past_access *past, struct word_access access)
{
    const unsigned kind = past->access_kind & PAST_KIND_MASK;
    const bool past_loads = kind == PAST_READ || kind == PAST_VOLATILE_READ;
    const bool loads = access.access_type == ACCESS_LOAD || access.access_type == ACCESS_VOLATILE_LOAD;

    if (past->access_kind == PAST_ATOMIC_UPDATERS)
        return access.access_type != ACCESS_LOAD;
    if (past_loads && loads)
        return true;
    if (kind == PAST_READ || kind == PAST_WRITE || access.access_type == ACCESS_LOAD ||
        access.access_type == ACCESS_STORE)
        return false;
    if (((past->access_kind ^ access.atomic_size_and_flags) & ATOMIC_SIZE_MASK) != 0)
        return false;
    if ((past->access_kind & ATOMIC_SAW_OTHER_BLOCK) && (access.atomic_size_and_flags & ATOMIC_BLOCK_SCOPE))
        return false;
    return !((past->access_kind | access.atomic_size_and_flags) & ATOMIC_BLOCK_SCOPE) ||
           simt_is_epoch_of_running_block(past->epoch);
}

/**
 * Returns whether all accesses that an entry represents are ordered before the current access. If not, stores a thread
 * whose access is unordered in *thread, and in *several whether there are more such threads.
 */
static bool is_ordered(const struct past_access *past, bool volatile_load, unsigned *thread, bool *several)
{
    *thread = past->thread_or_set;
    *several = false;
    return of_readers(past) ? simt_accesses_of_set_are_ordered(past->epoch, past_access_threads(past), volatile_load,
                                                               thread, several)
                            : simt_accesses_are_ordered(past->epoch, past->thread_or_set, volatile_load);
}

/** Returns whether the access by at least one thread in a set of readers is ordered before the current access. */
static bool any_ordered(const struct past_access *past, bool volatile_load)
{
    const struct thread_set *set = past_access_threads(past);

    FOR_EACH_LANE (warp, set->warp_mask) {
        FOR_EACH_LANE (lane, set->lanes[warp]) {
            if (simt_accesses_are_ordered(past->epoch, warp * WARP_LANES + lane, volatile_load))
                return true;
        }
    }
    return false;
}

/**
 * Returns whether a later atomic or volatile load, itself ordered before the current access, has seen the value of
 * atomic `i`.
 */
static bool is_observed(const struct access_history *history, uint32_t i, bool volatile_load)
{
    const struct past_access *past = &history->accesses[i];

    if ((past->access_kind & PAST_KIND_MASK) != PAST_ATOMIC)
        return false;
    for (i++; i < history->num_accesses; i++) {
        const struct past_access *later = &history->accesses[i];

        if (!(later->access_kind & PAST_VOLATILE_READ) ||
            ((later->access_kind ^ past->access_kind) & ATOMIC_SIZE_MASK) || !(later->byte_mask & past->byte_mask))
            continue;
        if ((later->access_kind & ATOMIC_VOLATILE_STORE) &&
            (later->thread_or_set != past->thread_or_set ||
             simt_block_running_at(later->epoch) != simt_block_running_at(past->epoch)))
            return false;
        if (of_readers(later) ? any_ordered(later, volatile_load)
                              : simt_accesses_are_ordered(later->epoch, later->thread_or_set, volatile_load))
            return true;
    }
    return false;
}

/**
 * Returns the call site of an atomic by which the reader among two racing accesses has updated the word before its
 * read; returns 0 if there is none. The past access is that of `thread`.
 */
static uintptr_t update_before_read(const struct access_history *history, const struct past_access *past,
                                    struct word_access access, unsigned thread)
{
    const bool reads_now = access.access_type == ACCESS_LOAD, has_read = past->access_kind == PAST_READ;
    const unsigned reader = reads_now ? running_thread() : thread;
    const uint32_t epoch = reads_now ? simt_current_order.epoch : past->epoch;

    if (!reads_now && !(has_read && access.access_type == ACCESS_ATOMIC))
        return 0;
    for (uint32_t i = 0; i < history->num_accesses; i++) {
        const struct past_access *const update = &history->accesses[i];

        if (update->access_kind == PAST_ATOMIC_UPDATERS && (update->byte_mask & access.byte_mask) &&
            update->epoch <= epoch && simt_block_running_at(update->epoch) == simt_block_running_at(epoch) &&
            thread_set_has(past_access_threads(update), reader))
            return simt_pc_in_slot(update->pc_slot);
    }
    return 0;
}

static void check(const struct access_history *history, struct word_access access)
{
    const bool volatile_load = access.access_type == ACCESS_VOLATILE_LOAD ||
                               (access.access_type == ACCESS_ATOMIC &&
                                (access.atomic_size_and_flags & ATOMIC_VOLATILE_STORE));
    struct racing racing;

    for (uint32_t i = 0; i < history->num_accesses; i++) {
        const struct past_access *past = &history->accesses[i];

        if (!(past->byte_mask & access.byte_mask) || in_agreement(past, access) ||
            is_ordered(past, volatile_load, &racing.thread, &racing.others) ||
            (access.access_type != ACCESS_LOAD && is_observed(history, i, volatile_load)))
            continue;
        racing.update = update_before_read(history, past, access, racing.thread);
        if (!defer_race(past, access, &racing))
            fault_race(past, access, &racing);
    }
}

/**
 * Removes bytes from a past access. Returns false if none are left; the entry is then removed, and the next entry takes
 * its index.
 */
static bool keep_without(struct access_history *history, uint32_t i, uint8_t bytes)
{
    struct past_access *past = &history->accesses[i];

    past->byte_mask &= (uint8_t)~bytes;
    if (past->byte_mask)
        return true;
    simt_history_remove(history, i);
    return false;
}

/**
 * For each byte of a word, the index in the history of the first atomic that is not ordered before the current access,
 * or the length of the history if there is none.
 */
struct first_atomics {
    uint32_t of_byte[4];
};

static struct first_atomics find_first_atomics(const struct access_history *history)
{
    struct first_atomics first = {
        {history->num_accesses, history->num_accesses, history->num_accesses, history->num_accesses}};
    uint8_t missing = 0xf;

    for (uint32_t i = 0; i < history->num_accesses && missing; i++) {
        const struct past_access *past = &history->accesses[i];

        if ((past->access_kind & PAST_KIND_MASK) != PAST_ATOMIC || !(past->byte_mask & missing) ||
            simt_accesses_are_ordered(past->epoch, past->thread_or_set, false))
            continue;
        for (unsigned byte = 0; byte < 4; byte++) {
            if (past->byte_mask & missing & 1u << byte)
                first.of_byte[byte] = i;
        }
        missing &= (uint8_t)~past->byte_mask;
    }
    return first;
}

/** Returns whether `first` has an atomic that precedes past access `i` and overlaps its bytes. */
static bool follows_atomic(const struct first_atomics *first, const struct access_history *history, uint32_t i)
{
    for (unsigned byte = 0; byte < 4; byte++) {
        if ((history->accesses[i].byte_mask >> byte & 1) && first->of_byte[byte] < i)
            return true;
    }
    return false;
}

/**
 * Returns a private copy of an entry's set of readers that the caller may change, because the changed set may have no
 * number.
 */
static struct thread_set *own_set(struct past_access *past)
{
    if (!past->unnumbered_set) {
        past->unnumbered_set = malloc(sizeof *past->unnumbered_set);
        if (!past->unnumbered_set)
            fault_memory(0);
        *past->unnumbered_set = *simt_thread_set_by_number(past->thread_or_set);
    }
    return past->unnumbered_set;
}

/** Removes the running thread from the set of readers in past access `i`. */
static void remove_from_set(struct access_history *history, uint32_t i)
{
    struct past_access *past = &history->accesses[i];
    const unsigned fewer = past->unnumbered_set ? THREAD_SET_NONE
                                                : simt_thread_set_number_without(past->thread_or_set, running_thread());

    if (fewer != THREAD_SET_NONE) {
        past->thread_or_set = (uint16_t)fewer;
        return;
    }
    thread_set_remove(own_set(past), running_thread());
    if (past->unnumbered_set->warp_mask == 0)
        simt_history_remove(history, i);
}

/**
 * Returns whether a new access may replace an entry of past readers: loads, volatile loads, or threads that did
 * atomics.
 */
static bool can_replace(const struct past_access *past, struct word_access access)
{
    if (!of_readers(past) || !(past->byte_mask & access.byte_mask))
        return false;
    if (past->access_kind == PAST_ATOMIC_UPDATERS)
        return access.access_type == ACCESS_ATOMIC;
    return access.access_type == ACCESS_LOAD ||
           ((past->access_kind ^ access.atomic_size_and_flags) & ~ATOMIC_BLOCK_SCOPE) == PAST_VOLATILE_READ;
}

/**
 * Removes earlier readers that a new access makes redundant: those ordered before it, and the running thread itself.
 */
static void replace_reads(struct access_history *history, struct word_access access)
{
    enum { LONG = 48 }; /* a longer history, such as that of a word that many threads poll, drops the older polls */
    const bool sees = access.access_type != ACCESS_LOAD && !(access.atomic_size_and_flags & ATOMIC_VOLATILE_STORE);
    const struct first_atomics atomics = find_first_atomics(history);
    unsigned thread;
    bool several;

    for (uint32_t i = history->num_accesses; i-- > 0;) {
        struct past_access *past = &history->accesses[i];

        /*
         * An entry at the current epoch stays: other threads' accesses in it are not ordered before the new access, and
         * add_read() adds the new access to it.
         */
        if (!can_replace(past, access) || past->epoch == simt_current_order.epoch)
            continue;
        /* The entry may be the only record that an atomic not ordered before the current access has been seen. */
        const bool seen = (past->access_kind & PAST_KIND_MASK) == PAST_VOLATILE_READ &&
                          follows_atomic(&atomics, history, i);

        if (!seen &&
            simt_accesses_of_set_are_ordered(past->epoch, past_access_threads(past), false, &thread, &several)) {
            keep_without(history, i, access.byte_mask);
            continue;
        }
        if (!(past->byte_mask & ~access.byte_mask) && simt_is_epoch_of_running_block(past->epoch) &&
            thread_set_has(past_access_threads(past), running_thread()) &&
            (!seen ||
             (sees && (simt_order_own_accesses_unreleased_since(past->epoch) || history->num_accesses > LONG)))) {
            remove_from_set(history, i);
        }
    }
}

/**
 * Adds a load to the entry of other loads at this epoch, or appends it as a new entry. A volatile load that may have
 * seen more atomics than those loads gets its own entry.
 */
static void add_read(struct access_history *history, struct past_access mine, uintptr_t pc)
{
    for (uint32_t i = history->num_accesses; i-- > 0;) {
        struct past_access *past = &history->accesses[i];

        if ((past->access_kind & PAST_KIND_MASK) == PAST_ATOMIC && (mine.access_kind & PAST_VOLATILE_READ))
            break;
        if (past->epoch != mine.epoch || past->byte_mask != mine.byte_mask || past->access_kind != mine.access_kind)
            continue;
        const unsigned grown = past->unnumbered_set
                                   ? THREAD_SET_NONE
                                   : simt_thread_set_number_with(past->thread_or_set, mine.thread_or_set);

        if (grown == THREAD_SET_NONE)
            thread_set_insert(own_set(past), mine.thread_or_set);
        else
            past->thread_or_set = (uint16_t)grown;
        return;
    }
    add(history, mine, pc);
}

/**
 * Returns the bytes for which every later write (or, for threads that did atomics, every later load) is a race. One
 * past access per byte is kept to represent all of them.
 */
static uint8_t lost_bytes(struct access_history *history, uint8_t kind)
{
    uint8_t bytes = 0;

    for (uint32_t i = 0; i < history->num_accesses;) {
        const struct past_access past = history->accesses[i];

        if (past.access_kind != kind || !simt_epoch_can_never_be_ordered(past.epoch)) {
            i++;
            continue;
        }
        i += keep_without(history, i, bytes);
        bytes |= past.byte_mask;
    }
    return bytes;
}

void simt_check_load_races_slow_path(struct shadow_cell *cell, struct word_access access)
{
    const bool volatile_load = access.access_type == ACCESS_VOLATILE_LOAD;

    /*
     * simt_record_suspected_uninitialised_shared_read() has already checked a load of a word that belongs to no
     * variable.
     */
    if (simt_word_is_outside_shared_variables(cell))
        return;
    check_no_copy(cell, access);
    struct access_history *history = open_history(cell, shadow_epoch_below_which_ordered(access.space), access.pc);
    uint8_t bytes = access.byte_mask;

    check(history, access);
    if (!volatile_load)
        bytes &= (uint8_t)~lost_bytes(history, PAST_READ);
    access.byte_mask = bytes;
    if (bytes) {
        replace_reads(history, access);
        add_read(history,
                 (struct past_access){.epoch = simt_current_order.epoch,
                                      .thread_or_set = (uint16_t)running_thread(),
                                      .byte_mask = bytes,
                                      .access_kind = volatile_load ? PAST_VOLATILE_READ | access.atomic_size_and_flags
                                                                   : PAST_READ,
                                      .pc_slot = access.pc_slot},
                 access.pc);
    }
    store_history(cell, history, cell->packed_write & WORD_STATE_MASK, access.pc);
    simt_last_recorded_volatile_loads[running_thread()].cell = NULL;
    if (volatile_load)
        simt_last_recorded_volatile_loads[running_thread()] = (struct last_recorded_volatile_load){
            .cell = cell,
            .epoch = simt_current_order.epoch,
            .write_epoch = cell->write_epoch,
            .packed_write = cell->packed_write,
            .atomic_size_and_flags = access.atomic_size_and_flags,
            .byte_mask = access.byte_mask};
}

void simt_deferred_race_drop_for_cas(struct shadow_cell *cell, enum memory_space space, unsigned bytes)
{
    struct deferred_race *race = &noted[running_thread()];

    if (race->present && race->loaded != simt_current_order.packed_last_load)
        simt_deferred_race_report();
    simt_num_deferred_races -= race->present;
    race->present = false;
    for (unsigned word = 0; word < (bytes + 3) / 4; word++, cell++) {
        struct access_history *history = open_history(cell, shadow_epoch_below_which_ordered(space), 0);

        for (uint32_t i = history->num_accesses; i-- > 0;) {
            struct past_access *past = &history->accesses[i];

            if (past->access_kind != PAST_READ || !simt_is_epoch_of_running_block(past->epoch) ||
                !thread_set_has(past_access_threads(past), running_thread()))
                continue;
            remove_from_set(history, i);
        }
        store_history(cell, history, cell->packed_write & WORD_STATE_MASK, 0);
    }
}

/** Merges a store into an earlier store by this thread at the same epoch. Returns false if there is no such store. */
static bool joins_store(struct access_history *history, struct past_access mine)
{
    for (uint32_t i = 0; i < history->num_accesses; i++) {
        struct past_access *past = &history->accesses[i];

        if (past->access_kind != PAST_WRITE || past->epoch != mine.epoch || past->thread_or_set != mine.thread_or_set)
            continue;
        past->byte_mask |= mine.byte_mask;
        past->pc_slot = mine.pc_slot;
        return true;
    }
    return false;
}

/**
 * Removes all past accesses to the bytes of a store, and ends the release/acquire edges from atomics to these bytes.
 */
static void replace_all(struct access_history *history, struct word_access access)
{
    for (uint32_t i = 0; i < history->num_accesses;) {
        const struct past_access *past = &history->accesses[i];

        if ((past->access_kind & PAST_KIND_MASK) == PAST_ATOMIC && (past->byte_mask & access.byte_mask))
            simt_order_end_release_edges(access.address);
        i += keep_without(history, i, access.byte_mask);
    }
}

/** Returns whether a history has an atomic whose scope (block or device) differs from that of the new access. */
static bool reach_differs(const struct access_history *history, struct word_access access)
{
    for (uint32_t i = 0; i < history->num_accesses; i++) {
        const uint8_t kind = history->accesses[i].access_kind;

        if ((kind & PAST_KIND_MASK) == PAST_ATOMIC && ((kind ^ access.atomic_size_and_flags) & ATOMIC_BLOCK_SCOPE))
            return true;
    }
    return false;
}

/**
 * Removes the atomics that a new one makes redundant: atomics of the same kind that it has seen, and atomics ordered
 * before it. A volatile store is kept while it separates later atomics from earlier ones that they have not seen.
 * Returns the kind under which the new atomic is recorded: once atomics of several blocks have been merged, no atomic
 * of block scope may follow.
 */
static uint8_t replace_atomics(struct access_history *history, struct word_access access)
{
    const bool in_block = access.atomic_size_and_flags & ATOMIC_BLOCK_SCOPE;
    bool sees = !(access.atomic_size_and_flags & ATOMIC_VOLATILE_STORE) && !reach_differs(history, access);
    const struct first_atomics atomics = find_first_atomics(history);
    uint8_t kind = PAST_ATOMIC | access.atomic_size_and_flags;

    for (uint32_t i = history->num_accesses; i-- > 0;) {
        const struct past_access past = history->accesses[i];
        const bool same_block = simt_is_epoch_of_running_block(past.epoch);
        const bool store = past.access_kind & ATOMIC_VOLATILE_STORE;

        if ((past.access_kind & PAST_KIND_MASK) != PAST_ATOMIC ||
            ((past.access_kind ^ access.atomic_size_and_flags) & (ATOMIC_SIZE_MASK | ATOMIC_BLOCK_SCOPE)))
            continue;
        if ((same_block || !in_block) && (sees || simt_accesses_are_ordered(past.epoch, past.thread_or_set, false)) &&
            !(store && follows_atomic(&atomics, history, i))) {
            keep_without(history, i, access.byte_mask);
            kind |= past.access_kind & ATOMIC_SAW_OTHER_BLOCK;
            kind |= same_block || in_block ? 0 : ATOMIC_SAW_OTHER_BLOCK;
        }
        sees = sees && !store;
    }
    return kind;
}

void simt_check_store_races_slow_path(struct shadow_cell *cell, struct word_access access, uint32_t word_state)
{
    const bool atomic = access.access_type == ACCESS_ATOMIC;

    if (simt_word_is_outside_shared_variables(cell))
        simt_fault_outside_shared_variables(cell, access.byte_mask, access.access_type, access.pc);
    check_no_copy(cell, access);
    struct access_history *history = open_history(cell, shadow_epoch_below_which_ordered(access.space), access.pc);
    struct past_access mine = {.epoch = simt_current_order.epoch,
                               .thread_or_set = (uint16_t)running_thread(),
                               .byte_mask = access.byte_mask,
                               .access_kind = PAST_WRITE,
                               .pc_slot = access.pc_slot};

    check(history, access);
    if (atomic) {
        struct past_access updaters = mine;

        replace_reads(history, access);
        mine.access_kind = replace_atomics(history, access);
        updaters.access_kind = PAST_ATOMIC_UPDATERS;
        updaters.byte_mask &= (uint8_t)~lost_bytes(history, PAST_ATOMIC_UPDATERS);
        if (updaters.byte_mask)
            add_read(history, updaters, access.pc);
    } else {
        replace_all(history, access);
    }
    if (atomic || !joins_store(history, mine))
        add(history, mine, access.pc);
    store_history(cell, history, word_state, access.pc);
}

/* --- work of several streams -------------------------------------------------------------------------------------- */

static enum work_use use_of(const struct past_access *past)
{
    if (past->access_kind == PAST_ATOMIC_UPDATERS)
        return USE_STRONG_WRITE;
    switch (past->access_kind & PAST_KIND_MASK) {
    case PAST_READ:
        return USE_READ;
    case PAST_VOLATILE_READ:
        return USE_STRONG_READ;
    case PAST_WRITE:
        return USE_WRITE;
    default:
        return past->access_kind & ATOMIC_BLOCK_SCOPE ? USE_WRITE : USE_STRONG_WRITE;
    }
}

bool simt_find_launch_uses_of_word(const struct shadow_cell *cell, uint32_t first_epoch, uint32_t last_epoch,
                                   uint8_t use_byte_masks[NUM_USES])
{
    if (cell->write_epoch < first_epoch && cell->read_epoch < first_epoch)
        return false;
    const struct access_history *history = open_history(
        cell,
        first_epoch < simt_current_order.ordered_before_epoch ? first_epoch : simt_current_order.ordered_before_epoch,
        0);

    memset(use_byte_masks, 0, NUM_USES);
    for (uint32_t i = 0; i < history->num_accesses; i++) {
        if (history->accesses[i].epoch >= first_epoch && history->accesses[i].epoch <= last_epoch)
            use_byte_masks[use_of(&history->accesses[i])] |= history->accesses[i].byte_mask;
    }
    return true;
}

void simt_fault_stream_race(uint3 thread, uintptr_t pc, int num_bytes, const struct work_race *race)
{
    const bool is_call = strncmp(race->earlier_work_name, "cuda", 4) == 0;
    uintptr_t call_site;
    const char *const kernel = simt_current_work(&call_site);
    char vain_wait[300] = "", advice[300] = "";

    if (race->vain_wait_site && race->late_record_site)
        snprintf(vain_wait, sizeof vain_wait,
                 ": the cudaStreamWaitEvent()" SIMT_PC_LOCATION_FORMAT
                 " waits for nothing, because its event had not been recorded before" SIMT_ADVICE_PREFIX
                 "record the event first, by the call" SIMT_PC_LOCATION_FORMAT ", then wait",
                 race->vain_wait_site, race->late_record_site);
    else if (race->vain_wait_site)
        snprintf(vain_wait, sizeof vain_wait,
                 ": the cudaStreamWaitEvent()" SIMT_PC_LOCATION_FORMAT
                 " waits for nothing, because its event has not been recorded" SIMT_ADVICE_PREFIX
                 "cudaEventRecord() first, then wait",
                 race->vain_wait_site);
    else
        snprintf(advice, sizeof advice,
                 SIMT_ADVICE_PREFIX
                 "cudaEventRecord() after the %s" SIMT_PC_LOCATION_FORMAT
                 ", in its stream, and cudaStreamWaitEvent() before the launch" SIMT_PC_LOCATION_FORMAT
                 ", in the other; or one stream for both",
                 is_call ? "call" : "launch", race->earlier_call_site, call_site);
    simt_fault_thread(cudaErrorLaunchFailure, thread, pc, "race of two streams",
                      "of %.80s, launched" SIMT_PC_LOCATION_FORMAT
                      ", %s %d byte%s that %.80s, %s" SIMT_PC_LOCATION_FORMAT
                      " in another stream, %s, and nothing orders the two%s%s",
                      kernel, call_site, simt_work_use_verbs[race->current_use], num_bytes, plural_ending(num_bytes),
                      race->earlier_work_name, is_call ? "issued" : "launched", race->earlier_call_site,
                      simt_work_use_verbs[race->earlier_use], vain_wait, advice);
}

void simt_fault_stream_race_in_cell(const struct shadow_cell *cell, uint32_t launch_begin_epoch,
                                    const struct work_race *race)
{
    const struct access_history *history = open_history(cell, launch_begin_epoch, 0);
    const struct past_access *past = history->accesses;

    for (uint32_t i = 0; i < history->num_accesses; i++) {
        if (use_of(&history->accesses[i]) == race->current_use &&
            (history->accesses[i].byte_mask >> race->address % 4 & 1))
            past = &history->accesses[i];
    }
    const struct thread_set *set = of_readers(past) ? past_access_threads(past) : NULL;
    const unsigned warp = set ? lowest_lane(set->warp_mask) : 0;
    const unsigned thread = set ? warp * WARP_LANES + lowest_lane(set->lanes[warp]) : past->thread_or_set;

    simt_block_idx = simt_block_index(simt_block_running_at(past->epoch));
    simt_fault_stream_race(simt_thread_index(thread), simt_pc_in_slot(past->pc_slot),
                           __builtin_popcount(past->byte_mask), race);
}
