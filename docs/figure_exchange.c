#include "figure_exchange.h"

#include "figure_lanes.h"
#include "svg.h"

#include <string.h>

enum { MAX_STEPS = 15, TOP = 64, GAP = 46, SORT_GAP = 34, FOOT = 34, NOBODY = 0x7fffffff };

/** The candidates before each step and after the last. */
struct exchange {
    int steps;
    int distance[MAX_STEPS];
    uint32_t value[MAX_STEPS + 1][TRACE_LANES], id[MAX_STEPS + 1][TRACE_LANES];
    uint32_t value_read[MAX_STEPS][TRACE_LANES], id_read[MAX_STEPS][TRACE_LANES];
    int from[MAX_STEPS][TRACE_LANES];
};

/* --- following the trace ---------------------------------------------------------------------------------------------- */

/** How far a whole warp's exchange reaches; 0 if it is none. */
static int distance_of(const struct trace_event *event)
{
    const int distance = event->lane[0].from;

    if (event->kind != TRACE_SHUFFLE || event->lanes != UINT32_MAX || strcmp(event->operation, "__shfl_xor_sync") != 0)
        return 0;
    for (int lane = 0; lane < TRACE_LANES; lane++)
        if (event->lane[lane].from != (lane ^ distance))
            return 0;
    return distance;
}

/** The next event of the same warp; the trace's end if there is none. */
static size_t next_of_warp(const struct trace *trace, size_t index)
{
    const int warp = trace->events[index].warp;

    for (index++; index < trace->num_events && trace->events[index].warp != warp; index++)
        ;
    return index;
}

static bool find_first(const struct trace *trace, const struct source_text *source,
                       const struct exchange_request *request, size_t *index)
{
    for (*index = 0; *index < trace->num_events; ++*index) {
        const struct trace_event *const event = &trace->events[*index];

        if (event->file == 0 && strcmp(source_snippet(source, event->line), request->snippet) == 0 &&
            distance_of(event) == request->first_distance)
            return true;
    }
    return false;
}

/** Takes a step's two shuffles, the value's and the id's. */
static bool take_step(const struct trace *trace, size_t index, int line, struct exchange *exchange)
{
    const size_t next = next_of_warp(trace, index);
    const struct trace_event *const value = &trace->events[index], *const id = &trace->events[next];
    const int step = exchange->steps;

    if (next >= trace->num_events || value->line != line || distance_of(value) == 0 ||
        distance_of(id) != distance_of(value))
        return false;
    exchange->distance[step] = distance_of(value);
    for (int lane = 0; lane < TRACE_LANES; lane++) {
        exchange->from[step][lane] = value->lane[lane].from;
        exchange->value[step][lane] = value->lane[lane].word[0];
        exchange->value_read[step][lane] = value->lane[lane].out[0];
        exchange->id[step][lane] = id->lane[lane].word[0];
        exchange->id_read[step][lane] = id->lane[lane].out[0];
    }
    exchange->steps++;
    return true;
}

/** Whether the lane ends with what it read last. `next`: a sort's next shuffle, which shows what every lane ended with. */
static bool takes_last(const struct exchange *exchange, int lane, const struct trace_event *next)
{
    const int last = exchange->steps - 1;
    const float own = trace_float(exchange->value[last][lane]), read = trace_float(exchange->value_read[last][lane]);

    if (next)
        return next->lane[lane].word[0] != exchange->value[last][lane];
    return read > own || (read == own && exchange->id_read[last][lane] < exchange->id[last][lane]);
}

static void finish(struct exchange *exchange, const struct trace_event *next)
{
    const int last = exchange->steps - 1;

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        const bool takes = takes_last(exchange, lane, next);

        exchange->value[last + 1][lane] = takes ? exchange->value_read[last][lane] : exchange->value[last][lane];
        exchange->id[last + 1][lane] = takes ? exchange->id_read[last][lane] : exchange->id[last][lane];
    }
}

