#include "harness/core/program.h"

#include "harness/core/output.h"
#include "harness/core/whole_file.h"

#include <signal.h>
#include <stdio.h>

int program_give_up(const char *name, enum run_result result, const char *reason)
{
    fprintf(stderr, "%s: %s\n", name, reason);
    return result;
}

/** Runs, and writes the trace of a verified run if one is asked for. */
static enum run_result run_traced(const struct program *program, struct error *error)
{
    const char *const path = program->options->trace;
    struct whole_file file = {0};
    enum run_result result;

    if (!path)
        return program->actions->run(program->context, error);
    if (!backend_trace_begin(program->options->trace_kernel, error) || !whole_file_open(&file, "trace", path, error)) {
        backend_trace_end(NULL, &(struct error){""});
        return RUN_BAD_INPUT;
    }
    result = program->actions->run(program->context, error);
    if (result != RUN_VERIFIED)
        backend_trace_end(NULL, &(struct error){""});
    else if (!backend_trace_end(file.stream, error) || !whole_file_keep(&file, "trace", error))
        result = RUN_BAD_INPUT;
    whole_file_drop(&file);
    return result;
}

/** Reports a run whose answer was checked; returns the exit code. */
static int report(const struct program *program, enum run_result result, const struct error *error)
{
    const char *const failure = result == RUN_WRONG ? error->text : "";
    char command[PROGRAM_COMMAND_SIZE];

    program->actions->command(program->context, command, sizeof command);
    program->actions->report(program->context, result, failure, command);
    if (fflush(stdout) != 0 || ferror(stdout))
        return program_give_up(program->name, RUN_BAD_INPUT, "standard output: cannot be written");
    if (result == RUN_WRONG)
        fprintf(stderr, "%s: wrong: %s\n%s: repeat it with: %s\n", program->name, failure, program->name, command);
    return result;
}

/** Runs loaded operands, writes what is asked for and reports; returns the exit code. */
static int run_loaded(const struct program *program)
{
    const char *const out = program->options->out;
    struct error error = {""};
    enum run_result result;

    if (out && !output_directory_ready(out, &error))
        return program_give_up(program->name, RUN_BAD_INPUT, error.text);
    result = run_traced(program, &error);
    if (result == RUN_VERIFIED && out && !program->actions->write_answer(program->context, out, &error))
        result = RUN_BAD_INPUT;
    if (result == RUN_VERIFIED || result == RUN_WRONG)
        return report(program, result, &error);
    return program_give_up(program->name, result, error.text);
}

static int run_once(const struct program *program)
{
    struct error error = {""};
    const enum run_result loaded = program->actions->load(program->context, &error);
    int code;

    if (loaded != RUN_READY)
        return program_give_up(program->name, loaded, error.text);
    code = run_loaded(program);
    program->actions->unload(program->context);
    return code;
}

int program_main(const struct program *program, struct backend *backend)
{
    const struct program_options *const options = program->options;
    struct error error = {""};
    enum run_result result;

    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error to report, not a reason to die */
    if (program->launches && !backend_open(backend, &error))
        return program_give_up(program->name, RUN_NO_DEVICE, error.text);
    if (!options->grid && !options->bench)
        return run_once(program);
    result = (options->grid ? program->actions->grid : program->actions->bench)(program->context, &error);
    return result == RUN_VERIFIED ? 0 : program_give_up(program->name, result, error.text);
}
