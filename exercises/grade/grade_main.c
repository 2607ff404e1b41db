/**
 * @file grade_main.c
 * @brief The main function of a graded program: runs every case and reports on descriptor 3, in the format of
 * learn/verdict.h.
 *
 *     PROGRAM [--seed S] [--only CASE] [--until-failure] [--records]
 *     PROGRAM [--seed S] [--only CASE] --trace FILE
 *
 * With --until-failure, no further case runs after one that does not pass. Without --records, reports go to standard
 * output. With --trace, nothing is reported or judged: the first case that launches a kernel writes the launch's trace.
 *
 * Exits with 0 if every case passed, 1 if not, 2 for a bad command line, or 3 if there is no device.
 */
#include "grade.h"
#include "grade_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS_FD = 3, RECORD_SIZE = 2048 };

static int records_fd = STDOUT_FILENO;

/** Writes one record without buffering, so that a later crash cannot lose it. */
__attribute__((format(printf, 1, 2))) static void report(const char *format, ...)
{
    char record[RECORD_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(record, sizeof record - 1, format, arguments);
    va_end(arguments);
    strcat(record, "\n");
    for (size_t at = 0, size = strlen(record); at < size;) {
        const ssize_t written = write(records_fd, record + at, size - at);

        if (written < 0 && errno != EINTR)
            return; /* the missing record fails the program */
        at += written > 0 ? (size_t)written : 0;
    }
}

/** Reports how a case ended and the figures that it measured. */
static void report_case(const struct grade_case *grade_case, struct grade_context *grade)
{
    static const char *const results[] = {
        [GRADE_PASSED] = "pass", [GRADE_FAILED] = "fail", [GRADE_FAULTED] = "fault", [GRADE_UNGRADED] = "fault"};

    for (int i = 0; i < grade->num_measurements; i++)
        report("measure\t%s\t%.17g", grade->measurements[i].name, grade->measurements[i].value);
    for (char *at = grade->message; *at; at++)
        if (*at == '\t' || *at == '\n')
            *at = ' ';
    report("case\t%s\t%s\t%s", grade_case->name, results[grade->result], grade->message);
}

/**
 * Checks whether the next case can use the device: a fault may have made it unusable, or an endless launch may still be
 * running.
 */
static bool can_go_on(const struct grade_context *grade)
{
    return grade->failed_launch_status != cudaErrorLaunchTimeout &&
           (cudaGetLastError(), cudaDeviceSynchronize() == cudaSuccess);
}

/** Checks whether the options select a case. */
static bool is_asked(const struct grade_context *grade, const struct grade_case *grade_case, const char *only)
{
    return (!grade_case->needs_counters || grade_has_counters(grade)) && (!only || strcmp(only, grade_case->name) == 0);
}

/** The command-line options. */
struct grade_options {
    uint64_t seed;
    const char *only;  /**< the name of the only case to run, or NULL */
    const char *trace; /**< the file for a trace, or NULL */
    bool stop_after_failure;
};

/** Runs the cases. Returns the number of cases that did not pass, or -1 if there was no case to run. */
static int try_cases(struct grade_context *grade, const struct grade_options *options)
{
    int planned = 0, failed = 0;
    bool device = true;

    for (int i = 0; i < num_grade_cases; i++)
        planned += is_asked(grade, &grade_cases[i], options->only);
    if (planned == 0)
        return -1;
    report("plan\t%d", planned);
    for (int i = 0; i < num_grade_cases && !(failed && options->stop_after_failure); i++) {
        if (!is_asked(grade, &grade_cases[i], options->only))
            continue;
        report("try\t%s", grade_cases[i].name);
        if (device) {
            grade_run_case(grade, &grade_cases[i]);
            device = can_go_on(grade);
        } else {
            grade->result = GRADE_UNGRADED;
            grade->num_measurements = 0;
            snprintf(grade->message, sizeof grade->message, "not tried, since an earlier case did not end well");
        }
        failed += grade->result != GRADE_PASSED;
        report_case(&grade_cases[i], grade);
    }
    report("done");
    return failed;
}

/** Writes the first launch's trace; the launch runs in this process. Returns false with a reason on failure. */
static bool trace_case(struct grade_context *grade, const char *only, FILE *file, struct error *error)
{
    for (int i = 0; i < num_grade_cases; i++) {
        if (!is_asked(grade, &grade_cases[i], only))
            continue;
        if (!backend_begin_first_block_trace(NULL, error))
            return false;
        grade_run_case(grade, &grade_cases[i]);
        if (backend_end_and_write_trace(file, error))
            return true;
    }
    return error_set(error, "no kernel was launched (exercises in host code launch none)");
}

static int write_trace(struct grade_context *grade, const char *only, const char *path)
{
    FILE *const file = fopen(path, "w");
    struct error error = {0};
    bool good = file ? trace_case(grade, only, file, &error) : error_set(&error, "%s: %s", path, strerror(errno));

    if (file && fclose(file) != 0 && good)
        good = error_set(&error, "%s: %s", path, strerror(errno));
    if (!good)
        fprintf(stderr, "%s\n", error.text);
    return good ? 0 : 2;
}

/** Parses the command line. Returns false if it is invalid. */
static bool read_arguments(int argc, char **argv, struct grade_options *options)
{
    for (int i = 1; i < argc; i++) {
        const char *const value = i + 1 < argc ? argv[i + 1] : NULL;
        char *end;

        if (strcmp(argv[i], "--until-failure") == 0) {
            options->stop_after_failure = true;
            continue;
        }
        if (strcmp(argv[i], "--records") == 0) {
            records_fd = RECORDS_FD;
            continue;
        }
        if (!value)
            return false;
        i++;
        if (strcmp(argv[i - 1], "--only") == 0) {
            options->only = value;
        } else if (strcmp(argv[i - 1], "--trace") == 0) {
            options->trace = value;
        } else {
            errno = 0;
            options->seed = strtoull(value, &end, 10);
            if (strcmp(argv[i - 1], "--seed") != 0 || errno || end == value || *end || value[0] == '-')
                return false;
        }
    }
    return true;
}

/** The default for graders that do not define grade_gpu_needs. */
__attribute__((weak)) const struct gpu_needs grade_gpu_needs = {0};

int main(int argc, char **argv)
{
    static struct grade_context grade;
    struct grade_options options = {0};
    struct error error;
    int failed;

    if (!read_arguments(argc, argv, &options)) {
        fprintf(stderr, "usage: %s [--seed NUMBER] [--only CASE] [--until-failure] [--records] [--trace FILE]\n",
                argv[0]);
        return 2;
    }
    grade.seed = options.seed;
    if (!backend_open(&grade.backend, &grade_gpu_needs, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 3;
    }
    if (options.trace)
        return write_trace(&grade, options.only, options.trace);
    if (!grade_prepare_for_child_processes(&grade)) {
        fprintf(stderr, "too little memory, address space (ulimit -v shows a limit) or processes to launch in\n");
        return 3;
    }
    failed = try_cases(&grade, &options);
    if (failed < 0)
        fprintf(stderr, "%s: --only %s: there is no such case here\n", argv[0], options.only ? options.only : "");
    return failed < 0 ? 2 : failed > 0;
}
