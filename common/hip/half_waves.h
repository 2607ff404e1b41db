/**
 * @file half_waves.h
 * @brief CUDA's names for kernels on AMD GPUs whose warps (waves) have 64 lanes, and on a simulated GPU of that kind.
 *
 * When a kernel was written for warps of 32 lanes, each wave holds two such warps: lanes 0 to 31 and lanes 32 to 63. A
 * shuffle therefore stays within 32 lanes, and a vote gives each half wave its own 32 bits. AMD's instructions take no
 * mask and apply to the active lanes; here, a mask only selects the bits of a vote. Every lane in the mask must be
 * active at the call: the simulator reports a shuffle that reads an inactive lane.
 */
#ifndef HIP_HALF_WAVES_H
#define HIP_HALF_WAVES_H

#ifdef __HIP__
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#define __nv_bfloat16                 hip_bfloat16
#define __bfloat162float(value)       ((float)(value))
#define __float2bfloat16_rn(value)    hip_bfloat16(value)
#define __ushort_as_bfloat16(pattern) __builtin_bit_cast(hip_bfloat16, (unsigned short)(pattern))
#define cudaError_t                   hipError_t
#define cudaStream_t                  hipStream_t
#define cudaSuccess                   hipSuccess
#define cudaErrorInvalidValue         hipErrorInvalidValue
#define cudaGetLastError              hipGetLastError
#else
#include <cuda_runtime.h>
#endif

/** The warp size that the kernels assume, and the default width of a shuffle. */
#ifndef HALF_WAVE
#define HALF_WAVE 32
#endif

template <typename T>
static __device__ __forceinline__ T __shfl_sync(unsigned, T value, int lane, int width = HALF_WAVE)
{
    return __shfl(value, lane, width);
}

template <typename T>
static __device__ __forceinline__ T __shfl_up_sync(unsigned, T value, unsigned delta, int width = HALF_WAVE)
{
    return __shfl_up(value, delta, width);
}

template <typename T>
static __device__ __forceinline__ T __shfl_down_sync(unsigned, T value, unsigned delta, int width = HALF_WAVE)
{
    return __shfl_down(value, delta, width);
}

template <typename T>
static __device__ __forceinline__ T __shfl_xor_sync(unsigned, T value, int lane_mask, int width = HALF_WAVE)
{
    return __shfl_xor(value, lane_mask, width);
}

static __device__ __forceinline__ unsigned __ballot_sync(unsigned mask, int predicate)
{
    return (unsigned)(__ballot(predicate) >> (__lane_id() & HALF_WAVE)) & mask;
}

/**
 * Orders the memory accesses of a wave's lanes. The lanes run in lockstep, so no lane has to wait, but the compiler
 * must not reorder the accesses.
 */
static __device__ __forceinline__ void __syncwarp(unsigned = 0xffffffffu)
{
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
}

#endif
