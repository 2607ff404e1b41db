/** @file gate/program.c  The program of a gate chapter, from the command line to the exit code. */
#include "harness/gate/problem.h"
#include "harness/gate/run.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- report ------------------------------------------------------------------------------------------------------- */

/** Sets the strings that describe the run: command, problem, input. */
static void name_run(const struct gate_options *options, struct program *program)
{
    const bool generated = options->source == GATE_LOGITS_SOURCE_GENERATED;
    char choices[32];

    gate_options_set_command(options, program);
    gate_problem_describe(&options->problem, program->problem_text, sizeof program->problem_text);
    program->distribution_name = generated ? gate_dist_names[options->dist] : "router";
    if (generated)
        snprintf(program->input_text, sizeof program->input_text, "generated: %s, seed %" PRIu64,
                 program->distribution_name, options->program.seed);
    else
        snprintf(program->input_text, sizeof program->input_text, "%s",
                 options->source == GATE_LOGITS_SOURCE_FILE ? options->logits_path : "the real router's logits");
    snprintf(program->verified_text, sizeof program->verified_text, "%s ids and their weights",
             format_thousands(gate_num_ids(&options->problem), choices));
}

/** Adds the problem to the report: all of it or, in a benchmark, the part that is the same in every row. */
static void report_problem(const struct gate_problem *problem, bool all, struct record *report)
{
    struct record *const fields = record_add_object(report, IN_DATA, "problem");

    if (all)
        record_add_number(fields, IN_DATA, "num_tokens", "%" PRId64, problem->num_tokens);
    record_add_number(fields, IN_DATA, "num_experts", "%d", problem->num_experts);
    record_add_number(fields, IN_JSON, "num_expert_group", "%d", problem->num_expert_group);
    record_add_number(fields, IN_JSON, "topk_group", "%d", problem->topk_group);
    record_add_number(fields, IN_JSON, "topk", "%d", problem->topk);
    record_add_text(fields, IN_DATA, "dtype", "%s", dtype_name(problem->dtype));
    record_add_text(fields, IN_DATA, "score", "%s", gate_score_names[problem->score]);
    record_add_text(fields, IN_DATA, "bias", "%s", gate_bias_dtype_name(problem));
    if (problem->overlap)
        record_add_number(fields, IN_JSON, "overlap", "true");
    if (!all)
        return;
    record_add_number(fields, IN_JSON, "renormalize", "%s", problem->renormalize ? "true" : "false");
    record_add_number(fields, IN_JSON, "routed_scaling_factor", "%g", problem->routed_scaling_factor);
    record_add_number(fields, IN_JSON, "scale_later", "%s", problem->scale_later ? "true" : "false");
    record_add_number(fields, IN_JSON, "num_fused_shared_experts", "%d", problem->num_fused_shared_experts);
}

/** Reports the load of the experts, from verified ids: the busiest expert and the number of idle experts. */
static void report_load(const struct gate_problem *problem, const int32_t *topk_ids, struct record *report)
{
    uint64_t *const choices = report ? calloc(problem->num_experts, sizeof *choices) : NULL;
    struct record *fields;
    const uint64_t chosen = (uint64_t)problem->num_tokens * problem->topk;
    char most[32], all[32];
    int busiest = 0, idle = 0;

    if (!choices)
        return;
    for (int64_t token = 0; token < problem->num_tokens; token++)
        for (int k = 0; k < problem->topk; k++)
            choices[topk_ids[token * gate_experts_per_token(problem) + k]]++;
    for (int e = 0; e < problem->num_experts; e++) {
        idle += choices[e] == 0;
        if (choices[e] > choices[busiest])
            busiest = e;
    }
    if (chosen > 0)
        record_add_text(report, IN_TABLE, "load", "expert %d is the busiest: %s of %s ids; %d experts get none",
                        busiest, format_thousands(choices[busiest], most), format_thousands(chosen, all), idle);
    fields = record_add_object(report, IN_JSON, "load");
    record_add_number(fields, IN_JSON, "busiest_expert", "%d", busiest);
    record_add_number(fields, IN_JSON, "ids", "%" PRIu64, choices[busiest]);
    record_add_number(fields, IN_JSON, "idle_experts", "%d", idle);
    free(choices);
}

/* --- the program -------------------------------------------------------------------------------------------------- */

/**
 * Handles one problem: loads its input, runs and checks the implementation (in a benchmark, also times it and the
 * previous one), and writes the report.
 */
static void run(struct program *program, const struct gate_chapter *chapter, struct gate_options *options)
{
    const struct gate_problem *const problem = &options->problem;
    const struct checked_launch launch = gate_make_checked_launch(problem, &chapter->implementation);
    struct gate_problem alone; /* the same problem, but without overlapping launches */
    const struct gate_implementation *const implementation_before = problem->overlap ? &chapter->implementation
                                                                                     : &chapter->previous;
    const struct checked_launch before = gate_make_checked_launch(&alone, implementation_before);
    struct tensors tensors;
    struct record *report;
    const bool loaded = gate_prepare_problem_and_tensors(options, &chapter->implementation, &tensors, &program->error);

    name_run(options, program);
    if (!loaded)
        return;
    program_run_or_benchmark_checked_launch(program, &launch, &tensors);
    alone = *problem;
    alone.overlap = false;
    if (implementation_before->name && !gate_unsupported_reason(implementation_before, &alone))
        program_time_previous_chapter(program, &before, &tensors);
    report_problem(problem, !program->requested_options.bench, program_begin_report(program));
    report = program_report_correctness(program);
    if (program->error.exit_code == RUN_VERIFIED)
        report_load(problem, tensors.tensor[GATE_TENSOR_TOPK_IDS].host.data, report);
    tensors_free(&tensors);
}

int gate_main(int argc, char **argv, const struct gate_chapter *chapter)
{
    struct gate_options options;
    struct program program = {.path = argv[0],
                              .name = chapter->implementation.name,
                              .previous_name = chapter->previous.name,
                              .runs_on_host = chapter->implementation.compute_on_host != NULL,
                              .own_kernels = chapter->implementation.own_kernels,
                              .fallback = chapter->implementation.fallback,
                              .source_hash = kernel_source_sha256};

    if (!gate_options_parse(&program, argc, argv, &options))
        return program_print_error(&program);
    if (options.problem.overlap)
        program_require_launch_overlap_and_set_serial_baseline(&program);
    if (!program_check_options_and_open_device(&program))
        return program_print_error(&program);
    gate_start_covering_design(chapter->implementation.kernel_switch_tokens, program.requested_options.seed,
                               program.requested_options.check_only_corners, &program.covering);
    while (program_begin_next_run(&program)) {
        if (program.requested_options.check_all &&
            !gate_options_set_next_problem(&program.covering, &chapter->implementation, program.requested_options.seed,
                                           &options))
            break;
        run(&program, chapter, &options);
    }
    return program_write_result(&program);
}
