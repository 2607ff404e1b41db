/**
 * @file test_overlap.cu
 * @brief Tests launches with programmatic stream serialization: each race with a launch that may still be running must
 *        be reported with the lines of both accesses, and correct programs must run without a fault.
 *
 * The faulty access is marked with its test's name; the earlier launch's access has the mark that the test passes as
 * `before`.
 */
#include "simt_test.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "kernels/bulk_copy.cuh"
#include "kernels/messages.cuh"

struct program {
    const char *name;
    const char *text;   /* text of the fault; NULL: the program is correct */
    const char *before; /* mark of the earlier access */
    void (*run)(void);
};

enum { MAX_PROGRAMS = 100, THREADS = 64 };
static struct program programs[MAX_PROGRAMS];
static int program_count;

static int *x; /* 0, 1, 2, and so on */
static int *y; /* zeros */
static int *z;
static cudaStream_t streams[2];
static cudaEvent_t event;

static int add_program(const char *name, const char *text, const char *before, void (*run)(void))
{
    programs[program_count++] = {name, text, before, run};
    return 0;
}

#define PROGRAM(name, text, before)                                                                \
    static void name##_run(void);                                                                  \
    [[maybe_unused]] static const int name##_added = add_program(#name, text, before, name##_run); \
    static void name##_run(void)
#define REFUSED(name, text, before) PROGRAM(name, text, before)
#define GOOD(name)                  PROGRAM(name, NULL, NULL)

/** Returns the configuration of a launch that may overlap the preceding launch. */
static const cudaLaunchConfig_t *early(int blocks, int threads, cudaStream_t stream = NULL)
{
    static cudaLaunchAttribute attributes[2];
    static cudaLaunchConfig_t how = {};

    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    how = {dim3(blocks), dim3(threads), 0, stream, attributes, 1};
    return &how;
}

/** Returns the same configuration for a cooperative launch. */
static const cudaLaunchConfig_t *early_together(int blocks, int threads)
{
    cudaLaunchConfig_t *how = (cudaLaunchConfig_t *)early(blocks, threads);

    how->attrs[1].id = cudaLaunchAttributeCooperative;
    how->attrs[1].val.cooperative = 1;
    how->numAttrs = 2;
    return how;
}

static __device__ int thread_of_grid(void)
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

/* --- kernels of the earlier launch -------------------------------------------------------------------------------- */

static __global__ void write_kernel(int *to)
{
    to[thread_of_grid()] = thread_of_grid(); // [write]
}

static __global__ void write_and_trigger_kernel(int *to)
{
    to[thread_of_grid()] = thread_of_grid(); // [write_and_trigger]
    __threadfence();
    cudaTriggerProgrammaticLaunchCompletion();
}

static __global__ void trigger_and_write_kernel(int *to)
{
    cudaTriggerProgrammaticLaunchCompletion();
    to[thread_of_grid()] = thread_of_grid();
}

static __global__ void copy_kernel(const int *from, int *to)
{
    to[thread_of_grid()] = from[thread_of_grid()]; // [copy] [event_of_another_stream]
}

static __global__ void count_kernel(int *count)
{
    atomicAdd(count, 1); // [count]
}

/** Writes and reads `words` in one block, with barriers in between. */
static __global__ void one_block_kernel(int *words)
{
    words[threadIdx.x] = 1;
    __syncthreads();
    words[63 - threadIdx.x] += 1; // [one_block]
    __syncthreads();
    words[64 + threadIdx.x] = words[threadIdx.x];
}

/* --- no wait before the access ------------------------------------------------------------------------------------ */

static __global__ void read_before_wait_kernel(const int *from, int *to)
{
    const int value = from[thread_of_grid()]; // [read_before_wait]

    cudaGridDependencySynchronize();
    to[thread_of_grid()] = value;
}

REFUSED(read_before_wait,
        "race with an earlier launch: thread (0,0,0) of block (0,0,0) reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<2, THREADS>>>(y);
    cudaLaunchKernelEx(early(2, THREADS), read_before_wait_kernel, y, z);
}

