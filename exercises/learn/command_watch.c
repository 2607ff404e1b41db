/** @file command_watch.c  build/learn without a command: grades saved files and handles keys until q or Ctrl-C. */
#include "commands.h"
#include "interrupt.h"
#include "learner_file.h"
#include "show.h"
#include "watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** The exercises whose files have been saved since the last grading. */
struct saved {
    bool files[MAX_EXERCISES];
};

static void note_saved(void *context, const char *name)
{
    struct saved *const saved = context;

    for (size_t i = 0; i < num_exercises; i++) {
        const size_t length = strlen(exercise_list[i].name);

        if (!name || (strncmp(name, exercise_list[i].name, length) == 0 && strcmp(name + length, ".cu") == 0))
            saved->files[i] = true;
    }
}

/** Keeps only the learner's current exercise if all are marked, as happens when the system has lost events. */
static void keep_one_of_all(const struct learn_session *learn, struct saved *saved)
{
    const struct exercise *const current = learn_current_exercise(learn);

    for (size_t i = 0; i < num_exercises; i++)
        if (!saved->files[i])
            return;
    if (num_exercises == 1 || !current)
        return;
    memset(saved, 0, sizeof *saved);
    saved->files[current - exercise_list] = true;
}

/**
 * Copies the learner's current exercise and shows the copy's path. Returns false if nothing can be watched.
 */
static bool show_start(struct learn_session *learn, const struct exercise **current, struct error *error)
{
    if (!learn_lock_and_read_progress(learn, error))
        return false;
    show_progress(learn);
    *current = learn_current_exercise(learn);
    if (!*current) {
        learn_release_progress_lock(learn);
        show_next_exercise_or_all_passed(learn, NULL);
        return true;
    }
    fputc('\n', learn->terminal.stream);
    show_exercise_title_and_files(learn, *current);
    if (learn_copy_exercise_unless_begun(learn, *current, error)) {
        learn_set_resume_exercise(learn, *current);
        return learn_write_and_unlock_progress(learn, error);
    }
    learn_release_progress_lock(learn);
    learn_print_error(error); /* this file is gone, but the learner may save others */
    *current = NULL;
    return true;
}

/** Shows the progress and the next exercise after a pass, and makes the learner's copy of that exercise. */
static void move_on(struct learn_session *learn)
{
    struct error error = {0};
    const struct exercise *next;

    if (!learn_lock_and_read_progress(learn, &error)) {
        learn_print_error(&error);
        return;
    }
    next = learn_current_exercise(learn);
    if (next && learn_copy_exercise_unless_begun(learn, next, &error)) {
        learn_set_resume_exercise(learn, next);
        learn_write_and_unlock_progress(learn, &error);
    } else {
        learn_release_progress_lock(learn);
    }
    if (error.text[0])
        learn_print_error(&error);
    fputc('\n', learn->terminal.stream);
    show_progress(learn);
    show_next_exercise_or_all_passed(learn, next);
}

