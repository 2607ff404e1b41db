#include "harness/moe/run.h"

#include "harness/align/problem.h"
#include "harness/moe/check.h"
#include "harness/moe/problem.h"

#include <math.h>
#include <string.h>

/* Streams of generated arrays. */
enum { SEQUENCE_HIDDEN, SEQUENCE_W13, SEQUENCE_W2 };

/**
 * Mean square of SwiGLU's result for two normally distributed numbers of standard deviation 1. The scale of w2
 * compensates for this value, so that a layer's output has about the same magnitude as its input.
 */
static const double SWIGLU_MEAN_SQUARE = 0.36;

/** Returns the bound of a uniform distribution with this variance: sqrt(3) times its standard deviation. */
static float uniform_scale(double variance)
{
    return (float)sqrt(3.0 * variance);
}

/** Fills a tensor that has a host copy. */
static void generate(struct tensor *tensor, struct generated_array values)
{
    const int64_t count = npy_num_elements(&tensor->host);

#pragma omp parallel for if (count >= 1 << 16)
    for (int64_t i = 0; i < count; i++)
        dtype_store(tensor->host.dtype, tensor->host.data, (size_t)i, generated_value(values, i));
}

/** Returns the number of local experts that no token chose. */
static int idle_experts(const struct moe_layer *layer)
{
    int idle = 0;

    for (int l = 0; l < layer->problem.num_local_experts; l++)
        idle += layer->routing.groups.counts[layer->routing.local_experts[l]] == 0;
    return idle;
}

/** Returns a tensor of weights [local experts, ...]. Weights of experts that no token chose need not be moved. */
static struct tensor weights_tensor(const char *name, const struct moe_layer *layer, int64_t rows, int64_t length,
                                    struct generated_array values, bool has_copy)
{
    const struct moe_problem *const problem = &layer->problem;
    const int64_t chunk = rows * length;
    struct tensor tensor = {
        .name = name,
        .host = {problem->dtype, 3, {problem->num_local_experts, rows, length}, NULL},
        .skippable_bytes = (size_t)(idle_experts(layer) * chunk) * dtype_size(problem->dtype),
    };

    if (!has_copy)
        tensor.recipe = (struct tensor_values_recipe){values, chunk, layer->routing.local_experts};
    return tensor;
}

/** Fills sorted_token_ids, expert_ids and num_tokens_post_padded from the routing. */
static bool align(const struct moe_layer *layer, struct tensors *tensors, struct error *error)
{
    const struct align_problem problem = moe_align_problem(&layer->problem);
    const struct align_buffers buffers = {
        .topk_ids = layer->routing.topk_ids,
        .expert_map = layer->routing.expert_map,
        .sorted_token_ids = tensors->tensor[MOE_TENSOR_SORTED_TOKEN_IDS].host.data,
        .expert_ids = tensors->tensor[MOE_TENSOR_EXPERT_IDS].host.data,
        .num_tokens_post_padded = tensors->tensor[MOE_TENSOR_NUM_TOKENS_POST_PADDED].host.data,
    };

    return align_reference_compute(&problem, &buffers, error);
}

bool moe_tensors_allocate_host_and_fill(const struct moe_layer *layer, const struct moe_implementation *implementation,
                                        struct moe_host_weight_flags has_host_copy, struct tensors *tensors,
                                        struct error *error)
{
    const struct moe_problem *const problem = &layer->problem;
    const enum dtype dtype = problem->dtype;
    const int64_t n = problem->num_tokens, h = problem->hidden_size, i = problem->intermediate_size;
    const size_t workspace_bytes = implementation->workspace_bytes ? implementation->workspace_bytes(problem) : 0;
    const struct generated_array w13 = generated_array_make(layer->seed, SEQUENCE_W13, uniform_scale(1.0 / (double)h));
    const struct generated_array w2 = generated_array_make(layer->seed, SEQUENCE_W2,
                                                           uniform_scale(1.0 / (SWIGLU_MEAN_SQUARE * (double)i)));

