/** @file align/program.c  The program of an align chapter, from the command line to the exit code. */
#include "harness/align/problem.h"
#include "harness/align/run.h"

#include <inttypes.h>

/* --- report ------------------------------------------------------------------------------------------------------- */

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

/** Sets the strings that describe the run: command, problem, input. */
static void name_run(const struct align_options *options, struct program *program)
{
    const struct align_problem *const problem = &options->problem;
    const size_t size = sizeof program->input_text;
    char *const text = program->input_text;
    char described[256], tokens[64], slots[64], blocks[64];

    align_options_set_command(options, program);
    align_problem_describe(problem, described, sizeof described);
    if (program->requested_options.bench)
        snprintf(program->problem_text, sizeof program->problem_text, "%s", described);
    else
        snprintf(program->problem_text, sizeof program->problem_text, "%s, top %d: %s",
                 format_count(options->program.num_tokens, "token", tokens), options->topk, described);
    program->distribution_name = align_id_source_name(options);
    if (options->source == ALIGN_ID_SOURCE_ROUTER)
        snprintf(text, size, "what the gate chooses from the real router's logits");
    else if (options->source == ALIGN_ID_SOURCE_FILE)
        snprintf(text, size, "%s", options->ids_path);
    else
        snprintf(text, size, "generated: %s, seed %" PRIu64, program->distribution_name, options->program.seed);
    snprintf(program->verified_text, sizeof program->verified_text, "%s, the experts of %s, the padded size",
             format_count(problem->capacity, "slot", slots),
             format_count(align_row_block_capacity(problem), "block", blocks));
}

/** Adds the problem to the report: all of it or, in a benchmark, the part that is the same in every row. */
static void report_problem(const struct align_options *options, bool all, struct record *report)
{
    const struct align_problem *const problem = &options->problem;
    struct record *const fields = record_add_object(report, IN_DATA, "problem");

    if (all)
        record_add_number(fields, IN_DATA, "num_tokens", "%" PRId64, options->program.num_tokens);
    record_add_number(fields, IN_DATA, "num_experts", "%d", problem->num_experts);
    record_add_number(fields, IN_DATA, "topk", "%d", options->topk);
    record_add_number(fields, IN_DATA, "block_size", "%d", problem->block_size);
    record_add_text(fields, IN_DATA, "ids", "%s", dtype_name(align_ids_dtype(problem)));
    if (all) {
        record_add_number(fields, IN_CSV, "numel", "%" PRId64, problem->numel);
        record_add_number(fields, IN_DATA, "capacity", "%" PRId64, problem->capacity);
    } else {
        record_add_number(fields, IN_JSON, "expert_map", "%s",
                          parse_array_source(options->expert_map_option) == ARRAY_SOURCE_NONE ? "false" : "true");
        if (options->capacity_given)
            record_add_number(fields, IN_JSON, "capacity", "%" PRId64, problem->capacity);
        if (options->capacity_policy != ALIGN_CAPACITY_DEFAULT)
            record_add_text(fields, IN_JSON, "room", "%s", align_capacity_policy_names[options->capacity_policy]);
    }
    if (problem->overlap)
        record_add_number(fields, IN_JSON, "overlap", "true");
    record_add_number(fields, IN_JSON, "misalign", "%d", options->misalign_words);
    record_add_text(fields, IN_JSON, "kernel", "%s", align_kernel_names[problem->kernel]);
    if (all)
        record_add_text(fields, IN_JSON, "expert_map", "%s", options->expert_map_option);
}

/**
 * Reports the padded length and the number of padding slots, which depend only on the ids, not on the implementation.
 */
static void report_padding(const struct align_problem *problem, const struct align_group_layout *groups,
                           struct record *report)
{
    const int64_t padded = align_required_capacity(problem, groups), placed = problem->numel - groups->num_invalid_ids;
    char used[32], slots[64], blocks[64], ids[64], pads[64];

