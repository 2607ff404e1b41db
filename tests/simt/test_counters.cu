/** @file test_counters.cu  Tests every counter against a value calculated by hand. */
#include "simt_test.h"

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "kernels/tensor_core.cuh"

/* --- global memory ------------------------------------------------------------------------------------------------ */

static __global__ void stride_kernel(const int *x, int *y, int stride, int offset)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;

    y[thread] = x[thread * stride + offset];
}

static void expect_load_sectors(int stride, int offset, unsigned sectors)
{
    int *x = device_iota();
    int *y = device_words(0);

    read_and_reset_counters();
    stride_kernel<<<1, 32>>>(x, y, stride, offset);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.global_load_requests, 1);
    assert_int_equal(counters.global_load_sectors, sectors);
    assert_int_equal(counters.global_store_requests, 1);
    assert_int_equal(counters.global_store_sectors, 4);
    cudaFree(x);
    cudaFree(y);
}

static void sectors_of_strided_loads(void **)
{
    expect_load_sectors(1, 0, 4);
    expect_load_sectors(2, 0, 8);
    expect_load_sectors(4, 0, 16);
    expect_load_sectors(8, 0, 32);
    expect_load_sectors(32, 0, 32);
    expect_load_sectors(1, 1, 5);
    expect_load_sectors(1, 8, 4);
    expect_load_sectors(0, 5, 1);
    expect_load_sectors(-1, 40, 5);
}

static __global__ void vector_kernel(const float4 *x, float4 *y)
{
    float4 value = x[threadIdx.x];

    value.x += 1.0f;
    y[threadIdx.x] = value;
}

static __global__ void pair_kernel(const int2 *x, int2 *y)
{
    y[threadIdx.x] = x[threadIdx.x];
}

static __global__ void byte_kernel(const unsigned char *x, unsigned char *y)
{
    y[threadIdx.x] = x[threadIdx.x];
}

static void vector_accesses_are_one_request(void **)
{
    int *x = device_words(0);
    int *y = device_words(0);

    read_and_reset_counters();
    vector_kernel<<<1, 32>>>((const float4 *)x, (float4 *)y);
    expect_success();
    struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.global_load_requests, 1);
    assert_int_equal(counters.global_load_sectors, 16);
    assert_int_equal(counters.global_store_requests, 1);
    assert_int_equal(counters.global_store_sectors, 16);

    pair_kernel<<<1, 32>>>((const int2 *)x, (int2 *)y);
    expect_success();
    counters = read_and_reset_counters();
    assert_int_equal(counters.global_load_requests, 1);
    assert_int_equal(counters.global_load_sectors, 8);
    assert_int_equal(counters.global_store_requests, 1);
    assert_int_equal(counters.global_store_sectors, 8);

    byte_kernel<<<1, 32>>>((const unsigned char *)x, (unsigned char *)y);
    expect_success();
    counters = read_and_reset_counters();
    assert_int_equal(counters.global_load_sectors, 1);
    assert_int_equal(counters.global_store_sectors, 1);
    cudaFree(x);
    cudaFree(y);
}

static __global__ void scatter_kernel(const int *x, int *y)
{
    y[(threadIdx.x * 7 % 32) * 100] = x[threadIdx.x % 2 ? 0 : 3000];
}

static void sectors_far_apart(void **)
{
    int *x = device_iota();
    int *y = device_words(0);

    read_and_reset_counters();
    scatter_kernel<<<1, 32>>>(x, y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.global_load_sectors, 2);
    assert_int_equal(counters.global_store_sectors, 32);
    cudaFree(x);
    cudaFree(y);
}

/* --- shared memory ------------------------------------------------------------------------------------------------ */

template <int padding>
static __global__ void transpose_kernel(const int *x, int *y)
{
    __shared__ int tile[32][32 + padding];

    for (int row = threadIdx.y; row < 32; row += blockDim.y)
        tile[row][threadIdx.x] = x[row * 32 + threadIdx.x];
    __syncthreads();
    for (int row = threadIdx.y; row < 32; row += blockDim.y)
        y[row * 32 + threadIdx.x] = tile[threadIdx.x][row];
}

