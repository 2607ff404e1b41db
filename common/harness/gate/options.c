#include "harness/gate/options.h"

#include "harness/gate/problem.h"
#include "harness/core/options.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum key {
    KEY_NUM_TOKENS = PROGRAM_KEY_END,
    KEY_NUM_EXPERTS,
    KEY_NUM_EXPERT_GROUP,
    KEY_TOPK_GROUP,
    KEY_TOPK,
    KEY_DTYPE,
    KEY_SCORE,
    KEY_BIAS,
    KEY_BIAS_DTYPE,
    KEY_RENORMALIZE,
    KEY_SCALE,
    KEY_LOGITS,
    KEY_DIST,
    KEY_END,
};

static const struct argp_option all_options[] = {
    {NULL, 0, NULL, 0, "The problem", 1},
    {"num-tokens", KEY_NUM_TOKENS, "N", 0, "Tokens (default: as many as the input has; 1024 generated)", 1},
    {"num-experts", KEY_NUM_EXPERTS, "N", 0, "Experts (default: as many as the input has; 256 generated)", 1},
    {"num-expert-group", KEY_NUM_EXPERT_GROUP, "N", 0, "Groups they are in (default 8)", 1},
    {"topk-group", KEY_TOPK_GROUP, "N", 0, "Groups that stay (default 4)", 1},
    {"topk", KEY_TOPK, "N", 0, "Experts chosen for each token (default 8)", 1},
    {"dtype", KEY_DTYPE, "TYPE", 0, "Type of the logits: f32, f16, bf16 (default: the input's; f32)", 1},
    {"score", KEY_SCORE, "HOW", 0, "sigmoid, softmax or none (default sigmoid)", 1},
    {"bias", KEY_BIAS, "BIAS", 0, "none, random or FILE.npy (default: the router's own; else random)", 1},
    {"bias-dtype", KEY_BIAS_DTYPE, "TYPE", 0, "Type of the bias: f32, or same as the logits (default f32)", 1},
    {"renormalize", KEY_RENORMALIZE, "0|1", 0, "Divide a token's weights by their sum (default 1)", 1},
    {"routed-scaling-factor", KEY_SCALE, "X", 0, "Multiply every weight with X (default 2.5)", 1},
    {NULL, 0, NULL, 0, "The input (default: the real router data)", 2},
    {"logits", KEY_LOGITS, "FILE.npy", 0, "[tokens, experts] f2 or f4; rows repeat if --num-tokens asks for more", 2},
    {"dist", KEY_DIST, "NAME", 0, "Generate: normal, uniform, zipf, ties, equal, extreme or nan", 2},
    PROGRAM_OPTION_ROWS("Write topk_ids.npy and topk_weights.npy there once verified",
                        "Instead of one problem check about 2,000: shapes, types, scores, distributions"),
    {0},
};

/** What the parser works on. */
struct parse {
    struct gate_options *options;
    struct error *error;
};

static bool parse_problem(int key, const char *text, struct gate_options *options, struct error *error)
{
    static const char *const dtypes[] = {"f32", "f16", "bf16"};
    static const char *const scores[] = {"sigmoid", "softmax", "none"};
    static const char *const bias_dtypes[] = {"f32", "same"};
    struct gate_problem *problem = &options->problem;
    int word = 0;
    bool good;

    switch (key) {
    case KEY_NUM_TOKENS:
        options->num_tokens_given = true;
        return option_integer("num-tokens", text, 0, INT64_MAX, &problem->num_tokens, error);
    case KEY_NUM_EXPERTS:
        options->num_experts_given = true;
        return option_int("num-experts", text, 1, INT_MAX, &problem->num_experts, error);
    case KEY_NUM_EXPERT_GROUP:
        return option_int("num-expert-group", text, 1, INT_MAX, &problem->num_expert_group, error);
    case KEY_TOPK_GROUP:
        return option_int("topk-group", text, 1, INT_MAX, &problem->topk_group, error);
    case KEY_TOPK:
        return option_int("topk", text, 1, INT_MAX, &problem->topk, error);
    case KEY_DTYPE:
        options->dtype_given = true;
        good = option_word("dtype", text, dtypes, 3, &word, error);
        problem->dtype = (enum dtype)word;
        return good;
    case KEY_SCORE:
        good = option_word("score", text, scores, 3, &word, error);
        problem->score = (enum gate_score)word;
        return good;
    case KEY_BIAS_DTYPE:
        good = option_word("bias-dtype", text, bias_dtypes, 2, &word, error);
        options->bias_same = word == 1;
        return good;
    case KEY_RENORMALIZE:
        good = option_int("renormalize", text, 0, 1, &word, error);
        problem->renormalize = word == 1;
        return good;
    default:
        return option_float("routed-scaling-factor", text, &problem->routed_scaling_factor, error);
    }
}

