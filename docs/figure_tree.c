#include "figure_tree.h"

#include "svg.h"

#include <string.h>

enum { MAX_WORDS = 16, MAX_STEPS = 24, WORD_BYTES = 4 };
enum { LEFT = 190, WIDTH = 92, CELL = 64, ROW = 26, GAP = 52, TOP = 76 };

/** What an interval between two barriers does to the words. */
struct tree_step {
    int32_t value[MAX_WORDS];   /**< after it */
    uint32_t source[MAX_WORDS]; /**< bit i: word i went into the new value */
    uint32_t stored;            /**< bit i: word i has a new value */
    bool has_aside;             /**< a value went to a word that is not shown */
    int32_t aside;
};

/** The words while the trace is followed. */
struct tree {
    const struct trace *trace;
    int count;
    int32_t before[MAX_WORDS], now[MAX_WORDS];
    bool known[MAX_WORDS];                         /**< atomics leave a word unknown until it is read */
    uint32_t loaded[TRACE_MAX_WARPS][TRACE_LANES]; /**< words that a lane has read in this interval */
    int32_t read[TRACE_MAX_WARPS][TRACE_LANES][MAX_WORDS];
    struct tree_step step, steps[MAX_STEPS];
    int32_t first[MAX_WORDS];
    int num_steps;
    bool sums; /**< this interval has made the sum of two words */
};

/* --- following the trace ---------------------------------------------------------------------------------------------- */

/** The word that a lane touches; -1 if it is none of those shown. */
static int word_of(const struct tree *tree, const struct trace_lane *lane)
{
    const int64_t from = lane->offset - tree->trace->dynamic_offset;

    return from >= 0 && from < (int64_t)tree->count * WORD_BYTES && from % WORD_BYTES == 0 ? (int)(from / WORD_BYTES)
                                                                                           : -1;
}

/** The words that the value was made of: two that a lane has read and whose sum it is, or one that it equals. */
static uint32_t sources_of(const struct tree *tree, int warp, int lane, int word, int32_t value)
{
    const uint32_t loaded = tree->loaded[warp][lane];
    const int32_t *const read = tree->read[warp][lane];
    uint32_t same = 0;

    for (int a = 0; a < tree->count; a++) {
        if (!(loaded >> a & 1))
            continue;
        for (int b = a + 1; b < tree->count; b++)
            if (loaded >> b & 1 && read[a] + read[b] == value)
                return UINT32_C(1) << a | UINT32_C(1) << b;
        if (read[a] == value && (same == 0 || a != word))
            same = UINT32_C(1) << a;
    }
    return same;
}

static void load(struct tree *tree, int warp, int lane, int word, int32_t value)
{
    if (!tree->known[word])
        tree->before[word] = tree->now[word] = value;
    tree->known[word] = true;
    tree->loaded[warp][lane] |= UINT32_C(1) << word;
    tree->read[warp][lane][word] = value;
}

static void store(struct tree *tree, int warp, int lane, int word, int32_t value)
{
    const uint32_t sources = sources_of(tree, warp, lane, word, value);

    tree->now[word] = value;
    tree->known[word] = true;
    tree->step.stored |= UINT32_C(1) << word;
    tree->step.source[word] = sources;
    tree->sums = tree->sums || (sources & (sources - 1)) != 0;
}

static void follow_event(struct tree *tree, const struct trace_event *event)
{
    for (int lane = 0; lane < TRACE_LANES; lane++) {
        const int word = word_of(tree, &event->lane[lane]);
        const int32_t value = (int32_t)event->lane[lane].word[0];

        if (!(event->lanes >> lane & 1))
            continue;
        if (word < 0 && event->kind == TRACE_SHARED_STORE) {
            tree->step.has_aside = true;
            tree->step.aside = value;
        } else if (word >= 0 && event->kind == TRACE_SHARED_LOAD) {
            load(tree, event->warp, lane, word, value);
        } else if (word >= 0 && event->kind == TRACE_SHARED_STORE) {
            store(tree, event->warp, lane, word, value);
        } else if (word >= 0) {
            tree->known[word] = false;
        }
    }
}

/** A barrier, or the end: the interval is a step if it belongs to the tree. False: there are too many. */
static bool end_interval(struct tree *tree)
{
    if (tree->step.stored && (tree->sums || tree->num_steps > 0)) {
        if (tree->num_steps == MAX_STEPS)
            return false;
        if (tree->num_steps == 0)
            memcpy(tree->first, tree->before, sizeof tree->first);
        memcpy(tree->step.value, tree->now, sizeof tree->now);
        tree->steps[tree->num_steps++] = tree->step;
    }
    tree->step = (struct tree_step){0};
    tree->sums = false;
    memset(tree->loaded, 0, sizeof tree->loaded);
    memcpy(tree->before, tree->now, sizeof tree->before);
    return true;
}

static bool follow(struct tree *tree, struct error *error)
{
    const struct trace *const trace = tree->trace;
    int barriers = 0;
    bool room = true;

    for (size_t i = 0; i < trace->num_events && room; i++) {
        if (trace->events[i].kind == TRACE_BLOCK_BARRIER && trace->events[i].barrier == barriers) {
            room = end_interval(tree);
            barriers++;
        } else if (trace_is_shared(&trace->events[i])) {
            follow_event(tree, &trace->events[i]);
        }
    }
    if (!room || !end_interval(tree))
        return error_set(error, "%s: its tree has more than %d steps", trace->files[0], MAX_STEPS);
    return tree->num_steps > 0 || error_set(error, "%s: no word becomes the sum of two", trace->files[0]);
}

