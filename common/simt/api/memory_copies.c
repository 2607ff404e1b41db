/**
 * @file memory_copies.c
 * @brief CUDA's functions that copy or fill device memory as work of a stream.
 */
#include "graphs.h"
#include "machine/device_limits.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "machine/host_accesses.h"
#include "machine/program_image.h"
#include "machine/source_lines.h"
#include "memory/arena.h"
#include "memory/device_memory.h"
#include "order/stream_table.h"
#include "order/stream_work.h"
#include "machine/host_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** Reports a copy that runs past the end of a host variable, or of pinned or managed memory. */
static cudaError_t check_host_range(const char *name, const void *pointer, size_t bytes, uintptr_t call_site)
{
    size_t has = 0;
    char where[160];

    if (simt_is_pinned_or_managed(pointer) && !simt_runtime_may_access_cuda_memory(pointer, bytes) &&
        simt_arena_describe_address((uintptr_t)pointer, where, sizeof where))
        return simt_fault_runtime_call(
            call_site, name, cudaErrorInvalidValue,
            "%zu byte%s of pinned or managed memory that has fewer: it is %s" SIMT_ADVICE_PREFIX
            "a size in bytes that fits, or a larger allocation",
            bytes, plural_ending(bytes), where);
    const char *const variable = simt_host_may_access(pointer)
                                     ? simt_overrun_host_variable_name((uintptr_t)pointer, bytes, &has)
                                     : NULL;

    if (!variable)
        return cudaSuccess;
    return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                   "%zu bytes, of which '%s' of the host has %zu" SIMT_ADVICE_PREFIX
                                   "a size in bytes that fits",
                                   bytes, variable, has);
}

cudaError_t simt_check_copy_fits_host_variable(const char *name, const void *pointer, size_t bytes, size_t bytes_to_end)
{
    const uintptr_t address = (uintptr_t)pointer;

    SIMT_HOLD_HOST_LOCK;
    if (simt_peek_error_blocking_launches() != cudaSuccess)
        return simt_peek_error_blocking_launches();
    /* The symbols of the program's variables give their sizes. */
    if (!simt_host_may_access(pointer) || simt_is_arena_pointer(pointer) ||
        (simt_program_find_segments() && address - simt_program.low < simt_program.high - simt_program.low))
        return cudaSuccess;
    return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), name, cudaErrorInvalidValue,
                                   "%zu bytes, of which this memory of the host has %zu" SIMT_ADVICE_PREFIX
                                   "a size in bytes that fits; for a std::vector, its data() and not its address",
                                   bytes, bytes_to_end);
}

/** Returns whether a variable of the host at `address` holds a pointer to device memory. */
static bool holds_device_pointer(const void *address)
{
    void *value = NULL;
    int ends[2];
    bool is_read;

    if ((uintptr_t)address % sizeof value != 0 || simt_is_arena_pointer(address) || pipe(ends) != 0)
        return false;
    /* Unlike a plain load, write() fails if no memory is there. */
    is_read = write(ends[1], address, sizeof value) == (ssize_t)sizeof value &&
              read(ends[0], &value, sizeof value) == (ssize_t)sizeof value;
    close(ends[0]);
    close(ends[1]);
    return is_read && simt_is_arena_pointer(value);
}

/** Reports that one end of a copy or memset has been freed. */
static cudaError_t reject_freed(const char *name, const char *end, const void *pointer, uintptr_t call_site)
{
    const uintptr_t free_site = simt_arena_free_site((uintptr_t)pointer);
    char where[160], here[LOCATION_TEXT_SIZE], there[LOCATION_TEXT_SIZE], at[LOCATION_TEXT_SIZE + 8] = "";

    simt_arena_describe_address((uintptr_t)pointer, where, sizeof where);
    if (free_site > 1) {
        simt_format_source_line(call_site, here);
        simt_format_source_line_seen_from(here, free_site, there);
        snprintf(at, sizeof at, " at %s", there);
    }
    return simt_fault_runtime_call(
        call_site, name, cudaErrorInvalidValue,
        "the %s is %s%s" SIMT_ADVICE_PREFIX
        "cudaFree() after the last use; if a destructor frees it, the destructor also runs for each copy, such as a "
        "kernel's parameter: pass a plain pointer to the kernel, or forbid copies of the class",
        end, where, at);
}

