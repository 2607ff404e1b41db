/**
 * @file collectives.c
 * @brief Warp-level collectives: shuffles, votes, matches, reductions, __syncwarp and tensor cores. Kernels call them
 *        through device_calls.h; the scheduler completes them.
 *
 * Each arriving lane stores its operand in the warp's state and is suspended. When all lanes in a mask, except those
 * that have returned, are at the same collective with the same mask, they get their results and become ready again.
 * Lanes with other masks do not affect this group.
 *
 * A collective with SIMT_MASK_OF_ACTIVE_LANES instead of a mask completes only when no lane of the warp can continue,
 * and only for the lanes at the call that comes first in the source (see active_lanes.h).
 */
#include "active_lanes.h"
#include "device_calls.h"
#include "kernel_calls.h"
#include "lanes/observer.h"
#include "machine/fault.h"
#include "machine/source_lines.h"
#include "memory/shadow.h"
#include "tensor_cores.h"
#include "warpgroup_products.h"

#include <string.h>

enum { CALL_WIDTH_SHIFT = 8, CALL_AGREED = 0xffff, CALL_BYTES_SHIFT = 16 };

enum collective {
    COLLECTIVE_SHUFFLE_INDEX,
    COLLECTIVE_SHUFFLE_UP,
    COLLECTIVE_SHUFFLE_DOWN,
    COLLECTIVE_SHUFFLE_XOR,
    COLLECTIVE_BALLOT,
    COLLECTIVE_ELECT,
    COLLECTIVE_ANY,
    COLLECTIVE_ALL,
    COLLECTIVE_MATCH_ANY,
    COLLECTIVE_MATCH_ALL,
    COLLECTIVE_REDUCE_ADD,
    COLLECTIVE_REDUCE_MIN,
    COLLECTIVE_REDUCE_MAX,
    COLLECTIVE_REDUCE_MIN_SIGNED,
    COLLECTIVE_REDUCE_MAX_SIGNED,
    COLLECTIVE_REDUCE_AND,
    COLLECTIVE_REDUCE_OR,
    COLLECTIVE_REDUCE_XOR,
    COLLECTIVE_SYNCWARP,
    COLLECTIVE_ACTIVE,
    COLLECTIVE_MMA_BFLOAT16,
    COLLECTIVE_MMA_HALF,
    COLLECTIVE_LDMATRIX,
    COLLECTIVE_LDMATRIX_TRANSPOSED,
    COLLECTIVE_WMMA_BFLOAT16,
    COLLECTIVE_WMMA_HALF,
    COLLECTIVE_WMMA_MEMORY,
    COLLECTIVE_WGMMA,
    COLLECTIVE_WGMMA_FENCE,
    COLLECTIVE_WGMMA_COMMIT,
    COLLECTIVE_WGMMA_WAIT,
    COLLECTIVE_ITERATION_END, /* this kind and the next only wait until the lanes have reconverged */
    COLLECTIVE_JOIN,
};

static const char *const names[] = {
    [COLLECTIVE_SHUFFLE_INDEX] = "__shfl_sync",
    [COLLECTIVE_SHUFFLE_UP] = "__shfl_up_sync",
    [COLLECTIVE_SHUFFLE_DOWN] = "__shfl_down_sync",
    [COLLECTIVE_SHUFFLE_XOR] = "__shfl_xor_sync",
    [COLLECTIVE_BALLOT] = "__ballot_sync",
    [COLLECTIVE_ELECT] = "elect.sync",
    [COLLECTIVE_ANY] = "__any_sync",
    [COLLECTIVE_ALL] = "__all_sync",
    [COLLECTIVE_MATCH_ANY] = "__match_any_sync",
    [COLLECTIVE_MATCH_ALL] = "__match_all_sync",
    [COLLECTIVE_REDUCE_ADD] = "__reduce_add_sync",
    [COLLECTIVE_REDUCE_MIN] = "__reduce_min_sync",
    [COLLECTIVE_REDUCE_MAX] = "__reduce_max_sync",
    [COLLECTIVE_REDUCE_MIN_SIGNED] = "__reduce_min_sync",
    [COLLECTIVE_REDUCE_MAX_SIGNED] = "__reduce_max_sync",
    [COLLECTIVE_REDUCE_AND] = "__reduce_and_sync",
    [COLLECTIVE_REDUCE_OR] = "__reduce_or_sync",
    [COLLECTIVE_REDUCE_XOR] = "__reduce_xor_sync",
    [COLLECTIVE_SYNCWARP] = "__syncwarp",
    [COLLECTIVE_ACTIVE] = "__activemask",
    [COLLECTIVE_MMA_BFLOAT16] = "mma.m16n8k16",
    [COLLECTIVE_MMA_HALF] = "mma.m16n8k16",
    [COLLECTIVE_LDMATRIX] = "ldmatrix",
    [COLLECTIVE_LDMATRIX_TRANSPOSED] = "ldmatrix.trans",
    [COLLECTIVE_WMMA_BFLOAT16] = "mma_sync",
    [COLLECTIVE_WMMA_HALF] = "mma_sync",
    [COLLECTIVE_WMMA_MEMORY] = "load_matrix_sync or store_matrix_sync",
    [COLLECTIVE_WGMMA] = "wgmma",
    [COLLECTIVE_WGMMA_FENCE] = "wgmma.fence",
    [COLLECTIVE_WGMMA_COMMIT] = "wgmma.commit_group",
    [COLLECTIVE_WGMMA_WAIT] = "wgmma.wait_group",
    [COLLECTIVE_ITERATION_END] = "the end of an iteration",
    [COLLECTIVE_JOIN] = "the end of a condition",
};

