/**
 * @file exercise.cu
 * @brief 13b_lists_side_by_side: a warp's four tokens list their candidates, without atomics.
 *
 * Write your code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

static const unsigned FULL_MASK = 0xffffffffu;

/**
 * Lists candidates. Grid: one single-warp block per TOKENS_PER_WARP tokens. Lanes past the last token store nothing.
 */
static __global__ void lists_kernel(const unsigned *keys, const unsigned *bounds, int num_tokens, int *lists,
                                    int *counts)
{
    const int lane = threadIdx.x, group = lane % GROUPS;
    const int token = blockIdx.x * TOKENS_PER_WARP + lane / GROUPS;
    const bool writes = token < num_tokens;
    const int row = writes ? token : num_tokens - 1;
    const unsigned bound = bounds[row];
    unsigned key[GROUP_SIZE];
    int own_count = 0;

    for (int e = 0; e < GROUP_SIZE; e++) {
        key[e] = keys[row * EXPERTS + group * GROUP_SIZE + e];
        own_count += key[e] >= bound;
    }

    int end = own_count, count = 0;

    // TODO scan
    // Set `end` to the number of candidates in this lane's group and in the same token's groups before it. In each of
    // the token's lanes, set `count` to the number of all candidates of the token.
    // END scan

    // TODO store
    // Store the ids of this lane's candidates in the token's list, in the own_count positions before `end`. Together,
    // the token's lanes store -1 in the positions after the token's last candidate.
    // END store
    if (writes && group == 0)
        counts[token] = count;
}

cudaError_t list_candidates_launch(const uint32_t *keys, const uint32_t *bounds, int num_tokens, int32_t *lists,
                                   int32_t *counts)
{
    lists_kernel<<<(num_tokens + TOKENS_PER_WARP - 1) / TOKENS_PER_WARP, WARP_SIZE>>>(keys, bounds, num_tokens, lists,
                                                                                      counts);
    return cudaGetLastError();
}
