/**
 * @file test_faults.cu
 * @brief Tests faulty kernels and host programs of each class of fault: each fault is reported with its message at its
 * line, and later launches still work.
 *
 * FAULT(group, name, grid, block, text) is followed by the body of a kernel whose faulty line has the mark [name]; the
 * message must contain `text`. FAULT_LAUNCH(group, name, text) is followed by the body of a function that launches its
 * own kernel. Unless the fault ends the process, the test then launches a correct kernel, which must still run.
 */
#include "simt_test.h"

#include <algorithm>
#include <array>
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/tensor_core.cuh"

struct fault {
    const char *group;
    const char *name;
    const char *text;
    void (*run)(void);
};

enum { MAX_FAULTS = 500 };
static struct fault faults[MAX_FAULTS];
static int fault_count;

static int add_fault(const char *group, const char *name, const char *text, void (*run)(void))
{
    faults[fault_count++] = {group, name, text, run};
    return 0;
}

static void *kept[8];
static int kept_count;

static void keep(void *memory)
{
    kept[kept_count++] = memory;
}

static int *device_x; /* 0, 1, 2, and so on */
static int *device_y; /* zeros */

/* FAULT_LAUNCH begins a function that launches its own kernel; FAULT begins a kernel with the parameters x and y. */
#define FAULT_LAUNCH(group, name, text)                                        \
    static void name##_run(void);                                              \
    static const int name##_added = add_fault(group, #name, text, name##_run); \
    static void name##_run(void)
#define FAULT(group, name, grid, block, text)          \
    static __global__ void name(const int *x, int *y); \
    FAULT_LAUNCH(group, name, text)                    \
    {                                                  \
        (void)name##_added;                            \
        name<<<grid, block>>>(device_x, device_y);     \
    }                                                  \
    static __global__ void name([[maybe_unused]] const int *x, [[maybe_unused]] int *y)

/* --- calls of host functions -------------------------------------------------------------------------------------- */

static int twice(int value)
{
    return 2 * value;
}

template <class T>
T smallest(const T *values, int count)
{
    return count > 1 ? smallest(values + 1, count - 1) : values[0];
}

FAULT("host's", host_function, 1, 32,
      "calls twice(), which is a function of the host; try: __device__ before its definition")
{
    y[threadIdx.x] = twice(x[threadIdx.x]); // [host_function]
}

FAULT("host's", host_template, 1, 32, "calls smallest(), which is a function of the host")
{
    y[threadIdx.x] = smallest(x, 5) + // [host_template]
                     x[threadIdx.x];
}

/* --- atomics and plain accesses ----------------------------------------------------------------------------------- */

FAULT("atomics", set_then_add, 1, 64, "that thread (0,0,0) wrote")
{
    __shared__ int count;

    if (threadIdx.x == 0)
        count = 0;
    atomicAdd(&count, 1); // [set_then_add]
    __syncthreads();
    y[threadIdx.x] = count;
}

FAULT("atomics", set_between_adds, 1, 64, "wrote")
{
    __shared__ int count;

    atomicExch(&count, 0); // [set_between_adds]
    if (threadIdx.x == 5)
        count = 1;
    __syncthreads();
    y[threadIdx.x] = count;
}

FAULT("atomics", last_thread_reads_total, 1, 64, "updated atomically")
{
    __shared__ int total, done;

    if (threadIdx.x == 0)
        total = done = 0;
    __syncthreads();
    atomicAdd(&total, (int)threadIdx.x);
    if (atomicAdd(&done, 1) == 63)
        y[0] = total; // [last_thread_reads_total]
}

FAULT("atomics", last_block_reads_total, 8, 32, "updated atomically")
{
    atomicAdd(&y[0], x[threadIdx.x]);
    if (threadIdx.x == 31 && blockIdx.x == 7)
        y[2] = y[0]; // [last_block_reads_total]
}

FAULT("atomics", read_beside_own_add, 1, 64, "updated atomically")
{
    __shared__ int count;

    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    const int mine = atomicAdd(&count, 1);

    __syncwarp();
    if (threadIdx.x == 40)
        y[0] = mine + count; // [read_beside_own_add]
}

FAULT("atomics", slot_read_after_own_add, 1, 64, "; try: use the value that the atomic at :")
{
    __shared__ int next;

    if (threadIdx.x == 0)
        next = 0;
    __syncthreads();
    atomicAdd(&next, 1); // [slot_read_after_own_add]
    y[threadIdx.x] = next;
}

FAULT("atomics", slot_of_block_read_after_own_add, 4, 32, "blocks are not ordered; try: use the value that the atomic")
{
    if (threadIdx.x > 0)
        return;
    atomicAdd(&y[0], 1); // [slot_of_block_read_after_own_add]
    y[1 + blockIdx.x] = y[0];
}

FAULT("atomics", reset_by_first, 4, 32, "wrote")
{
    if (threadIdx.x == 0)
        y[blockIdx.x == 0 ? 0 : 1] = 0;
    atomicAdd(&y[0], 1); // [reset_by_first]
}

FAULT("atomics", atomics_of_two_sizes, 1, 32, "no barrier between; try: atomics of one size for both accesses")
{
    if (threadIdx.x == 0)
        atomicAdd((unsigned long long *)y, 1ull);
    if (threadIdx.x == 1)
        atomicAdd((unsigned *)y + 1, 1u); // [atomics_of_two_sizes]
}

/* --- elements smaller than 4 bytes -------------------------------------------------------------------------------- */

FAULT("small", bool_flags, 1, 64, "writes 1 byte")
{
    __shared__ bool flags[64];

    flags[threadIdx.x] = x[threadIdx.x] > 7; // [bool_flags]
    y[threadIdx.x] = flags[threadIdx.x ^ 1];
}

FAULT("small", char_after_neighbour, 1, 32, "reads 1 byte of 'bytes' at byte 0 (of 8) that thread (0,0,0) wrote")
{
    __shared__ unsigned char bytes[8];

    if (threadIdx.x < 4)
        bytes[threadIdx.x] = 1;
    if (threadIdx.x == 5)
        y[0] = bytes[0]; // [char_after_neighbour]
}

FAULT("small", half_neighbour, 1, 64, "2 bytes")
{
    __shared__ __half halves[64];

    halves[threadIdx.x] = __float2half((float)x[threadIdx.x]);
    __shfl_sync(0xffffffffu, 0, 0);
    y[threadIdx.x] = (int)__half2float(halves[threadIdx.x ^ 2]); // [half_neighbour]
}

FAULT("small", bfloat_reduction, 1, 64, "2 bytes")
{
    __shared__ __nv_bfloat16 sums[64];

    sums[threadIdx.x] = __float2bfloat16(1.0f);
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if ((int)threadIdx.x < step)
            sums[threadIdx.x] = __float2bfloat16(__bfloat162float(sums[threadIdx.x]) + // [bfloat_reduction]
                                                 __bfloat162float(sums[threadIdx.x + step]));
    }
    y[threadIdx.x] = (int)__bfloat162float(sums[0]);
}

FAULT("small", short_write_over, 1, 32,
      "writes 2 bytes of 'words' at byte 2 (of 8) that thread (1,0,0) has already read")
{
    __shared__ short words[4];

    if (threadIdx.x < 4)
        words[threadIdx.x] = (short)x[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 1)
        y[1] = words[0] + words[1];
    if (threadIdx.x == 2)
        y[2] = words[3];
    if (threadIdx.x == 3)
        words[1] = 5; // [short_write_over]
}

FAULT("small", pair_read_whole, 1, 32, "wrote")
{
    __shared__ __align__(4) short words[64];

    words[threadIdx.x] = (short)x[threadIdx.x];
    __syncwarp(threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u);
    if (threadIdx.x == 0)
        y[0] = *(const int *)&words[16]; // [pair_read_whole]
}

/* --- scopes and fences -------------------------------------------------------------------------------------------- */

FAULT("scopes", no_fence_of_writer, 2, 32,
      "and no pair of fences orders them; try: __threadfence() between the store at :")
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        y[1] = 42;
        atomicExch(&y[0], 1);
    } else if (atomicAdd(&y[0], 0) == 1) {
        __threadfence();
        y[2] = y[1]; // [no_fence_of_writer]
    }
}

FAULT("scopes", overwritten_before_all_have_read, 4, 32,
      "and nothing makes the write wait for the read; try: a counter that each block increases atomically, after its "
      "read")
{
    if (threadIdx.x != 0)
        return;
    y[1 + blockIdx.x] = y[0];
    __threadfence();
    atomicAdd(&y[5], 1);
    __threadfence();
    if (blockIdx.x == 2)
        y[0] = 7; // [overwritten_before_all_have_read]
    else
        y[6 + blockIdx.x] = y[0];
}

FAULT("scopes", overwritten_by_another_block, 2, 32, "and nothing makes the write wait for the read; try: two launches")
{
    if (blockIdx.x == 0)
        y[100 + threadIdx.x] = y[threadIdx.x];
    else
        y[threadIdx.x] = x[threadIdx.x]; // [overwritten_by_another_block]
}

FAULT("scopes", no_fence_of_reader, 2, 32, "and no pair of fences orders them")
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        y[1] = 42;
        __threadfence();
        atomicExch(&y[0], 1);
    } else if (atomicAdd(&y[0], 0) == 1) {
        y[2] = y[1]; // [no_fence_of_reader]
    }
}

FAULT("scopes", fence_after_flag, 2, 32, "and no pair of fences orders them")
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        y[1] = 42;
        atomicExch(&y[0], 1);
        __threadfence();
    } else if (atomicAdd(&y[0], 0) == 1) {
        __threadfence();
        y[2] = y[1]; // [fence_after_flag]
    }
}

FAULT("scopes", fence_of_block, 2, 32, "and no pair of fences orders them")
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        y[1] = 42;
        __threadfence_block();
        atomicExch(&y[0], 1);
    } else if (atomicAdd(&y[0], 0) == 1) {
        __threadfence();
        y[2] = y[1]; // [fence_of_block]
    }
}

FAULT("scopes", plain_store_of_a_flag, 1, 64, "__threadfence() and then atomicExch(), to store a value that other")
{
    volatile int *const flag = y;

    if (threadIdx.x > 0) {
        while (flag[0] == 0)
            ;
        return;
    }
    for (int i = 0; i < x[1000]; i++)
        y[1] += 1;
    flag[0] = 1; // [plain_store_of_a_flag]
}

FAULT("scopes", plain_store_of_another_block_s_flag, 2, 1, "nothing orders them; try: __threadfence() and then")
{
    volatile int *const flag = y;

    if (blockIdx.x == 0)
        flag[0] = 1;
    while (flag[0] == 0) // [plain_store_of_another_block_s_flag]
        ;
}

FAULT("scopes", no_fence_of_last_block, 4, 32,
      ", before the data are read; if they announce data of other threads, or other threads use the data, also")
{
    __shared__ bool is_last;

    if (threadIdx.x == 0)
        y[1 + blockIdx.x] = x[blockIdx.x];
    if (threadIdx.x == 0)
        is_last = atomicAdd(&y[0], 1) == (int)gridDim.x - 1;
    __syncthreads();
    if (is_last && threadIdx.x < gridDim.x)
        y[10 + threadIdx.x] = y[1 + threadIdx.x]; // [no_fence_of_last_block]
}

FAULT("scopes", another_flag, 2, 32, "and blocks are not ordered")
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        y[1] = 42;
        __threadfence();
        atomicExch(&y[0], 1);
    } else {
        atomicAdd(&y[3], 1);
        __threadfence();
        y[2] = y[1]; // [another_flag]
    }
}

FAULT("scopes", block_atomics, 4, 32, "reaches its block only")
{
    atomicAdd_block(&y[0], x[1]); // [block_atomics]
}

FAULT("scopes", block_and_grid_atomics, 4, 32, "reaches its block only")
{
    if (blockIdx.x == 0)
        atomicMax_block(&y[0], (int)threadIdx.x);
    else
        atomicMax(&y[0], (int)threadIdx.x); // [block_and_grid_atomics]
}

FAULT("scopes", global_fence_shared_race, 1, 64, "shared memory race")
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x]; // [global_fence_shared_race]
    __threadfence();
    atomicAdd(&y[0], 1);
    y[1 + threadIdx.x] = words[threadIdx.x ^ 32];
}

FAULT("scopes", partial_syncwarp_members, 1, 32, "wrote")
{
    __shared__ int words[32];

    words[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 8)
        __syncwarp(0xffu);
    y[threadIdx.x] = words[(threadIdx.x + 1) % 8 + threadIdx.x / 8 * 0]; // [partial_syncwarp_members]
}

FAULT("scopes", partial_syncwarp_readers, 1, 32, "read")
{
    __shared__ int word;

    if (threadIdx.x == 0)
        word = x[3];
    __syncwarp();
    y[threadIdx.x] = word;
    if (threadIdx.x < 4) {
        __syncwarp(0xfu);
        if (threadIdx.x == 1)
            word = 2; // [partial_syncwarp_readers]
    }
}

FAULT("scopes", volatile_is_no_barrier, 1, 32, "shared memory race")
{
    __shared__ volatile int words[64];

    words[threadIdx.x] = x[threadIdx.x]; // [volatile_is_no_barrier]
    words[threadIdx.x + 32] = 0;
    words[threadIdx.x] += words[threadIdx.x + 16];
    y[threadIdx.x] = words[threadIdx.x];
}

FAULT("scopes", lock_without_fences, 4, 32, "wrote")
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&y[0], 0, 1) != 0)
            ;
        y[1] += x[1]; // [lock_without_fences]
        atomicExch(&y[0], 0);
    }
}

FAULT("scopes", unlocked_by_a_store, 4, 32, "updates atomically")
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&y[0], 0, 1) != 0) // [unlocked_by_a_store]
            ;
        __threadfence();
        y[1] += x[1];
        __threadfence();
        y[0] = 0;
    }
}

FAULT("scopes", volatile_flag_without_fence, 2, 32, "global memory race")
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        y[1] = x[1];
        *(volatile int *)&y[0] = 1;
    } else if (*(volatile int *)&y[0] == 1) { // [volatile_flag_without_fence]
        y[2] = y[1];
    }
}

FAULT("scopes", fence_for_the_wrong_block, 3, 32, "wrote")
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        y[1] = x[1];
        __threadfence();
        atomicExch(&y[0], 1);
    } else if (blockIdx.x == 1) {
        if (atomicAdd(&y[0], 0) == 1) {
            y[5] = 1;
            __threadfence_block();
            atomicExch(&y[3], 1);
        }
    } else if (atomicAdd(&y[3], 0) == 1) {
        __threadfence();
        y[2] = y[5]; // [fence_for_the_wrong_block]
    }
}

FAULT("scopes", flag_in_shared_memory, 1, 64, "wrote")
{
    __shared__ int flag, word;

    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        word = x[1];
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32 && atomicAdd(&flag, 0) == 1) {
        y[0] = word; // [flag_in_shared_memory]
    }
}

FAULT("scopes", add_beside_plain_add, 2, 32, "wrote")
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        y[0] += 1;
    if (blockIdx.x == 1)
        atomicAdd(&y[0], x[1]); // [add_beside_plain_add]
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static int host_words[64];
int host_scale = 3;
static __device__ int device_words_32[32];
static __device__ int device_other[32];
static __constant__ int constant_words[16];
static __constant__ int constant_other[16];

FAULT("memory", host_variable, 1, 32, "a variable of the host")
{
    y[threadIdx.x] = x[threadIdx.x] * host_scale; // [host_variable]
}

static __global__ void copy_kernel(const int *from, int *to)
{
    to[threadIdx.x] = from[threadIdx.x]; // [host_array] [host_heap] [freed] [freed_and_reused] [host_target]
}

FAULT_LAUNCH("memory", host_array, "a variable of the host")
{
    (void)host_array_added;
    copy_kernel<<<1, 32>>>(host_words, device_y);
}

FAULT_LAUNCH("memory", host_target, "a variable of the host")
{
    (void)host_target_added;
    copy_kernel<<<1, 32>>>(device_x, host_words);
}

static const int host_constant_words[32] = {1, 2, 3};

static __global__ void copy_constants_kernel(const int *from, int *to)
{
    to[threadIdx.x] = from[threadIdx.x]; // [host_constant]
}

FAULT_LAUNCH("memory", host_constant, "reads a constant of the host")
{
    (void)host_constant_added;
    copy_constants_kernel<<<1, 32>>>(host_constant_words, device_y);
}

struct labelled {
    int number;
    const char *label;
};

static __global__ void copy_label_kernel(labelled one, int *to)
{
    to[threadIdx.x] = one.label[threadIdx.x]; // [host_literal]
}

FAULT_LAUNCH("memory", host_literal, "reads a constant of the host")
{
    (void)host_literal_added;
    copy_label_kernel<<<1, 4>>>(labelled{1, "abc"}, device_y);
}

FAULT("memory", cached_local_load, 1, 32,
      "uses a local variable or a parameter by __ldcg(), which is for global memory")
{
    int words[4] = {x[0], x[1], x[2], x[3]};

    y[threadIdx.x] = __ldcg(&words[x[1]]); // [cached_local_load]
}

FAULT("memory", cached_shared_store, 1, 32, "uses shared memory by __stcs()")
{
    __shared__ int words[32];

    __stcs(&words[threadIdx.x], x[threadIdx.x]); // [cached_shared_store]
    y[threadIdx.x] = words[threadIdx.x];
}

FAULT_LAUNCH("memory", host_heap, "not device memory")
{
    int *words = (int *)calloc(64, sizeof *words);

    (void)host_heap_added;
    copy_kernel<<<1, 32>>>(words, device_y);
    free(words);
}

static __global__ void pitch_in_elements_kernel(float *rows, size_t pitch)
{
    rows[threadIdx.y * pitch + threadIdx.x] = 1; // [pitch_in_elements]
}

FAULT_LAUNCH(
    "memory", pitch_in_elements,
    "; try: count the pitch, 512, in bytes, not in elements, as in (float *)((char *)p + y * pitch) for row y; if "
    "it is right, compare the index with the width and the height before the access")
{
    float *rows;
    size_t pitch;

    (void)pitch_in_elements_added;
    cudaMallocPitch(&rows, &pitch, 100, 4);
    keep(rows);
    pitch_in_elements_kernel<<<1, dim3(25, 4)>>>(rows, pitch);
}

static __global__ void far_pitch_in_elements_kernel(const unsigned char *rows, size_t pitch, int *y)
{
    y[threadIdx.x] = rows[pitch << 20]; // [far_pitch_in_elements]
}

FAULT_LAUNCH("memory", far_pitch_in_elements,
             ", count its pitch, 512, in bytes, not in elements: row y begins at (float *)((char *)p + y * pitch); ")
{
    unsigned char *rows;
    size_t pitch;

    (void)far_pitch_in_elements_added;
    cudaMallocPitch(&rows, &pitch, 100, 4);
    keep(rows);
    far_pitch_in_elements_kernel<<<1, 32>>>(rows, pitch, device_y);
}

/* The compiler stores one byte, of which the message must not say "1 bytes". */
static __global__ void byte_of_the_host_kernel(unsigned char *byte)
{
    *byte = 1; // [byte_of_the_host]
}

FAULT_LAUNCH("memory", byte_of_the_host,
             "writes 1 byte at an address that is not device memory (a host pointer?); try: pass memory from "
             "cudaMalloc(), and cudaMemcpy() to it; cudaMemcpy() of a structure does not convert the pointers in it")
{
    unsigned char *const byte = (unsigned char *)malloc(1 << 20);

    (void)byte_of_the_host_added;
    byte_of_the_host_kernel<<<1, 1>>>(byte);
    free(byte);
}

FAULT_LAUNCH("memory", freed, "use after free: thread (0,0,0) of block (0,0,0) reads 4 bytes in an allocation of")
{
    int *words = device_iota();

    (void)freed_added;
    cudaFree(words);
    copy_kernel<<<1, 32>>>(words, device_y);
}

