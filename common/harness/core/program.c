#include "harness/core/program.h"

#include "base/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- options ------------------------------------------------------------------------------------------------------ */

#define FIELD(member) .field = offsetof(struct program_options, member)

const struct option_row program_option_rows[] = {
    {"seed", "S", "Seed of generated input (default 1)", 2, OPTION_INT64, FIELD(seed), .most = INT64_MAX,
     .repeats = IS_RANDOM},
    {.help = "The output", .group = 3},
    {"format", "FORMAT", "table, json or csv (default table)", 3, OPTION_WORD, FIELD(format), .words = record_formats,
     .repeats = WITH_NO_RUN},
    {"bench", NULL, "Times over a sweep of sizes, beside the chapter before and the floor", 3, OPTION_FLAG,
     FIELD(bench)},
    {"flush-l2", NULL, "With --bench: overwrite the L2 cache before each launch", 3, OPTION_FLAG, FIELD(flush_l2)},
    {"trace", "FILE.json",
     "On the CPU simulator: write there, once verified, what every warp of block (0,0,0) of the first launch did: "
     "shuffles, votes, barriers, loads, stores, atomics, with their lines and values; at most 100,000 events",
     3, OPTION_TEXT, FIELD(trace), .repeats = WITH_NO_RUN},
    {"trace-kernel", "NAME", "With --trace: the first launch of this kernel, as the report names it", 3, OPTION_TEXT,
     FIELD(trace_kernel), .repeats = WITH_NO_RUN},
    {0},
};

enum array_source array_source(const char *text)
{
    if (!text)
        return ARRAY_NOT_GIVEN;
    return strcmp(text, "none") == 0 ? ARRAY_NONE : strcmp(text, "random") == 0 ? ARRAY_RANDOM : ARRAY_FILE;
}

bool program_parse(struct program *program, const struct option_row *table, const char *does, int argc, char **argv,
                   void *options)
{
    char doc[320];

    snprintf(
        doc, sizeof doc,
        "Chapter %s of MoE routing, kernel by kernel: %s.\vExit status: 0 verified, 1 wrong result, 2 bad usage or "
        "input, 3 no device that can run it.",
        program->name, does);
    program->options = options;
    return options_parse(table, doc, argc, argv, options, &program->error);
}

static bool check_options(const struct program_options *options, struct error *error)
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

bool program_open(struct program *program)
{
    program->asked = *program->options;
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error to report, not a reason to die */
    return check_options(&program->asked, &program->error) &&
           (program->on_host || backend_open(&program->backend, &program->error));
}

