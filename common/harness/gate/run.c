#include "harness/gate/run.h"

#include "harness/gate/check.h"
#include "harness/gate/problem.h"

bool gate_operands_allocate(const struct gate_problem *problem, struct operands *operands, struct error *error)
{
    const int64_t n = problem->num_tokens, width = gate_experts_per_token(problem);

    *operands = (struct operands){
        .list = {{.name = "gating_output", .host = {problem->dtype, 2, {n, problem->num_experts}, NULL}},
                 {.name = "correction_bias",
                  .host = {problem->bias_dtype, 1, {problem->num_experts}, NULL},
                  .absent = !problem->has_bias},
                 {.name = "topk_weights", .role = OPERAND_OUTPUT, .host = {DTYPE_F32, 2, {n, width}, NULL}},
                 {.name = "topk_ids", .role = OPERAND_OUTPUT, .host = {DTYPE_I32, 2, {n, width}, NULL}}},
        .count = NUM_GATE_OPERANDS,
        .poison = 0xff, /* NaN as a weight, no expert as an id */
    };
    return operands_allocate(operands, error);
}

struct gate_buffers gate_buffers_at(const struct operands *operands, enum operand_place place)
{
    return (struct gate_buffers){
        .gating_output = operand_data(operands, GATE_GATING_OUTPUT, place),
        .correction_bias = operand_data(operands, GATE_CORRECTION_BIAS, place),
        .topk_weights = operand_data(operands, GATE_TOPK_WEIGHTS, place),
        .topk_ids = operand_data(operands, GATE_TOPK_IDS, place),
    };
}

static cudaError_t call_step(const struct launch *launch, const struct operands *operands, cudaStream_t stream)
{
    const struct gate_step *const step = launch->step;
    const struct gate_buffers buffers = gate_buffers_at(operands, step->compute ? OPERAND_HOST : OPERAND_DEVICE);

    if (step->compute)
        return step->compute(launch->problem, &buffers) ? cudaSuccess : cudaErrorMemoryAllocation;
    return step->launch(launch->problem, &buffers, stream);
}

static bool verify(const struct launch *launch, const struct operands *operands, struct error *error)
{
    const struct gate_buffers buffers = gate_buffers_at(operands, OPERAND_HOST);

    return gate_check(launch->problem, &buffers, GATE_TIES_LOWER_FIRST, error);
}

struct launch gate_launch_of(const struct gate_problem *problem, const struct gate_step *step)
{
    return (struct launch){
        .call = call_step, .verify = verify, .problem = problem, .step = step, .on_host = step->compute != NULL};
}
