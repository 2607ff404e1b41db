#include "base/memory.h"
#include "base/random.h"
#include "harness/align/problem.h"
#include "harness/align/run.h"
#include "harness/moe/problem.h"
#include "harness/moe/run.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- dimensions --------------------------------------------------------------------------------------------------- */

enum { MAX_AXES = 3 };

/* The random-number stream for the signs of generated weights. */
enum { SEQUENCE_SIGNS = 1001 };

/** The axes of each file; w13 has two rows for each intermediate element. */
static const struct file_shape {
    enum npy_kind kind;
    int num_axes;
    int axes[MAX_AXES];
    int doubled;      /**< axis whose size is twice the dimension's; -1 if none */
    const char *text; /**< the axes, for messages */
} file_shapes[NUM_MOE_FILES] = {
    [MOE_FILE_HIDDEN] = {NPY_FLOATS, 2, {MOE_DIMENSION_TOKENS, MOE_DIMENSION_HIDDEN_SIZE}, -1, "[tokens, hidden]"},
    [MOE_FILE_W13] = {NPY_FLOATS,
                      3,
                      {MOE_DIMENSION_EXPERTS, MOE_DIMENSION_INTERMEDIATE_SIZE, MOE_DIMENSION_HIDDEN_SIZE},
                      1,
                      "[experts, 2 * intermediate, hidden]"},
    [MOE_FILE_W2] = {NPY_FLOATS,
                     3,
                     {MOE_DIMENSION_EXPERTS, MOE_DIMENSION_HIDDEN_SIZE, MOE_DIMENSION_INTERMEDIATE_SIZE},
                     -1,
                     "[experts, hidden, intermediate]"},
    [MOE_FILE_TOPK_IDS] = {NPY_INTEGERS, 2, {MOE_DIMENSION_TOKENS, MOE_DIMENSION_TOPK}, -1, "[tokens, topk]"},
    [MOE_FILE_TOPK_WEIGHTS] = {NPY_FLOATS, 2, {MOE_DIMENSION_TOKENS, MOE_DIMENSION_TOPK}, -1, "[tokens, topk]"},
};

/** A dimension: the option that sets it, and its default sizes on the CPU (small) and on a GPU (large). */
static const struct dimension {
    const char *flag;
    int64_t small, large;
} dimensions[NUM_MOE_DIMENSIONS] = {
    [MOE_DIMENSION_TOKENS] = {"num-tokens", 48, 64},
    [MOE_DIMENSION_HIDDEN_SIZE] = {"hidden-size", 128, 7168},
    [MOE_DIMENSION_INTERMEDIATE_SIZE] = {"intermediate-size", 64, 2048},
    [MOE_DIMENSION_EXPERTS] = {"num-experts", 32, 256},
    [MOE_DIMENSION_TOPK] = {"topk", 4, 8},
};

/** The sizes known so far and the source of each: a file's path, or NULL for an option. */
struct sizes {
    int64_t size[NUM_MOE_DIMENSIONS]; /**< -1 if not known yet */
    const char *from[NUM_MOE_DIMENSIONS];
};

static struct sizes sizes_given(const struct moe_options *options)
{
    const struct moe_problem *const problem = &options->problem;

    return (struct sizes){.size = {
                              options->program.num_tokens_given ? options->program.num_tokens : -1,
                              options->hidden_size_given ? problem->hidden_size : -1,
                              options->intermediate_size_given ? problem->intermediate_size : -1,
                              options->num_experts_given ? problem->num_experts : -1,
                              options->topk_given ? problem->topk : -1,
                          }};
}

/**
 * Takes the number of tokens from a file unless an option sets it. All files must then have the same number of rows,
 * because rows repeat only if an option sets the number of tokens.
 */
static bool take_rows(const char *path, int64_t rows, const struct moe_options *options, struct sizes *sizes,
                      struct error *error)
{
    int64_t *const tokens = &sizes->size[MOE_DIMENSION_TOKENS];
    const char **const from = &sizes->from[MOE_DIMENSION_TOKENS];

    if (!options->program.num_tokens_given && *from && rows != *tokens)
        return error_set(error, "%s: %" PRId64 " rows; %s has %" PRId64 " (--num-tokens makes rows repeat)", path, rows,
                         *from, *tokens);
    if (!options->program.num_tokens_given) {
        *tokens = rows;
        *from = path;
    }
    return rows > 0 || *tokens == 0 ||
           error_set(error, "%s: has no rows to repeat for %" PRId64 " tokens", path, *tokens);
}

/**
 * Records a dimension's size, as given by a file. If another file or an option gives a different size, the error names
 * both sources. `shape` is the shape of the file and what its axes are, for messages.
 */
