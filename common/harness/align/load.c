#include "harness/align/load.h"

#include "harness/align/problem.h"
#include "harness/gate/load.h"
#include "harness/gate/problem.h"
#include "harness/gate/run.h"
#include "harness/core/memory.h"
#include "harness/core/npy.h"
#include "harness/core/options.h"
#include "harness/core/router_data.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/** Where the ids come from, opened. What the source does not have is empty. */
struct source {
    struct npy_array file;    /**< ALIGN_SOURCE_FILE */
    int64_t *counts;          /**< ALIGN_SOURCE_COUNTS */
    struct gate_problem gate; /**< ALIGN_SOURCE_ROUTER: as many tokens as the data has, or fewer; and the logits */
    struct gate_input logits;
};

static void close_source(struct source *source)
{
    npy_free(&source->file);
    free(source->counts);
    gate_input_free(&source->logits);
}

/* --- opening: the problem's shape is known afterwards ------------------------------------------------------------- */

/** Takes topk, the number of tokens and the ids' type from the file, where nothing else is asked for. */
static enum run_result fit_file(struct align_options *options, const struct npy_array *file, struct error *error)
{
    const int64_t rows = file->shape[0], length = file->ndim == 2 ? file->shape[1] : 1;

    if (length < 1 || length > INT_MAX) {
        error_set(error, "%s: %" PRId64 " ids in a row; there must be 1 to %d", options->ids_path, length, INT_MAX);
        return RUN_BAD_INPUT;
    }
    if (options->topk_given && options->topk != length) {
        error_set(error, "--topk: %d; %s has %" PRId64 " ids in a row", options->topk, options->ids_path, length);
        return RUN_BAD_INPUT;
    }
    options->topk = (int)length;
    if (!options->num_tokens_given)
        options->num_tokens = rows;
    if (options->num_tokens > 0 && rows == 0) {
        error_set(error, "%s: has no rows to repeat for %" PRId64 " tokens", options->ids_path, options->num_tokens);
        return RUN_BAD_INPUT;
    }
    if (!options->ids_given)
        options->problem.wide_ids = file->dtype == NPY_I64;
    return RUN_READY;
}

static enum run_result open_file(struct align_options *options, struct source *source, struct error *error)
{
    if (!npy_read_kind(options->ids_path, NPY_INTEGERS, 1, 2, &source->file, error))
        return RUN_BAD_INPUT;
    return fit_file(options, &source->file, error);
}

/** Reads the list of counts: as many experts as it has numbers, as many tokens as these are in all. */
static enum run_result open_counts(struct align_options *options, struct source *source, struct error *error)
{
    const size_t size = strlen(options->counts) + 1;
    void *list, *counts;
    char *rest;
    bool good = true;

    if (!memory_allocate(&counts, size * sizeof(int64_t), error))
        return RUN_NO_DEVICE;
    source->counts = counts;
    if (!memory_allocate(&list, size, error))
        return RUN_NO_DEVICE;
    rest = memcpy(list, options->counts, size);
    options->problem.num_experts = 0;
    for (const char *word; good && (word = strsep(&rest, ","));)
        good = option_integer("counts", word, 0, INT32_MAX, &source->counts[options->problem.num_experts++], error);
    free(list);
    options->topk = 1;
    return good && align_counts_check(source->counts, options->problem.num_experts, &options->num_tokens, error)
               ? RUN_READY
               : RUN_BAD_INPUT;
}

/* Chapter 05's kernel has room for so many choices of a token. */
enum { GATE_MAX_CHOICES = 32 };

/** Reads the router's logits and bias, and makes the gate's problem of as many of its tokens as are asked for. */
static enum run_result open_router(struct align_options *options, const struct gate_step *step, struct source *source,
                                   struct error *error)
{
    struct gate_options gate = gate_options_default();
    char logits[PATH_MAX], bias[PATH_MAX];
    enum run_result result;

    if (options->topk > GATE_MAX_CHOICES) {
        error_set(error, "--topk: %d; the gate that makes the input, %s, chooses at most %d (more need --dist)",
                  options->topk, step->name, GATE_MAX_CHOICES);
        return RUN_BAD_INPUT;
    }
    if (!router_data_path("layer2_logits.npy", "topk-ids", logits, sizeof logits, error) ||
        !router_data_path("layer2_bias.npy", "topk-ids", bias, sizeof bias, error))
        return RUN_BAD_INPUT;
    gate.source = GATE_SOURCE_FILE;
    gate.logits_path = logits;
    gate.bias = GATE_BIAS_FILE;
    gate.bias_path = bias;
    gate.problem.topk = options->topk;
    gate.problem.num_experts = options->problem.num_experts;
    gate.num_experts_given = options->num_experts_given;
    result = gate_load(&gate, step, &source->logits, error);
    if (result != RUN_READY)
        return result;
    source->gate = gate.problem;
    options->problem.num_experts = gate.problem.num_experts;
    if (!options->num_tokens_given)
        options->num_tokens = gate.problem.num_tokens;
    if (options->num_tokens < gate.problem.num_tokens)
        source->gate.num_tokens = options->num_tokens;
    return RUN_READY;
}

