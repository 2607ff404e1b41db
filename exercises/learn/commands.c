#include "commands.h"

#include "hints.h"
#include "learner_file.h"
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Returns the exercise named `wanted`. On failure, returns NULL with a one-line error. */
static const struct exercise *find_exercise(const struct learn_session *learn, const char *wanted, struct error *error)
{
    struct error why = {0};
    const struct exercise *const found = exercise_find(wanted, &why);

    if (!found)
        error_set(error, "%s; '%s list' shows all", why.text, learn->program_path);
    return found;
}

const struct exercise *find_exercise_or_current(struct learn_session *learn, const char *wanted, struct error *error)
{
    const struct exercise *current;

    if (wanted)
        return find_exercise(learn, wanted, error);
    if (!learn_read_progress(learn, error))
        return NULL;
    current = learn_current_exercise(learn);
    if (!current)
        error_set(error, "every exercise is passed: say which one is meant");
    return current;
}

int command_list(struct learn_session *learn, const struct parsed_command *parsed)
{
    struct error error = {0};

    (void)parsed;
    if (!learn_read_progress(learn, &error))
        return learn_print_error(&error);
    show_exercise_list(learn);
    return LEARN_DONE;
}

int command_run(struct learn_session *learn, const struct parsed_command *parsed)
{
    struct error error = {0};
    const struct exercise *const exercise = find_exercise_or_current(learn, parsed->exercise_name, &error);

    if (!exercise)
        return learn_print_error(&error);
    return learn_grade_exercise_and_show_result(learn, exercise, &parsed->grading);
}

/**
 * Locks the record and returns the exercise's entry. If there is none, begins the exercise, which also makes the
 * learner's file. On failure, returns NULL with a one-line error.
 */
static struct progress_entry *begin_entry(struct learn_session *learn, const struct exercise *exercise,
                                          struct error *error)
{
    struct progress_entry *entry = NULL;

    if (!learn_lock_and_read_progress(learn, error))
        return NULL;
    if (progress_find(&learn->progress, exercise->name) || learn_copy_exercise_unless_begun(learn, exercise, error))
        entry = progress_find(&learn->progress, exercise->name);
    if (!entry)
        learn_release_progress_lock(learn);
    return entry;
}

/* --- hints -------------------------------------------------------------------------------------------------------- */

static void show_hint(const struct learn_session *learn, const struct hints *hints, int step)
{
    terminal_print(&learn->terminal, STYLE_STRONG, "Hint %d of %d\n", step + 1, hints->num_hints);
    terminal_print_wrapped(&learn->terminal, STYLE_PLAIN, 2, 2, hints->hint[step]);
}

/** Shows the next hint or, if all have been shown, all of them again. */
static void show_hints(const struct learn_session *learn, const struct exercise *exercise, const struct hints *hints,
                       int seen)
{
    if (seen < hints->num_hints) {
        show_hint(learn, hints, seen);
        return;
    }
    for (int i = 0; i < hints->num_hints; i++)
        show_hint(learn, hints, i);
    terminal_print(&learn->terminal, STYLE_PLAIN, "There are no more. The solution: %s solution %s\n",
                   learn->program_path, exercise->name);
}

static int give_hint(struct learn_session *learn, const struct exercise *exercise, const struct hints *hints)
{
    struct error error = {0};
    struct progress_entry *entry;
    int seen;

    if (!learn_lock_and_read_progress(learn, &error))
        return learn_print_error(&error);
    if (!learn_copy_exercise_unless_begun(learn, exercise, &error)) {
        learn_release_progress_lock(learn);
        return learn_print_error(&error);
    }
    entry = progress_find(&learn->progress, exercise->name);
    seen = entry->num_hints_shown;
    if (entry->num_hints_shown < hints->num_hints)
        entry->num_hints_shown++;
    if (!learn_write_and_unlock_progress(learn, &error))
        learn_print_error(&error);
    show_hints(learn, exercise, hints, seen);
    return LEARN_DONE;
}

int command_hint(struct learn_session *learn, const struct parsed_command *parsed)
{
    struct error error = {0};
    const struct exercise *const exercise = find_exercise_or_current(learn, parsed->exercise_name, &error);
    char path[LEARN_PATH_SIZE];
    struct hints hints;
    int code;

    if (!exercise)
        return learn_print_error(&error);
    learn_exercise_file_path(exercise, "hints.md", path);
    if (!hints_read(path, &hints, &error))
        return learn_print_error(&error);
    code = give_hint(learn, exercise, &hints);
    hints_free(&hints);
    return code;
}

/* --- starting over ------------------------------------------------------------------------------------------------ */

/** Checks whether the file at `path` is the original. If so, there is nothing to set aside. */
static bool is_original(const char *path, const char *original)
{
    char *text = NULL;
    const bool same = text_file_read(path, &text, &(struct error){0}) && strcmp(text, original) == 0;

    free(text);
    return same;
}