static __global__ void never_waits_kernel(const int *from, int *to)
{
    to[thread_of_grid()] = from[thread_of_grid()]; // [never_waits] [after_a_trigger] [in_a_graph] [in_a_stream]
}

REFUSED(never_waits, ", and no cudaGridDependencySynchronize() orders the two", "write")
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), never_waits_kernel, y, z);
}

REFUSED(after_a_trigger, "reads 4 bytes that the launch at :", "write_and_trigger")
{
    write_and_trigger_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), never_waits_kernel, y, z);
}

REFUSED(in_a_stream, "reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<1, THREADS, 0, streams[0]>>>(y);
    copy_kernel<<<1, THREADS, 0, streams[1]>>>(x, x + 1024);
    cudaLaunchKernelEx(early(1, THREADS, streams[0]), never_waits_kernel, y, z);
}

static __global__ void write_before_wait_kernel(int *to)
{
    to[thread_of_grid()] = 0; // [write_over_read] [write_over_write]
    cudaGridDependencySynchronize();
}

REFUSED(write_over_read, "writes 4 bytes that the launch at :", "copy")
{
    copy_kernel<<<1, THREADS>>>(x, y);
    cudaLaunchKernelEx(early(1, THREADS), write_before_wait_kernel, x);
}

REFUSED(write_over_write, "writes 4 bytes that the launch at :", "write")
{
    write_kernel<<<3, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), write_before_wait_kernel, y);
}

static __global__ void read_count_kernel(const int *count, int *to)
{
    to[threadIdx.x] = *count; // [read_of_a_count]
}

REFUSED(read_of_a_count, "reads 4 bytes that the launch at :", "count")
{
    count_kernel<<<4, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), read_count_kernel, y, z);
}

static __global__ void count_before_wait_kernel(int *count)
{
    atomicAdd(count, 1); // [count_over_write]
    cudaGridDependencySynchronize();
}

REFUSED(count_over_write, "updates atomically 4 bytes that the launch at :", "write")
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), count_before_wait_kernel, y);
}

static __global__ void read_vector_kernel(const int4 *from, int4 *to)
{
    to[threadIdx.x] = from[threadIdx.x]; // [read_of_a_vector]
}

REFUSED(read_of_a_vector, "reads 4 bytes that the launch at :", "one_block")
{
    one_block_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, 4), read_vector_kernel, (int4 *)(y + 1024), (int4 *)z); /* other words: correct */
    cudaDeviceSynchronize();
    write_kernel<<<1, THREADS>>>(y + 64);
    one_block_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, 16), read_vector_kernel, (int4 *)y, (int4 *)z);
}

static __global__ void write_halves_kernel(short *halves)
{
    halves[threadIdx.x] = 1; // [write_halves]
}

/** Writes the lower halves of words and, after a barrier, the upper halves; launched with one block. */
static __global__ void write_halves_in_turn_kernel(short *halves)
{
    halves[2 * threadIdx.x] = 1; // [write_halves_in_turn]
    __syncthreads();
    halves[2 * (63 - threadIdx.x) + 1] = 1;
}

static __global__ void read_first_halves_kernel(const short *halves, int *to)
{
    to[threadIdx.x] = halves[2 * threadIdx.x]; // [read_of_a_half] [read_of_an_earlier_half]
}

REFUSED(read_of_a_half, "reads 2 bytes that the launch at :", "write_halves")
{
    write_halves_kernel<<<1, THREADS>>>((short *)y);
    cudaLaunchKernelEx(early(1, THREADS / 2), read_first_halves_kernel, (short *)y, z);
}

REFUSED(read_of_an_earlier_half, "reads 2 bytes that the launch at :", "write_halves_in_turn")
{
    write_halves_in_turn_kernel<<<1, THREADS>>>((short *)y);
    cudaLaunchKernelEx(early(1, THREADS), read_first_halves_kernel, (short *)y, z);
}

