/**
 * @file test_bulk_copies.cu
 * @brief Tests misuse of mbarriers, bulk copies and a warpgroup's products: each fault must be reported with its
 *        message at the line that is marked with the kernel's name. Similar but correct kernels must run without a
 *        fault.
 */
#include "simt_test.h"

#include <cuda_bf16.h>

#include "kernels/bulk_copy.cuh"
#include "kernels/messages.cuh"
#include "kernels/warpgroup_product.cuh"

struct bad_kernel {
    const char *name;
    const char *text; /* text of the fault; NULL: the kernel is correct */
    unsigned threads;
    void (*kernel)(const int *x, int *y);
};

enum { MAX_KERNELS = 100, SHARED_BYTES = 64 * 1024 };
static struct bad_kernel bad_kernels[MAX_KERNELS];
static int kernel_count;

static int add_kernel(const char *name, const char *text, unsigned threads, void (*kernel)(const int *, int *))
{
    bad_kernels[kernel_count++] = {name, text, threads, kernel};
    return 0;
}

/* The elements of x are 0, 1, 2, and so on; those of y are zeros. Both arrays have WORDS elements. */
#define KERNEL(name, threads, text)                                                            \
    static __global__ void name(const int *x, int *y);                                         \
    [[maybe_unused]] static const int name##_added = add_kernel(#name, text, (threads), name); \
    static __global__ void name([[maybe_unused]] const int *x, [[maybe_unused]] int *y)
#define REFUSED(name, threads, text) KERNEL(name, threads, text)
#define GOOD(name, threads)          KERNEL(name, threads, NULL)

/** Initialises a barrier in thread 0 and synchronises the block, so that all its threads may use the barrier. */
static __device__ __forceinline__ void make(mbarrier *barrier, uint32_t arrivals)
{
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, arrivals);
        mbarrier_init_fence();
    }
    __syncthreads();
}

/* Declares a destination of 64 words, and a barrier for `arrivals` arrivals. */
#define WORDS_AND_BARRIER(arrivals)         \
    __shared__ __align__(16) int words[64]; \
    __shared__ mbarrier full;               \
    make(&full, (arrivals))

/** In thread 0, announces 64 words to the barrier and copies them. */
#define COPY_64(to, from, barrier)               \
    if (threadIdx.x == 0) {                      \
        mbarrier_arrive_expect((barrier), 256);  \
        bulk_copy((to), (from), 256, (barrier)); \
    }

/* --- waiting ------------------------------------------------------------------------------------------------------ */

GOOD(all_wait, 64)
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x, &full)
    mbarrier_wait(&full, 0);
    y[threadIdx.x] = words[threadIdx.x];
}

GOOD(one_waits_for_all, 64)
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x, &full)
    if (threadIdx.x == 40)
        mbarrier_wait(&full, 0);
    __syncthreads();
    y[threadIdx.x] = words[threadIdx.x];
}

GOOD(bounded_wait_in_vain, 32)
{
    __shared__ mbarrier full;
    int tries = 0;

    make(&full, 2);
    if (threadIdx.x == 0)
        mbarrier_arrive(&full);
    while (!mbarrier_try_wait(&full, 0) && tries < 5)
        tries++;
    y[threadIdx.x] = tries;
}

GOOD(copies_of_all_threads, 64)
{
    __shared__ __align__(16) int words[256];
    __shared__ mbarrier full;

    make(&full, 64);
    cp_async_16(&words[4 * threadIdx.x], &x[4 * threadIdx.x]);
    mbarrier_arrive_cp_async(&full);
    mbarrier_wait(&full, 0);
    y[threadIdx.x] = words[255 - 4 * threadIdx.x];
}

REFUSED(read_before_wait, 64, "reads 4 bytes that it copies asynchronously")
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x, &full)
    y[threadIdx.x] = words[threadIdx.x]; // [read_before_wait]
    mbarrier_wait(&full, 0);
}

REFUSED(read_without_wait, 64, "shared memory race")
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x, &full)
    if (threadIdx.x < 32)
        mbarrier_wait(&full, 0);
    y[threadIdx.x] = words[threadIdx.x]; // [read_without_wait]
}

REFUSED(arrivals_of_all_threads, 128, "check how many threads arrive at the mbarrier of 'done': it was made")
{
    __shared__ int words[128];
    __shared__ mbarrier done;

    make(&done, blockDim.x / 32);
    words[threadIdx.x] = x[threadIdx.x]; // [arrivals_of_all_threads]
    mbarrier_arrive(&done);
    mbarrier_wait(&done, 0);
    y[threadIdx.x] = words[127 - threadIdx.x];
}

