/**
 * @file cooperative_groups.h
 * @brief CUDA's groups of threads, as far as the course uses them: the grid, the block, tiles of a warp.
 */
#ifndef SIMT_COOPERATIVE_GROUPS_H
#define SIMT_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups
{

/** All threads of a launch by cudaLaunchCooperativeKernel. */
class grid_group
{
  public:
    SIMT_METHOD void sync() const
    {
        simt_grid_sync();
    }
    SIMT_METHOD unsigned long long num_blocks() const
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    SIMT_METHOD unsigned long long block_rank() const
    {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    SIMT_METHOD unsigned long long size() const
    {
        return num_blocks() * blockDim.x * blockDim.y * blockDim.z;
    }
    SIMT_METHOD unsigned long long num_threads() const
    {
        return size();
    }
    SIMT_METHOD unsigned long long thread_rank() const
    {
        return block_rank() * blockDim.x * blockDim.y * blockDim.z + threadIdx.x +
               blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
};

class thread_block
{
  public:
    SIMT_METHOD void sync() const
    {
        simt_syncthreads();
    }
    SIMT_METHOD unsigned size() const
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    SIMT_METHOD unsigned num_threads() const
    {
        return size();
    }
    SIMT_METHOD unsigned thread_rank() const
    {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    SIMT_METHOD dim3 group_index() const
    {
        return blockIdx;
    }
    SIMT_METHOD dim3 thread_index() const
    {
        return threadIdx;
    }
};

/** `tile_size` neighbouring lanes of a warp: 1, 2, 4, 8, 16 or 32. */
template <unsigned tile_size>
class thread_block_tile
{
    static_assert(tile_size >= 1 && tile_size <= 32 && (tile_size & (tile_size - 1)) == 0, "a tile is part of a warp");

    static SIMT_METHOD unsigned lane()
    {
        return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
    }
    static SIMT_METHOD unsigned first()
    {
        return lane() / tile_size * tile_size;
    }
    static SIMT_METHOD unsigned mask()
    {
        return (unsigned)((1ull << tile_size) - 1) << first();
    }

  public:
    SIMT_METHOD void sync() const
    {
        __syncwarp(mask());
    }
    SIMT_METHOD unsigned size() const
    {
        return tile_size;
    }
    SIMT_METHOD unsigned num_threads() const
    {
        return tile_size;
    }
    SIMT_METHOD unsigned thread_rank() const
    {
        return lane() % tile_size;
    }
    SIMT_METHOD unsigned meta_group_rank() const
    {
        return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / tile_size;
    }
    template <class T>
    SIMT_METHOD T shfl(T value, int rank) const
    {
        return __shfl_sync(mask(), value, rank, tile_size);
    }
    template <class T>
    SIMT_METHOD T shfl_up(T value, unsigned delta) const
    {
        return __shfl_up_sync(mask(), value, delta, tile_size);
    }
    template <class T>
    SIMT_METHOD T shfl_down(T value, unsigned delta) const
    {
        return __shfl_down_sync(mask(), value, delta, tile_size);
    }
    template <class T>
    SIMT_METHOD T shfl_xor(T value, unsigned lane_mask) const
    {
        return __shfl_xor_sync(mask(), value, (int)lane_mask, tile_size);
    }
    SIMT_METHOD int any(int predicate) const
    {
        return __any_sync(mask(), predicate);
    }
    SIMT_METHOD int all(int predicate) const
    {
        return __all_sync(mask(), predicate);
    }
    SIMT_METHOD unsigned ballot(int predicate) const
    {
        return __ballot_sync(mask(), predicate) >> first();
    }
};

/** The lanes of a warp that are together where it is made. */
class coalesced_group
{
    unsigned mask;

    static SIMT_METHOD unsigned lane()
    {
        return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
    }
    /** The lane whose rank in the group is this. */
    SIMT_METHOD int lane_of(unsigned rank) const
    {
        unsigned left = mask;

        for (; rank > 0 && left; rank--)
            left &= left - 1;
        return left ? __ffs((int)left) - 1 : (int)lane();
    }

  public:
    SIMT_METHOD explicit coalesced_group(unsigned lanes) : mask(lanes)
    {
    }
    SIMT_METHOD void sync() const
    {
        __syncwarp(mask);
    }
    SIMT_METHOD unsigned size() const
    {
        return (unsigned)__popc(mask);
    }
    SIMT_METHOD unsigned num_threads() const
    {
        return size();
    }
    SIMT_METHOD unsigned thread_rank() const
    {
        return (unsigned)__popc(mask & ((1u << lane()) - 1));
    }
    template <class T>
    SIMT_METHOD T shfl(T value, unsigned rank) const
    {
        return __shfl_sync(mask, value, lane_of(rank));
    }
    SIMT_METHOD int any(int predicate) const
    {
        return __any_sync(mask, predicate);
    }
    SIMT_METHOD int all(int predicate) const
    {
        return __all_sync(mask, predicate);
    }
};

SIMT_DEVICE coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}
SIMT_DEVICE grid_group this_grid()
{
    return grid_group();
}
SIMT_DEVICE thread_block this_thread_block()
{
    return thread_block();
}
template <unsigned tile_size>
SIMT_DEVICE thread_block_tile<tile_size> tiled_partition(const thread_block &)
{
    return thread_block_tile<tile_size>();
}
template <class group>
SIMT_DEVICE void sync(const group &whose)
{
    whose.sync();
}

} // namespace cooperative_groups

#endif
