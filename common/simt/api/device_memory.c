/**
 * @file device_memory.c
 * @brief CUDA's functions that allocate, free and query device memory, pinned memory and managed memory.
 */
#include "graphs.h"
#include "machine/array_reserve.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "machine/program_image.h"
#include "machine/source_lines.h"
#include "memory/arena.h"
#include "order/stream_table.h"
#include "order/stream_work.h"
#include "simt.h"
#include "machine/host_threads.h"

/**
 * Reports that the runtime call `name` failed to allocate memory, unless an earlier fault is the cause. Returns
 * `error`.
 */
static cudaError_t report_allocation(const char *name, cudaError_t error, uintptr_t call_site)
{
    const bool failed = error == cudaErrorInvalidValue || error == cudaErrorMemoryAllocation;

    return failed && simt_peek_error_blocking_launches() == cudaSuccess
               ? simt_record_failed_call(name, error, call_site)
               : error;
}

/** Allocates memory for the runtime call `name` if a call that may wait for the device is currently permitted. */
static cudaError_t allocate(const char *name, void **pointer, size_t bytes, enum memory_type memory_type,
                            uintptr_t call_site)
{
    const cudaError_t error = simt_check_call_permitted(name, CAPTURE_HAZARD_MAY_WAIT_FOR_DEVICE, call_site);

    if (error == cudaSuccess && !pointer && simt_peek_error_blocking_launches() == cudaSuccess)
        return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                       "a null pointer" SIMT_ADVICE_PREFIX
                                       "&d, the address of the pointer that receives the memory's address");
    return error == cudaSuccess
               ? report_allocation(name, simt_arena_allocate(pointer, bytes, memory_type, call_site), call_site)
               : error;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate("cudaMalloc", pointer, bytes, MEMORY_TYPE_DEVICE, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate("cudaMallocHost", pointer, bytes, MEMORY_TYPE_PINNED, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    if (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return SIMT_RECORD_FAILURE(cudaErrorNotSupported);
    return allocate("cudaHostAlloc", pointer, bytes, MEMORY_TYPE_PINNED, SIMT_RETURN_ADDRESS());
}

/** The host memory that the program has registered. */
static struct registered {
    char *begin;
    size_t bytes;
} * registered;
static size_t registered_count, registered_room;

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    if (!pointer || bytes == 0 || simt_is_arena_pointer(pointer))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (flags & ~(unsigned)cudaHostRegisterPortable)
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), "cudaHostRegister", cudaErrorNotSupported,
                                       "kernels cannot use memory of malloc(): allocate it by cudaHostAlloc()");
    for (size_t i = 0; i < registered_count; i++)
        if ((char *)pointer < registered[i].begin + registered[i].bytes &&
            registered[i].begin < (char *)pointer + bytes)
            return simt_fault_runtime_call(
                SIMT_RETURN_ADDRESS(), "cudaHostRegister", cudaErrorHostMemoryAlreadyRegistered,
                "the memory is registered already" SIMT_ADVICE_PREFIX "cudaHostUnregister() before");
    if (!simt_array_reserve(&registered, &registered_room, registered_count + 1, sizeof *registered))
        return SIMT_RECORD_FAILURE(cudaErrorMemoryAllocation);
    registered[registered_count++] = (struct registered){pointer, bytes};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *pointer)
{
    for (size_t i = 0; pointer && i < registered_count; i++) {
        if (registered[i].begin == pointer) {
            registered[i] = registered[--registered_count];
            return cudaSuccess;
        }
    }
    return pointer ? SIMT_RECORD_FAILURE(cudaErrorHostMemoryNotRegistered) : SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    return allocate("cudaMallocManaged", pointer, bytes, MEMORY_TYPE_MANAGED, SIMT_RETURN_ADDRESS());
}

enum { PITCH = 512 };

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    const size_t row = (width + PITCH - 1) / PITCH * PITCH;

    if (!pointer || !pitch || width > row || (height > 0 && row > SIZE_MAX / height))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *pitch = row;
    const cudaError_t error = allocate("cudaMallocPitch", pointer, row * height, MEMORY_TYPE_DEVICE,
                                       SIMT_RETURN_ADDRESS());

    if (error == cudaSuccess && *pointer)
        simt_allocation_at_or_after(*pointer)->pitch = row;
    return error;
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent)
{
    if (!pointer || (extent.height > 0 && extent.depth > SIZE_MAX / extent.height))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}

/**
 * Reports that the call `name` cannot free a pointer that is not the start of an allocation made by `allocates`.
 */
