/** @file test_collectives.cu  Tests the results of shuffles, votes, matches, reductions and barriers. */
#include "kernels/reductions.cuh"
#include "simt_test.h"

/* --- shuffles ----------------------------------------------------------------------------------------------------- */

static __global__ void shuffles_kernel(int *out, int width)
{
    const int lane = threadIdx.x;

    out[lane] = __shfl_sync(FULL_MASK, 100 + lane, 3, width);
    out[32 + lane] = __shfl_up_sync(FULL_MASK, 100 + lane, 2, width);
    out[64 + lane] = __shfl_down_sync(FULL_MASK, 100 + lane, 2, width);
    out[96 + lane] = __shfl_xor_sync(FULL_MASK, 100 + lane, 5, width);
    out[128 + lane] = __shfl_sync(FULL_MASK, 100 + lane, lane + 40, width);
}

static void shuffles_of_every_width(void **)
{
    for (int width = 1; width <= 32; width *= 2) {
        int *out = device_words(-1);

        shuffles_kernel<<<1, 32>>>(out, width);
        expect_success();
        const int *got = download_and_free_words(out);

        for (int lane = 0; lane < 32; lane++) {
            const int segment = lane / width * width;

            assert_int_equal(got[lane], 100 + segment + 3 % width);
            assert_int_equal(got[32 + lane], 100 + (lane - 2 >= segment ? lane - 2 : lane));
            assert_int_equal(got[64 + lane], 100 + (lane + 2 < segment + width ? lane + 2 : lane));
            assert_int_equal(got[96 + lane], 100 + ((lane ^ 5) < segment + width ? (lane ^ 5) : lane));
            assert_int_equal(got[128 + lane], 100 + segment + (lane + 40) % width);
        }
    }
}

static __global__ void long_distances_kernel(int *out)
{
    const int lane = threadIdx.x;

    out[lane] = __shfl_up_sync(FULL_MASK, lane, 34);
    out[32 + lane] = __shfl_down_sync(FULL_MASK, lane, 34);
    out[64 + lane] = __shfl_xor_sync(FULL_MASK, lane, 37);
    out[96 + lane] = __shfl_up_sync(FULL_MASK, lane, 32);
}

/** PTX uses five bits of the distance. The same program gives the same results on an H200. */
static void distances_beyond_a_warp(void **)
{
    int *out = device_words(-1);

    long_distances_kernel<<<1, 32>>>(out);
    expect_success();
    const int *got = download_and_free_words(out);

    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal(got[lane], lane < 2 ? lane : lane - 2);
        assert_int_equal(got[32 + lane], lane < 30 ? lane + 2 : lane);
        assert_int_equal(got[64 + lane], lane ^ 5);
        assert_int_equal(got[96 + lane], lane);
    }
}

static __global__ void types_kernel(int *out)
{
    const int lane = threadIdx.x;
    const float real = __shfl_xor_sync(FULL_MASK, 0.5f * lane, 1);
    const double wide = __shfl_xor_sync(FULL_MASK, 0.25 * lane, 1);
    const long long big = __shfl_xor_sync(FULL_MASK, (long long)lane << 40, 1);
    const unsigned char tiny = __shfl_xor_sync(FULL_MASK, (unsigned char)(200 + lane), 1);
    const short half = __shfl_xor_sync(FULL_MASK, (short)-lane, 1);

    out[lane] = real == 0.5f * (lane ^ 1) && wide == 0.25 * (lane ^ 1) && big == (long long)(lane ^ 1) << 40 &&
                tiny == 200 + (lane ^ 1) && half == -(lane ^ 1);
}

static void shuffles_of_every_type(void **)
{
    int *out = device_words(0);

    types_kernel<<<1, 32>>>(out);
    expect_success();
    const int *got = download_and_free_words(out);

    for (int lane = 0; lane < 32; lane++)
        assert_int_equal(got[lane], 1);
}

static __global__ void halves_kernel(int *out)
{
    const int lane = threadIdx.x;

    /* Two groups of lanes that execute different shuffles with disjoint masks do not wait for each other. */
    if (lane < 16)
        out[lane] = __shfl_down_sync(0x0000ffffu, lane, 1, 16);
    else
        out[lane] = __shfl_up_sync(0xffff0000u, lane, 1, 16);
}

static void groups_with_disjoint_masks(void **)
{
    int *out = device_words(-1);

    read_and_reset_counters();
    halves_kernel<<<1, 32>>>(out);
    expect_success();
    const int *got = download_and_free_words(out);

    for (int lane = 0; lane < 32; lane++)
        assert_int_equal(got[lane], lane < 16 ? (lane == 15 ? 15 : lane + 1) : (lane == 16 ? 16 : lane - 1));
    assert_int_equal(read_and_reset_counters().shuffles, 2);
}

