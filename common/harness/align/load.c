#include "base/memory.h"
#include "base/number.h"
#include "harness/align/problem.h"
#include "harness/align/run.h"
#include "harness/gate/reference.h"
#include "harness/gate/run.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/** The opened source of the ids. Only the members of the selected source are used. */
struct source {
    struct npy_array file;       /**< ALIGN_ID_SOURCE_FILE */
    int64_t *counts;             /**< ALIGN_ID_SOURCE_COUNTS */
    struct gate_problem gate;    /**< ALIGN_ID_SOURCE_ROUTER: the router's tokens, at most as many as the data have */
    struct tensors gate_tensors; /**< ALIGN_ID_SOURCE_ROUTER: the logits and a buffer for the gate's choices */
};

static void close_source(struct source *source)
{
    npy_free(&source->file);
    free(source->counts);
    tensors_free(&source->gate_tensors);
}

/* --- opening, which determines the problem's shape ---------------------------------------------------------------- */

/**
 * Reads the file of ids. topk, the number of tokens and the type of the ids are taken from the file unless an option
 * sets them.
 */
static bool open_file(struct align_options *options, struct npy_array *file, struct error *error)
{
    int64_t rows, length;

    if (!npy_read_kind(options->ids_path, NPY_INTEGERS, 1, 2, "[tokens, topk] or [tokens]", file, error))
        return false;
    rows = file->shape[0];
    length = file->ndim == 2 ? file->shape[1] : 1;
    if (length < 1 || length > INT_MAX)
        return error_set(error, "%s: %" PRId64 " ids in a row; there must be 1 to %d", options->ids_path, length,
                         INT_MAX);
    if (options->topk_given && options->topk != length)
        return error_set(error, "--topk: %d; %s has %" PRId64 " ids in a row", options->topk, options->ids_path,
                         length);
    options->topk = (int)length;
    if (!options->program.num_tokens_given)
        options->program.num_tokens = rows;
    if (options->program.num_tokens > 0 && rows == 0)
        return error_set(error, "%s: has no rows to repeat for %" PRId64 " tokens", options->ids_path,
                         options->program.num_tokens);
    if (!options->ids_given)
        options->problem.wide_ids = file->dtype == DTYPE_I64;
    return true;
}

/**
 * Parses the list of counts. The length of the list is the number of experts, and the sum of the counts is the number
 * of tokens.
 */
static bool open_counts(struct align_options *options, int64_t **counts, struct error *error)
{
    const char *at = options->counts_list;
    int num_counts = 1;
    bool good = true;

    for (const char *c = at; *c; c++)
        num_counts += *c == ',';
    if (!memory_allocate((void **)counts, (size_t)num_counts * sizeof **counts, error))
        return false;
    for (int e = 0; good && e < num_counts; e++)
        good = parse_list_element("counts", options->counts_list, e, &at, INT32_MAX, "expert", &(*counts)[e], error);
    options->problem.num_experts = num_counts;
    options->topk = 1;
    return good && align_sum_counts(*counts, options->problem.num_experts, &options->program.num_tokens, error);
}

/* Maximum number of experts per token if the gate makes the input. */
enum { ROUTER_MAX_CHOICES = 32 };

/**
 * Reads the router's logits and bias for the requested tokens. If the data have fewer tokens, fill_by_gate() repeats
 * their choices.
 */
static bool open_router(struct align_options *options, struct source *source, struct error *error)
{
    const struct gate_implementation any = {.name = "the gate's reference"};
    struct gate_options gate = gate_options_default();

    if (options->topk > ROUTER_MAX_CHOICES)
        return error_set(error, "--topk: %d; the gate that makes the input chooses at most %d (more need --dist)",
                         options->topk, ROUTER_MAX_CHOICES);
    gate.option_to_suggest_without_router_data = "topk-ids";
    gate.problem.topk = options->topk;
    gate.problem.num_experts = options->problem.num_experts;
    gate.num_experts_given = options->num_experts_given;
    if (!gate_prepare_problem_and_tensors(&gate, &any, &source->gate_tensors, error))
        return false;
    source->gate = gate.problem;
    options->problem.num_experts = gate.problem.num_experts;
    if (!options->program.num_tokens_given)
        options->program.num_tokens = gate.problem.num_tokens;
    if (options->program.num_tokens < gate.problem.num_tokens)
        source->gate.num_tokens = options->program.num_tokens;
    source->gate_tensors.tensor[GATE_TENSOR_TOPK_IDS].host.shape[0] = source->gate.num_tokens;
    return true;
}

static bool open_source(struct align_options *options, struct source *source, struct error *error)
{
    *source = (struct source){.counts = NULL};
    switch (options->source) {
    case ALIGN_ID_SOURCE_FILE:
        return open_file(options, &source->file, error);
    case ALIGN_ID_SOURCE_COUNTS:
        return open_counts(options, &source->counts, error);
    case ALIGN_ID_SOURCE_ROUTER:
        return open_router(options, source, error);
    default:
        return true;
    }
}

/** Sets the members that depend on the shape, then checks that the problem is valid and supported. */
static bool settle_problem(struct align_options *options, const struct align_implementation *implementation,
                           struct error *error)
{
    struct align_problem *problem = &options->problem;