static bool take_size(const char *path, const char *shape, int which, int64_t size, struct sizes *sizes,
                      struct error *error)
{
    const char *const flag = dimensions[which].flag;

    if (size < 1 || size > INT_MAX)
        return error_set(error, "%s: its shape is %s: %" PRId64 " as --%s; it must be 1 to %d", path, shape, size, flag,
                         INT_MAX);
    if (sizes->size[which] >= 0 && sizes->size[which] != size)
        return sizes->from[which]
                   ? error_set(error, "%s: its shape is %s, so --%s would be %" PRId64 "; %s has %" PRId64 "%s", path,
                               shape, flag, size, sizes->from[which], sizes->size[which],
                               which == MOE_DIMENSION_TOPK
                                   ? "; topk-weights has one weight for each id of topk-ids: take both from one run"
                                   : "")
                   : error_set(error, "--%s: %" PRId64 "; %s has %" PRId64, flag, sizes->size[which], path, size);
    sizes->size[which] = size;
    sizes->from[which] = path;
    return true;
}

static bool take_shape(const char *path, const struct file_shape *shape, const struct npy_array *file,
                       const struct moe_options *options, struct sizes *sizes, struct error *error)
{
    char numbers[NPY_SHAPE_TEXT], text[NPY_SHAPE_TEXT + 64];
    bool good = true;

    snprintf(text, sizeof text, "%s, %s", npy_shape_text(file, numbers), shape->text);
    for (int axis = 0; good && axis < shape->num_axes; axis++) {
        const int64_t length = file->shape[axis];

        if (axis == shape->doubled && length % 2 != 0)
            good = error_set(error, "%s: %" PRId64 " rows of an expert; half are the gate's, half up's", path, length);
        else if (shape->axes[axis] == MOE_DIMENSION_TOKENS)
            good = take_rows(path, length, options, sizes, error);
        else
            good = take_size(path, text, shape->axes[axis], axis == shape->doubled ? length / 2 : length, sizes, error);
    }
    return good;
}

/** Reads the files that options name. Sizes that neither files nor options set get defaults. */
static bool open_files(const struct moe_options *options, bool large, struct npy_array files[NUM_MOE_FILES],
                       struct sizes *sizes, struct error *error)
{
    bool good = true;

    *sizes = sizes_given(options);
    for (int f = 0; good && f < NUM_MOE_FILES; f++) {
        const struct file_shape *const shape = &file_shapes[f];

        if (options->file_paths[f])
            good = npy_read_kind(options->file_paths[f], shape->kind, shape->num_axes, shape->num_axes, shape->text,
                                 &files[f], error) &&
                   take_shape(options->file_paths[f], shape, &files[f], options, sizes, error);
    }
    for (int d = 0; d < NUM_MOE_DIMENSIONS; d++)
        if (sizes->size[d] < 0)
            sizes->size[d] = large ? dimensions[d].large : dimensions[d].small;
    return good;
}

/* --- the problem -------------------------------------------------------------------------------------------------- */

/**
 * Chooses the distribution if none was given: the real router if it fits, else Zipf. On failure the error names --dist.
 */
static bool settle_dist(struct moe_options *options, struct error *error)
{
    const bool fits = moe_can_use_router_data(&options->problem);

    if (!options->dist_given)
        options->dist = fits ? MOE_DIST_ROUTER : MOE_DIST_FIRST_GENERATED + ALIGN_DIST_ZIPF;
    return fits || options->dist != MOE_DIST_ROUTER || options->file_paths[MOE_FILE_TOPK_IDS] ||
           error_set(error, "--dist: router; the real router has 256 experts and gives a token at most 32 of them");
}

/** Writes " (from FILE)" for a size that was taken from a file, otherwise "". Returns the text. */
static const char *origin_of(const char *file, char text[PATH_MAX])
{
    text[0] = '\0';
    if (file)
        snprintf(text, PATH_MAX, " (from %s)", file);
    return text;
}

/**
 * Checks that there is no reason why the problem is unsupported; the error repeats a number that is wrong, and names
 * the file that it was taken from.
 */
static bool check_unsupported(const char *reason, const struct moe_problem *problem, const struct sizes *sizes,
                              struct error *error)
{
    char hidden[PATH_MAX], intermediate[PATH_MAX];
    const struct option_value values[] = {
        {"hidden-size", problem->hidden_size, origin_of(sizes->from[MOE_DIMENSION_HIDDEN_SIZE], hidden)},
        {"intermediate-size", problem->intermediate_size,
         origin_of(sizes->from[MOE_DIMENSION_INTERMEDIATE_SIZE], intermediate)},
        {"block-size", problem->block_size, NULL},
        {NULL, 0, NULL}};