/**
 * Reports that one end of a copy or memset is not in device memory (if `on_device`) or host memory (otherwise), or has
 * room for fewer than `bytes` bytes.
 */
static cudaError_t reject_end(const char *name, const char *end, const void *pointer, size_t bytes, bool on_device,
                              const char *direction, uintptr_t call_site)
{
    char where[160], says[80] = "";

    if (direction)
        snprintf(says, sizeof says, ", as %s says", direction);
    if (!pointer)
        return simt_fault_runtime_call(
            call_site, name, cudaErrorInvalidValue, "the %s is a null pointer" SIMT_ADVICE_PREFIX "%s", end,
            on_device ? "a pointer from cudaMalloc()" : "malloc() or, for a std::vector, resize() before the copy");
    if (!on_device && !simt_runtime_may_access_cuda_memory(pointer, 1) &&
        simt_arena_describe_address((uintptr_t)pointer, where, sizeof where))
        return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                       "the %s is %s" SIMT_ADVICE_PREFIX "memory that is not freed", end, where);
    if (!on_device)
        return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                       "the %s is device memory, not memory of the host%s" SIMT_ADVICE_PREFIX "%s", end,
                                       says,
                                       strncmp(name, "cudaMemcpyToSymbol", strlen("cudaMemcpyToSymbol")) == 0
                                           ? "&d in place of d, to copy the pointer itself; to copy what it points to, "
                                             "cudaMemcpyDeviceToDevice"
                                           : "the arguments in the order (to, from), or the other direction");
    if (simt_is_device_heap_pointer(pointer))
        return simt_fault_runtime_call(
            call_site, name, cudaErrorInvalidValue,
            "the %s is memory that a kernel has allocated by malloc(), which the host cannot "
            "access" SIMT_ADVICE_PREFIX "a kernel that copies it to memory from cudaMalloc()",
            end);
    if (holds_device_pointer(pointer))
        return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                       "the %s is the address of a variable of the host, which holds a pointer to "
                                       "device memory" SIMT_ADVICE_PREFIX "the pointer itself: d in place of &d",
                                       end);
    if (simt_arena_free_site((uintptr_t)pointer))
        return reject_freed(name, end, pointer, call_site);
    if (!simt_arena_describe_address((uintptr_t)pointer, where, sizeof where))
        return simt_fault_runtime_call(
            call_site, name, cudaErrorInvalidValue,
            "the %s is not device memory%s" SIMT_ADVICE_PREFIX
            "a pointer from cudaMalloc(); for a copy, the arguments in the order (to, from), or "
            "the other direction",
            end, says);
    return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                   "the %s is not %zu byte%s of device memory: it is %s" SIMT_ADVICE_PREFIX
                                   "a size in bytes that fits, or a "
                                   "larger cudaMalloc()",
                                   end, bytes, plural_ending(bytes), where);
}

/**
 * Reports an end of a copy or memset that is a device variable by its name, which on a GPU is the address of a variable
 * of the host; the calls for symbols take the name. The address from cudaGetSymbolAddress() is the same here.
 */
static cudaError_t reject_variable_name(const char *name, const char *end, const void *pointer, uintptr_t call_site)
{
    if (strstr(name, "Symbol") || !simt_is_device_variable_range(pointer, 1) ||
        simt_symbol_address_was_obtained(pointer))
        return cudaSuccess;
    return simt_fault_runtime_call(
        call_site, name, cudaErrorInvalidValue,
        "the %s is '%s', a %s variable, whose name is no device address in host code; nor can it be "
        "passed to a kernel" SIMT_ADVICE_PREFIX
        "the address from cudaGetSymbolAddress(), or, for a copy, cudaMemcpyToSymbol() or "
        "cudaMemcpyFromSymbol(); in the kernel, use the name",
        end, simt_device_variable_name_at((uintptr_t)pointer),
        simt_is_constant_variable(pointer) ? "__constant__" : "__device__");
}

