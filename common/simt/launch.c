/**
 * @file launch.c
 * @brief A kernel launch: checks, then every block in turn.
 */
#include "shadow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct launch simt_current;
struct event *simt_trace;
struct event *simt_parked;
uint64_t simt_event_limit;
uint64_t simt_event_budget;

static struct machine {
    struct block *block;
    struct fiber_stacks stacks;
    unsigned prepared; /**< fibers that stand at their start or between two blocks */
    uintptr_t shared;
    size_t shared_bytes;
    size_t dynamic;
    struct shadow_cell *shared_shadow;
} machine;

cudaError_t simt_launch_kernel(const void *kernel, const char *name, const dim3 *grid, const dim3 *block,
                               size_t dynamic_shared, void (*call)(const void *), const void *arguments, size_t bytes);

/* --- once --------------------------------------------------------------------------------------------------------- */

static bool find_shared(void)
{
    uintptr_t low;
    size_t bytes;
    size_t dynamic;

    if (!simt_shared_find(&low, &bytes, &dynamic))
        return false;
    if (!machine.shared_shadow)
        machine.shared_shadow = simt_map((bytes + 16) / 4 * sizeof *machine.shared_shadow);
    machine.shared = low;
    machine.shared_bytes = bytes;
    machine.dynamic = dynamic;
    return machine.shared_shadow != NULL;
}

static void read_event_limit(void)
{
    const char *text = getenv("SIMT_EVENT_LIMIT");

    simt_event_limit = text ? strtoull(text, NULL, 10) : 0;
    if (simt_event_limit == 0)
        simt_event_limit = UINT64_C(4000000000);
}

static bool machine_start(void)
{
    if (!simt_image_find() || !simt_arena_reserve())
        return false;
    if (!machine.block)
        machine.block = simt_map(sizeof *machine.block);
    if (!simt_trace)
        simt_trace = simt_map(WARP_LANES * TRACE_EVENTS * sizeof *simt_trace);
    if (!simt_parked)
        simt_parked = simt_map((size_t)BLOCK_THREADS * TRACE_EVENTS * sizeof *simt_parked);
    if (!machine.stacks.base && !fiber_stacks_map(&machine.stacks, BLOCK_THREADS))
        return false;
    return machine.block && simt_trace && simt_parked && find_shared();
}

/* --- a launch ----------------------------------------------------------------------------------------------------- */

