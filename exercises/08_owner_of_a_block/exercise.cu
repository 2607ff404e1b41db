/**
 * @file exercise.cu
 * @brief 08_owner_of_a_block: each thread finds the expert of one block of rows.
 *
 * Groups of very different sizes are stored one after the other. Write your code between // TODO and // END; leave the
 * rest unchanged.
 */
#include "exercise.h"

enum { THREADS = 256 };

/** Returns the expert whose group contains `slot`, which is below offsets[num_experts]. */
static __device__ int expert_of_slot(const int *offsets, int num_experts, int slot)
{
    // TODO expert_of_slot
    // Use a binary search: keep a range of experts that contains the owner, test the expert in the middle, and keep one
    // half. If several groups begin at the same slot, and all but the last are empty, which comparison keeps the half
    // that contains the last one?
    return 0;
    // END expert_of_slot
}

/** Writes expert_ids. Grid: one thread for each block of rows, rounded up to whole thread blocks. */
static __global__ void expert_ids_kernel(const int *offsets, int num_experts, int block_size, int num_row_blocks,
                                         int *expert_ids)
{
    const int row_block = blockIdx.x * THREADS + threadIdx.x;

    // TODO expert_ids
    // Write expert_ids[row_block]: the expert of the block's first slot, or -1 if that slot is past the last group. The
    // last threads may have no block.
    // END expert_ids
}

cudaError_t expert_ids_launch(const int *offsets, int num_experts, int block_size, int num_row_blocks, int *expert_ids)
{
    expert_ids_kernel<<<(num_row_blocks + THREADS - 1) / THREADS, THREADS>>>(offsets, num_experts, block_size,
                                                                             num_row_blocks, expert_ids);
    return cudaGetLastError();
}
