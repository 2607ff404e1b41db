/**
 * @file runtime.c
 * @brief CUDA's functions for the device, its properties and its limits, and the text of simt_limitations_text().
 */
#include "calls/kernel_calls.h"
#include "graphs.h"
#include "machine/device_limits.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "memory/arena.h"
#include "order/stream_work.h"
#include "simt.h"

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

/** Reports a device other than 0, which is the only one, for the call `name` at `call_site`. */
static cudaError_t check_device(const char *name, int device, uintptr_t call_site)
{
    if (device == 0)
        return cudaSuccess;
    return simt_fault_runtime_call(call_site, name, cudaErrorInvalidDevice,
                                   "device %d" SIMT_ADVICE_PREFIX "device 0, the only one that the simulator has",
                                   device);
}

cudaError_t cudaSetDevice(int device)
{
    return check_device("cudaSetDevice", device, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaGetDevice(int *device)
{
    if (!device)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    if (!properties)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    const cudaError_t error = check_device("cudaGetDeviceProperties", device, SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    *properties = (struct cudaDeviceProp){
        .name = "CPU simulator",
        .totalGlobalMem = simt_physical_memory_bytes(),
        .sharedMemPerBlock = SHARED_BYTES_DEFAULT_LIMIT,
        .sharedMemPerBlockOptin = SHARED_BYTES_LIMIT,
        .sharedMemPerMultiprocessor = MULTIPROCESSOR_SHARED_BYTES,
        .regsPerBlock = MULTIPROCESSOR_REGISTERS,
        .warpSize = WARP_LANES,
        .memPitch = INT32_MAX,
        .maxThreadsPerBlock = BLOCK_THREADS,
        .maxThreadsPerMultiProcessor = MULTIPROCESSOR_THREADS,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {INT32_MAX, 65535, 65535},
        .totalConstMem = 65536,
        .major = 9,
        .minor = 0,
        .multiProcessorCount = NUM_MULTIPROCESSORS,
        .regsPerMultiprocessor = MULTIPROCESSOR_REGISTERS,
        .maxBlocksPerMultiProcessor = MULTIPROCESSOR_BLOCKS,
        .cooperativeLaunch = 1,
        .concurrentKernels = 1,
        .asyncEngineCount = 1,
        .canMapHostMemory = 1,
        .unifiedAddressing = 1,
        .managedMemory = 1,
        .concurrentManagedAccess = 1,
        .deviceOverlap = 1,
        .computePreemptionSupported = 1,
        .streamPrioritiesSupported = 1,
        .memoryPoolsSupported = 1,
        .singleToDoublePrecisionPerfRatio = 2,
        .textureAlignment = 512,
        .texturePitchAlignment = 32,
        .surfaceAlignment = 512,
    };
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct cudaDeviceProp properties;

    if (!value)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    const cudaError_t error = check_device("cudaDeviceGetAttribute", device, SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    cudaGetDeviceProperties(&properties, 0);
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } all[] = {
        {cudaDevAttrMaxThreadsPerBlock, properties.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, properties.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, properties.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, properties.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, properties.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, properties.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, properties.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, (int)properties.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)properties.sharedMemPerBlockOptin},
        {cudaDevAttrWarpSize, properties.warpSize},
        {cudaDevAttrClockRate, 0},
        {cudaDevAttrL2CacheSize, 0},
        {cudaDevAttrCooperativeLaunch, properties.cooperativeLaunch},
        {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
        {cudaDevAttrMaxThreadsPerMultiProcessor, properties.maxThreadsPerMultiProcessor},
        {cudaDevAttrComputeCapabilityMajor, properties.major},
        {cudaDevAttrComputeCapabilityMinor, properties.minor},
        {cudaDevAttrTotalConstantMemory, (int)properties.totalConstMem},
        {cudaDevAttrMaxPitch, (int)properties.memPitch},
        {cudaDevAttrMaxRegistersPerBlock, properties.regsPerBlock},
        {cudaDevAttrIntegrated, properties.integrated},
        {cudaDevAttrCanMapHostMemory, properties.canMapHostMemory},
        {cudaDevAttrConcurrentKernels, properties.concurrentKernels},
        {cudaDevAttrUnifiedAddressing, properties.unifiedAddressing},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (int)properties.sharedMemPerMultiprocessor},
        {cudaDevAttrMaxRegistersPerMultiprocessor, properties.regsPerMultiprocessor},
        {cudaDevAttrManagedMemory, properties.managedMemory},
        {cudaDevAttrConcurrentManagedAccess, properties.concurrentManagedAccess},
        {cudaDevAttrMaxBlocksPerMultiprocessor, properties.maxBlocksPerMultiProcessor},
        {cudaDevAttrMemoryPoolsSupported, properties.memoryPoolsSupported},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].attribute == attribute) {
            *value = all[i].value;
            return cudaSuccess;
        }
    }
    return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

/* These functions set hints for a GPU, which are checked and then ignored, except for the heap size. */

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return check_device("cudaInitDevice", device, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    (void)flags;
    return cudaSuccess;
}

static size_t limits[cudaLimitPersistingL2CacheSize + 1] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return SIMT_RECORD_FAILURE(cudaErrorUnsupportedLimit);
    *value = limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return SIMT_RECORD_FAILURE(cudaErrorUnsupportedLimit);
    if (limit == cudaLimitMallocHeapSize && simt_heap_is_used)
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), "cudaDeviceSetLimit", cudaErrorInvalidValue,
                                       "a kernel has already called malloc() or new" SIMT_ADVICE_PREFIX
                                       "the call before the first launch");
    limits[limit] = value;
    simt_heap_limit_bytes = limits[cudaLimitMallocHeapSize];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    return (unsigned)config <= cudaFuncCachePreferEqual ? cudaSuccess : SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
    return kernel ? cudaDeviceSetCacheConfig(config) : SIMT_RECORD_FAILURE(cudaErrorInvalidDeviceFunction);
}

