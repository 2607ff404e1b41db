/** @file candidate.cuh  Chapter 03's candidates, compared without branches, and chapter 04's ranks_before(). */
#ifndef KERNELS_CANDIDATE_CUH
#define KERNELS_CANDIDATE_CUH

#include <cuda_runtime.h>

/** A value, and the id of the expert or group that it belongs to. */
struct candidate {
    float value;
    int id;
};

/** Returns `a` if `take_a` is true, else `b`. Both are already in registers, so no branch is needed. */
static __device__ __forceinline__ candidate select(bool take_a, candidate a, candidate b)
{
    const float a_value = a.value, b_value = b.value;
    const int a_id = a.id, b_id = b.id;

    return {take_a ? a_value : b_value, take_a ? a_id : b_id};
}

// [ranks_before]
/** Returns whether `a` ranks before `b`. Of two candidates with different ids, exactly one ranks before the other. */
static __device__ __forceinline__ bool ranks_before(candidate a, candidate b)
{
    return (a.value > b.value) | ((a.value == b.value) & (a.id < b.id));
}
// [ranks_before]

/** Returns the candidate that ranks first: the larger value wins, and ties go to the lower id. */
static __device__ __forceinline__ candidate better(candidate mine, candidate other)
{
    return select(ranks_before(other, mine), other, mine);
}

#endif
