#include "harness/decode/run.h"

#include "base/memory.h"
#include "harness/align/check.h"
#include "harness/align/problem.h"
#include "harness/gate/check.h"
#include "harness/gate/problem.h"
#include "harness/moe/check.h"
#include "harness/moe/problem.h"

#include <inttypes.h>
#include <math.h>

/* Streams of generated arrays, in addition to the layer's. */
enum { SEQUENCE_ROUTER = 16, SEQUENCE_BIAS };

/* --- the problem -------------------------------------------------------------------------------------------------- */

/**
 * Sets the group counts that were not given: one group per 32 experts, half of them kept, as in DeepSeek-V3 with 256
 * experts.
 */
static void settle_groups(struct decode_options *options, int num_experts)
{
    if (!options->num_expert_group_given)
        options->num_expert_group = num_experts >= 32 ? num_experts / 32 : 1;
    if (!options->topk_group_given)
        options->topk_group = options->num_expert_group > 1 ? options->num_expert_group / 2 : 1;
}

/** Derives the problems of router, gate and align from the layer's problem. */
static bool settle_problem(struct decode_options *options, const struct decode_chapter *chapter,
                           const struct moe_problem *layer, struct decode_problem *problem, struct error *error)
{
    settle_groups(options, layer->num_experts);
    *problem = (struct decode_problem){
        .gate = {.num_tokens = layer->num_tokens,
                 .num_experts = layer->num_experts,
                 .num_expert_group = options->num_expert_group,
                 .topk_group = options->topk_group,
                 .topk = layer->topk,
                 .has_bias = true,
                 .renormalize = true,
                 .routed_scaling_factor = 2.5f},
        .align = moe_align_problem(layer),
        .layer = *layer,
        .launched = (1u << NUM_DECODE_KERNELS) - 1,
        .overlapping = options->overlap_launches ? (1u << NUM_DECODE_KERNELS) - 1 : 0,
    };
    problem->align.capacity = layer->capacity;
    const struct option_value values[] = {
        {"topk", layer->topk, NULL},
        {"num-tokens", layer->num_tokens, NULL},
        {"hidden-size", layer->hidden_size, NULL},
        {"num-experts", layer->num_experts, NULL},
        {"num-expert-group", options->num_expert_group,
         options->num_expert_group_given ? NULL : " (by default, one group for each 32 experts)"},
        {NULL, 0, NULL},
    };
    struct decode_problem most = *problem;

    if (gate_topk_exceeds_groups(&problem->gate, &most.gate)) {
        most.layer.topk = most.gate.topk;
        if (!check_option_supported(chapter->unsupported_reason(&most), &values[0], error))
            return false;
    }
    if (!gate_problem_check(&problem->gate, error) || !align_problem_check(&problem->align, error))
        return false;
    return check_supported(chapter->unsupported_reason(problem), values, error);
}

/* --- the tensors -------------------------------------------------------------------------------------------------- */

/**
 * Appends the step's own tensors to the layer's. The layer's row lists and topk_weights become outputs of the step's
 * kernels.
 */
static bool add_tensors(const struct decode_step *step, struct tensors *tensors, struct error *error)
{
    static const int made[] = {MOE_TENSOR_TOPK_WEIGHTS, MOE_TENSOR_SORTED_TOKEN_IDS, MOE_TENSOR_EXPERT_IDS,
                               MOE_TENSOR_NUM_TOKENS_POST_PADDED};
    const struct moe_problem *const layer = &step->problem.layer;
    const int64_t n = layer->num_tokens, experts = layer->num_experts;
    const struct tensor own[] = {
        {.name = "router_weights", .host = {layer->dtype, 2, {experts, layer->hidden_size}, NULL}},
        {.name = "correction_bias", .host = {DTYPE_F32, 1, {experts}, NULL}},
        {.name = "gating_output", .role = TENSOR_OUTPUT, .host = {DTYPE_F32, 2, {n, experts}, NULL}},
        {.name = "topk_ids", .role = TENSOR_OUTPUT, .host = {DTYPE_I32, 2, {n, layer->topk}, NULL}},
        {.name = "align_workspace",
         .role = TENSOR_WORKSPACE,
         .is_zeroed = step->chapter->align.workspace_must_be_zeroed,
         .host = {DTYPE_U8, 1, {(int64_t)step->chapter->align.workspace_bytes(&step->problem.align)}, NULL}},
    };

    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        tensors->tensor[made[i]].role = TENSOR_OUTPUT;
    tensors->poison_byte = ALIGN_POISON_BYTE; /* neither a valid id or weight nor a correct element of the output */
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct tensor *const tensor = &tensors->tensor[NUM_MOE_TENSORS + i];

        *tensor = own[i];
        tensors->num_tensors++;
        if (tensor->role != TENSOR_WORKSPACE && !memory_allocate(&tensor->host.data, tensor_bytes(tensor), error))
            return false;
    }
    return true;
}