FAULT_LAUNCH("memory", freed_and_reused, "freed")
{
    int *words = device_iota();

    (void)freed_and_reused_added;
    cudaFree(words);
    int *others = device_iota();
    copy_kernel<<<1, 32>>>(words, device_y);
    cudaFree(others);
}

FAULT("memory", device_array_end, 1, 64, "past the end of 'device_words_32'")
{
    device_words_32[threadIdx.x] = x[threadIdx.x]; // [device_array_end]
    device_other[threadIdx.x % 32] = y[threadIdx.x];
}

FAULT("memory", device_array_begin, 1, 32, "before 'device_other'")
{
    y[threadIdx.x] = x[0] + device_other[(int)threadIdx.x - 1]; // [device_array_begin]
}

FAULT("memory", device_array_misaligned, 1, 32, "misaligned")
{
    y[threadIdx.x] = *(const int *)((const char *)device_words_32 + 2 + threadIdx.x); // [device_array_misaligned]
}

static __constant__ const int constant_table_words[4] = {1, 2, 3, 4};
static const __device__ int device_table_words[4] = {1, 2, 3, 4};

static __device__ __noinline__ int read_word(const int *words, int i)
{
    return words[i]; // [past_constant_table] [past_device_table]
}

FAULT("memory", past_constant_table, 1, 32, "past the end of 'constant_table_words'")
{
    y[threadIdx.x] = read_word(constant_table_words, (int)threadIdx.x + 1);
}

FAULT("memory", past_device_table, 1, 32, "past the end of 'device_table_words'")
{
    y[threadIdx.x] = read_word(device_table_words, (int)threadIdx.x + 1);
}

FAULT("memory", constant_array_end, 1, 32, "past the end of 'constant_words'")
{
    y[threadIdx.x] = constant_words[threadIdx.x] + constant_other[0]; // [constant_array_end]
}

FAULT("memory", constant_atomic, 1, 32, "__constant__")
{
    y[0] = x[0];
    atomicAdd(&constant_words[0], 1); // [constant_atomic]
}

FAULT("memory", local_atomic, 1, 32, "local memory")
{
    int mine = x[threadIdx.x];

    atomicAdd(&mine, 1); // [local_atomic]
    y[threadIdx.x] = mine;
}

FAULT("memory", another_stack, 1, 32, "local memory of another thread")
{
    __shared__ const int *pointer;
    volatile int mine = x[threadIdx.x];

    if (threadIdx.x == 0)
        pointer = (const int *)&mine;
    __syncthreads();
    y[threadIdx.x] = *pointer; // [another_stack]
    __syncthreads();
}

/* --- several barriers on one line --------------------------------------------------------------------------------- */

#define BARRIER_OF_EITHER(first) (first ? __syncthreads() : __syncthreads())

FAULT("barriers", two_barriers_in_a_line, 1, 64, "is at one __syncthreads of this line while thread")
{
    y[threadIdx.x] = x[threadIdx.x];
    BARRIER_OF_EITHER(threadIdx.x < 32); // [two_barriers_in_a_line]
}

FAULT("barriers", two_counts_in_a_line, 1, 64, "is at the __syncthreads_count of this line while thread")
{
    // clang-format off
    if (x[threadIdx.x] % 2) y[0] = __syncthreads_count(1); else y[1] = __syncthreads_or(1); // [two_counts_in_a_line]
    // clang-format on
}

/* --- memory that kernels allocate --------------------------------------------------------------------------------- */

FAULT("heap", heap_past_end, 1, 32, "right past the end of an allocation of 12 bytes, made at :")
{
    int *const words = (int *)malloc(3 * sizeof(int));

    for (int i = 0; i < x[4]; i++)
        words[i] = i; // [heap_past_end]
    y[threadIdx.x] = words[x[1]];
}

FAULT("heap", heap_before_it_is_written, 1, 32, "unwritten bytes, 4 bytes into an allocation of 8 bytes")
{
    int *const words = (int *)malloc(2 * sizeof(int));

    words[0] = 1;
    y[threadIdx.x] = words[x[1]]; // [heap_before_it_is_written]
}

FAULT("heap", heap_after_free, 1, 32, "in an allocation of 64 bytes that has been freed at :")
{
    int *const words = (int *)malloc(64);

    words[1] = 1;
    free(words);
    y[threadIdx.x] = words[1]; // [heap_after_free]
}

FAULT("heap", heap_freed_twice, 1, 32, "frees a pointer that is in an allocation of 64 bytes that has been freed; it")
{
    void *const words = malloc(64);

    free(words);
    free(words); // [heap_freed_twice]
}

static __device__ __noinline__ int *four_words()
{
    return new int[4];
}

FAULT("heap", heap_array_deleted, 1, 32, "frees by delete memory from new[]; try: delete[]")
{
    int *const words = four_words();

    y[threadIdx.x] = x[0];
    delete words; // [heap_array_deleted]
}

struct with_destructor {
    int word;
    __device__ ~with_destructor()
    {
        word = 0;
    }
};

static __device__ __noinline__ with_destructor *four_objects()
{
    return new with_destructor[4];
}

FAULT("heap", heap_objects_deleted, 1, 1, "frees by delete memory from new[]; try: delete[]")
{
    with_destructor *const objects = four_objects();

    y[threadIdx.x] = x[0];
    delete objects; // [heap_objects_deleted]
}

FAULT("heap", heap_objects_freed, 1, 1, "frees by free() memory from new[]; try: delete[]")
{
    with_destructor *const objects = four_objects();

    y[threadIdx.x] = x[0];
    free((void *)objects); // [heap_objects_freed]
}

FAULT("heap", heap_deleted_by_free, 1, 32, "frees by free() memory from new; try: delete")
{
    y[threadIdx.x] = x[0];
    free(new int); // [heap_deleted_by_free]
}

FAULT("heap", freed_as_heap, 1, 32, "frees memory that no kernel has allocated")
{
    free(y); // [freed_as_heap]
}

FAULT("heap", heap_race, 1, 64, "global memory race")
{
    __shared__ int *words;

    if (threadIdx.x == 0)
        words = (int *)malloc(64 * sizeof *words);
    __syncthreads();
    words[threadIdx.x] = x[threadIdx.x]; // [heap_race]
    y[threadIdx.x] = words[threadIdx.x ^ 32];
}

FAULT("heap", heap_read_while_freed, 1, 64,
      "frees 4 bytes at byte 0 of an allocation of 64 bytes that thread (0,0,0) read at")
{
    __shared__ int *words;

    if (threadIdx.x == 0)
        *(words = (int *)malloc(64)) = x[1];
    __syncthreads();
    if (threadIdx.x == 0)
        y[0] = *words;
    if (threadIdx.x == 63)
        free(words); // [heap_read_while_freed]
}

FAULT("heap", heap_deleted_while_written, 1, 64,
      "frees 2 bytes at byte 8 of an allocation of 10 bytes that thread (2,0,0) wrote at")
{
    __shared__ short *words;

    if (threadIdx.x == 0)
        words = new short[5];
    __syncthreads();
    if (threadIdx.x == 2)
        words[4] = (short)x[1];
    if (threadIdx.x == 40)
        delete[] words; // [heap_deleted_while_written]
    y[threadIdx.x] = x[threadIdx.x];
}

FAULT("heap", heap_when_it_is_full, 1, 1, "null pointer")
{
    *(int *)malloc(100000000) = 1; // [heap_when_it_is_full]
}

/* --- indices outside an array ------------------------------------------------------------------------------------- */

struct top4 {
    int count;
    float value[4];
    int id[4];
};

/* The methods are declared before the members that they use. */
struct window {
    __device__ int get(int i) const
    {
        return first[i]; // [member_by_its_name]
    }
    __device__ void set(int i, int value);
    int first[4], second[4];
};
__device__ void window::set(int i, int value)
{
    second[i] = value; // [member_behind_the_class]
}

/* --- structures passed by value ----------------------------------------------------------------------------------- */

struct point {
    int x, y, z;
};

static __device__ __noinline__ int sum_of(point a, int scale = 1)
{
    return (a.x + a.y + a.z) * scale;
}

static __device__ __noinline__ point operator+(point a, point b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

struct larger_x {
    __device__ __noinline__ point operator()(point a, point b) const
    {
        return a.x > b.x ? a : b;
    }
};

struct segment {
    int length;

    __device__ __noinline__ segment(point from, point to) : length(to.x - from.x + to.y - from.y)
    {
    }
};

#define POINT_FAULT(name) FAULT("by value", name, 1, 32, "thread (0,0,0) of block (0,0,0) reads 4 bytes")

POINT_FAULT(argument_of_function)
{
    const point *const points = (const point *)x;

    y[threadIdx.x] = sum_of(points[threadIdx.x], 2) + sum_of({1, 2, 3});
    y[threadIdx.x] = sum_of(points[(int)threadIdx.x - 1], // [argument_of_function]
                            2);
}

POINT_FAULT(argument_of_constructor)
{
    const point *points = (const point *)x;
    segment line(points[0], points[(int)threadIdx.x - 1]); // [argument_of_constructor]

    y[threadIdx.x] = line.length;
}

POINT_FAULT(argument_of_functor)
{
    const point *points = (const point *)x;
    const larger_x larger;

    y[threadIdx.x] = larger(points[0], points[(int)threadIdx.x - 1]).y; // [argument_of_functor]
}

POINT_FAULT(operand_of_operator)
{
    const point *points = (const point *)x;

    y[threadIdx.x] = (points[0] + points[(int)threadIdx.x - 1]).z; // [operand_of_operator]
}

FAULT("by value", argument_in_a_race, 1, 64, "shared memory race")
{
    __shared__ point points[64];
    const unsigned t = threadIdx.x;

    points[t] = {x[t], x[t], x[t]}; // [argument_in_a_race]
    y[t] = sum_of(points[t ^ 32]);
}

/* The rewriter checks indices only if it sees the kernel's qualifier, so no macro may declare these kernels. */
#define INDEX_FAULT(name, text)              \
    static void name##_run(void)             \
    {                                        \
        name<<<1, 32>>>(device_x, device_y); \
    }                                        \
    [[maybe_unused]] static const int name##_added = add_fault("indices", #name, text, name##_run);

static __global__ void local_array_load([[maybe_unused]] const int *x, int *y)
{
    int mine[8] = {1, 2, 3};
    int beside[8] = {x[0], x[1]};

    y[threadIdx.x] = mine[threadIdx.x] + beside[threadIdx.x % 8]; // [local_array_load]
}

INDEX_FAULT(local_array_load, "out-of-bounds local access: thread (8,0,0) of block (0,0,0) has an index outside")

static __global__ void local_array_store([[maybe_unused]] const int *x, int *y)
{
    int mine[8];

    for (int i = 0; i < 8; i++)
        mine[i] = x[i];
    mine[threadIdx.x + 1] = 5; // [local_array_store]
    y[threadIdx.x] = mine[x[threadIdx.x] % 8];
}

static __global__ void element_of_atomic([[maybe_unused]] const int *x, [[maybe_unused]] int *y)
{
    __shared__ int bins[2][16];

    bins[threadIdx.x / 16][threadIdx.x % 16] = 0;
    __syncwarp();
    atomicAdd(&bins[0][threadIdx.x], 1); // [element_of_atomic]
}

INDEX_FAULT(element_of_atomic, "out-of-bounds shared access: thread (16,0,0) of block (0,0,0) has an index outside")

INDEX_FAULT(local_array_store, "out-of-bounds local access: thread (7,0,0)")

static __global__ void literal_load(const int *, int *y)
{
    y[threadIdx.x] = "0123456789abcdef"[threadIdx.x]; // [literal_load]
}

#ifndef __clang__
static constexpr int host_primes[] = {2, 3, 5, 7};
#endif

INDEX_FAULT(literal_load, "out-of-bounds local access: thread (17,0,0)")

#ifndef __clang__
static __global__ void host_constants(const int *, int *y)
{
    y[threadIdx.x] = host_primes[2];
    y[threadIdx.x] = host_primes[threadIdx.x % 4]; // [host_constants]
}

INDEX_FAULT(host_constants, "thread (0,0,0) of block (0,0,0) reads a constant of the host")
#endif

static __global__ void loop_to_the_end([[maybe_unused]] const int *x, int *y)
{
    float best[4];

    for (int i = 0; i <= x[4]; i++)
        best[i] = (float)x[i]; // [loop_to_the_end]
    y[threadIdx.x] = (int)best[x[threadIdx.x] % 4];
}

INDEX_FAULT(loop_to_the_end, "out-of-bounds local access")

static __global__ void negative_index([[maybe_unused]] const int *x, int *y)
{
    short before[16], mine[16];

    for (int i = 0; i < 16; i++)
        before[i] = mine[i] = (short)x[i];
    y[threadIdx.x] = before[threadIdx.x % 16] + mine[(int)threadIdx.x % 16 - 1]; // [negative_index]
}

INDEX_FAULT(negative_index, "out-of-bounds local access: thread (0,0,0)")

static __global__ void member_array([[maybe_unused]] const int *x, int *y)
{
    top4 best = {4, {1, 2, 3, 4}, {5, 6, 7, 8}};

    y[threadIdx.x] = (int)best.value[best.count + x[threadIdx.x] % 2]; // [member_array]
}

INDEX_FAULT(member_array, "out-of-bounds local access: thread (0,0,0)")

static __global__ void row_of_local([[maybe_unused]] const int *x, int *y)
{
    int tile[4][4] = {{x[0]}, {x[1]}};

    y[threadIdx.x] = tile[threadIdx.x % 3][threadIdx.x % 5]; // [row_of_local]
}

INDEX_FAULT(row_of_local, "out-of-bounds local access")

static __global__ void array_whose_address_is_known([[maybe_unused]] const int *x, int *y)
{
    int mine[8] = {};
    int *const somewhere = mine + x[3];

    *somewhere = 4;
    y[threadIdx.x] = mine[x[threadIdx.x]]; // [array_whose_address_is_known]
}

INDEX_FAULT(array_whose_address_is_known, "out-of-bounds local access")

template <int N>
static __device__ int sum_to(const int (&mine)[N], int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++)
        sum += mine[i]; // [reference_to_array]
    return sum;
}

static __global__ void reference_to_array([[maybe_unused]] const int *x, int *y)
{
    const int mine[3] = {x[0], x[1], x[2]};

    y[threadIdx.x] = sum_to(mine, x[4]);
}

INDEX_FAULT(reference_to_array, "out-of-bounds local access")

static __global__ void unsigned_wraps([[maybe_unused]] const int *x, int *y)
{
    double mine[2] = {1.0, x[1] * 2.0};

    y[threadIdx.x] = (int)mine[threadIdx.x - 1u]; // [unsigned_wraps]
}

INDEX_FAULT(unsigned_wraps, "has an index outside its array")

static __global__ void local_address_past_end([[maybe_unused]] const int *x, int *y)
{
    int mine[4] = {x[0]};
    int *const far = &mine[x[threadIdx.x] + 5];

    *far = 1; // [local_address_past_end]
    y[threadIdx.x] = mine[0];
}

INDEX_FAULT(local_address_past_end, "out-of-bounds local access")

static __global__ void row_of_global([[maybe_unused]] const int *x, int *y)
{
    top4 *const best = (top4 *)y + 3;

    best->id[x[threadIdx.x] - 1] = 4; // [row_of_global]
}

INDEX_FAULT(row_of_global, "out-of-bounds global access: thread (0,0,0) of block (0,0,0) has an index outside")

static __global__ void row_of_shared([[maybe_unused]] const int *x, int *y)
{
    __shared__ int tile[4][32];

    for (int row = 0; row < 4; row++)
        tile[row][threadIdx.x] = x[row];
    __syncthreads();
    y[threadIdx.x] = tile[x[1]][threadIdx.x + 32]; // [row_of_shared]
}

INDEX_FAULT(row_of_shared, "out-of-bounds shared access: thread (0,0,0) of block (0,0,0) has an index outside")

static __global__ void into_another_shared_array([[maybe_unused]] const int *x, int *y)
{
    __shared__ int first[32], second[32];

    first[threadIdx.x] = 1;
    second[threadIdx.x] = 2;
    __syncthreads();
    y[threadIdx.x] = first[threadIdx.x + x[1]] + second[threadIdx.x]; // [into_another_shared_array]
}

INDEX_FAULT(into_another_shared_array, "out-of-bounds shared access")

static __global__ void member_by_its_name(const int *x, int *y)
{
    const window both = {{x[0]}, {x[1]}};

    y[threadIdx.x] = both.get(x[4]);
}

INDEX_FAULT(member_by_its_name, "out-of-bounds local access: thread (0,0,0) of block (0,0,0) has an index outside")

static __global__ void member_behind_the_class(const int *x, int *y)
{
    __shared__ window both[2];

    if (threadIdx.x == 0)
        both[0].set(x[4], 1);
    __syncthreads();
    y[threadIdx.x] = both[0].second[0];
}

INDEX_FAULT(member_behind_the_class, "out-of-bounds shared access: thread (0,0,0) of block (0,0,0) has an index")

static __constant__ int constant_rows[4][8];
static __device__ int device_rows[4][8];
static __shared__ int shared_rows[4][8];

static __global__ void row_of_constants(const int *x, int *y)
{
    y[threadIdx.x] = constant_rows[1][x[8]]; // [row_of_constants]
}

INDEX_FAULT(row_of_constants, "out-of-bounds constant access: thread (0,0,0) of block (0,0,0) has an index outside")

static __global__ void past_all_constant_rows(const int *x, int *y)
{
    y[threadIdx.x] = constant_rows[x[4]][0]; // [past_all_constant_rows]
}

INDEX_FAULT(past_all_constant_rows, "reads 4 bytes right past the end of 'constant_rows', which has 128 bytes")

static __global__ void row_of_a_device_array(const int *x, int *y)
{
    device_rows[2][x[threadIdx.x] - 1] = 1; // [row_of_a_device_array]
    y[threadIdx.x] = device_rows[0][0];
}

INDEX_FAULT(row_of_a_device_array, "out-of-bounds global access: thread (0,0,0) of block (0,0,0) has an index outside")

static __global__ void row_of_a_shared_array(const int *x, int *y)
{
    shared_rows[0][x[threadIdx.x] % 9] = 1; // [row_of_a_shared_array]
    __syncwarp();
    y[threadIdx.x] = shared_rows[0][0];
}

INDEX_FAULT(row_of_a_shared_array, "out-of-bounds shared access: thread (8,0,0) of block (0,0,0) has an index outside")

static __global__ void reference_in_a_loop(const int *x, int *y)
{
    int tile[2][4] = {{x[0]}, {x[1]}};
    int sum = 0;

    for (auto &row : tile)
        sum += row[x[4]]; // [reference_in_a_loop]
    y[threadIdx.x] = sum;
}

INDEX_FAULT(reference_in_a_loop, "out-of-bounds local access: thread (0,0,0) of block (0,0,0) has an index outside")

template <class T>
static __device__ int last_of(const T &items, int i)
{
    return items[i]; // [array_of_the_library] [array_of_a_named_type]
}

static __global__ void array_of_the_library(const int *x, int *y)
{
    const std::array<int, 4> mine = {x[0], x[1], x[2], x[3]};

    y[threadIdx.x] = last_of(mine, x[4]);
}

INDEX_FAULT(array_of_the_library, "out-of-bounds local access: thread (0,0,0) of block (0,0,0) has an index outside")

static __global__ void array_of_a_named_type(const int *x, int *y)
{
    using row = int[4];
    const row mine = {x[0], x[1], x[2], x[3]};

    y[threadIdx.x] = last_of(mine, x[4]);
}

INDEX_FAULT(array_of_a_named_type, "out-of-bounds local access: thread (0,0,0) of block (0,0,0) has an index outside")

