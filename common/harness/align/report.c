#include "harness/align/report.h"

#include "harness/align/problem.h"

#include <inttypes.h>

/** What the ids come to, whoever sorts them. */
struct sums {
    int64_t padded;  /**< places in use: num_tokens_post_padded */
    int64_t blocks;  /**< of those */
    int64_t placed;  /**< ids that name an expert */
    int64_t skipped; /**< ids that do not */
    int busiest;     /**< the expert with most ids */
    int64_t most;    /**< how many */
    int idle;        /**< experts without any */
    int local;       /**< experts that the map has here */
};

static struct sums add_up(const struct align_report *report)
{
    const struct align_problem *problem = &report->options->problem;
    const struct align_groups *groups = &report->operands->groups;
    const int32_t *expert_map = report->operands->input.expert_map;
    const int busiest = align_busiest_expert(problem, groups);
    const int64_t padded = align_required_capacity(problem, groups);
    struct sums sums = {
        .padded = padded,
        .blocks = padded / problem->block_size,
        .placed = problem->numel - groups->skipped,
        .skipped = groups->skipped,
        .busiest = busiest,
        .most = groups->counts[busiest],
    };

    for (int e = 0; e < problem->num_experts; e++) {
        sums.idle += groups->counts[e] == 0;
        sums.local += !expert_map || expert_map[e] >= 0;
    }
    return sums;
}

static void input_name(const struct align_options *options, char *text, size_t size)
{
    if (options->source == ALIGN_SOURCE_ROUTER)
        snprintf(text, size, "what the gate chooses from the real router's logits");
    else if (options->source == ALIGN_SOURCE_FILE)
        snprintf(text, size, "%s", options->ids_path);
    else
        snprintf(text, size, "generated: %s, seed %" PRIu64, align_source_name(options), options->program.seed);
}

/* --- for people --------------------------------------------------------------------------------------------------- */

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

/** "12 experts", "1 expert". */
static const char *count_of(int64_t count, const char *what, char text[64])
{
    char digits[32];

    snprintf(text, 64, "%s %s%s", report_count((uint64_t)count, digits), what, count == 1 ? "" : "s");
    return text;
}

static void write_padded(const struct align_problem *problem, const struct sums *sums, FILE *stream)
{
    const int64_t pads = sums->padded - sums->placed;
    char padded[32], places[64], blocks[64], ids[64], pads_text[64];

    fprintf(stream, "padded     %s of %s: ", report_count((uint64_t)sums->padded, padded),
            count_of(problem->capacity, "place", places));
    if (sums->padded == 0)
        fprintf(stream, "no id names an expert\n");
    else
        fprintf(stream, "%s with %s and %s (%.1f %%)\n", count_of(sums->blocks, "block", blocks),
                count_of(sums->placed, "id", ids), count_of(pads, "pad", pads_text), percent(pads, sums->padded));
}

static void write_load(const struct align_problem *problem, const struct sums *sums, FILE *stream)
{
    char most[32], ids[64], idle[64];

    if (sums->placed == 0)
        return;
    fprintf(stream, "load       expert %d is the busiest: %s of %s (%.1f %%, %.1f times the mean); ", sums->busiest,
            report_count((uint64_t)sums->most, most), count_of(sums->placed, "id", ids),
            percent(sums->most, sums->placed), (double)sums->most * problem->num_experts / (double)sums->placed);
    if (sums->idle == 0)
        fprintf(stream, "every expert gets some\n");
    else
        fprintf(stream, "%s %s none\n", count_of(sums->idle, "expert", idle), sums->idle == 1 ? "gets" : "get");
}

