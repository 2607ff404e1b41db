/** @file test_order.cu  Tests correct kernels, each of which orders its accesses differently: none may be reported. */
#include "simt_test.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

static __global__ void neighbours_kernel(__nv_bfloat16 *y)
{
    __shared__ __nv_bfloat16 words[64];
    __shared__ unsigned char bytes[64];

    /* Two threads share each word of `words` and four each word of `bytes`, but each thread accesses its own bytes. */
    words[threadIdx.x] = __float2bfloat16((float)threadIdx.x);
    bytes[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 2)
        words[threadIdx.x] = __float2bfloat16(__bfloat162float(words[threadIdx.x]) + bytes[threadIdx.x]);
    y[threadIdx.x] = words[threadIdx.x];
    words[threadIdx.x] = __float2bfloat16(0.0f);
}

static void neighbours_in_one_word(void **)
{
    __nv_bfloat16 *y = (__nv_bfloat16 *)device_words(0);

    neighbours_kernel<<<1, 64>>>(y);
    expect_success();
    cudaFree(y);
}

static __global__ void barrier_kernel(const int *x, int *y, int rounds)
{
    __shared__ int words[2][64];
    int value = x[threadIdx.x];

    /* Two buffers alternate, so that one barrier per round is enough. */
    for (int round = 0; round < rounds; round++) {
        words[round % 2][threadIdx.x] = value;
        __syncthreads();
        value += words[round % 2][63 - threadIdx.x];
    }
    y[threadIdx.x] = value;
    __syncthreads();
    y[64 + threadIdx.x] = y[63 - threadIdx.x];
}

static void barriers_order_shared_and_global_memory(void **)
{
    int *x = device_iota();
    int *y = device_words(0);

    barrier_kernel<<<1, 64>>>(x, y, 9);
    expect_success();
    const int *got = download_and_free_words(y);

    assert_int_equal(got[0], 63 * 256);
    assert_int_equal(got[64], got[63]);
    cudaFree(x);
}

static __global__ void warp_kernel(int *y)
{
    __shared__ int words[64];
    int *mine = words + threadIdx.x / 32 * 32;
    const int lane = threadIdx.x % 32;

    for (int round = 0; round < 4; round++) {
        mine[lane] = lane + round;
        __syncwarp();
        y[threadIdx.x] = mine[31 - lane] + mine[0];
        __syncwarp();
    }
}

static void syncwarp_orders_its_warp(void **)
{
    int *y = device_words(0);

    warp_kernel<<<1, 64>>>(y);
    expect_success();
    assert_int_equal(download_and_free_words(y)[33], 30 + 3 + 3);
}

static __global__ void partial_kernel(int *y)
{
    __shared__ int words[32];
    const int lane = threadIdx.x;

    if (lane >= 24)
        return;
    words[lane] = lane;
    if (lane < 16) {
        __syncwarp(0x0000ffffu);
        y[lane] = words[15 - lane];
        __syncwarp(0x0000ffffu);
        words[lane] = 1;
        __syncwarp(0x0000ffffu);
    }
    /* Order is transitive: lanes 0..7 are ordered before lanes 8..15, which are ordered before lanes 16..23. */
    if (lane >= 8)
        __syncwarp(0x00ffff00u);
    if (lane >= 16)
        y[lane] = words[lane - 16] + words[lane - 8];
    __syncwarp();
    words[23 - lane] = 2;
}

static void partial_masks_hand_order_on(void **)
{
    int *y = device_words(0);

    partial_kernel<<<1, 32>>>(y);
    expect_success();
    assert_int_equal(download_and_free_words(y)[16], 2);
}

static __global__ void broadcast_kernel(const int *x, int *y)
{
    __shared__ int word;
    int sum = 0;

    for (int round = 0; round < 3; round++) {
        if ((int)threadIdx.x == round * 20)
            word = round;
        __syncthreads();
        sum += word + x[round];
        __syncthreads();
    }
    y[blockIdx.x * 64 + threadIdx.x] = sum;
}

