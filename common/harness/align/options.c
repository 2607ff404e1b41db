#include "harness/align/options.h"

#include "harness/align/problem.h"

#include <limits.h>
#include <string.h>

const char *const align_kernel_names[] = {"auto", "large", "small", NULL};

const char *const align_capacity_policy_names[] = {"bound", "exact", "spare", NULL};

static const char *const ids_names[] = {"i32", "i64", NULL};

/**
 * Traits of a run; they select the options in the command that reproduces the run. Bits from 16 up stand for the
 * sources, in the order of enum align_id_source.
 */
enum { HAS_CAPACITY = FIRST_OPERATOR_TRAIT, HAS_ROOM = 256, OVERLAPS = 512 };

#define FROM(source) (16u << ALIGN_ID_SOURCE_##source)

const char *align_id_source_name(const struct align_options *options)
{
    static const char *const names[] = {"router", "file", "", "counts"};

    return options->source == ALIGN_ID_SOURCE_GENERATED ? align_dist_names[options->dist] : names[options->source];
}

/** Sets the source of the input. If two flags select a source, returns false with an error that names both flags. */
static bool take_source(const struct option_row *row, void *context, struct error *error)
{
    static const char *const flags[] = {"", "topk-ids", "dist", "counts"}; /* in the order of enum align_id_source */
    struct align_options *const options = context;
    int source = ALIGN_ID_SOURCE_FILE;

    while (strcmp(flags[source], row->name) != 0)
        source++;
    if (options->source != ALIGN_ID_SOURCE_ROUTER && (int)options->source != source)
        return error_set(error, "--%s: the input is --%s already", row->name, flags[options->source]);
    options->source = (enum align_id_source)source;
    return true;
}

#define FIELD(member) .field_offset = offsetof(struct align_options, member)
#define GIVEN(member) .given_offset = offsetof(struct align_options, member)
#define COUNT         .type = OPTION_INT, .least = 1, .most = INT_MAX

