#include "harness/gate_bench.h"

#include "harness/gate_load.h"
#include "harness/gate_problem.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** One line of the report. Times in microseconds; a median of 0 says not measured. */
struct bench_row {
    int64_t num_tokens;
    struct timing here, rotated, before;
    double floor_us;
};

enum { MOST_ROWS = 24, HOST_REPEATS = 25, MOST_COPIES = 64 };

/* Where rotated inputs begin to come from memory: more than the L2 of any GPU sold. */
static const size_t ROTATED_BYTES = (size_t)160 << 20;

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

/** A launch over one input, or over copies of it in turn. */
struct launch_context {
    const struct gate_problem *problem;
    const struct gate_step *step;
    struct gate_buffers buffers;
    void *copies[MOST_COPIES];
    int num_copies;
};

static cudaError_t launch_in_turn(void *context, int turn, cudaStream_t stream)
{
    const struct launch_context *launch = context;
    struct gate_buffers buffers = launch->buffers;

    if (launch->num_copies > 0)
        buffers.gating_output = launch->copies[turn % launch->num_copies];
    return launch->step->launch(launch->problem, &buffers, stream);
}

static void free_copies(struct launch_context *launch)
{
    while (launch->num_copies > 0)
        cudaFree(launch->copies[--launch->num_copies]);
}

/** Makes copies of the logits until together they exceed every cache. False: they never would, or memory is short. */
static bool make_copies(struct launch_context *launch, const struct gate_device *device)
{
    const size_t bytes = device->gating_output.bytes;
    const size_t wanted = bytes ? ROTATED_BYTES / bytes + 1 : MOST_COPIES + 1;

    if (wanted > MOST_COPIES)
        return false;
    for (size_t i = 0; i < wanted; i++) {
        if (cudaMalloc(&launch->copies[i], bytes) != cudaSuccess)
            break;
        launch->num_copies++;
        if (cudaMemcpy(launch->copies[i], device->gating_output.data, bytes, cudaMemcpyDeviceToDevice) != cudaSuccess)
            break;
    }
    if (launch->num_copies == (int)wanted)
        return true;
    cudaGetLastError();
    free_copies(launch);
    return false;
}

static enum run_result time_on_device(const struct gate_options *options, const struct gate_step *step,
                                      const struct gate_input *input, const struct gate_device *device,
                                      struct gate_output *output, struct bench_row *row, struct error *error)
{
    const struct gate_problem *problem = &options->problem;
    const enum backend_cache cache = options->cold ? BACKEND_COLD : BACKEND_WARM;
    struct launch_context launch = {problem, step, gate_device_buffers(problem, device), {0}, 0};
    bool timed = gate_device_poison(device, error) && backend_time(launch_in_turn, &launch, cache, &row->here, error);

    if (timed && !options->cold && make_copies(&launch, device)) {
        timed = backend_time(launch_in_turn, &launch, BACKEND_WARM, &row->rotated, error);
        free_copies(&launch);
    }
    return timed ? gate_device_verify(problem, input, device, output, error) : RUN_NO_DEVICE;
}

/** The chapter before, on the same input: device or host, whichever it is. Missing times are not an error. */
static void time_before(const struct gate_options *options, const struct gate_step *before,
                        const struct gate_input *input, const struct gate_device *device, struct gate_output *output,
                        struct bench_row *row)
{
    const struct gate_problem *problem = &options->problem;
    const struct gate_buffers host = {input->gating_output, input->correction_bias, output->topk_weights,
                                      output->topk_ids};
    struct launch_context launch = {problem, before, {0}, {0}, 0};
    struct error ignored;

    if (before->supports && before->supports(problem))
        return;
    if (before->compute) {
        time_on_host(problem, before, &host, &row->before);
    } else if (before->launch) {
        launch.buffers = gate_device_buffers(problem, device);
        if (!backend_time(launch_in_turn, &launch, options->cold ? BACKEND_COLD : BACKEND_WARM, &row->before, &ignored))
            row->before = (struct timing){0.0, 0.0, 0.0};
    }
}

/** The least time the bytes that must move take, or an empty kernel's, whichever is longer. */
static double floor_us(const struct gate_problem *problem, const struct floor_figures *figures)
{
    const double bytes = (double)gate_logits_bytes(problem) + (double)gate_bias_bytes(problem) +
                         (double)gate_choices(problem) * (sizeof(float) + sizeof(int32_t));
    const double moving = 1e6 * bytes / figures->bytes_per_second;

    return moving > figures->empty_us ? moving : figures->empty_us;
}

/* --- the sweep ---------------------------------------------------------------------------------------------------- */

