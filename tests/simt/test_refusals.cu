/**
 * @file test_refusals.cu
 * @brief Tests every kind of fault with a kernel that causes it, checking the error, the source line and the thread.
 */
#include "simt_test.h"

#include <assert.h>

#define EXPECT_FAULT(error, mark, text) expect_fault(error, __FILE__, mark, text)

static int *device_x;
static int *device_y;

static int make_buffers(void **)
{
    device_x = device_iota();
    device_y = device_words(0);
    return 0;
}

static int free_buffers(void **)
{
    cudaGetLastError();
    return cudaFree(device_x) != cudaSuccess || cudaFree(device_y) != cudaSuccess;
}

/* --- races in shared memory --------------------------------------------------------------------------------------- */

static __global__ void no_barrier_kernel(const int *x, int *y)
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x];      // [no_barrier_write]
    y[threadIdx.x] = words[threadIdx.x ^ 33]; // [no_barrier_read]
}

static void a_missing_barrier(void **)
{
    char where[64];

    no_barrier_kernel<<<1, 64>>>(device_x, device_y);
    /* Warp 0 reads before warp 1 writes. */
    EXPECT_FAULT(
        cudaErrorLaunchFailure, "no_barrier_write",
        "shared memory race: thread (32,0,0) of block (0,0,0) writes 4 bytes of 'words' at byte 128 (of 256) that "
        "thread (1,0,0) has already read");
    if (starts_with_location(simt_fault_message(), __FILE__)) {
        snprintf(where, sizeof where, " at :%d, no barrier between", line_marked(__FILE__, "no_barrier_read"));
        assert_non_null(strstr(simt_fault_message(), where));
    }
}

static __global__ void read_after_write_kernel(int *y)
{
    __shared__ int words[64];

    words[threadIdx.x] = 1;
    if (threadIdx.x >= 32)
        y[threadIdx.x] = words[threadIdx.x - 32]; // [read_after_write]
}

static void reading_what_another_warp_wrote(void **)
{
    read_after_write_kernel<<<dim3(3, 2), 64>>>(device_y);
    EXPECT_FAULT(
        cudaErrorLaunchFailure, "read_after_write",
        "shared memory race: thread (32,0,0) of block (0,0,0) reads 4 bytes of 'words' at byte 0 (of 256) that "
        "thread (0,0,0) wrote");
}

static __global__ void read_and_write_kernel(int *y)
{
    __shared__ int sum;

    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    sum++; // [one_line]
    __syncthreads();
    y[threadIdx.x] = sum;
}

static void two_threads_read_and_write_at_one_line(void **)
{
    read_and_write_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "one_line",
                 "no barrier between; try: an atomic, such as atomicAdd(), if both threads update this word; otherwise "
                 "__syncthreads() between the rounds of the loop, or a second array");
}

static __global__ void write_write_kernel(int *y)
{
    __shared__ int word;

    word = threadIdx.x; // [write_write]
    __syncthreads();
    y[threadIdx.x] = word;
}

static void two_threads_write_one_word(void **)
{
    write_write_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "write_write",
                 "no barrier between; try: check the indices: two threads store to the same element; if each element "
                 "should have one writer, an index (past the end of a row, it falls into the next row) or a count that "
                 "it depends on is wrong; if both should write, a barrier between them, or a store by one of them "
                 "only");
    write_write_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "write_write",
                 "thread (1,0,0) of block (0,0,0) writes 4 bytes of 'word' at byte 0 (of 4) that thread (0,0,0) wrote");
}

static __global__ void second_barrier_kernel(int *y)
{
    __shared__ int words[64];
    int sum = 0;

    for (int i = 0; i < 3; i++) {
        words[threadIdx.x] = i;
        __syncthreads();
        sum += words[63 - threadIdx.x]; // [second_barrier]
        /* There is no barrier before the next round's store. */
    }
    y[threadIdx.x] = sum;
}

static void a_loop_without_its_second_barrier(void **)
{
    second_barrier_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "second_barrier", "shared memory race");
}

static __global__ void shuffle_is_no_barrier_kernel(int *y)
{
    __shared__ int words[32];

    words[threadIdx.x] = threadIdx.x;
    __shfl_xor_sync(FULL_MASK, 0, 1);
    y[threadIdx.x] = words[threadIdx.x ^ 1]; // [shuffle_is_no_barrier]
}

static void a_shuffle_orders_no_memory(void **)
{
    shuffle_is_no_barrier_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "shuffle_is_no_barrier", "shared memory race");
}

static __global__ void partial_syncwarp_kernel(int *y)
{
    __shared__ int words[32];

    words[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 16)
        __syncwarp(0x0000ffffu);
    else
        __syncwarp(0xffff0000u);
    y[threadIdx.x] = words[31 - threadIdx.x]; // [partial_syncwarp]
}

static void a_syncwarp_of_other_lanes(void **)
{
    partial_syncwarp_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "partial_syncwarp",
                 "shared memory race: thread (0,0,0) of block (0,0,0) reads");
}

static __global__ void plain_and_atomic_kernel(int *y)
{
    __shared__ int count;

    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1); // [plain_and_atomic]
    y[threadIdx.x] = count;
}

static void a_plain_read_beside_atomics(void **)
{
    plain_and_atomic_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(
        cudaErrorLaunchFailure, "plain_and_atomic",
        "thread (1,0,0) of block (0,0,0) updates atomically 4 bytes of 'count' at byte 0 (of 4) that thread (0,0,0) "
        "read");
}

static __global__ void broadcast_race_kernel(int *y)
{
    __shared__ int word;

    if (threadIdx.x == 0)
        word = 1;
    __syncthreads();
    y[threadIdx.x] = word;
    if (threadIdx.x == 40)
        word = 2; // [broadcast_race]
}

