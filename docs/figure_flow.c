#include "figure_flow.h"

#include "svg.h"

#include "../tests/simt/json.h"
#include "harness/core/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 8, GROUP = 32, EXPERTS = GROUPS * GROUP, KEPT = 4, TOPK = 8 };
enum {
    LEFT = 16,
    PITCH = 124,
    BAR = 3,
    GROUP_WIDTH = GROUP * 7 / 2,
    BARS_TOP = 84,
    BARS = 110,
    BOXES = 240,
    CHOSEN = 392
};
enum { BOX_HEIGHT = 40, HEIGHT = 486, WIDTH = LEFT * 2 + PITCH * GROUPS - (PITCH - GROUP_WIDTH) };

static const char data[] = "common/data/router/";
static const double scale = 2.5; /* of the weights */

/** A token and what the gate made of it. */
struct flow {
    char word[64];
    int row;
    double score[EXPERTS], choice[EXPERTS]; /**< sigmoid; with the bias */
    double group[GROUPS];                   /**< the sum of its two best */
    int best[GROUPS][2];
    bool kept[GROUPS];
    int id[TOPK];
    double weight[TOPK];
};

/* --- reading ---------------------------------------------------------------------------------------------------------- */

/** Reads f32 or i32, [rows, columns] or [columns]. */
static bool read_array(const char *directory, const char *name, enum dtype dtype, int columns, int dims,
                       struct npy_array *array, struct error *error)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!npy_read(path, array, error))
        return false;
    if (array->dtype == dtype && array->ndim == dims && array->shape[dims - 1] == columns && array->shape[0] > 0)
        return true;
    npy_free(array);
    return error_set(error, "%s: it must be %s, %d in a row", path, dtype_name(dtype), columns);
}

static bool read_answer(const char *directory, struct flow *flow, struct error *error)
{
    struct npy_array ids, weights;

    if (!read_array(directory, "topk_ids.npy", DTYPE_I32, TOPK, 2, &ids, error))
        return false;
    if (!read_array(directory, "topk_weights.npy", DTYPE_F32, TOPK, 2, &weights, error)) {
        npy_free(&ids);
        return false;
    }
    flow->row = (int)ids.shape[0] - 1;
    const bool fits = ids.shape[0] == weights.shape[0] && ids.shape[0] <= 1 << 20;
    for (int i = 0; i < TOPK && fits; i++) {
        flow->id[i] = ((const int32_t *)ids.data)[flow->row * TOPK + i];
        flow->weight[i] = (double)((const float *)weights.data)[flow->row * TOPK + i];
    }
    npy_free(&ids);
    npy_free(&weights);
    return fits || error_set(error, "%s: its two arrays are not of as many tokens", directory);
}

static bool read_scores(struct flow *flow, struct error *error)
{
    struct npy_array logits, bias;

    if (!read_array(data, "layer2_logits.npy", DTYPE_F32, EXPERTS, 2, &logits, error))
        return false;
    if (!read_array(data, "layer2_bias.npy", DTYPE_F32, EXPERTS, 1, &bias, error)) {
        npy_free(&logits);
        return false;
    }
    const bool there = flow->row < logits.shape[0];
    for (int i = 0; i < EXPERTS && there; i++) {
        flow->score[i] = 1.0 / (1.0 + exp(-(double)((const float *)logits.data)[flow->row * EXPERTS + i]));
        flow->choice[i] = flow->score[i] + (double)((const float *)bias.data)[i];
    }
    npy_free(&logits);
    npy_free(&bias);
    return there || error_set(error, "%slayer2_logits.npy: it has no row %d", data, flow->row);
}

static bool read_word(struct flow *flow, struct error *error)
{
    struct json_file file;
    int row = 0;

    if (!json_read("common/data/router/tokens.json", &file, error))
        return false;
    const struct json *token = file.values->type == JSON_ARRAY ? file.values->first : NULL;
    for (; token && row < flow->row; row++)
        token = token->next;
    const bool there = token && token->type == JSON_STRING;
    if (there)
        snprintf(flow->word, sizeof flow->word, "%s", token->string);
    json_free(&file);
    return there || error_set(error, "common/data/router/tokens.json: it has no word %d", flow->row);
}

/* --- the gate, once more ---------------------------------------------------------------------------------------------- */

static void add_up_groups(struct flow *flow)
{
    for (int group = 0; group < GROUPS; group++) {
        int *const best = flow->best[group];

        best[0] = best[1] = -1;
        for (int i = group * GROUP; i < (group + 1) * GROUP; i++)
            if (best[0] < 0 || flow->choice[i] > flow->choice[best[0]]) {
                best[1] = best[0];
                best[0] = i;
            } else if (best[1] < 0 || flow->choice[i] > flow->choice[best[1]]) {
                best[1] = i;
            }
        flow->group[group] = flow->choice[best[0]] + flow->choice[best[1]];
    }
    for (int group = 0; group < GROUPS; group++) {
        int before = 0;

        for (int other = 0; other < GROUPS; other++)
            before += flow->group[other] > flow->group[group];
        flow->kept[group] = before < KEPT;
    }
}

/** Whether the ids are the best of the kept groups, in order, and the weights what their scores give. */
static bool is_answer(const struct flow *flow)
{
    double sum = 0.0;

    for (int i = 0; i < TOPK; i++) {
        int before = 0;

        if (flow->id[i] < 0 || flow->id[i] >= EXPERTS || !flow->kept[flow->id[i] / GROUP])
            return false;
        for (int other = 0; other < EXPERTS; other++)
            before += flow->kept[other / GROUP] && flow->choice[other] > flow->choice[flow->id[i]];
        if (before != i)
            return false;
        sum += flow->score[flow->id[i]];
    }
    for (int i = 0; i < TOPK; i++)
        if (fabs(flow->weight[i] - scale * flow->score[flow->id[i]] / sum) > 1e-5)
            return false;
    return true;
}

