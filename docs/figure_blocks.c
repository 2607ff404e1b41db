#include "figure_blocks.h"

#include "svg.h"

#include "harness/core/npy.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 32, MAX_EXPERTS = 7, LEFT = 150, WIDTH = 42, CELL = 36, ROW = 26 };
enum { CHOICES_TOP = 62, PLACES_TOP = 190 };

/** The arrays; `expert` is the choice at each position, as its block says. */
struct blocks {
    int place[MAX_PLACES], num_places;
    int block_expert[MAX_PLACES], num_blocks, block_size;
    int expert[MAX_PLACES], numel;
    int padded;
};

static const char *const colours[MAX_EXPERTS] = {"#a5d6f3", "#f6d58c",  "#8ed8c1", "#f0b48a",
                                                 "#e8c3d7", SVG_YELLOW, "#d8d8d3"};
static const char *const strokes[MAX_EXPERTS] = {SVG_BLUE,   SVG_ORANGE, SVG_GREEN, SVG_VERMILLION,
                                                 SVG_PURPLE, "#8f7f00",  SVG_GREY};

/* --- reading ---------------------------------------------------------------------------------------------------------- */

/** Reads whole numbers; -1 and the reason if there are none or more than `most`. */
static int read_numbers(const char *directory, const char *name, int most, int *numbers, struct error *error)
{
    struct npy_array array;
    char path[512];
    int count;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!npy_read_kind(path, NPY_INTEGERS, 1, 1, &array, error))
        return -1;
    count = npy_count(&array) <= most ? (int)npy_count(&array) : 0;
    for (int i = 0; i < count; i++)
        numbers[i] = array.dtype == DTYPE_I64 ? (int)((int64_t *)array.data)[i] : ((int32_t *)array.data)[i];
    npy_free(&array);
    if (count == 0)
        error_set(error, "%s: 1 to %d elements can be drawn", path, most);
    return count > 0 ? count : -1;
}

/** Every position has one place, in a block of an expert: the one it chose. Positions without a place have none, -1. */
static bool find_choices(struct blocks *blocks)
{
    for (int i = 0; i < MAX_PLACES; i++)
        blocks->expert[i] = -1;
    for (int i = 0; i < blocks->num_places; i++) {
        const int position = blocks->place[i], expert = blocks->block_expert[i / blocks->block_size];

        if (position < 0 || position > MAX_PLACES || expert >= MAX_EXPERTS)
            return false;
        if (position > blocks->numel)
            blocks->numel = position;
    }
    for (int i = 0; i < blocks->num_places; i++) {
        const int position = blocks->place[i];

        if (position == blocks->numel)
            continue;
        if (blocks->expert[position] >= 0)
            return false;
        blocks->expert[position] = blocks->block_expert[i / blocks->block_size];
    }
    return true;
}

static bool read_blocks(const char *directory, struct blocks *blocks, struct error *error)
{
    blocks->num_places = read_numbers(directory, "sorted_token_ids.npy", MAX_PLACES, blocks->place, error);
    if (blocks->num_places < 0)
        return false;
    blocks->num_blocks = read_numbers(directory, "expert_ids.npy", blocks->num_places, blocks->block_expert, error);
    if (blocks->num_blocks < 0 || read_numbers(directory, "num_tokens_post_padded.npy", 1, &blocks->padded, error) < 0)
        return false;
    blocks->block_size = blocks->num_places / blocks->num_blocks;
    if (blocks->block_size * blocks->num_blocks != blocks->num_places || !find_choices(blocks))
        return error_set(error, "%s: the arrays are not those of one align with few experts", directory);
    return true;
}

/* --- drawing ---------------------------------------------------------------------------------------------------------- */

static double place_x(int place)
{
    return LEFT + WIDTH * place + WIDTH / 2.0;
}

/** The choices stand in the middle above the places. */
static double choice_x(const struct blocks *blocks, int position)
{
    return place_x(position) + (blocks->num_places - blocks->numel) * WIDTH / 2.0;
}

static void draw_cell(FILE *out, double x, double y, int expert, int number)
{
    svg_rectangle(out, x - CELL / 2.0, y, CELL, ROW, expert < 0 ? "#ffffff" : colours[expert],
                  expert < 0 ? "#b5b5b0" : strokes[expert]);
    svg_text(out, x, y + 18, SVG_MIDDLE, "%d", number);
}

