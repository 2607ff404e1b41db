#include "commands.h"

#include "build_answer.h"
#include "child.h"
#include "interrupt.h"
#include "learner_file.h"
#include "regions.h"
#include "show.h"
#include "verdict.h"

#include "base/backoff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The inputs and the results of a grading. */
struct attempt {
    const struct exercise *exercise;
    const struct grading_options *grading;
    uint64_t seed;
    char path[LEARN_PATH_SIZE]; /**< path of the learner's file, relative to the root */
    char *original;             /**< text of exercise.cu */
    char *text;                 /**< text of the learner's file */
    struct built_answer built;
    bool compiled; /**< the file compiled, so that `verdict` is set */
    struct verdict verdict;
    double seconds;
};

static struct named_text text_of(const char *path, const char *text)
{
    return (struct named_text){.path = path, .text = text, .size = strlen(text)};
}

/**
 * Reads the learner's file. Returns false with an error on failure or if the file differs from the exercise outside the
 * regions.
 */
static bool read_learners(struct attempt *attempt, struct error *error)
{
    char original_path[LEARN_PATH_SIZE];

    learn_exercise_file_path(attempt->exercise, "exercise.cu", original_path);
    if (!text_file_read(attempt->path, &attempt->text, error))
        return false;

    const struct named_text original = text_of(original_path, attempt->original);
    const struct named_text learners = text_of(attempt->path, attempt->text);

    return regions_check_same_outside(&original, &learners, error);
}

/** Prints why a file cannot be graded, and the command that restores the original. Returns LEARN_ERROR. */
static int refuse_file(const struct learn_session *learn, const struct attempt *attempt, const struct error *why)
{
    struct error error;

    error_set(&error, "%s ('%s reset %s' brings the original back and keeps a copy of what is there)", why->text,
              learn->program_path, attempt->exercise->name);
    return learn_print_error(&error);
}

static bool run_built(struct attempt *attempt, struct error *error)
{
    struct program_to_judge program = {.path = attempt->built.program_path, .seed = attempt->seed};

    if (attempt->grading->on_gpu)
        program.limits = (struct verdict_limits){.seconds_per_case = 60, .memory_bytes = SIZE_MAX};
    attempt->compiled = verdict_run(&program, &attempt->verdict, error);
    return attempt->compiled;
}

/** Runs the program only to write the trace. Returns false with a reason on failure. */
static bool run_traced(struct attempt *attempt, struct error *error)
{
    static const struct verdict_limits limits = {
        .seconds_per_case = 10, .memory_bytes = SIZE_MAX, .output_bytes = 1 << 20, .max_events = 1 << 20};
    char seed[24];
    const char *const command[] = {attempt->built.program_path,  "--seed", seed, "--trace",
                                   attempt->grading->trace_path, NULL};
    struct child_result end;
    bool good;

    snprintf(seed, sizeof seed, "%" PRIu64, attempt->seed);
    if (!child_run(command, &limits, &end, error))
        return false;
    if (end.output.size)
        end.output.text[strcspn(end.output.text, "\n")] = '\0';
    good = (end.outcome == CHILD_EXITED && end.exit_code == 0) ||
           error_set(error, "%s: there are no steps to show: %s", attempt->exercise->name,
                     end.outcome == CHILD_TOOK_TOO_LONG ? "the program was stopped after 10 s: an endless loop?"
                     : end.output.size                  ? end.output.text
                                                        : "the program crashed ('run' says why)");
    child_result_free(&end);
    return good;
}

/** Builds and runs the answer. Returns LEARN_PASSED or LEARN_NOT_PASSED; any other result comes with a reason. */
static enum learn_exit_code build_and_run(struct attempt *attempt, struct error *error)
{
    const enum learn_exit_code impossible = attempt->grading->on_gpu ? LEARN_NO_DEVICE : LEARN_ERROR;
    const struct answer_to_build answer = {
        .exercise_name = attempt->exercise->name,
        .text = text_of(attempt->path, attempt->text),
        .for_gpu = attempt->grading->on_gpu,
    };
    const double began = monotonic_seconds();
    const enum build_result result = build_answer(&answer, &attempt->built, error);

