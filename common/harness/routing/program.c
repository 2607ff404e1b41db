/** @file routing/program.c  The program of a routing chapter, from the command line to the exit code. */
#include "harness/align/problem.h"
#include "harness/gate/problem.h"
#include "harness/routing/run.h"

#include <inttypes.h>

/* --- report ------------------------------------------------------------------------------------------------------- */

/** Sets the strings that describe the run: command, problem, input. */
static void name_run(const struct routing_options *options, const struct routing_problem *problem,
                     struct program *program)
{
    const bool generated = options->gate.source == GATE_LOGITS_SOURCE_GENERATED;
    char gate[256], choices[32], slots[32];

    routing_options_set_command(options, program);
    gate_problem_describe(&problem->gate, gate, sizeof gate);
    snprintf(program->problem_text, sizeof program->problem_text, "%s; blocks of %d", gate, problem->align.block_size);
    program->distribution_name = generated ? gate_dist_names[options->gate.dist] : "router";
    if (generated)
        snprintf(program->input_text, sizeof program->input_text, "generated: %s, seed %" PRIu64,
                 program->distribution_name, options->gate.program.seed);
    else
        snprintf(program->input_text, sizeof program->input_text, "%s",
                 options->gate.source == GATE_LOGITS_SOURCE_FILE ? options->gate.logits_path
                                                                 : "the real router's logits");
    snprintf(program->verified_text, sizeof program->verified_text,
             "%s ids, their weights, %s slots in ascending groups",
             format_thousands(gate_num_ids(&problem->gate), choices),
             format_thousands((uint64_t)problem->align.capacity, slots));
}

/** Adds the problem to the report: all of it or, in a benchmark, the part that is the same in every row. */
static void report_problem(const struct routing_problem *problem, bool all, struct record *report)
{
    struct record *const fields = record_add_object(report, IN_DATA, "problem");

    if (all)
        record_add_number(fields, IN_DATA, "num_tokens", "%" PRId64, problem->gate.num_tokens);
    record_add_number(fields, IN_DATA, "num_experts", "%d", problem->gate.num_experts);
    record_add_number(fields, IN_JSON, "num_expert_group", "%d", problem->gate.num_expert_group);
    record_add_number(fields, IN_JSON, "topk_group", "%d", problem->gate.topk_group);
    record_add_number(fields, IN_DATA, "topk", "%d", problem->gate.topk);
    record_add_text(fields, IN_DATA, "dtype", "%s", dtype_name(problem->gate.dtype));
    record_add_text(fields, IN_JSON, "score", "%s", gate_score_names[problem->gate.score]);
    record_add_text(fields, IN_JSON, "bias", "%s", gate_bias_dtype_name(&problem->gate));
    if (problem->gate.overlap)
        record_add_number(fields, IN_JSON, "overlap", "true");
    record_add_number(fields, IN_DATA, "routing_block_size", "%d", problem->align.block_size);
    if (all)
        record_add_number(fields, IN_DATA, "capacity", "%" PRId64, problem->align.capacity);
}

/** Reports the padded length and the other statistics of a verified list of rows. */
static void report_list(const struct routing_problem *problem, const struct tensors *tensors, struct record *report)
{
    const int32_t padded = *routing_buffers_at(tensors, TENSOR_ON_HOST).align.num_tokens_post_padded;
    char used[32], slots[32];

    record_add_text(report, IN_TABLE, "padded", "%s of %s slots, %d blocks of %d",
                    format_thousands((uint64_t)padded, used),
                    format_thousands((uint64_t)problem->align.capacity, slots), padded / problem->align.block_size,
                    problem->align.block_size);
    record_add_number(report, IN_DATA, "num_tokens_post_padded", "%d", padded);
}

/* --- the program -------------------------------------------------------------------------------------------------- */

/**
 * Handles one problem: loads its input, runs and checks the implementation (in a benchmark, also times it and the
 * previous one), and writes the report.
 */
static void run(struct program *program, const struct routing_chapter *chapter, struct routing_options *options)
{
    struct routing_problem problem = {.gate = options->gate.problem, .align = options->align};
    struct checked_launch launch = routing_make_checked_launch(&problem, &chapter->implementation);
    struct routing_problem alone; /* the same problem, but without overlapping launches */
    const struct routing_implementation *const implementation_before = options->gate.problem.overlap
                                                                           ? &chapter->implementation
                                                                           : &chapter->previous;
    struct checked_launch before = routing_make_checked_launch(&alone, implementation_before);
    struct tensors tensors;
    const bool loaded = routing_prepare_problem_and_tensors(options, &chapter->implementation, &problem, &tensors,
                                                            &program->error);

    name_run(options, &problem, program);
    if (!loaded)
        return;
    launch.shared_bytes = chapter->implementation.shared_bytes ? chapter->implementation.shared_bytes(&problem) : 0;
    before.shared_bytes = implementation_before->shared_bytes ? implementation_before->shared_bytes(&problem) : 0;
    alone = problem;
    alone.gate.overlap = alone.align.overlap = false;
    program_run_or_benchmark_checked_launch(program, &launch, &tensors);
    program_time_previous_chapter(program, &before, &tensors);
    report_problem(&problem, !program->requested_options.bench, program_begin_report(program));
    struct record *const report = program_report_correctness(program);

    if (report && program->error.exit_code == RUN_VERIFIED)
        report_list(&problem, &tensors, report);
    tensors_free(&tensors);
}

int routing_main(int argc, char **argv, const struct routing_chapter *chapter)
{
    struct routing_options options;
    struct program program = {.path = argv[0],
                              .name = chapter->implementation.name,
                              .previous_name = chapter->previous.name,
                              .own_kernels = chapter->implementation.own_kernels,
                              .fallback = chapter->implementation.fallback,
                              .source_hash = kernel_source_sha256};

    if (!routing_options_parse(&program, argc, argv, &options))
        return program_print_error(&program);
    if (options.gate.problem.overlap)
        program_require_launch_overlap_and_set_serial_baseline(&program);
    if (!program_check_options_and_open_device(&program))
        return program_print_error(&program);
    routing_start_covering_design(&chapter->implementation, program.requested_options.seed,
                                  program.requested_options.check_only_corners, &program.covering);
    while (program_begin_next_run(&program)) {
        if (program.requested_options.check_all &&
            !routing_options_set_next_problem(&program.covering, &chapter->implementation,
                                              program.requested_options.seed, &options))
            break;
        run(&program, chapter, &options);
    }
    return program_write_result(&program);
}