/** Reports a copy whose source or destination is not in the memory that `kind` requires. */
static cudaError_t check_copy(const char *name, const void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind, uintptr_t call_site)
{
    static const char *const directions[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                             "cudaMemcpyDeviceToDevice", NULL};
    const bool guess = kind == cudaMemcpyDefault;
    const bool to_device = guess ? simt_is_arena_pointer(to)
                                 : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = guess ? simt_is_arena_pointer(from)
                                   : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

    if ((unsigned)kind > cudaMemcpyDefault)
        return simt_fault_runtime_call(call_site, name, cudaErrorInvalidMemcpyDirection,
                                       "kind %u; it is 0 to 4, such as cudaMemcpyHostToDevice", (unsigned)kind);
    if (to_device ? !simt_runtime_may_access_cuda_memory(to, bytes) : !simt_host_may_access(to))
        return reject_end(name, "destination", to, bytes, to_device, directions[kind], call_site);
    if (from_device ? !simt_runtime_may_access_cuda_memory(from, bytes) : !simt_host_may_access(from))
        return reject_end(name, "source", from, bytes, from_device, directions[kind], call_site);
    cudaError_t error = to_device ? reject_variable_name(name, "destination", to, call_site) : cudaSuccess;

    if (error == cudaSuccess && from_device)
        error = reject_variable_name(name, "source", from, call_site);
    if (error != cudaSuccess)
        return error;
    const bool before = (uintptr_t)to < (uintptr_t)from;
    const size_t apart = before ? (uintptr_t)from - (uintptr_t)to : (uintptr_t)to - (uintptr_t)from;

    if (apart < bytes)
        return simt_fault_runtime_call(
            call_site, name, cudaErrorInvalidValue,
            "the destination begins %zu bytes %s the source, so the two overlap by %zu bytes" SIMT_ADVICE_PREFIX
            "two copies, the first to another buffer",
            apart, before ? "before" : "after", bytes - apart);
    error = check_host_range(name, to, bytes, call_site);
    return error == cudaSuccess ? check_host_range(name, from, bytes, call_site) : error;
}

/**
 * True while a graph launch replays a copy. The call then returns before the copy is complete, even for pageable
 * memory.
 */
static bool is_repeated;

static void record_use(enum work_use use, const void *pointer, size_t bytes)
{
    if (!simt_host_may_access(pointer) && simt_has_several_streams)
        simt_work_record_use(use, (uintptr_t)pointer, bytes);
    else if (simt_is_pinned_or_managed(pointer) || (is_repeated && simt_host_may_access(pointer)))
        simt_work_record_host_memory_use(use, (uintptr_t)pointer, bytes);
}

/**
 * Starts a copy, or a memset if `from` is NULL, as work of a stream. Returns an error if there is no such stream or if
 * the work races with other work.
 */
static cudaError_t issue_work(const char *name, void *to, const void *from, size_t bytes, cudaStream_t stream,
                              uintptr_t call_site)
{
    cudaError_t error = simt_check_call_permitted(name, capture_hazard_of_submitting_to(stream), call_site);

    if (error == cudaSuccess)
        error = simt_work_begin(stream, name, call_site);
    if (error != cudaSuccess)
        return error;
    if (from)
        record_use(USE_READ, from, bytes);
    record_use(USE_WRITE, to, bytes);
    return simt_work_end_and_report_race();
}

/**
 * Enables (if `touch`) or disables the runtime's access to a range of the arena. Does nothing for memory that the host
 * may access. Returns false if out of memory.
 */
static bool let_range(const void *pointer, size_t bytes, bool touch)
{
    return !simt_is_arena_pointer(pointer) || simt_is_pinned_or_managed(pointer) ||
           simt_arena_set_access(arena_offset(pointer), bytes, touch);
}

/** Copies the written and unwritten marks of the source to the destination. */
static void copy_unwritten(void *to, const void *from, size_t bytes)
{
    simt_copy_unwritten_marks(arena_offset(to), arena_offset(from), bytes);
    simt_allocation_at_or_after(to)->marks_not_in_shadow = simt_arena.any_marks_not_in_shadow = true;
}