static cudaError_t not_freed(const void *pointer, const char *name, const char *allocates, uintptr_t call_site)
{
    char where[160], here[LOCATION_TEXT_SIZE], location[LOCATION_TEXT_SIZE];

    if (simt_is_device_heap_pointer(pointer))
        return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                       "a kernel has allocated the memory by malloc()" SIMT_ADVICE_PREFIX
                                       "free() in a kernel");
    if (simt_allocation_starting_at(pointer) || !simt_arena_describe_address((uintptr_t)pointer, where, sizeof where))
        return simt_fault_runtime_call(
            call_site, name, cudaErrorInvalidValue, "the pointer is not from %s" SIMT_ADVICE_PREFIX "%s", allocates,
            !simt_allocation_starting_at(pointer)                                     ? "free() for memory of the host"
            : simt_allocation_starting_at(pointer)->memory_type == MEMORY_TYPE_PINNED ? "cudaFreeHost()"
                                                                                      : "cudaFree()");
    if (simt_arena_free_site((uintptr_t)pointer) > 1) {
        simt_format_source_line(call_site, here);
        simt_format_source_line_seen_from(here, simt_arena_free_site((uintptr_t)pointer), location);
        return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                       "the pointer is %s at %s" SIMT_ADVICE_PREFIX
                                       "free it once; if a destructor frees it, a copy of the object, "
                                       "such as an argument passed by value, frees it too: pass a reference",
                                       where, location);
    }
    return simt_fault_runtime_call(call_site, name, cudaErrorInvalidValue,
                                   "the pointer is %s; it must be one that %s returned, and not be freed twice", where,
                                   allocates);
}

