/**
 * @file test_64_lanes.cu
 * @brief Tests the simulated device whose warps (waves) have 64 lanes: faulty kernels that it must report, correct
 *        kernels that it must run, and its counters.
 *
 * WRONG(name, block, text) is followed by a kernel's body, whose faulty line has the mark [name]; the message must
 * contain `text`. RIGHT(name, block) is followed by the body of a kernel that stores one int per thread in y, then by
 * EXPECTED(name) and the body of a function that returns the expected int for a thread.
 */
#include "../simt_test.h"

#include "hip/half_waves.h"

enum { MAX_KERNELS = 100 };

struct kernel_of_test {
    const char *name;
    const char *text; /**< part of the message; NULL: the kernel is correct */
    int threads;
    void (*run)(int threads);
    int (*expected)(int thread);
};

static struct kernel_of_test kernels[MAX_KERNELS];
static int kernel_count;
static int *device_x; /* 0, 1, 2, and so on */
static int *device_y; /* zeros */

static int add_kernel(const char *name, const char *text, int threads, void (*run)(int), int (*expected)(int))
{
    kernels[kernel_count++] = {name, text, threads, run, expected};
    return 0;
}

#define KERNEL(name, block, text, expected)                                               \
    static __global__ void name(const int *x, int *y);                                    \
    static void name##_run(int threads)                                                   \
    {                                                                                     \
        name<<<1, threads>>>(device_x, device_y);                                         \
    }                                                                                     \
    static const int name##_added = add_kernel(#name, text, block, name##_run, expected); \
    static __global__ void name([[maybe_unused]] const int *x, [[maybe_unused]] int *y)
