#include "harness/gate/options.h"

#include "harness/gate/problem.h"

#define SHAPE(experts, groups, kept, chosen)                                                   \
    {                                                                                          \
        .num_experts = experts, .num_expert_group = groups, .topk_group = kept, .topk = chosen \
    }

/* A shape with shared experts; gate_problem_to_try() clears scale_later in every second pair of problems. */
#define SHARED(experts, groups, kept, chosen, shared)                                                                \
    {                                                                                                                \
        .num_experts = experts, .num_expert_group = groups, .topk_group = kept, .topk = chosen, .scale_later = true, \
        .num_fused_shared_experts = shared                                                                           \
    }

/* Shapes of DeepSeek-V3 and its relatives, and edge cases: one group, every group, a full warp, single experts. */
static const struct gate_problem shapes[] = {
    SHAPE(256, 8, 4, 8),     SHAPE(256, 16, 4, 8),    SHAPE(128, 4, 2, 6),    SHAPE(128, 8, 8, 8), SHAPE(160, 8, 3, 6),
    SHAPE(384, 16, 5, 7),    SHAPE(64, 1, 1, 6),      SHAPE(32, 1, 1, 32),    SHAPE(6, 3, 3, 1),   SHAPE(12, 12, 5, 5),
    SHAPE(1024, 32, 32, 32), SHAPE(512, 8, 4, 8),     SHAPE(96, 32, 7, 11),   SHAPE(1, 1, 1, 1),   SHAPE(64, 4, 3, 5),
    SHARED(256, 8, 4, 8, 1), SHARED(128, 8, 8, 8, 3), SHARED(64, 4, 3, 5, 0),
};

/* The last of three rows of nan has only NaN, and is last in the array: reads past its end are out of bounds. */
static const int64_t token_counts[] = {19, 1, 3, 0};

enum {
    NUM_SHAPES = sizeof shapes / sizeof *shapes,
    NUM_TOKEN_COUNTS = sizeof token_counts / sizeof *token_counts,
    NUM_SCORES = 3,
    NUM_FLOAT_DTYPES = 3
};

enum { BIAS_NONE, BIAS_F32, BIAS_SAME, NUM_BIASES };

/** Removes the last digit of the number in a base. Returns the digit. */
static int next_digit(int *number, int base)
{
    const int digit = *number % base;

    *number /= base;
    return digit;
}

/**
 * Returns the number of tokens: up to 19, but at most 9 for 1024 experts, which are slow in the simulator. 9 tokens
 * have a row of each of the nine kinds of nan.
 */
static int64_t num_tokens_of(int shape, int number)
{
    const int64_t num_tokens = token_counts[number % NUM_TOKEN_COUNTS];

    return shapes[shape].num_experts == 1024 && num_tokens > 9 ? 9 : num_tokens;
}

/** Checks that groups have a second best if there is a bias, and that the bias's type is not f32 for a second time. */
static bool is_worth_trying(const struct gate_options *options)
{
    return array_source(options->bias) == ARRAY_NONE || (gate_experts_per_group(&options->problem) > 1 &&
                                                         !(options->bias_same && options->problem.dtype == DTYPE_F32));
}

bool gate_problem_to_try(int *number, uint64_t seed, struct gate_options *options)
{
    for (;; ++*number) {
        int rest = *number;
        const int dist = next_digit(&rest, GATE_DIST_COUNT), bias = next_digit(&rest, NUM_BIASES);
        const int score = next_digit(&rest, NUM_SCORES), dtype = next_digit(&rest, NUM_FLOAT_DTYPES), shape = rest;

        if (shape >= NUM_SHAPES)
            return false;
        *options = (struct gate_options){
            .program = {.num_tokens = num_tokens_of(shape, *number),
                        .num_tokens_given = true,
                        .seed = seed + (uint64_t)*number},
            .problem = shapes[shape],
            .source = GATE_SOURCE_GENERATED,
            .dist = (enum gate_dist)dist,
            .bias = bias == BIAS_NONE ? "none" : "random",
            .bias_same = bias == BIAS_SAME,
        };
        options->problem.dtype = (enum dtype)dtype;
        options->problem.score = (enum gate_score)score;
        options->problem.renormalize = *number % 3 != 0;
        options->problem.scale_later &= *number % 4 < 2;
        options->problem.routed_scaling_factor = *number % 2 ? 2.5f : 1.0f;
        if (is_worth_trying(options))
            return true;
    }
}