static void expect_transposed(int *y)
{
    const int *got = download_and_free_words(y);

    for (int i = 0; i < 1024; i++)
        assert_int_equal(got[i], i % 32 * 32 + i / 32);
}

static void a_transpose_without_and_with_padding(void **)
{
    int *x = device_iota();
    int *y = device_words(0);

    read_and_reset_counters();
    transpose_kernel<0><<<1, dim3(32, 8)>>>(x, y);
    expect_success();
    struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.shared_load_requests, 32);
    assert_int_equal(counters.shared_load_wavefronts, 1024);
    assert_int_equal(counters.shared_store_requests, 32);
    assert_int_equal(counters.shared_store_wavefronts, 32);
    assert_int_equal(counters.shared_conflicts, 992);
    assert_int_equal(counters.block_barriers, 1);
    expect_transposed(y);

    y = device_words(0);
    read_and_reset_counters();
    transpose_kernel<1><<<1, dim3(32, 8)>>>(x, y);
    expect_success();
    counters = read_and_reset_counters();
    assert_int_equal(counters.shared_load_requests, 32);
    assert_int_equal(counters.shared_load_wavefronts, 32);
    assert_int_equal(counters.shared_store_wavefronts, 32);
    assert_int_equal(counters.shared_conflicts, 0);
    expect_transposed(y);
    cudaFree(x);
}

static __global__ void shared_patterns_kernel(int *y)
{
    __shared__ int words[1024];
    __shared__ float4 quads[32];
    __shared__ int2 pairs[64];
    const int lane = threadIdx.x;

    for (int i = lane; i < 1024; i += 32)
        words[i] = i;
    quads[lane] = make_float4(0, 0, 0, 0);
    pairs[lane] = make_int2(lane, 1);
    pairs[32 + lane] = make_int2(lane, 2);
    __syncwarp();
    y[lane] = words[7] +                   /* one word for all lanes: 1 wavefront */
              words[lane * 2] +            /* stride two: 2 */
              words[lane % 2 * 32] +       /* two words of one bank: 2 */
              words[lane / 2];             /* neighbours share a word: 1 */
    const float4 quad = quads[lane];       /* 16 bytes per lane: 4, the minimum */
    const int2 pair = pairs[lane];         /* 8 bytes per lane: 2, the minimum */
    const int2 far = pairs[lane * 2 % 64]; /* 8 bytes, stride two: 4 */

    y[32 + lane] = (int)quad.x + pair.x + far.y;
}

static void bank_conflicts_by_pattern(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    shared_patterns_kernel<<<1, 32>>>(y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.shared_store_requests, 32 + 3);
    assert_int_equal(counters.shared_store_wavefronts, 32 + 4 + 2 + 2);
    assert_int_equal(counters.shared_load_requests, 7);
    assert_int_equal(counters.shared_load_wavefronts, 1 + 2 + 2 + 1 + 4 + 2 + 4);
    assert_int_equal(counters.shared_conflicts, 1 + 1 + 2);
    cudaFree(y);
}

/* --- atomics ------------------------------------------------------------------------------------------------------ */

static __global__ void histogram_kernel(const int *x, int *bins)
{
    __shared__ int local[4];

    if (threadIdx.x < 4)
        local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&local[x[threadIdx.x] % 4], 1);
    __syncthreads();
    if (threadIdx.x < 4)
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

static void atomics_and_their_conflicts(void **)
{
    int *x = device_iota();
    int *bins = device_words(0);

    read_and_reset_counters();
    histogram_kernel<<<2, 64>>>(x, bins);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();
    const int *got = download_and_free_words(bins);

    /* In each block, 2 warps update 4 bins each, so that 28 of 32 lanes conflict; then 4 lanes update one word each. */
    assert_int_equal(counters.atomic_requests, 2 * (2 + 1));
    assert_int_equal(counters.atomic_conflicts, 2 * 2 * 28);
    for (int i = 0; i < 4; i++)
        assert_int_equal(got[i], 32);
    cudaFree(x);
}

/* --- branches ----------------------------------------------------------------------------------------------------- */

