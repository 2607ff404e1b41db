/**
 * @file routing.cu
 * @brief Chapter 15: gate and align in one launch: each block tells the others what its token chose.
 *
 * Before: chapter 13's kernel, then chapter 14's, which starts when the first has ended and counts all ids anew.
 * Now:    a block for each token. It chooses, publishes its ids in two words, reads those of all other tokens, and writes
 *         its own positions into the list.
 * Watch:  launches 1; atomics that are counts only: no place depends on their order.
 */
#include "exchange.h"
#include "kernels/align_list.cuh"
#include "kernels/gate_choice.cuh"

#include <math.h>

// [constants]
#ifndef MOST_POLLS
#define MOST_POLLS (1 << 22) /* seconds on a GPU */
#endif
enum { IDS_OF_A_WORD = 4, BITS_OF_AN_ID = 16 };

typedef unsigned long long word64;
// [constants]

// [router]
/** A router's shape, as in chapter 13; and the words that a token's ids take. */
template <int NUM_EXPERTS, int NUM_GROUPS, int STAY, int CHOSEN>
struct router {
    static constexpr int EXPERTS = NUM_EXPERTS, GROUPS = NUM_GROUPS, TOPK_GROUP = STAY, TOPK = CHOSEN;
    static constexpr int COUNT = EXPERTS / GROUPS, WARPS = EXPERTS / WARP_SIZE, SETS = WARP_SIZE / GROUPS;
    static constexpr int WORDS = TOPK / IDS_OF_A_WORD;
    static constexpr unsigned LANES_OF_A_GROUP = GROUPS == 4 ? 0x11111111u : GROUPS == 8 ? 0x01010101u : 0x00010001u;
    static_assert(TOPK <= 2 * TOPK_GROUP && TOPK <= GROUPS && TOPK % IDS_OF_A_WORD == 0, "the kernel rests on these");
    static_assert(WARP_SIZE % GROUPS == 0 && WARP_SIZE % COUNT == 0 && WARPS <= TOPK, "and on these");
};
// [router]

// [exchange]
/**
 * The workspace, all zeros before its first launch. Two sets of words, in each some for every token. A launch writes to
 * the set that the last one did not, and clears what the last one wrote: so what it finds in its own set are zeros.
 */
struct exchange {
    word64 last;     /* of the last launch: the words it wrote, times two, and in the lowest bit to which set */
    word64 arrivals; /* blocks of this launch that have read `last` */
    word64 unused[30];
    word64 sets[2][MOST_TOKENS * 4];
};
static_assert(sizeof(exchange) == EXCHANGE_BYTES, "what chapter 14 uses begins behind it");

static const word64 WRITTEN = 1ull << 63; /* in a word with four ids: no id is that large */
static const word64 GAVE_UP = 1, NOBODY = 2;

static __device__ __forceinline__ word64 load_word(const word64 *word)
{
    return *(const volatile word64 *)word;
}
// [exchange]

// [read_choices]
/**
 * Waits for the words of all tokens but this block's, and counts their ids: in the lower half of counts[e] how many
 * tokens chose expert e, in the upper half how many of those come before this block's token. A word that does not come is
 * given up for all: then nobody has this token's ids, and all blocks return false.
 */
template <typename Router>
static __device__ __forceinline__ bool read_choices(word64 *words, int num_tokens, int *counts)
{
    constexpr int OWN = (MOST_TOKENS * Router::WORDS + Router::EXPERTS - 1) / Router::EXPERTS;
    word64 seen[OWN];
    bool all = false, good = true;

#pragma unroll
    for (int k = 0; k < OWN; k++) {
        const int token = (threadIdx.x + k * Router::EXPERTS) / Router::WORDS;

        seen[k] = token < num_tokens && token != (int)blockIdx.x ? 0 : NOBODY;
    }
#pragma unroll 1
    for (int polls = 0; !all && polls < MOST_POLLS; polls++) {
        if (polls > 0)
            __nanosleep(20);
        all = true;
#pragma unroll
        for (int k = 0; k < OWN; k++) {
            if (seen[k] == 0)
                seen[k] = load_word(&words[threadIdx.x + k * Router::EXPERTS]);
            all &= seen[k] != 0;
        }
    }
#pragma unroll
    for (int k = 0; k < OWN; k++) {
        const int w = threadIdx.x + k * Router::EXPERTS;

        if (seen[k] == 0) {
            const word64 there = atomicCAS(&words[w], 0ull, GAVE_UP);

            seen[k] = there != 0 ? there : GAVE_UP;
        }
        good &= seen[k] != GAVE_UP;
        if (seen[k] & WRITTEN) {
            const int one = w / Router::WORDS < (int)blockIdx.x ? 0x10001 : 1;

#pragma unroll
            for (int i = 0; i < IDS_OF_A_WORD; i++)
                atomicAdd(&counts[seen[k] >> i * BITS_OF_AN_ID & (Router::EXPERTS - 1)], one);
        }
    }
    return good;
}
// [read_choices]

