/**
 * @file happens_before.c
 * @brief Advances the epochs, switches blocks, joins the vector clocks of threads, and determines which accesses are
 *        ordered before the current one.
 */
#include "happens_before.h"

#include "machine/fault.h"
#include "machine/program_image.h"
#include "machine/array_reserve.h"
#include "overlapping_launches.h"
#include "shadow_cell.h"
#include "thread_sets.h"
#include "vector_clocks.h"

#include <stdlib.h>
#include <string.h>

struct current_order simt_current_order;

static unsigned running_thread(void)
{
    return simt_current_order.packed_thread >> WRITE_THREAD_SHIFT;
}

/*
 * --- segments: which block ran at which epochs
 * -------------------------------------------------------------------------------
 */

/** A range of epochs, beginning with `epoch`, in which only one block ran. */
struct segment {
    uint32_t epoch;
    uint32_t block : 31;
    uint32_t released : 1; /**< an atomic of the block has released accesses before a fence */
};

static struct segment *segments;
static size_t segment_count;
static size_t segment_capacity;

static void begin_segment(uint32_t block)
{
    if (!simt_array_reserve(&segments, &segment_capacity, segment_count + 1, sizeof *segments)) {
        simt_fault_thread(cudaErrorMemoryAllocation, simt_thread_idx, 0, "out of memory",
                          "is of one block more than the simulator can remember");
        return;
    }
    simt_current_order.turn_begin_epoch = ++simt_current_order.epoch;
    simt_current_order.num_barrier_ordered_epochs = 0;
    simt_current_order.block_number = block;
    segments[segment_count++] = (struct segment){.epoch = simt_current_order.epoch, .block = block};
}

