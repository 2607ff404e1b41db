#include "stepper_data.h"

#include "harness/core/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_LANES = 4 };

/** Every 32 bits that occur, in order. */
struct values {
    uint32_t *word;
    size_t count;
};

bool stepper_shows(const struct trace_event *event, int last_barrier)
{
    return event->kind != TRACE_BLOCK_BARRIER || event->barrier > last_barrier;
}

/** The words that the event has values of. */
static int words_of(const struct trace_event *event)
{
    return event->bytes > 4 ? event->bytes / 4 : 1;
}

/* --- values ----------------------------------------------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static bool collect_values(const struct trace *trace, struct values *values, struct error *error)
{
    void *memory;
    size_t count = 0, kept = 0;

    if (!memory_allocate(&memory, trace->num_events * TRACE_LANES * (TRACE_WORDS + 1) * sizeof *values->word, error))
        return false;
    values->word = memory;
    for (size_t i = 0; i < trace->num_events; i++) {
        const struct trace_event *const event = &trace->events[i];

        for (int lane = 0; lane < TRACE_LANES; lane++) {
            if (!(event->lanes >> lane & 1) || event->kind == TRACE_BLOCK_BARRIER || event->kind == TRACE_RETURN)
                continue;
            for (int word = 0; word < words_of(event); word++)
                values->word[count++] = event->lane[lane].word[word];
            if (event->kind == TRACE_VOTE)
                values->word[count++] = event->lane[lane].out[0];
        }
    }
    qsort(values->word, count, sizeof *values->word, compare_words);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || values->word[kept - 1] != values->word[i])
            values->word[kept++] = values->word[i];
    values->count = kept;
    return true;
}

static int64_t value_index(const struct values *values, uint32_t word)
{
    const uint32_t *const found = bsearch(&word, values->word, values->count, sizeof word, compare_words);

    return found ? found - values->word : -1;
}

static void write_values(FILE *out, const struct values *values)
{
    char text[TRACE_TEXT_SIZE];

    fputs("\"values\":[", out);
    for (size_t i = 0; i < values->count; i++) {
        trace_word_text(values->word[i], text);
        fprintf(out, "%s\"%s\"", i == 0 ? "" : i % 16 == 0 ? ",\n" : ",", text);
    }
    fputs("],\n", out);
}

/* --- events ----------------------------------------------------------------------------------------------------------- */

/** A column: an element for each lane that takes part. */
struct column {
    int64_t element[TRACE_LANES];
    int count;
};

static void write_column(FILE *out, const struct column *column)
{
    const int64_t *const element = column->element;
    const int64_t step = column->count > 1 ? element[1] - element[0] : 0;
    bool regular = true;

    for (int i = 1; i < column->count; i++)
        regular = regular && element[i] - element[i - 1] == step;
    if (regular && step == 0) {
        fprintf(out, ",%" PRId64, element[0]);
    } else if (regular && column->count > 2) {
        fprintf(out, ",\"%" PRId64 ":%" PRId64 "\"", element[0], step);
    } else {
        for (int i = 0; i < column->count; i++)
            fprintf(out, "%s%" PRId64, i == 0 ? ",[" : ",", element[i]);
        fputc(']', out);
    }
}

enum content { CONTENT_FROM, CONTENT_REGION, CONTENT_INDEX, CONTENT_VALUE, CONTENT_RESULT };

static struct column make_column(const struct trace_event *event, enum content content, int word,
                                 const struct memory_map *map, const struct values *values)
{
    struct column column = {.count = 0};

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        const struct trace_lane *const cell = &event->lane[lane];
        const int region = content == CONTENT_REGION || content == CONTENT_INDEX ? memory_map_find(map, event, lane)
                                                                                 : -1;
        int64_t element = cell->from;

        if (!(event->lanes >> lane & 1))
            continue;
        if (content == CONTENT_REGION)
            element = region;
        else if (content == CONTENT_INDEX)
            element = cell->offset / 4 - (region >= 0 ? map->regions[region].first : 0);
        else if (content == CONTENT_VALUE)
            element = cell->known ? value_index(values, cell->word[word]) : -1;
        else if (content == CONTENT_RESULT)
            element = value_index(values, cell->out[0]);
        column.element[column.count++] = element;
    }
    return column;
}

static void write_content(FILE *out, const struct trace_event *event, enum content content, int word,
                          const struct memory_map *map, const struct values *values)
{
    const struct column column = make_column(event, content, word, map, values);

    write_column(out, &column);
}

static void write_event(FILE *out, const struct trace_event *event, const struct memory_map *map,
                        const struct values *values)
{
    const bool barrier = event->kind == TRACE_BLOCK_BARRIER;

    fprintf(out, "[%d,%d,%d,%d,%" PRIu32, (int)event->kind, barrier ? -1 : event->warp, event->file, event->line,
            event->lanes);
    if (barrier) {
        fprintf(out, ",%d", event->barrier + 1);
    } else if (event->kind == TRACE_SHUFFLE || event->kind == TRACE_VOTE) {
        if (event->kind == TRACE_SHUFFLE)
            write_content(out, event, CONTENT_FROM, 0, map, values);
        write_content(out, event, CONTENT_VALUE, 0, map, values);
        if (event->kind == TRACE_VOTE)
            write_content(out, event, CONTENT_RESULT, 0, map, values);
    } else if (memory_accesses(event)) {
        fprintf(out, ",%d", words_of(event));
        write_content(out, event, CONTENT_REGION, 0, map, values);
        write_content(out, event, CONTENT_INDEX, 0, map, values);
        for (int word = 0; word < words_of(event); word++)
            write_content(out, event, CONTENT_VALUE, word, map, values);
    }
    fputc(']', out);
}

