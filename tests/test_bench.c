/**
 * @file test_bench.c
 * @brief Tests how a launch is timed, first on its own tensors, then on copies used in rotation, and how times are
 *        reported.
 *
 * The times are fake: the functions that measure times on a GPU are replaced, and launches run on the simulator.
 */
#define backend_time_launch                       made_up_time
#define backend_measure_launch_time_and_copy_rate made_up_floor
#define backend_measure_read_bandwidth            made_up_reading
#define backend_measure_gemm_rate                 made_up_products
#include "harness/core/bench.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { LARGE = 4 << 20, MAX_TURNS = 200 };

/** The calls that the benchmark has made, and what the replaced functions return. */
static struct {
    int num_times;
    bool fail;
    const void *inputs[MAX_TURNS];
    int num_inputs;
    int num_readings;
    bool no_library;
} seen;

bool made_up_time(backend_timed_launch_function *launch, void *context, enum backend_cache_state cache,
                  struct timing *timing, struct error *error)
{
    const int turns = seen.num_times == 0 ? 2 : 100;

    assert_int_equal(cache, BACKEND_CACHE_WARM);
    for (int turn = 0; turn < turns; turn++)
        assert_int_equal(launch(context, turn, NULL), cudaSuccess);
    *timing = (struct timing){10.0 * ++seen.num_times, 9.0 * seen.num_times, 11.0 * seen.num_times};
    return !seen.fail || error_set(error, "no time");
}

bool made_up_floor(struct launch_time_and_copy_rate *figures, struct error *error)
{
    (void)error;
    *figures = (struct launch_time_and_copy_rate){1.0, 1e12};
    return true;
}

bool made_up_reading(double *bytes_per_second, struct error *error)
{
    (void)error;
    *bytes_per_second = 2e12;
    seen.num_readings++;
    return true;
}

bool made_up_products(double min_us, double *operations_per_second, struct error *error)
{
    (void)error;
    assert_true(min_us > 0.0);
    *operations_per_second = seen.no_library ? 0.0 : 1e15;
    return true;
}

/** Copies the first 4 bytes of the input to the output, and records the input. */
static cudaError_t copy(const struct checked_launch *launch, const struct tensors *tensors, cudaStream_t stream)
{
    const void *const input = tensor_data(tensors, 0, TENSOR_ON_DEVICE);

    (void)launch;
    if (seen.num_inputs < MAX_TURNS)
        seen.inputs[seen.num_inputs++] = input;
    return cudaMemcpyAsync(tensor_data(tensors, 1, TENSOR_ON_DEVICE), input, 4, cudaMemcpyDeviceToDevice, stream);
}

static bool is_copied(const struct checked_launch *launch, const struct tensors *tensors, struct error *error)
{
    (void)launch;
    return *(const int32_t *)tensors->tensor[1].host.data == 7 || error_set_as(error, RUN_WRONG, "not copied");
}

/** Allocates an input of `bytes` bytes whose first element is 7, and an output of one element. */
static struct tensors tensors_of(size_t bytes)
{
    struct tensors tensors = {
        .tensor = {{.name = "in", .host = {.dtype = DTYPE_I32, .ndim = 1, .shape = {(int64_t)bytes / 4}}},
                   {.name = "out", .role = TENSOR_OUTPUT, .host = {.dtype = DTYPE_I32, .ndim = 1, .shape = {1}}}},
        .num_tensors = 2,
        .poison_byte = 0x55};
    struct error error;

    assert_true(tensors_allocate_host(&tensors, &error));
    memset(tensors.tensor[0].host.data, 0, bytes);
    *(int32_t *)tensors.tensor[0].host.data = 7;
    return tensors;
}

/** Returns a new benchmark of one size, and clears `seen`. */
static struct benchmark begun(void)
{
    memset(&seen, 0, sizeof seen);
    return (struct benchmark){.name = "p", .previous_name = "b", .can_measure_times = true, .only_num_tokens = 3};
}

static void rotates_what_does_not_fit_into_caches(void **state)
{
    const struct checked_launch launch = {.launch_kernels = copy, .verify_outputs = is_copied};
    struct tensors tensors = tensors_of(LARGE);
    struct benchmark bench = begun();
    struct error error = {0};
    const struct bench_row *const row = bench.rows;
    const void *first;

    (void)state;
    assert_true(bench_begin_next_row(&bench, &error));
    bench_verify_and_time_chapter(&bench, &launch, &tensors, &error);
    assert_int_equal(error.exit_code, RUN_VERIFIED);
    assert_true(row->chapter.median == 10.0 && row->chapter_rotated_inputs.median == 20.0 &&
                row->previous_chapter.median == 0.0);
    assert_true(row->floor_us == 1e6 * (LARGE + 4) / 1e12);
    /* A run and two launches use the same input. After that, 41 copies of the input, more than 160 MiB in total, are
       used in rotation. */
    first = seen.inputs[3];
    assert_ptr_equal(seen.inputs[1], seen.inputs[2]);
    assert_ptr_not_equal(seen.inputs[1], first);
    for (int i = 1; i < 41; i++)
        assert_ptr_not_equal(seen.inputs[3 + i], first);
    assert_ptr_equal(seen.inputs[3 + 41], first);
    bench_time_previous_chapter(&bench, &launch, &tensors);
    assert_true(row->previous_chapter.median == 30.0);
    assert_false(bench_begin_next_row(&bench, &error));
    tensors_free(&tensors);
}

