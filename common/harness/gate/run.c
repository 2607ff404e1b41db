#include "harness/gate/run.h"

#include "harness/gate/check.h"
#include "harness/gate/problem.h"

bool gate_tensors_allocate_host(const struct gate_problem *problem, struct tensors *tensors, struct error *error)
{
    const int64_t n = problem->num_tokens, width = gate_experts_per_token(problem);

    *tensors = (struct tensors){
        .tensor = {{.name = "gating_output", .host = {problem->dtype, 2, {n, problem->num_experts}, NULL}},
                   {.name = "correction_bias",
                    .host = {problem->bias_dtype, 1, {problem->num_experts}, NULL},
                    .is_absent = !problem->has_bias},
                   {.name = "topk_weights", .role = TENSOR_OUTPUT, .host = {DTYPE_F32, 2, {n, width}, NULL}},
                   {.name = "topk_ids", .role = TENSOR_OUTPUT, .host = {DTYPE_I32, 2, {n, width}, NULL}}},
        .num_tensors = NUM_GATE_TENSORS,
        .size_option_names = "--num-tokens, --num-experts",
        .poison_byte = 0xff, /* NaN as a weight, no expert as an id */
    };
    return tensors_allocate_host(tensors, error);
}

struct gate_buffers gate_buffers_at(const struct tensors *tensors, enum tensor_location location)
{
    return (struct gate_buffers){
        .gating_output = tensor_data(tensors, GATE_TENSOR_GATING_OUTPUT, location),
        .correction_bias = tensor_data(tensors, GATE_TENSOR_CORRECTION_BIAS, location),
        .topk_weights = tensor_data(tensors, GATE_TENSOR_TOPK_WEIGHTS, location),
        .topk_ids = tensor_data(tensors, GATE_TENSOR_TOPK_IDS, location),
    };
}

static cudaError_t call_implementation(const struct checked_launch *launch, const struct tensors *tensors,
                                       cudaStream_t stream)
{
    const struct gate_implementation *const implementation = launch->implementation;
    const struct gate_buffers buffers = gate_buffers_at(tensors, implementation->compute_on_host ? TENSOR_ON_HOST
                                                                                                 : TENSOR_ON_DEVICE);

    if (implementation->compute_on_host)
        return implementation->compute_on_host(launch->problem, &buffers) ? cudaSuccess : cudaErrorMemoryAllocation;
    return implementation->launch(launch->problem, &buffers, stream);
}

static bool verify(const struct checked_launch *launch, const struct tensors *tensors, struct error *error)
{
    const struct gate_buffers buffers = gate_buffers_at(tensors, TENSOR_ON_HOST);

    return gate_check(launch->problem, &buffers, GATE_TIES_LOWER_WINS, error);
}

struct checked_launch gate_make_checked_launch(const struct gate_problem *problem,
                                               const struct gate_implementation *implementation)
{
    return (struct checked_launch){.launch_kernels = call_implementation,
                                   .verify_outputs = verify,
                                   .problem = problem,
                                   .implementation = implementation,
                                   .runs_on_host = implementation->compute_on_host != NULL};
}