#define WRONG(name, block, text) KERNEL(name, block, text, NULL)
#define RIGHT(name, block)                  \
    static int expected_##name(int thread); \
    KERNEL(name, block, NULL, expected_##name)
#define EXPECTED(name) static int expected_##name([[maybe_unused]] int thread)

/* --- shuffles from lanes that are not active --------------------------------------------------------------------- */

WRONG(reads_the_other_branch, 64, "reads lane 40 by __shfl, which did not make this call")
{
    int value = x[threadIdx.x];

    if (threadIdx.x < 32)
        value = __shfl(value, 40); // [reads_the_other_branch]
    y[threadIdx.x] = value;
}

WRONG(reads_from_an_else, 64, "reads lane 3 by __shfl, which did not make this call")
{
    int value = x[threadIdx.x];

    if (threadIdx.x < 8)
        value++;
    else
        value = __shfl(value, 3); // [reads_from_an_else]
    y[threadIdx.x] = value;
}

WRONG(reduces_half_with_the_other, 64, "by __shfl_xor, which did not make this call")
{
    int value = x[threadIdx.x];

    if (threadIdx.x / 32 == 0)
        for (int offset = 32; offset > 0; offset /= 2)
            value += __shfl_xor(value, offset); // [reduces_half_with_the_other]
    y[threadIdx.x] = value;
}

WRONG(half_has_returned, 64, "reads lane 32 by __shfl_down, which did not make this call")
{
    if (threadIdx.x >= 32)
        return;
    y[threadIdx.x] = __shfl_down(x[threadIdx.x], 32); // [half_has_returned]
}

WRONG(block_of_half_a_wave, 32, "reads lane 32 by __shfl_xor, which the block does not have")
{
    y[threadIdx.x] = __shfl_xor(x[threadIdx.x], 32); // [block_of_half_a_wave]
}

WRONG(block_of_three_halves, 96, "which the block does not have")
{
    int sum = x[threadIdx.x];

    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        sum += __shfl_down(sum, offset); // [block_of_three_halves]
    y[threadIdx.x] = sum;
}

WRONG(broadcast_from_the_last_lane, 48, "reads lane 63 by __shfl, which the block does not have")
{
    y[threadIdx.x] = __shfl(x[threadIdx.x], warpSize - 1); // [broadcast_from_the_last_lane]
}

WRONG(lane_has_left_the_loop, 64, "which did not make this call")
{
    int sum = 0;

    for (unsigned i = 0; i <= threadIdx.x; i++)
        sum += __shfl(x[threadIdx.x], 0); // [lane_has_left_the_loop]
    y[threadIdx.x] = sum;
}

WRONG(lane_skips_an_iteration, 64, "which is not active at this call")
{
    int sum = 0;

    for (int i = 0; i < 4; i++) {
        if (threadIdx.x % 4 == (unsigned)i)
            continue;
        sum += __shfl_xor(x[threadIdx.x], 1); // [lane_skips_an_iteration]
    }
    y[threadIdx.x] = sum;
}

WRONG(cases_of_a_switch, 64, "which did not make this call")
{
    int value = x[threadIdx.x];

    switch (threadIdx.x / 32) {
    case 0:
        value += 1;
        break;
    default:
        value = __shfl_xor(value, 32); // [cases_of_a_switch]
    }
    y[threadIdx.x] = value;
}

WRONG(right_side_of_an_and, 64, "reads lane 63 by __shfl, which did not make this call")
{
    y[threadIdx.x] = threadIdx.x < 32 && __shfl(x[threadIdx.x], 63); // [right_side_of_an_and]
}

WRONG(odd_lanes_only, 64, "reads lane 0 by __shfl_up, which did not make this call")
{
    y[threadIdx.x] = threadIdx.x % 2 ? __shfl_up(x[threadIdx.x], 1) : 0; // [odd_lanes_only]
}

static __device__ int neighbour(int value)
{
    return __shfl_xor(value, 1); // [call_in_a_branch]
}

WRONG(call_in_a_branch, 64, "by __shfl_xor, which did not make this call")
{
    y[threadIdx.x] = threadIdx.x % 3 ? neighbour(x[threadIdx.x]) : 0;
}

WRONG(scan_with_the_shuffle_in_the_if, 64, "by __shfl_up, which is not active at this call")
{
    int sum = x[threadIdx.x];

    for (unsigned delta = 1; delta < 64; delta *= 2)
        if (threadIdx.x >= delta)
            sum += __shfl_up(sum, delta); // [scan_with_the_shuffle_in_the_if]
    y[threadIdx.x] = sum;
}

WRONG(leader_is_in_the_other_branch, 64, "by __shfl, which did not make this call")
{
    const int leader = __ffsll(__ballot(threadIdx.x >= 40)) - 1;
    int value = x[threadIdx.x];

    if (threadIdx.x < 40)
        value = __shfl(value, leader); // [leader_is_in_the_other_branch]
    y[threadIdx.x] = value;
}

WRONG(full_mask_in_a_branch, 64, "reads lane 0 by __shfl, which did not make this call")
{
    int value = x[threadIdx.x];

    if (threadIdx.x % 32 != 0)
        value = __shfl_sync(0xffffffffu, value, 0); // [full_mask_in_a_branch]
    y[threadIdx.x] = value;
}

/* --- widths ------------------------------------------------------------------------------------------------------ */

WRONG(width_of_48, 64, "shuffles with width 48, not a power of two up to 64")
{
    y[threadIdx.x] = __shfl(x[threadIdx.x], 0, 48); // [width_of_48]
}

WRONG(width_of_two_waves, 128, "shuffles with width 128, not a power of two up to 64")
{
    y[threadIdx.x] = __shfl_xor(x[threadIdx.x], 64, 128); // [width_of_two_waves]
}

WRONG(width_of_none, 64, "shuffles with width 0")
{
    y[threadIdx.x] = __shfl_down(x[threadIdx.x], 1, 0); // [width_of_none]
}

WRONG(width_of_the_groups, 64, "shuffles with width 20")
{
    y[threadIdx.x] = __shfl_sync(0xffffffffu, x[threadIdx.x], 0, 20); // [width_of_the_groups]
}

/* --- masks of 32 bits, and code that omits lanes 32 to 63 -------------------------------------------------------- */

WRONG(rank_in_32_bits, 64, "thread")
{
    const unsigned votes = (unsigned)__ballot(1);
    const unsigned before = __popc(votes & ((1u << threadIdx.x % 32) - 1));

    y[before] = x[threadIdx.x]; // [rank_in_32_bits]
}

WRONG(leader_in_32_bits, 64, "uninitialised shared memory")
{
    __shared__ int best;
    const int leader = __ffs((int)__ballot(threadIdx.x >= 40)) - 1;

    if ((int)threadIdx.x == leader)
        best = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = best; // [leader_in_32_bits]
}

WRONG(list_of_lanes_in_32_bits, 64, "uninitialised shared memory")
{
    __shared__ int seen[64];
    unsigned left = (unsigned)__ballot(1);

    for (; threadIdx.x == 0 && left; left &= left - 1)
        seen[__ffs((int)left) - 1] = 1;
    __syncthreads();
    y[threadIdx.x] = seen[threadIdx.x]; // [list_of_lanes_in_32_bits]
}

WRONG(lane_31_is_not_the_last, 128, "uninitialised shared memory")
{
    __shared__ int total[4];

    if (threadIdx.x % warpSize == 31)
        total[threadIdx.x / 32] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = total[threadIdx.x / 32]; // [lane_31_is_not_the_last]
}

WRONG(a_word_per_32_lanes, 128, "uninitialised shared memory")
{
    __shared__ int partial[4];
    int sum = x[threadIdx.x];

    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        sum += __shfl_xor(sum, offset);
    if (threadIdx.x % warpSize == 0)
        partial[threadIdx.x >> 5] = sum;
    __syncthreads();
    for (int i = 1; i < 4; i++)
        sum += partial[i]; // [a_word_per_32_lanes]
    y[threadIdx.x] = sum;
}

WRONG(a_word_per_wave, 128, "thread")
{
    __shared__ int partial[2];

    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x >> 6] = x[threadIdx.x]; // [a_word_per_wave]
    __syncthreads();
    y[threadIdx.x] = partial[threadIdx.x >> 6];
}

