/** @file grade_operators.c  Grades a complete gate or align: generates the input and checks one run. */
#include "grade.h"
#include "grade_state.h"
#include "harness/align/problem.h"
#include "harness/align/run.h"
#include "harness/gate/problem.h"
#include "harness/gate/run.h"

#include <string.h>

/* A launch function has no context parameter, so these variables are global; only one case runs at a time. */
static grade_gate_launch_function *gate_launch_now;
static cudaError_t (*align_launch_now)(const struct align_problem *problem, const struct align_buffers *buffers,
                                       cudaStream_t stream);
static cudaError_t status_now;
static struct grade_context *grade_now;

/**
 * Returns the launch's status, or cudaErrorLaunchFailure if the process died. If it died, settle() ends the case, after
 * the run has freed its memory.
 */
static cudaError_t launched(void)
{
    return status_now = grade_now->child_abnormal_end[0] ? cudaErrorLaunchFailure : grade_now->child_status;
}

static cudaError_t launch_gate(const struct gate_problem *problem, const struct gate_buffers *buffers,
                               cudaStream_t stream)
{
    if (grade_fork_and_is_learner_process(grade_now))
        grade_child_store_status(grade_now, gate_launch_now(problem, buffers, stream));
    return launched();
}

static cudaError_t launch_align(const struct align_problem *problem, const struct align_buffers *buffers,
                                cudaStream_t stream)
{
    if (grade_fork_and_is_learner_process(grade_now))
        grade_child_store_status(grade_now, align_launch_now(problem, buffers, stream));
    return launched();
}

/** Ends the case unless the run was verified. The run must have freed its memory. */
static void settle(struct grade_context *grade, const struct error *error)
{
    grade_now = NULL;
    grade_fetch_child_status(grade);
    if (error->exit_code == RUN_VERIFIED)
        return;
    if (error->exit_code != RUN_WRONG)
        grade_end_case_ungraded(grade, error);
    if (status_now != cudaSuccess)
        grade_end_case_with_launch_failure(grade, status_now, error->text);
    grade_fail(grade, "%s", error->text);
}

/* --- gate --------------------------------------------------------------------------------------------------------- */

static void run_gate(const struct gate_problem *problem, enum gate_dist dist, uint64_t seed, struct error *error)
{
    const struct gate_implementation implementation = {.name = "exercise", .launch = launch_gate};
    const struct checked_launch launch = gate_make_checked_launch(problem, &implementation);
    struct tensors tensors;

    if (!gate_tensors_allocate_host(problem, &tensors, error))
        return;
    gate_generate_logits(problem, dist, seed, tensors.tensor[GATE_TENSOR_GATING_OUTPUT].host.data);
    if (problem->has_bias)
        gate_generate_bias(problem, dist, seed, tensors.tensor[GATE_TENSOR_CORRECTION_BIAS].host.data);
    checked_launch_run(&launch, &tensors, error);
    tensors_free(&tensors);
}

void grade_check_gate(struct grade_context *grade, grade_gate_launch_function *launch,
                      const struct gate_problem *problem, enum gate_dist dist)
{
    const uint64_t seed = random_bits(&grade->random);
    char described[GRADE_INPUT_DESCRIPTION_SIZE - 40];
    struct error error = {0};

    if (!gate_problem_check(problem, &error))
        grade_end_case_ungraded(grade, &error);
    gate_problem_describe(problem, described, sizeof described);
    grade_describe_input(grade, "%s; logits: %s", described, gate_dist_names[dist]);
    gate_launch_now = launch;
    status_now = cudaSuccess;
    grade_now = grade;
    run_gate(problem, dist, seed, &error);
    settle(grade, &error);
}

/* --- align -------------------------------------------------------------------------------------------------------- */

static void run_align(const struct align_problem *problem, const struct align_implementation *implementation,
                      const struct grade_id_options *ids, uint64_t seed, struct error *error)
{
    const struct checked_launch launch = align_make_checked_launch(problem, implementation);
    struct tensors tensors;

    if (!align_tensors_allocate_host(problem, implementation, ids->has_expert_map, ids->misalign_words, &tensors,
                                     error))
        return;
    if (ids->has_expert_map)
        align_generate_half_local_expert_map(problem->num_experts, seed,
                                             tensors.tensor[ALIGN_TENSOR_EXPERT_MAP].host.data);
    if (align_generate_ids(problem, ids->topk ? ids->topk : 8, ids->dist, seed,
                           tensors.tensor[ALIGN_TENSOR_TOPK_IDS].host.data, error))
        checked_launch_run(&launch, &tensors, error);
    tensors_free(&tensors);
}

void grade_check_align(struct grade_context *grade, const struct align_implementation *implementation,
                       const struct align_problem *problem, const struct grade_id_options *ids)
{
    const uint64_t seed = random_bits(&grade->random);
    struct align_problem whole = *problem;
    struct align_implementation watched = *implementation;
    char described[GRADE_INPUT_DESCRIPTION_SIZE - 60];
    struct error error = {0};

    if (!align_shape_check(&whole, &error))
        grade_end_case_ungraded(grade, &error);
    if (whole.capacity == 0)
        whole.capacity = implementation->capacity ? implementation->capacity(&whole)
                                                  : align_worst_case_capacity(&whole);
    if (!align_problem_check(&whole, &error))
        grade_end_case_ungraded(grade, &error);
    align_problem_describe(&whole, described, sizeof described);
    grade_describe_input(grade, "%s; ids: %s%s", described, align_dist_names[ids->dist],
                         ids->has_expert_map ? ", with a map" : "");
    align_launch_now = implementation->launch;
    watched.launch = launch_align;
    status_now = cudaSuccess;
    grade_now = grade;
    run_align(&whole, &watched, ids, seed, &error);
    settle(grade, &error);
}