    return check_supported(reason, values, error);
}

static bool settle_problem(struct moe_options *options, const struct moe_implementation *implementation,
                           const struct sizes *sizes, struct error *error)
{
    struct moe_problem *const problem = &options->problem;

    options->program.num_tokens = problem->num_tokens = sizes->size[MOE_DIMENSION_TOKENS];
    problem->hidden_size = (int)sizes->size[MOE_DIMENSION_HIDDEN_SIZE];
    problem->intermediate_size = (int)sizes->size[MOE_DIMENSION_INTERMEDIATE_SIZE];
    problem->num_experts = problem->num_local_experts = (int)sizes->size[MOE_DIMENSION_EXPERTS];
    problem->topk = (int)sizes->size[MOE_DIMENSION_TOPK];
    return moe_shape_check(problem, error) && settle_dist(options, error) &&
           moe_set_block_size_and_capacity(problem, implementation, options->block_size_given ? problem->block_size : 0,
                                           error) &&
           check_unsupported(moe_unsupported_reason(implementation, problem), problem, sizes, error);
}

/* --- the routing -------------------------------------------------------------------------------------------------- */

/** Copies the ids, repeating them if the file has too few. Returns false if an id names no expert. */
static bool fill_ids(const struct moe_problem *problem, const char *path, const struct npy_array *file,
                     int32_t *topk_ids, struct error *error)
{
    const struct align_problem from = {.wide_ids = file->dtype == DTYPE_I64};
    const int64_t count = npy_num_elements(file);

    for (int64_t i = 0; i < moe_num_choices(problem); i++) {
        const int64_t id = align_load_id(&from, file->data, i % count);

        if (id < 0 || id >= problem->num_experts)
            return error_set(error, "%s: %" PRId64 " at [%" PRId64 "][%" PRId64 "]; an expert is 0 to %d", path, id,
                             i % count / problem->topk, i % problem->topk, problem->num_experts - 1);
        topk_ids[i] = (int32_t)id;
    }
    return true;
}

/**
 * Copies floats, rounding them to the type and repeating them if the file has too few. Returns false if a value is not
 * finite.
 */
static bool fill_floats(const char *path, const struct npy_array *file, int64_t first, int64_t count, enum dtype dtype,
                        void *to, struct error *error)
{
    const int64_t period = npy_num_elements(file);

    for (int64_t i = 0; i < count; i++) {
        const float value = dtype_round(dtype, dtype_load(file->dtype, file->data, (size_t)((first + i) % period)));

        if (!isfinite(value))
            return error_set(error, "%s: element %" PRId64 " is %g in %s; it must be finite", path,
                             (first + i) % period, (double)value, dtype_name(dtype));
        dtype_store(dtype, to, (size_t)i, value);
    }
    return true;
}

static bool fill_map(const struct moe_options *options, struct moe_host_routing *routing, struct error *error)
{
    const int num_experts = options->problem.num_experts;

    return parse_array_source(options->expert_map_option) == ARRAY_SOURCE_NONE ||
           (ALLOCATE_ARRAY(routing->expert_map, num_experts, error) &&
            align_load_expert_map(options->expert_map_option, num_experts, options->program.seed, routing->expert_map,
                                  error));
}

/** Lists the expert of each local id, and sets the number of local experts. */
static bool list_local(struct moe_problem *problem, struct moe_host_routing *routing, struct error *error)
{
    int local = 0;

    if (!ALLOCATE_ARRAY(routing->local_experts, problem->num_experts, error))
        return false;
    for (int e = 0; e < problem->num_experts; e++)
        if (!routing->expert_map || routing->expert_map[e] >= 0) {
            routing->local_experts[routing->expert_map ? routing->expert_map[e] : e] = e;
            local++;
        }
    problem->num_local_experts = local;
    return true;
}

/** Gives generated weights random signs, if the options request this. */
static void sign_weights(const struct moe_options *options, int64_t positions, float *topk_weights)
{
    struct random random = random_seed(options->program.seed, SEQUENCE_SIGNS);

    for (int64_t i = 0; options->random_weight_signs && i < positions; i++)
        if (random_below(&random, 2))
            topk_weights[i] = -topk_weights[i];
}

/** Creates the routing, from files if options name them. The caller frees the routing, even after a failure. */
static bool make_routing(struct moe_options *options, const struct npy_array files[NUM_MOE_FILES],
                         struct moe_host_routing *routing, struct error *error)
{
    struct moe_problem *const problem = &options->problem;
    const int64_t positions = moe_num_choices(problem);
    const char *const ids = options->file_paths[MOE_FILE_TOPK_IDS], *const weights =
                                                                        options->file_paths[MOE_FILE_TOPK_WEIGHTS];
    const enum moe_routing_dist dist = ids ? MOE_DIST_FIRST_GENERATED + ALIGN_DIST_ONE_EXPERT
                                           : options->dist; /* used only for weights */
    const struct align_problem align = moe_align_problem(problem);

