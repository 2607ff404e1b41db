#include "word_diff.h"

#include "line_diff.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Marks say little in a line of which more than this share, in per cent, is marked. */
enum { MAX_MARKED = 70 };

/** A word or a sign, by where it stands in its file. Blanks are neither. */
struct piece {
    size_t start, length;
};

/** The pieces of some lines, and the file in which each has a line, for diff. */
struct pieces {
    struct piece *list;
    int count;
    char path[32];
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool add_piece(struct pieces *pieces, size_t start, size_t length)
{
    struct piece *const list = realloc(pieces->list, ((size_t)pieces->count + 1) * sizeof *list);

    if (!list)
        return false;
    pieces->list = list;
    list[pieces->count++] = (struct piece){start, length};
    return true;
}

static bool cut(const struct code_text *code, struct line_range range, struct pieces *pieces)
{
    const size_t end = code->starts[range.last] + code_text_length(code, range.last);
    bool good = true;

    for (size_t at = code->starts[range.first], length; good && at < end; at += length) {
        length = 1;
        while (is_word(code->text[at]) && at + length < end && is_word(code->text[at + length]))
            length++;
        if (!isspace((unsigned char)code->text[at]))
            good = add_piece(pieces, at, length);
    }
    return good;
}

static bool write_pieces(const struct code_text *code, struct pieces *pieces, struct error *error)
{
    strcpy(pieces->path, "/tmp/step_page.XXXXXX");

    const int descriptor = mkstemp(pieces->path);
    FILE *const file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;

    if (!file)
        return error_set(error, "%s: %s", pieces->path, strerror(errno));
    for (int i = 0; i < pieces->count; i++)
        fprintf(file, "%.*s\n", (int)pieces->list[i].length, code->text + pieces->list[i].start);

    const bool whole = !ferror(file);

    return (fclose(file) == 0 && whole) || error_set(error, "%s: it cannot be written", pieces->path);
}

static void mark(struct code_text *code, const struct pieces *pieces, int number)
{
    const struct piece *const piece = &pieces->list[number - 1];

    memset(code->marked + piece->start, true, piece->length);
}

/** Takes the marks from a line that has too many, and puts them on blanks between marked words in one that has not. */
static void tidy_line(struct code_text *code, int line)
{
    const size_t start = code->starts[line], end = start + code_text_length(code, line);
    size_t marked = 0, all = 0, last = end;

    for (size_t i = start; i < end; i++) {
        marked += code->marked[i];
        all += !isspace((unsigned char)code->text[i]);
    }
    if (marked * 100 > all * MAX_MARKED) {
        memset(code->marked + start, false, end - start);
        return;
    }
    for (size_t i = start; i < end; i++) {
        if (isspace((unsigned char)code->text[i]))
            continue;
        if (code->marked[i] && last < i && code->marked[last])
            memset(code->marked + last, true, i - last);
        last = i;
    }
}

static void tidy(struct code_text *code, struct line_range range)
{
    for (int line = range.first; line <= range.last; line++)
        tidy_line(code, line);
}

static bool compare(struct code_text *before, struct pieces *old, struct code_text *after, struct pieces *new,
                    struct error *error)
{
    struct line_diff diff;

    if (!write_pieces(before, old, error) || !write_pieces(after, new, error) ||
        !line_diff_run(old->path, new->path, &diff, error))
        return false;
    for (int i = 0; i < diff.num_lines; i++) {
        if (diff.lines[i].kind == '-')
            mark(before, old, diff.lines[i].before);
        else if (diff.lines[i].kind == '+')
            mark(after, new, diff.lines[i].after);
    }
    line_diff_free(&diff);
    return true;
}

static void free_pieces(struct pieces *pieces)
{
    if (*pieces->path)
        unlink(pieces->path);
    free(pieces->list);
}

bool word_diff_mark(struct code_text *before, struct line_range removed, struct code_text *after,
                    struct line_range added, struct error *error)
{
    struct pieces old = {0}, new = {0};
    bool good = true;

    if (removed.first > removed.last || added.first > added.last)
        return true;
    if (!cut(before, removed, &old) || !cut(after, added, &new))
        good = error_set(error, "out of memory");
    good = good && compare(before, &old, after, &new, error);
    free_pieces(&old);
    free_pieces(&new);
    if (good) {
        tidy(before, removed);
        tidy(after, added);
    }
    return good;
}
