/**
 * @file test_tensor_cores.cu
 * @brief Tests the layout of fragments in tensor_core.cuh, products against scalar sums, asynchronous copies and vector
 * accesses.
 *
 * Runs on the simulator and, with "ninja test-gpu", on a GPU, from the same source. Except in the tests of rounding,
 * the factors are small integers, so that every sum is exact and the order of summation does not matter.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <math.h>
#include <mma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_arrays.h"
#include "kernels/tensor_core.cuh"

namespace wmma = nvcuda::wmma;

static int tests, failures;

static void ok(bool good, const char *name)
{
    tests++;
    failures += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", tests, name);
}

static void to_number(__nv_bfloat16 *number, float value)
{
    *number = __float2bfloat16(value);
}

static void to_number(__half *number, float value)
{
    *number = __float2half(value);
}

static float to_float(__nv_bfloat16 number)
{
    return __bfloat162float(number);
}

static float to_float(__half number)
{
    return __half2float(number);
}

static unsigned random_state = 1;

static unsigned random_bits(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

template <class T>
static void fill_with_integers(T *numbers, int count)
{
    for (int i = 0; i < count; i++)
        to_number(&numbers[i], (float)(int)(random_bits() % 31) - 15);
}

template <class T>
static void fill_with_reals(T *numbers, int count)
{
    for (int i = 0; i < count; i++)
        to_number(&numbers[i], (float)random_bits() / (float)(1 << 23) - 1);
}

/* --- mma with fragments loaded by hand ---------------------------------------------------------------------------- */

enum { M = 16, N = 8, K = 16 };

static __device__ void multiply(float d[4], const uint32_t a[4], const uint32_t b[2], __nv_bfloat16)
{
    mma_m16n8k16_bf16(d, a, b);
}

static __device__ void multiply(float d[4], const uint32_t a[4], const uint32_t b[2], __half)
{
    mma_m16n8k16_f16(d, a, b);
}

/** Computes d [M, N] += a [M, K] b [K, N]; b is column-major. */
template <class T>
static __global__ void mma_kernel(const T *a, const T *b, float *d)
{
    const int group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
    uint32_t of_a[4], of_b[2];
    float of_d[4];

    for (int i = 0; i < 4; i++)
        of_a[i] = *(const uint32_t *)&a[(group + i % 2 * 8) * K + pair + i / 2 * 8];
    for (int i = 0; i < 2; i++)
        of_b[i] = *(const uint32_t *)&b[group * K + pair + 8 * i];
    for (int i = 0; i < 4; i++)
        of_d[i] = d[(group + i / 2 * 8) * N + pair + i % 2];
    multiply(of_d, of_a, of_b, a[0]);
    for (int i = 0; i < 4; i++)
        d[(group + i / 2 * 8) * N + pair + i % 2] = of_d[i];
}

/** Checks a product. `tolerance` is in units of 2^-24 times the sum of the absolute values of each element's terms. */
template <class T>
static bool is_product(const T *a, const T *b, const float *before, const float *after, float tolerance)
{
    for (int i = 0; i < M * N; i++) {
        double sum = (double)before[i], of_all = fabs((double)before[i]);

        for (int k = 0; k < K; k++) {
            const double product = (double)to_float(a[i / N * K + k]) * (double)to_float(b[i % N * K + k]);

            sum += product;
            of_all += fabs(product);
        }
        if (!(fabs((double)after[i] - sum) <= (double)tolerance * 0x1p-24 * of_all)) {
            printf("# row %d, column %d: %.9g, expected %.17g\n", i / N, i % N, (double)after[i], sum);
            return false;
        }
    }
    return true;
}

template <class T>
static bool mma_is_right(void (*fill)(T *numbers, int count), float tolerance)
{
    T a[M * K], b[N * K];
    float before[M * N], after[M * N];

    fill(a, M * K);
    fill(b, N * K);
    for (int i = 0; i < M * N; i++)
        before[i] = (float)i;
    T *const device_a = allocate_and_upload(a, M * K), *const device_b = allocate_and_upload(b, N * K);
    float *const device_d = allocate_and_upload(before, M * N);

    mma_kernel<<<1, 32>>>(device_a, device_b, device_d);
    download_and_free(after, device_d, M * N);
    check_cuda(cudaFree(device_a));
    check_cuda(cudaFree(device_b));
    return is_product(a, b, before, after, tolerance);
}

