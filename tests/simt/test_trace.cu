/** @file test_trace.cu  Compares traces of small kernels, event by event, with text that was written by hand. */
#include "simt_test.h"

#include <cuda_pipeline.h>
#include <unistd.h>

#include "kernels/bulk_copy.cuh"
#include "kernels/tensor_core.cuh"

enum { MAX_LINES = 80, LINE = 4096, SOURCE = 2, FIRST_EVENT = 5 };

/** The trace of one launch, line by line: a header, one line per event, and "]}". */
static struct trace {
    char line[MAX_LINES][LINE];
    int lines;
} trace;

/** Ends the trace and reads its text, which Python must accept as JSON. */
static void take_trace(void)
{
    char path[] = "/tmp/test_trace.XXXXXX", command[80];
    const int file = mkstemp(path);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w+");

    assert_non_null(stream);
    assert_true(simt_trace_end(stream));
    rewind(stream);
    trace.lines = 0;
    while (trace.lines < MAX_LINES && fgets(trace.line[trace.lines], LINE, stream))
        trace.lines++;
    fclose(stream);
    snprintf(command, sizeof command, "python3 -m json.tool %s /dev/null", path);
    assert_int_equal(system(command), 0);
    unlink(path);
}

/** Returns the text after `"name": ` in a line; the test fails if the line has no such member. */
static const char *member(int line, const char *name)
{
    char quoted[40];

    snprintf(quoted, sizeof quoted, "\"%s\": ", name);
    assert_true(line < trace.lines);

    const char *at = strstr(trace.line[line], quoted);

    assert_non_null(at);
    return at + strlen(quoted);
}

static void expect_member(int line, const char *name, const char *value)
{
    const char *at = member(line, name);

    assert_memory_equal(at, value, strlen(value));
    assert_non_null(strchr(",}\n", at[strlen(value)]));
}

/** Checks whether the trace has source lines; it has none if the tool that looks them up is missing. */
static bool knows_lines(void)
{
    return strncmp(member(SOURCE, "source"), "\"\"", 2) != 0;
}

/** Checks that event number `index` equals `expected`, in which @ stands for the line marked `mark`. */
static void expect_event(int index, const char *mark, const char *expected)
{
    char text[LINE];
    char number[20] = "null"; /* used if the trace has no source lines */
    const char *at = strchr(expected, '@');

    if (knows_lines())
        snprintf(number, sizeof number, "%d", line_marked(__FILE__, mark));
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - expected), expected, number, at + 1);

    const int line = FIRST_EVENT + index;

    assert_true(line < trace.lines);
    trace.line[line][strcspn(trace.line[line], "\n")] = 0;
    if (trace.line[line][0] && trace.line[line][strlen(trace.line[line]) - 1] == ',')
        trace.line[line][strlen(trace.line[line]) - 1] = 0;
    assert_string_equal(trace.line[line], text);
}

static void expect_events(int count)
{
    assert_int_equal(trace.lines, FIRST_EVENT + count + 1);
}

/**
 * Writes `, "name": [a, b, ...]` with 32 elements to `text` and returns it: `first` + (lane ^ `flip`) * `step` in the
 * first `lanes` elements, `none` in the rest.
 */
