/**
 * @file test_verdict.c
 * @brief Tests the verdicts on programs that pass, hang or crash (graded_program.c).
 *
 *     test_verdict    runs graded_program, from the same folder
 */
#include "../exercises/learn/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"

static char program[512];

/** Runs graded_program with low limits, which keep tests short, and returns the verdict, which the caller frees. */
static struct verdict judge(const char *what, double seconds)
{
    const struct program_to_judge graded = {
        .path = program,
        .seed = 987654321,
        .only_case_name = what,
        .limits = {.seconds_per_case = seconds,
                   .memory_bytes = (size_t)256 << 20,
                   .output_bytes = 1 << 16,
                   .max_events = 12345},
    };
    struct verdict verdict;
    struct error error = {0};

    assert_true(verdict_run(&graded, &verdict, &error));
    return verdict;
}

static void expect_refused_within(const char *what, double seconds, const char *at_case, const char *reason)
{
    struct verdict verdict = judge(what, seconds);

    assert_false(verdict.has_passed);
    assert_string_equal(verdict.reason, reason);
    assert_string_equal(verdict.reason_case_name, at_case);
    verdict_free(&verdict);
}

static void expect_refused(const char *what, const char *at_case, const char *reason)
{
    expect_refused_within(what, 60, at_case, reason);
}

static void a_good_one_passes(void **state)
{
    struct verdict verdict = judge("pass", 60);

    (void)state;
    assert_string_equal(verdict.reason, "");
    assert_true(verdict.has_passed);
    assert_int_equal(verdict.num_planned_cases, 1);
    assert_int_equal(verdict.num_cases, 1);
    assert_string_equal(verdict.cases[0].name, "only");
    assert_null(verdict.output);
    verdict_free(&verdict);
}

static void its_surroundings_are_bare(void **state)
{
    struct verdict verdict = judge("look_around", 60);

    (void)state;
    assert_true(verdict.has_passed);
    verdict_free(&verdict);
}

static void the_seed_arrives(void **state)
{
    (void)state;
    expect_refused("say_seed", "only", "seed 987654321");
}

static void the_first_failure_is_the_reason(void **state)
{
    struct verdict verdict = judge("second_fails", 60);

    (void)state;
    assert_false(verdict.has_passed);
    assert_string_equal(verdict.reason_case_name, "second");
    assert_string_equal(verdict.reason, "token 3: ?[31mno");
    assert_int_equal(verdict.num_cases, 3);
    assert_int_equal(verdict.cases[0].result, CASE_PASSED);
    assert_int_equal(verdict.cases[1].result, CASE_FAILED);
    assert_int_equal(verdict.cases[2].result, CASE_FAULTED);
    assert_string_equal(verdict.cases[2].message, "x.cu:4: race");
    assert_int_equal(verdict.num_measurements, 1);
    assert_string_equal(verdict.measurements[0].case_name, "first");
    assert_string_equal(verdict.measurements[0].name, "shuffles");
    assert_true(verdict.measurements[0].value == 10);
    assert_string_equal(verdict.output, "?[2Jcleared\n");
    verdict_free(&verdict);
    expect_refused("fail_and_die", "first", "token 3");
}

static void no_records(void **state)
{
    (void)state;
    expect_refused("nothing", "", "the program ended with exit code 0 before a case was tried");
    expect_refused("exit_at_once", "only", "the program ended with exit code 0 when 0 of 1 cases had been tried");
    expect_refused("too_few", "", "the program ended with exit code 0 when 1 of 2 cases had been tried");
    expect_refused("no_done", "", "the program ended with exit code 0 when 1 of 1 cases had been tried");
    expect_refused("half_a_record", "", "the program ended with exit code 0 when 1 of 1 cases had been tried");
    expect_refused("exit_five", "", "every case passed, but the program ended with exit code 5");
}

static void a_hang(void **state)
{
    (void)state;
    expect_refused_within("hang", 0.2, "only", "the program was stopped after 0.2 s: an endless loop?");
}

/** Checks whether a process is running; a zombie is not. */
static bool is_running(int process)
{
    char path[64], state = 'Z';
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    file = fopen(path, "r");
    if (!file)
        return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(file);
    return state != 'Z' && state != 'X';
}

/** Waits until the process whose id a program printed has exited: it has been killed but may not have exited yet. */
static void expect_gone(const struct verdict *verdict)
{
    enum { TRIES = 1000, MILLISECOND = 1000 };
    const int process = verdict->output ? atoi(verdict->output) : 0;

    assert_true(process > 0);
    for (int i = 0; i < TRIES && is_running(process); i++)
        usleep(10 * MILLISECOND);
    assert_false(is_running(process));
}

static void work_that_goes_on(void **state)
{
    struct verdict verdict = judge("slow", 2); /* one case takes 0.6 s, all four take 2.4 s */

    (void)state;
    assert_string_equal(verdict.reason, "");
    assert_true(verdict.has_passed);
    verdict_free(&verdict);
}

static void no_process_is_left_behind(void **state)
{
    struct verdict verdict = judge("stay", 60);

    (void)state;
    expect_gone(&verdict);
    verdict_free(&verdict);
}

static void memory_without_end(void **state)
{
    (void)state;
    expect_refused("allocate", "only",
                   "the program crashed: Segmentation fault, perhaps for want of memory (it may have 256 MiB)");
}

static void output_without_end(void **state)
{
    (void)state;
    expect_refused("flood_output", "only", "the program was stopped after it had printed 64 KiB: a print in a loop?");
}

static void a_crash(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip_because("a sanitizer's memory is counted as the program's");
#endif
    expect_refused("die", "only", "the program crashed: Segmentation fault");
}

static void no_device(void **state)
{
    struct verdict verdict = judge("no_device", 60);

    (void)state;
    assert_false(verdict.has_passed);
    assert_true(verdict.has_no_device);
    assert_string_equal(verdict.reason, "no GPU here");
    verdict_free(&verdict);
    verdict = judge("no_device_halfway", 60);
    assert_false(verdict.has_passed);
    assert_false(verdict.has_no_device);
    verdict_free(&verdict);
}

static void nothing_to_run(void **state)
{
    const struct program_to_judge graded = {.path = "/nonexistent/program"};
    struct verdict verdict;
    struct error error;

    (void)state;
    assert_false(verdict_run(&graded, &verdict, &error));
    assert_string_equal(error.text, "/nonexistent/program: it cannot be started: No such file or directory");
}

static void seeds_differ(void **state)
{
    const uint64_t seed = verdict_fresh_seed();
    bool differ = false;

    (void)state;
    for (int i = 0; i < 10; i++)
        differ |= verdict_fresh_seed() != seed;
    assert_true(differ);
    assert_true(seed < 1000000000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_one_passes),
        cmocka_unit_test(its_surroundings_are_bare),
        cmocka_unit_test(the_seed_arrives),
        cmocka_unit_test(the_first_failure_is_the_reason),
        cmocka_unit_test(no_records),
        cmocka_unit_test(a_hang),
        cmocka_unit_test(work_that_goes_on),
        cmocka_unit_test(no_process_is_left_behind),
        cmocka_unit_test(memory_without_end),
        cmocka_unit_test(output_without_end),
        cmocka_unit_test(a_crash),
        cmocka_unit_test(no_device),
        cmocka_unit_test(nothing_to_run),
        cmocka_unit_test(seeds_differ),
    };
    const char *const slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

    snprintf(program, sizeof program, "%.*s/graded_program", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
