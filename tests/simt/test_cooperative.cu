/**
 * @file test_cooperative.cu
 * @brief Tests cooperative launches: each resident block has its own shared memory, and blocks can wait for each other.
 */
#include "simt_test.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define EXPECT_FAULT(error, mark, text) expect_fault(error, __FILE__, mark, text)

static __global__ void pass_on_kernel(int *words, int *sums, int rounds)
{
    __shared__ int own[64];
    extern __shared__ int dynamic[];
    const int blocks = gridDim.x;
    const int next = (blockIdx.x + 1) % blocks;
    const cg::grid_group grid = cg::this_grid();

    own[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
    dynamic[threadIdx.x] = blockIdx.x;
    words[blockIdx.x * 64 + threadIdx.x] = blockIdx.x;
    for (int round = 0; round < rounds; round++) {
        grid.sync();
        const int value = words[next * 64 + threadIdx.x];

        grid.sync();
        words[blockIdx.x * 64 + threadIdx.x] = value;
    }
    __syncthreads();
    sums[grid.thread_rank()] = own[63 - threadIdx.x] + 1000000 * dynamic[threadIdx.x ^ 1];
}

static void blocks_wait_for_the_grid(void **)
{
    int *words = device_words(-1);
    int *sums = device_words(-1);
    int rounds = 5;
    void *arguments[] = {&words, &sums, &rounds};

    read_and_reset_counters();
    assert_int_equal(cudaLaunchCooperativeKernel(pass_on_kernel, 20, 64, arguments, 256), cudaSuccess);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.blocks, 20);
    assert_int_equal(counters.block_barriers, 20 * 11);
    const int *got = download_and_free_words(words);

    for (int i = 0; i < 20 * 64; i++)
        assert_int_equal(got[i], (i / 64 + 5) % 20);
    got = download_and_free_words(sums);
    for (int i = 0; i < 20 * 64; i++)
        assert_int_equal(got[i], i / 64 * 1001000 + 63 - i % 64);
}

static __global__ void spin_kernel(int *flags, int *out)
{
    /* Each block waits for the next one, so the last block must finish first. */
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x) {
            while (atomicAdd(&flags[blockIdx.x + 1], 0) == 0)
                ;
            __threadfence();
            out[blockIdx.x] = out[blockIdx.x + 1] + 1;
        } else {
            out[blockIdx.x] = 1;
        }
        __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    }
}

static void blocks_that_spin_give_up_their_turn(void **)
{
    int *flags = device_words(0);
    int *out = device_words(0);
    void *arguments[] = {&flags, &out};

    assert_int_equal(cudaLaunchCooperativeKernel(spin_kernel, 10, 32, arguments), cudaSuccess);
    expect_success();
    assert_int_equal(download_and_free_words(out)[0], 10);

    /* In a non-cooperative launch, nothing guarantees that the last block runs while the others wait. */
    out = device_words(0);
    assert_int_equal(cudaMemset(flags, 0, 64), cudaSuccess);
    assert_int_equal(setenv("SIMT_EVENT_LIMIT", "3000000", 1), 0);
    spin_kernel<<<10, 32>>>(flags, out);
    assert_int_equal(unsetenv("SIMT_EVENT_LIMIT"), 0);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchTimeout);
    cudaFree(flags);
    cudaFree(out);
}

static __global__ void race_kernel(int *words)
{
    words[blockIdx.x] = 1;
    cg::this_grid().sync();
    words[(blockIdx.x + 1) % gridDim.x] = 2;
    if (threadIdx.x == 0)
        words[blockIdx.x] = 3; // [race]
}

static void blocks_race_between_grid_barriers(void **)
{
    int *words = device_words(0);
    void *arguments[] = {&words};

    assert_int_equal(cudaLaunchCooperativeKernel(race_kernel, 3, 1, arguments), cudaErrorLaunchFailure);
    EXPECT_FAULT(cudaErrorLaunchFailure, "race",
                 "thread (0,0,0) of block (1,0,0) writes 4 bytes at byte 4 of an allocation of 16384 bytes that thread "
                 "(0,0,0) of block (0,0,0) wrote");
    cudaFree(words);
}

static __device__ int arrived, flag_data[3];

static __global__ void unguarded_barrier_kernel(int *a, int *b)
{
    a[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < (int)gridDim.x)
            __nanosleep(10);
        __threadfence();
    }
    b[blockIdx.x * 64 + threadIdx.x] = a[(blockIdx.x ^ 1) * 64 + threadIdx.x]; // [unguarded_barrier]
}

static void a_barrier_of_blocks_that_some_threads_skip(void **)
{
    int *a = NULL;

    assert_int_equal(cudaMalloc(&a, 1024), cudaSuccess);
    int *b = a + 128;
    void *arguments[] = {&a, &b};

    cudaLaunchCooperativeKernel(unguarded_barrier_kernel, 2, 64, arguments);
    EXPECT_FAULT(cudaErrorLaunchFailure, "unguarded_barrier",
                 "or, if another thread writes it that this block waits for, __syncthreads() after the polling");
    cudaFree(a);
}

