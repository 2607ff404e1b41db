#include "harness/gate/load.h"

#include "harness/gate/problem.h"
#include "harness/core/npy.h"
#include "harness/core/router_data.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The array's values as newly allocated f32, whatever float type it has. */
static float *as_floats(const struct npy_array *array, size_t count)
{
    float *const values = malloc(count ? count * sizeof *values : 1);

    for (size_t i = 0; values && i < count; i++)
        values[i] = dtype_load(array->dtype == NPY_F16 ? DTYPE_F16 : DTYPE_F32, array->data, i);
    return values;
}

/** Fits the problem to a logits file: its tokens and experts where none were asked for, its type. */
static enum run_result fit_problem(struct gate_options *options, const struct npy_array *logits, const char *path,
                                   struct error *error)
{
    struct gate_problem *problem = &options->problem;

    if (logits->shape[1] < 1 || logits->shape[1] > INT_MAX) {
        error_set(error, "%s: %" PRId64 " experts", path, logits->shape[1]);
        return RUN_BAD_INPUT;
    }
    if (options->num_experts_given && problem->num_experts != logits->shape[1]) {
        error_set(error, "--num-experts: %d; %s has %" PRId64 " (another shape needs --dist)", problem->num_experts,
                  path, logits->shape[1]);
        return RUN_BAD_INPUT;
    }
    problem->num_experts = (int)logits->shape[1];
    if (!options->num_tokens_given)
        problem->num_tokens = logits->shape[0];
    if (problem->num_tokens > 0 && logits->shape[0] == 0) {
        error_set(error, "%s: has no rows to repeat for %" PRId64 " tokens", path, problem->num_tokens);
        return RUN_BAD_INPUT;
    }
    if (!options->dtype_given && logits->dtype == NPY_F16)
        problem->dtype = DTYPE_F16;
    return RUN_READY;
}

/** Settles the bias and everything that depends on it, then asks whether the whole makes sense. */
static enum run_result settle_problem(struct gate_options *options, const struct gate_step *step, struct error *error)
{
    struct gate_problem *problem = &options->problem;
    const char *reason;

    problem->has_bias = options->bias != GATE_BIAS_NONE;
    problem->bias_dtype = options->bias_same ? problem->dtype : DTYPE_F32;
    if (!gate_problem_check(problem, error))
        return RUN_BAD_INPUT;
    reason = step->unsupported_reason ? step->unsupported_reason(problem) : NULL;
    if (reason) {
        error_set(error, "%s", reason);
        return RUN_BAD_INPUT;
    }
    return RUN_READY;
}

static enum run_result load_bias(const struct gate_options *options, struct gate_input *input, struct error *error)
{
    const struct gate_problem *problem = &options->problem;
    const bool router = options->bias == GATE_BIAS_DEFAULT && options->source == GATE_SOURCE_ROUTER;
    char router_path[PATH_MAX];
    struct npy_array bias;
    float *values;

    if (!problem->has_bias)
        return RUN_READY;
    if (!router && options->bias != GATE_BIAS_FILE) {
        gate_generate_bias(problem, options->dist, options->program.seed, input->correction_bias);
        return RUN_READY;
    }
    if (router && !router_data_path("layer2_bias.npy", "logits", router_path, sizeof router_path, error))
        return RUN_BAD_INPUT;

    const char *const path = router ? router_path : options->bias_path;

    if (!npy_read_kind(path, NPY_FLOATS, 1, 1, &bias, error))
        return RUN_BAD_INPUT;
    if (bias.shape[0] != problem->num_experts) {
        error_set(error, "%s: has %" PRId64 " values for %d experts", path, bias.shape[0], problem->num_experts);
        npy_free(&bias);
        return RUN_BAD_INPUT;
    }
    values = as_floats(&bias, problem->num_experts);
    npy_free(&bias);
    if (!values) {
        error_set(error, "out of memory reading %s", path);
        return RUN_NO_DEVICE;
    }
    gate_convert_bias(problem, values, input->correction_bias);
    free(values);
    return RUN_READY;
}

static enum run_result load_file(struct gate_options *options, const struct gate_step *step, const char *path,
                                 struct gate_input *input, struct error *error)
{
    struct npy_array logits;
    enum run_result result;
    float *values = NULL;

    if (!npy_read_kind(path, NPY_FLOATS, 2, 2, &logits, error))
        return RUN_BAD_INPUT;
    result = fit_problem(options, &logits, path, error);
    if (result == RUN_READY)
        result = settle_problem(options, step, error);
    if (result == RUN_READY && !gate_input_allocate(&options->problem, input, error))
        result = RUN_NO_DEVICE;
    if (result == RUN_READY) {
        values = as_floats(&logits, (size_t)logits.shape[0] * logits.shape[1]);
        if (values) {
            gate_repeat_logits(&options->problem, values, logits.shape[0], input->gating_output);
        } else {
            error_set(error, "out of memory reading %s", path);
            result = RUN_NO_DEVICE;
        }
    }
    free(values);
    npy_free(&logits);
    return result;
}

enum run_result gate_load(struct gate_options *options, const struct gate_step *step, struct gate_input *input,
                          struct error *error)
{
    char router_path[PATH_MAX];
    enum run_result result;

    memset(input, 0, sizeof *input);
    if (options->source == GATE_SOURCE_GENERATED) {
        result = settle_problem(options, step, error);
        if (result == RUN_READY && !gate_input_allocate(&options->problem, input, error))
            result = RUN_NO_DEVICE;
        if (result == RUN_READY)
            gate_generate_logits(&options->problem, options->dist, options->program.seed, input->gating_output);
    } else if (options->source == GATE_SOURCE_FILE) {
        result = load_file(options, step, options->logits_path, input, error);
    } else {
        if (!router_data_path("layer2_logits.npy", "logits", router_path, sizeof router_path, error))
            return RUN_BAD_INPUT;
        result = load_file(options, step, router_path, input, error);
    }
    if (result == RUN_READY)
        result = load_bias(options, input, error);
    if (result != RUN_READY)
        gate_input_free(input);
    return result;
}