static size_t segment_at(uint32_t epoch)
{
    size_t low = 0;
    size_t high = segment_count;

    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;

        if (segments[middle].epoch <= epoch)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t simt_block_running_at(uint32_t epoch)
{
    return segment_count ? segments[segment_at(epoch)].block : 0;
}

bool simt_epoch_can_never_be_ordered(uint32_t epoch)
{
    return !simt_current_order.blocks_are_interleaved && epoch >= simt_current_order.launch_begin_epoch &&
           epoch < simt_current_order.order_within_block.block_begin_epoch && !segments[segment_at(epoch)].released;
}

void simt_order_begin_block(uint32_t block_number)
{
    begin_segment(block_number);
    simt_current_order.order_within_block = (struct order_within_block){
        .block_begin_epoch = simt_current_order.epoch, .barrier_ordered_before_epoch = simt_current_order.epoch};
}

void simt_order_resume_block(uint32_t block_number, const struct order_within_block *block)
{
    begin_segment(block_number);
    simt_current_order.order_within_block = *block;
}

/* --- release/acquire edges ---------------------------------------------------------------------------------------- */

/**
 * The clock that atomics at an address have released. Threads (all threads, or only those of one block) acquire it by
 * an atomic at the same address.
 */
struct release_record {
    uintptr_t address; /**< 0 if the slot is free */
    uint64_t readers;  /**< a block's number; UINT64_MAX for all threads */
    unsigned bytes;
    uint32_t version; /**< in a record for one block: version, at this release, of the record for all threads */
    struct vector_clock *clock;
};

#define ALL_THREADS UINT64_MAX

static struct release_record *releases;
static size_t release_count;
static size_t release_capacity; /**< a power of two */

/** Returns the slot of a record, or the free slot in which to put it. */
static struct release_record *slot_of(struct release_record *table, size_t room, uintptr_t address, uint64_t readers)
{
    size_t slot = ((address ^ readers << 48) * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

    while (table[slot & (room - 1)].address &&
           (table[slot & (room - 1)].address != address || table[slot & (room - 1)].readers != readers))
        slot++;
    return &table[slot & (room - 1)];
}

static struct release_record *find_release(uintptr_t address, uint64_t readers)
{
    struct release_record *release = release_count ? slot_of(releases, release_capacity, address, readers) : NULL;

    return release && release->address ? release : NULL;
}

static bool grow_releases(void)
{
    const size_t room = release_capacity ? 2 * release_capacity : 1024;
    struct release_record *larger = calloc(room, sizeof *larger);

    if (!larger)
        return false;
    for (size_t i = 0; i < release_capacity; i++) {
        if (releases[i].address)
            *slot_of(larger, room, releases[i].address, releases[i].readers) = releases[i];
    }
    free(releases);
    releases = larger;
    release_capacity = room;
    return true;
}

static struct release_record *add_release_record(uintptr_t address, uint64_t readers)
{
    struct release_record *release = find_release(address, readers);

    if (release)
        return release;
    if (2 * release_count >= release_capacity && !grow_releases()) {
        simt_fault_thread(cudaErrorMemoryAllocation, simt_thread_idx, 0, "out of memory",
                          "is one of too many that release by an atomic");
        return NULL;
    }
    release = slot_of(releases, release_capacity, address, readers);
    *release = (struct release_record){.address = address, .readers = readers};
    release_count++;
    return release;
}

static void forget_clock(struct vector_clock **clock)
{
    simt_vector_clock_drop_reference(*clock);
    *clock = NULL;
}

/**
 * Returns a key that identifies an address within the entire grid, although the shared memory of all blocks has the
 * same addresses.
 */
static uintptr_t grid_address(uintptr_t address)
{
    const bool shared = address - simt_memory.shared_begin < simt_memory.shared_bytes;

    return shared ? address + (((uintptr_t)simt_current_order.block_number + 1) << 47) : address;
}

static void end_release(uintptr_t address, unsigned bytes)
{
    struct release_record *release = find_release(address, ALL_THREADS);

    if (release && release->bytes >= bytes) {
        forget_clock(&release->clock);
        release->version++;
    }
}

void simt_order_end_release_edges(uintptr_t address)
{
    if (release_count == 0)
        return;
    address = grid_address(address);
    end_release(address - 4, 8);
    for (uintptr_t at = address; at < address + 4; at++)
        end_release(at, 1);
}

/**
 * Returns the running thread's clocks. The first call in a block allocates the clocks of all its threads. Returns NULL
 * if out of memory.
 */
static struct thread_ordering_clocks *own_order(void)
{
    if (!simt_current_order.order_within_block.thread_clocks) {
        simt_current_order.order_within_block.thread_clocks = calloc(
            BLOCK_THREADS, sizeof *simt_current_order.order_within_block.thread_clocks);
        if (!simt_current_order.order_within_block.thread_clocks) {
            simt_fault_thread(cudaErrorMemoryAllocation, simt_thread_idx, 0, "out of memory",
                              "is of one block too many that fence");
            return NULL;
        }
    }
    return &simt_current_order.order_within_block.thread_clocks[running_thread()];
}

bool simt_order_running_thread_follows_fence(void)
{
    return simt_current_order.order_within_block.thread_clocks &&
           simt_current_order.order_within_block.thread_clocks[running_thread()].clock_to_release_in_block;
}

bool simt_order_own_accesses_unreleased_since(uint32_t epoch)
{
    const struct order_within_warp *warp = simt_current_order.order_within_warp;
    const unsigned me = running_thread();
    const uint64_t thread = vector_clock_thread_number(simt_current_order.block_number, me);
    const uint32_t *known = warp->known_epochs[me % WARP_LANES];

    return simt_current_order.order_within_block.barrier_ordered_before_epoch <= epoch &&
           warp->syncwarp_ordered_before_epoch <= epoch &&
           !((warp->partially_synced_lanes >> me % WARP_LANES & 1) && known[me % WARP_LANES] > epoch) &&
           !(simt_order_running_thread_follows_fence() &&
             simt_vector_clock_epoch(simt_current_order.order_within_block.thread_clocks[me].clock_to_release_in_block,
                                     thread) > epoch);
}

static void join_clock(struct vector_clock **clock, struct vector_clock *other)
{
    *clock = simt_vector_clock_join(*clock, other);
}

static void acquire_releases(uintptr_t address, const struct release_record *all)
{
    struct release_record *to_block = find_release(address, simt_current_order.block_number);
    struct thread_ordering_clocks *order = own_order();

    if (!order)
        return;
    join_clock(&order->clock_acquired_before_fence, all->clock);
    if (to_block && to_block->version == all->version)
        join_clock(&order->clock_acquired_before_fence_in_block, to_block->clock);
}

void simt_order_record_strong_access(uintptr_t address, unsigned bytes, bool has_written, bool has_read)
{
    const uintptr_t key = grid_address(address);
    const struct release_record *all = find_release(key, ALL_THREADS);

    if (all && has_read && all->bytes == bytes)
        acquire_releases(key, all);
    if (!has_written)
        return;
    if (all && has_read && all->bytes != bytes)
        end_release(key, 1);
    for (uintptr_t word = address & ~(uintptr_t)3; word < address + bytes && !has_read; word += 4)
        simt_order_end_release_edges(word);
    const struct thread_ordering_clocks *order = simt_current_order.order_within_block.thread_clocks ? own_order()
                                                                                                     : NULL;

    if (!order || !order->clock_to_release_in_block)
        return;
    struct release_record *to_all = add_release_record(key, ALL_THREADS);
    const uint32_t version = to_all ? to_all->version : 0;

    if (to_all)
        to_all->bytes = bytes;
    if (to_all && order->clock_to_release) {
        join_clock(&to_all->clock, order->clock_to_release);
        segments[segment_count - 1].released = 1;
    }
    struct release_record *to_block = to_all ? add_release_record(key, simt_current_order.block_number) : NULL;

    if (!to_block)
        return;
    if (to_block->version != version)
        forget_clock(&to_block->clock);
    to_block->version = version;
    join_clock(&to_block->clock, order->clock_to_release_in_block);
}

/* --- synchronisation ---------------------------------------------------------------------------------------------- */

/** The launches that the current launch may overlap, oldest first. */
static struct overlapped {
    const struct overlapping_launch *launch;
    size_t count;
} overlapped;

/** Cache of the last acquire, because the lanes of a warp that wait on an mbarrier usually join equal clocks. */
static struct acquired {
    struct vector_clock *before, *released, *after; /**< references, or NULL */
} last_acquired;

/** Begins a launch that may overlap `count` others. */
static void overlap(const struct overlapping_launch *launch, size_t count)
{
    overlapped = (struct overlapped){launch, count};
    simt_current_order.has_synced_dependency = simt_current_order.all_have_synced_dependency = false;
    simt_current_order.ordered_before_epoch = count > 0 ? launch[0].first_epoch : simt_current_order.launch_begin_epoch;
    while (count > 1 && launch[count - 1].has_synced_dependency)
        count--;
    simt_current_order.first_epoch_ordered_by_dependency_sync = count > 0 ? launch[count - 1].first_epoch
                                                                          : simt_current_order.launch_begin_epoch;
}

void simt_order_record_dependency_sync_of_thread(void)
{
    struct thread_ordering_clocks *order = overlapped.count > 0 ? own_order() : NULL;

    simt_current_order.has_synced_dependency = true;
    if (order)
        order->happens_before = simt_vector_clock_advance(order->happens_before,
                                                          simt_pseudo_thread_of_overlapped_launches(), CLOCK_LANE,
                                                          simt_current_order.launch_begin_epoch);
}

static void drop_threads(struct thread_ordering_clocks *threads)
{
    for (unsigned i = 0; i < BLOCK_THREADS; i++) {
        simt_vector_clock_drop_reference(threads[i].happens_before);
        simt_vector_clock_drop_reference(threads[i].clock_to_release);
        simt_vector_clock_drop_reference(threads[i].clock_to_release_in_block);
        simt_vector_clock_drop_reference(threads[i].clock_acquired_before_fence);
        simt_vector_clock_drop_reference(threads[i].clock_acquired_before_fence_in_block);
    }
}

void simt_order_end_block(struct order_within_block *block)
{
    if (block->thread_clocks)
        drop_threads(block->thread_clocks);
    free(block->thread_clocks);
    block->thread_clocks = NULL;
    if (block != &simt_current_order.order_within_block)
        simt_current_order.order_within_block.thread_clocks = NULL;
}

bool simt_order_begin_launch(uint64_t num_blocks, bool blocks_are_interleaved,
                             const struct overlapping_launches *launches)
{
    segment_count = 0;
    simt_current_order.launch_begin_epoch = simt_current_order.grid_barrier_ordered_before_epoch =
        ++simt_current_order.epoch;
    simt_current_order.blocks_are_interleaved = blocks_are_interleaved;
    overlap(launches->launches, launches->num_launches - 1);
    if (release_count > 0)
        memset(releases, 0, release_capacity * sizeof *releases);
    release_count = 0;
    simt_vector_clocks_reset(num_blocks);
    last_acquired = (struct acquired){0};
    return simt_thread_sets_begin_launch();
}

/**
 * Joins one of the five clocks over all threads of `warps` warps whose lane is in `lanes`, and assigns the result to
 * each of these threads. `member` is the offset of that clock in struct thread_ordering_clocks.
 */
static void share_clock(struct thread_ordering_clocks *threads, unsigned warps, lane_mask lanes, size_t member)
{
    struct vector_clock *interleaved = NULL;

    for (unsigned i = 0; i < warps * WARP_LANES; i++) {
        if (lanes >> i % WARP_LANES & 1)
            join_clock(&interleaved, *(struct vector_clock **)((char *)&threads[i] + member));
    }
    if (!interleaved)
        return;
    for (unsigned i = 0; i < warps * WARP_LANES; i++) {
        struct vector_clock **clock = (struct vector_clock **)((char *)&threads[i] + member);

        if (!(lanes >> i % WARP_LANES & 1) || *clock == interleaved)
            continue;
        simt_vector_clock_drop_reference(*clock);
        *clock = simt_vector_clock_add_reference(interleaved);
    }
    simt_vector_clock_drop_reference(interleaved);
}

static void share(struct thread_ordering_clocks *threads, unsigned warps, lane_mask lanes)
{
    share_clock(threads, warps, lanes, offsetof(struct thread_ordering_clocks, happens_before));
    share_clock(threads, warps, lanes, offsetof(struct thread_ordering_clocks, clock_to_release));
    share_clock(threads, warps, lanes, offsetof(struct thread_ordering_clocks, clock_to_release_in_block));
    share_clock(threads, warps, lanes, offsetof(struct thread_ordering_clocks, clock_acquired_before_fence));
    share_clock(threads, warps, lanes, offsetof(struct thread_ordering_clocks, clock_acquired_before_fence_in_block));
}

void simt_order_record_completed_block_barrier(void)
{
    simt_current_order.order_within_block.barrier_ordered_before_epoch = ++simt_current_order.epoch;
    simt_current_order.num_barrier_ordered_epochs = simt_current_order.epoch - simt_current_order.turn_begin_epoch;
    if (simt_current_order.order_within_block.thread_clocks)
        share(simt_current_order.order_within_block.thread_clocks, BLOCK_WARPS, ALL_LANES);
}

void simt_order_record_completed_grid_barrier(void)
{
    simt_current_order.grid_barrier_ordered_before_epoch = ++simt_current_order.epoch;
    simt_current_order.all_have_synced_dependency = simt_current_order.has_synced_dependency;
    if (overlapped.count == 0)
        simt_current_order.ordered_before_epoch = simt_current_order.epoch;
}

void simt_order_apply_grid_barrier_to_block(struct order_within_block *block)
{
    block->barrier_ordered_before_epoch = simt_current_order.epoch;
    if (block->thread_clocks)
        share(block->thread_clocks, BLOCK_WARPS, ALL_LANES);
}

void simt_order_record_completed_syncwarp(struct order_within_warp *warp, unsigned first_thread,
                                          lane_mask existing_lanes, lane_mask synced_lanes)
{
    uint32_t joined[WARP_LANES] = {0};

    simt_current_order.epoch++;
    synced_lanes &= existing_lanes;
    if (simt_current_order.order_within_block.thread_clocks)
        share(simt_current_order.order_within_block.thread_clocks + first_thread, 1, synced_lanes);
    if (synced_lanes == existing_lanes) {
        warp->syncwarp_ordered_before_epoch = simt_current_order.epoch;
        return;
    }
    /* Raises the vector clock for each lane that a partial mask has synchronised. */
    FOR_EACH_LANE (lane, synced_lanes) {
        if (!(warp->partially_synced_lanes >> lane & 1))
            memset(warp->known_epochs[lane], 0, sizeof warp->known_epochs[lane]);
        for (unsigned other = 0; other < WARP_LANES; other++)
            joined[other] = warp->known_epochs[lane][other] > joined[other] ? warp->known_epochs[lane][other]
                                                                            : joined[other];
    }
    warp->partially_synced_lanes |= synced_lanes;
    FOR_EACH_LANE (i, synced_lanes)
        joined[i] = simt_current_order.epoch;
    FOR_EACH_LANE (i, synced_lanes)
        memcpy(warp->known_epochs[i], joined, sizeof joined);
}

/**
 * Returns a clock of all accesses that are ordered before the current one: by acquires, by the barriers of the block,
 * by __syncwarp, and by program order.
 */
static struct vector_clock *clock_of_now(const struct thread_ordering_clocks *order)
{
    const struct order_within_warp *warp = simt_current_order.order_within_warp;
    const unsigned me = running_thread();
    const uint64_t thread = vector_clock_thread_number(simt_current_order.block_number, me);
    struct vector_clock *now = simt_vector_clock_add_reference(order->happens_before);

    now = simt_vector_clock_advance(now, thread, CLOCK_BLOCK,
                                    simt_current_order.order_within_block.barrier_ordered_before_epoch);
    now = simt_vector_clock_advance(now, thread, CLOCK_WARP, warp->syncwarp_ordered_before_epoch);
    if (warp->partially_synced_lanes >> me % WARP_LANES & 1) {
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            now = simt_vector_clock_advance(now, thread - me % WARP_LANES + lane, CLOCK_LANE,
                                            warp->known_epochs[me % WARP_LANES][lane]);
    }
    return simt_vector_clock_advance(now, thread, CLOCK_LANE, simt_current_order.epoch);
}

void simt_order_record_fence(bool in_block)
{
    struct thread_ordering_clocks *order = own_order();

    if (!order)
        return;
    join_clock(&order->happens_before, order->clock_acquired_before_fence_in_block);
    if (!in_block)
        join_clock(&order->happens_before, order->clock_acquired_before_fence);
    simt_current_order.epoch++;
    struct vector_clock *now = clock_of_now(order);

    join_clock(&order->clock_to_release_in_block, now);
    if (!in_block)
        join_clock(&order->clock_to_release, now);
    simt_vector_clock_drop_reference(now);
}

void simt_order_mbarrier_release(struct vector_clock **released)
{
    struct thread_ordering_clocks *order = own_order();

    if (!order)
        return;
    simt_current_order.epoch++;
    struct vector_clock *now = clock_of_now(order);

    join_clock(released, now);
    simt_vector_clock_drop_reference(now);
}

void simt_order_mbarrier_add_write(struct vector_clock **released, unsigned thread, uint32_t epoch)
{
    *released = simt_vector_clock_advance(
        *released, vector_clock_thread_number(simt_current_order.block_number, thread), CLOCK_LANE, epoch + 1);
}

void simt_order_mbarrier_acquire(struct vector_clock *released)
{
    struct thread_ordering_clocks *order = released ? own_order() : NULL;

    if (!order)
        return;
    if (order->happens_before == last_acquired.before && released == last_acquired.released) {
        simt_vector_clock_drop_reference(order->happens_before);
        order->happens_before = simt_vector_clock_add_reference(last_acquired.after);
        return;
    }
    const struct acquired old = last_acquired;

    last_acquired.before = simt_vector_clock_add_reference(order->happens_before);
    last_acquired.released = simt_vector_clock_add_reference(released);
    join_clock(&order->happens_before, released);
    last_acquired.after = simt_vector_clock_add_reference(order->happens_before);
    simt_vector_clock_drop_reference(old.before);
    simt_vector_clock_drop_reference(old.released);
    simt_vector_clock_drop_reference(old.after);
}

void simt_order_record_proxy_fence(int space)
{
    struct thread_ordering_clocks *order = own_order();

    if (!order)
        return;
    simt_current_order.epoch++;
    struct vector_clock *now = clock_of_now(order);

    order->happens_before = simt_vector_clock_join_into_async_proxy(order->happens_before, now, space);
    simt_vector_clock_drop_reference(now);
}

/* --- queries ------------------------------------------------------------------------------------------------------ */

/**
 * Returns whether a __syncwarp orders the accesses that `lane` of the running warp made at `epoch` before the current
 * access.
 */
static bool ordered_in_warp(uint32_t epoch, unsigned lane)
{
    const struct order_within_warp *warp = simt_current_order.order_within_warp;
    const unsigned me = running_thread() % WARP_LANES;

    return epoch < warp->syncwarp_ordered_before_epoch ||
           ((warp->partially_synced_lanes >> me & 1) && epoch < warp->known_epochs[me][lane]);
}

/**
 * Returns whether the running thread's clocks include the accesses that thread `whose` made at `epoch`.
 */
static bool is_known(uint64_t whose, uint32_t epoch, bool current_is_volatile_load)
{
    if (!simt_current_order.order_within_block.thread_clocks)
        return false;
    const struct thread_ordering_clocks *order = &simt_current_order.order_within_block.thread_clocks[running_thread()];

    if (epoch < simt_vector_clock_epoch(order->happens_before, whose))
        return true;
    return current_is_volatile_load &&
           (epoch < simt_vector_clock_epoch(order->clock_acquired_before_fence, whose) ||
            epoch < simt_vector_clock_epoch(order->clock_acquired_before_fence_in_block, whose));
}

const struct overlapping_launch *simt_overlapping_launch_that_ran_at(uint32_t epoch)
{
    for (size_t i = 0; i < overlapped.count; i++) {
        if (epoch >= overlapped.launch[i].first_epoch && epoch < overlapped.launch[i].end_epoch)
            return &overlapped.launch[i];
    }
    return NULL;
}

static bool has_synced_dependency(bool current_is_volatile_load)
{
    return simt_current_order.all_have_synced_dependency ||
           is_known(simt_pseudo_thread_of_overlapped_launches(), simt_current_order.ordered_before_epoch,
                    current_is_volatile_load);
}

const struct overlapping_launch *simt_launch_breaking_sync_chain_since(uint32_t access_epoch)
{
    return access_epoch < simt_current_order.first_epoch_ordered_by_dependency_sync && has_synced_dependency(false)
               ? simt_overlapping_launch_that_ran_at(simt_current_order.first_epoch_ordered_by_dependency_sync)
               : NULL;
}

/**
 * Returns whether the accesses of an earlier launch in this stream are ordered before the current access. stream_work.c
 * checks launches of other streams.
 */
static bool ordered_launch(uint32_t epoch, bool current_is_volatile_load)
{
    return epoch < simt_current_order.ordered_before_epoch ||
           (epoch >= simt_current_order.first_epoch_ordered_by_dependency_sync &&
            has_synced_dependency(current_is_volatile_load)) ||
           !simt_overlapping_launch_that_ran_at(epoch);
}

bool simt_accesses_are_ordered(uint32_t epoch, unsigned thread, bool current_is_volatile_load)
{
    const unsigned me = running_thread();
    const bool here = simt_is_epoch_of_running_block(epoch);

    if (epoch < simt_current_order.launch_begin_epoch)
        return ordered_launch(epoch, current_is_volatile_load);
    if (epoch < simt_current_order.grid_barrier_ordered_before_epoch)
        return true;
    if (here) {
        if (thread == me || epoch < simt_current_order.order_within_block.barrier_ordered_before_epoch)
            return true;
        if (thread / WARP_LANES == me / WARP_LANES && ordered_in_warp(epoch, thread % WARP_LANES))
            return true;
    }
    return is_known(
        vector_clock_thread_number(here ? simt_current_order.block_number : simt_block_running_at(epoch), thread),
        epoch, current_is_volatile_load);
}

bool simt_accesses_of_set_are_ordered(uint32_t epoch, const struct thread_set *threads, bool current_is_volatile_load,
                                      unsigned *unordered_thread, bool *has_more_unordered)
{
    bool all = true;

    *has_more_unordered = false;
    if (epoch < simt_current_order.ordered_before_epoch ||
        (epoch < simt_current_order.order_within_block.barrier_ordered_before_epoch &&
         simt_is_epoch_of_running_block(epoch)))
        return true;
    FOR_EACH_LANE (warp, threads->warp_mask) {
        FOR_EACH_LANE (lane, threads->lanes[warp]) {
            if (simt_accesses_are_ordered(epoch, warp * WARP_LANES + lane, current_is_volatile_load))
                continue;
            *has_more_unordered = !all;
            if (*has_more_unordered)
                return false;
            all = false;
            *unordered_thread = warp * WARP_LANES + lane;
        }
    }
    return all;
}

bool simt_is_access_ordered_by_proxy_fence(uint32_t access_epoch, unsigned access_thread, int space)
{
    const uint32_t block = simt_is_epoch_of_running_block(access_epoch) ? simt_current_order.block_number
                                                                        : simt_block_running_at(access_epoch);

    return simt_current_order.order_within_block.thread_clocks &&
           access_epoch <
               simt_vector_clock_epoch(
                   simt_current_order.order_within_block.thread_clocks[running_thread()].happens_before,
                   simt_pseudo_thread_of_async_proxy(vector_clock_thread_number(block, access_thread), space));
}