static __global__ void early_kernel(int *out, int stay)
{
    if ((int)threadIdx.x >= stay)
        return;
    /* As on a GPU, the mask may name lanes that have returned, as long as no lane reads from them. */
    out[threadIdx.x] = __shfl_sync(FULL_MASK, (int)threadIdx.x + 7, 2) + __popc(__ballot_sync(FULL_MASK, 1));
}

static void lanes_that_returned_are_let_through(void **)
{
    int *out = device_words(-1);

    early_kernel<<<1, 32>>>(out, 20);
    expect_success();
    const int *got = download_and_free_words(out);

    for (int lane = 0; lane < 32; lane++)
        assert_int_equal(got[lane], lane < 20 ? 9 + 20 : -1);
}

static __global__ void nested_kernel(int *out)
{
    const int lane = threadIdx.x;
    int sum = 0;

    if (lane % 2) {
        if (lane % 4 == 1)
            sum = __shfl_xor_sync(0x22222222u, lane, 4);
        else
            sum = __shfl_xor_sync(0x88888888u, lane, 4);
        sum += 1000 * __popc(__ballot_sync(0xaaaaaaaau, lane < 16));
    }
    sum += __popc(__ballot_sync(FULL_MASK, lane < 5));
    out[lane] = sum;
}

static void masks_inside_nested_branches(void **)
{
    int *out = device_words(-1);

    nested_kernel<<<1, 32>>>(out);
    expect_success();
    const int *got = download_and_free_words(out);

    for (int lane = 0; lane < 32; lane++)
        assert_int_equal(got[lane], 5 + (lane % 2 ? (lane ^ 4) + 8000 : 0));
}

/* --- votes -------------------------------------------------------------------------------------------------------- */

static __global__ void votes_kernel(int *out)
{
    const int lane = threadIdx.x;

    out[lane] = (int)__ballot_sync(FULL_MASK, lane % 3 == 0);
    out[32 + lane] = __any_sync(FULL_MASK, lane == 31) + 2 * __any_sync(FULL_MASK, 0);
    out[64 + lane] = __all_sync(FULL_MASK, lane < 32) + 2 * __all_sync(FULL_MASK, lane < 31);
    out[96 + lane] = (int)__match_any_sync(FULL_MASK, lane / 10);

    int all;
    const unsigned same = __match_all_sync(FULL_MASK, 5, &all);

    out[128 + lane] = same == 0xffffffffu && all == 1;
    out[160 + lane] = __match_all_sync(FULL_MASK, lane, &all) == 0 && all == 0;
    out[192 + lane] = __reduce_add_sync(FULL_MASK, lane - 20);
    out[224 + lane] = __reduce_min_sync(FULL_MASK, lane - 20);
    out[256 + lane] = (int)__reduce_max_sync(FULL_MASK, (unsigned)lane);
    out[288 + lane] = (int)__reduce_or_sync(FULL_MASK, 1u << lane);
    out[320 + lane] = (int)__reduce_and_sync(FULL_MASK, ~(1u << lane));
    out[352 + lane] = (int)__reduce_xor_sync(FULL_MASK, (unsigned)lane);
    out[384 + lane] = __reduce_max_sync(FULL_MASK, lane - 40);
    out[416 + lane] = (int)__reduce_min_sync(FULL_MASK, (unsigned)(lane - 20));
}

static void votes_matches_and_reductions(void **)
{
    int *out = device_words(-1);

    read_and_reset_counters();
    votes_kernel<<<1, 32>>>(out);
    expect_success();
    assert_int_equal(read_and_reset_counters().votes, 16);
    const int *got = download_and_free_words(out);
    unsigned thirds = 0;

    for (int lane = 0; lane < 32; lane += 3)
        thirds |= 1u << lane;
    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal((unsigned)got[lane], thirds);
        assert_int_equal(got[32 + lane], 1);
        assert_int_equal(got[64 + lane], 1);
        assert_int_equal((unsigned)got[96 + lane], lane < 30 ? 0x3ffu << lane / 10 * 10 : 0xc0000000u);
        assert_int_equal(got[128 + lane], 1);
        assert_int_equal(got[160 + lane], 1);
        assert_int_equal(got[192 + lane], 31 * 16 - 20 * 32);
        assert_int_equal(got[224 + lane], -20);
        assert_int_equal(got[256 + lane], 31);
        assert_int_equal(got[288 + lane], -1);
        assert_int_equal(got[320 + lane], 0);
        assert_int_equal(got[352 + lane], 0);
        assert_int_equal(got[384 + lane], -9);
        assert_int_equal(got[416 + lane], 0);
    }
}

