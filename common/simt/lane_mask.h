/**
 * @file lane_mask.h
 * @brief The number of lanes in a warp of the simulated device, and the type of a set of them: a bit for each lane.
 *
 * -DSIMT_WARP_SIZE=64 builds for a device whose warps have 64 lanes: the simulator's library and all kernels of a
 * program.
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
/* Kernels of 64 lanes do not link with a library of 32. */
#define simt_launch_kernel simt_launch_kernel_of_64_lanes
#else
#error "SIMT_WARP_SIZE is the number of lanes in a warp: 32 or 64"
#endif

#endif
