/**
 * @file grader.c
 * @brief 11a_write_zeros: checks products of local experts, zeros for other experts, and that pads have no rows.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>

/** A problem on the host, and the expert of each position. */
struct layer {
    struct down_projection_problem problem; /* its arrays are in host memory */
    int num_experts;
    int32_t *experts; /* [num_positions] */
    int32_t *map;     /* [num_experts] */
};

enum { INTERMEDIATE = 6 };

static float small_number(struct grade_context *grade)
{
    return (float)((int)random_below(grade_random(grade), 5) - 2);
}

/** Makes `count` small integers, so that sums of their products are exact. */
static float *small_numbers(struct grade_context *grade, int count)
{
    float *const numbers = grade_allocate_host(grade, (size_t)count * sizeof *numbers);

    for (int i = 0; i < count; i++)
        numbers[i] = small_number(grade);
    return numbers;
}

/** Maps `local` experts, odd-numbered ones first, to descending local ids, and all other experts to -1. */
static void make_map(struct layer *layer, struct grade_context *grade, int local)
{
    const int num_odd = layer->num_experts / 2;

    layer->map = grade_allocate_host(grade, (size_t)layer->num_experts * sizeof *layer->map);
    for (int n = 0; n < layer->num_experts; n++)
        layer->map[n < num_odd ? 2 * n + 1 : 2 * (n - num_odd)] = n < local ? local - 1 - n : -1;
}

/** Lists each expert's positions in ascending order, padded to whole blocks. */
static void sort_positions(struct layer *layer, struct grade_context *grade)
{
    struct down_projection_problem *const problem = &layer->problem;
    const int most = (problem->num_positions + layer->num_experts * problem->block_size) / problem->block_size + 2;
    int32_t *const slots = grade_allocate_host(grade, (size_t)(most * problem->block_size) * sizeof *slots);
    int32_t *const owners = grade_allocate_host(grade, (size_t)most * sizeof *owners);
    int slot = 0;

    for (int e = 0; e < layer->num_experts; e++) {
        for (int position = 0; position < problem->num_positions; position++)
            if (layer->experts[position] == e) {
                owners[slot / problem->block_size] = layer->map[e];
                slots[slot++] = position;
            }
        while (slot % problem->block_size != 0)
            slots[slot++] = problem->num_positions;
    }
    for (int spare = 0; spare < problem->block_size; spare++) { /* a block past the last group */
        owners[slot / problem->block_size] = -1;
        slots[slot++] = problem->num_positions;
    }
    problem->capacity = slot;
    problem->sorted_token_ids = slots;
    problem->expert_ids = owners;
}

/** Makes a layer with `local` local experts. */
static struct layer make_layer(struct grade_context *grade, int positions, int experts, int local, int hidden,
                               int block_size)
{
    struct layer layer = {.problem = {.num_positions = positions,
                                      .intermediate_size = INTERMEDIATE,
                                      .hidden_size = hidden,
                                      .block_size = block_size},
                          .num_experts = experts};
    float *const weights = small_numbers(grade, positions);
    float *const intermediate = small_numbers(grade, positions * INTERMEDIATE);

    layer.experts = grade_allocate_host(grade, (size_t)positions * sizeof *layer.experts);
    make_map(&layer, grade, local);
    for (int position = 0; position < positions; position++) {
        layer.experts[position] = position < experts ? position
                                                     : (int)random_below(grade_random(grade), (uint32_t)experts);
        weights[position] = 0.25f * (1.0f + (float)random_below(grade_random(grade), 7));
        for (int k = 0; k < INTERMEDIATE && layer.map[layer.experts[position]] < 0; k++)
            intermediate[position * INTERMEDIATE + k] = k % 2 ? NAN : 3e38f;
    }
    layer.problem.topk_weights = weights;
    layer.problem.intermediate = intermediate;
    layer.problem.w2 = small_numbers(grade, (local > 0 ? local : 1) * hidden * INTERMEDIATE);
    sort_positions(&layer, grade);
    grade_describe_input(grade, "%d positions, %d of %d experts here, rows of %d, blocks of %d", positions, local,
                         experts, hidden, block_size);
    return layer;
}

/** Copies the layer's arrays to the device. */
static struct down_projection_problem to_device(const struct layer *layer, struct grade_context *grade)
{
    const struct down_projection_problem *const host = &layer->problem;
    const size_t positions = (size_t)host->num_positions;
    struct down_projection_problem device = *host;
    int local = 0;

