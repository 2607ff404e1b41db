#include "step_code.h"

#include "code_text.h"
#include "line_diff.h"
#include "source_text.h"
#include "word_diff.h"

#include <string.h>

/** How many unchanged lines are shown beside a change, and how many at least are worth folding away. */
enum { CONTEXT = 3, LEAST_FOLDED = 4 };

/** Both sides and what is different. */
struct both {
    struct code_text before, after;
    struct line_diff diff;
};

/* --- a table's parts -------------------------------------------------------------------------------------------------- */

static void write_side_head(FILE *out, const struct step_side *side)
{
    const char *const slash = strrchr(side->path, '/');

    fprintf(out,
            "<th scope=\"col\" class=\"n\" role=\"columnheader\">line</th>"
            "<th scope=\"col\" role=\"columnheader\">%s: <a href=\"%s\">%s</a></th>",
            side->title, side->url, slash ? slash + 1 : side->path);
}

/* A narrow page shows one side below the other by taking the table's own layout away, and with it, in browsers, its roles. */
static void begin_table(FILE *out, const struct step_side *before, const struct step_side *after, const char *caption)
{
    fprintf(out, "<table class=\"diff\" role=\"table\">\n<caption>%s</caption>\n", caption);
    fputs("<thead role=\"rowgroup\"><tr role=\"row\">", out);
    write_side_head(out, before);
    write_side_head(out, after);
    fputs("</tr></thead>\n", out);
}

/** A side of a row: its number and its code, or nothing. `kind` is '-', '+' or ' '. */
static void write_cell(FILE *out, const struct code_text *code, int line, const char *side, char kind)
{
    const char *const look = line == 0 ? " none" : kind == '-' ? " removed" : kind == '+' ? " added" : "";

    fprintf(out, "<td class=\"n %s%s\" role=\"cell\">", side, look);
    if (line > 0)
        fprintf(out, "%d", line);
    fprintf(out, "</td><td class=\"%s%s\" role=\"cell\">", side, look);
    if (line > 0) {
        fprintf(out, "<code><span class=\"sign\">%c</span>", kind);
        code_text_write(out, code, line);
        fputs("</code>", out);
    }
    fputs("</td>", out);
}

static void write_row(FILE *out, const struct both *both, int before, int after, bool changed)
{
    fputs("<tr role=\"row\">", out);
    write_cell(out, &both->before, before, "before", changed ? '-' : ' ');
    write_cell(out, &both->after, after, "after", changed ? '+' : ' ');
    fputs("</tr>\n", out);
}

static void begin_group(FILE *out, const char *class)
{
    fprintf(out, "<tbody class=\"%s\" role=\"rowgroup\">\n", class);
}

/* --- a difference ----------------------------------------------------------------------------------------------------- */

static void write_same(FILE *out, const struct both *both, int first, int end)
{
    if (first >= end)
        return;
    begin_group(out, "same");
    for (int i = first; i < end; i++)
        write_row(out, both, both->diff.lines[i].before, both->diff.lines[i].after, false);
    fputs("</tbody>\n", out);
}

static void write_folded(FILE *out, const struct both *both, int first, int end)
{
    begin_group(out, "folded");
    fprintf(out,
            "<tr role=\"row\"><td colspan=\"4\" role=\"cell\"><details><summary>%d lines unchanged</summary>"
            "<pre tabindex=\"0\">",
            end - first);
    for (int i = first; i < end; i++) {
        fprintf(out, "<span class=\"line\"><span class=\"n\">%d</span>", both->diff.lines[i].after);
        code_text_write(out, &both->after, both->diff.lines[i].after);
        fputs("\n</span>", out);
    }
    fputs("</pre></details></td></tr>\n</tbody>\n", out);
}

/** Lines `first` to `end` of the difference, which both files have. At the file's ends there is no change to be beside. */
static void write_stretch(FILE *out, const struct both *both, int first, int end)
{
    const int head = first > 0 ? CONTEXT : 0, tail = end < both->diff.num_lines ? CONTEXT : 0;

    if (end - first < head + tail + LEAST_FOLDED) {
        write_same(out, both, first, end);
        return;
    }
    write_same(out, both, first, first + head);
    write_folded(out, both, first + head, end - tail);
    write_same(out, both, end - tail, end);
}

/** The lines of one kind among `first` to `end`, which follow one another; from 1 to 0 if there are none. */
static struct line_range range_of(const struct line_diff *diff, int first, int end, char kind)
{
    struct line_range range = {1, 0};

    for (int i = first; i < end; i++) {
        const int line = kind == '-' ? diff->lines[i].before : diff->lines[i].after;

        if (diff->lines[i].kind != kind)
            continue;
        range.first = range.first > range.last ? line : range.first;
        range.last = line;
    }
    return range;
}