struct row_of_vectors { // [structure_misaligned by clang] [structure_misaligned_in_function by clang]
    float4 low, high;
};

FAULT("memory", row_of_vectors_misaligned, 1, 1,
      "; try: a vector of 8 bytes (byte 200 is a multiple of 8); or rows padded to a multiple of 16 bytes")
{
    *(float4 *)y = *(const float4 *)((const float *)x + 50); // [row_of_vectors_misaligned]
}

FAULT("memory", vector_misaligned, 1, 1,
      "writes 16 bytes of 'rows' at byte 132 (of 528), at an address that is not a multiple of 16 (it ends in 0x")
{
    __shared__ __align__(16) float rows[4 * 33];

    *(float4 *)&rows[33] = make_float4(1, 2, 3, 4); // [vector_misaligned]
    y[0] = (int)rows[x[33]];
}

FAULT("memory", structure_misaligned, 1, 1, "misaligned address")
{
    *(row_of_vectors *)(y + 1) = *(const row_of_vectors *)x; // [structure_misaligned]
}

static __device__ void put(row_of_vectors *to, row_of_vectors what)
{
    *to = what; // [structure_misaligned_in_function]
}

FAULT("memory", structure_misaligned_in_function, 1, 1, "misaligned address")
{
    put((row_of_vectors *)(y + 2), *(const row_of_vectors *)x);
}

FAULT("memory", member_misaligned, 1, 1, "misaligned address")
{
    ((row_of_vectors *)(y + 2))->high.x = 1;
    ((row_of_vectors *)(y + 2))->high = make_float4(1, 2, 3, 4); // [member_misaligned]
    (void)x;
}

static __device__ __noinline__ int word_in(const unsigned char *bytes)
{
    return *(const int *)bytes; // [local_load_misaligned]
}

static __device__ __noinline__ void put_word(unsigned char *bytes, int word)
{
    *(int *)bytes = word; // [local_store_misaligned]
}

static __device__ __noinline__ double pair_at(const float *first)
{
    return *(const double *)first; // [local_pair_misaligned]
}

static __device__ __noinline__ int half_word(const unsigned char *bytes)
{
    return *(const volatile short *)bytes; // [local_half_word_misaligned]
}

FAULT("memory", local_load_misaligned, 1, 32, "reads 4 bytes at an address that is not a multiple of 4")
{
    unsigned char bytes[16];

    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)x[i];
    y[threadIdx.x] = word_in(bytes + x[5]);
}

FAULT("memory", local_store_misaligned, 1, 32, "writes 4 bytes at an address that is not a multiple of 4")
{
    unsigned char bytes[16] = {};

    put_word(bytes + x[3], 1);
    y[threadIdx.x] = bytes[x[3]];
}

FAULT("memory", local_pair_misaligned, 1, 32, "reads 8 bytes at an address that is not a multiple of 8")
{
    float words[8];

    for (int i = 0; i < 8; i++)
        words[i] = (float)x[i];
    y[threadIdx.x] = (int)pair_at(words + x[1]);
}

FAULT("memory", local_half_word_misaligned, 1, 32, "reads 2 bytes at an address that is not a multiple of 2")
{
    unsigned char bytes[16];

    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)x[i];
    y[threadIdx.x] = half_word(bytes + x[5]);
}

/* gcc can tell while compiling that these addresses are not aligned. */
static __device__ void write_pair_behind_header(int value)
{
    __shared__ __align__(16) unsigned char header_and_pairs[128];
    double *const pairs = (double *)(header_and_pairs + sizeof(int));

    if (threadIdx.x == 0)
        pairs[0] = value; // [shared_offset_misaligned]
}

static __global__ void dynamic_offset_misaligned_kernel(const int *x)
{
    extern __shared__ unsigned char header_and_doubles[];

    *(double *)(header_and_doubles + x[1] * 4) = 1; // [dynamic_offset_misaligned]
}

FAULT_LAUNCH("memory", dynamic_offset_misaligned,
             "; try: an offset in the extern __shared__ array that is a multiple of 8, and __align__(8) before the")
{
    (void)dynamic_offset_misaligned_added;
    dynamic_offset_misaligned_kernel<<<1, 1, 64>>>(device_x);
}

FAULT("memory", shared_offset_misaligned, 1, 32, "not a multiple of 8")
{
    write_pair_behind_header(x[0]);
    y[threadIdx.x] = 0;
}

struct tagged_text {
    char tag, text[7];
};

static __device__ void write_text_as_word(int value)
{
    __shared__ __align__(16) tagged_text tagged;

    if (threadIdx.x == 0)
        *(volatile int *)tagged.text = value; // [shared_member_misaligned]
}

FAULT("memory", shared_member_misaligned, 1, 32, "not a multiple of 4")
{
    write_text_as_word(x[0]);
    y[threadIdx.x] = 0;
}

static __device__ void write_vector_at_element_1(float value)
{
    __shared__ __align__(16) float elements[8];

    if (threadIdx.x == 0)
        *reinterpret_cast<float4 *>(&elements[1]) = make_float4(value, 0, 0, 0); // [shared_element_misaligned]
}

FAULT("memory", shared_element_misaligned, 1, 32, "not a multiple of 16")
{
    write_vector_at_element_1((float)x[0]);
    y[threadIdx.x] = 0;
}

#ifndef __clang__ /* which copies a parameter to local memory without a call that the simulator sees */
struct sixteen_bytes {
    unsigned char bytes[16];
};

static __global__ void parameter_kernel(sixteen_bytes parameter, int *y)
{
    y[threadIdx.x] = *(const int *)(parameter.bytes + 1 + threadIdx.x / 64); // [parameter_misaligned]
}

FAULT_LAUNCH("memory", parameter_misaligned, "misaligned address")
{
    (void)parameter_misaligned_added;
    parameter_kernel<<<1, 32>>>({}, device_y);
}
#endif

static __device__ int *local_of[32];

static __global__ void publish_local(const int *x)
{
    int words[4] = {x[0], x[1], x[2], x[3]};

    local_of[threadIdx.x] = words;
}

static __global__ void read_local(int *y)
{
    y[threadIdx.x] = local_of[threadIdx.x][2]; // [local_of_an_earlier_launch]
}

FAULT_LAUNCH("memory", local_of_an_earlier_launch, "reads a pointer to local memory that an earlier launch has written")
{
    (void)local_of_an_earlier_launch_added;
    publish_local<<<1, 32>>>(device_x);
    read_local<<<1, 32>>>(device_y);
}

FAULT("memory", local_of_another_block, 2, 32, "reads a pointer to local memory that another block has written")
{
    int words[4] = {x[0], x[1], x[2], x[3]};

    if (blockIdx.x == 0) {
        atomicExch((unsigned long long *)&local_of[threadIdx.x], (unsigned long long)words);
        __threadfence();
        atomicExch(&y[threadIdx.x], 1);
    } else {
        while (atomicAdd(&y[threadIdx.x], 0) == 0)
            ;
        __threadfence();
        y[threadIdx.x] = *local_of[threadIdx.x]; // [local_of_another_block]
    }
}

FAULT("memory", memset_past_end, 1, 1, "out-of-bounds")
{
    memset(y + 4000, x[0], 4096); // [memset_past_end]
}

FAULT("memory", library_function, 1, 1, "an allocation of 16384 bytes")
{
    std::sort(y + 4000, y + 4110 + x[0]); // [library_function]
}

FAULT("memory", memcpy_race, 2, 1, "wrote")
{
    memcpy(y, x, 64); // [memcpy_race]
}

/* --- unwritten memory --------------------------------------------------------------------------------------------- */

static const char first_word[] = "reads 4 unwritten bytes, 0 bytes into an allocation of 256 bytes";
static const char second_half[] = "thread (16,0,0) of block (0,0,0) reads 4 unwritten bytes, 64 bytes into";

/** Allocates uninitialised device memory, which `refused` frees at the end of each test. */
static void *fresh(size_t bytes)
{
    void *memory = NULL;

    assert_int_equal(cudaMalloc(&memory, bytes), cudaSuccess);
    keep(memory);
    return memory;
}

static __global__ void half_kernel(int *to)
{
    if (threadIdx.x < 16)
        to[threadIdx.x] = 1;
}

/* Each test has its own kernel, so that the fault is reported at the marked line of that kernel. */
#define READS(name) static __global__ void name##_reads(const int *from, int *to)

READS(nothing)
{
    to[threadIdx.x] = from[threadIdx.x]; // [nothing]
}

FAULT_LAUNCH("unwritten", nothing, first_word)
{
    (void)nothing_added;
    nothing_reads<<<1, 32>>>((int *)fresh(256), device_y);
}

READS(after_short_copy)
{
    to[threadIdx.x] = from[threadIdx.x]; // [after_short_copy]
}

FAULT_LAUNCH("unwritten", after_short_copy,
             "reads 4 unwritten bytes, 64 bytes into an allocation of 256 bytes; cudaMemcpy() at :")
{
    int *words = (int *)fresh(256);

    (void)after_short_copy_added;
    cudaMemcpy(words, host_words, 64, cudaMemcpyHostToDevice);
    after_short_copy_reads<<<1, 32>>>(words, device_y);
}

/* Stores follow the copy's bytes up to the first unwritten ones. */
static __global__ void doubles_words(int *words)
{
    words[threadIdx.x] +=
        words[threadIdx.x]; // [after_short_copy_and_stores] [short_copy_or_store] [short_memset_to_check]
}

static void double_fresh_words(bool is_copy)
{
    int *words = (int *)fresh(256);

    if (is_copy)
        for (int i = 0; i < 4; i++)
            cudaMemcpy(words + 4 * i, host_words, 16, cudaMemcpyHostToDevice);
    else
        cudaMemset(words, 0, 63);
    doubles_words<<<1, 64>>>(words);
}

FAULT_LAUNCH("unwritten", after_short_copy_and_stores, " wrote bytes 0 to 63 of this allocation, made at :")
{
    (void)after_short_copy_and_stores_added;
    double_fresh_words(true);
}

FAULT_LAUNCH(
    "unwritten", short_copy_or_store,
    "; try: check the size of what it wrote: cudaMemcpy() and cudaMemset() count bytes, n * sizeof(float) for n "
    "floats; or, if it is right, the index and the condition of the store at :")
{
    (void)short_copy_or_store_added;
    double_fresh_words(true);
}

FAULT_LAUNCH("unwritten", short_memset_to_check,
             "1 unwritten byte, 63 bytes into an allocation of 256 bytes; cudaMemset() at :")
{
    (void)short_memset_to_check_added;
    double_fresh_words(false);
}

READS(after_half)
{
    to[threadIdx.x] = from[threadIdx.x]; // [after_half]
}

FAULT_LAUNCH("unwritten", after_half, second_half)
{
    int *words = (int *)fresh(256);

    (void)after_half_added;
    half_kernel<<<1, 32>>>(words);
    after_half_reads<<<1, 32>>>(words, device_y);
}

READS(last_byte)
{
    to[threadIdx.x] = ((const unsigned char *)from)[threadIdx.x]; // [last_byte]
}

FAULT_LAUNCH("unwritten", last_byte, "thread (31,0,0) of block (0,0,0) reads 1 unwritten byte")
{
    int *words = (int *)fresh(256);

    (void)last_byte_added;
    cudaMemset(words, 0, 31);
    last_byte_reads<<<1, 32>>>(words, device_y);
}

READS(every_other_half)
{
    ((short *)to)[threadIdx.x * 2] = 1;
    __syncthreads();
    to[threadIdx.x + 32] = from[0] + to[threadIdx.x]; // [every_other_half]
}

FAULT_LAUNCH("unwritten", every_other_half, "reads 2 unwritten bytes, 2 bytes into")
{
    (void)every_other_half_added;
    every_other_half_reads<<<1, 32>>>(device_x, (int *)fresh(256));
}

READS(sum_from_nothing)
{
    atomicAdd(to, from[threadIdx.x]); // [sum_from_nothing]
}

FAULT_LAUNCH("unwritten", sum_from_nothing, first_word)
{
    (void)sum_from_nothing_added;
    sum_from_nothing_reads<<<1, 32>>>(device_x, (int *)fresh(256));
}

READS(handed_out_again)
{
    to[threadIdx.x] = from[threadIdx.x]; // [handed_out_again]
}

FAULT_LAUNCH("unwritten", handed_out_again, "reads 4 unwritten bytes")
{
    (void)handed_out_again_added;
    for (int i = 0; i < 100; i++)
        assert_int_equal(cudaFree(device_iota()), cudaSuccess);
    handed_out_again_reads<<<1, 32>>>((int *)fresh(sizeof(int[WORDS])), device_y);
}

READS(copied_unwritten)
{
    to[threadIdx.x] = from[threadIdx.x]; // [copied_unwritten]
}

FAULT_LAUNCH("unwritten", copied_unwritten, second_half)
{
    int *words = (int *)fresh(256);
    int *others = (int *)fresh(256);

    (void)copied_unwritten_added;
    cudaMemset(words, 0, 64);
    cudaMemcpy(others, words, 256, cudaMemcpyDeviceToDevice);
    copied_unwritten_reads<<<1, 32>>>(others, device_y);
}

READS(poisoned)
{
    to[threadIdx.x] = from[threadIdx.x]; // [poisoned]
}

FAULT_LAUNCH("unwritten", poisoned, "reads 4 unwritten bytes, 128 bytes into")
{
    int *words = (int *)fresh(256);

    (void)poisoned_added;
    cudaMemset(words, 0, 256);
    simt_mark_unwritten(words + 32, 128);
    cudaMemcpy(host_words, words, 256, cudaMemcpyDeviceToHost);
    poisoned_reads<<<1, 64>>>(words, device_y);
}

FAULT_LAUNCH("unwritten", copied_to_host, "copies 256 unwritten bytes to the host, from 0 bytes into")
{
    (void)copied_to_host_added;
    cudaMemcpy(host_words, fresh(256), 256, cudaMemcpyDeviceToHost); // [copied_to_host]
}

FAULT_LAUNCH("unwritten", half_copied_to_host, "copies 64 unwritten bytes to the host, from 64 bytes into")
{
    int *words = (int *)fresh(256);

    (void)half_copied_to_host_added;
    half_kernel<<<1, 32>>>(words);
    cudaMemcpyAsync(host_words, words, 128, cudaMemcpyDeviceToHost, 0); // [half_copied_to_host]
}

/* --- misuse of read-only loads ------------------------------------------------------------------------------------ */

FAULT("read_only", written_before, 1, 32, "reads by __ldg() 4 bytes that thread (0,0,0) of block (0,0,0) wrote")
{
    y[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x + 32] = __ldg(&y[threadIdx.x]); // [written_before]
}

FAULT("read_only", written_before_barrier, 1, 64,
      "reads by __ldg() 4 bytes that thread (32,0,0) of block (0,0,0) wrote")
{
    y[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x + 64] = __ldg(&y[threadIdx.x ^ 32]); // [written_before_barrier]
}

FAULT("read_only", added_before, 1, 32, "reads by __ldg() 4 bytes that thread")
{
    atomicAdd(&y[0], x[1]);
    __threadfence();
    __syncthreads();
    y[threadIdx.x + 32] = __ldg(&y[0]); // [added_before]
}

FAULT("read_only", released_by_another_block, 2, 1,
      "reads by __ldg() 4 bytes that thread (0,0,0) of block (0,0,0) wrote")
{
    if (blockIdx.x == 0) {
        y[0] = x[1];
        __threadfence();
        atomicExch(&y[1], 1);
    } else if (atomicAdd(&y[1], 0) == 1) {
        __threadfence();
        y[2] = __ldg(&y[0]); // [released_by_another_block]
    }
}

FAULT("read_only", in_device_variable, 1, 32, "reads by __ldg() 4 bytes that thread")
{
    device_words_32[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = __ldg(&device_words_32[31 - threadIdx.x]); // [in_device_variable]
}

FAULT("read_only", written_after, 1, 32, "writes 4 bytes that the same launch has read by __ldg()")
{
    const int mine = __ldg(&y[threadIdx.x]);

    __syncthreads();
    y[threadIdx.x] = mine + x[threadIdx.x]; // [written_after]
}

FAULT("read_only", of_shared_memory, 1, 32, "uses shared memory by __ldg(), which is for global memory")
{
    __shared__ int words[32];

    words[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = __ldg(&words[31 - threadIdx.x]); // [of_shared_memory]
}

FAULT("memory", product_overflows, 1, 32,
      " bytes before the first; try: compute the index in 64 bits, as in (size_t)row * pitch, if it is a "
      "product that exceeds an int; otherwise, compare the index")
{
    const unsigned row = 65536 + x[0], pitch = 32768;

    y[(int)(row * pitch)] = 1; // [product_overflows]
}

FAULT_LAUNCH("memory", freed_twice,
             "cudaFree: invalid argument: the pointer is in an allocation of 4096 bytes that has "
             "been freed at :")
{
    int *words;

    (void)freed_twice_added;
    cudaMalloc(&words, 4096);
    for (int i = 0; i < 2; i++)
        cudaFree(words); // [freed_twice]
}

FAULT_LAUNCH("memory", set_to_float,
             "cudaMemset: invalid argument: it sets every byte to an int: 1 becomes 0x01, and each float 0x01010101 "
             "(2.36943e-38), not 1; try: cudaMemcpy() from an array of the host, or a kernel that stores the value")
{
    (void)set_to_float_added;
    cudaMemset(device_y, 1.0f, 64); // [set_to_float]
}

FAULT_LAUNCH("memory", rows_set_to_double,
             "cudaMemset2D: invalid argument: it sets every byte to an int: -2.5 becomes 0xfe, and each float "
             "0xfefefefe (-1.69474e+38), not -2.5; try: ")
{
    (void)rows_set_to_double_added;
    cudaMemset2D(device_y, 64, -2.5, 64, 2); // [rows_set_to_double]
}

FAULT_LAUNCH("memory", set_to_infinity,
             "cudaMemsetAsync: invalid argument: it sets every byte to an int, which -inf is")
{
    (void)set_to_infinity_added;
    cudaMemsetAsync(device_y, -INFINITY, 64); // [set_to_infinity]
}

/* --- host accesses to device memory ------------------------------------------------------------------------------- */

#define HOST_FAULT(name, text)                                                  \
    static void name##_run(void);                                               \
    static const int name##_added = add_fault("host", #name, text, name##_run); \
    static void name##_run(void)

static volatile int seen;

HOST_FAULT(host_reads,
           "the host reads device memory, 20 bytes into an allocation of 16384 bytes; it has to be copied; try: "
           "cudaMemcpy() to an array of the host")
{
    (void)host_reads_added;
    seen = ((volatile int *)device_x)[5]; // [host_reads]
}

HOST_FAULT(host_writes,
           "it has to be copied; try: an array of the host and cudaMemcpy() from it, or cudaMallocManaged()")
{
    (void)host_writes_added;
    *(volatile int *)device_y = 1; // [host_writes]
}

HOST_FAULT(host_copies, "the host reads device memory, 0 bytes into")
{
    (void)host_copies_added;
    seen = (int)strnlen((const char *)device_x, 64); // [host_copies]
}

HOST_FAULT(host_after_launch, "the host reads device memory, 0 bytes into")
{
    (void)host_after_launch_added;
    copy_kernel<<<1, 32>>>(device_x, device_y);
    seen = *(volatile int *)device_y; // [host_after_launch]
}

HOST_FAULT(host_freed, "the host reads memory from CUDA, ")
{
    (void)host_freed_added;
    cudaFree(device_y);
    seen = *(volatile int *)device_y; // [host_freed]
}

/* The red zone of an allocation of whole pages begins at a page of its own, which the host may not access. */
HOST_FAULT(host_past_a_pinned_page,
           "out-of-bounds host access: the host writes 4 bytes right past the end of an allocation of 4096 bytes")
{
    (void)host_past_a_pinned_page_added;
    volatile int *pinned;

    cudaMallocHost((void **)&pinned, 4096);
    pinned[1024] = 1; // [host_past_a_pinned_page]
}

HOST_FAULT(host_past_managed_pages,
           "out-of-bounds host access: the host reads 4 bytes right past the end of an allocation of 8192 bytes")
{
    (void)host_past_managed_pages_added;
    volatile int *managed;

    cudaMallocManaged((void **)&managed, 8192);
    seen = managed[2048]; // [host_past_managed_pages]
}

HOST_FAULT(host_device_variable, "the host writes device memory, the variable 'device_other'")
{
    (void)host_device_variable_added;
    device_other[3] = 1; // [host_device_variable]
}

HOST_FAULT(host_constant_variable, "the host reads device memory, the variable 'constant_words'")
{
    (void)host_constant_variable_added;
    seen = constant_words[1]; // [host_constant_variable]
}

HOST_FAULT(copy_to_nowhere,
           "cudaMemcpy: illegal address: the destination is not memory of the host that can be written")
{
    (void)copy_to_nowhere_added;
    void *volatile nowhere = (void *)0x10000;

    cudaMemcpy(nowhere, device_x, 64, cudaMemcpyDeviceToHost); // [copy_to_nowhere]
}

HOST_FAULT(copy_from_nowhere, "cudaMemcpyToSymbol: illegal address: the source is not memory of the host that can be")
{
    (void)copy_from_nowhere_added;
    void *volatile nowhere = (void *)0x10000;

    cudaMemcpyToSymbol(device_other, nowhere, 4); // [copy_from_nowhere]
}

/* --- convergence -------------------------------------------------------------------------------------------------- */

FAULT("convergence", overlapping_masks, 1, 32,
      "in its mask 0xfffffff0 but whose last call had the mask 0x000fffff; try: ")
{
    const unsigned mask = threadIdx.x < 20 ? 0x000fffffu : 0xfffffff0u;
    const int largest = __reduce_max_sync(mask, x[threadIdx.x]); // [overlapping_masks]

    y[threadIdx.x] = largest;
}

FAULT("convergence", two_shuffles_meet, 1, 32, "divergent collective")
{
    int value = x[threadIdx.x];

    if (threadIdx.x < 16)
        value = __shfl_xor_sync(0xffffffffu, value, 1); // [two_shuffles_meet]
    else
        value = __shfl_xor_sync(0xffffffffu, value + 1, 1);
    y[threadIdx.x] = value;
}

FAULT("convergence", two_syncwarps_meet, 1, 32, "divergent collective")
{
    if (threadIdx.x % 2) {
        y[threadIdx.x] = x[threadIdx.x];
        __syncwarp(); // [two_syncwarps_meet]
    } else {
        __syncwarp();
        y[threadIdx.x] = x[threadIdx.x] + 1;
    }
}

FAULT("convergence", half_at_a_vote, 1, 32, "divergent collective")
{
    if (threadIdx.x < 16)
        y[threadIdx.x] = __any_sync(0xffffffffu, x[threadIdx.x] > 3); // [half_at_a_vote]
    else if (threadIdx.x < 20)
        y[threadIdx.x] = __any_sync(0xffffffffu, 0);
}

FAULT("convergence", half_at_a_shuffle_then_barrier, 1, 32,
      "; try: make the call in all lanes of the mask, before the if; keep its result")
{
    if (threadIdx.x < 16)
        y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1); // [half_at_a_shuffle_then_barrier]
    __syncthreads();
}

FAULT("convergence", half_at_a_syncwarp_then_barrier, 1, 32,
      "; try: move it out of the branch, so that all lanes of its mask reach it; it orders one warp only")
{
    if (threadIdx.x < 16)
        __syncwarp(); // [half_at_a_syncwarp_then_barrier]
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x];
}

