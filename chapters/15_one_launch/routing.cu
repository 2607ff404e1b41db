/**
 * @file routing.cu
 * @brief Chapter 15: gate and align in one launch, in which each block publishes its token's expert ids to the others.
 *
 * Before: chapter 13c's kernel, then chapter 14b's, which starts when the first has ended, and counts all ids again.
 * Now:    one block per token. The block chooses experts, publishes their ids in one word, reads the words of all
 *         other tokens, and writes its token's positions into the list.
 * Watch:  launches 1; atomics that only count, so no slot depends on their order.
 */
#include "exchange.h"
#include "kernels/align_list.cuh"
#include "kernels/gate_choice.cuh"
#include "kernels/launch_coresident.cuh"

#include <math.h>

// [constants]
#ifndef MAX_POLLS
#define MAX_POLLS (1 << 22) /* a time-out of seconds on a GPU */
#endif
enum { MAX_BLOCKS_WITHOUT_PAUSE = 128 }; /* slightly fewer than an H200's 132 multiprocessors */
typedef unsigned long long word64;
// [constants]

// [router]
/** Describes a router's shape, as in chapter 13a. A token's two to eight ids fit in the word that a block publishes. */
template <int NUM_EXPERTS, int NUM_GROUPS, int NUM_TOPK_GROUPS, int NUM_TOPK>
struct router {
    static constexpr int EXPERTS = NUM_EXPERTS, GROUPS = NUM_GROUPS, TOPK_GROUP = NUM_TOPK_GROUPS, TOPK = NUM_TOPK;
    static constexpr int GROUP_SIZE = EXPERTS / GROUPS, WARPS = EXPERTS / WARP_SIZE;
    static constexpr int GROUPS_PER_VOTE = WARP_SIZE / GROUPS; /* groups that one ballot compares with all groups */
    static constexpr unsigned GROUP_LANE_MASK = GROUPS == 4 ? 0x11111111u : GROUPS == 8 ? 0x01010101u : 0x00010001u;
    static_assert(TOPK <= 2 * TOPK_GROUP && TOPK <= GROUPS && WARP_SIZE % GROUPS == 0 && WARP_SIZE % GROUP_SIZE == 0,
                  "the gate needs this shape");
    static_assert(TOPK >= 2 && TOPK <= 8 && EXPERTS <= 256, "a token's ids fit in one word");
    static_assert(WARPS <= TOPK, "each warp has an id, so it knows where the last group ends");
};
// [router]

// [exchange]
/**
 * The workspace, all zeros before its first launch. It has two sets with one word per token. A launch writes to the set
 * that the previous launch did not use, and clears the other one, so that each launch finds zeros in its own set.
 */
struct exchange {
    unsigned previous; /* the previous launch's number of tokens, times two; the lowest bit is its set */
    unsigned arrivals; /* blocks of this launch that have read `previous`; the last block wraps it to 0 */
    word64 unused[31]; /* padding, so that the words begin on a cache line */
    word64 sets[2][MAX_TOKENS];
};
static_assert(sizeof(exchange) == EXCHANGE_BYTES, "chapter 14b's workspace follows");

/*
 * The value that a block stores in a token's word when it gives up waiting for it. The ids of a token, 8 bits each, are
 * never all 1.
 */
static const word64 GAVE_UP = 0x0101010101010101ull;
// [exchange]

// [wait_for]
/**
 * Waits until a token's word is published, and returns it. After MAX_POLLS polls, tries to store GAVE_UP in the word.
 * The first store to the word wins, so all blocks read the same value.
 */
static __device__ __forceinline__ word64 wait_for(word64 *word)
{
    word64 seen = *(volatile word64 *)word;

#pragma unroll 1
    for (int polls = 0; seen == 0 && polls < MAX_POLLS; polls++) {
        __nanosleep(20);
        seen = *(volatile word64 *)word;
    }
    if (seen == 0)
        seen = atomicCAS(word, 0ull, GAVE_UP);
    return seen == 0 ? GAVE_UP : seen;
}
// [wait_for]

// [count_others]
/**
 * Counts the ids of all tokens except this block's. The lower half of counts[e] is the number of tokens that chose
 * expert e, the upper half the number of such tokens before this block's. Returns false if any block gave up.
 */
