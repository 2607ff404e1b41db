#include "harness/core/program.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- options ------------------------------------------------------------------------------------------------------ */

void program_doc(const char *name, const char *does, char *text, size_t size)
{
    snprintf(
        text, size,
        "Chapter %s of MoE routing, kernel by kernel: %s.\vExit status: 0 verified, 1 wrong result, 2 bad usage or "
        "input, 3 no device that can run it.",
        name, does);
}

bool program_options_check(const struct program_options *options, struct error *error)
{
    if (options->flush_l2 && !options->bench)
        return error_set(error, "--flush-l2: only times know a cache; add --bench");
    if (options->check_all && (options->bench || options->out))
        return error_set(error, "--check-all: checks many problems; leave out %s",
                         options->bench ? "--bench" : "--out");
    if (options->trace && (options->check_all || options->bench))
        return error_set(error, "--trace: traces one launch; leave out %s",
                         options->check_all ? "--check-all" : "--bench");
    if (options->trace_kernel && !options->trace)
        return error_set(error, "--trace-kernel: says what --trace traces; add --trace FILE.json");
    if (options->bench && options->out)
        return error_set(error, "--out: a benchmark writes no arrays; leave out --bench");
    return true;
}

bool program_open(bool launches, struct backend *backend, struct error *error)
{
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error to report, not a reason to die */
    return !launches || backend_open(backend, error);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/** Creates the directory if its parent exists, and makes sure that files can be made in it. */
static bool directory_ready(const char *directory, struct error *error)
{
    struct stat status;

    if ((mkdir(directory, 0777) != 0 && errno != EEXIST) || stat(directory, &status) != 0)
        return error_set(error, "--out: %s: %s", directory, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_set(error, "--out: %s: not a directory", directory);
    return access(directory, W_OK | X_OK) == 0 || error_set(error, "--out: %s: %s", directory, strerror(errno));
}

bool program_begin(const struct program_options *options, struct whole_file *trace, struct error *error)
{
    *trace = (struct whole_file){0};
    if (options->out && !directory_ready(options->out, error))
        return false;
    if (!options->trace || (backend_trace_begin(options->trace_kernel, error) &&
                            whole_file_open(trace, "--trace: ", options->trace, error)))
        return true;
    backend_trace_end(NULL, &(struct error){0});
    return false;
}

void program_keep(const struct program_options *options, const struct operands *operands, struct whole_file *trace,
                  struct error *error)
{
    if (options->trace && error->result != RUN_VERIFIED)
        backend_trace_end(NULL, &(struct error){0});
    else if (options->trace && backend_trace_end(trace->stream, error))
        whole_file_keep(trace, "--trace: ", error);
    whole_file_drop(trace);
    if (options->out && error->result == RUN_VERIFIED)
        operands_write(operands, options->out, error);
}

int program_failed(const char *name, const struct error *error)
{
    fprintf(stderr, "%s: %s\n", name, error->text);
    return error->result;
}

/* --- report ------------------------------------------------------------------------------------------------------- */

void program_report_head(const struct program_run *run, struct record *report)
{
    record_text(report, IN_TABLE, NULL, "%s on %s%s", run->name, run->device && !run->has_counters ? "" : "the ",
                run->device ? run->device : "host");
    record_text(report, IN_DATA, "chapter", "%s", run->name);
    record_text(report, IN_DATA, "before", "%s", run->before ? run->before : "");
    record_text(report, IN_DATA, "device", "%s", run->device ? run->device : "host");
    record_text(report, IN_CSV, "verified", "%s", run->error.result == RUN_VERIFIED ? "yes" : "no");
    record_text(report, IN_JSON, "command", "%s", run->command);
    record_text(report, IN_TABLE, "problem", "%s", run->problem);
    record_text(report, IN_TABLE | IN_JSON, "input", "%s", run->input);
}

void program_report_result(const struct program_run *run, struct record *report)
{
    const bool verified = run->error.result == RUN_VERIFIED;

    record_text(report, IN_TABLE, "verified", verified ? "yes: %s" : "NO: %s",
                verified ? run->verified : run->error.text);
    record_number(report, IN_JSON, "verified", "%s", verified ? "true" : "false");
    record_text(report, IN_JSON, "failure", "%s", verified ? "" : run->error.text);
}

int program_end(const struct program_run *run, enum record_format format, struct record *report)
{
    const bool finished = run->error.result == RUN_VERIFIED || run->error.result == RUN_WRONG;
    struct error error = run->error;
    const bool written = finished && record_write(report, format, stdout, &error);

    record_free(report);
    if (!written)
        return program_failed(run->name, &error);
    if (error.result == RUN_WRONG)
        fprintf(stderr, "%s: wrong: %s\n%s: repeat it with: %s\n", run->name, error.text, run->name, run->command);
    return error.result;
}

/* --- counters ------------------------------------------------------------------------------------------------------ */

enum { NAME_WIDTH = 26, KERNEL_WIDTH = 13 };

/** A line of the table. One kernel alone has done all: it gets no column. */
static void add_row(const struct run_counters *counters, int index, double num_tokens, struct record *row)
{
    const struct counter *const total = &counters->total[index];
    char text[64];

    snprintf(text, sizeof text, "%s", total->name);
    for (char *c = text; (c = strchr(c, '_'));)
        *c = ' ';
    record_column(row, -NAME_WIDTH, "counter", "%s", text);
    record_column(row, 15, "total", "%s", grouped_digits(total->value, text));
    if (num_tokens > 0)
        record_column(row, 12, "per token", "%.2f", (double)total->value / num_tokens);
    for (int k = 0; counters->num_kernels > 1 && k < counters->num_kernels; k++) {
        const struct kernel_counters *const kernel = &counters->kernels[k];
        const int length = (int)strlen(kernel->name);

        record_column(row, length > KERNEL_WIDTH ? length : KERNEL_WIDTH, kernel->name, "%s",
                      grouped_digits(kernel->counters[index].value, text));
    }
}

static void add_values(const struct counter *counters, int count, struct record *values)
{
    for (int i = 0; i < count; i++)
        record_number(values, IN_DATA, counters[i].name, "%" PRIu64, counters[i].value);
}

void counters_report(const struct run_counters *counters, double num_tokens, struct record *report)
{
    struct record *list;

    if (counters->num_counters > 0) {
        record_text(report, IN_TABLE, NULL, "%s", "");
        list = record_list(report, IN_TABLE, NULL);
        for (int i = 0; i < counters->num_counters; i++)
            add_row(counters, i, num_tokens, record_object(list, IN_TABLE, NULL));
        if (backend_limits())
            record_text(report, IN_TABLE, NULL, "\n%s", backend_limits());
    }
    add_values(counters->total, counters->num_counters, record_object(report, IN_DATA, "counters"));
    list = record_list(report, IN_JSON, "kernels");
    for (int k = 0; k < counters->num_kernels; k++) {
        struct record *const kernel = record_object(list, IN_JSON, NULL);

        record_text(kernel, IN_JSON, "name", "%s", counters->kernels[k].name);
        add_values(counters->kernels[k].counters, counters->num_counters, record_object(kernel, IN_JSON, "counters"));
    }
}

/* --- many problems ------------------------------------------------------------------------------------------------ */

bool check_all_end(const struct check_all *tally, const char *name, struct error *error)
{
    printf("%s: %d problems verified, %d not supported\n", name, tally->verified, tally->unsupported);
    return (fflush(stdout) == 0 && !ferror(stdout)) || error_set(error, "standard output: cannot be written");
}

bool check_all_failed(const char *command, struct error *error)
{
    const struct error reason = *error;

    return error_set_as(error, reason.result, "%s (repeat it with: %s)", reason.text, command);
}
