/** @file test_counters_report.c  Tests the exact text of counters in reports, and the simulator's counters of a run. */
#include "harness/core/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_SIZE = 8192 };

/** Returns two counters of a run with three kernels, the first `num_kernels` of which are reported. */
static struct run_counters made_up(int num_kernels)
{
    struct run_counters counters = {
        .totals = {{"launches", 4}, {"block_barriers", 12345}},
        .num_counters = 2,
        .num_kernels = num_kernels,
        .kernels = {{"fill", {{"launches", 1}, {"block_barriers", 0}}},
                    {"a_kernel_with_a_long_name", {{"launches", 2}, {"block_barriers", 12005}}},
                    {"sort_kernel", {{"launches", 1}, {"block_barriers", 340}}}},
    };

    return counters;
}

/** Writes to `text`, in `format`, a report that contains only the counters. */
static void write_counters(const struct run_counters *counters, double num_tokens, enum record_format format,
                           char text[TEXT_SIZE])
{
    struct record report = {0};
    struct error error = {0};
    FILE *const stream = tmpfile();
    size_t size;

    assert_non_null(stream);
    report_add_counters(counters, num_tokens, &report);
    assert_true(record_write(&report, format, stream, &error));
    record_free(&report);
    rewind(stream);
    size = fread(text, 1, TEXT_SIZE - 1, stream);
    text[size] = '\0';
    fclose(stream);
}

static void expect_table(int num_kernels, double num_tokens, const char *expected)
{
    const struct run_counters counters = made_up(num_kernels);
    char text[TEXT_SIZE], wanted[TEXT_SIZE];

    snprintf(wanted, sizeof wanted, "%s\n%s\n", expected, backend_counter_limitations());
    write_counters(&counters, num_tokens, RECORD_TABLE, text);
    assert_string_equal(text, wanted);
}

static void one_kernel_has_no_column(void **state)
{
    (void)state;
    expect_table(1, 100.0,
                 "\ncounter                              total    per token\n"
                 "launches                                 4         0.04\n"
                 "block barriers                      12,345       123.45\n");
    expect_table(1, 0.0,
                 "\ncounter                              total\n"
                 "launches                                 4\n"
                 "block barriers                      12,345\n");
}

static void several_kernels_have_a_column_each(void **state)
{
    (void)state;
    expect_table(3, 100.0,
                 "\ncounter                              total    per token          fill a_kernel_with_a_long_name "
                 "  sort_kernel\n"
                 "launches                                 4         0.04             1                         2 "
                 "            1\n"
                 "block barriers                      12,345       123.45             0                    12,005 "
                 "          340\n");
    expect_table(2, 0.0,
                 "\ncounter                              total          fill a_kernel_with_a_long_name\n"
                 "launches                                 4             1                         2\n"
                 "block barriers                      12,345             0                    12,005\n");
}

static void nothing_counted_is_no_table(void **state)
{
    const struct run_counters none = {0};
    char text[TEXT_SIZE];

    (void)state;
    write_counters(&none, 3.0, RECORD_TABLE, text);
    assert_string_equal(text, "");
    write_counters(&none, 3.0, RECORD_CSV, text);
    assert_string_equal(text, "\n\n");
    write_counters(&none, 3.0, RECORD_JSON, text);
    assert_string_equal(text, "{\n  \"counters\": {},\n  \"kernels\": []\n}\n");
}

static void json_has_every_kernel(void **state)
{
    const struct run_counters counters = made_up(2);
    char text[TEXT_SIZE];

    (void)state;
    write_counters(&counters, 1.0, RECORD_JSON, text);
    assert_string_equal(
        text,
        "{\n  \"counters\": {\"launches\": 4, \"block_barriers\": 12345},\n  \"kernels\": [\n"
        "    {\"name\": \"fill\", \"counters\": {\"launches\": 1, \"block_barriers\": 0}},\n"
        "    {\"name\": \"a_kernel_with_a_long_name\", \"counters\": {\"launches\": 2, \"block_barriers\": 12005}}\n"
        "  ]\n}\n");
}

