#include "harness/core/bench.h"

#include "base/backoff.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>

enum { MAX_COPIES = 64, HOST_REPEATS = 25 };

/*
 * Total size of the copies through which the launches cycle. It exceeds the L2 cache of any GPU, so that each copy is
 * read from memory.
 */
static const size_t ROTATED_BYTES = (size_t)160 << 20;

/** Measures the floor figures. If the backend cannot measure times, returns false and sets *error. */
static bool measure_floor(struct benchmark *bench, struct error *error)
{
    if (bench->runs_on_host)
        return true;
    if (!bench->can_measure_times)
        return error_set(error, "--bench: the CPU simulator has no times; use the program in build/gpu "
                                "(ninja gpu; needs an NVIDIA GPU)");
    return backend_measure_launch_time_and_copy_rate(&bench->launch_and_copy, error);
}

bool bench_begin_next_row(struct benchmark *bench, struct error *error)
{
    static const int64_t usual[] = {1, 4, 16, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 0};
    const int64_t *const sweep = bench->sweep_sizes ? bench->sweep_sizes : usual;
    const bool one = bench->only_num_tokens >= 0;
    const int64_t next = one ? bench->only_num_tokens : sweep[bench->num_rows];

    _Static_assert(sizeof usual / sizeof *usual <= BENCH_MAX_ROWS + 1, "room for every size");
    if ((one ? bench->num_rows == 1 : next == 0 || (bench->max_tokens && next > bench->max_tokens)) ||
        (bench->num_rows == 0 && !measure_floor(bench, error)))
        return false;
    bench->rows[bench->num_rows++].num_tokens = next;
    return true;
}

/**
 * Returns the longer of two times: that of an empty kernel and that of moving the inputs and outputs once. Returns 0 on
 * the host. For operators that are compared with ceilings, the bytes are divided by the read bandwidth, because nearly
 * all bytes that such operators move are read.
 */
static double floor_us(const struct benchmark *bench, const struct tensors *tensors)
{
    const double rate = bench->read_bytes_per_second > 0.0 ? bench->read_bytes_per_second
                                                           : bench->launch_and_copy.copy_bytes_per_second;
    const double moving = rate > 0.0 ? 1e6 * tensors_bytes_to_move(tensors) / rate : 0.0;

    return moving > bench->launch_and_copy.empty_kernel_us ? moving : bench->launch_and_copy.empty_kernel_us;
}

/* --- on the host -------------------------------------------------------------------------------------------------- */

/** Returns the time of `calls` calls in microseconds, or a negative number if out of memory. */
static double time_calls(const struct checked_launch *launch, const struct tensors *tensors, int calls)
{
    const double start = monotonic_seconds();

    for (int i = 0; i < calls; i++)
        if (launch->launch_kernels(launch, tensors, NULL) != cudaSuccess)
            return -1.0;
    return 1e6 * (monotonic_seconds() - start);
}

/**
 * Measures the median, p10 and p90 of repeated calls; short calls are timed in batches. Returns false if out of memory.
 */
static bool time_on_host(const struct checked_launch *launch, const struct tensors *tensors, struct timing *timing)
{
    double times[HOST_REPEATS];
    int batch = 1;

    for (double took = 0.0; took < 2000.0 && batch < 100000; batch *= 2) {
        took = time_calls(launch, tensors, batch);
        if (took < 0.0)
            return false;
    }
    batch /= 2;
    for (int repeat = 0; repeat < HOST_REPEATS; repeat++)
        times[repeat] = time_calls(launch, tensors, batch) / batch;
    *timing = timing_from_samples(times, HOST_REPEATS);
    return true;
}

/* --- on the device ------------------------------------------------------------------------------------------------ */

/** A launch that uses its tensors unchanged or rotates among several copies of its largest input. */
struct turns {
    const struct checked_launch *launch;
    struct tensors tensors; /**< the launch's tensors; the input is the current copy */
    int input;
    void *copies[MAX_COPIES];
    int num_copies;
};

static cudaError_t launch_in_turn(void *context, int turn, cudaStream_t stream)
{
    struct turns *const turns = context;

    if (turns->num_copies > 0)
        turns->tensors.tensor[turns->input].device.data = turns->copies[turn % turns->num_copies];
    return turns->launch->launch_kernels(turns->launch, &turns->tensors, stream);
}

static int largest_input(const struct tensors *tensors)
{
    int largest = 0;

    for (int i = 0; i < tensors->num_tensors; i++)
        if (tensors->tensor[i].role == TENSOR_INPUT &&
            tensors->tensor[i].device.bytes > tensors->tensor[largest].device.bytes)
            largest = i;
    return largest;
}

