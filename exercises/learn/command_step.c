/** @file command_step.c  build/learn step: makes a stepper page from one launch of the learner's kernel. */
#include "build_answer.h"
#include "child.h"
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/** Makes the folder for the pages. Returns false with a one-line error on failure. */
static bool make_folder(char *folder, size_t size, struct error *error)
{
    snprintf(folder, size, "%s/step", answer_build_folder);
    return mkdir(folder, 0777) == 0 || errno == EEXIST ||
           error_set(error, "%s: it cannot be made: %s", folder, strerror(errno));
}

/** Makes the stepper page of a trace, using docs/stepper. Returns false with a one-line error on failure. */
static bool make_page(const struct learn_session *learn, const struct exercise *exercise, const char *trace,
                      const char *page, struct error *error)
{
    static const struct verdict_limits limits = {
        .seconds_per_case = 60, .memory_bytes = SIZE_MAX, .output_bytes = 1 << 20, .max_events = 1};
    char command[LEARN_PATH_SIZE];
    const char *const words[] = {"python3", "docs/tools/stepper_pages.py", trace, page, exercise->name, command, NULL};
    struct child_result end;
    bool good;

    snprintf(command, sizeof command, "%s step %s", learn->program_path, exercise->name);
    if (!child_run(words, &limits, &end, error))
        return false;
    good = (end.outcome == CHILD_EXITED && end.exit_code == 0) ||
           error_set(error, "%s is the trace, but python3 made no page of it: %s", trace,
                     end.output.size ? end.output.text : "it did not end well");
    error->text[strcspn(error->text, "\n")] = '\0';
    child_result_free(&end);
    return good;
}

/** Asks the desktop, if there is one, to show the page. Does not wait. */
static void open_page(char *page)
{
    char *const words[] = {"xdg-open", page, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;

    if ((!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) || !isatty(STDOUT_FILENO) ||
        posix_spawn_file_actions_init(&actions) != 0)
        return;
    for (int descriptor = 0; descriptor < 3; descriptor++)
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    posix_spawnp(&child, words[0], &actions, NULL, words, environ); /* on failure, the printed path is enough */
    posix_spawn_file_actions_destroy(&actions);
}

int command_make_stepper_page(struct learn_session *learn, const struct parsed_command *parsed)
{
    char folder[LEARN_PATH_SIZE], trace[2 * LEARN_PATH_SIZE], page[2 * LEARN_PATH_SIZE];
    struct grading_options grading = {.trace_path = trace};
    struct error error = {0};
    const struct exercise *const exercise = find_exercise_or_current(learn, parsed->exercise_name, &error);
    int code;

    if (!exercise || !make_folder(folder, sizeof folder, &error))
        return learn_print_error(&error);
    snprintf(trace, sizeof trace, "%s/%s.json", folder, exercise->name);
    snprintf(page, sizeof page, "%s/%s.html", folder, exercise->name);
    code = learn_grade_exercise_and_show_result(learn, exercise, &grading);
    if (code != LEARN_DONE)
        return code;
    if (!make_page(learn, exercise, trace, page, &error))
        return learn_print_error(&error);
    terminal_print(&learn->terminal, STYLE_PLAIN, "This page plays what your kernel does, step by step:\n  %s%s\n",
                   learn->course_paths.root_prefix, page);
    open_page(page);
    return LEARN_DONE;
}
