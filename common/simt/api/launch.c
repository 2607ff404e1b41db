/**
 * @file launch.c
 * @brief Launches a kernel: checks the configuration as a GPU would, runs the grid, and reports faults.
 */
#include "calls/kernel_calls.h"
#include "graphs.h"
#include "grid/blocks.h"
#include "machine/array_reserve.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "machine/host_threads.h"
#include "machine/source_lines.h"
#include "machine/turns.h"
#include "memory/arena.h"
#include "memory/constant_reads.h"
#include "memory/device_memory.h"
#include "memory/shadow.h"
#include "observers/counting.h"
#include "observers/trace.h"
#include "occupancy.h"
#include "order/stream_table.h"
#include "simt.h"

#include <stdlib.h>
#include <string.h>

enum { WHY_TEXT = 240 };

/** Reads the environment variable. Returns false if it is set to anything but a positive number. */
static bool read_event_limit(void)
{
    const char *const text = getenv("SIMT_EVENT_LIMIT");

    simt_event_limit = text ? strtoull(text, NULL, 10) : UINT64_C(400000000);
    return simt_event_limit > 0 && (!text || text[strspn(text, "0123456789")] == '\0');
}

/**
 * Checks the grid and block dimensions of a launch against a GPU's limits. If they are invalid, *why describes the
 * error.
 */
static cudaError_t check_shape(const struct launch *launch, const char **why)
{
    const dim3 grid = launch->grid;
    const dim3 block = launch->block;
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;

    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535) {
        *why = ": a grid has 1 to 2,147,483,647 x 65,535 x 65,535 blocks" SIMT_ADVICE_PREFIX
               "more of them in x; if there is no work, no launch";
        return cudaErrorInvalidConfiguration;
    }
    if (threads == 0 || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > BLOCK_THREADS) {
        static char text[256];
        char number[NUMBER_TEXT_SIZE], product[96] = "";
        const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
        const bool is_valid_exchanged = threads > 0 && blocks >= WARP_LANES && blocks <= BLOCK_THREADS &&
                                        grid.z <= 64 && block.y <= 65535 && block.z <= 65535;

        if (block.x <= 65536 && block.y <= 65536 && block.z <= 65536)
            snprintf(product, sizeof product, "%u x %u x %u = %s threads; ", block.x, block.y, block.z,
                     simt_format_thousands_separated(threads, number));
        snprintf(text, sizeof text,
                 ": the kernel did not run: %sa block has 1 to 1,024 threads, no more than 1,024 x 1,024 x "
                 "64" SIMT_ADVICE_PREFIX "%s",
                 product,
                 is_valid_exchanged ? "exchange the two parameters, which are <<<blocks, threads per block>>>"
                                    : "smaller blocks, and more of them");
        *why = text;
        return cudaErrorInvalidConfiguration;
    }
    if (threads > simt_kernel_properties(launch->kernel).max_threads_per_block) {
        *why = ": more threads than the kernel's __launch_bounds__" SIMT_ADVICE_PREFIX
               "smaller blocks, or larger bounds";
        return cudaErrorInvalidValue;
    }
    if (launch->is_cooperative &&
        (uint64_t)grid.x * grid.y * grid.z >
            NUM_MULTIPROCESSORS * simt_blocks_per_multiprocessor((unsigned)threads, launch->dynamic_shared_bytes)) {
        *why = ": not all blocks can be resident at once" SIMT_ADVICE_PREFIX
               "fewer blocks; cudaOccupancyMaxActiveBlocksPerMultiprocessor() says how many fit";
        return cudaErrorCooperativeLaunchTooLarge;
    }
    return cudaSuccess;
}

/**
 * Checks that a GPU has enough shared memory for a launch, that is, for `fixed` bytes of statically sized variables
 * plus the launch's dynamic shared memory.
 */