/** Stores 0 in *can, because the only device is not its own peer. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *can = 0;
    return check_device("cudaDeviceCanAccessPeer", device != 0 ? device : peer, SIMT_RETURN_ADDRESS());
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    (void)priority;
    return cudaStreamCreateWithFlags(stream, flags);
}

struct host_function {
    cudaHostFn_t function;
    void *data;
    uintptr_t call_site; /**< where the host called cudaLaunchHostFunc */
};

static cudaError_t call_host(const void *operand, cudaStream_t stream)
{
    const struct host_function *host = operand;
    cudaError_t error = simt_host_function_begins(stream, "cudaLaunchHostFunc", host->call_site);

    if (error != cudaSuccess)
        return error;
    simt_work_end_overlap(stream);
    simt_in_host_function = true;
    if (simt_peek_error_blocking_launches() == cudaSuccess)
        host->function(host->data);
    simt_in_host_function = false;
    error = simt_host_function_ends();
    return error == cudaSuccess ? simt_peek_error_blocking_launches() : error;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    const struct host_function host = {function, data, SIMT_RETURN_ADDRESS()};

    if (!function)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (simt_stream_is_capturing(stream))
        return simt_capture_work(stream, call_host, &host, sizeof host, NULL, 0);
    return call_host(&host, stream);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
    if (!callback || flags != 0)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (simt_stream_is_capturing(stream))
        return SIMT_RECORD_FAILURE(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = simt_host_function_begins(stream, "cudaStreamAddCallback", SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    simt_work_end_overlap(stream);
    simt_in_host_function = true;
    callback(stream, simt_peek_error_blocking_launches(), data);
    simt_in_host_function = false;
    error = simt_host_function_ends();
    return error == cudaSuccess ? simt_peek_error_blocking_launches() : error;
}

const char *simt_limitations_text(void)
{
    return "The simulator runs the source, not a GPU's instructions. It has no time, no caches, no registers and no\n"
           "occupancy. Branches are the source's: a GPU compiler may predicate a short one or merge neighbouring "
           "loads.\n"
           "Lanes of a warp run one after another between collectives, and blocks one after another, in one order;\n"
           "SIMT_ORDER=reverse and SIMT_ORDER=random:SEED try others. Loads and stores inside library calls are not\n"
           "seen. A race is reported between two accesses that nothing orders.\n";
}