REFUSED(two_waits_for_one_parity, 64, "it returned at once, because the thread had already waited for that phase")
{
    WORDS_AND_BARRIER(64);
    words[threadIdx.x] = x[threadIdx.x];
    mbarrier_arrive(&full);
    mbarrier_wait(&full, 0);
    const int other = words[63 - threadIdx.x]; // [two_waits_for_one_parity]
    mbarrier_arrive(&full);
    mbarrier_wait(&full, 0);
    words[threadIdx.x] = other;
    y[threadIdx.x] = other;
}

REFUSED(wait_for_the_parity_before, 64, "the other parity in the wait at :")
{
    __shared__ int words[64];
    __shared__ mbarrier full;

    make(&full, 32);
    if (threadIdx.x < 32) {
        mbarrier_wait(&full, 1);
        y[threadIdx.x] = words[threadIdx.x];
    } else {
        words[threadIdx.x - 32] = x[threadIdx.x]; // [wait_for_the_parity_before]
        mbarrier_arrive(&full);
    }
}

REFUSED(
    phases_that_overtake, 64,
    "phases 0 to 3 have ended without a wait of this thread, which comes too late; try: let the thread that arrives")
{
    WORDS_AND_BARRIER(1);
    for (int i = 0; i < 4; i++) {
        COPY_64(words, x + 64 * i, &full)
        mbarrier_wait(&full, i & 1); // [phases_that_overtake]
        y[64 * i + threadIdx.x] = words[threadIdx.x];
    }
}

REFUSED(a_parity_that_does_not_alternate, 64,
        "; phase 1, of parity 1, has ended without a wait of this thread; try: check the parity of the wait at :")
{
    WORDS_AND_BARRIER(1);
    for (int i = 0; i < 4; i++) {
        COPY_64(words, x + 64 * i, &full)
        mbarrier_wait(&full, 0); // [a_parity_that_does_not_alternate]
        y[64 * i + threadIdx.x] = words[threadIdx.x];
        __syncthreads();
    }
}

REFUSED(a_wait_for_one_parity_twice, 64, "; try: check the parity of the wait at :")
{
    __shared__ mbarrier full;

    make(&full, 2);
    if (threadIdx.x < 2)
        mbarrier_arrive(&full);
    mbarrier_wait(&full, 0);
    mbarrier_wait(&full, 0);
    if (threadIdx.x == 0)
        mbarrier_arrive(&full);
    mbarrier_wait(&full, 1); // [a_wait_for_one_parity_twice]
}

REFUSED(phases_of_too_many_arrivals, 64,
        "with a count of 1, but 192 arrivals have already ended phases 0 to 191, the last 96 without a wait of this "
        "thread; try: if 64 threads arrive in each phase, initialise the mbarrier with 64 at :")
{
    __shared__ mbarrier full;

    make(&full, 1);
    for (int i = 0; i < 3; i++) {
        mbarrier_arrive(&full);
        mbarrier_wait(&full, i & 1); // [phases_of_too_many_arrivals]
    }
    y[threadIdx.x] = x[threadIdx.x];
}

/* Threads 0 to 31 wait for bytes because thread 64 waits for a phase that has ended long ago. */
REFUSED(phases_of_too_many_arrivals_before_a_copy, 96,
        "but 32 arrivals have already ended phases 0 to 31; others wait, probably in consequence: thread (0,0,0) at :")
{
    WORDS_AND_BARRIER(1);
    __shared__ mbarrier ready;

    make(&ready, 1);
    if (threadIdx.x < 32) {
        mbarrier_wait(&full, 0);
    } else if (threadIdx.x < 64) {
        mbarrier_arrive(&ready);
    } else if (threadIdx.x == 64) {
        __nanosleep(1000);
        mbarrier_arrive_expect(&full, sizeof words);
        mbarrier_wait(&ready, 0); // [phases_of_too_many_arrivals_before_a_copy]
        bulk_copy(words, x, sizeof words, &full);
    }
}

REFUSED(wait_for_the_phase_before, 32, "reads 4 bytes that it copies asynchronously")
{
    WORDS_AND_BARRIER(2);
    COPY_64(words, x, &full)
    mbarrier_wait(&full, 1);
    y[threadIdx.x] = words[threadIdx.x]; // [wait_for_the_phase_before]
    if (threadIdx.x == 0)
        mbarrier_arrive(&full);
    mbarrier_wait(&full, 0);
}

REFUSED(more_arrivals_announced_than_come, 64, "of 'both[1]': only 1 of the 64 arrivals announced at :")
{
    __shared__ mbarrier both[2];

    make(&both[0], 1);
    make(&both[1], 64);
    if (threadIdx.x == 0)
        mbarrier_arrive(&both[1]);
    mbarrier_wait(&both[1], 0); // [more_arrivals_announced_than_come]
}

