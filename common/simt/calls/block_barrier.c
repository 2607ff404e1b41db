/**
 * @file block_barrier.c
 * @brief __syncthreads and its variants, and one block's part of the grid barrier. Kernels reach these barriers through
 *        device_calls.h; the scheduler and the grid complete them.
 */
#include "device_calls.h"
#include "kernel_calls.h"
#include "lanes/observer.h"
#include "machine/fault.h"
#include "memory/shadow.h"

static int barrier_wait(int predicate, unsigned call, uintptr_t site)
{
    struct lane *lane = simt_running.lane;
    struct warp *warp = simt_running.warp;

    if (SIMT_UNLIKELY(!lane))
        simt_reject_host_call("a barrier of a block or a grid", site);
    const lane_mask self = lane_bit(lane->thread % WARP_LANES);

    if (SIMT_UNLIKELY(simt_num_deferred_races))
        simt_deferred_race_report();
    lane->wait_site = site;
    lane->barrier_id = call;
    warp->ready_lanes &= ~self;
    warp->lanes_at_barrier |= self;
    simt_running.block->barrier_predicate_sum += predicate != 0;
    simt_current_order.packed_last_load = 0;
    simt_launch_progress.num_collective_arrivals++;
    simt_lane_suspend();
    return simt_running.block->barrier_result;
}

void simt_syncthreads(unsigned call_number)
{
    barrier_wait(0, call_number, SIMT_RETURN_ADDRESS());
}

void simt_barrier_sync(unsigned barrier_number, unsigned call_number)
{
    enum { NUM_BARRIERS = 16 };

    if (barrier_number >= NUM_BARRIERS)
        simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "no such barrier",
                        "waits at barrier %u, but a block has only the barriers 0 to %d", barrier_number,
                        NUM_BARRIERS - 1);
    barrier_wait(0, barrier_number == 0 ? call_number : NAMED_BARRIER + barrier_number, SIMT_RETURN_ADDRESS());
}

int simt_syncthreads_count(int predicate, unsigned call_number)
{
    return barrier_wait(predicate, COUNT_BARRIER + call_number, SIMT_RETURN_ADDRESS());
}

int simt_syncthreads_and(int predicate, unsigned call_number)
{
    return barrier_wait(predicate, AND_BARRIER + call_number, SIMT_RETURN_ADDRESS()) ==
           (int)simt_running.block->num_threads;
}

int simt_syncthreads_or(int predicate, unsigned call_number)
{
    return barrier_wait(predicate, OR_BARRIER + call_number, SIMT_RETURN_ADDRESS()) != 0;
}

void simt_grid_sync(void)
{
    if (simt_running.lane && !simt_current_launch.is_cooperative)
        simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "grid barrier",
                        "waits for the grid in the launch" SIMT_PC_LOCATION_FORMAT ", which is not cooperative",
                        simt_current_launch.call_site);
    if (simt_running.lane)
        simt_running.block->num_threads_at_grid_barrier++;
    barrier_wait(0, GRID_BARRIER, SIMT_RETURN_ADDRESS());
}

int simt_grid_is_cooperative(void)
{
    return simt_current_launch.is_cooperative;
}

void simt_grid_dependency_sync(void)
{
    if (simt_running.lane)
        simt_order_record_dependency_sync_of_thread();
}

/* --- completion --------------------------------------------------------------------------------------------------- */

void simt_awaited_barrier_name(const struct lane *lane, char name[BARRIER_NAME_SIZE])
{
    if (lane->barrier_id & NAMED_BARRIER)
        snprintf(name, BARRIER_NAME_SIZE, "__barrier_sync(%u)", lane->barrier_id & ~NAMED_BARRIER);
    else if (lane->barrier_id & GROUP_BARRIER)
        snprintf(name, BARRIER_NAME_SIZE, "the block's sync()");
    else
        snprintf(name, BARRIER_NAME_SIZE, "%s",
                 lane->barrier_id == GRID_BARRIER   ? "grid.sync()"
                 : lane->barrier_id & COUNT_BARRIER ? "__syncthreads_count"
                 : lane->barrier_id & AND_BARRIER   ? "__syncthreads_and"
                 : lane->barrier_id & OR_BARRIER    ? "__syncthreads_or"
                                                    : "__syncthreads");
}

/** Reports a fault if threads wait at different barriers, unless both calls are copies of one call in the source. */
static void check_barrier_sites(struct block *block, const struct lane *first)
{
    char name[BARRIER_NAME_SIZE], first_name[BARRIER_NAME_SIZE];

    simt_awaited_barrier_name(first, first_name);
    for (unsigned i = 1; i < block->num_threads && !simt_faulted; i++) {
        simt_awaited_barrier_name(&block->lane[i], name);
        simt_check_lanes_reached_same_call_lines(&block->lane[i], first, "divergent barrier", name, first_name);
    }
}

/** Returns the bit that represents a barrier's call site in a block's opened_barriers. */
static uint64_t site_bit(uintptr_t site)
{
    return UINT64_C(1) << site % 61;
}

void simt_block_barrier_check_and_open(struct block *block)
{
    const struct lane *first = &block->lane[0];

    for (unsigned i = 1; i < block->num_threads; i++) {
        if (!lanes_reached_same_call_addresses(&block->lane[i], first)) {
            check_barrier_sites(block, first);
            break;
        }
    }
    if (simt_faulted || simt_fault_confirm() || block->num_threads_at_grid_barrier)
        return;
    simt_order_record_completed_block_barrier();
    simt_block_barrier_release_threads(block);
}

void simt_fault_dismiss_if_after_missed_barrier(const struct block *block, uintptr_t barrier_site)
{
    if (!(block->opened_barriers_hash & site_bit(barrier_site)))
        simt_fault_dismiss_if_after_call_in_source(barrier_site);
}

void simt_block_barrier_release_threads(struct block *block)
{
    NOTIFY_OBSERVERS(block_barrier_opens, block);
    block->opened_barriers_hash |= site_bit(block->lane[0].wait_site);
    block->num_threads_at_grid_barrier = 0;
    block->barrier_result = block->barrier_predicate_sum;
    block->barrier_predicate_sum = 0;
    for (unsigned i = 0; i < block->num_warps; i++) {
        block->warp[i].ready_lanes = block->warp[i].lanes_at_barrier;
        block->warp[i].lanes_at_barrier = 0;
    }
}