template <typename Router>
static __device__ __forceinline__ bool count_others(word64 *words, int *counts)
{
    const int own = blockIdx.x, num_tokens = gridDim.x;
    bool good = true;

#pragma unroll 1
    for (int token = threadIdx.x; token < num_tokens; token += Router::EXPERTS) {
        const word64 word = token != own ? wait_for(&words[token]) : 0;
        const unsigned halves[2] = {(unsigned)word, (unsigned)(word >> 32)};

        good &= word != GAVE_UP;
        if (word != 0) {
#pragma unroll
            for (int k = 0; k < Router::TOPK; k++)
                atomicAdd(&counts[halves[k / 4] >> k % 4 * 8 & 0xff], token < own ? 0x10001 : 1);
        }
    }
    return good;
}
// [count_others]

// [exchange_choices]
/**
 * Counts the ids of all tokens, given workspace->previous and whether this block has published. Returns false if any
 * block gave up.
 */
template <typename Router>
static __device__ __forceinline__ bool exchange_choices(exchange *workspace, unsigned previous, bool good, int *counts)
{
    const unsigned thread = threadIdx.x, token = blockIdx.x, num_tokens = gridDim.x, set = !(previous & 1);
    unsigned arrived = 0; /* number of blocks that arrived before this one */

    static_assert(MAX_TOKENS <= 2 * Router::EXPERTS, "two or more blocks have enough threads to clear all words");
    if (thread == 0)
        arrived = atomicInc(&workspace->arrivals, num_tokens - 1);
    if (token + num_tokens * thread < previous >> 1)
        workspace->sets[!set][token + num_tokens * thread] = 0;
    if (num_tokens > MAX_BLOCKS_WITHOUT_PAUSE) /* polling would delay the other block on the multiprocessor */
        __nanosleep(100);
    good &= count_others<Router>(workspace->sets[set], counts);
    if (thread == 0 && arrived == num_tokens - 1) /* all blocks have read `previous` */
        atomicExch(&workspace->previous, num_tokens << 1 | set);
    return !__syncthreads_or(!good);
}
// [exchange_choices]

// [begin_of]
/** The start of an expert's group and the end of the last group, in row blocks. */
struct offset_and_total {
    int begin, total;
};

/**
 * Returns where expert e's group begins and where the last group ends, by summing the experts' numbers of row
 * blocks. All lanes of a warp must call this together.
 */
template <typename Router>
static __device__ __forceinline__ offset_and_total begin_of(int e, const int *counts, const align_arguments &align)
{
    int sums = 0; /* upper half: sum over all experts; lower half: over the experts before e */

#pragma unroll
    for (int other = threadIdx.x % WARP_SIZE; other < Router::EXPERTS; other += WARP_SIZE)
        sums += row_blocks_for_few_ids(counts[other] & 0xffff, align) * (other < e ? 0x10001 : 0x10000);
    sums = __reduce_add_sync(FULL_MASK, sums);
    return {sums & 0xffff, sums >> 16};
}
// [begin_of]

// [write_weights]
/** Writes a token's ids and weights. Called by one warp. */
template <typename Router, typename T>
static __device__ __forceinline__ void write_weights(weighting params, const unsigned char *ids, const float *scores,
                                                     float *topk_weights, int *topk_ids)
{
    const int lane = threadIdx.x % WARP_SIZE, i = blockIdx.x * Router::TOPK + lane;
    const float score = lane < Router::TOPK ? scores[lane] : 0.0f;
    const float sum = round_to<T>(token_sum(score, Router::TOPK));
    const float weight = weight_of<T>(params, score, sum);

    if (lane < Router::TOPK) {
        topk_ids[i] = ids[lane];
        topk_weights[i] = weight;
    }
}
// [write_weights]

// [write_groups]
/**
 * Writes this block's positions into the list, one per warp at a time; the warp of an expert's first token pads its
 * group.
 */
template <typename Router>
static __device__ __forceinline__ void write_groups(const align_arguments &align, const unsigned char *ids,
                                                    const int *counts, const int *local_ids)
{
    const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    int total = 0;

#pragma unroll 1
    for (int k = warp; k < Router::TOPK; k += Router::WARPS) {
        const int id = ids[k], count = counts[id] & 0xffff, earlier = counts[id] >> 16;
        const offset_and_total group = begin_of<Router>(id, counts, align);

        total = group.total;
        if (lane == 0)
            align.sorted_token_ids[group.begin * align.block_size + earlier] = blockIdx.x * Router::TOPK + k;
        if (earlier == 0)
            pad_group(align, local_ids[id], count, group.begin);
    }
    pad_list(align, total);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *align.num_tokens_post_padded = total * align.block_size;
}
// [write_groups]

