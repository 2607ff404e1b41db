/**
 * @file gate.c
 * @brief Chapter 01: PyTorch's grouped top-k in plain C; each function's comment quotes the Python code it replaces.
 *
 * Now:    each thread processes one token at a time in a few small arrays; OpenMP divides the tokens among threads.
 * Watch:  no tensor is materialised between steps, which saves an allocation, a pass over memory and a dispatch each.
 */
#include "harness/gate/gate.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

// [worth]
/* Number of tokens per additional thread: with fewer, starting the thread takes longer than the thread's work. */
enum { TOKENS_WORTH_A_THREAD = 64 };
// [worth]

// [token]
/** Scratch memory for the token being routed; each thread has its own. */
struct token {
    const float *bias;           /**< [num_experts] correction_bias as f32, the same for every token */
    float *logits;               /**< [num_experts] only for 16-bit logits: the row as f32 */
    float *scores;               /**< [num_experts] */
    float *choice;               /**< [num_experts] scores + bias; an expert whose choice is NaN ranks last */
    struct ranked *best_groups;  /**< [topk_group] */
    struct ranked *best_experts; /**< [topk] */
    bool *group_stays;           /**< [num_expert_group] */
};

/** An entry of a top-k list. Lists are sorted, best first. */
struct ranked {
    float value;
    int index;
};
// [token]

// [keep_best]
/**
 * Inserts a value into the list of the `k` best and returns the list's new length. A new value is inserted after any
 * equal ones, so if values arrive in ascending order of index, the lower index wins a tie.
 */
static inline int keep_best(struct ranked *best, int length, int k, float value, int index)
{
    int position = length;

    if (length == k && !(value > best[k - 1].value))
        return k;
    if (length == k)
        position = k - 1;
    for (; position > 0 && value > best[position - 1].value; position--)
        best[position] = best[position - 1];
    best[position] = (struct ranked){value, index};
    return length < k ? length + 1 : k;
}
// [keep_best]

// [load_floats]
/**
 * Returns a pointer to `count` elements as floats: into `array` if its type is f32, else to copies in `converted`.
 */
static const float *load_floats(enum dtype dtype, const void *array, size_t first, int count, float *converted)
{
    if (dtype == DTYPE_F32)
        return count ? (const float *)array + first : converted;
    for (int i = 0; i < count; i++)
        converted[i] = dtype_load(dtype, array, first + i);
    return converted;
}
// [load_floats]

// [scores]
/** scores = gating_output.sigmoid()   or   .softmax(dim=-1)   or   gating_output */
static void score_experts(const struct gate_problem *problem, const float *logits, float *scores)
{
    const int num_experts = problem->num_experts;
    float largest = -INFINITY, sum = 0.0f;

    switch (problem->score) {
    case GATE_SCORE_SIGMOID:
        for (int e = 0; e < num_experts; e++)
            scores[e] = expf(-logits[e]);
        for (int e = 0; e < num_experts; e++) /* a loop without calls, which the compiler vectorises */
            scores[e] = 1.0f / (1.0f + scores[e]);
        break;
        // [scores]
        // [scores_softmax]
    case GATE_SCORE_SOFTMAX:
        for (int e = 0; e < num_experts; e++)
            largest = logits[e] > largest ? logits[e] : largest;
        for (int e = 0; e < num_experts; e++)
            sum += scores[e] = expf(logits[e] - largest);
        for (int e = 0; e < num_experts; e++)
            scores[e] /= sum;
        break;
    case GATE_SCORE_NONE:
        for (int e = 0; e < num_experts; e++)
            scores[e] = logits[e];
        break;
    }
    // [scores_softmax]
    // [scores_rounding]
    if (problem->dtype != DTYPE_F32)
        for (int e = 0; e < num_experts; e++)
            scores[e] = dtype_round(problem->dtype, scores[e]);
}
// [scores_rounding]

// [bias_type]
/** choice = scores if correction_bias is None else scores + correction_bias.unsqueeze(0) */
static void add_bias(const struct gate_problem *problem, const float *bias, const float *scores, float *choice)
{
    const enum dtype type = gate_choice_dtype(problem);

    // [bias_type]
    // [bias]
    for (int e = 0; e < problem->num_experts; e++)
        choice[e] = problem->has_bias ? scores[e] + bias[e] : scores[e];
    // [bias]
    // [bias_rounding]
    if (type != DTYPE_F32)
        for (int e = 0; e < problem->num_experts; e++)
            choice[e] = dtype_round(type, choice[e]);
}
// [bias_rounding]

// [group_score]
/**
 * grouped.amax(dim=-1)   or   grouped.topk(2, dim=-1)[0].sum(dim=-1)
 * If the largest value occurs twice, both copies count. A comparison with NaN is false, so NaN choices are skipped.
 */
static float group_score(const struct gate_problem *problem, const float *choice, int experts_per_group)
{
    float first = -INFINITY, second = -INFINITY;

    for (int e = 0; e < experts_per_group; e++) {
        const float loser = choice[e] > first ? first : choice[e];

        first = choice[e] > first ? choice[e] : first;
        second = loser > second ? loser : second;
    }
    if (!problem->has_bias)
        return first;

    const float sum = dtype_round(gate_choice_dtype(problem), first + second);
    return isnan(sum) ? -INFINITY : sum; /* +infinity plus -infinity is NaN */
}