static void csv_has_totals_only(void **state)
{
    const struct run_counters counters = made_up(3);
    char text[TEXT_SIZE];

    (void)state;
    write_counters(&counters, 1.0, RECORD_CSV, text);
    assert_string_equal(text, "launches,block_barriers\n4,12345\n");
}

static void rare_counters_that_are_0_are_left_out(void **state)
{
    struct run_counters counters = made_up(2);
    char text[TEXT_SIZE];

    (void)state;
    counters.num_counters_omitted_if_zero = 1;
    write_counters(&counters, 1.0, RECORD_CSV, text);
    assert_string_equal(text, "launches,block_barriers\n4,12345\n");
    counters.totals[1].value = 0;
    write_counters(&counters, 1.0, RECORD_CSV, text);
    assert_string_equal(text, "launches\n4\n");
    write_counters(&counters, 1.0, RECORD_JSON, text);
    assert_null(strstr(text, "block_barriers"));
    write_counters(&counters, 1.0, RECORD_TABLE, text);
    assert_null(strstr(text, "block barriers"));
    counters.num_counters_omitted_if_zero = 0;
    write_counters(&counters, 1.0, RECORD_CSV, text);
    assert_string_equal(text, "launches,block_barriers\n4,0\n");
}

/** Tests that JSON and CSV escape any text in a report, including malformed UTF-8. */
static void any_text_is_a_text(void **state)
{
    static const struct {
        const char *text, *json, *csv;
    } cases[] = {
        {"plain", "plain", "plain"},
        {"a \"b\", c\\d", "a \\\"b\\\", c\\\\d", "\"a \"\"b\"\", c\\d\""},
        {"e\nf\x01\x1b[31m\x7f", "e\\u000af\\u0001\\u001b[31m\x7f", "\"e\nf\x01\x1b[31m\x7f\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
         "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xff g\x80", "\\ufffd g\\ufffd", "\xff g\x80"},
        {"\xc0\xaf", "\\ufffd\\ufffd", "\xc0\xaf"},                               /* an overlong encoding */
        {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd", "\xed\xa0\x80"},                /* a surrogate */
        {"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd", "\xf4\x90\x80\x80"}, /* beyond U+10FFFF */
        {"\xe2\x82", "\\ufffd\\ufffd", "\xe2\x82"},                               /* a truncated character */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (enum record_format format = RECORD_JSON; format <= RECORD_CSV; format++) {
            struct record report = {0};
            struct error error = {0};
            char *text, expected[256];
            size_t size;
            FILE *const stream = open_memstream(&text, &size);

            record_add_text(&report, IN_DATA, "x", "%s", cases[i].text);
            assert_true(record_write(&report, format, stream, &error));
            assert_int_equal(fclose(stream), 0);
            snprintf(expected, sizeof expected, format == RECORD_JSON ? "{\n  \"x\": \"%s\"\n}\n" : "x\n%s\n",
                     format == RECORD_JSON ? cases[i].json : cases[i].csv);
            assert_string_equal(text, expected);
            free(text);
            record_free(&report);
        }
}

/**
 * Tests that an error is printed as one line: the middle of a long text, control characters and line breaks are
 * removed.
 */
static void an_error_is_a_line(void **state)
{
    struct error error;
    char path[2000];

    (void)state;
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    error_set(&error, "--out: %s: no\tplace\n", path);
    assert_memory_equal(error.text, "--out: aaa", 10);
    assert_non_null(strstr(error.text, "aaa...aaa"));
    assert_string_equal(error.text + strlen(error.text) - 13, "aaa: no?place");
    assert_true(strlen(error.text) < sizeof error.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kernel_has_no_column),    cmocka_unit_test(several_kernels_have_a_column_each),
        cmocka_unit_test(nothing_counted_is_no_table), cmocka_unit_test(json_has_every_kernel),
        cmocka_unit_test(csv_has_totals_only),         cmocka_unit_test(rare_counters_that_are_0_are_left_out),
        cmocka_unit_test(any_text_is_a_text),          cmocka_unit_test(an_error_is_a_line),
    };

    return cmocka_run_group_tests_name("report_add_counters", tests, NULL, NULL);
}