/* The rows are in the order in which the command that reproduces a run lists the options. */
static const struct option_row table[] = {
    {.help = "The problem", .help_group = 1},
    {"num-tokens", "N", "Tokens (default: as many as the input has; 1024 generated)", 1, OPTION_INT64,
     FIELD(program.num_tokens), GIVEN(program.num_tokens_given), .most = INT64_MAX,
     .in_command_if_traits = TRAIT_HAS_NUM_TOKENS},
    {"num-experts", "N", "Experts (default 256, or one for each number of --counts)", 1, COUNT,
     FIELD(problem.num_experts), GIVEN(num_experts_given), .in_command_if_traits = FROM(FILE) | FROM(GENERATED)},
    {"topk", "N", "Experts chosen for each token (default: as the input has; 8)", 1, COUNT, FIELD(topk),
     GIVEN(topk_given), .in_command_if_traits = FROM(ROUTER) | FROM(GENERATED)},
    {.help = "The input (default: what the gate chooses from the real router's logits)", .help_group = 2},
    {"topk-ids", "FILE.npy", "[tokens, topk] or [tokens], i4 or i8; rows repeat if --num-tokens asks for more", 2,
     OPTION_PATH, FIELD(ids_path), .on_parse = take_source},
    {"dist", "NAME", "Generate: balanced, uniform, zipf, one, sparse, repeated or invalid", 2, OPTION_WORD, FIELD(dist),
     .value_words = align_dist_names, .on_parse = take_source, .in_command_if_traits = FROM(GENERATED)},
    {"counts", "N,N,...", "Generate: the first expert N times, and so on, in random order", 2, OPTION_TEXT,
     FIELD(counts_list), .on_parse = take_source},
    {"block-size", "N", "Pad every expert's ids to a multiple of N (default 64)", 1, COUNT, FIELD(problem.block_size)},
    {"ids", "TYPE", "Type of the ids: i32 or i64 (default: the file's; i32)", 1, OPTION_BOOL, FIELD(problem.wide_ids),
     GIVEN(ids_given), .value_words = ids_names},
    {"expert-map", "MAP", "none, random or FILE.npy: [experts] the local id of each, -1 elsewhere (default none)", 1,
     OPTION_PATH, FIELD(expert_map_option)},
    {"capacity", "N", "Slots of sorted_token_ids (default: what the chapter allocates)", 1, OPTION_INT64,
     FIELD(problem.capacity), GIVEN(capacity_given), .most = INT32_MAX, .in_command_if_traits = HAS_CAPACITY},
    {"room", "WHICH", "bound: --capacity; exact: what the ids need; spare: 5 blocks more than bound (default bound)", 1,
     OPTION_WORD, FIELD(capacity_policy), .value_words = align_capacity_policy_names, .in_command_if_traits = HAS_ROOM},
    {"misalign", "N", "Words, 0 to 3, that sorted_token_ids begins past 16 bytes (default 0)", 1, OPTION_INT,
     FIELD(misalign_words), .most = NUM_ALIGN_MISALIGNMENTS - 1},
    {"kernel", "WHICH", "auto, large, or small where there is one for few ids (default auto)", 1, OPTION_WORD,
     FIELD(problem.kernel), .value_words = align_kernel_names},
    {"overlap", "0|1", "Let blocks start before the previous kernel has ended: chapter 17 (default 0)", 3, OPTION_BOOL,
     FIELD(problem.overlap), .most = 1, .in_command_if_traits = OVERLAPS},
    {"out", "DIR", "Write sorted_token_ids.npy, expert_ids.npy and num_tokens_post_padded.npy there once verified", 3,
     OPTION_PATH, FIELD(program.output_directory), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {"check-all", NULL, "Instead of one problem check about 2,500: shapes, types, distributions, maps, capacities", 3,
     OPTION_FLAG, FIELD(program.check_all), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {.next_table = program_option_rows},
};

/** Checks that --counts is not combined with other shape options, because the list determines the shape. */
static bool check_counts(struct align_options *options, struct error *error)
{
    bool *const num_tokens_given = &options->program.num_tokens_given;
    const char *const flag = *num_tokens_given            ? "num-tokens"
                             : options->num_experts_given ? "num-experts"
                             : options->topk_given        ? "topk"
                                                          : NULL;

    if (options->source == ALIGN_ID_SOURCE_COUNTS && flag)
        return error_set(
            error, "--%s: --counts has a number of ids for each expert (0 for none); leave out one of the two", flag);
    *num_tokens_given |= options->source == ALIGN_ID_SOURCE_COUNTS;
    return true;
}

/** Checks that --capacity is not combined with --room or with a sweep, in which each size has its own capacity. */
static bool check_capacity(const struct align_options *options, struct error *error)
{
    if (options->program.bench && options->capacity_given && !options->program.num_tokens_given)
        return error_set(error, "--capacity: every size of a sweep has its own; add --num-tokens");
    if (options->capacity_given && options->capacity_policy != ALIGN_CAPACITY_DEFAULT)
        return error_set(error, "--room: --capacity says how much there is; leave out one of the two");
    return true;
}

struct align_options align_options_default(void)
{
    return (struct align_options){
        .problem = {.num_experts = 256, .block_size = 64},
        .topk = 8,
        .expert_map_option = "none",
        .program = {.num_tokens = 1024, .seed = 1},
    };
}

/** Returns this run's traits, which determine the options in the command that reproduces the run. */
static unsigned options_traits(const struct align_options *options, const struct program *program)
{
    unsigned traits = 16u << options->source;

    if (options->source != ALIGN_ID_SOURCE_COUNTS)
        traits |= program_run_trait_mask(program);
    if (options->capacity_given)
        traits |= HAS_CAPACITY;
    if (options->capacity_policy != ALIGN_CAPACITY_DEFAULT)
        traits |= HAS_ROOM;
    if (options->problem.overlap)
        traits |= OVERLAPS;
    if (traits & (FROM(GENERATED) | FROM(COUNTS)) ||
        parse_array_source(options->expert_map_option) == ARRAY_SOURCE_RANDOM)
        traits |= TRAIT_USES_SEED;
    return traits;
}

bool align_options_parse(struct program *program, int argc, char **argv, struct align_options *options)
{
    *options = align_options_default();
    return program_parse(program, table,
                         "groups the tokens' choices by expert, in whole blocks, checks every slot, and reports", argc,
                         argv, options) &&
           check_counts(options, &program->error) && check_capacity(options, &program->error) &&
           program_reject_unused_seed(program, options_traits(options, program));
}

void align_options_set_command(const struct align_options *options, struct program *program)
{
    program_set_command(program, table, options_traits(options, program));
}
