#include "figure_timeline.h"

#include "svg.h"

#include <string.h>

enum { MAX_INTERVALS = 16, MAX_OPERATIONS = 1024, MAX_SNIPPETS = 7 };
enum { LEFT = 120, SPACE = 880, ROW = 26, BAR = 20, TOP = 84 };

/** One operation: whose snippet, and how many lanes take part. */
struct operation {
    unsigned char snippet, lanes;
};

/** What one warp does between two barriers. */
struct work {
    struct operation operation[MAX_OPERATIONS];
    int count;
};

struct timeline {
    const char *snippets[MAX_SNIPPETS];
    int num_snippets;
    struct work work[TRACE_MAX_WARPS][MAX_INTERVALS];
    int longest[MAX_INTERVALS];
    int intervals;
};

static const char *const colours[MAX_SNIPPETS] = {SVG_BLUE,   SVG_ORANGE, SVG_GREEN, SVG_VERMILLION,
                                                  SVG_PURPLE, SVG_SKY,    SVG_YELLOW};

/* --- following the trace ---------------------------------------------------------------------------------------------- */

/** The snippet's number; those past the last colour share it. */
static int snippet_number(struct timeline *timeline, const char *name)
{
    for (int i = 0; i < timeline->num_snippets; i++)
        if (strcmp(timeline->snippets[i], name) == 0)
            return i;
    if (timeline->num_snippets == MAX_SNIPPETS)
        return MAX_SNIPPETS - 1;
    timeline->snippets[timeline->num_snippets] = name;
    return timeline->num_snippets++;
}

static bool follow(const struct trace *trace, const struct source_text *source, struct timeline *timeline,
                   struct error *error)
{
    int past[TRACE_MAX_WARPS] = {0}; /* barriers that each warp has behind it */

    for (size_t i = 0; i < trace->num_events; i++) {
        const struct trace_event *const event = &trace->events[i];
        const int interval = past[event->warp];
        struct work *const work = &timeline->work[event->warp][interval];

        if (event->kind == TRACE_RETURN)
            continue;
        if (event->kind == TRACE_BLOCK_BARRIER) {
            past[event->warp]++;
            continue;
        }
        if (interval >= MAX_INTERVALS || work->count == MAX_OPERATIONS)
            return error_set(error, "%s: warp %d does more than a time line of %d intervals and %d operations can show",
                             trace->files[0], event->warp, MAX_INTERVALS, MAX_OPERATIONS);
        work->operation[work->count].snippet = (unsigned char)snippet_number(
            timeline, event->file == 0 ? source_snippet(source, event->line) : "");
        work->operation[work->count++].lanes = (unsigned char)__builtin_popcount(event->lanes);
        if (work->count > timeline->longest[interval])
            timeline->longest[interval] = work->count;
        if (interval >= timeline->intervals)
            timeline->intervals = interval + 1;
    }
    return timeline->intervals > 0 || error_set(error, "%s: no warp does anything", trace->files[0]);
}

static bool same_work(const struct timeline *timeline, int a, int b)
{
    for (int i = 0; i < timeline->intervals; i++) {
        const struct work *const x = &timeline->work[a][i], *const y = &timeline->work[b][i];

        if (x->count != y->count || memcmp(x->operation, y->operation, (size_t)x->count * sizeof *x->operation) != 0)
            return false;
    }
    return true;
}

/** The first warp behind `warp` that does something else. */
static int end_of_group(const struct timeline *timeline, int warps, int warp)
{
    int end = warp + 1;

    while (end < warps && same_work(timeline, warp, end))
        end++;
    return end;
}

/* --- drawing ---------------------------------------------------------------------------------------------------------- */

/** How wide an operation is, and where each interval begins. */
struct scale {
    double unit, begin[MAX_INTERVALS + 1];
};

static struct scale make_scale(const struct timeline *timeline)
{
    enum { ROOM = 66 }; /* between the intervals' work and for their names */
    struct scale scale = {.unit = 22};
    int total = 0;

    for (int i = 0; i < timeline->intervals; i++)
        total += timeline->longest[i];
    if (total * scale.unit > SPACE - ROOM * timeline->intervals)
        scale.unit = (double)(SPACE - ROOM * timeline->intervals) / total;
    scale.begin[0] = LEFT;
    for (int i = 0; i < timeline->intervals; i++)
        scale.begin[i + 1] = scale.begin[i] + timeline->longest[i] * scale.unit + ROOM;
    return scale;
}

