/**
 * @file common/simt/kernels/tensor_core.cuh
 * @brief Implements tensor-core operations as calls to the simulator. Replaces common/kernels/tensor_core.cuh, which
 *        uses GPU instructions, because this directory is searched first.
 */
#ifndef SIMT_TENSOR_CORE_CUH
#define SIMT_TENSOR_CORE_CUH

#include <cuda_runtime.h>

#if SIMT_WARP_SIZE != 32
#error "tensor cores: the simulator has them for warps of 32 lanes only"
#endif

SIMT_DEVICE void ldmatrix_x4(uint32_t fragments[4], const void *row)
{
    const simt_fragment_words words = simt_ldmatrix(row, 4, 0);

    fragments[0] = words.word[0];
    fragments[1] = words.word[1];
    fragments[2] = words.word[2];
    fragments[3] = words.word[3];
}

SIMT_DEVICE void ldmatrix_x4_transposed(uint32_t fragments[4], const void *row)
{
    const simt_fragment_words words = simt_ldmatrix(row, 4, 1);

    fragments[0] = words.word[0];
    fragments[1] = words.word[1];
    fragments[2] = words.word[2];
    fragments[3] = words.word[3];
}

SIMT_DEVICE void ldmatrix_x2(uint32_t fragments[2], const void *row)
{
    const simt_fragment_words words = simt_ldmatrix(row, 2, 0);

    fragments[0] = words.word[0];
    fragments[1] = words.word[1];
}

SIMT_DEVICE void ldmatrix_x2_transposed(uint32_t fragments[2], const void *row)
{
    const simt_fragment_words words = simt_ldmatrix(row, 2, 1);

    fragments[0] = words.word[0];
    fragments[1] = words.word[1];
}

#define SIMT_DEFINE_MMA_FUNCTION(name, mma)                                                                \
    SIMT_DEVICE void name(float d[4], const uint32_t a[4], const uint32_t b[2])                            \
    {                                                                                                      \
        const simt_fragment_floats sums = mma(a[0], a[1], a[2], a[3], b[0], b[1], d[0], d[1], d[2], d[3]); \
                                                                                                           \
        d[0] = sums.value[0];                                                                              \
        d[1] = sums.value[1];                                                                              \
        d[2] = sums.value[2];                                                                              \
        d[3] = sums.value[3];                                                                              \
    }
SIMT_DEFINE_MMA_FUNCTION(mma_m16n8k16_bf16, simt_mma_bfloat16)
SIMT_DEFINE_MMA_FUNCTION(mma_m16n8k16_f16, simt_mma_half)
#undef SIMT_DEFINE_MMA_FUNCTION

#endif