static __global__ void partial_votes_kernel(int *out)
{
    const int lane = threadIdx.x;

    if (lane >= 8 && lane < 24) {
        const unsigned mask = 0x00ffff00u;

        out[lane] = (int)__ballot_sync(mask, lane % 2);
        out[32 + lane] = __all_sync(mask, 1);
        out[64 + lane] = (int)__reduce_add_sync(mask, 1u);
        out[96 + lane] = (int)__match_any_sync(mask, 3);
    }
}

static void votes_of_part_of_a_warp(void **)
{
    int *out = device_words(-1);

    partial_votes_kernel<<<1, 32>>>(out);
    expect_success();
    const int *got = download_and_free_words(out);

    for (int lane = 8; lane < 24; lane++) {
        assert_int_equal(got[lane], 0x00aaaa00);
        assert_int_equal(got[32 + lane], 1);
        assert_int_equal(got[64 + lane], 16);
        assert_int_equal(got[96 + lane], 0x00ffff00);
    }
}

/** Compares shuffle reductions with the reduce instructions, which older GPUs lack, for the lanes in `mask`. */
static __global__ void reductions_kernel(unsigned mask, int *out)
{
    const int lane = threadIdx.x;
    const unsigned bits = 2654435761u * (unsigned)(lane + 1);
    const int value = (int)bits;

    if (!(mask >> lane & 1))
        return;
    out[lane] = reduce_by_shuffles(mask, value, [](int a, int b) { return a + b; }) == __reduce_add_sync(mask, value);
    out[32 + lane] = reduce_by_shuffles(mask, value, [](int a, int b) { return min(a, b); }) ==
                     __reduce_min_sync(mask, value);
    out[64 + lane] = reduce_by_shuffles(mask, bits, [](unsigned a, unsigned b) { return max(a, b); }) ==
                     __reduce_max_sync(mask, bits);
    out[96 + lane] = reduce_by_shuffles(mask, bits, [](unsigned a, unsigned b) { return a ^ b; }) ==
                     __reduce_xor_sync(mask, bits);
}

static void reductions_by_shuffles(void **)
{
    static const unsigned masks[] = {~0u, 0x00ffff00u, 0x80000001u, 0x10u, 0x55555555u};

    for (int m = 0; m < 5; m++) {
        int *out = device_words(-1);

        reductions_kernel<<<1, 32>>>(masks[m], out);
        expect_success();
        const int *got = download_and_free_words(out);

        for (int i = 0; i < 128; i++)
            assert_int_equal(got[i], masks[m] >> i % 32 & 1 ? 1 : -1);
    }
}

static __global__ void small_warp_kernel(int *out)
{
    out[threadIdx.x] = (int)__ballot_sync(FULL_MASK, 1);
}

static void a_warp_that_is_not_whole(void **)
{
    int *out = device_words(-1);

    small_warp_kernel<<<1, 40>>>(out);
    expect_success();
    const int *got = download_and_free_words(out);

    assert_int_equal(got[31], -1);
    assert_int_equal(got[32], 0xff);
    assert_int_equal(got[39], 0xff);
}

/* --- block barriers ----------------------------------------------------------------------------------------------- */

static __global__ void block_votes_kernel(int *out)
{
    const int thread = threadIdx.x;

    out[thread] = __syncthreads_count(thread % 3 == 0);
    out[256 + thread] = __syncthreads_and(thread < 100) + 2 * __syncthreads_and(1);
    out[512 + thread] = __syncthreads_or(thread == 99) + 2 * __syncthreads_or(0);
}

static void barriers_that_count(void **)
{
    int *out = device_words(-1);

    read_and_reset_counters();
    block_votes_kernel<<<1, 100>>>(out);
    expect_success();
    assert_int_equal(read_and_reset_counters().block_barriers, 5);
    const int *got = download_and_free_words(out);

    for (int thread = 0; thread < 100; thread++) {
        assert_int_equal(got[thread], 34);
        assert_int_equal(got[256 + thread], 3);
        assert_int_equal(got[512 + thread], 1);
    }
}

static __global__ void exchange_kernel(int *out)
{
    extern __shared__ int words[];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int threads = blockDim.x * blockDim.y * blockDim.z;

    for (int round = 0; round < 3; round++) {
        words[thread] = thread + round;
        __syncthreads();
        out[(blockIdx.y * gridDim.x + blockIdx.x) * threads + thread] = words[threads - 1 - thread];
        __syncthreads();
    }
}

