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
template <typename Id, int EXPERTS, int THREADS, int IDS>
static __device__ __forceinline__ void mark_last_tile(const many_shared<EXPERTS, THREADS, IDS> &s,
                                                      const align_arguments &align, const Id *ids, int end, bool first,
                                                      int &tile, int &log_run, int expert[IDS])
{
    if (mark_tile(s, expert, log_run))
        return;
    const int long_tile = tile;

    log_run = 0;
    tile = (end - 1) / (s.WORDS * 32) * (s.WORDS * 32);
    if (first)
        count_ids(s, ids, long_tile, tile, align.num_experts);
    read_tile<Id, THREADS, IDS>(expert, ids + tile, end - tile, align.num_experts);
    mark_tile(s, expert, log_run);
}
// [first_tile]

// [move_cursors]
/**
 * Moves each expert's cursor back by the number of its ids in the tile, and replaces tile_begins with the offset from
 * an index in `staged` to a slot.
 */
template <int EXPERTS, int THREADS, int IDS>
static __device__ __forceinline__ void move_cursors(const many_shared<EXPERTS, THREADS, IDS> &s)
{
#pragma unroll 1
    for (int e = threadIdx.x; e < s.experts; e = next_expert<EXPERTS, THREADS>(e)) {
        s.cursors[e] -= s.tile_counts[e];
        s.tile_begins[e] = s.cursors[e] - s.tile_begins[e];
    }
}
// [move_cursors]

// [shares]
/** The division of the ids among blocks, and of the experts among warps. */
struct shares {
    exchange *workspace;
    int part_ids;   /* number of ids per block; the last block may have fewer */
    int log_shares; /* base-2 logarithm of the number of warps that pad one group */
};
// [shares]

// [pad_groups]
/** Writes the pads and expert ids of all groups, and the end of the list. The warps of all blocks share the work. */
template <int EXPERTS, int THREADS, int IDS>
static __device__ __forceinline__ void pad_groups(const many_shared<EXPERTS, THREADS, IDS> &s,
                                                  const align_arguments &align, int log_shares, int total)
{
    const int warp = threadIdx.x / WARP_SIZE * gridDim.x + blockIdx.x, num_shares = 1 << log_shares;

#pragma unroll 1
    for (int e = warp >> log_shares; e < align.num_experts; e += s.WARPS * gridDim.x >> log_shares)
        pad_group(align, e, s.counts[e], s.begins[e], warp & (num_shares - 1), num_shares);
    pad_list(align, total, THREADS);
}
// [pad_groups]

// [many]
/** Aligns many ids. Grid: up to ALIGN_MAX_BLOCKS blocks, all co-resident. */
template <typename Id, int EXPERTS, int PER_WORD, int THREADS, int IDS>
static __global__ void __launch_bounds__(THREADS) align_many_kernel(align_arguments align, shares shares)
{
    extern __shared__ int4 shared[];
    const int thread = threadIdx.x, words = experts_of<EXPERTS>(align) / PER_WORD,
              set_words = ALIGN_MAX_BLOCKS * experts_of<EXPERTS>(align) / 2;
    const many_shared<EXPERTS, THREADS, IDS> s(shared, align);
    const int first_id = blockIdx.x * shares.part_ids, num_ids = min(shares.part_ids, align.numel - first_id);
    const Id *const ids = (const Id *)align.topk_ids + first_id;
    int tile = (num_ids - 1) / s.TILE * s.TILE, expert[IDS];
    wait_for_previous_kernel();
    let_next_kernel_start();
    read_tile<Id, THREADS, IDS>(expert, ids + tile, num_ids - tile, align.num_experts);
    const word64 last = load_word(&shares.workspace->last); /* in flight together with the loads of the ids */
    // [many]

    // [many_count]
#pragma unroll 1
    for (int e = thread; e < s.experts; e = next_expert<EXPERTS, THREADS>(e))
        s.part_counts[e] = 0;
    if (tile > 0)
        __syncthreads();
    count_ids(s, ids, 0, tile, align.num_experts);
    // [many_count]

    // [many_loop]
    const int set = !(last & 1);
    word64 *const sets = (word64 *)(shares.workspace + 1), *const row = sets + set * set_words + blockIdx.x * words;
    bool good = true;
    int total = 0, old = 0, end = num_ids, log_run = LOG_LONG_RUN;

#pragma unroll 1
    for (bool first = true; end > 0; first = false) {
        // [many_loop]

        // [many_tiles]
        mark_last_tile(s, align, ids, end, first, tile, log_run, expert);
#pragma unroll 1
        for (int e = thread; e < s.experts; e = next_expert<EXPERTS, THREADS>(e)) {
            const int count = sum_words(s, e);

            if (first)
                publish<PER_WORD>(row, e, s.part_counts[e] + count);
        }
        const int in_tile = stage_tile(s, expert, log_run);
        // [many_tiles]

        // [many_exchange]
        if (first) {
            good = exchange_rows<EXPERTS, PER_WORD>(s, align, shares.workspace, sets, set_words, last);
            if (!good)
                break;
            total = scan_experts<EXPERTS, THREADS>(s.begins, s.sums, s.experts);
            if (thread == 0 && blockIdx.x == 0)
                old = atomicExch(align.num_tokens_post_padded, total * align.block_size);
                // [many_exchange]

                // [many_cursors]
#pragma unroll 1
            for (int e = thread; e < s.experts; e = next_expert<EXPERTS, THREADS>(e))
                s.cursors[e] += s.begins[e] * align.block_size + s.part_counts[e] + s.tile_counts[e];
        }
        // [many_cursors]

        // [many_scatter]
        move_cursors(s);
        const int first_staged = first_id + tile, length = s.WORDS * 32 << log_run;

        end = tile;
        tile = (end - 1) / length * length;
        if (end > 0) /* loads the next tile's ids while this tile's are written */
            read_tile<Id, THREADS, IDS>(expert, ids + tile, end - tile, align.num_experts);
        __syncthreads();
#pragma unroll(IDS > 4 ? 4 : 1)
        for (int i = thread; i < in_tile; i += THREADS)
            align.sorted_token_ids[s.tile_begins[s.staged[i] >> 16] + i] = first_staged + (int)(s.staged[i] & 0xffff);
    }
    // [many_scatter]

    // [many_close]
    if (good)
        pad_groups(s, align, shares.log_shares, total);
    write_result(align, shares.workspace, set, good, old);
    // [many_close]
}

#endif
