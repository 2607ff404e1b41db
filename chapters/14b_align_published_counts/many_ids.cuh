/**
 * @file chapters/14b_align_published_counts/many_ids.cuh
 * @brief The kernel for many ids: each block counts a part of them, publishes its counts, and polls the other blocks'
 *        counts.
 */
#ifndef ALIGN_MANY_IDS_CUH
#define ALIGN_MANY_IDS_CUH

#include "kernels/overlap.cuh"
#include "rows.cuh"

// [first_tile]
/**
 * Marks the ids from `tile` to `end` of the block's part. If a run contains an expert twice, continues with shorter
 * tiles, in which each id has its own bit: `tile`, `log_run` and `expert` then refer to the last of the shorter tiles.
 */
template <typename Id, int EXPERTS, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ void mark_or_shorten_last_tile(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s,
                                                                 const align_arguments &align, const Id *ids, int end,
                                                                 bool first, int &tile, int &log_run,
                                                                 int expert[IDS_PER_THREAD])
{
    if (try_mark_tile(s, expert, log_run))
        return;
    const int long_tile = tile;

    log_run = 0;
    tile = (end - 1) / (s.WORDS * 32) * (s.WORDS * 32);
    if (first)
        count_ids(s, ids, long_tile, tile, align.num_experts);
    read_tile<Id, THREADS, IDS_PER_THREAD>(expert, ids + tile, end - tile, align.num_experts);
    try_mark_tile(s, expert, log_run);
}
// [first_tile]

// [reserve_slots]
/**
 * Moves each expert's cursor back by the number of its ids in the tile, and replaces tile_begins with the offset from
 * an index in `staged` to a slot.
 */
template <int EXPERTS, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ void reserve_slots(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s)
{
#pragma unroll 1
    for (int e = threadIdx.x; e < s.padded_experts; e = next_expert<EXPERTS, THREADS>(e)) {
        s.cursors[e] -= s.tile_counts[e];
        s.tile_begins[e] = s.cursors[e] - s.tile_begins[e];
    }
}
// [reserve_slots]

// [shares]
/** The division of the ids among blocks, and of the experts among warps. */
struct partition {
    exchange *workspace;
    int ids_per_block;        /* number of ids per block; the last block may have fewer */
    int log2_warps_per_group; /* base-2 logarithm of the number of warps that pad one group */
};
// [shares]

// [pad_groups]
/** Writes the pads and expert ids of all groups, and the end of the list. The warps of all blocks share the work. */
template <int EXPERTS, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ void pad_groups(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s,
                                                  const align_arguments &align, int log2_warps_per_group, int total)
{
    const int warp = threadIdx.x / WARP_SIZE * gridDim.x + blockIdx.x, warps_per_group = 1 << log2_warps_per_group;

#pragma unroll 1
    for (int e = warp >> log2_warps_per_group; e < align.num_experts; e += s.WARPS * gridDim.x >> log2_warps_per_group)
        pad_group(align, e, s.counts[e], s.begins[e], warp & (warps_per_group - 1), warps_per_group);
    pad_list(align, total, THREADS);
}
// [pad_groups]

// [many]
/** Aligns many ids. Grid: up to ALIGN_MAX_BLOCKS blocks, all co-resident. */
template <typename Id, int EXPERTS, int COUNTS_PER_WORD, int THREADS, int IDS_PER_THREAD>
static __global__ void __launch_bounds__(THREADS) align_many_kernel(align_arguments align, partition partition)
{
    extern __shared__ int4 shared[];
    const int thread = threadIdx.x, words = padded_experts_of<EXPERTS>(align) / COUNTS_PER_WORD,
              set_words = ALIGN_MAX_BLOCKS * padded_experts_of<EXPERTS>(align) / 2;
    const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> s(shared, align);
    const int first_id = blockIdx.x * partition.ids_per_block,
              num_ids = min(partition.ids_per_block, align.numel - first_id);
    const Id *const ids = (const Id *)align.topk_ids + first_id;
    int tile = (num_ids - 1) / s.TILE * s.TILE, expert[IDS_PER_THREAD];
    wait_for_previous_kernel();
    let_next_kernel_start();
    read_tile<Id, THREADS, IDS_PER_THREAD>(expert, ids + tile, num_ids - tile, align.num_experts);
    const word64 previous = load_word(
        &partition.workspace->previous); /* in flight together with the loads of the ids */
    // [many]

    // [many_count]
#pragma unroll 1
    for (int e = thread; e < s.padded_experts; e = next_expert<EXPERTS, THREADS>(e))
        s.part_counts[e] = 0;
    if (tile > 0)
        __syncthreads();
    count_ids(s, ids, 0, tile, align.num_experts);
    // [many_count]

    // [many_loop]
    const int set = !(previous & 1);
    word64 *const sets = (word64 *)(partition.workspace + 1), *const row = sets + set * set_words + blockIdx.x * words;
    bool good = true;
    int total = 0, old = 0, end = num_ids, log_run = LOG_LONG_RUN;

#pragma unroll 1
    for (bool first = true; end > 0; first = false) {
        // [many_loop]

        // [many_tiles]
        mark_or_shorten_last_tile(s, align, ids, end, first, tile, log_run, expert);
#pragma unroll 1
        for (int e = thread; e < s.padded_experts; e = next_expert<EXPERTS, THREADS>(e)) {
            const int count = count_marked_ids(s, e);

            if (first)
                publish<COUNTS_PER_WORD>(row, e, s.part_counts[e] + count);
        }
        const int num_tile_ids = stage_tile(s, expert, log_run);
        // [many_tiles]

        // [many_exchange]
        if (first) {
            good = collect_rows<EXPERTS, COUNTS_PER_WORD>(s, align, partition.workspace, sets, set_words, previous);
            if (!good)
                break;
            total = exclusive_scan_experts<EXPERTS, THREADS>(s.begins, s.warp_sums, s.padded_experts);
            if (thread == 0 && blockIdx.x == 0)
                old = atomicExch(align.num_tokens_post_padded, total * align.block_size);
                // [many_exchange]

                // [many_cursors]
#pragma unroll 1
            for (int e = thread; e < s.padded_experts; e = next_expert<EXPERTS, THREADS>(e))
                s.cursors[e] += s.begins[e] * align.block_size + s.part_counts[e] + s.tile_counts[e];
        }
        // [many_cursors]

        // [many_scatter]
        reserve_slots(s);
        const int first_staged = first_id + tile, length = s.WORDS * 32 << log_run;

        end = tile;
        tile = (end - 1) / length * length;
        if (end > 0) /* loads the next tile's ids while this tile's are written */
            read_tile<Id, THREADS, IDS_PER_THREAD>(expert, ids + tile, end - tile, align.num_experts);
        __syncthreads();
#pragma unroll(IDS_PER_THREAD > 4 ? 4 : 1)
        for (int i = thread; i < num_tile_ids; i += THREADS)
            align.sorted_token_ids[s.tile_begins[s.staged[i] >> 16] + i] = first_staged + (int)(s.staged[i] & 0xffff);
    }
    // [many_scatter]

    // [many_close]
    if (good)
        pad_groups(s, align, partition.log2_warps_per_group, total);
    report_failure(align, partition.workspace, set, good, old);
    // [many_close]
}

#endif