WRONG(room_for_32_lanes, 64, "out-of-bounds")
{
    __shared__ int room[32];

    room[__lane_id()] = x[threadIdx.x]; // [room_for_32_lanes]
    __syncthreads();
    y[threadIdx.x] = room[0];
}

WRONG(lanes_modulo_32, 64, "thread")
{
    __shared__ int room[32];

    room[__lane_id() % 32] = x[threadIdx.x]; // [lanes_modulo_32]
    __syncthreads();
    y[threadIdx.x] = room[threadIdx.x % 32];
}

/* --- what orders accesses in a wave, and what does not ----------------------------------------------------------- */

WRONG(lanes_in_step, 64, "thread")
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x]; // [lanes_in_step]
    y[threadIdx.x] = words[threadIdx.x ^ 32];
}

WRONG(tail_without_barriers, 64, "thread")
{
    __shared__ int sums[64];

    sums[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (unsigned half = 32; half > 0; half /= 2)
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half]; // [tail_without_barriers]
    y[threadIdx.x] = sums[threadIdx.x];
}

WRONG(shuffle_is_no_barrier, 64, "thread")
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x];
    const int other = __shfl_xor((int)threadIdx.x, 1);

    y[threadIdx.x] = words[other]; // [shuffle_is_no_barrier]
}

WRONG(vote_is_no_barrier, 64, "thread")
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x];
    if (__any(1))
        y[threadIdx.x] = words[threadIdx.x ^ 32]; // [vote_is_no_barrier]
}

WRONG(barrier_of_half_a_wave, 64, "thread")
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 32)
        __syncwarp();
    y[threadIdx.x] = words[threadIdx.x ^ 32]; // [barrier_of_half_a_wave]
}

WRONG(barrier_of_another_wave, 128, "thread")
{
    __shared__ int words[128];

    words[threadIdx.x] = x[threadIdx.x]; // [barrier_of_another_wave]
    __syncwarp();
    y[threadIdx.x] = words[threadIdx.x ^ 64];
}

WRONG(block_barrier_for_half_a_wave, 64, "__syncthreads")
{
    if (threadIdx.x < 32)
        __syncthreads(); // [block_barrier_for_half_a_wave]
    y[threadIdx.x] = 1;
}

WRONG(block_barrier_in_each_branch, 64, "__syncthreads")
{
    if (threadIdx.x < 32)
        __syncthreads(); // [block_barrier_in_each_branch]
    else
        __syncthreads();
    y[threadIdx.x] = 1;
}

/* --- correct kernels --------------------------------------------------------------------------------------------- */

RIGHT(sum_of_a_wave, 128)
{
    int sum = x[threadIdx.x];

    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        sum += __shfl_xor(sum, offset);
    y[threadIdx.x] = sum;
}
EXPECTED(sum_of_a_wave)
{
    return thread < 64 ? 63 * 64 / 2 : 63 * 64 / 2 + 64 * 64;
}

RIGHT(sums_of_halves, 64)
{
    int sum = x[threadIdx.x];

    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    y[threadIdx.x] = sum;
}
EXPECTED(sums_of_halves)
{
    return thread < 32 ? 496 : 496 + 32 * 32;
}

