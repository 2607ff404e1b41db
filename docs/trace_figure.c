/**
 * @file trace_figure.c
 * @brief Draws what a kernel did: reads a trace, or arrays that a program wrote, and writes an SVG picture.
 *
 *     build/cpu/02_warp_per_group --num-tokens 1 --trace trace.json
 *     build/cpu/trace_figure butterfly trace.json > butterfly.svg
 *
 * The figures "split" and "stores" take two traces, of a chapter and the one before. "blocks" and "flow" take a directory of
 * arrays instead, as programs write them with --out.
 *
 * Exits 2, with one line, if a file cannot be read or the run is not one that the figure can show.
 */
#include "figure_blocks.h"
#include "figure_exchange.h"
#include "figure_flow.h"
#include "figure_scan.h"
#include "figure_split.h"
#include "figure_stores.h"
#include "figure_timeline.h"
#include "figure_tree.h"

#include <stdio.h>
#include <string.h>

typedef bool draw_figure(FILE *out, const struct trace *trace, const struct source_text *source, struct error *error);

static bool draw_butterfly(FILE *out, const struct trace *trace, const struct source_text *source, struct error *error)
{
    static const struct exchange_request request = {"warp_best",
                                                    16,
                                                    5,
                                                    32,
                                                    false,
                                                    "The best of 32 experts in five steps",
                                                    "Thirty-two lanes in columns, five steps from top to bottom. In "
                                                    "each step every lane reads the lane whose number "
                                                    "differs in one bit, 16, 8, 4, 2 and 1 apart, and keeps the better "
                                                    "of the two values. After the fifth step every "
                                                    "lane holds the warp's best."};

    return figure_exchange(out, trace, source, &request, error);
}

static bool draw_bitonic(FILE *out, const struct trace *trace, const struct source_text *source, struct error *error)
{
    static const struct exchange_request request = {"compare_exchange",
                                                    1,
                                                    15,
                                                    32,
                                                    true,
                                                    "A warp sorts 32 values in 15 steps",
                                                    "Thirty-two lanes in columns, fifteen compare-exchange steps from "
                                                    "top to bottom: distances 1; 2, 1; 4, 2, 1; 8, 4, "
                                                    "2, 1; 16, 8, 4, 2, 1. After each of these five stages runs of 2, "
                                                    "4, 8, 16 and at last 32 lanes are in order, and "
                                                    "the largest value is in lane 0."};

    return figure_exchange(out, trace, source, &request, error);
}

static bool draw_tokens(FILE *out, const struct trace *trace, const struct source_text *source, struct error *error)
{
    static const struct exchange_request request = {
        "token_best",
        4,
        3,
        8,
        false,
        "Four tokens share a warp: eight lanes and three steps each",
        "Thirty-two lanes in columns, eight for each of four tokens. In three steps every lane reads the lane 4, 2 and "
        "1 "
        "apart, which is always one of its own token, and keeps the better value. Then the eight lanes of a token hold "
        "that token's best expert."};

    return figure_exchange(out, trace, source, &request, error);
}

static bool draw_tree(FILE *out, const struct trace *trace, const struct source_text *source, struct error *error)
{
    (void)source;
    return figure_tree(out, trace, 8, error);
}

static bool draw_scan(FILE *out, const struct trace *trace, const struct source_text *source, struct error *error)
{
    (void)source;
    return figure_scan(out, trace, error);
}

static bool draw_waiting(FILE *out, const struct trace *trace, const struct source_text *source, struct error *error)
{
    return figure_timeline(
        out, trace, source, "One thread adds up; 1,023 wait",
        "A row for each warp or for neighbours that do the same, columns between the block's barriers. "
        "The warps count together. Then one lane of warp 0 adds up the counts, one expert after the "
        "other, while every other warp waits at the third barrier.",
        error);
}

