#include "figure_lanes.h"

#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_WIDTH = LANES_WIDTH - 2 };

static const char *const shades[LANES_SHADES] = {"#ffffff", "#e3f2fb", "#c6e6f8", "#a5d6f3", "#7dc5ee", "#56b4e9"};

double lanes_x(int lane)
{
    return LANES_LEFT + LANES_WIDTH * lane + LANES_WIDTH / 2.0;
}

int lanes_picture_width(void)
{
    return LANES_LEFT + LANES_WIDTH * TRACE_LANES + 12;
}

void lanes_numbers(FILE *out, double y)
{
    svg_text(out, 12, y, SVG_LEFT, "lane");
    fputs("<g class=\"m\">", out);
    for (int lane = 0; lane < TRACE_LANES; lane++)
        fprintf(out, "<text x=\"%g\" y=\"%g\">%d</text>", lanes_x(lane), y, lane);
    fputs("</g>\n", out);
}

/** All cells of one shade, as one path. */
static void write_cells(FILE *out, double y, int shade, const struct lanes_row *row)
{
    bool any = false;

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        if (row->shade[lane] != shade)
            continue;
        fprintf(out, "%sM%g %gh%dv%dh-%dz", any ? "" : "<path d=\"", lanes_x(lane) - CELL_WIDTH / 2.0, y, CELL_WIDTH,
                LANES_ROW, CELL_WIDTH);
        any = true;
    }
    if (any)
        fprintf(out, "\" fill=\"%s\" stroke=\"#8a8a8a\"/>\n", shades[shade]);
}

void lanes_row_write(FILE *out, double y, const char *label, const struct lanes_row *row)
{
    if (label[0])
        svg_text(out, 12, y + 15, SVG_LEFT, "%s", label);
    for (int shade = 0; shade < LANES_SHADES; shade++)
        write_cells(out, y, shade, row);
    fprintf(out, "<g class=\"m\" transform=\"translate(0 %g)\">", y + 15);
    for (int lane = 0; lane < TRACE_LANES; lane++)
        if (row->shade[lane] >= 0)
            fprintf(out, "<text x=\"%g\">%s</text>", lanes_x(lane), row->text[lane]);
    fputs("</g>\n", out);
}

/** Lines of one look, as one path: from the lane that is read to the one that reads. */
static void write_lines(FILE *out, double y, double height, const struct lanes_step *step, bool taken)
{
    bool any = false;

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        if (!step->shown[lane] || step->taken[lane] != taken)
            continue;
        fprintf(out, "%sM%g %gL%g %g", any ? "" : "<path class=\"f\" d=\"", lanes_x(step->from[lane]), y + 1,
                lanes_x(lane), y + height - 3);
        any = true;
    }
    if (any && taken)
        fprintf(out, "\" stroke=\"%s\" stroke-width=\"%g\"/>\n", SVG_VERMILLION, step->width);
    else if (any)
        fprintf(out, "\" stroke=\"#8a8a8a\" stroke-width=\"0.7\" stroke-opacity=\"0.6\"/>\n");
}

/** An arrow's head on every lane that reads another. */
static void write_heads(FILE *out, double y, const struct lanes_step *step, bool taken)
{
    bool any = false;

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        if (!step->shown[lane] || step->taken[lane] != taken || step->from[lane] == lane)
            continue;
        fprintf(out, "%sM%g %gh6l-3 5z", any ? "" : "<path d=\"", lanes_x(lane) - 3, y - 5);
        any = true;
    }
    if (any)
        fprintf(out, "\" fill=\"%s\"/>\n", taken ? SVG_VERMILLION : SVG_GREY);
}

void lanes_step_write(FILE *out, double y, double height, const struct lanes_step *step)
{
    write_lines(out, y, height, step, false);
    write_lines(out, y, height, step, true);
    write_heads(out, y + height, step, false);
    write_heads(out, y + height, step, true);
}

void lanes_number(uint32_t word, char text[LANES_CELL_TEXT])
{
    const float value = trace_float(word);
    char long_text[TRACE_TEXT_SIZE];

    if (isinf(value))
        strcpy(text, value > 0 ? "inf" : "-inf");
    else if (fabsf(value) >= 1e-5f && fabsf(value) < 1.0f) {
        snprintf(long_text, sizeof long_text, "%.3f", (double)fabsf(value));
        snprintf(text, LANES_CELL_TEXT, "%s%.4s", value < 0 ? "-" : "", long_text + (long_text[0] == '0'));
    } else if (fabsf(value) >= 1.0f && fabsf(value) < 100.0f) {
        snprintf(text, LANES_CELL_TEXT, "%.2f", (double)value);
    } else {
        trace_word_text(word, long_text);
        snprintf(text, LANES_CELL_TEXT, "%.11s", long_text);
    }
}

void lanes_shade_by_rank(const float values[TRACE_LANES], struct lanes_row *row)
{
    for (int lane = 0; lane < TRACE_LANES; lane++) {
        int below = 0;

        for (int other = 0; other < TRACE_LANES; other++)
            below += values[other] < values[lane];
        row->shade[lane] = below * LANES_SHADES / TRACE_LANES;
    }
}