// [shared]
/** The shared memory of a block, in one object so that one register addresses all of it. */
template <typename Router>
struct block_shared {
    __align__(16) packed_candidate candidates[Router::EXPERTS];
    float scores[Router::EXPERTS]; /* the candidates' scores */
    float chosen[Router::TOPK];
    float group_scores[Router::GROUPS];
    unsigned second_largest[Router::GROUPS], num_candidates; /* as in chapter 13a */
    union {
        word64 word; /* published by the block */
        unsigned char ids[Router::TOPK];
    };
    int counts[Router::EXPERTS], local_ids[Router::EXPERTS];
};
// [shared]

// [choose]
/**
 * Chooses the ids of the block's token. Ranks AT_ONCE candidates at a time, with LANES lanes per candidate, as in
 * chapter 13a.
 */
template <int LANES, int AT_ONCE, typename Router>
static __device__ __forceinline__ void choose_experts(block_shared<Router> &shared, unsigned count)
{
#pragma unroll 1
    for (unsigned first = 0; first < count; first += AT_ONCE) {
        const unsigned own = first + threadIdx.x / LANES;
        const packed_candidate candidate = shared.candidates[own];
        const float score = shared.scores[own];
        const int rank = rank_of<LANES, AT_ONCE>(candidate, shared.candidates, count);

        if ((candidate != 0) & (rank < Router::TOPK) & (threadIdx.x % LANES == 0)) {
            shared.ids[rank] = (unsigned char)id_of(candidate);
            shared.chosen[rank] = score;
            shared.counts[id_of(candidate)] = 1;
        }
    }
}
// [choose]