/** Copies bytes together with their unwritten marks, after all checks. */
static cudaError_t copy(const char *name, void *to, const void *from, size_t bytes, uintptr_t call_site)
{
    size_t unused;

    if (!simt_arena.base && !simt_install_host_access_handler(simt_arena_describe_address))
        return simt_set_last_error(cudaErrorInitializationError);
    if (!let_range(to, bytes, true) || !let_range(from, bytes, true))
        return simt_set_last_error(cudaErrorMemoryAllocation);
    simt_host_copy = (struct host_copy){name, call_site, to, from, bytes};
    memmove(to, from, bytes);
    simt_host_copy.name = NULL;
    let_range(to, bytes, false);
    let_range(from, bytes, false);
    if (simt_is_arena_pointer(to) && simt_is_arena_pointer(from) &&
        simt_count_unwritten_bytes(arena_offset(from), bytes, &unused) > 0)
        copy_unwritten(to, from, bytes);
    else if (simt_is_arena_pointer(to))
        simt_set_unwritten_marks(arena_offset(to), bytes, false);
    if (simt_is_arena_pointer(to))
        simt_allocation_record_host_write(to, bytes, name, call_site);
    return cudaSuccess;
}

/** Reports a copy of unwritten bytes to the host as an error at the source line of the call. */
static cudaError_t check_written(const void *from, size_t bytes, uintptr_t pc)
{
    size_t first = 0;
    const size_t count = simt_allocation_at_or_after(from)->host_may_copy_unwritten
                             ? 0
                             : simt_count_unwritten_bytes(arena_offset(from), bytes, &first);
    char location[LOCATION_TEXT_SIZE];
    char where[160];

    if (count == 0)
        return cudaSuccess;
    simt_arena_describe_address((uintptr_t)simt_arena.base + first, where, sizeof where);
    simt_format_source_line(pc, location);
    simt_fault_record_host_error(
        cudaErrorInvalidValue,
        "%s: uninitialised global memory: copies %zu unwritten byte%s to the host, from %s" SIMT_ADVICE_PREFIX
        "let a kernel, cudaMemset() or cudaMemcpy() write all of it before",
        location, count, count == 1 ? "" : "s", where);
    return cudaErrorInvalidValue;
}

static cudaError_t copy_in_stream(const char *name, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                  cudaStream_t stream, uintptr_t call_site)
{
    SIMT_HOLD_HOST_LOCK;
    if (simt_peek_error_blocking_launches() != cudaSuccess)
        return simt_peek_error_blocking_launches();
    if (bytes == 0)
        return cudaSuccess;
    cudaError_t error = check_copy(name, to, from, bytes, kind, call_site);

    if (error == cudaSuccess && simt_is_arena_pointer(from) && simt_host_may_access(to))
        error = check_written(from, bytes, call_site);
    if (error != cudaSuccess)
        return simt_set_last_error(error);
    error = issue_work(name, to, from, bytes, stream, call_site);
    return error == cudaSuccess ? copy(name, to, from, bytes, call_site) : error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = simt_check_call_permitted("cudaMemcpy", CAPTURE_HAZARD_MAY_WAIT_FOR_DEVICE,
                                                  SIMT_RETURN_ADDRESS());

    simt_check_work_uses_no_returned_locals(SIMT_CALLER_STACK_POINTER());
    if (error == cudaSuccess)
        error = copy_in_stream("cudaMemcpy", to, from, bytes, kind, NULL, SIMT_RETURN_ADDRESS());
    if (error == cudaSuccess && bytes > 0 && (simt_host_may_access(to) || simt_host_may_access(from)))
        simt_record_host_wait_for_stream(NULL);
    return error;
}

/** A captured copy or memset. */
struct graph_copy {
    const char *name; /**< name of the call */
    void *to;
    const void *from;
    size_t bytes;
    enum cudaMemcpyKind kind;
    int value;
    uintptr_t call_site;
};

static cudaError_t copy_again(const void *operand, cudaStream_t stream)
{
    const struct graph_copy *copy = operand;

    if (simt_local_returned_before_graph_launch(copy->to) || simt_local_returned_before_graph_launch(copy->from))
        return simt_fault_runtime_call(
            copy->call_site, copy->name, cudaErrorInvalidValue,
            "the graph copies a local variable of a function that has returned" SIMT_ADVICE_PREFIX
            "a static variable or malloc()");
    is_repeated = true;
    const cudaError_t error = copy_in_stream(copy->name, copy->to, copy->from, copy->bytes, copy->kind, stream,
                                             copy->call_site);

    is_repeated = false;
    return error;
}

