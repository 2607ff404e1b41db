/**
 * @file launch.c
 * @brief A kernel launch: what a GPU would refuse, then the grid, then what went wrong.
 */
#include "blocks.h"
#include "counting.h"
#include "device_memory.h"
#include "errors.h"
#include "fault.h"
#include "kernel_calls.h"
#include "occupancy.h"
#include "simt.h"
#include "source_lines.h"
#include "trace.h"

#include <stdlib.h>

static void read_event_limit(void)
{
    const char *text = getenv("SIMT_EVENT_LIMIT");

    simt_event_limit = text ? strtoull(text, NULL, 10) : 0;
    if (simt_event_limit == 0)
        simt_event_limit = UINT64_C(4000000000);
}

/** Whether a GPU takes the launch; if not, *why says what it has too much of, if that is known. */
static cudaError_t check(const struct launch *launch, const char **why)
{
    const dim3 grid = launch->grid;
    const dim3 block = launch->block;
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;

    if (!launch->kernel)
        return cudaErrorInvalidDeviceFunction;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (threads == 0 || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > BLOCK_THREADS)
        return cudaErrorInvalidConfiguration;
    if (launch->argument_bytes > PARAMETER_BYTES_LIMIT) {
        *why = ": more than 32,764 bytes of parameters";
        return cudaErrorInvalidValue;
    }
    if (simt_constant_bytes() > CONSTANT_BYTES_LIMIT) {
        *why = ": the program has more than 65,536 bytes of __constant__ variables";
        return cudaErrorInvalidValue;
    }
    const size_t fixed = simt_static_shared(launch->kernel);

    if (fixed > SHARED_BYTES_DEFAULT) {
        *why = ": the kernel has more than 49,152 bytes of __shared__ variables of fixed size";
        return cudaErrorInvalidValue;
    }
    const size_t limit = simt_shared_limit(launch->kernel);

    if (limit == SHARED_BYTES_DEFAULT && launch->dynamic_shared > limit - fixed) {
        *why = ": more than 49,152 bytes of shared memory, and no cudaFuncSetAttribute() has asked for it";
        return cudaErrorInvalidValue;
    }
    if (launch->dynamic_shared > limit || launch->dynamic_shared > SHARED_BYTES_LIMIT - fixed) {
        *why = ": more shared memory than cudaFuncSetAttribute() has asked for, or than there is";
        return cudaErrorInvalidValue;
    }
    if (launch->cooperative && (uint64_t)grid.x * grid.y * grid.z >
                                   PROCESSORS * simt_blocks_per_processor((unsigned)threads, launch->dynamic_shared))
        return cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

bool simt_share(void)
{
    simt_arena_share();
    return simt_source_lines_apart() && simt_program_find() && simt_arena_reserve() && simt_grid_prepare();
}

static cudaError_t run(const struct launch *launch)
{
    const bool traced = simt_tracing_begin(launch);

    if (!simt_counting_begin(launch->name))
        return cudaErrorMemoryAllocation;
    simt_observers[0] = &simt_counting;
    simt_observers[1] = traced ? &simt_tracing : NULL;
    simt_current = *launch;
    simt_work = (struct work){0};
    read_event_limit();
    simt_faulted = false;
    const cudaError_t error = simt_grid_run(launch);

    simt_counting_end();
    if (!simt_faulted)
        return error;
    simt_fault_resolve();
    return simt_fault_error();
}

cudaError_t simt_launch_kernel(const void *kernel, const char *name, const dim3 *grid, const dim3 *block,
                               size_t dynamic_shared, bool cooperative, void (*call)(const void *),
                               const void *arguments, size_t bytes)
{
    const struct launch launch = {.name = name,
                                  .kernel = kernel,
                                  .grid = *grid,
                                  .block = *block,
                                  .dynamic_shared = dynamic_shared,
                                  .call = call,
                                  .arguments = arguments,
                                  .argument_bytes = bytes,
                                  .cooperative = cooperative};

    if (simt_sticky_error() != cudaSuccess)
        return simt_sticky_error();
    simt_fault_clear();
    if (!simt_program_find() || !simt_arena_reserve() || !simt_grid_prepare())
        return simt_fault_no_room();
    const char *why = "";
    cudaError_t error = check(&launch, &why);

    if (error != cudaSuccess) {
        char place[PLACE_TEXT];

        simt_source_line(SIMT_CALLER(), place);
        simt_fault_launch(error, "%s: %s<<<(%u,%u,%u), (%u,%u,%u), %zu>>>: %s%s", place, name, grid->x, grid->y,
                          grid->z, block->x, block->y, block->z, dynamic_shared, cudaGetErrorString(error), why);
        return simt_set_error(error);
    }
    if (!simt_signals_catch())
        return simt_set_error(cudaErrorInitializationError);
    error = run(&launch);
    simt_signals_release();
    return error == cudaSuccess ? error : simt_set_sticky_error(error);
}
