#include "harness/gate/report.h"

#include "harness/gate/problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** How the choices are spread over the experts. */
struct load {
    int busiest;
    uint64_t most;
    int idle; /**< experts nobody chose */
};

static bool measure_load(const struct gate_report *report, struct load *load)
{
    const struct gate_problem *problem = &report->options->problem;
    uint64_t *const choices = calloc(problem->num_experts, sizeof *choices);

    memset(load, 0, sizeof *load);
    if (!choices || report->result != RUN_VERIFIED) {
        free(choices);
        return false;
    }
    for (size_t i = 0; i < gate_choices(problem); i++)
        choices[report->output->topk_ids[i]]++;
    for (int e = 0; e < problem->num_experts; e++) {
        load->idle += choices[e] == 0;
        if (choices[e] > load->most) {
            load->most = choices[e];
            load->busiest = e;
        }
    }
    free(choices);
    return true;
}

static void input_name(const struct gate_options *options, char *text, size_t size)
{
    if (options->source == GATE_SOURCE_ROUTER)
        snprintf(text, size, "the real router's logits");
    else if (options->source == GATE_SOURCE_FILE)
        snprintf(text, size, "%s", options->logits_path);
    else
        snprintf(text, size, "generated: %s, seed %" PRIu64, gate_dist_name(options->dist), options->program.seed);
}

static void write_table(const struct gate_report *report, FILE *stream)
{
    const struct gate_problem *problem = &report->options->problem;
    char text[256], choices[32], most[32];
    struct load load;

    gate_problem_describe(problem, text, sizeof text);
    fprintf(stream, "%s on %s%s\n", report->chapter->step.name, report->counters.num_counters ? "the " : "",
            report->chapter->step.compute ? "the host" : report->backend->device);
    fprintf(stream, "problem    %s\n", text);
    input_name(report->options, text, sizeof text);
    fprintf(stream, "input      %s\n", text);
    if (report->result == RUN_VERIFIED)
        fprintf(stream, "verified   yes: %s choices and their weights\n", report_count(gate_choices(problem), choices));
    else
        fprintf(stream, "verified   NO: %s\n", report->failure);
    if (measure_load(report, &load))
        fprintf(stream, "load       expert %d is the busiest: %s of %s choices; %d experts get none\n", load.busiest,
                report_count(load.most, most), report_count(gate_choices(problem), choices), load.idle);
    counters_write_table(stream, &report->counters, (double)problem->num_tokens);
}

static void write_json(const struct gate_report *report, FILE *stream)
{
    const struct gate_problem *problem = &report->options->problem;
    char text[256];
    struct load load;

    input_name(report->options, text, sizeof text);
    report_json_head(stream, report->chapter->step.name, report->chapter->before.name,
                     report->chapter->step.compute ? "host" : report->backend->device);
    report_json_member(stream, "command", report->command);
    report_json_member(stream, "input", text);
    fprintf(stream,
            ",\n  \"problem\": {\"num_tokens\": %" PRId64 ", \"num_experts\": %d, \"num_expert_group\": %d, "
            "\"topk_group\": %d, \"topk\": %d, \"dtype\": \"%s\", \"score\": \"%s\", \"bias\": \"%s\", "
            "\"renormalize\": %s, \"routed_scaling_factor\": %g}",
            problem->num_tokens, problem->num_experts, problem->num_expert_group, problem->topk_group, problem->topk,
            dtype_name(problem->dtype), gate_score_name(problem->score),
            problem->has_bias ? dtype_name(problem->bias_dtype) : "none", problem->renormalize ? "true" : "false",
            problem->routed_scaling_factor);
    fprintf(stream, ",\n  \"verified\": %s", report->result == RUN_VERIFIED ? "true" : "false");
    report_json_member(stream, "failure", report->failure);
    if (measure_load(report, &load))
        fprintf(stream, ",\n  \"load\": {\"busiest_expert\": %d, \"choices\": %" PRIu64 ", \"idle_experts\": %d}",
                load.busiest, load.most, load.idle);
    fputs(",\n  ", stream);
    counters_write_json(stream, &report->counters);
    fputs("\n}\n", stream);
}

static void write_csv(const struct gate_report *report, FILE *stream)
{
    const struct gate_problem *problem = &report->options->problem;

    fputs("chapter,before,device,verified,num_tokens,num_experts,dtype,score,bias", stream);
    counters_write_csv_names(stream, &report->counters);
    fputs("\n", stream);
    fprintf(stream, "%s,%s,", report->chapter->step.name,
            report->chapter->before.name ? report->chapter->before.name : "");
    report_csv_field(stream, report->chapter->step.compute ? "host" : report->backend->device);
    fprintf(stream, ",%s,%" PRId64 ",%d,%s,%s,%s", report->result == RUN_VERIFIED ? "yes" : "no", problem->num_tokens,
            problem->num_experts, dtype_name(problem->dtype), gate_score_name(problem->score),
            problem->has_bias ? dtype_name(problem->bias_dtype) : "none");
    counters_write_csv_values(stream, &report->counters);
    fputs("\n", stream);
}

void gate_report_write(const struct gate_report *report, FILE *stream)
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