static void free_copies(struct turns *turns)
{
    while (turns->num_copies > 0)
        cudaFree(turns->copies[--turns->num_copies]);
}

/**
 * Makes copies of the largest input until their total size exceeds every cache. Returns false if that would need more
 * than MAX_COPIES copies, if a single copy already exceeds the caches, or if out of memory.
 */
static bool make_copies(struct turns *turns)
{
    const struct device_buffer *const input = &turns->tensors.tensor[turns->input].device;
    const size_t wanted = input->bytes ? ROTATED_BYTES / input->bytes + 1 : MAX_COPIES + 1;

    cudaError_t status = cudaSuccess;

    if (wanted > MAX_COPIES || wanted < 2)
        return false;
    while (status == cudaSuccess && turns->num_copies < (int)wanted) {
        void **const copy = &turns->copies[turns->num_copies];

        status = cudaMalloc(copy, input->bytes);
        if (status == cudaSuccess) {
            turns->num_copies++;
            status = cudaMemcpy(*copy, input->data, input->bytes, cudaMemcpyDeviceToDevice);
        }
    }
    if (status == cudaSuccess)
        return true;
    cudaGetLastError();
    free_copies(turns);
    return false;
}

/** Times and verifies a launch; `rotated` may be NULL. */
static bool time_launch(struct benchmark *bench, const struct checked_launch *launch, struct tensors *tensors,
                        struct timing *here, struct timing *rotated, struct error *error)
{
    const enum backend_cache_state cache = bench->flush_l2 ? BACKEND_CACHE_FLUSHED : BACKEND_CACHE_WARM;
    struct turns turns = {.launch = launch};
    double start;
    bool good;

    if (launch->runs_on_host) {
        bench->num_host_threads = omp_get_max_threads();
        good = time_on_host(launch, tensors, here) || error_set_as(error, RUN_CANNOT_RUN, "out of memory");
        return good && launch->verify_outputs(launch, tensors, error);
    }
    if (!tensors_allocate_and_upload(tensors, error))
        return false;
    turns.tensors = *tensors;
    turns.input = largest_input(tensors);
    start = monotonic_seconds();
    good = backend_time_launch(launch_in_turn, &turns, cache, here, error);
    bench->last_timing_total_us = 1e6 * (monotonic_seconds() - start);
    if (good && rotated && cache == BACKEND_CACHE_WARM && make_copies(&turns)) {
        good = backend_time_launch(launch_in_turn, &turns, cache, rotated, error);
        free_copies(&turns);
    }
    good = good && tensors_download_and_check_guards_and_inputs(tensors, error);
    tensors_free_device(tensors);
    return good && launch->verify_outputs(launch, tensors, error);
}

void bench_verify_and_time_chapter(struct benchmark *bench, const struct checked_launch *launch,
                                   struct tensors *tensors, struct error *error)
{
    struct bench_row *const row = &bench->rows[bench->num_rows - 1];
    double *const reading = &bench->read_bytes_per_second;

    row->required_operations = launch->num_operations;
    if ((row->required_operations > 0.0 && *reading <= 0.0 && !backend_measure_read_bandwidth(reading, error)) ||
        !checked_launch_run(launch, tensors, error))
        return;
    row->floor_us = floor_us(bench, tensors);
    row->required_bytes = tensors_bytes_to_move(tensors);
    if (time_launch(bench, launch, tensors, &row->chapter, &row->chapter_rotated_inputs, error) &&
        row->required_operations > 0.0)
        backend_measure_gemm_rate(bench->last_timing_total_us, &row->cublas_operations_per_second, error);
}

