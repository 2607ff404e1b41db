/**
 * @file primer.cu
 * @brief The primer's kernels, each a few lines long and with a single idea.
 */
#include "primer.h"

#include "kernels/messages.cuh"

#include <cuda_runtime.h>

enum { WARP_SIZE = 32, WARPS = 4, THREADS = WARPS * WARP_SIZE, BLOCKS = 2 };

static const unsigned FULL_MASK = 0xffffffffu;

// [who]
static __global__ void who(int *out)
{
    const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    out[thread] = (int)threadIdx.x / WARP_SIZE * 100 + (int)threadIdx.x % WARP_SIZE; /* the thread's warp and lane */
}
// [who]

// [who_launch]
/** Launches the kernel. All launch functions get an input and an output; this one ignores its input. */
cudaError_t primer_who(const int *, int *out)
{
    who<<<BLOCKS, THREADS>>>(out);
    return cudaGetLastError();
}
// [who_launch]

// [load]
static __global__ void load(const int *in, int stride, int *out)
{
    out[threadIdx.x] = in[threadIdx.x * stride];
}
// [load]

cudaError_t primer_neighbours(const int *in, int *out)
{
    load<<<1, WARP_SIZE>>>(in, 1, out);
    return cudaGetLastError();
}

cudaError_t primer_strides(const int *in, int *out)
{
    load<<<1, WARP_SIZE>>>(in, 8, out);
    return cudaGetLastError();
}

// [references]
/** Copies COUNT values into the caller's array. */
template <typename T, int COUNT>
static __device__ void load_row(const T *__restrict__ from, T (&row)[COUNT])
{
    for (int i = 0; i < COUNT; i++)
        row[i] = from[i];
}

static __device__ void add_to(int &sum, int value)
{
    sum += value;
}

static __global__ void sum_rows(const int *in, int *out)
{
    constexpr int COUNT = 4;
    int row[COUNT], sum = 0;

    load_row<int, COUNT>(in + threadIdx.x * COUNT, row);
    for (int i = 0; i < COUNT; i++)
        add_to(sum, row[i]);
    out[threadIdx.x] = sum;
}
// [references]

cudaError_t primer_rows(const int *in, int *out)
{
    sum_rows<<<1, WARP_SIZE>>>(in, out);
    return cudaGetLastError();
}