static cudaError_t check(const struct launch *launch, const void *kernel)
{
    const dim3 grid = launch->grid;
    const dim3 block = launch->block;
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;

    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (threads == 0 || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > BLOCK_THREADS)
        return cudaErrorInvalidConfiguration;
    if (launch->dynamic_shared > simt_shared_limit(kernel))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

uint3 simt_thread_index(unsigned thread)
{
    const dim3 block = simt_current.block;

    return (uint3){thread % block.x, thread / block.x % block.y, thread / (block.x * block.y)};
}

uint3 simt_block_index(uint32_t block)
{
    const dim3 grid = simt_current.grid;

    return (uint3){block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
}

static void prepare_block(struct block *block, const struct launch *launch)
{
    block->threads = launch->block.x * launch->block.y * launch->block.z;
    block->warps = (block->threads + WARP_LANES - 1) / WARP_LANES;
    for (unsigned i = 0; i < block->warps; i++) {
        const unsigned lanes = block->threads - i * WARP_LANES;

        block->warp[i].first = i * WARP_LANES;
        block->warp[i].lanes = lanes >= WARP_LANES ? UINT32_MAX : (1u << lanes) - 1;
    }
    for (unsigned i = 0; i < block->threads; i++) {
        struct lane *lane = &block->lane[i];

        lane->thread = i;
        lane->index = simt_thread_index(i);
        if (i >= machine.prepared) {
            unsigned char *stack = fiber_stack(&machine.stacks, i);

            lane->stack = (uintptr_t)stack;
            lane->stack_pointer = fiber_prepare(stack, (i % WARP_LANES) * 192, simt_lane_main);
        }
    }
    if (machine.prepared < block->threads)
        machine.prepared = block->threads;
}

static void open_memory(void)
{
    simt_now.arena = simt_arena_base();
    simt_now.arena_bytes = simt_arena_used();
    simt_now.arena_shadow = simt_arena_shadow();
    simt_now.shared = machine.shared;
    simt_now.shared_bytes = machine.shared_bytes;
    simt_now.shared_shadow = machine.shared_shadow;
    simt_now.shared_end = machine.dynamic + simt_current.dynamic_shared;
    simt_now.shared_resume = machine.dynamic + SHARED_BYTES_LIMIT;
}

static void close_memory(void)
{
    simt_now.arena_bytes = 0;
    simt_now.shared_bytes = 0;
    simt_now.lane = NULL;
}

/** Shared memory holds nothing that a block could rely on. */
static void poison_shared(void)
{
    unsigned char *shared = (unsigned char *)machine.shared;

    memset(shared, 0xff, simt_now.shared_end);
    memset(shared + simt_now.shared_resume, 0xff, machine.shared_bytes - simt_now.shared_resume);
}

/** Ticks are 32 bits: long before they run out, all that is remembered is forgotten between two launches. */
static void start_ticks(void)
{
    if (simt_now.tick > UINT32_MAX / 4 * 3) {
        simt_arena_forget_ticks();
        memset(machine.shared_shadow, 0, machine.shared_bytes / 4 * sizeof *machine.shared_shadow);
        memset(simt_image.data_shadow, 0,
               (simt_image.data_high - simt_image.data_low) / 4 * sizeof *simt_image.data_shadow);
        simt_now.tick = 0;
    }
    simt_tick();
    simt_segments_clear();
    simt_now.launch_tick = simt_now.tick;
    simt_now.fence_end = 0;
}

static void run_grid(const struct launch *launch)
{
    const uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;

    simt_block_dim = (uint3){launch->block.x, launch->block.y, launch->block.z};
    simt_grid_dim = (uint3){launch->grid.x, launch->grid.y, launch->grid.z};
    for (uint64_t i = 0; i < blocks && !simt_now.faulted; i++) {
        machine.block->number = (uint32_t)i;
        simt_block_idx = simt_block_index((uint32_t)i);
        poison_shared();
        simt_block_run(machine.block);
        simt_counters.blocks++;
    }
}

static cudaError_t run(const struct launch *launch)
{
    simt_current = *launch;
    read_event_limit();
    simt_event_budget = simt_counters.events + simt_counters.arrivals + simt_event_limit;
    simt_now.faulted = false;
    prepare_block(machine.block, launch);
    open_memory();
    start_ticks();
    simt_counters.launches++;
    run_grid(launch);
    close_memory();
    if (!simt_now.faulted)
        return cudaSuccess;
    machine.prepared = 0;
    simt_fault_resolve();
    return simt_fault_error();
}

cudaError_t simt_launch_kernel(const void *kernel, const char *name, const dim3 *grid, const dim3 *block,
                               size_t dynamic_shared, void (*call)(const void *), const void *arguments, size_t bytes)
{
    const struct launch launch = {.name = name,
                                  .grid = *grid,
                                  .block = *block,
                                  .dynamic_shared = dynamic_shared,
                                  .call = call,
                                  .arguments = arguments,
                                  .argument_bytes = bytes};

    if (simt_sticky_error() != cudaSuccess)
        return simt_sticky_error();
    simt_fault_clear();
    cudaError_t error = check(&launch, kernel);

    if (error != cudaSuccess) {
        simt_fault_launch(error, "%s<<<(%u,%u,%u), (%u,%u,%u), %zu>>>: %s", name, grid->x, grid->y, grid->z, block->x,
                          block->y, block->z, dynamic_shared, cudaGetErrorString(error));
        return simt_set_error(error);
    }
    if (!machine_start() || !simt_signals_catch())
        return simt_set_error(cudaErrorInitializationError);
    error = run(&launch);
    simt_signals_release();
    return error == cudaSuccess ? error : simt_set_sticky_error(error);
}