/* --- drawing ---------------------------------------------------------------------------------------------------------- */

static double expert_x(int expert)
{
    return LEFT + PITCH * (expert / GROUP) + (expert % GROUP + 0.5) * GROUP_WIDTH / GROUP;
}

static double chosen_x(int place)
{
    return LEFT + PITCH * place + GROUP_WIDTH / 2.0;
}

static bool is_chosen(const struct flow *flow, int expert)
{
    for (int i = 0; i < TOPK; i++)
        if (flow->id[i] == expert)
            return true;
    return false;
}

/** All bars of one kind, as one path: 0 of groups that are left out, 1 of those that stay, 2 chosen. */
static void draw_bars(FILE *out, const struct flow *flow, int kind, const char *colour)
{
    double most = 0.0;

    for (int i = 0; i < EXPERTS; i++)
        most = fmax(most, flow->choice[i]);
    fputs("<path class=\"f\" d=\"", out);
    for (int i = 0; i < EXPERTS; i++)
        if (kind == (is_chosen(flow, i) ? 2 : flow->kept[i / GROUP]))
            fprintf(out, "M%.5g %dv-%.4g", expert_x(i), BARS_TOP + BARS, fmax(1.0, BARS * flow->choice[i] / most));
    fprintf(out, "\" stroke=\"%s\" stroke-width=\"%d\"/>\n", colour, BAR);
}

static void draw_groups(FILE *out, const struct flow *flow)
{
    for (int group = 0; group < GROUPS; group++) {
        const double x = LEFT + PITCH * group, middle = x + GROUP_WIDTH / 2.0;
        const bool kept = flow->kept[group];

        svg_line(out, x, BARS_TOP + BARS + 1, x + GROUP_WIDTH, BARS_TOP + BARS + 1, "#1a1a1a", 1, 0);
        for (int i = 0; i < 2; i++)
            svg_line(out, expert_x(flow->best[group][i]), BARS_TOP + BARS + 3, middle, BOXES - 2,
                     kept ? SVG_BLUE : SVG_GREY, kept ? 1.4 : 0.8, 0);
        svg_rectangle(out, x, BOXES, GROUP_WIDTH, BOX_HEIGHT, kept ? "#a5d6f3" : "#ffffff",
                      kept ? SVG_BLUE : "#b5b5b0");
        svg_text(out, middle, BOXES + 17, kept ? SVG_MIDDLE_STRONG : SVG_MIDDLE, "group %d: %.3f", group,
                 flow->group[group]);
        svg_text(out, middle, BOXES + 33, SVG_MIDDLE, kept ? "stays" : "is left out");
    }
}

static void draw_chosen(FILE *out, const struct flow *flow)
{
    for (int i = 0; i < TOPK; i++) {
        const int expert = flow->id[i];

        svg_line(out, expert_x(expert), BOXES + BOX_HEIGHT + 2, chosen_x(i), CHOSEN - 3, SVG_VERMILLION, 1.4, 0);
        svg_rectangle(out, chosen_x(i) - GROUP_WIDTH / 2.0, CHOSEN, GROUP_WIDTH, BOX_HEIGHT + 16, "#f0b48a",
                      SVG_VERMILLION);
        svg_text(out, chosen_x(i), CHOSEN + 17, SVG_MIDDLE_STRONG, "expert %d", expert);
        svg_text(out, chosen_x(i), CHOSEN + 33, SVG_MIDDLE, "score %.3f", flow->score[expert]);
        svg_text(out, chosen_x(i), CHOSEN + 49, SVG_MIDDLE, "weight %.3f", flow->weight[i]);
    }
}

static void draw(FILE *out, const struct flow *flow)
{
    char title[160];

    snprintf(title, sizeof title, "One token through the gate: the word \"%.40s\", row %d of the data", flow->word,
             flow->row);
    svg_begin(out, WIDTH, HEIGHT, title,
              "Above, 256 bars in eight groups: score plus bias of each expert. The two best of a group are added; the "
              "four groups with the largest sums stay. Of their experts the eight best are chosen. Below, the chosen "
              "experts in order, each with its score and its weight.");
    svg_text(out, LEFT, 24, SVG_LEFT_STRONG, "%s", title);
    svg_text(out, LEFT, BARS_TOP - 28, SVG_LEFT, "256 experts in 8 groups: a bar is score + bias");
    draw_bars(out, flow, 0, "#b5b5b0");
    draw_bars(out, flow, 1, SVG_SKY);
    draw_bars(out, flow, 2, SVG_VERMILLION);
    draw_groups(out, flow);
    svg_text(out, LEFT, BOXES + BOX_HEIGHT + 20, SVG_LEFT, "A group counts its two best, added up. 4 groups stay.");
    draw_chosen(out, flow);
    svg_text(
        out, LEFT, CHOSEN + 78, SVG_LEFT,
        "Of the experts in groups that stay, the 8 best, in order. A weight is the score (without the bias) / the 8 "
        "scores' sum * 2.5.");
    svg_end(out);
}

bool figure_flow(FILE *out, const char *directory, struct error *error)
{
    static struct flow flow;

    if (!read_answer(directory, &flow, error) || !read_scores(&flow, error) || !read_word(&flow, error))
        return false;
    add_up_groups(&flow);
    if (!is_answer(&flow))
        return error_set(error, "%s: its last row is not what the router's scores give", directory);
    draw(out, &flow);
    return true;
}