/**
 * Fills the router's weights so that logits have standard deviation 1, and the bias with values that are small compared
 * with the scores.
 */
static void generate_router(uint64_t seed, struct tensors *tensors)
{
    struct tensor *const weights = &tensors->tensor[DECODE_TENSOR_ROUTER_WEIGHTS];
    struct tensor *const bias = &tensors->tensor[DECODE_TENSOR_CORRECTION_BIAS];
    const float bound = (float)sqrt(3.0 / (double)weights->host.shape[1]);
    const struct generated_array of_weights = generated_array_make(seed, SEQUENCE_ROUTER, bound);
    const struct generated_array of_bias = generated_array_make(seed, SEQUENCE_BIAS, 0.1f);

    for (int64_t i = 0; i < npy_num_elements(&weights->host); i++)
        dtype_store(weights->host.dtype, weights->host.data, (size_t)i, generated_value(of_weights, i));
    for (int64_t i = 0; i < npy_num_elements(&bias->host); i++)
        dtype_store(DTYPE_F32, bias->host.data, (size_t)i, generated_value(of_bias, i));
}

bool decode_prepare_problem_and_tensors(struct decode_options *options, const struct decode_chapter *chapter,
                                        bool gpu_defaults, struct moe_layer *layer, struct decode_step *step,
                                        struct tensors *tensors, struct error *error)
{
    if (!gpu_defaults && !options->moe.num_experts_given) { /* the smallest router for which chapter 13a has a kernel */
        options->moe.problem.num_experts = 128;
        options->moe.num_experts_given = true;
    }
    if (!moe_prepare_problem_and_tensors(&options->moe, &chapter->layer, gpu_defaults, layer, tensors, error))
        return false;
    *step = (struct decode_step){.chapter = chapter, .layer = layer};
    if (settle_problem(options, chapter, &layer->problem, &step->problem, error) && add_tensors(step, tensors, error)) {
        generate_router(layer->seed, tensors);
        return true;
    }
    tensors_free(tensors);
    moe_host_routing_free(&layer->routing);
    return false;
}

static struct decode_buffers buffers_at(const struct tensors *tensors, enum tensor_location location)
{
    struct decode_buffers buffers = {
        .router_weights = tensor_data(tensors, DECODE_TENSOR_ROUTER_WEIGHTS, location),
        .gating_output = tensor_data(tensors, DECODE_TENSOR_GATING_OUTPUT, location),
        .gate = {.correction_bias = tensor_data(tensors, DECODE_TENSOR_CORRECTION_BIAS, location),
                 .topk_weights = tensor_data(tensors, MOE_TENSOR_TOPK_WEIGHTS, location),
                 .topk_ids = tensor_data(tensors, DECODE_TENSOR_TOPK_IDS, location)},
        .align = {.sorted_token_ids = tensor_data(tensors, MOE_TENSOR_SORTED_TOKEN_IDS, location),
                  .expert_ids = tensor_data(tensors, MOE_TENSOR_EXPERT_IDS, location),
                  .num_tokens_post_padded = tensor_data(tensors, MOE_TENSOR_NUM_TOKENS_POST_PADDED, location),
                  .workspace = tensor_data(tensors, DECODE_TENSOR_ALIGN_WORKSPACE, location)},
    };

