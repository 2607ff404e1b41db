/**
 * @file align.cu
 * @brief Chapter 14b: one launch at every size, and every group in ascending order.
 *
 * Before: beyond 4,096 ids, chapter 10 is the fallback: one block counts all ids, and a second launch sorts.
 * Now:    one launch. Up to 4,096 ids use chapter 14a's kernels. For more, each block counts a part of the ids,
 *         publishes its counts, polls the other blocks' counts, and writes its part in order.
 * Watch:  one launch at every size; blocks that wait for other blocks of the launch; no atomic that determines a rank.
 */
#include "../14a_align_bit_ranks/few_ids.h"
#include "many_ids.cuh"

// [resident]
/**
 * Sets *blocks to the number of blocks that can be co-resident, at most one per multiprocessor. Returns an error if a
 * block does not fit.
 */
template <typename Kernel>
static cudaError_t resident_blocks(Kernel kernel, int threads, size_t shared_bytes, int *blocks)
{
    int device, multiprocessors = 0, blocks_per_multiprocessor = 0;
    cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);

    if (status == cudaSuccess)
        status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, kernel, threads,
                                                               shared_bytes);
    if (status == cudaSuccess && blocks_per_multiprocessor == 0)
        status = cudaErrorInvalidConfiguration;
    *blocks = multiprocessors < ALIGN_MAX_BLOCKS ? multiprocessors : ALIGN_MAX_BLOCKS;
    return status;
}
// [resident]

// [launch_parts]
/**
 * Launches at most `blocks` blocks, and no more than can be co-resident. Each block aligns a part of the ids.
 */
template <typename Id, int EXPERTS, int COUNTS_PER_WORD, int THREADS, int IDS_PER_THREAD>
static cudaError_t launch_parts(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream,
                                int blocks)
{
    typedef many_shared<EXPERTS, THREADS, IDS_PER_THREAD> shared;
    const auto kernel = align_many_kernel<Id, EXPERTS, COUNTS_PER_WORD, THREADS, IDS_PER_THREAD>;
    align_arguments align = align_arguments_of(problem, buffers);
    partition partition = {(exchange *)buffers->workspace, 0, 0};
    const size_t shared_bytes = shared::bytes(align.padded_experts, align.padded_experts / COUNTS_PER_WORD);
    int resident;
    const cudaError_t status = resident_blocks(kernel, THREADS, shared_bytes, &resident);

    if (status != cudaSuccess)
        return status;
    blocks = blocks < resident ? blocks : resident;
    partition.ids_per_block = round_up((int)((problem->numel + blocks - 1) / blocks), WARP_SIZE);
    if (COUNTS_PER_WORD == 4 &&
        partition.ids_per_block > INT16_MAX / rows_per_poll(COUNTS_PER_WORD)) /* a count would not fit into its bits */
        return launch_parts<Id, STATIC_EXPERTS, 2, 1024, 4>(problem, buffers, stream, resident);
    blocks = (align.numel + partition.ids_per_block - 1) / partition.ids_per_block;
    while ((align.num_experts << (partition.log2_warps_per_group + 1)) <= blocks * shared::WARPS)
        partition.log2_warps_per_group++;
    return launch_cooperative(problem->overlap, kernel, blocks, THREADS, shared_bytes, stream, align, partition);
}
// [launch_parts]

// [launch_many]
/** Launches the kernel for many ids, with one tile per block if there are enough blocks, otherwise with several. */
template <typename Id>
static cudaError_t launch_many(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const int64_t numel = problem->numel;

    if (problem->num_experts > STATIC_EXPERTS)
        return launch_parts<Id, 0, 2, 256, 1>(problem, buffers, stream, ALIGN_MAX_BLOCKS);
    if (numel <= 8192)
        return launch_parts<Id, STATIC_EXPERTS, 4, 256, 1>(problem, buffers, stream, (int)((numel + 255) / 256));
    if (numel <= 16384)
        return launch_parts<Id, STATIC_EXPERTS, 4, 512, 1>(problem, buffers, stream, (int)((numel + 511) / 512));
    if (numel <= 65536)
        return launch_parts<Id, STATIC_EXPERTS, 4, 512, 2>(problem, buffers, stream, (int)((numel + 1023) / 1024));
    if (numel <= 262144)
        return launch_parts<Id, STATIC_EXPERTS, 4, 512, 4>(problem, buffers, stream, (int)((numel + 2047) / 2048));
    if (numel <= 524288)
        return launch_parts<Id, STATIC_EXPERTS, 4, 1024, 4>(problem, buffers, stream, ALIGN_MAX_BLOCKS);
    return launch_parts<Id, STATIC_EXPERTS, 2, 1024, LONG_TILE_IDS_PER_THREAD>(problem, buffers, stream,
                                                                               ALIGN_MAX_BLOCKS);
}
// [launch_many]

// [launch]
/** Launches chapter 14a's kernels, which support up to 4,096 ids. */
extern "C" cudaError_t align_launch_few(const align_problem *problem, const align_buffers *buffers,
                                        cudaStream_t stream);

cudaError_t align_launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    if (align_is_few(problem))
        return align_launch_few(problem, buffers, stream);
    return problem->wide_ids ? launch_many<int64_t>(problem, buffers, stream)
                             : launch_many<int>(problem, buffers, stream);
}
// [launch]
