#include "harness/core/program.h"

#include "base/environment.h"
#include "base/standard_output.h"
#include "harness/core/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- options ------------------------------------------------------------------------------------------------------ */

#define FIELD(member) .field_offset = offsetof(struct program_options, member)

const struct option_row program_option_rows[] = {
    {"seed", "S", "Seed of generated input and of the problems to check (default 1)", 2, OPTION_INT64, FIELD(seed),
     .given_offset = offsetof(struct program_options, seed_given), .most = INT64_MAX,
     .in_command_if_traits = TRAIT_USES_SEED},
    {"launches", "N", "Launch N times with the same workspace; check and count the last launch (default 1)", 3,
     OPTION_INT, FIELD(num_launches), .least = 1, .most = 1000, .in_command_if_traits = TRAIT_HAS_SEVERAL_LAUNCHES},
    {"check-corners", NULL,
     "Of the problems of --check-all only the first ones, in which every corner has occurred; --check-all may be left "
     "out",
     3, OPTION_FLAG, FIELD(check_only_corners), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {"check-share", "N", "Of the problems of --check-all one in N, beginning with one that the kernel's source chooses",
     3, OPTION_INT, FIELD(check_one_problem_in), .least = 1, .most = 1000, .in_command_if_traits = TRAIT_OF_NO_RUN},
    {.help = "The output", .help_group = 3},
    {"format", "FORMAT", "table, json or csv (default table)", 3, OPTION_WORD, FIELD(format),
     .value_words = record_format_names, .in_command_if_traits = TRAIT_OF_NO_RUN},
    {"bench", NULL, "Times over a sweep of sizes, beside the chapter before and the floor", 3, OPTION_FLAG,
     FIELD(bench)},
    {"flush-l2", NULL, "With --bench: overwrite the L2 cache before each launch", 3, OPTION_FLAG, FIELD(flush_l2)},
    {"trace", "FILE.json",
     "On the CPU simulator: write there, once verified, what every warp of block (0,0,0) of the first launch did: "
     "shuffles, votes, barriers, loads, stores, atomics, with their lines and values; at most 100,000 events",
     3, OPTION_PATH, FIELD(trace_path), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {"trace-kernel", "NAME", "With --trace: the first launch of this kernel, as the report names it", 3, OPTION_TEXT,
     FIELD(trace_kernel), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {0},
};

enum array_source parse_array_source(const char *text)
{
    if (!text)
        return ARRAY_SOURCE_NOT_GIVEN;
    return strcmp(text, "none") == 0     ? ARRAY_SOURCE_NONE
           : strcmp(text, "random") == 0 ? ARRAY_SOURCE_RANDOM
                                         : ARRAY_SOURCE_FILE;
}

bool array_file_check_exists(const char *flag, const char *path, struct error *error)
{
    return access(path, F_OK) == 0 ||
           error_set(error, "--%s: %s: %s; it must be none, random or a .npy file", flag, path, strerror(errno));
}

/** Returns the option on the command line that makes the program choose its own problems, or NULL. */
static const char *name_check(const struct program_options *options)
{
    return options->check_all                  ? "check-all"
           : options->check_only_corners       ? "check-corners"
           : options->check_one_problem_in > 0 ? "check-share"
                                               : NULL;
}

bool program_parse(struct program *program, const struct option_row *table, const char *description, int argc,
                   char **argv, void *options)
{
    static const char *const taken[] = {"check-all", "check-corners", "check-share", "seed", NULL};
    char doc[320];

    snprintf(
        doc, sizeof doc,
        "Chapter %s of MoE routing, kernel by kernel: %s.\vExit status: 0 verified, 1 wrong result, 2 bad usage or "
        "input, 3 no suitable device, or too little memory.",
        program->name, description);
    open_closed_standard_streams_ignore_sigxfsz();
    program->options = options;
    if (!options_parse(table, program->unsupported_options, doc, argc, argv, options, &program->error))
        return false;

    const char *const check = name_check(program->options);
    const char *const other = check ? options_find_given_but_disallowed(table, taken, argc, argv) : NULL;

    program->options->check_all = check;
    return !other || error_set(&program->error, "--%s: makes its problems itself; leave out --%s%s", check, other,
                               strcmp(check, "check-all") == 0 && strcmp(other, "num-tokens") == 0
                                   ? "; --check-corners or --check-share N takes less time"
                                   : "");
}

bool program_reject_unused_seed(struct program *program, unsigned trait_mask)
{
    return !program->options->seed_given || program->options->check_all || trait_mask & TRAIT_USES_SEED ||
           error_set(&program->error, "--seed: no input of this run is generated; leave it out");
}

static bool check_options(const struct program_options *options, bool on_host, struct error *error)
{
    if (options->flush_l2 && !options->bench)
        return error_set(error, "--flush-l2: only times know a cache; add --bench");
    if (options->trace_path && options->bench)
        return error_set(error, "--trace: traces one launch; leave out --bench");
    if (options->num_launches > 1 && options->bench)
        return error_set(error, "--launches: a benchmark launches as often as it takes; leave out --bench");
    if (options->num_launches > 1 && on_host)
        return error_set(error, "--launches: this chapter computes on the host; it launches nothing");
    if (options->trace_kernel && !options->trace_path)
        return error_set(error, "--trace-kernel: says what --trace traces; add --trace FILE.json");
    if (options->bench && options->output_directory)
        return error_set(error, "--out: a benchmark writes no arrays; leave out --bench");
    return true;
}

static bool ended;

/**
 * Replaces exit code 1, which the OpenMP runtime uses if it cannot create a thread, because 1 stands for a wrong
 * result.
 */
static void end_early(void)
{
    if (!ended)
        _exit(RUN_CANNOT_RUN);
}

void program_require_launch_overlap_and_set_serial_baseline(struct program *program)
{
    static const struct gpu_needs needs = {.min_compute_capability = 90, .feature_name = "launches that overlap"};

    program->gpu_needs = &needs;
    program->previous_name = "launched one after the other";
}

bool program_check_options_and_open_device(struct program *program)
{
    struct benchmark *const bench = &program->bench;

    program->requested_options = *program->options;
    atexit(end_early);
    if (!check_options(&program->requested_options, program->runs_on_host, &program->error) ||
        !environment_variables_check(&program->error) ||
        !(program->runs_on_host || backend_open(&program->backend, program->gpu_needs, &program->error)))
        return false;
    bench->name = program->name;
    bench->previous_name = program->previous_name;
    bench->runs_on_host = program->runs_on_host;
    bench->can_measure_times = program->backend.can_measure_times;
    bench->flush_l2 = program->requested_options.flush_l2;
    bench->only_num_tokens = program->requested_options.num_tokens_given ? program->requested_options.num_tokens : -1;
    return true;
}

unsigned program_run_trait_mask(const struct program *program)
{
    return (program->requested_options.bench && !program->requested_options.num_tokens_given ? 0
                                                                                             : TRAIT_HAS_NUM_TOKENS) |
           (program->options->num_launches > 1 ? TRAIT_HAS_SEVERAL_LAUNCHES : 0);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/** Sets the error for a folder that cannot be made; if its parent does not exist, the error names the parent. */
static bool refuse_directory(const char *directory, int reason, struct error *error)
{
    char parent[PATH_MAX];
    size_t length = strlen(directory);

    while (length > 0 && directory[length - 1] == '/')
        length--;
    while (length > 0 && directory[length - 1] != '/')
        length--;
    if (reason == ENOENT && length > 1 && length <= sizeof parent) {
        snprintf(parent, sizeof parent, "%.*s", (int)length - 1, directory);
        if (access(parent, F_OK) != 0)
            return error_set(error, "--out: cannot make the folder %s: %s does not exist", directory, parent);
    }
    return error_set(error, "--out: cannot make the folder %s: %s", directory, strerror(reason));
}

bool output_directory_create(const char *directory, struct error *error)
{
    struct stat status;

    if ((mkdir(directory, 0777) != 0 && errno != EEXIST) || stat(directory, &status) != 0)
        return refuse_directory(directory, errno, error);
    if (!S_ISDIR(status.st_mode))
        return error_set(error, "--out: %s is a file; --out needs a folder", directory);
    return access(directory, W_OK | X_OK) == 0 ||
           error_set(error, "--out: cannot write to the folder %s: %s", directory, strerror(errno));
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/** Starts the benchmark's next size. Returns false if no size is left or on failure. */
static bool next_size(struct program *program)
{
    struct benchmark *const bench = &program->bench;

    if (!bench_begin_next_row(bench, &program->error))
        return false;
    program->options->num_tokens = bench->rows[bench->num_rows - 1].num_tokens;
    program->options->num_tokens_given = true;
    return true;
}

/** Shows on a terminal how many problems --check-all has gone through, in a line that erase_progress() removes. */
static void show_progress(const struct program *program)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s: %d problems\033[K", program->name, program->covering.num_accepted_problems);
}

static void erase_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

bool program_begin_next_run(struct program *program)
{
    const struct program_options *const requested = &program->requested_options;
    const bool first = !program->has_begun_first_run;

    if (requested->check_all)
        show_progress(program);
    if (requested->check_all && program->error.problem_is_unsupported)
        program->error = (struct error){0};
    program->has_begun_first_run = true;
    if (program->error.exit_code != RUN_VERIFIED)
        return false;
    return requested->bench ? next_size(program) : first || requested->check_all;
}

/** Runs the launch with a trace; commits the trace file only if the answer is verified. */
static bool run_traced(struct program *program, const struct checked_launch *launch, struct tensors *tensors,
                       struct atomic_file *trace)
{
    struct error *const error = &program->error;
    const bool good = backend_begin_first_block_trace(program->requested_options.trace_kernel, error) &&
                      atomic_file_open(trace, "--trace: ", program->requested_options.trace_path, error) &&
                      checked_launch_run(launch, tensors, error);

    return backend_end_and_write_trace(good ? trace->stream : NULL, good ? error : &(struct error){0}) && good;
}

/**
 * Runs the launch once. Writes the trace and the outputs (either all of these files or none), and reads the counters.
 */
static void run_once(struct program *program, const struct checked_launch *launch, struct tensors *tensors)
{
    const char *const out = program->requested_options.output_directory;
    struct error *const error = &program->error;
    struct atomic_file files[1 + MAX_TENSORS] = {0};

    if (out && !output_directory_create(out, error))
        return;
    if ((program->requested_options.trace_path ? run_traced(program, launch, tensors, files)
                                               : checked_launch_run(launch, tensors, error)) &&
        (!out || tensors_write_outputs(tensors, out, files + 1, error)))
        atomic_files_commit(files, 1 + MAX_TENSORS, error);
    atomic_files_discard(files, 1 + MAX_TENSORS);
    if (!launch->runs_on_host)
        backend_read_counters(&program->counters);
}

/** Checks that the device has enough shared memory per block for the launch. */
static bool has_room(const struct program *program, const struct checked_launch *launch, struct error *error)
{
    return gpu_check_has_shared_memory(&program->backend.gpu, program->backend.device_name, launch->shared_bytes,
                                       error);
}

/** Increments the problem count of each kernel that the last launch started. */
static void record_kernels(struct program *program)
{
    if (program->runs_on_host)
        return;
    backend_read_counters(&program->counters);
    for (int i = 0; i < program->counters.num_kernels; i++) {
        const char *const name = program->counters.kernels[i].name;
        int k = 0;

        while (k < program->num_kernels && strcmp(program->kernels[k].name, name) != 0)
            k++;
        if (k == MAX_KERNELS)
            continue;
        if (k == program->num_kernels)
            snprintf(program->kernels[program->num_kernels++].name, KERNEL_NAME_SIZE, "%s", name);
        program->kernels[k].num_problems++;
    }
}

/**
 * Returns the number of the first problem that --check-share verifies. The number is derived from the source's hash, so
 * that different versions of the source verify different problems.
 */
static int first_of_share(const struct program *program)
{
    char digits[8] = "";

    snprintf(digits, sizeof digits, "%s", program->source_hash);
    return (int)(strtoul(digits, NULL, 16) % (unsigned)program->requested_options.check_one_problem_in);
}

/** Returns whether --check-share skips the current problem. */
static bool is_left_out(const struct program *program)
{
    const int share = program->requested_options.check_one_problem_in;

    return share > 1 && program->covering.num_accepted_problems % share != first_of_share(program);
}

void program_run_or_benchmark_checked_launch(struct program *program, const struct checked_launch *launch,
                                             struct tensors *tensors)
{
    struct checked_launch repeated = *launch;

    if (!has_room(program, launch, &program->error))
        return;
    repeated.num_launches_before_checked = program->options->num_launches > 1 ? program->options->num_launches - 1 : 0;
    if (program->requested_options.bench)
        bench_verify_and_time_chapter(&program->bench, launch, tensors, &program->error);
    else if (!program->requested_options.check_all)
        run_once(program, &repeated, tensors);
    else if (is_left_out(program))
        covering_accept_problem(&program->covering);
    else if (checked_launch_run(&repeated, tensors, &program->error)) {
        covering_accept_problem(&program->covering);
        program->num_verified_problems++;
        record_kernels(program);
    }
}

void program_time_previous_chapter(struct program *program, const struct checked_launch *launch,
                                   struct tensors *tensors)
{
    struct error ignored = {0};

    if (program->requested_options.bench && program->error.exit_code == RUN_VERIFIED &&
        has_room(program, launch, &ignored))
        bench_time_previous_chapter(&program->bench, launch, tensors);
}

/* --- report ------------------------------------------------------------------------------------------------------- */

/** Begins the report of a run. In JSON, the operator's "problem" comes before "verified"; in CSV, after it. */
static void report_run(const struct program *program, struct record *report)
{
    const char *const device = program->runs_on_host ? "host" : program->backend.device_name;
    const bool is_gpu = !program->runs_on_host && !program->backend.has_counters;

    record_add_text(report, IN_TABLE, NULL, "%s on %s%s", program->name, is_gpu ? "" : "the ", device);
    record_add_text(report, IN_DATA, "chapter", "%s", program->name);
    record_add_text(report, IN_DATA, "before", "%s", program->previous_name ? program->previous_name : "");
    record_add_text(report, IN_DATA, "device", "%s", device);
    record_add_text(report, IN_CSV, "verified", "%s", program->error.exit_code == RUN_VERIFIED ? "yes" : "no");
    record_add_text(report, IN_JSON, "command", "%s", program_command(program));
    record_add_text(report, IN_TABLE, "problem", "%s", program->problem_text);
    record_add_text(report, IN_TABLE | IN_JSON, "input", "%s", program->input_text);
}

void report_add_provenance(const struct program *program, struct record *report)
{
    const struct backend_info *const backend = &program->backend; /* its strings are "" if the host computes */
    const time_t now = time(NULL);
    struct tm utc;
    char date[32];

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    record_add_text(report, IN_JSON, "driver", "%s", backend->driver_version);
    record_add_text(report, IN_JSON, "toolkit", "%s", backend->toolkit_version);
    record_add_text(report, IN_JSON, "date", "%s", date);
    record_add_text(report, IN_JSON, "kernel_source_sha256", "%s", program->source_hash);
    record_add_text(report, IN_JSON, "distribution", "%s", program->distribution_name);
    record_add_number(report, IN_JSON, "seed", "%" PRIu64, program->requested_options.seed);
}

/** Begins the report of a benchmark; program->problem_text describes the last row's problem. */
static void report_bench(const struct program *program, struct record *report)
{
    const char *const device = program->runs_on_host ? "host" : program->backend.device_name;
    const char *const cache = program->requested_options.flush_l2 ? "flushed" : "warm";

    record_add_text(report, IN_TABLE, NULL, "%s on %s%s, %s%s", program->name, program->runs_on_host ? "the " : "",
                    device, cache, program->requested_options.flush_l2 ? " L2" : "");
    record_add_text(report, IN_TABLE, NULL, "largest problem: %s", program->problem_text);
    record_add_text(report, IN_TABLE, NULL,
                    "microseconds per %s: median (p10, p90); every size verified before and after\n",
                    program->runs_on_host ? "call" : "launch");
    record_add_text(report, IN_JSON, "chapter", "%s", program->name);
    record_add_text(report, IN_JSON, "before", "%s", program->previous_name ? program->previous_name : "");
    record_add_text(report, IN_JSON, "device", "%s", device);
    record_add_text(report, IN_JSON, "command", "%s", program_command(program));
    report_add_provenance(program, report);
    record_add_text(report, IN_JSON, "cache", "%s", cache);
}

struct record *program_begin_report(struct program *program)
{
    if (program->requested_options.check_all)
        return NULL;
    record_free(&program->report);
    if (program->requested_options.bench)
        report_bench(program, &program->report);
    else
        report_run(program, &program->report);
    return &program->report;
}

struct record *program_report_correctness(struct program *program)
{
    struct record *const report = program->requested_options.bench || program->requested_options.check_all
                                      ? NULL
                                      : &program->report;
    const bool verified = program->error.exit_code == RUN_VERIFIED;

    const char *const text = program->error.text;

    record_add_text(report, IN_TABLE, "verified", verified ? "yes: %.*s" : "NO: %.*s",
                    verified ? (int)strlen(program->verified_text)
                             : (int)(error_find_advice_separator_or_end(text) - text),
                    verified ? program->verified_text : text);
    record_add_number(report, IN_JSON, "verified", "%s", verified ? "true" : "false");
    record_add_text(report, IN_JSON, "failure", "%s", verified ? "" : program->error.text);
    return report;
}

/* --- counters ----------------------------------------------------------------------------------------------------- */

/** Adds a counter's row to the table, with a column for each kernel if there are several kernels. */
static void add_row(const struct run_counters *counters, int index, double num_tokens, struct record *row)
{
    const struct counter *const total = &counters->totals[index];
    char text[64];

    snprintf(text, sizeof text, "%s", total->name);
    for (char *c = text; (c = strchr(c, '_'));)
        *c = ' ';
    record_add_table_cell(row, -26, "counter", "%s", text);
    record_add_table_cell(row, 15, "total", "%s", format_thousands(total->value, text));
    if (num_tokens > 0)
        record_add_table_cell(row, 12, "per token", "%s",
                              format_thousands_two_decimals((double)total->value / num_tokens, text));
    for (int k = 0; counters->num_kernels > 1 && k < counters->num_kernels; k++)
        record_add_table_cell(row, 13, counters->kernels[k].name, "%s",
                              format_thousands(counters->kernels[k].counters[index].value, text));
}

static bool is_reported(const struct run_counters *counters, int index)
{
    return index < counters->num_counters - counters->num_counters_omitted_if_zero || counters->totals[index].value > 0;
}

static void add_values(const struct run_counters *all, const struct counter *counters, struct record *values)
{
    for (int i = 0; i < all->num_counters; i++)
        if (is_reported(all, i))
            record_add_number(values, IN_DATA, counters[i].name, "%" PRIu64, counters[i].value);
}

void report_add_counters(const struct run_counters *counters, double num_tokens, struct record *report)
{
    struct record *list;

    if (counters->num_counters > 0) {
        record_add_text(report, IN_TABLE, NULL, "%s", "");
        list = record_add_list(report, IN_TABLE, NULL);
        for (int i = 0; i < counters->num_counters; i++)
            if (is_reported(counters, i))
                add_row(counters, i, num_tokens, record_list_add_row(list, IN_TABLE));
        if (backend_counter_limitations())
            record_add_text(report, IN_TABLE, NULL, "\n%s", backend_counter_limitations());
    }
    add_values(counters, counters->totals, record_add_object(report, IN_DATA, "counters"));
    list = record_add_list(report, IN_JSON, "kernels");
    for (int k = 0; k < counters->num_kernels; k++) {
        struct record *const kernel = record_list_add_row(list, IN_JSON);

        record_add_text(kernel, IN_JSON, "name", "%s", counters->kernels[k].name);
        add_values(counters, counters->kernels[k].counters, record_add_object(kernel, IN_JSON, "counters"));
    }
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

void program_set_command(struct program *program, const struct option_row *table, unsigned trait_mask)
{
    const char *const order = program->backend.has_counters ? getenv("SIMT_ORDER") : NULL; /* simulator only */
    char *const command = options_format_command(table, program->options, trait_mask, program->path);

    free(program->command);
    program->command = command;
    if (order && command) {
        if (asprintf(&program->command, "SIMT_ORDER=%s %s", order, command) < 0)
            program->command = NULL;
        free(command);
    }
}

const char *program_command(const struct program *program)
{
    return program->command ? program->command : program->path;
}

/** Prints the error: one line and, for a simulator fault, a second line with advice. */
static void print_error(const struct program *program, const char *before)
{
    const char *const text = program->error.text, *const advice = error_find_advice_separator_or_end(text);

    fprintf(stderr, "%s: %s%.*s\n", program->name, before, (int)(advice - text), text);
    if (*advice)
        fprintf(stderr, "%s: try: %s\n", program->name, advice + strlen(ERROR_ADVICE_SEPARATOR));
}

int program_print_error(const struct program *program)
{
    ended = true;
    if (program->error.exit_code != RUN_VERIFIED)
        print_error(program, "");
    return program->error.exit_code;
}

/** Prints the numbers of problems, pairs and kernels that --check-all has verified. */
static void print_coverage(const struct program *program)
{
    const struct covering_design *const covering = &program->covering;
    const int corners = covering_num_corners(covering, CORNERS_COVERED),
              pairs = covering_num_pairs(covering, CORNERS_COVERED);
    const int other_corners = covering_num_corners(covering, CORNERS_NOT_SUPPORTED);
    const int other_pairs = program->requested_options.check_only_corners
                                ? 0
                                : covering_num_pairs(covering, CORNERS_NOT_SUPPORTED);

    printf("%s: ", program->name);
    if (program->num_verified_problems < covering->num_accepted_problems)
        printf("%d of %d problems verified, one in %d from problem %d; the %d problems have",
               program->num_verified_problems, covering->num_accepted_problems,
               program->requested_options.check_one_problem_in, first_of_share(program),
               covering->num_accepted_problems);
    else
        printf("%d problems verified, with", covering->num_accepted_problems);
    printf(" %d of %d corners", corners, corners + other_corners);
    if (!program->requested_options.check_only_corners)
        printf(" and %d of %d pairs of corners", pairs, pairs + other_pairs);
    printf(other_corners || other_pairs ? "; the others are not supported\n" : "\n");
    for (int k = 0; k < program->num_kernels; k++)
        printf("%s: in %d problems\n", program->kernels[k].name, program->kernels[k].num_problems);
}

/** Prints what --check-all has verified, or the failure with the command that reproduces it. Returns the exit code. */
static int end_check_all(struct program *program)
{
    struct error *const error = &program->error;

    erase_progress();
    if (error->exit_code != RUN_VERIFIED) {
        fprintf(stderr, "%s: %s (repeat it with: %s)\n", program->name, error->text, program_command(program));
        return error->exit_code;
    }
    print_coverage(program);
    standard_output_flush(error);
    return program_print_error(program);
}

/** Tells a reader who has verified one problem how to verify others, if the program has --check-corners. */
static void report_other_problems(const struct program *program, struct record *report)
{
    const char *const *unsupported = program->unsupported_options;

    while (unsupported && *unsupported && strcmp(*unsupported, "check-corners") != 0)
        unsupported++;
    if (program->error.exit_code == RUN_VERIFIED && !(unsupported && *unsupported))
        record_add_text(report, IN_TABLE, NULL, "%s",
                        "\nThis verifies one problem; --check-corners verifies others, of unusual sizes and values.");
}

/** Adds which fallback the kernels belong to if none of them is the chapter's; a GPU reports no kernels. */
static void report_fallback(const struct program *program, struct record *report)
{
    const struct run_counters *const counters = &program->counters;

    if (!program->own_kernels || !program->own_kernels[0] || counters->num_kernels == 0)
        return;
    for (int k = 0; k < counters->num_kernels; k++)
        for (const char *const *own = program->own_kernels; *own; own++)
            if (strcmp(*own, counters->kernels[k].name) == 0)
                return;
    record_add_text(report, IN_TABLE, "kernels", "the fallback is launched: %s", program->fallback);
    record_add_text(report, IN_JSON, "fallback", "%s", program->fallback);
}

/** Writes the report and the error, if there is an error. Returns the exit code. */
static int end_report(struct program *program)
{
    const bool wrong = program->error.exit_code == RUN_WRONG && !program->requested_options.bench;
    struct record *const report = &program->report;
    bool written;

    if (program->requested_options.bench) {
        bench_report_rows(&program->bench, report);
    } else {
        report_fallback(program, report);
        report_add_counters(&program->counters, (double)program->options->num_tokens, report);
        report_other_problems(program, report);
    }
    written = (wrong || program->error.exit_code == RUN_VERIFIED) &&
              record_write(report, program->requested_options.format, stdout, &program->error);
    record_free(report);
    if (!written || !wrong)
        return program_print_error(program);
    print_error(program, "wrong: ");
    fprintf(stderr, "%s: repeat it with: %s\n", program->name, program_command(program));
    return RUN_WRONG;
}

int program_write_result(struct program *program)
{
    const int code = program->requested_options.check_all ? end_check_all(program) : end_report(program);

    free(program->command);
    program->command = NULL;
    ended = true;
    return code;
}
