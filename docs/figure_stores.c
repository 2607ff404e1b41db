#include "figure_stores.h"

#include "svg.h"

#include <string.h>

enum { SECTOR = 32, MAX_SECTORS = 32, MAX_REQUESTS = 16, LEFT = 96, CELL = 28, ROW = 18, PITCH = 22, PART = 40 };

/** What one request of a warp writes. */
struct request {
    int warp, lanes, bytes; /**< bytes: of a lane */
    int64_t offset[TRACE_LANES];
};

/** The stores that fill a list. */
struct stores {
    struct request requests[MAX_REQUESTS];
    int num_requests;
    int64_t bytes;
};

/* --- following a trace ------------------------------------------------------------------------------------------------ */

static bool add_request(const struct trace_event *event, int64_t begin, struct stores *stores)
{
    struct request *const request = &stores->requests[stores->num_requests];

    if (stores->num_requests++ == MAX_REQUESTS)
        return false;
    *request = (struct request){.warp = event->warp, .bytes = event->bytes};
    for (int lane = 0; lane < TRACE_LANES; lane++)
        if (event->lanes >> lane & 1)
            request->offset[request->lanes++] = event->lane[lane].offset - begin;
    return true;
}

/** Every byte of the list is written once. */
static bool is_filled(struct stores *stores)
{
    bool written[MAX_SECTORS * SECTOR] = {false};

    for (int i = 0; i < stores->num_requests; i++)
        for (int lane = 0; lane < stores->requests[i].lanes; lane++)
            for (int byte = 0; byte < stores->requests[i].bytes; byte++) {
                const int64_t at = stores->requests[i].offset[lane] + byte;

                if (at < 0 || at >= MAX_SECTORS * SECTOR || written[at])
                    return false;
                written[at] = true;
                stores->bytes++;
            }
    for (int64_t i = 0; i < stores->bytes; i++)
        if (!written[i])
            return false;
    return stores->bytes > 0 && stores->bytes % SECTOR == 0;
}

/** The stores to what the first store to global memory goes to. */
static bool find_stores(const struct trace *trace, struct stores *stores, struct error *error)
{
    const struct trace_event *first = NULL;
    bool fits = true;

    for (size_t i = 0; i < trace->num_events && fits; i++) {
        const struct trace_event *const event = &trace->events[i];

        if (event->kind != TRACE_GLOBAL_STORE || !(event->lanes & 1))
            continue;
        first = first ? first : event;
        if (event->lane[0].allocation == first->lane[0].allocation)
            fits = add_request(event, first->lane[0].offset, stores);
    }
    return (fits && is_filled(stores)) ||
           error_set(
               error,
               "%s: %s does not fill a list of whole sectors, %d at most, once from end to end in %d requests or fewer",
               trace->files[0], trace->kernel, MAX_SECTORS, MAX_REQUESTS);
}

/* --- drawing ---------------------------------------------------------------------------------------------------------- */

static double byte_x(int64_t byte)
{
    return LEFT + (double)byte * CELL / SECTOR;
}

/** The sectors that a request reaches, and in it what each lane writes, neighbours in two shades. */
static void draw_request(FILE *out, double y, const struct request *request, int64_t bytes)
{
    svg_text(out, 14, y + 13, SVG_LEFT, "warp %d", request->warp);
    fprintf(out, "<path d=\"");
    for (int64_t at = 0; at < bytes; at += SECTOR)
        fprintf(out, "M%g %gh%dv%dh-%dz", byte_x(at), y, CELL, ROW, CELL);
    fputs("\" fill=\"#ffffff\" stroke=\"#c9c9c4\"/>\n", out);
    for (int shade = 0; shade < 2; shade++) {
        fputs("<path d=\"", out);
        for (int lane = shade; lane < request->lanes; lane += 2)
            fprintf(out, "M%g %gh%gv%dh-%gz", byte_x(request->offset[lane]), y + 2,
                    request->bytes * (double)CELL / SECTOR, ROW - 4, request->bytes * (double)CELL / SECTOR);
        fprintf(out, "\" fill=\"%s\"/>\n", shade ? SVG_SKY : SVG_BLUE);
    }
}

static double draw_stores(FILE *out, double y, const char *chapter, const struct stores *stores)
{
    svg_text(out, 14, y, SVG_LEFT_STRONG, "%s: %d bytes a lane, %d requests, %d sectors", chapter,
             stores->requests[0].bytes, stores->num_requests, (int)(stores->bytes / SECTOR));
    y += 12;
    for (int i = 0; i < stores->num_requests; i++, y += PITCH)
        draw_request(out, y, &stores->requests[i], stores->bytes);
    return y;
}

static void draw(FILE *out, const struct stores *before, const struct stores *after)
{
    static const char title[] = "The same pads, 4 and 16 bytes at a time";
    const int requests = before->num_requests + after->num_requests;
    const int height = 62 + 2 * 12 + PITCH * requests + PART + 14;
    char description[512];
    double y;

    snprintf(
        description, sizeof description,
        "A row for each request of a warp, a column for each of %d sectors of 32 bytes. Chapter 06 needs %d requests, "
        "each of which reaches 4 sectors. Chapter 07 needs %d, each of which reaches 16. Both write every sector once.",
        (int)(before->bytes / SECTOR), before->num_requests, after->num_requests);
    svg_begin(out, (int)byte_x(before->bytes) + 16, height, title, description);
    svg_text(out, 14, 24, SVG_LEFT_STRONG, "%s", title);
    y = draw_stores(out, 56, "Chapter 06", before);
    y = draw_stores(out, y + PART - 12, "Chapter 07", after);
    svg_text(
        out, 14, y + 20, SVG_LEFT,
        "A row is one request of a warp, a cell a sector of 32 bytes. Dark and light: what neighbouring lanes write.");
    svg_end(out);
}

bool figure_stores(FILE *out, const struct trace *before, const struct trace *after, struct error *error)
{
    static struct stores stores[2];

    memset(stores, 0, sizeof stores);
    if (!find_stores(before, &stores[0], error) || !find_stores(after, &stores[1], error))
        return false;
    if (stores[0].bytes != stores[1].bytes)
        return error_set(error, "the lists have %d and %d bytes; they must have as many", (int)stores[0].bytes,
                         (int)stores[1].bytes);
    draw(out, &stores[0], &stores[1]);
    return true;
}