static void one_writes_and_all_read(void **)
{
    int *x = device_iota();
    int *y = device_words(0);

    broadcast_kernel<<<3, 64>>>(x, y);
    broadcast_kernel<<<3, 64>>>(x, y);
    expect_success();
    assert_int_equal(download_and_free_words(y)[191], 6);
    cudaFree(x);
}

static __global__ void in_place_kernel(int *x)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;

    x[thread] += 1;
    x[thread] = x[thread] * 2;
}

static void launches_are_ordered(void **)
{
    int *x = device_iota();

    in_place_kernel<<<4, 64>>>(x);
    in_place_kernel<<<2, 128>>>(x);
    in_place_kernel<<<8, 32>>>(x);
    expect_success();
    assert_int_equal(download_and_free_words(x)[5], ((5 + 1) * 2 + 1) * 4 + 2);
}

static __global__ void shared_halves_kernel(const int *x, int *y)
{
    __shared__ int words[64];

    /* Threads read different bytes of a word, then each thread writes the bytes that only it has read. */
    ((short *)words)[2 * threadIdx.x] = x[threadIdx.x];
    ((short *)words)[2 * threadIdx.x + 1] = x[threadIdx.x];
    __syncthreads();
    const int other = threadIdx.x ^ 1;
    const int mine = ((short *)words)[threadIdx.x / 2 * 4 + threadIdx.x % 2] + other * 0;

    ((short *)words)[threadIdx.x / 2 * 4 + threadIdx.x % 2] = mine + 1;
    y[threadIdx.x] = ((short *)words)[threadIdx.x / 2 * 4 + threadIdx.x % 2];
}

static __global__ void half_and_whole_kernel(int *y)
{
    __shared__ int words[32];
    short *halves = (short *)words;

    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    /* Even threads read a whole word and odd threads only its lower half, so even threads may write the upper half. */
    if (threadIdx.x % 2 == 0) {
        y[threadIdx.x] = words[threadIdx.x];
        __shfl_xor_sync(0x55555555u, 0, 2);
    }
    const int low = halves[threadIdx.x / 2 * 4];

    __shfl_xor_sync(FULL_MASK, 0, 1);
    if (threadIdx.x % 2 == 0)
        halves[threadIdx.x * 2 + 1] = 7;
    y[32 + threadIdx.x] = low;
}

static void readers_of_a_half_and_of_the_whole(void **)
{
    int *y = device_words(0);

    half_and_whole_kernel<<<1, 32>>>(y);
    expect_success();
    assert_int_equal(download_and_free_words(y)[32 + 5], 4);
}

static void readers_of_different_bytes(void **)
{
    int *x = device_iota();
    int *y = device_words(0);

    shared_halves_kernel<<<1, 64>>>(x, y);
    expect_success();
    assert_int_equal(download_and_free_words(y)[2], 3);
    cudaFree(x);
}

static __global__ void atomics_kernel(int *y)
{
    __shared__ int count;

    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    atomicAdd(&y[0], 1);
    __syncthreads();
    y[1 + blockIdx.x * blockDim.x + threadIdx.x] = count;
}

static void atomics_among_themselves(void **)
{
    int *y = device_words(0);

    atomics_kernel<<<4, 64>>>(y);
    expect_success();
    const int *got = download_and_free_words(y);

    assert_int_equal(got[0], 256);
    assert_int_equal(got[200], 64);
}

static __global__ void last_block_kernel(const int *x, int *partial, unsigned *finished, int *total)
{
    __shared__ bool last;

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = x[blockIdx.x];
        __threadfence();
        last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;

        for (unsigned i = 0; i < gridDim.x; i++)
            sum += partial[i];
        *total = sum;
    }
}

static void the_last_block_adds_up(void **)
{
    int *x = device_iota();
    int *partial = device_words(0);
    unsigned *finished = (unsigned *)device_words(0);
    int *total = device_words(0);

    last_block_kernel<<<20, 32>>>(x, partial, finished, total);
    expect_success();
    assert_int_equal(download_and_free_words(total)[0], 190);
    cudaFree(x);
    cudaFree(partial);
    cudaFree(finished);
}

