#include "harness/moe/options.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const moe_file_flags[NUM_MOE_FILES] = {"hidden", "w13", "w2", "topk-ids", "topk-weights"};

static const char *const dist_names[] = {"router", "balanced", "uniform", "zipf", "one", "sparse", "repeated", NULL};

/** Names of the layer's types: the words of --dtype. */
static const char *const dtype_names[] = {"f32", "bf16", NULL};

/** Traits of a run; they select the options in the command that reproduces the run. */
enum {
    GENERATED_IDS = FIRST_OPERATOR_TRAIT,
    HAS_BLOCK_SIZE = 2 * FIRST_OPERATOR_TRAIT,
    HAS_SCALE = 4 * FIRST_OPERATOR_TRAIT,
    HAS_SIGNS = 8 * FIRST_OPERATOR_TRAIT
};

/** Sets the type. The words of --dtype do not include f16, so their indices differ from enum dtype's. */
static bool take_dtype(const struct option_row *row, void *context, struct error *error)
{
    struct moe_options *const options = context;

    (void)row, (void)error;
    options->problem.dtype = options->is_bf16 ? DTYPE_BF16 : DTYPE_F32;
    return true;
}

#define FIELD(member) .field_offset = offsetof(struct moe_options, member)
#define GIVEN(member) .given_offset = offsetof(struct moe_options, member)
#define COUNT         .type = OPTION_INT, .least = 1, .most = INT_MAX
#define FILE_ROW(name, shape, which)                                      \
    {                                                                     \
        name, "FILE.npy", shape, 2, OPTION_PATH, FIELD(file_paths[which]) \
    }

