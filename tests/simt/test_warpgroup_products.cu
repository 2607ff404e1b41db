/**
 * @file test_warpgroup_products.cu
 * @brief Tests the layout of tiles in bulk_copy.cuh, a warpgroup's products against scalar sums, and copies whose
 *        completion is signalled by an mbarrier.
 *
 * Runs on the simulator and, with "ninja test-gpu", on a GPU, from the same source. The numbers are small integers, so
 * that every sum is exact.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_arrays.h"
#include "kernels/bulk_copy.cuh"
#include "kernels/messages.cuh"
#include "kernels/warpgroup_product.cuh"

static int tests, failures;

static void ok(bool good, const char *name, int number)
{
    tests++;
    failures += !good;
    printf("%sok %d - %s %d\n", good ? "" : "not ", tests, name, number);
}

static tensor_map map_of(const void *matrix, uint64_t rows, uint64_t columns, uint32_t tile_rows, uint32_t tile_columns,
                         uint32_t swizzle)
{
    tensor_map map;
    const char *const wrong = tensor_map_bf16(&map, matrix, rows, columns, tile_rows, tile_columns, swizzle);

    if (wrong) {
        printf("Bail out! %s\n", wrong);
        exit(1);
    }
    return map;
}

/* --- tiles -------------------------------------------------------------------------------------------------------- */

enum { MATRIX_ROWS = 40, MATRIX_COLUMNS = 72, TILE_ROWS = 24 };

/** Copies a tile to shared memory and, from there, element by element to `out`. */
static __global__ void tile_kernel(const __grid_constant__ tensor_map map, int row, int column, int tile_columns,
                                   uint16_t *out)
{
    __shared__ __align__(1024) uint16_t tile[TILE_ROWS * 64];
    __shared__ mbarrier arrived;

    if (threadIdx.x == 0) {
        mbarrier_init(&arrived, 1);
        mbarrier_init_fence();
        tensor_map_prefetch(&map);
        mbarrier_arrive_expect(&arrived, TILE_ROWS * (uint32_t)tile_columns * 2);
        bulk_copy_tile(tile, &map, row, column, &arrived);
    }
    __syncthreads();
    mbarrier_wait(&arrived, 0);
    for (int i = (int)threadIdx.x; i < TILE_ROWS * tile_columns; i += (int)blockDim.x)
        out[i] = tile[i];
}

static void test_tile(uint32_t swizzle, int row, int column)
{
    const int columns = swizzle ? (int)swizzle / 2 : 64;
    static uint16_t matrix[MATRIX_ROWS * MATRIX_COLUMNS], out[TILE_ROWS * 64];
    bool good = true;

    for (int i = 0; i < MATRIX_ROWS * MATRIX_COLUMNS; i++)
        matrix[i] = (uint16_t)(i + 1);
    uint16_t *const device = allocate_and_upload(matrix, MATRIX_ROWS * MATRIX_COLUMNS);
    uint16_t *const device_out = allocate_and_upload(out, TILE_ROWS * 64);

    tile_kernel<<<1, 64>>>(map_of(device, MATRIX_ROWS, MATRIX_COLUMNS, TILE_ROWS, (uint32_t)columns, swizzle), row,
                           column, columns, device_out);
    download_and_free(out, device_out, TILE_ROWS * 64);
    check_cuda(cudaFree(device));
    for (int r = 0; r < TILE_ROWS; r++) {
        for (int c = 0; c < columns; c++) {
            const int y = row + r, x = column + c;
            const bool inside = y >= 0 && y < MATRIX_ROWS && x >= 0 && x < MATRIX_COLUMNS;
            const int byte = (r * columns + c) * 2;
            const int bits = swizzle ? (int)swizzle / 16 - 1 : 0;
            const int place = byte ^ (byte >> 7 & bits) << 4;

            good &= out[place / 2] == (inside ? matrix[y * MATRIX_COLUMNS + x] : 0);
        }
    }
    ok(good, "a tile, its swizzle", (int)swizzle);
}

/* --- a ring filled by bulk copies and by the lanes' copies -------------------------------------------------------- */

enum { STAGES = 3, STAGE_WORDS = 64, STEPS = 10 };

/**
 * Passes rows through a ring: one warp fills it, alternating between bulk copies and copies by its lanes; the other
 * warp reads it.
 */
