/**
 * @file exercise.cu
 * @brief 07_tail_of_the_fill: writes pads, 16 bytes per store, to a list that may begin and end at any word.
 *
 * This is chapter 07's fill, with bugs. Fix the code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

enum { THREADS = 256 };

/** Writes a pad to every slot, 16 bytes per store. `thread` is the caller's index among the num_threads callers. */
static __device__ void fill(int *sorted_token_ids, int capacity, int pad, int thread, int num_threads)
{
    // TODO fill
    // There are three bugs here. The list has a head (the words before the first multiple of 16 bytes), then full
    // chunks of four words, then a tail.
    const int head = (int)((uintptr_t)sorted_token_ids % sizeof(int4) / sizeof(int));
    const int chunks = (capacity - head) / 4, tail_begin = head + 4 * chunks;
    int4 *const aligned = (int4 *)(sorted_token_ids + head);

    for (int chunk = thread; chunk < chunks; chunk += num_threads)
        aligned[chunk] = make_int4(pad, pad, pad, pad);
    if (thread < head)
        sorted_token_ids[thread] = pad;
    if (tail_begin + thread < capacity - 1)
        sorted_token_ids[tail_begin + thread] = pad;
    // END fill
}

/** Fills the list. Grid: one block. */
static __global__ void fill_kernel(int *sorted_token_ids, int capacity, int pad)
{
    fill(sorted_token_ids, capacity, pad, threadIdx.x, THREADS);
}

cudaError_t fill_launch(int32_t *sorted_token_ids, int capacity, int32_t pad)
{
    fill_kernel<<<1, THREADS>>>(sorted_token_ids, capacity, pad);
    return cudaGetLastError();
}