/** Performs the copy of a cudaMemcpyAsync() for the call `name` at `call_site`. */
static cudaError_t copy_async(const char *name, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                              cudaStream_t stream, uintptr_t call_site)
{
    if (simt_stream_is_capturing(stream)) {
        const struct graph_copy copy = {name, to, from, bytes, kind, 0, call_site};

        return simt_capture_work(stream, copy_again, &copy, sizeof copy, NULL, 0);
    }
    const cudaError_t error = copy_in_stream(name, to, from, bytes, kind, stream, call_site);

    /* A copy to pageable memory, or from host to host, is synchronous; a copy from pageable memory is staged. */
    if (error == cudaSuccess && bytes > 0 && simt_host_may_access(to) &&
        (!simt_is_pinned_or_managed(to) || simt_host_may_access(from)))
        simt_record_host_wait_for_stream(stream);
    return error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_async("cudaMemcpyAsync", to, from, bytes, kind, stream, SIMT_RETURN_ADDRESS());
}

static cudaError_t set_in_stream(const char *name, void *to, int value, size_t bytes, cudaStream_t stream,
                                 uintptr_t call_site)
{
    SIMT_HOLD_HOST_LOCK;
    if (simt_peek_error_blocking_launches() != cudaSuccess)
        return simt_peek_error_blocking_launches();
    if (bytes == 0)
        return cudaSuccess;
    if (!simt_runtime_may_access_cuda_memory(to, bytes))
        return reject_end(name, "destination", to, bytes, true, NULL, call_site);
    cudaError_t error = reject_variable_name(name, "destination", to, call_site);

    if (error == cudaSuccess)
        error = issue_work(name, to, NULL, bytes, stream, call_site);
    if (error != cudaSuccess)
        return error;
    if (!let_range(to, bytes, true))
        return simt_record_failed_call(name, cudaErrorMemoryAllocation, call_site);
    memset(to, value, bytes);
    let_range(to, bytes, false);
    if (simt_is_arena_pointer(to))
        simt_set_unwritten_marks(arena_offset(to), bytes, false);
    if (simt_is_arena_pointer(to))
        simt_allocation_record_host_write(to, bytes, name, call_site);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return set_in_stream("cudaMemset", to, value, bytes, NULL, SIMT_RETURN_ADDRESS());
}

cudaError_t simt_reject_memset_to_float(const char *name, double value)
{
    const bool is_int = value > -2147483649.0 && value < 2147483648.0;
    const unsigned byte = is_int ? (unsigned char)(int)value : 0;
    const union {
        uint32_t bits;
        float value;
    } word = {byte * 0x01010101u};

    if (simt_peek_error_blocking_launches() != cudaSuccess)
        return simt_peek_error_blocking_launches();
    if (!is_int)
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), name, cudaErrorInvalidValue,
                                       "it sets every byte to an int, which %g is not" SIMT_ADVICE_PREFIX
                                       "cudaMemcpy() from an array of the host, or a kernel that stores the value",
                                       value);
    return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), name, cudaErrorInvalidValue,
                                   "it sets every byte to an int: %g becomes 0x%02x, and each float 0x%08" PRIx32
                                   " (%g), not %g" SIMT_ADVICE_PREFIX
                                   "cudaMemcpy() from an array of the host, or a kernel that stores the value",
                                   value, byte, word.bits, (double)word.value, value);
}

static cudaError_t set_again(const void *operand, cudaStream_t stream)
{
    const struct graph_copy *set = operand;

    return set_in_stream(set->name, set->to, set->value, set->bytes, stream, set->call_site);
}

/** Performs the memset of a cudaMemsetAsync() for the call `name` at `call_site`. */
static cudaError_t set_async(const char *name, void *to, int value, size_t bytes, cudaStream_t stream,
                             uintptr_t call_site)
{
    if (simt_stream_is_capturing(stream)) {
        const struct graph_copy set = {.name = name, .to = to, .value = value, .bytes = bytes, .call_site = call_site};

        return simt_capture_work(stream, set_again, &set, sizeof set, NULL, 0);
    }
    return set_in_stream(name, to, value, bytes, stream, call_site);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return set_async("cudaMemsetAsync", to, value, bytes, stream, SIMT_RETURN_ADDRESS());
}

