#include "harness/gate_load.h"

#include "harness/gate_problem.h"
#include "harness/npy.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Looks for the data in `directory` and every directory above it, which it cuts short on the way. */
static bool find_above(char *directory, const char *file, char *path, size_t size)
{
    for (char *end = directory + strlen(directory); end; end = strrchr(directory, '/')) {
        *end = '\0';
        if ((size_t)snprintf(path, size, "%s/common/data/router/%s", directory, file) < size && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool router_data_path(const char *file, char *path, size_t size, struct error *error)
{
    char directory[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);

    if (length > 0) {
        directory[length] = '\0';
        if (find_above(directory, file, path, size))
            return true;
    }
    if (getcwd(directory, sizeof directory) && find_above(directory, file, path, size))
        return true;
    return error_set(error, "common/data/router/%s: not found above the program or here; name the input with --logits",
                     file);
}

/** Reads a float array of the wanted number of dimensions, as f32 values. */
static enum load_result read_floats(const char *path, int ndim, struct npy_array *array, struct error *error)
{
    if (!npy_read(path, array, error))
        return LOAD_BAD_INPUT;
    if (array->dtype != NPY_F32 && array->dtype != NPY_F16) {
        npy_free(array);
        error_set(error, "%s: holds integers; f2 or f4 is needed", path);
        return LOAD_BAD_INPUT;
    }
    if (array->ndim != ndim) {
        error_set(error, "%s: has %d dimension%s; %d %s needed", path, array->ndim, array->ndim == 1 ? "" : "s", ndim,
                  ndim == 1 ? "is" : "are");
        npy_free(array);
        return LOAD_BAD_INPUT;
    }
    return LOAD_DONE;
}

/** The array's values as newly allocated f32, whatever float type it has. */
static float *as_floats(const struct npy_array *array, size_t count)
{
    float *const values = malloc(count ? count * sizeof *values : 1);

    for (size_t i = 0; values && i < count; i++)
        values[i] = dtype_load(array->dtype == NPY_F16 ? DTYPE_F16 : DTYPE_F32, array->data, i);
    return values;
}

/** Fits the problem to a logits file: its tokens and experts where none were asked for, its type. */
static enum load_result fit_problem(struct gate_options *options, const struct npy_array *logits, const char *path,
                                    struct error *error)
{
    struct gate_problem *problem = &options->problem;

    if (logits->shape[1] < 1 || logits->shape[1] > INT_MAX) {
        error_set(error, "%s: %" PRId64 " experts", path, logits->shape[1]);
        return LOAD_BAD_INPUT;
    }
    if (options->num_experts_given && problem->num_experts != logits->shape[1]) {
        error_set(error, "--num-experts: %d; %s has %" PRId64 " (another shape needs --dist)", problem->num_experts,
                  path, logits->shape[1]);
        return LOAD_BAD_INPUT;
    }
    problem->num_experts = (int)logits->shape[1];
    if (!options->num_tokens_given)
        problem->num_tokens = logits->shape[0];
    if (problem->num_tokens > 0 && logits->shape[0] == 0) {
        error_set(error, "%s: has no rows to repeat for %" PRId64 " tokens", path, problem->num_tokens);
        return LOAD_BAD_INPUT;
    }
    if (!options->dtype_given && logits->dtype == NPY_F16)
        problem->dtype = DTYPE_F16;
    return LOAD_DONE;
}

/** Settles the bias and everything that depends on it, then asks whether the whole makes sense. */
static enum load_result settle_problem(struct gate_options *options, const struct gate_step *step, struct error *error)
{
    struct gate_problem *problem = &options->problem;
    const char *reason;

    problem->has_bias = options->bias != GATE_BIAS_NONE;
    problem->bias_dtype = options->bias_same ? problem->dtype : DTYPE_F32;
    if (!gate_problem_check(problem, error))
        return LOAD_BAD_INPUT;
    reason = step->supports ? step->supports(problem) : NULL;
    if (reason) {
        error_set(error, "%s", reason);
        return LOAD_BAD_INPUT;
    }
    return LOAD_DONE;
}

static enum load_result load_bias(const struct gate_options *options, struct gate_input *input, struct error *error)
{
    const struct gate_problem *problem = &options->problem;
    const bool router = options->bias == GATE_BIAS_DEFAULT && options->source == GATE_SOURCE_ROUTER;
    char router_path[PATH_MAX];
    struct npy_array bias;
    float *values;

    if (!problem->has_bias)
        return LOAD_DONE;
    if (!router && options->bias != GATE_BIAS_FILE) {
        gate_generate_bias(problem, options->dist, options->seed, input->correction_bias);
        return LOAD_DONE;
    }
    if (router && !router_data_path("layer2_bias.npy", router_path, sizeof router_path, error))
        return LOAD_BAD_INPUT;

    const char *const path = router ? router_path : options->bias_path;
    const enum load_result result = read_floats(path, 1, &bias, error);

    if (result != LOAD_DONE)
        return result;
    if (bias.shape[0] != problem->num_experts) {
        error_set(error, "%s: has %" PRId64 " values for %d experts", path, bias.shape[0], problem->num_experts);
        npy_free(&bias);
        return LOAD_BAD_INPUT;
    }
    values = as_floats(&bias, problem->num_experts);
    npy_free(&bias);
    if (!values) {
        error_set(error, "out of memory reading %s", path);
        return LOAD_NO_MEMORY;
    }
    gate_convert_bias(problem, values, input->correction_bias);
    free(values);
    return LOAD_DONE;
}

static enum load_result load_file(struct gate_options *options, const struct gate_step *step, const char *path,
                                  struct gate_input *input, struct error *error)
{
    struct npy_array logits;
    enum load_result result = read_floats(path, 2, &logits, error);
    float *values = NULL;

    if (result != LOAD_DONE)
        return result;
    result = fit_problem(options, &logits, path, error);
    if (result == LOAD_DONE)
        result = settle_problem(options, step, error);
    if (result == LOAD_DONE && !gate_input_allocate(&options->problem, input, error))
        result = LOAD_NO_MEMORY;
    if (result == LOAD_DONE) {
        values = as_floats(&logits, (size_t)logits.shape[0] * logits.shape[1]);
        if (values) {
            gate_repeat_logits(&options->problem, values, logits.shape[0], input->gating_output);
        } else {
            error_set(error, "out of memory reading %s", path);
            result = LOAD_NO_MEMORY;
        }
    }
    free(values);
    npy_free(&logits);
    return result;
}

enum load_result gate_load(struct gate_options *options, const struct gate_step *step, struct gate_input *input,
                           struct error *error)
{
    char router_path[PATH_MAX];
    enum load_result result;

    memset(input, 0, sizeof *input);
    if (options->source == GATE_SOURCE_GENERATED) {
        result = settle_problem(options, step, error);
        if (result == LOAD_DONE && !gate_input_allocate(&options->problem, input, error))
            result = LOAD_NO_MEMORY;
        if (result == LOAD_DONE)
            gate_generate_logits(&options->problem, options->dist, options->seed, input->gating_output);
    } else if (options->source == GATE_SOURCE_FILE) {
        result = load_file(options, step, options->logits_path, input, error);
    } else {
        if (!router_data_path("layer2_logits.npy", router_path, sizeof router_path, error))
            return LOAD_BAD_INPUT;
        result = load_file(options, step, router_path, input, error);
    }
    if (result == LOAD_DONE)
        result = load_bias(options, input, error);
    if (result != LOAD_DONE)
        gate_input_free(input);
    return result;
}
