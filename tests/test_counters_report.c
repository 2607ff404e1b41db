/** @file test_counters_report.c  Counters in reports, letter by letter, and what the simulator gives a program. */
#include "harness/core/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_SIZE = 8192 };

/** Two counters of a run of three kernels; num_kernels says how many of them count. */
static struct run_counters made_up(int num_kernels)
{
    struct run_counters counters = {
        .total = {{"launches", 4}, {"block_barriers", 12345}},
        .num_counters = 2,
        .num_kernels = num_kernels,
        .kernels = {{"fill", {{"launches", 1}, {"block_barriers", 0}}},
                    {"a_kernel_with_a_long_name", {{"launches", 2}, {"block_barriers", 12005}}},
                    {"sort_kernel", {{"launches", 1}, {"block_barriers", 340}}}},
    };

    return counters;
}

/** What `write` writes. */
#define WRITTEN(text, write)                          \
    do {                                              \
        FILE *stream = tmpfile();                     \
        size_t size;                                  \
        assert_non_null(stream);                      \
        write;                                        \
        rewind(stream);                               \
        size = fread(text, 1, TEXT_SIZE - 1, stream); \
        (text)[size] = '\0';                          \
        fclose(stream);                               \
    } while (0)

static void expect_table(int num_kernels, double num_tokens, const char *expected)
{
    const struct run_counters counters = made_up(num_kernels);
    char text[TEXT_SIZE], wanted[TEXT_SIZE];

    snprintf(wanted, sizeof wanted, "%s\n%s\n", expected, backend_limits());
    WRITTEN(text, counters_write_table(stream, &counters, num_tokens));
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
    WRITTEN(text, counters_write_table(stream, &none, 3.0));
    assert_string_equal(text, "");
    WRITTEN(text, counters_write_csv_names(stream, &none));
    assert_string_equal(text, "");
    WRITTEN(text, counters_write_json(stream, &none));
    assert_string_equal(text, "\"counters\": {},\n  \"kernels\": []");
}

static void json_has_every_kernel(void **state)
{
    const struct run_counters counters = made_up(2);
    char text[TEXT_SIZE];

    (void)state;
    WRITTEN(text, counters_write_json(stream, &counters));
    assert_string_equal(
        text,
        "\"counters\": {\"launches\": 4, \"block_barriers\": 12345},\n  \"kernels\": [\n"
        "    {\"name\": \"fill\", \"counters\": {\"launches\": 1, \"block_barriers\": 0}},\n"
        "    {\"name\": \"a_kernel_with_a_long_name\", \"counters\": {\"launches\": 2, \"block_barriers\": 12005}}\n"
        "  ]");
}

static void csv_has_totals_only(void **state)
{
    const struct run_counters counters = made_up(3);
    char text[TEXT_SIZE];

    (void)state;
    WRITTEN(text, counters_write_csv_names(stream, &counters));
    assert_string_equal(text, ",launches,block_barriers");
    WRITTEN(text, counters_write_csv_values(stream, &counters));
    assert_string_equal(text, ",4,12345");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kernel_has_no_column),    cmocka_unit_test(several_kernels_have_a_column_each),
        cmocka_unit_test(nothing_counted_is_no_table), cmocka_unit_test(json_has_every_kernel),
        cmocka_unit_test(csv_has_totals_only),
    };

    return cmocka_run_group_tests_name("counters_report", tests, NULL, NULL);
}
