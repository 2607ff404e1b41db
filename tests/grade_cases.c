/**
 * @file grade_cases.c
 * @brief A graded program for test_grade.sh: each case uses one part of grade.h and has a known result.
 *
 * The "learner's" code is chapter 02's gate, chapter 07's align or a deliberately wrong function in this file.
 */
#include "../exercises/grade/grade.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* --- the gate and align ------------------------------------------------------------------------------------------- */

static const struct gate_problem gate_problem = {
    .num_tokens = 3,
    .num_experts = 64,
    .num_expert_group = 4,
    .topk_group = 2,
    .topk = 6,
    .has_bias = true,
    .renormalize = true,
    .routed_scaling_factor = 2.5f,
};

static const struct align_problem align_problem = {.numel = 100, .num_experts = 8, .block_size = 16};

static const struct align_implementation align_implementation = {
    .workspace_bytes = align_offsets_bytes,
    .launch = align_launch,
};

static cudaError_t gate_nothing(const struct gate_problem *problem, const struct gate_buffers *buffers,
                                cudaStream_t stream)
{
    (void)problem, (void)buffers, (void)stream;
    return cudaSuccess;
}

static cudaError_t gate_too_large(const struct gate_problem *problem, const struct gate_buffers *buffers,
                                  cudaStream_t stream)
{
    (void)problem, (void)buffers, (void)stream;
    return cudaErrorInvalidConfiguration;
}

static cudaError_t align_nothing(const struct align_problem *problem, const struct align_buffers *buffers,
                                 cudaStream_t stream)
{
    (void)problem, (void)buffers, (void)stream;
    return cudaSuccess;
}

static void gate_right(struct grade_context *grade)
{
    for (int dist = 0; dist < NUM_GATE_DISTS; dist++)
        grade_check_gate(grade, gate_launch, &gate_problem, (enum gate_dist)dist);
    grade_report_measurement(grade, "launches", (double)grade_last_launch_counter(grade, "launches"));
    grade_report_measurement(grade, "barriers", (double)grade_last_launch_counter(grade, "block_barriers"));
    grade_report_measurement(grade, "gate_kernel",
                             (double)grade_last_launch_kernel_counter(grade, "gate_kernel", "block_barriers"));
    grade_report_measurement(grade, "other_kernel",
                             (double)grade_last_launch_kernel_counter(grade, "other_kernel", "block_barriers"));
}

static void gate_wrong(struct grade_context *grade)
{
    grade_check_gate(grade, gate_nothing, &gate_problem, GATE_DIST_NORMAL);
}

static void gate_refused(struct grade_context *grade)
{
    grade_check_gate(grade, gate_too_large, &gate_problem, GATE_DIST_NORMAL);
}

static void gate_nonsense(struct grade_context *grade)
{
    struct gate_problem problem = gate_problem;

    problem.num_expert_group = 5;
    grade_check_gate(grade, gate_launch, &problem, GATE_DIST_NORMAL);
}

static void align_right(struct grade_context *grade)
{
    for (int dist = 0; dist < NUM_ALIGN_DISTS; dist++)
        grade_check_align(
            grade, &align_implementation, &align_problem,
            &(struct grade_id_options){
                .dist = (enum align_dist)dist, .topk = 4, .has_expert_map = dist % 2, .misalign_words = dist % 4});
    grade_report_measurement(grade, "launches", (double)grade_last_launch_counter(grade, "launches"));
}

static void align_wrong(struct grade_context *grade)
{
    struct align_implementation implementation = align_implementation;

    implementation.launch = align_nothing;
    grade_check_align(grade, &implementation, &align_problem,
                      &(struct grade_id_options){.dist = ALIGN_DIST_ZIPF, .has_expert_map = true});
}

/* --- a small operator --------------------------------------------------------------------------------------------- */

enum { COUNT = 4 };

static const int32_t numbers[COUNT] = {3, 1, 4, 1};

/** Makes an output and writes its first `count` numbers, as a kernel would. */
static int32_t *write_numbers(struct grade_context *grade, int count)
{
    int32_t *const output = grade_device_output(grade, "numbers", sizeof numbers);

    cudaMemcpy(output, numbers, (size_t)count * sizeof *numbers, cudaMemcpyHostToDevice);
    GRADE_LAUNCH_AND_CHECK(grade, cudaSuccess);
    return output;
}

static void all_equal(struct grade_context *grade)
{
    const float floats[] = {NAN, 1.0f, -INFINITY};
    float *const device = grade_device_inout(grade, "floats", floats, sizeof floats);

    grade_check_equal_ints(grade, "numbers", "slot", numbers, write_numbers(grade, COUNT), COUNT);
    grade_check_equal_floats(grade, "floats", "slot", floats, device, 3);
}