/** All lanes hold the best of those they exchange with, and the kernel writes its id to shared memory next. */
static bool best_is_stored(const struct trace *trace, size_t index, const struct exchange_request *request,
                           const struct exchange *exchange)
{
    const uint32_t *const id = exchange->id[exchange->steps];

    for (int lane = 0; lane < TRACE_LANES; lane++)
        if (id[lane] != id[lane / request->lanes_together * request->lanes_together])
            return false;
    for (int tries = 0; tries < 4 && index < trace->num_events; tries++, index = next_of_warp(trace, index)) {
        const struct trace_event *const event = &trace->events[index];
        bool same = event->kind == TRACE_SHARED_STORE;

        for (int lane = 0; lane < TRACE_LANES; lane += request->lanes_together)
            same = same && event->lanes >> lane & 1 && event->lane[lane].word[0] == id[lane];
        if (same)
            return true;
    }
    return false;
}

/** The lanes hold what they did before, in order, and the next shuffle shows it. */
static bool is_sorted(const struct exchange *exchange, const struct trace_event *next)
{
    const int last = exchange->steps;
    uint32_t ids = 0;

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        const float value = trace_float(exchange->value[last][lane]);

        if (next->lane[lane].word[0] != exchange->value[last][lane] ||
            (lane > 0 && trace_float(exchange->value[last][lane - 1]) < value))
            return false;
        for (int first = 0; first < TRACE_LANES; first++)
            if (exchange->id[0][first] == exchange->id[last][lane])
                ids |= UINT32_C(1) << first;
    }
    return ids == UINT32_MAX;
}

static bool follow(const struct trace *trace, const struct source_text *source, const struct exchange_request *request,
                   struct exchange *exchange, struct error *error)
{
    size_t index;
    int line;

    if (!find_first(trace, source, request, &index))
        return error_set(error, "%s: no exchange over %d lanes in snippet [%s]", trace->files[0],
                         request->first_distance, request->snippet);
    line = trace->events[index].line;
    while (exchange->steps < request->steps && index < trace->num_events) {
        if (!take_step(trace, index, line, exchange))
            return error_set(error, "%s: %d exchanges are wanted in snippet [%s]; there are %d", trace->files[0],
                             request->steps, request->snippet, exchange->steps);
        index = next_of_warp(trace, next_of_warp(trace, index));
    }

    const struct trace_event *const next = index < trace->num_events ? &trace->events[index] : NULL;

    finish(exchange, request->sorts ? next : NULL);
    if (!next || !(request->sorts ? is_sorted(exchange, next) : best_is_stored(trace, index, request, exchange)))
        return error_set(error, "%s: the kernel goes on with another result than that of the exchanges in [%s]",
                         trace->files[0], request->snippet);
    return true;
}

/* --- drawing ---------------------------------------------------------------------------------------------------------- */

static void value_row(const struct exchange *exchange, int step, const struct exchange_request *request,
                      struct lanes_row *row)
{
    float values[TRACE_LANES];

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        values[lane] = trace_float(exchange->value[step][lane]);
        lanes_number(exchange->value[step][lane], row->text[lane]);
    }
    if (request->sorts) {
        lanes_shade_by_rank(values, row);
        return;
    }
    for (int lane = 0; lane < TRACE_LANES; lane++) { /* those that hold their best already */
        const int first = lane / request->lanes_together * request->lanes_together;

        row->shade[lane] = exchange->id[step][lane] == exchange->id[exchange->steps][first] ? LANES_SHADES - 1 : 0;
    }
}

static void step_lines(const struct exchange *exchange, int step, const struct exchange_request *request,
                       struct lanes_step *lines)
{
    lines->width = 1.6;
    for (int lane = 0; lane < TRACE_LANES; lane++) {
        lines->taken[lane] = exchange->id[step + 1][lane] != exchange->id[step][lane];
        lines->shown[lane] = true;
        lines->from[lane] = request->sorts && !lines->taken[lane] ? lane : exchange->from[step][lane];
    }
}

