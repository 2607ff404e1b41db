#include "figure_split.h"

#include "figure_exchange.h"
#include "figure_lanes.h"
#include "svg.h"

#include <string.h>

enum { STEPS = 5, TOP = 52, PITCH = LANES_ROW + 5, PART = 34, RUNS = 3, WAITS = 0 };

static const struct exchange_request request = {
    .snippet = "warp_best", .first_distance = TRACE_LANES / 2, .steps = STEPS, .lanes_together = TRACE_LANES};

static int count_taken(const bool taken[TRACE_LANES])
{
    int count = 0;

    for (int lane = 0; lane < TRACE_LANES; lane++)
        count += taken[lane];
    return count;
}

/** A row for each step; where lanes part, those that do not take have nothing to run. */
static void draw_steps(FILE *out, double y, bool part, const bool taken[STEPS][TRACE_LANES])
{
    for (int step = 0; step < STEPS; step++, y += PITCH) {
        struct lanes_row row;
        char label[TRACE_TEXT_SIZE];

        for (int lane = 0; lane < TRACE_LANES; lane++) {
            const bool runs = taken[step][lane] || !part;

            row.shade[lane] = runs ? RUNS : WAITS;
            snprintf(row.text[lane], LANES_CELL_TEXT, "%s", taken[step][lane] ? "new" : runs ? "own" : "");
        }
        snprintf(label, sizeof label, "step %d: %d of 32 run", step + 1, part ? count_taken(taken[step]) : TRACE_LANES);
        lanes_row_write(out, y, label, &row);
    }
}

static void draw(FILE *out, const bool taken[STEPS][TRACE_LANES])
{
    const double second = TOP + 30 + PITCH * STEPS + PART;

    svg_begin(
        out, lanes_picture_width(), (int)second + 12 + PITCH * STEPS + 30, "Where a warp's lanes part",
        "Thirty-two lanes in columns, the five steps of a butterfly in rows, twice. Chapter 02: in each step half of "
        "the lanes run the body of the if, and the others wait. Chapter 03: in each step all lanes run the same "
        "select; half of them get the new candidate, half keep their own.");
    svg_text(out, 12, 24, SVG_LEFT_STRONG, "Where a warp's lanes part, and where they do not");
    lanes_numbers(out, TOP);
    svg_text(out, 12, TOP + 20, SVG_LEFT_STRONG, "Chapter 02: if (other ranks higher) mine = other;");
    draw_steps(out, TOP + 30, true, taken);
    svg_text(out, 12, second, SVG_LEFT_STRONG, "Chapter 03: mine = take ? other : mine;");
    draw_steps(out, second + 10, false, taken);
    svg_text(out, 12, second + 10 + PITCH * STEPS + 16, SVG_LEFT,
             "Blue: the lane runs the assignment, and ends with a new candidate or its own. White: it waits. Which is "
             "which follows "
             "from what each lane reads and keeps.");
    svg_end(out);
}

bool figure_split(FILE *out, const struct trace traces[2], const struct source_text sources[2], struct error *error)
{
    bool taken[2][STEPS][TRACE_LANES];

    for (int i = 0; i < 2; i++)
        if (!exchange_taken(&traces[i], &sources[i], &request, taken[i], error))
            return false;
    if (memcmp(taken[0], taken[1], sizeof taken[0]) != 0)
        return error_set(error, "%s and %s: they do not take the same", traces[0].files[0], traces[1].files[0]);
    draw(out, (const bool(*)[TRACE_LANES])taken[0]);
    return true;
}
