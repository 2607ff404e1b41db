
#include "harness/gate/problem.h"
#include "harness/gate/run.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
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

bool router_data_path(const char *file, const char *flag, char *path, size_t size, struct error *error)
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
    return error_set(error, "common/data/router/%s: not found above the program or here; name the input with --%s",
                     file, flag);
}

/** Fits the problem to a logits file: its tokens and experts where none were asked for, its type. */
static bool fit_problem(struct gate_options *options, const struct npy_array *logits, const char *path,
                        struct error *error)
{
    struct gate_problem *problem = &options->problem;
    const int64_t num_experts = logits->shape[1];

    if (num_experts < 1 || num_experts > INT_MAX)
        return error_set(error, "%s: %" PRId64 " experts", path, num_experts);
    if (options->num_experts_given && problem->num_experts != num_experts)
        return error_set(error, "--num-experts: %d; %s has %" PRId64 " (another shape needs --dist)",
                         problem->num_experts, path, num_experts);
    problem->num_experts = (int)num_experts;
    if (!options->num_tokens_given)
        problem->num_tokens = logits->shape[0];
    if (problem->num_tokens > 0 && logits->shape[0] == 0)
        return error_set(error, "%s: has no rows to repeat for %" PRId64 " tokens", path, problem->num_tokens);
    if (!options->dtype_given && logits->dtype == DTYPE_F16)
        problem->dtype = DTYPE_F16;
    return true;
}

/** Settles the bias and everything that depends on it, then asks whether the whole makes sense. */
static bool settle_problem(struct gate_options *options, const struct gate_step *step, struct error *error)
{
    struct gate_problem *problem = &options->problem;
    const char *reason;

    problem->has_bias = options->bias != GATE_BIAS_NONE;
    problem->bias_dtype = options->bias_same ? problem->dtype : DTYPE_F32;
    if (!gate_problem_check(problem, error))
        return false;
    reason = step->unsupported_reason ? step->unsupported_reason(problem) : NULL;
    return !reason || error_set(error, "%s", reason);
}

/** Converts the file's rows to the operand's type; they repeat where it has more. */
static void repeat_rows(const struct npy_array *file, struct npy_array *operand)
{
    const int64_t columns = operand->ndim == 2 ? operand->shape[1] : operand->shape[0];
    const int64_t rows = operand->ndim == 2 ? operand->shape[0] : 1, from = file->ndim == 2 ? file->shape[0] : 1;

#pragma omp parallel for if (rows >= GATE_ROWS_WORTH_A_THREAD)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < columns; i++)
            dtype_store(operand->dtype, operand->data, (size_t)(row * columns + i),
                        dtype_load(file->dtype, file->data, (size_t)((row % from) * columns + i)));
}

static bool load_bias(const struct gate_options *options, struct operands *operands, struct error *error)
{
    const struct gate_problem *problem = &options->problem;
    struct npy_array *const bias = &operands->list[GATE_CORRECTION_BIAS].host;
    const bool router = options->bias == GATE_BIAS_DEFAULT && options->source == GATE_SOURCE_ROUTER;
    char router_path[PATH_MAX];
    const char *const path = router ? router_path : options->bias_path;
    struct npy_array file;
    bool fits;

    if (!problem->has_bias)
        return true;
    if (!router && options->bias != GATE_BIAS_FILE) {
        gate_generate_bias(problem, options->dist, options->program.seed, bias->data);
        return true;
    }
    if (router && !router_data_path("layer2_bias.npy", "logits", router_path, sizeof router_path, error))
        return false;
    if (!npy_read_kind(path, NPY_FLOATS, 1, 1, &file, error))
        return false;
    fits = file.shape[0] == problem->num_experts ||
           error_set(error, "%s: has %" PRId64 " values for %d experts", path, file.shape[0], problem->num_experts);
    if (fits)
        repeat_rows(&file, bias);
    npy_free(&file);
    return fits;
}

/** Reads the logits' file, which decides the problem's shape, into operands that are allocated then. */
static bool load_file(struct gate_options *options, const struct gate_step *step, const char *path,
                      struct operands *operands, struct error *error)
{
    struct npy_array file;
    bool good;

    if (!npy_read_kind(path, NPY_FLOATS, 2, 2, &file, error))
        return false;
    good = fit_problem(options, &file, path, error) && settle_problem(options, step, error) &&
           gate_operands_allocate(&options->problem, operands, error);
    if (good)
        repeat_rows(&file, &operands->list[GATE_GATING_OUTPUT].host);
    npy_free(&file);
    return good;
}

static bool load_logits(struct gate_options *options, const struct gate_step *step, struct operands *operands,
                        struct error *error)
{
    char router_path[PATH_MAX];

    switch (options->source) {
    case GATE_SOURCE_FILE:
        return load_file(options, step, options->logits_path, operands, error);
    case GATE_SOURCE_ROUTER:
        return router_data_path("layer2_logits.npy", "logits", router_path, sizeof router_path, error) &&
               load_file(options, step, router_path, operands, error);
    default:
        if (!settle_problem(options, step, error) || !gate_operands_allocate(&options->problem, operands, error))
            return false;
        gate_generate_logits(&options->problem, options->dist, options->program.seed,
                             operands->list[GATE_GATING_OUTPUT].host.data);
        return true;
    }
}

bool gate_load(struct gate_options *options, const struct gate_step *step, struct operands *operands,
               struct error *error)
{
    if (!load_logits(options, step, operands, error))
        return false;
    if (load_bias(options, operands, error))
        return true;
    operands_free(operands);
    return false;
}