static cudaError_t check_shared(const struct launch *launch, size_t fixed, const char **why)
{
    static char too_much[256];
    char number[NUMBER_TEXT_SIZE];

    if (fixed > SHARED_BYTES_DEFAULT_LIMIT) {
        snprintf(too_much, sizeof too_much,
                 ": the kernel has %s bytes of __shared__ variables of fixed size, and 49,152 are the "
                 "most" SIMT_ADVICE_PREFIX "an extern __shared__ array, whose size is the launch's third parameter, "
                 "after cudaFuncSetAttribute() for more than 49,152 bytes",
                 simt_format_thousands_separated(fixed, number));
        *why = too_much;
        return cudaErrorInvalidValue;
    }
    const size_t limit = simt_dynamic_shared_limit_bytes(launch->kernel);

    if (simt_stream_number((cudaStream_t)launch->dynamic_shared_bytes) >= FIRST_CREATED_STREAM &&
        simt_stream_number((cudaStream_t)launch->dynamic_shared_bytes) < MAX_HANDLES) {
        *why = ": the third parameter, the number of bytes of dynamic shared memory, is a stream" SIMT_ADVICE_PREFIX
               "0 before the stream, which is the fourth";
        return cudaErrorInvalidValue;
    }
    if (launch->dynamic_shared_bytes > SHARED_BYTES_LIMIT - fixed) {
        *why = ": more shared memory than there is" SIMT_ADVICE_PREFIX
               "at most 232,448 bytes, of fixed and dynamic size together";
        return cudaErrorInvalidValue;
    }
    if (limit == SHARED_BYTES_DEFAULT_LIMIT && launch->dynamic_shared_bytes > limit - fixed) {
        *why = ": more than 49,152 bytes of shared memory, and no cudaFuncSetAttribute() has asked for "
               "it" SIMT_ADVICE_PREFIX
               "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before the launch";
        return cudaErrorInvalidValue;
    }
    if (launch->dynamic_shared_bytes > limit) {
        *why = ": more shared memory than cudaFuncSetAttribute() has asked for" SIMT_ADVICE_PREFIX
               "a larger value of cudaFuncAttributeMaxDynamicSharedMemorySize";
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/** Checks a launch's parameters, constants and shared memory against a GPU's limits. */
static cudaError_t check_memory(const struct launch *launch, const char **why)
{
    if (launch->parameter_bytes > PARAMETER_BYTES_LIMIT) {
        *why = ": more than 32,764 bytes of parameters" SIMT_ADVICE_PREFIX "a pointer to device memory that has them";
        return cudaErrorInvalidValue;
    }
    if (simt_total_constant_bytes() > CONSTANT_BYTES_LIMIT) {
        *why = ": the program has more than 65,536 bytes of __constant__ variables" SIMT_ADVICE_PREFIX
               "__device__ variables";
        return cudaErrorInvalidValue;
    }
    return check_shared(launch, simt_kernel_properties(launch->kernel).own_static_shared_bytes, why);
}

/** Checks a launch against a GPU's limits. If the launch exceeds a limit, *why describes that limit if it is known. */
static cudaError_t check(const struct launch *launch, const char **why)
{
    if (!launch->kernel)
        return cudaErrorInvalidDeviceFunction;
    if (!simt_turns_read_environment()) {
        *why = ": unknown value of the environment variable SIMT_ORDER" SIMT_ADVICE_PREFIX
               "SIMT_ORDER=reverse or SIMT_ORDER=random:SEED, or unset it";
        return cudaErrorInvalidValue;
    }
    if (!read_event_limit()) {
        *why = ": the environment variable SIMT_EVENT_LIMIT is no positive number" SIMT_ADVICE_PREFIX
               "SIMT_EVENT_LIMIT=1000000000, or unset it";
        return cudaErrorInvalidValue;
    }
    const cudaError_t error = check_shape(launch, why);

    return error == cudaSuccess ? check_memory(launch, why) : error;
}

bool simt_share_memory_with_forks(void)
{
    simt_arena_share_with_forks();
    fiber_use_small_stacks();
    return simt_source_lines_start_process() && simt_program_find_segments() && simt_arena_reserve_if_needed() &&
           simt_grid_prepare_memory_once() && simt_thread_sets_begin_launch();
}

/* --- races with other work ---------------------------------------------------------------------------------------- */

/** Returns a part of global memory with its shadow: part 0 is the arena, part 1 the __device__ variables. */
static struct part {
    uintptr_t begin;
    const struct shadow_cell *shadow;
    size_t words;
} part_of_memory(int number)
{
    if (number == 0)
        return (struct part){simt_memory.arena_begin, simt_memory.arena_shadow, simt_arena_high_water_words()};
    return (struct part){simt_program.device_variables_low, simt_memory.device_variables_shadow,
                         (simt_program.device_variables_high - simt_program.device_variables_low + 3) / 4};
}

/** Records, for order/stream_work.h, how a launch that ran at these epochs used global and constant memory. */
static void scan(uint32_t first_epoch, uint32_t last_epoch)
{
    uint8_t uses[NUM_USES];

    for (int number = 0; number < 2; number++) {
        const struct part part = part_of_memory(number);

        for (size_t word = 0; word < part.words; word++) {
            if (!simt_find_launch_uses_of_word(&part.shadow[word], first_epoch, last_epoch, uses))
                continue;
            for (enum work_use use = 0; use < NUM_USES; use++) {
                for (unsigned byte = 0; byte < 4; byte++) {
                    if (uses[use] >> byte & 1)
                        simt_work_record_use(use, part.begin + word * 4 + byte, 1);
                }
            }
        }
    }
    simt_constant_reads_record_uses(first_epoch, last_epoch);
}

/** Checks whether a launch that has run raced with other work, and reports the race. */
static void check_streams(void)
{
    struct work_race race;

    simt_work_record_launch_uses = scan;
    simt_work_end_launch(simt_current_order.launch_begin_epoch, simt_current_order.epoch,
                         simt_current_order.has_synced_dependency);
    if (!simt_work_end_and_find_race(&race) || simt_fault_race_if_on_constant(&race))
        return;
    for (int number = 0; number < 2; number++) {
        const struct part part = part_of_memory(number);

        if ((race.address - part.begin) / 4 < part.words)
            simt_fault_stream_race_in_cell(&part.shadow[(race.address - part.begin) / 4],
                                           simt_current_order.launch_begin_epoch, &race);
    }
}

static cudaError_t run(const struct launch *launch)
{
    const bool traced = simt_trace_start_if_requested(launch);
    const unsigned depth = simt_host_lock_depth();

    if (!simt_counting_begin_launch(launch->name))
        return cudaErrorMemoryAllocation;
    simt_observers[0] = &simt_counting_observer;
    simt_observers[1] = traced ? &simt_tracing_observer : NULL;
    simt_current_launch = *launch;
    simt_launch_progress = (struct launch_progress){0};
    simt_faulted = false;
    simt_fault_store_callers = simt_store_lane_callers;
    simt_fault_end_thread = simt_end_faulted_lane;
    simt_find_unreplayed_access_hook = simt_find_unreplayed_access_address;
    const cudaError_t error = simt_grid_run(launch);

    simt_host_unlock_to_depth(depth);
    simt_counting_end_launch();
    if (error == cudaSuccess && !simt_faulted)
        check_streams();
    if (!simt_faulted)
        return error;
    simt_record_host_wait_for_all_work();
    simt_fault_add_locations();
    return simt_fault_error();
}

/* --- pointers to variables ---------------------------------------------------------------------------------------- */

/** The variables whose addresses the program has obtained with cudaGetSymbolAddress(). */
static uintptr_t *obtained;
static size_t obtained_count, obtained_room;

/** The reason why a parameter of the next launch cannot be passed, or "" if every parameter can be passed. */
static char bad_parameter[WHY_TEXT];

bool simt_symbol_address_was_obtained(const void *symbol_address)
{
    for (size_t i = 0; i < obtained_count; i++) {
        if (strcmp(simt_device_variable_name_at(obtained[i]),
                   simt_device_variable_name_at((uintptr_t)symbol_address)) == 0)
            return true;
    }
    return false;
}

cudaError_t simt_record_symbol_address_taken(const void *symbol)
{
    if (!simt_is_device_variable_range(symbol, 1))
        return simt_fault_runtime_call(
            SIMT_RETURN_ADDRESS(), "cudaGetSymbolAddress", cudaErrorInvalidSymbol,
            "a variable of the host; a symbol has __device__ or __constant__" SIMT_ADVICE_PREFIX
            "__device__ at the variable's declaration");
    if (simt_symbol_address_was_obtained(symbol))
        return cudaSuccess;
    if (!simt_array_reserve(&obtained, &obtained_room, obtained_count + 1, sizeof *obtained))
        return simt_set_last_error(cudaErrorMemoryAllocation);
    obtained[obtained_count++] = (uintptr_t)symbol;
    return cudaSuccess;
}

void simt_reject_parameter_if_symbol(const void *pointer)
{
    if (simt_is_device_variable_range(pointer, 1) && !simt_symbol_address_was_obtained(pointer))
        snprintf(bad_parameter, sizeof bad_parameter,
                 ": a parameter is the host's address of '%s', a variable of the device" SIMT_ADVICE_PREFIX
                 "an address from cudaGetSymbolAddress(), or the variable's name in the kernel",
                 simt_device_variable_name_at((uintptr_t)pointer));
}

bool simt_check_argument_is_readable(const void *address, unsigned argument_number)
{
    if (simt_host_may_access(address))
        return true;
    snprintf(bad_parameter, sizeof bad_parameter,
             ": entry %u of the array of parameters is %s; each entry is the address of the host's variable that has "
             "the parameter" SIMT_ADVICE_PREFIX "&pointer in place of pointer",
             argument_number, address ? "a pointer to device memory" : "NULL");
    return false;
}

/** Reports an invalid launch with the host's source line, the configuration, the error and the reason. */
static cudaError_t refuse(const struct launch *launch, cudaError_t error, const char *why, uintptr_t call_site)
{
    char location[LOCATION_TEXT_SIZE];
    const bool named = launch->name || (simt_program_find_segments() && simt_grid_prepare_memory_once());
    const char *const name = launch->name ? launch->name
                             : named      ? simt_kernel_properties(launch->kernel).name
                                          : "kernel";

    char negative[80] = "";

    for (unsigned i = 0; i < 6 && !negative[0]; i++) {
        const unsigned dimension[] = {launch->grid.x,  launch->grid.y,  launch->grid.z,
                                      launch->block.x, launch->block.y, launch->block.z};

        if (dimension[i] > INT32_MAX)
            snprintf(negative, sizeof negative, " (%u is the unsigned value of %d)", dimension[i], (int)dimension[i]);
    }
    simt_format_source_line(call_site, location);
    simt_fault_record_host_error(error, "%s: %s<<<(%u,%u,%u), (%u,%u,%u), %zu>>>%s: %s%s", location, name,
                                 launch->grid.x, launch->grid.y, launch->grid.z, launch->block.x, launch->block.y,
                                 launch->block.z, launch->dynamic_shared_bytes, negative, cudaGetErrorString(error),
                                 why);
    return simt_set_last_error(error);
}

/**
 * Number of launches rejected since the last fault. A program that checks for errors stops long before
 * REFUSED_BEFORE_SHOWN.
 */
static unsigned refused_after_fault;
enum { REFUSED_BEFORE_SHOWN = 1000 };

/** Rejects a launch after a fault. Prints the fault if the program keeps launching without checking for errors. */
static cudaError_t refuse_after_fault(void)
{
    if (++refused_after_fault == REFUSED_BEFORE_SHOWN)
        simt_fault_print_if_unread();
    return simt_peek_error_blocking_launches();
}

/** Checks a launch that the host made at `call_site`, and runs it in a stream. */
static cudaError_t launch_in(struct launch *launch, cudaStream_t stream, uintptr_t call_site)
{
    const char *why = "";

    if (simt_running.lane) /* reports the launch */
        return simt_check_call_permitted(launch->name ? launch->name : "a kernel", CAPTURE_HAZARD_NONE, call_site);
    simt_check_is_only_launching_thread(call_site);
    SIMT_HOLD_HOST_LOCK;

    if (simt_peek_error_blocking_launches() != cudaSuccess)
        return refuse_after_fault();
    refused_after_fault = 0;
    if (simt_peek_last_error_unnoticed() == cudaSuccess) /* otherwise the program has not read the previous fault yet */
        simt_fault_clear();
    if (!simt_program_find_segments() || !simt_arena_reserve_if_needed() || !simt_grid_prepare_memory_once() ||
        !simt_grid_allocate_first_block())
        /* Blocks later launches, because they would read what this one should have written. */
        return simt_set_error_blocking_launches(simt_fault_no_address_space());
    if (!launch->name)
        launch->name = simt_kernel_properties(launch->kernel).name;
    launch->call_site = call_site;
    cudaError_t error = check(launch, &why);

    if (error != cudaSuccess)
        return refuse(launch, error, why, call_site);
    error = simt_check_call_permitted(launch->name, capture_hazard_of_submitting_to(stream), call_site);
    if (error == cudaSuccess)
        error = simt_work_begin(stream, launch->name, call_site);
    if (error != cudaSuccess)
        return error;
    if (!simt_signal_handlers_and_timer_install(simt_event_limit))
        return simt_set_error_blocking_launches(simt_fault_no_address_space());
    error = run(launch);
    simt_signal_handlers_and_timer_remove();
    if (error != cudaSuccess)
        return simt_set_error_blocking_launches(error);
    /* The launch has shown which functions the kernel calls, and thus which shared variables it uses. */
    error = check_shared(launch, simt_accessed_static_bytes_or_0_if_all_fit(launch->dynamic_shared_bytes), &why);
    return error == cudaSuccess ? error : refuse(launch, error, why, call_site);
}

/** A captured launch; its arguments follow the structure in memory. */
struct graph_launch {
    struct launch launch;
    uintptr_t call_site;
};

static cudaError_t launch_again(const void *operand, cudaStream_t stream)
{
    const struct graph_launch *captured = operand;
    struct launch launch = captured->launch;

    launch.arguments = (const unsigned char *)operand + CAPTURED_ARGUMENTS_OFFSET(sizeof *captured);
    return launch_in(&launch, stream, captured->call_site);
}

/** Reads the attributes of a launch. If an attribute is not supported, *why names it. */
static cudaError_t read_attributes(const cudaLaunchConfig_t *how, struct launch *launch, char why[WHY_TEXT])
{
    for (unsigned i = 0; i < how->numAttrs; i++) {
        const cudaLaunchAttribute *attribute = &how->attrs[i];

        if (attribute->id == cudaLaunchAttributeCooperative) {
            launch->is_cooperative = attribute->val.cooperative;
        } else if (attribute->id == cudaLaunchAttributeProgrammaticStreamSerialization) {
            launch->may_overlap_previous = attribute->val.programmaticStreamSerializationAllowed;
        } else if (attribute->id != cudaLaunchAttributeIgnore) {
            snprintf(why, WHY_TEXT,
                     ": launch attribute %d; the simulator has cudaLaunchAttributeCooperative (2) and "
                     "cudaLaunchAttributeProgrammaticStreamSerialization (6)",
                     (int)attribute->id);
            return cudaErrorNotSupported;
        }
    }
    return cudaSuccess;
}

cudaError_t simt_launch_kernel(const void *kernel, const char *name, const cudaLaunchConfig_t *how,
                               void (*call)(const void *), const void *arguments, size_t bytes, size_t parameter_bytes)
{
    struct launch launch = {.name = name,
                            .kernel = kernel,
                            .grid = how->gridDim,
                            .block = how->blockDim,
                            .dynamic_shared_bytes = how->dynamicSmemBytes,
                            .call = call,
                            .arguments = arguments,
                            .argument_bytes = bytes,
                            .parameter_bytes = parameter_bytes};
    char why[WHY_TEXT];
    cudaError_t error = read_attributes(how, &launch, why);

    if (bad_parameter[0] && error == cudaSuccess) {
        strcpy(why, bad_parameter);
        error = cudaErrorInvalidValue;
    }
    bad_parameter[0] = 0;
    if (error != cudaSuccess)
        return refuse(&launch, error, why, SIMT_RETURN_ADDRESS());
    if (simt_stream_is_capturing(how->stream) && !simt_in_host_function) {
        const struct graph_launch captured = {launch, SIMT_RETURN_ADDRESS()};

        return simt_capture_work(how->stream, launch_again, &captured, sizeof captured, arguments, bytes);
    }
    return launch_in(&launch, how->stream, SIMT_RETURN_ADDRESS());
}