static __global__ void read_only_kernel(const short *halves, int *to)
{
    to[threadIdx.x] = __ldg(&halves[2 * threadIdx.x]); // [read_only]
}

REFUSED(read_only, "reads 2 bytes that the launch at :", "write_halves")
{
    write_halves_kernel<<<1, THREADS>>>((short *)y);
    cudaLaunchKernelEx(early(1, THREADS / 2), read_only_kernel, (short *)y, z);
}

static __global__ void read_only_by_one_kernel(const short *halves, int *to)
{
    if (threadIdx.x == 0) {
        cudaGridDependencySynchronize();
        to[0] = __ldg(&halves[1]) + __ldg(&halves[1]);
    } else if (threadIdx.x == 32) {
        to[1] = halves[0]; // [beside_read_only]
    }
}

REFUSED(beside_read_only, "reads 2 bytes that the launch at :", "write_halves")
{
    write_halves_kernel<<<1, THREADS>>>((short *)y);
    cudaLaunchKernelEx(early(1, THREADS), read_only_by_one_kernel, (short *)y, z);
}

static __global__ void copy_before_wait_kernel(const int *from, int *to)
{
    __shared__ int words[THREADS];

    __pipeline_memcpy_async(&words[threadIdx.x], &from[threadIdx.x], 4); // [asynchronous_copy]
    __pipeline_commit();
    cudaGridDependencySynchronize();
    __pipeline_wait_prior(0);
    to[threadIdx.x] = words[threadIdx.x];
}

REFUSED(asynchronous_copy, "reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), copy_before_wait_kernel, y, z);
}

/** Copies 256 bytes with a bulk copy, which is issued before the wait if `before` is true, and after it otherwise. */
static __global__ void bulk_copy_kernel(const int *from, int *to, bool before)
{
    __shared__ __align__(16) int words[THREADS];
    __shared__ mbarrier full;

    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init_fence();
        mbarrier_arrive_expect(&full, 256);
        if (!before)
            cudaGridDependencySynchronize();
        bulk_copy(words, from, 256, &full); // [bulk_copy_before_wait]
        if (before)
            cudaGridDependencySynchronize();
    }
    __syncthreads();
    mbarrier_wait(&full, 0);
    to[threadIdx.x] = words[threadIdx.x];
}

REFUSED(bulk_copy_before_wait, "reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), bulk_copy_kernel, y, z, true);
}

/* --- accesses that another thread's wait does not order ----------------------------------------------------------- */

static __global__ void other_branch_kernel(const int *from, int *to)
{
    if (threadIdx.x < 32)
        cudaGridDependencySynchronize();
    else
        to[threadIdx.x] = from[threadIdx.x]; // [other_branch]
}

REFUSED(other_branch, "thread (32,0,0) of block (0,0,0) reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), other_branch_kernel, y, z);
}

static __global__ void no_barrier_kernel(const int *from, int *to)
{
    if (threadIdx.x == 0)
        cudaGridDependencySynchronize();
    __syncwarp();
    to[threadIdx.x] = from[threadIdx.x]; // [another_warp]
}

REFUSED(another_warp, "thread (32,0,0) of block (0,0,0) reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), no_barrier_kernel, y, z);
}

static __global__ void one_block_waits_kernel(const int *from, int *to)
{
    if (blockIdx.x == 0)
        cudaGridDependencySynchronize();
    __syncthreads();
    to[thread_of_grid()] = from[thread_of_grid()]; // [another_block]
}

REFUSED(another_block, "thread (0,0,0) of block (1,0,0) reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<2, THREADS>>>(y);
    cudaLaunchKernelEx(early(2, THREADS), one_block_waits_kernel, y, z);
}

/** Waits in block 0 for the earlier launch: after the grid's barrier if `after` is true, before it otherwise. */
static __global__ void together_kernel(const int *from, int *to, bool after)
{
    if (blockIdx.x == 0 && !after)
        cudaGridDependencySynchronize();
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && after)
        cudaGridDependencySynchronize();
    __syncthreads();
    to[thread_of_grid()] = from[thread_of_grid()]; // [barrier_of_the_grid_before]
}

