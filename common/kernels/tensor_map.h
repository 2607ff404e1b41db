/** @file common/kernels/tensor_map.h  Checks the limits of bulk_copy.cuh's tensor maps, for GPU and CPU builds. */
#ifndef KERNELS_TENSOR_MAP_H
#define KERNELS_TENSOR_MAP_H

#include <stddef.h>
#include <stdint.h>

/** Returns the reason why a map of a bf16 matrix is not allowed, or NULL if it is allowed. */
static inline const char *tensor_map_error(const void *matrix, uint64_t rows, uint64_t columns, uint32_t tile_rows,
                                           uint32_t tile_columns, uint32_t swizzle)
{
    if ((uintptr_t)matrix % 16 != 0)
        return "tensor map: the matrix must begin at a multiple of 16 bytes";
    if (rows < 1 || rows > UINT32_MAX || columns < 8 || columns > UINT32_MAX || columns % 8 != 0)
        return "tensor map: rows must be 1 to 2^32 - 1, columns a multiple of 8 to 2^32 - 8";
    if (tile_rows < 1 || tile_rows > 256 || tile_columns < 8 || tile_columns > 256 || tile_columns % 8 != 0)
        return "tensor map: a tile must have 1 to 256 rows, and columns that are a multiple of 8 up to 256";
    if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
        return "tensor map: the swizzle must be 0, 32, 64 or 128 bytes";
    if (swizzle != 0 && tile_columns * 2 != swizzle)
        return "tensor map: a row of the tile must be exactly as long as the swizzle";
    return NULL;
}

#endif