static const char *column(char *text, const char *name, int lanes, int first, int step, int flip, const char *none)
{
    const bool hexadecimal = strcmp(name, "in") == 0 || strcmp(name, "out") == 0 || strcmp(name, "value") == 0;
    int length = sprintf(text, ", \"%s\": [", name);

    for (int lane = 0; lane < 32; lane++) {
        const int value = first + (lane ^ flip) * step;

        if (lane >= lanes)
            length += sprintf(text + length, "%s", none);
        else
            length += sprintf(text + length, hexadecimal ? "\"0x%08x\"" : "%d", value);
        length += sprintf(text + length, lane < 31 ? "," : "]");
    }
    return text;
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

static __global__ void xor_kernel(int *y)
{
    const int other = __shfl_xor_sync(FULL_MASK, (int)threadIdx.x + 100, 1); // [shuffle]

    y[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = other; // [store]
}

static void an_xor_shuffle(void **)
{
    char a[LINE], b[LINE], c[LINE], text[3 * LINE];
    int *y = device_words(0);

    assert_true(simt_trace_begin(100));
    xor_kernel<<<dim3(2, 3), 32>>>(y);
    expect_success();
    take_trace();
    assert_string_equal(trace.line[0], "{\"kernel\": \"xor_kernel\",\n");
    assert_non_null(strstr(trace.line[1],
                           "\"grid\": [2,3,1], \"block\": [32,1,1], \"traced_block\": [0,0,0], \"dynamic_shared\": "));
    expect_member(1, "bytes", "0");
    if (knows_lines())
        expect_member(SOURCE, "source", "\"" __FILE__ "\"");
    assert_string_equal(trace.line[3], "\"truncated\": false,\n");
    expect_events(3);
    snprintf(text, sizeof text,
             "{\"kind\": \"shuffle\", \"warp\": 0, \"line\": @, \"lanes\": 4294967295, \"operation\": "
             "\"__shfl_xor_sync\", \"bytes\": 4%s%s%s}",
             column(a, "from", 32, 0, 1, 1, ""), column(b, "in", 32, 100, 1, 0, ""),
             column(c, "out", 32, 100, 1, 1, ""));
    expect_event(0, "shuffle", text);
    snprintf(text, sizeof text,
             "{\"kind\": \"global_store\", \"warp\": 0, \"line\": @, \"lanes\": 4294967295, \"bytes\": 4%s%s%s}",
             column(a, "allocation", 32, 0, 0, 0, ""), column(b, "offset", 32, 0, 4, 0, ""),
             column(c, "value", 32, 100, 1, 1, ""));
    expect_event(1, "store", text);
    assert_non_null(strstr(trace.line[7], "{\"kind\": \"return\", \"warp\": 0, \"line\": "));
    cudaFree(y);
}

/** Stores a word in each lane, loads it and stores it again, changed, so that the two stores write different values. */
static __global__ void exchange_kernel(int *y)
{
    extern __shared__ int words[];

    words[threadIdx.x] = 3 * threadIdx.x;        // [put]
    words[threadIdx.x] = words[threadIdx.x] + 7; // [add]
    __syncthreads();                             // [barrier]
    y[threadIdx.x] = words[63 - threadIdx.x];    // [get]
}

static void expect_shared(int index, const char *kind, const char *mark, int warp, int at, int offset, int value,
                          int step)
{
    char a[LINE], b[LINE], text[2 * LINE];

    snprintf(text, sizeof text,
             "{\"kind\": \"%s\", \"warp\": %d, \"line\": @, \"lanes\": 4294967295, \"bytes\": 4%s%s}", kind, warp,
             column(a, "offset", 32, at, offset, 0, ""), column(b, "value", 32, value, step, 0, ""));
    expect_event(index, mark, text);
}

static void a_shared_exchange(void **)
{
    int *y = device_words(0);

    assert_true(simt_trace_begin(100));
    exchange_kernel<<<1, 64, 256>>>(y);
    expect_success();
    take_trace();

    const int base = atoi(member(1, "offset"));

    expect_member(1, "bytes", "256");
    expect_events(14);
    for (int warp = 0; warp < 2; warp++) {
        const int first = 32 * warp;

        expect_shared(3 * warp, "shared_store", "put", warp, base + 4 * first, 4, 3 * first, 3);
        expect_shared(3 * warp + 1, "shared_load", "add", warp, base + 4 * first, 4, 3 * first, 3);
        expect_shared(3 * warp + 2, "shared_store", "add", warp, base + 4 * first, 4, 3 * first + 7, 3);
        expect_event(6 + warp, "barrier",
                     warp == 0 ? "{\"kind\": \"block_barrier\", \"warp\": 0, \"line\": @, \"lanes\": 4294967295, "
                                 "\"barrier\": 0, \"warps\": 2}"
                               : "{\"kind\": \"block_barrier\", \"warp\": 1, \"line\": @, \"lanes\": 4294967295, "
                                 "\"barrier\": 0, \"warps\": 2}");
        expect_shared(8 + 3 * warp, "shared_load", "get", warp, base + 4 * (63 - first), -4, 3 * (63 - first) + 7, -3);
    }
    cudaFree(y);
}

static __global__ void early_kernel(int *y)
{
    if (threadIdx.x >= 8)
        return;
    const int old = atomicAdd(&y[1], 5); // [old]

    __syncwarp(0xff);                // [sync]
    if (__any_sync(0xff, old == 15)) // [any]
        y[threadIdx.x + 8] = old;    // [keep]
}

static void an_early_return(void **)
{
    char a[LINE], b[LINE], c[LINE], text[3 * LINE];
    int *y = device_words(0);
    unsigned returned = 0;

    assert_true(simt_trace_begin(100));
    early_kernel<<<1, 32>>>(y);
    expect_success();
    take_trace();
    snprintf(
        text, sizeof text,
        "{\"kind\": \"atomic\", \"warp\": 0, \"line\": @, \"lanes\": 255, \"bytes\": 4, \"space\": \"global\"%s%s%s}",
        column(a, "allocation", 8, 0, 0, 0, "null"), column(b, "offset", 8, 4, 0, 0, "null"),
        column(c, "value", 8, 0, 5, 0, "null"));
    /* The lanes that take the first branch in the source run first. */
    expect_member(FIRST_EVENT, "kind", "\"return\"");
    expect_member(FIRST_EVENT, "lanes", "4294967040");
    expect_event(1, "old", text);
    expect_event(2, "sync", "{\"kind\": \"warp_barrier\", \"warp\": 0, \"line\": @, \"lanes\": 255}");
    for (int line = FIRST_EVENT; line < trace.lines - 1; line++)
        if (strncmp(member(line, "kind"), "\"return\"", 8) == 0)
            returned |= strtoul(member(line, "lanes"), NULL, 10);
    assert_int_equal(returned, 0xffffffffu);
    cudaFree(y);
}

/** Two ints. A compiler may store them with two stores of 4 bytes, because the type is not aligned to 8 bytes. */
struct pair {
    int first, second;
};

static __global__ void long_kernel(struct pair *y, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        const struct pair pair = {i, (int)threadIdx.x};

        y[threadIdx.x] = pair;
    }
}

static void stores_have_the_value_stored(void **)
{
    int *y = device_words(0);
    int stores = 0;

    assert_true(simt_trace_begin(5000));
    long_kernel<<<1, 2>>>((struct pair *)y, 1500);
    expect_success();
    FILE *stream = tmpfile();
    char line[LINE];

    assert_non_null(stream);
    assert_true(simt_trace_end(stream));
    rewind(stream);
    while (fgets(line, sizeof line, stream)) {
        const char *value = strstr(line, "\"value\": [\"0x");
        unsigned long long bits[2] = {0};

        if (!strstr(line, "\"global_store\"") || !value)
            continue;
        assert_int_equal(sscanf(value, "\"value\": [\"%llx\",\"%llx\"", &bits[0], &bits[1]), 2);
        if (strstr(line, "\"bytes\": 8")) {
            assert_int_equal(bits[0], stores);
            assert_int_equal(bits[1], stores | 1ull << 32);
            stores += 1;
        } else if (strstr(line, "\"offset\": [0,")) {
            assert_int_equal(bits[0], stores);
            assert_int_equal(bits[1], stores);
        } else {
            assert_int_equal(bits[0], 0);
            assert_int_equal(bits[1], 1);
            stores += 1;
        }
    }
    fclose(stream);
    assert_int_equal(stores, 1500);
    cudaFree(y);
}

static void too_many_events_end_the_list(void **)
{
    int *y = device_words(0);

    assert_true(simt_trace_begin(2));
    exchange_kernel<<<1, 64, 256>>>(y);
    expect_success();
    take_trace();
    expect_events(2);
    assert_string_equal(trace.line[3], "\"truncated\": true,\n");
    const int *words = download_and_free_words(y);

    for (int i = 0; i < 64; i++)
        assert_int_equal(words[i], 3 * (63 - i) + 7);
}

static void only_the_first_launch(void **)
{
    int *y = device_words(0);

    assert_true(simt_trace_begin(100));
    early_kernel<<<1, 32>>>(y);
    xor_kernel<<<1, 32>>>(y);
    expect_success();
    take_trace();
    expect_member(0, "kernel", "\"early_kernel\"");

    assert_true(simt_trace_begin(100));
    FILE *stream = tmpfile();

    assert_non_null(stream);
    assert_false(simt_trace_end(stream)); /* no kernel was launched */
    fclose(stream);
    assert_true(simt_trace_end(NULL));
    cudaFree(y);
}

static void only_the_kernel_of_that_name(void **)
{
    int *y = device_words(0);

    assert_true(simt_trace_begin(100));
    simt_trace_restrict_to_kernel("xor_kernel");
    early_kernel<<<1, 32>>>(y);
    xor_kernel<<<1, 32>>>(y);
    expect_success();
    take_trace();
    expect_member(0, "kernel", "\"xor_kernel\"");

    assert_true(simt_trace_begin(100));
    simt_trace_restrict_to_kernel("xor");
    xor_kernel<<<1, 32>>>(y);
    FILE *stream = tmpfile();

    assert_non_null(stream);
    assert_false(simt_trace_end(stream)); /* no kernel of that name was launched */
    fclose(stream);
    cudaFree(y);
}

static void two_traces_are_the_same(void **)
{
    static struct trace before;
    int *y = device_words(0);

    for (int run = 0; run < 2; run++) {
        assert_true(simt_trace_begin(100));
        exchange_kernel<<<1, 64, 256>>>(y);
        expect_success();
        take_trace();
        if (run == 0)
            before = trace;
    }
    assert_int_equal(trace.lines, before.lines);
    for (int i = 0; i < trace.lines; i++)
        assert_string_equal(trace.line[i], before.line[i]);
    cudaFree(y);
}

static __global__ void tensor_kernel(const int *x, int *y)
{
    __shared__ __align__(16) int rows[32][4];
    uint32_t words[4];
    float sums[4] = {};

    __pipeline_memcpy_async(rows[threadIdx.x], &x[4 * threadIdx.x], 16, threadIdx.x < 8 ? 0 : 16); // [copy]
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    ldmatrix_x4(words, rows[threadIdx.x]);            // [ldmatrix]
    ldmatrix_x4_transposed(words, rows[threadIdx.x]); // [transposed]
    mma_m16n8k16_bf16(sums, words, words + 2);        // [mma]
    y[threadIdx.x] = words[0];                        // [words]
}

/**
 * Tests the events of copies and matrix instructions. A copy has the events copy_from and copy_to, or just copy_to if
 * it writes only zeros; ldmatrix has shared_load and matrix_memory; mma has only the event mma.
 */
static void copies_and_matrices(void **)
{
    static const char *const kinds[] = {"\"copy_from\"",     "\"copy_to\"",     "\"warp_barrier\"",  "\"shared_load\"",
                                        "\"matrix_memory\"", "\"shared_load\"", "\"matrix_memory\"", "\"mma\"",
                                        "\"global_store\"",  "\"return\""};
    int *x = device_iota();
    int *y = device_words(0);

    assert_true(simt_trace_begin(100));
    tensor_kernel<<<1, 32>>>(x, y);
    expect_success();
    take_trace();
    expect_events(10);
    for (int i = 0; i < 10; i++)
        expect_member(FIRST_EVENT + i, "kind", kinds[i]);
    expect_member(FIRST_EVENT, "lanes", "255");
    expect_member(FIRST_EVENT + 1, "bytes", "16");
    expect_event(
        4, "ldmatrix",
        "{\"kind\": \"matrix_memory\", \"warp\": 0, \"line\": @, \"lanes\": 4294967295, \"operation\": \"ldmatrix\"}");
    expect_event(6, "transposed",
                 "{\"kind\": \"matrix_memory\", \"warp\": 0, \"line\": @, \"lanes\": 4294967295, "
                 "\"operation\": \"ldmatrix.trans\"}");
    expect_event(
        7, "mma",
        "{\"kind\": \"mma\", \"warp\": 0, \"line\": @, \"lanes\": 4294967295, \"operation\": \"mma.m16n8k16\"}");
    cudaFree(x);
    cudaFree(y);
}

/** Copies 4 rows of 64 words with bulk copies, from row 1 of x on, completes two more phases and stores 32 words. */
static __global__ void bulk_kernel(const int *x, int *y)
{
    __shared__ __align__(16) int words[256];
    __shared__ mbarrier full;

    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1); // [init]
        mbarrier_init_fence();
    }
    __syncthreads();
    mbarrier_wait(&full, 1); // [before]
    if (threadIdx.x == 0)
        mbarrier_arrive_expect(&full, 1024); // [expect]
    __syncwarp();
    if (threadIdx.x < 4)
        bulk_copy(&words[64 * threadIdx.x], &x[64 * threadIdx.x + 64], 256, &full); // [bulk]
    mbarrier_wait(&full, 0);                                                        // [wait]
    if (threadIdx.x == 0) {
        mbarrier_arrive(&full);          // [arrive]
        mbarrier_arrive_cp_async(&full); // [copies]
    }
    y[threadIdx.x] = words[threadIdx.x];
}