RIGHT(scan_of_a_wave, 64)
{
    int sum = 1;

    for (unsigned delta = 1; delta < 64; delta *= 2) {
        const int below = __shfl_up(sum, delta);

        sum += threadIdx.x >= delta ? below : 0;
    }
    y[threadIdx.x] = sum;
}
EXPECTED(scan_of_a_wave)
{
    return thread + 1;
}

RIGHT(votes_of_64_lanes, 64)
{
    const unsigned long long votes = __ballot(x[threadIdx.x] % 3 == 0);

    y[threadIdx.x] = __popcll(votes & ((1ull << threadIdx.x) - 1));
}
EXPECTED(votes_of_64_lanes)
{
    return (thread + 2) / 3;
}

RIGHT(lanes_that_are_active, 64)
{
    if (threadIdx.x < 40)
        y[threadIdx.x] = (int)(__activemask() >> 32);
    else
        y[threadIdx.x] = (int)(__activemask() >> 40);
}
EXPECTED(lanes_that_are_active)
{
    return thread < 40 ? 0xff : 0xffffff;
}

RIGHT(halves_in_two_branches, 64)
{
    if (threadIdx.x < 32)
        y[threadIdx.x] = __shfl(x[threadIdx.x], 5);
    else
        y[threadIdx.x] = __shfl(x[threadIdx.x], 45);
}
EXPECTED(halves_in_two_branches)
{
    return thread < 32 ? 5 : 45;
}

RIGHT(half_a_wave_is_left, 64)
{
    y[threadIdx.x] = 7;
    if (threadIdx.x >= 32)
        return;
    y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 31);
}
EXPECTED(half_a_wave_is_left)
{
    return thread < 32 ? 31 - thread : 7;
}

RIGHT(votes_in_a_branch, 64)
{
    if (threadIdx.x % 2)
        y[threadIdx.x] = 2 * __any(threadIdx.x == 63) + __all(threadIdx.x % 2);
    else
        y[threadIdx.x] = 2 * __any(threadIdx.x == 63) + __all(threadIdx.x < 60);
}
EXPECTED(votes_in_a_branch)
{
    return thread % 2 ? 3 : 0;
}

RIGHT(loop_until_no_lane_is_left, 64)
{
    int rounds = 0;

    for (int left = (int)threadIdx.x; __any(left > 0); left -= 10)
        rounds++;
    y[threadIdx.x] = rounds;
}
EXPECTED(loop_until_no_lane_is_left)
{
    return 7;
}

RIGHT(loops_of_different_lengths, 64)
{
    int most = 0;

    for (unsigned i = 0; i <= threadIdx.x; i++)
        most = __popcll(__ballot(1)); /* the lanes that are still in the loop */
    y[threadIdx.x] = most;
}
EXPECTED(loops_of_different_lengths)
{
    return 64 - thread;
}

RIGHT(lanes_that_skip, 64)
{
    int sum = 0;

    for (int i = 0; i < 4; i++) {
        if (threadIdx.x / 16 == (unsigned)i)
            continue;
        sum += __shfl_xor(x[threadIdx.x], 1, 16) & 1;
    }
    y[threadIdx.x] = sum;
}
EXPECTED(lanes_that_skip)
{
    return thread % 2 ? 0 : 3;
}

RIGHT(votes_of_lanes_that_do_not_skip, 64)
{
    int lanes = 0;

    for (int i = 0; i < 4; i++) {
        if (threadIdx.x / 16 == (unsigned)i)
            continue;
        lanes += __popcll(__ballot(1));
    }
    y[threadIdx.x] = lanes;
}
EXPECTED(votes_of_lanes_that_do_not_skip)
{
    return 3 * 48;
}

static __device__ int swapped(int value)
{
    for (int i = 0; i < 3; i++)
        value = __shfl_xor(value, 32);
    return value;
}

RIGHT(lanes_ahead_in_a_call, 64)
{
    int value = x[threadIdx.x];

    if (threadIdx.x < 32)
        for (int i = 0; i < 3; i++)
            value = __shfl_xor(value, 1);
    y[threadIdx.x] = swapped(value);
}
EXPECTED(lanes_ahead_in_a_call)
{
    return thread < 32 ? thread + 32 : (thread - 32) ^ 1;
}

