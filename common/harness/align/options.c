#include "harness/align/options.h"

#include "harness/align/problem.h"
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
    KEY_TOPK,
    KEY_BLOCK_SIZE,
    KEY_IDS,
    KEY_EXPERT_MAP,
    KEY_CAPACITY,
    KEY_OFFSET,
    KEY_KERNEL,
    KEY_TOPK_IDS,
    KEY_DIST,
    KEY_COUNTS,
    KEY_END,
};

static const struct argp_option all_options[] = {
    {NULL, 0, NULL, 0, "The problem", 1},
    {"num-tokens", KEY_NUM_TOKENS, "N", 0, "Tokens (default: as many as the input has; 1024 generated)", 1},
    {"num-experts", KEY_NUM_EXPERTS, "N", 0, "Experts (default 256, or one for each of --counts)", 1},
    {"topk", KEY_TOPK, "N", 0, "Experts chosen for each token (default: as the input has; 8)", 1},
    {"block-size", KEY_BLOCK_SIZE, "N", 0, "Pad every expert's ids to a multiple of N (default 64)", 1},
    {"ids", KEY_IDS, "TYPE", 0, "Type of the ids: i32 or i64 (default: the file's; i32)", 1},
    {"expert-map", KEY_EXPERT_MAP, "MAP", 0,
     "none, random or FILE.npy: [experts] the local id of each, -1 elsewhere (default none)", 1},
    {"capacity", KEY_CAPACITY, "N", 0, "Places of sorted_token_ids (default: what the chapter allocates)", 1},
    {"offset", KEY_OFFSET, "N", 0, "Words, 0 to 3, that sorted_token_ids begins past 16 bytes (default 0)", 1},
    {"kernel", KEY_KERNEL, "WHICH", 0, "auto, large, or small where there is one for few ids (default auto)", 1},
    {NULL, 0, NULL, 0, "The input (default: what the gate chooses from the real router's logits)", 2},
    {"topk-ids", KEY_TOPK_IDS, "FILE.npy", 0,
     "[tokens, topk] or [tokens], i4 or i8; rows repeat if --num-tokens asks for more", 2},
    {"dist", KEY_DIST, "NAME", 0, "Generate: balanced, uniform, zipf, one, sparse, repeated or invalid", 2},
    {"counts", KEY_COUNTS, "N,N,...", 0, "Generate: the first expert N times, and so on, in random order", 2},
    PROGRAM_OPTION_ROWS("Write sorted_token_ids.npy, expert_ids.npy and num_tokens_post_padded.npy there once verified",
                        "Instead of one problem check about 1,700: shapes, types, distributions, maps, capacities"),
    {0},
};

static const char *const kernel_names[] = {"auto", "large", "small"};

const char *align_kernel_name(enum align_kernel kernel)
{
    return kernel_names[kernel];
}

const char *align_source_name(const struct align_options *options)
{
    static const char *const names[] = {"router", "file", "", "counts"};

    return options->source == ALIGN_SOURCE_GENERATED ? align_dist_name(options->dist) : names[options->source];
}

/** What the parser works on. */
struct parse {
    struct align_options *options;
    struct error *error;
};

/** There is one input: the flag that names it must be the first that does. */
static bool take_source(const char *flag, enum align_source source, struct align_options *options, struct error *error)
{
    static const char *const flags[] = {"", "--topk-ids", "--dist", "--counts"};

    if (options->source != ALIGN_SOURCE_ROUTER && options->source != source)
        return error_set(error, "--%s: the input is %s already", flag, flags[options->source]);
    options->source = source;
    return true;
}

static bool parse_dist(const char *text, struct align_options *options, struct error *error)
{
    const char *names[ALIGN_DIST_COUNT];
    int word = 0;

    for (int dist = 0; dist < ALIGN_DIST_COUNT; dist++)
        names[dist] = align_dist_name((enum align_dist)dist);
    if (!option_word("dist", text, names, ALIGN_DIST_COUNT, &word, error))
        return false;
    options->dist = (enum align_dist)word;
    return take_source("dist", ALIGN_SOURCE_GENERATED, options, error);
}

static void parse_map(const char *text, struct align_options *options)
{
    options->map = strcmp(text, "none") == 0     ? ALIGN_MAP_NONE
                   : strcmp(text, "random") == 0 ? ALIGN_MAP_RANDOM
                                                 : ALIGN_MAP_FILE;
    options->map_path = text;
}

static bool parse_input(int key, const char *text, struct align_options *options, struct error *error)
{
    switch (key) {
    case KEY_EXPERT_MAP:
        parse_map(text, options);
        return true;
    case KEY_TOPK_IDS:
        options->ids_path = text;
        return take_source("topk-ids", ALIGN_SOURCE_FILE, options, error);
    case KEY_DIST:
        return parse_dist(text, options, error);
    default:
        options->counts = text;
        return take_source("counts", ALIGN_SOURCE_COUNTS, options, error);
    }
}