    if (!align_compute_numel(options->program.num_tokens, options->topk, &problem->numel, error) ||
        !align_shape_check(problem, error))
        return false;
    if (!options->capacity_given) {
        problem->capacity = implementation->capacity(problem);
        if (!align_check_computed_capacity(problem, options->source == ALIGN_ID_SOURCE_COUNTS ? "counts" : "num-tokens",
                                           error))
            return false;
    }
    if (!align_problem_check(problem, error))
        return false;
    return check_supported(align_unsupported_reason(implementation, problem),
                           (const struct option_value[]){{"num-experts", problem->num_experts, NULL}, {NULL, 0, NULL}},
                           error);
}

/* --- filling ------------------------------------------------------------------------------------------------------ */

/**
 * Fills the ids with the gate reference's choices for the router's tokens, repeating these tokens if there are too few.
 */
static bool fill_by_gate(const struct align_options *options, struct source *source, void *topk_ids,
                         struct error *error)
{
    const struct gate_buffers buffers = gate_buffers_at(&source->gate_tensors, TENSOR_ON_HOST);

    if (!gate_reference_compute(&source->gate, &buffers, error))
        return false;
    align_repeat_ids_from_array(&options->problem, &source->gate_tensors.tensor[GATE_TENSOR_TOPK_IDS].host, topk_ids);
    return true;
}

static bool fill_ids(const struct align_options *options, struct source *source, void *topk_ids, struct error *error)
{
    const struct align_problem *problem = &options->problem;

    switch (options->source) {
    case ALIGN_ID_SOURCE_FILE:
        align_repeat_ids_from_array(problem, &source->file, topk_ids);
        return true;
    case ALIGN_ID_SOURCE_COUNTS:
        align_generate_ids_with_counts(problem, source->counts, options->program.seed, topk_ids);
        return true;
    case ALIGN_ID_SOURCE_ROUTER:
        return fill_by_gate(options, source, topk_ids, error);
    default:
        return align_generate_ids(problem, options->topk, options->dist, options->program.seed, topk_ids, error);
    }
}

bool align_load_expert_map(const char *option_value, int num_experts, uint64_t seed, int32_t *expert_map,
                           struct error *error)
{
    const enum array_source map = parse_array_source(option_value);
    struct npy_array file;
    bool good;

    if (map == ARRAY_SOURCE_RANDOM)
        align_generate_half_local_expert_map(num_experts, seed, expert_map);
    if (map != ARRAY_SOURCE_FILE)
        return true;
    if (!array_file_check_exists("expert-map", option_value, error) ||
        !npy_read_kind(option_value, NPY_INTEGERS, 1, 1, "[experts]", &file, error))
        return false;
    good = align_convert_expert_map(&file, num_experts, expert_map, error);
    npy_free(&file);
    return good;
}

/** Sets the capacity that --room requests and replaces the tensors with tensors of that capacity. */
static bool give_room(const struct align_implementation *implementation, const struct align_group_layout *groups,
                      struct align_options *options, struct tensors *tensors, struct error *error)
{
    enum { SPARE_BLOCKS = 5 };
    struct align_problem *const problem = &options->problem;
    struct tensors roomy;

    problem->capacity = options->capacity_policy == ALIGN_CAPACITY_MINIMUM
                            ? align_required_capacity(problem, groups)
                            : problem->capacity + SPARE_BLOCKS * (int64_t)problem->block_size;
    if (!align_tensors_allocate_host_and_copy_inputs(tensors, problem, implementation, &roomy, error))
        return false;
    tensors_free(tensors);
    *tensors = roomy;
    return true;
}

/**
 * Fills the inputs and counts the groups. The map is loaded first, because nothing may be launched with an invalid map.
 */
static bool fill(struct align_options *options, const struct align_implementation *implementation,
                 struct source *source, struct tensors *tensors, struct align_group_layout *groups, struct error *error)
{
    void *const topk_ids = tensors->tensor[ALIGN_TENSOR_TOPK_IDS].host.data;

    return align_load_expert_map(options->expert_map_option, options->problem.num_experts, options->program.seed,
                                 tensors->tensor[ALIGN_TENSOR_EXPERT_MAP].host.data, error) &&
           fill_ids(options, source, topk_ids, error) &&
           align_group_layout_compute(&options->problem, topk_ids, groups, error) &&
           align_capacity_check(&options->problem, groups, error) &&
           (options->capacity_policy == ALIGN_CAPACITY_DEFAULT ||
            give_room(implementation, groups, options, tensors, error));
}

bool align_prepare_problem_and_tensors(struct align_options *options, const struct align_implementation *implementation,
                                       struct tensors *tensors, struct align_group_layout *groups, struct error *error)
{
    struct source source;
    bool good = open_source(options, &source, error) && settle_problem(options, implementation, error) &&
                align_tensors_allocate_host(&options->problem, implementation,
                                            parse_array_source(options->expert_map_option) != ARRAY_SOURCE_NONE,
                                            options->misalign_words, tensors, error);

    *groups = (struct align_group_layout){0};
    if (good && !(tensors_check_fit_on_device(tensors, error) &&
                  fill(options, implementation, &source, tensors, groups, error))) {
        align_group_layout_free(groups);
        tensors_free(tensors);
        good = false;
    }
    close_source(&source);
    return good;
}
