/** @file parallel/program.c  The program of a layer on several ranks, from the command line to the exit code. */
#include "harness/parallel/program.h"

#include "harness/core/backend.h"
#include "harness/moe/problem.h"
#include "harness/parallel/agreement.h"
#include "harness/parallel/report.h"
#include "harness/parallel/results.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** All of a rank's data. */
struct everything {
    const struct parallel_chapter *chapter;
    struct parallel_options options;
    struct rank_context ranks;
    struct rank_share share;
    struct moe_layer whole;
    struct tensors whole_arrays, arrays;
    struct exchanged_row_counts row_counts;
    struct moe_problem local;
    struct parallel_layer layer;
    char *results; /**< all ranks' results, concatenated */
};

/* --- before the run ----------------------------------------------------------------------------------------------- */

/**
 * Connects the ranks and checks that their command lines agree. An invalid argument is invalid in all ranks, so only
 * rank 0 reports it.
 */
static bool meet(struct everything *all, int argc, char **argv, struct error *error)
{
    struct error failed = {.exit_code = RUN_VERIFIED};

    all->ranks.time_limit_seconds = all->options.timeout_seconds;
    ranks_report_and_exit_on_signals(&all->ranks, all->chapter->name);
    alarm((unsigned)all->ranks.time_limit_seconds + 1);
    if (!ranks_connect(&all->ranks, &failed)) {
        *error = failed;
        return false;
    }
    alarm(0);
    ranks_report_and_exit_on_signals(&all->ranks, all->chapter->name);
    return (ranks_have_same_arguments(&all->ranks, argc, argv, error) || error->exit_code == RUN_BAD_INPUT) &&
           ranks_exchange_failures(&all->ranks, error);
}

/** Sets the problem of this rank's kernels, sized for all tokens, and chooses their implementation. */
static bool settle_local(struct everything *all, struct error *error)
{
    const struct parallel_chapter *const chapter = all->chapter;
    const int requested = all->options.moe.block_size_given ? all->options.moe.problem.block_size : 0;
    struct moe_problem *const local = &all->local;

    *local = all->whole.problem;
    local->num_local_experts = all->share.num_local_experts;
    local->intermediate_size = all->share.intermediate_slice_size;
    local->block_size = requested ? requested : 16; /* the smallest block size that an implementation chooses */
    all->layer.expert_implementation = moe_unsupported_reason(&chapter->expert_implementation, local)
                                           ? chapter->fallback_implementation
                                           : chapter->expert_implementation;
    if (local->num_experts > chapter->max_align_experts)
        return error_set(error, "--num-experts: %d; %s, which aligns here, takes up to %d", local->num_experts,
                         chapter->align_chapter_name, chapter->max_align_experts);
    return moe_set_block_size_and_capacity(local, &all->layer.expert_implementation, requested, error);
}

/** Loads the complete layer, as every rank does, and splits it. */
static bool load(struct everything *all, const struct program *program, struct error *error)
{
    struct parallel_options *const options = &all->options;
    const struct moe_implementation any = {.name = all->chapter->name};
    const char *const map = options->moe.expert_map_option;
    bool good;

    all->ranks.current_stage_name = "load";
    options->moe.expert_map_option = "none"; /* the layer has all experts before it is split */
    good = split_ranks_into_groups(options, &all->ranks, &all->share, error) &&
           split_parse_tokens_per_group_list(options, &all->share, error) &&
           moe_prepare_problem_and_tensors(&options->moe, &any, program->backend.can_measure_times, &all->whole,
                                           &all->whole_arrays, error);
    options->moe.expert_map_option = map;
    good = good && split_layer(options, map, &all->whole.problem, &all->share, error) && settle_local(all, error);
    return ranks_exchange_failures(&all->ranks, error) &&
           (ranks_have_same_problem_and_routing(&all->ranks, &all->whole, error) ||
            error->exit_code == RUN_BAD_INPUT) &&
           ranks_exchange_failures(&all->ranks, error);
}

