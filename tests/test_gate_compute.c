/** @file test_gate_compute.c  Tests chapter 01 with the checker on random shapes and types and every distribution. */
#include "base/random.h"
#include "harness/gate/input.h"
#include "harness/gate/problem.h"
#include "harness/gate/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct gate_problem random_problem(struct random *random)
{
    const int experts_per_group = 1 + (int)random_below(random, 40), groups = 1 + (int)random_below(random, 20);
    const int topk_group = 1 + (int)random_below(random, groups), held = topk_group * experts_per_group;
    struct gate_problem problem = {
        .num_tokens = random_below(random, 40),
        .num_experts = experts_per_group * groups,
        .num_expert_group = groups,
        .topk_group = topk_group,
        .topk = 1 + (int)random_below(random, held < 16 ? held : 16),
        .dtype = (enum dtype)random_below(random, 3),
        .score = (enum gate_score)random_below(random, 3),
        .has_bias = experts_per_group > 1 && random_below(random, 2),
        .renormalize = random_below(random, 2),
        .routed_scaling_factor = 2.5f,
    };

    problem.bias_dtype = random_below(random, 2) ? DTYPE_F32 : problem.dtype;
    return problem;
}

static void check_problem(const struct gate_problem *problem, enum gate_dist dist, uint64_t seed)
{
    const struct gate_implementation implementation = {.name = "01", .compute_on_host = gate_compute_on_host};
    const struct checked_launch launch = gate_make_checked_launch(problem, &implementation);
    struct tensors tensors;
    struct error error = {0};

    assert_true(gate_problem_check(problem, &error));
    assert_true(gate_tensors_allocate_host(problem, &tensors, &error));
    gate_generate_logits(problem, dist, seed, tensors.tensor[GATE_TENSOR_GATING_OUTPUT].host.data);
    if (problem->has_bias)
        gate_generate_bias(problem, dist, seed, tensors.tensor[GATE_TENSOR_CORRECTION_BIAS].host.data);
    if (!checked_launch_run(&launch, &tensors, &error)) {
        char shape[256];

        gate_problem_describe(problem, shape, sizeof shape);
        fail_msg("%s, %s: %s", shape, gate_dist_names[dist], error.text);
    }
    tensors_free(&tensors);
}

static void random_problems_are_right(void **state)
{
    struct random random = random_seed(42, 1);

    (void)state;
    for (int i = 0; i < 3000; i++) {
        const struct gate_problem problem = random_problem(&random);

        check_problem(&problem, (enum gate_dist)(i % NUM_GATE_DISTS), (uint64_t)i);
    }
}

static void many_tokens_are_shared_out_among_threads(void **state)
{
    struct random random = random_seed(43, 1);
    struct gate_problem problem = random_problem(&random);

    (void)state;
    for (problem.num_tokens = 63; problem.num_tokens < 3000; problem.num_tokens = problem.num_tokens * 2 + 1)
        check_problem(&problem, GATE_DIST_NORMAL, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems_are_right),
        cmocka_unit_test(many_tokens_are_shared_out_among_threads),
    };
    return cmocka_run_group_tests_name("gate_compute", tests, NULL, NULL);
}