static void a_block_in_three_dimensions(void **)
{
    int *out = device_words(-1);

    read_and_reset_counters();
    exchange_kernel<<<dim3(2, 3), dim3(5, 4, 6), 120 * sizeof(int)>>>(out);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();
    const int *got = download_and_free_words(out);

    assert_int_equal(counters.blocks, 6);
    assert_int_equal(counters.block_barriers, 36);
    for (int i = 0; i < 6 * 120; i++)
        assert_int_equal(got[i], 119 - i % 120 + 2);
    assert_int_equal(got[6 * 120], -1);
}

extern __shared__ int outside[];

/** Uses declarations of dynamic shared memory of several types and scopes, all of which name the same memory. */
template <typename T>
static __global__ void dynamic_arrays_kernel(int *out)
{
    extern __shared__ T words[];
    const int thread = threadIdx.x;

    words[thread] = (T)(thread + 1);
    __syncthreads();
    if (sizeof(T) == sizeof(int)) {
        extern __shared__ __align__(16) int rows[][8];

        out[thread] = rows[3 - thread / 8][thread % 8] + outside[0] * 100;
    } else {
        extern __shared__ volatile unsigned char bytes[];

        out[thread] = bytes[thread];
    }
}

static void dynamic_arrays_in_templates(void **)
{
    int *out = device_words(-1);

    read_and_reset_counters();
    dynamic_arrays_kernel<int><<<1, 32, 32 * sizeof(int)>>>(out);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();
    const int *got = download_and_free_words(out);

    assert_int_equal(counters.shared_store_requests, 1);
    assert_int_equal(counters.shared_load_requests, 2);
    assert_int_equal(counters.global_load_requests, 0);
    for (int i = 0; i < 32; i++)
        assert_int_equal(got[i], (3 - i / 8) * 8 + i % 8 + 1 + 100);
    out = device_words(-1);
    dynamic_arrays_kernel<unsigned char><<<1, 32, 32>>>(out);
    expect_success();
    got = download_and_free_words(out);
    for (int i = 0; i < 32; i++)
        assert_int_equal(got[i], i + 1);
}

/* --- atomics, device variables and arithmetic --------------------------------------------------------------------- */

static __constant__ int table[4];
static __device__ int total;

static __global__ void atomics_kernel(int *out, unsigned long long *wide, unsigned long long *ones)
{
    const int thread = threadIdx.x;

    atomicAdd(&total, table[thread % 4]);
    atomicSub(&out[0], 1);
    atomicMax(&out[1], thread);
    atomicMin(&out[2], -thread);
    atomicOr((unsigned *)&out[3], 1u << thread % 32);
    atomicAnd((unsigned *)&out[4], ~(1u << thread % 32));
    atomicXor((unsigned *)&out[5], 1u << thread % 8);
    atomicInc((unsigned *)&out[6], 9);
    atomicDec((unsigned *)&out[7], 9);
    atomicExch(&out[8], 77);
    atomicCAS(&out[9], thread, thread + 1);
    atomicAdd((float *)&out[10], 0.5f);
    atomicAdd(&wide[0], 1ull << 33);
    atomicAdd((double *)&wide[1], 0.25);
    atomicMax(&wide[2], (unsigned long long)thread << 32);
    atomicOr(&wide[3], 1ull << thread);
    atomicXor(&wide[4], 1ull << (32 + thread % 3));
    atomicMin((long long *)&wide[5], -((long long)thread << 32));
    atomicMin(&ones[0], (thread + 1ull) << 32);
    atomicAnd(&ones[1], ~(1ull << thread));
    atomicMin((unsigned *)&ones[2], thread + 5u);
    atomicMax((long long *)&ones[3], (long long)thread << 32);
}