/* --- ldmatrix ----------------------------------------------------------------------------------------------------- */

enum { LOADS = 4, WORDS_OF_LOAD = 4 * 32 };

/** Loads matrices with four variants of ldmatrix. Element (row, column) of matrix m is 100 m + 10 row + column. */
static __global__ void ldmatrix_kernel(uint32_t *loaded)
{
    __shared__ __align__(16) uint16_t matrices[4][8][8];
    const int lane = threadIdx.x;
    uint32_t words[4];

    for (int column = 0; column < 8; column++)
        matrices[lane / 8][lane % 8][column] = (uint16_t)(lane / 8 * 100 + lane % 8 * 10 + column);
    __syncwarp();
    ldmatrix_x4(words, matrices[lane / 8][lane % 8]);
    for (int m = 0; m < 4; m++)
        loaded[m * 32 + lane] = words[m];
    ldmatrix_x4_transposed(words, matrices[lane / 8][lane % 8]);
    for (int m = 0; m < 4; m++)
        loaded[WORDS_OF_LOAD + m * 32 + lane] = words[m];
    ldmatrix_x2(words, matrices[lane / 8 % 2][lane % 8]);
    for (int m = 0; m < 2; m++)
        loaded[2 * WORDS_OF_LOAD + m * 32 + lane] = words[m];
    ldmatrix_x2_transposed(words, matrices[lane / 8 % 2][lane % 8]);
    for (int m = 0; m < 2; m++)
        loaded[3 * WORDS_OF_LOAD + m * 32 + lane] = words[m];
}

static void ldmatrix_is_right(void)
{
    static const char *const names[LOADS] = {"ldmatrix_x4", "ldmatrix_x4_transposed", "ldmatrix_x2",
                                             "ldmatrix_x2_transposed"};
    static uint32_t loaded[LOADS * WORDS_OF_LOAD];
    uint32_t *const device = allocate_and_upload(loaded, LOADS * WORDS_OF_LOAD);

    ldmatrix_kernel<<<1, 32>>>(device);
    download_and_free(loaded, device, LOADS * WORDS_OF_LOAD);
    for (int load = 0; load < LOADS; load++) {
        bool good = true;

        for (int i = 0; i < (load < 2 ? 4 : 2) * 32; i++) {
            const int m = i / 32, major = i % 32 / 4, minor = i % 4 * 2;
            const int first = 100 * m + (load % 2 ? 10 * minor + major : 10 * major + minor);
            const int second = first + (load % 2 ? 10 : 1);

            good = good && loaded[load * WORDS_OF_LOAD + i] == (uint32_t)(first | second << 16);
        }
        ok(good, names[load]);
    }
}

/* --- wmma --------------------------------------------------------------------------------------------------------- */

enum { SIDE = 16, PITCH = 24 };

template <class T, class LayoutA, class LayoutB>
static __global__ void wmma_kernel(const T *a, const T *b, const float *c, float *d, wmma::layout_t layout)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800 /* earlier GPUs have no bf16 fragments */
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, T, LayoutA> of_a;
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, T, LayoutB> of_b;
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sums, before;

    wmma::fill_fragment(sums, 2.0f);
    wmma::load_matrix_sync(of_a, a, PITCH);
    wmma::load_matrix_sync(of_b, b, PITCH);
    wmma::load_matrix_sync(before, c, PITCH, layout);
    wmma::mma_sync(sums, of_a, of_b, sums);
    for (int i = 0; i < sums.num_elements; i++)
        sums.x[i] += before.x[i];
    wmma::store_matrix_sync(d, sums, PITCH, layout);
#endif
}

/** Returns the index of element (row, column) of a matrix. */
static int place(int row, int column, bool by_rows)
{
    return by_rows ? row * PITCH + column : column * PITCH + row;
}

