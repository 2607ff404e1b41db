/** @file gate/program.c  A gate chapter's program, from the command line to the exit code. */
#include "harness/core/bench.h"
#include "harness/gate/problem.h"
#include "harness/gate/run.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>

/* --- report ------------------------------------------------------------------------------------------------------- */

/** Makes the texts that say which run it is. */
static void name_run(const struct gate_options *options, struct program *program)
{
    gate_options_command(options, program);
    gate_problem_describe(&options->problem, program->problem, sizeof program->problem);
    if (options->source == GATE_SOURCE_GENERATED)
        snprintf(program->input, sizeof program->input, "generated: %s, seed %" PRIu64, gate_dist_names[options->dist],
                 options->program.seed);
    else
        snprintf(program->input, sizeof program->input, "%s",
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

/** Adds how verified ids are spread over the experts. */
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
    record_text(report, IN_TABLE, "load", "expert %d is the busiest: %s of %s ids; %d experts get none", busiest,
                grouped_digits(choices[busiest], most), grouped_digits(gate_choices(problem), all), idle);
    fields = record_object(report, IN_JSON, "load");
    record_number(fields, IN_JSON, "busiest_expert", "%d", busiest);
    record_number(fields, IN_JSON, "ids", "%" PRIu64, choices[busiest]);
    record_number(fields, IN_JSON, "idle_experts", "%d", idle);
    free(choices);
}

/* --- what a program does: one run, all problems, or times --------------------------------------------------------- */

static int run_once(struct program *program, const struct gate_chapter *chapter, struct gate_options *options)
{
    const struct gate_problem *const problem = &options->problem;
    const struct launch launch = gate_launch_of(problem, &chapter->step);
    struct run_counters counters = {.num_counters = 0};
    struct record report = {0};
    struct operands operands;
    char choices[32];

    if (!gate_load(options, &chapter->step, &operands, &program->error))
        return program_exit(program);
    program_run(program, &launch, &operands);
    name_run(options, program);
    snprintf(program->verified, sizeof program->verified, "%s ids and their weights",
             grouped_digits(gate_choices(problem), choices));
    if (!program->on_host)
        backend_read_counters(&counters);
    program_report_head(program, &report);
    report_problem(problem, true, &report);
    program_report_result(program, &report);
    if (program->error.result == RUN_VERIFIED)
        report_load(problem, operands.list[GATE_TOPK_IDS].host.data, &report);
    counters_report(&counters, (double)problem->num_tokens, &report);
    operands_free(&operands);
    return program_report_end(program, &report);
}

/** Runs and checks one of many problems. */
static bool try_problem(const struct gate_step *step, struct gate_options *options, struct error *error)
{
    const struct launch launch = gate_launch_of(&options->problem, step);
    struct operands operands;
    bool right;

    if (!gate_load(options, step, &operands, error))
        return false;
    right = launch_run(&launch, &operands, error);
    operands_free(&operands);
    return right;
}

static int check_all(struct program *program, const struct gate_chapter *chapter)
{
    struct check_all tally = {0};
    struct gate_options options;

    for (int number = 0; gate_problem_to_try(&number, program->options->seed, &options); number++) {
        if (gate_unsupported_reason(&chapter->step, &options.problem)) {
            tally.unsupported++;
        } else if (try_problem(&chapter->step, &options, &program->error)) {
            tally.verified++;
        } else {
            gate_options_command(&options, program);
            break;
        }
    }
    return check_all_end(program, &tally);
}

static void bench_size(const struct bench *bench, const struct gate_chapter *chapter, struct gate_options *options,
                       struct bench_row *row)
{
    const struct gate_problem *const problem = &options->problem;
    const struct launch launch = gate_launch_of(problem, &chapter->step);
    const struct launch before = gate_launch_of(problem, &chapter->before);
    struct operands operands;

    options->problem.num_tokens = row->num_tokens;
    options->num_tokens_given = true;
    if (!gate_load(options, &chapter->step, &operands, &bench->program->error))
        return;
    if (bench_step(bench, &launch, &operands, row) && chapter->before.name &&
        !gate_unsupported_reason(&chapter->before, problem))
        bench_before(bench, &before, &operands, row);
    operands_free(&operands);
}

static int bench(struct program *program, const struct gate_chapter *chapter, struct gate_options *options)
{
    const bool one = options->num_tokens_given;
    struct bench bench = {
        .program = program,
        .distribution = options->source == GATE_SOURCE_GENERATED ? gate_dist_names[options->dist] : "router",
        .host_threads = chapter->step.compute || chapter->before.compute ? omp_get_max_threads() : 0,
        .only = one ? options->problem.num_tokens : -1,
    };
    struct record report = {0};

    for (struct bench_row *row; (row = bench_next(&bench));)
        bench_size(&bench, chapter, options, row);
    options->num_tokens_given = one;
    name_run(options, program);
    bench_report_head(&bench, &report);
    report_problem(&options->problem, false, &report);
    return bench_end(&bench, &report);
}

int gate_main(int argc, char **argv, const struct gate_chapter *chapter)
{
    struct gate_options options;
    struct program program = {.path = argv[0],
                              .name = chapter->step.name,
                              .before = chapter->before.name,
                              .on_host = chapter->step.compute != NULL};

    if (!gate_options_parse(&program, argc, argv, &options) || !program_open(&program))
        return program_exit(&program);
    if (options.program.check_all)
        return check_all(&program, chapter);
    return options.program.bench ? bench(&program, chapter, &options) : run_once(&program, chapter, &options);
}
