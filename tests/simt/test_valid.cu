/**
 * @file test_valid.cu
 * @brief Tests correct kernels such as readers of the course might write: each must run without a fault and produce the
 *        correct result.
 */
#include <cuda_runtime.h>

/* Included before cmocka.h, whose macros would alter these headers. */
#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <regex>

#include "simt_test.h"

#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <math_constants.h>

#include "kernels/tensor_core.cuh"

namespace cg = cooperative_groups;

static int *device_x; /* 0, 1, 2, and so on */
static int *device_y; /* zeros */

static int make_buffers(void **)
{
    device_x = device_iota();
    device_y = device_words(0);
    return 0;
}

static int free_buffers(void **)
{
    return cudaFree(device_x) != cudaSuccess || cudaFree(device_y) != cudaSuccess;
}

/** Fails the test unless the last launch succeeded; returns a host copy of device_y, valid until the next call. */
static const int *result(void)
{
    static int host[WORDS];

    expect_success();
    assert_int_equal(cudaMemcpy(host, device_y, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    return host;
}

/** Defines a test that launches once and checks one word of device_y. */
#define RIGHT(name, launch, index, expected)         \
    static void name(void **)                        \
    {                                                \
        launch;                                      \
        assert_int_equal(result()[index], expected); \
    }

/* --- locks, tickets, flags ---------------------------------------------------------------------------------------- */

static __global__ void lock_kernel(int *lock, int *count)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
        *count += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

static void a_lock(void **)
{
    lock_kernel<<<20, 32>>>(device_y, device_y + 1);
    assert_int_equal(result()[1], 20);
}

static __global__ void block_lock_kernel(int *lock, int *counts)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
    }
    __syncthreads();
    counts[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}

static void a_lock_of_a_block(void **)
{
    block_lock_kernel<<<20, 64>>>(device_y, device_y + 1);
    assert_int_equal(result()[64], 20);
}

static __global__ void ticket_kernel(unsigned *next, unsigned *serving, int *count)
{
    if (threadIdx.x % 32 == 0) {
        const unsigned mine = atomicAdd(next, 1u);

        while (atomicAdd(serving, 0u) != mine)
            ;
        __threadfence();
        *count = *count * 2 + 1;
        __threadfence();
        atomicAdd(serving, 1u);
    }
}

static void a_ticket(void **)
{
    ticket_kernel<<<3, 96>>>((unsigned *)device_y, (unsigned *)device_y + 1, device_y + 2);
    assert_int_equal(result()[2], 511);
}

static __global__ void volatile_flag_kernel(volatile int *flag, int *data)
{
    if (threadIdx.x == 32) {
        data[0] = 42;
        __threadfence();
        *flag = 1;
    } else if (threadIdx.x == 0) {
        while (*flag == 0)
            ;
        __threadfence();
        data[1] = data[0];
    }
}

static void a_volatile_flag(void **)
{
    volatile_flag_kernel<<<1, 64>>>(device_y, device_y + 1);
    assert_int_equal(result()[2], 42);
}

/* --- communication between blocks --------------------------------------------------------------------------------- */

static __device__ unsigned blocks_done = 0;

static __global__ void guide_reduction_kernel(const int *x, volatile int *sums)
{
    __shared__ bool last;

    if (threadIdx.x == 0) {
        sums[blockIdx.x] = x[blockIdx.x];
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        int sum = 0;

        for (unsigned i = threadIdx.x; i < gridDim.x; i += 32)
            sum += sums[i];
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (threadIdx.x == 0) {
            sums[0] = sum;
            blocks_done = 0;
        }
    }
}

static void the_guide_s_reduction(void **)
{
    guide_reduction_kernel<<<50, 32>>>(device_x, device_y);
    assert_int_equal(result()[0], 1225);
    guide_reduction_kernel<<<40, 32>>>(device_x, device_y);
    assert_int_equal(result()[0], 780);
}

static __global__ void last_block_kernel(const int *x, int *sums, unsigned *done, int *total)
{
    __shared__ unsigned ticket;

    sums[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        ticket = atomicAdd(done, 1u);
    __syncthreads();
    if (ticket == gridDim.x - 1) {
        int sum = 0;

        __threadfence();
        for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x)
            sum += sums[i];
        atomicAdd(total, sum);
    }
}

static void the_last_block_with_all_its_threads(void **)
{
    last_block_kernel<<<10, 64>>>(device_x, device_y + 2, (unsigned *)device_y, device_y + 1);
    assert_int_equal(result()[1], 20160);
}

static __global__ void look_back_kernel(const int *x, int *sums, int *partial, volatile int *flags, int *next)
{
    __shared__ int tile;

    if (threadIdx.x != 0)
        return;
    tile = atomicAdd(next, 1);
    partial[tile] = x[tile];
    __threadfence();
    flags[tile] = 1;
    int sum = x[tile];

    for (int before = tile - 1; before >= 0; before--) {
        int flag;

        while ((flag = flags[before]) == 0)
            ;
        __threadfence();
        if (flag == 2) {
            sum += sums[before];
            break;
        }
        sum += partial[before];
    }
    sums[tile] = sum;
    __threadfence();
    flags[tile] = 2;
}

static void decoupled_look_back(void **)
{
    look_back_kernel<<<50, 32>>>(device_x, device_y, device_y + 100, device_y + 200, device_y + 300);
    assert_int_equal(result()[49], 1225);
}

static __global__ void packed_look_back_kernel(unsigned long long *states)
{
    if (threadIdx.x != 0)
        return;
    unsigned long long sum = blockIdx.x;

    for (int before = (int)blockIdx.x - 1; before >= 0; before--) {
        unsigned long long state;

        while ((state = atomicAdd(&states[before], 0ull)) == 0)
            ;
        sum += state >> 2;
        if (state & 2)
            break;
    }
    atomicExch(&states[blockIdx.x], sum << 2 | 2);
}

static void look_back_in_one_word(void **)
{
    packed_look_back_kernel<<<30, 32>>>((unsigned long long *)device_y);
    assert_int_equal(result()[58] >> 2, 435);
}

/* --- atomics ------------------------------------------------------------------------------------------------------ */

static __device__ double guide_atomic_add(double *address, double value)
{
    unsigned long long *bits = (unsigned long long *)address;
    unsigned long long old = *bits, assumed;

    do {
        assumed = old;
        old = atomicCAS(bits, assumed,
                        (unsigned long long)__double_as_longlong(value + __longlong_as_double((long long)assumed)));
    } while (assumed != old);
    return __longlong_as_double((long long)old);
}

static __global__ void guide_atomic_kernel(double *sum)
{
    guide_atomic_add(sum, threadIdx.x);
}

static void the_guide_s_atomic_add(void **)
{
    double sum;

    guide_atomic_kernel<<<4, 96>>>((double *)device_y);
    memcpy(&sum, result(), sizeof sum);
    assert_true(sum == 4 * 95 * 48.0);
}

static __global__ void float_max_kernel(int *most, const int *x)
{
    const float mine = (float)x[threadIdx.x + blockIdx.x * blockDim.x];
    int old = *most;

    int seen;

    do {
        seen = old;
        old = atomicCAS(most, seen, __float_as_int(fmaxf(__int_as_float(seen), mine)));
    } while (old != seen);
}

static void a_maximum_of_floats(void **)
{
    float most;

    float_max_kernel<<<1, 64>>>(device_y, device_x);
    memcpy(&most, result(), sizeof most);
    assert_true(most == 63.0f);
}

static __global__ void aggregated_kernel(const int *x, int *count, int *kept)
{
    const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (x[thread] % 3 == 0) {
        const unsigned active = __activemask();
        const unsigned below = __popc(active & ((1u << threadIdx.x % 32) - 1));
        int base = 0;

        if (below == 0)
            base = atomicAdd(count, __popc(active));
        base = __shfl_sync(active, base, __ffs((int)active) - 1);
        kept[base + (int)below] = x[thread];
    }
}

static void atomics_of_a_warp_as_one(void **)
{
    aggregated_kernel<<<4, 64>>>(device_x, device_y, device_y + 1);
    assert_int_equal(result()[0], 86);
}

static __global__ void first_touch_kernel(int *y)
{
    __shared__ int first;

    atomicExch(&first, -1);
    __syncthreads();
    atomicCAS(&first, -1, (int)threadIdx.x);
    __syncthreads();
    y[threadIdx.x] = first;
}

static void an_exchange_as_first_touch(void **)
{
    first_touch_kernel<<<1, 64>>>(device_y);
    assert_int_equal(result()[63], 0);
}

static __global__ void reset_kernel(int *count, int *y)
{
    if (atomicAdd(count, 1) == (int)(gridDim.x * blockDim.x) - 1) {
        y[0] = 7;
        *count = 0;
    }
}

static void the_last_one_resets_the_counter(void **)
{
    reset_kernel<<<3, 32>>>(device_y, device_y + 1);
    assert_int_equal(result()[0], 0);
    assert_int_equal(result()[1], 7);
}

/* --- shared memory ------------------------------------------------------------------------------------------------ */

struct padded {
    char tag;
    double value;
    short last;
};

static __global__ void padded_kernel(const int *x, int *y)
{
    __shared__ padded pairs[32];

    pairs[threadIdx.x].tag = (char)threadIdx.x;
    pairs[threadIdx.x].value = x[threadIdx.x];
    pairs[threadIdx.x].last = 3;
    __syncthreads();
    const padded other = pairs[threadIdx.x ^ 1];

    y[threadIdx.x] = other.tag + (int)other.value + other.last;
}

static void padded_structures(void **)
{
    padded_kernel<<<1, 32>>>(device_x, device_y);
    assert_int_equal(result()[4], 13);
}

static __global__ void tiles_kernel(const int *x, int *y)
{
    __shared__ int words[64];
    const cg::thread_block_tile<16> half = cg::tiled_partition<16>(cg::this_thread_block());
    const cg::thread_block_tile<8> quarter = cg::tiled_partition<8>(cg::this_thread_block());

    words[threadIdx.x] = x[threadIdx.x];
    half.sync();
    const int sum = words[threadIdx.x] + words[threadIdx.x ^ 15];

    half.sync();
    words[threadIdx.x] = sum;
    quarter.sync();
    y[threadIdx.x] = words[threadIdx.x ^ 7] + half.shfl_down(sum, 8);
}

static void tiles_of_16_and_8_lanes(void **)
{
    tiles_kernel<<<1, 64>>>(device_x, device_y);
    assert_int_equal(result()[0], 30);
}

static __global__ void partial_warp_kernel(const int *x, int *y, int count)
{
    __shared__ int words[64];
    int sum = (int)threadIdx.x < count ? x[threadIdx.x] : 0;

    words[threadIdx.x] = sum;
    __syncthreads();
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(__activemask(), sum, lanes);
    if ((int)threadIdx.x < count) {
        const unsigned mask = __ballot_sync(__activemask(), (int)threadIdx.x < count);

        sum += __popc(mask);
    }
    y[threadIdx.x] = sum + words[(threadIdx.x + 1) % blockDim.x] * 0;
}

static void a_partial_last_warp(void **)
{
    partial_warp_kernel<<<1, 64>>>(device_x, device_y, 40);
    assert_int_equal(result()[0], 496 + 32);
}

static __global__ void bytes_kernel(const int *x, int *y)
{
    __shared__ bool flags[64];
    __shared__ unsigned char bytes[64];
    __shared__ __half halves[64];
    __shared__ __nv_bfloat16 brains[64];

    flags[threadIdx.x] = x[threadIdx.x] % 2;
    bytes[63 - threadIdx.x] = (unsigned char)threadIdx.x;
    halves[threadIdx.x] = __float2half((float)threadIdx.x);
    brains[threadIdx.x] = __float2bfloat16((float)threadIdx.x);
    __syncthreads();
    y[threadIdx.x] = flags[threadIdx.x ^ 1] + bytes[threadIdx.x] + (int)__half2float(halves[threadIdx.x]) +
                     (int)__bfloat162float(brains[threadIdx.x]);
}

static void elements_of_one_and_two_bytes(void **)
{
    bytes_kernel<<<1, 64>>>(device_x, device_y);
    assert_int_equal(result()[2], 1 + 61 + 2 + 2);
}

static __device__ int device_table[32] = {1, 2, 3};
static __constant__ float constant_table[32];

static __global__ void tables_kernel(int *y)
{
    static const int primes[] = {2, 3, 5, 7};

    y[threadIdx.x] = device_table[threadIdx.x] + (int)constant_table[threadIdx.x] + primes[threadIdx.x % 4];
    device_table[threadIdx.x] = 1;
}

static void tables(void **)
{
    float host[32];

    for (int i = 0; i < 32; i++)
        host[i] = (float)i;
    assert_int_equal(cudaMemcpyToSymbol(constant_table, host, sizeof host), cudaSuccess);
    tables_kernel<<<1, 32>>>(device_y);
    assert_int_equal(result()[2], 3 + 2 + 5);
}

static __global__ void coalesced_kernel(const int *x, int *count, int *kept)
{
    if (x[threadIdx.x] % 3 == 0) {
        const cg::coalesced_group here = cg::coalesced_threads();
        int base = 0;

        if (here.thread_rank() == 0)
            base = atomicAdd(count, (int)here.size());
        kept[here.shfl(base, 0) + (int)here.thread_rank()] = x[threadIdx.x];
    }
}

static void coalesced_threads(void **)
{
    coalesced_kernel<<<1, 64>>>(device_x, device_y, device_y + 1);
    assert_int_equal(result()[0], 22);
    assert_int_equal(result()[22], 63);
}

static __global__ void local_kernel(const int *x, int *y)
{
    int words[32 * 1024];

    for (int i = 0; i < 32 * 1024; i += 1024)
        words[i + threadIdx.x] = x[threadIdx.x] + i;
    y[threadIdx.x] = words[x[31] * 1024 + threadIdx.x];
}

static void local_memory_of_128_kilobytes(void **)
{
    local_kernel<<<1, 32>>>(device_x, device_y);
    assert_int_equal(result()[1], 31 * 1024 + 1);
}

/** A node of the linked lists that the threads allocate. */
struct link {
    int value;
    link *next;
};

static __global__ void list_kernel(const int *x, int *y, link **lists)
{
    link *first = nullptr;

    for (int i = 0; i <= x[threadIdx.x] % 4; i++)
        first = new link{x[threadIdx.x] + i, first};
    lists[threadIdx.x] = first;
    y[threadIdx.x] = first->value;

    __shared__ int *words;

    if (threadIdx.x == 0)
        words = (int *)malloc(blockDim.x * sizeof *words);
    __syncthreads();
    words[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] += words[threadIdx.x ^ 1];
    __syncthreads();
    if (threadIdx.x == 0)
        free(words);
}

static __global__ void delete_kernel(int *y, link **lists)
{
    int sum = 0;

    for (link *at = lists[threadIdx.x], *next; at; at = next) {
        next = at->next;
        sum += at->value;
        delete at;
    }
    y[threadIdx.x] = sum;
}

static __global__ void full_kernel(int *y)
{
    void *const large = malloc(5000000), *const more = malloc(5000000);

    y[0] = large && !more;
    free(large);
    free(more);
}

/** Tests memory that kernels allocate, use in later launches, and free. */
static void the_heap_of_kernels(void **)
{
    link **lists;
    int *const words = (int *)malloc(8);

    free(words);
    assert_int_equal(cudaMalloc(&lists, 64 * sizeof *lists), cudaSuccess);
    list_kernel<<<1, 64>>>(device_x, device_y, lists);
    assert_int_equal(result()[5], 5 + 1 + 4);
    delete_kernel<<<1, 64>>>(device_y, lists);
    assert_int_equal(result()[7], 4 * 7 + 6);
    full_kernel<<<1, 1>>>(device_y);
    assert_int_equal(result()[0], 1);
    full_kernel<<<1, 1>>>(device_y);
    assert_int_equal(result()[0], 1);
    assert_int_equal(cudaFree(lists), cudaSuccess);
}

struct row_of_three {
    int word[3];
    struct {
        short half[2][2];
    } inner;
    int last[1]; /* used beyond its end, like a flexible array member */
};

enum place { FIRST, SECOND, PLACES };

template <class Row>
static __device__ int sum_of(const Row &row, const int (&beside)[PLACES])
{
    int sum = 0;

    for (const int *at = &row.word[0]; at < &row.word[3]; at++)
        sum += *at;
    return sum + beside[FIRST] * beside[SECOND];
}

/* Contains array declarations that look like uses, and uses that look like declarations. */
static __global__ void array_kernel(const int *x, int *y)
{
    __shared__ int tile[2][32], *rows[2];
    alignas(16) int bytes[48];
    int word[4] = {x[1], x[2]}, pair[PLACES] = {x[3], x[4]}, i = x[2];
    int(*const other)[4] = &word;
    const row_of_three row = {{1, 2, 3}, {{{1, 2}, {3, 4}}}, {7}};
    auto *const longer = (row_of_three *)bytes;
    const auto [left, right] = pair;

    for (int pass = 0; pass < 2; pass++) {
        float sum = 0, word[8];
        int *pair[2];

        for (char at = 0; at < 8; at++)
            word[(int)at] = at;
        pair[0] = &i, pair[1] = pair[0] + 1;
        if (pass)
            sum += word[7] * word[pass];
        else
            word[i++] = 3;
        y[threadIdx.x + 32] = (int)sum + (int)(pair[1] - pair[0]);
    }
    longer->last[i] = 5; /* i is 3 */
    tile[0][threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 2)
        rows[threadIdx.x] = tile[threadIdx.x];
    __syncwarp();
    const auto get = [&](int at) { return pair[at] + (*other)[at] + word[i = at]; };

    if (threadIdx.x > 0)
        return;
    y[1] = get(SECOND);
    y[2] = sum_of(row, pair) + row.inner.half[1][x[1]];
    y[3] = rows[0][word[0] > word[1] ? 3 : 4] + (int)sizeof(word[9]) + 2 [word];
    y[4] = left * right + word[0] * pair[1] + -word[1] + (pair[0] & word[1]) + longer->last[3];
    y[5] = (int)(&tile[2][0] - &tile[0][0]) + (int)(tile[1] - tile[0]);
}

static void arrays_and_their_indices(void **)
{
    array_kernel<<<1, 32>>>(device_x, device_y);
    const int *const y = result();

    assert_int_equal(y[1], 4 + 2 + 2);
    assert_int_equal(y[2], 6 + 12 + 4);
    assert_int_equal(y[3], 4 + 4 + 0);
    assert_int_equal(y[4], 12 + 4 - 2 + 2 + 5);
    assert_int_equal(y[5], 64 + 32);
    assert_int_equal(y[32], 7 + 1);
}

static __global__ void arithmetic_kernel(const float *values, int *y)
{
    const long long before = clock64();

    y[0] = __float2int_rn(values[0]);
    y[1] = __float2int_rz(values[1]);
    y[2] = __float2int_rd(-1.5f);
    y[3] = (int)__float2uint_ru(2.5f);
    y[4] = __dp4a(0x01ff0203, 0x01020304, 5);
    y[5] = clock64() > before;
}

static void conversions_and_products(void **)
{
    const float values[] = {3e10f, NAN};
    float *device_values;

    assert_int_equal(cudaMalloc(&device_values, sizeof values), cudaSuccess);
    assert_int_equal(cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice), cudaSuccess);
    arithmetic_kernel<<<1, 1>>>(device_values, device_y);
    const int expected[] = {INT32_MAX, 0, -2, 3, 1 - 2 + 6 + 12 + 5, 1};

    assert_memory_equal(result(), expected, sizeof expected);
    assert_int_equal(cudaFree(device_values), cudaSuccess);
}

