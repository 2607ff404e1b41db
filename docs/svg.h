/**
 * @file svg.h
 * @brief Writes pictures as SVG, all in one style: a light card that stands on pages of any theme.
 *
 * Colours are Okabe and Ito's, which people tell apart whatever their sight; text is never smaller than 12 px.
 */
#ifndef SVG_H
#define SVG_H

#include <stdio.h>

/** Colours of shapes that mean something. */
#define SVG_BLUE       "#0072b2"
#define SVG_SKY        "#56b4e9"
#define SVG_GREEN      "#009e73"
#define SVG_ORANGE     "#e69f00"
#define SVG_VERMILLION "#d55e00"
#define SVG_PURPLE     "#cc79a7"
#define SVG_YELLOW     "#f0e442"
#define SVG_GREY       "#8a8a8a"

/** Begins a picture. `title` says what it is, `description` what it shows, for those who do not see it. */
void svg_begin(FILE *out, int width, int height, const char *title, const char *description);

void svg_end(FILE *out);

/** How a text lies to its x, and looks. */
enum svg_text_style { SVG_LEFT, SVG_MIDDLE, SVG_RIGHT, SVG_LEFT_STRONG, SVG_MIDDLE_STRONG };

/** A line of text; y is its base line. */
__attribute__((format(printf, 5, 6))) void svg_text(FILE *out, double x, double y, enum svg_text_style style,
                                                    const char *format, ...);

void svg_rectangle(FILE *out, double x, double y, double width, double height, const char *fill, const char *stroke);

/** A line; `arrow` gives it a head at its end. */
void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *stroke, double width, int arrow);

#endif
