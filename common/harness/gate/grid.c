#include "harness/gate/grid.h"

#include "harness/gate/input.h"
#include "harness/gate/load.h"
#include "harness/gate/problem.h"

#include <stdio.h>
#include <string.h>

struct shape {
    int num_experts, num_expert_group, topk_group, topk;
};

/* DeepSeek-V3's, its relatives', and the corners: one group, every group, a full warp, a single expert per group. */
static const struct shape shapes[] = {
    {256, 8, 4, 8}, {256, 16, 4, 8}, {128, 4, 2, 6}, {128, 8, 8, 8},     {160, 8, 3, 6}, {384, 16, 5, 7}, {64, 1, 1, 6},
    {32, 1, 1, 32}, {6, 3, 3, 1},    {12, 12, 5, 5}, {1024, 32, 32, 32}, {512, 8, 4, 8}, {96, 32, 7, 11}, {1, 1, 1, 1},
};

static const int64_t token_counts[] = {19, 1, 5, 0};

enum { NUM_SHAPES = sizeof shapes / sizeof *shapes, NUM_TOKEN_COUNTS = sizeof token_counts / sizeof *token_counts };

/** What changes from problem to problem: every combination is one. */
struct cell {
    int shape, dtype, score, bias, dist;
};

enum { BIAS_NONE, BIAS_F32, BIAS_SAME, NUM_BIASES };

static bool next_cell(struct cell *cell)
{
    if (++cell->dist < GATE_DIST_COUNT)
        return true;
    cell->dist = 0;
    if (++cell->bias < NUM_BIASES)
        return true;
    cell->bias = 0;
    if (++cell->score <= GATE_SCORE_NONE)
        return true;
    cell->score = 0;
    if (++cell->dtype <= DTYPE_BF16)
        return true;
    cell->dtype = 0;
    return ++cell->shape < NUM_SHAPES;
}

/** The cell's problem; the number of tokens and the renormalisation go round with its number. */
static struct gate_options options_of(const struct cell *cell, int number, uint64_t seed)
{
    struct gate_options options = {
        .problem =
            {
                .num_tokens = token_counts[number % NUM_TOKEN_COUNTS],
                .num_experts = shapes[cell->shape].num_experts,
                .num_expert_group = shapes[cell->shape].num_expert_group,
                .topk_group = shapes[cell->shape].topk_group,
                .topk = shapes[cell->shape].topk,
                .dtype = (enum dtype)cell->dtype,
                .score = (enum gate_score)cell->score,
                .renormalize = number % 3 != 0,
                .routed_scaling_factor = number % 2 ? 2.5f : 1.0f,
            },
        .num_tokens_given = true,
        .source = GATE_SOURCE_GENERATED,
        .dist = (enum gate_dist)cell->dist,
        .bias = cell->bias == BIAS_NONE ? GATE_BIAS_NONE : GATE_BIAS_RANDOM,
        .bias_path = cell->bias == BIAS_NONE ? "none" : "random",
        .bias_same = cell->bias == BIAS_SAME,
        .program = {.seed = seed + (uint64_t)number},
    };
    return options;
}

/** Groups of one have no second best, and for f32 a bias of the same type is the f32 bias again. */
static bool worth_running(const struct cell *cell)
{
    const struct shape *shape = &shapes[cell->shape];

    if (cell->bias != BIAS_NONE && shape->num_experts == shape->num_expert_group)
        return false;
    return cell->bias != BIAS_SAME || cell->dtype != DTYPE_F32;
}

static enum run_result run_cell(const struct gate_step *step, struct gate_options *options, struct error *error)
{
    struct gate_input input;
    struct gate_output output;
    enum run_result result;

    result = gate_load(options, step, &input, error);
    if (result != RUN_READY)
        return result;
    result = RUN_NO_DEVICE;
    if (gate_output_allocate(&options->problem, &output, error)) {
        result = gate_run(&options->problem, step, &input, &output, error);
        gate_output_free(&output);
    }
    gate_input_free(&input);
    return result;
}

enum run_result gate_grid(const struct gate_step *step, const struct gate_options *asked, const char *program,
                          FILE *stream, struct error *error)
{
    struct cell cell = {0};
    int number = 0, verified = 0, unsupported = 0;

    do {
        struct gate_options options = options_of(&cell, number++, asked->program.seed);
        enum run_result result;

        if (!worth_running(&cell))
            continue;
        if (step->unsupported_reason && step->unsupported_reason(&options.problem)) {
            unsupported++;
            continue;
        }
        result = run_cell(step, &options, error);
        if (result != RUN_VERIFIED) {
            char command[512];
            const struct error reason = *error;

            gate_options_command(&options, program, command, sizeof command);
            error_set(error, "%s (repeat it with: %s)", reason.text, command);
            return result;
        }
        verified++;
    } while (next_cell(&cell));
    fprintf(stream, "%s: %d problems verified, %d not supported\n", step->name, verified, unsupported);
    return RUN_VERIFIED;
}