static void writing_what_many_read(void **)
{
    broadcast_race_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "broadcast_race",
                 "thread (40,0,0) of block (0,0,0) writes 4 bytes of 'word' at byte 0 (of 4) that");
}

static __global__ void bytes_kernel(int *y)
{
    __shared__ unsigned char bytes[4];

    if (threadIdx.x == 0) {
        bytes[0] = 1;
        bytes[3] = 2;
    }
    __shfl_sync(FULL_MASK, 0, 0);
    if (threadIdx.x == 1)
        y[1] = bytes[0]; // [bytes]
}

static void the_first_of_several_bytes(void **)
{
    bytes_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "bytes",
                 "shared memory race: thread (1,0,0) of block (0,0,0) reads 1 byte of 'bytes' at byte 0 (of 4) that "
                 "thread (0,0,0) wrote");
}

/* --- races in global memory --------------------------------------------------------------------------------------- */

static __global__ void blocks_race_kernel(int *y)
{
    y[0] = blockIdx.x; // [blocks_race]
}

static void two_blocks_write_one_word(void **)
{
    blocks_race_kernel<<<dim3(2, 2), 1>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "blocks_race",
                 "global memory race: thread (0,0,0) of block (1,0,0) writes 4 bytes at byte 0 of an allocation of "
                 "16384 bytes that thread (0,0,0) of block "
                 "(0,0,0) wrote");
    blocks_race_kernel<<<dim3(2, 2), 1>>>(device_y);
    EXPECT_FAULT(
        cudaErrorLaunchFailure, "blocks_race",
        "and blocks are not ordered; try: check the indices: two blocks store to the same element; if each element "
        "should have one writer, an index (past the end of a row, it falls into the next row) or a count that it "
        "depends on is wrong; if both should write, two launches, or a store by one of them only");
}

static __global__ void blocks_read_kernel(const int *x, int *y)
{
    if (blockIdx.x == 0)
        y[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (blockIdx.x == 1)
        y[100 + threadIdx.x] = y[threadIdx.x]; // [blocks_read]
}

static void reading_what_another_block_wrote(void **)
{
    blocks_read_kernel<<<2, 32>>>(device_x, device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "blocks_read", "blocks are not ordered");
}

static __global__ void lane_reads_kernel(int *y)
{
    y[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 31)
        y[40] = y[0]; // [lane_reads]
}

static void reading_what_another_lane_wrote(void **)
{
    lane_reads_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "lane_reads",
                 "global memory race: thread (31,0,0) of block (0,0,0) reads 4 bytes at byte 0 of an allocation of "
                 "16384 bytes that thread (0,0,0) wrote");
}

static __global__ void neighbours_kernel(const int *x, int *y)
{
    __shared__ int words[65];

    words[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 0)
        words[64] = 0;
    __syncthreads();
    const int next = words[threadIdx.x + 1]; // [neighbour_read]
    words[threadIdx.x] += next;              // [neighbour_written]
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x];
}

/** Tests a word that the writing thread also reads, in the line that writes the word. */
static void reading_what_another_thread_writes_later(void **)
{
    char other[64];

    neighbours_kernel<<<1, 64>>>(device_x, device_y);
    snprintf(other, sizeof other, "read at :%d", line_marked(__FILE__, "neighbour_read"));
    EXPECT_FAULT(cudaErrorLaunchFailure, "neighbour_written", other);
}

/* --- addresses ---------------------------------------------------------------------------------------------------- */

static __global__ void uninitialised_kernel(int *y)
{
    __shared__ int words[64];

    if (threadIdx.x < 40)
        words[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x]; // [uninitialised]
}

static void unwritten_shared_memory(void **)
{
    uninitialised_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(
        cudaErrorLaunchFailure, "uninitialised",
        "uninitialised shared memory: thread (40,0,0) of block (0,0,0) reads 4 bytes of 'words' at byte 160 (of 256) "
        "that no thread");
}

static __global__ void stale_kernel(int *y)
{
    __shared__ int word;

    if (blockIdx.x == 0)
        word = y[9];
    y[blockIdx.x] = word; // [stale]
}

static void shared_memory_of_the_block_before(void **)
{
    stale_kernel<<<2, 1>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "stale",
                 "thread (0,0,0) of block (1,0,0) reads 4 bytes of 'word' at byte 0 (of 4) that no thread");
}

static __global__ void stale_half_kernel(int *y)
{
    __shared__ int word;
    volatile short *halves = (volatile short *)&word;

    if (blockIdx.x == 0)
        word = y[9];
    halves[0] = 1;
    y[blockIdx.x] = halves[1]; // [stale_half]
}

static void half_a_word_of_the_block_before(void **)
{
    stale_half_kernel<<<2, 1>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "stale_half",
                 "thread (0,0,0) of block (1,0,0) reads 2 bytes of 'word' at byte 2 (of 4) that no thread");
}

static __global__ void offset_kernel(const int *x, int *y, int offset)
{
    y[threadIdx.x] = x[(int)threadIdx.x + offset]; // [offset_read]
}

static __global__ void write_offset_kernel(unsigned char *y, int offset)
{
    y[(int)threadIdx.x + offset] = 1; // [offset_write]
}

/* clang makes the allocation the last instruction of its function, so that its line is unknown. */
#ifdef __clang__
#define ALLOCATION_LINE "program"
#else
#define ALLOCATION_LINE "simt_test.h:"
#endif

