/**
 * @file exercise.cu
 * @brief 08_no_bank_conflict: Blelloch's scan and the layout of its numbers in shared memory.
 *
 * The kernel is correct, but the words that a step accesses are in only a few banks. Write your code between // TODO
 * and // END; leave the rest unchanged.
 */
#include "exercise.h"

/** Returns the index of the word in shared memory that holds number i of the tree. */
static __host__ __device__ int padded_index(int i)
{
    // TODO padded_index
    // Word w is in bank w % 32. The steps access every second number, every fourth, every eighth, and so on. Without
    // gaps, 32 lanes access 16 banks, then 8, then 4. Insert gaps, so that no two lanes access the same bank.
    return i;
    // END padded_index
}

int tree_words(int num_leaves)
{
    // TODO words
    // Return the number of words, with padding, up to and including the word that holds number num_leaves - 1.
    return num_leaves;
    // END words
}

/** Computes exclusive prefix sums. Grid: one block. Block: THREADS. */
static __global__ void scan_kernel(const int *counts, int num_leaves, int *sums)
{
    extern __shared__ int tree[]; /* [tree_words(num_leaves)] */
    const int thread = threadIdx.x;

    for (int i = thread; i < num_leaves; i += THREADS)
        tree[padded_index(i)] = counts[i];
    __syncthreads();

    for (int stride = 1; stride < num_leaves; stride *= 2) {
        const int right = 2 * stride * (thread + 1) - 1, left = right - stride;

        if (right < num_leaves) {
            const int sum = tree[padded_index(left)] + tree[padded_index(right)];

            tree[padded_index(right)] = 2 * stride == num_leaves ? 0
                                                                 : sum; /* the down-sweep starts with 0 in the root */
        }
        __syncthreads();
    }

    for (int stride = num_leaves / 2; stride > 0; stride /= 2) {
        const int right = 2 * stride * (thread + 1) - 1, left = right - stride;

        if (right < num_leaves) {
            const int before = tree[padded_index(right)];

            tree[padded_index(right)] = before + tree[padded_index(left)];
            tree[padded_index(left)] = before;
        }
        __syncthreads();
    }

    for (int i = thread; i < num_leaves; i += THREADS)
        sums[i] = tree[padded_index(i)];
}

cudaError_t exclusive_scan_launch(const int *counts, int num_leaves, int *sums)
{
    scan_kernel<<<1, THREADS, tree_words(num_leaves) * sizeof(int)>>>(counts, num_leaves, sums);
    return cudaGetLastError();
}
