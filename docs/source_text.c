#include "source_text.h"

#include "text_file.h"

#include "harness/core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Snippets that are open, the innermost last. */
struct open_snippets {
    char name[SNIPPET_MAX_NESTED][SNIPPET_NAME_SIZE];
    int count;
};

/** A marker opens its snippet, or closes it if it is the innermost that is open. */
static void note_marker(const char *text, struct open_snippets *open)
{
    char name[SNIPPET_NAME_SIZE];
    int length = 0;

    if (sscanf(text, " // [%47[a-z0-9_]]%n", name, &length) != 1 || length == 0 || text[length] != '\0')
        return;
    if (open->count > 0 && strcmp(open->name[open->count - 1], name) == 0)
        open->count--;
    else if (open->count < SNIPPET_MAX_NESTED)
        strcpy(open->name[open->count++], name);
}

static void cut_lines(struct source_text *source)
{
    struct open_snippets open = {0};
    char *rest = source->text;

    for (int i = 0; i < source->num_lines; i++) {
        struct source_line *const line = &source->lines[i];

        line->text = text_line(&rest);
        note_marker(line->text, &open);
        strcpy(line->snippet, open.count > 0 ? open.name[open.count - 1] : "");
    }
}

/** How often text_line() will find one. */
static int count_lines(const char *text)
{
    int count = 0;

    for (; *text; count++) {
        const char *const end = strchr(text, '\n');

        text = end ? end + 1 : text + strlen(text);
    }
    return count;
}

bool source_text_read(const char *path, struct source_text *source, struct error *error)
{
    void *memory;

    source->text = text_file_read(path, error);
    if (!source->text)
        return false;
    source->num_lines = count_lines(source->text);
    if (!memory_allocate(&memory, (size_t)source->num_lines * sizeof *source->lines + 1, error)) {
        free(source->text);
        return false;
    }
    source->lines = memory;
    cut_lines(source);
    return true;
}

void source_text_free(struct source_text *source)
{
    free(source->lines);
    free(source->text);
    *source = (struct source_text){0};
}

const char *source_snippet(const struct source_text *source, int line)
{
    return line >= 1 && line <= source->num_lines ? source->lines[line - 1].snippet : "";
}
