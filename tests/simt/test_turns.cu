/**
 * @file test_turns.cu
 * @brief Tests SIMT_ORDER, which changes the order in which blocks, warps and lanes run, so that kernels that depend on
 *        the usual order fail.
 */
#include "simt_test.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 12, WARPS = 4 };

/** The orders in which the blocks, the warps of block 0 and the lanes of its warp 0 have run. */
struct turns_taken {
    int blocks[BLOCKS], warps[WARPS], lanes[32];
};

/** Sets SIMT_ORDER for a test's launches; NULL selects the usual order. */
static void set_order(const char *order)
{
    assert_int_equal(order ? setenv("SIMT_ORDER", order, 1) : unsetenv("SIMT_ORDER"), 0);
}

static __global__ void log_kernel(int *next, int *blocks, int *warps, int *lanes)
{
    if (blockIdx.x == 0 && threadIdx.x % 32 == 0)
        warps[atomicAdd(&next[1], 1)] = threadIdx.x / 32;
    if (blockIdx.x == 0 && threadIdx.x < 32)
        lanes[atomicAdd(&next[2], 1)] = threadIdx.x;
    if (threadIdx.x == 0)
        blocks[atomicAdd(&next[0], 1)] = blockIdx.x;
}

static struct turns_taken run_log(const char *order)
{
    int *const next = device_words(0), *const blocks = device_words(-1), *const warps = device_words(-1),
               *const lanes = device_words(-1);
    struct turns_taken taken;

    set_order(order);
    log_kernel<<<BLOCKS, 32 * WARPS>>>(next, blocks, warps, lanes);
    expect_success();
    set_order(NULL);
    memcpy(taken.blocks, download_and_free_words(blocks), sizeof taken.blocks);
    memcpy(taken.warps, download_and_free_words(warps), sizeof taken.warps);
    memcpy(taken.lanes, download_and_free_words(lanes), sizeof taken.lanes);
    cudaFree(next);
    return taken;
}

/** Fails unless the list contains each number below `count` exactly once. Returns whether the numbers ascend. */
static bool ascends(const int *list, int count)
{
    bool seen[64] = {}, up = true;

    for (int i = 0; i < count; i++) {
        assert_in_range(list[i], 0, count - 1);
        assert_false(seen[list[i]]);
        seen[list[i]] = true;
        up = up && list[i] == i;
    }
    return up;
}

static void blocks_warps_and_lanes_take_turns(void **)
{
    const struct turns_taken forward = run_log(NULL), reverse = run_log("reverse"), first = run_log("random:1");
    const struct turns_taken again = run_log("random:1"), other = run_log("random:2");

    assert_true(ascends(forward.blocks, BLOCKS) && ascends(forward.warps, WARPS) && ascends(forward.lanes, 32));
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(reverse.blocks[i], BLOCKS - 1 - i);
    for (int i = 0; i < WARPS; i++)
        assert_int_equal(reverse.warps[i], WARPS - 1 - i);
    for (int i = 0; i < 32; i++)
        assert_int_equal(reverse.lanes[i], 31 - i);
    assert_false(ascends(first.blocks, BLOCKS));
    ascends(first.warps, WARPS);
    ascends(first.lanes, 32);
    ascends(other.blocks, BLOCKS);
    assert_memory_equal(&first, &again, sizeof first);
    assert_true(memcmp(&first, &other, sizeof first) != 0);
}

/** Waits, in each block but the first, for the preceding block, which a GPU may start later. */
static __global__ void wait_kernel(int *flags)
{
    if (blockIdx.x > 0)
        while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0)
            __nanosleep(20);
    atomicExch(&flags[blockIdx.x], 1);
}

/** Acquires two locks in two warps, in opposite orders. */
static __global__ void locks_kernel(int *locks)
{
    const int first = threadIdx.x / 32, second = 1 - first;

    if (threadIdx.x % 32 != 0)
        return;
    while (atomicCAS(&locks[first], 0, 1) != 0)
        __nanosleep(20);
    while (atomicCAS(&locks[second], 0, 1) != 0)
        __nanosleep(20);
    atomicExch(&locks[second], 0);
    atomicExch(&locks[first], 0);
}

