#include "harness/routing/run.h"

#include "harness/align/check.h"
#include "harness/align/problem.h"
#include "harness/gate/check.h"
#include "harness/gate/problem.h"

#include <string.h>

struct routing_buffers routing_buffers_at(const struct tensors *tensors, enum tensor_location location)
{
    struct tensors of_align = {.num_tensors = NUM_ALIGN_TENSORS};

    of_align.tensor[ALIGN_TENSOR_TOPK_IDS] = tensors->tensor[GATE_TENSOR_TOPK_IDS];
    memcpy(&of_align.tensor[ALIGN_TENSOR_EXPERT_MAP], &tensors->tensor[ROUTING_TENSOR_EXPERT_MAP],
           (NUM_ALIGN_TENSORS - 1) * sizeof *of_align.tensor);
    return (struct routing_buffers){gate_buffers_at(tensors, location), align_buffers_at(&of_align, location)};
}

static cudaError_t call_implementation(const struct checked_launch *launch, const struct tensors *tensors,
                                       cudaStream_t stream)
{
    const struct routing_implementation *const implementation = launch->implementation;
    const struct routing_buffers buffers = routing_buffers_at(tensors, TENSOR_ON_DEVICE);

    return implementation->launch(launch->problem, &buffers, stream);
}

/** Checks the gate's choices, and that the list of rows is correct for these choices. */
static bool verify(const struct checked_launch *launch, const struct tensors *tensors, struct error *error)
{
    const struct routing_problem *const problem = launch->problem;
    const struct routing_buffers buffers = routing_buffers_at(tensors, TENSOR_ON_HOST);

    return gate_check(&problem->gate, &buffers.gate, GATE_TIES_LOWER_WINS, error) &&
           align_check(&problem->align, &buffers.align, true, error);
}

struct checked_launch routing_make_checked_launch(const struct routing_problem *problem,
                                                  const struct routing_implementation *implementation)
{
    return (struct checked_launch){.launch_kernels = call_implementation,
                                   .verify_outputs = verify,
                                   .problem = problem,
                                   .implementation = implementation};
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

/** Checks that the reason why a problem is unsupported, if there is one, is not its topk; `topk` is the one wanted. */
static bool check_topk_supported(const struct routing_implementation *implementation,
                                 const struct routing_problem *problem, int topk, struct error *error)
{
    return !implementation->unsupported_reason ||
           check_option_supported(implementation->unsupported_reason(problem),
                                  &(struct option_value){"topk", topk, NULL}, error);
}

bool routing_problem_from_options(const struct routing_options *options,
                                  const struct routing_implementation *implementation, struct routing_problem *problem,
                                  struct error *error)
{
    const struct gate_problem *const gate = &options->gate.problem;
    struct align_problem *const align = &problem->align;

    *problem = (struct routing_problem){*gate, options->align};
    align->num_experts = gate->num_experts;
    align->overlap = gate->overlap;
    if (!align_compute_numel(gate->num_tokens, gate->topk, &align->numel, error) || !align_shape_check(align, error))
        return false;
    align->capacity = align_worst_case_capacity_capped_by_ids(align);
    const struct option_value values[] = {{"topk", gate->topk, NULL},
                                          {"num-expert-group", gate->num_expert_group, NULL},
                                          {"num-experts", gate->num_experts, NULL},
                                          {NULL, 0, NULL}};

    return align_check_computed_capacity(align, "num-tokens", error) && align_problem_check(align, error) &&
           check_supported(implementation->unsupported_reason ? implementation->unsupported_reason(problem) : NULL,
                           values, error);
}

/**
 * Adds align's tensors to the gate's, which are already allocated. If memory runs out, adds none of them and returns
 * false.
 */
static bool add_align_tensors(const struct routing_problem *problem,
                              const struct routing_implementation *implementation, bool has_map,
                              struct tensors *tensors, struct error *error)
{
    struct tensors of_align;
    struct tensor *const workspace = &tensors->tensor[ROUTING_TENSOR_WORKSPACE];

    if (!align_tensors_allocate_host(&problem->align, NULL, has_map, 0, &of_align, error))
        return false;
    npy_free(&of_align.tensor[ALIGN_TENSOR_TOPK_IDS].host);
    memcpy(&tensors->tensor[ROUTING_TENSOR_EXPERT_MAP], &of_align.tensor[ALIGN_TENSOR_EXPERT_MAP],
           (NUM_ALIGN_TENSORS - 1) * sizeof *of_align.tensor);
    tensors->num_tensors = NUM_ROUTING_TENSORS;
    tensors->poison_byte = of_align.poison_byte; /* neither a valid weight nor a valid id */
    workspace->host.shape[0] = implementation->workspace_bytes ? (int64_t)implementation->workspace_bytes(problem) : 0;
    workspace->is_zeroed = implementation->workspace_must_be_zeroed;
    return true;
}

bool routing_prepare_problem_and_tensors(struct routing_options *options,
                                         const struct routing_implementation *implementation,
                                         struct routing_problem *problem, struct tensors *tensors, struct error *error)
{
    const struct gate_implementation any_gate = {.name = implementation->name, .supports_overlap = true};
    const bool has_map = parse_array_source(options->expert_map_option) != ARRAY_SOURCE_NONE;

    struct routing_problem most = {.align = options->align};

    if (gate_topk_exceeds_groups(&options->gate.problem, &most.gate) &&
        !check_topk_supported(implementation, &most, options->gate.problem.topk, error))
        return false;
    if (!gate_prepare_problem_and_tensors(&options->gate, &any_gate, tensors, error))
        return false;
    if (routing_problem_from_options(options, implementation, problem, error) &&
        add_align_tensors(problem, implementation, has_map, tensors, error) &&
        align_load_expert_map(options->expert_map_option, problem->align.num_experts, options->gate.program.seed,
                              tensors->tensor[ROUTING_TENSOR_EXPERT_MAP].host.data, error))
        return true;
    tensors_free(tensors);
    return false;
}