static __global__ void ring_kernel(const int *words, int *sums)
{
    __shared__ __align__(128) int ring[STAGES][STAGE_WORDS];
    __shared__ mbarrier full[STAGES], empty[STAGES];
    const int lane = (int)threadIdx.x % 32;

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&full[i], 32);
            mbarrier_init(&empty[i], 1);
        }
        mbarrier_init_fence();
    }
    __syncthreads();
    for (int step = 0; step < STEPS; step++) {
        const int stage = step % STAGES;
        const uint32_t parity = step / STAGES & 1;

        if (threadIdx.x < 32) {
            mbarrier_wait(&empty[stage], parity ^ 1);
            if (step % 2 == 0) {
                if (lane == 0) {
                    mbarrier_arrive_expect(&full[stage], sizeof ring[stage]);
                    bulk_copy(ring[stage], words + step * STAGE_WORDS, sizeof ring[stage], &full[stage]);
                } else {
                    mbarrier_arrive(&full[stage]);
                }
            } else {
                if (lane < STAGE_WORDS / 4)
                    cp_async_16(&ring[stage][4 * lane], words + step * STAGE_WORDS + 4 * lane, lane % 2 * 16);
                mbarrier_arrive_cp_async(&full[stage]);
            }
        } else {
            while (!mbarrier_try_wait(&full[stage], parity)) {
            }
            sums[step * 32 + lane] = ring[stage][lane] + 1000 * ring[stage][lane + 32];
            __syncwarp();
            if (elect_one())
                mbarrier_arrive(&empty[stage]);
        }
    }
}

static void test_ring(void)
{
    static int words[STEPS * STAGE_WORDS], sums[STEPS * 32];
    bool good = true;

    for (int i = 0; i < STEPS * STAGE_WORDS; i++)
        words[i] = i + 1;
    int *const device = allocate_and_upload(words, STEPS * STAGE_WORDS);
    int *const device_sums = allocate_and_upload(sums, STEPS * 32);

    ring_kernel<<<1, 64>>>(device, device_sums);
    download_and_free(sums, device_sums, STEPS * 32);
    check_cuda(cudaFree(device));
    for (int i = 0; i < STEPS * 32; i++) {
        const int step = i / 32, lane = i % 32;
        const bool there = step % 2 == 0 || lane / 4 % 2 == 1;
        const int *const from = words + step * STAGE_WORDS + lane;

        good &= sums[i] == (there ? from[0] + 1000 * from[32] : 0);
    }
    ok(good, "a ring of stages", STAGES);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

enum { PRODUCT_DEPTH = 128 };

/** Computes c[64][COLUMNS] = a[64][PRODUCT_DEPTH] b[COLUMNS][PRODUCT_DEPTH]^T; a thread of warp 4 copies the tiles. */
template <int COLUMNS>
static __global__ __launch_bounds__(160) void product_kernel(const __grid_constant__ tensor_map a_map,
                                                             const __grid_constant__ tensor_map b_map, float *c)
{
    extern __shared__ __align__(1024) unsigned char stages[];
    unsigned char *const a = stages;
    unsigned char *const b = stages + 64 * 128;
    __shared__ mbarrier full, empty;

    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init(&empty, 4);
        mbarrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 128) {
        for (int step = 0; step < PRODUCT_DEPTH / 64; step++) {
            mbarrier_wait(&empty, (step & 1) ^ 1);
            mbarrier_arrive_expect(&full, (64 + COLUMNS) * 128);
            bulk_copy_tile(a, &a_map, 0, 64 * step, &full);
            bulk_copy_tile(b, &b_map, 0, 64 * step, &full);
        }
    }
    if (threadIdx.x >= 128)
        return;
    float sums[COLUMNS / 2];

    for (int i = 0; i < COLUMNS / 2; i++)
        sums[i] = 0;
    for (int step = 0; step < PRODUCT_DEPTH / 64; step++) {
        mbarrier_wait(&full, step & 1);
        wgmma_compiler_fence(sums);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < 4; k++)
            wgmma_m64k16_bf16(sums, wgmma_descriptor(a + 32 * k), wgmma_descriptor(b + 32 * k));
        wgmma_commit_group();
        wgmma_wait_group<0>();
        wgmma_compiler_fence(sums);
        if (threadIdx.x % 32 == 0)
            mbarrier_arrive(&empty);
    }
    const int row = (int)threadIdx.x / 32 * 16 + (int)threadIdx.x % 32 / 4;

    for (int i = 0; i < COLUMNS / 2; i++)
        c[(row + i / 2 % 2 * 8) * COLUMNS + i / 4 * 8 + (int)threadIdx.x % 4 * 2 + i % 2] = sums[i];
}

