/**
 * @file common/simt/kernels/warpgroup_product.cuh Implements warpgroup products as calls to the simulator. Replaces
 * common/kernels/warpgroup_product.cuh, because this directory is searched first.
 */
#ifndef SIMT_WARPGROUP_PRODUCT_CUH
#define SIMT_WARPGROUP_PRODUCT_CUH

#include <cuda_runtime.h>

#if SIMT_WARP_SIZE != 32
#error "products of a warpgroup: the simulator has them for warps of 32 lanes only"
#endif

SIMT_DEVICE uint64_t wgmma_descriptor(const void *shared)
{
    return simt_wgmma_descriptor(shared);
}

SIMT_DEVICE void wgmma_fence(void)
{
    simt_wgmma_fence();
}

SIMT_DEVICE void wgmma_commit_group(void)
{
    simt_wgmma_commit();
}

template <int PENDING>
SIMT_DEVICE void wgmma_wait_group(void)
{
    simt_wgmma_wait(PENDING);
}

template <int COUNT>
SIMT_DEVICE void wgmma_compiler_fence(float (&)[COUNT])
{
}

template <int COUNT>
SIMT_DEVICE void wgmma_m64k16_bf16(float (&d)[COUNT], uint64_t a, uint64_t b)
{
    static_assert(COUNT % 4 == 0 && COUNT >= 4 && COUNT <= 128, "N is a multiple of 8 from 8 to 256");
    simt_wgmma(d, COUNT, a, b);
}

template <int REGISTERS>
SIMT_DEVICE void registers_decrease(void)
{
    static_assert(REGISTERS % 8 == 0 && REGISTERS >= 24 && REGISTERS <= 256, "a multiple of 8 from 24 to 256");
    simt_request_registers(REGISTERS);
}

template <int REGISTERS>
SIMT_DEVICE void registers_increase(void)
{
    static_assert(REGISTERS % 8 == 0 && REGISTERS >= 24 && REGISTERS <= 256, "a multiple of 8 from 24 to 256");
    simt_request_registers(REGISTERS);
}

#endif
