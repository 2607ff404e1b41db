#include "harness/core/bench.h"

#include "harness/core/report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* --- timing ------------------------------------------------------------------------------------------------------- */

enum { MAX_COPIES = 64 };

/* Where rotated inputs begin to come from memory: more than the L2 of any GPU sold. */
static const size_t ROTATED_BYTES = (size_t)160 << 20;

enum run_result bench_measure_floor(struct bench *bench, struct error *error)
{
    if (bench->on_host)
        return RUN_READY;
    if (!bench->backend->has_times) {
        error_set(error, "--bench: the CPU simulator has no times; use the program in build/gpu");
        return RUN_BAD_INPUT;
    }
    return backend_measure_floor(&bench->floor, error) ? RUN_READY : RUN_NO_DEVICE;
}

double bench_floor_us(const struct bench *bench, double bytes)
{
    const double moving = 1e6 * bytes / bench->floor.bytes_per_second;

    return moving > bench->floor.empty_us ? moving : bench->floor.empty_us;
}

/** A launch over one input, or over copies of it in turn. */
struct turns {
    const struct bench_launch *launch;
    void *copies[MAX_COPIES];
    int num_copies;
};

static cudaError_t launch_in_turn(void *context, int turn, cudaStream_t stream)
{
    const struct turns *turns = context;
    const struct bench_launch *launch = turns->launch;
    const void *const input = turns->num_copies > 0 ? turns->copies[turn % turns->num_copies] : launch->input->data;

    return launch->launch(launch->context, input, stream);
}

bool bench_time(const struct bench *bench, const struct bench_launch *launch, struct timing *timing,
                struct error *error)
{
    struct turns turns = {launch, {0}, 0};

    return backend_time(launch_in_turn, &turns, bench->options->cold ? BACKEND_COLD : BACKEND_WARM, timing, error);
}

static void free_copies(struct turns *turns)
{
    while (turns->num_copies > 0)
        cudaFree(turns->copies[--turns->num_copies]);
}

/** Makes copies of the input until together they exceed every cache. False: they never would, or memory is short. */
static bool make_copies(struct turns *turns)
{
    const struct device_buffer *const input = turns->launch->input;
    const size_t wanted = input->bytes ? ROTATED_BYTES / input->bytes + 1 : MAX_COPIES + 1;

    if (wanted > MAX_COPIES)
        return false;
    for (size_t i = 0; i < wanted; i++) {
        if (cudaMalloc(&turns->copies[i], input->bytes) != cudaSuccess)
            break;
        turns->num_copies++;
        if (cudaMemcpy(turns->copies[i], input->data, input->bytes, cudaMemcpyDeviceToDevice) != cudaSuccess)
            break;
    }
    if (turns->num_copies == (int)wanted)
        return true;
    cudaGetLastError();
    free_copies(turns);
    return false;
}

bool bench_time_rotated(const struct bench *bench, const struct bench_launch *launch, struct timing *timing,
                        struct error *error)
{
    struct turns turns = {launch, {0}, 0};
    bool timed;

    if (bench->options->cold || !make_copies(&turns))
        return true;
    timed = backend_time(launch_in_turn, &turns, BACKEND_WARM, timing, error);
    free_copies(&turns);
    return timed;
}