/** Checks the event of `operation` on the mbarrier at `at` by `lanes`; all operations but "init" have a phase. */
static void expect_mbarrier(int index, const char *mark, unsigned lanes, const char *operation, int at, int phase,
                            const char *name, int number)
{
    char a[LINE], b[LINE] = "", c[LINE] = "", text[3 * LINE];
    const int count = __builtin_popcount(lanes);

    if (strcmp(operation, "init") != 0)
        column(b, "phase", count, phase, 0, 0, "null");
    if (name)
        column(c, name, count, number, 0, 0, "null");
    snprintf(text, sizeof text,
             "{\"kind\": \"mbarrier\", \"warp\": 0, \"line\": @, \"lanes\": %u, \"operation\": \"%s\"%s%s%s}", lanes,
             operation, column(a, "offset", count, at, 0, 0, "null"), b, c);
    expect_event(index, mark, text);
}

/** Tests that a lane's bulk copies, the operations on their barrier and its other accesses are in program order. */
static void bulk_copies_and_mbarriers(void **)
{
    char a[LINE], b[LINE], c[LINE], d[LINE], text[4 * LINE];
    int *x = device_iota();
    int *y = device_words(0);

    assert_true(simt_trace_begin(100));
    bulk_kernel<<<1, 32>>>(x, y);
    expect_success();
    take_trace();
    expect_events(12);

    const int barrier = atoi(member(FIRST_EVENT, "offset") + 1), words = atoi(member(FIRST_EVENT + 9, "offset") + 1);

    expect_mbarrier(0, "init", 1, "init", barrier, 0, "arrivals", 1);
    expect_member(FIRST_EVENT + 1, "kind", "\"block_barrier\"");
    expect_mbarrier(2, "before", UINT32_MAX, "wait", barrier, -1, "parity", 1);
    expect_mbarrier(3, "expect", 1, "arrive_expect", barrier, 0, "announced", 1024);
    expect_member(FIRST_EVENT + 4, "kind", "\"warp_barrier\"");
    snprintf(text, sizeof text, "{\"kind\": \"bulk_copy\", \"warp\": 0, \"line\": @, \"lanes\": 15%s%s%s%s}",
             column(a, "allocation", 4, 0, 0, 0, "null"), column(b, "offset", 4, 256, 256, 0, "null"),
             column(c, "to", 4, words, 256, 0, "null"), column(d, "copied", 4, 256, 0, 0, "null"));
    expect_event(5, "bulk", text);
    expect_mbarrier(6, "wait", UINT32_MAX, "wait", barrier, 0, "parity", 0);
    expect_mbarrier(7, "arrive", 1, "arrive", barrier, 1, NULL, 0);
    expect_mbarrier(8, "copies", 1, "arrive_copies", barrier, 2, NULL, 0);
    expect_member(FIRST_EVENT + 9, "kind", "\"shared_load\"");
    expect_member(FIRST_EVENT + 10, "kind", "\"global_store\"");
    cudaFree(x);
    assert_int_equal(download_and_free_words(y)[31], 64 + 31);
}

