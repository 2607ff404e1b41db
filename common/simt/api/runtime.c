/**
 * @file runtime.c
 * @brief The device and what it says of itself.
 */
#include "machine/device_limits.h"
#include "calls/kernel_calls.h"
#include "machine/errors.h"
#include "graphs.h"

#include <stdlib.h>
#include <unistd.h>

/* --- the device --------------------------------------------------------------------------------------------------- */

enum { VERSION = 13000 };

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return simt_set_error(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : simt_set_error(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    if (!device)
        return simt_set_error(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    if (!properties)
        return simt_set_error(cudaErrorInvalidValue);
    if (device != 0)
        return simt_set_error(cudaErrorInvalidDevice);
    *properties = (struct cudaDeviceProp){
        .name = "CPU simulator",
        .totalGlobalMem = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
        .sharedMemPerBlock = SHARED_BYTES_DEFAULT,
        .sharedMemPerBlockOptin = SHARED_BYTES_LIMIT,
        .sharedMemPerMultiprocessor = PROCESSOR_SHARED_BYTES,
        .regsPerBlock = 65536,
        .warpSize = WARP_LANES,
        .memPitch = INT32_MAX,
        .maxThreadsPerBlock = BLOCK_THREADS,
        .maxThreadsPerMultiProcessor = PROCESSOR_THREADS,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {INT32_MAX, 65535, 65535},
        .totalConstMem = 65536,
        .major = 9,
        .minor = 0,
        .multiProcessorCount = PROCESSORS,
        .regsPerMultiprocessor = 65536,
        .maxBlocksPerMultiProcessor = PROCESSOR_BLOCKS,
        .cooperativeLaunch = 1,
        .concurrentKernels = 1,
        .asyncEngineCount = 1,
        .canMapHostMemory = 1,
        .unifiedAddressing = 1,
        .managedMemory = 1,
        .concurrentManagedAccess = 1,
    };
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);

    if (!value)
        return simt_set_error(cudaErrorInvalidValue);
    if (error != cudaSuccess)
        return error;
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
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].attribute == attribute) {
            *value = all[i].value;
            return cudaSuccess;
        }
    }
    return simt_set_error(cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return simt_set_error(cudaErrorInvalidValue);
    *version = VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

/* What a GPU would be told is looked at, and changes nothing. */

static cudaError_t is_device(int device)
{
    return device == 0 ? cudaSuccess : simt_set_error(cudaErrorInvalidDevice);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return is_device(device);
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
        return simt_set_error(cudaErrorInvalidValue);
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return simt_set_error(cudaErrorUnsupportedLimit);
    *value = limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return simt_set_error(cudaErrorUnsupportedLimit);
    limits[limit] = value;
    simt_heap_limit = limits[cudaLimitMallocHeapSize];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    return (unsigned)config <= cudaFuncCachePreferEqual ? cudaSuccess : simt_set_error(cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
    return kernel ? cudaDeviceSetCacheConfig(config) : simt_set_error(cudaErrorInvalidDeviceFunction);
}

/** A device is no peer of its own. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can)
        return simt_set_error(cudaErrorInvalidValue);
    *can = 0;
    return is_device(device) == cudaSuccess ? is_device(peer) : cudaErrorInvalidDevice;
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
};

static cudaError_t call_host(const void *operand, cudaStream_t stream)
{
    const struct host_function *host = operand;

    (void)stream;
    if (simt_sticky_error() == cudaSuccess)
        host->function(host->data);
    return simt_sticky_error();
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    const struct host_function host = {function, data};

    if (!function)
        return simt_set_error(cudaErrorInvalidValue);
    if (simt_captures(stream))
        return simt_capture(stream, call_host, &host, sizeof host, NULL, 0);
    return call_host(&host, stream);
}

/*
 * --- graphs that can be launched ------------------------------------------------------------------------------------
 */

/**
 * A graph with streams for its branches, but for the first, which is the stream that it is launched in; and with its
 * events.
 */
struct CUgraphExec_st {
    cudaGraph_t graph;
    cudaStream_t *stream;
    cudaEvent_t *event;
    cudaGraphExec_t next;
};

static cudaGraphExec_t execs;

static bool is_exec(cudaGraphExec_t exec)
{
    for (cudaGraphExec_t other = execs; other; other = other->next) {
        if (other == exec)
            return true;
    }
    return false;
}

static void exec_free(cudaGraphExec_t exec)
{
    for (unsigned i = 1; exec->stream && i < exec->graph->branches; i++) {
        if (exec->stream[i])
            cudaStreamDestroy(exec->stream[i]);
    }
    for (unsigned i = 0; exec->event && i < exec->graph->events; i++) {
        if (exec->event[i])
            cudaEventDestroy(exec->event[i]);
    }
    free(exec->stream);
    free(exec->event);
    simt_graph_release(exec->graph);
    free(exec);
}

/** Its streams and events; false: no memory. */
static bool exec_fill(cudaGraphExec_t exec)
{
    exec->stream = calloc(exec->graph->branches, sizeof *exec->stream);
    exec->event = calloc(exec->graph->events + 1, sizeof *exec->event);
    if (!exec->stream || !exec->event)
        return false;
    for (unsigned i = 1; i < exec->graph->branches; i++) {
        if (cudaStreamCreateWithFlags(&exec->stream[i], cudaStreamNonBlocking) != cudaSuccess)
            return false;
    }
    for (unsigned i = 0; i < exec->graph->events; i++) {
        if (cudaEventCreateWithFlags(&exec->event[i], cudaEventDisableTiming) != cudaSuccess)
            return false;
    }
    return true;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    if (!exec || !simt_is_graph(graph))
        return simt_set_error(cudaErrorInvalidValue);
    *exec = calloc(1, sizeof **exec);
    if (!*exec)
        return simt_set_error(cudaErrorMemoryAllocation);
    (*exec)->graph = graph;
    graph->users++;
    if (!exec_fill(*exec)) {
        exec_free(*exec);
        *exec = NULL;
        return simt_set_error(cudaErrorMemoryAllocation);
    }
    (*exec)->next = execs;
    execs = *exec;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)stream;
    return is_exec(exec) ? cudaSuccess : simt_set_error(cudaErrorInvalidValue);
}

/** Its steps, in the order in which they were captured. */
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    if (!is_exec(exec))
        return simt_set_error(cudaErrorInvalidValue);
    if (simt_captures(stream))
        return simt_set_error(cudaErrorNotSupported);
    for (size_t i = 0; i < exec->graph->count && error == cudaSuccess; i++) {
        const struct step *step = &exec->graph->step[i];
        const cudaStream_t its = step->branch == 0 ? stream : exec->stream[step->branch];

        if (step->kind == STEP_WORK)
            error = step->work(step->operand, its);
        else if (step->kind == STEP_RECORD)
            error = cudaEventRecord(exec->event[step->event], its);
        else
            error = cudaStreamWaitEvent(its, exec->event[step->event], 0);
    }
    return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaGraphExec_t *link = &execs;

    if (!is_exec(exec))
        return simt_set_error(cudaErrorInvalidValue);
    while (*link != exec)
        link = &(*link)->next;
    *link = exec->next;
    exec_free(exec);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!simt_is_graph(graph))
        return simt_set_error(cudaErrorInvalidValue);
    graph->destroyed = true;
    simt_graph_release(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!count || !simt_is_graph(graph))
        return simt_set_error(cudaErrorInvalidValue);
    if (nodes)
        return simt_set_error(cudaErrorNotSupported);
    *count = 0;
    for (size_t i = 0; i < graph->count; i++)
        *count += graph->step[i].kind == STEP_WORK;
    return cudaSuccess;
}