RIGHT(barrier_of_a_wave, 64)
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = words[63 - threadIdx.x];
}
EXPECTED(barrier_of_a_wave)
{
    return 63 - thread;
}

RIGHT(barriers_of_two_halves, 64)
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 32)
        __syncwarp();
    else
        __syncwarp();
    y[threadIdx.x] = words[threadIdx.x ^ 31];
}
EXPECTED(barriers_of_two_halves)
{
    return thread ^ 31;
}

RIGHT(votes_of_a_half, 64)
{
    y[threadIdx.x] = (int)__ballot_sync(0xffffffffu, threadIdx.x % 32 < 5 + threadIdx.x / 32);
}
EXPECTED(votes_of_a_half)
{
    return thread < 32 ? 31 : 63;
}

RIGHT(first_half_does_more, 64)
{
    int value = x[threadIdx.x];

    if (threadIdx.x / 32 == 0)
        for (int i = 0; i < 3; i++)
            value = __shfl_xor_sync(0xffffffffu, value, 1);
    value = __shfl_sync(0xffffffffu, value, 2);
    y[threadIdx.x] = value;
}
EXPECTED(first_half_does_more)
{
    return thread < 32 ? 3 : 34;
}

RIGHT(three_halves, 96)
{
    y[threadIdx.x] = __shfl_down_sync(0xffffffffu, x[threadIdx.x], 16);
}
EXPECTED(three_halves)
{
    return thread % 32 < 16 ? thread + 16 : thread;
}

RIGHT(every_width, 64)
{
    int sum = 0;

    for (int width = 1; width <= 64; width *= 2)
        sum += __shfl(x[threadIdx.x], 0, width);
    y[threadIdx.x] = sum;
}
EXPECTED(every_width)
{
    int sum = 0;

    for (int width = 1; width <= 64; width *= 2)
        sum += thread / width * width;
    return sum;
}

RIGHT(a_width_for_each_lane, 64)
{
    y[threadIdx.x] = __shfl(x[threadIdx.x], 1, threadIdx.x < 32 ? 32 : 16);
}
EXPECTED(a_width_for_each_lane)
{
    return thread < 32 ? 1 : thread / 16 * 16 + 1;
}

RIGHT(beyond_the_ends, 64)
{
    const int value = x[threadIdx.x];

    y[threadIdx.x] = __shfl_down(value, 60) + __shfl_up(value, 60) + __shfl(value, -1) + __shfl_xor(value, 16, 8);
}
EXPECTED(beyond_the_ends)
{
    return (thread < 4 ? thread + 60 : thread) + (thread >= 60 ? thread - 60 : thread) + 63 +
           (thread & ~16); /* __shfl_xor may read a lane below its segment, but none above */
}

RIGHT(values_of_eight_bytes, 64)
{
    const double value = 0.5 * x[threadIdx.x];
    const long long other = __shfl_xor(1ll << (threadIdx.x % 32 + 8), 63);

    y[threadIdx.x] = (int)(2 * __shfl(value, 50)) + (other == 1ll << (31 - threadIdx.x % 32 + 8));
}
EXPECTED(values_of_eight_bytes)
{
    return 51;
}

RIGHT(a_leader_above_32, 64)
{
    __shared__ int best;
    const int leader = __ffsll(__ballot(x[threadIdx.x] > 40)) - 1;

    if ((int)__lane_id() == leader)
        best = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = best;
}
EXPECTED(a_leader_above_32)
{
    return 41;
}

RIGHT(half_waves_at_a_block_barrier, 256)
{
    __shared__ int sums[8];
    int sum = x[threadIdx.x];

    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x / 32 == 0) {
        sum = threadIdx.x < 8 ? sums[threadIdx.x] : 0;
        for (int offset = 4; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, offset);
        if (threadIdx.x < 8)
            sums[threadIdx.x] = sum;
    }
    __syncthreads();
    y[threadIdx.x] = sums[threadIdx.x / 32];
}
EXPECTED(half_waves_at_a_block_barrier)
{
    return 255 * 256 / 2;
}

/* --- where the sides of a condition in an expression reconverge -------------------------------------------------- */

RIGHT(argument_of_a_side, 64)
{
    y[threadIdx.x] = __shfl_xor(threadIdx.x < 32 ? x[threadIdx.x] : 7, 33);
}
EXPECTED(argument_of_a_side)
{
    return thread < 32 ? 7 : thread ^ 33;
}

