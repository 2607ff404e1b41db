/**
 * @file store_rate.cu
 * @brief Measures how fast one multiprocessor stores when a block of 1,024 threads fills a list with stores of 4 or 16
 * bytes, then how fast several multiprocessors store.
 *
 *   sh tests/gpu/figures.sh store_rate
 */
#include <cstdio>

enum { THREADS = 1024, MAX_BLOCKS = 16, MAX_BYTES = 1 << 21 };

static __device__ long long nanoseconds()
{
    long long now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

/** Fills one list per thread block. Stores the first block's cycles and nanoseconds in `took`. */
template <typename Piece>
static __global__ void __launch_bounds__(THREADS) fill(Piece *lists, int pieces, Piece pad, long long *took)
{
    Piece *const list = lists + (size_t)blockIdx.x * pieces;

    __syncthreads();
    const long long began = nanoseconds(), first_cycle = clock64();

    for (int piece = threadIdx.x; piece < pieces; piece += THREADS)
        list[piece] = pad;
    __threadfence(); /* waits until the stores have been performed */
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        took[0] = clock64() - first_cycle;
        took[1] = nanoseconds() - began;
    }
}

template <typename Piece>
static void report(void *lists, int blocks, int bytes, Piece pad, long long *took)
{
    for (int run = 0; run < 3; run++) /* the last run is reported */
        fill<<<blocks, THREADS>>>((Piece *)lists, (int)(bytes / sizeof(Piece)), pad, took);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return;
    printf("%d_bytes_by_%d_block%s_%d_a_store %lld cycles\n", bytes, blocks, blocks > 1 ? "s" : "", (int)sizeof(Piece),
           took[0]);
    printf("%d_bytes_by_%d_block%s_%d_a_store_time %lld ns\n", bytes, blocks, blocks > 1 ? "s" : "", (int)sizeof(Piece),
           took[1]);
}

int main()
{
    void *lists;
    long long *took;

    if (cudaMalloc(&lists, (size_t)MAX_BLOCKS * MAX_BYTES) || cudaMallocManaged(&took, 2 * sizeof(*took)))
        return 3;
    for (int blocks = 1; blocks <= MAX_BLOCKS; blocks *= 4)
        for (int bytes = 1 << 16; bytes <= MAX_BYTES; bytes <<= 1) {
            report(lists, blocks, bytes, 13, took);
            report(lists, blocks, bytes, make_int4(13, 13, 13, 13), took);
        }
}