/* --- drawing ---------------------------------------------------------------------------------------------------------- */

static double word_x(int word)
{
    return LEFT + WIDTH * word + WIDTH / 2.0;
}

/** Words that a step gives another value, or one that other words went into. */
static uint32_t changed(const struct tree *tree, const struct tree_step *step)
{
    uint32_t words = step->stored;

    for (int word = 0; word < tree->count; word++)
        if (step->source[word] == UINT32_C(1) << word)
            words &= ~(UINT32_C(1) << word);
    return words;
}

static void draw_row(FILE *out, const struct tree *tree, double y, const int32_t *values, uint32_t stored)
{
    for (int word = 0; word < tree->count; word++) {
        svg_rectangle(out, word_x(word) - CELL / 2.0, y, CELL, ROW, stored >> word & 1 ? "#a5d6f3" : "#ffffff",
                      "#8a8a8a");
        svg_text(out, word_x(word), y + 18, stored >> word & 1 ? SVG_MIDDLE_STRONG : SVG_MIDDLE, "%d",
                 (int)values[word]);
    }
}

static void draw_arrows(FILE *out, const struct tree *tree, const struct tree_step *step, double y)
{
    const uint32_t stored = changed(tree, step);

    for (int word = 0; word < tree->count; word++) {
        const uint32_t sources = step->source[word];

        if (!(stored >> word & 1))
            svg_line(out, word_x(word), y + 1, word_x(word), y + GAP - 1, "#b5b5b0", 0.8, 0);
        for (int source = 0; source < tree->count && stored >> word & 1; source++)
            if (sources >> source & 1)
                svg_line(out, word_x(source), y + 1, word_x(word) + (source - word) * 2.0, y + GAP - 2,
                         sources & (sources - 1) ? SVG_VERMILLION : SVG_BLUE, 1.6, 1);
    }
}

/** Whether a word gets what another one held: only going down does that. */
static bool goes_down(const struct tree *tree, const struct tree_step *step)
{
    for (int word = 0; word < tree->count; word++) {
        const uint32_t sources = step->source[word];

        if (sources && !(sources & (sources - 1)) && sources != UINT32_C(1) << word)
            return true;
    }
    return false;
}

static void draw_step(FILE *out, const struct tree *tree, int number, double y, int *ups, int *downs)
{
    const struct tree_step *const step = &tree->steps[number];
    const bool down = goes_down(tree, step);
    int *const count = down ? downs : ups;

    draw_arrows(out, tree, step, y);
    ++*count;
    svg_text(out, 14, y + GAP + 12, SVG_LEFT_STRONG, "%s, step %d", down ? "down" : "up", *count);
    if (step->has_aside)
        svg_text(out, 14, y + GAP + 28, SVG_LEFT, "%d is kept as the total", (int)step->aside);
    else
        svg_text(out, 14, y + GAP + 28, SVG_LEFT, "one barrier");
    draw_row(out, tree, y + GAP, step->value, changed(tree, step));
}

static void draw(FILE *out, const struct tree *tree)
{
    const int pitch = ROW + GAP, height = TOP + pitch * tree->num_steps + ROW + 44;
    int ups = 0, downs = 0;

    svg_begin(out, LEFT + WIDTH * tree->count + 16, height, "Sums of what lies before: up a tree and down again",
              "Words of shared memory in columns, one row after each barrier. Going up, every second word, then every "
              "fourth and so on becomes the sum of itself and the word half as far to the left. The root is set to 0. "
              "Going down, each left word gets what its right partner held, and the right one gets the sum of both. At "
              "the end each word holds the sum of all words before it.");
    svg_text(out, 14, 24, SVG_LEFT_STRONG, "Sums of what lies before: up a tree and down again");
    for (int word = 0; word < tree->count; word++)
        svg_text(out, word_x(word), TOP - 10, SVG_MIDDLE, "[%d]", word);
    svg_text(out, 14, TOP - 10, SVG_LEFT, "word of shared memory");
    svg_text(out, 14, TOP + 18, SVG_LEFT_STRONG, "counts");
    draw_row(out, tree, TOP, tree->first, 0);
    for (int i = 0; i < tree->num_steps; i++)
        draw_step(out, tree, i, TOP + ROW + pitch * i, &ups, &downs);
    svg_text(out, 14, height - 16, SVG_LEFT,
             "Two red arrows meet in the sum of two words. A blue arrow is a copy. Bold values on blue have just been "
             "stored.");
    svg_end(out);
}

bool figure_tree(FILE *out, const struct trace *trace, int count, struct error *error)
{
    static struct tree tree; /* too large for some stacks */

    tree = (struct tree){.trace = trace, .count = count};
    if (count > MAX_WORDS || trace->dynamic_bytes < (int64_t)count * WORD_BYTES)
        return error_set(error, "%s: it has no %d words of dynamic shared memory", trace->files[0], count);
    if (!follow(&tree, error))
        return false;
    draw(out, &tree);
    return true;
}
