#include "harness/gate/options.h"

#include "harness/gate/problem.h"

static const struct {
    int num_experts, num_expert_group, topk_group, topk;
} shapes[] = {
    /* DeepSeek-V3's, its relatives', and the corners: one group, every group, a full warp, a single expert per group. */
    {256, 8, 4, 8}, {256, 16, 4, 8}, {128, 4, 2, 6}, {128, 8, 8, 8},     {160, 8, 3, 6}, {384, 16, 5, 7}, {64, 1, 1, 6},
    {32, 1, 1, 32}, {6, 3, 3, 1},    {12, 12, 5, 5}, {1024, 32, 32, 32}, {512, 8, 4, 8}, {96, 32, 7, 11}, {1, 1, 1, 1},
};

static const int64_t token_counts[] = {19, 1, 5, 0};

enum {
    NUM_SHAPES = sizeof shapes / sizeof *shapes,
    NUM_TOKEN_COUNTS = sizeof token_counts / sizeof *token_counts,
    NUM_SCORES = 3,
    NUM_FLOAT_DTYPES = 3
};

enum { BIAS_NONE, BIAS_F32, BIAS_SAME, NUM_BIASES };

/** Takes the last digit of the number, in a base. */
static int next_digit(int *number, int base)
{
    const int digit = *number % base;

    *number /= base;
    return digit;
}

/** Up to 19; of a thousand experts, which take the simulator long, 9: a row of each of NaN's eight kinds, and one more. */
static int64_t num_tokens_of(int shape, int number)
{
    const int64_t num_tokens = token_counts[number % NUM_TOKEN_COUNTS];

    return shapes[shape].num_experts == 1024 && num_tokens > 9 ? 9 : num_tokens;
}

bool gate_problem_to_try(int number, uint64_t seed, struct gate_options *options)
{
    int rest = number;
    const int dist = next_digit(&rest, GATE_DIST_COUNT), bias = next_digit(&rest, NUM_BIASES);
    const int score = next_digit(&rest, NUM_SCORES), dtype = next_digit(&rest, NUM_FLOAT_DTYPES), shape = rest;

    if (shape >= NUM_SHAPES)
        return false;
    *options = (struct gate_options){
        .problem =
            {
                .num_tokens = num_tokens_of(shape, number),
                .num_experts = shapes[shape].num_experts,
                .num_expert_group = shapes[shape].num_expert_group,
                .topk_group = shapes[shape].topk_group,
                .topk = shapes[shape].topk,
                .dtype = (enum dtype)dtype,
                .score = (enum gate_score)score,
                .renormalize = number % 3 != 0,
                .routed_scaling_factor = number % 2 ? 2.5f : 1.0f,
            },
        .num_tokens_given = true,
        .source = GATE_SOURCE_GENERATED,
        .dist = (enum gate_dist)dist,
        .bias = bias == BIAS_NONE ? GATE_BIAS_NONE : GATE_BIAS_RANDOM,
        .bias_path = bias == BIAS_NONE ? "none" : "random",
        .bias_same = bias == BIAS_SAME,
        .program = {.seed = seed + (uint64_t)number},
    };
    return true;
}

bool gate_problem_is_worth_trying(const struct gate_options *options)
{
    if (options->bias == GATE_BIAS_NONE)
        return true;
    /* Groups of one have no second best, and for f32 a bias of the same type is the f32 bias again. */
    return gate_experts_per_group(&options->problem) > 1 &&
           !(options->bias_same && options->problem.dtype == DTYPE_F32);
}