static bool parse_dist(const char *text, struct gate_options *options, struct error *error)
{
    const char *names[GATE_DIST_COUNT];
    int word = 0;

    for (int dist = 0; dist < GATE_DIST_COUNT; dist++)
        names[dist] = gate_dist_name((enum gate_dist)dist);
    if (!option_word("dist", text, names, GATE_DIST_COUNT, &word, error))
        return false;
    if (options->source == GATE_SOURCE_FILE)
        return error_set(error, "--dist: the input is --logits %s already", options->logits_path);
    options->source = GATE_SOURCE_GENERATED;
    options->dist = (enum gate_dist)word;
    return true;
}

static bool parse_logits(const char *text, struct gate_options *options, struct error *error)
{
    if (options->source == GATE_SOURCE_GENERATED)
        return error_set(error, "--logits: the input is --dist %s already", gate_dist_name(options->dist));
    options->source = GATE_SOURCE_FILE;
    options->logits_path = text;
    return true;
}

static void parse_bias(const char *text, struct gate_options *options)
{
    options->bias = strcmp(text, "none") == 0     ? GATE_BIAS_NONE
                    : strcmp(text, "random") == 0 ? GATE_BIAS_RANDOM
                                                  : GATE_BIAS_FILE;
    options->bias_path = text;
}

static bool parse_one(int key, char *text, struct gate_options *options, struct error *error)
{
    if (key < PROGRAM_KEY_END)
        return program_option_parse(key, text, &options->program, error);
    switch (key) {
    case KEY_BIAS:
        parse_bias(text, options);
        return true;
    case KEY_LOGITS:
        return parse_logits(text, options, error);
    case KEY_DIST:
        return parse_dist(text, options, error);
    default:
        return parse_problem(key, text, options, error);
    }
}

static error_t parse_key(int key, char *text, struct argp_state *state)
{
    struct parse *parse = state->input;

    if (key < PROGRAM_KEY_SEED || key >= KEY_END)
        return ARGP_ERR_UNKNOWN;
    return parse_one(key, text, parse->options, parse->error) ? 0 : EINVAL;
}

/** Only a kernel that is launched has a trace. */
static bool check_trace(const struct gate_chapter *chapter, const struct gate_options *options, struct error *error)
{
    if (!options->program.trace)
        return true;
    if (!chapter->step.launch)
        return error_set(error, "--trace: this chapter computes on the host; it has no kernel to trace");
    if (options->num_tokens_given && options->problem.num_tokens == 0)
        return error_set(error, "--trace: no tokens launch nothing; --num-tokens must be at least 1");
    return true;
}

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
        .program = program_options_default(),
    };
}

bool gate_options_parse(int argc, char **argv, const struct gate_chapter *chapter, struct gate_options *options,
                        struct error *error)
{
    char doc[256];
    const struct argp argp = {.options = all_options, .parser = parse_key, .doc = doc};
    struct parse parse = {options, error};

    program_doc(chapter->step.name, "chooses experts for every token, checks each choice and weight, and reports", doc,
                sizeof doc);
    *options = gate_options_default();
    return options_run(&argp, argc, argv, &parse, error) && check_trace(chapter, options, error) &&
           program_options_check(&options->program, error);
}

void gate_options_command(const struct gate_options *options, const char *program, char *text, size_t size)
{
    const struct gate_problem *problem = &options->problem;
    char num_tokens[40] = "", input[512] = "", bias[512];

    if (options->num_tokens_given || !options->program.bench) /* --bench without --num-tokens is the sweep */
        snprintf(num_tokens, sizeof num_tokens, " --num-tokens %" PRId64, problem->num_tokens);
    if (options->source == GATE_SOURCE_FILE)
        snprintf(input, sizeof input, " --logits %s", options->logits_path);
    else if (options->source == GATE_SOURCE_GENERATED)
        snprintf(input, sizeof input, " --num-experts %d --dist %s --seed %" PRIu64, problem->num_experts,
                 gate_dist_name(options->dist), options->program.seed);
    if (options->bias == GATE_BIAS_DEFAULT)
        bias[0] = '\0';
    else
        snprintf(bias, sizeof bias, " --bias %s", options->bias_path);
    snprintf(text, size,
             "%s%s --num-expert-group %d --topk-group %d --topk %d --dtype %s --score %s%s"
             " --bias-dtype %s --renormalize %d --routed-scaling-factor %g%s",
             program, num_tokens, problem->num_expert_group, problem->topk_group, problem->topk,
             dtype_name(problem->dtype), gate_score_name(problem->score), bias, options->bias_same ? "same" : "f32",
             problem->renormalize, problem->routed_scaling_factor, input);
    program_options_command(&options->program, text, size);
}
