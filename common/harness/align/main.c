/** @file align_main.c  An align chapter's program, from the command line to the exit code. */
#include "harness/align/bench.h"
#include "harness/align/grid.h"
#include "harness/align/load.h"
#include "harness/align/options.h"
#include "harness/align/problem.h"
#include "harness/align/report.h"
#include "harness/align/run.h"
#include "harness/core/output.h"
#include "harness/core/program.h"

#include <stdio.h>

/** What the program works on. */
struct align_work {
    const char *program; /**< how it was called */
    const struct align_chapter *chapter;
    struct align_options options;
    struct backend backend;
    struct align_operands operands;
    struct align_output output;
};

static enum run_result grid(void *context, struct error *error)
{
    const struct align_work *work = context;

    return align_grid(work->chapter, &work->options, work->program, stdout, error);
}

static enum run_result bench(void *context, struct error *error)
{
    struct align_work *work = context;

    return align_bench(work->chapter, &work->options, &work->backend, work->program, stdout, error);
}

static enum run_result load(void *context, struct error *error)
{
    struct align_work *work = context;
    const enum run_result result = align_load(&work->options, work->chapter, &work->operands, error);

    if (result != RUN_READY || align_output_allocate(&work->options.problem, &work->output, error))
        return result;
    align_operands_free(&work->operands);
    return RUN_NO_DEVICE;
}

static enum run_result run(void *context, struct error *error)
{
    struct align_work *work = context;

    return align_run(&work->options.problem, &work->chapter->step, work->options.offset, &work->operands.input,
                     &work->output, error);
}

static bool write_answer(void *context, const char *directory, struct error *error)
{
    const struct align_work *work = context;
    const struct align_problem *problem = &work->options.problem;
    struct npy_array sorted = {NPY_I32, 1, {problem->capacity}, work->output.sorted_token_ids};
    struct npy_array experts = {NPY_I32, 1, {align_blocks(problem)}, work->output.expert_ids};
    struct npy_array padded = {NPY_I32, 1, {1}, work->output.num_tokens_post_padded};
    const struct output_file files[] = {
        {"sorted_token_ids.npy", &sorted}, {"expert_ids.npy", &experts}, {"num_tokens_post_padded.npy", &padded}};

    return output_write(directory, files, 3, error);
}

static void report(void *context, enum run_result result, const char *failure, const char *command)
{
    const struct align_work *work = context;
    struct align_report report = {
        .chapter = work->chapter,
        .options = &work->options,
        .backend = &work->backend,
        .operands = &work->operands,
        .result = result,
        .failure = failure,
        .command = command,
    };

    counters_read(&report.counters);
    align_report_write(&report, stdout);
}

static void command(void *context, char *text, size_t size)
{
    const struct align_work *work = context;

    align_options_command(&work->options, work->program, text, size);
}

static void unload(void *context)
{
    struct align_work *work = context;

    align_output_free(&work->output);
    align_operands_free(&work->operands);
}

int align_main(int argc, char **argv, const struct align_chapter *chapter)
{
    static const struct program_actions actions = {grid, bench, load, run, write_answer, report, command, unload};
    struct align_work work = {.program = argv[0], .chapter = chapter};
    const struct program program = {
        .name = chapter->step.name,
        .launches = true,
        .options = &work.options.program,
        .actions = &actions,
        .context = &work,
    };
    struct error error = {""};

    if (!align_options_parse(argc, argv, chapter, &work.options, &error))
        return program_give_up(program.name, RUN_BAD_INPUT, error.text);
    return program_main(&program, &work.backend);
}