static void atomics_constants_and_device_variables(void **)
{
    const int values[4] = {1, 20, 300, 4000};
    int *out = device_words(0);
    unsigned long long *wide = (unsigned long long *)device_words(0);
    unsigned long long *ones = (unsigned long long *)device_words(-1);
    int sum = 5;

    assert_int_equal(cudaMemcpyToSymbol(table, values, sizeof values), cudaSuccess);
    assert_int_equal(cudaMemcpyToSymbol(total, &sum, sizeof sum), cudaSuccess);
    atomics_kernel<<<1, 64>>>(out, wide, ones);
    expect_success();
    assert_int_equal(cudaMemcpyFromSymbol(&sum, total, sizeof sum), cudaSuccess);
    assert_int_equal(sum, 5 + 16 * 4321);

    const unsigned long long *far = (const unsigned long long *)download_and_free_words((int *)wide);

    assert_true(far[0] == 64ull << 33 && far[2] == 63ull << 32);
    assert_true(far[3] == ~0ull && far[4] == 6ull << 32 && far[5] == -(63ull << 32));
    assert_int_equal(memcmp(&far[1], &(const double &)16.0, sizeof(double)), 0);
    far = (const unsigned long long *)download_and_free_words((int *)ones);
    assert_true(far[0] == 1ull << 32 && far[1] == 0 && far[2] == (~0ull << 32 | 5) && far[3] == 63ull << 32);

    const int *got = download_and_free_words(out);
    const int expected[] = {-64, 63, -63, -1, 0, 0, 4, 6, 77, 64, 0x42000000};

    for (int i = 0; i < 11; i++)
        assert_int_equal(got[i], expected[i]);
}

static __global__ void arithmetic_kernel(int *out)
{
    volatile float infinite = INFINITY; /* volatile, so that the difference is computed at run time */
    int i = 0;

    out[i++] = __popc(0xf0f0u) == 8 && __popcll(~0ull) == 64;
    out[i++] = __clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0 && __clzll(0) == 64 && __clzll(1) == 63;
    out[i++] = __ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41;
    out[i++] = __brev(1) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u && __brevll(1) == 1ull << 63;
    out[i++] = __byte_perm(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u;
    out[i++] = __byte_perm(0x00008070u, 0, 0x4498) == 0x00008070u; /* bit 3 of a selector is ignored */
    out[i++] = __funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_l(5, 6, 32) == 6;
    out[i++] = __funnelshift_r(0x80000000u, 1, 31) == 3 && __funnelshift_r(5, 6, 32) == 5;
    out[i++] = __float_as_uint(1.0f) == 0x3f800000u && __int_as_float(0x40000000) == 2.0f &&
               __float_as_int(-1.0f) == (int)0xbf800000 && __float_as_uint(infinite - infinite) == 0x7fffffffu;
    out[i++] = min(3, 5) == 3 && max(3u, 5u) == 5 && min(-1, 1u) == 1u && max(2.0f, 1.0f) == 2.0f && max(1ll, 2ll) == 2;
    out[i++] = __fdividef(1.0f, 4.0f) == 0.25f && rsqrtf(4.0f) == 0.5f && __expf(0.0f) == 1.0f &&
               __frcp_rn(2.0f) == 0.5f;
    out[i++] = __fdividef(41.0f, 41.0f) == 0x1.fffffep-1f && __fdividef(1.0f, 0x1p127f) == 0.0f;
    out[i++] = warpSize == 32 && gridDim.x == 1 && blockDim.x == 1 && blockIdx.x == 0;
    out[i++] = isnan(__uint_as_float(0x7fc00000u)) && isinf(INFINITY);
    out[i++] = __umulhi(0x80000000u, 6) == 3 && __mulhi(-1, 1) == -1;
    out[i++] = __activemask() == 1;

    const uint3 index = threadIdx;
    const dim3 block = blockDim;

    out[i++] = index.x == 0 && block.x == 1 && block.z == 1;
}

static void bits_and_arithmetic(void **)
{
    int *out = device_words(-1);

    arithmetic_kernel<<<1, 1>>>(out);
    expect_success();
    const int *got = download_and_free_words(out);

    int checks = 0;

    while (got[checks] == 1)
        checks++;
    if (got[checks] != -1) /* all later words keep the initial value, -1 */
        fail_msg("check %d", checks);
    assert_int_equal(checks, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles_of_every_width),
        cmocka_unit_test(distances_beyond_a_warp),
        cmocka_unit_test(shuffles_of_every_type),
        cmocka_unit_test(groups_with_disjoint_masks),
        cmocka_unit_test(lanes_that_returned_are_let_through),
        cmocka_unit_test(masks_inside_nested_branches),
        cmocka_unit_test(votes_matches_and_reductions),
        cmocka_unit_test(votes_of_part_of_a_warp),
        cmocka_unit_test(reductions_by_shuffles),
        cmocka_unit_test(a_warp_that_is_not_whole),
        cmocka_unit_test(barriers_that_count),
        cmocka_unit_test(a_block_in_three_dimensions),
        cmocka_unit_test(dynamic_arrays_in_templates),
        cmocka_unit_test(atomics_constants_and_device_variables),
        cmocka_unit_test(bits_and_arithmetic),
    };

    return cmocka_run_group_tests_name("collectives", tests, NULL, NULL);
}