static void write_table(const struct align_report *report, FILE *stream)
{
    const struct align_options *options = report->options;
    const struct align_problem *problem = &options->problem;
    const struct sums sums = add_up(report);
    char text[256], places[64], blocks[64], ids[64];

    align_problem_describe(problem, text, sizeof text);
    fprintf(stream, "%s on %s%s\n", report->chapter->step.name, report->counters.num_counters ? "the " : "",
            report->backend->device);
    fprintf(stream, "problem    %" PRId64 " token%s, top %d: %s\n", options->num_tokens,
            options->num_tokens == 1 ? "" : "s", options->topk, text);
    input_name(options, text, sizeof text);
    fprintf(stream, "input      %s\n", text);
    if (report->result == RUN_VERIFIED)
        fprintf(stream, "verified   yes: %s, the experts of %s, the padded size\n",
                count_of(problem->capacity, "place", places), count_of(align_blocks(problem), "block", blocks));
    else
        fprintf(stream, "verified   NO: %s\n", report->failure);
    write_padded(problem, &sums, stream);
    write_load(problem, &sums, stream);
    if (report->operands->input.expert_map)
        fprintf(stream, "map        %d of %d experts are local; a block of any other is -1\n", sums.local,
                problem->num_experts);
    if (sums.skipped > 0)
        fprintf(stream, "skipped    %s, which name%s no expert\n", count_of(sums.skipped, "id", ids),
                sums.skipped == 1 ? "s" : "");
    counters_write_table(stream, &report->counters, (double)options->num_tokens);
}

/* --- for programs ------------------------------------------------------------------------------------------------- */

static void write_json(const struct align_report *report, FILE *stream)
{
    const struct align_options *options = report->options;
    const struct align_problem *problem = &options->problem;
    const struct sums sums = add_up(report);
    char input[256];

    input_name(options, input, sizeof input);
    report_json_head(stream, report->chapter->step.name, report->chapter->before.name, report->backend->device);
    report_json_member(stream, "command", report->command);
    report_json_member(stream, "input", input);
    fprintf(stream,
            ",\n  \"problem\": {\"num_tokens\": %" PRId64 ", \"num_experts\": %d, \"topk\": %d, \"block_size\": %d, "
            "\"ids\": \"%s\", \"capacity\": %" PRId64 ", \"offset\": %d, \"kernel\": \"%s\", \"expert_map\": ",
            options->num_tokens, problem->num_experts, options->topk, problem->block_size, align_ids_name(problem),
            problem->capacity, options->offset, align_kernel_name(problem->kernel));
    report_json_string(stream, options->map_path);
    fprintf(stream, "},\n  \"verified\": %s", report->result == RUN_VERIFIED ? "true" : "false");
    report_json_member(stream, "failure", report->failure);
    fprintf(stream, ",\n  \"num_tokens_post_padded\": %" PRId64 ",\n  \"skipped_ids\": %" PRId64, sums.padded,
            sums.skipped);
    fprintf(stream, ",\n  \"load\": {\"busiest_expert\": %d, \"ids\": %" PRId64 ", \"idle_experts\": %d},\n  ",
            sums.busiest, sums.most, sums.idle);
    counters_write_json(stream, &report->counters);
    fputs("\n}\n", stream);
}

static void write_csv(const struct align_report *report, FILE *stream)
{
    const struct align_options *options = report->options;
    const struct align_problem *problem = &options->problem;
    const struct sums sums = add_up(report);

    fputs("chapter,before,device,verified,num_tokens,num_experts,topk,block_size,ids,numel,capacity,"
          "num_tokens_post_padded,skipped_ids,busiest_expert,busiest_ids,idle_experts",
          stream);
    counters_write_csv_names(stream, &report->counters);
    fprintf(stream, "\n%s,%s,", report->chapter->step.name,
            report->chapter->before.name ? report->chapter->before.name : "");
    report_csv_field(stream, report->backend->device);
    fprintf(stream, ",%s,%" PRId64 ",%d,%d,%d,%s,%" PRId64 ",%" PRId64, report->result == RUN_VERIFIED ? "yes" : "no",
            options->num_tokens, problem->num_experts, options->topk, problem->block_size, align_ids_name(problem),
            problem->numel, problem->capacity);
    fprintf(stream, ",%" PRId64 ",%" PRId64 ",%d,%" PRId64 ",%d", sums.padded, sums.skipped, sums.busiest, sums.most,
            sums.idle);
    counters_write_csv_values(stream, &report->counters);
    fputs("\n", stream);
}

void align_report_write(const struct align_report *report, FILE *stream)
{
    switch (report->options->program.format) {
    case REPORT_JSON:
        write_json(report, stream);
        break;
    case REPORT_CSV:
        write_csv(report, stream);
        break;
    default:
        write_table(report, stream);
    }
}
