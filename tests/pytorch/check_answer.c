/**
 * @file check_answer.c
 * @brief Checks another program's answer to a gate problem: check_answer DIR [flags of a gate program].
 *
 * DIR holds topk_ids.npy and topk_weights.npy. The flags specify the problem, and --logits and --bias its tensors.
 * Either expert of a tie is accepted. The exit codes are those of a chapter's program. Used by test_answers.py.
 */
#include "harness/gate/check.h"
#include "harness/gate/options.h"
#include "harness/gate/problem.h"
#include "harness/gate/run.h"

#include <stdio.h>

static bool read_answer(const char *directory, const char *name, enum dtype dtype, size_t count,
                        struct npy_array *array, struct error *error)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!npy_read(path, array, error))
        return false;
    if (array->dtype == dtype && (size_t)npy_num_elements(array) == count)
        return true;
    npy_free(array);
    return error_set(error, "%s: not %zu values of type %s", path, count, dtype_name(dtype));
}

static int check(const struct gate_options *options, const struct tensors *tensors, const char *directory)
{
    const size_t choices = gate_num_ids(&options->problem);
    struct npy_array ids = {0}, weights = {0};
    struct error error = {0};

    if (read_answer(directory, "topk_ids.npy", DTYPE_I32, choices, &ids, &error) &&
        read_answer(directory, "topk_weights.npy", DTYPE_F32, choices, &weights, &error)) {
        struct gate_buffers buffers = gate_buffers_at(tensors, TENSOR_ON_HOST);

        buffers.topk_weights = weights.data;
        buffers.topk_ids = ids.data;
        gate_check(&options->problem, &buffers, GATE_TIES_EITHER_WINS, &error);
    }
    if (error.exit_code != RUN_VERIFIED)
        fprintf(stderr, "check_answer: %s\n", error.text);
    npy_free(&ids);
    npy_free(&weights);
    return error.exit_code;
}

int main(int argc, char **argv)
{
    static const struct gate_implementation anything = {.name = "check_answer", .supports_shared_experts = true};
    struct program program = {.path = argv[0], .name = anything.name};
    struct gate_options options;
    struct tensors tensors;
    int code;

    if (argc < 2) {
        fprintf(stderr, "usage: check_answer DIR [flags of a gate program]\n");
        return 2;
    }
    if (!gate_options_parse(&program, argc - 1, argv + 1, &options) ||
        !gate_prepare_problem_and_tensors(&options, &anything, &tensors, &program.error)) {
        program_print_error(&program);
        return 2;
    }
    code = check(&options, &tensors, argv[1]);
    tensors_free(&tensors);
    return code;
}