static void one_unwritten(struct grade_context *grade)
{
    grade_describe_input(grade, "%d numbers", COUNT);
    grade_check_equal_ints(grade, "numbers", "slot", numbers, write_numbers(grade, 3), COUNT);
}

static void one_differs(struct grade_context *grade)
{
    const int32_t expected[COUNT] = {3, 1, 5, 1};

    grade_check_equal_ints(grade, "numbers", "slot", expected, write_numbers(grade, COUNT), COUNT);
}

static void float_differs(struct grade_context *grade)
{
    const float floats[] = {1.0f, 2.0f}, expected[] = {1.0f, NAN};

    grade_check_equal_floats(grade, "floats", "slot", expected,
                             grade_device_inout(grade, "floats", floats, sizeof floats), 2);
}

static void past_the_end(struct grade_context *grade)
{
    char *const output = grade_device_output(grade, "numbers", sizeof numbers);

    cudaMemset(output + sizeof numbers, 0, 4);
    GRADE_LAUNCH_AND_CHECK(grade, cudaSuccess);
}

static void input_written(struct grade_context *grade)
{
    void *const input = grade_device_input(grade, "numbers", numbers, sizeof numbers);

    cudaMemset(input, 0, 1);
    GRADE_LAUNCH_AND_CHECK(grade, cudaSuccess);
}

static void not_launched(struct grade_context *grade)
{
    GRADE_LAUNCH_AND_CHECK(grade, cudaErrorInvalidConfiguration);
}

static void unknown_array(struct grade_context *grade)
{
    grade_download(grade, numbers);
}

static void unknown_counter(struct grade_context *grade)
{
    GRADE_LAUNCH_AND_CHECK(grade, cudaSuccess);
    grade_last_launch_counter(grade, "shuffels");
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static void within_budget(struct grade_context *grade)
{
    grade_check_at_most(grade, "barriers", 3, 3);
}

static void over_budget(struct grade_context *grade)
{
    grade_check_at_most(grade, "barriers", 4, 3);
}

static void foreseen(struct grade_context *grade)
{
    grade_check_prediction(grade, "shuffles", 10, 10);
}

static void unforeseen(struct grade_context *grade)
{
    grade_check_prediction(grade, "shuffles", -1, 10);
}

/** Records a random number, which depends only on the seed and the case. */
static void random_numbers(struct grade_context *grade)
{
    grade_report_measurement(grade, "first", (double)random_below(grade_random(grade), 1000000));
}

static void other_numbers(struct grade_context *grade)
{
    random_numbers(grade);
}

/* --- a separate process ------------------------------------------------------------------------------------------- */

static int remembered;

static cudaError_t remember(void)
{
    remembered = 1;
    return cudaSuccess;
}

static cudaError_t end_it(void)
{
    _exit(0);
}

static void nothing_stays(struct grade_context *grade)
{
    int asked = 0;

    GRADE_LAUNCH_AND_CHECK(grade, remember());
    GRADE_CALL_AND_FETCH_RESULT(grade, &asked, remembered + 41);
    if (remembered || asked != 41)
        grade_fail(grade, "it was remembered");
}

static void ends_early(struct grade_context *grade)
{
    GRADE_LAUNCH_AND_CHECK(grade, end_it());
}

static void message_with_breaks(struct grade_context *grade)
{
    grade_fail(grade, "one\ttwo\nthree");
}

static void endless(struct grade_context *grade)
{
    GRADE_LAUNCH_AND_CHECK(grade, cudaErrorLaunchTimeout);
}

static void after_endless(struct grade_context *grade)
{
    (void)grade;
}

const struct grade_case grade_cases[] = {
    {"gate_right", gate_right, false},
    {"gate_wrong", gate_wrong, false},
    {"gate_refused", gate_refused, false},
    {"gate_nonsense", gate_nonsense, false},
    {"align_right", align_right, false},
    {"align_wrong", align_wrong, false},
    {"all_equal", all_equal, false},
    {"one_unwritten", one_unwritten, false},
    {"one_differs", one_differs, false},
    {"float_differs", float_differs, false},
    {"past_the_end", past_the_end, false},
    {"input_written", input_written, false},
    {"not_launched", not_launched, false},
    {"unknown_array", unknown_array, false},
    {"unknown_counter", unknown_counter, true},
    {"within_budget", within_budget, true},
    {"over_budget", over_budget, true},
    {"foreseen", foreseen, true},
    {"unforeseen", unforeseen, true},
    {"random_numbers", random_numbers, true},
    {"other_numbers", other_numbers, true},
    {"nothing_stays", nothing_stays, true},
    {"ends_early", ends_early, true},
    {"message_with_breaks", message_with_breaks, false},
    {"endless", endless, false},
    {"after_endless", after_endless, false},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