bool stepper_data_write(FILE *out, const struct trace *trace, const struct memory_map *map, struct error *error)
{
    struct values values;
    int barrier = -1;

    if (!collect_values(trace, &values, error))
        return false;
    fprintf(out, "{\"warps\":%d,\n\"regions\":[", trace->warps);
    for (int i = 0; i < map->num_regions; i++)
        fprintf(out, "%s[%d,\"%s\",%" PRId64 ",%" PRId64 "]", i > 0 ? ",\n" : "", map->regions[i].space,
                map->regions[i].name, map->regions[i].first, map->regions[i].count);
    fputs("],\n", out);
    write_values(out, &values);
    fputs("\"events\":[", out);
    for (size_t i = 0; i < trace->num_events; i++) {
        const struct trace_event *const event = &trace->events[i];

        if (!stepper_shows(event, barrier))
            continue;
        if (event->kind == TRACE_BLOCK_BARRIER)
            barrier = event->barrier;
        fputs(i > 0 ? ",\n" : "\n", out);
        write_event(out, event, map, &values);
    }
    fputs("]}\n", out);
    free(values.word);
    return true;
}

/* --- for people ------------------------------------------------------------------------------------------------------- */

static void write_lanes(FILE *out, uint32_t lanes)
{
    const int count = __builtin_popcount(lanes);

    if (count == 1)
        fprintf(out, "lane %d", __builtin_ctz(lanes));
    else if (count == TRACE_LANES)
        fputs("all lanes", out);
    else
        fprintf(out, "%d lanes", count);
}

/** How far each lane reads, if that is the same for all; else only that they read. */
static void write_shuffle(FILE *out, const struct trace_event *event)
{
    const int first = __builtin_ctz(event->lanes), other = 31 - __builtin_clz(event->lanes);
    const int from = event->lane[first].from, apart = first ^ from, below = other - event->lane[other].from;
    bool same = true, flipped = true, shifted = true;

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        const int source = event->lane[lane].from;

        if (!(event->lanes >> lane & 1))
            continue;
        same = same && source == from;
        flipped = flipped && source == (lane ^ apart);
        shifted = shifted && (source == lane - below || source == lane);
    }
    write_lanes(out, event->lanes);
    if (same)
        fprintf(out, " read lane %d", from);
    else if (flipped)
        fprintf(out, " read lane ^ %d", apart);
    else if (shifted && below > 0)
        fprintf(out, " read lane - %d where there is one", below);
    else
        fputs(" read another lane each", out);
    fprintf(out, " (%s)", event->operation);
}

static void write_access(FILE *out, const struct memory_map *map, const struct source_text *sources,
                         const struct trace_event *event)
{
    const bool loads = event->kind == TRACE_SHARED_LOAD || event->kind == TRACE_GLOBAL_LOAD;
    const bool one = __builtin_popcount(event->lanes) == 1;
    const int region = memory_map_find(map, event, __builtin_ctz(event->lanes));
    char name[MAP_NAME_SIZE], text[TRACE_TEXT_SIZE];
    const char *separator = ": ";

    memory_name(&sources[event->file], event->line, event->kind, name);
    if (region >= 0)
        snprintf(name, sizeof name, "%s", map->regions[region].name);
    write_lanes(out, event->lanes);
    fputs(event->kind == TRACE_ATOMIC ? one ? " adds to " : " add to "
          : loads                     ? one ? " reads " : " read "
          : one                       ? " writes "
                                      : " write ",
          out);
    fprintf(out, "%s in %s memory", name[0] ? name : "what lies", trace_is_shared(event) ? "shared" : "global");
    if (words_of(event) > 1)
        fprintf(out, ", %d words each", words_of(event));
    for (int lane = 0; lane < TRACE_LANES && __builtin_popcount(event->lanes) <= FEW_LANES; lane++) {
        if (!(event->lanes >> lane & 1) || !event->lane[lane].known)
            continue;
        trace_word_text(event->lane[lane].word[0], text);
        fprintf(out, "%s%s", separator, text);
        separator = ", ";
    }
    if (event->kind == TRACE_ATOMIC && __builtin_popcount(event->lanes) <= FEW_LANES)
        fputs(one ? " was there before" : " were there before", out);
}

void stepper_text_write(FILE *out, const struct trace *trace, const struct memory_map *map,
                        const struct source_text *sources, const struct trace_event *event)
{
    switch (event->kind) {
    case TRACE_SHUFFLE:
        write_shuffle(out, event);
        break;
    case TRACE_VOTE:
        write_lanes(out, event->lanes);
        fprintf(out, " vote (%s)", event->operation);
        break;
    case TRACE_WARP_BARRIER:
        write_lanes(out, event->lanes);
        fputs(" of the warp meet", out);
        break;
    case TRACE_BLOCK_BARRIER:
        fprintf(out, "barrier %d: %s have come", event->barrier + 1,
                trace->warps == 1 ? "all threads" : "all threads of all warps");
        break;
    case TRACE_RETURN:
        write_lanes(out, event->lanes);
        fputs(__builtin_popcount(event->lanes) == 1 ? " is done" : " are done", out);
        break;
    default:
        write_access(out, map, sources, event);
    }
}