/** Names of the collectives that apply to the active lanes. */
static const char *const active_names[] = {
    [COLLECTIVE_SHUFFLE_INDEX] = "__shfl",
    [COLLECTIVE_SHUFFLE_UP] = "__shfl_up",
    [COLLECTIVE_SHUFFLE_DOWN] = "__shfl_down",
    [COLLECTIVE_SHUFFLE_XOR] = "__shfl_xor",
    [COLLECTIVE_BALLOT] = "__ballot",
    [COLLECTIVE_ANY] = "__any",
    [COLLECTIVE_ALL] = "__all",
    [COLLECTIVE_SYNCWARP] = "__builtin_amdgcn_wave_barrier",
};

static enum collective collective_of(uint64_t call)
{
    return (enum collective)(call & 0xff);
}

/**
 * Returns whether a collective applies to the active lanes rather than to the lanes of a mask. There are no such
 * collectives for warps of 32 lanes, where mask 0 is an error.
 */
static inline bool of_active(lane_mask mask)
{
    return WARP_LANES == 64 && mask == SIMT_MASK_OF_ACTIVE_LANES;
}

/** Returns the name of the collective at which a lane waits. */
const char *simt_awaited_collective_name(const struct warp *warp, unsigned lane)
{
    const enum collective kind = collective_of(warp->collective_call_key[lane]);

    return of_active(warp->collective_mask[lane]) ? active_names[kind] : names[kind];
}

/** Arrives at a collective, waits until it is complete, and returns the lane's result. */
static inline uint64_t arrive_and_wait(lane_mask mask, uint64_t call, uint64_t value, int argument, uintptr_t site)
{
    struct lane *lane = simt_running.lane;
    struct warp *warp = simt_running.warp;

    if (SIMT_UNLIKELY(!lane))
        simt_reject_host_call(names[collective_of(call)], site);
    const unsigned i = lane->thread % WARP_LANES;
    const lane_mask self = lane_bit(i);

    if (SIMT_UNLIKELY(simt_num_deferred_races))
        simt_deferred_race_report();
    if (of_active(mask))
        lane->next_position_key = key_of_next_step(lane->next_position_key);
    else if (SIMT_UNLIKELY(!(mask & self)))
        simt_fault_here(cudaErrorLaunchFailure, site, "lane not in its own mask",
                        "calls %s with mask " LANE_MASK_FORMAT ", which lacks its own lane %u",
                        names[collective_of(call)], LANE_MASK_ARGUMENTS(mask), i);
    warp->collective_mask[i] = mask;
    warp->collective_call_key[i] = call;
    warp->collective_value[i] = value;
    warp->collective_argument[i] = argument;
    warp->ready_lanes &= ~self;
    warp->lanes_at_collective |= self;
    lane->wait_site = site;
    lane->barrier_id = 0;
    simt_current_order.packed_last_load = 0;
    simt_launch_progress.num_collective_arrivals++;
    simt_lane_suspend();
    return warp->collective_value[i];
}

uint64_t simt_shuffle(lane_mask mask, enum simt_shuffle kind, uint64_t value, int argument, int width, unsigned bytes)
{
    if (SIMT_UNLIKELY(width < 1 || width > WARP_LANES || (width & (width - 1)) != 0))
        simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "bad shuffle width",
                        "shuffles with width %d, not a power of two up to %d", width, WARP_LANES);
    return arrive_and_wait(mask, (uint64_t)kind | (unsigned)width << CALL_WIDTH_SHIFT | bytes << CALL_BYTES_SHIFT,
                           value, argument, SIMT_RETURN_ADDRESS());
}

lane_mask simt_ballot(lane_mask mask, int predicate)
{
    return (lane_mask)arrive_and_wait(mask, COLLECTIVE_BALLOT, predicate != 0, 0, SIMT_RETURN_ADDRESS());
}

int simt_any(lane_mask mask, int predicate)
{
    return (int)arrive_and_wait(mask, COLLECTIVE_ANY, predicate != 0, 0, SIMT_RETURN_ADDRESS());
}