void bench_time_previous_chapter(struct benchmark *bench, const struct checked_launch *launch, struct tensors *tensors)
{
    struct timing *const before = &bench->rows[bench->num_rows - 1].previous_chapter;

    if (!time_launch(bench, launch, tensors, before, NULL, &(struct error){0}))
        *before = (struct timing){0.0, 0.0, 0.0};
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/**
 * Returns the speed-up as a string, or "noise" if the p10-p90 ranges of the two times overlap, or "" if there is no
 * second time.
 */
static const char *compare(struct timing here, struct timing before, char text[32])
{
    if (before.median <= 0.0)
        return "";
    if (here.p10 <= before.p90 && before.p10 <= here.p90)
        return "noise";
    snprintf(text, 32, "%.2fx", before.median / here.median);
    return text;
}

static void add_time(const char *heading, const char *csv_name, double us, struct record *row)
{
    char text[32] = "-", field[32] = "";

    if (us > 0.0) {
        snprintf(text, sizeof text, "%.2f", us);
        snprintf(field, sizeof field, "%.4f", us);
    }
    record_add_table_cell(row, 10, heading, "%s", text);
    record_add_text(row, IN_CSV, csv_name, "%s", field);
}

static void add_timing(const char *name, struct timing timing, struct record *row)
{
    struct record *const object = timing.median > 0.0 ? record_add_object(row, IN_JSON, name) : NULL;

    record_add_number(object, IN_JSON, "median_us", "%.4f", timing.median);
    record_add_number(object, IN_JSON, "p10_us", "%.4f", timing.p10);
    record_add_number(object, IN_JSON, "p90_us", "%.4f", timing.p90);
}

/** Adds a column and a JSON member with the fraction of a ceiling that the implementation reaches. */
static void add_part(const char *heading, const char *name, double part, struct record *row)
{
    char text[32] = "-";

    if (part > 0.0)
        snprintf(text, sizeof text, "%.3f", part);
    record_add_table_cell(row, 10, heading, "%s", text);
    if (part > 0.0)
        record_add_number(row, IN_JSON, name, "%.4f", part);
}

/**
 * Adds the row's operations and bytes, and their rates as fractions of cuBLAS's product rate and of the read bandwidth.
 */
static void add_ceilings(const struct benchmark *bench, const struct bench_row *times, struct record *row)
{
    const double seconds = 1e-6 * times->chapter.median;

    record_add_number(row, IN_JSON, "operations", "%.0f", times->required_operations);
    record_add_number(row, IN_JSON, "bytes", "%.0f", times->required_bytes);
    if (times->cublas_operations_per_second > 0.0)
        record_add_number(row, IN_JSON, "cublas_operations_per_second", "%.4g", times->cublas_operations_per_second);
    add_part("of read", "of_reading", times->required_bytes / seconds / bench->read_bytes_per_second, row);
    add_part("of cuBLAS", "of_cublas",
             times->cublas_operations_per_second > 0.0
                 ? times->required_operations / seconds / times->cublas_operations_per_second
                 : 0.0,
             row);
}

static void add_row(const struct benchmark *bench, const struct bench_row *times, struct record *row)
{
    char gain[32];

    record_add_text(row, IN_CSV, "chapter", "%s", bench->name);
    record_add_number(row, IN_DATA, "num_tokens", "%" PRId64, times->num_tokens);
    record_add_table_cell(row, 8, "tokens", "%" PRId64, times->num_tokens);
    add_time("median", "median_us", times->chapter.median, row);
    add_time("p10", "p10_us", times->chapter.p10, row);
    add_time("p90", "p90_us", times->chapter.p90, row);
    add_time("rotated", "rotated_us", times->chapter_rotated_inputs.median, row);
    add_time("floor", "floor_us", times->floor_us, row);
    add_time("before", "before_us", times->previous_chapter.median, row);
    if (times->required_operations > 0.0)
        add_ceilings(bench, times, row);
    record_add_table_cell(row, 0, "", "%s", ""); /* empty column: puts two spaces before the text */
    record_add_table_cell(row, 0, bench->previous_name ? bench->previous_name : "", "%s",
                          compare(times->chapter, times->previous_chapter, gain));
    add_timing("here", times->chapter, row);
    add_timing("rotated", times->chapter_rotated_inputs, row);
    add_timing("before", times->previous_chapter, row);
    if (!bench->runs_on_host)
        record_add_number(row, IN_JSON, "floor_us", "%.4f", times->floor_us);
}

void bench_report_rows(const struct benchmark *bench, struct record *report)
{
    struct record *floor, *list;

    if (bench->num_host_threads > 0)
        record_add_number(report, IN_JSON, "host_threads", "%d", bench->num_host_threads);
    floor = bench->runs_on_host ? NULL : record_add_object(report, IN_JSON, "floor");
    record_add_number(floor, IN_JSON, "empty_kernel_us", "%.4f", bench->launch_and_copy.empty_kernel_us);
    record_add_number(floor, IN_JSON, "copy_bytes_per_second", "%.4g", bench->launch_and_copy.copy_bytes_per_second);
    if (bench->read_bytes_per_second > 0.0)
        record_add_number(floor, IN_JSON, "read_bytes_per_second", "%.4g", bench->read_bytes_per_second);
    list = record_add_list(report, IN_TABLE | IN_DATA, "rows");
    for (int i = 0; i < bench->num_rows; i++)
        add_row(bench, &bench->rows[i], record_list_add_row(list, IN_TABLE | IN_DATA));
}