static bool parse_one(int key, const char *text, struct align_options *options, struct error *error)
{
    static const char *const ids[] = {"i32", "i64"};
    struct align_problem *problem = &options->problem;
    int word = 0;
    bool good;

    if (key < PROGRAM_KEY_END)
        return program_option_parse(key, text, &options->program, error);
    switch (key) {
    case KEY_NUM_TOKENS:
        options->num_tokens_given = true;
        return option_integer("num-tokens", text, 0, INT64_MAX, &options->num_tokens, error);
    case KEY_NUM_EXPERTS:
        options->num_experts_given = true;
        return option_int("num-experts", text, 1, INT_MAX, &problem->num_experts, error);
    case KEY_TOPK:
        options->topk_given = true;
        return option_int("topk", text, 1, INT_MAX, &options->topk, error);
    case KEY_BLOCK_SIZE:
        return option_int("block-size", text, 1, INT_MAX, &problem->block_size, error);
    case KEY_IDS:
        options->ids_given = true;
        good = option_word("ids", text, ids, 2, &word, error);
        problem->wide_ids = word == 1;
        return good;
    case KEY_CAPACITY:
        options->capacity_given = true;
        return option_integer("capacity", text, 0, INT32_MAX, &problem->capacity, error);
    case KEY_OFFSET:
        return option_int("offset", text, 0, ALIGN_OFFSETS - 1, &options->offset, error);
    case KEY_KERNEL:
        good = option_word("kernel", text, kernel_names, 3, &word, error);
        problem->kernel = (enum align_kernel)word;
        return good;
    default:
        return parse_input(key, text, options, error);
    }
}

static error_t parse_key(int key, char *text, struct argp_state *state)
{
    struct parse *parse = state->input;

    if (key < PROGRAM_KEY_SEED || key >= KEY_END)
        return ARGP_ERR_UNKNOWN;
    return parse_one(key, text, parse->options, parse->error) ? 0 : EINVAL;
}

/** A list of counts says all there is to say of the shape. */
static bool check_counts(const struct align_options *options, struct error *error)
{
    const char *const flag = options->num_tokens_given    ? "num-tokens"
                             : options->num_experts_given ? "num-experts"
                             : options->topk_given        ? "topk"
                                                          : NULL;

    if (options->source == ALIGN_SOURCE_COUNTS && flag)
        return error_set(error, "--%s: --counts says how many ids each expert gets; leave out one of the two", flag);
    return true;
}

/** Every size of a sweep has a capacity of its own. */
static bool check_capacity(const struct align_options *options, struct error *error)
{
    if (options->program.bench && options->capacity_given && !options->num_tokens_given && !options->counts)
        return error_set(error, "--capacity: every size of a sweep has its own; add --num-tokens");
    return true;
}

struct align_options align_options_default(void)
{
    return (struct align_options){
        .problem = {.num_experts = 256, .block_size = 64},
        .num_tokens = 1024,
        .topk = 8,
        .map_path = "none",
        .program = program_options_default(),
    };
}

bool align_options_parse(int argc, char **argv, const struct align_chapter *chapter, struct align_options *options,
                         struct error *error)
{
    char doc[256];
    const struct argp argp = {.options = all_options, .parser = parse_key, .doc = doc};
    struct parse parse = {options, error};

    program_doc(chapter->step.name,
                "groups the tokens' choices by expert, in whole blocks, checks every place, and reports", doc,
                sizeof doc);
    *options = align_options_default();
    return options_run(&argp, argc, argv, &parse, error) && check_counts(options, error) &&
           check_capacity(options, error) && program_options_check(&options->program, error);
}

/** Writes the flags that name the input and its size. */
static void input_flags(const struct align_options *options, char *text, size_t size)
{
    char num_tokens[40] = "";

    if (options->num_tokens_given || !options->program.bench) /* --bench without --num-tokens is the sweep */
        snprintf(num_tokens, sizeof num_tokens, " --num-tokens %" PRId64, options->num_tokens);
    switch (options->source) {
    case ALIGN_SOURCE_FILE:
        snprintf(text, size, "%s --num-experts %d --topk-ids %s", num_tokens, options->problem.num_experts,
                 options->ids_path);
        break;
    case ALIGN_SOURCE_GENERATED:
        snprintf(text, size, "%s --num-experts %d --topk %d --dist %s", num_tokens, options->problem.num_experts,
                 options->topk, align_dist_name(options->dist));
        break;
    case ALIGN_SOURCE_COUNTS:
        snprintf(text, size, " --counts %s", options->counts);
        break;
    default:
        snprintf(text, size, "%s --topk %d", num_tokens, options->topk);
    }
}

void align_options_command(const struct align_options *options, const char *program, char *text, size_t size)
{
    const struct align_problem *problem = &options->problem;
    const bool random = options->source == ALIGN_SOURCE_GENERATED || options->source == ALIGN_SOURCE_COUNTS ||
                        options->map == ALIGN_MAP_RANDOM;
    char input[PROGRAM_COMMAND_SIZE], capacity[40] = "", seed[40] = "";

    input_flags(options, input, sizeof input);
    if (options->capacity_given)
        snprintf(capacity, sizeof capacity, " --capacity %" PRId64, problem->capacity);
    if (random)
        snprintf(seed, sizeof seed, " --seed %" PRIu64, options->program.seed);
    snprintf(text, size, "%s%s --block-size %d --ids %s --expert-map %s%s --misalign %d --kernel %s%s", program, input,
             problem->block_size, align_ids_name(problem), options->map_path, capacity, options->offset,
             align_kernel_name(problem->kernel), seed);
    program_options_command(&options->program, text, size);
}
