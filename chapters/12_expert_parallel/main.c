/** @file main.c  Chapter 12: the layer on several ranks, each with a part of the experts and of the tokens. */
#include "base/memory.h"
#include "harness/core/backend.h"
#include "harness/core/limits.h"
#include "harness/moe/check.h"
#include "harness/moe/problem.h"
#include "paths.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "12_expert_parallel";

/* --- options ------------------------------------------------------------------------------------------------------ */

static const char *const dispatch_names[] = {"broadcast", "all-to-all", NULL};

#define FIELD(member) .field = offsetof(struct parallel_options, member)
#define COUNT         .type = OPTION_INT, .least = 1, .most = INT_MAX

/** A layer's options go on where these end. */
static const struct option_row table[] = {
    {.help = "The ranks: start them with mpirun -n N, or on GPUs with --gpus N", .group = 4},
    {"dp", "N", "Ranks with tokens of their own, or groups of such (default: all ranks / --tp)", 4, COUNT, FIELD(dp)},
    {"tp", "N", "Ranks that have the same tokens (default 1)", 4, COUNT, FIELD(tp)},
    {"ep", "N",
     "Parts of the experts; the ranks of a part have a slice each of its experts' intermediate elements (default: a "
     "part for each rank). --expert-map is random, or FILE.npy: [parts, experts], a map for each",
     4, COUNT, FIELD(ep)},
    {"tokens-per-rank", "N,N,...", "Tokens of each DP rank (default: --num-tokens, in equal parts)", 4, OPTION_TEXT,
     FIELD(tokens_per_rank)},
    {"dispatch", "NAME",
     "broadcast: all tokens to all; all-to-all: to ranks that have their experts (default broadcast)", 4, OPTION_WORD,
     FIELD(dispatch), .words = dispatch_names},
    {"timeout", "SECONDS", "How long a rank waits for another before it gives up (default 30)", 4, COUNT,
     FIELD(timeout), .repeats = WITH_NO_RUN},
    {"gpus", "N", "Start so many ranks on this machine's GPUs", 4, OPTION_INT, FIELD(gpus), .least = 1, .most = 1024,
     .repeats = OPERATOR_TRAIT << 4},
    {"repeats", "N", "On GPUs: how often the layer is run after a first time; times are medians (default 20)", 4,
     OPTION_INT, FIELD(repeats), .least = 1, .most = MAX_REPEATS, .repeats = WITH_NO_RUN},
    {.rest = moe_option_rows},
};

/** What other chapters' programs have and this one has not. */
static bool check_options(const struct parallel_options *options, struct error *error)
{
    const struct program_options *const program = &options->moe.program;

    if (program->bench || program->check_all || program->trace)
        return error_set(error, "--%s: not of this chapter; each run checks one problem%s",
                         program->bench       ? "bench"
                         : program->check_all ? "check-all"
                                              : "trace",
                         program->bench ? ", and times it on GPUs" : "");
    if (options->gpus && !connection_forks)
        return error_set(error, "--gpus: this program has none (no GPU, or no NCCL); start ranks with mpirun -n N");
    return true;
}

static bool parse(struct program *program, int argc, char **argv, struct parallel_options *options)
{
    *options = (struct parallel_options){.moe = moe_options_default(), .timeout = 30, .repeats = 20};
    return program_parse(program, table, "takes every token through its experts, which several ranks have", argc, argv,
                         options) &&
           moe_options_check(&options->moe, &program->error) && check_options(options, &program->error);
}

/* --- other ranks -------------------------------------------------------------------------------------------------- */

/** What a rank that is stopped from outside, or by its alarm, says; made when nothing has happened yet. */
static char last_words[128];

static void say_last_words(int signal)
{
    (void)signal;
    if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
        _exit(RUN_BAD_INPUT);
    _exit(RUN_NO_DEVICE);
}