/* --- convergence -------------------------------------------------------------------------------------------------- */

static __noinline__ __device__ void barrier_at_depth(int depth)
{
    if (depth > 0)
        barrier_at_depth(depth - 1);
    __syncthreads();
}

static inline __device__ int sum_over_warp(int value)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

static __global__ void calls_kernel(const int *x, int *y)
{
    __shared__ int words[64];

    /* All threads of a block take the same branch, so the branch may contain barriers. */
    if (blockIdx.x == 0) {
        words[threadIdx.x] = sum_over_warp(x[threadIdx.x]);
        barrier_at_depth(20);
    } else {
        words[threadIdx.x] = sum_over_warp(1) + sum_over_warp(2);
        barrier_at_depth(1);
    }
    for (int i = 0; i < 3; i++) {
        if (threadIdx.x < 32)
            words[threadIdx.x] += words[threadIdx.x + 32];
        barrier_at_depth(i);
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = words[0];
}

static void barriers_and_shuffles_in_functions(void **)
{
    calls_kernel<<<2, 64>>>(device_x, device_y);
    assert_int_equal(result()[0], 496 + 3 * (496 + 1024));
    assert_int_equal(result()[1], 96 + 3 * 96);
}

/** Tests that lanes that return before a collective need not take part in it. */
static __global__ void early_kernel(const int *x, int *y, int n)
{
    const int i = (int)threadIdx.x;

    if (i >= n) {
        y[i] = -1;
        return;
    }
    int value = x[i];

    for (int turn = 0; turn < 2; turn++) {
        if (i >= n - turn)
            return;
        value += __any_sync(0xffffffffu, i == 3);
    }
    y[i] = value;
}

static void lanes_that_return_early(void **)
{
    early_kernel<<<1, 48>>>(device_x, device_y, 40);
    assert_int_equal(result()[38], 38);
    assert_int_equal(result()[2], 4);
    assert_int_equal(result()[41], -1);
}

/** Runs separate collectives in each half of the warp. */
static __global__ void halves_kernel(const int *x, int *y)
{
    const unsigned half = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    int value = x[threadIdx.x];

    if (threadIdx.x < 16)
        for (int step = 8; step > 0; step /= 2)
            value += __shfl_xor_sync(half, value, step);
    y[threadIdx.x] = value;
    __syncwarp();
    y[threadIdx.x] += __reduce_add_sync(half, 1);
}

static void halves_apart(void **)
{
    halves_kernel<<<1, 32>>>(device_x, device_y);
    assert_int_equal(result()[1], 120 + 16);
    assert_int_equal(result()[17], 17 + 16);
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(96, 2) bounds_kernel(int *y);
static __global__ void __launch_bounds__(96, 2) bounds_kernel(int *y)
{
    y[threadIdx.x + 3 * threadIdx.y] = 5;
}

struct all_parameters {
    int words[8188]; /* with the pointer before them, the parameters are 4 bytes below the limit */
};

static __global__ void parameters_kernel(int *y, all_parameters all)
{
    y[threadIdx.x] = all.words[threadIdx.x];
}

static void launches_at_their_limits(void **)
{
    static all_parameters all;

    bounds_kernel<<<1, dim3(3, 32)>>>(device_y);
    assert_int_equal(result()[2], 5);
    all.words[31] = 7;
    parameters_kernel<<<1, 32>>>(device_y, all);
    assert_int_equal(result()[31], 7);
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

static __global__ void scale_kernel(const int *x, int *y, int factor)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    y[i] = factor * x[i];
}

static __global__ void histogram_kernel(const int *x, int *counts)
{
    atomicAdd(&counts[x[threadIdx.x] % 4], 1);
}

static __global__ void shorts_kernel(short *y, int first)
{
    y[first + threadIdx.x] = (short)first;
}

static cudaStream_t one, two;
static cudaEvent_t done;

static void make_streams(unsigned flags)
{
    assert_int_equal(cudaStreamCreateWithFlags(&one, flags), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&two, flags), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), cudaSuccess);
}

static void destroy_streams(void)
{
    assert_int_equal(cudaStreamDestroy(one), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(two), cudaSuccess);
    assert_int_equal(cudaEventDestroy(done), cudaSuccess);
}

static void streams_in_turn(void **)
{
    make_streams(cudaStreamNonBlocking);
    for (int turn = 0; turn < 4; turn++) {
        cudaStream_t first = turn % 2 ? two : one;
        cudaStream_t second = turn % 2 ? one : two;

        scale_kernel<<<2, 64, 0, first>>>(device_x, device_y, turn);
        cudaEventRecord(done, first);
        cudaStreamWaitEvent(second, done, 0);
        scale_kernel<<<2, 64, 0, second>>>(device_y, device_y + 1000, 2);
    }
    /* There is no race: the stream that reads device_y as `second` also overwrites it, as `first` of the next
       iteration. */
    cudaStreamSynchronize(one);
    assert_int_equal(result()[1003], 18);
    destroy_streams();
}

static void halves_of_a_buffer(void **)
{
    make_streams(cudaStreamNonBlocking);
    shorts_kernel<<<1, 31, 0, one>>>((short *)device_y, 0);
    shorts_kernel<<<1, 32, 0, two>>>((short *)device_y, 31);
    scale_kernel<<<1, 64, 0, one>>>(device_x, device_y + 100, 2);
    scale_kernel<<<1, 64, 0, two>>>(device_x, device_y + 164, 3);
    cudaDeviceSynchronize();
    assert_int_equal(result()[164 + 5], 15);
    assert_int_equal(result()[15], 31 << 16);
    destroy_streams();
}

static void counts_of_two_streams(void **)
{
    make_streams(cudaStreamNonBlocking);
    for (int i = 0; i < 3; i++) {
        histogram_kernel<<<1, 64, 0, one>>>(device_x, device_y);
        histogram_kernel<<<1, 64, 0, two>>>(device_x, device_y);
    }
    cudaStreamSynchronize(two);
    cudaStreamSynchronize(one);
    assert_int_equal(result()[3], 96);
    destroy_streams();
}

static void the_default_stream_waits(void **)
{
    make_streams(cudaStreamDefault);
    scale_kernel<<<1, 64, 0, one>>>(device_x, device_y, 2);
    scale_kernel<<<1, 64>>>(device_y, device_y + 64, 2);
    scale_kernel<<<1, 64, 0, two>>>(device_y + 64, device_y + 128, 2);
    cudaMemsetAsync(device_y, 0, 64, cudaStreamPerThread);
    cudaMemset(device_y + 64, 0, 64);
    scale_kernel<<<1, 64, 0, one>>>(device_y + 128, device_y, 2);
    assert_int_equal(result()[1], 16);
    destroy_streams();
}

/** Tests a buffer whose parts are copied and processed alternately in two streams. */
static void copies_and_kernels_overlap(void **)
{
    enum { PARTS = 6, PART = 65 };
    int *pinned;
    int *back;

    make_streams(cudaStreamNonBlocking);
    assert_int_equal(cudaMallocHost(&pinned, PARTS * PART * sizeof *pinned), cudaSuccess);
    assert_int_equal(cudaMallocHost(&back, PARTS * PART * sizeof *back), cudaSuccess);
    for (int part = 0; part < PARTS; part++) {
        cudaStream_t stream = part % 2 ? two : one;
        int *words = pinned + part * PART;

        for (int i = 0; i < PART; i++)
            words[i] = part;
        cudaMemcpyAsync(device_x + part * PART, words, PART * sizeof *words, cudaMemcpyHostToDevice, stream);
        scale_kernel<<<1, PART, 0, stream>>>(device_x + part * PART, device_y + part * PART, 10);
        cudaMemcpyAsync(back + part * PART, device_y + part * PART, PART * sizeof *back, cudaMemcpyDeviceToHost,
                        stream);
        cudaEventRecord(done, stream);
        if (part > 0)
            assert_int_equal(pinned[part * PART - 1], part - 1); /* no race: the copy only reads this word */
    }
    while (cudaEventQuery(done) == cudaErrorNotReady)
        assert_int_equal(cudaGetLastError(), cudaSuccess); /* cudaErrorNotReady is not recorded as an error */
    assert_int_equal(back[5 * PART + 1], 50);
    pinned[5 * PART] = 0;
    cudaStreamSynchronize(one);
    assert_int_equal(back[4 * PART], 40);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFreeHost(back), cudaSuccess);
    destroy_streams();
}

