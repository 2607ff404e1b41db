/** @file figure_lanes.h  Pictures of a warp: lanes in columns, steps down, lines from the lane that is read to the reader. */
#ifndef FIGURE_LANES_H
#define FIGURE_LANES_H

#include "trace.h"

#include <stdio.h>

enum { LANES_LEFT = 148, LANES_WIDTH = 33, LANES_ROW = 22, LANES_CELL_TEXT = 12, LANES_SHADES = 6 };

/** What every lane holds at one time. */
struct lanes_row {
    char text[TRACE_LANES][LANES_CELL_TEXT];
    int shade[TRACE_LANES]; /**< 0, the lightest, to LANES_SHADES - 1; -1: no cell */
};

/** Who reads whom between two rows. */
struct lanes_step {
    int from[TRACE_LANES];
    bool taken[TRACE_LANES]; /**< what was read changes what the lane holds */
    bool shown[TRACE_LANES]; /**< the lane reads at all */
    double width;            /**< of the lines taken */
};

/** The middle of a lane's column. */
double lanes_x(int lane);

/** How wide a picture with all lanes is. */
int lanes_picture_width(void);

/** The numbers of the lanes, above the first row. */
void lanes_numbers(FILE *out, double y);

/** A row of cells, its top at y, and what it is, on the left. */
void lanes_row_write(FILE *out, double y, const char *label, const struct lanes_row *row);

/** The lines of a step from the bottom of one row to the top of the next: those taken stand out. */
void lanes_step_write(FILE *out, double y, double height, const struct lanes_step *step);

/** Writes a number in at most four characters: .634, 1.03, 12, -inf. */
void lanes_number(uint32_t word, char text[LANES_CELL_TEXT]);

/** Gives each value a shade by its rank among all: the largest is the darkest. */
void lanes_shade_by_rank(const float values[TRACE_LANES], struct lanes_row *row);

#endif