/** Launches locks_kernel (if `locks`) or wait_kernel with SIMT_ORDER set to `order`, and returns the error. */
static cudaError_t launch_in(const char *order, bool locks)
{
    int *const words = device_words(0);
    cudaError_t error;

    set_order(order);
    assert_int_equal(setenv("SIMT_EVENT_LIMIT", "300000", 1), 0);
    if (locks)
        locks_kernel<<<1, 64>>>(words);
    else
        wait_kernel<<<4, 1>>>(words);
    error = cudaDeviceSynchronize();
    assert_int_equal(unsetenv("SIMT_EVENT_LIMIT"), 0);
    set_order(NULL);
    cudaGetLastError();
    cudaFree(words);
    return error;
}

static void block_that_waits_for_an_earlier_one(void **)
{
    assert_int_equal(launch_in(NULL, false), cudaSuccess);
    assert_int_equal(launch_in("reverse", false), cudaErrorLaunchTimeout);
}

static void locks_in_opposite_orders(void **)
{
    int found = 0;

    assert_int_equal(launch_in(NULL, true), cudaSuccess);
    for (int seed = 1; seed <= 20; seed++) {
        char order[32];

        snprintf(order, sizeof order, "random:%d", seed);
        found += launch_in(order, true) == cudaErrorLaunchTimeout;
    }
    assert_in_range(found, 1, 20);
}

/** Reads a count in thread 0 without waiting until the other threads have added to it. */
static __global__ void early_read_kernel(int *y)
{
    __shared__ int count;

    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    if (threadIdx.x == 0)
        y[0] = count;
}

/** Fails unless early_read_kernel's launch of 64 threads ends with this error and fault under this SIMT_ORDER. */
static void expect_in_order(const char *order, cudaError_t error, const char *fault)
{
    int *const y = device_words(0);

    set_order(order);
    early_read_kernel<<<1, 64>>>(y);
    assert_int_equal(cudaGetLastError(), error);
    if (!strstr(simt_fault_message(), fault))
        fail_msg("%s: %s", order ? order : "forward", simt_fault_message());
    set_order(NULL);
    cudaFree(y);
}

static void read_beside_atomics_of_threads_that_ran_before(void **)
{
    static const char *const orders[] = {NULL, "reverse", "random:1"};

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        expect_in_order(orders[i], cudaErrorLaunchFailure, "atomically");
}

static void unknown_order_refuses_launches(void **)
{
    static const char *const orders[] = {"", "backward", "random", "random:", "random:-1", "random:1x", "reverse "};

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        expect_in_order(orders[i], cudaErrorInvalidValue, "SIMT_ORDER=reverse or SIMT_ORDER=random:SEED");
    assert_int_equal(launch_in(NULL, false), cudaSuccess);
}

static void invalid_event_limit_refuses_launches(void **)
{
    static const char *const limits[] = {"", "0", "-1", "1e6", "lots", " 5"};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        assert_int_equal(setenv("SIMT_EVENT_LIMIT", limits[i], 1), 0);
        expect_in_order(NULL, cudaErrorInvalidValue, "SIMT_EVENT_LIMIT is no positive number");
    }
    assert_int_equal(unsetenv("SIMT_EVENT_LIMIT"), 0);
    assert_int_equal(launch_in(NULL, false), cudaSuccess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_warps_and_lanes_take_turns),
        cmocka_unit_test(block_that_waits_for_an_earlier_one),
        cmocka_unit_test(locks_in_opposite_orders),
        cmocka_unit_test(read_beside_atomics_of_threads_that_ran_before),
        cmocka_unit_test(unknown_order_refuses_launches),
        cmocka_unit_test(invalid_event_limit_refuses_launches),
    };

    return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