static bool draw_parallel_fill(FILE *out, const struct trace *trace, const struct source_text *source,
                               struct error *error)
{
    return figure_timeline(
        out, trace, source, "Eight warps fill while one counts",
        "A row for each warp or for neighbours that do the same, columns between the block's barriers. "
        "In the first interval warps 0 to 7 write the pads while warp 8 counts. Then warp 8 works and "
        "the others wait at the barriers, which all threads of the block must reach.",
        error);
}

static const struct {
    const char *name;
    draw_figure *draw;
} figures[] = {
    {"butterfly", draw_butterfly},
    {"bitonic", draw_bitonic},
    {"tokens", draw_tokens},
    {"tree", draw_tree},
    {"scan", draw_scan},
    {"waiting", draw_waiting},
    {"parallel_fill", draw_parallel_fill},
};

enum { NUM_FIGURES = sizeof figures / sizeof figures[0] };

static draw_figure *find_figure(const char *name)
{
    for (int i = 0; i < NUM_FIGURES; i++)
        if (strcmp(figures[i].name, name) == 0)
            return figures[i].draw;
    return NULL;
}

/** Reads a trace and the source of its kernel. */
static bool read_trace(const char *path, struct trace *trace, struct source_text *source, struct error *error)
{
    if (!trace_read(path, trace, error))
        return false;
    if (source_text_read(trace->files[0], source, error))
        return true;
    trace_free(trace);
    return false;
}

static bool draw_trace(FILE *out, draw_figure *draw, const char *path, struct error *error)
{
    struct source_text source;
    struct trace trace;

    if (!read_trace(path, &trace, &source, error))
        return false;
    const bool good = draw(out, &trace, &source, error);
    source_text_free(&source);
    trace_free(&trace);
    return good;
}

/** A figure of two traces: "split" or "stores". */
static bool draw_pair(FILE *out, const char *name, char *const paths[2], struct error *error)
{
    struct source_text sources[2];
    struct trace traces[2];
    bool good = false;

    if (!read_trace(paths[0], &traces[0], &sources[0], error))
        return false;
    if (read_trace(paths[1], &traces[1], &sources[1], error)) {
        good = strcmp(name, "split") == 0 ? figure_split(out, traces, sources, error)
                                          : figure_stores(out, &traces[0], &traces[1], error);
        source_text_free(&sources[1]);
        trace_free(&traces[1]);
    }
    source_text_free(&sources[0]);
    trace_free(&traces[0]);
    return good;
}

static int usage(void)
{
    fputs("usage: trace_figure FIGURE TRACE.json, where FIGURE is", stderr);
    for (int i = 0; i < NUM_FIGURES; i++)
        fprintf(stderr, "%s %s", i > 0 ? "," : "", figures[i].name);
    fputs("; trace_figure split|stores TRACE.json TRACE.json; or trace_figure blocks|flow DIRECTORY\n", stderr);
    return 2;
}

/** Draws what the arguments ask for. `known` tells whether they ask for something. */
static bool draw_requested(FILE *out, int argc, char **argv, bool *known, struct error *error)
{
    const char *const name = argc > 1 ? argv[1] : "";
    draw_figure *const draw = argc == 3 ? find_figure(name) : NULL;

    *known = true;
    if (draw)
        return draw_trace(out, draw, argv[2], error);
    if (argc == 3 && strcmp(name, "blocks") == 0)
        return figure_blocks(out, argv[2], error);
    if (argc == 3 && strcmp(name, "flow") == 0)
        return figure_flow(out, argv[2], error);
    if (argc == 4 && (strcmp(name, "split") == 0 || strcmp(name, "stores") == 0))
        return draw_pair(out, name, argv + 2, error);
    *known = false;
    return false;
}

int main(int argc, char **argv)
{
    struct error error;
    bool known;
    const bool good = draw_requested(stdout, argc, argv, &known, &error);

    if (!known)
        return usage();
    if (!good) {
        fprintf(stderr, "trace_figure: %s\n", error.text);
        return 2;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("trace_figure: standard output: cannot be written\n", stderr);
        return 2;
    }
    return 0;
}