// [kernel]
/** Routes tokens. Grid: one block per token, one thread per expert; all blocks are co-resident. */
template <typename Router, typename T, typename Choice, typename Bias>
static __global__ void __launch_bounds__(Router::EXPERTS)
    one_launch_kernel(weighting params, const T *gating_output, const Bias *correction_bias, float *topk_weights,
                      int *topk_ids, align_arguments align, exchange *workspace)
{
    __shared__ block_shared<Router> shared;
    const int token = blockIdx.x, num_tokens = gridDim.x;
    const unsigned expert = threadIdx.x, lane = expert % WARP_SIZE, warp = expert / WARP_SIZE;
    const unsigned group_of_lane = lane % Router::GROUPS;
    constexpr unsigned LAST_WARP = Router::WARPS - 1; /* seldom has to wait for a token's word */
    word64 old_word = 0;                              /* the value of this block's word before it published */

    const float bias = correction_bias ? to_float(correction_bias[expert]) : 0.0f; /* no kernel writes the bias */

    wait_for_previous_kernel();
    const unsigned previous = *(const volatile unsigned *)&workspace->previous; /* in flight together with the logit */
    const float score = exact_score(gating_output[(int64_t)token * Router::EXPERTS + expert]);
    const unsigned key = ordered_key(round_to<Choice>(score + bias));
    const two_keys best = two_largest_keys<Router::GROUP_SIZE>(key);

    shared.candidates[expert] = 0;
    shared.scores[expert] = 0.0f;
    shared.counts[expert] = 0;
    shared.local_ids[expert] = align.expert_map ? align.expert_map[expert] : expert;
    if (expert == 0) {
        shared.num_candidates = 0;
        shared.word = 0;
    }
    // [kernel]
    // [gate]
    if (expert % Router::GROUP_SIZE == 0) {
        shared.group_scores[expert / Router::GROUP_SIZE] = score_of_group<Choice>(
            choice_of(best.first), choice_of(best.second), correction_bias != NULL);
        shared.second_largest[expert / Router::GROUP_SIZE] = best.second;
    }
    __syncthreads();

    const float mine = shared.group_scores[group_of_lane];
    int rank = 0; /* the number of groups that rank before this lane's group */

#pragma unroll
    for (int first = 0; first < Router::GROUPS; first += Router::GROUPS_PER_VOTE) {
        const unsigned number = first + lane / Router::GROUPS, other = number % Router::GROUPS;
        const float score_of_other = shared.group_scores[other];
        const bool before = (score_of_other > mine) | ((score_of_other == mine) & (other < group_of_lane));

        rank += __popc(__ballot_sync(FULL_MASK, before & (number < Router::GROUPS)) >> group_of_lane &
                       Router::GROUP_LANE_MASK);
    }

    const bool stays = rank < Router::TOPK_GROUP;
    const unsigned kept_groups_mask = __ballot_sync(FULL_MASK, stays);
    const unsigned bound = __reduce_min_sync(FULL_MASK, stays ? shared.second_largest[group_of_lane] : 0xffffffffu);

    if ((key >= bound) & (kept_groups_mask >> expert / Router::GROUP_SIZE)) {
        const unsigned index = atomicAdd(&shared.num_candidates, 1u);

        shared.candidates[index] = pack_candidate(key, expert);
        shared.scores[index] = key != 0 ? score : 0.0f; /* an expert whose choice is NaN has weight 0 */
    }
    __syncthreads();
    // [gate]

    // [places]
    if (warp == 0) {
        if (shared.num_candidates <= WARP_SIZE / 2)
            choose_experts<2, WARP_SIZE / 2>(shared, WARP_SIZE / 2);
        else
            choose_experts<1, WARP_SIZE>(shared, shared.num_candidates);
        __syncwarp();
        if (lane == 0 && num_tokens > 1)
            old_word = atomicCAS(&workspace->sets[!(previous & 1)][token], 0ull, shared.word);
    }
    // [places]

    // [finish]
    let_next_kernel_start(); /* not at the start: the next kernel's blocks would compete with polling for longer */
    __syncthreads();
    if (warp == LAST_WARP)
        write_weights<Router, T>(params, shared.ids, shared.chosen, topk_weights, topk_ids);
    if (num_tokens > 1 && !exchange_choices<Router>(workspace, previous, old_word == 0, shared.counts)) {
        if (token == 0 && expert == 0)
            *align.num_tokens_post_padded = -1;
        return;
    }
    write_groups<Router>(align, shared.ids, shared.counts, shared.local_ids);
    // [finish]
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

// [launch]
template <typename Router, typename T, typename Choice, typename Bias>
static cudaError_t launch(const routing_problem *problem, const routing_buffers *buffers, cudaStream_t stream)
{
    const auto kernel = one_launch_kernel<Router, T, Choice, Bias>;
    const weighting params = weighting_of(&problem->gate);
    const int num_tokens = (int)problem->gate.num_tokens;
    bool fits;
    const cudaError_t status = all_coresident(kernel, num_tokens, Router::EXPERTS, &fits);

    if (status != cudaSuccess)
        return status;
    if (!fits)
        return routing_launch_pair(problem, buffers, stream);
    return launch_known_coresident(problem->gate.overlap, kernel, num_tokens, Router::EXPERTS, stream, params,
                                   (const T *)buffers->gate.gating_output, (const Bias *)buffers->gate.correction_bias,
                                   buffers->gate.topk_weights, buffers->gate.topk_ids,
                                   align_arguments_of(&problem->align, &buffers->align),
                                   (exchange *)buffers->align.workspace);
}
// [launch]

// [dispatch]
template <typename Router>
static bool matches_router(const gate_problem *problem)
{
    return problem->num_experts == Router::EXPERTS && problem->num_expert_group == Router::GROUPS &&
           problem->topk_group == Router::TOPK_GROUP && problem->topk == Router::TOPK &&
           problem->score == GATE_SCORE_SIGMOID;
}

template <typename T, typename Choice, typename Bias>
static cudaError_t launch_for_router(const routing_problem *problem, const routing_buffers *buffers,
                                     cudaStream_t stream)
{
    const gate_problem *const gate = &problem->gate;

    if (gate->num_tokens > 0 && gate->num_tokens <= MAX_TOKENS) {
        if (matches_router<router<256, 8, 4, 8>>(gate))
            return launch<router<256, 8, 4, 8>, T, Choice, Bias>(problem, buffers, stream);
        if (matches_router<router<256, 16, 4, 8>>(gate))
            return launch<router<256, 16, 4, 8>, T, Choice, Bias>(problem, buffers, stream);
        if (matches_router<router<128, 4, 2, 4>>(gate))
            return launch<router<128, 4, 2, 4>, T, Choice, Bias>(problem, buffers, stream);
        if (matches_router<router<128, 8, 8, 8>>(gate))
            return launch<router<128, 8, 8, 8>, T, Choice, Bias>(problem, buffers, stream);
    }
    return routing_launch_pair(problem, buffers, stream);
}

cudaError_t routing_launch(const routing_problem *problem, const routing_buffers *buffers, cudaStream_t stream)
{
    const bool wide = gate_choice_dtype(&problem->gate) == DTYPE_F32; /* an f32 bias makes every choice f32 */

    switch (problem->gate.dtype) {
    case DTYPE_F16:
        return wide ? launch_for_router<__half, float, float>(problem, buffers, stream)
                    : launch_for_router<__half, __half, __half>(problem, buffers, stream);
    case DTYPE_BF16:
        return wide ? launch_for_router<__nv_bfloat16, float, float>(problem, buffers, stream)
                    : launch_for_router<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>(problem, buffers, stream);
    default:
        return launch_for_router<float, float, float>(problem, buffers, stream);
    }
}
// [dispatch]