REFUSED(own_copies_read_before_wait, 32, "reads 4 bytes that it copies asynchronously")
{
    __shared__ __align__(16) int words[128];
    __shared__ mbarrier full;

    make(&full, 32);
    cp_async_16(&words[4 * threadIdx.x], &x[4 * threadIdx.x]);
    mbarrier_arrive_cp_async(&full);
    y[threadIdx.x] = words[4 * threadIdx.x]; // [own_copies_read_before_wait]
    mbarrier_wait(&full, 0);
}

REFUSED(bytes_that_never_come, 32, "of 'full', which has its 1 arrival, but only 256 of the 272 bytes announced at :")
{
    WORDS_AND_BARRIER(1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&full, 272);
        bulk_copy(words, x, 256, &full);
    }
    mbarrier_wait(&full, 0); // [bytes_that_never_come]
}

REFUSED(announcement_to_correct, 32, "; try: announce as many bytes at :")
{
    WORDS_AND_BARRIER(1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&full, 272);
        bulk_copy(words, x, 256, &full);
    }
    mbarrier_wait(&full, 0); // [announcement_to_correct]
}

/** Makes a ring of one stage, which thread 32 fills: it waits for the parity of a stage that has been emptied. */
static __device__ void ring_with_a_wrong_parity(const int *x, int *words, mbarrier *filled, mbarrier *emptied)
{
    make(filled, 1);
    make(emptied, 1);
    if (threadIdx.x < 32)
        mbarrier_wait(filled, 0); // [a_full_stage] [an_empty_stage] [a_parity_of_the_first_round]
    if (threadIdx.x == 32) {
        mbarrier_wait(emptied, 0);
        mbarrier_arrive_expect(filled, 256);
        bulk_copy(words, x, 256, filled);
    }
}

#define RING_WITH_A_WRONG_PARITY            \
    __shared__ __align__(16) int words[64]; \
    __shared__ mbarrier filled, emptied;    \
    ring_with_a_wrong_parity(x, words, &filled, &emptied)

REFUSED(a_full_stage, 64, "waits for phase 0, of parity 0, of the mbarrier of 'filled': the 1 arrival announced at :")
{
    RING_WITH_A_WRONG_PARITY;
}

REFUSED(an_empty_stage, 64, " for phase 0, of parity 0, of the mbarrier of 'emptied': the 1 arrival announced at :")
{
    RING_WITH_A_WRONG_PARITY;
}

REFUSED(a_parity_of_the_first_round, 64,
        ", for a phase in which nothing has arrived: if it should return at once in the first round (the memory")
{
    RING_WITH_A_WRONG_PARITY;
}

REFUSED(bytes_never_announced, 32, "256 bytes have come unannounced")
{
    WORDS_AND_BARRIER(1);
    if (threadIdx.x == 0) {
        bulk_copy(words, x, 256, &full);
        mbarrier_arrive(&full);
    }
    mbarrier_wait(&full, 0); // [bytes_never_announced]
}

REFUSED(arrival_that_never_comes, 32, "phase 1, of parity 1, of the mbarrier of 'full'")
{
    __shared__ mbarrier full;

    make(&full, 2);
    if (threadIdx.x < 3)
        mbarrier_arrive(&full);
    mbarrier_wait(&full, 0);
    mbarrier_wait(&full, 1); // [arrival_that_never_comes]
}

REFUSED(arrivals_too_many, 32, "whose phase has had all its 1 arrivals and waits for 64 bytes")
{
    __shared__ mbarrier full;

    make(&full, 1);
    if (threadIdx.x == 0)
        mbarrier_arrive_expect(&full, 64);
    __syncthreads();
    if (threadIdx.x == 1)
        mbarrier_arrive(&full); // [arrivals_too_many]
}

/* --- barriers ----------------------------------------------------------------------------------------------------- */

REFUSED(barrier_never_made, 32, "uses an mbarrier that no thread has initialised")
{
    __shared__ mbarrier full;

    mbarrier_arrive(&full); // [barrier_never_made]
}

REFUSED(barrier_written_over, 32, "or that was written over")
{
    __shared__ mbarrier full;

    make(&full, 32);
    if (threadIdx.x == 0)
        full.state = 0;
    __syncthreads();
    mbarrier_arrive(&full); // [barrier_written_over]
}

REFUSED(barrier_made_by_another, 64, "uses an mbarrier that thread (0,0,0) initialised")
{
    __shared__ mbarrier full;

    if (threadIdx.x == 0)
        mbarrier_init(&full, 64);
    __syncwarp();
    mbarrier_arrive(&full); // [barrier_made_by_another]
}

