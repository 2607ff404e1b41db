/**
 * @file align.cu
 * @brief Chapter 14: one launch at every size, and every group in ascending order.
 *
 * Before: a block counts while others fill, a second launch sorts; atomics decide the order inside a group.
 * Now:    one launch. Few ids: every block counts all of them and writes the groups of its own experts. Many: every
 *         block counts a part, tells the others, and puts its part in order. A rank is a number of bits, so order is
 *         ascending.
 * Watch:  launches 1; no atomic returns a value that is used for a place; blocks of one launch that wait for each
 *         other.
 */
#include "few_ids.cuh"
#include "many_ids.cuh"

// [launch_few]
/** A block for every FEW_EXPERTS experts, with up to IDS ids for each of its threads. */
template <typename Id, int EXPERTS, int IDS>
static void launch_blocks(const list &list, cudaStream_t stream)
{
    const int blocks = (list.num_experts + FEW_EXPERTS - 1) / FEW_EXPERTS;
    const int share = round_up(list.numel, WARP_SIZE * IDS) / IDS, threads = share > WRITERS ? share : WRITERS;

    align_few_kernel<Id, EXPERTS, IDS><<<blocks, threads, few_shared_bytes(list), stream>>>(list);
}

template <typename Id, int EXPERTS>
static cudaError_t launch_few(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const list list = list_of(problem, buffers);
    const int warps = list.numel > 0 ? list.numel : 1; /* an empty grid is a launch error */

    if (list.numel <= WARP_SIZE)
        align_warp_kernel<Id><<<warps, WARP_SIZE, 0, stream>>>(list);
    else if (list.numel <= MAX_THREADS)
        launch_blocks<Id, EXPERTS, 1>(list, stream);
    else if (list.numel <= 2 * MAX_THREADS)
        launch_blocks<Id, EXPERTS, 2>(list, stream);
    else
        launch_blocks<Id, EXPERTS, 4>(list, stream);
    return cudaGetLastError();
}
// [launch_few]

// [resident]
/** How many blocks of a kernel wait for each other without harm: one for each multiprocessor, if it holds one. */
template <typename Kernel>
static cudaError_t resident_blocks(Kernel kernel, int threads, size_t shared_bytes, int *blocks)
{
    int device, processors = 0, each = 0;
    cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);

    if (status == cudaSuccess)
        status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes);
    if (status == cudaSuccess && each == 0)
        status = cudaErrorInvalidConfiguration;
    *blocks = processors < ALIGN_MAX_BLOCKS ? processors : ALIGN_MAX_BLOCKS;
    return status;
}
// [resident]

// [launch_many]
/** Up to `blocks` blocks, and no more than can wait for each other. */
template <typename Id, int EXPERTS, int PER_WORD, int THREADS, int IDS>
static cudaError_t launch_parts(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream,
                                int blocks)
{
    typedef many_shared<EXPERTS, THREADS, IDS> shared;
    const auto kernel = align_many_kernel<Id, EXPERTS, PER_WORD, THREADS, IDS>;
    list list = list_of(problem, buffers);
    shares shares = {(exchange *)buffers->workspace, 0, 0};
    void *arguments[] = {&list, &shares};
    const size_t shared_bytes = shared::bytes(list.experts, list.experts / PER_WORD);
    int resident;
    const cudaError_t status = resident_blocks(kernel, THREADS, shared_bytes, &resident);

    if (status != cudaSuccess)
        return status;
    blocks = blocks < resident ? blocks : resident;
    shares.part_ids = round_up((int)((problem->numel + blocks - 1) / blocks), WARP_SIZE);
    if (PER_WORD == 4 && shares.part_ids > INT16_MAX / rows_at_once(PER_WORD)) /* a count would not fit into its bits */
        return launch_parts<Id, FAST_EXPERTS, 2, 1024, 4>(problem, buffers, stream, resident);
    blocks = (list.numel + shares.part_ids - 1) / shares.part_ids;
    while ((list.num_experts << (shares.log_shares + 1)) <= blocks * shared::WARPS)
        shares.log_shares++;
    return cudaLaunchCooperativeKernel(kernel, blocks, THREADS, arguments, shared_bytes, stream);
}

/** Many ids: a tile for each block as long as there are blocks enough, then several. */
template <typename Id>
static cudaError_t launch_many(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const int64_t numel = problem->numel;

    if (problem->num_experts > FAST_EXPERTS)
        return launch_parts<Id, 0, 2, 256, 1>(problem, buffers, stream, ALIGN_MAX_BLOCKS);
    if (numel <= 8192)
        return launch_parts<Id, FAST_EXPERTS, 4, 256, 1>(problem, buffers, stream, (int)((numel + 255) / 256));
    if (numel <= 16384)
        return launch_parts<Id, FAST_EXPERTS, 4, 512, 1>(problem, buffers, stream, (int)((numel + 511) / 512));
    if (numel <= 65536)
        return launch_parts<Id, FAST_EXPERTS, 4, 512, 2>(problem, buffers, stream, (int)((numel + 1023) / 1024));
    if (numel <= 262144)
        return launch_parts<Id, FAST_EXPERTS, 4, 512, 4>(problem, buffers, stream, (int)((numel + 2047) / 2048));
    if (numel <= 524288)
        return launch_parts<Id, FAST_EXPERTS, 4, 1024, 4>(problem, buffers, stream, ALIGN_MAX_BLOCKS);
    return launch_parts<Id, FAST_EXPERTS, 2, 1024, LONG_TILE>(problem, buffers, stream, ALIGN_MAX_BLOCKS);
}
// [launch_many]

// [launch]
template <typename Id>
static cudaError_t launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const bool few = problem->kernel == ALIGN_KERNEL_AUTO
                         ? problem->numel <= FEW_IDS
                         : problem->kernel == ALIGN_KERNEL_SMALL || problem->numel == 0;

    if (!few)
        return launch_many<Id>(problem, buffers, stream);
    return problem->num_experts > FAST_EXPERTS ? launch_few<Id, 0>(problem, buffers, stream)
                                               : launch_few<Id, FAST_EXPERTS>(problem, buffers, stream);
}

cudaError_t align_launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    return problem->wide_ids ? launch<int64_t>(problem, buffers, stream) : launch<int>(problem, buffers, stream);
}
// [launch]
