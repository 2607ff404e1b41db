/**
 * @file exercise.cu
 * @brief 06_slots_from_the_end: takes a slot for each position from counters that count down.
 *
 * An atomic operation returns the counter's previous value. Write your code between // TODO and // END; leave the rest
 * unchanged.
 */
#include "exercise.h"

enum { THREADS = 256 };

/** Sorts positions by their expert. Grid: one block. Dynamic shared memory: one int per expert. */
static __global__ void scatter_kernel(const int *topk_ids, int numel, const int *ends, int num_experts,
                                      int *sorted_token_ids)
{
    extern __shared__ int left[]; /* [num_experts]: each expert's slots from this one on are taken */
    const int thread = threadIdx.x;

    for (int e = thread; e < num_experts; e += THREADS)
        left[e] = ends[e];
    __syncthreads();

    for (int i = thread; i < numel; i += THREADS) {
        const int id = topk_ids[i];

        // TODO slot
        // Take the slot before left[id], and write position i to it. Another thread may take a slot of the same expert
        // at the same time. Atomics: atomicSub(&counter, 1) is equivalent to atomicAdd(&counter, -1).
        (void)id;
        // END slot
    }
}

cudaError_t scatter_launch(const int32_t *topk_ids, int numel, const int32_t *ends, int num_experts,
                           int32_t *sorted_token_ids)
{
    scatter_kernel<<<1, THREADS, num_experts * sizeof(int)>>>(topk_ids, numel, ends, num_experts, sorted_token_ids);
    return cudaGetLastError();
}
