#include "figure_scan.h"

#include "figure_lanes.h"
#include "svg.h"

#include <string.h>

enum { STEPS = 5, WARPS = 2, TOP = 62, GAP = 30, SPACE = 40 };

/** One scan of a warp: its values before each step and after the last. */
struct warp_scan {
    uint32_t value[STEPS + 1][TRACE_LANES];
    int from[STEPS][TRACE_LANES];
};

struct two_levels {
    struct warp_scan warp[WARPS], sums;
    uint32_t before[WARPS]; /**< what lies before the warp: warp 0 has stored it */
    uint32_t begin[WARPS][TRACE_LANES];
};

/* --- following the trace ---------------------------------------------------------------------------------------------- */

/** The warp's next event of that kind from `*index` on, `*index` moved behind it; NULL if there is none. */
static const struct trace_event *next_event(const struct trace *trace, int warp, enum trace_kind kind, size_t *index)
{
    while (*index < trace->num_events) {
        const struct trace_event *const event = &trace->events[(*index)++];

        if (event->warp == warp && event->kind == kind)
            return event;
    }
    return NULL;
}

/** Follows the warp's next five shuffles. */
static bool follow_scan(const struct trace *trace, int warp, size_t *index, struct warp_scan *scan)
{
    for (int step = 0; step < STEPS; step++) {
        const struct trace_event *const event = next_event(trace, warp, TRACE_SHUFFLE, index);

        if (!event || strcmp(event->operation, "__shfl_up_sync") != 0 || event->lanes != UINT32_MAX)
            return false;
        for (int lane = 0; lane < TRACE_LANES; lane++) {
            const struct trace_lane *const cell = &event->lane[lane];

            scan->from[step][lane] = cell->from;
            scan->value[step][lane] = cell->word[0];
            scan->value[step + 1][lane] = cell->word[0] + (cell->from != lane ? cell->out[0] : 0);
        }
    }
    return true;
}

static uint32_t sum_before(const struct warp_scan *scan, int lane)
{
    return scan->value[STEPS][lane] - scan->value[0][lane];
}

/** The warp's sum goes to shared memory. */
static bool stores_sum(const struct trace *trace, int warp, size_t *index, const struct warp_scan *scan)
{
    const struct trace_event *const event = next_event(trace, warp, TRACE_SHARED_STORE, index);
    const int last = TRACE_LANES - 1;

    return event && event->lanes == UINT32_C(1) << last && event->lane[last].word[0] == scan->value[STEPS][last];
}

/** Every lane stores what lies before it in the block. */
static bool stores_begins(const struct trace *trace, int warp, size_t *index, struct two_levels *levels)
{
    const struct trace_event *const event = next_event(trace, warp, TRACE_SHARED_STORE, index);

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        if (!event || !(event->lanes >> lane & 1) ||
            event->lane[lane].word[0] != levels->before[warp] + sum_before(&levels->warp[warp], lane))
            return false;
        levels->begin[warp][lane] = event->lane[lane].word[0];
    }
    return true;
}

static bool follow(const struct trace *trace, struct two_levels *levels)
{
    size_t index[WARPS] = {0};
    const struct trace_event *event;

    for (int warp = 0; warp < WARPS; warp++)
        if (!follow_scan(trace, warp, &index[warp], &levels->warp[warp]) ||
            !stores_sum(trace, warp, &index[warp], &levels->warp[warp]))
            return false;
    if (!follow_scan(trace, 0, &index[0], &levels->sums))
        return false;
    event = next_event(trace, 0, TRACE_SHARED_STORE, &index[0]);
    for (int warp = 0; warp < WARPS; warp++) {
        levels->before[warp] = sum_before(&levels->sums, warp);
        if (!event || event->lane[warp].word[0] != levels->before[warp])
            return false;
    }
    for (int warp = 0; warp < WARPS; warp++)
        if (!stores_begins(trace, warp, &index[warp], levels))
            return false;
    return true;
}

/* --- drawing ---------------------------------------------------------------------------------------------------------- */

/** The first `lanes` of a row of numbers, all in one shade. */
static struct lanes_row number_row(const uint32_t *values, int lanes, int shade)
{
    struct lanes_row row = {0};

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        row.shade[lane] = lane < lanes ? shade : -1;
        if (lane < lanes)
            snprintf(row.text[lane], LANES_CELL_TEXT, "%d", (int)values[lane]);
    }
    return row;
}

