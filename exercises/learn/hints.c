#include "hints.h"

#include "learner_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** Returns the start of the next line, or the end of the text. */
static char *next_line(char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/** Removes trailing white space from the text. Returns the text's first non-blank line. */
static char *without_blanks(char *text)
{
    size_t length = strlen(text);

    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    for (size_t blank; blank = strspn(text, " \t"), text[blank] == '\n';)
        text += blank + 1;
    return text;
}

/** Checks whether the line is "## N". */
static bool is_heading(const char *line, int number)
{
    char *end;

    return strncmp(line, "## ", 3) == 0 && isdigit((unsigned char)line[3]) && strtol(line + 3, &end, 10) == number &&
           end[strspn(end, " \t\r")] == '\n';
}

/** Checks whether a line of Markdown ends a paragraph: it is empty, or begins a list item, code or a fence. */
static bool begins_anew(const char *line)
{
    return line[0] == '\n' || line[0] == '\0' || line[0] == '-' || line[0] == '*' || isdigit((unsigned char)line[0]) ||
           strncmp(line, "    ", 4) == 0 || strncmp(line, "```", 3) == 0;
}

/** Joins the lines of each Markdown paragraph into one line; leaves code unchanged. */
static void join_paragraphs(char *text)
{
    bool fenced = false;

    for (char *line = text, *next; *line; line = next) {
        next = next_line(line);
        if (strncmp(line, "```", 3) == 0)
            fenced = !fenced;
        else if (!fenced && !begins_anew(next) && line[0] != '\n' && strncmp(line, "    ", 4) != 0)
            next[-1] = ' ';
    }
}

/** Splits the text into hints. Returns false if the headings are not numbered consecutively or a hint is empty. */
static bool cut_steps(struct hints *hints)
{
    char *next;

    for (char *line = hints->text; *line; line = next) {
        next = next_line(line);
        if (strncmp(line, "## ", 3) != 0)
            continue;
        if (hints->num_hints == MAX_HINTS || !is_heading(line, hints->num_hints + 1))
            return false;
        *line = '\0'; /* ends the previous hint */
        hints->hint[hints->num_hints++] = next;
    }
    for (int i = 0; i < hints->num_hints; i++) {
        hints->hint[i] = without_blanks(hints->hint[i]);
        if (!hints->hint[i][0])
            return false;
        join_paragraphs(hints->hint[i]);
    }
    return hints->num_hints > 0;
}

bool hints_read(const char *path, struct hints *hints, struct error *error)
{
    *hints = (struct hints){0};
    if (!text_file_read(path, &hints->text, error))
        return false;
    if (cut_steps(hints))
        return true;
    hints_free(hints);
    return error_set(error, "%s: hints stand under lines '## 1', '## 2', ... up to %d", path, MAX_HINTS);
}

void hints_free(struct hints *hints)
{
    free(hints->text);
    *hints = (struct hints){0};
}