template <class T, class LayoutA, class LayoutB>
static void wmma_is_right(const char *name, bool rows_of_a, bool rows_of_b)
{
    enum { ELEMENTS = SIDE * PITCH };
    T a[ELEMENTS], b[ELEMENTS];
    float c[ELEMENTS], d[ELEMENTS];
    bool good = true;

    fill_with_integers(a, ELEMENTS);
    fill_with_integers(b, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++)
        c[i] = (float)i;
    T *const device_a = allocate_and_upload(a, ELEMENTS), *const device_b = allocate_and_upload(b, ELEMENTS);
    float *const device_c = allocate_and_upload(c, ELEMENTS);

    for (int by_rows = 0; by_rows < 2; by_rows++) {
        float *const device_d = allocate_and_upload(c, ELEMENTS);

        wmma_kernel<T, LayoutA, LayoutB>
            <<<1, 32>>>(device_a, device_b, device_c, device_d, by_rows ? wmma::mem_row_major : wmma::mem_col_major);
        download_and_free(d, device_d, ELEMENTS);
        for (int row = 0; row < SIDE; row++)
            for (int column = 0; column < SIDE; column++) {
                float sum = 2 + c[place(row, column, by_rows)];

                for (int k = 0; k < SIDE; k++)
                    sum += to_float(a[place(row, k, rows_of_a)]) * to_float(b[place(k, column, rows_of_b)]);
                good = good && d[place(row, column, by_rows)] == sum;
            }
        /* The elements between the rows must be unchanged. */
        for (int i = SIDE; i < PITCH; i++)
            good = good && d[i] == c[i];
    }
    check_cuda(cudaFree(device_a));
    check_cuda(cudaFree(device_b));
    check_cuda(cudaFree(device_c));
    ok(good, name);
}

/* --- asynchronous copies ------------------------------------------------------------------------------------------ */

/**
 * Copies 4, 8 and 16 bytes per thread and zero-fills the last bytes of a copy; a copy of 16 zeros has a NULL source.
 */