/** Sets the learner's file aside and copies the exercise again. On failure, changes nothing. */
static bool remake(const struct exercise *exercise, char *kept, size_t size, struct error *error)
{
    char original[LEARN_PATH_SIZE], path[LEARN_PATH_SIZE];
    char *text = NULL;
    bool same;

    learn_exercise_file_path(exercise, "exercise.cu", original);
    learn_learner_file_path(exercise, path);
    if (!text_file_read(original, &text, error))
        return false;
    kept[0] = '\0';
    same = is_original(path, text);
    free(text);
    if (same)
        return true;
    if (!path_set_aside(path, kept, size, error))
        return false;
    if (learner_file_create(original, path, error))
        return true;
    if (kept[0] && rename(kept, path) != 0)
        error_set(error, "%s: it cannot be made; what was there is %s", path, kept);
    return false;
}

static void show_reset(const struct learn_session *learn, const struct exercise *exercise, const char *kept)
{
    char path[LEARN_PATH_SIZE];

    learn_learner_file_path(exercise, path);
    terminal_print(&learn->terminal, STYLE_PLAIN, "%s%s is the original again.\n", learn->course_paths.root_prefix,
                   path);
    if (kept[0])
        terminal_print(&learn->terminal, STYLE_PLAIN, "What was there is kept as %s%s.\n",
                       learn->course_paths.root_prefix, kept);
}

int command_reset(struct learn_session *learn, const struct parsed_command *parsed)
{
    struct error error = {0};
    const struct exercise *const exercise = find_exercise(learn, parsed->exercise_name, &error);
    struct progress_entry *entry;
    char kept[LEARN_PATH_SIZE];

    if (exercise && !exercise_begins_with(exercise, parsed->exercise_name))
        error_set(&error, "reset: '%s' is only a part of %s; reset takes a name's beginning, of one exercise",
                  parsed->exercise_name, exercise->name);
    if (!exercise || error.text[0])
        return learn_print_error(&error);
    entry = begin_entry(learn, exercise, &error);
    if (!entry)
        return learn_print_error(&error);
    if (!remake(exercise, kept, sizeof kept, &error)) {
        learn_release_progress_lock(learn);
        return learn_print_error(&error);
    }
    entry->last_result = PROGRESS_UNGRADED;
    entry->has_passed = entry->solution_refused = false;
    entry->num_hints_shown = 0;
    learn_set_resume_exercise(learn, exercise);
    if (!learn_write_and_unlock_progress(learn, &error))
        learn_print_error(&error);
    show_reset(learn, exercise, kept);
    return LEARN_DONE;
}

/* --- the solution ------------------------------------------------------------------------------------------------- */

static int refuse_solution(const struct learn_session *learn, const struct exercise *exercise)
{
    char line[512];

    snprintf(line, sizeof line,
             "%s is not passed yet. '%s hint %s' helps along; asked once more, this shows the solution.",
             exercise->name, learn->program_path, exercise->name);
    terminal_print_wrapped(&learn->terminal, STYLE_PLAIN, 0, 0, line);
    return LEARN_NOT_PASSED;
}

int command_solution(struct learn_session *learn, const struct parsed_command *parsed)
{
    struct error error = {0};
    const struct exercise *const exercise = find_exercise(learn, parsed->exercise_name, &error);
    struct progress_entry *entry;
    char path[LEARN_PATH_SIZE];
    char *text;
    bool refused;

    if (!exercise)
        return learn_print_error(&error);
    learn_exercise_file_path(exercise, "solution.txt", path);
    if (!text_file_read(path, &text, &error))
        return learn_print_error(&error);
    entry = begin_entry(learn, exercise, &error);
    if (!entry) {
        free(text);
        return learn_print_error(&error);
    }
    refused = !entry->has_passed && !entry->solution_refused;
    entry->solution_refused = true;
    if (!learn_write_and_unlock_progress(learn, &error))
        learn_print_error(&error);
    if (!refused)
        show_solution(learn, text);
    free(text);
    return refused ? refuse_solution(learn, exercise) : LEARN_DONE;
}

/* --- moving on ---------------------------------------------------------------------------------------------------- */

/**
 * Makes this exercise the learner's current one and makes a copy of it. Calls learn_write_and_unlock_progress() or
 * learn_release_progress_lock().
 */
static bool go_to(struct learn_session *learn, const struct exercise *exercise, struct error *error)
{
    if (learn_copy_exercise_unless_begun(learn, exercise, error)) {
        learn_set_resume_exercise(learn, exercise);
        return learn_write_and_unlock_progress(learn, error);
    }
    learn_release_progress_lock(learn);
    return false;
}

int command_next(struct learn_session *learn, const struct parsed_command *parsed)
{
    struct error error = {0};
    const struct exercise *left, *next;

    (void)parsed;
    if (!learn_lock_and_read_progress(learn, &error))
        return learn_print_error(&error);
    left = learn_has_begun_current_exercise(learn) ? learn_current_exercise(learn) : NULL;
    next = left ? learn_next_unpassed_exercise(learn, left) : learn_current_exercise(learn);
    if (!next && !left) {
        learn_release_progress_lock(learn);
        show_next_exercise_or_all_passed(learn, NULL);
        return LEARN_DONE;
    }
    if (!go_to(learn, next ? next : left, &error))
        return learn_print_error(&error);
    if (left)
        terminal_print(&learn->terminal, STYLE_PLAIN, next ? "%s is left for later.\n" : "Only %s is left.\n",
                       left->name);
    show_next_exercise_or_all_passed(learn, next ? next : left);
    return LEARN_DONE;
}