// [warp_sum]
/** Returns, in every lane, the sum over its group of LANES neighbouring lanes. */
template <int LANES>
static __device__ int warp_sum(int value)
{
    for (int offset = LANES / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(FULL_MASK, value, offset);
    return value;
}
// [warp_sum]

// [shuffle]
static __global__ void shuffle(int *out)
{
    out[threadIdx.x] = warp_sum<WARP_SIZE>((int)threadIdx.x);
}
// [shuffle]

cudaError_t primer_shuffle(const int *, int *out)
{
    shuffle<<<1, WARP_SIZE>>>(out);
    return cudaGetLastError();
}

static __global__ void shuffle_8(int *out)
{
    out[threadIdx.x] = warp_sum<8>((int)threadIdx.x);
}

cudaError_t primer_shuffle_8(const int *, int *out)
{
    shuffle_8<<<1, WARP_SIZE>>>(out);
    return cudaGetLastError();
}

// [branch]
static __global__ void branch(const int *in, int *out)
{
    int value = in[threadIdx.x];

    if (value % 2 == 0)
        value = value / 2;
    else
        value = 3 * value + 1;
    out[threadIdx.x] = value;
}
// [branch]

cudaError_t primer_branch(const int *in, int *out)
{
    branch<<<1, WARP_SIZE>>>(in, out);
    return cudaGetLastError();
}

// [select]
static __global__ void select(const int *in, int *out)
{
    const int value = in[threadIdx.x];
    const int half = value / 2, other = 3 * value + 1;

    out[threadIdx.x] = value % 2 == 0 ? half : other;
}
// [select]

cudaError_t primer_select(const int *in, int *out)
{
    select<<<1, WARP_SIZE>>>(in, out);
    return cudaGetLastError();
}

// [barrier]
static __global__ void barrier(int *out)
{
    __shared__ int sums[WARPS];
    const int sum = warp_sum<WARP_SIZE>((int)threadIdx.x);

    if (threadIdx.x % WARP_SIZE == 0)
        sums[threadIdx.x / WARP_SIZE] = sum;
    __syncthreads(); /* no thread continues until all threads of the block have arrived */
    out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}
// [barrier]

cudaError_t primer_barrier(const int *, int *out)
{
    barrier<<<1, THREADS>>>(out);
    return cudaGetLastError();
}

/* Omits the barrier of the kernel `barrier`, which causes a race. */
static __global__ void race(int *out)
{
    __shared__ int sums[WARPS];
    const int sum = warp_sum<WARP_SIZE>((int)threadIdx.x);

    // [race]
    if (threadIdx.x % WARP_SIZE == 0)
        sums[threadIdx.x / WARP_SIZE] = sum;
    out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
    // [race]
}

cudaError_t primer_race(const int *, int *out)
{
    race<<<1, THREADS>>>(out);
    return cudaGetLastError();
}

// [syncwarp]
static __global__ void swap_neighbours(const int *in, int *out)
{
    __shared__ int values[WARP_SIZE];
    const int lane = (int)threadIdx.x;

    values[lane] = in[lane];
    __syncwarp(); /* each lane's store is now visible to the other lanes */
    out[lane] = values[lane ^ 1];
}
// [syncwarp]

cudaError_t primer_syncwarp(const int *in, int *out)
{
    swap_neighbours<<<1, WARP_SIZE>>>(in, out);
    return cudaGetLastError();
}

// [reverse]
static __global__ void reverse(const int *in, int *out)
{
    extern __shared__ int values[]; /* [blockDim.x] */
    const int first = (int)(blockIdx.x * blockDim.x);

    values[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    out[first + threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

cudaError_t primer_reverse(const int *in, int *out)
{
    const cudaStream_t stream = 0; /* the default stream */

    reverse<<<BLOCKS, THREADS, THREADS * sizeof(int), stream>>>(in, out);
    return cudaGetLastError();
}
// [reverse]

// [collect]
static __global__ void collect(const int *in, int *out)
{
    __shared__ int count;

    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();

    const int value = in[threadIdx.x];

    if (value % 3 == 0) {
        const int slot = atomicAdd(&count, 1);

        out[slot] = value;
    }
}
// [collect]

cudaError_t primer_collect(const int *in, int *out)
{
    collect<<<1, THREADS>>>(in, out);
    return cudaGetLastError();
}

// [sum_all]
/** Adds the sum of `count` numbers to *sum. Grid: any. */
static __global__ void sum_all(const int *in, int count, int *sum)
{
    const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int num_threads = (int)(gridDim.x * blockDim.x);
    int part = 0;

    for (int i = thread; i < count; i += num_threads)
        part += in[i];
    part = warp_sum<WARP_SIZE>(part);
    if (threadIdx.x % WARP_SIZE == 0)
        atomicAdd(sum, part);
}
// [sum_all]

cudaError_t primer_sum(const int *in, int *out)
{
    sum_all<<<BLOCKS, THREADS>>>(in, 1000, out);
    return cudaGetLastError();
}

// [histogram]
/** Adds to counts[e] the number of input values with remainder e modulo EXPERTS. Grid: any. */
static __global__ void histogram(const int *in, int count, int *counts)
{
    constexpr int EXPERTS = 6;
    __shared__ int block_counts[EXPERTS];

    if (threadIdx.x < EXPERTS)
        block_counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += (int)(gridDim.x * blockDim.x))
        atomicAdd(&block_counts[in[i] % EXPERTS], 1);
    __syncthreads();
    if (threadIdx.x < EXPERTS)
        atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}
// [histogram]

cudaError_t primer_histogram(const int *in, int *out)
{
    histogram<<<BLOCKS, THREADS>>>(in, 1000, out);
    return cudaGetLastError();
}

// [tile]
/** A tile of ROWS x COLUMNS numbers. Each thread adds up four neighbouring numbers of a row. */
template <int ROWS_, int COLUMNS_>
struct tile {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, THREADS = ROWS * COLUMNS / 4;
    static_assert(COLUMNS % 4 == 0, "the four numbers of a thread lie in one row");
};

/** Adds up each row of a tile. Grid: one block of Tile::THREADS threads. */
template <typename Tile>
static __global__ void sum_tile(const int *in, int *out)
{
    const int first = (int)threadIdx.x * 4;

    atomicAdd(&out[first / Tile::COLUMNS], in[first] + in[first + 1] + in[first + 2] + in[first + 3]);
}

cudaError_t primer_tile(const int *in, int *out)
{
    typedef tile<8, 16> shape;

    sum_tile<shape><<<1, shape::THREADS>>>(in, out);
    return cudaGetLastError();
}
// [tile]

// [publish]
/** Passes a message in out[1] from block 1 to block 0, which polls the flag out[2] and copies it. Grid: two blocks. */
static __global__ void publish(const int *in, int *out)
{
    if (blockIdx.x == 1) {
        out[1] = in[7];
        store_release(&out[2], 1);
    } else {
        while (load_acquire(&out[2]) == 0)
            continue;
        out[0] = out[1];
    }
}

cudaError_t primer_publish(const int *in, int *out)
{
    void *arguments[] = {&in, &out};

    return cudaLaunchCooperativeKernel((const void *)publish, 2, 1, arguments, 0, 0);
}
// [publish]

/* Publishes a message as `publish` does, but with a volatile flag instead of a release and an acquire. */
static __global__ void publish_unordered(const int *in, int *out)
{
    // [unordered]
    if (blockIdx.x == 1) {
        out[1] = in[7];
        *(volatile int *)&out[2] = 1;
    } else {
        while (*(volatile int *)&out[2] == 0)
            continue;
        out[0] = out[1];
    }
    // [unordered]
}

cudaError_t primer_unordered(const int *in, int *out)
{
    void *arguments[] = {&in, &out};

    return cudaLaunchCooperativeKernel((const void *)publish_unordered, 2, 1, arguments, 0, 0);
}

// [fences]
/** Publishes a message as `publish` does, but with a fence in each block. Grid: two blocks. */
static __global__ void publish_with_fences(const int *in, int *out)
{
    if (blockIdx.x == 1) {
        out[1] = in[7];
        __threadfence();
        *(volatile int *)&out[2] = 1;
    } else {
        while (*(volatile int *)&out[2] == 0)
            continue;
        __threadfence();
        out[0] = out[1];
    }
}
// [fences]

cudaError_t primer_fences(const int *in, int *out)
{
    void *arguments[] = {&in, &out};

    return cudaLaunchCooperativeKernel((const void *)publish_with_fences, 2, 1, arguments, 0, 0);
}

// [blocks_at_once]
int primer_max_resident_blocks(int threads, size_t shared_bytes)
{
    int blocks = 0;

    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)reverse, threads, shared_bytes);
    return blocks;
}
// [blocks_at_once]