static __nv_bfloat16 a[64 * PRODUCT_DEPTH], b[256 * PRODUCT_DEPTH];
static float c[64 * 256];

static void fill(__nv_bfloat16 *numbers, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        numbers[i] = __float2bfloat16((float)(int)(seed >> 29) - 3);
    }
}

template <int COLUMNS>
static void test_product(void)
{
    bool good = true;

    fill(a, 64 * PRODUCT_DEPTH, 1);
    fill(b, COLUMNS * PRODUCT_DEPTH, 2);
    __nv_bfloat16 *const device_a = allocate_and_upload(a, 64 * PRODUCT_DEPTH);
    __nv_bfloat16 *const device_b = allocate_and_upload(b, COLUMNS * PRODUCT_DEPTH);
    float *const device_c = allocate_and_upload(c, 64 * COLUMNS);
    const int shared = (64 + COLUMNS) * 128;

    check_cuda(cudaFuncSetAttribute(product_kernel<COLUMNS>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    product_kernel<COLUMNS><<<1, 160, shared>>>(map_of(device_a, 64, PRODUCT_DEPTH, 64, 64, 128),
                                                map_of(device_b, COLUMNS, PRODUCT_DEPTH, COLUMNS, 64, 128), device_c);
    download_and_free(c, device_c, 64 * COLUMNS);
    check_cuda(cudaFree(device_a));
    check_cuda(cudaFree(device_b));
    for (int i = 0; i < 64; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0;

            for (int k = 0; k < PRODUCT_DEPTH; k++)
                sum += __bfloat162float(a[i * PRODUCT_DEPTH + k]) * __bfloat162float(b[j * PRODUCT_DEPTH + k]);
            good &= c[i * COLUMNS + j] == sum;
        }
    }
    ok(good, "a product, columns", COLUMNS);
}

/* --- operands that threads write ---------------------------------------------------------------------------------- */

/**
 * Computes c[64][16] = a[64][64] b[16][64]^T from rows that the threads' copies gather in reverse order, swizzled like
 * a tile.
 */
static __global__ __launch_bounds__(128) void gather_kernel(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c)
{
    extern __shared__ __align__(1024) unsigned char stages[];
    __shared__ mbarrier full;
    float sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};

    if (threadIdx.x == 0)
        mbarrier_init(&full, 128);
    __syncthreads();
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800 /* earlier GPUs have no asynchronous copies */
    for (int chunk = (int)threadIdx.x; chunk < 80 * 8; chunk += 128) {
        const int row = chunk / 8, at = chunk % 8;
        const __nv_bfloat16 *const from = (row < 64 ? a + (63 - row) * 64 : b + (79 - row) * 64) + at * 8;

        cp_async_16(stages + row * 128 + (at ^ row % 8) * 16, from);
    }
    mbarrier_arrive_cp_async(&full);
#endif
    mbarrier_wait(&full, 0);
    async_proxy_fence_shared();
    wgmma_compiler_fence(sums);
    wgmma_fence();
    for (int k = 0; k < 4; k++)
        wgmma_m64k16_bf16(sums, wgmma_descriptor(stages + 32 * k), wgmma_descriptor(stages + 64 * 128 + 32 * k));
    wgmma_commit_group();
    wgmma_wait_group<0>();
    wgmma_compiler_fence(sums);
    const int row = (int)threadIdx.x / 32 * 16 + (int)threadIdx.x % 32 / 4;

    for (int i = 0; i < 8; i++)
        c[(row + i / 2 % 2 * 8) * 16 + i / 4 * 8 + (int)threadIdx.x % 4 * 2 + i % 2] = sums[i];
}

