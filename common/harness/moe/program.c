/** @file moe/program.c  The program of a layer chapter, from the command line to the exit code. */
#include "harness/align/problem.h"
#include "harness/moe/check.h"
#include "harness/moe/problem.h"

#include <inttypes.h>
#include <stdio.h>

/* --- report ------------------------------------------------------------------------------------------------------- */

/** Sets the strings that describe the run: command, problem, input. */
static void name_run(const struct moe_options *options, struct program *program)
{
    const struct moe_problem *const problem = &options->problem;

    moe_options_set_command(options, program);
    moe_problem_describe(problem, program->problem_text, sizeof program->problem_text);
    program->distribution_name = moe_routing_source_name(options);
    moe_describe_input(options, program->input_text, sizeof program->input_text);
}

/** Sets the string that describes the verified elements; `overflowing` of them were not compared. */
static void name_verified(const struct moe_problem *problem, int64_t overflowing, struct program *program)
{
    const int64_t checked = moe_num_checked_tokens(problem);
    char tokens[64], elements[64], uncompared[96] = "";

    if (overflowing > 0)
        snprintf(uncompared, sizeof uncompared, "; %" PRId64 " may exceed the range of f32 and were not compared",
                 overflowing);
    snprintf(program->verified_text, sizeof program->verified_text, "%s of %s%s%s",
             format_count(checked * problem->hidden_size, "element", elements), format_count(checked, "token", tokens),
             checked < problem->num_tokens ? ", a sample; every other element is written" : "", uncompared);
}

/** Reports the load of the experts and the number of padding slots in their blocks. */
static void report_load(const struct moe_layer *layer, struct record *report)
{
    const struct align_problem align = moe_align_problem(&layer->problem);
    const struct align_group_layout *const groups = &layer->routing.groups;
    const int busiest = align_busiest_expert(&align, groups);
    const int64_t padded = align_required_capacity(&align, groups);
    int used = 0;
    char rows[64], pads[64], blocks[64], most[32];

    for (int e = 0; e < align.num_experts; e++)
        used += groups->counts[e] > 0;
    if (align.numel > 0)
        record_add_text(report, IN_TABLE, "load", "%d of %d experts have tokens; expert %d has most, %s", used,
                        align.num_experts, busiest, format_thousands((uint64_t)groups->counts[busiest], most));
    record_add_text(report, IN_TABLE, "blocks", "%s: %s and %s",
                    format_count(padded / align.block_size, "block", blocks), format_count(align.numel, "row", rows),
                    format_count(padded - align.numel, "pad", pads));
    record_add_number(report, IN_DATA, "used_experts", "%d", used);
    record_add_number(report, IN_DATA, "busiest_expert", "%d", busiest);
    record_add_number(report, IN_DATA, "busiest_ids", "%" PRId64, groups->counts[busiest]);
    record_add_number(report, IN_DATA, "num_tokens_post_padded", "%" PRId64, padded);
}

/** Returns the number of the tokens' choices that are local experts. */
static int64_t local_positions(const struct moe_layer *layer)
{
    int64_t positions = 0;

    for (int l = 0; l < layer->problem.num_local_experts; l++)
        positions += layer->routing.groups.counts[layer->routing.local_experts[l]];
    return positions;
}

/** Returns the number of bytes of weights that every kernel must read. */
static double weight_bytes(const struct tensor *weights)
{
    return (double)(tensor_bytes(weights) - weights->skippable_bytes);
}

/** Returns the number of multiplications and additions in the products, for rows that are not padding. */
static double operations_of(const struct moe_layer *layer)
{
    const struct moe_problem *const problem = &layer->problem;

    return 2.0 * (double)local_positions(layer) *
           (double)(moe_w13_elements_per_expert(problem) + moe_w2_elements_per_expert(problem));
}

/**
 * Reports the number of operations that every kernel must perform, the number of bytes that it must move, and their
 * ratio.
 */
static void report_work(const struct moe_layer *layer, const struct tensors *tensors, struct record *report)
{
    const double operations = operations_of(layer);
    const double bytes = tensors_bytes_to_move(tensors);
    const double weights = weight_bytes(&tensors->tensor[MOE_TENSOR_W13]) +
                           weight_bytes(&tensors->tensor[MOE_TENSOR_W2]);

    if (moe_num_choices(&layer->problem) > 0)
        record_add_text(report, IN_TABLE, "work",
                        "%.4g million operations; %.4g MB to move, %.4g of them weights; %.3g operations per byte",
                        1e-6 * operations, 1e-6 * bytes, 1e-6 * weights, operations / bytes);
    record_add_number(report, IN_DATA, "operations", "%.0f", operations);
    record_add_number(report, IN_DATA, "bytes", "%.0f", bytes);
}