static void draw_choices(FILE *out, const struct blocks *blocks)
{
    svg_text(out, 14, CHOICES_TOP - 6, SVG_LEFT, "position in topk_ids");
    svg_text(out, 14, CHOICES_TOP + 18, SVG_LEFT, "topk_ids: the expert");
    for (int position = 0; position < blocks->numel; position++) {
        const double x = choice_x(blocks, position);

        svg_text(out, x, CHOICES_TOP - 6, SVG_MIDDLE, "%d", position);
        draw_cell(out, x, CHOICES_TOP, blocks->expert[position], blocks->expert[position]);
    }
}

static void draw_lines(FILE *out, const struct blocks *blocks)
{
    for (int i = 0; i < blocks->num_places; i++) {
        const int position = blocks->place[i];

        if (position < blocks->numel)
            svg_line(out, choice_x(blocks, position), CHOICES_TOP + ROW + 2, place_x(i), PLACES_TOP - 3,
                     strokes[blocks->expert[position]], 1.8, 0);
    }
}

static void draw_places(FILE *out, const struct blocks *blocks)
{
    svg_text(out, 14, PLACES_TOP + 18, SVG_LEFT, "sorted_token_ids");
    for (int i = 0; i < blocks->num_places; i++)
        draw_cell(out, place_x(i), PLACES_TOP,
                  blocks->place[i] < blocks->numel ? blocks->block_expert[i / blocks->block_size] : -1,
                  blocks->place[i]);
}

static void draw_blocks(FILE *out, const struct blocks *blocks)
{
    const double y = PLACES_TOP + ROW + 8;

    svg_text(out, 14, y + 22, SVG_LEFT, "expert_ids");
    for (int block = 0; block < blocks->num_blocks; block++) {
        const double first = place_x(block * blocks->block_size) - CELL / 2.0, width = WIDTH * blocks->block_size - 6;

        fprintf(out, "<path class=\"f\" d=\"M%g %gv5h%gv-5\" stroke=\"#1a1a1a\"/>\n", first, y - 4, width);
        if (block * blocks->block_size < blocks->padded)
            svg_text(out, first + width / 2, y + 22, SVG_MIDDLE_STRONG, "%d", blocks->block_expert[block]);
        else
            svg_text(out, first + width / 2, y + 22, SVG_MIDDLE, "%d (not used)", blocks->block_expert[block]);
    }
}

static void draw(FILE *out, const struct blocks *blocks)
{
    const double end = place_x(blocks->padded) - WIDTH / 2.0;
    const int height = PLACES_TOP + ROW + 92;
    char title[128], description[640];

    snprintf(title, sizeof title, "%d choices lined up in blocks of %d", blocks->numel, blocks->block_size);
    snprintf(
        description, sizeof description,
        "Above, the expert that each of %d positions of topk_ids names. Below, the %d places of sorted_token_ids: the "
        "positions grouped by expert, each group filled up to whole blocks of %d with the pad %d. expert_ids names "
        "the expert of each block. num_tokens_post_padded is %d; what lies beyond is all pads.",
        blocks->numel, blocks->num_places, blocks->block_size, blocks->numel, blocks->padded);
    svg_begin(out, LEFT + WIDTH * blocks->num_places + 20, height, title, description);
    svg_text(out, 14, 24, SVG_LEFT_STRONG, "%s", title);
    draw_lines(out, blocks);
    draw_choices(out, blocks);
    draw_places(out, blocks);
    draw_blocks(out, blocks);
    svg_line(out, end, PLACES_TOP - 8, end, PLACES_TOP + ROW + 44, "#1a1a1a", 2, 0);
    svg_text(out, end, PLACES_TOP + ROW + 60, SVG_MIDDLE, "num_tokens_post_padded = %d", blocks->padded);
    svg_text(out, 14, height - 10, SVG_LEFT, "White places hold the pad, %d: one more than the last position.",
             blocks->numel);
    svg_end(out);
}

bool figure_blocks(FILE *out, const char *directory, struct error *error)
{
    struct blocks blocks = {0};

    if (!read_blocks(directory, &blocks, error))
        return false;
    draw(out, &blocks);
    return true;
}