FAULT("convergence", barrier_in_an_if_before_another, 1, 64,
      "divergent barrier: thread (0,0,0) of block (0,0,0) is at this __syncthreads while thread (32,0,0) is at the one")
{
    if (threadIdx.x < 32) {
        y[threadIdx.x] = x[threadIdx.x];
        __syncthreads(); // [barrier_in_an_if_before_another]
    }
    y[threadIdx.x + 64] = 1;
    __syncthreads();
}

FAULT("convergence", barrier_in_each_branch, 1, 64, "divergent barrier")
{
    if (threadIdx.x < 32) {
        y[threadIdx.x] = x[threadIdx.x];
        __syncthreads(); // [barrier_in_each_branch]
    } else {
        y[threadIdx.x] = x[threadIdx.x] + 1;
        __syncthreads();
    }
}

static __noinline__ __device__ void barrier_of_function(int *y, int value)
{
    y[threadIdx.x] = value;
    __syncthreads(); // [barrier_by_two_calls]
}

static inline __device__ void barrier_of_inline(int *y, int value)
{
    y[threadIdx.x] = value;
    __syncthreads(); // [barrier_by_two_inlined_calls]
}

static __noinline__ __device__ int shuffle_of_function(int value)
{
    return __shfl_xor_sync(0xffffffffu, value, 1); // [shuffle_by_two_calls]
}

static __noinline__ __device__ void inner_barrier(int *y)
{
    __syncthreads(); // [barrier_by_two_calls_further_out]
    y[threadIdx.x] = 1;
}

static __noinline__ __device__ void outer_barrier(int *y, int value)
{
    inner_barrier(y);
    y[threadIdx.x] += value;
}

static __device__ int sum_of_warp(const int *x, int i, int n)
{
    if (i >= n)
        return 0;
    return __shfl_xor_sync(0xffffffffu, x[i], 1); // [leaves_a_function_early]
}

FAULT("convergence", barrier_by_two_calls, 1, 64, "by the call at")
{
    if (x[threadIdx.x] % 2)
        barrier_of_function(y, 1);
    else
        barrier_of_function(y, 2);
}

FAULT("convergence", barrier_by_two_inlined_calls, 1, 64, "by the call at")
{
    if (x[threadIdx.x] % 2)
        barrier_of_inline(y, 1);
    else
        barrier_of_inline(y, 2);
}

FAULT("convergence", shuffle_by_two_calls, 1, 32, "by the call at")
{
    int value = x[threadIdx.x];

    if (threadIdx.x < 16)
        value = shuffle_of_function(value);
    else
        value = 3 * shuffle_of_function(value + 1);
    y[threadIdx.x] = value;
}

FAULT("convergence", barrier_by_two_calls_further_out, 1, 64, "by the call at")
{
    if (threadIdx.x < 32)
        outer_barrier(y, 1);
    else
        outer_barrier(y, 2);
}

FAULT("convergence", half_at_a_shuffle, 1, 32, "both go on")
{
    int value = x[threadIdx.x];

    if (threadIdx.x < 16)
        value = __shfl_xor_sync(0xffffffffu, value, 1); // [half_at_a_shuffle]
    y[threadIdx.x] = value;
}

FAULT("convergence", half_at_a_ballot_in_loop, 1, 32, "both go on")
{
    int found = 0;

    for (int i = (int)threadIdx.x; i < 48; i += 32)
        found += __ballot_sync(0xffffffffu, x[i] > 7) != 0; // [half_at_a_ballot_in_loop]
    y[threadIdx.x] = found;
}

FAULT("convergence", leaves_a_function_early, 1, 32, "both go on")
{
    y[threadIdx.x] = sum_of_warp(x, (int)threadIdx.x, 20);
}

FAULT("convergence", half_at_a_syncwarp, 1, 32, "both go on")
{
    __shared__ int words[32];

    words[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x % 2)
        __syncwarp(); // [half_at_a_syncwarp]
    atomicAdd(&y[0], words[threadIdx.x]);
}

FAULT("convergence", odd_lanes_vote_for_all, 1, 64, "both go on")
{
    if (threadIdx.x >= 32 && threadIdx.x % 2 && __all_sync(0xffffffffu, x[threadIdx.x] > 0)) // [odd_lanes_vote_for_all]
        y[100 + threadIdx.x] = 1;
    y[threadIdx.x] = y[threadIdx.x] + 1;
}

FAULT("convergence", barrier_after_return, 1, 64, "every thread of the block must reach it; try: do not return at :")
{
    if (x[threadIdx.x] >= 40)
        return;
    __syncthreads(); // [barrier_after_return]
    y[threadIdx.x] = 1;
}

/* The first warp skips the barrier, reads what no thread has written yet, and uses it as an index. */
FAULT("convergence", barrier_in_an_if_of_other_warps, 1, 128, "barrier that some threads miss: thread (32,0,0)")
{
    __shared__ int words[128];

    if (x[threadIdx.x] / 32 > 0) {
        words[threadIdx.x] = x[threadIdx.x];
        __syncthreads(); // [barrier_in_an_if_of_other_warps]
    }
    if (threadIdx.x < 32)
        y[words[127 - threadIdx.x] * 20] = 1;
}

FAULT("convergence", barrier_of_other_warps_missed, 1, 128, "and 31 more have gone on without it, now at :")
{
    __shared__ int words[128];

    if (x[threadIdx.x] / 32 > 0) {
        words[threadIdx.x] = x[threadIdx.x];
        __syncthreads(); // [barrier_of_other_warps_missed]
    }
    if (threadIdx.x < 32)
        y[words[127 - threadIdx.x] * 20] = 1;
}

/* Some lanes of the first warp fault; the others then wait for them at a collective. */
FAULT("convergence", barrier_missed_before_a_shuffle, 1, 128, "and 31 more have gone on without it, now at :")
{
    __shared__ int words[128];

    if (x[threadIdx.x] / 32 > 0) {
        words[threadIdx.x] = x[threadIdx.x];
        __syncthreads(); // [barrier_missed_before_a_shuffle]
    }
    if (threadIdx.x >= 32)
        return;
    const int index = words[127 - threadIdx.x] * 20;
    const int value = threadIdx.x < 8 ? y[index] : 1;

    y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, value, 16);
}

