/** @file program.h  What every operator's program does once its command line is parsed, up to the exit code. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "harness/core/backend.h"
#include "harness/core/error.h"
#include "harness/core/program_options.h"
#include "harness/core/run_result.h"

/** What an operator does in its program. All get the program's context; what goes wrong has its reason in `error`. */
struct program_actions {
    /** Checks many problems and writes to standard output how many there were. */
    enum run_result (*grid)(void *context, struct error *error);
    /** Takes times and writes the report to standard output. */
    enum run_result (*bench)(void *context, struct error *error);
    /** Makes operands and room for the answer. RUN_READY: unload() must free them. */
    enum run_result (*load)(void *context, struct error *error);
    /** Runs the step once and checks its answer. */
    enum run_result (*run)(void *context, struct error *error);
    /** Writes a verified answer's arrays to files in the directory: all of them or none. */
    bool (*write_answer)(void *context, const char *directory, struct error *error);
    /** Writes the report to standard output; `failure` says what was wrong, "" if the answer is verified. */
    void (*report)(void *context, enum run_result result, const char *failure, const char *command);
    /** Writes the command that repeats the run. */
    void (*command)(void *context, char *text, size_t size);
    void (*unload)(void *context);
};

/** A program whose command line is parsed. */
struct program {
    const char *name;
    bool launches; /**< needs a device; else it computes on the host */
    const struct program_options *options;
    const struct program_actions *actions;
    void *context;
};

/** Prints the one line people get when a run did not end well, "NAME: REASON". Returns the exit code. */
int program_give_up(const char *name, enum run_result result, const char *reason);

/** Opens `backend`, which the context may point to, and does what the options ask for. Returns the exit code. */
int program_main(const struct program *program, struct backend *backend);

#endif