/** Allocates a rank's arrays on its device and creates its groups. With --trace, rank 0's kernels are traced. */
static bool prepare(struct everything *all, const struct program *program, struct error *error)
{
    struct parallel_layer *const layer = &all->layer;
    struct rank_share *const share = &all->share;
    const struct align_problem align = moe_align_problem(&all->local);
    bool good;

    all->ranks.current_stage_name = "prepare";
    layer->ranks = &all->ranks;
    layer->share = share;
    layer->problem = &all->local;
    layer->row_counts = &all->row_counts;
    layer->arrays = &all->arrays;
    layer->can_measure_times = program->backend.can_measure_times;
    good = rank_arrays_create_on_host(&all->options, share, &all->whole, &all->whole_arrays, &all->local,
                                      &all->row_counts, &all->arrays, error);
    all->arrays.tensor[RANK_ALIGN_WORKSPACE].host.shape[0] = (int64_t)all->chapter->align_workspace_bytes(&align);
    if (good && tensors_allocate_and_upload(&all->arrays, error) && program->requested_options.trace_path &&
        share->rank == 0)
        backend_begin_first_block_trace(program->requested_options.trace_kernel, error);
    if (!ranks_exchange_failures(&all->ranks, error))
        return false;
    alarm((unsigned)all->ranks.time_limit_seconds + 1);
    good = group_split(&all->ranks.all_ranks, share->rank % share->tp_size, "the DP group", &layer->dp_group, error) &&
           group_split(&all->ranks.all_ranks, share->rank / share->tp_size, "the TP group", &layer->tp_group, error);
    alarm(0);
    return good;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/**
 * Loads the layer, runs it and gathers the results, together with all other ranks. Returns false on failure, after
 * which the caller must call leave().
 */
static bool run(struct everything *all, struct program *program, struct error *error)
{
    if (program_check_options_and_open_device(program) && all->options.num_repeats_given &&
        !program->backend.can_measure_times)
        error_set(error, "--repeats: only times need them, and the CPU simulator has none; leave it out");
    if (!ranks_exchange_failures(&all->ranks, error) || !load(all, program, error) || !prepare(all, program, error))
        return false;
    all->ranks.failure_has_reached_all_ranks =
        false; /* from here on, a rank that fails may leave others waiting in a collective */
    if (!parallel_layer_run_and_time(&all->layer, all->chapter->run_layer[all->options.dispatch],
                                     all->options.num_repeats, error))
        return false;
    backend_read_counters(&program->counters);
    all->ranks.current_stage_name = "check";
    if (!results_all_gather(&all->layer, &all->results, error) || !layer_combine_stages_of_ranks(&all->layer, error))
        return false;
    tensors_download_and_check_guards_and_inputs(&all->arrays, error);
    return ranks_exchange_failures(&all->ranks, error);
}

/* --- after the run ------------------------------------------------------------------------------------------------ */

/** Disconnects this rank cleanly after its last collective. */
static void part(struct everything *all)
{
    signal(SIGTERM, SIG_IGN); /* mpirun sends SIGTERM when a rank has exited with a nonzero code */
    alarm((unsigned)all->ranks.time_limit_seconds + 1);
    group_free(&all->layer.dp_group);
    group_free(&all->layer.tp_group);
    tensors_free_device(&all->arrays);
    ranks_disconnect(&all->ranks);
    alarm(0);
}

static void free_everything(struct everything *all)
{
    rank_arrays_free(&all->row_counts, &all->arrays);
    tensors_free(&all->whole_arrays);
    moe_host_routing_free(&all->whole.routing);
    rank_share_free(&all->share);
    free(all->results);
}

/**
 * Terminates a rank that failed or whose peers failed. If all ranks know of the failure, the rank disconnects cleanly;
 * otherwise it does not wait for ranks that may already have exited. Returns the exit code.
 */
static int leave(struct everything *all, struct program *program)
{
    const int code = program->error.exit_code;

    if (program->error.text[0] == '\0')
        program->error.exit_code = RUN_VERIFIED; /* rank 0 reports the error */
    program_print_error(program);
    if (all->ranks.failure_has_reached_all_ranks) {
        part(all);
        free_everything(all);
    }
    return code;
}

/** Writes the trace and output.npy if requested. If either file cannot be written, neither is kept. */
static void write_files(const struct program_options *requested, const struct tensors *tensors, struct error *error)
{
    struct atomic_file files[1 + MAX_TENSORS] = {0};

    if ((!requested->output_directory ||
         (output_directory_create(requested->output_directory, error) &&
          tensors_write_outputs(tensors, requested->output_directory, files + 1, error))) &&
        (!requested->trace_path || (atomic_file_open(files, "--trace: ", requested->trace_path, error) &&
                                    backend_end_and_write_trace(files->stream, error))))
        atomic_files_commit(files, 1 + MAX_TENSORS, error);
    atomic_files_discard(files, 1 + MAX_TENSORS);
}

/**
 * Checks all ranks' results and writes the files and the report; only rank 0 calls this function, at the end. Returns
 * the exit code.
 */
static int conclude(struct everything *all, struct program *program)
{
    struct error *const error = &program->error;
    int code;

    parallel_describe_run_and_set_defaults(program, &all->options, &all->share, &all->whole.problem,
                                           all->local.block_size);
    if (results_copy_to_output_and_check(&all->layer, all->results, &all->whole, &all->whole_arrays, error))
        write_files(&program->requested_options, &all->whole_arrays, error);
    report_add_parallel_run(program, &all->options, &all->whole.problem, &all->layer);
    code = program_write_result(program);
    free_everything(all);
    return code;
}

int parallel_main(int argc, char **argv, const struct parallel_chapter *chapter)
{
    struct everything all = {.chapter = chapter};
    struct program program = {.path = argv[0],
                              .name = chapter->name,
                              .gpu_needs = &chapter->expert_implementation.needs,
                              .source_hash = kernel_source_sha256};
    struct error *const error = &program.error;
    int code = RUN_VERIFIED;

    if (parallel_options_parse(&program, argc, argv, &all.options) && all.options.num_gpus > 1 &&
        !ranks_fork_and_return_in_ranks(&all.ranks, all.options.num_gpus, &code, error))
        return code ? code : leave(&all, &program);
    if (!meet(&all, argc, argv, error) || !run(&all, &program, error) || all.ranks.all_ranks.rank > 0)
        return leave(&all, &program);
    part(&all);
    return conclude(&all, &program);
}
