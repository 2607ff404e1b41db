#include "diagnostics.h"

#include <string.h>

enum kind { OTHER, CONTEXT, WARNING, ERROR };

static bool has(const char *line, size_t size, const char *words)
{
    return memmem(line, size, words, strlen(words));
}

/**
 * Returns the kind of message that begins with this line. Lines such as "In function ..." precede an error or a warning
 * and are CONTEXT, because they add no information.
 */
static enum kind kind_of(const char *line, size_t size)
{
    if (has(line, size, ": error: ") || has(line, size, ": fatal error: ") ||
        has(line, size, ": undefined reference to "))
        return has(line, size, "collect2: ") ? CONTEXT : ERROR;
    if (has(line, size, ": warning: "))
        return WARNING;
    if (has(line, size, ": In ") || has(line, size, ": in function ") || has(line, size, ": At global scope") ||
        has(line, size, "In file included from ") || has(line, size, "compilation terminated"))
        return CONTEXT;
    return OTHER;
}

bool diagnostics_is_note(const char *line)
{
    return has(line, strcspn(line, "\n"), ": note: ");
}

void diagnostics_find(const char *messages, bool find_errors, struct diagnostics *found)
{
    const enum kind wanted = find_errors ? ERROR : WARNING;
    struct diagnostic *open = NULL; /* the diagnostic that the lines belong to */
    const char *last = NULL;        /* the last line that began a diagnostic; gcc prints some of them twice */

    found->num_found = 0;
    for (const char *line = messages; *line;) {
        const size_t size = strcspn(line, "\n");
        const size_t whole = size + (line[size] == '\n');
        const enum kind kind = kind_of(line, size);

        if (kind != OTHER)
            open = NULL;
        const bool again = kind == wanted && last && strncmp(last, line, whole) == 0;

        if (kind == wanted)
            last = line;
        if (kind == wanted && !again && found->num_found++ < MAX_DIAGNOSTICS) {
            open = &found->first_diagnostics[found->num_found - 1];
            *open = (struct diagnostic){line, size, line + whole, 0};
        } else if (open) {
            open->following_lines_size += whole;
        }
        line += whole;
    }
}
