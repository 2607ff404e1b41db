/**
 * @file common/kernels/tensor_core.cuh
 * @brief Tensor-core instructions for which CUDA C has no function: products of 16x16 by 16x8 matrices, and loads of
 * their fragments. Chapter 11c introduces them.
 *
 * All 32 lanes of a warp execute these instructions together. Each lane holds a part of each matrix, its fragment, as
 * PTX defines it for mma.m16n8k16: 16-bit elements, two per word, the first in the low half. With g = lane / 4 and t =
 * lane % 4:
 *
 *   a (16 rows, 16 columns)   a[0]: row g, columns 2t and 2t + 1      a[1]: row g + 8, the same columns
 *                             a[2], a[3]: the same rows, columns 2t + 8 and 2t + 9
 *   b (16 rows, 8 columns)    b[0]: column g, rows 2t and 2t + 1      b[1]: column g, rows 2t + 8 and 2t + 9
 *   d (16 rows, 8 columns)    d[0], d[1]: row g, columns 2t and 2t + 1      d[2], d[3]: row g + 8, the same columns
 *
 * The CPU build uses the header of the same name in common/simt/kernels instead.
 */
#ifndef KERNELS_TENSOR_CORE_CUH
#define KERNELS_TENSOR_CORE_CUH

#include <cuda_runtime.h>
#include <stdint.h>

// [ldmatrix]
/**
 * Loads four 8x8 matrices of 16-bit elements from shared memory. Lane i passes the address of row i % 8 of matrix
 * i / 8: 16 bytes, aligned to 16. fragments[m] is the lane's fragment of matrix m: elements 2t and 2t + 1 of row g.
 */
static __device__ __forceinline__ void ldmatrix_x4(uint32_t fragments[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
}

/** Loads the matrices transposed: the fragments are elements 2t and 2t + 1 of column g. */
static __device__ __forceinline__ void ldmatrix_x4_transposed(uint32_t fragments[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
}

/** Loads two matrices. Only lanes 0 to 15 pass row addresses. */
static __device__ __forceinline__ void ldmatrix_x2(uint32_t fragments[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fragments[0]), "=r"(fragments[1])
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
}

static __device__ __forceinline__ void ldmatrix_x2_transposed(uint32_t fragments[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fragments[0]), "=r"(fragments[1])
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
}
// [ldmatrix]

// On older GPUs, which lack this instruction, ASM_80 traps.
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
#define ASM_80(...) asm volatile(__VA_ARGS__)
#else
#define ASM_80(...) __trap()
#endif

// [mma]
/** Computes d += a b with f32 accumulation. Requires compute capability 8.0. */
static __device__ __forceinline__ void mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    ASM_80("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
           "{%0, %1, %2, %3};"
           : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// [mma]

static __device__ __forceinline__ void mma_m16n8k16_f16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    ASM_80("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
           "%1, %2, %3};"
           : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#endif