static void draw_ids(FILE *out, double y, const char *label, const uint32_t ids[TRACE_LANES])
{
    svg_text(out, 12, y, SVG_LEFT, "%s", label);
    fprintf(out, "<g class=\"m\" transform=\"translate(0 %g)\">", y);
    for (int lane = 0; lane < TRACE_LANES; lane++) {
        fprintf(out, "<text x=\"%g\">", lanes_x(lane));
        fprintf(out, ids[lane] == NOBODY ? "-</text>" : "%d</text>", (int)ids[lane]);
    }
    fputs("</g>\n", out);
}

static void draw_step(FILE *out, double y, double gap, int step, const struct exchange *exchange,
                      const struct exchange_request *request)
{
    const int distance = exchange->distance[step];
    const bool begins = request->sorts && (step == 0 || distance > exchange->distance[step - 1]);
    struct lanes_step lines;

    step_lines(exchange, step, request, &lines);
    lanes_step_write(out, y, gap, &lines);
    svg_text(out, 12, y + gap / 2 + 4, begins ? SVG_LEFT_STRONG : SVG_LEFT, "%d: reads lane ^ %d", step + 1, distance);
}

static void draw_frames(FILE *out, double top, double bottom, int lanes_together)
{
    for (int lane = 0; lane < TRACE_LANES && lanes_together < TRACE_LANES; lane += lanes_together) {
        const double left = lanes_x(lane) - LANES_WIDTH / 2.0, width = (double)LANES_WIDTH * lanes_together;

        svg_text(out, left + width / 2, top - 28, SVG_MIDDLE_STRONG, "token %d", lane / lanes_together);
        if (lane > 0)
            svg_line(out, left, top - 38, left, bottom, "#1a1a1a", 1.5, 0);
    }
}

static void draw(FILE *out, const struct exchange *exchange, const struct exchange_request *request)
{
    const int gap = request->sorts ? SORT_GAP : GAP, pitch = gap + LANES_ROW;
    const int top = TOP + (request->lanes_together < TRACE_LANES ? 18 : 0);
    const int bottom = top + pitch * exchange->steps + LANES_ROW + 22;
    struct lanes_row row;

    svg_begin(out, lanes_picture_width(), bottom + FOOT, request->title, request->description);
    svg_text(out, 12, 22, SVG_LEFT_STRONG, "%s", request->title);
    draw_frames(out, top - 10, bottom - 4, request->lanes_together);
    lanes_numbers(out, top - 22);
    draw_ids(out, top - 6, "expert", exchange->id[0]);
    for (int step = 0; step <= exchange->steps; step++) {
        value_row(exchange, step, request, &row);
        lanes_row_write(out, top + pitch * step,
                        step == 0                 ? "score + bias"
                        : step == exchange->steps ? request->sorts ? "sorted" : "the best"
                                                  : "",
                        &row);
        if (step < exchange->steps)
            draw_step(out, top + pitch * step + LANES_ROW, gap, step, exchange, request);
    }
    draw_ids(out, bottom - 6, "expert", exchange->id[exchange->steps]);
    svg_text(out, lanes_x(0) - 14, bottom + 18, SVG_LEFT, "%s",
             request->sorts
                 ? "Thick red line: the lane takes what it reads. Thin grey line: it keeps its own. Darker cells hold "
                   "larger values."
                 : "Thick red line: what the lane reads is better. Thin grey line: it reads, and keeps its own. "
                   "Blue cells hold the best.");
    svg_end(out);
}

bool figure_exchange(FILE *out, const struct trace *trace, const struct source_text *source,
                     const struct exchange_request *request, struct error *error)
{
    struct exchange exchange = {.steps = 0};

    if (request->steps > MAX_STEPS || !follow(trace, source, request, &exchange, error))
        return false;
    draw(out, &exchange, request);
    return true;
}

bool exchange_taken(const struct trace *trace, const struct source_text *source, const struct exchange_request *request,
                    bool taken[][TRACE_LANES], struct error *error)
{
    struct exchange exchange = {.steps = 0};

    if (request->steps > MAX_STEPS || !follow(trace, source, request, &exchange, error))
        return false;
    for (int step = 0; step < exchange.steps; step++)
        for (int lane = 0; lane < TRACE_LANES; lane++)
            taken[step][lane] = exchange.id[step + 1][lane] != exchange.id[step][lane];
    return true;
}
