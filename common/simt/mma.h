/**
 * @file mma.h
 * @brief CUDA's nvcuda::wmma: a warp multiplies 16x16 matrices of half or bfloat16 and accumulates in float.
 *
 * As in CUDA, programs must not depend on the layout of a fragment. In this file, lanes i and i + 16 both hold row i of
 * a or column i of b. Lane i holds columns 0 to 7 of row i of the sums, and lane i + 16 holds columns 8 to 15. Loads
 * and stores are counted for this layout.
 */
#ifndef SIMT_MMA_H
#define SIMT_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#if SIMT_WARP_SIZE != 32
#error "tensor cores: the simulator has them for warps of 32 lanes only"
#endif

namespace nvcuda
{
namespace wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <class T>
struct simt_mma_element_type_of;
template <>
struct simt_mma_element_type_of<__half> {
    static constexpr simt_mma_element_type number = SIMT_HALF;
};
template <>
struct simt_mma_element_type_of<__nv_bfloat16> {
    static constexpr simt_mma_element_type number = SIMT_BFLOAT16;
};

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    static_assert(m == 16 && n == 16 && k == 16, "the simulator has wmma of 16x16x16 only");
    static_assert(sizeof(simt_mma_element_type_of<T>) > 0,
                  "the simulator has wmma of half and bfloat16 only, summed in float");
    static constexpr int num_elements = 16;
    alignas(16) T x[num_elements];
};
template <int m, int n, int k>
struct fragment<accumulator, m, n, k, float, void> {
    static_assert(m == 16 && n == 16 && k == 16, "the simulator has wmma of 16x16x16 only");
    static constexpr int num_elements = 8;
    alignas(16) float x[num_elements];
};

template <class Use, class T, class Layout>
using simt_fragment = fragment<Use, 16, 16, 16, T, Layout>;
typedef fragment<accumulator, 16, 16, 16, float> simt_accumulator;

SIMT_DEVICE unsigned simt_lane_in_warp()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

/** True if a lane's elements of a fragment are contiguous in memory. */
template <class Use, class Layout>
static constexpr bool simt_is_contiguous = std::is_same_v<Use, matrix_a> == std::is_same_v<Layout, row_major>;

template <class Use, class T, class Layout>
SIMT_DEVICE void fill_fragment(simt_fragment<Use, T, Layout> &to, T value)
{
#pragma GCC unroll 16
    for (int i = 0; i < to.num_elements; i++)
        to.x[i] = value;
}
SIMT_DEVICE void fill_fragment(simt_accumulator &to, float value)
{
#pragma GCC unroll 8
    for (int i = 0; i < to.num_elements; i++)
        to.x[i] = value;
}

template <class Use, class T, class Layout>
SIMT_DEVICE void load_matrix_sync(simt_fragment<Use, T, Layout> &to, const T *from, unsigned pitch)
{
    simt_check_lanes_use_same_matrix(from, pitch * sizeof(T));
    if constexpr (simt_is_contiguous<Use, Layout>) {
        const uint4 *const row = (const uint4 *)(from + simt_lane_in_warp() % 16 * pitch);
        const uint4 halves[2] = {row[0], row[1]};

        __builtin_memcpy((void *)to.x, halves, sizeof halves);
    } else {
#pragma GCC unroll 16
        for (unsigned i = 0; i < 16; i++)
            to.x[i] = from[i * pitch + simt_lane_in_warp() % 16];
    }
}

SIMT_DEVICE void load_matrix_sync(simt_accumulator &to, const float *from, unsigned pitch, layout_t layout)
{
    const unsigned line = simt_lane_in_warp() % 16, first = simt_lane_in_warp() / 16 * 8;
    const unsigned next = layout == mem_row_major ? 1 : pitch;

    simt_check_lanes_use_same_matrix(from, pitch * sizeof(float));
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; i++)
        to.x[i] = from[line * (layout == mem_row_major ? pitch : 1) + (first + i) * next];
}

SIMT_DEVICE void store_matrix_sync(float *to, const simt_accumulator &from, unsigned pitch, layout_t layout)
{
    const unsigned line = simt_lane_in_warp() % 16, first = simt_lane_in_warp() / 16 * 8;
    const unsigned next = layout == mem_row_major ? 1 : pitch;

    simt_check_lanes_use_same_matrix(to, pitch * sizeof(float));
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; i++)
        to[line * (layout == mem_row_major ? pitch : 1) + (first + i) * next] = from.x[i];
}

template <class T, class LayoutA, class LayoutB>
SIMT_DEVICE void mma_sync(simt_accumulator &d, const simt_fragment<matrix_a, T, LayoutA> &a,
                          const simt_fragment<matrix_b, T, LayoutB> &b, const simt_accumulator &c)
{
    simt_wmma((const uint16_t *)a.x, (const uint16_t *)b.x, c.x, d.x, simt_mma_element_type_of<T>::number);
}

} // namespace wmma
} // namespace nvcuda

#endif