int simt_all(lane_mask mask, int predicate)
{
    return (int)arrive_and_wait(mask, COLLECTIVE_ALL, predicate != 0, 0, SIMT_RETURN_ADDRESS());
}

lane_mask simt_match_any(lane_mask mask, uint64_t value)
{
    return (lane_mask)arrive_and_wait(mask, COLLECTIVE_MATCH_ANY, value, 0, SIMT_RETURN_ADDRESS());
}

lane_mask simt_match_all(lane_mask mask, uint64_t value)
{
    return (lane_mask)arrive_and_wait(mask, COLLECTIVE_MATCH_ALL, value, 0, SIMT_RETURN_ADDRESS());
}

uint32_t simt_reduce(lane_mask mask, enum simt_reduction kind, uint32_t value)
{
    return (uint32_t)arrive_and_wait(mask, (uint64_t)COLLECTIVE_REDUCE_ADD + (uint64_t)kind, value, 0,
                                     SIMT_RETURN_ADDRESS());
}

void simt_check_tile_size_divides_group(unsigned group_threads, unsigned tile_threads)
{
    if (tile_threads == 0 || group_threads % tile_threads != 0)
        simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "incomplete tile",
                        "divides the %u threads of its group into tiles of %u" SIMT_ADVICE_PREFIX
                        "a group whose size is a multiple of the tile's",
                        group_threads, tile_threads);
}

void simt_syncwarp(lane_mask mask)
{
    arrive_and_wait(mask, COLLECTIVE_SYNCWARP, 0, 0, SIMT_RETURN_ADDRESS());
}

lane_mask simt_activemask(void)
{
    const lane_mask self = simt_running.lane ? lane_bit(simt_running.lane->thread % WARP_LANES) : 0;

    return self ? (lane_mask)arrive_and_wait(self, COLLECTIVE_ACTIVE, 0, 0, SIMT_RETURN_ADDRESS()) : 0;
}

unsigned simt_lane_number(void)
{
    return simt_running.lane->thread % WARP_LANES;
}

void simt_call_or_iteration_ends(struct simt_call_or_iteration_frame *frame)
{
    struct lane *lane = simt_running.lane;

    if (!lane)
        return;
    if (frame->is_iteration) {
        simt_running.warp->lanes_at_iteration_end |= lane_bit(lane->thread % WARP_LANES);
        arrive_and_wait(SIMT_MASK_OF_ACTIVE_LANES, COLLECTIVE_ITERATION_END, 0, 0, SIMT_RETURN_ADDRESS());
    }
    lane->call_or_iteration_frame = frame->outer_frame;
}

void simt_lanes_reconverge(unsigned mark_number)
{
    struct lane *lane = simt_running.lane;

    if (!lane)
        return;
    lane->next_position_key = (lane->next_position_key & KEY_CALLS_LEFT_MASK) | (uint64_t)mark_number
                                                                                    << KEY_BASIC_BLOCK_SHIFT;
    arrive_and_wait(SIMT_MASK_OF_ACTIVE_LANES, COLLECTIVE_JOIN, 0, 0, SIMT_RETURN_ADDRESS());
}

/* --- tensor cores ------------------------------------------------------------------------------------------------- */

/* The operands and results stay on the lanes' stacks; the collective receives only their addresses. */

static struct simt_fragment_floats mma(enum collective kind, struct mma_fragments fragments, uintptr_t site)
{
    arrive_and_wait(ALL_LANES, kind, (uintptr_t)&fragments, 0, site);
    return fragments.d;
}

struct simt_fragment_floats simt_mma_bfloat16(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                                              uint32_t b1, float d0, float d1, float d2, float d3)
{
    return mma(COLLECTIVE_MMA_BFLOAT16, (struct mma_fragments){{a0, a1, a2, a3}, {b0, b1}, {{d0, d1, d2, d3}}},
               SIMT_RETURN_ADDRESS());
}

struct simt_fragment_floats simt_mma_half(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                                          float d0, float d1, float d2, float d3)
{
    return mma(COLLECTIVE_MMA_HALF, (struct mma_fragments){{a0, a1, a2, a3}, {b0, b1}, {{d0, d1, d2, d3}}},
               SIMT_RETURN_ADDRESS());
}

struct simt_fragment_words simt_ldmatrix(const void *row, unsigned num_matrices, int transposed)
{
    const enum collective kind = transposed ? COLLECTIVE_LDMATRIX_TRANSPOSED : COLLECTIVE_LDMATRIX;
    struct ldmatrix_lane_data rows = {.row = {0}};

    if (!simt_running.lane)
        simt_reject_host_call(names[kind], SIMT_RETURN_ADDRESS());
    if (simt_running.lane->thread % WARP_LANES < 8 * num_matrices) {
        simt_check_and_record_ldmatrix_row(row, SIMT_RETURN_ADDRESS());
        memcpy(rows.row, row, sizeof rows.row);
    }
    arrive_and_wait(ALL_LANES, (uint64_t)kind | num_matrices << CALL_WIDTH_SHIFT, (uintptr_t)&rows, 0,
                    SIMT_RETURN_ADDRESS());
    return rows.fragments;
}