REFUSED(barrier_made_without_fence, 32,
        "was not made visible to copies; try: mbarrier_init_fence() after the last mbarrier_init(), before the "
        "__syncthreads()")
{
    __shared__ __align__(16) int words[64];
    __shared__ mbarrier full;

    if (threadIdx.x == 0)
        mbarrier_init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        bulk_copy(words, x, 256, &full); // [barrier_made_without_fence]
}

REFUSED(barrier_made_twice, 32, "initialises an mbarrier that was initialised")
{
    __shared__ mbarrier full;

    make(&full, 1);
    if (threadIdx.x == 0)
        mbarrier_init(&full, 1); // [barrier_made_twice]
}

REFUSED(barrier_of_none, 32, "for 0 arrivals")
{
    __shared__ mbarrier full;

    if (threadIdx.x == 0)
        mbarrier_init(&full, 0); // [barrier_of_none]
}

REFUSED(barrier_in_global_memory, 32, "has an mbarrier that is not in shared memory")
{
    mbarrier_init((mbarrier *)y, 1); // [barrier_in_global_memory]
}

REFUSED(barrier_misaligned, 32, "has an mbarrier at an address that is not a multiple of 8")
{
    __shared__ __align__(8) int words[4];

    mbarrier_init((mbarrier *)&words[1], 1); // [barrier_misaligned]
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

REFUSED(copy_to_misaligned, 32, "copies to an address that is not a multiple of 16")
{
    __shared__ __align__(16) int words[66];
    __shared__ mbarrier full;

    make(&full, 1);
    COPY_64(words + 2, x, &full) // [copy_to_misaligned]
}

REFUSED(copy_from_misaligned, 32, "copies from an address that is not a multiple of 16")
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x + 1, &full) // [copy_from_misaligned]
}

REFUSED(copy_of_odd_size, 32, "copies 20 bytes in bulk, which is not a multiple of 16; try: rows")
{
    WORDS_AND_BARRIER(1);
    if (threadIdx.x == 0)
        bulk_copy(words, x, 20, &full); // [copy_of_odd_size]
}

REFUSED(copy_to_global_memory, 32, "copies 256 bytes to memory that is not shared")
{
    __shared__ mbarrier full;

    make(&full, 1);
    COPY_64(y, x, &full) // [copy_to_global_memory]
}

REFUSED(copy_from_shared_memory, 32, "that is not in global memory")
{
    __shared__ __align__(16) int words[128];
    __shared__ mbarrier full;

    make(&full, 1);
    COPY_64(words, words + 64, &full) // [copy_from_shared_memory]
}

REFUSED(copy_beyond_shared_memory, 32, "dynamic bytes of the launch at :")
{
    extern __shared__ __align__(16) unsigned char bytes[];
    __shared__ mbarrier full;

    make(&full, 1);
    COPY_64(bytes + SHARED_BYTES - 128, x, &full) // [copy_beyond_shared_memory]
}

REFUSED(copy_beyond_allocation, 32, "out-of-bounds global access")
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x + WORDS - 32, &full) // [copy_beyond_allocation]
}

REFUSED(copy_without_a_wait, 32, "for which no thread waits before the block ends")
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x, &full) // [copy_without_a_wait]
}

REFUSED(copy_into_one_under_way, 32, "writes 4 bytes that it copies asynchronously")
{
    WORDS_AND_BARRIER(1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&full, 512);
        bulk_copy(words, x, 256, &full);
        bulk_copy(words, x + 64, 256, &full); // [copy_into_one_under_way]
    }
}

REFUSED(copy_by_every_thread, 32,
        "has not waited for; try: one copy of these bytes in place of one by each thread: if (threadIdx.x == 0)")
{
    WORDS_AND_BARRIER(32);
    mbarrier_arrive_expect(&full, 256);
    bulk_copy(words, x, 256, &full); // [copy_by_every_thread]
    mbarrier_wait(&full, 0);
    y[threadIdx.x] = words[threadIdx.x];
}

REFUSED(store_into_one_under_way, 32, "writes 4 bytes that thread (0,0,0) copies asynchronously")
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x, &full)
    __syncthreads();
    if (threadIdx.x == 7)
        words[threadIdx.x] = 0; // [store_into_one_under_way]
}

REFUSED(barrier_before_the_wait, 64, "shared memory race: thread (32,0,0) of block (0,0,0) reads 4 bytes of 'words'")
{
    WORDS_AND_BARRIER(1);
    COPY_64(words, x, &full)
    __syncthreads();
    if (threadIdx.x < 32)
        mbarrier_wait(&full, 0);
    y[threadIdx.x] = words[threadIdx.x]; // [barrier_before_the_wait]
}