// [kernel]
/** Grid: a block for each token, with a thread for each expert; all of them on the device at the same time. */
template <typename Router, typename T, typename Choice, typename Bias>
static __global__ void __launch_bounds__(Router::EXPERTS)
    one_launch_kernel(weighting how, const T *gating_output, const Bias *correction_bias, float *topk_weights,
                      int *topk_ids, list list, exchange *workspace)
{
    __shared__ float group_scores[Router::GROUPS], chosen[Router::TOPK], scores[Router::EXPERTS];
    __shared__ unsigned seconds[Router::GROUPS], num_candidates;
    __shared__ __align__(16) entry candidates[Router::EXPERTS];
    __shared__ word64 own_words[Router::WORDS];
    __shared__ int counts[Router::EXPERTS], begins[Router::EXPERTS];
    __shared__ __align__(16) int sums[Router::WARPS];
    unsigned short *const own_ids = (unsigned short *)own_words; /* [TOPK] */
    const int token = blockIdx.x, num_tokens = gridDim.x;
    const unsigned expert = threadIdx.x, lane = expert % WARP_SIZE, warp = expert / WARP_SIZE;
    const unsigned group_of_lane = lane % Router::GROUPS;
    const word64 last = load_word(&workspace->last);
    // [kernel]

    // [gate]
    const float score = exact_score(gating_output[(int64_t)token * Router::EXPERTS + expert]);
    const unsigned key = ordered(choice_with<Choice>(score, correction_bias, expert));
    const two_keys best = two_largest_keys<Router::COUNT>(key);

    candidates[expert] = 0;
    counts[expert] = 0;
    if (expert == 0)
        num_candidates = 0;
    if (expert % Router::COUNT == 0) {
        group_scores[expert / Router::COUNT] = score_of_group<Choice>(choice_of(best.first), choice_of(best.second),
                                                                      correction_bias != NULL);
        seconds[expert / Router::COUNT] = best.second;
    }
    __syncthreads();

    const float mine = group_scores[group_of_lane];
    int rank = 0; /* how many groups rank before this lane's */

#pragma unroll
    for (int first = 0; first < Router::GROUPS; first += Router::SETS) {
        const unsigned number = first + lane / Router::GROUPS, other = number % Router::GROUPS;
        const float score_of_other = group_scores[other];
        const bool before = (score_of_other > mine) | ((score_of_other == mine) & (other < group_of_lane));

        rank += __popc(__ballot_sync(FULL_MASK, before & (number < Router::GROUPS)) >> group_of_lane &
                       Router::LANES_OF_A_GROUP);
    }

    const bool stays = rank < Router::TOPK_GROUP;
    const unsigned groups = __ballot_sync(FULL_MASK, stays);
    const unsigned bound = __reduce_min_sync(FULL_MASK, stays ? seconds[group_of_lane] : 0xffffffffu);

    if ((key >= bound) & (groups >> expert / Router::COUNT)) {
        const unsigned place = atomicAdd(&num_candidates, 1u);

        candidates[place] = entry_of(key, expert);
        scores[place] = key != 0 ? score : 0.0f; /* NaN has no weight */
    }
    __syncthreads();
    // [gate]

    const int set = !(last & 1);
    word64 *const words = workspace->sets[set];
    word64 arrivals = 0;
    bool good = true;

    // [places]
    if (warp == 0) {
        const bool halves = num_candidates <= WARP_SIZE / 2; /* then a candidate has two lanes, as in chapter 13 */
        const unsigned width = halves ? WARP_SIZE / 2 : WARP_SIZE;

        for (unsigned first = 0; first < num_candidates; first += width) {
            const entry candidate = candidates[first + lane % width];
            int place;

            if (halves) {
                place = place_of<8>(candidate, candidates + lane / width * 8, 8);
                place += __shfl_xor_sync(FULL_MASK, place, WARP_SIZE / 2);
            } else {
                place = place_of<16>(candidate, candidates, num_candidates);
            }
            if ((candidate != 0) & (place < Router::TOPK) & (lane < width)) {
                own_ids[place] = (unsigned short)id_of(candidate);
                chosen[place] = scores[first + lane];
                atomicAdd(&counts[id_of(candidate)], 1);
            }
        }
        __syncwarp();
        // [places]

        // [publish]
        if (num_tokens > 1) {
            if (lane < Router::WORDS)
                good = atomicCAS(&words[token * Router::WORDS + lane], 0ull, own_words[lane] | WRITTEN) == 0;
            if (lane == 0)
                arrivals = atomicAdd(&workspace->arrivals, 1ull);
        }
        // [publish]

        // [weights]
        const float own_score = lane < Router::TOPK ? chosen[lane] : 0.0f;
        const float sum = round_to<T>(token_sum(own_score, Router::TOPK));

        if (lane < Router::TOPK) {
            topk_ids[token * Router::TOPK + lane] = own_ids[lane];
            topk_weights[token * Router::TOPK + lane] = weight_of<T>(how, own_score, sum);
        }
        // [weights]
    }

    // [others]
    if (num_tokens > 1) {
        for (int i = token * Router::EXPERTS + expert; i < (int)(last >> 1); i += num_tokens * Router::EXPERTS)
            workspace->sets[!set][i] = 0;
        good &= read_choices<Router>(words, num_tokens, counts);
    }
    if (expert == 0 && arrivals == (unsigned)num_tokens - 1 && num_tokens > 1) { /* everybody has read `last` */
        atomicExch(&workspace->arrivals, 0ull);
        atomicExch(&workspace->last, (word64)num_tokens * Router::WORDS << 1 | set);
    }
    if (__syncthreads_or(!good)) {
        if (token == 0 && expert == 0)
            *list.num_tokens_post_padded = -1;
        return;
    }
    // [others]

    // [scan]
    const int blocks = blocks_for(counts[expert] & 0xffff, list);
    int before = 0, sum = 0;

#pragma unroll 1
    for (int bit = 0; __any_sync(FULL_MASK, blocks >> bit); bit++) {
        const unsigned plane = __ballot_sync(FULL_MASK, blocks >> bit & 1);

        before += __popc(plane & lanes_below(lane)) << bit;
        sum += __popc(plane) << bit;
    }
    begins[expert] = before;
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    // [scan]

    // [write]
    int total = 0;

    for (unsigned k = warp; k < Router::TOPK; k += Router::WARPS) {
        const unsigned id = own_ids[k], count = counts[id];
        int begin = begins[id];

        total = 0;
#pragma unroll
        for (unsigned w = 0; w < Router::WARPS; w++) {
            total += sums[w];
            begin += w < id / WARP_SIZE ? sums[w] : 0;
        }
        if (lane == 0)
            list.sorted_token_ids[begin * list.block_size + (count >> 16)] = token * Router::TOPK + k;
        if (count >> 16 == 0) /* the first token that chose this expert */
            close_group(list, id, count & 0xffff, begin);
    }
    close_list(list, total);
    if (token == 0 && expert == 0)
        *list.num_tokens_post_padded = total * list.block_size;
    // [write]
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

// [launch]
/** How many blocks of a kernel are on the device at the same time. */
template <typename Kernel>
static cudaError_t resident_blocks(Kernel kernel, int threads, int64_t *blocks)
{
    int device, processors = 0, each = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0);
    *blocks = (int64_t)processors * each;
    return status;
}

