/**
 * @file gate.cu
 * @brief Chapter 05: the whole gate in one warp, a thread per group, several tokens side by side.
 *
 * Before: a block per token; eight warps meet at barriers and hand each other numbers through shared memory.
 * Now:    a thread per group, its experts in registers; 32 / num_expert_group tokens share a warp, 6 warps a block.
 * Watch:  no block barrier at all; shuffles per token; registers instead of shared memory; local memory must stay 0.
 */
#include "harness/gate.h"
#include "kernels/dtype.cuh"

#include <math.h>

enum { WARP_SIZE = 32, WARPS_PER_BLOCK = 6, MAX_EXPERTS_PER_GROUP = 32, MAX_TOPK = 32, NOBODY = 0x7fffffff };

static const unsigned FULL_MASK = 0xffffffffu;

// [shape]
/** The shape as the kernel sees it: constants where the template knows them, else what the launch says. */
template <int EXPERTS, int GROUPS>
struct shape {
    const gate_problem &problem;

    __device__ int num_experts() const
    {
        return EXPERTS ? EXPERTS : problem.num_experts;
    }
    __device__ int groups() const
    {
        return GROUPS ? GROUPS : problem.num_expert_group;
    }
    __device__ int experts_per_group() const
    {
        return num_experts() / groups();
    }
};
// [shape]

// [candidate]
struct candidate {
    float value;
    int id;
};

/** The one that ranks higher: the larger value, or of equal values the lower id. */
static __device__ __forceinline__ candidate better(candidate mine, candidate other)
{
    const bool take = (other.value > mine.value) | ((other.value == mine.value) & (other.id < mine.id));

    mine.value = take ? other.value : mine.value;
    mine.id = take ? other.id : mine.id;
    return mine;
}

/** The best candidate among the `width` lanes of a token, in each of them. */
static __device__ __forceinline__ candidate row_best(candidate mine, int width)
{
    for (int offset = width / 2; offset > 0; offset /= 2) {
        candidate other;

        other.value = __shfl_xor_sync(FULL_MASK, mine.value, offset);
        other.id = __shfl_xor_sync(FULL_MASK, mine.id, offset);
        mine = better(mine, other);
    }
    return mine;
}
// [candidate]