RIGHT(argument_of_an_and, 64)
{
    y[threadIdx.x] = __shfl_xor(threadIdx.x % 2 && x[threadIdx.x] > 5, 1) + 2 * __shfl_xor(x[threadIdx.x] || y[0], 32);
}
EXPECTED(argument_of_an_and)
{
    return (thread % 2 == 0 && thread > 4) + 2 * (thread != 32);
}

RIGHT(condition_before_a_shuffle, 64)
{
    y[threadIdx.x] = (threadIdx.x < 9 ? x[threadIdx.x] : 0) + __shfl((int)threadIdx.x, 40);
}
EXPECTED(condition_before_a_shuffle)
{
    return (thread < 9 ? thread : 0) + 40;
}

RIGHT(argument_of_a_call, 64)
{
    y[threadIdx.x] = swapped(threadIdx.x < 32 ? neighbour(x[threadIdx.x]) : 100);
}
EXPECTED(argument_of_a_call)
{
    return thread < 32 ? 100 : (thread - 32) ^ 1;
}

RIGHT(nested_conditions, 64)
{
    const unsigned i = threadIdx.x;

    y[i] = __shfl_down(i < 48 ? i < 16 ? x[i] : (i % 2 && x[i] > 20) : -x[i], 16);
}
EXPECTED(nested_conditions)
{
    const int i = thread < 48 ? thread + 16 : thread;

    return i < 48 ? i < 16 ? i : (i % 2 && i > 20) : -i;
}

RIGHT(shuffle_in_a_side_of_an_argument, 64)
{
    y[threadIdx.x] = __shfl_xor(threadIdx.x < 32 ? __shfl_xor(x[threadIdx.x], 1) : x[threadIdx.x], 32);
}
EXPECTED(shuffle_in_a_side_of_an_argument)
{
    return thread < 32 ? thread + 32 : (thread - 32) ^ 1;
}

RIGHT(declarations_of_one_statement, 64)
{
    const int mine = threadIdx.x < 32 ? x[threadIdx.x] : 3, other = __shfl_xor(mine, 32);

    y[threadIdx.x] = other;
}
EXPECTED(declarations_of_one_statement)
{
    return thread < 32 ? 3 : thread - 32;
}

RIGHT(comma_behind_a_condition, 64)
{
    int value = 1;

    threadIdx.x < 5 && (value = x[threadIdx.x]), value = __shfl(value, 20), y[threadIdx.x] = value;
}
EXPECTED(comma_behind_a_condition)
{
    return thread >= 0;
}

RIGHT(destination_behind_its_value, 64)
{
    y[__shfl_xor((int)threadIdx.x, 1)] = threadIdx.x < 9 ? x[threadIdx.x] : 5;
}
EXPECTED(destination_behind_its_value)
{
    return (thread ^ 1) < 9 ? thread ^ 1 : 5;
}

RIGHT(lines_of_a_for, 64)
{
    int rounds = 0;

    for (int left = threadIdx.x < 32 ? x[threadIdx.x] : 10; __any(left > 0); left -= threadIdx.x && x[1] ? 10 : 5)
        rounds += __popcll(__ballot(1)) == 64;
    y[threadIdx.x] = rounds;
}
EXPECTED(lines_of_a_for)
{
    return thread < 64 ? 4 : 0;
}

static __device__ void add_to(int &sum, int value)
{
    sum += value;
}

static __device__ int &larger(int &a, int &b)
{
    return a > b ? b ? a : b : b;
}

RIGHT(conditions_as_lvalues, 64)
{
    int values[2] = {1, 2}, *p = values;
    const int &bound = (threadIdx.x < 32 ? x[threadIdx.x] : 6) + 1;

    (threadIdx.x < 7 ? p[0] : p[1]) = __shfl(bound, 10);
    add_to(threadIdx.x % 2 ? larger(values[0], values[1]) : p[0], __shfl_xor(1, 1));
    (threadIdx.x % 2 ? add_to(p[0], 100) : add_to(p[1], 1000)), (void)(x[threadIdx.x] ? add_to(p[0], 1) : (void)0);
    y[threadIdx.x] = p[0] + p[1];
}
EXPECTED(conditions_as_lvalues)
{
    return (thread < 7 ? 11 + 2 : 1 + 11) + 1 + (thread % 2 ? 100 : 1000) + (thread != 0);
}

template <bool FIRST, int N>
static __device__ int more(const int *x)
{
    return FIRST ? x[N] : N;
}

