/**
 * @file common/simt/kernels/bulk_copy.cuh Implements bulk copies and mbarriers as calls to the simulator. Replaces
 * common/kernels/bulk_copy.cuh, because this directory is searched first.
 */
#ifndef SIMT_BULK_COPY_CUH
#define SIMT_BULK_COPY_CUH

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "../../kernels/tensor_map.h"

struct alignas(8) mbarrier {
    uint64_t state;
};

/** A tensor map, padded to its size on a GPU. */
struct tensor_map {
    simt_tensor_map map;
    unsigned char rest[128 - sizeof(simt_tensor_map)];
};

SIMT_DEVICE void mbarrier_init(mbarrier *barrier, uint32_t arrivals)
{
    simt_mbarrier_init(barrier, arrivals);
}

SIMT_DEVICE void mbarrier_init_fence(void)
{
    simt_mbarrier_init_fence();
}

SIMT_DEVICE void mbarrier_arrive(mbarrier *barrier)
{
    simt_mbarrier_arrive_expect(barrier, 0);
}

SIMT_DEVICE void mbarrier_arrive_expect(mbarrier *barrier, uint32_t bytes)
{
    simt_mbarrier_arrive_expect(barrier, bytes);
}

SIMT_DEVICE void mbarrier_arrive_cp_async(mbarrier *barrier)
{
    simt_mbarrier_arrive_copies(barrier);
}

/* The result must not be discarded, because only it indicates whether the phase has ended. */
[[nodiscard]] SIMT_DEVICE bool mbarrier_try_wait(mbarrier *barrier, uint32_t parity)
{
    return simt_mbarrier_try_wait(barrier, parity);
}

SIMT_DEVICE void mbarrier_wait(mbarrier *barrier, uint32_t parity)
{
    simt_mbarrier_wait(barrier, parity);
}

SIMT_DEVICE void cp_async_16(void *to, const void *from, uint32_t present = 16)
{
    simt_copy_async(to, from, 16, 16 - present);
}

SIMT_DEVICE void bulk_copy(void *to, const void *from, uint32_t bytes, mbarrier *barrier)
{
    simt_bulk_copy(to, from, bytes, barrier);
}

SIMT_DEVICE void bulk_copy_tile(void *to, const tensor_map *map, int32_t row, int32_t column, mbarrier *barrier)
{
    simt_bulk_copy_tile(to, &map->map, row, column, barrier);
}

SIMT_DEVICE void tensor_map_prefetch(const tensor_map *)
{
}

SIMT_DEVICE void async_proxy_fence(void)
{
    simt_proxy_fence(1);
}

SIMT_DEVICE void async_proxy_fence_shared(void)
{
    simt_proxy_fence(0);
}

SIMT_DEVICE bool elect_one(void)
{
    return simt_elect_one();
}

static inline const char *tensor_map_bf16(tensor_map *map, const void *matrix, uint64_t rows, uint64_t columns,
                                          uint32_t tile_rows, uint32_t tile_columns, uint32_t swizzle)
{
    const char *const refusal = tensor_map_error(matrix, rows, columns, tile_rows, tile_columns, swizzle);

    if (!refusal)
        map->map = simt_tensor_map{matrix, rows, columns, tile_rows, tile_columns, swizzle, SIMT_TENSOR_MAP_MAGIC};
    return refusal;
}

#endif
