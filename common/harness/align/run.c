#include "harness/align/run.h"

#include "harness/align/check.h"
#include "harness/align/problem.h"

bool align_tensors_allocate_host(const struct align_problem *problem, const struct align_implementation *implementation,
                                 bool has_map, int sorted_ids_misalign_words, struct tensors *tensors,
                                 struct error *error)
{
    const size_t workspace_bytes = implementation && implementation->workspace_bytes
                                       ? implementation->workspace_bytes(problem)
                                       : 0;

    *tensors = (struct tensors){
        .tensor = {{.name = "topk_ids", .host = {align_ids_dtype(problem), 1, {problem->numel}, NULL}},
                   {.name = "expert_map", .host = {DTYPE_I32, 1, {problem->num_experts}, NULL}, .is_absent = !has_map},
                   {.name = "sorted_token_ids",
                    .role = TENSOR_OUTPUT,
                    .host = {DTYPE_I32, 1, {problem->capacity}, NULL},
                    .misalign_bytes = (size_t)sorted_ids_misalign_words * sizeof(int32_t)},
                   {.name = "expert_ids",
                    .role = TENSOR_OUTPUT,
                    .host = {DTYPE_I32, 1, {align_row_block_capacity(problem)}, NULL}},
                   {.name = "num_tokens_post_padded", .role = TENSOR_OUTPUT, .host = {DTYPE_I32, 1, {1}, NULL}},
                   {.name = "workspace",
                    .role = TENSOR_WORKSPACE,
                    .is_zeroed = implementation && implementation->workspace_must_be_zeroed,
                    .host = {DTYPE_U8, 1, {(int64_t)workspace_bytes}, NULL}}},
        .num_tensors = NUM_ALIGN_TENSORS,
        .poison_byte = ALIGN_POISON_BYTE,
        .size_option_names = "--num-tokens, --counts, --block-size",
    };
    return tensors_allocate_host(tensors, error);
}

bool align_tensors_allocate_host_and_copy_inputs(const struct tensors *source, const struct align_problem *problem,
                                                 const struct align_implementation *implementation,
                                                 struct tensors *tensors, struct error *error)
{
    const int misalign = (int)(source->tensor[ALIGN_TENSOR_SORTED_TOKEN_IDS].misalign_bytes / sizeof(int32_t));

    if (!align_tensors_allocate_host(problem, implementation, !source->tensor[ALIGN_TENSOR_EXPERT_MAP].is_absent,
                                     misalign, tensors, error))
        return false;
    tensors_copy_host_inputs(tensors, source);
    return true;
}

struct align_buffers align_buffers_at(const struct tensors *tensors, enum tensor_location location)
{
    return (struct align_buffers){
        .topk_ids = tensor_data(tensors, ALIGN_TENSOR_TOPK_IDS, location),
        .expert_map = tensor_data(tensors, ALIGN_TENSOR_EXPERT_MAP, location),
        .sorted_token_ids = tensor_data(tensors, ALIGN_TENSOR_SORTED_TOKEN_IDS, location),
        .expert_ids = tensor_data(tensors, ALIGN_TENSOR_EXPERT_IDS, location),
        .num_tokens_post_padded = tensor_data(tensors, ALIGN_TENSOR_NUM_TOKENS_POST_PADDED, location),
        .workspace = tensor_data(tensors, ALIGN_TENSOR_WORKSPACE, location),
    };
}

static cudaError_t call_implementation(const struct checked_launch *launch, const struct tensors *tensors,
                                       cudaStream_t stream)
{
    const struct align_implementation *const implementation = launch->implementation;
    const struct align_buffers buffers = align_buffers_at(tensors, TENSOR_ON_DEVICE);

    return implementation->launch(launch->problem, &buffers, stream);
}

static bool verify(const struct checked_launch *launch, const struct tensors *tensors, struct error *error)
{
    const struct align_implementation *const implementation = launch->implementation;
    const struct align_buffers buffers = align_buffers_at(tensors, TENSOR_ON_HOST);

    return align_check(launch->problem, &buffers,
                       implementation->positions_ascend && implementation->positions_ascend(launch->problem), error);
}

struct checked_launch align_make_checked_launch(const struct align_problem *problem,
                                                const struct align_implementation *implementation)
{
    return (struct checked_launch){.launch_kernels = call_implementation,
                                   .verify_outputs = verify,
                                   .problem = problem,
                                   .implementation = implementation};
}