/** Grades the exercise. Returns the exercise, or NULL if it has passed. */
static const struct exercise *grade(struct learn_session *learn, const struct exercise *exercise, bool show_output)
{
    const struct progress_entry *const before = progress_find(&learn->progress, exercise->name);
    const bool had_passed = before && before->has_passed;

    fputc('\n', learn->terminal.stream);
    if (learn_grade_exercise_and_show_result(
            learn, exercise, &(struct grading_options){.is_watching = true, .show_output = show_output}) !=
        LEARN_PASSED)
        return exercise;
    if (!had_passed)
        move_on(learn);
    return NULL;
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

/**
 * Handles a key. `shown` is the exercise that was graded last, or NULL for the learner's current one. Returns false if
 * the key ends the program.
 */
static bool press(struct learn_session *learn, char key, const struct exercise **shown)
{
    const struct exercise *const exercise = *shown ? *shown : learn_current_exercise(learn);
    const struct parsed_command parsed = {.exercise_name = exercise ? exercise->name : NULL}, none = {0};

    switch (key) {
    case 'h':
        command_hint(learn, &parsed);
        return true;
    case 'n':
        *shown = NULL;
        command_next(learn, &none);
        return true;
    case 'o':
        if (exercise)
            *shown = grade(learn, exercise, true);
        return true;
    case 'l':
        command_list(learn, &none);
        return true;
    default:
        return key != 'q';
    }
}

/** Reads a key. Returns 0 at the end of the input. */
static char read_key(void)
{
    char key = 0;

    return read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}

/** Waits for saved files or, unless *key is 0, for a key, which it stores in *key. */
static enum watch_result wait_for(struct learn_session *learn, struct folder_watch *watch, struct saved *saved,
                                  char *key, struct error *error)
{
    const bool keys = *key && terminal_begin_single_keys(&learn->terminal);
    const enum watch_result result = watch_wait_for_save_or_key(watch, interrupt_poll_descriptor(),
                                                                keys ? STDIN_FILENO : -1, note_saved, saved, error);

    if (result == WATCH_KEY_PRESSED)
        *key = read_key();
    terminal_end_single_keys();
    terminal_update_width(&learn->terminal);
    return result;
}

static void show_keys(const struct learn_session *learn)
{
    const bool keys = terminal_begin_single_keys(&learn->terminal);

    terminal_end_single_keys();
    if (keys)
        terminal_print(&learn->terminal, STYLE_FAINT, "\nWatching.  h hint  n next  o output  l list  q quit\n");
}

/* --- watching ----------------------------------------------------------------------------------------------------- */

/** Grades all saved files, then waits for more or for a key, until the learner quits. */
static int watch_files(struct learn_session *learn, struct folder_watch *watch, struct saved *saved)
{
    struct error error = {0};
    const struct exercise *shown = NULL;
    char key = ' '; /* 0 if keys cannot be read */

    for (bool idle = false;;) {
        for (size_t i = 0; i < num_exercises && !interrupt_last_signal(); i++)
            if (saved->files[i])
                shown = grade(learn, &exercise_list[i], false);
        memset(saved, 0, sizeof *saved);
        if (!idle)
            show_keys(learn);
        if (fflush(learn->terminal.stream) != 0 || ferror(learn->terminal.stream))
            return LEARN_ERROR;
        switch (wait_for(learn, watch, saved, &key, &error)) {
        case WATCH_STOP_REQUESTED:
            return LEARN_DONE;
        case WATCH_FOLDER_LOST:
            return learn_print_error(&error);
        case WATCH_KEY_PRESSED:
            idle = !key || !strchr("hnol", key);
            if (!press(learn, key, &shown))
                return LEARN_DONE;
            break;
        case WATCH_SIGNAL_ARRIVED:
            idle = true;
            break;
        case WATCH_FILE_SAVED:
            keep_one_of_all(learn, saved);
            idle = !memchr(saved->files, true, sizeof saved->files);
        }
    }
}

static void note_nothing(int signal_number)
{
    (void)signal_number;
}

int command_watch(struct learn_session *learn, const struct parsed_command *parsed)
{
    struct error error = {0};
    struct saved saved = {{false}};
    const struct exercise *current = NULL;
    struct folder_watch watch;
    int code;

    (void)parsed;
    if (!show_start(learn, &current, &error) || !watch_open(&watch, "exercises/mine", &error))
        return learn_print_error(&error);
    terminal_print(&learn->terminal, STYLE_FAINT,
                   "\nWatching %sexercises/mine: a file is graded when it is saved. Ctrl-C ends.\n",
                   learn->course_paths.root_prefix);
    if (current)
        saved.files[current - exercise_list] = true;
    sigaction(SIGCONT, &(struct sigaction){.sa_handler = note_nothing},
              NULL); /* interrupts the wait, so that key input is set up again */
    sigaction(SIGWINCH, &(struct sigaction){.sa_handler = note_nothing}, NULL);
    code = watch_files(learn, &watch, &saved);
    watch_close(&watch);
    if (interrupt_last_signal() == SIGINT || interrupt_last_signal() == 0) {
        fputc('\n', learn->terminal.stream);
        show_progress(learn);
    }
    return code;
}