    for (int e = 0; e < layer->num_experts; e++)
        local += layer->map[e] >= 0;
    device.intermediate = grade_device_input(grade, "intermediate", host->intermediate,
                                             positions * INTERMEDIATE * sizeof(float));
    device.w2 = grade_device_input(grade, "w2", host->w2,
                                   (size_t)(local > 0 ? local : 1) * host->hidden_size * INTERMEDIATE * sizeof(float));
    device.topk_weights = grade_device_input(grade, "topk_weights", host->topk_weights, positions * sizeof(float));
    device.sorted_token_ids = grade_device_input(grade, "sorted_token_ids", host->sorted_token_ids,
                                                 (size_t)host->capacity * sizeof(int32_t));
    device.expert_ids = grade_device_input(grade, "expert_ids", host->expert_ids,
                                           (size_t)(host->capacity / host->block_size) * sizeof(int32_t));
    device.partial = grade_device_output(grade, "partial", positions * host->hidden_size * sizeof(float));
    return device;
}

static float right_element(const struct layer *layer, int position, int i)
{
    const struct down_projection_problem *const problem = &layer->problem;
    const int expert = layer->map[layer->experts[position]];
    float sum = 0.0f;

    for (int k = 0; expert >= 0 && k < INTERMEDIATE; k++)
        sum += problem->intermediate[position * INTERMEDIATE + k] *
               problem->w2[(expert * problem->hidden_size + i) * INTERMEDIATE + k];
    return expert >= 0 ? problem->topk_weights[position] * sum : 0.0f;
}

static void check_rows(const struct layer *layer, struct grade_context *grade, const float *partial)
{
    const int hidden = layer->problem.hidden_size;

    for (int position = 0; position < layer->problem.num_positions; position++)
        for (int i = 0; i < hidden; i++) {
            const float expected = right_element(layer, position, i), got = partial[position * hidden + i];
            const int expert = layer->experts[position];
            const char *const where = layer->map[expert] < 0 ? ", which is elsewhere" : "";

            if (got == expected)
                continue;
            if (grade_is_unwritten(&got, sizeof got))
                grade_fail(grade, "partial[%d][%d] (position %d, expert %d%s): expected %g, but it was never written",
                           position, i, position, expert, where, (double)expected);
            grade_fail(grade, "partial[%d][%d] (position %d, expert %d%s): expected %g, got %g", position, i, position,
                       expert, where, (double)expected, (double)got);
        }
}

static struct layer check(struct grade_context *grade, int positions, int experts, int local, int hidden,
                          int block_size)
{
    const struct layer layer = make_layer(grade, positions, experts, local, hidden, block_size);
    const struct down_projection_problem device = to_device(&layer, grade);

    GRADE_LAUNCH_AND_CHECK(grade, down_projection_launch(&device));
    check_rows(&layer, grade, grade_download(grade, device.partial));
    return layer;
}

static void all_here(struct grade_context *grade)
{
    check(grade, 12, 4, 4, 64, 4);
}

static void some_elsewhere(struct grade_context *grade)
{
    check(grade, 12, 4, 2, 64, 4);
    check(grade, 40, 8, 3, 64, 8);
}

/** Runs with rows of one element, rows one element shorter or longer than a block, and rows of a random length. */
static void any_row(struct grade_context *grade)
{
    check(grade, 10, 4, 2, 1, 4);
    check(grade, 10, 4, 2, 63, 4);
    check(grade, 10, 4, 2, 65, 4);
    check(grade, 14, 5, 3, 100 + (int)random_below(grade_random(grade), 60), 4);
}

/** Runs with one position and three pads, with blocks of one slot, and with most experts empty. */
static void any_block(struct grade_context *grade)
{
    check(grade, 1, 1, 1, 70, 4);
    check(grade, 1, 1, 0, 70, 4);
    check(grade, 9, 4, 2, 70, 1);
    check(grade, 3, 16, 8, 70, 16);
}

static void no_expert_here(struct grade_context *grade)
{
    check(grade, 20, 6, 0, 96, 4);
}

/** Allows a warp that writes zeros only the loads of its position and its expert. */
static void zeros_cost_no_reads(struct grade_context *grade)
{
    enum { POSITIONS = 24, HIDDEN = 128, WARPS_A_SLOT = 4 };
    const struct layer layer = check(grade, POSITIONS, 6, 0, HIDDEN, 4);

    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                        2 * WARPS_A_SLOT * (uint64_t)layer.problem.capacity);
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                        WARPS_A_SLOT * POSITIONS);
}

const struct grade_case grade_cases[] = {
    {"all_here", all_here, false},
    {"some_elsewhere", some_elsewhere, false},
    {"any_row", any_row, false},
    {"any_block", any_block, false},
    {"no_expert_here", no_expert_here, false},
    {"zeros_cost_no_reads", zeros_cost_no_reads, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
