/** @file gate_main.c  A gate chapter's program, from the command line to the exit code. */
#include "harness/backend.h"
#include "harness/gate_bench.h"
#include "harness/gate_grid.h"
#include "harness/gate_load.h"
#include "harness/gate_options.h"
#include "harness/gate_problem.h"
#include "harness/gate_report.h"
#include "harness/gate_run.h"
#include "harness/output.h"
#include "harness/whole_file.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/** Prints the one line people get when a run did not end well; returns the exit code. */
static int give_up(const struct gate_chapter *chapter, enum run_result result, const char *reason)
{
    fprintf(stderr, "%s: %s\n", chapter->step.name, reason);
    return result;
}

/** Writes both arrays, or neither. */
static bool write_outputs(const struct gate_options *options, const struct gate_output *output, struct error *error)
{
    const struct gate_problem *problem = &options->problem;
    struct npy_array weights = {NPY_F32, 2, {problem->num_tokens, problem->topk}, output->topk_weights};
    struct npy_array ids = {NPY_I32, 2, {problem->num_tokens, problem->topk}, output->topk_ids};
    const struct output_file files[] = {{"topk_ids.npy", &ids}, {"topk_weights.npy", &weights}};

    return output_write(options->out, files, 2, error);
}

static int report_run(const struct gate_chapter *chapter, const struct gate_options *options,
                      const struct backend *backend, const struct gate_output *output, enum run_result result,
                      const char *failure, const char *program)
{
    char command[2048];
    struct gate_report report = {
        .chapter = chapter,
        .options = options,
        .backend = backend,
        .output = output,
        .result = result,
        .failure = failure,
        .command = command,
    };

    gate_options_command(options, program, command, sizeof command);
    if (chapter->step.launch)
        counters_read(&report.counters);
    gate_report_write(&report, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return give_up(chapter, RUN_BAD_INPUT, "standard output: cannot be written");
    if (result == RUN_WRONG)
        fprintf(stderr, "%s: wrong: %s\n%s: repeat it with: %s\n", chapter->step.name, failure, chapter->step.name,
                command);
    return result;
}

/** Runs the step, and writes its trace once it is verified, if one is asked for. */
static enum run_result run_traced(const struct gate_chapter *chapter, const struct gate_options *options,
                                  const struct gate_input *input, struct gate_output *output, struct error *error)
{
    struct whole_file file = {0};
    enum run_result result;

    if (!options->trace)
        return gate_run(&options->problem, &chapter->step, input, output, error);
    if (!backend_trace_begin(error) || !whole_file_open(&file, "trace", options->trace, error)) {
        backend_trace_end(NULL, &(struct error){""});
        return RUN_BAD_INPUT;
    }
    result = gate_run(&options->problem, &chapter->step, input, output, error);
    if (result != RUN_VERIFIED)
        backend_trace_end(NULL, &(struct error){""});
    else if (!backend_trace_end(file.stream, error) || !whole_file_keep(&file, "trace", error))
        result = RUN_BAD_INPUT;
    whole_file_drop(&file);
    return result;
}

static int run_once(const struct gate_chapter *chapter, struct gate_options *options, const struct backend *backend,
                    const char *program)
{
    struct gate_input input;
    struct gate_output output;
    struct error error = {""};
    enum run_result result;
    int code;

    switch (gate_load(options, &chapter->step, &input, &error)) {
    case LOAD_BAD_INPUT:
        return give_up(chapter, RUN_BAD_INPUT, error.text);
    case LOAD_NO_MEMORY:
        return give_up(chapter, RUN_NO_DEVICE, error.text);
    default:
        break;
    }
    if (options->out && !output_directory_ready(options->out, &error)) {
        code = give_up(chapter, RUN_BAD_INPUT, error.text);
    } else if (gate_output_allocate(&options->problem, &output, &error)) {
        result = run_traced(chapter, options, &input, &output, &error);
        if (result == RUN_VERIFIED && options->out && !write_outputs(options, &output, &error))
            result = RUN_BAD_INPUT;
        code = result == RUN_VERIFIED || result == RUN_WRONG
                   ? report_run(chapter, options, backend, &output, result, result == RUN_WRONG ? error.text : "",
                                program)
                   : give_up(chapter, result, error.text);
        gate_output_free(&output);
    } else {
        code = give_up(chapter, RUN_NO_DEVICE, error.text);
    }
    gate_input_free(&input);
    return code;
}

int gate_main(int argc, char **argv, const struct gate_chapter *chapter)
{
    struct gate_options options;
    struct backend backend = {0};
    struct error error = {""};
    enum run_result result;

    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error to report, not a reason to die */
    if (!gate_options_parse(argc, argv, chapter, &options, &error))
        return give_up(chapter, RUN_BAD_INPUT, error.text);
    if (options.bench && options.out)
        return give_up(chapter, RUN_BAD_INPUT, "--out: a benchmark writes no arrays; leave out --bench");
    if (chapter->step.launch && !backend_open(&backend, &error))
        return give_up(chapter, RUN_NO_DEVICE, error.text);
    if (options.grid) {
        result = gate_grid(&chapter->step, &options, argv[0], stdout, &error);
        return result == RUN_VERIFIED ? 0 : give_up(chapter, result, error.text);
    }
    if (!options.bench)
        return run_once(chapter, &options, &backend, argv[0]);

    if (chapter->step.launch && !backend.has_times)
        return give_up(chapter, RUN_BAD_INPUT, "--bench: the CPU simulator has no times; use the program in build/gpu");
    result = gate_bench(chapter, &options, &backend, argv[0], stdout, &error);
    return result == RUN_VERIFIED ? 0 : give_up(chapter, result, error.text);
}