static enum run_result bench_on_device(const struct gate_chapter *chapter, const struct gate_options *options,
                                       const struct gate_input *input, struct gate_output *output,
                                       struct bench_row *row, struct error *error)
{
    struct gate_device device;
    enum run_result result;

    if (!gate_device_start(&options->problem, input, &device, error))
        return RUN_NO_DEVICE;
    result = time_on_device(options, &chapter->step, input, &device, output, row, error);
    if (result == RUN_VERIFIED)
        time_before(options, &chapter->before, input, &device, output, row);
    gate_device_end(&device);
    return result;
}

static enum run_result bench_size(const struct gate_chapter *chapter, const struct gate_options *options,
                                  const struct gate_input *input, const struct floor_figures *figures,
                                  struct bench_row *row, struct error *error)
{
    const struct gate_problem *problem = &options->problem;
    const struct gate_buffers host = {input->gating_output, input->correction_bias, NULL, NULL};
    struct gate_output output;
    enum run_result result;

    memset(row, 0, sizeof *row);
    row->num_tokens = problem->num_tokens;
    if (!gate_output_allocate(problem, &output, error))
        return RUN_NO_DEVICE;
    result = gate_run(problem, &chapter->step, input, &output, error);
    if (result == RUN_VERIFIED && chapter->step.launch) {
        result = bench_on_device(chapter, options, input, &output, row, error);
        row->floor_us = floor_us(problem, figures);
    } else if (result == RUN_VERIFIED) {
        struct gate_buffers buffers = host;

        buffers.topk_weights = output.topk_weights;
        buffers.topk_ids = output.topk_ids;
        if (!time_on_host(problem, &chapter->step, &buffers, &row->here))
            result = RUN_NO_DEVICE;
    }
    gate_output_free(&output);
    return result;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/** Two times whose spreads overlap are the same. */
static const char *compare(struct timing here, struct timing before, char text[32])
{
    if (before.median <= 0.0)
        return "";
    if (here.p10 <= before.p90 && before.p10 <= here.p90)
        return "noise";
    snprintf(text, 32, "%.2fx", before.median / here.median);
    return text;
}

static void print_time(FILE *stream, double us)
{
    if (us > 0.0)
        fprintf(stream, " %10.2f", us);
    else
        fprintf(stream, " %10s", "-");
}

static void write_table(const struct gate_chapter *chapter, const struct gate_options *options, const char *device,
                        const struct bench_row *rows, int num_rows, FILE *stream)
{
    char text[256], gain[32];

    gate_problem_describe(&options->problem, text, sizeof text);
    fprintf(stream, "%s on %s, %s\n", chapter->step.name, device, options->cold ? "cold L2" : "warm");
    fprintf(stream, "largest problem: %s\n", text);
    fprintf(stream, "microseconds per launch: median (p10, p90); every size verified before and after\n\n");
    fprintf(stream, "%8s %10s %10s %10s %10s %10s %10s  %s\n", "tokens", "median", "p10", "p90", "rotated", "floor",
            "before", chapter->before.name ? chapter->before.name : "");
    for (int i = 0; i < num_rows; i++) {
        fprintf(stream, "%8" PRId64, rows[i].num_tokens);
        print_time(stream, rows[i].here.median);
        print_time(stream, rows[i].here.p10);
        print_time(stream, rows[i].here.p90);
        print_time(stream, rows[i].rotated.median);
        print_time(stream, rows[i].floor_us);
        print_time(stream, rows[i].before.median);
        fprintf(stream, "  %s\n", compare(rows[i].here, rows[i].before, gain));
    }
}

static void write_json_timing(FILE *stream, const char *name, struct timing timing)
{
    if (timing.median > 0.0)
        fprintf(stream, ", \"%s\": {\"median_us\": %.4f, \"p10_us\": %.4f, \"p90_us\": %.4f}", name, timing.median,
                timing.p10, timing.p90);
}

extern const char kernel_source_sha256[]; /* written by the build */

static void write_json(const struct gate_chapter *chapter, const struct gate_options *options,
                       const struct backend *backend, const struct floor_figures *figures, const char *command,
                       const struct bench_row *rows, int num_rows, FILE *stream)
{
    const bool host = chapter->step.compute != NULL;
    const struct gate_problem *problem = &options->problem;
    const time_t now = time(NULL);
    struct tm utc;
    char date[32];

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    fprintf(stream, "{\n  \"chapter\": \"%s\",\n  \"before\": \"%s\",\n  \"device\": ", chapter->step.name,
            chapter->before.name ? chapter->before.name : "");
    report_json_string(stream, host ? "host" : backend->device);
    fputs(",\n  \"driver\": ", stream);
    report_json_string(stream, backend->driver);
    fputs(",\n  \"toolkit\": ", stream);
    report_json_string(stream, backend->toolkit);
    fputs(",\n  \"command\": ", stream);
    report_json_string(stream, command);
    fprintf(stream, ",\n  \"date\": \"%s\",\n  \"kernel_source_sha256\": \"%s\"", date, kernel_source_sha256);
    fprintf(stream, ",\n  \"distribution\": \"%s\",\n  \"seed\": %" PRIu64 ",\n  \"cache\": \"%s\"",
            options->source == GATE_SOURCE_GENERATED ? gate_dist_name(options->dist) : "router", options->seed,
            options->cold ? "cold" : "warm");
    fprintf(stream,
            ",\n  \"problem\": {\"num_experts\": %d, \"num_expert_group\": %d, \"topk_group\": %d, \"topk\": %d, "
            "\"dtype\": \"%s\", \"score\": \"%s\", \"bias\": \"%s\"}",
            problem->num_experts, problem->num_expert_group, problem->topk_group, problem->topk,
            dtype_name(problem->dtype), gate_score_name(problem->score),
            problem->has_bias ? dtype_name(problem->bias_dtype) : "none");
    if (host || chapter->before.compute)
        fprintf(stream, ",\n  \"host_threads\": %d", omp_get_max_threads());
    if (!host)
        fprintf(stream, ",\n  \"floor\": {\"empty_kernel_us\": %.4f, \"copy_bytes_per_second\": %.4g}",
                figures->empty_us, figures->bytes_per_second);
    fputs(",\n  \"rows\": [", stream);
    for (int i = 0; i < num_rows; i++) {
        fprintf(stream, "%s\n    {\"num_tokens\": %" PRId64, i ? "," : "", rows[i].num_tokens);
        write_json_timing(stream, "here", rows[i].here);
        write_json_timing(stream, "rotated", rows[i].rotated);
        write_json_timing(stream, "before", rows[i].before);
        if (!host)
            fprintf(stream, ", \"floor_us\": %.4f", rows[i].floor_us);
        fputs("}", stream);
    }
    fputs("\n  ]\n}\n", stream);
}

static void write_csv(const struct gate_chapter *chapter, const struct bench_row *rows, int num_rows, FILE *stream)
{
    fputs("chapter,num_tokens,median_us,p10_us,p90_us,rotated_us,floor_us,before_us\n", stream);
    for (int i = 0; i < num_rows; i++)
        fprintf(stream, "%s,%" PRId64 ",%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", chapter->step.name, rows[i].num_tokens,
                rows[i].here.median, rows[i].here.p10, rows[i].here.p90, rows[i].rotated.median, rows[i].floor_us,
                rows[i].before.median);
}

enum run_result gate_bench(const struct gate_chapter *chapter, struct gate_options *options,
                           const struct backend *backend, const char *program, FILE *stream, struct error *error)
{
    static const int64_t sweep[] = {1, 4, 16, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
    const bool one = options->num_tokens_given;
    const int num_rows = one ? 1 : (int)(sizeof sweep / sizeof *sweep);
    struct floor_figures figures = {0};
    struct bench_row rows[MOST_ROWS];
    char command[2048];

    if (chapter->step.launch && !backend_measure_floor(&figures, error))
        return RUN_NO_DEVICE;
    for (int i = 0; i < num_rows; i++) {
        struct gate_input input;
        enum run_result result;
        enum load_result loaded;

        if (!one)
            options->problem.num_tokens = sweep[i];
        options->num_tokens_given = true;
        loaded = gate_load(options, &chapter->step, &input, error);
        if (loaded != LOAD_DONE)
            return loaded == LOAD_BAD_INPUT ? RUN_BAD_INPUT : RUN_NO_DEVICE;
        result = bench_size(chapter, options, &input, &figures, &rows[i], error);
        gate_input_free(&input);
        if (result != RUN_VERIFIED)
            return result;
    }
    options->num_tokens_given = one;
    gate_options_command(options, program, command, sizeof command);
    strncat(command, options->cold ? " --bench --cold" : " --bench", sizeof command - strlen(command) - 1);
    if (options->format == REPORT_JSON)
        write_json(chapter, options, backend, &figures, command, rows, num_rows, stream);
    else if (options->format == REPORT_CSV)
        write_csv(chapter, rows, num_rows, stream);
    else
        write_table(chapter, options, chapter->step.compute ? "the host" : backend->device, rows, num_rows, stream);
    return RUN_VERIFIED;
}