static void out_of_bounds(void **)
{
    offset_kernel<<<1, 32>>>(device_x, device_y, WORDS - 31);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read",
                 "out-of-bounds global access: thread (31,0,0) of block (0,0,0) reads 4 bytes right past the end of an "
                 "allocation of 16384 bytes, made at " ALLOCATION_LINE);
    offset_kernel<<<1, 32>>>(device_x, device_y, WORDS - 31);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read",
                 "as in if (i < n); or, if the index should be in bounds, check how it is computed; or a larger "
                 "allocation: cudaMalloc() counts bytes, n * sizeof(int) for n ints");
    offset_kernel<<<1, 32>>>(device_x, device_y, -1);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read", "thread (0,0,0)");

    unsigned char *odd = NULL;

    assert_int_equal(cudaMalloc(&odd, 33), cudaSuccess);
    write_offset_kernel<<<1, 32>>>(odd, 1);
    expect_success();
    write_offset_kernel<<<1, 32>>>(odd, 2);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_write", "thread (31,0,0) of block (0,0,0) writes 1 byte right past");
    assert_int_equal(cudaFree(odd), cudaSuccess);
    write_offset_kernel<<<1, 32>>>(odd, 0);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_write", "that has been freed");
}

/**
 * Tests guard bands around an array: they belong to the allocation, but messages give offsets from the start of the
 * array.
 */
static void an_array_between_guard_bands(void **)
{
    int *words = NULL;

    assert_int_equal(cudaMalloc(&words, 232 * sizeof *words), cudaSuccess);
    assert_int_equal(cudaMemset(words, 0, 232 * sizeof *words), cudaSuccess);
    simt_register_array_bounds(words + 100, 32 * sizeof *words, "words");
    offset_kernel<<<1, 32>>>(words, device_y, 100);
    expect_success();
    offset_kernel<<<1, 32>>>(words, device_y, 99);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read",
                 "thread (0,0,0) of block (0,0,0) reads 4 bytes that begin 4 bytes before 'words', which has 128 "
                 "bytes; try: an index below 0? In C, -1 % n is -1, not n - 1; check how the index is computed");
    offset_kernel<<<1, 32>>>(words, device_y, 101);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read",
                 "reads 4 bytes right past the end of 'words', which has 128 bytes");
    offset_kernel<<<1, 1>>>(words, device_y, 140);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read", "reads 4 bytes that begin 32 bytes past the end of 'words'");
    assert_int_equal(cudaFree(words), cudaSuccess);
    offset_kernel<<<1, 32>>>(words, device_y, 100);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read", "in 'words', which has 128 bytes and has been freed");
}

static void pointers_that_are_not_to_device_memory(void **)
{
    int *host = (int *)calloc(32, sizeof *host);

    offset_kernel<<<1, 32>>>(NULL, device_y, 3);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read", "null pointer");
    assert_non_null(host);
    offset_kernel<<<1, 32>>>(host, device_y, 0);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_read", "not device memory");
    write_offset_kernel<<<1, 32>>>((unsigned char *)host, 0);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_write", "not device memory");
    assert_int_equal(host[0], 0);
    free(host);
    write_offset_kernel<<<1, 32>>>((unsigned char *)"a string", 0);
    EXPECT_FAULT(cudaErrorIllegalAddress, "offset_write", "read-only");
}

static __constant__ int constants[4];

static __global__ void constant_kernel(int *y)
{
    y[threadIdx.x] = constants[threadIdx.x];
    constants[threadIdx.x] = 1; // [constant]
}

static void writing_constants(void **)
{
    constant_kernel<<<1, 4>>>(device_y);
    EXPECT_FAULT(cudaErrorIllegalAddress, "constant", "__constant__");
}

static __constant__ const int fixed_constants[4] = {1, 2, 3, 4};

static void copying_to_constants(void **)
{
    const int words[4] = {};

    assert_int_equal(cudaMemcpyToSymbol(fixed_constants, words, sizeof words), cudaErrorInvalidSymbol);
    assert_non_null(strstr(simt_fault_message(), "a variable that is const"));
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidSymbol);
}

static __global__ void misaligned_kernel(const char *x, int *y)
{
    y[threadIdx.x] = *(const int *)(x + threadIdx.x); // [misaligned]
}

static void misaligned_addresses(void **)
{
    misaligned_kernel<<<1, 4>>>((const char *)device_x, device_y);
    EXPECT_FAULT(cudaErrorMisalignedAddress, "misaligned", "thread (1,0,0)");
}

static __global__ void dynamic_kernel(int *y)
{
    extern __shared__ int dynamic[];

    dynamic[threadIdx.x] = 1; // [dynamic]
    y[threadIdx.x] = dynamic[threadIdx.x];
}

static void beyond_dynamic_shared_memory(void **)
{
    dynamic_kernel<<<1, 64, 256>>>(device_y);
    expect_success();
    dynamic_kernel<<<1, 64, 252>>>(device_y);
    EXPECT_FAULT(
        cudaErrorIllegalAddress, "dynamic",
        "thread (63,0,0) of block (0,0,0) writes 4 bytes at byte 252, beyond the 252 dynamic bytes of the launch at :");
}

static __global__ void beside_kernel(int *y, int index, bool store)
{
    __shared__ int sums[32];
    __shared__ int beside[32];

    sums[threadIdx.x] = 1;
    beside[threadIdx.x] = 2;
    if (threadIdx.x == 7 && store)
        sums[index] = 3; // [beside_store]
    if (threadIdx.x == 9 && !store)
        y[0] = sums[index]; // [beside_load]
    y[threadIdx.x] = sums[threadIdx.x] + beside[threadIdx.x];
}

