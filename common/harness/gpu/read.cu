/**
 * @file gpu/read.cu
 * @brief Reads memory and discards the data, to measure the highest rate at which a kernel can read its input once.
 *
 * From compute capability 9.0 on, one thread of each block copies chunks to shared memory with bulk copies, several in
 * flight; on older GPUs, threads load 16 bytes at a time, with eight loads in flight.
 */
#include "harness/gpu/read.h"

#include <cstdint>
#include <cuda/ptx>

enum { STAGES = 8, THREADS = 512, UNROLLED = 8 };

/**
 * Copies every gridDim-th chunk with one thread per block. Before it starts a copy, the thread waits for the copy that
 * it started STAGES copies earlier.
 */
static __global__ void bulk_kernel(const char *from, int64_t chunks)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
    namespace ptx = cuda::ptx;
    extern __shared__ __align__(128) char stages[]; /* [STAGES][READ_CHUNK_BYTES] */
    __shared__ uint64_t arrived[STAGES];
    int64_t turn = 0;

    if (threadIdx.x > 0)
        return;
    for (int s = 0; s < STAGES; s++)
        ptx::mbarrier_init(&arrived[s], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    for (int64_t i = blockIdx.x; i < chunks + (int64_t)STAGES * gridDim.x; i += gridDim.x, turn++) {
        const int stage = (int)(turn % STAGES);

        if (turn >= STAGES)
            while (!ptx::mbarrier_try_wait_parity(&arrived[stage], (uint32_t)(turn / STAGES - 1) % 2))
                ;
        if (i < chunks) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived[stage],
                                           READ_CHUNK_BYTES);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stages + stage * READ_CHUNK_BYTES,
                               from + i * READ_CHUNK_BYTES, READ_CHUNK_BYTES, &arrived[stage]);
        }
    }
#else
    (void)from, (void)chunks;
#endif
}

/**
 * Reads 16 bytes per thread and iteration. The loaded values control a store that never executes, so that the compiler
 * cannot remove the loads.
 */
static __global__ void load_kernel(const uint4 *from, int64_t words)
{
    uint4 all = make_uint4(0, 0, 0, 0);
    const int64_t stride = (int64_t)gridDim.x * THREADS;

#pragma unroll UNROLLED
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < words; i += stride) {
        const uint4 word = __ldcs(&from[i]);

        all = make_uint4(all.x | word.x, all.y | word.y, all.z | word.z, all.w | word.w);
    }
    if ((all.x & all.y & all.z & all.w) == 0x80000001u && words < 0)
        ((uint4 *)from)[0] = all;
}

cudaError_t read_memory_launch(const void *source, size_t bytes, cudaStream_t stream)
{
    const int shared_bytes = STAGES * READ_CHUNK_BYTES;
    int device = 0, multiprocessors = 0, major = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (status == cudaSuccess && major >= 9)
        status = cudaFuncSetAttribute(bulk_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    if (status != cudaSuccess)
        return status;
    if (major >= 9)
        bulk_kernel<<<multiprocessors, 32, shared_bytes, stream>>>((const char *)source,
                                                                   (int64_t)(bytes / READ_CHUNK_BYTES));
    else
        load_kernel<<<4 * multiprocessors, THREADS, 0, stream>>>((const uint4 *)source,
                                                                 (int64_t)(bytes / sizeof(uint4)));
    return cudaGetLastError();
}