static void times_small_inputs_once(void **state)
{
    const struct checked_launch launch = {.launch_kernels = copy, .verify_outputs = is_copied};
    struct tensors tensors = tensors_of(8);
    struct benchmark bench = begun();
    struct error error = {0};

    (void)state;
    assert_true(bench_begin_next_row(&bench, &error));
    bench_verify_and_time_chapter(&bench, &launch, &tensors, &error);
    assert_true(bench.rows[0].chapter.median == 10.0 && bench.rows[0].chapter_rotated_inputs.median == 0.0);
    assert_true(bench.rows[0].floor_us == 1.0); /* the time of an empty kernel */
    seen.fail = true;
    bench_time_previous_chapter(&bench, &launch, &tensors);
    assert_true(bench.rows[0].previous_chapter.median == 0.0);
    tensors_free(&tensors);
}

static char *report_of(const struct benchmark *bench)
{
    struct record report = {0};
    struct error error;
    char *text = NULL;
    size_t size;
    FILE *const stream = open_memstream(&text, &size);

    assert_non_null(stream);
    bench_report_rows(bench, &report);
    assert_true(record_write(&report, RECORD_JSON, stream, &error));
    fclose(stream);
    record_free(&report);
    return text;
}

/**
 * Tests that a launch with known bytes and operations is compared with the read bandwidth and with cuBLAS's throughput.
 */
static void compares_with_ceilings(void **state)
{
    const struct checked_launch launch = {.launch_kernels = copy, .verify_outputs = is_copied, .num_operations = 5e9};
    struct tensors tensors = tensors_of(LARGE);
    struct benchmark bench = begun();
    struct error error = {0};
    char *text;

    (void)state;
    assert_true(bench_begin_next_row(&bench, &error));
    bench_verify_and_time_chapter(&bench, &launch, &tensors, &error);
    bench_verify_and_time_chapter(&bench, &launch, &tensors, &error); /* the read bandwidth is measured only once */
    assert_int_equal(seen.num_readings, 1);
    assert_true(bench.rows[0].floor_us == 1e6 * (LARGE + 4) / 2e12);
    bench.rows[0].chapter.median = 10.0;
    text = report_of(&bench);
    assert_non_null(strstr(text, "\"read_bytes_per_second\": 2e+12"));
    assert_non_null(strstr(text, "\"of_reading\": 0.2097")); /* 4 MiB in 10 us */
    assert_non_null(strstr(text, "\"of_cublas\": 0.5"));     /* 5e9 operations in 10 us */
    free(text);
    tensors_free(&tensors);
}

static void does_without_the_library(void **state)
{
    const struct checked_launch launch = {.launch_kernels = copy, .verify_outputs = is_copied, .num_operations = 5e9};
    struct tensors tensors = tensors_of(8);
    struct benchmark bench = begun();
    struct error error = {0};
    char *text;

    (void)state;
    seen.no_library = true;
    assert_true(bench_begin_next_row(&bench, &error));
    bench_verify_and_time_chapter(&bench, &launch, &tensors, &error);
    text = report_of(&bench);
    assert_non_null(strstr(text, "of_reading"));
    assert_null(strstr(text, "cublas"));
    free(text);
    tensors_free(&tensors);
}

/** Tests the text that compares two times: the speed-up, or "noise" if their ranges overlap. */
static void compares_times(void **state)
{
    static const struct {
        struct timing here, before;
        const char *text;
    } pairs[] = {
        {{10, 9, 11}, {20, 18, 22}, "2.00x"},
        {{10, 9, 11}, {12, 11, 13}, "noise"},
        {{10, 9, 11}, {0, 0, 0}, ""},
    };
    char text[32];

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(compare(pairs[i].here, pairs[i].before, text), pairs[i].text);
}

static void writes_rows(void **state)
{
    struct benchmark bench = begun();
    char *text;

    (void)state;
    bench.num_rows = 1;
    bench.rows[0] = (struct bench_row){
        .num_tokens = 3, .chapter = {10, 9, 11}, .previous_chapter = {20, 18, 22}, .floor_us = 1.5};
    text = report_of(&bench);
    assert_non_null(strstr(text, "\"floor_us\": 1.5"));
    assert_non_null(strstr(text, "\"before\""));
    assert_null(strstr(text, "\"rotated\""));
    assert_null(strstr(text, "operations")); /* not compared with a ceiling */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotates_what_does_not_fit_into_caches),
        cmocka_unit_test(times_small_inputs_once),
        cmocka_unit_test(compares_with_ceilings),
        cmocka_unit_test(does_without_the_library),
        cmocka_unit_test(compares_times),
        cmocka_unit_test(writes_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