static __global__ void second_poll_kernel(int *y)
{
    int *const flag = &flag_data[0], *const data = &flag_data[1];

    if (blockIdx.x == 0) {
        data[0] = 1;
        __threadfence();
        atomicExch(flag, 1);
        while (atomicAdd(&arrived, 0) < 7)
            ;
        data[1] = 2;
        __threadfence();
        atomicExch(flag, 2);
    } else {
        while (atomicAdd(flag, 0) < 1)
            ;
        __threadfence();
        y[0] = data[0];
        atomicExch(&arrived, 7);
        while (atomicAdd(flag, 0) < 2)
            ;
        y[0] += data[1]; // [second_poll]
    }
}

static void a_second_poll_without_a_fence(void **)
{
    int *words = device_words(0);
    void *arguments[] = {&words};

    cudaLaunchCooperativeKernel(second_poll_kernel, 2, 1, arguments);
    EXPECT_FAULT(cudaErrorLaunchFailure, "second_poll", "again after each poll that has seen it");
    cudaFree(words);
}

static __global__ void leave_kernel(void)
{
    if (blockIdx.x == 2)
        return;
    cg::this_grid().sync(); // [leave]
}

static void a_grid_barrier_that_a_block_misses(void **)
{
    assert_int_equal(cudaLaunchCooperativeKernel(leave_kernel, 4, 32, NULL), cudaErrorLaunchFailure);
    EXPECT_FAULT(cudaErrorLaunchFailure, "leave", "block (2,0,0) has returned");
    leave_kernel<<<1, 32>>>();
    EXPECT_FAULT(cudaErrorLaunchFailure, "leave",
                 "which is not cooperative; try: cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args)");
}

static __global__ void nothing_kernel(int *x, short y)
{
    x[0] = y;
}

static void too_many_blocks_to_live_together(void **)
{
    int *x = device_words(0);
    short y = 7;
    void *arguments[] = {&x, &y};
    int blocks;

    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing_kernel, 1024, 0), cudaSuccess);
    assert_int_equal(blocks, 2);
    assert_int_equal(cudaLaunchCooperativeKernel(nothing_kernel, 17, 1024, arguments),
                     cudaErrorCooperativeLaunchTooLarge);
    assert_int_equal(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    assert_int_equal(cudaLaunchKernel(nothing_kernel, 1, 1, arguments), cudaSuccess);
    expect_success();
    assert_int_equal(download_and_free_words(x)[0], 7);
}

static __global__ void tiles_kernel(int *out)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int sum = (int)block.thread_rank();

    for (unsigned lanes = 4; lanes > 0; lanes /= 2)
        sum += tile.shfl_xor(sum, lanes);
    block.sync();
    out[block.thread_rank()] = sum + 1000 * tile.shfl((int)tile.thread_rank(), 3) +
                               100000 * (int)tile.ballot(tile.thread_rank() == 1);
}

static void tiles_of_a_warp(void **)
{
    int *out = device_words(0);

    tiles_kernel<<<1, 64>>>(out);
    expect_success();
    const int *got = download_and_free_words(out);

    for (int i = 0; i < 64; i++)
        assert_int_equal(got[i], i / 8 * 64 + 28 + 3000 + 200000);
}

static __global__ void past_the_end_kernel(int *y, int block, int index)
{
    __shared__ int own[32];

    own[threadIdx.x] = 2;
    if (threadIdx.x == 0 && (int)blockIdx.x == block)
        own[index] = 1; // [past_the_end]
    y[blockIdx.x * 32 + threadIdx.x] = own[threadIdx.x];
}

static void each_block_knows_its_arrays_ends(void **)
{
    int *y = device_words(0);
    int block = 2;
    int index = 0;
    void *arguments[] = {&y, &block, &index};

    assert_int_equal(cudaLaunchCooperativeKernel(past_the_end_kernel, 4, 32, arguments, 0), cudaSuccess);
    expect_success();
    index = 32;
    cudaLaunchCooperativeKernel(past_the_end_kernel, 4, 32, arguments, 0);
    EXPECT_FAULT(cudaErrorIllegalAddress, "past_the_end",
                 "thread (0,0,0) of block (2,0,0) writes 4 bytes right past the end of 'own', which has 128 bytes");
    cudaFree(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_wait_for_the_grid),
        cmocka_unit_test(blocks_that_spin_give_up_their_turn),
        cmocka_unit_test(blocks_race_between_grid_barriers),
        cmocka_unit_test(a_barrier_of_blocks_that_some_threads_skip),
        cmocka_unit_test(a_second_poll_without_a_fence),
        cmocka_unit_test(a_grid_barrier_that_a_block_misses),
        cmocka_unit_test(too_many_blocks_to_live_together),
        cmocka_unit_test(tiles_of_a_warp),
        cmocka_unit_test(each_block_knows_its_arrays_ends),
    };

    return cmocka_run_group_tests_name("cooperative", tests, NULL, NULL);
}
