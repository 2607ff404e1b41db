/**
 * @file exercise.cu
 * @brief 13a_bound_of_the_choices: the eight largest of 128 keys, without rounds.
 *
 * Write your code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

static const unsigned FULL_MASK = 0xffffffffu;

/** A candidate packed into one number: its key in the upper half, its inverted id in the lower half. */
typedef unsigned long long packed_candidate;

static __device__ packed_candidate pack_candidate(unsigned key, int id)
{
    return (packed_candidate)key << 32 | ~(unsigned)id;
}

static __device__ int id_of(packed_candidate candidate)
{
    return (int)~(unsigned)candidate;
}

/** Returns the second largest of a warp's keys to every lane; it may equal the largest. */
static __device__ unsigned second_largest(unsigned key)
{
    const unsigned first = __reduce_max_sync(FULL_MASK, key);
    const unsigned holders = __ballot_sync(FULL_MASK, key == first);
    const unsigned next = __reduce_max_sync(FULL_MASK, key == first ? 0 : key);

    return __popc(holders) > 1 ? first : next;
}

/** Chooses experts. Grid: a block of one warp for each token. Lane l has expert l of each group. */
static __global__ void choose_kernel(const unsigned *keys, int *topk_ids, int *num_candidates)
{
    __shared__ packed_candidate list[EXPERTS];
    const int lane = threadIdx.x, token = blockIdx.x;
    unsigned key[GROUPS], bound = 0xffffffffu;
    int count = 0;

    for (int g = 0; g < GROUPS; g++)
        key[g] = keys[token * EXPERTS + g * WARP_SIZE + lane];

    // TODO bound
    // Each of the four groups has two keys that are at least the group's second largest key. Find the highest lower
    // bound on the eighth largest key that these eight keys imply.
    // END bound

    // TODO list
    // Store every key that is at least `bound` in `list` as a packed candidate, without gaps. In every lane, set
    // `count` to the number of candidates.
    // END list
    __syncwarp();

    // TODO choose
    // A candidate's rank is the number of larger packed candidates, and its index in the token's row of topk_ids. There
    // may be more candidates than lanes.
    // END choose
    if (lane == 0)
        num_candidates[token] = count;
}

cudaError_t choose_largest_keys_launch(const uint32_t *keys, int num_tokens, int32_t *topk_ids, int32_t *num_candidates)
{
    choose_kernel<<<num_tokens, WARP_SIZE>>>(keys, topk_ids, num_candidates);
    return cudaGetLastError();
}