/** Adds the number of local experts and the number of their rows to the table. */
static void report_map(const struct moe_layer *layer, struct record *report)
{
    char local[32], all[64];

    if (layer->routing.expert_map)
        record_add_text(report, IN_TABLE, "map", "%d of %d experts are here, with %s of %s",
                        layer->problem.num_local_experts, layer->problem.num_experts,
                        format_thousands((uint64_t)local_positions(layer), local),
                        format_count(moe_num_choices(&layer->problem), "row", all));
}

/* --- the program -------------------------------------------------------------------------------------------------- */

/** Times the previous chapter's implementation, if there is one, with the block size that it chooses. */
static void run_before(struct program *program, const struct moe_options *options,
                       const struct moe_implementation *before, const struct moe_layer *layer,
                       const struct tensors *tensors)
{
    struct moe_layer other = *layer;
    const struct checked_launch launch = moe_make_checked_launch(&other, before);
    struct tensors own;
    struct error ignored = {0};

    if (!before->launch || !program->requested_options.bench ||
        (before->bench_max_tokens && layer->problem.num_tokens > before->bench_max_tokens) ||
        !moe_set_block_size_and_capacity(&other.problem, before,
                                         options->block_size_given ? options->problem.block_size : 0, &ignored) ||
        moe_unsupported_reason(before, &other.problem) ||
        !moe_tensors_allocate_host_and_copy_inputs(tensors, &other, before, &own, &ignored))
        return;
    program_time_previous_chapter(program, &launch, &own);
    tensors_free(&own);
}

/**
 * Handles one problem: loads its input, runs and checks the implementation (in a benchmark, also times it and the
 * previous one), and writes the report.
 */
static void run(struct program *program, const struct moe_chapter *chapter, struct moe_options *options)
{
    struct moe_layer layer;
    struct checked_launch launch = moe_make_checked_launch(&layer, &chapter->implementation);
    struct tensors tensors;
    struct record *report;
    int64_t overflowing = 0;
    const bool loaded = moe_prepare_problem_and_tensors(
        options, &chapter->implementation, program->backend.can_measure_times, &layer, &tensors, &program->error);

    name_run(options, program);
    if (!loaded)
        return;
    launch.num_operations = operations_of(&layer);
    layer.num_uncompared_elements = &overflowing;
    program_run_or_benchmark_checked_launch(program, &launch, &tensors);
    name_verified(&layer.problem, overflowing, program);
    run_before(program, options, &chapter->previous, &layer, &tensors);
    moe_report_problem(options, &options->problem, !program->requested_options.bench, program_begin_report(program));
    report = program_report_correctness(program);
    report_load(&layer, report);
    report_work(&layer, &tensors, report);
    report_map(&layer, report);
    tensors_free(&tensors);
    moe_host_routing_free(&layer.routing);
}

int moe_main(int argc, char **argv, const struct moe_chapter *chapter)
{
    static const int64_t sweep[] = {1, 4, 16, 64, 256, 512, 4096, 16384, 0}; /* each size runs for about ten seconds */
    struct moe_options options;
    struct program program = {.path = argv[0],
                              .name = chapter->implementation.name,
                              .previous_name = chapter->previous.name,
                              .gpu_needs = &chapter->implementation.needs,
                              .own_kernels = chapter->implementation.own_kernels,
                              .fallback = chapter->implementation.fallback,
                              .source_hash = kernel_source_sha256,
                              .bench = {.sweep_sizes = sweep, .max_tokens = chapter->implementation.bench_max_tokens}};

    if (!moe_options_parse(&program, argc, argv, &options) || !program_check_options_and_open_device(&program))
        return program_print_error(&program);
    moe_start_covering_design(&chapter->implementation, program.requested_options.seed,
                              program.requested_options.check_only_corners, &program.covering);
    while (program_begin_next_run(&program)) {
        if (program.requested_options.check_all &&
            !moe_options_set_next_problem(&program.covering, &chapter->implementation, program.requested_options.seed,
                                          &options))
            break;
        run(&program, chapter, &options);
    }
    return program_write_result(&program);
}