template <class T>
static __device__ T of_template(T value, const T *x)
{
    return __shfl_xor(std::is_same_v<T, int> && value > 3 ? x[3] : value < T(2) ? more<sizeof(T) == 4, 2>(x) : x[1], 1);
}

RIGHT(condition_in_a_template, 64)
{
    constexpr bool yes = true || false;
    int bound[yes && sizeof(int) ? 2 : 1] = {0, x[threadIdx.x] ? x[1] : 1};
    const auto take = [&](int value) { return threadIdx.x > 5 ? neighbour(value ? x[2] : 2) : 0; };

    static_assert(yes && sizeof bound == 8);
    add_to(bound[0], more<(yes && sizeof bound), 0>(x));
    y[threadIdx.x] = of_template<int>(x[threadIdx.x], x) + bound[threadIdx.x && yes ? 1 : 0] - !threadIdx.x +
                     __shfl(take(1), 9);
}
EXPECTED(condition_in_a_template)
{
    return ((thread ^ 1) > 3 ? 3 : (thread ^ 1) < 2 ? 2 : 1) + (thread ? 1 : -1) + 2;
}

RIGHT(shuffles_in_sides_of_two_arguments, 64)
{
    const unsigned i = threadIdx.x;

    y[i] = __shfl(i < 9 ? __shfl_xor(x[i], 8, 8) : 5, i % 2 ? __shfl_xor((int)i, 2) : 3);
    y[i] += __shfl(i % 2 ? __shfl_xor((int)i, 2) : 3, i < 9 ? x[i] : 0);
}
EXPECTED(shuffles_in_sides_of_two_arguments)
{
    const int from = thread % 2 ? thread ^ 2 : 3;
    const int other = thread < 9 ? thread : 0;

    return (from < 9 ? from : 5) + (other % 2 ? other ^ 2 : 3);
}

#define PICK(condition)  ((condition) ? x[threadIdx.x] : 0)
#define STORE(condition) (void)((condition) && (y[threadIdx.x] = x[threadIdx.x]))

RIGHT(conditions_in_macros, 64)
{
    const int picked = __shfl_xor(PICK(threadIdx.x < 9), 1);

    STORE(threadIdx.x > 40);
    y[threadIdx.x] = picked + 100 * __shfl(picked, 3);
}
EXPECTED(conditions_in_macros)
{
    return ((thread ^ 1) < 9 ? thread ^ 1 : 0) + 100 * 2;
}

static __device__ int sum_of_some(int value)
{
    const int other = __shfl_xor(value, 32);

    if (threadIdx.x < 8)
        value += __shfl_xor(value, 1);
    return value + other;
}

RIGHT(two_calls_of_one_function, 64)
{
    y[threadIdx.x] = sum_of_some(1) + sum_of_some(10);
}
EXPECTED(two_calls_of_one_function)
{
    return thread < 8 ? 33 : 22;
}

WRONG(shuffle_in_a_side_reads_the_other, 64, "reads lane 32 by __shfl_xor, which is not active at this call")
{
    y[threadIdx.x] = __shfl_xor(threadIdx.x < 32 ? __shfl_xor(x[threadIdx.x], 32) // [shuffle_in_a_side_reads_the_other]
                                                 : x[threadIdx.x],
                                32);
}

WRONG(shuffle_in_an_argument_of_an_and, 64, "reads lane 63 by __shfl, which is not active at this call")
{
    y[threadIdx.x] = neighbour(threadIdx.x < 32 && __shfl(x[threadIdx.x], 63)); // [shuffle_in_an_argument_of_an_and]
}

WRONG(joined_sides_in_a_side, 64, "by __shfl_xor, which did not make this call")
{
    const unsigned i = threadIdx.x;

    y[i] = i % 2 ? __shfl_xor(x[i] > 9 ? x[0] : 4, 1) : 0; // [joined_sides_in_a_side]
}

/* --- counters ---------------------------------------------------------------------------------------------------- */

static __global__ void strides(const int *x, int *y, int stride)
{
    __shared__ int words[64 * 33];

    words[threadIdx.x * stride] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32)
        y[threadIdx.x] = __shfl(words[threadIdx.x * stride], 0);
    else
        y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, words[threadIdx.x * stride], 1);
}