void simt_wmma(const uint16_t a[16], const uint16_t b[16], const float c[8], float d[8],
               enum simt_mma_element_type type)
{
    struct wmma_fragments fragments = {.a = a, .b = b, .c = c, .d = d};

    arrive_and_wait(ALL_LANES, type == SIMT_HALF ? COLLECTIVE_WMMA_HALF : COLLECTIVE_WMMA_BFLOAT16,
                    (uintptr_t)&fragments, 0, SIMT_RETURN_ADDRESS());
}

void simt_check_lanes_use_same_matrix(const void *matrix, size_t pitch_bytes)
{
    if ((uintptr_t)matrix % 32 != 0)
        simt_fault_here(cudaErrorMisalignedAddress, SIMT_RETURN_ADDRESS(), "misaligned address",
                        "loads or stores a matrix at an address that is not a multiple of 32 (it ends in 0x%x)",
                        (unsigned)((uintptr_t)matrix & 0xff));
    if (pitch_bytes % 16 != 0)
        simt_fault_here(cudaErrorMisalignedAddress, SIMT_RETURN_ADDRESS(), "misaligned address",
                        "loads or stores a matrix whose rows are %zu bytes apart, which is not a multiple of 16",
                        pitch_bytes);
    arrive_and_wait(ALL_LANES, COLLECTIVE_WMMA_MEMORY, (uintptr_t)matrix, (int)pitch_bytes, SIMT_RETURN_ADDRESS());
}

void simt_wgmma(float *sums, unsigned num_sums, uint64_t a, uint64_t b)
{
    const struct wgmma_lane_operands part = {sums, num_sums, a, b};

    simt_product_check_and_record_operand_reads(&part, SIMT_RETURN_ADDRESS());
    arrive_and_wait(ALL_LANES, COLLECTIVE_WGMMA, (uintptr_t)&part, 0, SIMT_RETURN_ADDRESS());
}

void simt_wgmma_fence(void)
{
    arrive_and_wait(ALL_LANES, COLLECTIVE_WGMMA_FENCE, 0, 0, SIMT_RETURN_ADDRESS());
}

void simt_wgmma_commit(void)
{
    arrive_and_wait(ALL_LANES, COLLECTIVE_WGMMA_COMMIT, 0, 0, SIMT_RETURN_ADDRESS());
}

void simt_wgmma_wait(unsigned num_pending_groups)
{
    simt_products_check_no_operand_overwritten(num_pending_groups);
    arrive_and_wait(ALL_LANES, COLLECTIVE_WGMMA_WAIT, 0, (int)num_pending_groups, SIMT_RETURN_ADDRESS());
}

int simt_elect_one(void)
{
    const unsigned lane = simt_running.lane->thread % WARP_LANES;

    return lowest_lane((lane_mask)arrive_and_wait(ALL_LANES, COLLECTIVE_ELECT, 1, 0, SIMT_RETURN_ADDRESS())) == lane;
}

unsigned simt_nth_bit(uint32_t bits, unsigned n)
{
    for (; n > 0 && bits; n--)
        bits &= bits - 1;
    return bits ? lowest_lane(bits) : 32;
}

unsigned simt_lane_of_rank(uint32_t lanes, unsigned rank)
{
    const unsigned lane = simt_nth_bit(lanes, rank);

    if (simt_running.lane && lane == 32)
        simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "shuffle from an absent lane",
                        "reads rank %u of a group of %d threads" SIMT_ADVICE_PREFIX "a rank below size()", rank,
                        __builtin_popcount(lanes));
    return lane;
}

uint32_t simt_gather_bits(uint32_t bits, uint32_t mask)
{
    uint32_t gathered = 0;
    unsigned bit = 0;

    FOR_EACH_LANE (i, mask)
        gathered |= (bits >> i & 1) << bit++;
    return gathered;
}

/* --- completion --------------------------------------------------------------------------------------------------- */

/**
 * Returns the lane that `lane` reads in a shuffle, or -1 if the source is outside the segment of `lane`; in that case
 * `lane` keeps its own value.
 */
static inline int shuffle_source(enum collective kind, int lane, int argument, int width)
{
    const int segment = lane & ~(width - 1);
    const int distance = WARP_LANES == 32 ? argument & 31 : argument; /* PTX: shfl uses five bits */
    const int other = lane ^ distance;

    switch (kind) {
    case COLLECTIVE_SHUFFLE_UP:
        return (unsigned)distance <= (unsigned)(lane - segment) ? lane - distance : -1;
    case COLLECTIVE_SHUFFLE_DOWN:
        return (unsigned)distance < (unsigned)(segment + width - lane) ? lane + distance : -1;
    case COLLECTIVE_SHUFFLE_XOR:
        return other >= 0 && other < segment + width ? other : -1;
    default:
        return segment + (argument & (width - 1));
    }
}