/*
 * --- memory in rows
 * ---------------------------------------------------------------------------------------------------
 */

enum { PITCH = 512 };

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    const size_t row = (width + PITCH - 1) / PITCH * PITCH;

    if (!pointer || !pitch || width > row || (height > 0 && row > SIZE_MAX / height))
        return simt_set_error(cudaErrorInvalidValue);
    *pitch = row;
    return cudaMalloc(pointer, row * height);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent)
{
    if (!pointer || (extent.height > 0 && extent.depth > SIZE_MAX / extent.height))
        return simt_set_error(cudaErrorInvalidValue);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    if (width > to_pitch || width > from_pitch)
        return simt_set_error(cudaErrorInvalidPitchValue);
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = cudaMemcpyAsync((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind,
                                stream);
    return error;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    const cudaError_t error = cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);

    return error == cudaSuccess && kind != cudaMemcpyDeviceToDevice ? cudaStreamSynchronize(NULL) : error;
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    if (width > pitch)
        return simt_set_error(cudaErrorInvalidPitchValue);
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = cudaMemsetAsync((char *)to + row * pitch, value, width, stream);
    return error;
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(to, pitch, value, width, height, NULL);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    if (to_device != 0 || from_device != 0)
        return simt_set_error(cudaErrorInvalidDevice);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
