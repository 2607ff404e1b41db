#include "harness/gate/problem.h"
#include "harness/gate/run.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* With fewer elements, one thread finishes the work before a second thread wakes up. */
enum { ELEMENTS_WORTH_A_THREAD = 16384 };

/** Searches for the data in `directory` and its parents, shortening `directory` as it goes. */
static bool find_above(char *directory, const char *file, char path[PATH_MAX])
{
    for (char *end = directory + strlen(directory); end; end = strrchr(directory, '/')) {
        *end = '\0';
        if (snprintf(path, PATH_MAX, "%s/common/data/router/%s", directory, file) < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/**
 * Finds a file of the router data in the directories above the program, or else above the current directory. On failure
 * returns false with a one-line error that suggests specifying the input instead.
 */
static bool find_router_data(const char *file, const struct gate_options *options, char path[PATH_MAX],
                             struct error *error)
{
    char directory[PATH_MAX] = "";

    return (readlink("/proc/self/exe", directory, sizeof directory - 1) > 0 && find_above(directory, file, path)) ||
           (getcwd(directory, sizeof directory) && find_above(directory, file, path)) ||
           error_set(error, "common/data/router/%s: not found above the program or here; name the input with --%s",
                     file, options->option_to_suggest_without_router_data);
}

/** Takes the type and the numbers of experts and tokens from a logits file, unless options set them. */
static bool fit_problem(struct gate_options *options, const struct npy_array *logits, const char *path,
                        struct error *error)
{
    struct gate_problem *problem = &options->problem;
    struct program_options *program = &options->program;
    const int64_t num_experts = logits->shape[1];

    if (num_experts < 1 || num_experts > INT_MAX)
        return error_set(error, "%s: %" PRId64 " experts", path, num_experts);
    if (options->num_experts_given && problem->num_experts != num_experts)
        return error_set(error,
                         "--num-experts: %d; %s has %" PRId64
                         " (another number needs generated input: --dist NAME; --help lists the names)",
                         problem->num_experts, path, num_experts);
    problem->num_experts = (int)num_experts;
    if (!program->num_tokens_given)
        program->num_tokens = logits->shape[0];
    if (program->num_tokens > 0 && logits->shape[0] == 0)
        return error_set(error, "%s: has no rows to repeat for %" PRId64 " tokens", path, program->num_tokens);
    if (!options->dtype_given && logits->dtype == DTYPE_F16)
        problem->dtype = DTYPE_F16;
    return true;
}

/** Checks that the implementation supports as many experts as the logits file `path` has, unless `path` is NULL. */
static bool check_experts(const struct gate_options *options, const struct gate_implementation *implementation,
                          const char *path, struct error *error)
{
    static const char flag[] = "--num-experts: ";
    const char *const reason = path ? gate_unsupported_reason(implementation, &options->problem) : NULL;

    if (!reason || options->num_experts_given || strncmp(reason, flag, strlen(flag)) != 0)
        return true;
    error->problem_is_unsupported = true;
    return error_set(error, "%s has %d experts; %s", path, options->problem.num_experts, reason + strlen(flag));
}

/**
 * Sets the number of tokens and the bias, then checks that the problem is valid and supported. `path` is the logits
 * file or NULL.
 */
static bool settle_problem(struct gate_options *options, const struct gate_implementation *implementation,
                           const char *path, struct error *error)
{
    struct gate_problem *problem = &options->problem, most;

    problem->num_tokens = options->program.num_tokens;
    problem->has_bias = parse_array_source(options->bias_option) != ARRAY_SOURCE_NONE;
    problem->bias_dtype = options->bias_has_logits_dtype ? problem->dtype : DTYPE_F32;
    if (!check_experts(options, implementation, path, error) ||
        (gate_topk_exceeds_groups(problem, &most) &&
         !check_option_supported(gate_unsupported_reason(implementation, &most),
                                 &(struct option_value){"topk", problem->topk, NULL}, error)) ||
        !gate_problem_check(problem, error))
        return false;
    const struct option_value values[] = {{"topk", problem->topk, NULL},
                                          {"num-expert-group", problem->num_expert_group, NULL},
                                          {"num-experts", problem->num_experts, NULL},
                                          {NULL, 0, NULL}};

    return check_supported(gate_unsupported_reason(implementation, problem), values, error);
}

/** Converts the file's elements to the tensor's type. If the tensor has more elements, the file's elements repeat. */
static void repeat_elements(const struct npy_array *file, struct npy_array *tensor)
{
    const int64_t count = npy_num_elements(tensor), period = npy_num_elements(file);

#pragma omp parallel for if (count >= ELEMENTS_WORTH_A_THREAD)
    for (int64_t i = 0; i < count; i++)
        dtype_store(tensor->dtype, tensor->data, (size_t)i, dtype_load(file->dtype, file->data, (size_t)(i % period)));
}

/** Fills the bias from the source `given`: generated values or a file. Does nothing if the problem has no bias. */
static bool load_bias(const struct gate_options *options, const char *given, struct tensors *tensors,
                      struct error *error)
{
    const struct gate_problem *problem = &options->problem;
    struct npy_array *const bias = &tensors->tensor[GATE_TENSOR_CORRECTION_BIAS].host;
    struct npy_array file;
    bool fits;

    if (problem->has_bias && parse_array_source(given) != ARRAY_SOURCE_FILE)
        gate_generate_bias(problem, options->dist, options->program.seed, bias->data);
    if (!problem->has_bias || parse_array_source(given) != ARRAY_SOURCE_FILE)
        return true;
    if (!array_file_check_exists("bias", given, error) ||
        !npy_read_kind(given, NPY_FLOATS, 1, 1, "[experts]", &file, error))
        return false;
    fits = file.shape[0] == problem->num_experts ||
           error_set(error, "%s: has %" PRId64 " values for %d experts; each needs one", given, file.shape[0],
                     problem->num_experts);
    if (fits)
        repeat_elements(&file, bias);
    npy_free(&file);
    return fits;
}

/** Loads or generates the logits. Allocates the tensors once the shape is known. */
static bool load_logits(struct gate_options *options, const struct gate_implementation *implementation,
                        const char *path, struct tensors *tensors, struct error *error)
{
    const bool generated = options->source == GATE_LOGITS_SOURCE_GENERATED;
    struct npy_array file = {.data = NULL};
    const bool good = (generated || (npy_read_kind(path, NPY_FLOATS, 2, 2, "[tokens, experts]", &file, error) &&
                                     fit_problem(options, &file, path, error))) &&
                      settle_problem(options, implementation, generated ? NULL : path, error) &&
                      gate_tensors_allocate_host(&options->problem, tensors, error);

    if (good && generated)
        gate_generate_logits(&options->problem, options->dist, options->program.seed,
                             tensors->tensor[GATE_TENSOR_GATING_OUTPUT].host.data);
    else if (good)
        repeat_elements(&file, &tensors->tensor[GATE_TENSOR_GATING_OUTPUT].host);
    npy_free(&file);
    return good;
}

bool gate_prepare_problem_and_tensors(struct gate_options *options, const struct gate_implementation *implementation,
                                      struct tensors *tensors, struct error *error)
{
    const bool router = options->source == GATE_LOGITS_SOURCE_ROUTER;
    char router_logits[PATH_MAX], router_bias[PATH_MAX];
    const char *const logits = router ? router_logits : options->logits_path;
    const char *const bias = router && !options->bias_option ? router_bias : options->bias_option;

    if ((logits == router_logits && !find_router_data("layer2_logits.npy", options, router_logits, error)) ||
        (bias == router_bias && !find_router_data("layer2_bias.npy", options, router_bias, error)) ||
        !load_logits(options, implementation, logits, tensors, error))
        return false;
    if (load_bias(options, bias, tensors, error))
        return true;
    tensors_free(tensors);
    return false;
}