static enum run_result open_source(struct align_options *options, const struct gate_step *gate, struct source *source,
                                   struct error *error)
{
    memset(source, 0, sizeof *source);
    switch (options->source) {
    case ALIGN_SOURCE_FILE:
        return open_file(options, source, error);
    case ALIGN_SOURCE_COUNTS:
        return open_counts(options, source, error);
    case ALIGN_SOURCE_ROUTER:
        return open_router(options, gate, source, error);
    default:
        return RUN_READY;
    }
}

/** Settles what depends on the shape, then asks whether the whole makes sense. */
static enum run_result settle_problem(struct align_options *options, const struct align_step *step, struct error *error)
{
    struct align_problem *problem = &options->problem;
    const char *reason;

    if (!align_count_ids(options->num_tokens, options->topk, &problem->numel, error) ||
        !align_shape_check(problem, error))
        return RUN_BAD_INPUT;
    if (!options->capacity_given)
        problem->capacity = step->capacity(problem);
    if (!align_problem_check(problem, error))
        return RUN_BAD_INPUT;
    reason = step->unsupported_reason ? step->unsupported_reason(problem) : NULL;
    if (reason) {
        error_set(error, "%s", reason);
        return RUN_BAD_INPUT;
    }
    return RUN_READY;
}

/* --- filling ------------------------------------------------------------------------------------------------------ */

/** Launches the gate on the router's tokens; its choices, repeated where there are too few, are the ids. */
static enum run_result fill_by_gate(const struct align_options *options, const struct gate_step *step,
                                    const struct source *source, void *topk_ids, struct error *error)
{
    const struct gate_problem *problem = &source->gate;
    struct gate_output output;
    enum run_result result;

    if (problem->num_tokens == 0)
        return RUN_READY;
    if (!gate_output_allocate(problem, &output, error))
        return RUN_NO_DEVICE;
    result = gate_run(problem, step, &source->logits, &output, error);
    if (result == RUN_VERIFIED) {
        align_convert_ids(&options->problem, output.topk_ids, false, (int64_t)gate_choices(problem), topk_ids);
    } else {
        const struct error reason = *error;

        error_set(error, "the gate that makes the input, %s: %.500s", step->name, reason.text);
    }
    gate_output_free(&output);
    return result;
}

static enum run_result fill_ids(const struct align_options *options, const struct gate_step *gate,
                                const struct source *source, void *topk_ids, struct error *error)
{
    const struct align_problem *problem = &options->problem;

    switch (options->source) {
    case ALIGN_SOURCE_FILE:
        align_convert_ids(problem, source->file.data, source->file.dtype == NPY_I64, npy_count(&source->file),
                          topk_ids);
        return RUN_READY;
    case ALIGN_SOURCE_COUNTS:
        align_generate_counts(problem, source->counts, options->program.seed, topk_ids);
        return RUN_READY;
    case ALIGN_SOURCE_ROUTER:
        return fill_by_gate(options, gate, source, topk_ids, error);
    default:
        return align_generate_ids(problem, options->topk, options->dist, options->program.seed, topk_ids, error)
                   ? RUN_READY
                   : RUN_NO_DEVICE;
    }
}

static enum run_result fill_map(const struct align_options *options, int32_t *expert_map, struct error *error)
{
    const int num_experts = options->problem.num_experts;
    struct npy_array file;
    bool good;

    if (options->map == ALIGN_MAP_NONE)
        return RUN_READY;
    if (options->map == ALIGN_MAP_RANDOM) {
        align_generate_map(num_experts, options->program.seed, expert_map);
        return RUN_READY;
    }
    if (!npy_read_kind(options->map_path, NPY_INTEGERS, 1, 1, &file, error))
        return RUN_BAD_INPUT;
    good = align_convert_map(file.data, file.dtype == NPY_I64, file.shape[0], num_experts, expert_map, error);
    npy_free(&file);
    return good ? RUN_READY : RUN_BAD_INPUT;
}

/** The map comes first: nothing is launched for a map that is wrong. */
static enum run_result fill(const struct align_options *options, const struct gate_step *gate,
                            const struct source *source, struct align_operands *operands, struct error *error)
{
    struct align_input *input = &operands->input;
    enum run_result result = fill_map(options, input->expert_map, error);

    if (result == RUN_READY)
        result = fill_ids(options, gate, source, input->topk_ids, error);
    if (result != RUN_READY)
        return result;
    if (!align_groups_count(&options->problem, input->topk_ids, &operands->groups, error))
        return RUN_NO_DEVICE;
    return align_capacity_check(&options->problem, &operands->groups, error) ? RUN_READY : RUN_BAD_INPUT;
}

enum run_result align_load(struct align_options *options, const struct align_chapter *chapter,
                           struct align_operands *operands, struct error *error)
{
    struct source source;
    enum run_result result = open_source(options, &chapter->gate, &source, error);

    memset(operands, 0, sizeof *operands);
    if (result == RUN_READY)
        result = settle_problem(options, &chapter->step, error);
    if (result == RUN_READY &&
        !align_input_allocate(&options->problem, options->map != ALIGN_MAP_NONE, &operands->input, error))
        result = RUN_NO_DEVICE;
    if (result == RUN_READY)
        result = fill(options, &chapter->gate, &source, operands, error);
    if (result != RUN_READY)
        align_operands_free(operands);
    close_source(&source);
    return result;
}

void align_operands_free(struct align_operands *operands)
{
    align_input_free(&operands->input);
    align_groups_free(&operands->groups);
}
