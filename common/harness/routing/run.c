#include "harness/routing/run.h"

#include "harness/align/check.h"
#include "harness/align/problem.h"
#include "harness/gate/check.h"

#include <string.h>

struct routing_buffers routing_buffers_at(const struct operands *operands, enum operand_place place)
{
    struct operands of_align = {.count = NUM_ALIGN_OPERANDS};

    of_align.list[ALIGN_TOPK_IDS] = operands->list[GATE_TOPK_IDS];
    memcpy(&of_align.list[ALIGN_EXPERT_MAP], &operands->list[ROUTING_EXPERT_MAP],
           (NUM_ALIGN_OPERANDS - 1) * sizeof *of_align.list);
    return (struct routing_buffers){gate_buffers_at(operands, place), align_buffers_at(&of_align, place)};
}

static cudaError_t call_step(const struct launch *launch, const struct operands *operands, cudaStream_t stream)
{
    const struct routing_step *const step = launch->step;
    const struct routing_buffers buffers = routing_buffers_at(operands, OPERAND_DEVICE);

    return step->launch(launch->problem, &buffers, stream);
}

/** The gate's choices are right, and the list is that of these choices. */
static bool verify(const struct launch *launch, const struct operands *operands, struct error *error)
{
    const struct routing_problem *const problem = launch->problem;
    const struct routing_buffers buffers = routing_buffers_at(operands, OPERAND_HOST);

    return gate_check(&problem->gate, &buffers.gate, GATE_TIES_LOWER_FIRST, error) &&
           align_check(&problem->align, &buffers.align, true, error);
}

struct launch routing_launch_of(const struct routing_problem *problem, const struct routing_step *step)
{
    return (struct launch){.call = call_step, .verify = verify, .problem = problem, .step = step};
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

/** Settles align's part of the problem by the gate's, then asks whether the whole makes sense. */
static bool settle_problem(const struct routing_options *options, const struct routing_step *step,
                           struct routing_problem *problem, struct error *error)
{
    const struct gate_problem *const gate = &options->gate.problem;
    struct align_problem *const align = &problem->align;

    *problem = (struct routing_problem){*gate, options->align};
    align->num_experts = gate->num_experts;
    if (!align_count_ids(gate->num_tokens, gate->topk, &align->numel, error) || !align_shape_check(align, error))
        return false;
    align->capacity = align_capacity_of_few(align);
    return align_problem_check(align, error) &&
           step_takes(step->unsupported_reason ? step->unsupported_reason(problem) : NULL, error);
}

/** Adds align's operands to the gate's, which are allocated. False, as without it, when memory is short. */
static bool add_align_operands(const struct routing_problem *problem, const struct routing_step *step, bool has_map,
                               struct operands *operands, struct error *error)
{
    struct operands of_align;
    struct operand *const workspace = &operands->list[ROUTING_WORKSPACE];

    if (!align_operands_allocate(&problem->align, NULL, has_map, 0, &of_align, error))
        return false;
    npy_free(&of_align.list[ALIGN_TOPK_IDS].host);
    memcpy(&operands->list[ROUTING_EXPERT_MAP], &of_align.list[ALIGN_EXPERT_MAP],
           (NUM_ALIGN_OPERANDS - 1) * sizeof *of_align.list);
    operands->count = NUM_ROUTING_OPERANDS;
    operands->poison = of_align.poison; /* neither a weight nor an id, either */
    workspace->host.shape[0] = step->workspace_bytes ? (int64_t)step->workspace_bytes(problem) : 0;
    workspace->zeroed = step->workspace_zeroed;
    return true;
}

bool routing_load(struct routing_options *options, const struct routing_step *step, struct routing_problem *problem,
                  struct operands *operands, struct error *error)
{
    const struct gate_step any_gate = {.name = step->name};
    const bool has_map = array_source(options->map) != ARRAY_NONE;

    if (!gate_load(&options->gate, &any_gate, operands, error))
        return false;
    if (settle_problem(options, step, problem, error) && add_align_operands(problem, step, has_map, operands, error) &&
        align_load_map(options->map, problem->align.num_experts, options->gate.program.seed,
                       operands->list[ROUTING_EXPERT_MAP].host.data, error))
        return true;
    operands_free(operands);
    return false;
}