    buffers.gate.gating_output = buffers.gating_output;
    buffers.align.topk_ids = buffers.gate.topk_ids;
    return buffers;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

static cudaError_t call_step(const struct checked_launch *launch, const struct tensors *tensors, cudaStream_t stream)
{
    const struct decode_step *const step = launch->problem;
    struct decode_buffers buffers = buffers_at(tensors, TENSOR_ON_DEVICE);

    buffers.layer = moe_buffers_at(tensors, TENSOR_ON_DEVICE);
    return step->problem.layer.num_tokens > 0 ? step->chapter->launch(&step->problem, &buffers, stream) : cudaSuccess;
}

/**
 * Checks the router's logits. Each logit is a sum of H products in f32, so it may be off by H roundings, each 2^-24
 * times the sum of the products' absolute values.
 */
static bool check_logits(const struct moe_problem *problem, const struct tensors *tensors, struct error *error)
{
    const struct npy_array *const hidden = &tensors->tensor[MOE_TENSOR_HIDDEN].host;
    const struct npy_array *const weights = &tensors->tensor[DECODE_TENSOR_ROUTER_WEIGHTS].host;
    const float *const logits = tensors->tensor[DECODE_TENSOR_GATING_OUTPUT].host.data;
    const int h = problem->hidden_size, experts = problem->num_experts;
    int64_t wrong = -1;
    double expected_there = 0.0;

#pragma omp parallel for
    for (int64_t i = 0; i < problem->num_tokens * experts; i++) {
        double sum = 0.0, absolute = 0.0;

        for (int k = 0; k < h; k++) {
            const double product = (double)dtype_load(hidden->dtype, hidden->data, (size_t)(i / experts * h + k)) *
                                   (double)dtype_load(weights->dtype, weights->data, (size_t)(i % experts * h + k));

            sum += product;
            absolute += fabs(product);
        }
        if (!(fabs(logits[i] - sum) <= ldexp(h * absolute, -24)))
#pragma omp critical
            if (wrong < 0 || i < wrong) {
                wrong = i;
                expected_there = sum;
            }
    }
    if (wrong < 0)
        return true;
    error_set_as(error, RUN_WRONG, "gating_output[%" PRId64 "][%" PRId64 "]: expected %.9g, got %.9g", wrong / experts,
                 wrong % experts, expected_there, (double)logits[wrong]);
    return false;
}

/** Copies the step's choices to the layer's routing, so that the layer's output can be checked. */
static bool take_choices(const struct decode_step *step, const struct decode_buffers *buffers, struct error *error)
{
    struct moe_host_routing *const routing = &step->layer->routing;
    const int64_t positions = moe_num_choices(&step->problem.layer);

    for (int64_t i = 0; i < positions; i++) {
        routing->topk_ids[i] = buffers->gate.topk_ids[i];
        routing->topk_weights[i] = buffers->gate.topk_weights[i];
    }
    align_group_layout_free(&routing->groups);
    return align_group_layout_compute(&step->problem.align, routing->topk_ids, &routing->groups, error);
}

static bool verify(const struct checked_launch *launch, const struct tensors *tensors, struct error *error)
{
    const struct decode_step *const step = launch->problem;
    const struct decode_buffers buffers = buffers_at(tensors, TENSOR_ON_HOST);

    return check_logits(&step->problem.layer, tensors, error) &&
           gate_check(&step->problem.gate, &buffers.gate, GATE_TIES_LOWER_WINS, error) &&
           align_check(&step->problem.align, &buffers.align, true, error) && take_choices(step, &buffers, error) &&
           moe_check(step->layer, tensors, error);
}

struct checked_launch decode_make_checked_launch(const struct decode_step *step)
{
    return (struct checked_launch){
        .launch_kernels = call_step, .verify_outputs = verify, .problem = step, .implementation = step->chapter};
}
