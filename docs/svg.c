#include "svg.h"

#include <stdarg.h>

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            putc(*text, out);
    }
}

static void write_marker(FILE *out, const char *name, const char *colour)
{
    fprintf(out,
            "<marker id=\"%s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
            "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"%s\"/></marker>\n",
            name, colour);
}

void svg_begin(FILE *out, int width, int height, const char *title, const char *description)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-labelledby=\"title description\">\n<title id=\"title\">",
            width, height, width, height);
    write_escaped(out, title);
    fputs("</title>\n<desc id=\"description\">", out);
    write_escaped(out, description);
    fputs("</desc>\n"
          "<style>text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1a1a1a}"
          ".m,.m text{text-anchor:middle}.r{text-anchor:end}.b{font-weight:600}.f{fill:none}</style>\n<defs>\n",
          out);
    write_marker(out, "taken", SVG_VERMILLION);
    write_marker(out, "read", SVG_GREY);
    fprintf(out,
            "</defs>\n<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#fdfdfb\" "
            "stroke=\"#c9c9c4\"/>\n",
            width - 1, height - 1);
}

void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void svg_text(FILE *out, double x, double y, enum svg_text_style style, const char *format, ...)
{
    static const char *const classes[] = {"", " class=\"m\"", " class=\"r\"", " class=\"b\"", " class=\"m b\""};
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(out, "<text x=\"%g\" y=\"%g\"%s>", x, y, classes[style]);
    write_escaped(out, text);
    fputs("</text>\n", out);
}

void svg_rectangle(FILE *out, double x, double y, double width, double height, const char *fill, const char *stroke)
{
    fprintf(out, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"", x, y, width, height, fill);
    if (stroke)
        fprintf(out, " stroke=\"%s\"", stroke);
    fputs("/>\n", out);
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, const char *stroke, double width, int arrow)
{
    fprintf(out, "<path class=\"f\" d=\"M%g %g %g %g\" stroke=\"%s\" stroke-width=\"%g\"", x1, y1, x2, y2, stroke,
            width);
    if (arrow)
        fprintf(out, " marker-end=\"url(#taken)\"");
    fputs("/>\n", out);
}
