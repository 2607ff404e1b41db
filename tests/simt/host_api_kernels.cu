/** @file host_api_kernels.cu  See host_api_kernels.h. */
#include "host_api_kernels.h"

static __global__ void fill_kernel(int *memory, int count, int value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        memory[i] = value;
}

static __global__ void touch_kernel(int *memory)
{
    if (threadIdx.x == 0)
        memory[0] = 1;
}

cudaError_t host_api_fill(int *memory, int count, int value)
{
    fill_kernel<<<32, 256>>>(memory, count, value);
    return cudaPeekAtLastError();
}

cudaError_t host_api_store_one(int *memory, dim3 grid, dim3 block, size_t dynamic_shared)
{
    touch_kernel<<<grid, block, dynamic_shared>>>(memory);
    return cudaPeekAtLastError();
}

cudaError_t host_api_allow_dynamic_shared_bytes(int bytes)
{
    return cudaFuncSetAttribute(touch_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