    if (padded == 0)
        record_add_text(report, IN_TABLE, "padded", "0 of %s: no id names an expert",
                        format_count(problem->capacity, "slot", slots));
    else
        record_add_text(report, IN_TABLE, "padded", "%s of %s: %s with %s and %s (%.1f %%)",
                        format_thousands((uint64_t)padded, used), format_count(problem->capacity, "slot", slots),
                        format_count(padded / problem->block_size, "block", blocks), format_count(placed, "id", ids),
                        format_count(padded - placed, "pad", pads), percent(padded - placed, padded));
    record_add_number(report, IN_DATA, "num_tokens_post_padded", "%" PRId64, padded);
    record_add_number(report, IN_DATA, "skipped_ids", "%" PRId64, groups->num_invalid_ids);
}

/** Reports the load of the experts: the busiest expert and the number of idle experts. */
static void report_load(const struct align_problem *problem, const struct align_group_layout *groups,
                        struct record *report)
{
    const int busiest = align_busiest_expert(problem, groups);
    const int64_t most = groups->counts[busiest], placed = problem->numel - groups->num_invalid_ids;
    struct record *const fields = record_add_object(report, IN_DATA, "load");
    char digits[32], ids[64], experts[64], getting[80] = "every expert gets some";
    int idle = 0;

    for (int e = 0; e < problem->num_experts; e++)
        idle += groups->counts[e] == 0;
    if (idle > 0)
        snprintf(getting, sizeof getting, "%s %s none", format_count(idle, "expert", experts),
                 idle == 1 ? "gets" : "get");
    if (placed > 0)
        record_add_text(report, IN_TABLE, "load",
                        "expert %d is the busiest: %s of %s (%.1f %%, %.1f times the mean); %s", busiest,
                        format_thousands((uint64_t)most, digits), format_count(placed, "id", ids),
                        percent(most, placed), (double)most * problem->num_experts / (double)placed, getting);
    record_add_number(fields, IN_DATA, "busiest_expert", "%d", busiest);
    record_add_number(fields, IN_JSON, "ids", "%" PRId64, most);
    record_add_number(fields, IN_CSV, "busiest_ids", "%" PRId64, most);
    record_add_number(fields, IN_DATA, "idle_experts", "%d", idle);
}

/** Reports the number of local experts and the number of skipped ids. */
static void report_left_out(const struct align_problem *problem, const struct align_group_layout *groups,
                            const int32_t *expert_map, struct record *report)
{
    int local = 0;
    char ids[64];

    for (int e = 0; expert_map && e < problem->num_experts; e++)
        local += expert_map[e] >= 0;
    if (expert_map)
        record_add_text(report, IN_TABLE, "map", "%d of %d experts are local; a block of any other is -1", local,
                        problem->num_experts);
    if (groups->num_invalid_ids > 0)
        record_add_text(report, IN_TABLE, "skipped", "%s, which name%s no expert",
                        format_count(groups->num_invalid_ids, "id", ids), groups->num_invalid_ids == 1 ? "s" : "");
}

/** Adds the part of the report that describes the ids. Does nothing if there is no report. */
static void report_ids(const struct align_problem *problem, const struct align_group_layout *groups,
                       const int32_t *expert_map, struct record *report)
{
    report_padding(problem, groups, report);
    report_load(problem, groups, report);
    report_left_out(problem, groups, expert_map, report);
}

/** Warns if a file has ids beyond the last expert. Negative ids are no reason: callers mark ids to skip with them. */
static void warn_of_ids_beyond_experts(const struct align_options *options, const struct align_group_layout *groups,
                                       const void *topk_ids, const struct program *program)
{
    const struct align_problem *const problem = &options->problem;
    int64_t largest = 0;
    char skipped[32], ids[64];

    if (options->source != ALIGN_ID_SOURCE_FILE)
        return;
    for (int64_t i = 0; i < problem->numel; i++) {
        const int64_t id = align_load_id(problem, topk_ids, i);

        largest = id > largest ? id : largest;
    }
    if (largest >= problem->num_experts)
        fprintf(stderr,
                "%s: %s: %s of %s name%s no expert (0 to %d do; the largest is %" PRId64 "); is --num-experts right?\n",
                program->name, options->ids_path, format_thousands((uint64_t)groups->num_invalid_ids, skipped),
                format_count(problem->numel, "id", ids), groups->num_invalid_ids == 1 ? "s" : "",
                problem->num_experts - 1, largest);
}