    if (!fill_map(options, routing, error) || !list_local(problem, routing, error) ||
        !ALLOCATE_ARRAY(routing->topk_ids, positions, error) ||
        !ALLOCATE_ARRAY(routing->topk_weights, positions, error) ||
        !moe_fill_topk_ids_and_weights(problem, dist, options->program.seed, routing->topk_ids, routing->topk_weights,
                                       error))
        return false;
    sign_weights(options, positions, routing->topk_weights);
    return (!ids || fill_ids(problem, ids, &files[MOE_FILE_TOPK_IDS], routing->topk_ids, error)) &&
           (!weights || fill_floats(weights, &files[MOE_FILE_TOPK_WEIGHTS], 0, positions, DTYPE_F32,
                                    routing->topk_weights, error)) &&
           align_group_layout_compute(&align, routing->topk_ids, &routing->groups, error);
}

/* --- the tensors ------------------------------------------------------------------------------------------------- */

/** Fills the local experts' weights, `elements` for each, if they come from a file. */
static bool fill_weights(const struct moe_layer *layer, const char *path, const struct npy_array *file,
                         int64_t elements, const struct tensor *tensor, struct error *error)
{
    const size_t bytes = (size_t)elements * dtype_size(layer->problem.dtype);
    bool good = true;

    for (int l = 0; good && path && l < layer->problem.num_local_experts; l++)
        good = fill_floats(path, file, layer->routing.local_experts[l] * elements, elements, layer->problem.dtype,
                           (char *)tensor->host.data + (size_t)l * bytes, error);
    return good;
}

/** Fills the tensors that come from files. */
static bool fill_tensors(const struct moe_options *options, const struct npy_array files[NUM_MOE_FILES],
                         const struct moe_layer *layer, struct tensors *tensors, struct error *error)
{
    const struct moe_problem *const problem = &layer->problem;
    const char *const hidden = options->file_paths[MOE_FILE_HIDDEN];

    return (!hidden || fill_floats(hidden, &files[MOE_FILE_HIDDEN], 0, problem->num_tokens * problem->hidden_size,
                                   problem->dtype, tensors->tensor[MOE_TENSOR_HIDDEN].host.data, error)) &&
           fill_weights(layer, options->file_paths[MOE_FILE_W13], &files[MOE_FILE_W13],
                        moe_w13_elements_per_expert(problem), &tensors->tensor[MOE_TENSOR_W13], error) &&
           fill_weights(layer, options->file_paths[MOE_FILE_W2], &files[MOE_FILE_W2],
                        moe_w2_elements_per_expert(problem), &tensors->tensor[MOE_TENSOR_W2], error);
}

static bool load(struct moe_options *options, const struct moe_implementation *implementation,
                 const struct npy_array files[NUM_MOE_FILES], const struct sizes *sizes, struct moe_layer *layer,
                 struct tensors *tensors, struct error *error)
{
    const struct moe_host_weight_flags has_host_copy = {options->file_paths[MOE_FILE_W13] != NULL,
                                                        options->file_paths[MOE_FILE_W2] != NULL};

    if (!settle_problem(options, implementation, sizes, error) || !make_routing(options, files, &layer->routing, error))
        return false;
    layer->problem = options->problem;
    if (!moe_tensors_allocate_host_and_fill(layer, implementation, has_host_copy, tensors, error))
        return false;
    if (fill_tensors(options, files, layer, tensors, error))
        return true;
    tensors_free(tensors);
    return false;
}

bool moe_prepare_problem_and_tensors(struct moe_options *options, const struct moe_implementation *implementation,
                                     bool gpu_defaults, struct moe_layer *layer, struct tensors *tensors,
                                     struct error *error)
{
    struct npy_array files[NUM_MOE_FILES] = {{.data = NULL}};
    struct sizes sizes;
    bool good;

    *layer = (struct moe_layer){
        .seed = options->program.seed, .hidden_scale = options->hidden_scale, .has_only_generated_arrays = true};
    good = open_files(options, gpu_defaults, files, &sizes, error) &&
           load(options, implementation, files, &sizes, layer, tensors, error);
    if (!good)
        moe_host_routing_free(&layer->routing);
    for (int f = 0; f < NUM_MOE_FILES; f++) {
        layer->has_only_generated_arrays = layer->has_only_generated_arrays && !options->file_paths[f];
        npy_free(&files[f]);
    }
    return good;
}