FAULT("memory", unwritten_index, 1, 128, "has written; try: write it first, then a __syncthreads() that all threads of")
{
    __shared__ int words[128];

    if (threadIdx.x > 200)
        words[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[words[threadIdx.x] * 20] = 1; // [unwritten_index]
}

static __global__ void missed_grid_barrier_kernel(int *y)
{
    y[threadIdx.x] = 1;
    if (threadIdx.x >= 32)
        cooperative_groups::this_grid().sync(); // [missed_grid_barrier]
}

FAULT_LAUNCH("convergence", missed_grid_barrier, " without it: every thread of the grid must reach it")
{
    void *arguments[] = {&device_y};

    (void)missed_grid_barrier_added;
    cudaLaunchCooperativeKernel(missed_grid_barrier_kernel, 2, 64, arguments);
}

FAULT("convergence", barrier_in_a_loop_of_own_length, 1, 64,
      "; try: keep the barrier where all threads reach it the same number of times: put only the work in the if")
{
    for (int i = 0; i < x[threadIdx.x] % 3; i++)
        __syncthreads(); // [barrier_in_a_loop_of_own_length]
    y[threadIdx.x] = 1;
}

FAULT("convergence", masks_that_differ, 1, 32, "deadlock")
{
    const unsigned mask = threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u;

    y[threadIdx.x] = __shfl_sync(mask, x[threadIdx.x], 16); // [masks_that_differ]
    __syncthreads();
}

FAULT("convergence", tile_sync_in_branches, 1, 32, "divergent collective")
{
    const cooperative_groups::thread_block_tile<32> tile = cooperative_groups::tiled_partition<32>(
        cooperative_groups::this_thread_block());

    if (threadIdx.x < 16)
        y[threadIdx.x] = tile.shfl(x[threadIdx.x], 0); // [tile_sync_in_branches]
    else
        y[threadIdx.x] = tile.shfl(x[threadIdx.x], 1);
}

/* --- asynchronous copies ------------------------------------------------------------------------------------------ */

FAULT("copies", read_before_wait, 1, 32, "that it copies asynchronously")
{
    __shared__ __align__(16) int words[32];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    y[threadIdx.x] = words[threadIdx.x]; // [read_before_wait]
    __pipeline_wait_prior(0);
}

FAULT("copies", read_behind_a_barrier_alone, 1, 64, "that thread (63,0,0) copies asynchronously")
{
    __shared__ __align__(16) int words[64];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    __syncthreads();
    y[threadIdx.x] = words[63 - threadIdx.x]; // [read_behind_a_barrier_alone]
}

FAULT("copies", wait_without_barrier, 1, 64, "reads 4 bytes of 'words' at byte 0 (of 256) that thread (0,0,0) wrote")
{
    __shared__ __align__(16) int words[64];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    if (threadIdx.x >= 32)
        y[threadIdx.x] = words[threadIdx.x - 32]; // [wait_without_barrier]
}

FAULT("copies", barrier_before_wait, 1, 64, "copies asynchronously")
{
    __shared__ __align__(16) int words[64];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = words[threadIdx.x ^ 1]; // [barrier_before_wait]
}

FAULT("copies", wait_by_one_thread, 1, 64, "that thread (1,0,0) copies asynchronously")
{
    __shared__ __align__(16) int words[64];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    if (threadIdx.x == 0)
        __pipeline_wait_prior(0);
    __syncthreads();
    if (threadIdx.x == 0)
        y[0] = words[0] + words[1]; // [wait_by_one_thread]
}

FAULT("copies", one_group_too_many_left, 1, 32,
      ", __pipeline_wait_prior(1), came after 2 commits and lets the last 1 group be under way; the copy is in group "
      "2; try: commit an empty group in the last iterations too, or __pipeline_wait_prior(0) there; then")
{
    __shared__ __align__(16) int words[2][32];

    for (int stage = 0; stage < 2; stage++) {
        __pipeline_memcpy_async(&words[stage][threadIdx.x], &x[32 * stage + threadIdx.x], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    y[threadIdx.x] = words[0][threadIdx.x];
    __pipeline_wait_prior(1);
    y[threadIdx.x] += words[1][threadIdx.x]; // [one_group_too_many_left]
}

FAULT("copies", never_committed, 1, 32,
      "for: no __pipeline_commit() has come after the copy; try: __pipeline_commit() between the copy and the wait")
{
    __shared__ __align__(16) int words[32];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_wait_prior(0);
    y[threadIdx.x] = words[threadIdx.x]; // [never_committed]
}

FAULT("copies", written_under_way, 1, 32, "writes 4 bytes that it copies asynchronously")
{
    __shared__ __align__(16) int words[32];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    words[threadIdx.x] = 0; // [written_under_way]
    __pipeline_wait_prior(0);
    y[threadIdx.x] = words[threadIdx.x];
}

FAULT("copies", updated_under_way, 1, 32, "updates atomically 4 bytes that it copies asynchronously")
{
    __shared__ __align__(16) int words[32];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    atomicAdd(&words[threadIdx.x], 1); // [updated_under_way]
    __pipeline_wait_prior(0);
    y[threadIdx.x] = words[threadIdx.x];
}

FAULT("copies", place_used_twice, 1, 32, "mbarrier) and, before the next copy refills memory that is still read, for")
{
    __shared__ __align__(16) int words[32];

    for (int turn = 0; turn < 2; turn++) {
        __pipeline_memcpy_async(&words[threadIdx.x], &x[32 * turn + threadIdx.x], 4); // [place_used_twice]
        __pipeline_commit();
    }
    __pipeline_wait_prior(0);
    y[threadIdx.x] = words[threadIdx.x];
}

/* Uses a ring of two stages, in which each thread reads an element that another thread has copied. */
FAULT("copies", ring_without_second_barrier, 1, 64,
      "not waited for: the copy refills memory that this thread may still have to read; try: __syncthreads() after "
      "this read, before the next copy at :")
{
    __shared__ __align__(16) int ring[2][64];
    const int thread = threadIdx.x;
    int sum = 0;

    __pipeline_memcpy_async(&ring[0][thread], &x[thread], 4);
    __pipeline_commit();
    for (int stage = 0; stage < 8; stage++) {
        __pipeline_memcpy_async(&ring[(stage + 1) % 2][thread], &x[64 * (stage + 1) + thread], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += ring[stage % 2][63 - thread]; // [ring_without_second_barrier]
    }
    y[thread] = sum;
}

FAULT("copies", source_overwritten, 1, 32, "wrote some")
{
    __shared__ __align__(16) int words[32];

    __pipeline_memcpy_async(&words[threadIdx.x], &y[threadIdx.x], 4); // [source_overwritten]
    __pipeline_commit();
    y[threadIdx.x] = x[threadIdx.x];
    __pipeline_wait_prior(0);
    y[threadIdx.x] += words[threadIdx.x];
}

FAULT("copies", source_overwritten_by_the_same, 1, 32, "wrote some")
{
    __shared__ __align__(16) int words[32];

    __pipeline_memcpy_async(&words[threadIdx.x], &y[threadIdx.x], 4); // [source_overwritten_by_the_same]
    __pipeline_commit();
    y[threadIdx.x] = 0;
    __pipeline_wait_prior(0);
}

FAULT("copies", source_overwritten_at_the_same_line, 1, 32, "wrote some")
{
    __shared__ __align__(16) int words[8][32];

    for (int turn = 0; turn < 8; turn++) {
        y[threadIdx.x] = turn + 1;
        __pipeline_memcpy_async(&words[turn][threadIdx.x], &y[threadIdx.x], 4); // [source_overwritten_at_the_same_line]
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = words[0][threadIdx.x];
}

FAULT("copies", source_overwritten_behind_a_barrier, 1, 64, "of which thread (32,0,0) of block (0,0,0) wrote some")
{
    __shared__ __align__(16) int words[64];

    if (threadIdx.x < 32) {
        __pipeline_memcpy_async(&words[threadIdx.x], &y[threadIdx.x], 4); // [source_overwritten_behind_a_barrier]
        __pipeline_commit();
    }
    __syncthreads();
    if (threadIdx.x >= 32)
        y[threadIdx.x - 32] = x[threadIdx.x];
    __syncthreads();
    __pipeline_wait_prior(0);
}

FAULT("copies", source_written_beside_the_wait, 1, 64, "global memory race")
{
    __shared__ __align__(16) int words[64];

    if (threadIdx.x < 32) {
        __pipeline_memcpy_async(&words[threadIdx.x], &y[threadIdx.x], 4);
        __pipeline_commit();
    }
    __syncthreads();
    __pipeline_wait_prior(0);
    if (threadIdx.x >= 32)
        y[threadIdx.x - 32] = x[threadIdx.x]; // [source_written_beside_the_wait]
}

FAULT("copies", source_of_another_block, 2, 32, "global memory race")
{
    __shared__ __align__(16) int words[32];

    y[32 * blockIdx.x + threadIdx.x] = 1;
    __pipeline_memcpy_async(&words[threadIdx.x], &y[threadIdx.x], 4); // [source_of_another_block]
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

static __global__ void copy_of_words(const int *words, int *y)
{
    __shared__ __align__(16) int mine[32];

    __pipeline_memcpy_async(&mine[threadIdx.x], &words[threadIdx.x], 4); // [unwritten_source]
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = mine[threadIdx.x];
}

FAULT_LAUNCH("copies", unwritten_source, "unwritten bytes")
{
    copy_of_words<<<1, 32>>>((const int *)fresh(128), device_y);
}

FAULT("copies", source_out_of_bounds, 1, 32, "right past the end of")
{
    __shared__ __align__(16) int words[32];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[WORDS - 31 + threadIdx.x], 4); // [source_out_of_bounds]
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

FAULT("copies", destination_out_of_bounds, 1, 32, "out-of-bounds shared access")
{
    __shared__ __align__(16) int words[31];

    __pipeline_memcpy_async(&words[threadIdx.x], &x[threadIdx.x], 4); // [destination_out_of_bounds]
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

FAULT("copies", behind_the_dynamic_array, 1, 32,
      "writes 4 bytes at byte 0, beyond the 0 dynamic bytes of the launch at :")
{
    extern __shared__ int dynamic[];

    __pipeline_memcpy_async(&dynamic[threadIdx.x], &x[threadIdx.x], 4); // [behind_the_dynamic_array]
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

FAULT("copies", misaligned_destination, 1, 1, "to an address that is not a multiple of 16")
{
    __shared__ __align__(16) int words[8];

    __pipeline_memcpy_async(&words[2], &x[4], 16); // [misaligned_destination]
}

FAULT("copies", misaligned_source, 1, 1, "from an address that is not a multiple of 8")
{
    __shared__ __align__(16) int words[8];

    __pipeline_memcpy_async(&words[2], &x[3], 8); // [misaligned_source]
}

FAULT("copies", twelve_bytes, 1, 1, "copies 12 bytes asynchronously; it can be 4, 8 or 16")
{
    __shared__ __align__(16) int words[8];

    __pipeline_memcpy_async(&words[0], &x[4], 12); // [twelve_bytes]
}

FAULT("copies", more_zeros_than_bytes, 1, 1, "copies 8 bytes asynchronously, of which 12 shall be zeros")
{
    __shared__ __align__(16) int words[8];

    __pipeline_memcpy_async(&words[0], &x[4], 8, 12); // [more_zeros_than_bytes]
}

FAULT("copies", global_to_global, 1, 32, "to memory that is not shared")
{
    __pipeline_memcpy_async(&y[threadIdx.x], &x[threadIdx.x], 4); // [global_to_global]
}

FAULT("copies", shared_to_shared, 1, 32, "from memory that is not global")
{
    __shared__ __align__(16) int words[64];

    words[threadIdx.x] = x[threadIdx.x];
    __pipeline_memcpy_async(&words[threadIdx.x + 32], &words[threadIdx.x], 4); // [shared_to_shared]
}

/* --- tensor cores ------------------------------------------------------------------------------------------------- */

FAULT("tensor cores", lane_returned_before_mma, 1, 32,
      "without lane 7, which skipped it and ended the kernel, last seen")
{
    const uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};

    if (threadIdx.x == 7)
        return;
    mma_m16n8k16_bf16(d, a, b); // [lane_returned_before_mma]
    y[threadIdx.x] = (int)d[0];
}

FAULT("tensor cores", half_a_warp_at_mma, 1, 16, "without lane 16, which the block does not have")
{
    const uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};

    mma_m16n8k16_f16(d, a, b); // [half_a_warp_at_mma]
    y[threadIdx.x] = (int)d[0];
}

FAULT("tensor cores", mma_in_a_branch, 1, 64, "waits at mma.m16n8k16 with mask 0xffffffff for lane 0")
{
    const uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};

    if (threadIdx.x % 32 != 0)
        mma_m16n8k16_bf16(d, a, b); // [mma_in_a_branch]
    __syncthreads();
    y[threadIdx.x] = (int)d[0];
}

FAULT("tensor cores", mma_in_two_branches, 1, 32, "divergent collective")
{
    const uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};

    if (threadIdx.x < 16)
        mma_m16n8k16_bf16(d, a, b); // [mma_in_two_branches]
    else
        mma_m16n8k16_bf16(d, a, b);
    y[threadIdx.x] = (int)d[0];
}

FAULT("tensor cores", two_kinds_of_mma, 1, 32, "for lane 16, thread (16,0,0), which is at mma.m16n8k16")
{
    const uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};

    if (threadIdx.x < 16)
        mma_m16n8k16_bf16(d, a, b); // [two_kinds_of_mma]
    else
        mma_m16n8k16_f16(d, a, b);
    y[threadIdx.x] = (int)d[0];
}

FAULT("tensor cores", row_of_a_matrix_misaligned, 1, 32, "misaligned address")
{
    __shared__ __align__(16) int words[36 * 4];
    uint32_t a[4];

    words[threadIdx.x] = words[threadIdx.x + 32] = words[threadIdx.x + 64] = words[threadIdx.x + 96] = 0;
    __syncthreads();
    ldmatrix_x4(a, &words[4 * threadIdx.x + 2]); // [row_of_a_matrix_misaligned]
    y[threadIdx.x] = a[0];
}

FAULT("tensor cores", row_of_a_matrix_out_of_bounds, 1, 32, "out-of-bounds shared access")
{
    __shared__ __align__(16) int words[31 * 4];
    uint32_t a[4];

    for (int i = threadIdx.x; i < 31 * 4; i += 32)
        words[i] = 0;
    __syncthreads();
    ldmatrix_x4(a, &words[4 * threadIdx.x]); // [row_of_a_matrix_out_of_bounds]
    y[threadIdx.x] = a[0];
}

FAULT("tensor cores", row_of_a_matrix_unwritten, 1, 32, "that no thread of the block has written")
{
    __shared__ __align__(16) int words[32 * 4];
    uint32_t a[4];

    for (int i = threadIdx.x; i < 16 * 4; i += 32)
        words[i] = 0;
    __syncthreads();
    ldmatrix_x4(a, &words[4 * threadIdx.x]); // [row_of_a_matrix_unwritten]
    y[threadIdx.x] = a[0];
}

FAULT("tensor cores", row_of_a_matrix_raced_for, 1, 64, "shared memory race")
{
    __shared__ __align__(16) int words[64 * 4];
    uint32_t a[4];

    for (int i = 0; i < 4; i++)
        words[4 * threadIdx.x + i] = i;
    __syncwarp();
    if (threadIdx.x >= 32) {
        ldmatrix_x4(a, &words[4 * (threadIdx.x - 32)]); // [row_of_a_matrix_raced_for]
        y[threadIdx.x] = a[0];
    }
}

FAULT("tensor cores", row_of_a_matrix_under_way, 1, 32, "that thread (31,0,0) copies asynchronously")
{
    __shared__ __align__(16) int words[32 * 4];
    uint32_t b[2];

    __pipeline_memcpy_async(&words[4 * threadIdx.x], &x[4 * threadIdx.x], 16);
    __pipeline_commit();
    __syncwarp();
    ldmatrix_x2(b, &words[4 * (31 - threadIdx.x)]); // [row_of_a_matrix_under_way]
    y[threadIdx.x] = b[0];
}

FAULT("tensor cores", row_in_global_memory, 1, 32, "from memory that is not shared")
{
    uint32_t a[4];

    ldmatrix_x4(a, &x[4 * threadIdx.x]); // [row_in_global_memory]
    y[threadIdx.x] = a[0];
}

FAULT("tensor cores", ldmatrix_without_a_lane, 1, 32,
      "without lane 31, which skipped it and ended the kernel, last seen")
{
    __shared__ __align__(16) int words[32 * 4];
    uint32_t b[2];

    for (int i = threadIdx.x; i < 32 * 4; i += 32)
        words[i] = 0;
    __syncwarp();
    if (threadIdx.x == 31)
        return;
    ldmatrix_x2(b, &words[4 * threadIdx.x]); // [ldmatrix_without_a_lane]
    y[threadIdx.x] = b[0];
}

namespace wmma = nvcuda::wmma;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;

FAULT("tensor cores", several_matrices, 1, 32, "that is not the one of lane 0")
{
    sums sum;

    wmma::load_matrix_sync(sum, (const float *)x + 16 * threadIdx.x, 16, wmma::mem_row_major); // [several_matrices]
    y[threadIdx.x] = (int)sum.x[0];
}

FAULT("tensor cores", misaligned_matrix, 1, 32, "at an address that is not a multiple of 32")
{
    sums sum;

    wmma::load_matrix_sync(sum, (const float *)x + 4, 16, wmma::mem_row_major); // [misaligned_matrix]
    y[threadIdx.x] = (int)sum.x[0];
}

FAULT("tensor cores", rows_three_floats_apart, 1, 32, "rows are 76 bytes apart")
{
    sums sum;

    wmma::load_matrix_sync(sum, (const float *)x, 19, wmma::mem_row_major); // [rows_three_floats_apart]
    y[threadIdx.x] = (int)sum.x[0];
}

FAULT("tensor cores", matrix_out_of_bounds, 1, 32, "right past the end of")
{
    sums sum;

    wmma::load_matrix_sync(sum, (const float *)x + WORDS - 248, 16, wmma::mem_row_major); // [matrix_out_of_bounds]
    y[threadIdx.x] = (int)sum.x[0];
}

FAULT("tensor cores", matrices_without_a_lane, 1, 32,
      "without lane 0, which skipped it and ended the kernel, last seen")
{
    sums sum;

    wmma::fill_fragment(sum, 1.0f);
    if (threadIdx.x == 0)
        return;
    wmma::store_matrix_sync((float *)y, sum, 16, wmma::mem_row_major); // [matrices_without_a_lane]
}

/* --- launches that are rejected ----------------------------------------------------------------------------------- */

static __global__ void static_kernel(int *y)
{
    __shared__ int words[10000];

    words[threadIdx.x] = y[0];
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x ^ 1];
}

static __global__ void large_static_kernel(int *y)
{
    __shared__ int words[13000];

    words[threadIdx.x] = y[0];
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x ^ 1];
}

struct large {
    int words[9000];
};

static __global__ void parameters_kernel(large all, int *y)
{
    y[threadIdx.x] = all.words[threadIdx.x];
}

struct just_too_large {
    int words[8192]; /* 32,768 bytes */
};

static __global__ void just_parameters_kernel(just_too_large)
{
}

FAULT_LAUNCH("launches", dynamic_without_opt_in, "no cudaFuncSetAttribute() has asked for it")
{
    (void)dynamic_without_opt_in_added;
    copy_kernel<<<1, 32, 50000>>>(device_x, device_y); // [dynamic_without_opt_in]
}

FAULT_LAUNCH("launches", dynamic_beyond_the_device, "more shared memory than there is; try: at most 232,448 bytes")
{
    (void)dynamic_beyond_the_device_added;
    copy_kernel<<<1, 32, 300000>>>(device_x, device_y); // [dynamic_beyond_the_device]
}

FAULT_LAUNCH("launches", dynamic_beyond_the_limit, "try: a larger value of cudaFuncAttributeMaxDynamicSharedMemorySize")
{
    (void)dynamic_beyond_the_limit_added;
    cudaFuncSetAttribute(copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
    copy_kernel<<<1, 32, 70000>>>(device_x, device_y); // [dynamic_beyond_the_limit]
}

FAULT_LAUNCH("launches", static_and_dynamic, "no cudaFuncSetAttribute() has asked for it")
{
    (void)static_and_dynamic_added;
    static_kernel<<<1, 32, 20000>>>(device_y); // [static_and_dynamic]
}

FAULT_LAUNCH("launches", too_much_static, "of fixed size")
{
    (void)too_much_static_added;
    large_static_kernel<<<1, 32>>>(device_y); // [too_much_static]
}

FAULT_LAUNCH("launches", beyond_the_device, "than there is")
{
    (void)beyond_the_device_added;
    assert_int_equal(
        cudaFuncSetAttribute(static_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 - 40000),
        cudaSuccess);
    static_kernel<<<1, 32, 227 * 1024 - 20000>>>(device_y); // [beyond_the_device]
}

FAULT_LAUNCH("launches", too_many_threads, "invalid configuration argument")
{
    (void)too_many_threads_added;
    copy_kernel<<<1, dim3(64, 32)>>>(device_x, device_y); // [too_many_threads]
}

FAULT_LAUNCH("launches", exchanged_parameters,
             "the kernel did not run: 4096 x 1 x 1 = 4,096 threads; a block has 1 to 1,024 threads, no more than 1,024 "
             "x 1,024 x 64; try: exchange the two parameters, which are <<<blocks, threads per block>>>")
{
    (void)exchanged_parameters_added;
    copy_kernel<<<256, 4096>>>(device_x, device_y); // [exchanged_parameters]
}

FAULT_LAUNCH("launches", too_many_parameters, "bytes of parameters")
{
    static large all;

    (void)too_many_parameters_added;
    parameters_kernel<<<1, 32>>>(all, device_y); // [too_many_parameters]
}

/* Tests that, until the program reads the error, only the first fault is reported: it may have caused the second. */
FAULT_LAUNCH("launches", refused_before_another_fault,
             ": 2048 x 1 x 1 = 2,048 threads; a block has 1 to 1,024 threads, no more than 1,024 x 1,024 x 64; try: ")
{
    int *unwritten;

    (void)refused_before_another_fault_added;
    cudaMalloc((void **)&unwritten, 256);
    keep(unwritten);
    copy_kernel<<<1, 2048>>>(device_x, unwritten); // [refused_before_another_fault]
    copy_kernel<<<1, 32>>>(unwritten, device_y);
}

FAULT_LAUNCH("launches", no_blocks, "invalid configuration argument")
{
    (void)no_blocks_added;
    copy_kernel<<<0, 32>>>(device_x, device_y); // [no_blocks]
}

FAULT_LAUNCH("launches", fewer_blocks_than_none, "(4294967295 is the unsigned value of -1): invalid configuration")
{
    const int count = 0;

    (void)fewer_blocks_than_none_added;
    copy_kernel<<<count - 1, 32>>>(device_x, device_y); // [fewer_blocks_than_none]
}

FAULT_LAUNCH("launches", too_many_blocks, "65,535 blocks")
{
    (void)too_many_blocks_added;
    copy_kernel<<<dim3(1, 65536), 32>>>(device_x, device_y); // [too_many_blocks]
}

FAULT_LAUNCH("launches", unknown_attribute, "operation not supported: launch attribute 4; the simulator has")
{
    cudaLaunchAttribute attribute = {(cudaLaunchAttributeID)4, {1}};
    const cudaLaunchConfig_t how = {1, 32, 0, NULL, &attribute, 1};

    (void)unknown_attribute_added;
    cudaLaunchKernelEx(&how, copy_kernel, device_x, device_y); // [unknown_attribute]
}

FAULT_LAUNCH("launches", no_threads, "1 to 1,024 threads")
{
    (void)no_threads_added;
    copy_kernel<<<1, dim3(32, 0)>>>(device_x, device_y); // [no_threads]
}

FAULT_LAUNCH("launches", block_too_deep, "1,024 x 64")
{
    (void)block_too_deep_added;
    copy_kernel<<<1, dim3(1, 1, 65)>>>(device_x, device_y); // [block_too_deep]
}

static __global__ void __launch_bounds__(128) bounded_kernel(int *y)
{
    y[threadIdx.x] = 1;
}

template <int threads>
static __global__ void __launch_bounds__(threads, (threads > 64 ? 1 : 2)) /* { */
    bounded_template(int *y)
{
    y[threadIdx.x] = 1;
}

FAULT_LAUNCH("launches", beyond_launch_bounds, "__launch_bounds__")
{
    (void)beyond_launch_bounds_added;
    bounded_kernel<<<1, 128>>>(device_y);
    expect_success();
    bounded_kernel<<<1, 160>>>(device_y); // [beyond_launch_bounds]
}

FAULT_LAUNCH("launches", beyond_bounds_of_template, "__launch_bounds__")
{
    (void)beyond_bounds_of_template_added;
    bounded_template<256><<<1, 160>>>(device_y);
    expect_success();
    bounded_template<64><<<1, dim3(33, 2)>>>(device_y); // [beyond_bounds_of_template]
}

FAULT_LAUNCH("launches", parameters_just_too_many, "bytes of parameters")
{
    static just_too_large all;

    (void)parameters_just_too_many_added;
    just_parameters_kernel<<<1, 32>>>(all); // [parameters_just_too_many]
}

__shared__ int words_of_file[7000];

static __noinline__ __device__ int by_function(int i)
{
    __shared__ int words[7000];

    words_of_file[i] = i;
    words[i] = i;
    __syncthreads();
    return words[i ^ 1] + words_of_file[i ^ 1];
}

static __global__ void function_shared_kernel(int *y)
{
    y[threadIdx.x] = by_function((int)threadIdx.x);
}

FAULT_LAUNCH("launches", shared_of_functions, "of fixed size")
{
    (void)shared_of_functions_added;
    function_shared_kernel<<<1, 32>>>(device_y); // [shared_of_functions]
}

FAULT_LAUNCH("launches", by_address, "1 to 1,024 threads")
{
    void *arguments[] = {&device_x, &device_y};

    (void)by_address_added;
    cudaLaunchKernel(copy_kernel, 1, 2000, arguments); // [by_address]
}

FAULT_LAUNCH("launches", cooperative_too_large, "too many blocks in cooperative launch")
{
    void *arguments[] = {&device_x, &device_y};

    (void)cooperative_too_large_added;
    cudaLaunchCooperativeKernel(copy_kernel, 10000, 1024, arguments); // [cooperative_too_large]
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

static __global__ void fill_kernel(int *y, int value)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    y[i] = value; // [two_writers] [default_and_non_blocking] [memset_not_waited_for] [allocated_in_another_stream]
}

static __global__ void add_kernel(const int *x, int *y)
{
    y[threadIdx.x] += x[threadIdx.x]; // [writer_and_reader] [event_too_early] [event_never_recorded] [event_of_another]
}

static __global__ void count_kernel(int *y)
{
    atomicAdd(&y[threadIdx.x % 4], 1); // [atomics_and_store]
}

static __global__ void count_in_block_kernel(int *y)
{
    atomicAdd_block(&y[threadIdx.x % 4], 1); // [atomics_of_blocks]
}

static __global__ void short_kernel(short *y, int first)
{
    y[first + threadIdx.x] = 1; // [one_short_too_many]
}

static __device__ int device_total[32];

static __global__ void total_kernel(int value)
{
    device_total[threadIdx.x] = value; // [device_variable]
}

/** The tests' streams and events. Only streams[1] is non-blocking: the default stream does not wait for it. */
static cudaStream_t streams[3];
static cudaEvent_t events[2];

static void make_streams(void)
{
    for (int i = 0; i < 3; i++)
        assert_int_equal(cudaStreamCreateWithFlags(&streams[i], i == 1 ? cudaStreamNonBlocking : cudaStreamDefault),
                         cudaSuccess);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cudaEventCreate(&events[i]), cudaSuccess);
}

#define STREAM_FAULT(name, text)                                                              \
    static void name(void);                                                                   \
    [[maybe_unused]] static const int name##_added = add_fault("streams", #name, text, name); \
    static void name(void)

STREAM_FAULT(stream_as_third_parameter, "is a stream; try: 0 before the stream, which is the fourth")
{
    fill_kernel<<<1, 32, (size_t)streams[0]>>>(device_y, 1); // [stream_as_third_parameter]
}

static int of_function;

static void set_word(void *word)
{
    *(int *)word = 5;
}

STREAM_FAULT(function_beside_the_host, "race with the host: the host reads 4 bytes that cudaLaunchHostFunc at")
{
    cudaLaunchHostFunc(streams[0], set_word, &of_function);
    seen = of_function; // [function_beside_the_host]
}

STREAM_FAULT(two_writers, "of fill_kernel, launched at :")
{
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 1);
    fill_kernel<<<1, 32, 0, streams[1]>>>(device_y, 2);
}

STREAM_FAULT(writer_and_reader, ", in its stream, and cudaStreamWaitEvent() before the launch at :")
{
    fill_kernel<<<4, 64, 0, streams[0]>>>(device_y, 1);
    add_kernel<<<1, 32, 0, streams[2]>>>(device_y, device_y + 1000);
}

STREAM_FAULT(reader_and_copy, "race of two streams")
{
    add_kernel<<<1, 32, 0, streams[0]>>>(device_x, device_y);
    cudaMemcpyAsync(device_x, host_words, 128, cudaMemcpyHostToDevice, streams[1]); // [reader_and_copy]
}

STREAM_FAULT(copy_too_early, "race of two streams")
{
    fill_kernel<<<1, 32, 0, streams[1]>>>(device_y, 1);
    cudaMemcpy(host_words, device_y, 128, cudaMemcpyDeviceToHost); // [copy_too_early]
}

