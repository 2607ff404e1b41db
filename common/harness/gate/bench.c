#include "harness/gate/bench.h"

#include "harness/core/bench.h"
#include "harness/gate/load.h"
#include "harness/gate/problem.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <time.h>

enum { HOST_REPEATS = 25 };

/* --- timing on the host ------------------------------------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/** Median, p10 and p90 of repeated calls; short ones are repeated until a batch is long enough to time. */
static bool time_on_host(const struct gate_problem *problem, const struct gate_step *step,
                         const struct gate_buffers *buffers, struct timing *timing)
{
    double times[HOST_REPEATS];
    int batch = 1;

    for (double took = 0.0; took < 2000.0 && batch < 100000; batch *= 2) {
        const double start = now_us();

        for (int i = 0; i < batch; i++)
            if (!step->compute(problem, buffers))
                return false;
        took = now_us() - start;
    }
    batch /= 2;
    for (int repeat = 0; repeat < HOST_REPEATS; repeat++) {
        const double start = now_us();

        for (int i = 0; i < batch; i++)
            step->compute(problem, buffers);
        times[repeat] = (now_us() - start) / batch;
    }
    qsort(times, HOST_REPEATS, sizeof *times, compare_doubles);
    *timing = (struct timing){times[HOST_REPEATS / 2], times[HOST_REPEATS / 10], times[HOST_REPEATS * 9 / 10]};
    return true;
}

/* --- timing on the device ----------------------------------------------------------------------------------------- */

struct launch_context {
    const struct gate_problem *problem;
    const struct gate_step *step;
    struct gate_buffers buffers;
};

static cudaError_t launch_on(const void *context, const void *gating_output, cudaStream_t stream)
{
    const struct launch_context *launch = context;
    struct gate_buffers buffers = launch->buffers;

    buffers.gating_output = gating_output;
    return launch->step->launch(launch->problem, &buffers, stream);
}

static enum run_result time_on_device(const struct bench *bench, const struct gate_problem *problem,
                                      const struct gate_step *step, const struct gate_input *input,
                                      const struct gate_device *device, struct gate_output *output,
                                      struct bench_row *row, struct error *error)
{
    const struct launch_context context = {problem, step, gate_device_buffers(problem, device)};
    const struct bench_launch launch = {launch_on, &context, &device->gating_output};

    if (!gate_device_poison(device, error) || !bench_time(bench, &launch, &row->here, error) ||
        !bench_time_rotated(bench, &launch, &row->rotated, error))
        return RUN_NO_DEVICE;
    return gate_device_verify(problem, input, device, output, error);
}

/** The chapter before, on the same input: device or host, whichever it is. Missing times are not an error. */
static void time_before(const struct bench *bench, const struct gate_problem *problem, const struct gate_step *before,
                        const struct gate_input *input, const struct gate_device *device, struct gate_output *output,
                        struct bench_row *row)
{
    const struct gate_buffers host = {input->gating_output, input->correction_bias, output->topk_weights,
                                      output->topk_ids};
    const struct launch_context context = {problem, before, gate_device_buffers(problem, device)};
    const struct bench_launch launch = {launch_on, &context, &device->gating_output};
    struct error ignored;

    if (before->unsupported_reason && before->unsupported_reason(problem))
        return;
    if (before->compute)
        time_on_host(problem, before, &host, &row->before);
    else if (before->launch && !bench_time(bench, &launch, &row->before, &ignored))
        row->before = (struct timing){0.0, 0.0, 0.0};
}

static double bytes_to_move(const struct gate_problem *problem)
{
    return (double)gate_logits_bytes(problem) + (double)gate_bias_bytes(problem) +
           (double)gate_choices(problem) * (sizeof(float) + sizeof(int32_t));
}

/* --- the sweep ---------------------------------------------------------------------------------------------------- */

/** What every size is timed for. */
struct sweep {
    const struct gate_chapter *chapter;
    struct gate_options *options;
};

static enum run_result bench_on_device(const struct bench *bench, const struct sweep *sweep,
                                       const struct gate_input *input, struct gate_output *output,
                                       struct bench_row *row, struct error *error)
{
    const struct gate_problem *problem = &sweep->options->problem;
    struct gate_device device;
    enum run_result result;

