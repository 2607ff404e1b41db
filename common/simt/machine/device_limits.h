/** @file device_limits.h  Limits of the simulated device, and macros that all files of the simulator use. */
#ifndef SIMT_DEVICE_LIMITS_H
#define SIMT_DEVICE_LIMITS_H

#include "lane_mask.h"

#include <inttypes.h>

enum {
    WARP_LANES = SIMT_WARP_SIZE,
    BLOCK_THREADS = 1024,
    BLOCK_WARPS = BLOCK_THREADS / WARP_LANES,
    SHARED_BYTES_DEFAULT_LIMIT = 48 * 1024, /**< on dynamic shared memory per block; a program may raise it */
    SHARED_BYTES_LIMIT = 227 * 1024,
    PARAMETER_BYTES_LIMIT = 32764,
    CONSTANT_BYTES_LIMIT = 64 * 1024,
    SHARED_BYTES_RESERVED = 1024, /**< reserved by the system for each block */

    /* The size of the device, which limits cooperative launches. */
    NUM_MULTIPROCESSORS = 8,
    MULTIPROCESSOR_THREADS = 2048,
    MULTIPROCESSOR_BLOCKS = 32,
    MULTIPROCESSOR_SHARED_BYTES = 228 * 1024,
    MULTIPROCESSOR_REGISTERS = 65536,
};

#define SIMT_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define SIMT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define SIMT_RETURN_ADDRESS()    ((uintptr_t)__builtin_return_address(0))

/** The stack pointer of the function that called the current one: all its variables are at this address or above. */
#define SIMT_CALLER_STACK_POINTER() __builtin_dwarf_cfa()

/** A set of lanes of a warp. */
typedef simt_lane_mask lane_mask;

#define ALL_LANES ((lane_mask)-1)
/* For printf: the format of a mask, and its arguments for a mask. */
#define LANE_MASK_FORMAT          "0x%0*" PRIx64
#define LANE_MASK_ARGUMENTS(mask) WARP_LANES / 4, (uint64_t)(mask)

static inline lane_mask lane_bit(unsigned lane)
{
    return (lane_mask)1 << lane;
}

static inline unsigned lowest_lane(lane_mask lanes)
{
    return (unsigned)(WARP_LANES == 32 ? __builtin_ctz((uint32_t)lanes) : __builtin_ctzll(lanes));
}

static inline unsigned highest_lane(lane_mask lanes)
{
    return 63 - (unsigned)__builtin_clzll(lanes);
}

static inline unsigned lane_count(lane_mask lanes)
{
    return (unsigned)(WARP_LANES == 32 ? __builtin_popcount((uint32_t)lanes) : __builtin_popcountll(lanes));
}

/** Loops over the lanes in a mask, lowest first. */
#define FOR_EACH_LANE(lane, lanes) \
    for (lane_mask left_ = (lanes), lane; left_ && (lane = lowest_lane(left_), 1); left_ &= left_ - 1)

#endif
