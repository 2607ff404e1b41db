/** @file test_valid.cu  Kernels as course readers write them, all of them right: each runs, and gives what it should. */
#include "simt_test.h"

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

static int *device_x; /* counts from 0 */
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

/** The launch before went well; what device_y holds. */
static const int *result(void)
{
    static int host[WORDS];

    expect_good();
    assert_int_equal(cudaMemcpy(host, device_y, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    return host;
}

/* --- locks, tickets, flags ------------------------------------------------------------------------------------------ */

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

/* --- across blocks -------------------------------------------------------------------------------------------------- */

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

/* --- atomics -------------------------------------------------------------------------------------------------------- */

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

/* --- shared memory -------------------------------------------------------------------------------------------------- */

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

/* --- convergence ---------------------------------------------------------------------------------------------------- */

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

    /* The same for all threads of a block: its barriers may be in branches. */
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

/** Lanes that return before a collective need not come to it, whatever they did before. */
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

/** Half of the lanes do their own collectives while the others do theirs. */
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

/* --- launches ------------------------------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(96, 2) bounds_kernel(int *y);
static __global__ void __launch_bounds__(96, 2) bounds_kernel(int *y)
{
    y[threadIdx.x + 3 * threadIdx.y] = 5;
}

struct all_parameters {
    int words[8188]; /* with a pointer before them, 8 bytes less than the most */
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

/* --- streams -------------------------------------------------------------------------------------------------------- */

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
    /* What the second stream reads is overwritten by itself: it has the next turn. */
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

/** One buffer in parts, each copied and computed in one of two streams. */
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
            assert_int_equal(pinned[part * PART - 1], part - 1); /* the copy only reads it */
    }
    while (cudaEventQuery(done) == cudaErrorNotReady)
        assert_int_equal(cudaGetLastError(), cudaErrorNotReady);
    assert_int_equal(back[5 * PART + 1], 50);
    pinned[5 * PART] = 0;
    cudaStreamSynchronize(one);
    assert_int_equal(back[4 * PART], 40);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFreeHost(back), cudaSuccess);
    destroy_streams();
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
    assert_int_equal(cudaGetLastError(), cudaErrorNotReady);
    destroy_streams();
}

static void what_ends_while_it_works(void **)
{
    int *words = device_iota();

    make_streams(cudaStreamNonBlocking);
    scale_kernel<<<1, 64, 0, one>>>(words, device_y, 2);
    cudaFree(words); /* waits */
    scale_kernel<<<1, 64, 0, two>>>(device_x, device_y, 3);
    destroy_streams();
    make_streams(cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    scale_kernel<<<1, 64, 0, two>>>(device_x, device_y, 4);
    cudaStreamSynchronize(two);
    assert_int_equal(result()[2], 8);
    destroy_streams();
}

/* --- memory that somebody wrote ------------------------------------------------------------------------------------- */

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

static void padding_that_nobody_writes(void **)
{
    static padded_record host[32];
    padded_record *from, *to;

    assert_int_equal(cudaMalloc(&from, sizeof host), cudaSuccess);
    assert_int_equal(cudaMalloc(&to, sizeof host), cudaSuccess);
    write_records<<<1, 32>>>(from);
    copy_records<<<1, 32>>>(from, to);
    expect_good();
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

/* --- what C++ leaves open ------------------------------------------------------------------------------------------- */

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
    y[6] = wide << x[64] != 0;
    y[7] = (int)(all >> (32 - x[4]));
    y[8] = x[7] >> 7 % x[2] * x[1];
    y[9] = -wide >> x[70] == -1;
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
}

#define VALID(name) cmocka_unit_test_setup_teardown(name, make_buffers, free_buffers)

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
        VALID(pageable_copies),
        VALID(what_ends_while_it_works),
        VALID(shifts_by_all_bits_and_more),
        VALID(casts_out_of_range_and_of_nan),
        VALID(the_architecture_of_device_code),
        VALID(padding_that_nobody_writes),
        VALID(memory_written_in_pieces),
        VALID(read_only_loads_launch_after_launch),
    };

    return cmocka_run_group_tests_name("valid", tests, NULL, NULL);
}