static void past_the_end_of_a_shared_array(void **)
{
    beside_kernel<<<2, 32>>>(device_y, 32, true);
    EXPECT_FAULT(cudaErrorIllegalAddress, "beside_store",
                 "out-of-bounds shared access: thread (7,0,0) of block (0,0,0) writes 4 bytes right past the end of "
                 "'sums', which has 128 bytes");
    beside_kernel<<<2, 32>>>(device_y, 33, true);
    EXPECT_FAULT(cudaErrorIllegalAddress, "beside_store",
                 "writes 4 bytes that begin 4 bytes past the end of 'sums', which has 128");
    beside_kernel<<<2, 32>>>(device_y, 32, false);
    EXPECT_FAULT(cudaErrorIllegalAddress, "beside_load",
                 "thread (9,0,0) of block (0,0,0) reads 4 bytes right past the end of 'sums', which has 128 bytes");
    /* Index 15000 is beyond all variables, where dynamic shared memory would begin if the launch had any. */
    beside_kernel<<<2, 32>>>(device_y, 15000, true);
    EXPECT_FAULT(cudaErrorIllegalAddress, "beside_store", "out-of-bounds shared access: thread (7,0,0)");
}

static void before_the_beginning_of_a_shared_array(void **)
{
    beside_kernel<<<1, 32>>>(device_y, -1, true);
    EXPECT_FAULT(cudaErrorIllegalAddress, "beside_store",
                 "writes 4 bytes that begin 4 bytes before 'sums', which has 128 bytes");
    beside_kernel<<<1, 32>>>(device_y, -5000, true);
    EXPECT_FAULT(cudaErrorIllegalAddress, "beside_store",
                 "illegal address: thread (7,0,0) of block (0,0,0) writes 4 bytes before the first shared");
}

/* The arrays here and below are volatile, because clang would otherwise remove stores of known values. */
static __global__ void two_arrays_kernel(int *y, int first_index, int second_index)
{
    __shared__ volatile int first[32];
    __shared__ volatile int second[64];

    if (threadIdx.x == 0) {
        first[first_index] = 1;   // [first_store]
        second[second_index] = 2; // [second_store]
        y[0] = first[first_index] + second[second_index];
    }
}

static void from_one_shared_array_towards_another(void **)
{
    two_arrays_kernel<<<1, 32>>>(device_y, 31, 0);
    expect_success();
    two_arrays_kernel<<<1, 32>>>(device_y, 0, 63);
    expect_success();
    two_arrays_kernel<<<1, 32>>>(device_y, 32, 0);
    EXPECT_FAULT(cudaErrorIllegalAddress, "first_store", "right past the end of 'first', which has 128 bytes");
    two_arrays_kernel<<<1, 32>>>(device_y, 0, 64);
    EXPECT_FAULT(cudaErrorIllegalAddress, "second_store", "right past the end of 'second', which has 256 bytes");
    two_arrays_kernel<<<1, 32>>>(device_y, 0, -1);
    EXPECT_FAULT(cudaErrorIllegalAddress, "second_store", "4 bytes before 'second', which has 256 bytes");
}

static __global__ void halfway_kernel(int *y, int index)
{
    __shared__ __align__(8) volatile int odd[33];

    if (threadIdx.x == 0) {
        *(volatile long long *)&odd[index] = 1; // [halfway]
        y[0] = odd[index];
    }
}

static void half_past_the_end_of_a_shared_array(void **)
{
    halfway_kernel<<<1, 32>>>(device_y, 30);
    expect_success();
    halfway_kernel<<<1, 32>>>(device_y, 32);
    EXPECT_FAULT(cudaErrorIllegalAddress, "halfway", "writes 4 bytes right past the end of 'odd', which has 132 bytes");
}

template <typename T, int COUNT>
static __global__ void sized_kernel(T *y, int index)
{
    __shared__ volatile T sized[COUNT];

    if (threadIdx.x == 0) {
        sized[index] = (T)(index + 1); // [sized]
        y[0] = sized[index];
    }
}

static void past_the_end_of_a_template_s_array(void **)
{
    sized_kernel<int, 64><<<1, 32>>>(device_y, 63);
    expect_success();
    sized_kernel<short, 64><<<1, 32>>>((short *)device_y, 63);
    expect_success();
    sized_kernel<double, 64><<<1, 32>>>((double *)device_y, 63);
    expect_success();
    sized_kernel<int, 64><<<1, 32>>>(device_y, 64);
    EXPECT_FAULT(cudaErrorIllegalAddress, "sized", "writes 4 bytes right past the end of 'sized', which has 256 bytes");
    sized_kernel<short, 64><<<1, 32>>>((short *)device_y, 64);
    EXPECT_FAULT(cudaErrorIllegalAddress, "sized", "writes 2 bytes right past the end of 'sized', which has 128 bytes");
    sized_kernel<double, 64><<<1, 32>>>((double *)device_y, 64);
    EXPECT_FAULT(cudaErrorIllegalAddress, "sized", "writes 4 bytes right past the end of 'sized', which has 512 bytes");
}

static __global__ void atomic_past_kernel(int index)
{
    __shared__ int counts[32];

    counts[threadIdx.x] = 0;
    __syncwarp();
    if (threadIdx.x == 3)
        atomicAdd(&counts[index], 1); // [atomic_past]
}

static void an_atomic_past_the_end_of_a_shared_array(void **)
{
    atomic_past_kernel<<<1, 32>>>(31);
    expect_success();
    atomic_past_kernel<<<1, 32>>>(32);
    EXPECT_FAULT(cudaErrorIllegalAddress, "atomic_past",
                 "thread (3,0,0) of block (0,0,0) updates atomically 4 bytes right past the end of 'counts'");
}

static __global__ void unwritten_index_kernel(int *y, int index, bool store)
{
    __shared__ int words[32];

    if (store)
        words[index] = 1; // [unwritten_store]
    else
        y[0] = words[0] + words[index]; // [unwritten_load]
}