static __global__ void copies_kernel(const int *from, int *to)
{
    __shared__ __align__(16) int words[3][128];
    const int lane = threadIdx.x;

    for (int i = 0; i < 4; i++)
        words[0][4 * lane + i] = words[1][4 * lane + i] = words[2][4 * lane + i] = -1;
    __syncwarp();
    __pipeline_memcpy_async(&words[0][lane], &from[lane], 4, lane % 5);
    __pipeline_memcpy_async(&words[1][2 * lane], &from[2 * lane], 8, lane % 9);
    __pipeline_memcpy_async(&words[2][4 * lane], lane < 16 ? &from[4 * lane] : NULL, 16, lane < 16 ? lane : 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    for (int i = 0; i < 4; i++)
        for (int size = 0; size < 3; size++)
            to[128 * size + 32 * i + lane] = words[size][32 * i + lane];
}

static bool copies_are_right(void)
{
    int from[128], to[3 * 128];

    for (int i = 0; i < 128; i++)
        from[i] = (int)(0x01010101u * (unsigned)(i + 1));
    memset(to, 0, sizeof to);
    int *const device_from = allocate_and_upload(from, 128), *const device_to = allocate_and_upload(to, 3 * 128);

    copies_kernel<<<1, 32>>>(device_from, device_to);
    download_and_free(to, device_to, 3 * 128);
    check_cuda(cudaFree(device_from));
    for (int size = 0; size < 3; size++) {
        const int bytes = 4 << size;

        for (int at = 0; at < 512; at++) {
            const int lane = at / bytes;
            const int zeros = size == 0 ? lane % 5 : size == 1 ? lane % 9 : lane < 16 ? lane : 16;
            const int copied = at % bytes < bytes - zeros ? ((const unsigned char *)from)[at] : 0;

            if (((const unsigned char *)(to + 128 * size))[at] != (lane < 32 ? copied : 0xff)) {
                printf("# byte %d of the copies of %d bytes\n", at, bytes);
                return false;
            }
        }
    }
    return true;
}

/* --- copies, ldmatrix and mma together ---------------------------------------------------------------------------- */

enum { TILE_M = 64, TILE_N = 16, LONG_K = 256, STEP = 32, STAGES = 3, THREADS = 128 };

/** Returns the slot of a 16-byte chunk in a row of four, swizzled so that ldmatrix has no bank conflict. */
static __device__ int swizzled(int row, int piece)
{
    return row * STEP + (piece ^ row / 2 % 4) * 8;
}

/** Copies step `step` along K of both operands to a stage, 16 bytes per copy. */
template <class T>
static __device__ void copy_step(T *of_a, T *of_b, const T *a, const T *b, int step)
{
    const int pieces = STEP / 8;

    for (int i = threadIdx.x; i < TILE_M * pieces; i += THREADS)
        __pipeline_memcpy_async(&of_a[swizzled(i / pieces, i % pieces)],
                                &a[i / pieces * LONG_K + step * STEP + i % pieces * 8], 16);
    for (int i = threadIdx.x; i < TILE_N * pieces; i += THREADS)
        __pipeline_memcpy_async(&of_b[swizzled(i / pieces, i % pieces)],
                                &b[i / pieces * LONG_K + step * STEP + i % pieces * 8], 16);
}

/** Computes d [TILE_M, TILE_N] = a [TILE_M, LONG_K] b [LONG_K, TILE_N] with a ring of stages, 16 rows per warp. */
template <class T>
static __global__ void ring_kernel(const T *a, const T *b, float *d)
{
    __shared__ __align__(16) T of_a[STAGES][TILE_M * STEP];
    __shared__ __align__(16) T of_b[STAGES][TILE_N * STEP];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sums[2][4] = {};

    for (int step = 0; step < STAGES - 1; step++) {
        copy_step(of_a[step], of_b[step], a, b, step);
        __pipeline_commit();
    }
    for (int step = 0; step < LONG_K / STEP; step++) {
        const int next = step + STAGES - 1;

        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (next < LONG_K / STEP)
            copy_step(of_a[next % STAGES], of_b[next % STAGES], a, b, next);
        __pipeline_commit();
        for (int k = 0; k < STEP / 16; k++) {
            uint32_t fragment[4], columns[4];

            ldmatrix_x4(fragment, &of_a[step % STAGES][swizzled(16 * warp + lane % 16, 2 * k + lane / 16)]);
            ldmatrix_x4(columns, &of_b[step % STAGES][swizzled(lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2)]);
            multiply(sums[0], fragment, columns, a[0]);
            multiply(sums[1], fragment, columns + 2, a[0]);
        }
    }
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 4; i++)
            d[(16 * warp + lane / 4 + i / 2 * 8) * TILE_N + half * 8 + lane % 4 * 2 + i % 2] = sums[half][i];
}

template <class T>
static bool ring_is_right(void)
{
    T a[TILE_M * LONG_K], b[TILE_N * LONG_K];
    float d[TILE_M * TILE_N] = {};

    fill_with_integers(a, TILE_M * LONG_K);
    fill_with_integers(b, TILE_N * LONG_K);
    T *const device_a = allocate_and_upload(a, TILE_M * LONG_K), *const device_b = allocate_and_upload(b,
                                                                                                       TILE_N * LONG_K);
    float *const device_d = allocate_and_upload(d, TILE_M * TILE_N);

    ring_kernel<<<1, THREADS>>>(device_a, device_b, device_d);
    download_and_free(d, device_d, TILE_M * TILE_N);
    check_cuda(cudaFree(device_a));
    check_cuda(cudaFree(device_b));
    for (int i = 0; i < TILE_M * TILE_N; i++) {
        float sum = 0;

        for (int k = 0; k < LONG_K; k++)
            sum += to_float(a[i / TILE_N * LONG_K + k]) * to_float(b[i % TILE_N * LONG_K + k]);
        if (d[i] != sum)
            return false;
    }
    return true;
}

/* --- vectors ------------------------------------------------------------------------------------------------------ */

/** Moves one vector per thread through shared memory. */
template <class Vector>
static __global__ void vector_kernel(const Vector *from, Vector *to)
{
    __shared__ Vector between[32];

    between[threadIdx.x] = from[threadIdx.x];
    __syncwarp();
    to[threadIdx.x] = between[31 - threadIdx.x];
}

