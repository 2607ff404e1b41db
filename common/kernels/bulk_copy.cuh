/**
 * @file common/kernels/bulk_copy.cuh
 * @brief Asynchronous copies from global to shared memory, and the barriers (mbarrier) that signal their completion.
 *
 * An mbarrier is an object in shared memory. Its phase ends when all expected arrivals have occurred and all announced
 * bytes have been copied; the next phase begins immediately. A waiting thread identifies the phase by its parity: 0 for
 * the first, 1 for the second, 0 for the third. In a barrier's first phase, a wait for parity 1 returns immediately, as
 * if an earlier phase had ended.
 *
 * Bulk copies, transaction counts and try_wait require compute capability 9.0, whereas cp.async and its arrival need
 * only 8.0. The CPU build uses the header of the same name in common/simt/kernels instead.
 */
#ifndef KERNELS_BULK_COPY_CUH
#define KERNELS_BULK_COPY_CUH

#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "tensor_map.h"

// On older GPUs, which lack these instructions, ASM_90 traps.
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define ASM_90(...) asm volatile(__VA_ARGS__)
#else
#define ASM_90(...) __trap()
#endif

/** A barrier in shared memory; only the functions here access it. */
struct alignas(8) mbarrier {
    uint64_t state;
};

/**
 * A matrix in global memory and the shape of its tiles. Passed to a kernel as a `const __grid_constant__` parameter.
 */
struct alignas(64) tensor_map {
    uint64_t word[16];
};