STREAM_FAULT(default_and_non_blocking, "race of two streams")
{
    fill_kernel<<<1, 32>>>(device_y, 1);
    fill_kernel<<<1, 32, 0, streams[1]>>>(device_y, 2);
}

STREAM_FAULT(memset_not_waited_for, "race of two streams")
{
    cudaMemset(device_y, 0, 64); /* may return before the memset is complete */
    fill_kernel<<<1, 32, 0, streams[1]>>>(device_y, 2);
}

STREAM_FAULT(two_memsets, "race of two streams")
{
    cudaMemsetAsync(device_y, 0, 64, streams[0]);
    cudaMemsetAsync(device_y + 15, 1, 64, streams[1]); // [two_memsets]
}

STREAM_FAULT(event_too_early, "race of two streams")
{
    cudaEventRecord(events[0], streams[0]);
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 1);
    cudaStreamWaitEvent(streams[1], events[0], 0);
    add_kernel<<<1, 32, 0, streams[1]>>>(device_y, device_y + 64);
}

STREAM_FAULT(event_never_recorded,
             " waits for nothing, because its event has not been recorded; try: cudaEventRecord() first, then wait")
{
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 1);
    cudaStreamWaitEvent(streams[1], events[0], 0);
    add_kernel<<<1, 32, 0, streams[1]>>>(device_y, device_y + 64);
}

STREAM_FAULT(event_recorded_after_the_wait,
             " waits for nothing, because its event had not been recorded before; try: record the event first, by the "
             "call at :")
{
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 1);
    cudaStreamWaitEvent(streams[1], events[0], 0);
    cudaEventRecord(events[0], streams[0]);
    cudaMemsetAsync(device_y, 0, 64, streams[1]); // [event_recorded_after_the_wait]
}

STREAM_FAULT(event_of_another, "race of two streams")
{
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 1);
    cudaEventRecord(events[0], streams[0]);
    cudaEventRecord(events[1], streams[2]);
    cudaStreamWaitEvent(streams[1], events[1], 0);
    add_kernel<<<1, 32, 0, streams[1]>>>(device_y, device_y + 64);
}

STREAM_FAULT(wait_of_another_stream, "race of two streams")
{
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 1);
    cudaEventRecord(events[0], streams[0]);
    cudaStreamWaitEvent(streams[2], events[0], 0);
    cudaMemcpyAsync(device_y, device_x, 128, cudaMemcpyDeviceToDevice, streams[1]); // [wait_of_another_stream]
}

STREAM_FAULT(wrong_stream_waited_for, "race of two streams")
{
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 1);
    cudaStreamSynchronize(streams[2]);
    cudaMemcpyAsync(host_words, device_y, 128, cudaMemcpyDeviceToHost, streams[1]); // [wrong_stream_waited_for]
}

STREAM_FAULT(read_long_ago, "race of two streams")
{
    add_kernel<<<1, 32, 0, streams[0]>>>(device_x, device_y);
    for (int i = 0; i < 20; i++)
        fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, i);
    cudaStreamSynchronize(streams[1]);
    cudaMemsetAsync(device_x + 31, 0, 4, streams[1]); // [read_long_ago]
}

STREAM_FAULT(atomics_and_store, "race of two streams")
{
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 0);
    count_kernel<<<1, 32, 0, streams[1]>>>(device_y);
}

STREAM_FAULT(atomics_of_blocks, "race of two streams")
{
    count_in_block_kernel<<<1, 32, 0, streams[0]>>>(device_y);
    count_in_block_kernel<<<1, 32, 0, streams[1]>>>(device_y);
}

STREAM_FAULT(one_short_too_many, "race of two streams")
{
    short_kernel<<<1, 32, 0, streams[0]>>>((short *)device_y, 0);
    short_kernel<<<1, 32, 0, streams[1]>>>((short *)device_y, 31);
}

STREAM_FAULT(device_variable, "race of two streams")
{
    total_kernel<<<1, 32, 0, streams[0]>>>(1);
    total_kernel<<<1, 32, 0, streams[1]>>>(2);
}

STREAM_FAULT(symbol_too_early, "race of two streams")
{
    total_kernel<<<1, 32, 0, streams[1]>>>(1);
    cudaMemcpyFromSymbol(host_words, device_total, 128); // [symbol_too_early]
}

static __constant__ int constant_table[32];

static __global__ void constant_kernel(int *to)
{
    to[threadIdx.x] = constant_table[threadIdx.x]; // [constants_read_too_early]
}

STREAM_FAULT(constants_written_too_early, "cudaMemcpyToSymbol writes what constant_kernel at")
{
    constant_kernel<<<1, 32, 0, streams[1]>>>(device_y);
    cudaMemcpyToSymbol(constant_table, host_words, 64); // [constants_written_too_early]
}

STREAM_FAULT(constants_read_too_early, ", reads 4 bytes that cudaMemcpyAsync, issued at")
{
    void *table = NULL;

    assert_int_equal(cudaGetSymbolAddress(&table, constant_table), cudaSuccess);
    cudaMemcpyAsync((int *)table + 31, device_x, 4, cudaMemcpyDeviceToDevice, streams[0]);
    constant_kernel<<<1, 32, 0, streams[1]>>>(device_y);
}

STREAM_FAULT(allocated_in_another_stream, "writes 4 bytes that cudaMallocAsync, issued at")
{
    int *words = NULL;

    assert_int_equal(cudaMallocAsync(&words, 128, streams[0]), cudaSuccess);
    keep(words);
    fill_kernel<<<1, 32, 0, streams[1]>>>(words, 1);
}

STREAM_FAULT(freed_in_another_stream, "cudaFreeAsync frees what fill_kernel at")
{
    int *words = NULL;

    assert_int_equal(cudaMallocAsync(&words, 128, streams[0]), cudaSuccess);
    keep(words);
    cudaStreamSynchronize(streams[0]);
    fill_kernel<<<1, 32, 0, streams[1]>>>(words, 1);
    cudaFreeAsync(words, streams[0]); // [freed_in_another_stream]
}

STREAM_FAULT(destroyed_while_it_works, "race of two streams")
{
    fill_kernel<<<1, 32, 0, streams[1]>>>(device_y, 1);
    cudaStreamDestroy(streams[1]);
    cudaMemcpy(host_words, device_y, 128, cudaMemcpyDeviceToHost); // [destroyed_while_it_works]
}

STREAM_FAULT(pinned_read_too_early, "race with the host")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 128), cudaSuccess);
    cudaMemcpyAsync(pinned, device_x, 128, cudaMemcpyDeviceToHost, streams[0]);
    host_words[0] = pinned[3]; // [pinned_read_too_early]
    cudaFreeHost(pinned);
}

STREAM_FAULT(event_before_the_copy, ", before that work; try: record the event after :")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 128), cudaSuccess);
    cudaEventRecord(events[0], streams[0]);
    cudaMemcpyAsync(pinned, device_x, 128, cudaMemcpyDeviceToHost, streams[0]);
    cudaEventSynchronize(events[0]);
    host_words[0] = pinned[3]; // [event_before_the_copy]
    cudaFreeHost(pinned);
}

STREAM_FAULT(pinned_read_by_memcpy, "race with the host")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 128), cudaSuccess);
    cudaMemcpyAsync(pinned, device_x, 128, cudaMemcpyDeviceToHost, 0);
    cudaStreamSynchronize(streams[1]);
    memcpy(host_words, pinned, 128); // [pinned_read_by_memcpy]
    cudaFreeHost(pinned);
}

STREAM_FAULT(pinned_written_too_early, "race with the host")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 256), cudaSuccess);
    cudaMemcpyAsync(device_x, pinned, 128, cudaMemcpyHostToDevice, streams[1]);
    pinned[32] = 1;
    pinned[31] = 1; // [pinned_written_too_early]
    cudaFreeHost(pinned);
}

/** Captures a copy between the device and host_words, which is pageable, and launches the graph. */
static void launch_copy(void *to, const void *from, enum cudaMemcpyKind kind)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    assert_int_equal(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(to, from, 128, kind, streams[0]), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(streams[0], &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, streams[0]), cudaSuccess);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
}

STREAM_FAULT(source_of_a_graph_changed, "race with the host: the host writes 4 bytes that cudaMemcpyAsync at")
{
    launch_copy(device_y, host_words, cudaMemcpyHostToDevice);
    host_words[31] = 1; // [source_of_a_graph_changed]
}

STREAM_FAULT(result_of_a_graph_read, "race with the host: the host reads 4 bytes that cudaMemcpyAsync at")
{
    launch_copy(host_words, device_x, cudaMemcpyDeviceToHost);
    host_words[40] = host_words[31]; // [result_of_a_graph_read]
}

STREAM_FAULT(pinned_written_past_its_end, "the host writes 4 bytes right past the end of an allocation of 256 bytes")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 256), cudaSuccess);
    pinned[63] = 1;
    pinned[64] = 1; // [pinned_written_past_its_end]
    cudaFreeHost(pinned);
}

STREAM_FAULT(managed_read_past_its_end, "the host reads 4 bytes right past the end of an allocation of 200 bytes")
{
    int *managed = NULL;

    assert_int_equal(cudaMallocManaged(&managed, 200), cudaSuccess);
    host_words[0] = managed[0] + managed[50]; // [managed_read_past_its_end]
    cudaFree(managed);
}

STREAM_FAULT(pinned_used_twice, "race of two streams")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 128), cudaSuccess);
    cudaMemcpyAsync(pinned, device_x, 128, cudaMemcpyDeviceToHost, streams[0]);
    cudaMemcpyAsync(device_y, pinned, 128, cudaMemcpyHostToDevice, streams[1]); // [pinned_used_twice]
    cudaFreeHost(pinned);
}

static int *shared_words;

static __global__ void twice_kernel(const int *from, int *to)
{
    to[threadIdx.x] = 2 * from[threadIdx.x]; // [pinned_in_two_streams]
}

static __global__ void add_kernel(int *to)
{
    atomicAdd(to, 1);
}

STREAM_FAULT(managed_read_too_early, "race with the host: the host reads 4 bytes that twice_kernel at")
{
    assert_int_equal(cudaMallocManaged(&shared_words, 256), cudaSuccess);
    keep(shared_words);
    twice_kernel<<<1, 32>>>(device_x, shared_words);
    host_words[0] = shared_words[40];
    host_words[0] = shared_words[31]; // [managed_read_too_early]
}

STREAM_FAULT(managed_written_too_early, "race with the host: the host writes 4 bytes that twice_kernel at")
{
    assert_int_equal(cudaMallocManaged(&shared_words, 256), cudaSuccess);
    keep(shared_words);
    for (int i = 0; i < 32; i++)
        shared_words[i] = i;
    twice_kernel<<<1, 32>>>(shared_words, device_y);
    host_words[0] = shared_words[5];
    shared_words[5] = 1; // [managed_written_too_early]
}

STREAM_FAULT(managed_counter_read_too_early, "race with the host: the host reads 4 bytes")
{
    assert_int_equal(cudaMallocManaged(&shared_words, 256), cudaSuccess);
    keep(shared_words);
    *shared_words = 0;
    add_kernel<<<1, 32>>>(shared_words);
    host_words[0] = *shared_words; // [managed_counter_read_too_early]
}

STREAM_FAULT(mapped_read_after_another_stream, "race with the host: the host reads 4 bytes that twice_kernel at")
{
    int *pinned = NULL;
    int *mapped = NULL;

    assert_int_equal(cudaHostAlloc(&pinned, 128, cudaHostAllocMapped), cudaSuccess);
    assert_int_equal(cudaHostGetDevicePointer(&mapped, pinned, 0), cudaSuccess);
    twice_kernel<<<1, 32, 0, streams[0]>>>(device_x, mapped);
    cudaStreamSynchronize(streams[1]);
    host_words[0] = pinned[7]; // [mapped_read_after_another_stream]
    cudaFreeHost(pinned);
}

STREAM_FAULT(copy_past_pinned,
             "cudaMemcpyAsync: invalid argument: 512 bytes of pinned or managed memory that has fewer: it "
             "is 0 bytes into an allocation of 128 bytes")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 128), cudaSuccess);
    cudaMemcpyAsync(device_y, pinned, 512, cudaMemcpyHostToDevice, streams[0]); // [copy_past_pinned]
    cudaFreeHost(pinned);
}

static void CUDART_CB read_word(void *word)
{
    host_words[0] = *(int *)word;
}

static __attribute__((noinline)) void enqueue_with_local(void)
{
    int word = 1;

    cudaLaunchHostFunc(streams[0], read_word, &word); // [local_of_returned_function]
}

STREAM_FAULT(local_of_returned_function,
             "use of a local variable that no longer exists: cudaLaunchHostFunc uses it later")
{
    enqueue_with_local();
    cudaStreamSynchronize(streams[0]);
}

static __attribute__((noinline)) cudaGraphExec_t graph_with_local(void)
{
    int words[32];
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;

    cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(words, device_x, sizeof words, cudaMemcpyDeviceToHost, streams[0]); // [graph_copies_to_local]
    cudaStreamEndCapture(streams[0], &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    return exec;
}

STREAM_FAULT(graph_copies_to_local, "the graph copies a local variable of a function that has returned")
{
    const cudaGraphExec_t exec = graph_with_local();

    cudaGraphLaunch(exec, streams[0]);
    cudaGraphExecDestroy(exec);
}

STREAM_FAULT(pinned_in_two_streams, "race of two streams")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 128), cudaSuccess);
    add_kernel<<<1, 32, 0, streams[0]>>>(pinned);
    twice_kernel<<<1, 32, 0, streams[1]>>>(device_x, pinned);
    cudaFreeHost(pinned);
}

static void CUDART_CB read_pinned(cudaStream_t, cudaError_t, void *pinned)
{
    host_words[0] = ((int *)pinned)[7]; // [callback_of_another_stream]
}

STREAM_FAULT(callback_of_another_stream, "race of two streams: a host function reads 4 bytes that fill_kernel at")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 128), cudaSuccess);
    fill_kernel<<<1, 32, 0, streams[0]>>>(pinned, 1);
    cudaStreamAddCallback(streams[0], read_pinned, pinned, 0); /* correct: same stream as the kernel */
    assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
    cudaStreamAddCallback(streams[1], read_pinned, pinned, 0);
    cudaFreeHost(pinned);
}

/* clang makes these calls the last instructions of a function, and their lines are then unknown. */
#ifdef __clang__
#define MADE_HERE "made at "
#else
#define MADE_HERE "made at :"
#endif

static __global__ void managed_kernel(int *words)
{
    words[threadIdx.x * 2] = 1; // [managed_past_end]
}

FAULT_LAUNCH("memory", managed_past_end, "right past the end of an allocation of 200 bytes, " MADE_HERE)
{
    (void)managed_past_end_added;
    assert_int_equal(cudaMallocManaged(&shared_words, 200), cudaSuccess);
    keep(shared_words);
    managed_kernel<<<1, 32>>>(shared_words);
}

static __global__ void ordered_kernel(int *words)
{
    words[threadIdx.x] = 1; // [malloc_async_past_end]
}

FAULT_LAUNCH("memory", malloc_async_past_end, "of 100 bytes, " MADE_HERE)
{
    int *words = NULL;

    (void)malloc_async_past_end_added;
    assert_int_equal(cudaMallocAsync(&words, 100, 0), cudaSuccess);
    keep(words);
    ordered_kernel<<<1, 32>>>(words);
}

HOST_FAULT(managed_after_free, "reads memory from CUDA, in an allocation of 256 bytes that has been freed")
{
    assert_int_equal(cudaMallocManaged(&shared_words, 256), cudaSuccess);
    cudaFree(shared_words);
    host_words[0] = shared_words[0]; // [managed_after_free]
}

HOST_FAULT(beside_managed, "reads device memory, 0 bytes into an allocation of 100 bytes")
{
    int *words = NULL;

    assert_int_equal(cudaMallocManaged(&shared_words, 256), cudaSuccess);
    assert_int_equal(cudaMalloc(&words, 100), cudaSuccess);
    twice_kernel<<<1, 16>>>(shared_words, words);
    host_words[0] = shared_words[0];
    host_words[0] = words[0]; // [beside_managed]
}

STREAM_FAULT(launch_into_destroyed_stream, "the stream was destroyed")
{
    assert_int_equal(cudaStreamDestroy(streams[0]), cudaSuccess);
    fill_kernel<<<1, 32, 0, streams[0]>>>(device_y, 1); // [launch_into_destroyed_stream]
}

STREAM_FAULT(copy_into_destroyed_stream, "the stream was destroyed")
{
    assert_int_equal(cudaStreamDestroy(streams[0]), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&streams[2]), cudaSuccess);
    cudaMemsetAsync(device_y, 0, 4, streams[0]); // [copy_into_destroyed_stream]
}

STREAM_FAULT(stream_destroyed_twice, "the stream was destroyed")
{
    assert_int_equal(cudaStreamDestroy(streams[1]), cudaSuccess);
    cudaStreamDestroy(streams[1]); // [stream_destroyed_twice]
}

STREAM_FAULT(wait_for_destroyed_stream, "the stream was destroyed")
{
    assert_int_equal(cudaStreamDestroy(streams[1]), cudaSuccess);
    cudaStreamSynchronize(streams[1]); // [wait_for_destroyed_stream]
}

STREAM_FAULT(destroyed_event_recorded, "the event was destroyed")
{
    assert_int_equal(cudaEventDestroy(events[0]), cudaSuccess);
    cudaEventRecord(events[0], streams[0]); // [destroyed_event_recorded]
}

STREAM_FAULT(destroyed_event_waited_for, "the event was destroyed")
{
    assert_int_equal(cudaEventDestroy(events[0]), cudaSuccess);
    assert_int_equal(cudaEventCreate(&events[1]), cudaSuccess);
    cudaStreamWaitEvent(streams[0], events[0], 0); // [destroyed_event_waited_for]
}

STREAM_FAULT(event_destroyed_twice, "the event was destroyed")
{
    assert_int_equal(cudaEventDestroy(events[0]), cudaSuccess);
    cudaEventDestroy(events[0]); // [event_destroyed_twice]
}

STREAM_FAULT(event_for_a_stream, "the stream was destroyed, or never made")
{
    cudaStreamSynchronize((cudaStream_t)events[0]); // [event_for_a_stream]
}

STREAM_FAULT(symbol_of_the_host, "cudaMemcpyFromSymbol: invalid device symbol: a variable of the host")
{
    int copied[4];

    cudaMemcpyFromSymbol(copied, host_words, sizeof copied); // [symbol_of_the_host]
}

STREAM_FAULT(past_a_symbol, "cudaMemcpyFromSymbol: invalid argument: 1000 bytes at byte 0 of a variable of")
{
    cudaMemcpyFromSymbol(host_words, device_total, 1000); // [past_a_symbol]
}

STREAM_FAULT(wait_for_all_in_a_capture, "a stream is being captured, and nothing is executed")
{
    cudaGraph_t graph = NULL;

    assert_int_equal(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal), cudaSuccess);
    cudaDeviceSynchronize(); // [wait_for_all_in_a_capture]
    cudaStreamEndCapture(streams[0], &graph);
    cudaGraphDestroy(graph);
}

/* Each test captures a stream and makes a call that is not permitted during the capture. */
#define CAPTURE_FAULT(name, stream, text)                                                           \
    static void name##_captured(void);                                                              \
    STREAM_FAULT(name, text)                                                                        \
    {                                                                                               \
        cudaGraph_t graph = NULL;                                                                   \
                                                                                                    \
        assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess); \
        name##_captured();                                                                          \
        cudaStreamEndCapture(stream, &graph);                                                       \
        cudaGraphDestroy(graph);                                                                    \
    }                                                                                               \
    static void name##_captured(void)

CAPTURE_FAULT(allocation_in_a_capture, streams[0], "cudaMalloc: operation not permitted when stream is capturing")
{
    int *words = NULL;

    cudaMalloc(&words, 64); // [allocation_in_a_capture]
}