static bool write_change(FILE *out, struct both *both, int first, int end, struct error *error)
{
    const struct line_range removed = range_of(&both->diff, first, end, '-');
    const struct line_range added = range_of(&both->diff, first, end, '+');

    if (!word_diff_mark(&both->before, removed, &both->after, added, error))
        return false;
    begin_group(out, "change");
    for (int i = 0; removed.first + i <= removed.last || added.first + i <= added.last; i++)
        write_row(out, both, removed.first + i <= removed.last ? removed.first + i : 0,
                  added.first + i <= added.last ? added.first + i : 0, true);
    fputs("</tbody>\n", out);
    return true;
}

static bool write_diff(FILE *out, struct both *both, struct error *error)
{
    const struct line_diff *const diff = &both->diff;

    for (int first = 0, end; first < diff->num_lines; first = end) {
        const bool same = diff->lines[first].kind == ' ';

        end = first;
        while (end < diff->num_lines && (diff->lines[end].kind == ' ') == same)
            end++;
        if (same)
            write_stretch(out, both, first, end);
        else if (!write_change(out, both, first, end, error))
            return false;
    }
    return true;
}

/* --- files ------------------------------------------------------------------------------------------------------------ */

static void free_both(struct both *both)
{
    code_text_free(&both->before);
    code_text_free(&both->after);
    line_diff_free(&both->diff);
}

static bool read_both(const char *before, const char *after, struct both *both, struct error *error)
{
    *both = (struct both){0};
    if (code_text_read(before, &both->before, error) && code_text_read(after, &both->after, error))
        return true;
    free_both(both);
    return false;
}

bool step_code_write_diff(FILE *out, const struct step_side *before, const struct step_side *after, struct error *error)
{
    struct both both;
    bool good;

    if (!read_both(before->path, after->path, &both, error))
        return false;
    good = line_diff_run(before->path, after->path, &both.diff, error);
    if (good && both.diff.num_lines == 0)
        good = error_set(error, "%s and %s are the same", before->path, after->path);
    if (good) {
        begin_table(out, before, after,
                    "Removed lines bear a minus and stand on the left, added ones a plus, on the right");
        good = write_diff(out, &both, error);
        fputs("</table>\n", out);
    }
    free_both(&both);
    return good;
}

/* --- pairs ------------------------------------------------------------------------------------------------------------ */

/** The lines between the first two that name the tag. */
static bool find_tag(const char *path, const struct source_text *source, const char *tag, struct line_range *range,
                     struct error *error)
{
    *range = (struct line_range){0, 0};
    for (int line = 1; line <= source->num_lines; line++)
        if (strcmp(source_snippet(source, line), tag) == 0) {
            range->first = range->first ? range->first : line + 1; /* the marker's own line is the first in it */
            range->last = line;
        }
    return (range->first > 0 && range->first <= range->last) ||
           error_set(error, "%s: it has no lines between two [%s]", path, tag);
}

static void write_pair(FILE *out, const struct both *both, const char *what, struct line_range before,
                       struct line_range after)
{
    begin_group(out, "pair");
    fprintf(out, "<tr role=\"row\"><th colspan=\"4\" scope=\"rowgroup\" role=\"rowheader\">%s</th></tr>\n", what);
    fputs("</tbody>\n", out);
    begin_group(out, "counterparts");
    for (int i = 0; before.first + i <= before.last || after.first + i <= after.last; i++)
        write_row(out, both, before.first + i <= before.last ? before.first + i : 0,
                  after.first + i <= after.last ? after.first + i : 0, false);
    fputs("</tbody>\n", out);
}

static bool write_pairs(FILE *out, const struct step_side *before, const struct step_side *after,
                        const struct step_pair *pairs, int num_pairs, struct error *error)
{
    struct source_text old, new;
    struct both both;
    bool good = true;

    if (!source_text_read(before->path, &old, error))
        return false;
    if (!source_text_read(after->path, &new, error)) {
        source_text_free(&old);
        return false;
    }
    if (read_both(before->path, after->path, &both, error)) {
        for (int i = 0; good && i < num_pairs; i++) {
            struct line_range left, right;

            good = find_tag(before->path, &old, pairs[i].before, &left, error) &&
                   find_tag(after->path, &new, pairs[i].after, &right, error);
            if (good)
                write_pair(out, &both, pairs[i].what, left, right);
        }
        free_both(&both);
    } else {
        good = false;
    }
    source_text_free(&old);
    source_text_free(&new);
    return good;
}

bool step_code_write_pairs(FILE *out, const struct step_side *before, const struct step_side *after,
                           const struct step_pair *pairs, int num_pairs, struct error *error)
{
    begin_table(out, before, after, "What does the same before and after");
    if (!write_pairs(out, before, after, pairs, num_pairs, error))
        return false;
    fputs("</table>\n", out);
    return true;
}