    *tensors = (struct tensors){
        .tensor = {{.name = "hidden", .host = {dtype, 2, {n, h}, NULL}},
                   weights_tensor("w13", layer, 2 * i, h, w13, has_host_copy.w13),
                   weights_tensor("w2", layer, h, i, w2, has_host_copy.w2),
                   {.name = "topk_weights", .host = {DTYPE_F32, 2, {n, problem->topk}, NULL}},
                   {.name = "sorted_token_ids", .host = {DTYPE_I32, 1, {problem->capacity}, NULL}},
                   {.name = "expert_ids", .host = {DTYPE_I32, 1, {problem->capacity / problem->block_size}, NULL}},
                   {.name = "num_tokens_post_padded", .host = {DTYPE_I32, 1, {1}, NULL}},
                   {.name = "intermediate",
                    .role = TENSOR_WORKSPACE,
                    .host = {dtype, 2, {moe_num_choices(problem), i}, NULL}},
                   {.name = "partial",
                    .role = TENSOR_WORKSPACE,
                    .host = {dtype, 2, {moe_num_choices(problem), h}, NULL}},
                   {.name = "output", .role = TENSOR_OUTPUT, .host = {dtype, 2, {n, h}, NULL}},
                   {.name = "workspace",
                    .role = TENSOR_WORKSPACE,
                    .is_zeroed = implementation->workspace_must_be_zeroed,
                    .host = {DTYPE_U8, 1, {(int64_t)workspace_bytes}, NULL}}},
        .num_tensors = NUM_MOE_TENSORS,
        .poison_byte = MOE_POISON_BYTE,
        .size_option_names = "--num-tokens, --hidden-size, --intermediate-size, --num-experts",
    };
    if (!tensors_allocate_host(tensors, error))
        return false;
    generate(&tensors->tensor[MOE_TENSOR_HIDDEN],
             generated_array_make(layer->seed, SEQUENCE_HIDDEN, layer->hidden_scale * uniform_scale(1.0)));
    memcpy(tensors->tensor[MOE_TENSOR_TOPK_WEIGHTS].host.data, layer->routing.topk_weights,
           tensor_bytes(&tensors->tensor[MOE_TENSOR_TOPK_WEIGHTS]));
    if (align(layer, tensors, error))
        return true;
    tensors_free(tensors);
    return false;
}

bool moe_tensors_allocate_host_and_copy_inputs(const struct tensors *source, const struct moe_layer *layer,
                                               const struct moe_implementation *implementation, struct tensors *tensors,
                                               struct error *error)
{
    static const int same[] = {MOE_TENSOR_HIDDEN, MOE_TENSOR_W13, MOE_TENSOR_W2};
    const struct moe_host_weight_flags has_host_copy = {source->tensor[MOE_TENSOR_W13].host.data != NULL,
                                                        source->tensor[MOE_TENSOR_W2].host.data != NULL};

    if (!moe_tensors_allocate_host_and_fill(layer, implementation, has_host_copy, tensors, error))
        return false;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        tensor_copy_host_data(&tensors->tensor[same[i]], &source->tensor[same[i]]);
    return true;
}

struct moe_buffers moe_buffers_at(const struct tensors *tensors, enum tensor_location location)
{
    return (struct moe_buffers){
        .hidden = tensor_data(tensors, MOE_TENSOR_HIDDEN, location),
        .w13 = tensor_data(tensors, MOE_TENSOR_W13, location),
        .w2 = tensor_data(tensors, MOE_TENSOR_W2, location),
        .topk_weights = tensor_data(tensors, MOE_TENSOR_TOPK_WEIGHTS, location),
        .sorted_token_ids = tensor_data(tensors, MOE_TENSOR_SORTED_TOKEN_IDS, location),
        .expert_ids = tensor_data(tensors, MOE_TENSOR_EXPERT_IDS, location),
        .num_tokens_post_padded = tensor_data(tensors, MOE_TENSOR_NUM_TOKENS_POST_PADDED, location),
        .intermediate = tensor_data(tensors, MOE_TENSOR_INTERMEDIATE, location),
        .partial = tensor_data(tensors, MOE_TENSOR_PARTIAL, location),
        .output = tensor_data(tensors, MOE_TENSOR_OUTPUT, location),
        .workspace = tensor_data(tensors, MOE_TENSOR_WORKSPACE, location),
    };
}

bool moe_set_block_size_and_capacity(struct moe_problem *problem, const struct moe_implementation *implementation,
                                     int requested_size, struct error *error)
{
    enum { USUAL_BLOCK_SIZE = 16 };

    problem->capacity = 0;
    problem->block_size = requested_size               ? requested_size
                          : implementation->block_size ? implementation->block_size(problem)
                                                       : USUAL_BLOCK_SIZE;

    struct align_problem align = moe_align_problem(problem);

    if (!align_shape_check(&align, error))
        return false;
    align.capacity = problem->capacity = align_worst_case_capacity_capped_by_ids(&align);
    return align_check_computed_capacity(&align, "num-tokens", error) && align_problem_check(&align, error);
}

static cudaError_t call_implementation(const struct checked_launch *launch, const struct tensors *tensors,
                                       cudaStream_t stream)
{
    const struct moe_layer *const layer = launch->problem;
    const struct moe_implementation *const implementation = launch->implementation;
    const struct moe_buffers buffers = moe_buffers_at(tensors, TENSOR_ON_DEVICE);

    return layer->problem.num_tokens > 0 ? implementation->launch(&layer->problem, &buffers, stream) : cudaSuccess;
}

static bool verify(const struct checked_launch *launch, const struct tensors *tensors, struct error *error)
{
    return moe_check(launch->problem, tensors, error);
}

struct checked_launch moe_make_checked_launch(const struct moe_layer *layer,
                                              const struct moe_implementation *implementation)
{
    return (struct checked_launch){.launch_kernels = call_implementation,
                                   .verify_outputs = verify,
                                   .problem = layer,
                                   .implementation = implementation};
}