static bool on_one_line(uintptr_t pc, uintptr_t other)
{
    char line[LOCATION_TEXT_SIZE], other_line[LOCATION_TEXT_SIZE];

    simt_format_source_line(pc, line);
    simt_format_source_line(other, other_line);
    return strcmp(line, other_line) == 0;
}

/** Reports a shuffle in which `lane` reads from a lane that does not participate. */
static void fault_absent_lane(const struct warp *warp, unsigned lane, unsigned source)
{
    const struct lane *reader = &simt_running.warp_lanes[lane];
    const lane_mask mask = warp->collective_mask[lane];
    const bool returned = warp->finished_lanes >> source & 1;
    const uintptr_t end = returned ? simt_running.warp_lanes[source].wait_site : 0;
    char why[160], all[80] = "";

    if (!of_active(mask))
        snprintf(all, sizeof all, " (mask " LANE_MASK_FORMAT ")", LANE_MASK_ARGUMENTS(mask));
    snprintf(why, sizeof why, "which is not active at this call");
    if (!of_active(mask) && !(mask >> source & 1))
        simt_fault_thread(cudaErrorLaunchFailure, reader->thread_index, reader->wait_site,
                          "shuffle from an absent lane",
                          "reads lane %u, which is not in the mask " LANE_MASK_FORMAT ", by %s" SIMT_ADVICE_PREFIX
                          "let all lanes make the call, with a mask of all: a lane without work should take part with "
                          "a neutral value (0 for a sum)",
                          source, LANE_MASK_ARGUMENTS(mask), simt_awaited_collective_name(warp, lane));
    else if (!(warp->lanes >> source & 1))
        snprintf(why, sizeof why, "which the block does not have");
    else if (returned && warp->collective_mask[source] != mask && on_one_line(end, reader->wait_site)) {
        snprintf(why, sizeof why, "which made this call with the mask " LANE_MASK_FORMAT,
                 LANE_MASK_ARGUMENTS(warp->collective_mask[source]));
        if (!of_active(mask))
            snprintf(all, sizeof all, "; this lane's mask is " LANE_MASK_FORMAT, LANE_MASK_ARGUMENTS(mask));
    } else if (returned) {
        if (warp->bypassing_lanes >> source & 1)
            snprintf(why, sizeof why,
                     "which did not make this call: it did not enter the block that begins" SIMT_PC_LOCATION_FORMAT
                     ", and ended the kernel",
                     warp->bypassed_block_pc);
        else
            snprintf(why, sizeof why,
                     "which did not make this call: it skipped it and ended the kernel, last "
                     "seen" SIMT_PC_LOCATION_FORMAT,
                     end);
        if (!of_active(mask))
            snprintf(all, sizeof all, "; all lanes in the mask " LANE_MASK_FORMAT " must make it",
                     LANE_MASK_ARGUMENTS(mask));
    }
    simt_fault_thread(cudaErrorLaunchFailure, reader->thread_index, reader->wait_site, "shuffle from an absent lane",
                      "reads lane %u by %s, %s%s", source, simt_awaited_collective_name(warp, lane), why, all);
}

/** Computes the results of a shuffle; returns false after a fault. */
static bool complete_shuffle(struct warp *warp, uint64_t call, struct warp_collective *collective)
{
    const enum collective kind = collective_of(call);

    FOR_EACH_LANE (lane, collective->lanes) {
        const int width = (int)(warp->collective_call_key[lane] >> CALL_WIDTH_SHIFT & 0xff);
        const int source = shuffle_source(kind, (int)lane, warp->collective_argument[lane], width);

        collective->source_lanes[lane] = (int8_t)source;
        if (source < 0)
            continue;
        if (SIMT_UNLIKELY(!(collective->lanes >> source & 1))) {
            fault_absent_lane(warp, (unsigned)lane, (unsigned)source);
            return false;
        }
        warp->collective_value[lane] = collective->operands[source];
    }
    return true;
}