REFUSED(barrier_before_the_wait_for_threads, 64, "shared memory race: thread (1,0,0) of block (0,0,0) reads")
{
    WORDS_AND_BARRIER(64);
    if (threadIdx.x < 16)
        cp_async_16(words + threadIdx.x * 4, x + threadIdx.x * 4);
    mbarrier_arrive_cp_async(&full);
    __syncthreads();
    if (threadIdx.x == 0)
        mbarrier_wait(&full, 0);
    y[threadIdx.x] = words[threadIdx.x]; // [barrier_before_the_wait_for_threads]
}

REFUSED(refilled_while_others_read, 64, "shared memory race")
{
    WORDS_AND_BARRIER(2);
    int sum = 0;

    for (uint32_t turn = 0; turn < 2; turn++) {
        COPY_64(words, x + 64 * turn, &full) // [refilled_while_others_read]
        if (threadIdx.x == 63)
            mbarrier_arrive(&full);
        mbarrier_wait(&full, turn);
        sum += words[threadIdx.x];
    }
    y[threadIdx.x] = sum;
}

REFUSED(released_before_it_is_read, 64, "shared memory race")
{
    __shared__ __align__(16) int words[64];
    __shared__ mbarrier full, empty;
    int sum = 0;

    if (threadIdx.x == 0)
        mbarrier_init(&empty, 32);
    make(&full, 1);
    for (uint32_t turn = 0; turn < 2; turn++) {
        if (threadIdx.x == 32) {
            mbarrier_wait(&empty, turn ^ 1);
            mbarrier_arrive_expect(&full, 256);
            bulk_copy(words, x + 64 * turn, 256, &full); // [released_before_it_is_read]
        }
        if (threadIdx.x < 32) {
            mbarrier_wait(&full, turn);
            mbarrier_arrive(&empty);
            sum += words[threadIdx.x];
        }
    }
    y[threadIdx.x] = sum;
}

REFUSED(bulk_source_overwritten, 64, "source of an asynchronous copy overwritten")
{
    WORDS_AND_BARRIER(1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&full, 256);
        bulk_copy(words, y, 256, &full); // [bulk_source_overwritten]
    }
    __syncthreads();
    y[threadIdx.x] = 1;
    mbarrier_wait(&full, 0);
}

REFUSED(source_written_without_proxy_fence, 64, "with no fence.proxy.async between")
{
    __shared__ __align__(16) int words[64];
    __shared__ mbarrier full;

    y[threadIdx.x] = 1;
    make(&full, 1);
    COPY_64(words, y, &full) // [source_written_without_proxy_fence]
}

REFUSED(fence_of_the_threads_that_copy, 64, "before the barrier; or after the barrier, in the threads that issue the ")
{
    __shared__ __align__(16) int words[64];
    __shared__ mbarrier full;

    y[threadIdx.x] = 1;
    make(&full, 1);
    COPY_64(words, y, &full) // [fence_of_the_threads_that_copy]
}

REFUSED(source_written_before_fence_of_shared_memory, 64, "with no fence.proxy.async between")
{
    __shared__ __align__(16) int words[64];
    __shared__ mbarrier full;

    y[threadIdx.x] = 1;
    async_proxy_fence_shared();
    make(&full, 1);
    COPY_64(words, y, &full) // [source_written_before_fence_of_shared_memory]
}

GOOD(source_written_before_proxy_fence_of_writers, 64)
{
    __shared__ __align__(16) int words[64];
    __shared__ mbarrier full;

    y[threadIdx.x] = 1;
    async_proxy_fence();
    make(&full, 1);
    COPY_64(words, y, &full)
    mbarrier_wait(&full, 0);
}

GOOD(source_written_before_proxy_fence_of_reader, 64)
{
    __shared__ __align__(16) int words[64];
    __shared__ mbarrier full;

    y[threadIdx.x] = 1;
    make(&full, 1);
    if (threadIdx.x == 0)
        async_proxy_fence();
    COPY_64(words, y, &full)
    mbarrier_wait(&full, 0);
}

static __device__ tensor_map unmade_map, map;

REFUSED(map_never_made, 32, "copies by a tensor map that was never made")
{
    __shared__ __align__(1024) int words[256];
    __shared__ mbarrier full;

    make(&full, 1);
    bulk_copy_tile(words, &unmade_map, 0, 0, &full); // [map_never_made]
}

/** Makes a tensor map of x and initialises a barrier. */
static __device__ __forceinline__ void make_map(const int *x, mbarrier *barrier)
{
    if (threadIdx.x == 0)
        map.map = simt_tensor_map{x, 64, 64, 8, 64, 128, SIMT_TENSOR_MAP_MAGIC};
    make(barrier, 1);
}