REFUSED(barrier_of_the_grid_before, "of block (1,0,0) reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<2, THREADS>>>(y);
    cudaLaunchKernelEx(early_together(2, THREADS), together_kernel, y, z, true);
}

/* --- the order of three launches ---------------------------------------------------------------------------------- */

static __global__ void wait_and_copy_kernel(const int *from, int *to)
{
    cudaGridDependencySynchronize();
    to[thread_of_grid()] = from[thread_of_grid()]; // [second_never_waited] [in_a_graph_of_three]
}

static __global__ void idle_kernel(void)
{
}

REFUSED(second_never_waited, "; the wait does not order the two, because the launch between at :", "write")
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), idle_kernel);
    cudaLaunchKernelEx(early(1, THREADS), wait_and_copy_kernel, y, z);
}

static __global__ void trigger_at_once_kernel(const int *from, int *to)
{
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    to[thread_of_grid()] = from[thread_of_grid()];
}

static __global__ void third_kernel(const int *from, int *to)
{
    const int value = from[thread_of_grid()]; // [third_before_its_wait]

    cudaGridDependencySynchronize();
    to[thread_of_grid()] += value;
}

REFUSED(third_before_its_wait, "reads 4 bytes that the launch at :", "write")
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), trigger_at_once_kernel, y, z);
    cudaLaunchKernelEx(early(1, THREADS), third_kernel, y, z);
}

static __global__ void halves_kernel(short *halves, int which, bool waits)
{
    if (waits)
        cudaGridDependencySynchronize();
    halves[2 * threadIdx.x + which] = (short)threadIdx.x; // [other_half_in_third]
}

REFUSED(other_half_in_third, "writes 2 bytes that the launch at :", "other_half_in_third")
{
    halves_kernel<<<1, THREADS>>>((short *)y, 0, false);
    cudaLaunchKernelEx(early(1, THREADS), halves_kernel, (short *)y, 1, false);
    cudaLaunchKernelEx(early(1, THREADS), halves_kernel, (short *)y, 0, false);
}

REFUSED(event_of_another_stream,
        "race of two streams: thread (0,0,0) of block (0,0,0) of copy_kernel, launched at :", NULL)
{
    write_kernel<<<1, THREADS, 0, streams[0]>>>(y);
    cudaEventRecord(event, streams[0]);
    cudaEventRecord(event, streams[1]);
    cudaStreamWaitEvent(streams[1], event);
    copy_kernel<<<1, THREADS, 0, streams[1]>>>(y, z);
}