/** kept = group_scores.topk(topk_group, dim=-1)[1];  mask = zeros.scatter_(1, kept, 1) */
static void keep_groups(const struct gate_problem *problem, struct token *token)
{
    const int experts_per_group = problem->num_experts / problem->num_expert_group;
    int length = 0;

    for (int g = 0; g < problem->num_expert_group; g++) {
        const float score = group_score(problem, token->choice + g * experts_per_group, experts_per_group);

        length = keep_best(token->best_groups, length, problem->topk_group, score, g);
        token->group_stays[g] = false;
    }
    for (int i = 0; i < problem->topk_group; i++)
        token->group_stays[token->best_groups[i].index] = true;
}
// [group_score]

// [choose]
/** topk_ids = choice.masked_fill(~mask, -inf).topk(topk, dim=-1, sorted=True)[1] */
static void choose_experts(const struct gate_problem *problem, struct token *token)
{
    const int experts_per_group = problem->num_experts / problem->num_expert_group;
    int length = 0;

    for (int g = 0; g < problem->num_expert_group; g++)
        for (int e = g * experts_per_group; token->group_stays[g] && e < (g + 1) * experts_per_group; e++)
            if (!isnan(token->choice[e]))
                length = keep_best(token->best_experts, length, problem->topk, token->choice[e], e);
    // [choose]

    // [choose_nan]
    /* NaN ranks below every number, so experts whose choice is NaN only fill entries that are still free. */
    for (int e = 0; length < problem->topk && e < problem->num_experts; e++)
        if (isnan(token->choice[e]) && token->group_stays[e / experts_per_group])
            length = keep_best(token->best_experts, length, problem->topk, -INFINITY, e);
}
// [choose_nan]

// [weights]
/**
 * topk_weights = scores.gather(1, topk_ids);  if renormalize: topk_weights /= topk_weights.sum(dim=-1, keepdim=True)
 * return topk_weights.to(torch.float32) * routed_scaling_factor, topk_ids.to(torch.int32)
 */
static void write_weights(const struct gate_problem *problem, const struct token *token, float *topk_weights,
                          int32_t *topk_ids)
{
    float sum = 0.0f;

    for (int k = 0; k < problem->topk; k++) {
        const int e = token->best_experts[k].index;

        topk_ids[k] = e;
        topk_weights[k] = isnan(token->choice[e]) ? 0.0f : token->scores[e];
        sum += topk_weights[k];
    }
    sum = dtype_round(problem->dtype, sum);
    for (int k = 0; k < problem->topk; k++) {
        if (problem->renormalize && !isfinite(sum))
            topk_weights[k] = 0.0f;
        else if (problem->renormalize && sum != 0.0f)
            topk_weights[k] = dtype_round(problem->dtype, topk_weights[k] / sum);
        topk_weights[k] *= problem->routed_scaling_factor;
    }
}
// [weights]

// [grouped_topk]
static void route_token(const struct gate_problem *problem, const struct gate_buffers *buffers, int64_t row,
                        struct token *token)
{
    const float *logits = load_floats(problem->dtype, buffers->gating_output, (size_t)row * problem->num_experts,
                                      problem->num_experts, token->logits);

    score_experts(problem, logits, token->scores);
    add_bias(problem, token->bias, token->scores, token->choice);
    keep_groups(problem, token);
    choose_experts(problem, token);
    write_weights(problem, token, buffers->topk_weights + row * problem->topk, buffers->topk_ids + row * problem->topk);
}
// [grouped_topk]

// [memory]
/**
 * Returns the size in bytes of one thread's arrays, rounded up to whole cache lines so that threads share almost no
 * lines.
 */
static size_t token_bytes(const struct gate_problem *problem)
{
    const size_t bytes = 4 * sizeof(float) * problem->num_experts + sizeof(bool) * problem->num_expert_group +
                         sizeof(struct ranked) * ((size_t)problem->topk_group + problem->topk);

    return (bytes + 63) / 64 * 64;
}

/** Routes rows `begin` to `end` - 1, using token_bytes() bytes of scratch memory at `memory`. */
static void route_tokens(const struct gate_problem *problem, const struct gate_buffers *buffers, int64_t begin,
                         int64_t end, char *memory)
{
    const int num_experts = problem->num_experts;
    float *const floats = (float *)memory;
    struct ranked *const ranks = (struct ranked *)(floats + 4 * num_experts);
    struct token token = {
        .logits = floats,
        .scores = floats + num_experts,
        .choice = floats + 2 * num_experts,
        .best_groups = ranks,
        .best_experts = ranks + problem->topk_group,
        .group_stays = (bool *)(ranks + problem->topk_group + problem->topk),
    };

    token.bias = load_floats(problem->bias_dtype, buffers->correction_bias, 0, problem->has_bias ? num_experts : 0,
                             floats + 3 * num_experts);
    for (int64_t row = begin; row < end; row++)
        route_token(problem, buffers, row, &token);
}
// [memory]

// [threads]
bool gate_compute_on_host(const struct gate_problem *problem, const struct gate_buffers *buffers)
{
    const int64_t num_tokens = problem->num_tokens, worth = num_tokens / TOKENS_WORTH_A_THREAD + 1;
    const int threads = worth < omp_get_max_threads() ? (int)worth : omp_get_max_threads();
    const size_t bytes = token_bytes(problem);
    char *memory = malloc(bytes * threads);

    if (!memory)
        return false;
    if (threads == 1) {
        route_tokens(problem, buffers, 0, num_tokens, memory);
    } else {
#pragma omp parallel for num_threads(threads)
        for (int i = 0; i < threads; i++)
            route_tokens(problem, buffers, num_tokens * i / threads, num_tokens * (i + 1) / threads,
                         memory + bytes * i);
    }
    free(memory);
    return true;
}
// [threads]