static struct simt_counters counters_of(int stride)
{
    device_x = device_iota();
    device_y = device_words(0);
    read_and_reset_counters();
    strides<<<1, 64>>>(device_x, device_y, stride);
    expect_success();
    assert_int_equal(cudaFree(device_x), cudaSuccess);
    assert_int_equal(cudaFree(device_y), cudaSuccess);
    return read_and_reset_counters();
}

/**
 * Tests counters: a wave accesses the 32 banks one half-wave at a time, a sector has 64 bytes, and one branch diverges.
 */
static void counts(void **)
{
    const struct simt_counters once = counters_of(1), often = counters_of(32), odd = counters_of(33);

    assert_int_equal(once.global_load_requests, 1);
    assert_int_equal(once.global_load_sectors, 4);
    assert_int_equal(once.global_store_requests, 2);
    assert_int_equal(once.global_store_sectors, 4);
    assert_int_equal(once.shared_store_requests, 1);
    assert_int_equal(once.shared_store_wavefronts, 2);
    assert_int_equal(once.shared_load_requests, 2);
    assert_int_equal(once.shared_load_wavefronts, 2);
    assert_int_equal(once.shared_conflicts, 0);
    assert_int_equal(often.shared_store_wavefronts, 64);
    assert_int_equal(often.shared_load_wavefronts, 64);
    assert_int_equal(often.shared_conflicts, 2 * 62);
    assert_int_equal(odd.shared_conflicts, 0);
    assert_int_equal(once.divergent_branches, 1);
    assert_int_equal(once.shuffles, 2);
    assert_int_equal(once.lanes_possible, 64 * once.basic_blocks);
    assert_int_equal(once.lanes_active, 64 * once.basic_blocks - 2 * 32);
}

static __global__ void reconverges(const int *x, int *y)
{
    int value = x[threadIdx.x];

    if (threadIdx.x < 32)
        value = __shfl_xor(value, 1);
    y[threadIdx.x] = value;
}

/**
 * Tests that lanes outside a collective wait at the reconvergence point of the branches, so that the wave makes one
 * store request.
 */
static void counts_behind_a_branch(void **)
{
    device_x = device_iota();
    device_y = device_words(0);
    read_and_reset_counters();
    reconverges<<<1, 64>>>(device_x, device_y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(counters.global_store_requests, 1);
    assert_int_equal(counters.basic_blocks, 3);
    assert_int_equal(counters.lanes_active, 64 + 32 + 64);
    assert_int_equal(cudaFree(device_x), cudaSuccess);
    assert_int_equal(cudaFree(device_y), cudaSuccess);
}

static void device_says_64(void **)
{
    struct cudaDeviceProp properties;

    assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    assert_int_equal(properties.warpSize, 64);
    assert_int_equal(warpSize, 64);
}

/* --- running the kernels ----------------------------------------------------------------------------------------- */

static void is_reported(void **state)
{
    const struct kernel_of_test *kernel = (const struct kernel_of_test *)*state;

    device_x = device_iota();
    device_y = device_words(0);
    kernel->run(kernel->threads);
    if (cudaPeekAtLastError() == cudaSuccess)
        fail_msg("%s: not refused", kernel->name);
    expect_fault(cudaPeekAtLastError(), __FILE__, kernel->name, kernel->text);
    cudaFree(device_x);
    cudaFree(device_y);
}

static void runs(void **state)
{
    const struct kernel_of_test *kernel = (const struct kernel_of_test *)*state;

    device_x = device_iota();
    device_y = device_words(0);
    kernel->run(kernel->threads);
    expect_success();
    const int *y = download_and_free_words(device_y);

    for (int i = 0; i < kernel->threads; i++)
        if (y[i] != kernel->expected(i))
            fail_msg("%s: thread %d has %d, not %d", kernel->name, i, y[i], kernel->expected(i));
    cudaFree(device_x);
}

int main(void)
{
    static struct CMUnitTest tests[MAX_KERNELS + 3] = {
        cmocka_unit_test(counts), cmocka_unit_test(counts_behind_a_branch), cmocka_unit_test(device_says_64)};

    for (int i = 0; i < kernel_count; i++) {
        tests[3 + i].name = kernels[i].name;
        tests[3 + i].test_func = kernels[i].text ? is_reported : runs;
        tests[3 + i].initial_state = &kernels[i];
    }
    return _cmocka_run_group_tests("64 lanes", tests, (size_t)kernel_count + 3, NULL, NULL);
}