/** Tests managed memory that the host and kernels use alternately, at the same addresses. */
static void managed_memory(void **)
{
    int *from;
    int *to;

    assert_int_equal(cudaMallocManaged(&from, 5000 * sizeof *from), cudaSuccess);
    assert_int_equal(cudaMallocManaged(&to, 64 * sizeof *to), cudaSuccess);
    for (int i = 0; i < 64; i++)
        from[i] = i;
    assert_int_equal(cudaMemPrefetchAsync(from, 256, 0), cudaSuccess);
    scale_kernel<<<1, 64>>>(from, to, 2);
    assert_int_equal(from[5], 5); /* the kernel only reads this element */
    from[64] = 1;                 /* and does not use this one */
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(to[63], 126);
    for (int i = 0; i < 64; i++)
        to[i]++;
    scale_kernel<<<1, 64>>>(to, device_y, 10);
    assert_int_equal(cudaMemcpy(from + 1000, device_y, 256, cudaMemcpyDefault), cudaSuccess);
    assert_int_equal(from[1063], 1270);
    assert_int_equal(cudaMemcpy(device_x, to, 256, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemset(to, 0, 64), cudaSuccess);
    assert_int_equal(cudaMemset(to + 16, 0.0f, 64), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(to[31] + to[32], 65);
    expect_success();
    assert_int_equal(cudaFree(from), cudaSuccess);
    assert_int_equal(cudaFree(to), cudaSuccess);
}

/** Tests kernels that access pinned memory at its host address and at the address from cudaHostGetDevicePointer(). */
static void pinned_memory_in_kernels(void **)
{
    int *pinned;
    int *mapped;
    int *mapped_at;

    make_streams(cudaStreamNonBlocking);
    assert_int_equal(cudaMallocHost(&pinned, 64 * sizeof *pinned), cudaSuccess);
    assert_int_equal(cudaHostAlloc(&mapped, 64 * sizeof *mapped, cudaHostAllocMapped), cudaSuccess);
    assert_int_equal(cudaHostGetDevicePointer(&mapped_at, mapped, 0), cudaSuccess);
    for (int i = 0; i < 64; i++)
        pinned[i] = i;
    scale_kernel<<<1, 64, 0, one>>>(pinned, mapped_at, 3);
    cudaStreamSynchronize(one);
    assert_int_equal(mapped[63], 189);
    pinned[63] = 0;
    scale_kernel<<<1, 64, 0, two>>>(mapped, device_y, 1);
    cudaStreamSynchronize(two);
    assert_int_equal(result()[62], 186);
    destroy_streams();
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFreeHost(mapped), cudaSuccess);
}

static void pageable_copies(void **)
{
    static int host[64];

    make_streams(cudaStreamNonBlocking);
    host[5] = 3;
    cudaMemcpyAsync(device_x, host, sizeof host, cudaMemcpyHostToDevice, one);
    host[5] = 4;
    scale_kernel<<<1, 64, 0, one>>>(device_x, device_y, 2);
    cudaMemcpyAsync(host, device_y, sizeof host, cudaMemcpyDeviceToHost, one);
    assert_int_equal(host[5], 6);
    scale_kernel<<<1, 64, 0, two>>>(device_y, device_x, 2);
    assert_int_equal(cudaStreamQuery(two), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(two), cudaSuccess);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    destroy_streams();
}

static void what_ends_while_it_works(void **)
{
    int *words = device_iota();

    make_streams(cudaStreamNonBlocking);
    scale_kernel<<<1, 64, 0, one>>>(words, device_y, 2);
    cudaFree(words); /* waits for the kernel */
    scale_kernel<<<1, 64, 0, two>>>(device_x, device_y, 3);
    destroy_streams();
    make_streams(cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    scale_kernel<<<1, 64, 0, two>>>(device_x, device_y, 4);
    cudaStreamSynchronize(two);
    assert_int_equal(result()[2], 8);
    destroy_streams();
}

/* --- written memory and read-only loads --------------------------------------------------------------------------- */

struct padded_record {
    char kind; /* 3 bytes of padding */
    int number;
    double value;
    short last; /* 6 bytes of padding */
};

static __global__ void write_records(padded_record *records)
{
    padded_record mine;

    mine.kind = 1;
    mine.number = (int)threadIdx.x;
    mine.value = 0.5;
    mine.last = 2;
    records[threadIdx.x].kind = mine.kind;
    records[threadIdx.x].number = mine.number;
    records[threadIdx.x].value = mine.value;
    records[threadIdx.x].last = mine.last;
}

static __global__ void copy_records(const padded_record *from, padded_record *to)
{
    to[threadIdx.x] = from[31 - threadIdx.x];
}

static void unwritten_padding(void **)
{
    static padded_record host[32];
    padded_record *from, *to;

    assert_int_equal(cudaMalloc(&from, sizeof host), cudaSuccess);
    assert_int_equal(cudaMalloc(&to, sizeof host), cudaSuccess);
    write_records<<<1, 32>>>(from);
    copy_records<<<1, 32>>>(from, to);
    expect_success();
    assert_int_equal(cudaMemcpy(host, from, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host[5].number, 5);
    assert_int_equal(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host[5].number, 26);
    assert_int_equal(cudaFree(from), cudaSuccess);
    assert_int_equal(cudaFree(to), cudaSuccess);
}

static __global__ void write_pieces(short *halves, unsigned char *bytes, int *words)
{
    halves[threadIdx.x] = (short)threadIdx.x;
    bytes[threadIdx.x * 2] = 1;
    __syncthreads();
    bytes[threadIdx.x * 2 + 1] = 2;
    if (atomicExch(&words[0], 7) == 12345)
        words[1] = 0;
}

static __global__ void read_pieces(const int *halves, const int *bytes, const int *words, int *y)
{
    if (threadIdx.x < 16)
        y[threadIdx.x] = (halves[threadIdx.x] >> 16) + bytes[threadIdx.x] * 0 + words[0] * 0;
}

static void memory_written_in_pieces(void **)
{
    short *halves;
    unsigned char *bytes;
    int *words;
    int word = 0;

    assert_int_equal(cudaMalloc(&halves, 64), cudaSuccess);
    assert_int_equal(cudaMalloc(&bytes, 64), cudaSuccess);
    assert_int_equal(cudaMalloc(&words, 64), cudaSuccess);
    write_pieces<<<1, 32>>>(halves, bytes, words);
    read_pieces<<<1, 32>>>((int *)halves, (int *)bytes, words, device_y);
    assert_int_equal(result()[15], 31);
    assert_int_equal(cudaMemcpy(&word, words, sizeof word, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(word, 7);
    assert_int_equal(cudaMemset(words + 1, 0, 60), cudaSuccess);
    assert_int_equal(cudaMemcpy(device_y, words, 64, cudaMemcpyDeviceToDevice), cudaSuccess);
    assert_int_equal(result()[0], 7);
    assert_int_equal(cudaFree(halves), cudaSuccess);
    assert_int_equal(cudaFree(bytes), cudaSuccess);
    assert_int_equal(cudaFree(words), cudaSuccess);
}

static __global__ void read_only_kernel(const int *__restrict__ x, int *y)
{
    y[threadIdx.x] = __ldg(&x[threadIdx.x]) + __ldg(&x[0]) + __ldg((const short *)x + 2);
}

static void read_only_loads_launch_after_launch(void **)
{
    read_only_kernel<<<1, 32>>>(device_x, device_y);
    read_only_kernel<<<1, 32>>>(device_y, device_x);
    read_only_kernel<<<1, 32>>>(device_x, device_y);
    assert_int_equal(result()[2], 2 + 13);
}

/* --- operations that C++ leaves undefined ------------------------------------------------------------------------- */

static __global__ void shift_kernel(const int *x, int *y)
{
    const long long wide = x[1];
    unsigned all = 0xffffffffu;
    int sign = -x[5];

    y[0] = x[1] << x[32];
    y[1] = x[1] << x[31];
    y[2] = (int)(all >> x[32]);
    y[3] = -x[5] >> x[40];
    y[4] = x[1] << -x[1];
    y[5] = (int)(wide << x[32] >> 16 * (x[3] - 1));
    y[6] = (wide << x[64]) != 0;
    y[7] = (int)(all >> (32 - x[4]));
    y[8] = x[7] >> 7 % x[2] * x[1];
    y[9] = (-wide >> x[70]) == -1;
    all <<= x[32] - x[28];
    sign >>= x[33];
    y[10] = (int)all;
    y[11] = sign;
    y[12] = (int)(0xffu >> 2 * (threadIdx.x + 1));
    y[13] = static_cast<int>((x[3] < x[4]) << x[2]);
}

static void shifts_by_all_bits_and_more(void **)
{
    shift_kernel<<<1, 1>>>(device_x, device_y);
    const int expected[] = {0, INT32_MIN, 0, -1, 0, 1, 0, 15, 3, 1, -16, -1, 63, 4};

    assert_memory_equal(result(), expected, sizeof expected);
}

enum { FIRST_CODE = 3, CODES = 1 << FIRST_CODE };
template <int N>
struct sized {
    int words[N << 1];
};

static __global__ void cast_kernel(const float *f, long long *y)
{
    const double large = f[0], small = f[1], none = f[2];

    y[0] = (int)f[0];
    y[1] = (int)f[1];
    y[2] = (int)f[2];
    y[3] = (unsigned)f[0];
    y[4] = (unsigned)f[1];
    y[5] = (unsigned int)f[2];
    y[6] = (long long)f[3];
    y[7] = (long long)f[2];
    y[8] = (long long)((unsigned long long)f[1] >> 1);
    y[9] = (int)large + static_cast<int>(small);
    y[10] = (int)none;
    y[11] = (unsigned)none;
    y[12] = y[0] - (int)f[4] * (int)-f[4];
    y[13] = (int)2.9f + (int)sizeof(sized<(int)4.5>) + CODES;
    y[14] = (unsigned char)(int)f[4];
    y[15] = -(int)f[4];
    y[16] = static_cast<int64_t>(f[4]) && (int)f[4];
}

static void casts_out_of_range_and_of_nan(void **)
{
    const float values[] = {5e9f, -5e9f, NAN, INFINITY, 2.75f};
    float *device_values;

    assert_int_equal(cudaMalloc(&device_values, sizeof values), cudaSuccess);
    assert_int_equal(cudaMemcpy(device_values, values, sizeof values, cudaMemcpyHostToDevice), cudaSuccess);
    cast_kernel<<<1, 1>>>(device_values, (long long *)device_y);
    const long long expected[] = {INT32_MAX,       INT32_MIN,  0, UINT32_MAX, 0,         0,
                                  INT64_MAX,       INT64_MIN,  0, -1,         INT32_MIN, 1u << 31,
                                  INT32_MAX + 4ll, 2 + 32 + 8, 2, -2,         1};

    assert_memory_equal(result(), expected, sizeof expected);
    assert_int_equal(cudaFree(device_values), cudaSuccess);
}

#if __CUDA_ARCH__ < 600
static __device__ int architecture_is_old = 1;
#else
static __device__ int architecture_is_old = 0;
#endif

static __host__ __device__ int either(void)
{
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return -1;
#endif
}

static __global__ void architecture_kernel(int *y)
{
#ifdef __CUDA_ARCH__
    y[0] = __CUDA_ARCH__;
#endif
#if __CUDA_ARCH__ >= 800 && defined(__CUDA_ARCH__)
    y[1] = either();
#endif
#ifndef __CUDA_ARCH__
    y[2] = 1;
#else
    y[2] = architecture_is_old;
#endif
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 700
    asm("mov.u32 %0, 5;" : "=r"(y[3]));
#else
    y[3] = 4;
#endif
}

static void the_architecture_of_device_code(void **)
{
    architecture_kernel<<<1, 1>>>(device_y);
    const int expected[] = {900, 900, 0, 4};

    assert_memory_equal(result(), expected, sizeof expected);
#ifdef __CUDA_ARCH__
    fail_msg("the host has an architecture");
#endif
    assert_int_equal(either(), -1);
}

/* A number of two words and a list that is written to, whose operators are named like shifts. */
struct two_words {
    unsigned low, high;
};
static __host__ __device__ two_words operator<<(two_words a, int count)
{
    return {a.low << count, a.high << count | a.low >> (32 - count)};
}
static __device__ two_words &operator>>=(two_words &a, int count)
{
    a = {a.low >> count | a.high << (32 - count), a.high >> count};
    return a;
}
struct list {
    int *to, count;
};
static __device__ list &operator<<(list &to, int number)
{
    to.to[to.count++] = number;
    return to;
}
static __device__ list &operator<<(list &to, const char *text)
{
    return to << (int)text[0];
}
static __device__ list &operator<<(list &to, float number)
{
    return to << (int)(10 * number);
}

static __global__ void defined_shifts_kernel(int *y, int count, float number)
{
    list to = {y, 0};
    two_words a = two_words{0x80000001u, 1} << count;

    to << "n" << count << number << 7;
    a >>= count;
    y[4] = (int)a.low;
    y[5] = (int)a.high;
}

static void operators_of_classes_that_are_named_like_shifts(void **)
{
    defined_shifts_kernel<<<1, 1>>>(device_y, 4, 1.5f);
    const int expected[] = {'n', 4, 15, 7, INT32_MIN + 1, 1};

    assert_memory_equal(result(), expected, sizeof expected);
}

template <class... Numbers>
static __device__ int folds(Numbers... numbers)
{
    const bool all = ((numbers > 0) && ...), any = (... || (numbers > 2));

    return ((int)numbers + ... + 0) + 100 * all + 1000 * any;
}

#define TEXT_OF(condition) ((condition) ? "" : #condition)
static __global__ void idioms_kernel(const int (*rows)[2], int *y, int factor = 3, int offset = 1)
{
    const char *const text = TEXT_OF(y[0] == 1 && rows[1][1] == 0);

    y[0] = factor * rows[1][1] + offset;
    y[1] = folds(1.5f, 2.9, 'a');
    y[2] = text[8];
}

static void idioms_of_cpp(void **)
{
    const int(*rows)[2] = (const int(*)[2])device_x; /* 0, 1; 2, 3 */

    idioms_kernel<<<1, 1>>>(rows, device_y);
    const int first[] = {10, 1 + 2 + 'a' + 1100, '1'};
    assert_memory_equal(result(), first, sizeof first);
    idioms_kernel<<<1, 1>>>(rows, device_y, 5);
    assert_int_equal(result()[0], 16);
    idioms_kernel<<<1, 1>>>(rows, device_y, int(5.5), 2);
    assert_int_equal(result()[0], 17);
}

/* --- sums, scans, sorting ----------------------------------------------------------------------------------------- */

static __global__ void tree_kernel(const int *x, int *y)
{
    extern __shared__ int words[];

    words[threadIdx.x] = x[blockIdx.x * blockDim.x * 2 + threadIdx.x] +
                         x[(blockIdx.x * 2 + 1) * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            words[threadIdx.x] += words[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = words[0];
}
RIGHT(a_tree_of_sums, (tree_kernel<<<4, 128, 128 * sizeof(int)>>>(device_x, device_y)), 3, 229248)

__inline__ __device__ int sum_of_warp(int value)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__inline__ __device__ int sum_of_block(int value)
{
    static __shared__ int sums[32];
    const int lane = threadIdx.x % warpSize;
    const int warp = threadIdx.x / warpSize;

    value = sum_of_warp(value);
    if (lane == 0)
        sums[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / warpSize ? sums[lane] : 0;
    return warp == 0 ? sum_of_warp(value) : value;
}

static __global__ void sum_by_shuffles_kernel(const int *x, int *y, int count)
{
    int sum = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x)
        sum += x[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}

static void sums_in_two_launches(void **)
{
    sum_by_shuffles_kernel<<<3, 128>>>(device_x, device_y, 1000);
    sum_by_shuffles_kernel<<<1, 1024>>>(device_y, device_y, 3);
    assert_int_equal(result()[0], 499500);
}

static __device__ void finish_in_warp(volatile int *words, unsigned thread)
{
    int sum = words[thread];

#pragma unroll
    for (int distance = 32; distance > 0; distance /= 2) {
        sum += words[thread + distance];
        __syncwarp();
        words[thread] = sum;
        __syncwarp();
    }
}

template <unsigned threads>
static __global__ void unrolled_tree_kernel(const int *x, int *y)
{
    __shared__ int words[threads + 32];

    words[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 32)
        words[threads + threadIdx.x] = 0;
    __syncthreads();
    if (threads >= 256) {
        if (threadIdx.x < 128)
            words[threadIdx.x] += words[threadIdx.x + 128];
        __syncthreads();
    }
    if (threads >= 128) {
        if (threadIdx.x < 64)
            words[threadIdx.x] += words[threadIdx.x + 64];
        __syncthreads();
    }
    if (threadIdx.x < 32)
        finish_in_warp(words, threadIdx.x);
    if (threadIdx.x == 0)
        *y = words[0];
}
RIGHT(a_tree_for_one_size, (unrolled_tree_kernel<256><<<1, 256>>>(device_x, device_y)), 0, 32640)

/* The barriers share lines with other code, as in many programs; copies of a barrier that the compiler makes count as
   one. */
template <unsigned threads>
static __global__ void tree_on_lines_kernel(const int *x, int *y)
{
    __shared__ int words[threads];

    words[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    // clang-format off
    if (threads >= 256) { if (threadIdx.x < 128) words[threadIdx.x] += words[threadIdx.x + 128]; __syncthreads(); }
    if (threads >= 128) { if (threadIdx.x < 64) words[threadIdx.x] += words[threadIdx.x + 64]; __syncthreads(); }
    // clang-format on
    y[threadIdx.x] = words[threadIdx.x];
}
RIGHT(a_tree_step_on_a_line, (tree_on_lines_kernel<256><<<1, 256>>>(device_x, device_y)), 63, 63 + 191 + 127 + 255)

static __global__ void scan_kernel(const int *x, int *y)
{
    extern __shared__ int words[];
    const int count = blockDim.x, thread = threadIdx.x;
    int out = 0, in = 1;

    words[thread] = thread > 0 ? x[thread - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < count; offset *= 2) {
        out = 1 - out;
        in = 1 - out;
        if (thread >= offset)
            words[out * count + thread] = words[in * count + thread] + words[in * count + thread - offset];
        else
            words[out * count + thread] = words[in * count + thread];
        __syncthreads();
    }
    y[thread] = words[out * count + thread];
}
RIGHT(a_scan_by_two_buffers, (scan_kernel<<<1, 512, 1024 * sizeof(int)>>>(device_x, device_y)), 511, 130305)

#define PADDED(i) ((i) + ((i) >> 5))

static __global__ void up_and_down_kernel(const int *x, int *y, int count)
{
    extern __shared__ int tree[];
    const int thread = threadIdx.x;
    int offset = 1;

    tree[PADDED(thread)] = x[thread];
    tree[PADDED(thread + count / 2)] = x[thread + count / 2];
    for (int pairs = count >> 1; pairs > 0; pairs >>= 1, offset *= 2) {
        __syncthreads();
        if (thread < pairs)
            tree[PADDED(offset * (2 * thread + 2) - 1)] += tree[PADDED(offset * (2 * thread + 1) - 1)];
    }
    if (thread == 0)
        tree[PADDED(count - 1)] = 0;
    for (int pairs = 1; pairs < count; pairs *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thread < pairs) {
            const int low = PADDED(offset * (2 * thread + 1) - 1), high = PADDED(offset * (2 * thread + 2) - 1);
            const int left = tree[low];

            tree[low] = tree[high];
            tree[high] += left;
        }
    }
    __syncthreads();
    y[thread] = tree[PADDED(thread)];
    y[thread + count / 2] = tree[PADDED(thread + count / 2)];
}
RIGHT(a_scan_up_and_down, (up_and_down_kernel<<<1, 128, PADDED(256) * sizeof(int)>>>(device_x, device_y, 256)), 255,
      32385)

static __global__ void warp_scans_kernel(const int *x, int *y)
{
    __shared__ int sums[32];
    const int lane = threadIdx.x & 31;
    int sum = x[threadIdx.x];

    for (int distance = 1; distance < 32; distance <<= 1) {
        const int before = __shfl_up_sync(0xffffffffu, sum, distance);

        if (lane >= distance)
            sum += before;
    }
    if (lane == 31)
        sums[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        int all = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;

        for (int distance = 1; distance < 32; distance <<= 1) {
            const int before = __shfl_up_sync(0xffffffffu, all, distance);

            all += lane >= distance ? before : 0;
        }
        sums[threadIdx.x] = all;
    }
    __syncthreads();
    y[threadIdx.x] = sum + (threadIdx.x >= 32 ? sums[threadIdx.x / 32 - 1] : 0);
}
RIGHT(scans_of_warps, (warp_scans_kernel<<<1, 256>>>(device_x, device_y)), 255, 32640)

static __global__ void tiles_look_back_kernel(const int *x, int *y, unsigned long long *states, int *next, int count)
{
    __shared__ int words[128], tile, before;
    const int thread = threadIdx.x;

    if (thread == 0)
        tile = atomicAdd(next, 1);
    __syncthreads();
    const int i = tile * 128 + thread;

    words[thread] = i < count ? x[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        const int other = thread >= distance ? words[thread - distance] : 0;

        __syncthreads();
        words[thread] += other;
        __syncthreads();
    }
    if (thread == 0) {
        const unsigned total = words[127];
        unsigned sum = 0;

        atomicExch(&states[tile], (tile == 0 ? 2ull : 1ull) << 32 | total);
        for (int other = tile - 1; other >= 0; other--) {
            unsigned long long state;

            do
                state = *(volatile unsigned long long *)&states[other];
            while (state >> 32 == 0);
            sum += (unsigned)state;
            if (state >> 32 == 2)
                break;
        }
        atomicExch(&states[tile], 2ull << 32 | (sum + total));
        before = sum;
    }
    __syncthreads();
    if (i < count)
        y[i] = words[thread] + before;
}
RIGHT(tiles_that_look_back,
      (tiles_look_back_kernel<<<8, 128>>>(device_x, device_y, (unsigned long long *)(device_y + 2000), device_y + 3000,
                                          1000)),
      999, 499500)

static __device__ inline void put_in_order(unsigned &a, unsigned &b, bool up)
{
    if ((a > b) == up) {
        const unsigned old = a;

        a = b;
        b = old;
    }
}

static __global__ void bitonic_kernel(const int *x, int *y)
{
    __shared__ unsigned words[256];

    words[threadIdx.x] = (unsigned)x[threadIdx.x] * 77 % 256;
    words[threadIdx.x + 128] = (unsigned)x[threadIdx.x + 128] * 77 % 256;
    for (unsigned size = 2; size <= 256; size <<= 1) {
        const bool up = size == 256 || (threadIdx.x & (size / 2)) == 0;

        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            const unsigned place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));

            __syncthreads();
            put_in_order(words[place], words[place + stride], up);
        }
    }
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x];
    y[threadIdx.x + 128] = words[threadIdx.x + 128];
}
RIGHT(a_bitonic_sort, (bitonic_kernel<<<1, 128>>>(device_x, device_y)), 200, 200)

static __global__ void split_kernel(const int *x, int *y)
{
    __shared__ unsigned words[32];
    const unsigned below = (1u << threadIdx.x) - 1;
    unsigned value = (unsigned)x[threadIdx.x] * 7 % 32;

    for (int bit = 0; bit < 5; bit++) {
        const unsigned ones = __ballot_sync(~0u, value >> bit & 1);
        const unsigned place = value >> bit & 1 ? __popc(~ones) + __popc(ones & below) : __popc(~ones & below);

        words[place] = value;
        __syncwarp();
        value = words[threadIdx.x];
        __syncwarp();
    }
    y[threadIdx.x] = value;
}
RIGHT(a_sort_by_bits, (split_kernel<<<1, 32>>>(device_x, device_y)), 21, 21)

/* --- tiles of matrices -------------------------------------------------------------------------------------------- */

static __global__ void transpose_kernel(const int *x, int *y)
{
    __shared__ int tile[32][33];
    const int width = gridDim.x * 32;

    for (int row = 0; row < 32; row += 8)
        tile[threadIdx.y + row][threadIdx.x] =
            x[(blockIdx.y * 32 + threadIdx.y + row) * width + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int row = 0; row < 32; row += 8)
        y[(blockIdx.x * 32 + threadIdx.y + row) * width + blockIdx.y * 32 + threadIdx.x] =
            tile[threadIdx.x][threadIdx.y + row];
}
RIGHT(a_transpose, (transpose_kernel<<<dim3(2, 2), dim3(32, 8)>>>(device_x, device_y)), 40 * 64 + 3, 3 * 64 + 40)

struct matrix {
    int width, stride;
    const int *elements;
};

static __device__ matrix part(const matrix &whole, int row, int column)
{
    matrix some = whole;

    some.width = 16;
    some.elements = &whole.elements[whole.stride * 16 * row + 16 * column];
    return some;
}

static __global__ void product_kernel(matrix a, matrix b, int *y)
{
    const int row = threadIdx.y, column = threadIdx.x;
    int sum = 0;

    for (int m = 0; m < a.width / 16; m++) {
        const matrix left = part(a, blockIdx.y, m), right = part(b, m, blockIdx.x);
        __shared__ int lefts[16][16];
        __shared__ int rights[16][16];

        lefts[row][column] = left.elements[row * left.stride + column] % 3;
        rights[row][column] = right.elements[row * right.stride + column] % 5;
        __syncthreads();
        for (int e = 0; e < 16; e++)
            sum += lefts[row][e] * rights[e][column];
        __syncthreads();
    }
    y[(blockIdx.y * 16 + row) * 32 + blockIdx.x * 16 + column] = sum;
}

static void a_product_of_matrices(void **)
{
    const matrix a = {32, 32, device_x};
    int sum = 0;

    product_kernel<<<dim3(2, 2), dim3(16, 16)>>>(a, a, device_y);
    for (int e = 0; e < 32; e++)
        sum += (20 * 32 + e) % 3 * ((e * 32 + 7) % 5);
    assert_int_equal(result()[20 * 32 + 7], sum);
}

static __global__ void life_kernel(const int *x, int *y, int width, int height)
{
    __shared__ unsigned char cells[10][18];

    for (int i = threadIdx.y * 16 + threadIdx.x; i < 180; i += 128) {
        const int column = (blockIdx.x * 16 + i % 18 - 1 + width) % width;
        const int row = (blockIdx.y * 8 + i / 18 - 1 + height) % height;

        cells[i / 18][i % 18] = x[row * width + column] % 3 == 0;
    }
    __syncthreads();
    int alive = -cells[threadIdx.y + 1][threadIdx.x + 1];

    for (int down = 0; down < 3; down++)
        for (int right = 0; right < 3; right++)
            alive += cells[threadIdx.y + down][threadIdx.x + right];
    y[(blockIdx.y * 8 + threadIdx.y) * width + blockIdx.x * 16 + threadIdx.x] = alive;
}
RIGHT(a_stencil_with_a_border, (life_kernel<<<dim3(2, 2), dim3(16, 8)>>>(device_x, device_y, 32, 16)), 5 * 32 + 4, 3)

static __global__ void two_buffers_kernel(const int *x, int *y, int tiles)
{
    __shared__ int words[2][64];
    int sum = 0;

    words[0][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            words[(i + 1) & 1][threadIdx.x] = x[(i + 1) * 64 + threadIdx.x];
        sum += words[i & 1][63 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}
RIGHT(two_buffers_in_turn, (two_buffers_kernel<<<1, 64>>>(device_x, device_y, 8)), 0, 8 * 63 + 64 * 28)

static __global__ void rows_kernel(int rows, const int *first, const int *x, int *y)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;

    if (row < rows) {
        int sum = 0;

        for (int j = first[row * 20] + lane; j < first[row * 20 + 20]; j += 32)
            sum += x[j];
        sum = sum_of_warp(sum);
        if (lane == 0)
            y[row] = sum;
    }
}
RIGHT(a_warp_for_each_row, (rows_kernel<<<2, 64>>>(3, device_x, device_x, device_y)), 2, 990)

static __global__ void softmax_kernel(const int *x, float *y)
{
    float most = -INFINITY, sum = 0;

    for (int i = threadIdx.x; i < 100; i += 32) {
        const float value = (float)(x[i] % 7), larger = fmaxf(most, value);

        sum = sum * expf(most - larger) + expf(value - larger);
        most = larger;
    }
    for (int lanes = 16; lanes > 0; lanes >>= 1) {
        const float other = __shfl_xor_sync(0xffffffff, most, lanes);
        const float its_sum = __shfl_xor_sync(0xffffffff, sum, lanes);
        const float larger = max(most, other);

        sum = sum * __expf(most - larger) + its_sum * __expf(other - larger);
        most = larger;
    }
    for (int i = threadIdx.x; i < 100; i += 32)
        y[i] = __fdividef(__expf((float)(x[i] % 7) - most), sum);
}

static void a_softmax_in_one_pass(void **)
{
    float sum = 0;

    softmax_kernel<<<1, 32>>>(device_x, (float *)device_y);
    for (int i = 0; i < 100; i++)
        sum += ((const float *)result())[i];
    assert_true(fabsf(sum - 1) < 1e-5f);
}

/* --- counting, tables, queues ------------------------------------------------------------------------------------- */

static __global__ void histogram_kernel(const int *x, int count, int *y)
{
    __shared__ int bins[64];

    if (threadIdx.x < 64)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[x[i] * x[i] % 64], 1);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
}
RIGHT(a_histogram, (histogram_kernel<<<4, 128>>>(device_x, 4096, device_y)), 1, 256)

static __global__ void private_histogram_kernel(const int *x, int *y)
{
    __shared__ int bins[4][64];

    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        (&bins[0][0])[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < 1000; i += blockDim.x)
        atomicAdd_block(&bins[threadIdx.x / 32][x[i] & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64)
        y[threadIdx.x] = bins[0][threadIdx.x] + bins[1][threadIdx.x] + bins[2][threadIdx.x] + bins[3][threadIdx.x];
}
RIGHT(a_histogram_for_each_warp, (private_histogram_kernel<<<1, 128>>>(device_x, device_y)), 39, 16)

static __global__ void insert_kernel(const int *x, unsigned *keys, unsigned *values, int *kinds)
{
    const unsigned key = (unsigned)x[blockIdx.x * blockDim.x + threadIdx.x] % 100 + 1;
    unsigned slot = key * 2654435761u % 256;

    for (;;) {
        const unsigned before = atomicCAS(&keys[slot], 0u, key);

        if (before == 0)
            atomicAdd(kinds, 1);
        if (before == 0 || before == key) {
            atomicAdd(&values[slot], 1u);
            return;
        }
        slot = (slot + 1) % 256;
    }
}
RIGHT(a_hash_table,
      (insert_kernel<<<4, 100>>>(device_x, (unsigned *)device_y + 1, (unsigned *)device_y + 300, device_y)), 0, 100)

static __global__ void frontier_kernel(const int *in, const int *in_count, int *levels, int *out, int *out_count,
                                       int level)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < *in_count)
        for (int edge = 1; edge <= 2; edge++) {
            const int node = (in[i] * 2 + edge) % 100;

            if (atomicCAS(&levels[node], 0, level) == 0)
                out[atomicAdd(out_count, 1)] = node;
        }
}

static void a_search_by_levels(void **)
{
    int *const levels = device_y, *const counts = device_y + 200, *const queues = device_y + 300;

    assert_int_equal(cudaMemset(levels, 1, 4), cudaSuccess); /* node 0 is the first in the queue */
    assert_int_equal(cudaMemset(counts, 1, 1), cudaSuccess);
    for (int level = 1; level <= 6; level++)
        frontier_kernel<<<4, 32>>>(queues + 200 * (level - 1), counts + level - 1, levels, queues + 200 * level,
                                   counts + level, level);
    assert_int_equal(result()[99], 6);
}

static __global__ void best_kernel(const int *x, unsigned long long *best)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float value = (float)(x[i] * 37 % 256) - 200;
    unsigned bits = __float_as_uint(value);

    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    atomicMax(best, (unsigned long long)bits << 32 | (unsigned)~i);
}
RIGHT(the_place_of_the_largest, (best_kernel<<<2, 128>>>(device_x, (unsigned long long *)device_y)), 0, ~83)

static __device__ __forceinline__ float atomic_min_of_floats(float *place, float value)
{
    return value >= 0 ? __int_as_float(atomicMin((int *)place, __float_as_int(value)))
                      : __uint_as_float(atomicMax((unsigned *)place, __float_as_uint(value)));
}

static __global__ void smallest_kernel(const int *x, float *y)
{
    atomic_min_of_floats(y, (float)(x[threadIdx.x] - 32) * 0.5f);
}
RIGHT(a_minimum_of_floats, (smallest_kernel<<<1, 64>>>(device_x, (float *)device_y)), 0, (int)0xc1800000)

static __global__ void lock_for_each_kernel(int *lock, int *count)
{
    bool done = false;

    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *count = *count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
RIGHT(a_lock_that_each_thread_takes, (lock_for_each_kernel<<<4, 64>>>(device_y, device_y + 1)), 1, 256)

struct guard {
    int *place;

    __device__ guard(int *lock) : place(lock)
    {
        while (atomicExch(place, 1) == 1)
            ;
        __threadfence_block();
    }
    __device__ ~guard()
    {
        __threadfence_block();
        atomicExch(place, 0);
    }
};

static __global__ void guarded_kernel(int *y)
{
    __shared__ int lock, count;

    if (threadIdx.x == 0) {
        atomicExch(&lock, 0);
        count = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        guard held(&lock);

        count++;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *y = count;
}
RIGHT(a_lock_in_shared_memory, (guarded_kernel<<<1, 128>>>(device_y)), 0, 4)

static __global__ void flag_of_block_kernel(int *y)
{
    __shared__ volatile int ready;
    __shared__ int data;

    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 42;
        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (!ready)
            ;
        __threadfence_block();
        *y = data;
    }
}
RIGHT(a_flag_in_shared_memory, (flag_of_block_kernel<<<1, 64>>>(device_y)), 0, 42)

static __global__ void first_block_tells_kernel(volatile int *flag, int *data, int *y)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x * 3;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            *flag = 1;
    } else {
        if (threadIdx.x == 0)
            while (*flag == 0)
                ;
        __syncthreads();
        __threadfence();
        y[threadIdx.x] = data[threadIdx.x];
    }
}
RIGHT(a_block_that_waits_for_another, (first_block_tells_kernel<<<2, 32>>>(device_y + 100, device_y + 200, device_y)),
      31, 93)

/* --- warps -------------------------------------------------------------------------------------------------------- */

static __global__ void peers_kernel(const int *x, int *counts)
{
    const int key = x[threadIdx.x] * x[threadIdx.x] % 8, lane = threadIdx.x % 32;
    const unsigned peers = __match_any_sync(0xffffffffu, key);
    const int leader = __ffs((int)peers) - 1;
    int base = 0;

    if (lane == leader)
        base = atomicAdd(&counts[key], __popc(peers));
    base = __shfl_sync(peers, base, leader);
    counts[8 + 128 * key + base + __popc(peers & ((1u << lane) - 1))] = threadIdx.x;
}
RIGHT(lanes_with_the_same_key, (peers_kernel<<<1, 128>>>(device_x, device_y)), 1, 64)

static __global__ void reductions_kernel(int *y)
{
    const int lane = threadIdx.x;
    const unsigned half = lane < 16 ? __reduce_add_sync(0xffffu, 1u) : __reduce_add_sync(0xffff0000u, 2u);
    int all;

    __match_all_sync(~0u, 5.0f, &all);
    y[lane] = __reduce_max_sync(~0u, -lane) + (int)__reduce_or_sync(~0u, 1u << lane) + (int)half + all;
}
RIGHT(reductions_of_half_a_warp, (reductions_kernel<<<1, 32>>>(device_y)), 20, 0 - 1 + 32 + 1)

static __global__ void counting_barriers_kernel(int *y)
{
    const int thread = threadIdx.x;

    y[thread] = __syncthreads_count(thread % 3 == 0) + 100 * __syncthreads_and(thread < 100) +
                1000 * __syncthreads_or(thread == 99);
}
RIGHT(barriers_with_answers, (counting_barriers_kernel<<<1, 100>>>(device_y)), 99, 1134)

static __global__ void ballot_mask_kernel(const int *x, int *y, int count)
{
    const unsigned mask = __ballot_sync(0xffffffffu, (int)threadIdx.x < count);

    if ((int)threadIdx.x < count) {
        const int mine = x[threadIdx.x];
        int sum = 0;

        for (int lane = 0; lane < __popc(mask); lane++)
            sum += __shfl_sync(mask, mine, lane);
        y[threadIdx.x] = sum;
    }
}
RIGHT(the_lanes_that_have_work, (ballot_mask_kernel<<<1, 64>>>(device_x, device_y, 40)), 39, 284)

static __global__ void forty_kernel(const int *x, int *y)
{
    const unsigned mask = threadIdx.x < 32 ? 0xffffffffu : 0xffu;
    int sum = x[threadIdx.x];

    for (int lanes = 4; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(mask, sum, lanes);
    y[threadIdx.x] = sum;
}
RIGHT(a_block_of_40_threads, (forty_kernel<<<1, 40>>>(device_x, device_y)), 39, 284)

/* --- cooperative groups ------------------------------------------------------------------------------------------- */

static __device__ int sum_of_group(cg::thread_group group, int *words, int value)
{
    const int rank = group.thread_rank();

    for (int half = group.size() / 2; half > 0; half /= 2) {
        words[rank] = value;
        group.sync();
        if (rank < half)
            value += words[rank + half];
        group.sync();
    }
    return value;
}

static __global__ void groups_kernel(int *y)
{
    extern __shared__ int words[];
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto quad = cg::tiled_partition<4>(warp);
    const cg::thread_group some = cg::tiled_partition(block, 16);
    const int sum = sum_of_group(block, words, 1) + sum_of_group(some, words + threadIdx.x / 16 * 16, 1);

    cg::sync(warp);
    y[threadIdx.x] = sum * (block.thread_rank() == 0) + 1000 * quad.meta_group_rank() + 10000 * quad.meta_group_size() +
                     100000 * warp.meta_group_size();
}
RIGHT(groups_of_every_size, (groups_kernel<<<1, 64, 256>>>(device_y)), 36, 1000 + 80000 + 200000)

template <unsigned size, class Parent>
static __device__ int sum_of_tile(const cg::thread_block_tile<size, Parent> &tile, int value)
{
    for (int half = tile.size() / 2; half > 0; half /= 2)
        value += tile.shfl_down(value, half);
    return tile.shfl(value, 0);
}

static __global__ void tile_calls_kernel(int *y)
{
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int rank = tile.thread_rank(), sum = sum_of_tile(tile, (int)threadIdx.x);
    int all;

    tile.match_all(sum, all);
    y[threadIdx.x] = sum + tile.shfl_up(rank, 1) - rank + tile.shfl_xor(rank, 1) - rank +
                     100 * (int)tile.ballot(rank < 3) + 1000 * (int)tile.match_any(rank % 4) + all +
                     tile.any(rank == 3);
}
RIGHT(what_tiles_do, (tile_calls_kernel<<<1, 64>>>(device_y)), 9, 92 - 1 - 1 + 700 + 34000 + 2)

static __global__ void group_reductions_kernel(int *y)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto small = cg::tiled_partition<8>(warp);
    const int lane = threadIdx.x;

    y[lane] = cg::reduce(warp, lane, cg::plus<int>()) + cg::reduce(small, lane, cg::greater<int>()) +
              cg::reduce(small, lane, [](int a, int b) { return a < b ? a : b; }) +
              (int)cg::reduce(warp, 0.5, cg::plus<double>()) + cg::exclusive_scan(warp, 2) +
              cg::inclusive_scan(small, 1, cg::plus<int>()) + (int)cg::exclusive_scan(small, 1.0f, cg::plus<float>());
    if (lane % 3 == 0) {
        const auto some = cg::coalesced_threads();

        y[lane] += 1000 * cg::reduce(some, 1, cg::plus<int>()) +
                   100000 * (int)cg::reduce(some, 1.0f, cg::plus<float>());
    }
}
RIGHT(reductions_and_scans_of_groups, (group_reductions_kernel<<<1, 32>>>(device_y)), 9,
      496 + 15 + 8 + 16 + 18 + 2 + 1 + 11000 + 1100000)

static __global__ void parts_of_a_warp_kernel(int *y)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const cg::coalesced_group odd = cg::binary_partition(warp, threadIdx.x & 1);
    const cg::coalesced_group third = cg::labeled_partition(warp, threadIdx.x % 3);

    y[threadIdx.x] = odd.size() * 100 + third.size() + 10000 * odd.shfl_down((int)odd.thread_rank(), 1) +
                     1000000 * third.shfl_up((int)third.thread_rank(), 2);
    if (threadIdx.x % 2)
        y[threadIdx.x] += (int)(cg::coalesced_threads().ballot(threadIdx.x == 5) << 30);
}
RIGHT(lanes_by_their_labels, (parts_of_a_warp_kernel<<<1, 32>>>(device_y)), 8, 1610 + 50000)