static void past_the_end_after_unwritten_bytes(void **)
{
    unwritten_index_kernel<<<1, 1>>>(device_y, 32, false);
    EXPECT_FAULT(cudaErrorLaunchFailure, "unwritten_load",
                 "reads 4 bytes of 'words' at byte 0 (of 128) that no thread of the block has written");
    unwritten_index_kernel<<<1, 1>>>(device_y, 32, true);
    EXPECT_FAULT(cudaErrorIllegalAddress, "unwritten_store", "right past the end of 'words', which has 128 bytes");
}

static __global__ void odd_sizes_kernel(int *y)
{
    __shared__ volatile unsigned char bytes[30];
    __shared__ volatile bool flag;
    __shared__ volatile short halves[3], more[5];
    __shared__ volatile struct {
        char c;
        double d;
    } both[2];

    bytes[29] = 1;
    halves[2] = 2;
    more[4] = 3;
    both[1].d = 4;
    both[1].c = 5;
    flag = true;
    y[0] = bytes[29] + halves[2] + more[4] + (int)both[1].d + both[1].c + flag;
}

static void the_last_element_of_a_shared_array(void **)
{
    odd_sizes_kernel<<<1, 1>>>(device_y);
    expect_success();
    halfway_kernel<<<1, 32>>>(device_y, 0);
    expect_success();
    atomic_past_kernel<<<1, 32>>>(0);
    expect_success();
}

/* --- barriers and collectives ------------------------------------------------------------------------------------- */

static __global__ void leave_before_barrier_kernel(int *y)
{
    if (threadIdx.x >= 40)
        return;
    __syncthreads(); // [leave_before_barrier]
    y[threadIdx.x] = 1;
}

static void a_barrier_that_some_threads_miss(void **)
{
    leave_before_barrier_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "leave_before_barrier",
                 "thread (0,0,0) of block (0,0,0) and 39 more wait at __syncthreads, but thread (40,0,0) and 23 more "
                 "have ended the kernel");
}

static __global__ void barrier_in_if_kernel(int *y)
{
    __shared__ int words[64];

    if (threadIdx.x < 32) {
        words[threadIdx.x] = threadIdx.x;
        __syncthreads(); // [barrier_in_if]
    }
    y[threadIdx.x] = words[threadIdx.x % 32]; // [after_barrier_in_if]
}

/** Tests that the missed barrier is reported, not the unordered reads that result from it. */
static void a_barrier_in_an_if(void **)
{
    char where[64];

    barrier_in_if_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "barrier_in_if",
                 "thread (0,0,0) of block (0,0,0) and 31 more wait at __syncthreads, but thread (32,0,0) and 31 more "
                 "have ended the kernel");
    if (starts_with_location(simt_fault_message(), __FILE__)) {
        snprintf(where, sizeof where, " at :%d without it", line_marked(__FILE__, "after_barrier_in_if"));
        assert_non_null(strstr(simt_fault_message(), where));
    }
}

static __global__ void barrier_in_loop_kernel(int *y)
{
    __shared__ int words[64];

    words[threadIdx.x] = 1; // [race_before_barrier]
    for (unsigned i = 0; i <= threadIdx.x / 32; i++) {
        y[threadIdx.x] += words[63 - threadIdx.x];
        __syncthreads();
    }
}

/** Tests that a race before a barrier is reported, because the race may be why some threads miss the barrier. */
static void a_race_before_a_barrier_that_some_threads_miss(void **)
{
    barrier_in_loop_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "race_before_barrier", "shared memory race");
}

static __global__ void barrier_of_another_kernel(int *y)
{
    __shared__ int words[64];

    if (threadIdx.x >= 32) {
        words[threadIdx.x] = threadIdx.x;
        __syncthreads(); // [barrier_of_half]
    }
    y[threadIdx.x] = words[threadIdx.x | 32];
    __syncthreads(); // [barrier_of_all]
}

static void a_barrier_in_an_if_before_another(void **)
{
    barrier_of_another_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "barrier_of_half", "divergent barrier: thread (32,0,0) of block (0,0,0)");
}

static __global__ void two_barriers_kernel(int *y)
{
    if (threadIdx.x % 2) {
        y[threadIdx.x] = 1;
        __syncthreads(); // [odd_barrier]
    } else {
        y[threadIdx.x] = 2;
        __syncthreads(); // [even_barrier]
    }
}

static void threads_at_different_barriers(void **)
{
    char where[64];

    two_barriers_kernel<<<1, 64>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "odd_barrier", "divergent barrier: thread (1,0,0) of block (0,0,0)");
    if (starts_with_location(simt_fault_message(), __FILE__)) {
        snprintf(where, sizeof where, "thread (0,0,0) is at the one at :%d", line_marked(__FILE__, "even_barrier"));
        assert_non_null(strstr(simt_fault_message(), where));
    }
}

static __global__ void two_kinds_of_warps_kernel(int *y)
{
    if (threadIdx.x < 32) {
        y[threadIdx.x] = 1;
        __syncthreads(); // [barrier_of_some]
        return;
    }
    y[threadIdx.x] = 2;
    __syncthreads(); // [barrier_of_others]
}

/*
 * Tests warps at different barriers. A GPU would let the warps pass, because it counts arrivals, but CUDA does not
 * guarantee this, and the next change to either branch could break the kernel.
 */
static void warps_at_different_barriers(void **)
{
    char where[64];

    two_kinds_of_warps_kernel<<<1, 96>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "barrier_of_some", "divergent barrier: thread (0,0,0) of block (0,0,0)");
    if (starts_with_location(simt_fault_message(), __FILE__)) {
        snprintf(where, sizeof where, "thread (32,0,0) is at the one at :%d",
                 line_marked(__FILE__, "barrier_of_others"));
        assert_non_null(strstr(simt_fault_message(), where));
    }
}

