#include "harness/parallel/options.h"

#include "harness/parallel/layer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

const char *const dispatch_names[] = {"broadcast", "all-to-all", NULL};

/** The trait of a run whose command contains --gpus. Lower traits belong to the layer's options. */
enum { HAS_GPUS = FIRST_OPERATOR_TRAIT << 4 };

#define FIELD(member) .field_offset = offsetof(struct parallel_options, member)
#define COUNT         .type = OPTION_INT, .least = 1, .most = INT_MAX

/** The options of a run on several ranks. The table continues with a layer's options. */
static const struct option_row table[] = {
    {.help = "The ranks: start them with mpirun -n N, or on GPUs with --gpus N", .help_group = 4},
    {"dp", "N", "TP groups, each with tokens of its own (default: all ranks / --tp)", 4, COUNT, FIELD(dp_size)},
    {"tp", "N", "Ranks of a TP group, which have the same tokens (default 1)", 4, COUNT, FIELD(tp_size)},
    {"ep", "N",
     "Parts of the experts; the ranks of a part have a slice each of its experts' intermediate elements (default: a "
     "part for each rank). --expert-map is random, or FILE.npy: [parts, experts], a map for each",
     4, COUNT, FIELD(ep_size)},
    {"tokens-per-group", "N,N,...", "Tokens of each TP group (default: --num-tokens, in equal parts)", 4, OPTION_TEXT,
     FIELD(tokens_per_group_list)},
    {"dispatch", "NAME",
     "broadcast: all tokens to all; all-to-all: to ranks that have their experts (default broadcast)", 4, OPTION_WORD,
     FIELD(dispatch), .value_words = dispatch_names},
    {"timeout", "SECONDS", "How long a rank waits for another before it gives up (default 30)", 4, COUNT,
     FIELD(timeout_seconds), .in_command_if_traits = TRAIT_OF_NO_RUN},
    {"gpus", "N", "Start so many ranks on this machine's GPUs", 4, OPTION_INT, FIELD(num_gpus), .least = 1,
     .most = 1024, .in_command_if_traits = HAS_GPUS},
    {"repeats", "N", "On GPUs: how often the layer is run after a first time; times are medians (default 20)", 4,
     OPTION_INT, FIELD(num_repeats), .given_offset = offsetof(struct parallel_options, num_repeats_given), .least = 1,
     .most = MAX_REPEATS, .in_command_if_traits = TRAIT_OF_NO_RUN},
    {.next_table = moe_option_rows},
};

/** Options in the tables that the CPU program and the GPU program, respectively, do not support. */
static const char *const refused_on_cpu[] = {"gpus",          "bench",       "flush-l2", "check-all",
                                             "check-corners", "check-share", "launches", NULL};
static const char *const refused_on_gpus[] = {"trace",         "trace-kernel", "bench",    "flush-l2", "check-all",
                                              "check-corners", "check-share",  "launches", NULL};

static bool check_options(const struct parallel_options *options, struct error *error)
{
    const struct program_options *const program = &options->moe.program;

    if (program->bench || program->check_all || program->flush_l2)
        return error_set(error, "--%s: not of this chapter; each run checks one problem%s",
                         program->bench       ? "bench"
                         : program->check_all ? "check-all"
                                              : "flush-l2",
                         program->bench ? ", and times it on GPUs" : "");
    if (options->num_gpus && !connection_can_fork_ranks)
        return error_set(error, "--gpus: this program has none (no GPU, or no NCCL); start ranks with mpirun -n N");
    return true;
}

bool parallel_options_parse(struct program *program, int argc, char **argv, struct parallel_options *options)
{
    *options = (struct parallel_options){.moe = moe_options_default(), .timeout_seconds = 30, .num_repeats = 20};
    options_version_lines = connection_version;
    program->unsupported_options = connection_can_fork_ranks ? refused_on_gpus : refused_on_cpu;
    return program_parse(program, table, "takes every token through its experts, which several ranks have", argc, argv,
                         options) &&
           moe_options_check_conflicts(&options->moe, &program->error) && check_options(options, &program->error) &&
           program_reject_unused_seed(program, moe_options_run_trait_mask(&options->moe, program));
}

void parallel_options_set_command(const struct parallel_options *options, int num_ranks, struct program *program)
{
    char *command;

    program_set_command(program, table,
                        moe_options_run_trait_mask(&options->moe, program) | (options->num_gpus ? HAS_GPUS : 0));
    if (num_ranks > 1 && !options->num_gpus &&
        asprintf(&command, "mpirun -n %d %s", num_ranks, program_command(program)) >= 0) {
        free(program->command);
        program->command = command;
    }
}
