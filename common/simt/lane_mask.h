/**
 * @file lane_mask.h
 * @brief The number of lanes in a warp of the simulated device, and the type of a lane mask, which has one bit per
 *        lane.
 *
 * -DSIMT_WARP_SIZE=64 selects a device whose warps have 64 lanes. The simulator's library and all kernels of a program
 * must be compiled with the same value.
 */
#ifndef SIMT_LANE_MASK_H
#define SIMT_LANE_MASK_H

#include <stdint.h>

#ifndef SIMT_WARP_SIZE
#define SIMT_WARP_SIZE 32
#endif

#if SIMT_WARP_SIZE == 32
typedef uint32_t simt_lane_mask;
#elif SIMT_WARP_SIZE == 64
typedef uint64_t simt_lane_mask;
/* Renames the function, so that kernels for 64 lanes cannot be linked with a library for 32. */
#define simt_launch_kernel simt_launch_kernel_of_64_lanes
#else
#error "SIMT_WARP_SIZE is the number of lanes in a warp: 32 or 64"
#endif

#endif
