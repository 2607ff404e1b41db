/**
 * @file test_gate_golden.c
 * @brief Compares the checker, the reference and chapter 01 with PyTorch's answers, which tests/pytorch/make_golden.py
 * writes to one archive per type.
 */
#include "harness/gate/check.h"
#include "harness/gate/options.h"
#include "harness/gate/problem.h"
#include "harness/gate/reference.h"
#include "harness/gate/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 64 };

/** The temporary directory into which a test unpacks an archive. */
static char folder[] = "/tmp/golden.XXXXXX";

/** A case: the problem from its file `arguments`, and PyTorch's answer. */
struct golden {
    struct gate_options options;
    struct tensors tensors;
    struct npy_array ids, weights;
};

static const struct gate_implementation anything = {.name = "golden"};

/** Loads a case; its arguments are read by the parser that the chapters' programs use. */
static void load_case(const char *name, struct golden *golden)
{
    struct program program = {.name = anything.name};
    char path[512], arguments[1024], logits[512], bias[512];
    char *words[MAX_WORDS] = {"golden", "--logits", logits, "--bias", "none"};
    int count = 5;
    struct error error = {0};
    FILE *file;

    snprintf(logits, sizeof logits, "%s/%s/logits.npy", folder, name);
    snprintf(bias, sizeof bias, "%s/%s/bias.npy", folder, name);
    if ((file = fopen(bias, "r"))) {
        words[4] = bias;
        fclose(file);
    }
    snprintf(path, sizeof path, "%s/%s/arguments", folder, name);
    assert_non_null(file = fopen(path, "r"));
    assert_non_null(fgets(arguments, sizeof arguments, file));
    fclose(file);
    for (char *word = strtok(arguments, " \n"); word && count < MAX_WORDS - 1; word = strtok(NULL, " \n"))
        words[count++] = word;
    words[count] = NULL;
    if (!gate_options_parse(&program, count, words, &golden->options))
        fail_msg("%s: %s", name, program.error.text);
    if (!gate_prepare_problem_and_tensors(&golden->options, &anything, &golden->tensors, &error))
        fail_msg("%s: %s", name, error.text);
    snprintf(path, sizeof path, "%s/%s/topk_ids.npy", folder, name);
    if (!npy_read(path, &golden->ids, &error))
        fail_msg("%s", error.text);
    snprintf(path, sizeof path, "%s/%s/topk_weights.npy", folder, name);
    if (!npy_read(path, &golden->weights, &error))
        fail_msg("%s", error.text);
    assert_int_equal(npy_num_elements(&golden->ids), gate_num_ids(&golden->options.problem));
    assert_int_equal(npy_num_elements(&golden->weights), gate_num_ids(&golden->options.problem));
}

static void free_case(struct golden *golden)
{
    tensors_free(&golden->tensors);
    npy_free(&golden->ids);
    npy_free(&golden->weights);
}

/** Returns the case's input together with an answer. */
static struct gate_buffers buffers_of(const struct golden *golden, float *weights, int32_t *ids)
{
    struct gate_buffers buffers = gate_buffers_at(&golden->tensors, TENSOR_ON_HOST);

    buffers.topk_weights = weights;
    buffers.topk_ids = ids;
    return buffers;
}

static void assert_right(const char *name, const char *whose, const struct golden *golden, float *weights, int32_t *ids,
                         enum gate_tie_rule ties)
{
    const struct gate_buffers buffers = buffers_of(golden, weights, ids);
    struct error error;

    if (!gate_check(&golden->options.problem, &buffers, ties, &error))
        fail_msg("%s: %s answer was refused: %s", name, whose, error.text);
}

/** Counts the rows whose ids equal PyTorch's, in the same order. */
static int64_t same_rows(const struct golden *golden, const int32_t *ids)
{
    const struct gate_problem *problem = &golden->options.problem;
    int64_t same = 0;

    for (int64_t row = 0; row < problem->num_tokens; row++)
        same += memcmp(ids + row * problem->topk, (const int32_t *)golden->ids.data + row * problem->topk,
                       problem->topk * sizeof *ids) == 0;
    return same;
}

static float largest_difference(const struct golden *golden, const float *weights)
{
    const float *golden_weights = golden->weights.data;
    float largest = 0.0f;

    for (size_t i = 0; i < gate_num_ids(&golden->options.problem); i++)
        largest = fmaxf(largest, fabsf(weights[i] - golden_weights[i]) / fmaxf(fabsf(golden_weights[i]), 1e-6f));
    return largest;
}

static void check_case(const char *name)
{
    struct golden golden;
    const struct gate_problem *problem = &golden.options.problem;
    float *weights;
    int32_t *ids;

    load_case(name, &golden);
    weights = malloc(gate_num_ids(problem) * sizeof *weights);
    ids = malloc(gate_num_ids(problem) * sizeof *ids);
    assert_non_null(weights);
    assert_non_null(ids);

    const struct gate_buffers buffers = buffers_of(&golden, weights, ids);

    assert_right(name, "PyTorch's", &golden, golden.weights.data, golden.ids.data, GATE_TIES_EITHER_WINS);
    assert_true(gate_reference_compute(problem, &buffers, &(struct error){0}));
    assert_right(name, "the reference's", &golden, weights, ids, GATE_TIES_LOWER_WINS);
    assert_true(gate_compute_on_host(problem, &buffers));
    assert_right(name, "chapter 01's", &golden, weights, ids, GATE_TIES_LOWER_WINS);
    if (problem->dtype == DTYPE_F32) { /* 16-bit scores tie, and PyTorch may choose any of the tied experts */
        assert_int_equal(same_rows(&golden, ids), problem->num_tokens);
        assert_true(largest_difference(&golden, weights) < 2e-6f);
    }
    free(weights);
    free(ids);
    free_case(&golden);
}

/** Checks every case of a type, and that there are `expected` cases. */
static void check_type(const char *type, int expected)
{
    char command[256];
    DIR *directory;
    int cases = 0;

    snprintf(command, sizeof command, "tar -xf tests/golden/%s.tar -C %s", type, folder);
    assert_int_equal(system(command), 0);
    assert_non_null(directory = opendir(folder));
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (strncmp(entry->d_name, type, strlen(type)) == 0) {
            check_case(entry->d_name);
            cases++;
        }
    closedir(directory);
    assert_int_equal(cases, expected);
}

static void f32_agrees_with_pytorch(void **state)
{
    (void)state;
    check_type("f32", 20);
}

static void f16_agrees_with_pytorch(void **state)
{
    (void)state;
    check_type("f16", 24);
}

static void bf16_agrees_with_pytorch(void **state)
{
    (void)state;
    check_type("bf16", 24);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_agrees_with_pytorch),
        cmocka_unit_test(f16_agrees_with_pytorch),
        cmocka_unit_test(bf16_agrees_with_pytorch),
    };
    return cmocka_run_group_tests_name("gate_golden", tests, make_folder, remove_folder);
}
