/**
 * @file runtime.c
 * @brief Errors, the device, streams and events: everything runs at once and in order, so there is little to do.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- errors ------------------------------------------------------------------------------------------------------- */

static cudaError_t last_error;
static cudaError_t sticky_error;

cudaError_t simt_set_error(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

cudaError_t simt_set_sticky_error(cudaError_t error)
{
    sticky_error = error;
    return simt_set_error(error);
}

cudaError_t simt_sticky_error(void)
{
    return sticky_error;
}

/** Reading the error also makes the device usable again, which on a GPU takes a new process. */
cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;

    last_error = sticky_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

/** What is said of an error. */
struct error_words {
    cudaError_t error;
    const char *name;
    const char *text;
};

static const struct error_words errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].error == error)
            return errors[i].name;
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].error == error)
            return errors[i].text;
    }
    return "unrecognized error code";
}

/* --- the device --------------------------------------------------------------------------------------------------- */

enum { VERSION = 13000 };

cudaError_t simt_occupancy(int *blocks, const void *kernel, int block_size, size_t dynamic_shared);

cudaError_t cudaDeviceSynchronize(void)
{
    return sticky_error;
}

cudaError_t cudaDeviceReset(void)
{
    last_error = sticky_error = cudaSuccess;
    return cudaSuccess;
}

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
        .cooperativeLaunch = 1,
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
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = properties.maxThreadsPerBlock;
        return cudaSuccess;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
    case cudaDevAttrMaxBlockDimZ:
        *value = properties.maxThreadsDim[attribute - cudaDevAttrMaxBlockDimX];
        return cudaSuccess;
    case cudaDevAttrMaxGridDimX:
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
        *value = properties.maxGridSize[attribute - cudaDevAttrMaxGridDimX];
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = (int)properties.sharedMemPerBlock;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = (int)properties.sharedMemPerBlockOptin;
        return cudaSuccess;
    case cudaDevAttrWarpSize:
        *value = properties.warpSize;
        return cudaSuccess;
    case cudaDevAttrClockRate:
    case cudaDevAttrL2CacheSize:
        *value = 0;
        return cudaSuccess;
    case cudaDevAttrCooperativeLaunch:
        *value = properties.cooperativeLaunch;
        return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        *value = properties.multiProcessorCount;
        return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = properties.maxThreadsPerMultiProcessor;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        *value = properties.major;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *value = properties.minor;
        return cudaSuccess;
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

/* --- kernels' attributes ------------------------------------------------------------------------------------------ */

static struct attributes {
    const void *kernel;
    size_t dynamic_shared;
} * attributes;
static size_t attribute_count;

static struct attributes *find_attributes(const void *kernel)
{
    for (size_t i = 0; i < attribute_count; i++) {
        if (attributes[i].kernel == kernel)
            return &attributes[i];
    }
    return NULL;
}

size_t simt_shared_limit(const void *kernel)
{
    const struct attributes *found = find_attributes(kernel);

    return found && found->dynamic_shared > SHARED_BYTES_DEFAULT ? found->dynamic_shared : SHARED_BYTES_DEFAULT;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
    if (!kernel)
        return simt_set_error(cudaErrorInvalidDeviceFunction);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || value > SHARED_BYTES_LIMIT)
        return simt_set_error(cudaErrorInvalidValue);
    struct attributes *found = find_attributes(kernel);

    if (!found) {
        struct attributes *larger = realloc(attributes, (attribute_count + 1) * sizeof *larger);

        if (!larger)
            return simt_set_error(cudaErrorMemoryAllocation);
        attributes = larger;
        found = &attributes[attribute_count++];
        found->kernel = kernel;
    }
    found->dynamic_shared = (size_t)value;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *result, const void *kernel)
{
    if (!result)
        return simt_set_error(cudaErrorInvalidValue);
    if (!kernel)
        return simt_set_error(cudaErrorInvalidDeviceFunction);
    *result = (struct cudaFuncAttributes){.maxThreadsPerBlock = BLOCK_THREADS,
                                          .maxDynamicSharedSizeBytes = (int)simt_shared_limit(kernel)};
    return cudaSuccess;
}

cudaError_t simt_occupancy(int *blocks, const void *kernel, int block_size, size_t dynamic_shared)
{
    if (!blocks || block_size < 1)
        return simt_set_error(cudaErrorInvalidValue);
    if (!kernel)
        return simt_set_error(cudaErrorInvalidDeviceFunction);
    const bool fits = block_size <= BLOCK_THREADS && dynamic_shared <= simt_shared_limit(kernel);

    *blocks = fits ? (int)simt_blocks_per_processor((unsigned)block_size, dynamic_shared) : 0;
    return cudaSuccess;
}

/* --- streams and events ------------------------------------------------------------------------------------------- */

struct CUstream_st {
    unsigned flags;
};

struct CUevent_st {
    unsigned flags;
    bool recorded;
    struct timespec time;
};

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    if (!stream || flags > cudaStreamNonBlocking)
        return simt_set_error(cudaErrorInvalidValue);
    *stream = malloc(sizeof **stream);
    if (!*stream)
        return simt_set_error(cudaErrorMemoryAllocation);
    (*stream)->flags = flags;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!stream)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return sticky_error;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    (void)stream;
    return sticky_error;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)stream;
    (void)flags;
    return event ? cudaSuccess : simt_set_error(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (!event)
        return simt_set_error(cudaErrorInvalidValue);
    *event = calloc(1, sizeof **event);
    if (!*event)
        return simt_set_error(cudaErrorMemoryAllocation);
    (*event)->flags = flags;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    if (!event)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    event->recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return event ? sticky_error : simt_set_error(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

/** The host's time: how long the simulation took, which says nothing about a GPU. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    if (!milliseconds)
        return simt_set_error(cudaErrorInvalidValue);
    if (!begin || !end || !begin->recorded || !end->recorded)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    *milliseconds = (float)(end->time.tv_sec - begin->time.tv_sec) * 1e3f +
                    (float)(end->time.tv_nsec - begin->time.tv_nsec) * 1e-6f;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    free(event);
    return cudaSuccess;
}