unsigned program_traits(const struct program *program)
{
    return program->asked.bench && !program->asked.num_tokens_given ? 0 : HAS_NUM_TOKENS;
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

/* --- runs --------------------------------------------------------------------------------------------------------- */

bool program_next(struct program *program)
{
    const struct program_options *const asked = &program->asked;
    const bool first = !program->begun;

    if (asked->check_all && program->error.unsupported) {
        program->error = (struct error){0};
        program->num_unsupported++;
    }
    program->begun = true;
    if (program->error.result != RUN_VERIFIED)
        return false;
    return asked->bench ? bench_next(program) : first || asked->check_all;
}

/** Runs the launch under a trace, which is a file if it is verified. */
static void run_traced(struct program *program, const struct launch *launch, struct operands *operands)
{
    struct error *const error = &program->error;
    struct whole_file trace = {.stream = NULL};

    if (backend_trace_begin(program->asked.trace_kernel, error) &&
        whole_file_open(&trace, "--trace: ", program->asked.trace, error) && launch_run(launch, operands, error) &&
        backend_trace_end(trace.stream, error))
        whole_file_keep(&trace, "--trace: ", error);
    else
        backend_trace_end(NULL, &(struct error){0});
    whole_file_drop(&trace);
}

/** Runs it once; keeps the trace, the outputs and the counters. */
static void run_once(struct program *program, const struct launch *launch, struct operands *operands)
{
    const char *const out = program->asked.out;
    struct error *const error = &program->error;

    if (out && !directory_ready(out, error))
        return;
    if (program->asked.trace)
        run_traced(program, launch, operands);
    else
        launch_run(launch, operands, error);
    if (out && error->result == RUN_VERIFIED)
        operands_write(operands, out, error);
    if (!launch->on_host)
        backend_read_counters(&program->counters);
}

void program_run(struct program *program, const struct launch *launch, struct operands *operands)
{
    if (program->asked.bench)
        bench_step(program, launch, operands);
    else if (program->asked.check_all)
        program->num_verified += launch_run(launch, operands, &program->error);
    else
        run_once(program, launch, operands);
}

void program_run_before(struct program *program, const struct launch *launch, struct operands *operands)
{
    if (program->asked.bench && program->error.result == RUN_VERIFIED)
        bench_before(program, launch, operands);
}

/* --- report ------------------------------------------------------------------------------------------------------- */

/** What the report of a run begins with. In JSON the operator's "problem" comes before "verified", in CSV behind it. */
static void report_run(const struct program *program, struct record *report)
{
    const char *const device = program->on_host ? "host" : program->backend.device;
    const bool is_gpu = !program->on_host && !program->backend.has_counters;

    record_text(report, IN_TABLE, NULL, "%s on %s%s", program->name, is_gpu ? "" : "the ", device);
    record_text(report, IN_DATA, "chapter", "%s", program->name);
    record_text(report, IN_DATA, "before", "%s", program->before ? program->before : "");
    record_text(report, IN_DATA, "device", "%s", device);
    record_text(report, IN_CSV, "verified", "%s", program->error.result == RUN_VERIFIED ? "yes" : "no");
    record_text(report, IN_JSON, "command", "%s", program->command);
    record_text(report, IN_TABLE, "problem", "%s", program->problem);
    record_text(report, IN_TABLE | IN_JSON, "input", "%s", program->input);
}

struct record *program_report_head(struct program *program)
{
    if (program->asked.check_all)
        return NULL;
    record_free(&program->report);
    if (program->asked.bench)
        bench_report_head(program, &program->report);
    else
        report_run(program, &program->report);
    return &program->report;
}

struct record *program_report_result(struct program *program)
{
    struct record *const report = program->asked.bench || program->asked.check_all ? NULL : &program->report;
    const bool verified = program->error.result == RUN_VERIFIED;

    record_text(report, IN_TABLE, "verified", verified ? "yes: %s" : "NO: %s",
                verified ? program->verified : program->error.text);
    record_number(report, IN_JSON, "verified", "%s", verified ? "true" : "false");
    record_text(report, IN_JSON, "failure", "%s", verified ? "" : program->error.text);
    return report;
}

/* --- counters ----------------------------------------------------------------------------------------------------- */

/** A line of the table. One kernel alone has done all: it gets no column. */
static void add_row(const struct run_counters *counters, int index, double num_tokens, struct record *row)
{
    const struct counter *const total = &counters->total[index];
    char text[64];

    snprintf(text, sizeof text, "%s", total->name);
    for (char *c = text; (c = strchr(c, '_'));)
        *c = ' ';
    record_column(row, -26, "counter", "%s", text);
    record_column(row, 15, "total", "%s", grouped_digits(total->value, text));
    if (num_tokens > 0)
        record_column(row, 12, "per token", "%.2f", (double)total->value / num_tokens);
    for (int k = 0; counters->num_kernels > 1 && k < counters->num_kernels; k++)
        record_column(row, 13, counters->kernels[k].name, "%s",
                      grouped_digits(counters->kernels[k].counters[index].value, text));
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

/* --- the end ------------------------------------------------------------------------------------------------------ */

int program_exit(const struct program *program)
{
    if (program->error.result != RUN_VERIFIED)
        fprintf(stderr, "%s: %s\n", program->name, program->error.text);
    return program->error.result;
}

/** Says how many problems there were, or adds to the error the command that repeats the one that failed. */
static int end_check_all(struct program *program)
{
    const struct error reason = program->error;

    if (reason.result != RUN_VERIFIED) {
        error_set_as(&program->error, reason.result, "%s (repeat it with: %s)", reason.text, program->command);
    } else {
        printf("%s: %d problems verified, %d not supported\n", program->name, program->num_verified,
               program->num_unsupported);
        if (fflush(stdout) != 0 || ferror(stdout))
            error_set(&program->error, "standard output: cannot be written");
    }
    return program_exit(program);
}

int program_end(struct program *program)
{
    const bool wrong = program->error.result == RUN_WRONG && !program->asked.bench;
    struct record *const report = &program->report;
    bool written;

    if (program->asked.check_all)
        return end_check_all(program);
    if (program->asked.bench)
        bench_report_rows(program, report);
    else
        counters_report(&program->counters, (double)program->options->num_tokens, report);
    written = (wrong || program->error.result == RUN_VERIFIED) &&
              record_write(report, program->asked.format, stdout, &program->error);
    record_free(report);
    if (!written || !wrong)
        return program_exit(program);
    fprintf(stderr, "%s: wrong: %s\n%s: repeat it with: %s\n", program->name, program->error.text, program->name,
            program->command);
    return RUN_WRONG;
}