static __global__ void straight_kernel(int *y)
{
    y[threadIdx.x] = 1;
}

static __global__ void branch_kernel(int *y, int limit)
{
    if ((int)threadIdx.x % 32 < limit)
        y[threadIdx.x] = 1;
    else
        y[threadIdx.x + 1000] = 2;
}

static void a_branch_that_diverges(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    straight_kernel<<<1, 64>>>(y);
    expect_success();
    struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.basic_blocks, 2);
    assert_int_equal(counters.lanes_active, 64);
    assert_int_equal(counters.lanes_possible, 64);
    assert_int_equal(counters.divergent_branches, 0);

    branch_kernel<<<1, 64>>>(y, 8);
    expect_success();
    assert_int_equal(read_and_reset_counters().divergent_branches, 2);
    branch_kernel<<<1, 64>>>(y, 32);
    expect_success();
    assert_int_equal(read_and_reset_counters().divergent_branches, 0);
    branch_kernel<<<1, 64>>>(y, 0);
    expect_success();
    assert_int_equal(read_and_reset_counters().divergent_branches, 0);
    cudaFree(y);
}

static __global__ void nested_kernel(volatile int *y)
{
    const int lane = threadIdx.x;

    /* A divergent branch with a nested divergent branch in each arm. */
    if (lane < 16) {  // [outer_branch]
        if (lane < 8) // [left_branch]
            y[lane] = 1;
        else
            y[lane] = 2;
        y[lane + 100] = 3;
    } else {
        if (lane < 24) // [right_branch]
            y[lane] = 4;
        else
            y[lane] = 5;
        y[lane + 100] = 6;
    }
    y[lane + 200] = 7;
}

static void nested_branches_meet_again(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    nested_kernel<<<1, 32>>>(y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.divergent_branches, 3);
    /* The kernel makes four stores of 8 lanes in the innermost arms, two of 16 lanes after the inner joins and one of
       32 lanes after the outer join. */
    assert_int_equal(counters.global_store_requests, 7);
    cudaFree(y);
}

/** Fails the test unless warps diverged exactly once at the line marked `mark`. */
static void expect_branch(const struct simt_divergent_branch *branches, int count, const char *mark)
{
    char place[512], found[512];

    snprintf(place, sizeof place, "%s:%d", __FILE__, line_marked(__FILE__, mark));
    for (int i = 0; i < count; i++) {
        simt_describe_pc(branches[i].pc, found, sizeof found);
        if (!starts_with_location(found, __FILE__))
            skip();
        if (strcmp(found, place) == 0) {
            assert_int_equal(branches[i].num_divergences, 1);
            return;
        }
    }
    fail_msg("no branch at %s", place);
}

static void lines_of_divergent_branches(void **)
{
    struct simt_divergent_branch branches[SIMT_MAX_DIVERGENT_BRANCHES];
    int *y = device_words(0);

    read_and_reset_counters();
    nested_kernel<<<1, 32>>>(y);
    expect_success();
    assert_int_equal(simt_read_divergent_branches(branches), 3);
    expect_branch(branches, 3, "outer_branch");
    expect_branch(branches, 3, "left_branch");
    expect_branch(branches, 3, "right_branch");
    read_and_reset_counters();
    assert_int_equal(simt_read_divergent_branches(branches), 0);
    cudaFree(y);
}

static __global__ void trips_kernel(const volatile int *trips, volatile int *y)
{
    int sum = 0;

    for (int i = 0; i < trips[threadIdx.x]; i++)
        sum += i;
    y[threadIdx.x] = sum;
}

