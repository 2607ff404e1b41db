#include "show.h"

#include "diagnostics.h"
#include "hints.h"
#include "learner_file.h"
#include "regions.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 8192, MAX_CODE_LINES = 6 };

/** Prints a label and a path or a command. */
__attribute__((format(printf, 3, 4))) static void labelled(const struct learn_session *learn, const char *label,
                                                           const char *format, ...)
{
    char text[LINE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    terminal_print_labelled(&learn->terminal, label, STYLE_PLAIN, text);
}

/** Returns the number of the exercise's hints, or 0 if the file of hints cannot be read. */
static int count_hints(const struct exercise *exercise)
{
    char path[LEARN_PATH_SIZE];
    struct hints hints;
    int count;

    learn_exercise_file_path(exercise, "hints.md", path);
    if (!hints_read(path, &hints, &(struct error){0}))
        return 0;
    count = hints.num_hints;
    hints_free(&hints);
    return count;
}

static struct progress_entry entry_of(const struct learn_session *learn, const struct exercise *exercise)
{
    const struct progress_entry *const entry = progress_find(&learn->progress, exercise->name);

    return entry ? *entry : (struct progress_entry){0};
}

/* --- progress ----------------------------------------------------------------------------------------------------- */

static size_t count_passed(const struct learn_session *learn)
{
    size_t passed = 0;

    for (size_t i = 0; i < num_exercises; i++)
        passed += entry_of(learn, &exercise_list[i]).has_passed;
    return passed;
}

void show_progress(const struct learn_session *learn)
{
    const size_t passed = count_passed(learn);

    terminal_print_bar(&learn->terminal, passed, num_exercises);
    terminal_print(&learn->terminal, STYLE_STRONG, "  %zu of %zu passed\n", passed, num_exercises);
}

/** Checks whether the learner's copy is missing or unchanged. */
static bool is_untouched(const struct exercise *exercise)
{
    char original_path[LEARN_PATH_SIZE], path[LEARN_PATH_SIZE];
    char *original = NULL, *text = NULL;
    bool untouched = true;

    learn_exercise_file_path(exercise, "exercise.cu", original_path);
    learn_learner_file_path(exercise, path);
    if (text_file_read(original_path, &original, &(struct error){0}) && text_file_read(path, &text, &(struct error){0}))
        untouched = strcmp(original, text) == 0;
    free(original);
    free(text);
    return untouched;
}

/** Returns the exercise's state in words, and stores the style in which to print it. */
static const char *state_of(const struct learn_session *learn, const struct exercise *exercise,
                            enum terminal_style *style)
{
    const struct progress_entry entry = entry_of(learn, exercise);

    *style = entry.has_passed ? STYLE_GOOD : STYLE_PLAIN;
    if (entry.has_passed)
        return entry.last_result == PROGRESS_FAILED ? "passed, failing now" : "passed";
    if (is_untouched(exercise)) {
        *style = STYLE_FAINT;
        return "not begun";
    }
    if (entry.last_result == PROGRESS_UNGRADED)
        return "begun";
    *style = STYLE_BAD;
    return "failing";
}

/** Returns the width, in columns, of the longest name. */
static int name_columns(void)
{
    int columns = 8;

    for (size_t i = 0; i < num_exercises; i++)
        if ((int)strlen(exercise_list[i].name) > columns)
            columns = (int)strlen(exercise_list[i].name);
    return columns;
}

void show_exercise_list(const struct learn_session *learn)
{
    const struct exercise *const current = learn_current_exercise(learn);
    const int columns = name_columns();

    terminal_print(&learn->terminal, STYLE_FAINT, "  %-*s  %-7s  %-3s  %-19s  %s\n", columns, "exercise", "kind", "",
                   "state", "hints seen");
    for (size_t i = 0; i < num_exercises; i++) {
        const struct exercise *const exercise = &exercise_list[i];
        enum terminal_style style;
        const char *const state = state_of(learn, exercise, &style);

        terminal_print(&learn->terminal, exercise == current ? STYLE_STRONG : STYLE_PLAIN, "%c %-*s",
                       exercise == current ? '>' : ' ', columns, exercise->name);
        terminal_print(&learn->terminal, STYLE_PLAIN, "  %-7s  %-3s  ", exercise_kind_word(exercise->kind),
                       exercise_stars(exercise));
        terminal_print(&learn->terminal, style, "%-19s", state);
        terminal_print(&learn->terminal, STYLE_PLAIN, "  %d of %d\n", entry_of(learn, exercise).num_hints_shown,
                       count_hints(exercise));
    }
    fputc('\n', learn->terminal.stream);
    show_progress(learn);
    if (current)
        terminal_print(&learn->terminal, STYLE_PLAIN, "> is where you are; '%s' goes on there.\n", learn->program_path);
}

/* --- an exercise -------------------------------------------------------------------------------------------------- */

void show_exercise_title_and_files(const struct learn_session *learn, const struct exercise *exercise)
{
    const char *const prefix = learn->course_paths.root_prefix;
    char path[LEARN_PATH_SIZE];

    terminal_print(&learn->terminal, STYLE_STRONG, "%s", exercise->name);
    terminal_print(&learn->terminal, STYLE_PLAIN, "  (%s %s)\n", exercise_kind_word(exercise->kind),
                   exercise_stars(exercise));
    terminal_print_wrapped(&learn->terminal, STYLE_PLAIN, 2, 2, exercise->title);
    learn_exercise_file_path(exercise, "README.md", path);
    labelled(learn, "task", "%s%s", prefix, path);
    learn_learner_file_path(exercise, path);
    labelled(learn, "edit", "%s%s", prefix, path);
}

void show_next_exercise_or_all_passed(const struct learn_session *learn, const struct exercise *next)
{
    if (!next) {
        terminal_print(&learn->terminal, STYLE_GOOD, "Every exercise is passed.\n");
        return;
    }
    terminal_print(&learn->terminal, STYLE_PLAIN, "Next: ");
    show_exercise_title_and_files(learn, next);
}

/* --- a solution --------------------------------------------------------------------------------------------------- */

/** Returns the text of a line that is only a comment, or NULL. A region's marker does not count as a comment. */
static const char *comment_of(const char *line)
{
    const char *const begin = line + strspn(line, " ");

    if (strncmp(begin, "// ", 3) != 0 || strncmp(begin, "// TODO ", 8) == 0 || strncmp(begin, "// END ", 7) == 0)
        return NULL;
    return begin + 3;
}

/** Shows the equally indented comment lines starting at `line`, filled to the width. Returns the line after them. */
static const char *show_comment(const struct learn_session *learn, const char *line)
{
    const int indent = (int)strspn(line, " ");
    int column = 0;

    for (const char *text; (int)strspn(line, " ") == indent && (text = comment_of(line));) {
        const char *const end = text + strcspn(text, "\n");

        for (text += strspn(text, " "); text < end; text += strspn(text, " ")) {
            const int length = (int)strcspn(text, " \n");

            if (column > 0 && column + 1 + length > learn->terminal.num_columns) {
                fputc('\n', learn->terminal.stream);
                column = 0;
            }
            column += column > 0 ? fprintf(learn->terminal.stream, " %.*s", length, text)
                                 : fprintf(learn->terminal.stream, "%*s// %.*s", indent, "", length, text);
            text += length;
        }
        line = end + (*end == '\n');
    }
    fputc('\n', learn->terminal.stream);
    return line;
}

void show_solution(const struct learn_session *learn, const char *text)
{
    int indent = 0; /* the indentation of the region's code, which its markers get as well */

    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");

        if (comment_of(line)) {
            line = show_comment(learn, line);
            continue;
        }
        if (strncmp(line, "// TODO ", 8) == 0)
            indent = (int)strspn(line + length, "\n ") - 1;
        fprintf(learn->terminal.stream, "%*s%.*s\n", strncmp(line, "// ", 3) == 0 ? indent : 0, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* --- a grading ---------------------------------------------------------------------------------------------------- */

/** Returns the size of the first few lines in bytes. */
static size_t first_lines(const char *text, size_t size)
{
    size_t end = 0;

    for (int i = 0; i < MAX_CODE_LINES && end < size; i++) {
        const char *const line_end = memchr(text + end, '\n', size - end);

        end = line_end ? (size_t)(line_end - text) + 1 : size;
    }
    return end;
}

/** Shows a line of a compiler's message, with a path that leads from the learner's directory to the file. */
static void show_message(const struct learn_session *learn, enum terminal_style style, int indent, const char *message,
                         size_t size)
{
    const bool in_repository = strncmp(message, "exercises/", strlen("exercises/")) == 0;
    char line[LINE_SIZE];

    snprintf(line, sizeof line, "%s%.*s", in_repository ? learn->course_paths.root_prefix : "", (int)size, message);
    terminal_print_wrapped(&learn->terminal, style, indent, indent + 4, line);
}

/**
 * Returns the number of columns to omit from the lines of code at `line`, up to the next note, so that the caret is
 * visible in `width` columns.
 */
static size_t hidden_columns(const char *line, const char *end, size_t width)
{
    enum { MARGIN = 10 };

    for (size_t size; line < end && !diagnostics_is_note(line); line += size + 1) {
        const char *caret;

        size = strcspn(line, "\n");
        caret = memchr(line, '^', size);
        if (caret && memchr("^~", line[strspn(line, " |")], 2))
            return (size_t)(caret - line) + MARGIN < width ? 0 : (size_t)(caret - line) - width / 2;
    }
    return 0;
}

/** Shows a line of code, without the `hidden` columns after the line number that the compiler puts before it. */
static void show_code(const struct learn_session *learn, int indent, const char *line, size_t size, size_t hidden)
{
    const size_t number = strspn(line, " 0123456789|"), begin = number < 8 ? number : 8;
    size_t end = begin;
    char shown[LINE_SIZE];

    for (; hidden > 0 && end < size; hidden--)
        do
            end++;
        while (end < size && ((unsigned char)line[end] & 0xc0) == 0x80); /* the rest of a UTF-8 character */
    snprintf(shown, sizeof shown, "%.*s%.*s\n", (int)begin, line, (int)(size - end), line + end);
    terminal_print_code(&learn->terminal, indent, shown, strlen(shown));
}

/** Shows the first few lines after a diagnostic's first one: code, carets and notes. */
static void show_rest(const struct learn_session *learn, int indent, const struct diagnostic *diagnostic)
{
    const char *const end = diagnostic->following_lines +
                            first_lines(diagnostic->following_lines, diagnostic->following_lines_size);
    const size_t width = (size_t)(learn->terminal.num_columns - indent);
    size_t hidden = hidden_columns(diagnostic->following_lines, end, width);

    for (const char *line = diagnostic->following_lines; line < end; line += strcspn(line, "\n") + 1) {
        const size_t size = strcspn(line, "\n");

        if (!diagnostics_is_note(line)) {
            show_code(learn, indent, line, size, hidden);
            continue;
        }
        show_message(learn, STYLE_PLAIN, indent, line, size);
        hidden = hidden_columns(line + size + 1, end, width);
    }
}

/** Shows the first few errors or warnings, each with its source line, and says how many more there are. */
static void show_diagnostics(const struct learn_session *learn, int indent, const struct diagnostics *found,
                             size_t most, const char *word)
{
    for (size_t i = 0; i < found->num_found && i < most; i++) {
        show_message(learn, STYLE_STRONG, indent, found->first_diagnostics[i].first_line,
                     found->first_diagnostics[i].first_line_size);
        show_rest(learn, indent, &found->first_diagnostics[i]);
    }
    if (found->num_found > most)
        terminal_print(&learn->terminal, STYLE_PLAIN, "%zu more %s%s\n", found->num_found - most, word,
                       found->num_found - most == 1 ? "" : "s");
}

static void show_not_compiled(const struct learn_session *learn, const struct grading_result *graded)
{
    struct diagnostics errors;

    diagnostics_find(graded->messages, true, &errors);
    terminal_print(&learn->terminal, STYLE_BAD, "NOT COMPILED");
    if (errors.num_found > 0) {
        terminal_print(&learn->terminal, STYLE_PLAIN, ": %zu error%s\n", errors.num_found,
                       errors.num_found == 1 ? "" : "s");
        show_diagnostics(learn, 0, &errors, MAX_DIAGNOSTICS, "error");
        return;
    }
    fputc('\n', learn->terminal.stream);
    show_message(learn, STYLE_STRONG, 0, graded->messages, first_lines(graded->messages, strlen(graded->messages)));
}

static int count_case_passed(const struct verdict *verdict)
{
    int passed = 0;

    for (int i = 0; i < verdict->num_cases; i++)
        passed += verdict->cases[i].result == CASE_PASSED;
    return passed;
}

/**
 * Copies a text, replacing the full paths that the simulator prints with paths relative to the learner's directory.
 */
static void shorten_paths(const struct learn_session *learn, const char *text, char *shorter, size_t size)
{
    const char *const root = learn->course_paths.root;
    const size_t length = strlen(root);
    size_t used = 0;

    for (const char *found; used < size && (found = strstr(text, root)); text = found + length + (found[length] == '/'))
        used += (size_t)snprintf(shorter + used, size - used, "%.*s%s", (int)(found - text), text,
                                 found[length] == '/' ? learn->course_paths.root_prefix : root);
    if (used < size)
        snprintf(shorter + used, size - used, "%s", text);
}

/** Shows "NOT PASSED at equal_scores  (3 of 9 cases pass)" and the reason, in the task's terms. */
static void show_failure(const struct learn_session *learn, const struct verdict *verdict)
{
    char reason[LINE_SIZE];
    const char *advice;

    terminal_print(&learn->terminal, STYLE_BAD, "NOT PASSED");
    if (verdict->reason_case_name[0])
        terminal_print(&learn->terminal, STYLE_STRONG, " at %s", verdict->reason_case_name);
    if (verdict->num_planned_cases > 0)
        terminal_print(&learn->terminal, STYLE_PLAIN, "  (%d of %d cases pass)", count_case_passed(verdict),
                       verdict->num_planned_cases);
    fputc('\n', learn->terminal.stream);
    shorten_paths(learn, verdict->reason, reason, sizeof reason);
    advice = error_find_advice_separator_or_end(reason);
    if (*advice) {
        reason[advice - reason] = '\0';
        advice += strlen(ERROR_ADVICE_SEPARATOR);
    }
    terminal_print_wrapped(&learn->terminal, STYLE_PLAIN, 2, 4, reason);
    fputc('\n', learn->terminal.stream);
    if (*advice)
        labelled(learn, "try", "%s", advice);
}

/** Shows the names of the other cases that failed. */
static void show_others(const struct learn_session *learn, const struct verdict *verdict)
{
    char names[VERDICT_MAX_CASES * (VERDICT_NAME_SIZE + 2)] = "";
    size_t used = 0;

    for (int i = 0; i < verdict->num_cases; i++) {
        const struct verdict_case *const other = &verdict->cases[i];

        if (other->result == CASE_PASSED || strcmp(other->name, verdict->reason_case_name) == 0)
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", other->name);
    }
    if (names[0])
        labelled(learn, "also", "%s", names);
}

/** Shows each measured figure once: "shuffles 10, block barriers 2 to 3". */
static void show_measures(const struct learn_session *learn, const struct verdict *verdict)
{
    char text[LINE_SIZE] = "";
    size_t used = 0;

    for (int i = 0; i < verdict->num_measurements && used < sizeof text; i++) {
        const char *const name = verdict->measurements[i].name;
        double least = verdict->measurements[i].value, most = least;
        bool shown = false;

        for (int j = 0; j < verdict->num_measurements; j++) {
            const double value = verdict->measurements[j].value;

            if (strcmp(verdict->measurements[j].name, name) != 0)
                continue;
            shown |= j < i;
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
        if (shown)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %g", used ? ", " : "", name, least);
        if (most > least && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " to %g", most);
    }
    for (char *c = text; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    if (text[0])
        labelled(learn, "measured", "%s", text);
}

/** Shows the compiler's first warning, which often names the mistake in code that compiles. */
static void show_warnings(const struct learn_session *learn, const struct grading_result *graded)
{
    struct diagnostics warnings;

    diagnostics_find(graded->messages, false, &warnings);
    if (warnings.num_found == 0)
        return;
    terminal_print(&learn->terminal, STYLE_NOTE, "  The compiler warns:\n");
    show_diagnostics(learn, 4, &warnings, 1, "warning");
}

/** Shows the program's output, or names the option that shows it. */
static void show_output(const struct learn_session *learn, const struct grading_result *graded)
{
    const char *const output = graded->verdict ? graded->verdict->output : NULL;

    if (!output || !output[0])
        return;
    if (!graded->show_output) {
        labelled(learn, "printed", "%zu bytes; add --output to see them", strlen(output));
        return;
    }
    terminal_print(&learn->terminal, STYLE_NOTE, "  The program printed:\n");
    terminal_print_code(&learn->terminal, 4, output, strlen(output));
}

/** Shows the command that repeats the run, and where to find help. */
static void show_help(const struct learn_session *learn, const struct grading_result *graded)
{
    const struct exercise *const exercise = graded->exercise;
    const int count = count_hints(exercise);
    const int seen = entry_of(learn, exercise).num_hints_shown;
    char path[LEARN_PATH_SIZE];

    if (graded->verdict)
        labelled(learn, "repeat", "%s run %s --seed %" PRIu64 "%s", learn->program_path, exercise->name, graded->seed,
                 graded->on_gpu ? " --gpu" : "");
    learn_exercise_file_path(exercise, "README.md", path);
    labelled(learn, "task", "%s%s", learn->course_paths.root_prefix, path);
    if (seen < count)
        labelled(learn, "hint", "%s hint %s  (%d of %d seen)", learn->program_path, exercise->name, seen, count);
    else
        labelled(learn, "stuck", "%s solution %s", learn->program_path, exercise->name);
}

static void show_passed(const struct learn_session *learn, const struct grading_result *graded)
{
    terminal_print(&learn->terminal, STYLE_GOOD, "PASSED");
    terminal_print(&learn->terminal, STYLE_PLAIN, "  all %d cases%s\n", graded->verdict->num_planned_cases,
                   graded->on_gpu ? ", on the GPU" : "");
    show_measures(learn, graded->verdict);
    show_output(learn, graded);
    labelled(learn, "compare", "%s solution %s", learn->program_path, graded->exercise->name);
    if (!graded->is_watching && learn_current_exercise(learn))
        labelled(learn, "next", "%s next  (%s)", learn->program_path, learn_current_exercise(learn)->name);
    if (graded->on_gpu)
        labelled(learn, "note", "a GPU counts nothing, so this is not recorded; run it without --gpu too");
}

void show_grading_result(const struct learn_session *learn, const struct grading_result *graded)
{
    char path[LEARN_PATH_SIZE];

    learn_learner_file_path(graded->exercise, path);
    terminal_print(&learn->terminal, STYLE_NOTE, "%s%s", learn->course_paths.root_prefix, path);
    if (graded->verdict)
        terminal_print(&learn->terminal, STYLE_FAINT, "  seed %" PRIu64 ", %.1f s", graded->seed, graded->seconds);
    fputc('\n', learn->terminal.stream);
    if (graded->verdict && graded->verdict->has_passed) {
        show_passed(learn, graded);
        return;
    }
    if (graded->verdict) {
        show_failure(learn, graded->verdict);
        show_others(learn, graded->verdict);
        show_output(learn, graded);
        show_warnings(learn, graded);
    } else {
        show_not_compiled(learn, graded);
        fputc('\n', learn->terminal.stream);
    }
    show_help(learn, graded);
}
