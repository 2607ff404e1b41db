/** @file decode/program.c  The program of a decoding-step chapter, from the command line to the exit code. */
#include "harness/decode/run.h"

#include "harness/core/backend.h"
#include "harness/core/program.h"
#include "harness/gate/problem.h"
#include "harness/moe/problem.h"

#include <inttypes.h>
#include <limits.h>

#define FIELD(member) .field_offset = offsetof(struct decode_options, member)
#define GIVEN(member) .given_offset = offsetof(struct decode_options, member)
#define COUNT         .type = OPTION_INT, .least = 1, .most = INT_MAX

/* The rows are in the order in which the command that reproduces a run lists the options. */
static const struct option_row table[] = {
    {.help = "The problem: by default a small layer on the CPU, DeepSeek-V3's on a GPU", .help_group = 1},
    {"num-tokens", "N", "Tokens (default 48; 64 on a GPU)", 1, OPTION_INT64, FIELD(moe.program.num_tokens),
     GIVEN(moe.program.num_tokens_given), .least = 1, .most = INT64_MAX, .in_command_if_traits = TRAIT_HAS_NUM_TOKENS},
    {"hidden-size", "N", "Elements of a token (default 128; 7168)", 1, COUNT, FIELD(moe.problem.hidden_size),
     GIVEN(moe.hidden_size_given)},
    {"intermediate-size", "N", "Elements between an expert's products (default 64; 2048)", 1, COUNT,
     FIELD(moe.problem.intermediate_size), GIVEN(moe.intermediate_size_given)},
    {"num-experts", "N", "Experts (default 128; 256)", 1, COUNT, FIELD(moe.problem.num_experts),
     GIVEN(moe.num_experts_given)},
    {"num-expert-group", "N", "Groups of the experts (default: one for each 32)", 1, COUNT, FIELD(num_expert_group),
     GIVEN(num_expert_group_given)},
    {"topk-group", "N", "Groups kept for each token: those with the best scores (default: half of them)", 1, COUNT,
     FIELD(topk_group), GIVEN(topk_group_given)},
    {"topk", "N", "Experts of a token (default 4; 8)", 1, COUNT, FIELD(moe.problem.topk), GIVEN(moe.topk_given)},
    {"block-size", "N", "Rows in a block of one expert's (default: chapter 16b's choice)", 1, COUNT,
     FIELD(moe.problem.block_size), GIVEN(moe.block_size_given)},
    {"overlap", "0|1", "Let a kernel's blocks start before the previous kernel has ended (default 1)", 3, OPTION_BOOL,
     FIELD(overlap_launches), .most = 1},
    {"out", "DIR", "Write the outputs of all four kernels there, NAME.npy each, once verified", 3, OPTION_PATH,
     FIELD(moe.program.output_directory), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {"check-all", NULL, "Instead of one problem check all pairs of tokens, routers, launches, with and without overlap",
     3, OPTION_FLAG, FIELD(moe.program.check_all), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {.next_table = program_option_rows},
};

static const char *const kernel_names[NUM_DECODE_KERNELS] = {"router", "gate", "align", "layer"};

/* --- report ------------------------------------------------------------------------------------------------------- */

/** Sets the strings that describe the run: command, problem, input. */
static void name_run(const struct decode_options *options, const struct decode_problem *problem,
                     struct program *program)
{
    char layer[256], choices[32];

    program_set_command(program, table, program_run_trait_mask(program) | TRAIT_USES_SEED);
    moe_problem_describe(&problem->layer, layer, sizeof layer);
    snprintf(program->problem_text, sizeof program->problem_text, "%s, %d group%s of which %d stay", layer,
             problem->gate.num_expert_group, problem->gate.num_expert_group == 1 ? "" : "s", problem->gate.topk_group);
    program->distribution_name = "generated";
    snprintf(program->input_text, sizeof program->input_text, "generated, seed %" PRIu64, options->moe.program.seed);
    snprintf(program->verified_text, sizeof program->verified_text,
             "logits, %s choices with their weights, their list in blocks, and the layer's output",
             format_thousands((uint64_t)moe_num_choices(&problem->layer), choices));
}

static void report_problem(const struct decode_options *options, const struct decode_problem *problem, bool all,
                           struct record *report)
{
    moe_report_problem(&options->moe, &problem->layer, all, report);
    record_add_text(report, IN_TABLE, "launches", "four kernels, %s",
                    options->overlap_launches ? "each overlapping the one before it" : "one after the other");
    record_add_number(report, IN_DATA, "overlap", "%s", options->overlap_launches ? "true" : "false");
}

/* --- times -------------------------------------------------------------------------------------------------------- */

/** A step with its tensors; only the kernels in problem.launched are timed. */
struct timed_step {
    struct decode_step step;
    const struct tensors *tensors;
};

static cudaError_t launch_step(void *context, int turn, cudaStream_t stream)
{
    const struct timed_step *const timed = context;
    const struct checked_launch launch = decode_make_checked_launch(&timed->step);

    (void)turn;
    return launch.launch_kernels(&launch, timed->tensors, stream);
}

/**
 * Times repeated launches of the kernels in `launched`; those in `overlapping` overlap the previous kernel. On failure,
 * returns false and sets *error.
 */
static bool time_kernels(const struct decode_step *step, const struct tensors *tensors, unsigned launched,
                         unsigned overlapping, struct timing *timing, struct error *error)
{
    struct timed_step timed = {*step, tensors};

    timed.step.problem.launched = launched;
    timed.step.problem.overlapping = overlapping & launched;
    return backend_time_launch(launch_step, &timed, BACKEND_CACHE_WARM, timing, error);
}

static void add_time(struct record *row, int width, const char *heading, const char *name, double us)
{
    record_add_table_cell(row, width, heading, "%.2f", us);
    record_add_number(row, IN_DATA, name, "%.4f", us);
}

/**
 * Adds a row for each kernel of a chain, then a row for the whole chain. A kernel's row gives the time of this kernel
 * alone, launched repeatedly, and the time that the chain saves if only this kernel overlaps the previous one.
 */
static bool report_chain(const struct decode_step *step, const struct tensors *tensors, unsigned launched,
                         const char *name, struct record *list, struct error *error)
{
    struct timing chain, alone, one, all;
    double sum = 0.0;
    struct record *row;

    if (!time_kernels(step, tensors, launched, 0, &chain, error) ||
        !time_kernels(step, tensors, launched, launched, &all, error))
        return false;
    for (int k = 0; k < NUM_DECODE_KERNELS; k++) {
        if (!(launched >> k & 1))
            continue;
        if (!time_kernels(step, tensors, 1u << k, 0, &alone, error) ||
            !time_kernels(step, tensors, launched, 1u << k, &one, error))
            return false;
        sum += alone.median;
        row = record_list_add_row(list, IN_TABLE | IN_DATA);
        record_add_number(row, IN_DATA, "num_tokens", "%" PRId64, step->problem.layer.num_tokens);
        record_add_text(row, IN_DATA, "chain", "%s", name);
        record_add_text(row, IN_DATA, "kernel", "%s", kernel_names[k]);
        record_add_table_cell(row, 8, "tokens", "%" PRId64, step->problem.layer.num_tokens);
        record_add_table_cell(row, 0, "", "%s", ""); /* empty column: puts two spaces before the text */
        record_add_table_cell(row, -22, "kernel", "%s", kernel_names[k]);
        add_time(row, 10, "alone", "alone_us", alone.median);
        add_time(row, 12, "in a row", "plain_us", chain.median);
        add_time(row, 12, "overlapping", "overlapped_us", one.median);
        add_time(row, 8, "saved", "saved_us", chain.median - one.median);
    }
    row = record_list_add_row(list, IN_TABLE | IN_DATA);
    record_add_number(row, IN_DATA, "num_tokens", "%" PRId64, step->problem.layer.num_tokens);
    record_add_text(row, IN_DATA, "chain", "%s", name);
    record_add_text(row, IN_DATA, "kernel", "all");
    record_add_table_cell(row, 8, "tokens", "%" PRId64, step->problem.layer.num_tokens);
    record_add_table_cell(row, 0, "", "%s", "");
    record_add_table_cell(row, -22, "kernel", "%s", name);
    add_time(row, 10, "alone", "alone_us", sum);
    add_time(row, 12, "in a row", "plain_us", chain.median);
    add_time(row, 12, "overlapping", "overlapped_us", all.median);
    add_time(row, 8, "saved", "saved_us", chain.median - all.median);
    return true;
}

/**
 * Runs and verifies a step, times the chain of kernels without the layer and with it, and verifies the last answer
 * again.
 */
static bool bench_step(const struct decode_step *step, struct tensors *tensors, struct record *list,
                       struct error *error)
{
    const unsigned all = (1u << NUM_DECODE_KERNELS) - 1, routing = all & ~(1u << DECODE_LAYER);
    const struct checked_launch launch = decode_make_checked_launch(step);
    bool good;

    if (!checked_launch_run(&launch, tensors, error) || !tensors_allocate_and_upload(tensors, error))
        return false;
    good = report_chain(step, tensors, routing, "router, gate, align", list, error) &&
           report_chain(step, tensors, all, "and the layer", list, error) &&
           tensors_download_and_check_guards_and_inputs(tensors, error);
    tensors_free_device(tensors);
    return good && launch.verify_outputs(&launch, tensors, error);
}

/** Times steps of several sizes, or of the requested one, and writes the report. Returns the exit code. */
static int bench(struct program *program, const struct decode_chapter *chapter, struct decode_options *options)
{
    static const int64_t sizes[] = {1, 16, 64};
    enum { NUM_SIZES = sizeof sizes / sizeof *sizes };
    const bool one = options->moe.program.num_tokens_given;
    struct record *list = NULL;

    for (int i = 0; program->error.exit_code == RUN_VERIFIED && i < (one ? 1 : NUM_SIZES); i++) {
        struct moe_layer layer;
        struct decode_step step;
        struct tensors tensors;

        if (!one) {
            options->moe.program.num_tokens = sizes[i];
            options->moe.program.num_tokens_given = true;
        }
        if (!decode_prepare_problem_and_tensors(options, chapter, program->backend.can_measure_times, &layer, &step,
                                                &tensors, &program->error))
            break;
        if (!list) {
            struct decode_problem largest = step.problem; /* the head of a benchmark's report describes this problem */

            largest.layer.num_tokens = one ? largest.layer.num_tokens : sizes[NUM_SIZES - 1];
            name_run(options, &largest, program);
            report_problem(options, &step.problem, false, program_begin_report(program));
            list = record_add_list(&program->report, IN_TABLE | IN_DATA, "rows");
        }
        bench_step(&step, &tensors, list, &program->error);
        tensors_free(&tensors);
        moe_host_routing_free(&layer.routing);
    }
    if (program->error.exit_code == RUN_VERIFIED)
        record_write(&program->report, program->requested_options.format, stdout, &program->error);
    record_free(&program->report);
    return program_print_error(program);
}

/* --- the program -------------------------------------------------------------------------------------------------- */

/** Handles one problem: loads its input, runs and checks the step, and writes the report. */
static void run(struct program *program, const struct decode_chapter *chapter, struct decode_options *options)
{
    struct moe_layer layer;
    struct decode_step step;
    const struct checked_launch launch = decode_make_checked_launch(&step);
    struct tensors tensors;

    if (!decode_prepare_problem_and_tensors(options, chapter, program->backend.can_measure_times, &layer, &step,
                                            &tensors, &program->error))
        return;
    name_run(options, &step.problem, program);
    program_run_or_benchmark_checked_launch(program, &launch, &tensors);
    report_problem(options, &step.problem, true, program_begin_report(program));
    program_report_correctness(program);
    tensors_free(&tensors);
    moe_host_routing_free(&layer.routing);
}

int decode_main(int argc, char **argv, const struct decode_chapter *chapter)
{
    struct decode_options options = {.moe = moe_options_default(), .overlap_launches = true};
    struct program program = {
        .path = argv[0], .name = chapter->name, .gpu_needs = &chapter->needs, .source_hash = kernel_source_sha256};

    if (!program_parse(&program, table,
                       "runs the kernels of a decoding step, each overlapping the one before it, checks every result, "
                       "and reports",
                       argc, argv, &options) ||
        !moe_options_check_conflicts(&options.moe, &program.error) || !program_check_options_and_open_device(&program))
        return program_print_error(&program);
    if (program.requested_options.bench && program.backend.can_measure_times)
        return bench(&program, chapter, &options);
    decode_start_covering_design(program.requested_options.seed, program.requested_options.check_only_corners,
                                 &program.covering);
    while (program_begin_next_run(&program)) {
        if (program.requested_options.check_all &&
            !decode_options_set_next_problem(&program.covering, program.requested_options.seed, &options))
            break;
        run(&program, chapter, &options);
    }
    return program_write_result(&program);
}