    if (result == BUILD_NOT_POSSIBLE)
        return impossible;
    if (result == BUILD_FAILED_TO_COMPILE || interrupt_last_signal())
        return LEARN_NOT_PASSED;
    if (attempt->grading->trace_path)
        return run_traced(attempt, error) ? LEARN_DONE : LEARN_ERROR;
    if (!run_built(attempt, error))
        return LEARN_ERROR;
    attempt->seconds = monotonic_seconds() - began;
    if (attempt->verdict.has_no_device) {
        error_set(error, "%.*s%s", (int)strcspn(attempt->verdict.reason, ";"), attempt->verdict.reason,
                  attempt->grading->on_gpu ? "; without --gpu it runs on the simulator" : "");
        return LEARN_NO_DEVICE;
    }
    return attempt->verdict.has_passed ? LEARN_PASSED : LEARN_NOT_PASSED;
}

static void note(struct learn_session *learn, const struct attempt *attempt)
{
    struct progress_entry *const entry = progress_find(&learn->progress, attempt->exercise->name);
    const bool passed = attempt->compiled && attempt->verdict.has_passed;

    if (!entry || attempt->grading->on_gpu)
        return;
    entry->last_result = passed ? PROGRESS_PASSED : PROGRESS_FAILED;
    if (passed && !entry->has_passed)
        learn_set_resume_exercise(learn, attempt->exercise); /* so that `next` continues after this exercise */
    entry->has_passed |= passed;
}

static void show(const struct learn_session *learn, const struct attempt *attempt)
{
    const struct grading_result graded = {
        .exercise = attempt->exercise,
        .seed = attempt->seed,
        .on_gpu = attempt->grading->on_gpu,
        .show_output = attempt->grading->show_output,
        .is_watching = attempt->grading->is_watching,
        .messages = attempt->built.messages,
        .verdict = attempt->compiled ? &attempt->verdict : NULL,
        .seconds = attempt->seconds,
    };

    show_grading_result(learn, &graded);
    fflush(learn->terminal.stream);
}

/**
 * Grades a file that has been read, and shows the result. Finally calls learn_write_and_unlock_progress() or
 * learn_release_progress_lock().
 */
static int grade_read(struct learn_session *learn, struct attempt *attempt)
{
    struct error error = {0}, unsaved = {0};
    int code = build_and_run(attempt, &error);

    if (interrupt_last_signal()) {
        learn_release_progress_lock(learn);
        return LEARN_ERROR;
    }
    if (code != LEARN_PASSED && code != LEARN_NOT_PASSED) {
        learn_release_progress_lock(learn);
        return learn_print_error(&error), code;
    }
    if (attempt->grading->trace_path && code == LEARN_DONE)
        return learn_write_and_unlock_progress(learn, &error) ? LEARN_DONE : learn_print_error(&error);
    note(learn, attempt);
    if (!learn_write_and_unlock_progress(learn, &unsaved))
        learn_print_error(&unsaved);
    show(learn, attempt);
    return attempt->compiled ? code : LEARN_ERROR;
}

/** Reads the learner's copy and grades it. Finally writes and unlocks the record. */
static int grade_copy(struct learn_session *learn, struct attempt *attempt)
{
    struct error error = {0};
    int code;

    if (read_learners(attempt, &error))
        return grade_read(learn, attempt);
    code = refuse_file(learn, attempt, &error);
    if (!learn_write_and_unlock_progress(learn, &error))
        learn_print_error(&error);
    return code;
}

static void free_attempt(struct attempt *attempt)
{
    if (attempt->compiled)
        verdict_free(&attempt->verdict);
    built_answer_remove(&attempt->built);
    free(attempt->original);
    free(attempt->text);
}

int learn_grade_exercise_and_show_result(struct learn_session *learn, const struct exercise *exercise,
                                         const struct grading_options *grading)
{
    struct attempt attempt = {.exercise = exercise, .grading = grading};
    struct error error = {0};
    char path[LEARN_PATH_SIZE];
    int code;

    learn_exercise_file_path(exercise, "exercise.cu", path);
    if (!text_file_read(path, &attempt.original, &error) || !learn_lock_and_read_progress(learn, &error)) {
        free(attempt.original);
        return learn_print_error(&error);
    }
    learn_learner_file_path(exercise, attempt.path);
    attempt.seed = grading->has_seed ? grading->seed : verdict_fresh_seed();
    if (learn_copy_exercise_unless_begun(learn, exercise, &error)) {
        code = grade_copy(learn, &attempt);
    } else {
        learn_release_progress_lock(learn);
        code = learn_print_error(&error);
    }
    free_attempt(&attempt);
    return code;
}
