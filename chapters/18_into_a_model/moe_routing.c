/**
 * @file moe_routing.c
 * @brief Chapter 18: the library's functions, each of which checks arguments or launches an earlier chapter's kernels.
 */
#include "moe_routing.h"

#include "../15_one_launch/exchange.h"
#include "harness/moe/moe.h"
#include "workspace.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

// [others]
_Static_assert((int)MOE_ROUTING_BF16 == (int)DTYPE_BF16 && (int)MOE_ROUTING_I64 == (int)DTYPE_I64, "the same types");

/** Launches chapter 11b's layer, which runs on any GPU. */
cudaError_t moe_launch_any_shape(const struct moe_problem *problem, const struct moe_buffers *buffers,
                                 cudaStream_t stream);

/** Returns the simulator's report of a fault. In the GPU library the function is missing and its address is NULL. */
const char *simt_fault_message(void) __attribute__((weak));
// [others]

/* --- what the kernels support ------------------------------------------------------------------------------------- */

// [checks]
/** An argument's name and value, and the range of allowed values. */
struct range {
    const char *name;
    int64_t value, least, most;
};

static int check_ranges(const struct range *range, size_t count, char *text, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (range[i].value < range[i].least || range[i].value > range[i].most)
            return snprintf(text, size, "%s: %" PRId64 ", not %" PRId64 " to %" PRId64, range[i].name, range[i].value,
                            range[i].least, range[i].most);
    }
    return 0;
}

int moe_routing_gate_check(const struct moe_routing_gate_problem *gate, char *text, size_t size)
{
    const int groups = gate->num_expert_group, experts = gate->num_experts;
    const struct range ranges[] = {{"gating_output: number of tokens", gate->num_tokens, 0, INT_MAX / 32},
                                   {"gating_output: number of experts", experts, 1, 1024},
                                   {"num_expert_group", groups, 1, 32},
                                   {"topk_group", gate->topk_group, 1, groups}};

    if (check_ranges(ranges, sizeof ranges / sizeof *ranges, text, size))
        return 1;
    if ((groups & (groups - 1)) != 0)
        return snprintf(text, size, "num_expert_group: %d, not a power of two", groups);
    if (experts % groups != 0)
        return snprintf(text, size, "num_expert_group: %d, which does not divide %d experts", groups, experts);
    const int most = gate->topk_group * (experts / groups);
    const struct range more[] = {{"experts in a group", experts / groups, gate->bias_dtype < 0 ? 1 : 2, 32},
                                 {"topk", gate->topk, 1, most < 32 ? most : 32}};

    if (check_ranges(more, sizeof more / sizeof *more, text, size))
        return 1;
    if (!isfinite(gate->routed_scaling_factor))
        return snprintf(text, size, "routed_scaling_factor: %g, not a finite number", gate->routed_scaling_factor);
    return 0;
}
// [checks]

// [align_problem]
static struct align_problem align_problem_of(const struct moe_routing_align_problem *align)
{
    struct align_problem problem = {.numel = align->numel,
                                    .num_experts = align->num_experts,
                                    .block_size = align->block_size,
                                    .wide_ids = align->dtype == MOE_ROUTING_I64};

    problem.capacity = align_worst_case_capacity_capped_by_ids(&problem);
    return problem;
}

int64_t moe_routing_capacity(const struct moe_routing_align_problem *align)
{
    return align_problem_of(align).capacity;
}

int moe_routing_align_check(const struct moe_routing_align_problem *align, char *text, size_t size)
{
    const struct range ranges[] = {{"topk_ids: number of ids", align->numel, 0, INT_MAX},
                                   {"num_experts", align->num_experts, 1, 2048},
                                   {"block_size", align->block_size, 1, INT_MAX / 4096}};

    if (check_ranges(ranges, sizeof ranges / sizeof *ranges, text, size))
        return 1;
    const struct range capacity = {"block_size: length of sorted_token_ids", moe_routing_capacity(align), 0, INT_MAX};

    return check_ranges(&capacity, 1, text, size);
}
// [align_problem]

// [parts]
/** Returns the align problem for the layer's list of rows. With few tokens per expert, the blocks of rows are small. */
static struct moe_routing_align_problem rows_of(const struct moe_routing_layer_problem *layer)
{
    const int64_t numel = layer->num_tokens * layer->topk;

    return (struct moe_routing_align_problem){numel, layer->num_experts,
                                              numel < 16 * (int64_t)layer->num_experts ? 32 : 192, layer->dtype};
}

/** Byte offsets of the arrays in the layer's scratch memory, and its size in bytes. */
struct parts {
    size_t sorted_token_ids, expert_ids, num_tokens_post_padded, intermediate, partial, bytes;
};