static void a_loop_left_by_one_lane_after_another(void **)
{
    int *trips = device_iota();
    int *y = device_words(0);

    read_and_reset_counters();
    trips_kernel<<<1, 32>>>(trips, y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    /* The condition is tested 32 times, and each time a lane leaves the loop; all tests but the last diverge. */
    assert_int_equal(counters.divergent_branches, 31);
    assert_int_equal(counters.global_load_requests, 32);
    assert_int_equal(counters.global_store_requests, 1);
    cudaFree(trips);
    cudaFree(y);
}

static __device__ __noinline__ int called(int x)
{
    return x % 2 ? x * 3 : x / 2 + 7;
}

static __global__ void calls_kernel(const int *x, volatile int *y)
{
    const int lane = threadIdx.x;
    int sum = 0;

    /* Both arms call the same function, but their lanes do not converge in it. */
    if (x[lane] < 10)
        sum = called(x[lane]);
    else
        sum = called(x[lane] + 1) + 1;
    y[lane] = sum;
}

static void functions_called_from_both_arms(void **)
{
    int *x = device_iota();
    int *y = device_words(0);

    read_and_reset_counters();
    calls_kernel<<<1, 32>>>(x, y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();
    const int *got = download_and_free_words(y);

    assert_int_equal(counters.global_store_requests, 1);
    for (int i = 0; i < 32; i++) {
        const int argument = i < 10 ? i : i + 1;

        assert_int_equal(got[i], (argument % 2 ? argument * 3 : argument / 2 + 7) + (i >= 10));
    }
    cudaFree(x);
}

static __global__ void leave_kernel(volatile int *y)
{
    if (threadIdx.x >= 20)
        return;
    y[threadIdx.x] = 1;
}

static void leaving_early_is_a_way_to_go(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    leave_kernel<<<1, 32>>>(y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.divergent_branches, 1);
    assert_int_equal(counters.global_store_requests, 1);
    assert_int_equal(counters.global_store_sectors, 3);
    cudaFree(y);
}

/* Records more events than a lane's buffer holds: the counters must not depend on how the lanes interleave. */
static __global__ void long_kernel(const int *x, int *y, int rounds)
{
    int sum = 0;

    for (int i = 0; i < rounds; i++) {
        sum += x[(i * 32 + threadIdx.x) % 4096];
        if (i % 7 == 3 && threadIdx.x % 2)
            sum += x[i % 4096];
    }
    y[threadIdx.x] = sum;
}

static void a_trace_longer_than_its_buffer(void **)
{
    enum { ROUNDS = 70000 };
    int *x = device_iota();
    int *y = device_words(0);

    read_and_reset_counters();
    long_kernel<<<1, 32>>>(x, y, ROUNDS);
    expect_success();
    const struct simt_counters one = read_and_reset_counters();

    /* Runs the same kernel with four warps, which share the lanes' buffers. */
    long_kernel<<<1, 128>>>(x, y, ROUNDS);
    expect_success();
    const struct simt_counters four = read_and_reset_counters();

    assert_int_equal(one.global_load_requests, ROUNDS + ROUNDS / 7);
    assert_int_equal(one.global_load_sectors, ROUNDS * 4 + ROUNDS / 7);
    assert_int_equal(one.divergent_branches, ROUNDS / 7);
    assert_int_equal(one.global_store_requests, 1);
    assert_int_equal(four.global_load_requests, 4 * one.global_load_requests);
    assert_int_equal(four.divergent_branches, 4 * one.divergent_branches);
    assert_int_equal(four.basic_blocks, 4 * one.basic_blocks);
    assert_int_equal(four.lane_events, 4 * one.lane_events);
    cudaFree(x);
    cudaFree(y);
}

/* --- other counters ----------------------------------------------------------------------------------------------- */

static __global__ void collective_kernel(int *y)
{
    int value = threadIdx.x;

    value += __shfl_xor_sync(FULL_MASK, value, 1);
    value += __any_sync(FULL_MASK, value);
    __syncwarp();
    __syncthreads();
    y[threadIdx.x] = value;
}

static void launches_blocks_and_collectives(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    collective_kernel<<<1, 64>>>(y);
    collective_kernel<<<1, 96>>>(y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.launches, 2);
    assert_int_equal(counters.blocks, 2);
    assert_int_equal(counters.shuffles, 5);
    assert_int_equal(counters.votes, 5);
    assert_int_equal(counters.warp_barriers, 5);
    assert_int_equal(counters.block_barriers, 2);
    assert_int_equal(counters.collective_arrivals, 160 * 4);
    assert_int_equal(counters.global_store_requests, 5);
    cudaFree(y);
}

static __constant__ float weights[32];

static __global__ void quiet_kernel(float *y)
{
    float local[8];

    for (int i = 0; i < 8; i++)
        local[(i + threadIdx.x) % 8] = weights[i] + expf((float)i);
    y[threadIdx.x] = local[threadIdx.x % 8];
}

static void constants_and_locals_are_no_traffic(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    quiet_kernel<<<1, 32>>>((float *)y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.global_load_requests, 0);
    assert_int_equal(counters.global_store_requests, 1);
    cudaFree(y);
}

static __device__ int counted[64];

static __global__ void device_variable_kernel(void)
{
    counted[threadIdx.x] = counted[63 - threadIdx.x] + 1;
}

static void device_variables_are_global_memory(void **)
{
    read_and_reset_counters();
    device_variable_kernel<<<1, 1>>>();
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.global_load_requests, 1);
    assert_int_equal(counters.global_store_requests, 1);
}

/* --- counters of each kernel -------------------------------------------------------------------------------------- */

namespace far
{
template <class Word, int step>
static __global__ void shuffle_kernel(Word *y)
{
    Word value = threadIdx.x;

    for (int i = 0; i < step; i++)
        value += __shfl_down_sync(FULL_MASK, value, 1);
    y[threadIdx.x] = value;
}
} // namespace far

/** Returns the counters of the kernel at `index`, whose name must be `name`. */
static struct simt_counters kernel_counters(int index, const char *name)
{
    struct simt_counters counters = {};
    const char *found = "";

    assert_true(simt_read_kernel_counters(index, &found, &counters));
    assert_string_equal(found, name);
    return counters;
}

/** Fails the test unless the sum of every counter over all kernels equals the counter's total. */
static void expect_sums(void)
{
    enum { COUNTERS = sizeof(struct simt_counters) / sizeof(uint64_t) };
    struct simt_counters counters;
    uint64_t sums[COUNTERS] = {}, words[COUNTERS];
    const char *name;

    for (int k = 0; simt_read_kernel_counters(k, &name, &counters); k++) {
        memcpy(words, &counters, sizeof words);
        for (int i = 0; i < COUNTERS; i++)
            sums[i] += words[i];
    }
    simt_counters_read(&counters);
    memcpy(words, &counters, sizeof words);
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(sums[i], words[i]);
}

static void each_kernel_has_its_own_counters(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    assert_int_equal(simt_num_distinct_launched_kernels(), 0);
    straight_kernel<<<1, 96>>>(y);
    far::shuffle_kernel<int, 5><<<1, 32>>>(y);
    straight_kernel<<<1, 32>>>(y);
    far::shuffle_kernel<float, 2><<<1, 64>>>((float *)y);
    collective_kernel<<<1, 64>>>(y);
    expect_success();

    assert_int_equal(simt_num_distinct_launched_kernels(), 3);
    const struct simt_counters straight = kernel_counters(0, "straight_kernel");
    const struct simt_counters shuffle = kernel_counters(1, "shuffle_kernel");
    const struct simt_counters collective = kernel_counters(2, "collective_kernel");

    assert_int_equal(straight.launches, 2);
    assert_int_equal(straight.blocks, 2);
    assert_int_equal(straight.shuffles, 0);
    assert_int_equal(straight.global_store_requests, 3 + 1);
    assert_int_equal(straight.global_store_sectors, 4 * (3 + 1));
    assert_int_equal(shuffle.launches, 2);
    assert_int_equal(shuffle.blocks, 2);
    assert_int_equal(shuffle.shuffles, 5 + 2 * 2);
    assert_int_equal(shuffle.collective_arrivals, 32 * 5 + 64 * 2);
    assert_int_equal(shuffle.block_barriers, 0);
    assert_int_equal(collective.launches, 1);
    assert_int_equal(collective.block_barriers, 1);
    assert_int_equal(collective.votes, 2);
    expect_sums();
    cudaFree(y);
}

static void a_reset_forgets_the_kernels(void **)
{
    struct simt_counters counters;
    const char *name;
    int *y = device_words(0);

    read_and_reset_counters();
    straight_kernel<<<1, 32>>>(y);
    branch_kernel<<<1, 32>>>(y, 8);
    expect_success();
    assert_int_equal(simt_num_distinct_launched_kernels(), 2);
    assert_false(simt_read_kernel_counters(2, &name, &counters));
    assert_false(simt_read_kernel_counters(-1, &name, &counters));
    read_and_reset_counters();
    assert_int_equal(simt_num_distinct_launched_kernels(), 0);
    assert_false(simt_read_kernel_counters(0, &name, &counters));
    branch_kernel<<<1, 32>>>(y, 8);
    straight_kernel<<<1, 32>>>(y);
    expect_success();
    assert_int_equal(kernel_counters(0, "branch_kernel").launches, 1);
    assert_int_equal(kernel_counters(0, "branch_kernel").divergent_branches, 1);
    assert_int_equal(kernel_counters(1, "straight_kernel").basic_blocks, 1);
    expect_sums();
    cudaFree(y);
}

static void names_that_launches_give(void **)
{
    const bool straight = true;
    void (*kernel)(int *) = straight_kernel;
    int *y = device_words(0);
    void *arguments[] = {&y};

    read_and_reset_counters();
    far::shuffle_kernel<int, (3 > 2 ? 1 : 2)><<<1, 32>>>(y);
    (straight ? straight_kernel : collective_kernel)<<<1, 32>>>(y);
    kernel<<<1, 32>>>(y);
    assert_int_equal(cudaLaunchKernel(straight_kernel, 1, 32, arguments), cudaSuccess);
    ::straight_kernel<<<1, 32>>>(y);
    expect_success();
    assert_int_equal(simt_num_distinct_launched_kernels(), 4);
    kernel_counters(0, "shuffle_kernel");
    kernel_counters(1, "(straight ? straight_kernel : collective_kernel)");
    kernel_counters(2, "kernel");
    assert_int_equal(kernel_counters(3, "straight_kernel").launches, 2); /* with cudaLaunchKernel() and with <<<>>> */
    expect_sums();
    cudaFree(y);
}

static __global__ void bad_kernel(int *y)
{
    y[threadIdx.x] = 1;
    __syncthreads();
    y[1 << 28] = 1;
}

/** Tests failed launches: a rejected launch is not counted, and a faulty kernel's work is counted up to the fault. */
static void launches_that_fail(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    straight_kernel<<<0, 32>>>(y);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(simt_num_distinct_launched_kernels(), 0);
    bad_kernel<<<1, 64>>>(y);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    straight_kernel<<<1, 32>>>(y);
    expect_success();
    assert_int_equal(simt_num_distinct_launched_kernels(), 2);
    assert_int_equal(kernel_counters(0, "bad_kernel").launches, 1);
    assert_int_equal(kernel_counters(0, "bad_kernel").block_barriers, 1);
    assert_int_equal(kernel_counters(1, "straight_kernel").block_barriers, 0);
    expect_sums();
    cudaFree(y);
}

/* --- asynchronous copies and tensor cores ------------------------------------------------------------------------- */

/** Copies 8 bytes per lane to addresses `stride` words apart; some lanes read fewer bytes or none. */
static __global__ void copies_kernel(const int *x, int stride)
{
    __shared__ __align__(16) int words[2048];
    const int lane = threadIdx.x;

    __pipeline_memcpy_async(&words[stride * lane], &x[2 * lane], 8, lane >= 24 ? 8 : lane >= 16 ? 3 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

static void expect_copies(int stride, unsigned wavefronts)
{
    int *x = device_iota();

    read_and_reset_counters();
    copies_kernel<<<1, 32>>>(x, stride);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.async_copy_bytes, 24 * 8);
    assert_int_equal(counters.shared_store_requests, 1);
    assert_int_equal(counters.shared_store_wavefronts, wavefronts);
    assert_int_equal(counters.shared_conflicts, wavefronts - 2);
    assert_int_equal(counters.shared_load_requests, 0);
    assert_int_equal(counters.global_store_requests, 0);
    cudaFree(x);
}

static void asynchronous_copies(void **)
{
    int *x = device_iota();

    read_and_reset_counters();
    copies_kernel<<<1, 32>>>(x, 2);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.global_load_requests, 1);
    assert_int_equal(counters.global_load_sectors, 6);
    cudaFree(x);
    expect_copies(2, 2);
    expect_copies(4, 4);
    expect_copies(32, 32);
}

/** Loads matrices whose 16-byte rows are `row_words` words apart. */
template <int count>
static __global__ void rows_kernel(int *y, int row_words)
{
    __shared__ __align__(16) int words[32 * 64];
    uint32_t fragments[4] = {};

    for (int i = threadIdx.x; i < 32 * 64; i += 32)
        words[i] = 0;
    __syncwarp();
    if (count == 4)
        ldmatrix_x4(fragments, &words[row_words * threadIdx.x]);
    else
        ldmatrix_x2(fragments, &words[row_words * threadIdx.x]);
    y[threadIdx.x] = fragments[0];
}

template <int count>
static void expect_rows(int row_words, unsigned wavefronts)
{
    int *y = device_words(0);

    read_and_reset_counters();
    rows_kernel<count><<<1, 32>>>(y, row_words);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.shared_load_requests, 1);
    assert_int_equal(counters.shared_load_wavefronts, wavefronts);
    assert_int_equal(counters.shared_conflicts, wavefronts - count);
    assert_int_equal(counters.tensor_operations, 0);
    assert_int_equal(counters.shuffles + counters.votes, 0);
    cudaFree(y);
}

