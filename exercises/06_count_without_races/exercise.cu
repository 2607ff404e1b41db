/**
 * @file exercise.cu
 * @brief 06_count_without_races: counts the ids that name each expert.
 *
 * A block counts in shared memory, as in chapter 06, but the code has bugs. Fix the code between // TODO and // END;
 * leave the rest unchanged.
 */
#include "exercise.h"

enum { THREADS = 256 };

/** Checks whether an id names an expert. All other ids are skipped and never used as indices. */
static __device__ bool is_expert(int id, int num_experts)
{
    return (id >= 0) & (id < num_experts);
}

/** Counts the ids of each expert. Grid: one block. Dynamic shared memory: one int per expert. */
static __global__ void count_kernel(const int *topk_ids, int64_t numel, int num_experts, int *num_ids)
{
    extern __shared__ int counts[]; /* [num_experts] */
    const int thread = threadIdx.x;

    // TODO count
    // There are two bugs here.
    for (int e = thread; e < num_experts; e += THREADS)
        counts[e] = 0;

    for (int64_t i = thread; i < numel; i += THREADS) {
        const int id = topk_ids[i];

        if (is_expert(id, num_experts))
            counts[id]++;
    }
    __syncthreads();

    for (int e = thread; e < num_experts; e += THREADS)
        num_ids[e] = counts[e];
    // END count
}

cudaError_t count_ids_launch(const int32_t *topk_ids, int64_t numel, int num_experts, int32_t *num_ids)
{
    count_kernel<<<1, THREADS, num_experts * sizeof(int)>>>(topk_ids, numel, num_experts, num_ids);
    return cudaGetLastError();
}