CAPTURE_FAULT(stream_allocation_in_a_capture, streams[0], "the simulator's graphs do not allocate")
{
    int *words = NULL;

    cudaMallocAsync(&words, 64, streams[0]); // [stream_allocation_in_a_capture]
}

CAPTURE_FAULT(free_in_a_capture, streams[1], "cudaFree: operation not permitted when stream is capturing")
{
    cudaFree(device_y); // [free_in_a_capture]
}

CAPTURE_FAULT(copy_in_a_capture, streams[1], "cudaMemcpy: operation not permitted when stream is capturing")
{
    cudaMemcpy(device_y, host_words, 64, cudaMemcpyHostToDevice); // [copy_in_a_capture]
}

CAPTURE_FAULT(default_stream_in_a_capture, streams[0], "fill_kernel: operation would make the legacy stream depend on")
{
    fill_kernel<<<1, 32>>>(device_y, 1); // [default_stream_in_a_capture]
}

CAPTURE_FAULT(memset_in_a_capture, streams[0], "cudaMemset: operation would make the legacy stream depend on")
{
    cudaMemset(device_y, 0, 64); // [memset_in_a_capture]
}

CAPTURE_FAULT(wait_in_a_capture, streams[0], "cudaStreamSynchronize: operation not permitted when stream is capturing")
{
    cudaStreamSynchronize(streams[0]); // [wait_in_a_capture]
}

CAPTURE_FAULT(query_in_a_capture, streams[0], "cudaEventQuery: operation not permitted on an event last recorded")
{
    cudaEventRecord(events[0], streams[0]);
    cudaEventQuery(events[0]); // [query_in_a_capture]
}

static void CUDART_CB wait_in_function(void *)
{
    cudaStreamSynchronize(streams[0]); // [wait_in_a_host_function]
}

STREAM_FAULT(wait_in_a_host_function,
             "a function that cudaLaunchHostFunc() calls may not call CUDA; try: cudaMemcpyAsync() in the stream")
{
    cudaLaunchHostFunc(streams[0], wait_in_function, NULL);
}

static void CUDART_CB launch_in_function(void *)
{
    fill_kernel<<<1, 32, 0, streams[1]>>>(device_y, 1); // [launch_in_a_host_function]
}

static void CUDART_CB write_first_word(void *data)
{
    *(int *)data = 1;
}

STREAM_FAULT(host_function_before_a_copy, "race of two streams: cudaMemcpyAsync reads")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 256), cudaSuccess);
    cudaLaunchHostFunc(streams[0], write_first_word, pinned);
    cudaMemcpyAsync(device_x, pinned, 128, cudaMemcpyHostToDevice, streams[1]); // [host_function_before_a_copy]
    cudaFreeHost(pinned);
}

STREAM_FAULT(host_function_not_waited_for, "race with the host: the host reads 4 bytes that cudaStreamAddCallback at")
{
    int *pinned = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 256), cudaSuccess);
    cudaStreamAddCallback(
        streams[0], [](cudaStream_t, cudaError_t, void *data) { write_first_word(data); }, pinned, 0);
    host_words[0] = pinned[1];
    host_words[0] = pinned[0]; // [host_function_not_waited_for]
    cudaFreeHost(pinned);
}

STREAM_FAULT(variable_of_a_host_function, "race with the host: the host writes 4 bytes that cudaLaunchHostFunc at")
{
    int first = 0;

    cudaLaunchHostFunc(
        streams[0], [](void *data) { host_words[2] = *(int *)data; }, &first);
    host_words[3] = first;
    first = 2; // [variable_of_a_host_function]
    host_words[4] = first;
}

STREAM_FAULT(launch_in_a_host_function, "fill_kernel: operation not permitted: a function that cudaLaunchHostFunc()")
{
    cudaLaunchHostFunc(streams[0], launch_in_function, NULL);
}

static void CUDART_CB add_word(void *word)
{
    ++*(volatile int *)word; // [two_host_functions]
}

STREAM_FAULT(two_host_functions, "race of two streams: a host function reads 4 bytes that cudaLaunchHostFunc at")
{
    int *pinned = NULL;

    cudaMallocHost(&pinned, 4);
    *pinned = 0;
    cudaLaunchHostFunc(streams[0], add_word, pinned);
    cudaLaunchHostFunc(streams[1], add_word, pinned);
    cudaFreeHost(pinned);
}

#ifndef __clang__ /* which knows no object's size in an inlined function */
struct three_words {
    int first, rest[2];
};

STREAM_FAULT(copy_to_a_local_structure, "cudaMemcpy: invalid argument: 16 bytes, of which this memory of the host has")
{
    three_words local;

    cudaMemcpy(&local, device_x, 16, cudaMemcpyDeviceToHost); // [copy_to_a_local_structure]
}

STREAM_FAULT(copy_to_a_local_member, "cudaMemcpy: invalid argument: 12 bytes, of which this memory of the host has")
{
    three_words local;

    cudaMemcpy(local.rest, device_x, 12, cudaMemcpyDeviceToHost); // [copy_to_a_local_member]
}

STREAM_FAULT(copy_to_a_local_bool, "cudaMemcpyAsync: invalid argument: 4 bytes, of which this memory of the host has")
{
    bool local;

    cudaMemcpyAsync(&local, device_x, 4, cudaMemcpyDeviceToHost); // [copy_to_a_local_bool]
}

STREAM_FAULT(copy_from_a_local_word, "cudaMemcpyAsync: invalid argument: 8 bytes, of which this memory of the host has")
{
    int local = 1;

    cudaMemcpyAsync(device_x, &local, 8, cudaMemcpyHostToDevice, streams[0]); // [copy_from_a_local_word]
}

STREAM_FAULT(copy_to_a_local_array, "cudaMemcpy2D: invalid argument: 48 bytes, of which this memory of the host has")
{
    int local[8];

    cudaMemcpy2D(local, 16, device_x, 16, 16, 3, cudaMemcpyDeviceToHost); // [copy_to_a_local_array]
}

/** Like std::vector, for which clang needs the C++ library, which the tests do not have. */
struct list_of_ints {
    int *begin, *end, *room_end;
};

STREAM_FAULT(copy_to_a_vector_object, "cudaMemcpy: invalid argument: 400 bytes, of which this memory of the host has")
{
    list_of_ints local = {};

    cudaMemcpy(&local, device_x, 400, cudaMemcpyDeviceToHost); // [copy_to_a_vector_object]
}

STREAM_FAULT(symbol_to_a_local_double,
             "cudaMemcpyFromSymbol: invalid argument: 16 bytes, of which this memory of the host has")
{
    double local;

    cudaMemcpyFromSymbol(&local, device_total, 16); // [symbol_to_a_local_double]
}

STREAM_FAULT(symbol_from_a_local_word,
             "cudaMemcpyToSymbolAsync: invalid argument: 8 bytes, of which this memory of the host has")
{
    int local = 1;

    cudaMemcpyToSymbolAsync(device_total, &local, 8); // [symbol_from_a_local_word]
}

STREAM_FAULT(copy_to_a_short_block, "cudaMemcpy: invalid argument: 36 bytes, of which this memory of the host has")
{
    void *const local = malloc(32);

    cudaMemcpy(local, device_x, 36, cudaMemcpyDeviceToHost); // [copy_to_a_short_block]
    free(local);
}
#endif

STREAM_FAULT(copy_past_a_host_array, "260 bytes, of which 'host_words' of the host has 252")
{
    cudaMemcpy(device_y, host_words + 1, sizeof host_words + 4, cudaMemcpyHostToDevice); // [copy_past_a_host_array]
}

STREAM_FAULT(copy_to_a_short_host_array, "of which 'host_words' of the host has 4")
{
    void *const end = host_words + sizeof host_words / sizeof *host_words - 1;

    cudaMemcpyAsync(end, device_x, 8, cudaMemcpyDeviceToHost, streams[0]); // [copy_to_a_short_host_array]
}

STREAM_FAULT(symbol_to_a_short_host_array, "cudaMemcpyFromSymbol: invalid argument: 128 bytes, of which 'host_words'")
{
    void *const end = host_words + sizeof host_words / sizeof *host_words - 1;

    cudaMemcpyFromSymbol(end, device_total, 128); // [symbol_to_a_short_host_array]
}

STREAM_FAULT(copy_over_its_source, "the destination begins 64 bytes after the source, so the two overlap by 64 bytes")
{
    cudaMemcpy(device_y + 16, device_y, 128, cudaMemcpyDeviceToDevice); // [copy_over_its_source]
}

STREAM_FAULT(symbol_written_early, "race of two streams: cudaMemcpyToSymbolAsync writes what total_kernel at")
{
    const enum cudaMemcpyKind kind = cudaMemcpyDeviceToDevice;

    total_kernel<<<1, 32, 0, streams[0]>>>(1);
    cudaMemcpyToSymbolAsync(device_total, device_x, 128, 0, kind, streams[1]); // [symbol_written_early]
}

STREAM_FAULT(rows_past_a_host_array,
             "cudaMemcpy2D: invalid argument: 512 bytes, of which 'host_words' of the host has 4")
{
    void *const end = host_words + sizeof host_words / sizeof *host_words - 1;

    cudaMemcpy2D(end, 256, device_x, 256, 256, 2, cudaMemcpyDeviceToHost); // [rows_past_a_host_array]
}

STREAM_FAULT(rows_over_their_source, "the destination begins 256 bytes before the source, so their rows overlap")
{
    const enum cudaMemcpyKind kind = cudaMemcpyDeviceToDevice;

    cudaMemcpy2D(device_y, 256, device_y + 32, 256, 128, 3, kind); /* columns side by side do not overlap */
    cudaMemcpy2D(device_y, 256, device_y + 64, 256, 256, 3, kind); // [rows_over_their_source]
}

STREAM_FAULT(memory_registered_twice, "the memory is registered already; try: cudaHostUnregister() before")
{
    static char memory[64];

    cudaHostRegister(memory, 32, cudaHostRegisterDefault);
    cudaHostRegister(memory + 32, 32, cudaHostRegisterDefault);
    cudaHostUnregister(memory + 32);
    cudaHostRegister(memory + 16, 32, cudaHostRegisterDefault); // [memory_registered_twice]
    cudaHostUnregister(memory);
}

static __global__ void heap_kernel(void)
{
    free(malloc(16));
}

STREAM_FAULT(heap_resized_late, "a kernel has already called malloc() or new; try: the call before the first launch")
{
    heap_kernel<<<1, 1>>>();
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20); // [heap_resized_late]
}

static __global__ void fixed_shared_kernel(int *y)
{
    __shared__ int words[256];

    words[threadIdx.x] = 1;
    y[threadIdx.x] = words[threadIdx.x];
}

STREAM_FAULT(dynamic_shared_beside_fixed, "232448 bytes of dynamic shared memory beside 1024 bytes of __shared__")
{
    const enum cudaFuncAttribute attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;

    cudaFuncSetAttribute(fixed_shared_kernel, attribute, 227 * 1024); // [dynamic_shared_beside_fixed]
}

STREAM_FAULT(rows_wider_than_their_pitch, "cudaMemcpy2D: invalid pitch argument: rows of 64 bytes, but a pitch of 32")
{
    cudaMemcpy2D(host_words, 32, device_x, 64, 64, 1, cudaMemcpyDeviceToHost); // [rows_wider_than_their_pitch]
}

STREAM_FAULT(variable_as_a_parameter, "a parameter is the host's address of 'device_total', a variable of the device")
{
    fill_kernel<<<1, 1>>>((int *)&device_total, 1); // [variable_as_a_parameter]
}

/* --- host programs that end early --------------------------------------------------------------------------------- */

/* --- pointers, copies and events ---------------------------------------------------------------------------------- */

typedef int (*unary)(int);
static __device__ unary no_functions[2];

FAULT("convergence", two_groups_at_one_call, 1, 32,
      "reads lane 0 by __shfl_sync, which made this call with the mask 0x55555555; this lane's mask is 0xffffffff")
{
    cooperative_groups::coalesced_group group = cooperative_groups::coalesced_threads();

    if (x[threadIdx.x] % 2 == 0)
        group = cooperative_groups::coalesced_threads();
    y[threadIdx.x] = group.shfl(x[threadIdx.x], 0); // [two_groups_at_one_call]
}

FAULT("convergence", tiles_that_do_not_fit, 1, 48, "divides the 48 threads of its group into tiles of 32")
{
    const cooperative_groups::thread_block block = cooperative_groups::this_thread_block();

    y[threadIdx.x] = cooperative_groups::tiled_partition<32>(block).any(x[0]); // [tiles_that_do_not_fit]
}

static __global__ void two_dynamic_arrays(const int *x, int *y)
{
    extern __shared__ int first[];
    extern __shared__ float second[];

    first[threadIdx.x] = x[threadIdx.x]; // [two_dynamic_arrays]
    second[threadIdx.x ^ 1] = 1;
    __syncthreads();
    y[threadIdx.x] = first[threadIdx.x];
}

FAULT_LAUNCH("memory", two_dynamic_arrays, "or, if they use different extern __shared__ arrays, an offset")
{
    (void)two_dynamic_arrays_added;
    two_dynamic_arrays<<<1, 32, 128>>>(device_x, device_y);
}

FAULT("memory", unsigned_index_below_zero, 1, 32,
      "behind the last (about 2^32 elements: is an unsigned index less than 0, or a 64-bit index too large?); try: ")
{
    y[threadIdx.x] = x[threadIdx.x - 1]; // [unsigned_index_below_zero]
}

static __global__ void dynamic_index_below_zero(int *y)
{
    extern __shared__ int dynamic_words[];

    dynamic_words[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = dynamic_words[threadIdx.x - 1]; // [dynamic_index_below_zero]
}

FAULT_LAUNCH("memory", dynamic_index_below_zero,
             "far from every shared variable (about 2^32 elements: is an unsigned index less than 0")
{
    (void)dynamic_index_below_zero_added;
    dynamic_index_below_zero<<<1, 32, 128>>>(device_y);
}

FAULT("memory", null_function, 1, 32, "calls a function through a null pointer")
{
    const unary function = no_functions[threadIdx.x % 2];

    y[threadIdx.x] = function(1); // [null_function]
}

static __device__ int *published;

FAULT("memory", shared_of_another_block, 2, 32, "reads a pointer to shared memory that another block has written")
{
    __shared__ int words[32];

    words[threadIdx.x] = 1;
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        atomicExch((unsigned long long *)&published, (unsigned long long)words);
        __threadfence();
        atomicExch(y, 1);
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (atomicAdd(y, 0) == 0)
            ;
        __threadfence();
        y[1] = *published; // [shared_of_another_block]
    }
}

FAULT("memory", overlapping_memcpy, 1, 1, "so the two overlap by 24 bytes; try: memmove()")
{
    y[0] = 28;
    memcpy(y + 1, y, (size_t)y[0]); // [overlapping_memcpy]
}

static __device__ int *heap_words;

static __global__ void allocate_words()
{
    heap_words = (int *)malloc(64);
}

static int *words_of_heap()
{
    int *words = nullptr;

    allocate_words<<<1, 1>>>();
    cudaMemcpyFromSymbol(&words, heap_words, sizeof words);
    return words;
}

FAULT_LAUNCH("memory", heap_to_host, "the source is memory that a kernel has allocated by malloc()")
{
    int words[16];
    const int *const from = words_of_heap();

    cudaMemcpy(words, from, sizeof words, cudaMemcpyDeviceToHost); // [heap_to_host]
}

FAULT_LAUNCH("memory", heap_freed_by_host, "a kernel has allocated the memory by malloc(); try: free() in a kernel")
{
    int *const words = words_of_heap();

    cudaFree(words); // [heap_freed_by_host]
}

FAULT_LAUNCH("memory", copy_to_the_address_of_a_pointer,
             "the destination is the address of a variable of the host, which holds a pointer to device memory; try: "
             "the pointer itself: d in place of &d")
{
    int *pointer = device_y;

    cudaMemcpy(&pointer, host_words, 64, cudaMemcpyHostToDevice); // [copy_to_the_address_of_a_pointer]
}

FAULT_LAUNCH("memory", copy_from_the_address_of_a_pointer, "the source is the address of a variable of the host, which")
{
    int *pointer = device_y;

    cudaMemcpy(host_words, &pointer, 64, cudaMemcpyDeviceToHost); // [copy_from_the_address_of_a_pointer]
}

FAULT_LAUNCH("memory", copy_to_a_name,
             "the destination is 'device_other', a __device__ variable, whose name is no device address in host code; "
             "nor can it be passed to a kernel; try: the address from cudaGetSymbolAddress(), or, for a copy, "
             "cudaMemcpyToSymbol()")
{
    cudaMemcpy(&device_other, host_words, 4, cudaMemcpyHostToDevice); // [copy_to_a_name]
}

FAULT_LAUNCH("memory", copy_from_a_name, "the source is 'constant_words', a __constant__ variable, whose name")
{
    cudaMemcpy(host_words, constant_words, 4, cudaMemcpyDeviceToHost); // [copy_from_a_name]
}

FAULT_LAUNCH("memory", memset_of_a_name, "try: the address from cudaGetSymbolAddress()")
{
    cudaMemset(&device_other, 0, 4); // [memset_of_a_name]
}

FAULT_LAUNCH("memory", copy_to_null, "the destination is a null pointer; try: malloc() or, for a std::vector, resize()")
{
    int *volatile nowhere = NULL;

    cudaMemcpy(nowhere, device_x, 64, cudaMemcpyDeviceToHost); // [copy_to_null]
}

FAULT_LAUNCH("memory", copy_from_null, "the source is a null pointer; try: a pointer from cudaMalloc()")
{
    int *volatile nowhere = NULL;

    cudaMemcpy(host_words, nowhere, 64, cudaMemcpyDeviceToHost); // [copy_from_null]
}

FAULT_LAUNCH("memory", copy_from_freed, "; try: cudaFree() after the last use; if a destructor")
{
    int *words;

    cudaMalloc(&words, 64);
    cudaFree(words);
    cudaMemcpy(host_words, words, 64, cudaMemcpyDeviceToHost); // [copy_from_freed]
}

FAULT_LAUNCH("memory", allocation_for_null, "cudaMalloc: invalid argument: a null pointer; try: &d")
{
    int **volatile nowhere = NULL;

    cudaMalloc(nowhere, 64); // [allocation_for_null]
}

FAULT_LAUNCH("memory", attribute_of_another_device,
             "cudaDeviceGetAttribute: invalid device ordinal: device 3; try: device 0")
{
    int threads;

    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 3); // [attribute_of_another_device]
}

FAULT_LAUNCH("memory", symbol_from_device,
             "the source is device memory, not memory of the host, as cudaMemcpyHostToDevice says; try: &d in place of")
{
    cudaMemcpyToSymbol(device_words_32, device_x, 128); // [symbol_from_device]
}

static __device__ __noinline__ int sign_of(int x);

FAULT("barriers", flag_reset_in_a_loop, 1, 64, "shared memory race: thread (1,0,0) of block (0,0,0) reads 4 bytes")
{
    __shared__ int changed;
    int round = 0;

    do {
        if (threadIdx.x == 0)
            changed = 0;
        __syncthreads();
        if (x[threadIdx.x] == 40 && round++ < 3)
            changed = 1;
        __syncthreads();
    } while (changed); // [flag_reset_in_a_loop]
    y[threadIdx.x] = round;
}

FAULT("calls", unreachable, 1, 32, "reaches __builtin_unreachable()")
{
    if (x[threadIdx.x] < 40)
        y[threadIdx.x] = 1;
    if (x[threadIdx.x] == 3)
        __builtin_unreachable(); // [unreachable]
}