/* --- the program -------------------------------------------------------------------------------------------------- */

/** Times the previous chapter's implementation, if there is one, with the capacity and workspace that it needs. */
static void run_before(struct program *program, const struct align_options *options,
                       const struct align_implementation *before, const struct tensors *tensors)
{
    struct align_problem problem = options->problem;
    const struct checked_launch launch = align_make_checked_launch(&problem, before);
    struct tensors own;
    struct error ignored = {0};

    problem.overlap = false;
    if (!before->launch || !program->requested_options.bench)
        return;
    if (!options->capacity_given && options->capacity_policy == ALIGN_CAPACITY_DEFAULT)
        problem.capacity = before->capacity(&problem);
    if (!align_problem_check(&problem, &ignored) || align_unsupported_reason(before, &problem) ||
        !align_tensors_allocate_host_and_copy_inputs(tensors, &problem, before, &own, &ignored))
        return;
    program_time_previous_chapter(program, &launch, &own);
    tensors_free(&own);
}

/**
 * Handles one problem: loads its input, runs and checks the implementation (in a benchmark, also times it and the
 * previous one), and writes the report.
 */
static void run(struct program *program, const struct align_chapter *chapter, struct align_options *options)
{
    const struct align_problem *const problem = &options->problem;
    struct checked_launch launch = align_make_checked_launch(problem, &chapter->implementation);
    struct tensors tensors;
    struct align_group_layout groups;
    const bool loaded = align_prepare_problem_and_tensors(options, &chapter->implementation, &tensors, &groups,
                                                          &program->error);

    name_run(options, program);
    if (!loaded)
        return;
    warn_of_ids_beyond_experts(options, &groups, tensors.tensor[ALIGN_TENSOR_TOPK_IDS].host.data, program);
    launch.shared_bytes = chapter->implementation.shared_bytes ? chapter->implementation.shared_bytes(problem) : 0;
    program_run_or_benchmark_checked_launch(program, &launch, &tensors);
    run_before(program, options, problem->overlap ? &chapter->implementation : &chapter->previous, &tensors);
    report_problem(options, !program->requested_options.bench, program_begin_report(program));
    report_ids(problem, &groups, tensors.tensor[ALIGN_TENSOR_EXPERT_MAP].host.data,
               program_report_correctness(program));
    align_group_layout_free(&groups);
    tensors_free(&tensors);
}

int align_main(int argc, char **argv, const struct align_chapter *chapter)
{
    struct align_options options;
    struct program program = {.path = argv[0],
                              .name = chapter->implementation.name,
                              .previous_name = chapter->previous.name,
                              .own_kernels = chapter->implementation.own_kernels,
                              .fallback = chapter->implementation.fallback,
                              .source_hash = kernel_source_sha256};

    if (!align_options_parse(&program, argc, argv, &options))
        return program_print_error(&program);
    if (options.problem.overlap)
        program_require_launch_overlap_and_set_serial_baseline(&program);
    if (!program_check_options_and_open_device(&program))
        return program_print_error(&program);
    align_start_covering_design(&chapter->implementation, program.requested_options.seed,
                                program.requested_options.check_only_corners, &program.covering);
    while (program_begin_next_run(&program)) {
        if (program.requested_options.check_all &&
            !align_options_set_next_problem(&program.covering, &chapter->implementation, program.requested_options.seed,
                                            &options))
            break;
        run(&program, chapter, &options);
    }
    return program_write_result(&program);
}
