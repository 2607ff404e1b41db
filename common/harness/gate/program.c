/** @file gate/program.c  A gate chapter's program, from the command line to the exit code. */
#include "harness/core/bench.h"
#include "harness/gate/problem.h"
#include "harness/gate/run.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>

/* --- report ------------------------------------------------------------------------------------------------------- */

static void name_input(const struct gate_options *options, char *text, size_t size)
{
    if (options->source == GATE_SOURCE_GENERATED)
        snprintf(text, size, "generated: %s, seed %" PRIu64, gate_dist_names[options->dist], options->program.seed);
    else
        snprintf(text, size, "%s",
                 options->source == GATE_SOURCE_FILE ? options->logits_path : "the real router's logits");
}

/** Adds the problem: all of it, or, for a benchmark, what does not change from row to row. */
static void report_problem(const struct gate_problem *problem, bool all, struct record *report)
{
    struct record *const fields = record_object(report, IN_DATA, "problem");

    if (all)
        record_number(fields, IN_DATA, "num_tokens", "%" PRId64, problem->num_tokens);
    record_number(fields, IN_DATA, "num_experts", "%d", problem->num_experts);
    record_number(fields, IN_JSON, "num_expert_group", "%d", problem->num_expert_group);
    record_number(fields, IN_JSON, "topk_group", "%d", problem->topk_group);
    record_number(fields, IN_JSON, "topk", "%d", problem->topk);
    record_text(fields, IN_DATA, "dtype", "%s", dtype_name(problem->dtype));
    record_text(fields, IN_DATA, "score", "%s", gate_score_names[problem->score]);
    record_text(fields, IN_DATA, "bias", "%s", gate_bias_name(problem));
    if (!all)
        return;
    record_number(fields, IN_JSON, "renormalize", "%s", problem->renormalize ? "true" : "false");
    record_number(fields, IN_JSON, "routed_scaling_factor", "%g", problem->routed_scaling_factor);
}

/** Adds how verified choices are spread over the experts. */
static void report_load(const struct gate_problem *problem, const int32_t *topk_ids, struct record *report)
{
    uint64_t *const choices = calloc(problem->num_experts, sizeof *choices);
    struct record *fields;
    char most[32], all[32];
    int busiest = 0, idle = 0;

    if (!choices)
        return;
    for (size_t i = 0; i < gate_choices(problem); i++)
        choices[topk_ids[i]]++;
    for (int e = 0; e < problem->num_experts; e++) {
        idle += choices[e] == 0;
        if (choices[e] > choices[busiest])
            busiest = e;
    }
    record_text(report, IN_TABLE, "load", "expert %d is the busiest: %s of %s choices; %d experts get none", busiest,
                grouped_digits(choices[busiest], most), grouped_digits(gate_choices(problem), all), idle);
    fields = record_object(report, IN_JSON, "load");
    record_number(fields, IN_JSON, "busiest_expert", "%d", busiest);
    record_number(fields, IN_JSON, "choices", "%" PRIu64, choices[busiest]);
    record_number(fields, IN_JSON, "idle_experts", "%d", idle);
    free(choices);
}

/* --- what a program does: one run, all problems, or times --------------------------------------------------------- */

static int run_once(const struct gate_chapter *chapter, struct gate_options *options, const struct backend *backend,
                    const char *program)
{
    const struct gate_problem *const problem = &options->problem;
    const bool on_host = chapter->step.compute != NULL;
    struct program_run run = {.name = chapter->step.name,
                              .before = chapter->before.name,
                              .device = on_host ? NULL : backend->device,
                              .has_counters = !on_host && backend->has_counters};
    struct run_counters counters = {.num_counters = 0};
    struct record report = {0};
    struct operands operands;
    struct whole_file trace;
    char choices[32];

    if (!gate_load(options, &chapter->step, &operands, &run.error))
        return program_failed(run.name, &run.error);
    if (program_begin(&options->program, &trace, &run.error)) {
        gate_run(problem, &chapter->step, &operands, &run.error);
        program_keep(&options->program, &operands, &trace, &run.error);
    }
    gate_options_command(options, program, run.command, sizeof run.command);
    gate_problem_describe(problem, run.problem, sizeof run.problem);
    name_input(options, run.input, sizeof run.input);
    snprintf(run.verified, sizeof run.verified, "%s choices and their weights",
             grouped_digits(gate_choices(problem), choices));
    if (!on_host)
        backend_read_counters(&counters);
    program_report_head(&run, &report);
    report_problem(problem, true, &report);
    program_report_result(&run, &report);
    if (run.error.result == RUN_VERIFIED)
        report_load(problem, operands.list[GATE_TOPK_IDS].host.data, &report);
    counters_report(&counters, (double)problem->num_tokens, &report);
    operands_free(&operands);
    return program_end(&run, options->program.format, &report);
}