REFUSED(tile_misaligned, 32, "copies a tile to an address that is not a multiple of 1024")
{
    __shared__ __align__(1024) int words[512];
    __shared__ mbarrier full;

    make_map(x, &full);
    bulk_copy_tile(words + 32, &map, 0, 0, &full); // [tile_misaligned]
}

REFUSED(tile_at_odd_column, 32, "from column 12, which is not a multiple of 8")
{
    __shared__ __align__(1024) int words[512];
    __shared__ mbarrier full;

    make_map(x, &full);
    bulk_copy_tile(words, &map, 0, 12, &full); // [tile_at_odd_column]
}

/* --- products ----------------------------------------------------------------------------------------------------- */

/* Byte offsets of the operands: a has 64 rows and is at 0; b has 8 rows and is at B. */
enum { B = 64 * 128, END = B + 8 * 128 };

/**
 * Fills both operands with ones using ordinary stores, so a proxy fence is needed before a product reads the operands.
 */
static __device__ __forceinline__ void write_operands(unsigned char *operands)
{
    for (unsigned i = threadIdx.x; i < END / 4; i += blockDim.x)
        ((int *)operands)[i] = 0x3f803f80; /* ones */
}

#define PRODUCT(sums) wgmma_m64k16_bf16(sums, wgmma_descriptor(operands), wgmma_descriptor(operands + B))

/** Fills both operands with ones and makes them visible to products. */
static __device__ __forceinline__ void make_ready(unsigned char *operands)
{
    write_operands(operands);
    async_proxy_fence();
    __syncthreads();
    wgmma_fence();
}

/** Commits a group of products and waits for it. */
static __device__ __forceinline__ void end_products(void)
{
    wgmma_commit_group();
    wgmma_wait_group<0>();
}

/* Declares the operands in shared memory and a thread's sums. */
#define OPERANDS_AND_SUMS                                       \
    extern __shared__ __align__(1024) unsigned char operands[]; \
    float sums[4] = {0, 0, 0, 0}

GOOD(product_of_ones, 128)
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    PRODUCT(sums);
    PRODUCT(sums);
    end_products();
    y[threadIdx.x] = (int)(sums[0] + sums[3]);
}

GOOD(product_fenced_by_readers, 128)
{
    OPERANDS_AND_SUMS;

    write_operands(operands);
    __syncthreads();
    async_proxy_fence_shared();
    wgmma_fence();
    PRODUCT(sums);
    end_products();
    y[threadIdx.x] = (int)sums[0];
}

GOOD(operands_written_again_after_the_wait, 128)
{
    OPERANDS_AND_SUMS;

    for (int turn = 0; turn < 2; turn++) {
        write_operands(operands);
        async_proxy_fence();
        __syncthreads();
        wgmma_fence();
        PRODUCT(sums);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        __syncthreads();
    }
    y[threadIdx.x] = (int)sums[0];
}

REFUSED(product_without_proxy_fence, 128, "with no fence.proxy.async between")
{
    OPERANDS_AND_SUMS;

    write_operands(operands);
    __syncthreads();
    wgmma_fence();
    PRODUCT(sums); // [product_without_proxy_fence]
    end_products();
}

REFUSED(product_without_barrier, 128, "shared memory race")
{
    OPERANDS_AND_SUMS;

    write_operands(operands);
    async_proxy_fence();
    wgmma_fence();
    PRODUCT(sums); // [product_without_barrier]
    end_products();
}

REFUSED(product_without_first_fence, 128, "without a wgmma.fence before the first")
{
    OPERANDS_AND_SUMS;

    write_operands(operands);
    async_proxy_fence();
    __syncthreads();
    PRODUCT(sums); // [product_without_first_fence]
}

REFUSED(product_of_unwritten_memory, 128, "uninitialised shared memory")
{
    OPERANDS_AND_SUMS;

    wgmma_fence();
    PRODUCT(sums); // [product_of_unwritten_memory]
    end_products();
}

REFUSED(operand_overwritten_before_the_wait, 128, "operand of a product overwritten")
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    PRODUCT(sums); // [operand_overwritten_before_the_wait]
    wgmma_commit_group();
    __syncthreads();
    write_operands(operands);
    wgmma_wait_group<0>();
}

REFUSED(operand_overwritten_without_a_barrier, 128, "shared memory race")
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    PRODUCT(sums); // [operand_overwritten_without_a_barrier]
    end_products();
    ((int *)operands)[(END - 4) / 4 - threadIdx.x] = 0;
}

