/**
 * @file common/kernels/warpgroup_product.cuh
 * @brief Products of a warpgroup on tensor cores (wgmma), for chapter 16b: 64xN += 64x16 by 16xN in bf16, with both
 *        operands in shared memory.
 *
 * A warpgroup is four consecutive warps, the first of which has an index that is a multiple of four. All threads of a
 * warpgroup call these functions together. Products are asynchronous: between a product and the wait for its group, no
 * thread may write the operands or access the sums.
 *
 * An operand is stored as rows of 64 elements (128 bytes): the rows of a or the columns of b, so that both are
 * contiguous along k. Eight rows occupy 1024 bytes and begin at a multiple of 1024. The 16-byte chunk c of row r is
 * stored at index c ^ (r % 8) of its row, as bulk_copy_tile() does with a swizzle of 128. A product uses 16 elements
 * along k, a quarter of each row. A quarter is specified by its start address in the first row before permutation;
 * quarters are 32 bytes apart.
 *
 * The sums d have 64 rows and N columns. Thread t of the warpgroup holds, for each j from 0 to N / 8 - 1:
 *   d[4 j], d[4 j + 1]       row 16 (t / 32) + t % 32 / 4, columns 8 j + 2 (t % 4) and the next
 *   d[4 j + 2], d[4 j + 3]   the row 8 below, the same columns
 *
 * The instructions require sm_90a. The CPU build uses the header of the same name in common/simt/kernels instead.
 */
#ifndef KERNELS_WARPGROUP_PRODUCT_CUH
#define KERNELS_WARPGROUP_PRODUCT_CUH

#include <cuda_runtime.h>
#include <stdint.h>

// On other GPUs, which lack these instructions, ASM_90A traps.
#if !defined __CUDA_ARCH__ || defined __CUDA_ARCH_FEAT_SM90_ALL
#define ASM_90A(...) asm volatile(__VA_ARGS__)
#else
#define ASM_90A(...) __trap()
#endif

// [wgmma]
/**
 * Returns the descriptor of an operand, given the address of its first 16 elements along k. Rows are 128 bytes long,
 * and groups of eight rows are 1024 bytes apart.
 */