/**
 * Checks a copy of `bytes` bytes to or from offset `offset` of a device variable; `host` is the other end. Reports an
 * error at the source line of the call.
 */
static cudaError_t check_symbol(const char *name, const void *host, const void *symbol, size_t symbol_bytes,
                                size_t offset, size_t bytes, uintptr_t call_site)
{
    if (!symbol || !host)
        return simt_record_failed_call(name, cudaErrorInvalidValue, call_site);
    if (!simt_is_device_variable_range(symbol, 1))
        return simt_fault_runtime_call(
            call_site, name, cudaErrorInvalidSymbol,
            "a variable of the host; a symbol has __device__ or __constant__" SIMT_ADVICE_PREFIX
            "cudaMemcpy(), or __device__ at the variable's declaration");
    if (offset > symbol_bytes || bytes > symbol_bytes - offset)
        return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                       "%zu bytes at byte %zu of a variable of %zu bytes do not fit" SIMT_ADVICE_PREFIX
                                       "sizeof of the variable",
                                       bytes, offset, symbol_bytes);
    if (simt_is_arena_pointer(host) && !simt_runtime_may_access_cuda_memory(host, bytes))
        return simt_record_failed_call(name, cudaErrorInvalidValue, call_site);
    return check_host_range(name, host, bytes, call_site);
}

cudaError_t simt_copy_to_or_from_symbol(void *to, const void *from, const void *symbol, size_t symbol_bytes,
                                        size_t offset, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream,
                                        bool host_waits)
{
    static const char *const names[2][2] = {{"cudaMemcpyFromSymbolAsync", "cudaMemcpyFromSymbol"},
                                            {"cudaMemcpyToSymbolAsync", "cudaMemcpyToSymbol"}};
    const bool to_symbol = to == (const char *)symbol + offset;
    const char *const name = names[to_symbol][host_waits];
    const void *const other = to_symbol ? from : to;

    SIMT_HOLD_HOST_LOCK;
    if (simt_peek_error_blocking_launches() != cudaSuccess)
        return simt_peek_error_blocking_launches();
    cudaError_t error = check_symbol(name, other, symbol, symbol_bytes, offset, bytes, SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    if (to_symbol && simt_is_const_qualified_variable(symbol))
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), name, cudaErrorInvalidSymbol,
                                       "a variable that is const, which no copy may change" SIMT_ADVICE_PREFIX
                                       "no const, or the value in the variable's declaration");
    if (!host_waits)
        return copy_async(name, to, from, bytes, kind, stream, SIMT_RETURN_ADDRESS());
    error = simt_check_call_permitted(name, CAPTURE_HAZARD_MAY_WAIT_FOR_DEVICE, SIMT_RETURN_ADDRESS());
    if (error == cudaSuccess)
        error = copy_in_stream(name, to, from, bytes, kind, NULL, SIMT_RETURN_ADDRESS());
    if (error == cudaSuccess)
        simt_record_host_wait_for_stream(NULL);
    return error;
}

/* --- pitched memory ----------------------------------------------------------------------------------------------- */

/** Returns an error, at the source line of the call, if a row is wider than its pitch. */
static cudaError_t check_pitch(const char *name, size_t width, size_t pitch, uintptr_t call_site)
{
    if (width <= pitch)
        return cudaSuccess;
    return simt_fault_runtime_call(call_site, name, cudaErrorInvalidPitchValue,
                                   "rows of %zu bytes, but a pitch of %zu bytes" SIMT_ADVICE_PREFIX
                                   "a pitch in bytes, as from cudaMallocPitch(), that is at least the width in bytes",
                                   width, pitch);
}

/** Reports rows that extend past the end of a host variable, or whose source and destination overlap. */
static cudaError_t check_rows(const char *name, const void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, uintptr_t call_site)
{
    const bool before = (uintptr_t)to < (uintptr_t)from;
    const size_t apart = before ? (uintptr_t)from - (uintptr_t)to : (uintptr_t)to - (uintptr_t)from;
    const size_t rows = apart / to_pitch, columns = apart % to_pitch;
    cudaError_t error = check_host_range(name, to, (height - 1) * to_pitch + width, call_site);

    if (error == cudaSuccess)
        error = check_host_range(name, from, (height - 1) * from_pitch + width, call_site);
    if (error != cudaSuccess || to_pitch != from_pitch ||
        !((rows < height && columns < width) || (rows + 1 < height && to_pitch - columns < width)))
        return error;
    return simt_fault_runtime_call(
        call_site, name, cudaErrorInvalidValue,
        "the destination begins %zu bytes %s the source, so their rows overlap" SIMT_ADVICE_PREFIX
        "two copies, the first to another buffer",
        apart, before ? "before" : "after");
}