REFUSED(released_before_the_wait, 160, "shared memory race")
{
    extern __shared__ __align__(1024) unsigned char operands[];
    __shared__ mbarrier full, empty;
    float sums[4] = {0, 0, 0, 0};

    if (threadIdx.x == 0)
        mbarrier_init(&empty, 4);
    write_operands(operands);
    async_proxy_fence();
    make(&full, 1);
    if (threadIdx.x == 128) {
        mbarrier_wait(&empty, 0);
        mbarrier_arrive_expect(&full, 256);
        bulk_copy(operands + B, x, 256, &full); // [released_before_the_wait]
        mbarrier_wait(&full, 0);
    } else if (threadIdx.x < 128) {
        wgmma_fence();
        PRODUCT(sums);
        wgmma_commit_group();
        if (threadIdx.x % 32 == 0)
            mbarrier_arrive(&empty);
        wgmma_wait_group<0>();
    }
}

#ifndef __clang__ /* clang does not instrument accesses to these sums */
REFUSED(sums_read_before_the_wait, 128, "reads 4 bytes of the sums of a product")
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    PRODUCT(sums);
    wgmma_commit_group();
    wgmma_wait_group<1>();
    y[threadIdx.x] = (int)sums[3]; // [sums_read_before_the_wait]
    wgmma_wait_group<0>();
}

REFUSED(sums_of_no_group, 128, "that no wgmma_commit_group() has committed, so no wait includes it; try: ")
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    PRODUCT(sums);
    wgmma_wait_group<0>();
    y[threadIdx.x] = (int)sums[3]; // [sums_of_no_group]
}

REFUSED(sums_written_before_the_wait, 128, "writes 4 bytes of the sums of a product")
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    PRODUCT(sums);
    wgmma_commit_group();
    sums[0] = 0; // [sums_written_before_the_wait]
    wgmma_wait_group<0>();
}
#endif

REFUSED(foreign_descriptor, 128, "the simulator knows those of a swizzle of 128 bytes")
{
    OPERANDS_AND_SUMS;

    wgmma_fence();
    wgmma_m64k16_bf16(sums, // [foreign_descriptor]
                      wgmma_descriptor(operands) & ~(3ull << 62), wgmma_descriptor(operands + B));
}

REFUSED(operand_misaligned, 128, "names an operand at an address that ends in 0x080")
{
    OPERANDS_AND_SUMS;

    wgmma_fence();
    wgmma_m64k16_bf16(sums, wgmma_descriptor(operands + 128), wgmma_descriptor(operands + B)); // [operand_misaligned]
}

REFUSED(operand_beyond_shared_memory, 128, "beyond the shared memory of this launch")
{
    OPERANDS_AND_SUMS;

    wgmma_fence();
    wgmma_m64k16_bf16(sums, // [operand_beyond_shared_memory]
                      wgmma_descriptor(operands + SHARED_BYTES - 1024), wgmma_descriptor(operands));
}

REFUSED(operand_in_global_memory, 128, "names an operand of a product that is not in shared memory")
{
    y[0] = (int)wgmma_descriptor(x); // [operand_in_global_memory]
}

REFUSED(warpgroup_of_three, 96, "warp 3 has done 0, or others")
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    PRODUCT(sums); // [warpgroup_of_three]
    end_products();
}

REFUSED(product_without_a_lane, 128, "without lane 5")
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    if (threadIdx.x == 5)
        return;
    PRODUCT(sums); // [product_without_a_lane]
    end_products();
}

REFUSED(products_of_several_operands, 128, "that are not those of lane 0")
{
    OPERANDS_AND_SUMS;

    make_ready(operands);
    wgmma_m64k16_bf16(sums, // [products_of_several_operands]
                      wgmma_descriptor(operands + threadIdx.x / 16 % 2 * 32), wgmma_descriptor(operands + B));
    end_products();
}

/* --- further rules for barriers and copies ------------------------------------------------------------------------ */

REFUSED(announced_too_much, 32, "announces 1048576 bytes at an mbarrier, made at")
{
    WORDS_AND_BARRIER(1);
    if (threadIdx.x == 0)
        mbarrier_arrive_expect(&full, 1 << 20); // [announced_too_much]
    words[threadIdx.x] = 0;
    y[threadIdx.x] = words[threadIdx.x];
}

REFUSED(overwritten_without_a_fence, 64, "overwrites 4 bytes that thread (0,0,0) of block (0,0,0) wrote at")
{
    WORDS_AND_BARRIER(1);
    words[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&full, 256);
        bulk_copy(words, x, 256, &full); // [overwritten_without_a_fence]
    }
    mbarrier_wait(&full, 0);
    y[threadIdx.x] = words[threadIdx.x];
}

