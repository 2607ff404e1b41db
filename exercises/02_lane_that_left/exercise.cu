/**
 * @file exercise.cu
 * @brief 02_lane_that_left: threads that return while other threads still wait for them.
 *
 * As in chapter 02, a block handles a token, a warp a group and a lane an expert. A thread that has no more work
 * returns, which is correct only in some cases. Fix the code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

#include <math.h>

static const unsigned FULL_MASK = 0xffffffffu;

/** Returns the best of the 32 lanes' candidates to every lane. All 32 lanes must call it. */
static __device__ candidate warp_best(candidate mine)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        candidate other;

        other.value = __shfl_xor_sync(FULL_MASK, mine.value, offset);
        other.id = __shfl_xor_sync(FULL_MASK, mine.id, offset);
        if (other.value >= mine.value && (other.value > mine.value || other.id < mine.id))
            mine = other;
    }
    return mine;
}

/** Returns the sum of the 32 lanes' two largest choices to every lane. All 32 lanes must call it. */
static __device__ float score_of_group(float choice)
{
    float first = choice, second = -INFINITY;

    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        const float other_first = __shfl_xor_sync(FULL_MASK, first, offset);
        const float other_second = __shfl_xor_sync(FULL_MASK, second, offset);

        second = fmaxf(fminf(first, other_first), fmaxf(second, other_second));
        first = fmaxf(first, other_first);
    }
    return first + second;
}

/** Returns how many groups rank before `group`: larger scores rank first, and ties go to the lower group number. */
static __device__ int groups_before(const float *group_scores, int num_expert_group, int group)
{
    int before = 0;

    for (int i = 0; i < num_expert_group; i++)
        before += group_scores[i] > group_scores[group] || (group_scores[i] == group_scores[group] && i < group);
    return before;
}

/** Finds each token's best expert. Grid: a block per token. Block: num_expert_group warps. */
static __global__ void best_expert_kernel(const float *choice, int num_expert_group, int experts_per_group,
                                          int topk_group, candidate *best)
{
    __shared__ float group_scores[MAX_GROUPS];
    __shared__ candidate group_best[MAX_GROUPS];

    const int lane = threadIdx.x % WARP_SIZE, group = threadIdx.x / WARP_SIZE;
    const int expert = group * experts_per_group + lane;
    const int row = blockIdx.x;

    // TODO kernel
    // Threads return early in three places, which is not always allowed. Which shuffle or barrier comes after each
    // `return`, and which threads wait there? A thread that others wait for must not return, nor change the result.
    if (lane >= experts_per_group) // this lane has no expert
        return;

    const candidate mine = {choice[row * num_expert_group * experts_per_group + expert], expert};
    const float group_score = score_of_group(mine.value);

    if (lane == 0) {
        group_scores[group] = group_score;
        group_best[group] = {-INFINITY, NO_EXPERT};
    }
    __syncthreads();

    if (groups_before(group_scores, num_expert_group, group) >= topk_group) // this group is dropped
        return;

    const candidate best_of_group = warp_best(mine);

    if (lane == 0)
        group_best[group] = best_of_group;
    __syncthreads();

    if (group != 0) // one warp is enough for what remains
        return;

    const candidate winner = warp_best(lane < num_expert_group ? group_best[lane] : candidate{-INFINITY, NO_EXPERT});

    if (lane == 0)
        best[row] = winner;
    // END kernel
}

cudaError_t best_expert_launch(const float *choice, int num_tokens, int num_expert_group, int experts_per_group,
                               int topk_group, candidate *best)
{
    best_expert_kernel<<<num_tokens, num_expert_group * WARP_SIZE>>>(choice, num_expert_group, experts_per_group,
                                                                     topk_group, best);
    return cudaGetLastError();
}