/** Captures the work that `record` queues in streams[0] and launches the graph twice. */
static void as_graph(void (*record)(cudaStream_t stream))
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    assert_int_equal(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal), cudaSuccess);
    record(streams[0]);
    assert_int_equal(cudaStreamEndCapture(streams[0], &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    for (int i = 0; i < 2; i++)
        cudaGraphLaunch(exec, streams[0]);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

REFUSED(in_a_graph, "reads 4 bytes that the launch at :", "write")
{
    as_graph([](cudaStream_t stream) {
        write_kernel<<<1, THREADS, 0, stream>>>(y);
        cudaLaunchKernelEx(early(1, THREADS, stream), never_waits_kernel, y, z);
    });
}

REFUSED(in_a_graph_of_three, "because the launch between at :", "write")
{
    as_graph([](cudaStream_t stream) {
        write_kernel<<<1, THREADS, 0, stream>>>(y);
        cudaLaunchKernelEx(early(1, THREADS, stream), idle_kernel);
        cudaLaunchKernelEx(early(1, THREADS, stream), wait_and_copy_kernel, y, z);
    });
}

/* --- races within the launch that waits --------------------------------------------------------------------------- */

static __global__ void reverse_kernel(int *words)
{
    cudaGridDependencySynchronize();
    const int value = words[63 - threadIdx.x]; // [wait_is_no_barrier]

    words[threadIdx.x] = value;
}

REFUSED(wait_is_no_barrier,
        "global memory race: thread (32,0,0) of block (0,0,0) reads 4 bytes at byte 124 of an allocation of 16384 "
        "bytes that thread (31,0,0) wrote",
        NULL)
{
    copy_kernel<<<1, THREADS>>>(y, z);
    cudaLaunchKernelEx(early(1, THREADS), reverse_kernel, y);
}

static __global__ void read_one_kernel(const int *from, int *to)
{
    to[thread_of_grid()] = *from;
}

static __global__ void read_then_write_kernel(int *word)
{
    cudaGridDependencySynchronize();
    if (blockIdx.x == 0 && *word == 1)
        return;
    if (blockIdx.x == 1)
        *word = 1; // [blocks_after_many_readers]
}

REFUSED(blocks_after_many_readers,
        "of block (1,0,0) writes 4 bytes at byte 0 of an allocation of 16384 bytes that thread (0,0,0) of block "
        "(0,0,0) read",
        NULL)
{
    read_one_kernel<<<8, THREADS>>>(y, z); /* the word then has more readers than the simulator stores */
    cudaLaunchKernelEx(early(2, 1), read_then_write_kernel, y);
}

static __global__ void count_then_read_kernel(int *count, int *to)
{
    cudaGridDependencySynchronize();
    atomicAdd(count, 1);
    if (blockIdx.x == 1)
        *to = *count; // [blocks_after_many_counts]
}

REFUSED(blocks_after_many_counts,
        "of block (1,0,0) reads 4 bytes at byte 0 of an allocation of 16384 bytes that thread (0,0,0) of block (0,0,0) "
        "updated",
        NULL)
{
    count_kernel<<<8, THREADS>>>(y);
    cudaLaunchKernelEx(early(2, 1), count_then_read_kernel, y, z);
}

/* --- correct programs --------------------------------------------------------------------------------------------- */

GOOD(waits_first)
{
    write_kernel<<<2, THREADS>>>(y);
    cudaLaunchKernelEx(early(2, THREADS), wait_and_copy_kernel, y, z);
    cudaLaunchKernelEx(early(2, THREADS), wait_and_copy_kernel, z, y);
    cudaLaunchKernelEx(early(2, THREADS), wait_and_copy_kernel, y, z);
}

GOOD(without_the_attribute)
{
    cudaLaunchConfig_t how = *early(1, THREADS);

    write_kernel<<<1, THREADS>>>(y);
    how.numAttrs = 0;
    cudaLaunchKernelEx(&how, never_waits_kernel, y, z);
    how.numAttrs = 1;
    how.attrs[0].val.programmaticStreamSerializationAllowed = 0;
    cudaLaunchKernelEx(&how, never_waits_kernel, y, z);
    wait_and_copy_kernel<<<1, THREADS>>>(y, z);
}

static __global__ void wait_twice_kernel(const int *from, int *to)
{
    cudaGridDependencySynchronize();
    to[threadIdx.x] = from[threadIdx.x];
    cudaGridDependencySynchronize();
    to[threadIdx.x] += from[threadIdx.x];
}

GOOD(waits_twice)
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), wait_twice_kernel, y, z);
}

GOOD(triggers_early)
{
    trigger_and_write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), trigger_at_once_kernel, y, z);
    cudaLaunchKernelEx(early(1, THREADS), trigger_at_once_kernel, z, y);
}

GOOD(first_of_its_stream)
{
    cudaLaunchKernelEx(early(1, THREADS), never_waits_kernel, x, y);
}

static __global__ void one_thread_waits_kernel(const int *from, int *to)
{
    if (threadIdx.x == 40)
        cudaGridDependencySynchronize();
    __syncthreads();
    to[thread_of_grid()] = from[thread_of_grid()];
}

GOOD(one_thread_waits)
{
    write_kernel<<<2, THREADS>>>(y);
    cudaLaunchKernelEx(early(2, THREADS), one_thread_waits_kernel, y, z);
}