static cudaError_t release(void *pointer, const char *name, uintptr_t call_site)
{
    SIMT_HOLD_HOST_LOCK;
    const struct allocation *const allocation = simt_allocation_starting_at(pointer);

    if (!pointer)
        return cudaSuccess;
    if (!allocation || allocation->memory_type == MEMORY_TYPE_PINNED ||
        allocation->memory_type == MEMORY_TYPE_DEVICE_HEAP)
        return not_freed(pointer, name, "cudaMalloc", call_site);
    simt_arena_free(allocation, call_site);
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer)
{
    const cudaError_t error = simt_check_call_permitted("cudaFree", CAPTURE_HAZARD_MAY_WAIT_FOR_DEVICE,
                                                        SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    if (pointer)
        simt_record_host_wait_for_all_work();
    return release(pointer, "cudaFree", SIMT_RETURN_ADDRESS());
}

cudaError_t cudaDeviceReset(void)
{
    simt_record_host_wait_for_all_work();
    while (simt_arena.num_allocations > 0)
        simt_arena_free(&simt_arena.allocations[simt_arena.num_allocations - 1], SIMT_RETURN_ADDRESS());
    simt_streams_destroy();
    registered_count = 0;
    cudaGetLastError();
    return cudaSuccess;
}

/**
 * Records a stream-ordered allocation or free: other work that uses the memory must be ordered after the allocation and
 * before the free.
 */
static cudaError_t use_all(const char *name, enum work_use use, const struct allocation *allocation,
                           cudaStream_t stream, uintptr_t call_site)
{
    cudaError_t error = simt_check_call_permitted(name, capture_hazard_of_submitting_to(stream), call_site);

    if (error == cudaSuccess)
        error = simt_work_begin(stream, name, call_site);
    if (error != cudaSuccess)
        return error;
    if (allocation && simt_has_several_streams)
        simt_work_record_use(use, (uintptr_t)simt_arena.base + allocation->offset, allocation->bytes);
    return simt_work_end_and_report_race();
}

static cudaError_t not_captured(const char *name, uintptr_t call_site)
{
    return simt_fault_runtime_call(call_site, name, cudaErrorNotSupported,
                                   "the simulator's graphs do not allocate; call it before the capture");
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    if (simt_stream_is_capturing(stream))
        return not_captured("cudaMallocAsync", SIMT_RETURN_ADDRESS());
    const uintptr_t call_site = SIMT_RETURN_ADDRESS();
    const cudaError_t error = report_allocation(
        "cudaMallocAsync", simt_arena_allocate(pointer, bytes, MEMORY_TYPE_DEVICE, call_site), call_site);

    if (error != cudaSuccess || bytes == 0)
        return error;
    return use_all("cudaMallocAsync", USE_ALLOCATE, simt_allocation_starting_at(*pointer), stream, call_site);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    const struct allocation *const allocation = simt_allocation_starting_at(pointer);
    const uintptr_t call_site = SIMT_RETURN_ADDRESS();

    if (simt_stream_is_capturing(stream))
        return not_captured("cudaFreeAsync", call_site);
    const cudaError_t error = use_all("cudaFreeAsync", USE_FREE, allocation, stream, call_site);

    if (error != cudaSuccess)
        return error;
    if (allocation)
        simt_work_remove_uses((uintptr_t)pointer, allocation->bytes);
    return release(pointer, "cudaFreeAsync", call_site);
}

cudaError_t cudaFreeHost(void *pointer)
{
    SIMT_HOLD_HOST_LOCK;
    const struct allocation *const allocation = simt_allocation_starting_at(pointer);
    const cudaError_t error = simt_check_call_permitted("cudaFreeHost", CAPTURE_HAZARD_MAY_WAIT_FOR_DEVICE,
                                                        SIMT_RETURN_ADDRESS());

    if (!pointer || error != cudaSuccess)
        return error;
    if (!allocation || allocation->memory_type != MEMORY_TYPE_PINNED)
        return not_freed(pointer, "cudaFreeHost", "cudaMallocHost", SIMT_RETURN_ADDRESS());
    simt_record_host_wait_for_all_work();
    simt_arena_free(allocation, SIMT_RETURN_ADDRESS());
    return cudaSuccess;
}

void simt_mark_unwritten(const void *begin, size_t bytes)
{
    if (bytes == 0 || !simt_is_arena_pointer(begin) || !simt_runtime_may_access_cuda_memory(begin, bytes))
        return;
    struct allocation *const allocation = simt_allocation_at_or_after(begin);

    simt_set_unwritten_marks(arena_offset(begin), bytes, true);
    allocation->host_may_copy_unwritten = allocation->marks_not_in_shadow = simt_arena.any_marks_not_in_shadow = true;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    if (!attributes)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *attributes = (struct cudaPointerAttributes){.device = -2};
    if (simt_is_arena_pointer(pointer) ? simt_runtime_may_access_cuda_memory(pointer, 1)
                                       : simt_is_device_variable_range(pointer, 1))
        *attributes = (struct cudaPointerAttributes){cudaMemoryTypeDevice, 0, (void *)pointer, NULL};
    if (simt_is_pinned_or_managed(pointer)) {
        attributes->type = simt_allocation_at_or_after(pointer)->memory_type == MEMORY_TYPE_PINNED
                               ? cudaMemoryTypeHost
                               : cudaMemoryTypeManaged;
        attributes->hostPointer = (void *)pointer;
    }
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *pointer, unsigned flags)
{
    if (!device || flags != 0 || !simt_is_pinned_or_managed(pointer) ||
        simt_allocation_at_or_after(pointer)->memory_type != MEMORY_TYPE_PINNED)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *device = pointer;
    return cudaSuccess;
}

/** Only checks its arguments, because the simulator does not migrate managed memory. */
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    (void)stream;
    if (!simt_is_pinned_or_managed(pointer) ||
        simt_allocation_at_or_after(pointer)->memory_type != MEMORY_TYPE_MANAGED ||
        !simt_runtime_may_access_cuda_memory(pointer, bytes))
        return simt_fault_runtime_call(
            SIMT_RETURN_ADDRESS(), "cudaMemPrefetchAsync or cudaMemAdvise", cudaErrorInvalidValue,
            "not %zu bytes of managed memory" SIMT_ADVICE_PREFIX "memory from cudaMallocManaged()", bytes);
    return device == 0 || device == cudaCpuDeviceId ? cudaSuccess : SIMT_RECORD_FAILURE(cudaErrorInvalidDevice);
}

/** Only checks its arguments. */
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    return cudaMemPrefetchAsync(pointer, bytes, advice <= cudaMemAdviseUnsetReadMostly ? 0 : device, NULL);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (!pool)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (device != 0)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidDevice);
    *pool = (cudaMemPool_t)&simt_arena;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    const bool known = attribute >= cudaMemPoolReuseFollowEventDependencies &&
                       attribute <= cudaMemPoolAttrReleaseThreshold;

    return pool && known && value ? cudaSuccess : SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    (void)bytes;
    return pool ? cudaSuccess : SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    if (!available || !total)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *total = simt_physical_memory_bytes();
    *available = *total > simt_arena.in_use_bytes ? *total - simt_arena.in_use_bytes : 0;
    return cudaSuccess;
}
