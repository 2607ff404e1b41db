#include "harness/gate/options.h"

#include "harness/gate/problem.h"

#include <limits.h>
#include <string.h>

static const char *const dtype_names[] = {"f32", "f16", "bf16", NULL};
static const char *const bias_dtypes[] = {"f32", "same", NULL};

/** Traits of a run; they select the options in the command that reproduces the run. */
enum { GENERATED = FIRST_OPERATOR_TRAIT, FUSED = 2 * FIRST_OPERATOR_TRAIT, OVERLAPS = 4 * FIRST_OPERATOR_TRAIT };

/** Sets the source of the input. If two flags select a source, returns false with an error that names both flags. */
static bool take_source(const struct option_row *row, void *context, struct error *error)
{
    struct gate_options *const options = context;
    const bool file = strcmp(row->name, "logits") == 0;

    if (options->source == (file ? GATE_LOGITS_SOURCE_GENERATED : GATE_LOGITS_SOURCE_FILE))
        return error_set(error, "--%s: the input is --%s %s already", row->name, file ? "dist" : "logits",
                         file ? gate_dist_names[options->dist] : options->logits_path);
    options->source = file ? GATE_LOGITS_SOURCE_FILE : GATE_LOGITS_SOURCE_GENERATED;
    return true;
}

#define FIELD(member) .field_offset = offsetof(struct gate_options, member)
#define GIVEN(member) .given_offset = offsetof(struct gate_options, member)
#define COUNT         .type = OPTION_INT, .least = 1, .most = INT_MAX

/* The rows are in the order in which the command that reproduces a run lists the options. */
const struct option_row gate_option_rows[] = {
    {.help = "The problem", .help_group = 1},
    {"num-tokens", "N", "Tokens (default: as many as the input has; 1024 generated)", 1, OPTION_INT64,
     FIELD(program.num_tokens), GIVEN(program.num_tokens_given), .most = INT64_MAX,
     .in_command_if_traits = TRAIT_HAS_NUM_TOKENS},
    {"num-expert-group", "N", "Groups of the experts, all of the same size (default 8)", 1, COUNT,
     FIELD(problem.num_expert_group)},
    {"topk-group", "N", "Groups kept for each token: those with the best scores (default 4)", 1, COUNT,
     FIELD(problem.topk_group)},
    {"topk", "N", "Experts chosen for each token (default 8)", 1, COUNT, FIELD(problem.topk)},
    {"dtype", "TYPE", "Type of the logits: f32, f16, bf16 (default: the input's; f32)", 1, OPTION_WORD,
     FIELD(problem.dtype), GIVEN(dtype_given), .value_words = dtype_names},
    {"score", "HOW", "sigmoid, softmax or none (default sigmoid)", 1, OPTION_WORD, FIELD(problem.score),
     .value_words = gate_score_names},
    {"bias", "BIAS", "none, random or FILE.npy (default: the router's own; else random)", 1, OPTION_PATH,
     FIELD(bias_option)},
    {"bias-dtype", "TYPE", "Type of the bias: f32, or same as the logits (default f32)", 1, OPTION_BOOL,
     FIELD(bias_has_logits_dtype), .value_words = bias_dtypes},
    {"renormalize", "0|1", "Divide a token's weights by their sum (default 1)", 1, OPTION_BOOL,
     FIELD(problem.renormalize), .most = 1},
    {"routed-scaling-factor", "X", "Multiply every weight with X (default 2.5)", 1, OPTION_FLOAT,
     FIELD(problem.routed_scaling_factor)},
    {"scale-later", "0|1", "Leave the factor to the kernel that adds up the outputs (default 0)", 1, OPTION_BOOL,
     FIELD(problem.scale_later), .most = 1, .in_command_if_traits = FUSED},
    {"num-fused-shared-experts", "N", "Experts that every token has, behind those chosen (default 0)", 1, OPTION_INT,
     FIELD(problem.num_fused_shared_experts), .most = 1024, .in_command_if_traits = FUSED},
    {"num-experts", "N", "Experts (default: as many as the input has; 256 generated)", 1, COUNT,
     FIELD(problem.num_experts), GIVEN(num_experts_given), .in_command_if_traits = GENERATED},
    {.help = "The input (default: the real router data)", .help_group = 2},
    {"logits", "FILE.npy", "[tokens, experts] f2 or f4; rows repeat if --num-tokens asks for more", 2, OPTION_PATH,
     FIELD(logits_path), .on_parse = take_source},
    {"dist", "NAME", "Generate: normal, uniform, zipf, ties, equal, extreme or nan", 2, OPTION_WORD, FIELD(dist),
     .value_words = gate_dist_names, .on_parse = take_source, .in_command_if_traits = GENERATED},
    {"overlap", "0|1", "Let blocks start before the previous kernel has ended: chapter 17 (default 0)", 3, OPTION_BOOL,
     FIELD(problem.overlap), .most = 1, .in_command_if_traits = OVERLAPS},
    {"out", "DIR", "Write the outputs there, NAME.npy each, once verified", 3, OPTION_PATH,
     FIELD(program.output_directory), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {"check-all", NULL, "Instead of one problem check about 2,000: shapes, types, scores, distributions", 3,
     OPTION_FLAG, FIELD(program.check_all), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {.next_table = program_option_rows},
};

struct gate_options gate_options_default(void)
{
    return (struct gate_options){
        .problem = {.num_experts = 256,
                    .num_expert_group = 8,
                    .topk_group = 4,
                    .topk = 8,
                    .renormalize = true,
                    .routed_scaling_factor = 2.5f},
        .program = {.num_tokens = 1024, .seed = 1},
        .option_to_suggest_without_router_data = "logits",
    };
}

/** Rejects --trace if nothing is launched, which is the case on the host and without tokens. */
static bool check_trace(const struct program *program, const struct gate_options *options, struct error *error)
{
    if (options->program.trace_path && program->runs_on_host)
        return error_set(error, "--trace: this chapter computes on the host; it has no kernel to trace");
    if (options->program.trace_path && options->program.num_tokens_given && options->program.num_tokens == 0)
        return error_set(error, "--trace: no tokens launch nothing; --num-tokens must be at least 1");
    return true;
}

bool gate_options_parse(struct program *program, int argc, char **argv, struct gate_options *options)
{
    *options = gate_options_default();
    return program_parse(program, gate_option_rows,
                         "chooses experts for every token, checks each choice and weight, and reports", argc, argv,
                         options) &&
           check_trace(program, options, &program->error) &&
           program_reject_unused_seed(program, gate_options_run_trait_mask(options, program));
}

unsigned gate_options_run_trait_mask(const struct gate_options *options, const struct program *program)
{
    const bool router = options->source == GATE_LOGITS_SOURCE_ROUTER,
               generated = options->source == GATE_LOGITS_SOURCE_GENERATED;
    unsigned traits = program_run_trait_mask(program) | (generated ? GENERATED | TRAIT_USES_SEED : 0);

    if (options->bias_option ? parse_array_source(options->bias_option) == ARRAY_SOURCE_RANDOM : !router)
        traits |= TRAIT_USES_SEED;
    if (options->problem.scale_later || options->problem.num_fused_shared_experts > 0)
        traits |= FUSED;
    if (options->problem.overlap)
        traits |= OVERLAPS;
    return traits;
}

void gate_options_set_command(const struct gate_options *options, struct program *program)
{
    program_set_command(program, gate_option_rows, gate_options_run_trait_mask(options, program));
}