enum run_result bench_sweep(struct bench *bench, int64_t only, bench_size *size, void *context, struct error *error)
{
    static const int64_t sweep[] = {1, 4, 16, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
    const int num_rows = only >= 0 ? 1 : (int)(sizeof sweep / sizeof *sweep);

    _Static_assert(sizeof sweep / sizeof *sweep <= BENCH_MAX_ROWS, "room for every size");
    for (bench->num_rows = 0; bench->num_rows < num_rows; bench->num_rows++) {
        struct bench_row *const row = &bench->rows[bench->num_rows];
        enum run_result result;

        memset(row, 0, sizeof *row);
        row->num_tokens = only >= 0 ? only : sweep[bench->num_rows];
        result = size(bench, context, row->num_tokens, row, error);
        if (result != RUN_VERIFIED)
            return result;
    }
    return RUN_VERIFIED;
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

static void write_table(const struct bench *bench, const char *describe, FILE *stream)
{
    char gain[32];

    fprintf(stream, "%s on %s, %s\n", bench->chapter, bench->on_host ? "the host" : bench->backend->device,
            bench->options->cold ? "cold L2" : "warm");
    fprintf(stream, "largest problem: %s\n", describe);
    fprintf(stream, "microseconds per launch: median (p10, p90); every size verified before and after\n\n");
    fprintf(stream, "%8s %10s %10s %10s %10s %10s %10s  %s\n", "tokens", "median", "p10", "p90", "rotated", "floor",
            "before", bench->before ? bench->before : "");
    for (int i = 0; i < bench->num_rows; i++) {
        const struct bench_row *const row = &bench->rows[i];

        fprintf(stream, "%8" PRId64, row->num_tokens);
        print_time(stream, row->here.median);
        print_time(stream, row->here.p10);
        print_time(stream, row->here.p90);
        print_time(stream, row->rotated.median);
        print_time(stream, row->floor_us);
        print_time(stream, row->before.median);
        fprintf(stream, "  %s\n", compare(row->here, row->before, gain));
    }
}

static void write_json_timing(FILE *stream, const char *name, struct timing timing)
{
    if (timing.median > 0.0)
        fprintf(stream, ", \"%s\": {\"median_us\": %.4f, \"p10_us\": %.4f, \"p90_us\": %.4f}", name, timing.median,
                timing.p10, timing.p90);
}

static void write_json_rows(const struct bench *bench, FILE *stream)
{
    fputs(",\n  \"rows\": [", stream);
    for (int i = 0; i < bench->num_rows; i++) {
        const struct bench_row *const row = &bench->rows[i];

        fprintf(stream, "%s\n    {\"num_tokens\": %" PRId64, i ? "," : "", row->num_tokens);
        write_json_timing(stream, "here", row->here);
        write_json_timing(stream, "rotated", row->rotated);
        write_json_timing(stream, "before", row->before);
        if (!bench->on_host)
            fprintf(stream, ", \"floor_us\": %.4f", row->floor_us);
        fputs("}", stream);
    }
    fputs("\n  ]", stream);
}

extern const char kernel_source_sha256[]; /* written by the build */

static void write_json(const struct bench *bench, const char *problem, const char *command, FILE *stream)
{
    const struct backend *const backend = bench->backend;
    const time_t now = time(NULL);
    struct tm utc;
    char date[32];

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    report_json_head(stream, bench->chapter, bench->before, bench->on_host ? "host" : backend->device);
    report_json_member(stream, "driver", backend->driver);
    report_json_member(stream, "toolkit", backend->toolkit);
    report_json_member(stream, "command", command);
    report_json_member(stream, "date", date);
    report_json_member(stream, "kernel_source_sha256", kernel_source_sha256);
    report_json_member(stream, "distribution", bench->distribution);
    fprintf(stream, ",\n  \"seed\": %" PRIu64, bench->options->seed);
    report_json_member(stream, "cache", bench->options->cold ? "cold" : "warm");
    fprintf(stream, ",\n  \"problem\": %s", problem);
    if (bench->host_threads > 0)
        fprintf(stream, ",\n  \"host_threads\": %d", bench->host_threads);
    if (!bench->on_host)
        fprintf(stream, ",\n  \"floor\": {\"empty_kernel_us\": %.4f, \"copy_bytes_per_second\": %.4g}",
                bench->floor.empty_us, bench->floor.bytes_per_second);
    write_json_rows(bench, stream);
    fputs("\n}\n", stream);
}

static void write_csv(const struct bench *bench, FILE *stream)
{
    fputs("chapter,num_tokens,median_us,p10_us,p90_us,rotated_us,floor_us,before_us\n", stream);
    for (int i = 0; i < bench->num_rows; i++) {
        const struct bench_row *const row = &bench->rows[i];

        fprintf(stream, "%s,%" PRId64 ",%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", bench->chapter, row->num_tokens,
                row->here.median, row->here.p10, row->here.p90, row->rotated.median, row->floor_us, row->before.median);
    }
}

void bench_write(const struct bench *bench, const char *describe, const char *problem, const char *command,
                 FILE *stream)
{
    if (bench->options->format == REPORT_JSON)
        write_json(bench, problem, command, stream);
    else if (bench->options->format == REPORT_CSV)
        write_csv(bench, stream);
    else
        write_table(bench, describe, stream);
}
