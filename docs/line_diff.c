#include "line_diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { COMMAND_SIZE = 2048 };

static bool add_line(struct line_diff *diff, char kind, int *before, int *after)
{
    struct diff_line *line = realloc(diff->lines, ((size_t)diff->num_lines + 1) * sizeof *line);

    if (!line)
        return false;
    diff->lines = line;
    line += diff->num_lines++;
    *line = (struct diff_line){.kind = kind};
    if (kind != '+')
        line->before = ++*before;
    if (kind != '-')
        line->after = ++*after;
    return true;
}

/** Takes what `diff -U` prints of whole files: two lines of names, one that says which lines follow, and those. */
static bool read_lines(FILE *pipe, struct line_diff *diff)
{
    char *text = NULL;
    size_t room = 0;
    int before = 0, after = 0;
    bool good = true;

    for (int number = 1; getline(&text, &room, pipe) >= 0; number++)
        if (number > 3 && text[0] != '\\') /* "\ No newline at end of file" */
            good = good && add_line(diff, text[0], &before, &after);
    free(text);
    return good;
}

bool line_diff_run(const char *before, const char *after, struct line_diff *diff, struct error *error)
{
    char command[COMMAND_SIZE];
    FILE *pipe;

    *diff = (struct line_diff){0};
    if (strchr(before, '\'') || strchr(after, '\'') || strlen(before) + strlen(after) + 64 > sizeof command)
        return error_set(error, "%s, %s: a name too long for diff, or with a quotation mark", before, after);
    snprintf(command, sizeof command, "diff --minimal -U1000000 -- '%s' '%s'", before, after);
    pipe = popen(command, "r");
    if (!pipe)
        return error_set(error, "diff: %s", strerror(errno));

    const bool good = read_lines(pipe, diff);
    const int status = pclose(pipe);

    if (good && WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        return true;
    line_diff_free(diff);
    return error_set(error, "diff of %s and %s failed", before, after);
}

void line_diff_free(struct line_diff *diff)
{
    free(diff->lines);
    *diff = (struct line_diff){0};
}