static __global__ void tile_kernel(const __grid_constant__ tensor_map map, int row)
{
    __shared__ __align__(128) uint16_t tile[4][8];
    __shared__ mbarrier full;

    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init_fence();
        mbarrier_arrive_expect(&full, sizeof tile);
        bulk_copy_tile(tile, &map, row, 8, &full);
    }
    __syncthreads();
    mbarrier_wait(&full, 0);
}

/** Tests that a tile's event names the tile's first element that lies inside the matrix (in column 8), if any. */
static void a_tile_begins_where_the_matrix_does(void **)
{
    static const struct {
        int row;
        const char *allocation, *offset;
    } tiles[] = {{2, "[0,null", "[80,null"}, {-2, "[0,null", "[16,null"}, {-4, "[-1,null", "[0,null"}};
    int *x = device_iota();
    tensor_map map;

    assert_null(tensor_map_bf16(&map, x, 16, 16, 4, 8, 0));
    for (unsigned i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
        assert_true(simt_trace_begin(100));
        tile_kernel<<<1, 32>>>(map, tiles[i].row);
        expect_success();
        take_trace();
        expect_member(FIRST_EVENT + 2, "kind", "\"bulk_copy\"");
        expect_member(FIRST_EVENT + 2, "allocation", tiles[i].allocation);
        expect_member(FIRST_EVENT + 2, "offset", tiles[i].offset);
        expect_member(FIRST_EVENT + 2, "copied", "[64,null");
    }
    cudaFree(x);
}