template <class Vector>
static void vectors_are_right(const char *name)
{
    unsigned char from[32 * sizeof(Vector)], to[32 * sizeof(Vector)];
    bool good = true;

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)random_bits();
    unsigned char *const device_from = allocate_and_upload(from, sizeof from), *const device_to = allocate_and_upload(
                                                                                   from, sizeof to);

    vector_kernel<<<1, 32>>>((const Vector *)device_from, (Vector *)device_to);
    download_and_free(to, device_to, sizeof to);
    check_cuda(cudaFree(device_from));
    for (int i = 0; i < 32; i++)
        good = good && memcmp(to + i * sizeof(Vector), from + (31 - i) * sizeof(Vector), sizeof(Vector)) == 0;
    ok(good, name);
}

/** Doubles four bf16 numbers per thread, which are loaded and stored as one uint2. */
static __global__ void four_bfloats_kernel(const __nv_bfloat16 *from, __nv_bfloat16 *to)
{
    uint2 word = ((const uint2 *)from)[threadIdx.x];
    __nv_bfloat162 pairs[2];

    memcpy(pairs, &word, sizeof pairs);
    pairs[0] = __hadd2(pairs[0], pairs[0]);
    pairs[1] = __hadd2(pairs[1], pairs[1]);
    memcpy(&word, pairs, sizeof pairs);
    ((uint2 *)to)[threadIdx.x] = word;
}

static bool four_bfloats_are_right(void)
{
    __nv_bfloat16 from[128], to[128];
    bool good = true;

    fill_with_integers(from, 128);
    __nv_bfloat16 *const device_from = allocate_and_upload(from, 128), *const device_to = allocate_and_upload(from,
                                                                                                              128);

    four_bfloats_kernel<<<1, 32>>>(device_from, device_to);
    download_and_free(to, device_to, 128);
    check_cuda(cudaFree(device_from));
    for (int i = 0; i < 128; i++)
        good = good && to_float(to[i]) == 2 * to_float(from[i]);
    return good;
}

int main(void)
{
    const int architecture = compiled_architecture_of((const void *)four_bfloats_kernel);

    if (architecture < 80) {
        printf("1..0 # SKIP sm_80 has these products, this build is for sm_%d\n", architecture);
        return 0;
    }
    ok(mma_is_right<__nv_bfloat16>(fill_with_integers, 0), "mma_m16n8k16_bf16");
    ok(mma_is_right<__half>(fill_with_integers, 0), "mma_m16n8k16_f16");
    /* The 17 terms are aligned to the largest one, and a truncated sum has an error of up to two units per term. */
    ok(mma_is_right<__nv_bfloat16>(fill_with_reals, 2 * 17), "mma_m16n8k16_bf16 of numbers that round");
    ok(mma_is_right<__half>(fill_with_reals, 2 * 17), "mma_m16n8k16_f16 of numbers that round");
    ldmatrix_is_right();
    wmma_is_right<__nv_bfloat16, wmma::row_major, wmma::col_major>("wmma of bf16, rows by columns", true, false);
    wmma_is_right<__nv_bfloat16, wmma::col_major, wmma::row_major>("wmma of bf16, columns by rows", false, true);
    wmma_is_right<__half, wmma::row_major, wmma::row_major>("wmma of f16, rows by rows", true, true);
    wmma_is_right<__half, wmma::col_major, wmma::col_major>("wmma of f16, columns by columns", false, false);
    ok(copies_are_right(), "asynchronous copies of 4, 8 and 16 bytes, with zeros");
    ok(ring_is_right<__nv_bfloat16>(), "a ring of three stages, bf16");
    ok(ring_is_right<__half>(), "a ring of three stages, f16");
    vectors_are_right<short2>("vectors of 4 bytes");
    vectors_are_right<int2>("vectors of 8 bytes");
    vectors_are_right<uint2>("vectors of 8 bytes, unsigned");
    vectors_are_right<int4>("vectors of 16 bytes");
    vectors_are_right<uint4>("vectors of 16 bytes, unsigned");
    vectors_are_right<float4>("vectors of 16 bytes, float");
    vectors_are_right<double2>("vectors of 16 bytes, double");
    vectors_are_right<float3>("vectors of 12 bytes");
    ok(four_bfloats_are_right(), "four bf16 as one vector of 8 bytes");
    printf("1..%d\n", tests);
    return failures > 0;
}
