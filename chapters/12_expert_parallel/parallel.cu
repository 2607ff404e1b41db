/**
 * @file parallel.cu
 * @brief Chapter 12, the layer on several devices: the kernels that run before and after the collectives.
 *
 * Before: one device has all tokens and all experts.
 * Now:    each rank adds up its own experts' results for a token in f32; the ranks' sums are added and rounded once.
 * Watch:  the result differs from one device's only in the order of the f32 additions and, if experts are split into S
 *         slices, in S roundings of each expert's result instead of one.
 */
#include "parallel.h"

#include "kernels/dtype.cuh"

// [elements]
enum { THREADS = 256 };

static __device__ __forceinline__ void store(float *to, float value)
{
    *to = value;
}

static __device__ __forceinline__ void store(__nv_bfloat16 *to, float value)
{
    *to = __float2bfloat16_rn(value);
}

static unsigned blocks_of(int64_t elements)
{
    return (unsigned)((elements + THREADS - 1) / THREADS);
}
// [elements]

// [gather]
/** Gathers rows into send order, one element per thread. A token that two ranks need is copied twice. */
template <typename T>
static __global__ void gather_rows_kernel(const T *hidden, const int32_t *rows, int64_t count, int hidden_size, T *to)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

    if (i < count * hidden_size)
        to[i] = hidden[(int64_t)rows[i / hidden_size] * hidden_size + i % hidden_size];
}
// [gather]

// [sum_partial]
/** Adds up a token's rows from this rank's experts. Rows of experts on other ranks are zeros. */
template <typename T>
static __global__ void sum_partial_kernel(moe_problem problem, const T *partial, float *sums)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, hidden_size = problem.hidden_size;
    const T *const row = partial + i / hidden_size * problem.topk * hidden_size + i % hidden_size;
    float sum = 0.0f;

    if (i >= problem.num_tokens * hidden_size)
        return;
    for (int k = 0; k < problem.topk; k++)
        sum += to_float(row[k * hidden_size]);
    sums[i] = sum; /* not rounded yet, because other ranks' sums are still to be added */
}
// [sum_partial]

// [add_rows]
/** Adds the ranks' sums for a token, and only then rounds to the output type. */
template <typename T>
static __global__ void add_rows_kernel(const float *sums, const int32_t *places, int parts, int64_t count,
                                       int hidden_size, T *result)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, token = i / hidden_size;
    float sum = 0.0f;

    if (i >= count * hidden_size)
        return;
    for (int p = 0; p < parts; p++) {
        const int64_t place = places ? places[token * parts + p] : token;

        if (place >= 0)
            sum += sums[place * hidden_size + i % hidden_size];
    }
    store(result + i, sum);
}
// [add_rows]

// [launch]
cudaError_t gather_rows_launch(const moe_problem *problem, const void *hidden, const int32_t *rows, int64_t count,
                               void *to, cudaStream_t stream)
{
    const int size = problem->hidden_size;
    const unsigned blocks = blocks_of(count * size);

    if (blocks > 0 && problem->dtype == DTYPE_BF16)
        gather_rows_kernel<<<blocks, THREADS, 0, stream>>>((const __nv_bfloat16 *)hidden, rows, count, size,
                                                           (__nv_bfloat16 *)to);
    else if (blocks > 0)
        gather_rows_kernel<<<blocks, THREADS, 0, stream>>>((const float *)hidden, rows, count, size, (float *)to);
    return cudaGetLastError();
}

cudaError_t sum_partial_launch(const moe_problem *problem, const void *partial, float *sums, cudaStream_t stream)
{
    const unsigned blocks = blocks_of(problem->num_tokens * problem->hidden_size);

    if (blocks > 0 && problem->dtype == DTYPE_BF16)
        sum_partial_kernel<<<blocks, THREADS, 0, stream>>>(*problem, (const __nv_bfloat16 *)partial, sums);
    else if (blocks > 0)
        sum_partial_kernel<<<blocks, THREADS, 0, stream>>>(*problem, (const float *)partial, sums);
    return cudaGetLastError();
}

cudaError_t add_rows_launch(const moe_problem *problem, const float *sums, const int32_t *places, int parts,
                            int64_t count, void *result, cudaStream_t stream)
{
    const int size = problem->hidden_size;
    const unsigned blocks = blocks_of(count * size);

    if (blocks > 0 && problem->dtype == DTYPE_BF16)
        add_rows_kernel<<<blocks, THREADS, 0, stream>>>(sums, places, parts, count, size, (__nv_bfloat16 *)result);
    else if (blocks > 0)
        add_rows_kernel<<<blocks, THREADS, 0, stream>>>(sums, places, parts, count, size, (float *)result);
    return cudaGetLastError();
}
// [launch]
