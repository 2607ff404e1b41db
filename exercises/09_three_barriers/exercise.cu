/**
 * @file exercise.cu
 * @brief 09_three_barriers: where 1,024 groups begin, added up by a block that hardly ever meets.
 *
 * What is here is right, but slow: ten steps through shared memory, and all 1,024 threads meet twice in each. Three
 * barriers are enough for any number of experts. What you write is between // TODO and // END; leave the rest as it is.
 */
#include "exercise.h"

static const unsigned FULL_MASK = 0xffffffffu;

/** The sum of the values of the lanes below this one; of none, 0. All 32 lanes call. */
static __device__ int warp_exclusive_scan(int value)
{
    const int lane = threadIdx.x % WARP_SIZE;
    int sum = value; /* of the lanes from this one down, 1, 2, 4, 8, 16 and then all of them */

    for (int offset = 1; offset < WARP_SIZE; offset *= 2) {
        const int below = __shfl_up_sync(FULL_MASK, sum, offset);

        sum += below * (lane >= offset); /* nothing, for lanes that have nobody so far below */
    }
    return sum - value;
}

/** The sum of the values of the threads below this one; of none, 0. All THREADS threads call, more than once. */
static __device__ int block_sum_before(int value)
{
    // TODO block_sum_before
    // Do it in two levels instead. What a warp can add up by itself, it needs no barrier for. What must the
    // warps then tell each other, and who adds that up?
    __shared__ int sums[THREADS];
    const int thread = threadIdx.x;

    sums[thread] = value;
    __syncthreads();
    for (int offset = 1; offset < THREADS; offset *= 2) {
        const int below = thread >= offset ? sums[thread - offset] : 0;

        __syncthreads(); /* everybody has read the sums of this step */
        sums[thread] += below;
        __syncthreads(); /* and written those of the next */
    }
    return sums[thread] - value;
    // END block_sum_before
}

/** Grid: one block. */
static __global__ void __launch_bounds__(THREADS)
    block_scan_kernel(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets)
{
    const int expert = threadIdx.x;

    for (int list = 0; list < num_lists; list++) {
        const int32_t *const list_counts = counts + list * num_experts;
        int32_t *const list_offsets = offsets + list * (num_experts + 1);
        const int count = expert < num_experts ? list_counts[expert] : 0; /* a thread without an expert stays */
        const int before = block_sum_before(count);

        if (expert < num_experts)
            list_offsets[expert] = before;
        if (expert == num_experts - 1)
            list_offsets[num_experts] = before + count;
    }
}

cudaError_t block_scan_launch(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets)
{
    block_scan_kernel<<<1, THREADS>>>(counts, num_lists, num_experts, offsets);
    return cudaGetLastError();
}
