#include "plot_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Numbers of line styles in docs/plots/common.gnuplot. Chapters have their place in their part, 1 to 5. */
enum { STYLE_CHAPTERS = 5, STYLE_HOST = 6, STYLE_LIBRARY = 7, STYLE_FLOOR = 9 };

enum { FEW = 1, MANY = 65536, LABELS_HIGH = 25 };

/** "02_warp_per_group" as words; other labels as they are. */
static void write_label(FILE *out, const struct times_line *line, char quote)
{
    char label[TIMES_NAME_SIZE];

    snprintf(label, sizeof label, "%s", line->label);
    for (char *at = label; *at; at++)
        if (*at == '_')
            *at = ' ';
    plot_write_quoted(out, label, quote);
}

static int style_of(const struct times_lines *lines, int i)
{
    const struct times_line *const line = &lines->lines[i];

    switch (line->kind) {
    case TIMES_LIBRARY:
        return STYLE_LIBRARY + (i > 0);
    case TIMES_HOST:
        return STYLE_HOST;
    case TIMES_FLOOR:
        return STYLE_FLOOR;
    default:
        return (atoi(line->label) + STYLE_CHAPTERS - 1) % STYLE_CHAPTERS + 1;
    }
}

/** Writes the lines that a plot has below it: the machine and the day, then which lines are of older sources. */
static void write_footer(FILE *out, const struct times_lines *all[], int count)
{
    char old[PLOT_TEXT_SIZE] = "";

    plot_write_text(out, "source", all[0]->source);
    for (int part = 0; part < count; part++)
        for (int i = 0; i < all[part]->num_lines; i++) {
            const struct times_line *const line = &all[part]->lines[i];
            const size_t length = strlen(old);

            if (line->old && line->kind != TIMES_FLOOR && line->kind != TIMES_HOST)
                snprintf(old + length, sizeof old - length, "%s%s",
                         length ? ", " : "Recorded from an older kernel: ", line->label);
        }
    plot_write_text(out, "old", old);
}

/* --- times against tokens --------------------------------------------------------------------------------------------- */

static double last_us(const struct times_line *line)
{
    return line->points[line->num_points - 1].us;
}

static void find_range(const struct times_lines *lines, double *low, double *high)
{
    *low = *high = lines->lines[0].points[0].us;
    for (int i = 0; i < lines->num_lines; i++)
        for (int j = 0; j < lines->lines[i].num_points; j++) {
            *low = fmin(*low, lines->lines[i].points[j].us);
            *high = fmax(*high, lines->lines[i].points[j].us);
        }
    *low *= 0.8;
    *high *= 1.25;
}

/**
 * Puts each line's label at its end, and labels that would lie on each other apart: from the lowest up, each at least a
 * line of text above the one below; then what moved as one goes down by half of what its highest was moved.
 */
