/**
 * @file exercise.cu
 * @brief 14b_old_words_and_new: launches that share a workspace and must not read each other's words.
 *
 * Each block of a launch publishes one word and polls all words. The words of the previous launch are still there.
 * Write your code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"
#include "kernels/launch_coresident.cuh"

enum { WARP_SIZE = 32, MAX_POLLS = 1000 };
static const unsigned FULL_MASK = 0xffffffffu;

/** The workspace, which holds zeros before the first launch. */
struct workspace {
    uint32_t leavers; /* for your code: number of blocks of this launch that no longer need the words */
    uint32_t words[MAX_BLOCKS];
};

/** Adds up the blocks' numbers. Grid: blocks of one warp, all co-resident. */
static __global__ void __launch_bounds__(WARP_SIZE)
    sums_kernel(const int32_t *numbers, workspace *workspace, int32_t *sums)
{
    const int lane = threadIdx.x, own = blockIdx.x, num_blocks = gridDim.x;

    if (lane == 0)
        atomicExch(&workspace->words[own], (uint32_t)numbers[own] + 1); /* zero means not published yet */

    uint32_t word = lane < num_blocks ? 0 : 1;

    for (int polls = 0; word == 0 && polls < MAX_POLLS; polls++) {
        if (polls > 0)
            __nanosleep(20);
        word = *(volatile uint32_t *)&workspace->words[lane];
    }
    const bool good = __all_sync(FULL_MASK, word != 0);
    const int sum = __reduce_add_sync(FULL_MASK, (int)word - 1);

    // TODO leave
    // The next launch must find zeros in all words. Which block may write these zeros, and when? Other blocks may still
    // be polling.
    // END leave

    if (lane == 0)
        sums[own] = good ? sum : -1;
}

cudaError_t sum_over_blocks_launch(const int32_t *numbers, const int *num_blocks, int num_launches, uint32_t *workspace,
                                   int32_t *sums)
{
    for (int i = 0; i < num_launches; i++) {
        bool fit;
        cudaError_t status = all_coresident(sums_kernel, num_blocks[i], WARP_SIZE, &fit);

        if (status == cudaSuccess && !fit)
            status = cudaErrorCooperativeLaunchTooLarge;
        if (status == cudaSuccess)
            status = launch_known_coresident(false, sums_kernel, num_blocks[i], WARP_SIZE, 0, numbers + i * MAX_BLOCKS,
                                             (struct workspace *)workspace, sums + i * MAX_BLOCKS);
        if (status != cudaSuccess)
            return status;
    }
    return cudaSuccess;
}