/* The rows are in the order in which the command that reproduces a run lists the options. */
const struct option_row moe_option_rows[] = {
    {.help =
         "The problem: a file's dimensions, else these; by default a small layer on the CPU, DeepSeek-V3's on a GPU",
     .help_group = 1},
    {"num-tokens", "N", "Tokens (default 48; 64 on a GPU)", 1, OPTION_INT64, FIELD(program.num_tokens),
     GIVEN(program.num_tokens_given), .most = INT64_MAX, .in_command_if_traits = TRAIT_HAS_NUM_TOKENS},
    {"hidden-size", "N", "Elements of a token (default 128; 7168)", 1, COUNT, FIELD(problem.hidden_size),
     GIVEN(hidden_size_given)},
    {"intermediate-size", "N", "Elements between an expert's products (default 64; 2048)", 1, COUNT,
     FIELD(problem.intermediate_size), GIVEN(intermediate_size_given)},
    {"num-experts", "N", "Experts (default 32; 256)", 1, COUNT, FIELD(problem.num_experts), GIVEN(num_experts_given)},
    {"topk", "N", "Experts of a token (default 4; 8)", 1, COUNT, FIELD(problem.topk), GIVEN(topk_given)},
    {"dtype", "TYPE", "f32 or bf16: tokens, weights and what lies between; sums are f32 (default bf16)", 1, OPTION_BOOL,
     FIELD(is_bf16), .value_words = dtype_names, .on_parse = take_dtype},
    {"block-size", "N", "Rows in a block of one expert's (default: the chapter's choice, mostly 16)", 1, COUNT,
     FIELD(problem.block_size), GIVEN(block_size_given), .in_command_if_traits = HAS_BLOCK_SIZE},
    {.help = "The input (default: generated)", .help_group = 2},
    {"dist", "NAME",
     "Experts of the tokens: router, balanced, uniform, zipf, one, sparse or repeated (default router, the real one's, "
     "where its 256 experts fit; else zipf)",
     2, OPTION_WORD, FIELD(dist), GIVEN(dist_given), .value_words = dist_names, .in_command_if_traits = GENERATED_IDS},
    FILE_ROW("hidden", "[tokens, hidden] f2 or f4; rows repeat if --num-tokens asks for more", MOE_FILE_HIDDEN),
    FILE_ROW("w13", "[experts, 2 x intermediate, hidden] f2 or f4: the gate's rows, then up's", MOE_FILE_W13),
    FILE_ROW("w2", "[experts, hidden, intermediate] f2 or f4", MOE_FILE_W2),
    FILE_ROW("topk-ids", "[tokens, topk] i4 or i8; rows repeat", MOE_FILE_TOPK_IDS),
    FILE_ROW("topk-weights", "[tokens, topk] f2 or f4; rows repeat", MOE_FILE_TOPK_WEIGHTS),
    {"expert-map", "MAP", "none, random or FILE.npy: [experts] the local id of each, -1 elsewhere (default none)", 2,
     OPTION_PATH, FIELD(expert_map_option)},
    {"hidden-scale", "X", "Multiply generated tokens with X (default 1)", 2, OPTION_FLOAT, FIELD(hidden_scale),
     .in_command_if_traits = HAS_SCALE},
    {"signed-weights", "0|1", "Give generated topk-weights either sign (default 0)", 2, OPTION_BOOL,
     FIELD(random_weight_signs), .most = 1, .in_command_if_traits = HAS_SIGNS},
    {"out", "DIR", "Write output.npy there once verified", 3, OPTION_PATH, FIELD(program.output_directory),
     .in_command_if_traits = TRAIT_OF_NO_RUN},
    {"check-all", NULL, "Instead of one problem check about 200: shapes, types, distributions, maps", 3, OPTION_FLAG,
     FIELD(program.check_all), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {.next_table = program_option_rows},
};

struct moe_options moe_options_default(void)
{
    return (struct moe_options){
        .problem = {.dtype = DTYPE_BF16},
        .is_bf16 = true,
        .dist = MOE_DIST_FIRST_GENERATED, /* if --dist is not given, moe_prepare_problem_and_tensors() chooses */
        .expert_map_option = "none",
        .hidden_scale = 1.0f,
        .program = {.seed = 1},
    };
}

bool moe_options_check_conflicts(const struct moe_options *options, struct error *error)
{
    if (options->dist_given && options->file_paths[MOE_FILE_TOPK_IDS])
        return error_set(error, "--dist: --topk-ids says which experts; leave out one of the two");
    if (options->program.trace_path && options->program.num_tokens_given && options->program.num_tokens == 0)
        return error_set(error, "--trace: no tokens launch nothing; --num-tokens must be at least 1");
    return true;
}

bool moe_options_parse(struct program *program, int argc, char **argv, struct moe_options *options)
{
    *options = moe_options_default();
    return program_parse(program, moe_option_rows,
                         "takes every token through its experts, checks what comes out, and reports", argc, argv,
                         options) &&
           moe_options_check_conflicts(options, &program->error) &&
           program_reject_unused_seed(program, moe_options_run_trait_mask(options, program));
}

const char *moe_routing_source_name(const struct moe_options *options)
{
    return options->file_paths[MOE_FILE_TOPK_IDS] ? "file" : dist_names[options->dist];
}

bool moe_input_depends_on_seed(const struct moe_options *options)
{
    const char *const *const files = options->file_paths;
    const bool routed = !files[MOE_FILE_TOPK_IDS] && options->dist == MOE_DIST_ROUTER;

    return !files[MOE_FILE_HIDDEN] || !files[MOE_FILE_W13] || !files[MOE_FILE_W2] || options->random_weight_signs ||
           parse_array_source(options->expert_map_option) == ARRAY_SOURCE_RANDOM ||
           (!files[MOE_FILE_TOPK_IDS] && !routed) || (!files[MOE_FILE_TOPK_WEIGHTS] && !routed);
}

void moe_describe_input(const struct moe_options *options, char *text, size_t size)
{
    static const int arrays[] = {MOE_FILE_HIDDEN, MOE_FILE_W13, MOE_FILE_W2};
    enum { NUM_ARRAYS = sizeof arrays / sizeof *arrays };
    const bool routed = options->dist == MOE_DIST_ROUTER && !options->file_paths[MOE_FILE_TOPK_IDS];
    char generated[64] = "";
    int missing = 0;

    for (int i = 0; i < NUM_ARRAYS; i++)
        if (!options->file_paths[arrays[i]])
            snprintf(generated + strlen(generated), sizeof generated - strlen(generated), "%s%s",
                     missing++ ? ", " : ", but ", moe_file_flags[arrays[i]]);
    snprintf(text, size, "experts: %s; arrays: %s%s%s",
             routed ? "what the gate chooses from the real router's logits" : moe_routing_source_name(options),
             missing < NUM_ARRAYS ? "from files" : "", missing < NUM_ARRAYS ? generated : "",
             missing == 0           ? ""
             : missing < NUM_ARRAYS ? " generated"
                                    : "generated");
    if (moe_input_depends_on_seed(options))
        snprintf(text + strlen(text), size - strlen(text), ", seed %" PRIu64, options->program.seed);
}

unsigned moe_options_run_trait_mask(const struct moe_options *options, const struct program *program)
{
    unsigned traits = program_run_trait_mask(program) | (moe_input_depends_on_seed(options) ? TRAIT_USES_SEED : 0);

    if (!options->file_paths[MOE_FILE_TOPK_IDS])
        traits |= GENERATED_IDS;
    if (options->block_size_given ||
        traits & TRAIT_HAS_NUM_TOKENS) /* in a sweep, the implementation chooses one per size */
        traits |= HAS_BLOCK_SIZE;
    if (options->hidden_scale != 1.0f)
        traits |= HAS_SCALE;
    if (options->random_weight_signs)
        traits |= HAS_SIGNS;
    return traits;
}

void moe_options_set_command(const struct moe_options *options, struct program *program)
{
    program_set_command(program, moe_option_rows, moe_options_run_trait_mask(options, program));
}

void moe_report_problem(const struct moe_options *options, const struct moe_problem *problem,
                        bool with_fields_that_vary_by_row, struct record *report)
{
    struct record *const fields = record_add_object(report, IN_DATA, "problem");

    if (with_fields_that_vary_by_row)
        record_add_number(fields, IN_DATA, "num_tokens", "%" PRId64, problem->num_tokens);
    record_add_number(fields, IN_DATA, "hidden_size", "%d", problem->hidden_size);
    record_add_number(fields, IN_DATA, "intermediate_size", "%d", problem->intermediate_size);
    record_add_number(fields, IN_DATA, "num_experts", "%d", problem->num_experts);
    record_add_number(fields, IN_DATA, "topk", "%d", problem->topk);
    record_add_text(fields, IN_DATA, "dtype", "%s", dtype_name(problem->dtype));
    if (with_fields_that_vary_by_row || options->block_size_given)
        record_add_number(fields, IN_JSON, "block_size", "%d", problem->block_size);
    record_add_text(fields, IN_JSON, "expert_map", "%s", options->expert_map_option);
}
