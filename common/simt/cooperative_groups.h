/**
 * @file cooperative_groups.h
 * @brief CUDA's cooperative groups for kernels: the grid, the block, tiles of a warp and converged lanes, with
 *        reductions and scans over a group.
 *
 * This header also contains the declarations of CUDA's cooperative_groups/reduce.h and scan.h. It does not support
 * groups larger than a warp but smaller than a block, clusters, or asynchronous copies by groups.
 */
#ifndef SIMT_COOPERATIVE_GROUPS_H
#define SIMT_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#if SIMT_WARP_SIZE != 32
#error "cooperative groups: the simulator has them for warps of 32 lanes only"
#endif

#define memcpy_async                                                                                                   \
    SIMT_UNSUPPORTED("asynchronous copies of groups are not supported by the simulator: __pipeline_memcpy_async() of " \
                     "cuda_pipeline.h")
#define this_cluster \
    SIMT_UNSUPPORTED("thread block clusters are not supported by the simulator: exchange data in global memory")

namespace cooperative_groups
{

/** Return the thread's rank in its block, the number of threads in the block, and the thread's lane in its warp. */
SIMT_DEVICE unsigned simt_thread_rank_in_block()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
SIMT_DEVICE unsigned simt_num_threads_in_block()
{
    return blockDim.x * blockDim.y * blockDim.z;
}
SIMT_DEVICE unsigned simt_lane_in_warp()
{
    return simt_thread_rank_in_block() % 32;
}

/** All threads of a cooperative launch. */
class grid_group
{
  public:
    SIMT_METHOD void sync() const
    {
        simt_grid_sync();
    }
    SIMT_METHOD bool is_valid() const
    {
        return simt_grid_is_cooperative();
    }
    static SIMT_METHOD unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static SIMT_METHOD dim3 dim_blocks()
    {
        return gridDim;
    }
    static SIMT_METHOD dim3 group_dim()
    {
        return gridDim;
    }
    static SIMT_METHOD unsigned long long block_rank()
    {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static SIMT_METHOD dim3 block_index()
    {
        return blockIdx;
    }
    static SIMT_METHOD unsigned long long size()
    {
        return num_blocks() * simt_num_threads_in_block();
    }
    static SIMT_METHOD unsigned long long num_threads()
    {
        return size();
    }
    static SIMT_METHOD unsigned long long thread_rank()
    {
        return block_rank() * simt_num_threads_in_block() + simt_thread_rank_in_block();
    }
};

/**
 * Any group of threads in a block: the entire block if the mask is 0, otherwise the lanes of a warp that are in the
 * mask.
 */
class thread_group
{
    unsigned mask;

  public:
    SIMT_METHOD explicit thread_group(unsigned lanes) : mask(lanes)
    {
    }
    SIMT_METHOD void sync() const
    {
        if (mask)
            simt_syncwarp(mask);
        else
            simt_syncthreads(SIMT_GROUP_SYNC_CALL_FLAG + __COUNTER__);
    }
    SIMT_METHOD unsigned size() const
    {
        return simt_select(mask != 0, (unsigned)__popc(mask), simt_num_threads_in_block());
    }
    SIMT_METHOD unsigned num_threads() const
    {
        return size();
    }
    SIMT_METHOD unsigned thread_rank() const
    {
        return simt_select(mask != 0, (unsigned)__popc(mask & ((1u << simt_lane_in_warp()) - 1)),
                           simt_thread_rank_in_block());
    }
};

class thread_block
{
  public:
    SIMT_METHOD operator thread_group() const
    {
        return thread_group(0);
    }
    static SIMT_METHOD void sync()
    {
        simt_syncthreads(SIMT_GROUP_SYNC_CALL_FLAG + __COUNTER__);
    }
    static SIMT_METHOD unsigned size()
    {
        return simt_num_threads_in_block();
    }
    static SIMT_METHOD unsigned num_threads()
    {
        return size();
    }
    static SIMT_METHOD unsigned thread_rank()
    {
        return simt_thread_rank_in_block();
    }
    static SIMT_METHOD dim3 group_index()
    {
        return blockIdx;
    }
    static SIMT_METHOD dim3 thread_index()
    {
        return threadIdx;
    }
    static SIMT_METHOD dim3 dim_threads()
    {
        return blockDim;
    }
    static SIMT_METHOD dim3 group_dim()
    {
        return blockDim;
    }
};

template <unsigned tile_size, class Parent = void>
class thread_block_tile;

/** A tile of `tile_size` consecutive lanes of a warp; `tile_size` is 1, 2, 4, 8, 16 or 32. */
template <unsigned tile_size>
class thread_block_tile<tile_size, void>
{
    static_assert(tile_size >= 1 && tile_size <= 32 && (tile_size & (tile_size - 1)) == 0, "a tile is part of a warp");