static __device__ __forceinline__ uint64_t wgmma_descriptor(const void *shared)
{
    const uint64_t address = __cvta_generic_to_shared(shared);

    return (address & 0x3ffff) >> 4 | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

/** Orders this thread's accesses to the sums before later products; also needed before the first product. */
static __device__ __forceinline__ void wgmma_fence(void)
{
    ASM_90A("wgmma.fence.sync.aligned;" ::: "memory");
}

/** Commits the products issued since the last call as one group. */
static __device__ __forceinline__ void wgmma_commit_group(void)
{
    ASM_90A("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/** Waits for all groups except the PENDING most recent ones. */
template <int PENDING>
static __device__ __forceinline__ void wgmma_wait_group(void)
{
    ASM_90A("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/**
 * Prevents the compiler from moving uses of the sums across this call. Must be called before the first fence and after
 * the last wait.
 */
template <int COUNT>
static __device__ __forceinline__ void wgmma_keep(float (&d)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

/*
 * wgmma_m64k16_bf16() issues d += a b. float d[N / 2] is the thread's part of the 64xN sums; its length gives N, a
 * multiple of 8 from 8 to 256. Operands come from wgmma_descriptor(). The instruction's text must name every register
 * by number: TEXT_n and SUMS_n are the registers for N = 8 n.
 */
/* clang-format off */
#define TEXT_1 "%0, %1, %2, %3"
#define TEXT_2 TEXT_1 ", %4, %5, %6, %7"
#define TEXT_3 TEXT_2 ", %8, %9, %10, %11"
#define TEXT_4 TEXT_3 ", %12, %13, %14, %15"
#define TEXT_5 TEXT_4 ", %16, %17, %18, %19"
#define TEXT_6 TEXT_5 ", %20, %21, %22, %23"
#define TEXT_7 TEXT_6 ", %24, %25, %26, %27"
#define TEXT_8 TEXT_7 ", %28, %29, %30, %31"
#define TEXT_9 TEXT_8 ", %32, %33, %34, %35"
#define TEXT_10 TEXT_9 ", %36, %37, %38, %39"
#define TEXT_11 TEXT_10 ", %40, %41, %42, %43"
#define TEXT_12 TEXT_11 ", %44, %45, %46, %47"
#define TEXT_13 TEXT_12 ", %48, %49, %50, %51"
#define TEXT_14 TEXT_13 ", %52, %53, %54, %55"
#define TEXT_15 TEXT_14 ", %56, %57, %58, %59"
#define TEXT_16 TEXT_15 ", %60, %61, %62, %63"
#define TEXT_17 TEXT_16 ", %64, %65, %66, %67"
#define TEXT_18 TEXT_17 ", %68, %69, %70, %71"
#define TEXT_19 TEXT_18 ", %72, %73, %74, %75"
#define TEXT_20 TEXT_19 ", %76, %77, %78, %79"
#define TEXT_21 TEXT_20 ", %80, %81, %82, %83"
#define TEXT_22 TEXT_21 ", %84, %85, %86, %87"
#define TEXT_23 TEXT_22 ", %88, %89, %90, %91"
#define TEXT_24 TEXT_23 ", %92, %93, %94, %95"
#define TEXT_25 TEXT_24 ", %96, %97, %98, %99"
#define TEXT_26 TEXT_25 ", %100, %101, %102, %103"
#define TEXT_27 TEXT_26 ", %104, %105, %106, %107"
#define TEXT_28 TEXT_27 ", %108, %109, %110, %111"
#define TEXT_29 TEXT_28 ", %112, %113, %114, %115"
#define TEXT_30 TEXT_29 ", %116, %117, %118, %119"
#define TEXT_31 TEXT_30 ", %120, %121, %122, %123"
#define TEXT_32 TEXT_31 ", %124, %125, %126, %127"
#define SUMS(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS_1 SUMS(0)
#define SUMS_2 SUMS_1, SUMS(4)
#define SUMS_3 SUMS_2, SUMS(8)
#define SUMS_4 SUMS_3, SUMS(12)
#define SUMS_5 SUMS_4, SUMS(16)
#define SUMS_6 SUMS_5, SUMS(20)
#define SUMS_7 SUMS_6, SUMS(24)
#define SUMS_8 SUMS_7, SUMS(28)
#define SUMS_9 SUMS_8, SUMS(32)
#define SUMS_10 SUMS_9, SUMS(36)
#define SUMS_11 SUMS_10, SUMS(40)
#define SUMS_12 SUMS_11, SUMS(44)
#define SUMS_13 SUMS_12, SUMS(48)
#define SUMS_14 SUMS_13, SUMS(52)
#define SUMS_15 SUMS_14, SUMS(56)
#define SUMS_16 SUMS_15, SUMS(60)
#define SUMS_17 SUMS_16, SUMS(64)
#define SUMS_18 SUMS_17, SUMS(68)
#define SUMS_19 SUMS_18, SUMS(72)
#define SUMS_20 SUMS_19, SUMS(76)
#define SUMS_21 SUMS_20, SUMS(80)
#define SUMS_22 SUMS_21, SUMS(84)
#define SUMS_23 SUMS_22, SUMS(88)
#define SUMS_24 SUMS_23, SUMS(92)
#define SUMS_25 SUMS_24, SUMS(96)
#define SUMS_26 SUMS_25, SUMS(100)
#define SUMS_27 SUMS_26, SUMS(104)
#define SUMS_28 SUMS_27, SUMS(108)
#define SUMS_29 SUMS_28, SUMS(112)
#define SUMS_30 SUMS_29, SUMS(116)
#define SUMS_31 SUMS_30, SUMS(120)
#define SUMS_32 SUMS_31, SUMS(124)
#define WGMMA(n, columns, a_number, b_number) \
    static __device__ __forceinline__ void wgmma_m64k16_bf16(float (&d)[4 * n], uint64_t a, uint64_t b) \
    { \
        ASM_90A("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" TEXT_##n "}, %" #a_number ", %" \
                #b_number ", 1, 1, 1, 0, 0;" : SUMS_##n : "l"(a), "l"(b)); \
    }
WGMMA(1, 8, 4, 5)
WGMMA(2, 16, 8, 9)
WGMMA(3, 24, 12, 13)
WGMMA(4, 32, 16, 17)
WGMMA(5, 40, 20, 21)
WGMMA(6, 48, 24, 25)
WGMMA(7, 56, 28, 29)
WGMMA(8, 64, 32, 33)
WGMMA(9, 72, 36, 37)
WGMMA(10, 80, 40, 41)
WGMMA(11, 88, 44, 45)
WGMMA(12, 96, 48, 49)
WGMMA(13, 104, 52, 53)
WGMMA(14, 112, 56, 57)
WGMMA(15, 120, 60, 61)
WGMMA(16, 128, 64, 65)
WGMMA(17, 136, 68, 69)
WGMMA(18, 144, 72, 73)
WGMMA(19, 152, 76, 77)
WGMMA(20, 160, 80, 81)
WGMMA(21, 168, 84, 85)
WGMMA(22, 176, 88, 89)
WGMMA(23, 184, 92, 93)
WGMMA(24, 192, 96, 97)
WGMMA(25, 200, 100, 101)
WGMMA(26, 208, 104, 105)
WGMMA(27, 216, 108, 109)
WGMMA(28, 224, 112, 113)
WGMMA(29, 232, 116, 117)
WGMMA(30, 240, 120, 121)
WGMMA(31, 248, 124, 125)
WGMMA(32, 256, 128, 129)
/* clang-format on */
#undef WGMMA
#undef SUMS
// [wgmma]

/**
 * Reduces the number of registers per thread in a warpgroup to REGISTERS, a multiple of 8 from 24 to 256, so that other
 * warpgroups can have more.
 */
template <int REGISTERS>
static __device__ __forceinline__ void registers_decrease(void)
{
    ASM_90A("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

/** Waits until REGISTERS registers per thread are available, and allocates them. */
template <int REGISTERS>
static __device__ __forceinline__ void registers_increase(void)
{
    ASM_90A("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

#endif
