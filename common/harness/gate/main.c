/** @file gate_main.c  A gate chapter's program, from the command line to the exit code. */
#include "harness/core/backend.h"
#include "harness/gate/bench.h"
#include "harness/gate/grid.h"
#include "harness/gate/load.h"
#include "harness/gate/options.h"
#include "harness/gate/report.h"
#include "harness/gate/run.h"
#include "harness/core/output.h"
#include "harness/core/program.h"

#include <stdio.h>

/** What the program works on. */
struct gate_work {
    const char *program; /**< how it was called */
    const struct gate_chapter *chapter;
    struct gate_options options;
    struct backend backend;
    struct gate_input input;
    struct gate_output output;
};

static enum run_result grid(void *context, struct error *error)
{
    struct gate_work *work = context;

    return gate_grid(&work->chapter->step, &work->options, work->program, stdout, error);
}

static enum run_result bench(void *context, struct error *error)
{
    struct gate_work *work = context;

    return gate_bench(work->chapter, &work->options, &work->backend, work->program, stdout, error);
}

static enum run_result load(void *context, struct error *error)
{
    struct gate_work *work = context;
    const enum run_result result = gate_load(&work->options, &work->chapter->step, &work->input, error);

    if (result != RUN_READY || gate_output_allocate(&work->options.problem, &work->output, error))
        return result;
    gate_input_free(&work->input);
    return RUN_NO_DEVICE;
}

static enum run_result run(void *context, struct error *error)
{
    struct gate_work *work = context;

    return gate_run(&work->options.problem, &work->chapter->step, &work->input, &work->output, error);
}

static bool write_answer(void *context, const char *directory, struct error *error)
{
    const struct gate_work *work = context;
    const struct gate_problem *problem = &work->options.problem;
    struct npy_array weights = {NPY_F32, 2, {problem->num_tokens, problem->topk}, work->output.topk_weights};
    struct npy_array ids = {NPY_I32, 2, {problem->num_tokens, problem->topk}, work->output.topk_ids};
    const struct output_file files[] = {{"topk_ids.npy", &ids}, {"topk_weights.npy", &weights}};

    return output_write(directory, files, 2, error);
}

static void report(void *context, enum run_result result, const char *failure, const char *command)
{
    const struct gate_work *work = context;
    struct gate_report report = {
        .chapter = work->chapter,
        .options = &work->options,
        .backend = &work->backend,
        .output = &work->output,
        .result = result,
        .failure = failure,
        .command = command,
    };

    if (work->chapter->step.launch)
        counters_read(&report.counters);
    gate_report_write(&report, stdout);
}

static void command(void *context, char *text, size_t size)
{
    const struct gate_work *work = context;

    gate_options_command(&work->options, work->program, text, size);
}

static void unload(void *context)
{
    struct gate_work *work = context;

    gate_output_free(&work->output);
    gate_input_free(&work->input);
}

int gate_main(int argc, char **argv, const struct gate_chapter *chapter)
{
    static const struct program_actions actions = {grid, bench, load, run, write_answer, report, command, unload};
    struct gate_work work = {.program = argv[0], .chapter = chapter};
    const struct program program = {
        .name = chapter->step.name,
        .launches = chapter->step.launch != NULL,
        .options = &work.options.program,
        .actions = &actions,
        .context = &work,
    };
    struct error error = {""};

    if (!gate_options_parse(argc, argv, chapter, &work.options, &error))
        return program_give_up(program.name, RUN_BAD_INPUT, error.text);
    return program_main(&program, &work.backend);
}
