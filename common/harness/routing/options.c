#include "harness/routing/options.h"

#include <limits.h>

/**
 * Default number of tokens with the real router's logits, typical of the decoding steps for which this operator is
 * meant.
 */
enum { USUAL_TOKENS = 64 };

#define FIELD(member) .field_offset = offsetof(struct routing_options, member)

/* The rows are in the order in which the command that reproduces a run lists the options. */
static const struct option_row table[] = {
    {"block-size", "N", "Pad every expert's ids to a multiple of N (default 64)", 1, OPTION_INT,
     FIELD(align.block_size), .least = 1, .most = INT_MAX},
    {"expert-map", "MAP", "none, random or FILE.npy: [experts] the local id of each, -1 elsewhere (default none)", 1,
     OPTION_PATH, FIELD(expert_map_option)},
    {.next_table = gate_option_rows},
};

/** Returns this run's traits, which select the options in the command that reproduces the run. */
static unsigned options_traits(const struct routing_options *options, const struct program *program)
{
    return gate_options_run_trait_mask(&options->gate, program) |
           (parse_array_source(options->expert_map_option) == ARRAY_SOURCE_RANDOM ? TRAIT_USES_SEED : 0);
}

bool routing_options_parse(struct program *program, int argc, char **argv, struct routing_options *options)
{
    *options = (struct routing_options){
        .gate = gate_options_default(), .align = {.block_size = 64}, .expert_map_option = "none"};
    if (!program_parse(
            program, table,
            "chooses experts for every token (of the router data without --num-tokens: 64) and groups the choices "
            "by expert, checks both, and reports",
            argc, argv, options) ||
        !program_reject_unused_seed(program, options_traits(options, program)))
        return false;
    if (!options->gate.program.num_tokens_given && !options->gate.program.bench &&
        options->gate.source == GATE_LOGITS_SOURCE_ROUTER) {
        options->gate.program.num_tokens = USUAL_TOKENS;
        options->gate.program.num_tokens_given = true;
    }
    return true;
}

void routing_options_set_command(const struct routing_options *options, struct program *program)
{
    program_set_command(program, table, options_traits(options, program));
}
