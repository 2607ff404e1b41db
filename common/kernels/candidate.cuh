/** @file candidate.cuh  Chapter 03's candidates, compared without a branch; the order by itself is chapter 04's. */
#ifndef KERNELS_CANDIDATE_CUH
#define KERNELS_CANDIDATE_CUH

#include <cuda_runtime.h>

/** A value, and whose it is. */
struct candidate {
    float value;
    int id;
};

/** `a` if `first` holds, else `b`: both are there already, so there is nothing to branch for. */
static __device__ __forceinline__ candidate select(bool first, candidate a, candidate b)
{
    const float a_value = a.value, b_value = b.value;
    const int a_id = a.id, b_id = b.id;

    return {first ? a_value : b_value, first ? a_id : b_id};
}

// [ranks_before]
/** Strict: of two candidates with different ids exactly one ranks before the other, equal values included. */
static __device__ __forceinline__ bool ranks_before(candidate a, candidate b)
{
    return (a.value > b.value) | ((a.value == b.value) & (a.id < b.id));
}
// [ranks_before]

/** The one that ranks higher: the larger value, or of equal values the lower id. */
static __device__ __forceinline__ candidate better(candidate mine, candidate other)
{
    return select(ranks_before(other, mine), other, mine);
}

#endif