#ifndef __clang__
FAULT("calls", assumed, 1, 32, "lets the compiler assume what does not hold: x[0] % 2 == 1; try: an assert() of it")
{
    __builtin_assume(x[0] % 2 == 1); // [assumed]
    y[threadIdx.x] = 1;
}

FAULT("calls", assumed_to_be_aligned, 1, 32, "lets the compiler assume what does not hold: __builtin_assume_aligned()")
{
    y[0] = *(const int *)__builtin_assume_aligned(x + threadIdx.x, 16); // [assumed_to_be_aligned]
}
#endif

FAULT("calls", missing_return, 1, 32, "reaches the end of a function that returns a value")
{
    y[threadIdx.x] = sign_of(x[threadIdx.x]);
}

#pragma GCC diagnostic ignored "-Wreturn-type"
static __device__ __noinline__ int sign_of(int x) // [missing_return]
{
    if (x > 0) // [missing_return by clang]
        return 1;
}

FAULT("calls", rank_of_no_lane, 1, 32, "reads rank 11 of a group of 11 threads; try: a rank below size()")
{
    if (threadIdx.x % 3 == 0) {
        const auto group = cooperative_groups::coalesced_threads();

        y[threadIdx.x] = group.shfl(x[threadIdx.x], group.size()); // [rank_of_no_lane]
    }
}

FAULT_LAUNCH("launches", pointer_in_place_of_its_address, "entry 0 of the array of parameters is a pointer to device")
{
    const void *kernel = (const void *)copy_kernel;
    void *parameters[] = {device_x, &device_y};

    (void)kernel;
    cudaLaunchKernel((void *)copy_kernel, dim3(1), dim3(32), parameters, 0, 0); // [pointer_in_place_of_its_address]
}

FAULT_LAUNCH("streams", event_of_a_capture, "the event was last recorded in a capture, which executes nothing")
{
    cudaGraph_t graph;

    cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed);
    cudaEventRecord(events[0], streams[0]);
    cudaStreamEndCapture(streams[0], &graph);
    cudaGraphDestroy(graph);
    cudaEventSynchronize(events[0]); // [event_of_a_capture]
}

FAULT_LAUNCH("streams", event_of_another_capture, "the event was not recorded in the capture")
{
    cudaGraph_t graph;

    cudaEventRecord(events[0], streams[1]);
    cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed);
    cudaStreamWaitEvent(streams[0], events[0], 0); // [event_of_another_capture]
    cudaStreamEndCapture(streams[0], &graph);
    cudaGraphDestroy(graph);
}

FAULT_LAUNCH("streams", time_of_no_event, "an event was never recorded, or was created with cudaEventDisableTiming")
{
    float milliseconds;

    cudaEventElapsedTime(&milliseconds, events[0], events[1]); // [time_of_no_event]
}

FAULT_LAUNCH("streams", graph_never_made, "not a graph that cudaGraphInstantiate() has made")
{
    cudaGraphLaunch(nullptr, streams[0]); // [graph_never_made]
}

FAULT_LAUNCH("process", no_such_device, "cudaSetDevice: invalid device ordinal: device 7; try: device 0")
{
    cudaSetDevice(7); // [no_such_device]
    exit(1);
}

FAULT_LAUNCH("process", unread_error, "cudaHostUnregister: invalid argument")
{
    cudaHostUnregister(nullptr); // [unread_error]
    exit(1);
}

#define PROCESS_FAULT(name, text) FAULT_LAUNCH("process", name, text)

PROCESS_FAULT(host_aborts, "the host calls abort()")
{
    abort(); // [host_aborts]
}

static __global__ void null_kernel(int *words)
{
    words[threadIdx.x] = 1; // [line_that_is_not_read]
}

static __global__ void read_null_kernel(const int *words, int *y)
{
    y[threadIdx.x] = words[threadIdx.x]; // [fault_whose_error_is_read]
}

PROCESS_FAULT(line_that_is_not_read, "null")
{
    null_kernel<<<1, 32>>>(nullptr);
    for (int i = 0; i < 1000; i++) /* like a program that launches until it gets a result */
        fill_kernel<<<1, 32>>>(device_x, 1);
    _exit(EXIT_FAILURE);
}

PROCESS_FAULT(fault_whose_error_is_read, "reads 4 bytes through a null pointer")
{
    int words[32];

    read_null_kernel<<<1, 32>>>(nullptr, device_x);
    cudaGetLastError(); /* the program prints the error's name; the copy then fails for another reason */
    cudaMalloc(&device_y, sizeof words);
    cudaMemcpy(words, device_y, sizeof words, cudaMemcpyDeviceToHost);
    exit(EXIT_FAILURE);
}

static void *launch_in_thread(void *)
{
    fill_kernel<<<1, 32>>>(device_x, 1); // [second_host_thread]
    return NULL;
}

PROCESS_FAULT(second_host_thread, "a second thread of the host launches")
{
    pthread_t thread;

    fill_kernel<<<1, 32>>>(device_x, 1);
    pthread_create(&thread, NULL, launch_in_thread, NULL);
    pthread_join(thread, NULL);
}

FAULT("barriers", barriers_with_different_numbers, 1, 64,
      "is at the __barrier_sync(1) of this line while thread (0,0,0) is at its __syncthreads")
{
    __barrier_sync(threadIdx.x / 32); // [barriers_with_different_numbers]
    y[threadIdx.x] = x[threadIdx.x];
}

FAULT("barriers", barrier_number_16, 1, 64, "waits at barrier 16, but a block has only the barriers 0 to 15")
{
    __barrier_sync(16); // [barrier_number_16]
    y[threadIdx.x] = x[threadIdx.x];
}

FAULT("barriers", count_that_some_threads_miss, 1, 64, "and 31 more wait at __syncthreads_count, but thread (32,0,0)")
{
    if (threadIdx.x < 32)
        y[threadIdx.x] = __syncthreads_count(x[threadIdx.x]); // [count_that_some_threads_miss]
}

FAULT("barriers", votes_of_two_kinds, 1, 64,
      "is at this __syncthreads_and while thread (32,0,0) is at the __syncthreads_or")
{
    if (threadIdx.x < 32)
        y[threadIdx.x] = __syncthreads_and(x[threadIdx.x]); // [votes_of_two_kinds]
    else
        y[threadIdx.x] = __syncthreads_or(x[threadIdx.x]);
}

static __global__ void sum_kernel(const int *x, int *sum)
{
    atomicAdd(sum, x[threadIdx.x]); // [sums_in_memory_that_is_not_cleared]
}

FAULT_LAUNCH("memory", sums_in_memory_that_is_not_cleared,
             "0 bytes into an allocation of 4 bytes; try: cudaMemset() before the launch")
{
    int *sum;

    cudaMalloc(&sum, sizeof *sum);
    keep(sum);
    sum_kernel<<<1, 32>>>(device_x, sum);
}

FAULT("order", matrix_stored_by_another_warp, 1, 64, "no barrier between; try: __syncthreads() between the two")
{
    __shared__ __align__(16) short elements[256];

    if (threadIdx.x < 32) {
        for (int i = threadIdx.x; i < 256; i += 32)
            elements[i] = (short)x[i];
    } else {
        const uint4 row = ((const uint4 *)elements)[threadIdx.x - 32]; // [matrix_stored_by_another_warp]
        y[threadIdx.x] = (int)row.x;
    }
}

FAULT("order", lock_held_at_a_barrier, 1, 64, "; meanwhile thread (0,0,0) waits at __syncthreads at ")
{
    if (threadIdx.x % 32 == 0)
        while (atomicCAS(y, 0, 1) != 0) // [lock_held_at_a_barrier]
            ;
    __syncthreads();
    atomicExch(y, x[0]);
}

FAULT("order", flag_without_a_fence, 1, 64, "try: __threadfence_block() between the store at :")
{
    if (threadIdx.x == 0) {
        y[1] = 5;
        atomicExch(&y[0], 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&y[0], 0) == 0)
            ;
        y[2] = y[1] + x[0]; // [flag_without_a_fence]
    }
}

FAULT("order", atomic_beside_a_plain_store, 1, 64, "try: an atomic for both accesses")
{
    if (threadIdx.x == 0)
        y[0] = x[5];
    atomicAdd(&y[0], 1); // [atomic_beside_a_plain_store]
}

struct row_with_sum {
    int row[4], sum;
};
struct grid_of_rows {
    row_with_sum *rows;
    __device__ row_with_sum &operator()(int i) const
    {
        return rows[i];
    }
};

static __global__ void member_array_of_an_element(const int *x, int *y)
{
    row_with_sum *const rows = (row_with_sum *)y;

    for (int i = 0; i <= 4; i++)
        rows[1].row[i] = x[i]; // [member_array_of_an_element]
}

INDEX_FAULT(member_array_of_an_element, "has an index outside its array or row")

static __global__ void member_array_of_a_call(const int *x, int *y)
{
    const grid_of_rows grid = {(row_with_sum *)y};

    for (int i = 0; i <= 4; i++)
        grid(1).row[i] = x[i]; // [member_array_of_a_call]
}

INDEX_FAULT(member_array_of_a_call, "has an index outside its array or row")

static __global__ void member_array_in_parentheses(const int *x, int *y)
{
    row_with_sum *const rows = (row_with_sum *)y;

    for (int i = 0; i <= 4; i++)
        (*rows).row[i] = x[i]; // [member_array_in_parentheses]
}

INDEX_FAULT(member_array_in_parentheses, "has an index outside its array or row")

static __global__ void one_of_two_arrays(const int *x, int *y)
{
    int a[4] = {}, b[4] = {};

    for (int i = 0; i <= 4; i++)
        (x[1] ? a : b)[i] = x[i]; // [one_of_two_arrays]
    y[0] = a[3] + b[3];
}

INDEX_FAULT(one_of_two_arrays, "has an index outside its array or row")

struct inherits_a_row : row_with_sum {
    __device__ void fill(const int *x)
    {
        for (int i = 0; i <= 4; i++)
            row_with_sum::row[i] = x[i]; // [member_array_of_a_base]
    }
};

static __global__ void member_array_of_a_base(const int *x, int *y)
{
    ((inherits_a_row *)y)->fill(x);
}

INDEX_FAULT(member_array_of_a_base, "has an index outside its array or row")

struct three_numbers {
    int a, b, c;
};
static __device__ __noinline__ three_numbers operator+(three_numbers left, three_numbers right)
{
    return {left.a + right.a, left.b + right.b, left.c + right.c};
}
struct two_of_three {
    three_numbers first, second;
};

static __device__ void write_half_and_read(const int *x, int *y)
{
    __shared__ int words[32];

    if (threadIdx.x < 16)
        words[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x]; // [store_that_misses_words] [store_to_check]
}

FAULT("memory", store_that_misses_words, 1, 32,
      "of 'words' at byte 64 (of 128) that no thread of the block has written; other bytes of it have been written, "
      "the nearest at :")
{
    write_half_and_read(x, y);
}

FAULT("memory", store_to_check, 1, 32,
      "; try: check the index and the condition of this read, and those of the store at :")
{
    write_half_and_read(x, y);
}

/* The block has 16 threads, and the array 64 elements. */
FAULT("memory", block_that_is_too_small, 1, 16,
      "; the first 16 elements, one for each of the 16 threads per block of the launch at :")
{
    __shared__ int words[64];

    words[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x + 32]; // [block_that_is_too_small]
}

/* A launch whose grid and block are exchanged. */
static __global__ void transpose_kernel(const int *x, int *y)
{
    __shared__ int tile[8][8];

    tile[threadIdx.y][threadIdx.x] = x[8 * threadIdx.y + threadIdx.x];
    __syncthreads();
    y[8 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; // [grid_and_block_exchanged]
}

FAULT_LAUNCH(
    "memory", grid_and_block_exchanged,
    " has blocks of 2 x 3 threads in a grid of 8 x 8; try: check the launch: <<<grid, block>>>; then the index")
{
    (void)grid_and_block_exchanged_added;
    transpose_kernel<<<dim3(8, 8), dim3(2, 3)>>>(device_x, device_y);
}

FAULT("memory", member_as_an_operand, 1, 1, "of 'pair' at byte 16 (of 24) that no thread of the block has written")
{
    __shared__ __align__(8) two_of_three pair;
    const two_of_three *const both = &pair;

    pair.first = {x[1], x[2], x[3]};
    const three_numbers sum = both->first + both->second; // [member_as_an_operand]
    y[0] = sum.c;
}

FAULT("memory", dereferenced_operand, 1, 1, "out-of-bounds global access")
{
    const three_numbers *const last = (const three_numbers *)(x + 4094);
    const three_numbers one = {1, 1, 1}, sum = one + *last; // [dereferenced_operand]

    y[0] = sum.c;
}

FAULT("traps", kernel_aborts, 1, 32, "thread (3,0,0) of block (0,0,0) calls abort(), which is a function of the host")
{
    if (threadIdx.x == 3)
        abort(); // [kernel_aborts]
    y[threadIdx.x] = x[threadIdx.x];
}

/* --- the wrong side ----------------------------------------------------------------------------------------------- */

/* The attribute of these kernels is in a macro, so the rewriter does not see that they are kernels. */

FAULT("host's", runtime_in_a_kernel, 1, 32,
      "calls cudaMemset(), which only the host can do; try: do it on the host, before or after the launch")
{
    if (threadIdx.x == 3)
        cudaMemset(y, 0, 4); // [runtime_in_a_kernel]
    y[threadIdx.x] = x[threadIdx.x];
}

FAULT("host's", launch_in_a_kernel, 1, 32, "launches copy_kernel, which only the host can do")
{
    if (threadIdx.x == 3)
        copy_kernel<<<1, 32>>>((int *)x, y); // [launch_in_a_kernel]
}

struct on_the_host {
    int predicate;

    void wait() const
    {
        __syncthreads(); // [barrier_of_the_host]
    }
    int vote() const
    {
        return __any_sync(0xffffffffu, predicate); // [vote_of_the_host]
    }
    void sleep() const
    {
        __nanosleep(100); // [sleep_of_the_host]
    }
};

PROCESS_FAULT(barrier_of_the_host, "the host calls a barrier of a block or a grid, which exists in kernels")
{
    on_the_host{1}.wait();
}

PROCESS_FAULT(vote_of_the_host, "the host calls __any_sync, which exists in kernels and __device__ functions only")
{
    exit(1 - on_the_host{1}.vote());
}

PROCESS_FAULT(sleep_of_the_host, "the host calls __nanosleep, which exists in kernels")
{
    on_the_host{1}.sleep();
}

static __host__ __device__ void leave(int status)
{
    exit(status);
}

static __global__ void leaving_kernel(const int *x)
{
    if (x[threadIdx.x] == 3)
        leave(1);
}

PROCESS_FAULT(exit_in_a_kernel, "leaving_kernel: thread (3,0,0) of block (0,0,0) ends the program, by exit()")
{
    leaving_kernel<<<1, 32>>>(device_x);
}

/* --- indices that hit another array ------------------------------------------------------------------------------- */

static __device__ int first_of_two[4], second_of_two[4];

FAULT("memory", index_computed_wrongly, 1, 6, "; or, if the index should be in bounds, check how it is computed")
{
    int *const first = first_of_two;

    first[threadIdx.x] = second_of_two[threadIdx.x % 4]; // [index_computed_wrongly]
}

FAULT("memory", second_of_a_declaration, 1, 6,
      "writes 4 bytes right past the end of 'first_of_two', which has 16 bytes")
{
    int *const p = first_of_two;

    p[threadIdx.x] = second_of_two[threadIdx.x % 4]; // [second_of_a_declaration]
}

FAULT("memory", another_allocation, 1, 32, "try: compare the index with the number of elements, because the line at :")
{
    const ptrdiff_t to_x = threadIdx.x < 8 ? 0 : x - y;

    atomicAdd(&y[to_x + x[threadIdx.x] % 8], 1); // [another_allocation]
}

FAULT("memory", bytes_of_another_array, 1, 64, "because accesses of 4 and 1 bytes seldom belong to one array")
{
    __shared__ char bytes[256];

    bytes[threadIdx.x] = 1;
    if (threadIdx.x == 40)
        *(volatile int *)bytes = x[0]; // [bytes_of_another_array]
}

FAULT("memory", group_that_waits_in_part, 1, 64, "wait at the block's sync(), but thread (0,0,0)")
{
    if (threadIdx.x >= 32)
        cooperative_groups::this_thread_block().sync(); // [group_that_waits_in_part]
    y[threadIdx.x] = x[threadIdx.x];
}

/* --- running the tests -------------------------------------------------------------------------------------------- */

/**
 * Runs a test in a child process, which must be killed by SIGSEGV in group "host" and must not exit with status 0 in
 * group "process". Stores the child's standard error in `text`.
 */
static void last_words(const struct fault *fault, char *text, size_t size)
{
    int ends[2];
    int status;
    size_t length = 0;

    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGSEGV, SIG_DFL); /* cmocka installs its own handler for each test */
        device_x = device_iota();
        fault->run();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got = 1; got > 0 && length<size - 1; length += got> 0 ? (size_t)got : 0)
        got = read(ends[0], text + length, size - 1 - length);
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_not_equal(status, 0);
    if (strcmp(fault->group, "host") == 0)
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/** Returns the line that has the fault's mark; with clang, a mark "NAME by clang" takes precedence if there is one. */
static int line_of_fault(const struct fault *fault)
{
    int line = 0;
#ifdef __clang__
    char mark[100];

    snprintf(mark, sizeof mark, "%s by clang", fault->name);
    line = line_marked(__FILE__, mark);
#endif
    return line ? line : line_marked(__FILE__, fault->name);
}

static void expect_line(const struct fault *fault, const char *said)
{
    char place[300];

    if (!strstr(said, fault->text))
        fail_msg("%s: \"%s\" does not say \"%s\"", fault->name, said, fault->text);
    snprintf(place, sizeof place, "%s:%d: ", __FILE__, line_of_fault(fault));
    if (starts_with_location(said, __FILE__) && strncmp(said, place, strlen(place)) != 0)
        fail_msg("%s: \"%s\" is not at %s", fault->name, said, place);
}

static void refused(void **state)
{
    const struct fault *fault = (const struct fault *)*state;

    device_x = device_iota();
    device_y = device_words(0);
    if (strcmp(fault->group, "streams") == 0)
        make_streams();
    if (strcmp(fault->group, "host") == 0 || strcmp(fault->group, "process") == 0) {
        char said[1000];

        last_words(fault, said, sizeof said);
        expect_line(fault, said);
        cudaFree(device_x);
        cudaFree(device_y);
        return;
    }
    fault->run();
    const cudaError_t error = cudaGetLastError();
    const char *said = simt_fault_message();

    if (error == cudaSuccess || !said)
        fail_msg("%s: not refused", fault->name);
    expect_line(fault, said);
    for (int i = 0; i < 3; i++)
        cudaStreamDestroy(streams[i]);
    for (int i = 0; i < 2; i++)
        cudaEventDestroy(events[i]);
    simt_fault_message(); /* reads the fault, so that errors from destroying a stream or event twice are not printed */
    cudaGetLastError();
    while (kept_count > 0)
        assert_int_equal(cudaFree(kept[--kept_count]), cudaSuccess);
    cudaFree(device_x);
    device_x = device_iota();
    copy_kernel<<<1, 32>>>(device_x, device_y);
    expect_success();
    assert_int_equal(download_and_free_words(device_y)[31], 31);
    cudaFree(device_x);
}

int main(void)
{
    static struct CMUnitTest tests[MAX_FAULTS];
    static char names[MAX_FAULTS][80];

    for (int i = 0; i < fault_count; i++) {
        snprintf(names[i], sizeof names[i], "%s: %s", faults[i].group, faults[i].name);
        tests[i].name = names[i];
        tests[i].test_func = refused;
        tests[i].initial_state = &faults[i];
    }
    return _cmocka_run_group_tests("faults", tests, (size_t)fault_count, NULL, NULL);
}