    static SIMT_METHOD unsigned first()
    {
        return simt_lane_in_warp() / tile_size * tile_size;
    }

  public:
    static SIMT_METHOD unsigned simt_mask()
    {
        return (unsigned)((1ull << tile_size) - 1) << first();
    }
    SIMT_METHOD operator thread_group() const
    {
        return thread_group(simt_mask());
    }
    SIMT_METHOD void sync() const
    {
        __syncwarp(simt_mask());
    }
    static constexpr SIMT_METHOD unsigned size()
    {
        return tile_size;
    }
    static constexpr SIMT_METHOD unsigned num_threads()
    {
        return tile_size;
    }
    static SIMT_METHOD unsigned thread_rank()
    {
        return simt_lane_in_warp() % tile_size;
    }
    static SIMT_METHOD unsigned meta_group_rank()
    {
        return simt_thread_rank_in_block() / tile_size;
    }
    static SIMT_METHOD unsigned meta_group_size()
    {
        return (simt_num_threads_in_block() + tile_size - 1) / tile_size;
    }
    template <class T>
    SIMT_METHOD T shfl(T value, int rank) const
    {
        return simt_shuffle_value(simt_mask(), SIMT_SHUFFLE_INDEX, value, rank, tile_size);
    }
    template <class T>
    SIMT_METHOD T shfl_up(T value, unsigned delta) const
    {
        return simt_shuffle_value(simt_mask(), SIMT_SHUFFLE_UP, value, (int)delta, tile_size);
    }
    template <class T>
    SIMT_METHOD T shfl_down(T value, unsigned delta) const
    {
        return simt_shuffle_value(simt_mask(), SIMT_SHUFFLE_DOWN, value, (int)delta, tile_size);
    }
    template <class T>
    SIMT_METHOD T shfl_xor(T value, unsigned lane_mask) const
    {
        return simt_shuffle_value(simt_mask(), SIMT_SHUFFLE_XOR, value, (int)lane_mask, tile_size);
    }
    SIMT_METHOD int any(int predicate) const
    {
        return __any_sync(simt_mask(), predicate);
    }
    SIMT_METHOD int all(int predicate) const
    {
        return __all_sync(simt_mask(), predicate);
    }
    SIMT_METHOD unsigned ballot(int predicate) const
    {
        return __ballot_sync(simt_mask(), predicate) >> first();
    }
    template <class T>
    SIMT_METHOD unsigned match_any(T value) const
    {
        return __match_any_sync(simt_mask(), value) >> first();
    }
    template <class T>
    SIMT_METHOD unsigned match_all(T value, int &all) const
    {
        return __match_all_sync(simt_mask(), value, &all) >> first();
    }
};

#ifndef DOXYGEN /* Doxygen mistakes the specialisation for its own base class */
/** A tile of a block or of a larger tile. */
template <unsigned tile_size, class Parent>
class thread_block_tile : public thread_block_tile<tile_size>
{
  public:
    thread_block_tile() = default;
    SIMT_METHOD thread_block_tile(const thread_block_tile<tile_size> &)
    {
    }
    static SIMT_METHOD unsigned meta_group_rank()
    {
        return Parent::thread_rank() / tile_size;
    }
    static SIMT_METHOD unsigned meta_group_size()
    {
        return (Parent::size() + tile_size - 1) / tile_size;
    }
};
#endif

/** The lanes of a warp that are converged at the point where the group is created. */
class coalesced_group
{
    unsigned mask;

    /** Returns the lane with this rank in the group, or the calling lane if there is none. */
    SIMT_METHOD int lane_of(unsigned rank) const
    {
        const unsigned lane = simt_nth_bit(mask, rank);

        return (int)simt_select(lane == 32, simt_lane_in_warp(), lane);
    }