static struct parts parts_of(const struct moe_routing_layer_problem *layer)
{
    const struct moe_routing_align_problem rows = rows_of(layer);
    const size_t capacity = (size_t)moe_routing_capacity(&rows), numel = (size_t)rows.numel;
    const size_t bytes[] = {capacity * sizeof(int32_t), capacity / (size_t)rows.block_size * sizeof(int32_t),
                            sizeof(int32_t), numel * (size_t)layer->intermediate_size * 2,
                            numel * (size_t)layer->hidden_size * 2};
    struct parts parts;
    size_t *const offsets[] = {&parts.expert_ids, &parts.num_tokens_post_padded, &parts.intermediate, &parts.partial,
                               &parts.bytes};

    parts.sorted_token_ids = 0;
    for (size_t i = 0, offset = 0; i < sizeof bytes / sizeof *bytes; i++)
        *offsets[i] = offset += (bytes[i] + 255) / 256 * 256;
    return parts;
}
// [parts]

// [layer_check]
size_t moe_routing_layer_scratch(const struct moe_routing_layer_problem *layer)
{
    return parts_of(layer).bytes;
}

int moe_routing_layer_check(const struct moe_routing_layer_problem *layer, char *text, size_t size)
{
    const int topk = layer->topk > 0 ? layer->topk : 1;
    const struct range ranges[] = {{"hidden: hidden size", layer->hidden_size, 1, INT_MAX},
                                   {"w2: intermediate size", layer->intermediate_size, 1, INT_MAX / 2},
                                   {"w13: number of experts", layer->num_experts, 1, 2048},
                                   {"topk_ids: ids of a token", layer->topk, 1, layer->num_experts},
                                   {"hidden: number of tokens", layer->num_tokens, 0, INT_MAX / topk}};

    if (check_ranges(ranges, sizeof ranges / sizeof *ranges, text, size))
        return 1;
    const struct moe_routing_align_problem rows = rows_of(layer);
    const int64_t most = LAYER_COUNTER_BYTES / (int64_t)sizeof(int32_t) - 4;
    const struct range blocks = {"hidden: blocks of rows", moe_routing_capacity(&rows) / rows.block_size, 0, most};

    return check_ranges(&blocks, 1, text, size);
}
// [layer_check]

/* --- launches ----------------------------------------------------------------------------------------------------- */

// [problem_of]
/** Makes a device current, and stores in *before the previously current device or, if that is unknown, `device`. */
static cudaError_t enter(int device, int *before)
{
    *before = device;

    const cudaError_t status = cudaGetDevice(before);

    return status == cudaSuccess && *before != device ? cudaSetDevice(device) : status;
}

/** Restores the device that was current before enter(). Returns the first error. */
static int leave(int device, int before, cudaError_t status)
{
    const cudaError_t left = before != device ? cudaSetDevice(before) : cudaSuccess;

    return (int)(status != cudaSuccess ? status : left);
}

static struct gate_problem gate_problem_of(const struct moe_routing_gate_problem *gate)
{
    return (struct gate_problem){.num_tokens = gate->num_tokens,
                                 .num_experts = gate->num_experts,
                                 .num_expert_group = gate->num_expert_group,
                                 .topk_group = gate->topk_group,
                                 .topk = gate->topk,
                                 .dtype = (enum dtype)gate->dtype,
                                 .score = GATE_SCORE_SIGMOID,
                                 .has_bias = gate->bias_dtype >= 0,
                                 .bias_dtype = gate->bias_dtype >= 0 ? (enum dtype)gate->bias_dtype : DTYPE_F32,
                                 .renormalize = gate->renormalize,
                                 .routed_scaling_factor = gate->routed_scaling_factor};
}
// [problem_of]

// [gate]
int moe_routing_gate(const struct moe_routing_gate_problem *gate, int32_t device, cudaStream_t stream,
                     const void *gating_output, const void *correction_bias, float *topk_weights, int32_t *topk_ids)
{
    const struct gate_problem problem = gate_problem_of(gate);
    const struct gate_buffers buffers = {gating_output, correction_bias, topk_weights, topk_ids};
    int before;
    cudaError_t status = enter(device, &before);

    if (status == cudaSuccess)
        status = gate_launch(&problem, &buffers, stream);
    return leave(device, before, status);
}
// [gate]

// [align_and_route]
int moe_routing_align(const struct moe_routing_align_problem *align, int32_t device, cudaStream_t stream,
                      const void *topk_ids, int32_t *sorted_token_ids, int32_t *expert_ids,
                      int32_t *num_tokens_post_padded)
{
    const struct align_problem problem = align_problem_of(align);
    struct align_buffers buffers = {topk_ids, NULL, sorted_token_ids, expert_ids, num_tokens_post_padded, NULL};
    char *workspace;
    int before;
    cudaError_t status = enter(device, &before);

    if (status == cudaSuccess)
        status = workspace_find_or_allocate(stream, device, align->num_experts, &workspace);
    if (status == cudaSuccess) {
        buffers.workspace = workspace + LAYER_COUNTER_BYTES + EXCHANGE_BYTES;
        status = align_launch(&problem, &buffers, stream);
    }
    return leave(device, before, status);
}

