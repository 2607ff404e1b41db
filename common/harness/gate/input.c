#include "harness/gate/input.h"

#include "base/random.h"
#include "harness/gate/problem.h"

#include <float.h>
#include <math.h>

const char *const gate_dist_names[] = {"normal", "uniform", "zipf", "ties", "equal", "extreme", "nan", NULL};

/** Returns an expert's logit for a random rank under Zipf's law, so that a few experts are far above the others. */
static float zipf_logit(struct random *random, int num_experts)
{
    const int rank = (int)(random_uniform(random) * num_experts);

    return 4.0f - logf(1.0f + rank) + 0.1f * random_normal(random);
}

static float extreme_logit(struct random *random, enum dtype dtype)
{
    const float largest = dtype == DTYPE_F16 ? 65504.0f : dtype == DTYPE_BF16 ? 3.3895314e38f : FLT_MAX;
    const float smallest = dtype == DTYPE_F16 ? 5.9604645e-8f : dtype == DTYPE_BF16 ? 9.1835496e-41f : 1.4e-45f;
    const float values[] = {INFINITY, -INFINITY, largest, -largest, smallest, -smallest, 0.0f,
                            -0.0f,    88.0f,     -88.0f,  -90.0f,   -100.0f,  -110.0f,   20.0f};

    if (random_uniform(random) < 0.5f)
        return 16.0f * random_normal(random);
    return values[random_below(random, sizeof values / sizeof *values)];
}

/** Returns a logit of the nan distribution, in which row r has the special values of kind r % 9. */
static float troubled_logit(const struct gate_problem *problem, struct random *random, int64_t row, int expert)
{
    const int num_experts = problem->num_experts, size = gate_experts_per_group(problem);
    const float value = random_normal(random), other = random_uniform(random);

    switch (row % 9) {
    case 0: /* one NaN in the row */
        return expert == (int)(row / 9 % num_experts) ? NAN : value;
    case 1: /* several NaNs */
        return other < 0.25f ? NAN : value;
    case 2: /* only NaN */
        return NAN;
    case 3: /* NaN except for fewer than topk numbers */
        return other < 0.98f ? NAN : value;
    case 4:
        return other < 0.1f ? INFINITY : value;
    case 5:
        return other < 0.6f ? -INFINITY : value;
    case 6:
        return other < 0.2f ? NAN : other < 0.4f ? INFINITY : other < 0.6f ? -INFINITY : value;
    case 7: /* about one +infinity per group, all others -infinity: the sum of the two best is NaN */
        return other * size < 1.0f ? INFINITY : -INFINITY;
    default: /* an ordinary row */
        return value;
    }
}

static float generate_logit(const struct gate_problem *problem, enum gate_dist dist, int64_t row, int expert,
                            struct random *random, float row_value)
{
    switch (dist) {
    case GATE_DIST_UNIFORM:
        return 8.0f * random_uniform(random) - 4.0f;
    case GATE_DIST_ZIPF:
        return zipf_logit(random, problem->num_experts);
    case GATE_DIST_TIES:
        return 0.5f * (float)random_below(random, 4) - 1.0f;
    case GATE_DIST_EQUAL:
        return row_value;
    case GATE_DIST_EXTREME:
        return extreme_logit(random, problem->dtype);
    case GATE_DIST_NAN:
        return troubled_logit(problem, random, row, expert);
    default:
        return random_normal(random);
    }
}

void gate_generate_logits(const struct gate_problem *problem, enum gate_dist dist, uint64_t seed, void *gating_output)
{
#pragma omp parallel for if (problem->num_tokens >= GATE_MIN_ROWS_PER_THREAD)
    for (int64_t row = 0; row < problem->num_tokens; row++) {
        struct random random = random_seed(seed, (uint64_t)row);
        const float row_value = random_normal(&random) * (row % 4 == 2 ? 100.0f : 1.0f);

        for (int e = 0; e < problem->num_experts; e++)
            dtype_store(problem->dtype, gating_output, (size_t)row * problem->num_experts + e,
                        generate_logit(problem, dist, row, e, &random, row_value));
    }
}

static float generate_bias(enum gate_dist dist, int group, bool is_first, struct random *random)
{
    switch (dist) {
    case GATE_DIST_UNIFORM: /* makes every choice negative for a sigmoid or a softmax */
        return 0.1f * random_normal(random) - 2.0f;
    case GATE_DIST_TIES:
    case GATE_DIST_EQUAL:
        return 0.125f * (float)random_below(random, 2);
    case GATE_DIST_EXTREME:
        return group % 3 == 1 ? -INFINITY : random_normal(random);
    case GATE_DIST_NAN: /* makes the sum of the group's two best choices NaN for any scores */
        if (group % 4 == 3)
            return is_first ? INFINITY : -INFINITY;
        return 0.1f * random_normal(random);
    default:
        return 0.1f * random_normal(random);
    }
}

void gate_generate_bias(const struct gate_problem *problem, enum gate_dist dist, uint64_t seed, void *correction_bias)
{
    struct random random = random_seed(seed, UINT64_MAX);
    const int size = gate_experts_per_group(problem);

    for (int e = 0; e < problem->num_experts; e++)
        dtype_store(problem->bias_dtype, correction_bias, e, generate_bias(dist, e / size, e % size == 0, &random));
}