    if (!gate_device_start(problem, input, &device, error))
        return RUN_NO_DEVICE;
    result = time_on_device(bench, problem, &sweep->chapter->step, input, &device, output, row, error);
    if (result == RUN_VERIFIED)
        time_before(bench, problem, &sweep->chapter->before, input, &device, output, row);
    gate_device_end(&device);
    row->floor_us = bench_floor_us(bench, bytes_to_move(problem));
    return result;
}

static enum run_result bench_on_host(const struct sweep *sweep, const struct gate_input *input,
                                     struct gate_output *output, struct bench_row *row)
{
    const struct gate_buffers buffers = {input->gating_output, input->correction_bias, output->topk_weights,
                                         output->topk_ids};

    return time_on_host(&sweep->options->problem, &sweep->chapter->step, &buffers, &row->here) ? RUN_VERIFIED
                                                                                               : RUN_NO_DEVICE;
}

static enum run_result bench_input(const struct bench *bench, const struct sweep *sweep, const struct gate_input *input,
                                   struct bench_row *row, struct error *error)
{
    const struct gate_problem *problem = &sweep->options->problem;
    struct gate_output output;
    enum run_result result;

    if (!gate_output_allocate(problem, &output, error))
        return RUN_NO_DEVICE;
    result = gate_run(problem, &sweep->chapter->step, input, &output, error);
    if (result == RUN_VERIFIED)
        result = bench->on_host ? bench_on_host(sweep, input, &output, row)
                                : bench_on_device(bench, sweep, input, &output, row, error);
    gate_output_free(&output);
    return result;
}

static enum run_result bench_size_of(const struct bench *bench, void *context, int64_t num_tokens,
                                     struct bench_row *row, struct error *error)
{
    const struct sweep *sweep = context;
    struct gate_input input;
    enum run_result result;

    sweep->options->problem.num_tokens = num_tokens;
    sweep->options->num_tokens_given = true;
    result = gate_load(sweep->options, &sweep->chapter->step, &input, error);
    if (result != RUN_READY)
        return result;
    result = bench_input(bench, sweep, &input, row, error);
    gate_input_free(&input);
    return result;
}

/** The problem as a JSON object, but for the number of tokens, which every row has. */
static void problem_json(const struct gate_problem *problem, char *text, size_t size)
{
    snprintf(text, size,
             "{\"num_experts\": %d, \"num_expert_group\": %d, \"topk_group\": %d, \"topk\": %d, \"dtype\": \"%s\", "
             "\"score\": \"%s\", \"bias\": \"%s\"}",
             problem->num_experts, problem->num_expert_group, problem->topk_group, problem->topk,
             dtype_name(problem->dtype), gate_score_name(problem->score),
             problem->has_bias ? dtype_name(problem->bias_dtype) : "none");
}

enum run_result gate_bench(const struct gate_chapter *chapter, struct gate_options *options,
                           const struct backend *backend, const char *program, FILE *stream, struct error *error)
{
    const bool one = options->num_tokens_given;
    struct sweep sweep = {chapter, options};
    struct bench bench = {
        .chapter = chapter->step.name,
        .before = chapter->before.name,
        .on_host = chapter->step.compute != NULL,
        .backend = backend,
        .options = &options->program,
        .distribution = options->source == GATE_SOURCE_GENERATED ? gate_dist_name(options->dist) : "router",
        .host_threads = chapter->step.compute || chapter->before.compute ? omp_get_max_threads() : 0,
    };
    char command[PROGRAM_COMMAND_SIZE], describe[256], problem[256];
    enum run_result result = bench_measure_floor(&bench, error);

    if (result == RUN_READY)
        result = bench_sweep(&bench, one ? options->problem.num_tokens : -1, bench_size_of, &sweep, error);
    if (result != RUN_VERIFIED)
        return result;
    options->num_tokens_given = one;
    gate_options_command(options, program, command, sizeof command);
    gate_problem_describe(&options->problem, describe, sizeof describe);
    problem_json(&options->problem, problem, sizeof problem);
    bench_write(&bench, describe, problem, command, stream);
    return RUN_VERIFIED;
}