/** Performs the copy of a cudaMemcpy2DAsync() for the call `name` at `call_site`. */
static cudaError_t copy_rows(const char *name, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream,
                             uintptr_t call_site)
{
    cudaError_t error = check_pitch(name, width, to_pitch < from_pitch ? to_pitch : from_pitch, call_site);

    if (error == cudaSuccess && width > 0 && height > 0)
        error = check_rows(name, to, to_pitch, from, from_pitch, width, height, call_site);
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = copy_async(name, (char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind,
                           stream, call_site);
    return error;
}

/** Waits for a copy of rows to complete, unless both ends are in device memory. */
static cudaError_t end_copy(cudaError_t error, enum cudaMemcpyKind kind)
{
    return error == cudaSuccess && kind != cudaMemcpyDeviceToDevice ? cudaStreamSynchronize(NULL) : error;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream,
                     SIMT_RETURN_ADDRESS());
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    return end_copy(
        copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, NULL, SIMT_RETURN_ADDRESS()),
        kind);
}

static cudaError_t set_rows(const char *name, void *to, size_t pitch, int value, size_t width, size_t height,
                            cudaStream_t stream, uintptr_t call_site)
{
    cudaError_t error = check_pitch(name, width, pitch, call_site);

    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = set_async(name, (char *)to + row * pitch, value, width, stream, call_site);
    return error;
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return set_rows("cudaMemset2DAsync", to, pitch, value, width, height, stream, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return set_rows("cudaMemset2D", to, pitch, value, width, height, NULL, SIMT_RETURN_ADDRESS());
}

/** Returns the address of the row that is `plane` planes after the row at `position`. */
static char *row_at(const struct cudaPitchedPtr *memory, const struct cudaPos *position, size_t plane)
{
    return (char *)memory->ptr + ((position->z + plane) * memory->ysize + position->y) * memory->pitch + position->x;
}

static cudaError_t copy_planes(const char *name, const struct cudaMemcpy3DParms *p, cudaStream_t stream,
                               uintptr_t call_site)
{
    cudaError_t error = cudaSuccess;

    if (!p)
        return simt_record_failed_call(name, cudaErrorInvalidValue, call_site);
    if (p->srcArray || p->dstArray)
        return simt_fault_runtime_call(call_site, name, cudaErrorNotSupported,
                                       "the simulator has no arrays: copy between pointers");
    for (size_t plane = 0; plane < p->extent.depth && error == cudaSuccess; plane++)
        error = copy_rows(name, row_at(&p->dstPtr, &p->dstPos, plane), p->dstPtr.pitch,
                          row_at(&p->srcPtr, &p->srcPos, plane), p->srcPtr.pitch, p->extent.width, p->extent.height,
                          p->kind, stream, call_site);
    return error;
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *parameters, cudaStream_t stream)
{
    return copy_planes("cudaMemcpy3DAsync", parameters, stream, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *parameters)
{
    const cudaError_t error = copy_planes("cudaMemcpy3D", parameters, NULL, SIMT_RETURN_ADDRESS());

    return parameters ? end_copy(error, parameters->kind) : error;
}

static cudaError_t set_planes(const char *name, struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream, uintptr_t call_site)
{
    cudaError_t error = cudaSuccess;

    for (size_t plane = 0; plane < extent.depth && error == cudaSuccess; plane++)
        error = set_rows(name, row_at(&to, &(struct cudaPos){0}, plane), to.pitch, value, extent.width, extent.height,
                         stream, call_site);
    return error;
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream)
{
    return set_planes("cudaMemset3DAsync", to, value, extent, stream, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return set_planes("cudaMemset3D", to, value, extent, NULL, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    if (to_device != 0 || from_device != 0)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidDevice);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
