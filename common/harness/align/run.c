#include "harness/align/run.h"

#include "harness/align/check.h"
#include "harness/align/problem.h"

bool align_operands_allocate(const struct align_problem *problem, const struct align_step *step, bool has_map,
                             int misalign, struct operands *operands, struct error *error)
{
    const size_t workspace_bytes = step && step->workspace_bytes ? step->workspace_bytes(problem) : 0;

    *operands = (struct operands){
        .list = {{.name = "topk_ids", .host = {align_ids_dtype(problem), 1, {problem->numel}, NULL}},
                 {.name = "expert_map", .host = {DTYPE_I32, 1, {problem->num_experts}, NULL}, .absent = !has_map},
                 {.name = "sorted_token_ids",
                  .role = OPERAND_OUTPUT,
                  .host = {DTYPE_I32, 1, {problem->capacity}, NULL},
                  .misalign = (size_t)misalign * sizeof(int32_t)},
                 {.name = "expert_ids", .role = OPERAND_OUTPUT, .host = {DTYPE_I32, 1, {align_blocks(problem)}, NULL}},
                 {.name = "num_tokens_post_padded", .role = OPERAND_OUTPUT, .host = {DTYPE_I32, 1, {1}, NULL}},
                 {.name = "workspace",
                  .role = OPERAND_WORKSPACE,
                  .zeroed = step && step->workspace_zeroed,
                  .host = {DTYPE_U8, 1, {(int64_t)workspace_bytes}, NULL}}},
        .count = NUM_ALIGN_OPERANDS,
        .poison = ALIGN_POISON,
    };
    return operands_allocate(operands, error);
}

bool align_operands_like(const struct operands *like, const struct align_problem *problem,
                         const struct align_step *step, struct operands *operands, struct error *error)
{
    const int misalign = (int)(like->list[ALIGN_SORTED_TOKEN_IDS].misalign / sizeof(int32_t));

    if (!align_operands_allocate(problem, step, !like->list[ALIGN_EXPERT_MAP].absent, misalign, operands, error))
        return false;
    operands_copy_inputs(operands, like);
    return true;
}

struct align_buffers align_buffers_at(const struct operands *operands, enum operand_place place)
{
    return (struct align_buffers){
        .topk_ids = operand_data(operands, ALIGN_TOPK_IDS, place),
        .expert_map = operand_data(operands, ALIGN_EXPERT_MAP, place),
        .sorted_token_ids = operand_data(operands, ALIGN_SORTED_TOKEN_IDS, place),
        .expert_ids = operand_data(operands, ALIGN_EXPERT_IDS, place),
        .num_tokens_post_padded = operand_data(operands, ALIGN_NUM_TOKENS_POST_PADDED, place),
        .workspace = operand_data(operands, ALIGN_WORKSPACE, place),
    };
}

static cudaError_t call_step(const struct launch *launch, const struct operands *operands, cudaStream_t stream)
{
    const struct align_step *const step = launch->step;
    const struct align_buffers buffers = align_buffers_at(operands, OPERAND_DEVICE);

    return step->launch(launch->problem, &buffers, stream);
}

static bool verify(const struct launch *launch, const struct operands *operands, struct error *error)
{
    const struct align_step *const step = launch->step;
    const struct align_buffers buffers = align_buffers_at(operands, OPERAND_HOST);

    return align_check(launch->problem, &buffers, step->ascending && step->ascending(launch->problem), error);
}

struct launch align_launch_of(const struct align_problem *problem, const struct align_step *step)
{
    return (struct launch){.call = call_step, .verify = verify, .problem = problem, .step = step};
}