static bool check_all(const struct gate_chapter *chapter, const struct gate_options *asked, const char *program,
                      struct error *error)
{
    const struct gate_step *const step = &chapter->step;
    struct check_all tally = {0};
    struct gate_options options;
    struct operands operands;

    for (int number = 0; gate_problem_to_try(number, asked->program.seed, &options); number++) {
        char command[PROGRAM_COMMAND_SIZE];
        bool right;

        if (!gate_problem_is_worth_trying(&options))
            continue;
        if (step->unsupported_reason && step->unsupported_reason(&options.problem)) {
            tally.unsupported++;
            continue;
        }
        right = gate_load(&options, step, &operands, error);
        if (right) {
            right = gate_run(&options.problem, step, &operands, error);
            operands_free(&operands);
        }
        gate_options_command(&options, program, command, sizeof command);
        if (!right)
            return check_all_failed(command, error);
        tally.verified++;
    }
    return check_all_end(&tally, step->name, error);
}

static bool bench_size(const struct bench *bench, const struct gate_chapter *chapter, struct gate_options *options,
                       struct bench_row *row, struct error *error)
{
    const struct gate_step *const before = &chapter->before;
    const struct gate_problem *const problem = &options->problem;
    const struct launch launch = gate_launch_of(problem, &chapter->step), other = gate_launch_of(problem, before);
    struct operands operands;
    bool good;

    options->problem.num_tokens = row->num_tokens;
    options->num_tokens_given = true;
    if (!gate_load(options, &chapter->step, &operands, error))
        return false;
    good = bench_step(bench, &launch, &operands, row, error);
    if (good && before->name && !(before->unsupported_reason && before->unsupported_reason(problem)))
        bench_before(bench, &other, &operands, row);
    operands_free(&operands);
    return good;
}

static bool bench(const struct gate_chapter *chapter, struct gate_options *options, const struct backend *backend,
                  const char *program, struct error *error)
{
    const bool one = options->num_tokens_given;
    struct bench bench = {
        .chapter = chapter->step.name,
        .before = chapter->before.name,
        .backend = chapter->step.launch ? backend : NULL,
        .options = &options->program,
        .distribution = options->source == GATE_SOURCE_GENERATED ? gate_dist_names[options->dist] : "router",
        .host_threads = chapter->step.compute || chapter->before.compute ? omp_get_max_threads() : 0,
        .only = one ? options->problem.num_tokens : -1,
    };
    char command[PROGRAM_COMMAND_SIZE], described[256];
    struct record report = {0};

    if (!bench_begin(&bench, error))
        return false;
    for (struct bench_row *row; (row = bench_next(&bench));)
        if (!bench_size(&bench, chapter, options, row, error))
            return false;
    options->num_tokens_given = one;
    gate_options_command(options, program, command, sizeof command);
    gate_problem_describe(&options->problem, described, sizeof described);
    bench_report_head(&bench, described, command, &report);
    report_problem(&options->problem, false, &report);
    return bench_end(&bench, &report, error);
}

int gate_main(int argc, char **argv, const struct gate_chapter *chapter)
{
    struct gate_options options;
    struct backend backend;
    struct error error = {0};
    bool done;

    if (!gate_options_parse(argc, argv, chapter, &options, &error) ||
        !program_open(chapter->step.launch != NULL, &backend, &error))
        return program_failed(chapter->step.name, &error);
    if (!options.program.check_all && !options.program.bench)
        return run_once(chapter, &options, &backend, argv[0]);
    done = options.program.check_all ? check_all(chapter, &options, argv[0], &error)
                                     : bench(chapter, &options, &backend, argv[0], &error);
    return done ? 0 : program_failed(chapter->step.name, &error);
}