template <int ROUNDS>
static inline __device__ void meet_often(int skipped)
{
#pragma GCC unroll 4
    for (int i = 0; i < ROUNDS + skipped; i++) {
        if (i >= skipped)
            __syncthreads();
    }
}

static __global__ void one_barrier_kernel(int *y)
{
    __shared__ int word;

    /* The call occurs once in the source but several times in the unrolled code; warps reach it in different rounds. */
    if (threadIdx.x == 0)
        word = 7;
    meet_often<5>(threadIdx.x / 32);
    meet_often<6>(0);
    y[threadIdx.x] = word;
}

static void copies_of_one_barrier_are_one(void **)
{
    one_barrier_kernel<<<1, 128>>>(device_y);
    expect_success();
}

static __global__ void own_mask_kernel(int *y)
{
    y[threadIdx.x] = __shfl_sync(0x0000fffeu, 1, 2); // [own_mask]
}

static void a_lane_not_in_its_own_mask(void **)
{
    own_mask_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "own_mask",
                 "lane not in its own mask: thread (0,0,0) of block (0,0,0) calls __shfl_sync with mask 0x0000fffe");
    assert_non_null(strstr(simt_fault_message(), "try: a mask with every lane that makes the call: 0xffffffff, "
                                                 "of whose result each lane may take only a part, or 0xffffu << "
                                                 "(lane & 16) for each half of a warp"));
}

static __global__ void outside_mask_kernel(int *y)
{
    if (threadIdx.x < 16)
        y[threadIdx.x] = __shfl_down_sync(0x0000ffffu, 1, 1); // [outside_mask]
}

static void a_shuffle_from_outside_the_mask(void **)
{
    outside_mask_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "outside_mask",
                 "shuffle from an absent lane: thread (15,0,0) of block (0,0,0) reads lane 16, which is not in the "
                 "mask 0x0000ffff, by __shfl_down_sync; try: let all lanes make the call, with a mask of all: a lane "
                 "without work should take part with a neutral value (0 for a sum)");
}

static __global__ void returned_kernel(int *y)
{
    if (threadIdx.x >= 16)
        return;
    y[threadIdx.x] = __shfl_down_sync(FULL_MASK, 1, 1); // [returned]
}

static __global__ void shuffle_in_an_if_kernel(int *y)
{
    if (threadIdx.x < 16)                                   // [bypassed]
        y[threadIdx.x] = __shfl_down_sync(FULL_MASK, 1, 1); // [in_an_if]
}

static void a_shuffle_from_a_lane_that_returned(void **)
{
    char text[80];

    shuffle_in_an_if_kernel<<<1, 32>>>(device_y);
    snprintf(text, sizeof text, "it did not enter the block that begins at :%d, and ended the kernel",
             line_marked(__FILE__, "bypassed"));
    EXPECT_FAULT(cudaErrorLaunchFailure, "in_an_if", text);
    returned_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "returned",
                 "reads lane 16 by __shfl_down_sync, which did not make this call: it skipped it and ended the kernel, "
                 "last seen at :");
    returned_kernel<<<1, 8>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "returned",
                 "thread (7,0,0) of block (0,0,0) reads lane 8 by __shfl_down_sync, which the block does not have");
}

static __global__ void half_shuffle_kernel(int *y)
{
    int value = threadIdx.x;

    if (threadIdx.x < 16)
        value = __shfl_xor_sync(FULL_MASK, value, 1); // [half_shuffle]
    else
        __syncthreads(); // [half_barrier]
    y[threadIdx.x] = value;
}

static void a_shuffle_that_waits_for_a_barrier(void **)
{
    half_shuffle_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(
        cudaErrorLaunchFailure, "half_shuffle",
        "deadlock: thread (0,0,0) of block (0,0,0) waits at __shfl_xor_sync with mask 0xffffffff for lane 16, thread "
        "(16,0,0), which waits at __syncthreads");
}

static __global__ void different_masks_kernel(int *y)
{
    if (threadIdx.x < 16)
        y[threadIdx.x] = __any_sync(FULL_MASK, 1); // [different_masks]
    else
        y[threadIdx.x] = __any_sync(0xffff0001u, 1);
}

static void lanes_that_disagree_on_the_mask(void **)
{
    different_masks_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "different_masks", "with mask 0xffff0001");
}

static __global__ void different_calls_kernel(int *y)
{
    if (threadIdx.x < 16)
        y[threadIdx.x] = __any_sync(FULL_MASK, 1); // [different_calls]
    else
        y[threadIdx.x] = __shfl_sync(FULL_MASK, 1, 0);
}

static void lanes_that_disagree_on_the_call(void **)
{
    different_calls_kernel<<<1, 32>>>(device_y);
    EXPECT_FAULT(cudaErrorLaunchFailure, "different_calls",
                 "deadlock: thread (0,0,0) of block (0,0,0) waits at __any_sync with mask 0xffffffff for lane 16, "
                 "thread (16,0,0), "
                 "which is at __shfl_sync");
}

static __global__ void width_kernel(int *y, int width)
{
    y[threadIdx.x] = __shfl_xor_sync(FULL_MASK, 1, 1, width); // [width]
}

static void a_width_that_is_no_power_of_two(void **)
{
    width_kernel<<<1, 32>>>(device_y, 12);
    EXPECT_FAULT(cudaErrorLaunchFailure, "width", "width 12");
}

/* --- endless loops, stack overflows, traps ------------------------------------------------------------------------ */

static __global__ void spin_kernel(volatile int *flag)
{
    while (*flag == 0) // [spin]
        ;
}