static __global__ void flag_kernel(int *y)
{
    __shared__ volatile int ready;
    __shared__ int value;

    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    /* The waiting warp polls with an atomic until the other warp has run, so the simulator must switch warps. */
    if (threadIdx.x == 0) {
        while (atomicAdd((int *)&ready, 0) == 0)
            ;
        __threadfence_block();
        y[0] = value;
    } else if (threadIdx.x == 32) {
        value = 42;
        __threadfence_block();
        atomicExch((int *)&ready, 1);
    }
}

static void a_flag_between_warps(void **)
{
    int *y = device_words(0);

    flag_kernel<<<1, 64>>>(y);
    expect_success();
    assert_int_equal(download_and_free_words(y)[0], 42);
}

static __global__ void half_kernel(const __half *x, __half2 *y, const __nv_bfloat16 *b)
{
    const __half2 pair = *(const __half2 *)(x + 2 * threadIdx.x);
    const __half other = __shfl_xor_sync(FULL_MASK, x[threadIdx.x], 1);
    const __nv_bfloat16 brain = __shfl_xor_sync(FULL_MASK, b[threadIdx.x], 1);

    y[threadIdx.x] = pair;
    if (__half2float(other) < 0.0f || __bfloat162float(brain) < 0.0f)
        y[threadIdx.x] = *(const __half2 *)x;
}

static void small_floats_are_shuffled_and_copied_whole(void **)
{
    int *x = device_words(0);
    int *y = device_words(1);
    struct simt_counters counters;

    read_and_reset_counters();
    half_kernel<<<1, 32>>>((const __half *)x, (__half2 *)y, (const __nv_bfloat16 *)x);
    expect_success();
    counters = read_and_reset_counters();
    assert_int_equal(counters.global_load_requests, 3);
    assert_int_equal(counters.global_store_requests, 1);
    assert_int_equal(download_and_free_words(y)[31], 0);
    cudaFree(x);
}

static __global__ void parameters_kernel(float4 a, char b, double c, const int *x, int3 d, int *y)
{
    y[threadIdx.x] = (int)(a.x + a.w + (float)b + (float)c) + x[threadIdx.x] + d.z;
}

static void parameters_of_every_kind(void **)
{
    int *x = device_iota();
    int *y = device_words(0);

    parameters_kernel<<<1, 32>>>(make_float4(1, 2, 3, 4), 'a', 0.5, x, make_int3(7, 8, 9), y);
    expect_success();
    assert_int_equal(download_and_free_words(y)[3], 1 + 4 + 'a' + 3 + 9);
    cudaFree(x);
}

template <typename T, int count>
static __global__ void template_kernel(T *y)
{
    __shared__ T words[count];

    words[threadIdx.x] = (T)threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = words[count - 1 - threadIdx.x];
}

static void templates_with_their_own_shared_arrays(void **)
{
    int *y = device_words(0);

    template_kernel<int, 64><<<1, 64>>>(y);
    template_kernel<short, 128><<<1, 128>>>((short *)y + 1000);
    expect_success();
    const int *got = download_and_free_words(y);

    assert_int_equal(got[0], 63);
    assert_int_equal(((const short *)got)[1000], 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_in_one_word),     cmocka_unit_test(barriers_order_shared_and_global_memory),
        cmocka_unit_test(syncwarp_orders_its_warp),   cmocka_unit_test(partial_masks_hand_order_on),
        cmocka_unit_test(one_writes_and_all_read),    cmocka_unit_test(launches_are_ordered),
        cmocka_unit_test(readers_of_different_bytes), cmocka_unit_test(readers_of_a_half_and_of_the_whole),
        cmocka_unit_test(atomics_among_themselves),   cmocka_unit_test(the_last_block_adds_up),
        cmocka_unit_test(a_flag_between_warps),       cmocka_unit_test(small_floats_are_shuffled_and_copied_whole),
        cmocka_unit_test(parameters_of_every_kind),   cmocka_unit_test(templates_with_their_own_shared_arrays),
    };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
