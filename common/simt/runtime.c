/**
 * @file runtime.c
 * @brief The device, streams and events: everything runs at once and in order, so there is little to do.
 */
#include "device_limits.h"
#include "errors.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* --- the device --------------------------------------------------------------------------------------------------- */

enum { VERSION = 13000 };

cudaError_t cudaDeviceSynchronize(void)
{
    return simt_sticky_error();
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
    return simt_sticky_error();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    (void)stream;
    return simt_sticky_error();
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
    return event ? simt_sticky_error() : simt_set_error(cudaErrorInvalidResourceHandle);
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