int moe_routing_route(const struct moe_routing_gate_problem *gate, int32_t block_size, int32_t device,
                      cudaStream_t stream, const void *gating_output, const void *correction_bias, float *topk_weights,
                      int32_t *topk_ids, int32_t *sorted_token_ids, int32_t *expert_ids,
                      int32_t *num_tokens_post_padded)
{
    const struct moe_routing_align_problem align = {gate->num_tokens * gate->topk, gate->num_experts, block_size,
                                                    MOE_ROUTING_I32};
    const struct routing_problem problem = {gate_problem_of(gate), align_problem_of(&align)};
    struct routing_buffers buffers = {
        {gating_output, correction_bias, topk_weights, topk_ids},
        {topk_ids, NULL, sorted_token_ids, expert_ids, num_tokens_post_padded, NULL},
    };
    char *workspace;
    int before;
    cudaError_t status = enter(device, &before);

    if (status == cudaSuccess)
        status = workspace_find_or_allocate(stream, device, gate->num_experts, &workspace);
    if (status == cudaSuccess) {
        buffers.align.workspace = workspace + LAYER_COUNTER_BYTES;
        status = routing_launch(&problem, &buffers, stream);
    }
    return leave(device, before, status);
}
// [align_and_route]

// [layer]
/** Sets *has to whether a device has the instructions that chapter 16b uses. */
static cudaError_t has_wgmma(int device, bool *has)
{
    int major = 0;
    const cudaError_t status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);

    *has = major == 9;
    return status;
}

/** Launches align, then the layer, which uses align's list. */
static cudaError_t launch_layer(const struct moe_routing_layer_problem *layer, int32_t device, cudaStream_t stream,
                                const struct moe_routing_align_problem *rows, const void *topk_ids, char *workspace,
                                struct moe_buffers *buffers)
{
    const struct align_problem align = align_problem_of(rows);
    const struct align_buffers list = {topk_ids,
                                       NULL,
                                       (int32_t *)buffers->sorted_token_ids,
                                       (int32_t *)buffers->expert_ids,
                                       (int32_t *)buffers->num_tokens_post_padded,
                                       workspace + LAYER_COUNTER_BYTES + EXCHANGE_BYTES};
    const struct moe_problem problem = {
        layer->num_tokens, layer->hidden_size, layer->intermediate_size, layer->num_experts, layer->num_experts,
        layer->topk,       DTYPE_BF16,         rows->block_size,         align.capacity,     false};
    bool fast;
    cudaError_t status = has_wgmma(device, &fast);

    buffers->workspace = workspace;
    if (status == cudaSuccess)
        status = align_launch(&align, &list, stream);
    if (status != cudaSuccess)
        return status;
    return fast ? moe_launch(&problem, buffers, stream) : moe_launch_any_shape(&problem, buffers, stream);
}

int moe_routing_layer(const struct moe_routing_layer_problem *layer, int32_t device, cudaStream_t stream,
                      const void *hidden, const void *w13, const void *w2, const void *topk_ids,
                      const float *topk_weights, void *output, void *scratch)
{
    const struct moe_routing_align_problem rows = rows_of(layer);
    const struct parts parts = parts_of(layer);
    char *const memory = scratch, *workspace;
    struct moe_buffers buffers = {hidden,
                                  w13,
                                  w2,
                                  topk_weights,
                                  (int32_t *)(memory + parts.sorted_token_ids),
                                  (int32_t *)(memory + parts.expert_ids),
                                  (int32_t *)(memory + parts.num_tokens_post_padded),
                                  memory + parts.intermediate,
                                  memory + parts.partial,
                                  output,
                                  NULL};
    int before;

    if (layer->num_tokens == 0)
        return 0;
    cudaError_t status = enter(device, &before);

    if (status == cudaSuccess)
        status = workspace_find_or_allocate(stream, device, layer->num_experts, &workspace);
    if (status == cudaSuccess)
        status = launch_layer(layer, device, stream, &rows, topk_ids, workspace, &buffers);
    return leave(device, before, status);
}
// [layer]

/* --- errors and memory -------------------------------------------------------------------------------------------- */

// [errors]
const char *moe_routing_error(int error)
{
    if (error == cudaErrorStreamCaptureUnsupported)
        return "no workspace is left for a capture: call the operator outside a capture first";
    if (simt_fault_message && simt_fault_message())
        return simt_fault_message();
    return cudaGetErrorString((cudaError_t)error);
}

int moe_routing_allocate(void **memory, size_t bytes)
{
    return (int)cudaMalloc(memory, bytes);
}

int moe_routing_copy(void *to, const void *from, size_t bytes)
{
    return (int)cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

int moe_routing_free(void *memory)
{
    return (int)cudaFree(memory);
}
// [errors]