static void test_gather(void)
{
    bool good = true;

    fill(a, 64 * 64, 3);
    fill(b, 16 * 64, 4);
    __nv_bfloat16 *const device_a = allocate_and_upload(a, 64 * 64);
    __nv_bfloat16 *const device_b = allocate_and_upload(b, 16 * 64);
    float *const device_c = allocate_and_upload(c, 64 * 16);

    gather_kernel<<<1, 128, 80 * 128>>>(device_a, device_b, device_c);
    download_and_free(c, device_c, 64 * 16);
    check_cuda(cudaFree(device_a));
    check_cuda(cudaFree(device_b));
    for (int i = 0; i < 64; i++) {
        for (int j = 0; j < 16; j++) {
            float sum = 0;

            for (int k = 0; k < 64; k++)
                sum += __bfloat162float(a[(63 - i) * 64 + k]) * __bfloat162float(b[(15 - j) * 64 + k]);
            good &= c[i * 16 + j] == sum;
        }
    }
    ok(good, "rows gathered by threads, columns", 16);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/** Passes a row from block 0 to the others; one thread of each block waits for the row and copies it in bulk. */
static __global__ void message_kernel(int *row, int *ready, int *out)
{
    __shared__ __align__(16) int copied[32];
    __shared__ mbarrier arrived;

    if (blockIdx.x == 0) {
        row[threadIdx.x] = (int)threadIdx.x + 7;
        __syncwarp();
        if (threadIdx.x == 0)
            add_release(ready, 1);
        return;
    }
    if (threadIdx.x == 0) {
        mbarrier_init(&arrived, 1);
        mbarrier_init_fence();
        while (load_acquire(ready) == 0)
            __nanosleep(100);
        async_proxy_fence();
        mbarrier_arrive_expect(&arrived, sizeof copied);
        bulk_copy(copied, row, sizeof copied, &arrived);
    }
    __syncwarp();
    mbarrier_wait(&arrived, 0);
    out[(blockIdx.x - 1) * 32 + threadIdx.x] = copied[threadIdx.x];
}

static void test_message(void)
{
    static int zeros[3 * 32], out[3 * 32];
    int *row = allocate_and_upload(zeros, 32), *ready = allocate_and_upload(zeros, 1),
        *device_out = allocate_and_upload(zeros, 3 * 32);
    void *arguments[] = {&row, &ready, &device_out};
    bool good = true;

    check_cuda(cudaLaunchCooperativeKernel((void *)message_kernel, 4, 32, arguments, 0, 0));
    download_and_free(out, device_out, 3 * 32);
    check_cuda(cudaFree(row));
    check_cuda(cudaFree(ready));
    for (int i = 0; i < 3 * 32; i++)
        good &= out[i] == i % 32 + 7;
    ok(good, "a message, then a copy, blocks", 4);
}

/* --- tensor maps -------------------------------------------------------------------------------------------------- */

static void test_refused_maps(void)
{
    static const struct {
        int offset;
        uint64_t rows, columns;
        uint32_t tile_rows, tile_columns, swizzle;
    } bad[] = {{8, 8, 64, 8, 64, 128}, {0, 0, 64, 8, 64, 128}, {0, 8, 60, 8, 64, 128}, {0, 8, 64, 257, 64, 128},
               {0, 8, 64, 8, 12, 0},   {0, 8, 64, 8, 64, 16},  {0, 8, 64, 8, 32, 128}};
    char *const matrix = allocate_and_upload("", 1);
    tensor_map map;

    for (int i = 0; i < (int)(sizeof bad / sizeof bad[0]); i++)
        ok(tensor_map_bf16(&map, matrix + bad[i].offset, bad[i].rows, bad[i].columns, bad[i].tile_rows,
                           bad[i].tile_columns, bad[i].swizzle),
           "a map that is refused", i);
    check_cuda(cudaFree(matrix));
}

int main(void)
{
    static const uint32_t swizzles[] = {0, 32, 64, 128};
    const int architecture = compiled_architecture_of((const void *)gather_kernel);

    if (architecture != 90) {
        printf("1..0 # SKIP sm_90 has these instructions, this build is for sm_%d\n", architecture);
        return 0;
    }
    for (int i = 0; i < 4; i++) {
        test_tile(swizzles[i], 8, 0);
        test_tile(swizzles[i], 30, 48);
        test_tile(swizzles[i], -5, -8);
    }
    test_ring();
    test_product<8>();
    test_product<24>();
    test_product<64>();
    test_product<192>();
    test_product<256>();
    test_gather();
    test_message();
    test_refused_maps();
    printf("1..%d\n", tests);
    return failures > 0;
}