/** Deadlocks: each of two threads acquires one lock and waits for the other thread's lock. */
static __global__ void lock_kernel(int *locks)
{
    while (atomicCAS(&locks[threadIdx.x], 0, 1) != 0)
        ;
    __syncwarp();
    while (atomicCAS(&locks[1 - threadIdx.x], 0, 1) != 0) // [lock]
        ;
}

/**
 * Keeps thread 0 busy, without memory accesses, for so long that the other threads poll very often; thread 0 then
 * releases them.
 */
static __global__ void spin_beside_work_kernel(volatile int *flag, int *y)
{
    unsigned number = 1;

    if (threadIdx.x > 0) {
        while (flag[4] == 0)
            ;
        return;
    }
    for (int i = 0; i < 200000; i++)
        number = number * 5 % 1000003;
    y[0] = (int)number;
    __threadfence();
    atomicExch((int *)&flag[4], 1);
}

static __global__ void spin_without_memory_kernel(int *y, unsigned odd)
{
    while (odd % 2) // [spin_without_memory]
        odd = odd * 5 + 2;
    *y = (int)odd;
}

/** Loops without calling a hook: the rewriter does not mark loops in macros, and the loop accesses no memory. */
#define COUNT_FOR_EVER(count) \
    while (true)              \
    count++

static __global__ void spin_in_macro_kernel(unsigned count)
{
    (void)count;
    COUNT_FOR_EVER(count); // [spin_in_macro]
}

static constexpr __device__ unsigned next_even(unsigned odd)
{
    while (odd % 2)
        odd += 2;
    return odd;
}

static __global__ void spin_in_constexpr_kernel(int *y, unsigned odd)
{
    y[threadIdx.x] = (int)next_even(odd);
}

static void endless_loops_without_events(void **)
{
    assert_int_equal(setenv("SIMT_EVENT_LIMIT", "3000000", 1), 0);
    spin_in_macro_kernel<<<1, 64>>>(1);
    EXPECT_FAULT(cudaErrorLaunchTimeout, "spin_in_macro", "endless loop?");
    assert_non_null(strstr(simt_fault_message(), "without a load, a store or a branch"));
    spin_in_constexpr_kernel<<<1, 64>>>(device_y, 1);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchTimeout); /* reported at the loop's line or the next one */
    assert_non_null(strstr(simt_fault_message(), "without a load, a store or a branch"));
    assert_int_equal(unsetenv("SIMT_EVENT_LIMIT"), 0);
}

static __global__ void store_elsewhere_and_spin_kernel(int *flag)
{
    atomicExch(&flag[5], 1);
    while (((volatile int *)flag)[3] == 0) // [store_elsewhere_and_spin]
        ;
}

static void endless_loops(void **)
{
    int *flag = device_words(0);

    assert_int_equal(setenv("SIMT_EVENT_LIMIT", "3000000", 1), 0);
    spin_kernel<<<1, 64>>>(flag);
    EXPECT_FAULT(cudaErrorLaunchTimeout, "spin", "still polled here, for a value at byte ");
    spin_kernel<<<1, 64>>>(flag);
    EXPECT_FAULT(cudaErrorLaunchTimeout, "spin",
                 "waits for; the launch has written nothing in this array; try: check whether a thread reaches the "
                 "store for which this poll waits; some thread must write the value, by an atomic or with a fence, and "
                 "another block's value takes a cooperative launch; if the loop does end, the environment variable");
    store_elsewhere_and_spin_kernel<<<1, 1>>>(flag);
    EXPECT_FAULT(cudaErrorLaunchTimeout, "store_elsewhere_and_spin",
                 "; the nearest bytes of this array that the launch has written are at byte 20, written at :");
    lock_kernel<<<1, 2>>>(flag);
    EXPECT_FAULT(cudaErrorLaunchTimeout, "lock", "that changed nothing");
    spin_without_memory_kernel<<<1, 1>>>(device_y, 1);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchTimeout);
    assert_non_null(strstr(simt_fault_message(), "endless loop?"));
    assert_int_equal(setenv("SIMT_EVENT_LIMIT", "12000000", 1), 0); /* allows 3,000,000 polls */
    spin_beside_work_kernel<<<1, 64>>>(flag, device_y);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(unsetenv("SIMT_EVENT_LIMIT"), 0);
    assert_int_equal(cudaFree(flag), cudaSuccess);
}

static __device__ void recurse(int *y, volatile int depth)
{
    volatile char space[1000];

    space[depth % 1000] = 1;
    if (depth >= 0)
        recurse(y, depth + 1);
    y[threadIdx.x] = space[depth % 1000];
}

static __global__ void recursive_kernel(int *y, volatile int depth)
{
    recurse(y, depth);
}

static void a_stack_that_runs_over(void **)
{
    recursive_kernel<<<1, 32>>>(device_y, 0);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_non_null(strstr(simt_fault_message(), "stack overflow: thread (0,0,0) of block (0,0,0)"));
}

/** Uses a frame so large that it extends past the thread's stack, into another thread's stack or below all stacks. */
template <int BYTES>
static __device__ __noinline__ int large_frame(int at)
{
    volatile char space[BYTES];

    space[at] = 1;
    return space[at];
}

template <int BYTES>
static __global__ void large_frame_kernel(int *y, unsigned thread)
{
    if (threadIdx.x == thread)
        y[thread] = large_frame<BYTES>((int)threadIdx.x); /* with a known index, a compiler would shrink the array */
}

