#include "harness/align/bench.h"

#include "harness/align/load.h"
#include "harness/align/problem.h"
#include "harness/align/run.h"
#include "harness/core/bench.h"

/** What every size is timed for. */
struct sweep {
    const struct align_chapter *chapter;
    struct align_options *options;
};

/** One step's launch over one problem. */
struct launch_context {
    const struct align_problem *problem;
    const struct align_step *step;
    struct align_buffers buffers;
};

static cudaError_t launch_on(const void *context, const void *topk_ids, cudaStream_t stream)
{
    const struct launch_context *launch = context;
    struct align_buffers buffers = launch->buffers;

    buffers.topk_ids = topk_ids;
    return launch->step->launch(launch->problem, &buffers, stream);
}

/** What must move: the ids once, and every output once. */
static double bytes_to_move(const struct align_problem *problem, bool has_map)
{
    return (double)align_topk_ids_bytes(problem) + (has_map ? (double)align_expert_map_bytes(problem) : 0.0) +
           (double)align_sorted_token_ids_bytes(problem) + (double)align_expert_ids_bytes(problem) + sizeof(int32_t);
}

/** Times a step in memory of its own; `rotated` may be NULL. What it left there is checked afterwards. */
static enum run_result time_step(const struct bench *bench, const struct align_problem *problem,
                                 const struct align_step *step, int offset, const struct align_input *input,
                                 const struct align_output *output, struct timing *here, struct timing *rotated,
                                 struct error *error)
{
    struct align_device device;
    enum run_result result = RUN_NO_DEVICE;

    if (!align_device_start(problem, step, offset, input, &device, error))
        return RUN_NO_DEVICE;

    const struct launch_context context = {problem, step, align_device_buffers(input, &device)};
    const struct bench_launch launch = {launch_on, &context, &device.topk_ids};

    if (align_device_poison(&device, error) && bench_time(bench, &launch, here, error) &&
        (!rotated || bench_time_rotated(bench, &launch, rotated, error)))
        result = align_device_verify(problem, step, input, &device, output, error);
    align_device_end(&device);
    return result;
}

/** The chapter before, with the capacity and the workspace that it would get. Missing times are not an error. */
static void time_before(const struct bench *bench, const struct sweep *sweep, const struct align_input *input,
                        struct bench_row *row)
{
    const struct align_step *before = &sweep->chapter->before;
    struct align_problem problem = sweep->options->problem;
    struct align_output output;
    struct error ignored;

    if (!before->launch)
        return;
    if (!sweep->options->capacity_given)
        problem.capacity = before->capacity(&problem);
    if (!align_problem_check(&problem, &ignored) ||
        (before->unsupported_reason && before->unsupported_reason(&problem)) ||
        !align_output_allocate(&problem, &output, &ignored))
        return;
    if (time_step(bench, &problem, before, sweep->options->offset, input, &output, &row->before, NULL, &ignored) !=
        RUN_VERIFIED)
        row->before = (struct timing){0.0, 0.0, 0.0};
    align_output_free(&output);
}

static enum run_result time_operands(const struct bench *bench, const struct sweep *sweep,
                                     const struct align_input *input, struct bench_row *row, struct error *error)
{
    const struct align_problem *problem = &sweep->options->problem;
    const struct align_step *step = &sweep->chapter->step;
    const int offset = sweep->options->offset;
    struct align_output output;
    enum run_result result;

    if (!align_output_allocate(problem, &output, error))
        return RUN_NO_DEVICE;
    result = align_run(problem, step, offset, input, &output, error);
    if (result == RUN_VERIFIED)
        result = time_step(bench, problem, step, offset, input, &output, &row->here, &row->rotated, error);
    align_output_free(&output);
    if (result == RUN_VERIFIED)
        time_before(bench, sweep, input, row);
    row->floor_us = bench_floor_us(bench, bytes_to_move(problem, input->expert_map != NULL));
    return result;
}

static enum run_result time_size(const struct bench *bench, void *context, int64_t num_tokens, struct bench_row *row,
                                 struct error *error)
{
    const struct sweep *sweep = context;
    struct align_operands operands;
    enum run_result result;

    sweep->options->num_tokens = num_tokens;
    sweep->options->num_tokens_given = true;
    result = align_load(sweep->options, sweep->chapter, &operands, error);
    if (result != RUN_READY)
        return result;
    result = time_operands(bench, sweep, &operands.input, row, error);
    row->num_tokens = sweep->options->num_tokens;
    align_operands_free(&operands);
    return result;
}

/** The problem as a JSON object, but for what changes from row to row. */
static void problem_json(const struct align_options *options, char *text, size_t size)
{
    const struct align_problem *problem = &options->problem;

    snprintf(text, size,
             "{\"num_experts\": %d, \"topk\": %d, \"block_size\": %d, \"ids\": \"%s\", \"expert_map\": %s, "
             "\"offset\": %d, \"kernel\": \"%s\"}",
             problem->num_experts, options->topk, problem->block_size, align_ids_name(problem),
             options->map == ALIGN_MAP_NONE ? "false" : "true", options->offset, align_kernel_name(problem->kernel));
}

enum run_result align_bench(const struct align_chapter *chapter, struct align_options *options,
                            const struct backend *backend, const char *program, FILE *stream, struct error *error)
{
    const bool given = options->num_tokens_given, one = given || options->source == ALIGN_SOURCE_COUNTS;
    struct sweep sweep = {chapter, options};
    struct bench bench = {
        .chapter = chapter->step.name,
        .before = chapter->before.name,
        .backend = backend,
        .options = &options->program,
        .distribution = align_source_name(options),
    };
    char command[PROGRAM_COMMAND_SIZE], describe[256], problem[256];
    enum run_result result = bench_measure_floor(&bench, error);

    if (result == RUN_READY)
        result = bench_sweep(&bench, one ? options->num_tokens : -1, time_size, &sweep, error);
    if (result != RUN_VERIFIED)
        return result;
    options->num_tokens_given = given;
    align_options_command(options, program, command, sizeof command);
    align_problem_describe(&options->problem, describe, sizeof describe);
    problem_json(options, problem, sizeof problem);
    bench_write(&bench, describe, problem, command, stream);
    return RUN_VERIFIED;
}
