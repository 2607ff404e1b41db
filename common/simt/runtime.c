/**
 * @file runtime.c
 * @brief The device and what it says of itself.
 */
#include "device_limits.h"
#include "errors.h"

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