static uint64_t reduce(enum collective kind, uint32_t a, uint32_t b)
{
    switch (kind) {
    case COLLECTIVE_REDUCE_ADD:
        return (uint32_t)(a + b);
    case COLLECTIVE_REDUCE_MIN:
        return a < b ? a : b;
    case COLLECTIVE_REDUCE_MAX:
        return a > b ? a : b;
    case COLLECTIVE_REDUCE_MIN_SIGNED:
        return (int32_t)a < (int32_t)b ? a : b;
    case COLLECTIVE_REDUCE_MAX_SIGNED:
        return (int32_t)a > (int32_t)b ? a : b;
    case COLLECTIVE_REDUCE_AND:
        return a & b;
    case COLLECTIVE_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void set_all(struct warp *warp, lane_mask group, uint64_t result)
{
    FOR_EACH_LANE (i, group)
        warp->collective_value[i] = result;
}

static void complete_match_any(struct warp *warp, lane_mask group)
{
    lane_mask left = group;

    while (left) {
        const uint64_t value = warp->collective_value[lowest_lane(left)];
        lane_mask same = 0;

        FOR_EACH_LANE (lane, left) {
            if (warp->collective_value[lane] == value)
                same |= lane_bit(lane);
        }
        set_all(warp, same, same);
        left &= ~same;
    }
}

static void complete_vote(struct warp *warp, lane_mask group, enum collective kind)
{
    const uint64_t first = warp->collective_value[lowest_lane(group)];
    lane_mask votes = 0;
    lane_mask same = 0;
    uint64_t result = first;

    if (kind == COLLECTIVE_MATCH_ANY) {
        complete_match_any(warp, group);
        return;
    }
    FOR_EACH_LANE (lane, group) {
        votes |= (lane_mask)(warp->collective_value[lane] != 0) << lane;
        same |= (lane_mask)(warp->collective_value[lane] == first) << lane;
    }
    if (kind >= COLLECTIVE_REDUCE_ADD) {
        FOR_EACH_LANE (i, group & (group - 1))
            result = reduce(kind, (uint32_t)result, (uint32_t)warp->collective_value[i]);
    } else if (kind == COLLECTIVE_BALLOT || kind == COLLECTIVE_ELECT) {
        result = votes;
    } else if (kind == COLLECTIVE_ANY) {
        result = votes != 0;
    } else if (kind == COLLECTIVE_ALL) {
        result = votes == group;
    } else {
        result = same == group ? group : 0;
    }
    set_all(warp, group, result);
}

/**
 * Checks that the lanes of a collective reached it through the same call in the source, because a GPU need not make
 * lanes wait for each other at different calls. Returns false after a fault.
 */
static bool check_same_call(lane_mask group)
{
    const struct lane *first = &simt_running.warp_lanes[lowest_lane(group)];

    FOR_EACH_LANE (i, group & (group - 1)) {
        const struct lane *lane = &simt_running.warp_lanes[i];

        if (SIMT_UNLIKELY(!lanes_reached_same_call_addresses(lane, first)) &&
            !simt_check_lanes_reached_same_call_lines(
                lane, first, "divergent collective", simt_awaited_collective_name(simt_running.warp, i),
                simt_awaited_collective_name(simt_running.warp, lowest_lane(group))))
            return false;
    }
    return true;
}

/**
 * Records the accesses of the lanes that are in the mask of this collective but have returned without calling it. If a
 * lane of the group later executes one of the recorded accesses, the absent lanes have missed the collective (see
 * warp_replay.c).
 */
static void record_missed(struct warp *warp, lane_mask group, const char *name)
{
    const unsigned first = lowest_lane(group);
    const lane_mask absent = warp->collective_mask[first] & warp->finished_lanes;
    unsigned kept = 0;

    for (unsigned i = 0; i < warp->num_accesses_bypassing_collectives; i++) {
        struct access_bypassing_collective *passed = &warp->accesses_bypassing_collectives[i];

        if ((passed->bypassing_lanes & absent) && !passed->lanes_that_had_waited) {
            passed->bypassing_lanes &= absent;
            passed->lanes_that_had_waited = group;
            passed->collective_site = simt_running.warp_lanes[first].wait_site;
            passed->collective_name = name;
            warp->lanes_past_bypassed_collective |= group;
        }
        if (passed->lanes_that_had_waited || (warp->lanes_at_collective & ~group))
            warp->accesses_bypassing_collectives[kept++] = *passed;
    }
    warp->num_accesses_bypassing_collectives = kept;
}

/** Checks that all lanes load or store the same matrix; returns false after a fault. */
static bool is_one_matrix(const struct warp *warp)
{
    for (unsigned lane = 1; lane < WARP_LANES; lane++) {
        const struct lane *other = &simt_running.warp_lanes[lane];

        if (warp->collective_value[lane] == warp->collective_value[0] &&
            warp->collective_argument[lane] == warp->collective_argument[0])
            continue;
        simt_fault_thread(cudaErrorLaunchFailure, other->thread_index, other->wait_site, "several matrices",
                          "loads or stores a matrix that is not the one of lane 0: address or distance of rows differ");
        return false;
    }
    return true;
}

/** Completes a warp's matrix operation; returns false after a fault. */
static bool complete_matrices(struct warp *warp, lane_mask group, uint64_t call, struct warp_collective *collective)
{
    const enum collective kind = collective_of(call);

    if (SIMT_UNLIKELY(group != ALL_LANES)) {
        const struct lane *first = &simt_running.warp_lanes[lowest_lane(group)];
        const unsigned absent = lowest_lane(~group);
        char why[96] = "the block does not have";

        if (warp->lanes >> absent & 1)
            snprintf(why, sizeof why, "skipped it and ended the kernel, last seen" SIMT_PC_LOCATION_FORMAT,
                     simt_running.warp_lanes[absent].wait_site);
        simt_fault_thread(cudaErrorLaunchFailure, first->thread_index, first->wait_site, "warp without all lanes",
                          "does this %s, which takes all 32 lanes of the warp, without lane %u, which %s", names[kind],
                          absent, why);
        return false;
    }
    collective->kind = WARP_COLLECTIVE_MMA;
    collective->num_tensor_core_operations = 1;
    switch (kind) {
    case COLLECTIVE_MMA_BFLOAT16:
    case COLLECTIVE_MMA_HALF:
        simt_complete_mma(warp->collective_value, kind == COLLECTIVE_MMA_HALF ? SIMT_HALF : SIMT_BFLOAT16);
        return true;
    case COLLECTIVE_WMMA_BFLOAT16:
    case COLLECTIVE_WMMA_HALF:
        collective->num_tensor_core_operations = 2;
        simt_complete_wmma(warp->collective_value, kind == COLLECTIVE_WMMA_HALF ? SIMT_HALF : SIMT_BFLOAT16);
        return true;
    case COLLECTIVE_WGMMA:
        collective->num_tensor_core_operations =
            ((const struct wgmma_lane_operands *)(uintptr_t)warp->collective_value[0])->num_sums / 4;
        return simt_product_compute_rows_or_fault(warp, warp->collective_value);
    default:
        collective->kind = WARP_COLLECTIVE_MATRIX_MEMORY;
    }
    switch (kind) {
    case COLLECTIVE_WMMA_MEMORY:
        return is_one_matrix(warp);
    case COLLECTIVE_WGMMA_FENCE:
        return simt_products_record_fence(warp);
    case COLLECTIVE_WGMMA_COMMIT:
        simt_products_commit(warp);
        return true;
    case COLLECTIVE_WGMMA_WAIT:
        /* After the wait, every lane may use the results of all lanes' products. */
        simt_order_record_completed_syncwarp(&warp->ordering, warp->first_thread, warp->lanes, ALL_LANES);
        simt_products_remove_waited(warp, (unsigned)warp->collective_argument[0]);
        return true;
    default:
        break;
    }
    simt_complete_ldmatrix(warp->collective_value, call >> CALL_WIDTH_SHIFT & 0xff,
                           kind == COLLECTIVE_LDMATRIX_TRANSPOSED);
    return true;
}

static void complete(struct warp *warp, lane_mask group, uint64_t call)
{
    const enum collective kind = collective_of(call);
    const unsigned first = lowest_lane(group);
    struct warp_collective collective;
    bool good = true;

    if (!check_same_call(group))
        return;
    if (SIMT_UNLIKELY(warp->num_accesses_bypassing_collectives > 0))
        record_missed(warp, group, names[kind]);
    collective.warp = warp;
    collective.name = simt_awaited_collective_name(warp, first);
    collective.lanes = group;
    collective.shuffle_bytes = (unsigned)(call >> CALL_BYTES_SHIFT);
    memcpy(collective.operands, warp->collective_value, sizeof collective.operands);
    if (kind <= COLLECTIVE_SHUFFLE_XOR) {
        collective.kind = WARP_COLLECTIVE_SHUFFLE;
        good = complete_shuffle(warp, call, &collective);
    } else if (kind >= COLLECTIVE_MMA_BFLOAT16) {
        good = complete_matrices(warp, group, call, &collective);
    } else if (kind == COLLECTIVE_SYNCWARP) {
        collective.kind = WARP_COLLECTIVE_SYNCWARP;
        simt_order_record_completed_syncwarp(&warp->ordering, warp->first_thread, warp->lanes,
                                             of_active(warp->collective_mask[first]) ? group | warp->finished_lanes
                                                                                     : warp->collective_mask[first]);
    } else {
        collective.kind = WARP_COLLECTIVE_VOTE;
        complete_vote(warp, group, kind);
    }
    warp->lanes_at_collective &= ~group;
    warp->ready_lanes |= group;
    if (good)
        NOTIFY_OBSERVERS(collective_done, &collective);
}

/** Returns the lanes that wait at the same collective as `lane`, with the same mask. */
static lane_mask lanes_at_same_call(const struct warp *warp, unsigned lane)
{
    const lane_mask mask = warp->collective_mask[lane];
    const uint64_t call = warp->collective_call_key[lane];
    lane_mask group = 0;

    FOR_EACH_LANE (other, warp->lanes_at_collective & mask) {
        if (warp->collective_mask[other] == mask && ((warp->collective_call_key[other] ^ call) & CALL_AGREED) == 0)
            group |= lane_bit(other);
    }
    return group;
}

lane_mask simt_collective_missing_lanes(const struct warp *warp, unsigned lane)
{
    return warp->collective_mask[lane] & warp->lanes & ~warp->finished_lanes & ~lanes_at_same_call(warp, lane);
}

/**
 * Completes __activemask() for each group of lanes at the same call, once no other lane of the warp can still arrive.
 */
static void complete_active(struct warp *warp)
{
    lane_mask left = 0;

    FOR_EACH_LANE (lane, warp->lanes_at_collective)
        left |= (lane_mask)(collective_of(warp->collective_call_key[lane]) == COLLECTIVE_ACTIVE) << lane;
    while (left) {
        const uintptr_t site = simt_running.warp_lanes[lowest_lane(left)].wait_site;
        lane_mask group = 0;

        FOR_EACH_LANE (lane, left)
            group |= (lane_mask)(simt_running.warp_lanes[lane].wait_site == site) << lane;
        set_all(warp, group, group);
        warp->lanes_at_collective &= ~group;
        warp->ready_lanes |= group;
        left &= ~group;
    }
}

/** Completes the collective, or the reconvergence, that the lanes at the earliest position in the source wait for. */
static void complete_first_of_active(struct warp *warp)
{
    const lane_mask group = simt_lanes_waiting_at_earliest_position(warp);

    if (group && collective_of(warp->collective_call_key[lowest_lane(group)]) < COLLECTIVE_ITERATION_END) {
        complete(warp, group, warp->collective_call_key[lowest_lane(group)]);
        return;
    }
    warp->lanes_at_iteration_end &= ~group;
    warp->lanes_at_collective &= ~group;
    warp->ready_lanes |= group;
}

void simt_collectives_complete_arrived(struct warp *warp, bool also_of_active_lanes)
{
    lane_mask left = warp->lanes_at_collective;

    while (left && !simt_faulted) {
        const unsigned lane = lowest_lane(left);
        const lane_mask group = lanes_at_same_call(warp, lane);

        left &= ~(group | lane_bit(lane));
        if ((warp->collective_mask[lane] & warp->lanes & ~warp->finished_lanes) != group ||
            of_active(warp->collective_mask[lane]) ||
            collective_of(warp->collective_call_key[lane]) == COLLECTIVE_ACTIVE)
            continue;
        complete(warp, group, warp->collective_call_key[lane]);
    }
    if (!also_of_active_lanes || simt_faulted)
        return;
    if (WARP_LANES == 32)
        complete_active(warp);
    else
        complete_first_of_active(warp);
}

void simt_collective_describe_wait(const struct block *block, const struct warp *warp, unsigned lane, lane_mask missing,
                                   char *text, size_t size)
{
    const unsigned other = lowest_lane(missing);
    const struct lane *absent = &block->lane[warp->first_thread + other];
    const char *verb = "", *at = "runs on";
    char barrier[BARRIER_NAME_SIZE];

    if (warp->lanes_at_barrier >> other & 1) {
        simt_awaited_barrier_name(absent, barrier);
        verb = "waits at ";
        at = barrier;
    } else if (warp->lanes_at_mbarrier >> other & 1) {
        verb = "waits at ";
        at = "an mbarrier";
    } else if (warp->lanes_at_collective >> other & 1) {
        verb = "is at ";
        at = names[collective_of(warp->collective_call_key[other])];
    }
    snprintf(
        text, size,
        "waits at %s with mask " LANE_MASK_FORMAT " for lane %u, thread (%u,%u,%u), which %s%s" SIMT_PC_LOCATION_FORMAT,
        names[collective_of(warp->collective_call_key[lane])], LANE_MASK_ARGUMENTS(warp->collective_mask[lane]), other,
        absent->thread_index.x, absent->thread_index.y, absent->thread_index.z, verb, at, absent->wait_site);
    if (warp->lanes_at_collective >> other & 1 && warp->collective_mask[other] != warp->collective_mask[lane]) {
        const size_t length = strlen(text);

        snprintf(text + length, size - length, " with mask " LANE_MASK_FORMAT,
                 LANE_MASK_ARGUMENTS(warp->collective_mask[other]));
    }
    strncat(text,
            collective_of(warp->collective_call_key[lane]) == COLLECTIVE_SYNCWARP ? SIMT_ADVICE_PREFIX
                "move it out of the branch, so that all lanes of its mask reach it; it orders one "
                "warp only: if other warps use the data, __syncthreads() there"
            : collective_of(warp->collective_call_key[lane]) <= COLLECTIVE_SHUFFLE_XOR
                ? SIMT_ADVICE_PREFIX "make the call in all lanes of the mask, before the if; keep its result in a "
                                     "variable and use it in the if; or leave out of the mask the lanes that do not "
                                     "make it"
                : SIMT_ADVICE_PREFIX "let all lanes of the mask reach this call, or leave those out of the mask that "
                                     "do not",
            size - strlen(text) - 1);
}