/** Returns the counters of a launch of bulk_kernel, without the counters of the simulator's own work. */
static struct simt_counters bulk_counters(bool traced)
{
    struct simt_counters counters;
    int *x = device_iota();
    int *y = device_words(0);

    if (traced)
        assert_true(simt_trace_begin(100));
    simt_counters_reset();
    bulk_kernel<<<1, 32>>>(x, y);
    expect_success();
    simt_counters_read(&counters);
    assert_true(simt_trace_end(NULL));
    cudaFree(x);
    cudaFree(y);
    counters.lane_events = 0;
    return counters;
}

static void a_trace_changes_no_counter(void **)
{
    const struct simt_counters counters = bulk_counters(false), traced = bulk_counters(true);

    assert_int_equal(counters.bulk_copies, 4);
    assert_memory_equal(&counters, &traced, sizeof counters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_xor_shuffle),
        cmocka_unit_test(a_shared_exchange),
        cmocka_unit_test(an_early_return),
        cmocka_unit_test(stores_have_the_value_stored),
        cmocka_unit_test(too_many_events_end_the_list),
        cmocka_unit_test(only_the_first_launch),
        cmocka_unit_test(only_the_kernel_of_that_name),
        cmocka_unit_test(two_traces_are_the_same),
        cmocka_unit_test(copies_and_matrices),
        cmocka_unit_test(bulk_copies_and_mbarriers),
        cmocka_unit_test(a_tile_begins_where_the_matrix_does),
        cmocka_unit_test(a_trace_changes_no_counter),
    };

    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