template <typename Router, typename T, typename Choice, typename Bias>
static cudaError_t launch(const routing_problem *problem, const routing_buffers *buffers, cudaStream_t stream)
{
    const auto kernel = one_launch_kernel<Router, T, Choice, Bias>;
    weighting how = {problem->gate.renormalize, problem->gate.routed_scaling_factor};
    const T *gating_output = (const T *)buffers->gate.gating_output;
    const Bias *correction_bias = (const Bias *)buffers->gate.correction_bias;
    float *topk_weights = buffers->gate.topk_weights;
    int *topk_ids = buffers->gate.topk_ids;
    list list = list_of(&problem->align, &buffers->align);
    exchange *workspace = (exchange *)buffers->align.workspace;
    void *arguments[] = {&how, &gating_output, &correction_bias, &topk_weights, &topk_ids, &list, &workspace};
    int64_t resident;
    const cudaError_t status = resident_blocks(kernel, Router::EXPERTS, &resident);

    if (status != cudaSuccess)
        return status;
    if (problem->gate.num_tokens > resident)
        return routing_launch_pair(problem, buffers, stream);
    return cudaLaunchCooperativeKernel(kernel, (unsigned)problem->gate.num_tokens, Router::EXPERTS, arguments, 0,
                                       stream);
}
// [launch]

// [dispatch]
template <typename Router>
static bool is_of(const gate_problem *problem)
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

    if (gate->num_tokens > 0 && gate->num_tokens <= MOST_TOKENS) {
        if (is_of<router<256, 8, 4, 8>>(gate))
            return launch<router<256, 8, 4, 8>, T, Choice, Bias>(problem, buffers, stream);
        if (is_of<router<256, 16, 4, 8>>(gate))
            return launch<router<256, 16, 4, 8>, T, Choice, Bias>(problem, buffers, stream);
        if (is_of<router<128, 4, 2, 4>>(gate))
            return launch<router<128, 4, 2, 4>, T, Choice, Bias>(problem, buffers, stream);
        if (is_of<router<128, 8, 8, 8>>(gate))
            return launch<router<128, 8, 8, 8>, T, Choice, Bias>(problem, buffers, stream);
        if (is_of<router<512, 16, 8, 16>>(gate))
            return launch<router<512, 16, 8, 16>, T, Choice, Bias>(problem, buffers, stream);
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