static void place_labels(const struct times_lines *lines, double low, double high, double at[TIMES_MAX_LINES])
{
    const double gap = log(high / low) / LABELS_HIGH;
    int order[TIMES_MAX_LINES];

    for (int i = 0; i < lines->num_lines; i++) {
        int j = i;

        for (; j > 0 && last_us(&lines->lines[order[j - 1]]) > last_us(&lines->lines[i]); j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    for (int i = 0, first = 0; i < lines->num_lines; i++) {
        const double own = log(last_us(&lines->lines[order[i]]));
        const double below = i > 0 ? at[order[i - 1]] + gap : own;

        at[order[i]] = fmax(own, below);
        if (own >= below)
            first = i;
        if (i + 1 == lines->num_lines || log(last_us(&lines->lines[order[i + 1]])) >= at[order[i]] + gap) {
            const double room = first > 0 ? at[order[first]] - at[order[first - 1]] - gap : gap;
            const double down = fmin(room, (at[order[i]] - own) / 2.0);

            for (int j = first; j <= i; j++)
                at[order[j]] -= down;
        }
    }
    for (int i = 0; i < lines->num_lines; i++)
        at[i] = exp(at[i]);
}

static void describe_times(FILE *out, const struct times_request *request, const struct times_lines *lines)
{
    const struct times_line *const last = &lines->lines[lines->num_lines - 2], *const library = &lines->lines[0];
    char here[2][TIMES_US_SIZE], there[2][TIMES_US_SIZE];

    plot_write_description(out,
                           "Microseconds per call against the number of tokens, both axes logarithmic, for %s. From %d "
                           "to %d tokens %s goes "
                           "from %s to %s us, %s from %s to %s us.",
                           request->align ? "align" : "the gate", last->points[0].num_tokens,
                           last->points[last->num_points - 1].num_tokens, library->label,
                           times_format(library->points[0].us, there[0]), times_format(last_us(library), there[1]),
                           last->label, times_format(last->points[0].us, here[0]),
                           times_format(last_us(last), here[1]));
}

static void write_lines(FILE *out, const struct times_lines *lines)
{
    double low, high, at[TIMES_MAX_LINES] = {0};

    find_range(lines, &low, &high);
    place_labels(lines, low, high, at);
    fprintf(out, "low = %.4g\nhigh = %.4g\nnum_lines = %d\n", low, high, lines->num_lines);
    fprintf(out, "array style[%d]\narray label[%d]\narray label_at[%d]\narray last[%d]\n", lines->num_lines,
            lines->num_lines, lines->num_lines, lines->num_lines);
    for (int i = 0; i < lines->num_lines; i++) {
        const struct times_line *const line = &lines->lines[i];

        fprintf(out, "style[%d] = %d; label_at[%d] = %.6g; last[%d] = %.10g; label[%d] = ", i + 1, style_of(lines, i),
                i + 1, at[i], i + 1, last_us(line), i + 1);
        write_label(out, line, '\'');
        fputs("\n", out);
    }
    fputs("$times << END\n", out);
    for (int i = 0; i < lines->num_lines; i++) {
        fprintf(out, "%s# %s\n", i > 0 ? "\n\n" : "", lines->lines[i].label);
        for (int j = 0; j < lines->lines[i].num_points; j++)
            fprintf(out, "%d %.10g\n", lines->lines[i].points[j].num_tokens, lines->lines[i].points[j].us);
    }
    fputs("END\n", out);
}

bool plot_times(FILE *out, const struct times_origin *origin, char *words, struct error *error)
{
    static struct times_lines lines;
    struct times_request request;

    if (!times_parse(words, origin, &request, error) || !times_read_lines(origin, &request, &lines, error))
        return false;
    describe_times(out, &request, &lines);
    write_footer(out, (const struct times_lines *[]){&lines}, 1);
    write_lines(out, &lines);
    return true;
}

/* --- times for few and for many tokens -------------------------------------------------------------------------------- */

static double us_of(const struct times_line *line, int num_tokens)
{
    for (int i = 0; i < line->num_points; i++)
        if (line->points[i].num_tokens == num_tokens)
            return line->points[i].us;
    return 0.0;
}

/** A row for each line but PyTorch's eager one: its place from above, both times and how they read. */
static bool write_rows(FILE *out, const struct times_lines *lines, struct error *error)
{
    for (int i = 0, row = 0; i < lines->num_lines; i++) {
        const struct times_line *const line = &lines->lines[i];
        const double few = us_of(line, FEW), many = us_of(line, MANY);
        char text[2][TIMES_US_SIZE];

        if (i == 0 && lines->lines[1].kind == TIMES_LIBRARY)
            continue;
        if (few == 0.0 || many == 0.0)
            return error_set(error, "%s: no time of %d tokens in its rows", line->label, few == 0.0 ? FEW : MANY);
        fprintf(out, "%d %.10g %.10g %d ", row++, few, many, style_of(lines, i));
        write_label(out, line, '"');
        fprintf(out, " \"%s\" \"%s\"\n", times_format(few, text[0]), times_format(many, text[1]));
    }
    return true;
}

static bool read_part(const struct times_origin *origin, char *words, bool align, struct times_lines *lines,
                      struct error *error)
{
    struct times_request request;

    if (!times_parse(words, origin, &request, error))
        return false;
    if (request.align != align)
        return error_set(error, "results are of the gate first, then of align");
    return times_read_lines(origin, &request, lines, error);
}

/** The least time for so many tokens of any chapter on a GPU. */
static double least_us(const struct times_lines *lines, int num_tokens)
{
    double least = INFINITY;

    for (int i = 0; i < lines->num_lines; i++)
        if (lines->lines[i].kind == TIMES_CHAPTER)
            least = fmin(least, us_of(&lines->lines[i], num_tokens));
    return least;
}

static void describe_results(FILE *out, const struct times_lines *gate, const struct times_lines *align)
{
    const struct times_line *const pytorch = &gate->lines[1], *const cub = &align->lines[0];
    char text[8][TIMES_US_SIZE];

    plot_write_description(
        out,
        "Microseconds per call, chapter by chapter, on a logarithmic axis. The gate: compiled PyTorch %s us for 1 "
        "token "
        "and %s for 65536; the fastest chapter %s and %s. Align: CUB's radix sort %s and %s; the fastest chapter "
        "%s and %s.",
        times_format(us_of(pytorch, FEW), text[0]), times_format(us_of(pytorch, MANY), text[1]),
        times_format(least_us(gate, FEW), text[2]), times_format(least_us(gate, MANY), text[3]),
        times_format(us_of(cub, FEW), text[4]), times_format(us_of(cub, MANY), text[5]),
        times_format(least_us(align, FEW), text[6]), times_format(least_us(align, MANY), text[7]));
}

bool plot_results(FILE *out, const struct times_origin *origin, char *gate_words, char *align_words,
                  struct error *error)
{
    static struct times_lines gate, align;

    if (!read_part(origin, gate_words, false, &gate, error) || !read_part(origin, align_words, true, &align, error))
        return false;
    describe_results(out, &gate, &align);
    write_footer(out, (const struct times_lines *[]){&gate, &align}, 2);
    fprintf(out, "num_gate = %d\nnum_align = %d\n$results << END\n", gate.num_lines - 1, align.num_lines);
    if (!write_rows(out, &gate, error))
        return false;
    fputs("\n\n", out);
    if (!write_rows(out, &align, error))
        return false;
    fputs("END\n", out);
    return true;
}