static __device__ __forceinline__ uint32_t shared_address(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

// [mbarrier]
/** Initialises a barrier for `arrivals` arrivals per phase (1 to 2^20 - 1). Must be called by a single thread. */
static __device__ __forceinline__ void mbarrier_init(mbarrier *barrier, uint32_t arrivals)
{
    ASM_90("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/**
 * Makes the barriers that this thread has initialised visible to asynchronous copies. Visibility to other threads also
 * requires a __syncthreads().
 */
static __device__ __forceinline__ void mbarrier_init_fence(void)
{
    ASM_90("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/**
 * Arrives at the barrier. This thread's earlier accesses happen before any thread's accesses after a wait for the
 * phase.
 */
static __device__ __forceinline__ void mbarrier_arrive(mbarrier *barrier)
{
    ASM_90("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/** Announces that `bytes` more bytes must be copied before the phase ends, and arrives at the barrier. */
static __device__ __forceinline__ void mbarrier_arrive_expect(mbarrier *barrier, uint32_t bytes)
{
    ASM_90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
           : "memory");
}

/**
 * Triggers an arrival at the barrier as soon as the thread's earlier cp_async_16() copies are complete. Does not wait.
 */
static __device__ __forceinline__ void mbarrier_arrive_cp_async(mbarrier *barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/** Waits for a limited time until the phase with this parity ends. Returns whether it has ended. */
static __device__ __forceinline__ bool mbarrier_try_wait(mbarrier *barrier, uint32_t parity)
{
    uint32_t ended = 0;

    ASM_90("{\n"
           ".reg .pred ended;\n"
           "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
           "selp.u32 %0, 1, 0, ended;\n"
           "}"
           : "=r"(ended)
           : "r"(shared_address(barrier)), "r"(parity)
           : "memory");
    return ended;
}

/** Waits until the phase with this parity ends. */
static __device__ __forceinline__ void mbarrier_wait(mbarrier *barrier, uint32_t parity)
{
    while (!mbarrier_try_wait(barrier, parity)) {
    }
}
// [mbarrier]

// [copies]
/**
 * Copies 16 bytes asynchronously, bypassing L1; both addresses must be multiples of 16. `present` is 0 or 16; if it is
 * 0, zeros are stored instead.
 */
static __device__ __forceinline__ void cp_async_16(void *to, const void *from, uint32_t present = 16)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(present)
                 : "memory");
}

/**
 * Copies `bytes` contiguous bytes asynchronously; `bytes` and both addresses must be multiples of 16. The bytes count
 * towards the barrier's current phase as they arrive.
 */
static __device__ __forceinline__ void bulk_copy(void *to, const void *from, uint32_t bytes, mbarrier *barrier)
{
    ASM_90("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
               shared_address(to)),
           "l"(from), "r"(bytes), "r"(shared_address(barrier))
           : "memory");
}

/**
 * Copies a tile of the map's matrix asynchronously; its first element is at (row, column). Elements outside the matrix
 * are filled with zeros, and their bytes also count towards the phase. `to` must be a multiple of 128 and of the
 * swizzle's period, which is 1024, 512 or 256 for a swizzle of 128, 64 or 32.
 */
static __device__ __forceinline__ void bulk_copy_tile(void *to, const tensor_map *map, int32_t row, int32_t column,
                                                      mbarrier *barrier)
{
    ASM_90("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
           "[%4];" ::"r"(shared_address(to)),
           "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
           : "memory");
}

/** Prefetches the map for a later copy. */
static __device__ __forceinline__ void tensor_map_prefetch(const tensor_map *map)
{
    ASM_90("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/**
 * Orders the thread's memory accesses against those of bulk copies and wgmma, in both directions.
 */
static __device__ __forceinline__ void async_proxy_fence(void)
{
    ASM_90("fence.proxy.async;" ::: "memory");
}

/** Orders only accesses to shared memory; faster than async_proxy_fence(). */
static __device__ __forceinline__ void async_proxy_fence_shared(void)
{
    ASM_90("fence.proxy.async.shared::cta;" ::: "memory");
}
// [copies]

/** Elects one lane of the warp, and returns true in that lane only. All 32 lanes must call it. */
static __device__ __forceinline__ bool elect_one(void)
{
    uint32_t elected = 0;

    ASM_90("{\n"
           ".reg .pred elected;\n"
           "elect.sync _|elected, 0xffffffff;\n"
           "selp.u32 %0, 1, 0, elected;\n"
           "}"
           : "=r"(elected)
           :
           : "memory");
    return elected;
}

// [tensor_map]
/**
 * Creates a map of a row-major bf16 matrix in global memory, for tiles of tile_rows (at most 256) by tile_columns.
 * `swizzle` is 0, or the size of a tile's row in bytes: 32, 64 or 128. If it is not 0, the tile's 16-byte chunks are
 * permuted: within each period of the swizzle, a chunk's index (address bits 4 and up) is XORed with address bits 7 and
 * up. Returns NULL, or the reason why such a map cannot be created.
 */
static inline const char *tensor_map_bf16(tensor_map *map, const void *matrix, uint64_t rows, uint64_t columns,
                                          uint32_t tile_rows, uint32_t tile_columns, uint32_t swizzle)
{
    typedef CUresult (*encode_function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                        const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                                        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                        CUtensorMapFloatOOBfill);
    const cuuint64_t sizes[2] = {columns, rows}, pitch[1] = {columns * 2};
    const cuuint32_t tile[2] = {tile_columns, tile_rows}, steps[2] = {1, 1};
    const CUtensorMapSwizzle pattern = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                       : CU_TENSOR_MAP_SWIZZLE_NONE;
    const char *const error = tensor_map_error(matrix, rows, columns, tile_rows, tile_columns, swizzle);
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;

    if (error)
        return error;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found) !=
            cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
        return "the driver has no cuTensorMapEncodeTiled: it must be of CUDA 12.0 or newer";
    static_assert(sizeof(tensor_map) == sizeof(CUtensorMap), "a tensor map has 128 bytes");
    if (((encode_function)encode)((CUtensorMap *)map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void *>(matrix),
                                  sizes, pitch, tile, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, pattern,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return "the driver rejected the tensor map: see tensor_map_bf16() for its limits";
    return nullptr;
}
// [tensor_map]

#endif