static void draw_operations(FILE *out, const struct work *work, double x, double y, double unit)
{
    for (int first = 0, past; first < work->count; first = past) {
        const struct operation operation = work->operation[first];
        const double height = operation.lanes * (double)BAR / TRACE_LANES < 3 ? 3 : operation.lanes * (double)BAR / 32;

        for (past = first; past < work->count && memcmp(&work->operation[past], &operation, sizeof operation) == 0;)
            past++;
        svg_rectangle(out, x + first * unit, y + BAR - height, (past - first) * unit - (unit > 4 ? 1 : 0), height,
                      colours[operation.snippet], NULL);
    }
}

static void draw_warps(FILE *out, const struct timeline *timeline, const struct scale *scale, int first, int past,
                       double y)
{
    if (past - first == 1)
        svg_text(out, 14, y + 15, SVG_LEFT, "warp %d", first);
    else
        svg_text(out, 14, y + 15, SVG_LEFT, "warps %d to %d", first, past - 1);
    for (int i = 0; i < timeline->intervals; i++) {
        const struct work *const work = &timeline->work[first][i];
        const double begin = scale->begin[i] + 4, done = begin + work->count * scale->unit;
        const double barrier = scale->begin[i + 1] - 4;

        draw_operations(out, work, begin, y, scale->unit);
        if (i + 1 == timeline->intervals || work->count == timeline->longest[i]) /* the others wait for this one */
            continue;
        svg_rectangle(out, done, y + BAR - 3, barrier - done, 3, "#d8d8d3", NULL);
        if (barrier - done >= 40)
            svg_text(out, (done + barrier) / 2, y + BAR - 6, SVG_MIDDLE, "waits");
    }
}

static void draw_barriers(FILE *out, const struct timeline *timeline, const struct scale *scale, double bottom)
{
    for (int i = 1; i < timeline->intervals; i++) {
        svg_line(out, scale->begin[i], TOP - 14, scale->begin[i], bottom, "#1a1a1a", 2, 0);
        svg_text(out, scale->begin[i], TOP - 20, SVG_MIDDLE_STRONG, "barrier %d", i);
    }
}

static void draw_legend(FILE *out, const struct timeline *timeline, double y)
{
    double x = 14;

    for (int i = 0; i < timeline->num_snippets; i++) {
        const char *const name = timeline->snippets[i][0] ? timeline->snippets[i] : "outside snippets";

        svg_rectangle(out, x, y - 10, 14, 12, colours[i], NULL);
        svg_text(out, x + 20, y, SVG_LEFT, "%s", name);
        x += 44 + 8.0 * (double)strlen(name);
    }
    svg_text(
        out, 14, y + 22, SVG_LEFT,
        "A block is a shared or global access, an atomic or a shuffle; its height is how many of the 32 lanes take "
        "part. There is no time here, only what must wait for what.");
}

static void draw(FILE *out, const struct timeline *timeline, int warps, const char *title, const char *description)
{
    const struct scale scale = make_scale(timeline);
    int rows = 0;

    for (int warp = 0; warp < warps; warp = end_of_group(timeline, warps, warp))
        rows++;
    svg_begin(out, LEFT + SPACE + 20, TOP + ROW * rows + 64, title, description);
    svg_text(out, 14, 24, SVG_LEFT_STRONG, "%s", title);
    draw_barriers(out, timeline, &scale, TOP + ROW * rows + 4);
    for (int warp = 0, row = 0; warp < warps; row++) {
        const int past = end_of_group(timeline, warps, warp);

        draw_warps(out, timeline, &scale, warp, past, TOP + ROW * row);
        warp = past;
    }
    draw_legend(out, timeline, TOP + ROW * rows + 28);
    svg_end(out);
}

bool figure_timeline(FILE *out, const struct trace *trace, const struct source_text *source, const char *title,
                     const char *description, struct error *error)
{
    static struct timeline timeline; /* too large for some stacks */

    timeline = (struct timeline){0};
    if (!follow(trace, source, &timeline, error))
        return false;
    draw(out, &timeline, trace->warps, title, description);
    return true;
}
