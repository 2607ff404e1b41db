/**
 * @file gpu/generate.cu
 * @brief Generates arrays with a grid-stride loop, which also works for more than 4 billion elements.
 */
#include "harness/gpu/generate.h"

#include <cuda_bf16.h>

enum { THREADS = 256 };

static const int64_t MAX_BLOCKS = 1 << 16;

static __device__ void store(float *to, float value, unsigned long long *others)
{
    if (!others)
        *to = value;
    else if (__float_as_uint(*to) != __float_as_uint(value))
        atomicAdd(others, 1ull);
}

static __device__ void store(__nv_bfloat16 *to, float value, unsigned long long *others)
{
    const __nv_bfloat16 rounded = __float2bfloat16_rn(value);

    if (!others)
        *to = rounded;
    else if (__bfloat16_as_ushort(*to) != __bfloat16_as_ushort(rounded))
        atomicAdd(others, 1ull);
}

template <typename T>
static __global__ void generate_kernel(struct generated_array values, int64_t first, int64_t count, T *to,
                                       unsigned long long *others)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS)
        store(&to[i], generated_value(values, first + i), others);
}

cudaError_t generate_or_compare_array_launch(struct generated_array values, enum dtype dtype, int64_t first_index,
                                             int64_t num_values, void *device, unsigned long long *num_different)
{
    const int64_t wanted = (num_values + THREADS - 1) / THREADS;
    const unsigned blocks = (unsigned)(wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS);

    if (blocks > 0 && dtype == DTYPE_BF16)
        generate_kernel<<<blocks, THREADS>>>(values, first_index, num_values, (__nv_bfloat16 *)device, num_different);
    else if (blocks > 0)
        generate_kernel<<<blocks, THREADS>>>(values, first_index, num_values, (float *)device, num_different);
    return cudaGetLastError();
}