GOOD(one_lane_waits)
{
    write_kernel<<<1, 32>>>(y);
    cudaLaunchKernelEx(early(1, 32), no_barrier_kernel, y, z);
}

static __global__ void prologue_kernel(const int *weights, const int *from, int *to, int *own)
{
    __shared__ int words[THREADS];

    words[threadIdx.x] = weights[threadIdx.x]; /* the earlier launch also only reads the weights */
    own[threadIdx.x] = words[threadIdx.x];
    __syncthreads();
    const int value = words[63 - threadIdx.x] + own[63 - threadIdx.x];

    cudaGridDependencySynchronize();
    to[threadIdx.x] = value + from[threadIdx.x];
}

GOOD(before_the_wait_what_nobody_writes)
{
    copy_kernel<<<1, THREADS>>>(x, y);
    cudaLaunchKernelEx(early(1, THREADS), prologue_kernel, x, y, z, z + 1024);
}

GOOD(other_bytes_of_a_word)
{
    halves_kernel<<<1, THREADS>>>((short *)y, 0, false);
    cudaLaunchKernelEx(early(1, THREADS), halves_kernel, (short *)y, 1, false);
    cudaLaunchKernelEx(early(1, THREADS), halves_kernel, (short *)y, 1, true);
}

GOOD(counts_need_no_wait)
{
    count_kernel<<<4, THREADS>>>(y);
    cudaLaunchKernelEx(early(4, THREADS), count_kernel, y);
    cudaLaunchKernelEx(early(1, THREADS), idle_kernel);
}

static __global__ void message_kernel(const int *from, int *to, int *flag)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        cudaGridDependencySynchronize();
        store_release(flag, 1);
    }
    if (blockIdx.x == 1) {
        while (threadIdx.x == 0 && load_acquire(flag) == 0)
            ;
        __syncthreads();
        to[threadIdx.x] = from[threadIdx.x];
    }
}

GOOD(one_block_tells_another)
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(2, THREADS), message_kernel, y, z, z + 1024);
}

static __global__ void volatile_kernel(const volatile int *from, int *to, int *flag)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        cudaGridDependencySynchronize();
        store_release(flag, 1);
    } else if (blockIdx.x == 1 && *(volatile int *)flag) {
        to[threadIdx.x] = from[threadIdx.x];
    }
}

GOOD(volatile_reads_need_no_fence)
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(2, THREADS), volatile_kernel, y, z, z + 1024);
}

GOOD(one_block_waits_for_the_grid)
{
    write_kernel<<<2, THREADS>>>(y);
    cudaLaunchKernelEx(early_together(2, THREADS), together_kernel, y, z, false);
}

GOOD(bulk_copy_after_wait)
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), bulk_copy_kernel, y, z, false);
}

GOOD(the_host_waited)
{
    write_kernel<<<1, THREADS>>>(y);
    cudaDeviceSynchronize();
    cudaLaunchKernelEx(early(1, THREADS), never_waits_kernel, y, z);
    cudaLaunchKernelEx(early(1, THREADS), never_waits_kernel, y, z + 1024);
}

GOOD(a_memset_between)
{
    write_kernel<<<1, THREADS>>>(y);
    cudaMemsetAsync(z, 0, 4);
    cudaLaunchKernelEx(early(1, THREADS), never_waits_kernel, y, z);
}

GOOD(a_host_function_between)
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchHostFunc(
        NULL, [](void *) {}, NULL);
    cudaLaunchKernelEx(early(1, THREADS), never_waits_kernel, y, z);
}

GOOD(ordinary_after_no_wait)
{
    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), copy_kernel, x, z);
    never_waits_kernel<<<1, THREADS>>>(y, z);
    cudaLaunchKernelEx(early(1, THREADS), wait_and_copy_kernel, y, z);
}