/** Ends with a message if a rank is sent away, since another died, or if it waits where no collective has a limit. */
static void expect_the_worst(const struct ranks *ranks)
{
    const struct sigaction action = {.sa_handler = say_last_words};

    snprintf(last_words, sizeof last_words, "%s: rank %d: ended before the others: a rank has died, or did not come\n",
             NAME, ranks->all.rank);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

/** FNV-1a, of what all ranks must have been given alike. */
static uint64_t hash(uint64_t state, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        state = (state ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return state;
}

/** False, in every rank, if two have different hashes. */
static bool all_have(const struct ranks *ranks, uint64_t own, const char *what, struct error *error)
{
    uint64_t *all;

    if (!ALLOCATE_ARRAY(all, ranks->all.size, error) || !group_share(&ranks->all, &own, sizeof own, all, error))
        return false;
    for (int r = 1; r < ranks->all.size; r++)
        if (all[r] != all[0] && error->result == RUN_VERIFIED)
            error_set(error, "ranks 0 and %d disagree on %s", r, what);
    free(all);
    return error->result == RUN_VERIFIED;
}

static bool arguments_agree(const struct ranks *ranks, int argc, char **argv, struct error *error)
{
    uint64_t own = 0xcbf29ce484222325u;
    struct error differ = {.result = RUN_VERIFIED};

    for (int i = 1; i < argc; i++)
        own = hash(own, argv[i], strlen(argv[i]) + 1);
    if (all_have(ranks, own, "the command line", &differ))
        return true;
    *error = differ;
    return false;
}

/** The problem and the routing, which may be from files that each rank reads. */
static bool inputs_agree(const struct ranks *ranks, const struct moe_layer *layer, struct error *error)
{
    const struct moe_problem *const problem = &layer->problem;
    const int64_t sizes[] = {problem->num_tokens,  problem->hidden_size, problem->intermediate_size,
                             problem->num_experts, problem->topk,        problem->dtype};
    const size_t positions = (size_t)moe_positions(problem);
    uint64_t own = hash(0xcbf29ce484222325u, sizes, sizeof sizes);

    own = hash(own, layer->routing.topk_ids, positions * sizeof *layer->routing.topk_ids);
    own = hash(own, layer->routing.topk_weights, positions * sizeof *layer->routing.topk_weights);
    return all_have(ranks, own, "the layer or the routing, as their files have it", error);
}

/* --- experts ------------------------------------------------------------------------------------------------------ */

/** Chapter 11c's limits, for a rank's own slice of the experts. */
static bool tensor_cores_take(const struct moe_problem *problem, int block_size)
{
    return problem->dtype == DTYPE_BF16 && problem->hidden_size % 64 == 0 && problem->intermediate_size % 64 == 0 &&
           block_size % 16 == 0;
}

/** 11c's choice: tiles of 16 tokens while the average expert has fewer. */
static int tile_tokens(const struct moe_problem *problem)
{
    return problem->num_tokens * problem->topk < 16 * (int64_t)problem->num_experts ? 16 : 192;
}

/** The problem that this rank's kernels get, with room for all tokens, and the chapter whose kernels they are. */
static bool settle_local(const struct parallel_options *options, const struct split *split,
                         const struct moe_problem *whole, struct moe_problem *local, struct moe_step *experts,
                         struct error *error)
{
    const int asked = options->moe.block_size_given ? options->moe.problem.block_size : 0;

    *local = *whole;
    local->num_local_experts = split->num_local;
    local->intermediate_size = split->slice_size;
    *experts = tensor_cores_take(local, asked ? asked : 16)
                   ? (struct moe_step){.name = "11c_moe_tensor_cores", .block_size = tile_tokens, .launch = moe_launch}
                   : (struct moe_step){.name = "11a_moe_naive", .launch = moe_launch_before};
    if (whole->num_experts > 12255)
        return error_set(error, "--num-experts: %d; chapter 10, which aligns here, takes up to 12255",
                         whole->num_experts);
    return moe_settle_blocks(local, experts, asked, error);
}

/* --- run ---------------------------------------------------------------------------------------------------------- */

static bool run_once(struct parallel_layer *layer, enum dispatch dispatch, struct error *error)
{
    return dispatch == DISPATCH_BROADCAST ? run_broadcast(layer, error) : run_all_to_all(layer, error);
}

/** Runs the layer: once, or on a GPU once more than so often as asked; the times of the first run do not count. */
static bool run_layer(struct parallel_layer *layer, const struct parallel_options *options, struct error *error)
{
    bool good = !layer->has_times ||
                (cudaEventCreate(&layer->begin) == cudaSuccess && cudaEventCreate(&layer->end) == cudaSuccess) ||
                error_set_as(error, RUN_NO_DEVICE, "events cannot be created");

    backend_reset_counters();
    good = good && run_once(layer, options->dispatch, error);
    for (layer->repeat = 0; good && layer->has_times && layer->repeat < options->repeats; layer->repeat++)
        good = run_once(layer, options->dispatch, error);
    for (int s = 0; good && s < layer->num_stages; s++)
        layer->stages[s].us = layer->has_times ? timing_of(layer->stages[s].times, options->repeats).median : 0.0;
    if (layer->begin)
        cudaEventDestroy(layer->begin);
    if (layer->end)
        cudaEventDestroy(layer->end);
    return good;
}

/** Of all ranks: the longest time, the most bytes of a collective, and the bytes that all of them received. */
static bool sum_stages(struct parallel_layer *layer, struct error *error)
{
    const int size = layer->ranks->all.size;
    bool good = true;
    double *all;

    if (!ALLOCATE_ARRAY(all, 3 * size, error))
        return false;
    for (int s = 0; good && s < layer->num_stages; s++) {
        struct stage *const stage = &layer->stages[s];
        const double own[3] = {stage->us, stage->bytes, stage->received};

        good = group_share(&layer->ranks->all, own, sizeof own, all, error);
        stage->received = 0.0;
        for (int r = 0; good && r < size; r++) {
            stage->us = all[3 * r] > stage->us ? all[3 * r] : stage->us;
            stage->bytes = all[3 * r + 1] > stage->bytes ? all[3 * r + 1] : stage->bytes;
            stage->received += all[3 * r + 2];
        }
    }
    free(all);
    return good;
}

/* --- check -------------------------------------------------------------------------------------------------------- */

/**
 * Every rank gets what all have as their result, on the host: those of the TP ranks of a DP rank are to be the same.
 */
static bool gather_results(const struct parallel_layer *layer, char **results, struct error *error)
{
    const struct split *const split = layer->split;
    const size_t row = (size_t)layer->problem->hidden_size * dtype_size(layer->problem->dtype);
    const size_t bytes = (size_t)(layer->problem->num_tokens * split->tp) * row;
    void *device = NULL;
    int64_t *parts;
    cudaError_t status;
    bool good;

    if (!memory_allocate((void **)results, bytes, error) || !ALLOCATE_ARRAY(parts, split->num_ranks, error))
        return false;
    for (int r = 0; r < split->num_ranks; r++)
        parts[r] = (split->cu_tokens[r / split->tp + 1] - split->cu_tokens[r / split->tp]) * (int64_t)row;
    status = cudaMalloc(&device, bytes ? bytes : 1);
    good = (status == cudaSuccess || device_error(error, "memory for all results", status)) &&
           group_all_gather(&layer->ranks->all, operand_data(layer->arrays, RESULT, OPERAND_DEVICE), parts, device,
                            error);
    if (good && bytes) {
        status = cudaStreamSynchronize(layer->ranks->stream);
        if (status == cudaSuccess)
            status = cudaMemcpy(*results, device, bytes, cudaMemcpyDeviceToHost);
        good = status == cudaSuccess || device_error(error, "copying from the device", status);
    }
    cudaFree(device);
    free(parts);
    return good;
}

/** Puts together the rows that TP rank `t` of every DP rank has, as the whole layer's output. */
static void assemble(const struct parallel_layer *layer, const char *results, int t, char *output)
{
    const struct split *const split = layer->split;
    const size_t row = (size_t)layer->problem->hidden_size * dtype_size(layer->problem->dtype);

    for (int d = 0; d < split->dp; d++) {
        const size_t begin = (size_t)split->cu_tokens[d] * row;
        const size_t bytes = (size_t)(split->cu_tokens[d + 1] - split->cu_tokens[d]) * row;

        memcpy(output + begin, results + begin * (size_t)split->tp + (size_t)t * bytes, bytes);
    }
}

/** Checks all results, as gathered, against the whole layer. */
static bool check(const struct parallel_layer *layer, const char *results, struct moe_layer *whole,
                  struct operands *operands, struct error *error)
{
    bool good = true;

    whole->slices = layer->split->slices;
    for (int t = 0; good && t < layer->split->tp; t++) {
        assemble(layer, results, t, operands->list[MOE_OUTPUT].host.data);
        good = moe_check(whole, operands, error);
    }
    return good;
}

/** Writes output.npy, as a whole or not at all. */
static bool write_output(const char *directory, const struct operands *operands, struct error *error)
{
    struct whole_file files[MAX_OPERANDS] = {0};
    const bool good = output_directory_ready(directory, error) && operands_write(operands, directory, files, error) &&
                      whole_files_keep(files, MAX_OPERANDS, error);

    whole_files_drop(files, MAX_OPERANDS);
    return good;
}

/* --- report ------------------------------------------------------------------------------------------------------- */

/** Makes the texts that say which run it is; the options become those that repeat it, whatever was left to defaults. */
static void name_run(struct program *program, struct parallel_options *options, const struct split *split,
                     const struct moe_problem *problem, int block_size)
{
    const unsigned traits = moe_options_traits(&options->moe, program) | (options->gpus ? OPERATOR_TRAIT << 4 : 0);
    char *command;

    options->dp = split->dp;
    options->tp = split->tp;
    options->ep = split->parts;
    options->moe.problem.block_size = block_size;
    program_set_command(program, table, traits);
    if (split->num_ranks > 1 && !options->gpus &&
        asprintf(&command, "mpirun -n %d %s", split->num_ranks, program_command(program)) >= 0) {
        free(program->command);
        program->command = command;
    }
    moe_problem_describe(problem, program->problem, sizeof program->problem);
    program->distribution = moe_source_name(&options->moe);
    snprintf(program->input, sizeof program->input, "experts: %s; seed %" PRIu64, program->distribution,
             options->moe.program.seed);
    snprintf(program->verified, sizeof program->verified, "the result of every rank: %" PRId64 " tokens%s",
             moe_checked_tokens(problem),
             moe_checked_tokens(problem) < problem->num_tokens ? ", a sample; every other element is written" : "");
}

static void report_stage(const struct stage *stage, bool has_times, struct record *list)
{
    struct record *const row = record_object(list, IN_TABLE | IN_JSON, NULL);
    const double algorithm = stage->us > 0.0 ? 1e-3 * stage->bytes / stage->us : 0.0;
    const double bus = algorithm * stage->factor;
    const bool moves = stage->ranks > 0;
    char digits[32];

    record_column(row, -10, "stage", "%s", stage->name);
    record_column(row, -22, "by", "%s", stage->by);
    record_column(row, 6, "ranks", moves ? "%d" : "", stage->ranks);
    record_column(row, 15, "bytes", "%s", moves ? grouped_digits((uint64_t)stage->bytes, digits) : "");
    record_column(row, 15, "over the bus", "%s", moves ? grouped_digits((uint64_t)stage->received, digits) : "");
    if (has_times) {
        record_column(row, 10, "us", "%.1f", stage->us);
        record_column(row, 9, "alg GB/s", moves ? "%.2f" : "", algorithm);
        record_column(row, 9, "bus GB/s", moves ? "%.2f" : "", bus);
    }
    record_text(row, IN_JSON, "stage", "%s", stage->name);
    record_text(row, IN_JSON, "by", "%s", stage->by);
    record_number(row, IN_JSON, "ranks", "%d", stage->ranks);
    record_number(row, IN_JSON, "bytes", "%.0f", stage->bytes);
    record_number(row, IN_JSON, "bytes_over_the_bus", "%.0f", stage->received);
    if (has_times) {
        record_number(row, IN_JSON, "us", "%.2f", stage->us);
        record_number(row, IN_JSON, "algorithm_gb_per_s", "%.3f", algorithm);
        record_number(row, IN_JSON, "bus_gb_per_s", "%.3f", bus);
    }
}

/** Adds the problem as the chapters before report it. */
static void report_problem(const struct parallel_options *options, const struct moe_problem *problem,
                           struct record *head)
{
    struct record *const fields = record_object(head, IN_DATA, "problem");

    record_number(fields, IN_DATA, "num_tokens", "%" PRId64, problem->num_tokens);
    record_number(fields, IN_DATA, "hidden_size", "%d", problem->hidden_size);
    record_number(fields, IN_DATA, "intermediate_size", "%d", problem->intermediate_size);
    record_number(fields, IN_DATA, "num_experts", "%d", problem->num_experts);
    record_number(fields, IN_DATA, "topk", "%d", problem->topk);
    record_text(fields, IN_DATA, "dtype", "%s", dtype_name(problem->dtype));
    record_text(fields, IN_JSON, "expert_map", "%s", options->moe.map);
}

static void report(struct program *program, const struct parallel_options *options, const struct moe_problem *problem,
                   const struct parallel_layer *layer)
{
    const struct split *const split = layer->split;
    struct record *result, *list;
    double received = 0.0;
    char digits[32];

    report_problem(options, problem, program_report_head(program));
    result = program_report_result(program);
    record_text(result, IN_TABLE, "ranks", "%d: %d in data parallelism x %d with the same tokens", split->num_ranks,
                split->dp, split->tp);
    record_text(result, IN_TABLE, "experts", "%d part%s, %d slice%s of each expert; rank 0 has %d of %d experts",
                split->parts, split->parts == 1 ? "" : "s", split->slices, split->slices == 1 ? "" : "s",
                split->num_local, problem->num_experts);
    for (int s = 0; s < layer->num_stages; s++)
        received += layer->stages[s].received;
    record_text(result, IN_TABLE, "traffic", "%s: %s bytes over the bus, all ranks together",
                dispatch_names[options->dispatch], grouped_digits((uint64_t)received, digits));
    record_number(result, IN_DATA, "ranks", "%d", split->num_ranks);
    record_number(result, IN_DATA, "dp", "%d", split->dp);
    record_number(result, IN_DATA, "tp", "%d", split->tp);
    record_number(result, IN_DATA, "ep", "%d", split->parts);
    record_text(result, IN_DATA, "dispatch", "%s", dispatch_names[options->dispatch]);
    record_number(result, IN_DATA, "bytes_over_the_bus", "%.0f", received);
    record_text(result, IN_TABLE, NULL, "%s", "");
    list = record_list(result, IN_TABLE | IN_JSON, "stages");
    for (int s = 0; s < layer->num_stages; s++)
        report_stage(&layer->stages[s], layer->has_times, list);
}

/* --- the program -------------------------------------------------------------------------------------------------- */

/** Everything that a rank owns. */
struct everything {
    struct ranks ranks;
    struct split split;
    struct moe_layer whole;
    struct operands whole_arrays, arrays;
    struct lists lists;
    struct moe_problem local;
    struct parallel_layer layer;
    char *results; /**< of all ranks, one after the other */
};

/** Finds the other ranks, and whether all were asked the same. A wrong argument is one everywhere: rank 0 says so. */
static bool meet(struct everything *all, struct program *program, int argc, char **argv)
{
    struct error *const error = &program->error;
    struct error failed = {.result = RUN_VERIFIED};

    expect_the_worst(&all->ranks);
    alarm((unsigned)all->ranks.time_limit + 1);
    if (!ranks_open(&all->ranks, &failed)) {
        *error = failed;
        return false;
    }
    alarm(0);
    expect_the_worst(&all->ranks);
    return (arguments_agree(&all->ranks, argc, argv, error) || error->result == RUN_BAD_INPUT) &&
           ranks_agree(&all->ranks, error);
}

/** Loads the layer, which all ranks know, and what of it is this rank's. */
static bool load(struct everything *all, struct program *program, struct parallel_options *options)
{
    struct error *const error = &program->error;
    const struct moe_step any = {.name = NAME};
    const char *const map = options->moe.map;
    bool good;

    all->ranks.stage = "load";
    options->moe.map = "none"; /* the whole layer has all experts */
    good = split_ranks(options, &all->ranks, &all->split, error) && split_count_tokens(options, &all->split, error) &&
           moe_load(&options->moe, &any, program->backend.has_times, &all->whole, &all->whole_arrays, error);
    options->moe.map = map;
    good = good && split_layer(options, map, &all->whole.problem, &all->split, error) &&
           settle_local(options, &all->split, &all->whole.problem, &all->local, &all->layer.experts, error);
    return ranks_agree(&all->ranks, error) &&
           (inputs_agree(&all->ranks, &all->whole, error) || error->result == RUN_BAD_INPUT) &&
           ranks_agree(&all->ranks, error);
}

/** Makes this rank's arrays, on its device, and its groups. */
static bool prepare(struct everything *all, struct program *program, const struct parallel_options *options)
{
    struct parallel_layer *const layer = &all->layer;
    struct split *const split = &all->split;
    struct error *const error = &program->error;
    bool good;

    all->ranks.stage = "prepare";
    layer->ranks = &all->ranks;
    layer->split = split;
    layer->problem = &all->local;
    layer->lists = &all->lists;
    layer->arrays = &all->arrays;
    layer->has_times = program->backend.has_times;
    if (arrays_make(options, split, &all->whole, &all->whole_arrays, &all->local, &all->lists, &all->arrays, error))
        operands_to_device(&all->arrays, error);
    if (!ranks_agree(&all->ranks, error))
        return false;
    alarm((unsigned)all->ranks.time_limit + 1);
    good = group_split(&all->ranks.all, split->rank % split->tp, "the DP group", &layer->dp, error) &&
           group_split(&all->ranks.all, split->rank / split->tp, "the TP group", &layer->tp, error);
    alarm(0);
    return good;
}

/** Leaves the other ranks, in order: nothing that needs them is left to do. */
static void part(struct everything *all)
{
    signal(SIGTERM, SIG_IGN); /* mpirun sends it when a rank has ended with another code than 0 */
    alarm((unsigned)all->ranks.time_limit + 1);
    group_free(&all->layer.dp);
    group_free(&all->layer.tp);
    operands_leave_device(&all->arrays);
    ranks_close(&all->ranks);
    alarm(0);
}

static void free_everything(struct everything *all)
{
    arrays_free(&all->lists, &all->arrays);
    operands_free(&all->whole_arrays);
    moe_routing_free(&all->whole.routing);
    split_free(&all->split);
    free(all->results);
}

/**
 * Ends a rank that failed, or whose peers did: in order, if all know of it; else nobody waits for those who may be
 * gone.
 */
static int leave(struct everything *all, struct program *program)
{
    const int code = program->error.result;

    if (program->error.text[0] == '\0')
        program->error.result = RUN_VERIFIED; /* rank 0 says it */
    program_exit(program);
    if (all->ranks.together) {
        part(all);
        free_everything(all);
    }
    return code;
}

/** What is left to rank 0 when the others have gone: to check what all have made, to write it, to report. */
static int conclude(struct everything *all, struct program *program, struct parallel_options *options)
{
    struct error *const error = &program->error;
    int code;

    name_run(program, options, &all->split, &all->whole.problem, all->local.block_size);
    if (check(&all->layer, all->results, &all->whole, &all->whole_arrays, error) && options->moe.program.out)
        write_output(options->moe.program.out, &all->whole_arrays, error);
    report(program, options, &all->whole.problem, &all->layer);
    code = program_end(program);
    free_everything(all);
    return code;
}

/** Loads, runs, and gathers the results: everything that the ranks do together. False: leave(). */
static bool run(struct everything *all, struct program *program, struct parallel_options *options)
{
    struct error *const error = &program->error;

    program_open(program);
    if (!ranks_agree(&all->ranks, error) || !load(all, program, options) || !prepare(all, program, options))
        return false;
    all->ranks.together = false; /* from here on a rank that fails may leave others in the midst of a collective */
    if (!run_layer(&all->layer, options, error))
        return false;
    backend_read_counters(&program->counters);
    all->ranks.stage = "check";
    if (!gather_results(&all->layer, &all->results, error) || !sum_stages(&all->layer, error))
        return false;
    operands_fetch(&all->arrays, error);
    return ranks_agree(&all->ranks, error);
}

int main(int argc, char **argv)
{
    struct parallel_options options;
    struct program program = {.path = argv[0], .name = NAME, .source_hash = kernel_source_sha256};
    struct everything all = {0};
    int code = RUN_VERIFIED;

    if (parse(&program, argc, argv, &options) && options.gpus > 1 &&
        !ranks_fork(&all.ranks, options.gpus, &code, &program.error))
        return code ? code : leave(&all, &program);
    all.ranks.time_limit = options.timeout;
    if (!meet(&all, &program, argc, argv) || !run(&all, &program, &options) || all.ranks.all.rank > 0)
        return leave(&all, &program);
    part(&all);
    return conclude(&all, &program, &options);
}