  public:
    SIMT_METHOD explicit coalesced_group(unsigned lanes) : mask(lanes)
    {
    }
    SIMT_METHOD unsigned simt_mask() const
    {
        return mask;
    }
    SIMT_METHOD operator thread_group() const
    {
        return thread_group(mask);
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
        return (unsigned)__popc(mask & ((1u << simt_lane_in_warp()) - 1));
    }
    template <class T>
    SIMT_METHOD T shfl(T value, unsigned rank) const
    {
        return simt_shuffle_value(mask, SIMT_SHUFFLE_INDEX, value, (int)simt_lane_of_rank(mask, rank), 32);
    }
    template <class T>
    SIMT_METHOD T shfl_up(T value, unsigned delta) const
    {
        return simt_shuffle_value(mask, SIMT_SHUFFLE_INDEX, value, lane_of(thread_rank() - delta), 32);
    }
    template <class T>
    SIMT_METHOD T shfl_down(T value, unsigned delta) const
    {
        return simt_shuffle_value(mask, SIMT_SHUFFLE_INDEX, value, lane_of(thread_rank() + delta), 32);
    }
    SIMT_METHOD int any(int predicate) const
    {
        return __any_sync(mask, predicate);
    }
    SIMT_METHOD int all(int predicate) const
    {
        return __all_sync(mask, predicate);
    }
    SIMT_METHOD unsigned ballot(int predicate) const
    {
        return simt_gather_bits(__ballot_sync(mask, predicate), mask);
    }
    template <class T>
    SIMT_METHOD unsigned match_any(T value) const
    {
        return simt_gather_bits(__match_any_sync(mask, value), mask);
    }
    template <class T>
    SIMT_METHOD unsigned match_all(T value, int &all) const
    {
        return simt_gather_bits(__match_all_sync(mask, value, &all), mask);
    }
};

/* --- creation of groups ------------------------------------------------------------------------------------------- */

SIMT_DEVICE grid_group this_grid()
{
    return grid_group();
}
SIMT_DEVICE thread_block this_thread_block()
{
    return thread_block();
}
SIMT_DEVICE thread_group this_thread()
{
    return thread_group(1u << simt_lane_in_warp());
}
SIMT_DEVICE coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}
template <unsigned tile_size>
SIMT_DEVICE thread_block_tile<tile_size, thread_block> tiled_partition(const thread_block &block)
{
    simt_check_tile_size_divides_group(block.size(), tile_size);
    return thread_block_tile<tile_size, thread_block>();
}
template <unsigned tile_size, unsigned size, class Parent>
SIMT_DEVICE thread_block_tile<tile_size, thread_block_tile<size>> tiled_partition(
    const thread_block_tile<size, Parent> &)
{
    static_assert(tile_size <= size, "a tile of a tile is not larger");
    return thread_block_tile<tile_size, thread_block_tile<size>>();
}
/** Returns the calling lane's tile, whose size is known only at run time. */
template <class Group>
SIMT_DEVICE thread_group tiled_partition(const Group &group, unsigned size)
{
    simt_check_tile_size_divides_group(group.size(), size);
    return thread_group((unsigned)((1ull << size) - 1) << simt_lane_in_warp() / size * size);
}
template <class Group>
SIMT_DEVICE coalesced_group binary_partition(const Group &group, bool predicate)
{
    const unsigned yes = __ballot_sync(group.simt_mask(), predicate);

    return coalesced_group(simt_select(predicate, yes, group.simt_mask() & ~yes));
}
template <class Group, class Label>
SIMT_DEVICE coalesced_group labeled_partition(const Group &group, Label label)
{
    return coalesced_group(__match_any_sync(group.simt_mask(), label));
}

template <class Group>
SIMT_DEVICE void sync(const Group &group)
{
    group.sync();
}
template <class Group>
SIMT_DEVICE auto thread_rank(const Group &group)
{
    return group.thread_rank();
}
template <class Group>
SIMT_DEVICE auto group_size(const Group &group)
{
    return group.size();
}

/*
 * --- reductions and scans -------------------------------------------------------------------------------------------
 */

/**
 * Defines a binary operation for reductions and scans. `signed_reduction` and `unsigned_reduction` name the single
 * instruction that reduces signed or unsigned integers over a warp.
 */
#define SIMT_DEFINE_GROUP_OPERATOR(name, result, signed_reduction, unsigned_reduction)                              \
    template <class T>                                                                                              \
    struct name {                                                                                                   \
        static constexpr enum simt_reduction warp_reduction = (T)-1 < (T)0 ? signed_reduction : unsigned_reduction; \
        SIMT_METHOD T operator()(T x, T y) const                                                                    \
        {                                                                                                           \
            return result;                                                                                          \
        }                                                                                                           \
    };
SIMT_DEFINE_GROUP_OPERATOR(plus, x + y, SIMT_REDUCE_ADD, SIMT_REDUCE_ADD)
SIMT_DEFINE_GROUP_OPERATOR(less, y < x ? y : x, SIMT_REDUCE_MIN_SIGNED, SIMT_REDUCE_MIN)
SIMT_DEFINE_GROUP_OPERATOR(greater, x < y ? y : x, SIMT_REDUCE_MAX_SIGNED, SIMT_REDUCE_MAX)
SIMT_DEFINE_GROUP_OPERATOR(bit_and, x &y, SIMT_REDUCE_AND, SIMT_REDUCE_AND)
SIMT_DEFINE_GROUP_OPERATOR(bit_or, x | y, SIMT_REDUCE_OR, SIMT_REDUCE_OR)
SIMT_DEFINE_GROUP_OPERATOR(bit_xor, x ^ y, SIMT_REDUCE_XOR, SIMT_REDUCE_XOR)
#undef SIMT_DEFINE_GROUP_OPERATOR

/** True if a single instruction reduces values of type T with the operation. */
template <class T, class Operation>
struct simt_has_reduce_instruction : std::false_type {
};
template <class T, template <class> class Operation>
struct simt_has_reduce_instruction<T, Operation<T>>
    : std::integral_constant<bool, std::is_integral<T>::value && sizeof(T) <= 4> {
};

template <class Group, class T, class Operation>
SIMT_DEVICE T inclusive_scan(const Group &group, T value, Operation operation)
{
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        const T before = group.shfl_up(value, distance);

        if (group.thread_rank() >= distance)
            value = operation(value, before);
    }
    return value;
}
template <class Group, class T>
SIMT_DEVICE T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
/** Returns the exclusive scan; the first thread gets T(). */
template <class Group, class T, class Operation>
SIMT_DEVICE T exclusive_scan(const Group &group, T value, Operation operation)
{
    const T upto = inclusive_scan(group, value, operation);

    if constexpr (std::is_same<Operation, plus<T>>::value && std::is_integral<T>::value) {
        return upto - value;
    } else {
        const T before = group.shfl_up(upto, 1);

        return group.thread_rank() == 0 ? T() : before;
    }
}
template <class Group, class T>
SIMT_DEVICE T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}

