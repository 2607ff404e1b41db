#include "harness/moe/routing.h"

#include "base/memory.h"
#include "base/random.h"
#include "harness/gate/problem.h"
#include "harness/gate/reference.h"
#include "harness/gate/run.h"
#include "harness/moe/problem.h"

#include <stdlib.h>

/*
 * Number of experts of the real router, the largest number that its gate may choose per token here, and the
 * random-number stream of generated weights.
 */
enum { ROUTER_EXPERTS = 256, ROUTER_MAX_CHOICES = 32, SEQUENCE_WEIGHTS = 1000 };

void moe_host_routing_free(struct moe_host_routing *routing)
{
    free(routing->topk_ids);
    free(routing->topk_weights);
    free(routing->expert_map);
    free(routing->local_experts);
    align_group_layout_free(&routing->groups);
    *routing = (struct moe_host_routing){0};
}

bool moe_can_use_router_data(const struct moe_problem *problem)
{
    return problem->num_experts == ROUTER_EXPERTS && problem->topk <= ROUTER_MAX_CHOICES;
}

/* --- the real router ---------------------------------------------------------------------------------------------- */

static bool route_by_router(const struct moe_problem *problem, int32_t *topk_ids, float *topk_weights,
                            struct error *error)
{
    const struct gate_implementation any = {.name = "the gate's reference"};
    struct gate_options options = gate_options_default();
    struct gate_problem *const gate = &options.problem;
    struct gate_buffers chosen;
    struct tensors data;
    bool good;

    options.option_to_suggest_without_router_data = "topk-ids";
    gate->topk = problem->topk;
    if (!gate_prepare_problem_and_tensors(&options, &any, &data, error))
        return false;
    if (gate->num_tokens > problem->num_tokens)
        gate->num_tokens = problem->num_tokens;
    chosen = gate_buffers_at(&data, TENSOR_ON_HOST);
    good = gate_reference_compute(gate, &chosen, error);
    for (int64_t i = 0; good && i < moe_num_choices(problem); i++) {
        topk_ids[i] = chosen.topk_ids[i % gate_num_ids(gate)];
        topk_weights[i] = chosen.topk_weights[i % gate_num_ids(gate)];
    }
    tensors_free(&data);
    return good;
}

/* --- generated ---------------------------------------------------------------------------------------------------- */

/**
 * Generates weights that differ from each other but are of similar size, so that any wrong weight has an effect.
 */
static void generate_weights(const struct moe_problem *problem, uint64_t seed, float *topk_weights)
{
    struct random random = random_seed(seed, SEQUENCE_WEIGHTS);

    for (int64_t t = 0; t < problem->num_tokens; t++) {
        float *const weights = topk_weights + t * problem->topk;
        float sum = 0.0f;

        for (int k = 0; k < problem->topk; k++)
            sum += weights[k] = 0.25f + random_uniform(&random);
        for (int k = 0; k < problem->topk; k++)
            weights[k] /= sum;
    }
}

bool moe_fill_topk_ids_and_weights(const struct moe_problem *problem, enum moe_routing_dist dist, uint64_t seed,
                                   int32_t *topk_ids, float *topk_weights, struct error *error)
{
    const struct align_problem ids = moe_align_problem(problem);

    if (problem->num_tokens == 0)
        return true;
    if (dist == MOE_DIST_ROUTER)
        return route_by_router(problem, topk_ids, topk_weights, error);
    generate_weights(problem, seed, topk_weights);
    return align_generate_ids(&ids, problem->topk, (enum align_dist)(dist - MOE_DIST_FIRST_GENERATED), seed, topk_ids,
                              error);
}
