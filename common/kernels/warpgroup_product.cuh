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
static __device__ __forceinline__ void wgmma_compiler_fence(float (&d)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

/*
 * wgmma_m64k16_bf16() issues d += a b. float d[N / 2] is the thread's part of the 64xN sums; its length gives N, a
 * multiple of 8 from 8 to 256. Operands come from wgmma_descriptor(). The instruction's text must name every register
 * by number: for each N, WGMMA_D_OPERANDS_N... has these numbers, and WGMMA_D_CONSTRAINTS_N... the variables.
 */
/* clang-format off */
#define WGMMA_D_OPERANDS_N8 "%0, %1, %2, %3"
#define WGMMA_D_OPERANDS_N16 WGMMA_D_OPERANDS_N8 ", %4, %5, %6, %7"
#define WGMMA_D_OPERANDS_N24 WGMMA_D_OPERANDS_N16 ", %8, %9, %10, %11"
#define WGMMA_D_OPERANDS_N32 WGMMA_D_OPERANDS_N24 ", %12, %13, %14, %15"
#define WGMMA_D_OPERANDS_N40 WGMMA_D_OPERANDS_N32 ", %16, %17, %18, %19"
#define WGMMA_D_OPERANDS_N48 WGMMA_D_OPERANDS_N40 ", %20, %21, %22, %23"
#define WGMMA_D_OPERANDS_N56 WGMMA_D_OPERANDS_N48 ", %24, %25, %26, %27"
#define WGMMA_D_OPERANDS_N64 WGMMA_D_OPERANDS_N56 ", %28, %29, %30, %31"
#define WGMMA_D_OPERANDS_N72 WGMMA_D_OPERANDS_N64 ", %32, %33, %34, %35"
#define WGMMA_D_OPERANDS_N80 WGMMA_D_OPERANDS_N72 ", %36, %37, %38, %39"
#define WGMMA_D_OPERANDS_N88 WGMMA_D_OPERANDS_N80 ", %40, %41, %42, %43"
#define WGMMA_D_OPERANDS_N96 WGMMA_D_OPERANDS_N88 ", %44, %45, %46, %47"
#define WGMMA_D_OPERANDS_N104 WGMMA_D_OPERANDS_N96 ", %48, %49, %50, %51"
#define WGMMA_D_OPERANDS_N112 WGMMA_D_OPERANDS_N104 ", %52, %53, %54, %55"
#define WGMMA_D_OPERANDS_N120 WGMMA_D_OPERANDS_N112 ", %56, %57, %58, %59"
#define WGMMA_D_OPERANDS_N128 WGMMA_D_OPERANDS_N120 ", %60, %61, %62, %63"
#define WGMMA_D_OPERANDS_N136 WGMMA_D_OPERANDS_N128 ", %64, %65, %66, %67"
#define WGMMA_D_OPERANDS_N144 WGMMA_D_OPERANDS_N136 ", %68, %69, %70, %71"
#define WGMMA_D_OPERANDS_N152 WGMMA_D_OPERANDS_N144 ", %72, %73, %74, %75"
#define WGMMA_D_OPERANDS_N160 WGMMA_D_OPERANDS_N152 ", %76, %77, %78, %79"
#define WGMMA_D_OPERANDS_N168 WGMMA_D_OPERANDS_N160 ", %80, %81, %82, %83"
#define WGMMA_D_OPERANDS_N176 WGMMA_D_OPERANDS_N168 ", %84, %85, %86, %87"
#define WGMMA_D_OPERANDS_N184 WGMMA_D_OPERANDS_N176 ", %88, %89, %90, %91"
#define WGMMA_D_OPERANDS_N192 WGMMA_D_OPERANDS_N184 ", %92, %93, %94, %95"
#define WGMMA_D_OPERANDS_N200 WGMMA_D_OPERANDS_N192 ", %96, %97, %98, %99"
#define WGMMA_D_OPERANDS_N208 WGMMA_D_OPERANDS_N200 ", %100, %101, %102, %103"
#define WGMMA_D_OPERANDS_N216 WGMMA_D_OPERANDS_N208 ", %104, %105, %106, %107"
#define WGMMA_D_OPERANDS_N224 WGMMA_D_OPERANDS_N216 ", %108, %109, %110, %111"
#define WGMMA_D_OPERANDS_N232 WGMMA_D_OPERANDS_N224 ", %112, %113, %114, %115"
#define WGMMA_D_OPERANDS_N240 WGMMA_D_OPERANDS_N232 ", %116, %117, %118, %119"
#define WGMMA_D_OPERANDS_N248 WGMMA_D_OPERANDS_N240 ", %120, %121, %122, %123"
#define WGMMA_D_OPERANDS_N256 WGMMA_D_OPERANDS_N248 ", %124, %125, %126, %127"
#define WGMMA_D_CONSTRAINTS(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_D_CONSTRAINTS_N8 WGMMA_D_CONSTRAINTS(0)
#define WGMMA_D_CONSTRAINTS_N16 WGMMA_D_CONSTRAINTS_N8, WGMMA_D_CONSTRAINTS(4)
#define WGMMA_D_CONSTRAINTS_N24 WGMMA_D_CONSTRAINTS_N16, WGMMA_D_CONSTRAINTS(8)
#define WGMMA_D_CONSTRAINTS_N32 WGMMA_D_CONSTRAINTS_N24, WGMMA_D_CONSTRAINTS(12)
#define WGMMA_D_CONSTRAINTS_N40 WGMMA_D_CONSTRAINTS_N32, WGMMA_D_CONSTRAINTS(16)
#define WGMMA_D_CONSTRAINTS_N48 WGMMA_D_CONSTRAINTS_N40, WGMMA_D_CONSTRAINTS(20)
#define WGMMA_D_CONSTRAINTS_N56 WGMMA_D_CONSTRAINTS_N48, WGMMA_D_CONSTRAINTS(24)
#define WGMMA_D_CONSTRAINTS_N64 WGMMA_D_CONSTRAINTS_N56, WGMMA_D_CONSTRAINTS(28)
#define WGMMA_D_CONSTRAINTS_N72 WGMMA_D_CONSTRAINTS_N64, WGMMA_D_CONSTRAINTS(32)
#define WGMMA_D_CONSTRAINTS_N80 WGMMA_D_CONSTRAINTS_N72, WGMMA_D_CONSTRAINTS(36)
#define WGMMA_D_CONSTRAINTS_N88 WGMMA_D_CONSTRAINTS_N80, WGMMA_D_CONSTRAINTS(40)
#define WGMMA_D_CONSTRAINTS_N96 WGMMA_D_CONSTRAINTS_N88, WGMMA_D_CONSTRAINTS(44)
#define WGMMA_D_CONSTRAINTS_N104 WGMMA_D_CONSTRAINTS_N96, WGMMA_D_CONSTRAINTS(48)
#define WGMMA_D_CONSTRAINTS_N112 WGMMA_D_CONSTRAINTS_N104, WGMMA_D_CONSTRAINTS(52)
#define WGMMA_D_CONSTRAINTS_N120 WGMMA_D_CONSTRAINTS_N112, WGMMA_D_CONSTRAINTS(56)
#define WGMMA_D_CONSTRAINTS_N128 WGMMA_D_CONSTRAINTS_N120, WGMMA_D_CONSTRAINTS(60)
#define WGMMA_D_CONSTRAINTS_N136 WGMMA_D_CONSTRAINTS_N128, WGMMA_D_CONSTRAINTS(64)
#define WGMMA_D_CONSTRAINTS_N144 WGMMA_D_CONSTRAINTS_N136, WGMMA_D_CONSTRAINTS(68)
#define WGMMA_D_CONSTRAINTS_N152 WGMMA_D_CONSTRAINTS_N144, WGMMA_D_CONSTRAINTS(72)
#define WGMMA_D_CONSTRAINTS_N160 WGMMA_D_CONSTRAINTS_N152, WGMMA_D_CONSTRAINTS(76)
#define WGMMA_D_CONSTRAINTS_N168 WGMMA_D_CONSTRAINTS_N160, WGMMA_D_CONSTRAINTS(80)
#define WGMMA_D_CONSTRAINTS_N176 WGMMA_D_CONSTRAINTS_N168, WGMMA_D_CONSTRAINTS(84)
#define WGMMA_D_CONSTRAINTS_N184 WGMMA_D_CONSTRAINTS_N176, WGMMA_D_CONSTRAINTS(88)
#define WGMMA_D_CONSTRAINTS_N192 WGMMA_D_CONSTRAINTS_N184, WGMMA_D_CONSTRAINTS(92)
#define WGMMA_D_CONSTRAINTS_N200 WGMMA_D_CONSTRAINTS_N192, WGMMA_D_CONSTRAINTS(96)
#define WGMMA_D_CONSTRAINTS_N208 WGMMA_D_CONSTRAINTS_N200, WGMMA_D_CONSTRAINTS(100)
#define WGMMA_D_CONSTRAINTS_N216 WGMMA_D_CONSTRAINTS_N208, WGMMA_D_CONSTRAINTS(104)
#define WGMMA_D_CONSTRAINTS_N224 WGMMA_D_CONSTRAINTS_N216, WGMMA_D_CONSTRAINTS(108)
#define WGMMA_D_CONSTRAINTS_N232 WGMMA_D_CONSTRAINTS_N224, WGMMA_D_CONSTRAINTS(112)
#define WGMMA_D_CONSTRAINTS_N240 WGMMA_D_CONSTRAINTS_N232, WGMMA_D_CONSTRAINTS(116)
#define WGMMA_D_CONSTRAINTS_N248 WGMMA_D_CONSTRAINTS_N240, WGMMA_D_CONSTRAINTS(120)
#define WGMMA_D_CONSTRAINTS_N256 WGMMA_D_CONSTRAINTS_N248, WGMMA_D_CONSTRAINTS(124)
#define WGMMA(columns, a_number, b_number) \
    static __device__ __forceinline__ void wgmma_m64k16_bf16(float (&d)[columns / 2], uint64_t a, uint64_t b) \
    { \
        ASM_90A("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" WGMMA_D_OPERANDS_N##columns \
                "}, %" #a_number ", %" #b_number ", 1, 1, 1, 0, 0;" \
                : WGMMA_D_CONSTRAINTS_N##columns : "l"(a), "l"(b)); \
    }
WGMMA(8, 4, 5)
WGMMA(16, 8, 9)
WGMMA(24, 12, 13)
WGMMA(32, 16, 17)
WGMMA(40, 20, 21)
WGMMA(48, 24, 25)
WGMMA(56, 28, 29)
WGMMA(64, 32, 33)
WGMMA(72, 36, 37)
WGMMA(80, 40, 41)
WGMMA(88, 44, 45)
WGMMA(96, 48, 49)
WGMMA(104, 52, 53)
WGMMA(112, 56, 57)
WGMMA(120, 60, 61)
WGMMA(128, 64, 65)
WGMMA(136, 68, 69)
WGMMA(144, 72, 73)
WGMMA(152, 76, 77)
WGMMA(160, 80, 81)
WGMMA(168, 84, 85)
WGMMA(176, 88, 89)
WGMMA(184, 92, 93)
WGMMA(192, 96, 97)
WGMMA(200, 100, 101)
WGMMA(208, 104, 105)
WGMMA(216, 108, 109)
WGMMA(224, 112, 113)
WGMMA(232, 116, 117)
WGMMA(240, 120, 121)
WGMMA(248, 124, 125)
WGMMA(256, 128, 129)
/* clang-format on */
#undef WGMMA
#undef WGMMA_D_CONSTRAINTS
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