GOOD(overwritten_behind_a_fence, 64)
{
    WORDS_AND_BARRIER(1);
    words[threadIdx.x] = 0;
    async_proxy_fence_shared();
    __syncthreads();
    COPY_64(words, x, &full);
    mbarrier_wait(&full, 0);
    y[threadIdx.x] = words[threadIdx.x];
}

GOOD(overwritten_behind_a_read, 64)
{
    WORDS_AND_BARRIER(1);
    words[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = words[63 - threadIdx.x];
    __syncthreads();
    COPY_64(words, x, &full);
    mbarrier_wait(&full, 0);
    y[threadIdx.x] += words[threadIdx.x];
}

REFUSED(map_in_shared_memory, 32, "copies by a tensor map in shared memory; it must be a const __grid_constant__")
{
    __shared__ tensor_map map;
    extern __shared__ __align__(1024) unsigned char tile[];
    WORDS_AND_BARRIER(1);
    memset(&map, 0, threadIdx.x == 0 ? sizeof map : 0);
    if (threadIdx.x == 0)
        bulk_copy_tile(tile, &map, 0, 0, &full); // [map_in_shared_memory]
    words[threadIdx.x] = 0;
    y[threadIdx.x] = words[threadIdx.x];
}

/* --- registers ---------------------------------------------------------------------------------------------------- */

GOOD(registers_from_one_warpgroup_to_two, 384)
{
    if (threadIdx.x < 128)
        registers_decrease<40>();
    else
        registers_increase<232>();
    y[threadIdx.x] = x[threadIdx.x];
}

REFUSED(registers_of_three_warps, 256, "requests registers, but thread 96 of its warpgroup does not request the same")
{
    if (threadIdx.x < 96)
        registers_decrease<40>(); // [registers_of_three_warps]
    y[threadIdx.x] = x[threadIdx.x];
}

REFUSED(registers_without_the_first_warp, 128, "does not request the same; try: the same registers_decrease()")
{
    if (threadIdx.x >= 32)
        registers_increase<160>(); // [registers_without_the_first_warp]
    y[threadIdx.x] = x[threadIdx.x];
}

REFUSED(registers_of_half_a_warpgroup, 64, "requests registers, but thread 64 of its warpgroup does not exist")
{
    registers_decrease<40>(); // [registers_of_half_a_warpgroup]
    y[threadIdx.x] = x[threadIdx.x];
}

REFUSED(registers_beyond_the_file, 384, "the block's threads request 69632 in all, and a multiprocessor has 65536")
{
    if (threadIdx.x < 128)
        registers_decrease<64>();
    else
        registers_increase<240>(); // [registers_beyond_the_file]
    y[threadIdx.x] = x[threadIdx.x];
}

/* --- running the kernels ------------------------------------------------------------------------------------------ */

static void run(void **state)
{
    const struct bad_kernel *const bad = (const struct bad_kernel *)*state;
    void (*const kernel)(const int *, int *) = bad->kernel;
    int *const x = device_iota(), *const y = device_words(0);

    assert_int_equal(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES),
                     cudaSuccess);
    /* The second launch must have the same result as the first. */
    for (int launch = 0; launch < 2; launch++) {
        kernel<<<1, bad->threads, SHARED_BYTES>>>(x, y);
        const cudaError_t error = cudaPeekAtLastError();

        if (bad->text) {
            assert_int_not_equal(error, cudaSuccess);
            expect_fault(error, __FILE__, bad->name, bad->text);
        } else {
            expect_success();
        }
    }
    cudaFree(x);
    int *const again = device_iota();

    cudaMemset(y, 0, 4 * WORDS);
    all_wait<<<1, 64>>>(again, y);
    expect_success();
    assert_int_equal(download_and_free_words(y)[63], 63);
    cudaFree(again);
}

static void counts(void **state)
{
    (void)state;
    int *const x = device_iota(), *const y = device_words(0);

    read_and_reset_counters();
    all_wait<<<1, 64>>>(x, y);
    product_of_ones<<<1, 128, END>>>(x, y);
    expect_success();
    const struct simt_counters counters = read_and_reset_counters();

    assert_int_equal(download_and_free_words(y)[0], 64);
    assert_int_equal(counters.bulk_copies, 1);
    assert_int_equal(counters.bulk_copy_bytes, 256);
    assert_int_equal(counters.tensor_operations, 2 * 4);
    cudaFree(x);
}

int main(void)
{
    static struct CMUnitTest tests[MAX_KERNELS + 1];

    for (int i = 0; i < kernel_count; i++)
        tests[i] = {bad_kernels[i].name, run, NULL, NULL, &bad_kernels[i]};
    tests[kernel_count] = {"counts", counts, NULL, NULL, NULL};
    return _cmocka_run_group_tests("bulk_copies", tests, (size_t)kernel_count + 1, NULL, NULL);
}
