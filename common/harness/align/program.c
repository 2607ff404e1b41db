/** @file align/program.c  An align chapter's program, from the command line to the exit code. */
#include "harness/align/problem.h"
#include "harness/align/run.h"
#include "harness/core/bench.h"

#include <inttypes.h>

/* --- report ------------------------------------------------------------------------------------------------------- */

/** Makes the texts that say which run it is. */
static void name_run(const struct align_options *options, struct program *program)
{
    char *const text = program->input;
    const size_t size = sizeof program->input;

    align_options_command(options, program);
    align_problem_describe(&options->problem, program->problem, sizeof program->problem);
    if (options->source == ALIGN_SOURCE_ROUTER)
        snprintf(text, size, "what the gate chooses from the real router's logits");
    else if (options->source == ALIGN_SOURCE_FILE)
        snprintf(text, size, "%s", options->ids_path);
    else
        snprintf(text, size, "generated: %s, seed %" PRIu64, align_source_name(options), options->program.seed);
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

/** "12 experts", "1 expert". */
static const char *count_of(int64_t count, const char *what, char text[64])
{
    char digits[32];

    snprintf(text, 64, "%s %s%s", grouped_digits((uint64_t)count, digits), what, count == 1 ? "" : "s");
    return text;
}

/** Adds the problem: all of it, or, for a benchmark, what does not change from row to row. */
static void report_problem(const struct align_options *options, bool all, struct record *report)
{
    const struct align_problem *const problem = &options->problem;
    struct record *const fields = record_object(report, IN_DATA, "problem");

    if (all)
        record_number(fields, IN_DATA, "num_tokens", "%" PRId64, options->num_tokens);
    record_number(fields, IN_DATA, "num_experts", "%d", problem->num_experts);
    record_number(fields, IN_DATA, "topk", "%d", options->topk);
    record_number(fields, IN_DATA, "block_size", "%d", problem->block_size);
    record_text(fields, IN_DATA, "ids", "%s", dtype_name(align_ids_dtype(problem)));
    if (all) {
        record_number(fields, IN_CSV, "numel", "%" PRId64, problem->numel);
        record_number(fields, IN_DATA, "capacity", "%" PRId64, problem->capacity);
    } else {
        record_number(fields, IN_JSON, "expert_map", "%s", array_source(options->map) == ARRAY_NONE ? "false" : "true");
        if (options->capacity_given)
            record_number(fields, IN_JSON, "capacity", "%" PRId64, problem->capacity);
        if (options->room != ALIGN_ROOM_BOUND)
            record_text(fields, IN_JSON, "room", "%s", align_room_names[options->room]);
    }
    record_number(fields, IN_JSON, "misalign", "%d", options->misalign);
    record_text(fields, IN_JSON, "kernel", "%s", align_kernel_names[problem->kernel]);
    if (all)
        record_text(fields, IN_JSON, "expert_map", "%s", options->map);
}

/** Adds what padding costs; whoever sorts these ids comes to the same. */
static void report_padding(const struct align_problem *problem, const struct align_groups *groups,
                           struct record *report)
{
    const int64_t padded = align_required_capacity(problem, groups), placed = problem->numel - groups->skipped;
    char used[32], places[64], blocks[64], ids[64], pads[64];

    if (padded == 0)
        record_text(report, IN_TABLE, "padded", "0 of %s: no id names an expert",
                    count_of(problem->capacity, "place", places));
    else
        record_text(report, IN_TABLE, "padded", "%s of %s: %s with %s and %s (%.1f %%)",
                    grouped_digits((uint64_t)padded, used), count_of(problem->capacity, "place", places),
                    count_of(padded / problem->block_size, "block", blocks), count_of(placed, "id", ids),
                    count_of(padded - placed, "pad", pads), percent(padded - placed, padded));
    record_number(report, IN_DATA, "num_tokens_post_padded", "%" PRId64, padded);
    record_number(report, IN_DATA, "skipped_ids", "%" PRId64, groups->skipped);
}

/** Adds how the ids are spread over the experts. */
static void report_load(const struct align_problem *problem, const struct align_groups *groups, struct record *report)
{
    const int busiest = align_busiest_expert(problem, groups);
    const int64_t most = groups->counts[busiest], placed = problem->numel - groups->skipped;
    struct record *const fields = record_object(report, IN_DATA, "load");
    char digits[32], ids[64], experts[64], getting[80] = "every expert gets some";
    int idle = 0;

    for (int e = 0; e < problem->num_experts; e++)
        idle += groups->counts[e] == 0;
    if (idle > 0)
        snprintf(getting, sizeof getting, "%s %s none", count_of(idle, "expert", experts), idle == 1 ? "gets" : "get");
    if (placed > 0)
        record_text(report, IN_TABLE, "load", "expert %d is the busiest: %s of %s (%.1f %%, %.1f times the mean); %s",
                    busiest, grouped_digits((uint64_t)most, digits), count_of(placed, "id", ids), percent(most, placed),
                    (double)most * problem->num_experts / (double)placed, getting);
    record_number(fields, IN_DATA, "busiest_expert", "%d", busiest);
    record_number(fields, IN_JSON, "ids", "%" PRId64, most);
    record_number(fields, IN_CSV, "busiest_ids", "%" PRId64, most);
    record_number(fields, IN_DATA, "idle_experts", "%d", idle);
}

/** Adds what the map leaves here, and what is skipped, for people. */
static void report_left_out(const struct align_problem *problem, const struct align_groups *groups,
                            const int32_t *expert_map, struct record *report)
{
    int local = 0;
    char ids[64];

    for (int e = 0; expert_map && e < problem->num_experts; e++)
        local += expert_map[e] >= 0;
    if (expert_map)
        record_text(report, IN_TABLE, "map", "%d of %d experts are local; a block of any other is -1", local,
                    problem->num_experts);
    if (groups->skipped > 0)
        record_text(report, IN_TABLE, "skipped", "%s, which name%s no expert", count_of(groups->skipped, "id", ids),
                    groups->skipped == 1 ? "s" : "");
}

/* --- what a program does: one run, all problems, or times --------------------------------------------------------- */

/** As align_load(), and makes room as it was asked for: what that comes to is known only now. */
static bool load(struct align_options *options, const struct align_chapter *chapter, struct operands *operands,
                 struct align_groups *groups, struct error *error)
{
    enum { SPARE_BLOCKS = 5 };
    struct align_problem *const problem = &options->problem;
    struct operands bound;
    bool good;

    if (!align_load(options, chapter, operands, groups, error))
        return false;
    if (options->room == ALIGN_ROOM_BOUND)
        return true;
    problem->capacity = options->room == ALIGN_ROOM_EXACT
                            ? align_required_capacity(problem, groups)
                            : problem->capacity + SPARE_BLOCKS * (int64_t)problem->block_size;
    bound = *operands;
    good = align_operands_like(&bound, problem, &chapter->step, operands, error);
    operands_free(&bound);
    if (!good)
        align_groups_free(groups);
    return good;
}

static int run_once(struct program *program, const struct align_chapter *chapter, struct align_options *options)
{
    const struct align_problem *const problem = &options->problem;
    const struct launch launch = align_launch_of(problem, &chapter->step);
    char described[256], places[64], blocks[64];
    struct run_counters counters;
    struct record report = {0};
    struct operands operands;
    struct align_groups groups;

    if (!load(options, chapter, &operands, &groups, &program->error))
        return program_exit(program);
    program_run(program, &launch, &operands);
    name_run(options, program);
    align_problem_describe(problem, described, sizeof described);
    snprintf(program->problem, sizeof program->problem, "%" PRId64 " token%s, top %d: %s", options->num_tokens,
             options->num_tokens == 1 ? "" : "s", options->topk, described);
    snprintf(program->verified, sizeof program->verified, "%s, the experts of %s, the padded size",
             count_of(problem->capacity, "place", places), count_of(align_blocks(problem), "block", blocks));
    backend_read_counters(&counters);
    program_report_head(program, &report);
    report_problem(options, true, &report);
    program_report_result(program, &report);
    report_padding(problem, &groups, &report);
    report_load(problem, &groups, &report);
    report_left_out(problem, &groups, operands.list[ALIGN_EXPERT_MAP].host.data, &report);
    counters_report(&counters, (double)options->num_tokens, &report);
    align_groups_free(&groups);
    operands_free(&operands);
    return program_report_end(program, &report);
}

/**
 * Leaves the choice of kernel to a step that does not support the one drawn. False: it does not support the problem.
 */
static bool find_kernel(const struct align_step *step, struct align_options *options)
{
    struct align_problem *problem = &options->problem;

    problem->numel = options->num_tokens * options->topk;
    problem->capacity = step->capacity(problem);
    if (align_unsupported_reason(step, problem))
        problem->kernel = ALIGN_KERNEL_AUTO;
    return !align_unsupported_reason(step, problem);
}

/** Runs a problem to try. */
static bool try_problem(const struct align_chapter *chapter, struct align_options *options, struct error *error)
{
    const struct launch launch = align_launch_of(&options->problem, &chapter->step);
    struct operands operands;
    struct align_groups groups;
    bool right;

    if (!load(options, chapter, &operands, &groups, error))
        return false;
    right = launch_run(&launch, &operands, error);
    align_groups_free(&groups);
    operands_free(&operands);
    return right;
}

static int check_all(struct program *program, const struct align_chapter *chapter)
{
    struct check_all tally = {0};
    struct align_options options;

    for (int number = 0; align_problem_to_try(number, program->options->seed, &options); number++) {
        if (!find_kernel(&chapter->step, &options)) {
            tally.unsupported++;
        } else if (try_problem(chapter, &options, &program->error)) {
            tally.verified++;
        } else {
            align_options_command(&options, program);
            break;
        }
    }
    return check_all_end(program, &tally);
}

/** Times the chapter before, if there is one, with the capacity and the workspace that it would get. */
static void time_before(const struct bench *bench, const struct align_options *options, const struct align_step *before,
                        const struct operands *operands, struct bench_row *row)
{
    struct align_problem problem = options->problem;
    const struct launch launch = align_launch_of(&problem, before);
    struct operands own;
    struct error ignored = {0};

    if (!before->launch)
        return;
    if (!options->capacity_given && options->room == ALIGN_ROOM_BOUND)
        problem.capacity = before->capacity(&problem);
    if (!align_problem_check(&problem, &ignored) || align_unsupported_reason(before, &problem) ||
        !align_operands_like(operands, &problem, before, &own, &ignored))
        return;
    bench_before(bench, &launch, &own, row);
    operands_free(&own);
}

static void bench_size(const struct bench *bench, const struct align_chapter *chapter, struct align_options *options,
                       struct bench_row *row)
{
    const struct launch launch = align_launch_of(&options->problem, &chapter->step);
    struct operands operands;
    struct align_groups groups;

    options->num_tokens = row->num_tokens;
    options->num_tokens_given = true;
    if (!load(options, chapter, &operands, &groups, &bench->program->error))
        return;
    row->num_tokens = options->num_tokens; /* --counts has its own */
    if (bench_step(bench, &launch, &operands, row))
        time_before(bench, options, &chapter->before, &operands, row);
    align_groups_free(&groups);
    operands_free(&operands);
}

static int bench(struct program *program, const struct align_chapter *chapter, struct align_options *options)
{
    const bool given = options->num_tokens_given;
    struct bench bench = {
        .program = program,
        .distribution = align_source_name(options),
        .only = given || options->source == ALIGN_SOURCE_COUNTS ? options->num_tokens : -1,
    };
    struct record report = {0};

    for (struct bench_row *row; (row = bench_next(&bench));)
        bench_size(&bench, chapter, options, row);
    options->num_tokens_given = given;
    name_run(options, program);
    bench_report_head(&bench, &report);
    report_problem(options, false, &report);
    return bench_end(&bench, &report);
}

int align_main(int argc, char **argv, const struct align_chapter *chapter)
{
    struct align_options options;
    struct program program = {.path = argv[0], .name = chapter->step.name, .before = chapter->before.name};

    if (!align_options_parse(&program, argc, argv, &options) || !program_open(&program))
        return program_exit(&program);
    if (options.program.check_all)
        return check_all(&program, chapter);
    return options.program.bench ? bench(&program, chapter, &options) : run_once(&program, chapter, &options);
}
