#include "harness/parallel/report.h"

#include "harness/moe/check.h"
#include "harness/moe/problem.h"

#include <inttypes.h>
#include <stdio.h>

void parallel_describe_run_and_set_defaults(struct program *program, struct parallel_options *options,
                                            const struct rank_share *share, const struct moe_problem *problem,
                                            int block_size)
{
    char tokens[64];

    options->dp_size = share->dp_size;
    options->tp_size = share->tp_size;
    options->ep_size = share->num_expert_parts;
    options->moe.problem.block_size = block_size;
    parallel_options_set_command(options, share->num_ranks, program);
    moe_problem_describe(problem, program->problem_text, sizeof program->problem_text);
    program->distribution_name = moe_routing_source_name(&options->moe);
    moe_describe_input(&options->moe, program->input_text, sizeof program->input_text);
    snprintf(program->verified_text, sizeof program->verified_text, "the result of every rank: %s%s",
             format_count(moe_num_checked_tokens(problem), "token", tokens),
             moe_num_checked_tokens(problem) < problem->num_tokens ? ", a sample; every other element is written" : "");
}

/** Adds a column with a number or, if `has_number` is false, an empty column. */
static void number_or_nothing(struct record *row, int width, const char *name, bool has_number, int decimals,
                              double value)
{
    char text[32] = "";

    if (has_number)
        snprintf(text, sizeof text, "%.*f", decimals, value);
    record_add_table_cell(row, width, name, "%s", text);
}

static void report_stage(const struct layer_stage *stage, bool can_measure_times, struct record *list)
{
    struct record *const row = record_list_add_row(list, IN_TABLE | IN_JSON);
    const double algorithm = stage->median_us > 0.0 ? 1e-3 * stage->array_bytes / stage->median_us : 0.0;
    const double bus = algorithm * stage->bus_bandwidth_factor;
    const bool moves = stage->num_ranks > 0;
    char digits[32];

    record_add_table_cell(row, -10, "stage", "%s", stage->name);
    record_add_table_cell(row, -22, "by", "%s", stage->performed_by);
    number_or_nothing(row, 6, "ranks", moves, 0, stage->num_ranks);
    record_add_table_cell(row, 15, "bytes", "%s", moves ? format_thousands((uint64_t)stage->array_bytes, digits) : "");
    record_add_table_cell(row, 15, "over the bus", "%s",
                          moves ? format_thousands((uint64_t)stage->received_bytes, digits) : "");
    if (can_measure_times) {
        record_add_table_cell(row, 10, "us", "%.1f", stage->median_us);
        number_or_nothing(row, 9, "alg GB/s", moves, 2, algorithm);
        number_or_nothing(row, 9, "bus GB/s", moves, 2, bus);
    }
    record_add_text(row, IN_JSON, "stage", "%s", stage->name);
    record_add_text(row, IN_JSON, "by", "%s", stage->performed_by);
    record_add_number(row, IN_JSON, "ranks", "%d", stage->num_ranks);
    record_add_number(row, IN_JSON, "bytes", "%.0f", stage->array_bytes);
    record_add_number(row, IN_JSON, "bytes_over_the_bus", "%.0f", stage->received_bytes);
    if (can_measure_times) {
        record_add_number(row, IN_JSON, "us", "%.2f", stage->median_us);
        record_add_number(row, IN_JSON, "algorithm_gb_per_s", "%.3f", algorithm);
        record_add_number(row, IN_JSON, "bus_gb_per_s", "%.3f", bus);
    }
}

void report_add_parallel_run(struct program *program, const struct parallel_options *options,
                             const struct moe_problem *problem, const struct parallel_layer *layer)
{
    const struct rank_share *const share = layer->share;
    struct moe_problem run = *problem;
    struct record *head, *result, *list;
    double received = 0.0;
    char digits[32];

    run.block_size = layer->problem->block_size; /* the rank's block size */
    head = program_begin_report(program);
    if (layer->can_measure_times)
        report_add_provenance(program, head);
    moe_report_problem(&options->moe, &run, true, head);
    result = program_report_correctness(program);
    record_add_text(result, IN_TABLE, "ranks", "%d: %d in data parallelism x %d with the same tokens", share->num_ranks,
                    share->dp_size, share->tp_size);
    record_add_text(result, IN_TABLE, "experts", "%d part%s, %d slice%s of each expert; rank 0 has %d of %d experts",
                    share->num_expert_parts, share->num_expert_parts == 1 ? "" : "s", share->num_intermediate_slices,
                    share->num_intermediate_slices == 1 ? "" : "s", share->num_local_experts, problem->num_experts);
    for (int s = 0; s < layer->num_stages; s++)
        received += layer->stages[s].received_bytes;
    record_add_text(result, IN_TABLE, "traffic", "%s: %s bytes over the bus, all ranks together",
                    dispatch_names[options->dispatch], format_thousands((uint64_t)received, digits));
    record_add_number(result, IN_DATA, "ranks", "%d", share->num_ranks);
    record_add_number(result, IN_DATA, "dp", "%d", share->dp_size);
    record_add_number(result, IN_DATA, "tp", "%d", share->tp_size);
    record_add_number(result, IN_DATA, "ep", "%d", share->num_expert_parts);
    record_add_text(result, IN_DATA, "dispatch", "%s", dispatch_names[options->dispatch]);
    record_add_number(result, IN_DATA, "bytes_over_the_bus", "%.0f", received);
    record_add_text(result, IN_TABLE, NULL, "%s", "");
    list = record_add_list(result, IN_TABLE | IN_JSON, "stages");
    for (int s = 0; s < layer->num_stages; s++)
        report_stage(&layer->stages[s], layer->can_measure_times, list);
}
