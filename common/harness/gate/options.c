#include "harness/gate/options.h"

#include "harness/gate/problem.h"

#include <limits.h>
#include <string.h>

static const char *const dtype_names[] = {"f32", "f16", "bf16", NULL};
static const char *const bias_dtypes[] = {"f32", "same", NULL};

/** What decides which options repeat a run. */
enum { HAS_TOKENS = 2, HAS_BIAS = 4, FROM_FILE = 8, GENERATED = 16 };

/** There is one input: the flag that names it must be the first that does. */
static bool take_source(const struct option_row *row, void *context, struct error *error)
{
    struct gate_options *const options = context;
    const enum gate_source source = strcmp(row->name, "logits") == 0 ? GATE_SOURCE_FILE : GATE_SOURCE_GENERATED;

    if (options->source != GATE_SOURCE_ROUTER && options->source != source)
        return error_set(error, "--%s: the input is --%s %s already", row->name,
                         source == GATE_SOURCE_FILE ? "dist" : "logits",
                         source == GATE_SOURCE_FILE ? gate_dist_names[options->dist] : options->logits_path);
    options->source = source;
    return true;
}

static bool take_bias(const struct option_row *row, void *context, struct error *error)
{
    struct gate_options *const options = context;

    (void)row, (void)error;
    options->bias = strcmp(options->bias_path, "none") == 0     ? GATE_BIAS_NONE
                    : strcmp(options->bias_path, "random") == 0 ? GATE_BIAS_RANDOM
                                                                : GATE_BIAS_FILE;
    return true;
}

#define FIELD(member) .field = offsetof(struct gate_options, member)
#define GIVEN(member) .given = offsetof(struct gate_options, member)
#define COUNT         .type = OPTION_INT, .least = 1, .most = INT_MAX

/* In the order of the command that repeats a run. */
static const struct option_row table[] = {
    {.help = "The problem", .group = 1},
    {"num-tokens", "N", "Tokens (default: as many as the input has; 1024 generated)", 1, OPTION_INT64,
     FIELD(problem.num_tokens), GIVEN(num_tokens_given), .most = INT64_MAX, .repeats = HAS_TOKENS},
    {"num-expert-group", "N", "Groups they are in (default 8)", 1, COUNT, FIELD(problem.num_expert_group),
     .repeats = RUN_OF_ANY_KIND},
    {"topk-group", "N", "Groups that stay (default 4)", 1, COUNT, FIELD(problem.topk_group),
     .repeats = RUN_OF_ANY_KIND},
    {"topk", "N", "Experts chosen for each token (default 8)", 1, COUNT, FIELD(problem.topk),
     .repeats = RUN_OF_ANY_KIND},
    {"dtype", "TYPE", "Type of the logits: f32, f16, bf16 (default: the input's; f32)", 1, OPTION_WORD,
     FIELD(problem.dtype), GIVEN(dtype_given), .words = dtype_names, .repeats = RUN_OF_ANY_KIND},
    {"score", "HOW", "sigmoid, softmax or none (default sigmoid)", 1, OPTION_WORD, FIELD(problem.score),
     .words = gate_score_names, .repeats = RUN_OF_ANY_KIND},
    {"bias", "BIAS", "none, random or FILE.npy (default: the router's own; else random)", 1, OPTION_TEXT,
     FIELD(bias_path), .take = take_bias, .repeats = HAS_BIAS},
    {"bias-dtype", "TYPE", "Type of the bias: f32, or same as the logits (default f32)", 1, OPTION_BOOL,
     FIELD(bias_same), .words = bias_dtypes, .repeats = RUN_OF_ANY_KIND},
    {"renormalize", "0|1", "Divide a token's weights by their sum (default 1)", 1, OPTION_BOOL,
     FIELD(problem.renormalize), .most = 1, .repeats = RUN_OF_ANY_KIND},
    {"routed-scaling-factor", "X", "Multiply every weight with X (default 2.5)", 1, OPTION_FLOAT,
     FIELD(problem.routed_scaling_factor), .repeats = RUN_OF_ANY_KIND},
    {"num-experts", "N", "Experts (default: as many as the input has; 256 generated)", 1, COUNT,
     FIELD(problem.num_experts), GIVEN(num_experts_given), .repeats = GENERATED},
    {.help = "The input (default: the real router data)", .group = 2},
    {"logits", "FILE.npy", "[tokens, experts] f2 or f4; rows repeat if --num-tokens asks for more", 2, OPTION_TEXT,
     FIELD(logits_path), .take = take_source, .repeats = FROM_FILE},
    {"dist", "NAME", "Generate: normal, uniform, zipf, ties, equal, extreme or nan", 2, OPTION_WORD, FIELD(dist),
     .words = gate_dist_names, .take = take_source, .repeats = GENERATED},
    PROGRAM_SEED_OPTION(struct gate_options, GENERATED),
    PROGRAM_OPTIONS(struct gate_options, "Write topk_ids.npy and topk_weights.npy there once verified",
                    "Instead of one problem check about 2,000: shapes, types, scores, distributions"),
    {0},
};

struct gate_options gate_options_default(void)
{
    return (struct gate_options){
        .problem = {.num_experts = 256,
                    .num_expert_group = 8,
                    .topk_group = 4,
                    .topk = 8,
                    .renormalize = true,
                    .routed_scaling_factor = 2.5f,
                    .num_tokens = 1024},
        .program = {.seed = 1},
    };
}

/** Only a kernel that is launched has a trace. */
static bool check_trace(const struct gate_chapter *chapter, const struct gate_options *options, struct error *error)
{
    if (options->program.trace && !chapter->step.launch)
        return error_set(error, "--trace: this chapter computes on the host; it has no kernel to trace");
    if (options->program.trace && options->num_tokens_given && options->problem.num_tokens == 0)
        return error_set(error, "--trace: no tokens launch nothing; --num-tokens must be at least 1");
    return true;
}

bool gate_options_parse(int argc, char **argv, const struct gate_chapter *chapter, struct gate_options *options,
                        struct error *error)
{
    char doc[256];

    program_doc(chapter->step.name, "chooses experts for every token, checks each choice and weight, and reports", doc,
                sizeof doc);
    *options = gate_options_default();
    return options_parse(table, doc, argc, argv, options, error) && check_trace(chapter, options, error) &&
           program_options_check(&options->program, error);
}

void gate_options_command(const struct gate_options *options, const char *program, char *text, size_t size)
{
    unsigned traits = RUN_OF_ANY_KIND;

    if (options->num_tokens_given || !options->program.bench) /* --bench without --num-tokens is the sweep */
        traits |= HAS_TOKENS;
    if (options->bias != GATE_BIAS_DEFAULT)
        traits |= HAS_BIAS;
    if (options->source != GATE_SOURCE_ROUTER)
        traits |= options->source == GATE_SOURCE_FILE ? FROM_FILE : GENERATED;
    options_command(table, options, traits, program, text, size);
}