GOOD(the_host_after_no_wait)
{
    int word;

    write_kernel<<<1, THREADS>>>(y);
    cudaLaunchKernelEx(early(1, THREADS), copy_kernel, x, z);
    assert_int_equal(cudaMemcpy(&word, y + 5, sizeof word, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(word, 5);
}

GOOD(another_stream_between)
{
    write_kernel<<<1, THREADS, 0, streams[0]>>>(y);
    copy_kernel<<<1, THREADS, 0, streams[1]>>>(x, x + 1024);
    cudaEventRecord(event, streams[1]);
    cudaStreamWaitEvent(streams[0], event);
    cudaLaunchKernelEx(early(1, THREADS, streams[0]), copy_kernel, x + 1024, z); /* the event orders this launch */
    cudaLaunchKernelEx(early(1, THREADS, streams[0]), prologue_kernel, x, z, z + 1024, z + 2048);
}

GOOD(through_another_stream)
{
    write_kernel<<<1, THREADS, 0, streams[0]>>>(y);
    cudaEventRecord(event, streams[0]);
    cudaStreamWaitEvent(streams[1], event);
    copy_kernel<<<1, THREADS, 0, streams[1]>>>(y, z);
    cudaEventRecord(event, streams[1]);
    cudaStreamWaitEvent(streams[0], event);
    cudaLaunchKernelEx(early(1, THREADS, streams[0]), never_waits_kernel, y, z);
}

GOOD(another_stream_after_no_wait)
{
    write_kernel<<<1, THREADS, 0, streams[0]>>>(y);
    cudaLaunchKernelEx(early(1, THREADS, streams[0]), copy_kernel, x, z);
    cudaEventRecord(event, streams[0]);
    cudaStreamWaitEvent(streams[1], event);
    cudaLaunchKernelEx(early(1, THREADS, streams[1]), never_waits_kernel, y, z);
}

GOOD(the_default_stream_between)
{
    write_kernel<<<1, THREADS, 0, streams[0]>>>(y);
    idle_kernel<<<1, 1>>>();
    cudaLaunchKernelEx(early(1, THREADS, streams[0]), never_waits_kernel, y, z);
}

GOOD(in_graphs)
{
    as_graph([](cudaStream_t stream) {
        cudaLaunchKernelEx(early(1, THREADS, stream), never_waits_kernel, z, y); /* first in the graph: no overlap */
        cudaLaunchKernelEx(early(1, THREADS, stream), wait_and_copy_kernel, y, z);
        cudaLaunchKernelEx(early(1, THREADS, stream), wait_and_copy_kernel, z, y);
    });
    cudaLaunchKernelEx(early(1, THREADS, streams[0]), never_waits_kernel, y, z); /* runs after the whole graph */
}

/* --- running the programs ----------------------------------------------------------------------------------------- */

static void make_data(void)
{
    x = device_iota();
    y = device_words(0);
    z = device_words(0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cudaStreamCreate(&streams[i]), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
}

static void free_data(void)
{
    for (int i = 0; i < 2; i++)
        assert_int_equal(cudaStreamDestroy(streams[i]), cudaSuccess);
    assert_int_equal(cudaEventDestroy(event), cudaSuccess);
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
}

static void is_refused(const struct program *program)
{
    char before[32];

    if (!simt_fault_message())
        fail_msg("not refused");
    expect_fault(cudaErrorLaunchFailure, __FILE__, program->name, program->text);
    if (!program->before || !starts_with_location(simt_fault_message(), __FILE__))
        return;
    snprintf(before, sizeof before, " at :%d", line_marked(__FILE__, program->before));
    if (!strstr(simt_fault_message(), before))
        fail_msg("\"%s\" does not have \"%s\"", simt_fault_message(), before);
}

static void run_program(void **state)
{
    const struct program *program = (const struct program *)*state;

    make_data();
    program->run();
    if (program->text)
        is_refused(program);
    else
        expect_success();
    free_data();
}

int main(void)
{
    static struct CMUnitTest tests[MAX_PROGRAMS];

    for (int i = 0; i < program_count; i++)
        tests[i] = {programs[i].name, run_program, NULL, NULL, &programs[i]};
    return _cmocka_run_group_tests("overlap", tests, (size_t)program_count, NULL, NULL);
}