/**
 * Reduces a value as CUDA does: with a single instruction if there is one and the tile has at least 16 lanes, otherwise
 * with a tree of shuffles.
 */
template <class T, class Operation, unsigned tile_size>
SIMT_DEVICE T simt_reduce_tile(const thread_block_tile<tile_size> &tile, T value, Operation operation)
{
    if constexpr (tile_size >= 16 && simt_has_reduce_instruction<T, Operation>::value) {
        return (T)simt_reduce(tile.simt_mask(), Operation::warp_reduction, (uint32_t)value);
    } else {
        for (unsigned distance = tile_size / 2; distance > 0; distance /= 2)
            value = operation(value, tile.shfl_xor(value, distance));
        return value;
    }
}
template <unsigned tile_size, class Parent, class T, class Operation>
SIMT_DEVICE T reduce(const thread_block_tile<tile_size, Parent> &tile, T value, Operation operation)
{
    return simt_reduce_tile<T, Operation, tile_size>(tile, value, operation);
}
template <class T, class Operation>
SIMT_DEVICE T reduce(const coalesced_group &group, T value, Operation operation)
{
    if constexpr (simt_has_reduce_instruction<T, Operation>::value)
        return (T)simt_reduce(group.simt_mask(), Operation::warp_reduction, (uint32_t)value);
    else if (group.size() == 32)
        return simt_reduce_tile<T, Operation, 32>({}, value, operation);
    else
        return group.shfl(inclusive_scan(group, value, operation), group.size() - 1);
}

} // namespace cooperative_groups

#endif