static double draw_scan(FILE *out, double y, int warp, const struct warp_scan *scan)
{
    char label[TRACE_TEXT_SIZE];

    snprintf(label, sizeof label, "warp %d: counts", warp);
    for (int step = 0; step <= STEPS; step++, y += LANES_ROW + GAP) {
        struct lanes_row row = number_row(scan->value[step], TRACE_LANES, 0);
        struct lanes_step lines = {.width = 0.9};

        if (step == STEPS)
            row.shade[TRACE_LANES - 1] = LANES_SHADES - 1;
        lanes_row_write(out, y, step == 0 ? label : step == STEPS ? "sums to this lane" : "", &row);
        if (step == STEPS)
            continue;
        for (int lane = 0; lane < TRACE_LANES; lane++) {
            lines.from[lane] = scan->from[step][lane];
            lines.shown[lane] = lines.taken[lane] = lines.from[lane] != lane;
        }
        lanes_step_write(out, y + LANES_ROW, GAP, &lines);
        svg_text(out, 12, y + LANES_ROW + GAP / 2 + 4, SVG_LEFT, "adds lane - %d", 1 << step);
    }
    return y - GAP;
}

static double draw_sums(FILE *out, double y, const struct two_levels *levels)
{
    const struct lanes_row sums = number_row(levels->sums.value[0], WARPS, LANES_SHADES - 1);
    const struct lanes_row before = number_row(levels->before, WARPS, 3);

    svg_text(out, 12, y, SVG_LEFT_STRONG, "A barrier; then warp 0 adds up the sums of the warps the same way:");
    lanes_row_write(out, y + 10, "sums of the warps", &sums);
    lanes_row_write(out, y + 14 + LANES_ROW, "before each warp", &before);
    return y + 14 + 2 * LANES_ROW;
}

static double draw_begins(FILE *out, double y, const struct two_levels *levels)
{
    svg_text(out, 12, y, SVG_LEFT_STRONG,
             "A barrier; then every lane adds what lies before its warp to what lies before it in the warp:");
    for (int warp = 0; warp < WARPS; warp++) {
        const struct lanes_row row = number_row(levels->begin[warp], TRACE_LANES, 3);
        char label[TRACE_TEXT_SIZE];

        snprintf(label, sizeof label, "warp %d: before it", warp);
        lanes_row_write(out, y + 10 + (LANES_ROW + 4) * warp, label, &row);
    }
    return y + 10 + (LANES_ROW + 4) * WARPS;
}

static void draw(FILE *out, const struct two_levels *levels)
{
    static const char *const title = "What lies before each of 64 experts: two warps, then their sums";
    const double scan_height = (STEPS + 1) * LANES_ROW + STEPS * GAP;
    const int height = (int)(TOP + 2 * scan_height + 2 * SPACE + 14 + 2 * LANES_ROW + 10 + (LANES_ROW + 4) * WARPS);
    double y;

    svg_begin(
        out, lanes_picture_width(), height, title,
        "Thirty-two lanes in columns. In five steps every lane of a warp adds what the lane 1, 2, 4, 8 and 16 below "
        "it holds, so that it ends with the sum up to itself. The last lane of each warp stores the warp's sum. Warp "
        "0 does the same with these sums. In the end every lane has the sum of all counts before its own.");
    svg_text(out, 12, 22, SVG_LEFT_STRONG, "%s", title);
    lanes_numbers(out, TOP - 10);
    y = draw_scan(out, TOP, 0, &levels->warp[0]);
    y = draw_scan(out, y + SPACE / 2.0, 1, &levels->warp[1]);
    y = draw_sums(out, y + SPACE / 1.5, levels);
    draw_begins(out, y + SPACE / 1.5, levels);
    svg_end(out);
}

bool figure_scan(FILE *out, const struct trace *trace, struct error *error)
{
    struct two_levels levels;

    if (trace->warps < WARPS || !follow(trace, &levels))
        return error_set(error, "%s: its first two warps do not add up in two levels of five shuffles",
                         trace->files[0]);
    draw(out, &levels);
    return true;
}