static void a_frame_larger_than_a_stack(void **)
{
    large_frame_kernel<500 * 1000><<<1, 32>>>(device_y, 0);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_non_null(strstr(simt_fault_message(), "stack overflow: thread (0,0,0) of block (0,0,0)"));
    large_frame_kernel<500 * 1000><<<1, 32>>>(device_y, 30);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_non_null(strstr(simt_fault_message(), "stack overflow: thread (30,0,0) of block (0,0,0)"));
    large_frame_kernel<4 * 1000 * 1000><<<1, 32>>>(device_y, 0); /* larger than the guard below the stacks */
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_non_null(strstr(simt_fault_message(), "stack overflow: thread (0,0,0) of block (0,0,0)"));
    large_frame_kernel<150 * 1000><<<1, 32>>>(device_y, 30);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static __global__ void trap_kernel(void)
{
    if (threadIdx.x == 5)
        __trap(); // [trap]
}

static __global__ void assert_kernel(int limit)
{
    assert((int)threadIdx.x < limit); // [assert]
}

static __global__ void divide_kernel(int *y, int divisor)
{
    y[threadIdx.x] = 7 / divisor; // [divide]
}

static void traps_assertions_and_divisions(void **)
{
    trap_kernel<<<1, 32>>>();
    EXPECT_FAULT(cudaErrorLaunchFailure, "trap", "thread (5,0,0) of block (0,0,0) executes __trap()");
    assert_kernel<<<1, 32>>>(9);
    EXPECT_FAULT(cudaErrorAssert, "assert", "thread (9,0,0) of block (0,0,0) fails assert((int)threadIdx.x < limit)");
#if defined __x86_64__
    divide_kernel<<<1, 32>>>(device_y, 0);
    EXPECT_FAULT(cudaErrorLaunchFailure, "divide", "division by zero");
#endif
    divide_kernel<<<1, 32>>>(device_y, 7);
    expect_success();
}

/* --- after a fault ------------------------------------------------------------------------------------------------ */

static void nothing_runs_until_the_error_is_read(void **)
{
    trap_kernel<<<1, 32>>>();
    offset_kernel<<<1, 32>>>(device_x, device_y, 50);
    assert_int_equal(cudaMemset(device_y, 0, 4), cudaErrorLaunchFailure);
    EXPECT_FAULT(cudaErrorLaunchFailure, "trap", "thread (5,0,0)");

    offset_kernel<<<1, 32>>>(device_x, device_y, 50);
    expect_success();
    const int *got = download_and_free_words(device_y);

    device_y = device_words(0);
    assert_int_equal(got[3], 53);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_barrier),
        cmocka_unit_test(reading_what_another_warp_wrote),
        cmocka_unit_test(two_threads_read_and_write_at_one_line),
        cmocka_unit_test(two_threads_write_one_word),
        cmocka_unit_test(a_loop_without_its_second_barrier),
        cmocka_unit_test(a_shuffle_orders_no_memory),
        cmocka_unit_test(a_syncwarp_of_other_lanes),
        cmocka_unit_test(a_plain_read_beside_atomics),
        cmocka_unit_test(writing_what_many_read),
        cmocka_unit_test(the_first_of_several_bytes),
        cmocka_unit_test(two_blocks_write_one_word),
        cmocka_unit_test(reading_what_another_block_wrote),
        cmocka_unit_test(reading_what_another_lane_wrote),
        cmocka_unit_test(unwritten_shared_memory),
        cmocka_unit_test(shared_memory_of_the_block_before),
        cmocka_unit_test(half_a_word_of_the_block_before),
        cmocka_unit_test(out_of_bounds),
        cmocka_unit_test(an_array_between_guard_bands),
        cmocka_unit_test(pointers_that_are_not_to_device_memory),
        cmocka_unit_test(writing_constants),
        cmocka_unit_test(copying_to_constants),
        cmocka_unit_test(misaligned_addresses),
        cmocka_unit_test(beyond_dynamic_shared_memory),
        cmocka_unit_test(past_the_end_of_a_shared_array),
        cmocka_unit_test(before_the_beginning_of_a_shared_array),
        cmocka_unit_test(from_one_shared_array_towards_another),
        cmocka_unit_test(half_past_the_end_of_a_shared_array),
        cmocka_unit_test(past_the_end_of_a_template_s_array),
        cmocka_unit_test(an_atomic_past_the_end_of_a_shared_array),
        cmocka_unit_test(past_the_end_after_unwritten_bytes),
        cmocka_unit_test(the_last_element_of_a_shared_array),
        cmocka_unit_test(a_barrier_that_some_threads_miss),
        cmocka_unit_test(a_barrier_in_an_if),
        cmocka_unit_test(a_race_before_a_barrier_that_some_threads_miss),
        cmocka_unit_test(a_barrier_in_an_if_before_another),
        cmocka_unit_test(threads_at_different_barriers),
        cmocka_unit_test(warps_at_different_barriers),
        cmocka_unit_test(copies_of_one_barrier_are_one),
        cmocka_unit_test(a_lane_not_in_its_own_mask),
        cmocka_unit_test(a_shuffle_from_outside_the_mask),
        cmocka_unit_test(a_shuffle_from_a_lane_that_returned),
        cmocka_unit_test(a_shuffle_that_waits_for_a_barrier),
        cmocka_unit_test(lanes_that_disagree_on_the_mask),
        cmocka_unit_test(lanes_that_disagree_on_the_call),
        cmocka_unit_test(a_width_that_is_no_power_of_two),
        cmocka_unit_test(reading_what_another_thread_writes_later),
        cmocka_unit_test(endless_loops),
        cmocka_unit_test(endless_loops_without_events),
        cmocka_unit_test(a_stack_that_runs_over),
        cmocka_unit_test(a_frame_larger_than_a_stack),
        cmocka_unit_test(traps_assertions_and_divisions),
        cmocka_unit_test(nothing_runs_until_the_error_is_read),
    };

    return cmocka_run_group_tests_name("refusals", tests, make_buffers, free_buffers);
}