static void loads_of_matrices(void **)
{
    expect_rows<4>(4, 4);
    expect_rows<2>(4, 2);
    expect_rows<4>(8, 8);
    expect_rows<4>(16, 16);
    expect_rows<4>(20, 4);
    expect_rows<4>(32, 32);
    expect_rows<2>(32, 16);
    expect_rows<4>(36, 4);
}

static __global__ void products_kernel(float *y, int count)
{
    const uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> of_a;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major> of_b;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;

    for (int i = 0; i < count; i++)
        mma_m16n8k16_bf16(d, a, b);
    nvcuda::wmma::fill_fragment(of_a, __half(1.0f));
    nvcuda::wmma::fill_fragment(of_b, __half(1.0f));
    nvcuda::wmma::fill_fragment(sums, d[0]);
    nvcuda::wmma::mma_sync(sums, of_a, of_b, sums);
    y[64 * blockIdx.x + threadIdx.x] = sums.x[0];
}

static void products(void **)
{
    int *y = device_words(0);

    read_and_reset_counters();
    products_kernel<<<3, 64>>>((float *)y, 5);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.tensor_operations, 3 * 2 * (5 + 2));
    assert_int_equal(counters.shuffles + counters.votes + counters.warp_barriers, 0);
    assert_int_equal(counters.async_copy_bytes, 0);
    cudaFree(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sectors_of_strided_loads),
        cmocka_unit_test(vector_accesses_are_one_request),
        cmocka_unit_test(sectors_far_apart),
        cmocka_unit_test(a_transpose_without_and_with_padding),
        cmocka_unit_test(bank_conflicts_by_pattern),
        cmocka_unit_test(atomics_and_their_conflicts),
        cmocka_unit_test(a_branch_that_diverges),
        cmocka_unit_test(nested_branches_meet_again),
        cmocka_unit_test(lines_of_divergent_branches),
        cmocka_unit_test(a_loop_left_by_one_lane_after_another),
        cmocka_unit_test(functions_called_from_both_arms),
        cmocka_unit_test(leaving_early_is_a_way_to_go),
        cmocka_unit_test(a_trace_longer_than_its_buffer),
        cmocka_unit_test(launches_blocks_and_collectives),
        cmocka_unit_test(constants_and_locals_are_no_traffic),
        cmocka_unit_test(device_variables_are_global_memory),
        cmocka_unit_test(each_kernel_has_its_own_counters),
        cmocka_unit_test(a_reset_forgets_the_kernels),
        cmocka_unit_test(names_that_launches_give),
        cmocka_unit_test(launches_that_fail),
        cmocka_unit_test(asynchronous_copies),
        cmocka_unit_test(loads_of_matrices),
        cmocka_unit_test(products),
    };

    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
