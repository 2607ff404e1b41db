/**
 * @file cub_align.cu
 * @brief Align with CUB, a library in the CUDA Toolkit: a radix sort of (expert, position) and a scan over the experts.
 *
 * The CUB row of the timing tables shows its times. CUB's sort is stable, so positions ascend in every group, which
 * none of chapters 06 to 10 guarantees.
 */
#include "harness/align/align.h"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

enum { THREADS = 256, SCAN_THREADS = 1024, ALIGNMENT = 256 };

/** The arrays in the workspace. All except `sort_storage` have numel or num_experts + 1 words. */
struct workspace {
    int *keys, *sorted_keys, *positions, *sorted_positions;
    int *begins;  /* [num_experts + 1]: where each expert begins in the sorted list */
    int *offsets; /* [num_experts + 1]: where each expert's group begins in sorted_token_ids */
    void *sort_storage;
    size_t sort_bytes, bytes;
};

/** Returns the number of bits of keys 0 .. num_experts; num_experts is the key of ids that are skipped. */
static int key_bits(int num_experts)
{
    int bits = 1;

    while (num_experts >> bits)
        bits++;
    return bits;
}

static size_t padded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static cudaError_t cut_workspace(const align_problem *problem, void *memory, workspace *w)
{
    const size_t list = padded(problem->numel * sizeof(int)), table = padded((problem->num_experts + 1) * sizeof(int));
    char *const at = (char *)memory;

    w->keys = (int *)at;
    w->sorted_keys = (int *)(at + list);
    w->positions = (int *)(at + 2 * list);
    w->sorted_positions = (int *)(at + 3 * list);
    w->begins = (int *)(at + 4 * list);
    w->offsets = (int *)(at + 4 * list + table);
    w->sort_storage = at + 4 * list + 2 * table;
    w->sort_bytes = 0;

    const cudaError_t status = cub::DeviceRadixSort::SortPairs(NULL, w->sort_bytes, w->keys, w->sorted_keys,
                                                               w->positions, w->sorted_positions, (int)problem->numel,
                                                               0, key_bits(problem->num_experts));

    w->bytes = 4 * list + 2 * table + padded(w->sort_bytes);
    return status;
}

extern "C" size_t cub_align_workspace_bytes(const align_problem *problem)
{
    workspace w;

    return cut_workspace(problem, NULL, &w) == cudaSuccess ? w.bytes : 0;
}

/**
 * Fills the list with padding and generates the keys and positions to sort. Grid: enough threads for all ids and slots.
 */
template <typename Id>
static __global__ void prepare_kernel(align_problem problem, const Id *topk_ids, int *keys, int *positions,
                                      int *sorted_token_ids)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

    if (i < problem.capacity)
        sorted_token_ids[i] = (int)problem.numel;
    if (i >= problem.numel)
        return;

    const Id id = topk_ids[i];

    keys[i] = id >= 0 && id < problem.num_experts ? (int)id : problem.num_experts;
    positions[i] = (int)i;
}

/** Returns the number of sorted keys below `key`. */
static __device__ int lower_bound(const int *sorted_keys, int numel, int key)
{
    int first = 0, end = numel;

    while (first < end) {
        const int middle = first + (end - first) / 2;

        if (sorted_keys[middle] < key)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/** Finds every expert's ids in the sorted list and scans the sizes of the experts' groups. Grid: one block. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    offsets_kernel(align_problem problem, const int *sorted_keys, const int *expert_map, int *begins, int *offsets,
                   int *expert_ids, int *num_tokens_post_padded)
{
    typedef cub::BlockScan<int, SCAN_THREADS> block_scan;
    __shared__ typename block_scan::TempStorage storage;
    const int num_experts = problem.num_experts, block_size = problem.block_size, numel = (int)problem.numel;
    const int num_blocks = (int)problem.capacity / block_size;
    int total = 0;

    for (int first = 0; first < num_experts; first += SCAN_THREADS) {
        const int e = first + threadIdx.x;
        int blocks = 0, offset = 0, sum = 0;

        if (e < num_experts) {
            begins[e] = lower_bound(sorted_keys, numel, e);
            blocks = (lower_bound(sorted_keys, numel, e + 1) - begins[e] + block_size - 1) / block_size;
        }
        block_scan(storage).ExclusiveSum(blocks, offset, sum);
        __syncthreads(); /* the next round reuses the storage */
        offset += total;
        total += sum;
        if (e >= num_experts)
            continue;
        offsets[e] = offset * block_size;
        for (int block = offset; block < offset + blocks; block++)
            expert_ids[block] = expert_map ? expert_map[e] : e;
    }
    for (int block = total + threadIdx.x; block < num_blocks; block += SCAN_THREADS)
        expert_ids[block] = -1;
    if (threadIdx.x == 0)
        *num_tokens_post_padded = total * block_size;
}

/** Copies sorted positions to their slots in sorted_token_ids. Grid: one thread per id. */
static __global__ void place_kernel(align_problem problem, workspace w, int *sorted_token_ids)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;

    if (i >= problem.numel || w.sorted_keys[i] >= problem.num_experts)
        return;

    const int key = w.sorted_keys[i];

    sorted_token_ids[w.offsets[key] + (int)i - w.begins[key]] = w.sorted_positions[i];
}

template <typename Id>
static cudaError_t launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const int64_t most = problem->capacity > problem->numel ? problem->capacity : problem->numel;
    const unsigned prepare_blocks = (unsigned)((most + THREADS - 1) / THREADS);
    const unsigned place_blocks = (unsigned)((problem->numel + THREADS - 1) / THREADS);
    workspace w;
    cudaError_t status = cut_workspace(problem, buffers->workspace, &w);

    if (status != cudaSuccess)
        return status;
    if (prepare_blocks > 0) /* an empty grid is a launch error */
        prepare_kernel<<<prepare_blocks, THREADS, 0, stream>>>(*problem, (const Id *)buffers->topk_ids, w.keys,
                                                               w.positions, buffers->sorted_token_ids);
    status = cub::DeviceRadixSort::SortPairs(w.sort_storage, w.sort_bytes, w.keys, w.sorted_keys, w.positions,
                                             w.sorted_positions, (int)problem->numel, 0, key_bits(problem->num_experts),
                                             stream);
    if (status != cudaSuccess)
        return status;
    offsets_kernel<<<1, SCAN_THREADS, 0, stream>>>(*problem, w.sorted_keys, buffers->expert_map, w.begins, w.offsets,
                                                   buffers->expert_ids, buffers->num_tokens_post_padded);
    if (place_blocks > 0)
        place_kernel<<<place_blocks, THREADS, 0, stream>>>(*problem, w, buffers->sorted_token_ids);
    return cudaGetLastError();
}

extern "C" cudaError_t cub_align_launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    return problem->wide_ids ? launch<int64_t>(problem, buffers, stream) : launch<int>(problem, buffers, stream);
}