static __global__ void whole_grid_kernel(int *x, int *y, int count)
{
    const cg::grid_group grid = cg::this_grid();
    const int i = (int)grid.thread_rank();

    if (i < count)
        x[i] = i * 2;
    grid.sync();
    if (i < count)
        y[i] = x[count - 1 - i] + (int)(grid.is_valid() && grid.num_blocks() == 4 && grid.dim_blocks().x == gridDim.x);
}

static void a_grid_that_waits(void **)
{
    int count = 200, blocks;
    void *arguments[] = {&device_x, &device_y, &count};

    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, whole_grid_kernel, 64, 0), cudaSuccess);
    assert_true(blocks > 0);
    assert_int_equal(cudaLaunchCooperativeKernel((void *)whole_grid_kernel, dim3(4), dim3(64), arguments), cudaSuccess);
    assert_int_equal(result()[199], 1);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

struct best {
    float value;
    int place;
    unsigned char kind;
};

static __global__ void best_in_tree_kernel(const int *x, best *y)
{
    __shared__ best all[64];
    const int thread = threadIdx.x;
    const best mine = {(float)(x[thread] * 37 % 64), thread, 1};

    all[thread] = mine;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (thread < half && all[thread + half].value > all[thread].value)
            all[thread] = all[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        *y = all[0];
}
RIGHT(structures_in_a_tree, (best_in_tree_kernel<<<1, 64>>>(device_x, (best *)device_y)), 1, 19)

static __global__ void union_kernel(int *y)
{
    __shared__ union {
        float reals[64];
        int words[64];
    } either;

    either.reals[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    const float other = either.reals[63 - threadIdx.x];

    __syncthreads();
    either.words[threadIdx.x] = (int)other + 1;
    __syncthreads();
    y[threadIdx.x] = either.words[threadIdx.x ^ 1];
}
RIGHT(a_union_in_shared_memory, (union_kernel<<<1, 64>>>(device_y)), 9, 63 - 8 + 1)

static __global__ void carved_kernel(int *y, int count)
{
    extern __shared__ __align__(16) unsigned char raw[];
    float *reals = reinterpret_cast<float *>(raw);
    int *words = (int *)&reals[count];
    char *bytes = (char *)&words[count];
    const int other = count - 1 - threadIdx.x;

    reals[threadIdx.x] = (float)threadIdx.x;
    words[threadIdx.x] = -2 * (int)threadIdx.x;
    bytes[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = (int)reals[other] + words[other] + bytes[other];
}
RIGHT(three_arrays_in_one, (carved_kernel<<<1, 64, 64 * 9>>>(device_y, 64)), 9, 1 - 54)

template <class T>
struct dynamic_array {
    __device__ operator T *()
    {
        extern __shared__ int of_any[];

        return (T *)of_any;
    }
};
template <>
struct dynamic_array<double> {
    __device__ operator double *()
    {
        extern __shared__ double of_doubles[];

        return of_doubles;
    }
};

template <class T>
static __global__ void dynamic_array_kernel(T *y)
{
    T *words = dynamic_array<T>();

    words[threadIdx.x] = (T)threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = words[31 - threadIdx.x];
}

static void a_dynamic_array_of_any_type(void **)
{
    dynamic_array_kernel<double><<<1, 32, 256>>>((double *)device_y);
    expect_success();
    dynamic_array_kernel<<<1, 32, 128>>>(device_y);
    assert_int_equal(result()[1], 30);
}

static __global__ void copies_kernel(const int *x, int *y)
{
    __shared__ int words[64];
    float value;
    int bits;

    memset(&words[threadIdx.x], 0, sizeof(int));
    memcpy(&bits, &x[threadIdx.x], sizeof bits);
    value = (float)bits;
    memcpy(&words[threadIdx.x], &value, sizeof value);
    y[threadIdx.x] = words[threadIdx.x];
}
RIGHT(memcpy_and_memset, (copies_kernel<<<1, 64>>>(device_x, device_y)), 1, 0x3f800000)

static __global__ void vectors_kernel(const float4 *x, float4 *y)
{
    const float4 mine = __ldg(x + threadIdx.x);
    const uchar4 bytes = make_uchar4(threadIdx.x, 1, 2, 3);

    y[threadIdx.x] = make_float4(mine.x, mine.y, mine.z + (float)bytes.z, 0);
    y[threadIdx.x].w = (float)bytes.x;
    reinterpret_cast<long2 *>(y + 32)[threadIdx.x] = make_long2(threadIdx.x, -1);
}
RIGHT(vectors, (vectors_kernel<<<1, 32>>>((const float4 *)device_x, (float4 *)device_y)), 4 * 32 + 4 * 3, 3)

/* --- asynchronous copies ------------------------------------------------------------------------------------------ */

static __global__ void unwaited_copies_kernel(const int *x, int *y)
{
    __shared__ __align__(16) int words[32];

    if (blockIdx.x % 2 == 0) {
        __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
        __pipeline_commit();
    } else {
        words[threadIdx.x] = x[threadIdx.x];
        y[32 * blockIdx.x + threadIdx.x] = words[threadIdx.x];
    }
}

/** Waits for each of three groups of copies before using its data; the last group is empty. */
static __global__ void groups_of_copies_kernel(const int *x, int *y)
{
    __shared__ __align__(16) int words[2][64];
    const int thread = threadIdx.x;

    __pipeline_wait_prior(0);
    __pipeline_memcpy_async(&words[0][thread], &x[thread], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&words[1][thread], &x[64 + thread], 4);
    __pipeline_commit();
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    y[thread] = words[0][63 - thread];
    __pipeline_wait_prior(1);
    __syncwarp();
    y[64 + thread] = words[1][thread ^ 31];
    __pipeline_wait_prior(7);
    __pipeline_wait_prior(0);
    __syncthreads();
    words[0][thread] = words[1][63 - thread];
    y[128 + thread] = words[0][thread];
}

/** Tests that copies for which no thread waits do not change the shared memory of later blocks and launches. */
static void copies_without_a_wait(void **)
{
    unwaited_copies_kernel<<<5, 32>>>(device_x, device_y);
    assert_int_equal(result()[3 * 32 + 31], 31);
    groups_of_copies_kernel<<<1, 64>>>(device_x, device_y);
    assert_int_equal(result()[0], 63);
}

static void groups_of_copies(void **)
{
    groups_of_copies_kernel<<<1, 64>>>(device_x, device_y);
    assert_int_equal(result()[0], 63);
    assert_int_equal(result()[64], 64 + 31);
    assert_int_equal(result()[128], 64 + 63);
}

static __device__ __align__(16) int copied_variable[4] = {5, 6, 7, 8};

/** Copies from a variable, from both ends of x, and in several threads from one source; the last words are zeros. */
static __global__ void sources_kernel(const int *x, int *y)
{
    __shared__ __align__(16) int words[32][4];
    const int *const last = x + WORDS - 4;

    if (threadIdx.x % 2 == 0)
        __pipeline_memcpy_async(words[threadIdx.x], copied_variable, 16, 8);
    else
        __pipeline_memcpy_async(words[threadIdx.x], threadIdx.x == 1 ? x : last, 16, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 4; i++)
        y[128 * blockIdx.x + 4 * threadIdx.x + i] = words[threadIdx.x][i];
}

static void sources_of_copies(void **)
{
    static const int of_variable[] = {5, 6, 0, 0}, of_last[] = {WORDS - 4, WORDS - 3, WORDS - 2, 0};

    sources_kernel<<<2, 32>>>(device_x, device_y);
    assert_memory_equal(result(), of_variable, sizeof of_variable);
    assert_memory_equal(result() + 12, of_last, sizeof of_last);
}

/** Overwrites a copy's source and destination after the wait, and publishes the data with a flag. */
static __global__ void copies_again_kernel(int *x, int *y)
{
    __shared__ __align__(16) int words[64];
    __shared__ int told;

    if (threadIdx.x == 0)
        told = 0;
    __syncthreads();
    for (int turn = 0; turn < 3; turn++) {
        __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        x[threadIdx.x] = words[threadIdx.x] + 1;
        words[threadIdx.x] = 0;
    }
    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (threadIdx.x == 40) {
        __threadfence_block();
        atomicExch(&told, 1);
    }
    if (threadIdx.x == 0) {
        while (atomicAdd(&told, 0) == 0)
            ;
        __threadfence_block();
        y[0] = words[40];
    }
}

RIGHT(copies_again, (copies_again_kernel<<<1, 64>>>(device_x, device_y)), 0, 43)

/** Keeps copies in flight in each of several resident blocks while the other blocks run. */
static __global__ void copies_of_a_grid_kernel(int *x, int *y)
{
    __shared__ __align__(16) int words[32];
    const int i = 32 * blockIdx.x + threadIdx.x;

    __pipeline_memcpy_async(&words[threadIdx.x], &x[i], 4);
    __pipeline_commit();
    cg::this_grid().sync();
    __pipeline_wait_prior(0);
    y[i] = words[threadIdx.x];
    cg::this_grid().sync();
    x[(i + 32) % 128] = 0;
}

static void copies_of_a_grid(void **)
{
    void *arguments[] = {&device_x, &device_y};

    cudaLaunchCooperativeKernel((const void *)copies_of_a_grid_kernel, 4, 32, arguments, 0, NULL);
    assert_int_equal(result()[127], 127);
}

/* --- tensor cores ------------------------------------------------------------------------------------------------- */

/** Runs independent matrix products in each warp of a block, even in branches that only some of the warps take. */
static __global__ void warps_that_multiply_kernel(const int *x, int *y)
{
    const uint32_t one = 0x3f803f80, a[4] = {one, one, one, one}, b[2] = {one, one};
    float d[4] = {(float)x[0], 0, 0, 0};

    for (unsigned i = 0; i <= threadIdx.x / 32; i++)
        mma_m16n8k16_bf16(d, a, b);
    if (threadIdx.x / 32 == 2)
        mma_m16n8k16_bf16(d, a, b);
    y[threadIdx.x] = (int)d[0];
}

static void warps_that_multiply(void **)
{
    warps_that_multiply_kernel<<<1, 128>>>(device_x, device_y);
    assert_int_equal(result()[31], 16);
    assert_int_equal(result()[32], 32);
    assert_int_equal(result()[64], 64);
    assert_int_equal(result()[127], 64);
}

/** Multiplies infinities, in f16 and in bf16; their products with zeros are NaN. */
static __global__ void special_products_kernel(int *y)
{
    const uint32_t infinite[2] = {0x7f807f80, 0x7c007c00}, none[2] = {0, 0}, one[2] = {0x3f803f80, 0x3c003c00};

    for (int half = 0; half < 2; half++) {
        const uint32_t a[4] = {infinite[half], one[half], none[half], one[half]};
        const uint32_t ones[2] = {one[half], one[half]}, zeros[2] = {0, 0};
        float d[4] = {}, e[4] = {};

        if (half) {
            mma_m16n8k16_f16(d, a, ones);
            mma_m16n8k16_f16(e, a, zeros);
        } else {
            mma_m16n8k16_bf16(d, a, ones);
            mma_m16n8k16_bf16(e, a, zeros);
        }
        if (threadIdx.x == 0)
            y[half] = isinf(d[0]) && d[2] == 16 && isnan(e[0]) && e[2] == 0;
    }
}

static void special_products(void **)
{
    special_products_kernel<<<1, 32>>>(device_y);
    assert_int_equal(result()[0], 1);
    assert_int_equal(result()[1], 1);
}

/* --- C++ ---------------------------------------------------------------------------------------------------------- */

static __device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __global__ void recursion_kernel(int *y)
{
    y[threadIdx.x] = fibonacci((int)threadIdx.x % 10);
}
RIGHT(recursion, (recursion_kernel<<<1, 32>>>(device_y)), 19, 34)

typedef int (*operation)(int, int);
static __device__ int add(int a, int b)
{
    return a + b;
}
static __device__ int multiply(int a, int b)
{
    return a * b;
}
static __device__ operation operations[2] = {add, multiply};

static __global__ void pointers_kernel(int *y, int which)
{
    const operation one = threadIdx.x & 1 ? add : multiply;

    y[threadIdx.x] = operations[which](threadIdx.x, 3) + one(2, 3);
}
RIGHT(pointers_to_functions, (pointers_kernel<<<1, 32>>>(device_y, 1)), 5, 20)

struct shape {
    __device__ virtual int area() const = 0;
};
struct square : shape {
    int side;

    __device__ square(int length) : side(length)
    {
    }
    __device__ int area() const override
    {
        return side * side;
    }
};
struct strip : square {
    using square::square;

    __device__ int area() const override
    {
        return side;
    }
};

static __global__ void shapes_kernel(int *y)
{
    const square a(3);
    const strip b(5);
    const shape *some = threadIdx.x % 2 ? (const shape *)&a : (const shape *)&b;

    y[threadIdx.x] = some->area();
}
RIGHT(virtual_functions, (shapes_kernel<<<1, 32>>>(device_y)), 1, 9)

template <typename... Terms>
static __device__ int sum_of(Terms... terms)
{
    return (0 + ... + terms);
}

static __global__ void modern_kernel(const int *x, int *y)
{
    const int base = x[7];
    auto more = [=](int a, int b) { return a + b + base; };
    auto swap = [](auto &a, auto &b) {
        const auto old = a;

        a = b;
        b = old;
    };
    int some[] = {1, 2, 3}, a = (int)threadIdx.x, b = 100, sum = 0;

    swap(a, b);
    for (int value : some)
        sum += value;
    switch (threadIdx.x % 3) {
    case 0:
        sum++;
        break;
    default:
        sum += 2;
    }
    auto [first, second, third] = some;
    y[threadIdx.x] = more(a, b) + sum + sum_of(first, second, third) + std::max(1, 2);
}
RIGHT(lambdas_and_templates, (modern_kernel<<<1, 32>>>(device_x, device_y)), 3, 110 + 7 + 6 + 2)

template <typename T>
static __global__ void scale_kernel(const T *x, T *y, T factor, size_t count)
{
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        y[i] = x[i] * factor;
}

template <typename T, int rows>
static __global__ void rows_of_kernel(T (*y)[rows])
{
    y[blockIdx.x][threadIdx.x] += rows;
}

namespace inside
{
template <class T, class Function>
static __global__ void apply_kernel(T *y, Function function)
{
    y[threadIdx.x] = function(y[threadIdx.x]);
}
} // namespace inside

struct twice {
    int more;

    __host__ __device__ int operator()(int value) const
    {
        return 2 * value + more;
    }
};

static void arguments_of_templates_are_found(void **)
{
    const int count = 64;
    void (*by_pointer)(int *, twice) = inside::apply_kernel<int, twice>;

    scale_kernel<<<2, 32>>>(device_x, device_y, 3, count); /* needs conversions: int to size_t, int * to const int * */
    rows_of_kernel<<<2, 32>>>((int(*)[32])device_y);
    inside::apply_kernel<<<1, 64>>>(device_y, twice{1});
    inside::apply_kernel<int><<<1, 64>>>(device_y, twice());
    by_pointer<<<1, 64>>>(device_y, twice{0});
    assert_int_equal(result()[63], ((63 * 3 + 32) * 2 + 1) * 4);
}

static __global__ void set_kernel(int *y, int first, float more)
{
    y[threadIdx.x] = first + (int)threadIdx.x + (int)more;
}

static void launches_by_address(void **)
{
    int first = 10;
    float more = 2.5f;
    void *arguments[] = {&device_y, &first, &more};
    cudaLaunchConfig_t how = {};
    cudaLaunchAttribute together[1];

    assert_int_equal(cudaLaunchKernel((void *)set_kernel, dim3(1), dim3(32), arguments, 0, 0), cudaSuccess);
    assert_int_equal(result()[5], 17);
    first = 20;
    assert_int_equal(cudaLaunchKernel((const void *)set_kernel, 1, 32, arguments), cudaSuccess);
    assert_int_equal(result()[5], 27);
    together[0].id = cudaLaunchAttributeCooperative;
    together[0].val.cooperative = 1;
    how.gridDim = 1;
    how.blockDim = 32;
    how.attrs = together;
    how.numAttrs = 1;
    assert_int_equal(cudaLaunchKernelEx(&how, set_kernel, device_y, 30, 1), cudaSuccess);
    assert_int_equal(result()[5], 36);
    assert_int_equal(cudaLaunchKernelExC(&how, (const void *)set_kernel, arguments), cudaSuccess);
    assert_int_equal(result()[5], 27);
}

static __global__ void dependent_kernel(int *y, int more)
{
    cudaGridDependencySynchronize();
    y[threadIdx.x] += more;
    cudaTriggerProgrammaticLaunchCompletion();
}

static void dependent_launches(void **)
{
    cudaLaunchConfig_t how = {};
    cudaLaunchAttribute early[1];

    early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early[0].val.programmaticStreamSerializationAllowed = 1;
    how.gridDim = 1;
    how.blockDim = 32;
    how.attrs = early;
    how.numAttrs = 1;
    set_kernel<<<1, 32>>>(device_y, 40, 0.0f);
    assert_int_equal(cudaLaunchKernelEx(&how, dependent_kernel, device_y, 100), cudaSuccess);
    assert_int_equal(cudaLaunchKernelEx(&how, dependent_kernel, device_y, 100), cudaSuccess);
    assert_int_equal(result()[5], 245);
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/** Fails unless a kernel has written 1 for each of its `count` checks and the next word is still 0. */
static void all_hold(int count)
{
    const int *y = result();

    for (int i = 0; i < count; i++) {
        if (y[i] != 1)
            fail_msg("check %d", i);
    }
    assert_int_equal(y[count], 0);
}

static __global__ void integers_kernel(int *y, unsigned x, unsigned long long wide)
{
    *y++ = __funnelshift_lc(x, 1, 40) == x && __funnelshift_rc(x, 1, 40) == 1 && __funnelshift_lc(x, 1, 4) == 0x10;
    *y++ = __umul64hi(wide, wide) == 1u << 16 && __mul64hi((long long)wide, -1) == -1;
    *y++ = __mul24((int)x, 3) == (int)0xffd0369c && __umul24(0xff000002u, 3) == 6;
    *y++ = __sad(-5, 5, 1) == 11 && __usad(1, 0xffffffffu, 1) == 0xffffffffu;
    *y++ = __hadd(7, 4) == 5 && __rhadd(7, 4) == 6 && __hadd(-1, -2) == -2 && __uhadd(~0u, ~0u) == ~0u &&
           __urhadd(3, 4) == 4;
    *y++ = __dp4a(0x01ff7f80, 0x01010101, 1) == 0 && __dp4a(0x01ff7f80u, 0x01010101u, 1u) == 1 + 1 + 255 + 127 + 128;
    *y++ = __dp2a_lo(0x0002ffff, 0x04030201, 5) == 5 - 1 + 4 &&
           __dp2a_hi(0x0002ffffu, 0x04030201u, 5u) == 5 + 65535 * 3 + 8;
    *y++ = __vadd4(0x01ff7f80u, 0x01010101u) == 0x02008081u && __vsub2(0x00010000u, 0x00020001u) == 0xffffffffu;
    *y++ = __vmaxu4(0x01ff7f80u, 0x02020202u) == 0x02ff7f80u && __vmaxs4(0x01ff7f80u, 0x02020202u) == 0x02027f02u;
    *y++ = __vcmpeq4(0x01020304u, 0x01000300u) == 0xff00ff00u && __vsetltu2(0x00010002u, 0x00020001u) == 0x00010000u;
    *y++ = __vavgu4(0x01030507u, 0x02030508u) == 0x02030508u && __vabsdiffu4(0x01ff0500u, 0x02010505u) == 0x01fe0005u;
    *y++ = umin(3u, 4u) == 3 && llmax(-1, 2) == 2 && ullmin(5ull, 6ull) == 5 && max(1.5f, 2.0) == 2.0;
    *y++ = __hiloint2double(__double2hiint(1.5), __double2loint(1.5)) == 1.5;
}

static void integer_functions(void **)
{
    integers_kernel<<<1, 1>>>(device_y, 0x00f01234u, 1ull << 40);
    all_hold(13);
}

static __global__ void rounding_kernel(int *y, float third, float tiny, double fifth)
{
    *y++ = __fadd_ru(3, tiny) == 0x1.800002p+1f && __fadd_rd(3, tiny) == 3 && __fadd_rz(-3, -tiny) == -3 &&
           __fadd_rd(-3, -tiny) == -0x1.800002p+1f && __fsub_rz(3, tiny) == 0x1.7ffffep+1f;
    *y++ = __fdiv_rn(1, 3) == third && __fdiv_rz(1, 3) == 0x1.555554p-2f && __fdiv_rd(1, -3) == -third &&
           __fdiv_ru(1, -3) == -0x1.555554p-2f && __frcp_rd(3) == 0x1.555554p-2f;
    *y++ = __fmul_rz(third, third) == 0x1.c71c72p-4f && __fmul_ru(third, third) == 0x1.c71c74p-4f &&
           __fmul_ru(1e-40f, 1e-40f) == 0x1p-149f && __fmul_rd(1e-40f, 1e-40f) == 0;
    *y++ = __fsqrt_rd(2) == 0x1.6a09e6p+0f && __fsqrt_ru(2) == 0x1.6a09e8p+0f && __fsqrt_rz(4) == 2 &&
           __frsqrt_rn(4) == 0.5f;
    *y++ = __fmaf_ru(third, 3, -1) == 0x1p-25f && __fmaf_rn(3, 3, tiny) == 9 && __fmaf_ru(3, 3, tiny) == 0x1.200002p+3f;
    *y++ = __fmul_rz(3e38f, 3e38f) == 0x1.fffffep+127f && isinf(__fmul_ru(3e38f, 3e38f)) && isinf(__fdiv_rz(1, 0));
    *y++ = signbit(__fadd_rd(1, -1)) && !signbit(__fadd_rn(1, -1)) && isnan(__fadd_ru(NAN, 1));
    *y++ = __dadd_ru(3, 1e-30) == 0x1.8000000000001p+1 && __dadd_rz(-3, 1e-30) == -0x1.7ffffffffffffp+1;
    *y++ = __ddiv_rd(1, 5) == 0x1.9999999999999p-3 && __ddiv_rn(1, 5) == fifth && __dsqrt_rz(2) == 0x1.6a09e667f3bccp+0;
    *y++ = __dmul_ru(fifth, fifth) == 0x1.47ae147ae147cp-5 && __fma_rd(fifth, 5, -1) > 0 && __fma_rz(3, 3, 1e-30) == 9;
    *y++ = __double2float_ru(0.1) == 0x1.99999ap-4f && __double2float_rd(0.1) == 0x1.999998p-4f;
}

/* Tests that -0 is less than +0 and that a number takes precedence over NaN, in either order of the arguments. */
static __global__ void extrema_kernel(int *y, float zero, double wide_zero)
{
    *y++ = signbit(fminf(zero, -zero)) && signbit(fminf(-zero, zero)) && signbit(fmin(wide_zero, -wide_zero)) &&
           signbit(fmin(-wide_zero, wide_zero)) && signbit(min(zero, -zero));
    *y++ = !signbit(fmaxf(zero, -zero)) && !signbit(fmaxf(-zero, zero)) && !signbit(fmax(wide_zero, -wide_zero)) &&
           !signbit(fmax(-wide_zero, wide_zero)) && !signbit(__saturatef(-zero));
    *y++ = fminf(zero + 2, NAN) == 2 && fminf(NAN, zero + 2) == 2 && fmaxf(NAN, zero - 2) == -2 &&
           fmaxf(zero - 2, NAN) == -2 && fminf(zero + 3, zero - 4) == -4 && fmaxf(zero + 3, zero - 4) == 3;
    *y++ = isnan(fmaxf(zero / zero, NAN)) && isinf(fmaxf(INFINITY, zero)) && fmin(-INFINITY, wide_zero) < -1e300;
}

static void smaller_and_larger_floats(void **)
{
    extrema_kernel<<<1, 1>>>(device_y, 0, 0);
    all_hold(4);
}

static void arithmetic_in_every_mode(void **)
{
    rounding_kernel<<<1, 1>>>(device_y, 0x1.555556p-2f, 1e-8f, 0x1.999999999999ap-3);
    all_hold(11);
}

static __global__ void conversions_kernel(int *y, float half, double large)
{
    *y++ = __float2int_rn(half) == 2 && __float2int_ru(half) == 3 && __float2int_rd(-half) == -3 &&
           __float2int_rz(-half) == -2;
    *y++ = __float2uint_rn(-half) == 0 && __float2uint_rz(3e10f) == ~0u && __float2int_rn(NAN) == 0;
    *y++ = __double2int_rn(large) == INT32_MAX && __double2int_rz(-large) == INT32_MIN &&
           __double2int_rn(NAN) == INT32_MIN;
    *y++ = __float2ll_rn(1e30f) == INT64_MAX && __float2ll_rz(-1e30f) == INT64_MIN &&
           __float2ull_rz(1e30f) == UINT64_MAX && __float2ll_rn(0x1p62f) == 1ll << 62 &&
           __float2ll_rn(NAN) == INT64_MIN && __float2ull_rd(-1) == 0;
    *y++ = __int2float_rn(16777217) == 0x1p24f && __int2float_ru(16777217) == 16777218 &&
           __int2float_rz(-16777217) == -0x1p24f && __int2float_rd(-16777217) == -16777218;
    *y++ = __ull2float_rz(~0ull) == 0x1.fffffep63f && __ull2float_rn(~0ull) == 0x1p64f &&
           __ll2double_rd(-1 - (1ll << 53)) < -0x1p53;
    *y++ = __uint2double_rn(7) == 7 && __ull2double_ru((1ull << 53) + 1) == 0x1p53 + 2;
    *y++ = sinpif(1) == 0 && cospif(1.5f) == 0 && sinpi(-0.5) == -1 && rhypotf(3, 4) == 0.2f && norm3df(1, 2, 2) == 3 &&
           rcbrtf(8) == 0.5f && rsqrt(4.0) == 0.5 && CUDART_INF_F > 1;
}

static void conversions_in_every_mode(void **)
{
    conversions_kernel<<<1, 1>>>(device_y, 2.5f, 1e15);
    all_hold(8);
}

static __device__ bool is(__half value, unsigned bits)
{
    return __half_as_ushort(value) == bits;
}

static __global__ void halves_kernel(int *y, __half a, __half b)
{
    __half c = a;

    *y++ = is(__hadd(a, b), 0x4580) && is(__hsub(a, b), 0xc100) && is(__hmul(a, b), 0x4600) && is(__hdiv(a, b), 0x3600);
    *y++ = is(__hfma(a, b, a), 0x4780) && is(a * b + a, 0x4780) && is(__hfma_sat(a, b, a), 0x3c00) &&
           is(__hfma_relu(-a, b, a), 0);
    /* (1 + 3 x 2^-10)^2 - 1 is 1.5 x 2^-8 + 9 x 2^-20, which a separately rounded product loses. */
    *y++ = is(__hfma(__ushort_as_half(0x3c03), __ushort_as_half(0x3c03), (__half)-1), 0x1e02);
    c += b;
    c *= b;
    c -= a;
    *y++ = is(c, 0x4d20) && is(-c, 0xcd20) && is(__habs(-c), 0x4d20) && is(c++, 0x4d20) && is(--c, 0x4d20);
    *y++ = a < b && !(a == b) && __hne(a, b) && __hltu(a, CUDART_NAN_FP16) && !__hlt(a, CUDART_NAN_FP16);
    *y++ = is(__hmax(a, b), 0x4400) && is(__hmin(a, CUDART_NAN_FP16), 0x3e00) &&
           is(__hmin_nan(a, CUDART_NAN_FP16), 0x7fff);
    *y++ = is(hsqrt(b), 0x4000) && is(hrcp(b), 0x3400) && is(hexp2(b), 0x4c00) && is(hexp(a), 0x447b) &&
           is(hfloor(a), 0x3c00) && is(hrint(__half(2.5f)), 0x4000) && is(hlog2(b), 0x4000) && is(htanh(a), 0x3b3e);
    *y++ = is(__float2half_rd(0.1f), 0x2e66) && is(__float2half_ru(0.1f), 0x2e67) &&
           is(__float2half_rz(-70000), 0xfbff) && is(__float2half_rn(65520), 0x7c00) &&
           is(__float2half_rd(-1e-9f), 0x8001) && is(__ll2half_rn(2049), 0x6800);
    *y++ = __half2int_rn(a) == 2 && __half2int_rz(-a) == -1 && __half2uint_ru(a) == 2 && __half2short_rd(-a) == -2 &&
           __half2ll_rn(CUDART_INF_FP16) == INT64_MAX && __half2uchar_rz(__half(300)) == 255;
    *y++ = is(__int2half_rn(3), 0x4200) && is(__half(1ull << 40), 0x7c00) && is(__short2half_rn(-1), 0xbc00) &&
           is(__ull2half_rz(~0ull), 0x7bff);
}

static void halves(void **)
{
    halves_kernel<<<1, 1>>>(device_y, __float2half(1.5f), __float2half(4.0f));
    all_hold(10);
}

static __device__ bool is(__half2 value, float x, float y)
{
    return __low2float(value) == x && __high2float(value) == y;
}

static __global__ void pairs_kernel(int *y, const __half2 *x)
{
    const __half2 a = x[0], b = x[1];
    __half2 c = a;

    *y++ = is(__hadd2(a, b), 5.5f, -1.75f) && is(a - b, -2.5f, -2.25f) && is(__hmul2(a, b), 6, -0.5f) &&
           is(-a, -1.5f, 2);
    *y++ = is(__hfma2(a, b, a), 7.5f, -2.5f) && is(__h2div(a, b), 0.375f, -8) && is(__habs2(a), 1.5f, 2);
    c += b;
    c *= b;
    *y++ = is(c, 22, -0.4375f) && is(__lowhigh2highlow(c), -0.4375f, 22) && is(__lows2half2(a, b), 1.5f, 4);
    *y++ = is(__hgt2(a, b), 0, 0) && is(__hlt2(a, b), 1, 1) && __hblt2(a, b) && a < b && a == a && !__hbgt2(a, b) &&
           __hlt2_mask(a, b) == ~0u;
    *y++ = is(h2sqrt(b), 2, 0.5f) && is(h2exp2(b), 16, 0x1.308p+0f) && is(h2rcp(b), 0.25f, 4);
    *y++ = is(__shfl_xor_sync(1u, a, 0), 1.5f, -2) && is(__ldg(x + 1), 4, 0.25f) && is(__half2half2(b.y), 0.25f, 0.25f);
    *y++ = is(__hmax2(a, b), 4, 0.25f) && is(__hfma2_relu(a, b, a), 7.5f, 0) && is(__hadd2_sat(a, b), 1, 0);
    *y++ = is(__floats2half2_rn(1, 2), 1, 2) && is(__float22half2_rn(__half22float2(a)), 1.5f, -2) &&
           alignof(__half2) == 4;
}

static void pairs_of_halves(void **)
{
    const __half2 pairs[] = {__floats2half2_rn(1.5f, -2), __floats2half2_rn(4, 0.25f)};

    assert_int_equal(cudaMemcpy(device_y + 100, pairs, sizeof pairs, cudaMemcpyHostToDevice), cudaSuccess);
    pairs_kernel<<<1, 1>>>(device_y, (const __half2 *)(device_y + 100));
    all_hold(8);
}

static __global__ void bfloats_kernel(int *y, __nv_bfloat16 a, __nv_bfloat16 b)
{
    const __nv_bfloat162 c = __halves2bfloat162(a, b), d = __floats2bfloat162_rn(1, 2);
    const __nv_bfloat16 one = __ushort_as_bfloat16(0x3f83);

    *y++ = __bfloat162float(a + b) == 5.5f && __bfloat162float(__hfma(a, b, a)) == 7.5f &&
           __bfloat162float(hsqrt(b)) == 2;
    /* (1 + 3 x 2^-7)^2 - 1 is 1.5 x 2^-5 + 9 x 2^-14. */
    *y++ = __bfloat16_as_ushort(__hfma(one, one, (__nv_bfloat16)-1)) == 0x3d42;
    *y++ = __bfloat16_as_ushort(__float2bfloat16(0x1.01p0f)) == 0x3f80 &&
           __bfloat16_as_ushort(__float2bfloat16(0x1.03p0f)) == 0x3f82;
    *y++ = __bfloat16_as_ushort(__float2bfloat16_ru(0.1f)) == 0x3dcd &&
           __bfloat16_as_ushort(__float2bfloat16_rz(0.1f)) == 0x3dcc;
    *y++ = __bfloat16_as_ushort(__ll2bfloat16_rn((1ll << 60) + (1ll << 52) + 1)) == 0x5d81; /* just beyond halfway */
    *y++ = __low2float(__hfma2(c, d, c)) == 3 && __high2float(__hadd2(c, d)) == 6 && __high2float(c * d) == 8 &&
           __hbgt2(c, d);
    *y++ = __bfloat162int_rn(a) == 2 && __bfloat162uint_rd(a) == 1 && __low2float(__hmax2(c, d)) == 1.5f;
}

static void bfloats(void **)
{
    bfloats_kernel<<<1, 1>>>(device_y, __float2bfloat16(1.5f), __float2bfloat16(4.0f));
    all_hold(7);
}

static __global__ void small_atomics_kernel(unsigned short *words, __half *half, __half2 *pair, __nv_bfloat16 *brain,
                                            __nv_bfloat162 *both)
{
    atomicCAS(&words[1], (unsigned short)threadIdx.x, (unsigned short)(threadIdx.x + 1));
    atomicAdd(half, __float2half(0.5f));
    atomicAdd(pair, __floats2half2_rn(1, 0.25f));
    atomicAdd(brain, __float2bfloat16(1));
    atomicAdd(both, __floats2bfloat162_rn(8, 0.25f));
}

static void atomics_of_16_bits(void **)
{
    read_and_reset_counters();
    small_atomics_kernel<<<1, 64>>>((unsigned short *)device_y, (__half *)(device_y + 1), (__half2 *)(device_y + 2),
                                    (__nv_bfloat16 *)(device_y + 3), (__nv_bfloat162 *)(device_y + 4));
    const struct simt_counters counters = read_and_reset_counters();
    const int expected[] = {64 << 16, 0x5000, 0x4c005400, 0x4280, 0x41804400};

    assert_memory_equal(result(), expected, sizeof expected);
    assert_int_equal(counters.atomic_requests, 10);
    assert_int_equal(counters.atomic_conflicts, 310);
}

struct money {
    int whole, cents;
};

static __host__ __device__ constexpr int cents_of(money sum, int factor = 1)
{
    return (sum.whole * 100 + sum.cents) * factor;
}

static __device__ money operator+(money a, money b)
{
    return {a.whole + b.whole, a.cents + b.cents};
}

struct first_of {
    __device__ money operator()(money a, money) const
    {
        return a;
    }
};

template <class Choose>
static __global__ void by_value_kernel(const int *x, int *y, Choose choose)
{
    constexpr money prices[2] = {{1, 20}, {3, 40}};
    constexpr int price = cents_of(prices[1]);
    const money *const all = (const money *)x;
    const unsigned t = threadIdx.x;

    static_assert(cents_of(prices[0]) == 120, "");
    y[t] = price + cents_of(all[t] + all[t + 1], 2) - cents_of(choose(all[t], *all)) + cents_of({0, x[t] + 1});
}

/* Thread 3: 340 + 2 * (6 + 8 and 7 + 9) - (6 and 7) + 4 */
RIGHT(structures_by_value, (by_value_kernel<<<1, 32>>>(device_x, device_y, first_of())), 3, 340 + 2 * 1416 - 607 + 4)

static __global__ void clocks_kernel(int *y)
{
    const long long before = clock64();
    const clock_t soon = clock();

    __nanosleep(100);
    y[0] = clock64() > before && clock() > soon;
    assert(y != NULL && "never");
    if (threadIdx.x == 99)
        printf("never: %d\n", y[0]);
}
RIGHT(clocks_asserts_and_prints, (clocks_kernel<<<1, 1>>>(device_y)), 0, 1)

/* --- calls from the host ------------------------------------------------------------------------------------------ */

static __global__ void increment_kernel(int *y)
{
    y[threadIdx.x]++;
}

static void a_graph(void **)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t nodes;

    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    for (int i = 0; i < 3; i++)
        increment_kernel<<<1, 32, 0, stream>>>(device_y);
    assert_int_equal(cudaMemsetAsync(device_y + 5, 0, 4, stream), cudaSuccess);
    assert_int_equal(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(result()[0], 0);
    assert_int_equal(cudaGraphGetNodes(graph, NULL, &nodes), cudaSuccess);
    assert_int_equal(nodes, 4);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < 4; i++)
        assert_int_equal(cudaGraphLaunch(exec, stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(result()[0], 12);
    assert_int_equal(result()[5], 0);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

/** Tests a graph captured from two streams that events fork and join; its launches use the captured arguments. */
static void a_graph_of_two_streams(void **)
{
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *pinned;

    assert_int_equal(cudaMallocHost(&pinned, 128), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreate(&event), cudaSuccess);
    for (int i = 0; i < 32; i++)
        pinned[i] = i;
    assert_int_equal(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    {
        int factor = 2;
        size_t count = 32;

        cudaMemcpyAsync(device_y, pinned, 128, cudaMemcpyHostToDevice, first);
        cudaEventRecord(event, first);
        cudaStreamWaitEvent(second, event);
        scale_kernel<<<1, 32, 0, second>>>(device_y, device_y + 32, factor, count);
        cudaEventRecord(event, second);
        cudaStreamWaitEvent(first, event, 0);
        cudaMemcpyAsync(pinned, device_y + 32, 128, cudaMemcpyDeviceToHost, first);
        factor = 3;
    }
    assert_int_equal(cudaStreamEndCapture(first, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
    assert_int_equal(cudaEventDestroy(event), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, first), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, second), cudaSuccess); /* after its launch in the other stream */
    assert_int_equal(cudaStreamSynchronize(second), cudaSuccess);
    expect_success();
    assert_int_equal(pinned[7], 28);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(second), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(first), cudaSuccess);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
}

static __global__ void pitched_kernel(float *matrix, size_t pitch, int width, int height)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;

    if (row < height && column < width)
        ((float *)((char *)matrix + row * pitch))[column] *= 2;
}

static void memory_in_rows(void **)
{
    enum { WIDTH = 50, HEIGHT = 20 };
    float in[HEIGHT][WIDTH], out[HEIGHT][WIDTH], *matrix;
    size_t pitch;

    for (int i = 0; i < WIDTH * HEIGHT; i++)
        in[i / WIDTH][i % WIDTH] = (float)i;
    assert_int_equal(cudaMallocPitch(&matrix, &pitch, sizeof in[0], HEIGHT), cudaSuccess);
    assert_true(pitch >= sizeof in[0]);
    assert_int_equal(cudaMemcpy2D(matrix, pitch, in, sizeof in[0], sizeof in[0], HEIGHT, cudaMemcpyHostToDevice),
                     cudaSuccess);
    pitched_kernel<<<dim3(4, 2), dim3(16, 16)>>>(matrix, pitch, WIDTH, HEIGHT);
    expect_success();
    assert_int_equal(cudaMemcpy2D(out, sizeof in[0], matrix, pitch, sizeof in[0], HEIGHT, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        assert_true(out[i / WIDTH][i % WIDTH] == 2 * (float)i);
    assert_int_equal(cudaMemset2D(matrix, pitch, 0, sizeof in[0], HEIGHT), cudaSuccess);
    assert_int_equal(cudaFree(matrix), cudaSuccess);
}

static void CUDART_CB count_up(void *data)
{
    ++*(int *)data;
}

static void memory_and_functions_in_a_stream(void **)
{
    cudaStream_t stream;
    int *words, *pinned, host[32], calls = 0;

    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaMallocAsync(&words, sizeof host, stream), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(words, 0, sizeof host, stream), cudaSuccess);
    increment_kernel<<<1, 32, 0, stream>>>(words);
    assert_int_equal(cudaMemcpyAsync(host, words, sizeof host, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    assert_int_equal(cudaLaunchHostFunc(stream, count_up, &calls), cudaSuccess);
    assert_int_equal(cudaFreeAsync(words, stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(host[31] + calls, 2);
    assert_int_equal(cudaMallocHost(&pinned, sizeof host), cudaSuccess);
    memset(pinned, 0, sizeof host);
    increment_kernel<<<1, 32, 0, stream>>>(pinned);
    assert_int_equal(cudaLaunchHostFunc(stream, count_up, pinned), cudaSuccess);
    increment_kernel<<<1, 32, 0, stream>>>(pinned);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(pinned[0] + pinned[1], 5);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

/* --- C++ on the host and in kernels ------------------------------------------------------------------------------- */

#if !defined __CUDACC__ || CUDART_VERSION < 12000 || __CUDACC_VER_MAJOR__ < 12
#error "nvcc defines these"
#endif

struct seeded {
    int value;
    explicit seeded(int seed) : value(seed)
    {
    }
};

static int next_seed(int seed)
{
    static seeded first(seed); /* a static local with a constructor */

    return first.value++;
}

static void atomics_and_statics_of_the_host(void **)
{
    std::atomic<int> count{1};
    std::atomic<uint64_t> bits{6};
    const std::unique_ptr<int> owned(new int(7));
    int expected = 4;

    assert_int_equal(count.fetch_add(2), 1);
    count++;
    assert_true(count.compare_exchange_strong(expected, 9));
    assert_false(count.compare_exchange_strong(expected, 1));
    assert_int_equal(expected, 4 + (count.load() == 9 ? 5 : 0));
    assert_int_equal(bits.exchange(5) ^ bits.fetch_or(8), 6 ^ 5);
    assert_int_equal(bits.load(), 13);
    assert_int_equal(next_seed(*owned) + next_seed(1), 7 + 8);
}

static __global__ void aligned_kernel(int *y)
{
    __shared__ alignas(128) int first[3];
    __shared__ alignas(128) int second[32];

    first[threadIdx.x % 3] = 0;
    second[threadIdx.x] = (int)((uintptr_t)first % 128 + (uintptr_t)second % 128);
    y[threadIdx.x] = second[threadIdx.x];
}

static void aligned_shared_memory(void **)
{
    aligned_kernel<<<1, 3>>>(device_y);
    assert_int_equal(result()[0], 0);
}

static __global__ void smallest_by_minus_one_kernel(int *y, int smallest, long long wide, const int *divisors)
{
    y[0] = smallest / divisors[0];
    y[1] = smallest % divisors[0];
    y[2] = (int)((wide / divisors[0]) >> 32);
    y[3] = (int)(wide % divisors[0]) + 5;
}

static void the_smallest_integer_by_minus_one(void **)
{
    const int minus_one = -1;

    assert_int_equal(cudaMemcpy(device_x, &minus_one, sizeof minus_one, cudaMemcpyHostToDevice), cudaSuccess);
    smallest_by_minus_one_kernel<<<1, 1>>>(device_y, INT32_MIN, INT64_MIN, device_x);
    const int *const y = result();

    assert_int_equal(y[0], INT32_MIN);
    assert_int_equal(y[1], 0);
    assert_int_equal(y[2], INT32_MIN);
    assert_int_equal(y[3], 5);
}

static __device__ int calls_so_far(void)
{
    static int calls = 40; /* a device variable, which keeps its value between launches */

    return ++calls;
}

static __global__ void static_kernel(int *y)
{
    static int last[2];

    if (threadIdx.x == 0) {
        last[1] += calls_so_far();
        *y = last[1];
    }
}

static void statics_of_the_device(void **)
{
    static_kernel<<<1, 32>>>(device_y);
    static_kernel<<<1, 32>>>(device_y);
    assert_int_equal(result()[0], 41 + 42);
}

static __global__ void numbered_barrier_kernel(int *y)
{
    __shared__ int words[64];

    words[threadIdx.x] = threadIdx.x;
    __barrier_sync(3);
    y[threadIdx.x] = words[63 - threadIdx.x];
}

RIGHT(a_barrier_with_a_number, (numbered_barrier_kernel<<<1, 64>>>(device_y)), 0, 63)

struct counted {
    __device__ virtual int value(void) const
    {
        return 1;
    }
    __device__ virtual ~counted(void)
    {
    }
};

struct doubled : counted {
    int half;
    __device__ explicit doubled(int value) : half(value)
    {
    }
    __device__ int value(void) const override
    {
        return 2 * half;
    }
};

static __global__ void objects_kernel(int *y)
{
    __shared__ alignas(16) char room[sizeof(doubled)];
    __shared__ counted *shared, *made[32];

    if (threadIdx.x == 0)
        shared = new (room) doubled(5);
    made[threadIdx.x] = threadIdx.x % 2 ? new counted : new doubled(threadIdx.x);
    __syncthreads();
    y[threadIdx.x] = shared->value() + made[31 - threadIdx.x]->value();
    __syncthreads();
    delete made[threadIdx.x];
}

RIGHT(objects_with_virtual_functions, (objects_kernel<<<1, 32>>>(device_y)), 1, 10 + 60)

static __global__ void roles_kernel(int *y)
{
    __shared__ int words[32];

    if (threadIdx.x < 32) {
        words[threadIdx.x] = threadIdx.x;
        __barrier_sync(1);
    } else {
        __barrier_sync(1);
        y[threadIdx.x] = words[63 - threadIdx.x];
    }
}

RIGHT(a_barrier_reached_by_two_calls, (roles_kernel<<<1, 64>>>(device_y)), 63, 0)

struct alignas(16) aligned_row {
    float v[4];
};
struct __attribute__((packed)) packed_record {
    char kind;
    short code[3];
};
struct complex_number {
    double re, im;
};
struct behind_eight_bytes {
    double first;
    complex_number number;
};

static __global__ void attributes_kernel(int *y)
{
    __shared__ behind_eight_bytes modes[32];
    aligned_row row = {{1, 2, 3, 4}};
    packed_record record = {1, {2, 3, 4}};

    modes[threadIdx.x] = {1.0, {double(threadIdx.x), 2.0}};
    const complex_number number = modes[threadIdx.x].number;
    const int code = record.code[threadIdx.x % 3];

    y[threadIdx.x] = (int)number.re + (int)row.v[threadIdx.x % 4] + code;
}

RIGHT(structures_with_attributes, (attributes_kernel<<<1, 32>>>(device_y)), 5, 5 + 2 + 4)

static __device__ int plus_one(int a)
{
    return a + 1;
}
static __device__ int times_two(int a)
{
    return a * 2;
}
static __device__ int (*increments[2])(int) = {plus_one, times_two};

struct with_methods {
    int number;
    __device__ int add(int a) const
    {
        return number + a;
    }
    __device__ int times(int a) const
    {
        return number * a;
    }
};

static __global__ void pointers_kernel(int *y)
{
    const with_methods object = {3};
    int (with_methods::*const methods[2])(int) const = {&with_methods::add, &with_methods::times};
    int rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, (*const row[2])[3] = {&rows[1], &rows[0]};
    const int i = threadIdx.x % 2;

    y[threadIdx.x] = increments[i](10) + (object.*methods[i])(100) + (*row[i])[2];
}

RIGHT(arrays_of_pointers, (pointers_kernel<<<1, 32>>>(device_y)), 1, 20 + 300 + 3)

static __global__ void pair_and_half_kernel(int *y)
{
    __shared__ __half2 sum;

    if (threadIdx.x == 0)
        sum = __floats2half2_rn(0, 0);
    __syncthreads();
    atomicAdd(&sum, __floats2half2_rn(1, 2));
    atomicAdd((__half *)&sum, __float2half(3));
    __syncthreads();
    y[threadIdx.x] = (int)__low2float(sum) + (int)__high2float(sum);
}

RIGHT(atomics_of_a_pair_and_of_one_half, (pair_and_half_kernel<<<1, 32>>>(device_y)), 0, 32 * 4 + 32 * 2)

struct lock_in_memory {
    int *mutex;
};

/** Takes a lock, whose address is loaded for each attempt, in one lane after another. */
static __global__ void lock_of_a_list_kernel(const lock_in_memory *lock, int *y)
{
    for (int item = 0; item < 40; item++) {
        while (atomicCAS(lock->mutex, 0, 1) != 0)
            ;
        __threadfence();
        y[0]++;
        __threadfence();
        atomicExch(lock->mutex, 0);
    }
}

static void a_lock_found_by_a_pointer(void **)
{
    lock_in_memory lock = {device_y + 1}, *on_device;

    assert_int_equal(cudaMalloc(&on_device, sizeof lock), cudaSuccess);
    assert_int_equal(cudaMemcpy(on_device, &lock, sizeof lock, cudaMemcpyHostToDevice), cudaSuccess);
    lock_of_a_list_kernel<<<1, 64>>>(on_device, device_y);
    assert_int_equal(result()[0], 64 * 40);
    cudaFree(on_device);
}

static __global__ __launch_bounds__(192) void reversed_kernel(int *y)
{
    __shared__ double words[192];

    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = (int)words[191 - threadIdx.x];
}

static void attributes_of_a_kernel(void **)
{
    cudaFuncAttributes attributes;
    int blocks = -1;

    assert_int_equal(cudaFuncGetAttributes(&attributes, reversed_kernel), cudaSuccess);
    assert_int_equal(attributes.sharedSizeBytes, 192 * 8);
    assert_int_equal(attributes.maxThreadsPerBlock, 192);
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reversed_kernel, 512, 0), cudaSuccess);
    assert_int_equal(blocks, 0);
}

static __device__ __noinline__ int use(const int *words)
{
    return words[1];
}

static __device__ int *kept_pointer;

static __global__ void local_pointers_kernel(const int *x, int *y)
{
    int words[4] = {x[0], x[1], x[2], x[3]};
    int **const exchanged = &kept_pointer;
    __align__(8) float pair[2] = {1, 2};
    unsigned char bytes[4] = {1, 0, 0, 0};

    *exchanged = words;
    const int sum = use(*exchanged) + (int)((const float2 *)pair)->y + *(const int *)bytes;

    *exchanged = (int *)x;
    y[0] = sum;
}

static __global__ void use_kept_kernel(int *y)
{
    y[0] += use(kept_pointer);
}

static __attribute__((noinline)) size_t words_of_host()
{
    return 4;
}

/* Copies of all the bytes of variables of the host, and of a part of them; and pointers to a thread's own memory. */
static void copies_of_local_variables(void **)
{
    struct eight {
        int first, rest[7];
    } local, *const many = (eight *)malloc(sizeof *many * 3);
    int words[4][4], *at = words[0];
    int *const block = (int *)malloc(sizeof *block * (words_of_host() + 60));
    cudaError_t (*copy)(void *, const void *, size_t, cudaMemcpyKind) = cudaMemcpy;

    assert_int_equal(cudaMemcpy(&local, device_x, sizeof local, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy(&local.rest[3], device_x, 16, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy(&many[0].rest[1], device_x, 88, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy(&words[1][0], device_x, 48, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy(block, device_x, 256, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 16; i++, at++)
        assert_int_equal(cudaMemcpyAsync(at, device_x + i, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy2D(words, 32, device_x, 32, 16, 2, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy2D(words, 256, device_x, 256, 16, 0, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(copy(words, device_x, 64, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(words[3][3], 15);
    free(many);
    free(block);
    local_pointers_kernel<<<1, 1>>>(device_x, device_y);
    use_kept_kernel<<<1, 1>>>(device_y);
    assert_int_equal(result()[0], 1 + 2 + 1 + 1);
}

static __global__ void two_kernel(int *y)
{
    y[threadIdx.x] = 2;
}

static void memory_after_a_reset(void **)
{
    cudaStream_t stream;
    int *words;

    assert_int_equal(cudaMalloc(&words, 64), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    assert_int_equal(cudaFree(words), cudaErrorInvalidValue);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    assert_int_equal(cudaMalloc(&device_x, 4096), cudaSuccess);
    assert_int_equal(cudaMalloc(&device_y, 4096), cudaSuccess);
    two_kernel<<<1, 32>>>(device_y);
    expect_success();
}

static __global__ void meeting_kernel(int *y)
{
    y[threadIdx.x + 1] = (int)threadIdx.x;
    __threadfence();
    atomicAdd(&y[0], 1);
    do
        __threadfence();
    while (*(volatile int *)&y[0] < (int)blockDim.x);
    __threadfence();
    y[threadIdx.x + 100] = y[blockDim.x - threadIdx.x];
}

static void many_threads_poll_a_counter(void **)
{
    assert_int_equal(cudaMemset(device_y, 0, 4), cudaSuccess);
    meeting_kernel<<<1, 64>>>(device_y);
    assert_int_equal(result()[100], 63);
}

struct counted_copies {
    static int count;
    int value;

    __host__ explicit counted_copies(int initial) : value(initial)
    {
    }
    __host__ counted_copies(const counted_copies &other) : value(other.value)
    {
        count++;
    }
    __host__ ~counted_copies()
    {
        value = -1;
    }
};
int counted_copies::count;

static __global__ void parameter_kernel(int before, counted_copies object, int *y)
{
    object.value += (int)threadIdx.x;
    y[threadIdx.x] = object.value + before;
}

static void copies_of_a_parameter(void **)
{
    const counted_copies object(40);
    int before = 1;
    void *arguments[] = {&before, (void *)&object, &device_y};

    counted_copies::count = 0;
    parameter_kernel<<<1, 32>>>(2, object, device_y);
    assert_int_equal(result()[31], 73);
    assert_in_range(counted_copies::count, 1, 2);
    assert_int_equal(cudaLaunchKernel(parameter_kernel, 1, 32, arguments), cudaSuccess);
    assert_int_equal(result()[1], 42);
}

static void kernels_in_an_array(void **)
{
    struct {
        void (*kernel)(int *);
    } const members[] = {{numbered_barrier_kernel}, {two_kernel}}, *const last = members + 1;
    void (*const kernels[])(int *) = {two_kernel, objects_kernel};

    kernels[1]<<<1, 32>>>(device_y);
    assert_int_equal(result()[1], 70);
    last->kernel<<<1, 32>>>(device_y);
    assert_int_equal(result()[1], 2);
    members[0].kernel<<<1, 64>>>(device_y);
    assert_int_equal(result()[1], 62);
}

static void how_many_blocks_fit(void **)
{
    int blocks = 0, grid = 0, block = 0;
    size_t bytes = 0;
    struct cudaDeviceProp properties;

    assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    assert_int_equal(properties.warpSize, 32);
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, increment_kernel, 32, 0), cudaSuccess);
    assert_int_equal(blocks, 32);
    assert_int_equal(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)increment_kernel, 1024, 40000),
        cudaSuccess);
    assert_int_equal(blocks, 2);
    assert_int_equal(cudaOccupancyMaxPotentialBlockSize(&grid, &block, increment_kernel, 0, 0), cudaSuccess);
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 2 * properties.multiProcessorCount);
    assert_int_equal(cudaOccupancyMaxPotentialBlockSize(&grid, &block, increment_kernel, 0, 100), cudaSuccess);
    assert_int_equal(block, 64); /* 64 threads: 32 resident blocks; 100 threads: only 16 */
    assert_int_equal(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, increment_kernel, 2, 128), cudaSuccess);
    assert_int_equal(bytes, 113 * 1024);
}

#define VALID(name) cmocka_unit_test_setup_teardown(name, make_buffers, free_buffers)

/* A view has neither a default constructor nor an assignment. */
class view_of_words
{
    const int *const words;
    const int count;

  public:
    view_of_words(const int *its_words, int its_count) : words(its_words), count(its_count)
    {
    }
    view_of_words(const view_of_words &) = default;
    view_of_words &operator=(const view_of_words &) = delete;
    __device__ int operator[](int i) const
    {
        return words[i % count];
    }
};

static __global__ void kernel_with_view(view_of_words view, int *y, float4 scale)
{
    y[threadIdx.x] = view[(int)threadIdx.x] * (int)scale.w;
}

static void launches_by_address_of_classes(void **)
{
    view_of_words view(device_x, 16);
    float4 scale = {1, 2, 3, 4};
    void *arguments[] = {&view, &device_y, &scale};

    cudaLaunchKernel((void *)kernel_with_view, dim3(1), dim3(32), arguments, 0, 0);
    assert_int_equal(result()[17], 4);
    scale.w = 5;
    cudaLaunchCooperativeKernel((void *)kernel_with_view, dim3(1), dim3(32), arguments, 0, 0);
    assert_int_equal(result()[17], 5);
}

static __constant__ const int const_after[3] = {1, 2, 3};
static const __constant__ int const_before[3] = {4, 5, 6};
static int const __constant__ const_between[3] = {7, 8, 9};
static __constant__ constexpr int const_at_compile_time[3] = {10, 11, 12};
static __constant__ int not_const;
static __device__ const int device_const_after[3] = {1, 2, 3};
static const __device__ int device_const_before[3] = {4, 5, 6};
static constexpr __device__ int device_at_compile_time = 3;
static __device__ int device_not_const = 2;
static __device__ __constant__ int in_constant_memory = 1;
[[maybe_unused]] static __device__ int unused;
__device__ [[maybe_unused]] static int also_unused;
__constant__ alignas(16) const int aligned_constants[4] = {1, 2, 3, 4};

static __device__ __noinline__ int sum_of_three(const int *values)
{
    int sum = 0;

    for (int i = 0; i < 3; i++)
        sum += values[i];
    return sum;
}

static __global__ void constants_kernel(int *y)
{
    const int i = (int)threadIdx.x;
    int words[device_at_compile_time] = {1, 1, 1};

    y[i] = const_after[i] + const_before[i] + const_between[i] + const_at_compile_time[i] + not_const +
           device_const_after[i] + device_const_before[i] + words[i] + device_not_const + in_constant_memory +
           aligned_constants[i];
    y[i + 3] = sum_of_three(const_after) + sum_of_three(const_before) + sum_of_three(device_const_after) +
               sum_of_three(device_const_before);
}
RIGHT(constants_and_variables, (constants_kernel<<<1, 3>>>(device_y)), 2, 3 + 6 + 9 + 12 + 3 + 6 + 1 + 2 + 1 + 3)
RIGHT(constants_by_pointers, (constants_kernel<<<1, 3>>>(device_y)), 5, 6 + 15 + 6 + 15)

struct braced_pair {
    int a, b;
};

__device__ [[nodiscard]] static int sum_of_pair(braced_pair pair = braced_pair{1, 2}, int more = int{3})
{
    return pair.a < 0 || pair.b < 0 ? 0 : pair.a + pair.b + more;
}

static __global__ void kernel_with_defaults(int *y, braced_pair pair = braced_pair{1, 2}, int factor = 3)
{
    __shared__ [[maybe_unused]] int gap[4];

    if (threadIdx.x < 16 && factor > 0)
        y[threadIdx.x] = (pair.a * 10 + pair.b) * factor + sum_of_pair();
}
RIGHT(defaults_in_braces, (kernel_with_defaults<<<1, 32>>>(device_y)), 4, 12 * 3 + 6)
RIGHT(an_argument_in_braces_before_a_default, (kernel_with_defaults<<<1, 32>>>(device_y, {4, 5})), 4, 45 * 3 + 6)
RIGHT(braces_and_all_arguments, (kernel_with_defaults<<<1, 32>>>(device_y, {4, 5}, 2)), 4, 45 * 2 + 6)

static __global__ void kernel_with_disabled_code(int *y)
{
#if 0
    if (threadIdx.x < 16) {
        y[threadIdx.x] = 1;
    else {
#endif
    y[threadIdx.x] = 2;
}
RIGHT(disabled_code, (kernel_with_disabled_code<<<1, 32>>>(device_y)), 4, 2)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VALID(a_lock),
        VALID(a_lock_of_a_block),
        VALID(a_ticket),
        VALID(a_volatile_flag),
        VALID(the_guide_s_reduction),
        VALID(the_last_block_with_all_its_threads),
        VALID(decoupled_look_back),
        VALID(look_back_in_one_word),
        VALID(the_guide_s_atomic_add),
        VALID(a_maximum_of_floats),
        VALID(atomics_of_a_warp_as_one),
        VALID(an_exchange_as_first_touch),
        VALID(the_last_one_resets_the_counter),
        VALID(padded_structures),
        VALID(tiles_of_16_and_8_lanes),
        VALID(a_partial_last_warp),
        VALID(elements_of_one_and_two_bytes),
        VALID(tables),
        VALID(coalesced_threads),
        VALID(local_memory_of_128_kilobytes),
        VALID(the_heap_of_kernels),
        VALID(arrays_and_their_indices),
        VALID(conversions_and_products),
        VALID(barriers_and_shuffles_in_functions),
        VALID(lanes_that_return_early),
        VALID(halves_apart),
        VALID(launches_at_their_limits),
        VALID(streams_in_turn),
        VALID(halves_of_a_buffer),
        VALID(counts_of_two_streams),
        VALID(the_default_stream_waits),
        VALID(copies_and_kernels_overlap),
        VALID(managed_memory),
        VALID(pinned_memory_in_kernels),
        VALID(pageable_copies),
        VALID(what_ends_while_it_works),
        VALID(shifts_by_all_bits_and_more),
        VALID(casts_out_of_range_and_of_nan),
        VALID(the_architecture_of_device_code),
        VALID(operators_of_classes_that_are_named_like_shifts),
        VALID(idioms_of_cpp),
        VALID(unwritten_padding),
        VALID(memory_written_in_pieces),
        VALID(read_only_loads_launch_after_launch),
        VALID(a_tree_of_sums),
        VALID(sums_in_two_launches),
        VALID(a_tree_for_one_size),
        VALID(a_tree_step_on_a_line),
        VALID(a_scan_by_two_buffers),
        VALID(a_scan_up_and_down),
        VALID(scans_of_warps),
        VALID(tiles_that_look_back),
        VALID(a_bitonic_sort),
        VALID(a_sort_by_bits),
        VALID(a_transpose),
        VALID(a_product_of_matrices),
        VALID(a_stencil_with_a_border),
        VALID(two_buffers_in_turn),
        VALID(a_warp_for_each_row),
        VALID(a_softmax_in_one_pass),
        VALID(a_histogram),
        VALID(a_histogram_for_each_warp),
        VALID(a_hash_table),
        VALID(a_search_by_levels),
        VALID(the_place_of_the_largest),
        VALID(a_minimum_of_floats),
        VALID(a_lock_that_each_thread_takes),
        VALID(a_lock_in_shared_memory),
        VALID(a_flag_in_shared_memory),
        VALID(a_block_that_waits_for_another),
        VALID(lanes_with_the_same_key),
        VALID(reductions_of_half_a_warp),
        VALID(barriers_with_answers),
        VALID(the_lanes_that_have_work),
        VALID(a_block_of_40_threads),
        VALID(groups_of_every_size),
        VALID(what_tiles_do),
        VALID(reductions_and_scans_of_groups),
        VALID(lanes_by_their_labels),
        VALID(a_grid_that_waits),
        VALID(structures_in_a_tree),
        VALID(a_union_in_shared_memory),
        VALID(three_arrays_in_one),
        VALID(a_dynamic_array_of_any_type),
        VALID(memcpy_and_memset),
        VALID(vectors),
        VALID(copies_without_a_wait),
        VALID(groups_of_copies),
        VALID(sources_of_copies),
        VALID(copies_again),
        VALID(copies_of_a_grid),
        VALID(warps_that_multiply),
        VALID(special_products),
        VALID(recursion),
        VALID(pointers_to_functions),
        VALID(virtual_functions),
        VALID(lambdas_and_templates),
        VALID(arguments_of_templates_are_found),
        VALID(launches_by_address),
        VALID(dependent_launches),
        VALID(integer_functions),
        VALID(arithmetic_in_every_mode),
        VALID(smaller_and_larger_floats),
        VALID(conversions_in_every_mode),
        VALID(halves),
        VALID(pairs_of_halves),
        VALID(bfloats),
        VALID(atomics_of_16_bits),
        VALID(structures_by_value),
        VALID(clocks_asserts_and_prints),
        VALID(a_graph),
        VALID(a_graph_of_two_streams),
        VALID(memory_in_rows),
        VALID(memory_and_functions_in_a_stream),
        VALID(how_many_blocks_fit),
        VALID(atomics_and_statics_of_the_host),
        VALID(aligned_shared_memory),
        VALID(the_smallest_integer_by_minus_one),
        VALID(statics_of_the_device),
        VALID(a_barrier_with_a_number),
        VALID(objects_with_virtual_functions),
        VALID(many_threads_poll_a_counter),
        VALID(copies_of_a_parameter),
        VALID(kernels_in_an_array),
        VALID(a_barrier_reached_by_two_calls),
        VALID(structures_with_attributes),
        VALID(arrays_of_pointers),
        VALID(atomics_of_a_pair_and_of_one_half),
        VALID(a_lock_found_by_a_pointer),
        VALID(attributes_of_a_kernel),
        VALID(memory_after_a_reset),
        VALID(launches_by_address_of_classes),
        VALID(constants_and_variables),
        VALID(constants_by_pointers),
        VALID(defaults_in_braces),
        VALID(an_argument_in_braces_before_a_default),
        VALID(braces_and_all_arguments),
        VALID(disabled_code),
        VALID(copies_of_local_variables),
    };

    return cmocka_run_group_tests_name("valid", tests, NULL, NULL);
}
