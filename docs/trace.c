#include "trace.h"

#include "../tests/simt/json.h"
#include "harness/core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[TRACE_KINDS] = {"shuffle",     "vote",         "warp_barrier", "block_barrier",
                                                    "shared_load", "shared_store", "global_load",  "global_store",
                                                    "atomic",      "return"};

/* --- one event -------------------------------------------------------------------------------------------------------- */

static bool parse_kind(const char *name, enum trace_kind *kind)
{
    for (int i = 0; i < TRACE_KINDS; i++) {
        *kind = (enum trace_kind)i;
        if (strcmp(name, kind_names[i]) == 0)
            return true;
    }
    return false;
}

/** Cuts "0x" and up to 32 hexadecimal digits into words, the low bits first. */
static bool parse_words(const char *text, uint32_t words[TRACE_WORDS])
{
    size_t length = strlen(text);

    memset(words, 0, TRACE_WORDS * sizeof *words);
    if (length < 3 || length > 2 + 8 * TRACE_WORDS || strncmp(text, "0x", 2) != 0 ||
        strspn(text + 2, "0123456789abcdef") != length - 2)
        return false;
    for (int i = 0; length > 2; i++) {
        const size_t digits = length - 2 < 8 ? length - 2 : 8;
        char piece[9] = "";

        length -= digits;
        memcpy(piece, text + length, digits);
        words[i] = (uint32_t)strtoul(piece, NULL, 16);
    }
    return true;
}

enum column { COLUMN_FROM, COLUMN_ALLOCATION, COLUMN_OFFSET, COLUMN_WORD, COLUMN_OUT };

static bool parse_cell(const struct json *json, enum column column, struct trace_lane *lane)
{
    const bool number = json->type == JSON_NUMBER && json->number >= -1 && json->number < 1e15;

    switch (column) {
    case COLUMN_FROM:
        lane->from = number && json->number < TRACE_LANES ? (int)json->number : -1;
        return number && json->number < TRACE_LANES;
    case COLUMN_ALLOCATION:
        lane->allocation = number ? (int)json->number : -1;
        return number;
    case COLUMN_OFFSET:
        lane->offset = number ? (int64_t)json->number : 0;
        return number;
    case COLUMN_WORD:
        lane->known = json->type == JSON_STRING;
        return !lane->known ? json->type == JSON_NULL : parse_words(json->string, lane->word);
    default:
        return json->type == JSON_STRING && parse_words(json->string, lane->out);
    }
}

/** Reads a column for the lanes that take part. A column that is not there is fine. */
static bool parse_column(const struct json *object, const char *name, enum column column, struct trace_event *event)
{
    const struct json *const array = json_member(object, name);
    const struct json *cell = array ? array->first : NULL;

    if (!array)
        return true;
    for (int lane = 0; lane < TRACE_LANES; lane++, cell = cell->next) {
        if (!cell)
            return false;
        if (event->lanes >> lane & 1 && !parse_cell(cell, column, &event->lane[lane]))
            return false;
    }
    return true;
}

/** The number that names a file; -1 if there are too many. */
static int file_number(struct trace *trace, const char *name)
{
    for (int i = 0; i < trace->num_files; i++)
        if (strcmp(trace->files[i], name) == 0)
            return i;
    if (trace->num_files == TRACE_MAX_FILES)
        return -1;
    trace->files[trace->num_files] = name;
    return trace->num_files++;
}

/** Every lane receives what the lane it reads has brought. */
static bool shuffle_adds_up(const struct trace_event *event)
{
    for (int lane = 0; lane < TRACE_LANES; lane++)
        if (event->lanes >> lane & 1 &&
            memcmp(event->lane[lane].out, event->lane[event->lane[lane].from].word, sizeof event->lane[lane].out) != 0)
            return false;
    return true;
}

static bool parse_event(const struct json *json, struct trace *trace, struct trace_event *event)
{
    const double lanes = json_number(json, "lanes", -1), warp = json_number(json, "warp", -1);

    memset(event, 0, sizeof *event);
    if (!parse_kind(json_string(json, "kind", ""), &event->kind) || lanes < 1 || lanes > UINT32_MAX || warp < 0 ||
        warp >= TRACE_MAX_WARPS)
        return false;
    event->warp = (int)warp;
    event->lanes = (uint32_t)lanes;
    event->line = (int)json_number(json, "line", 0);
    event->file = file_number(trace, json_string(json, "file", trace->files[0]));
    event->bytes = (int)json_number(json, "bytes", 4);
    event->barrier = (int)json_number(json, "barrier", -1);
    event->operation = json_string(json, "operation", "");
    event->in_global = strcmp(json_string(json, "space", ""), "global") == 0;
    if (!parse_column(json, "from", COLUMN_FROM, event) ||
        !parse_column(json, "allocation", COLUMN_ALLOCATION, event) ||
        !parse_column(json, "offset", COLUMN_OFFSET, event) || !parse_column(json, "value", COLUMN_WORD, event) ||
        !parse_column(json, "in", COLUMN_WORD, event) || !parse_column(json, "out", COLUMN_OUT, event))
        return false;
    for (int lane = 0; event->kind == TRACE_SHUFFLE && lane < TRACE_LANES; lane++)
        if (event->lane[lane].from < 0)
            event->lane[lane].from = lane;
    return event->file >= 0 && (event->kind != TRACE_SHUFFLE || shuffle_adds_up(event));
}

/* --- a file ----------------------------------------------------------------------------------------------------------- */

static size_t count_elements(const struct json *array)
{
    size_t count = 0;

    for (const struct json *element = array->first; element; element = element->next)
        count++;
    return count;
}

static bool parse_root(const struct json *root, struct trace *trace)
{
    const struct json *const block = json_member(root, "block"), *const truncated = json_member(root, "truncated");
    const struct json *const dynamic = json_member(root, "dynamic_shared");
    double threads = 1;

    if (!block || !truncated || truncated->boolean || !dynamic || !json_member(root, "events"))
        return false;
    for (const struct json *size = block->first; size; size = size->next)
        threads *= size->number;
    trace->warps = (int)((threads + TRACE_LANES - 1) / TRACE_LANES);
    trace->kernel = json_string(root, "kernel", "");
    trace->files[0] = json_string(root, "source", "");
    trace->num_files = 1;
    trace->dynamic_offset = (int64_t)json_number(dynamic, "offset", 0);
    trace->dynamic_bytes = (int64_t)json_number(dynamic, "bytes", 0);
    return trace->warps >= 1 && trace->warps <= TRACE_MAX_WARPS;
}

static bool parse_trace(const char *path, const struct json *root, struct trace *trace, struct error *error)
{
    const struct json *event;
    void *memory;
    size_t count;

    if (!parse_root(root, trace))
        return error_set(error, "%s: it is no trace of a whole kernel", path);
    count = count_elements(json_member(root, "events"));
    if (count == 0)
        return error_set(error, "%s: the kernel did nothing that is traced", path);
    if (!memory_allocate(&memory, count * sizeof *trace->events, error))
        return false;
    trace->events = memory;
    trace->num_events = count;
    event = json_member(root, "events")->first;
    for (size_t i = 0; i < count; i++, event = event->next)
        if (!parse_event(event, trace, &trace->events[i]))
            return error_set(error, "%s: event %zu is none that a trace has", path, i);
    return true;
}

bool trace_read(const char *path, struct trace *trace, struct error *error)
{
    struct json_file *file = malloc(sizeof *file);

    *trace = (struct trace){.memory = file};
    if (!file)
        return error_set(error, "%s: out of memory", path);
    *file = (struct json_file){0};
    if (!json_read(path, file, error)) {
        free(file);
        return false;
    }
    if (parse_trace(path, file->values, trace, error))
        return true;
    trace_free(trace);
    return false;
}

void trace_free(struct trace *trace)
{
    free(trace->events);
    json_free(trace->memory);
    free(trace->memory);
    *trace = (struct trace){0};
}

bool trace_is_shared(const struct trace_event *event)
{
    return event->kind == TRACE_SHARED_LOAD || event->kind == TRACE_SHARED_STORE ||
           (event->kind == TRACE_ATOMIC && !event->in_global);
}

/* --- values ----------------------------------------------------------------------------------------------------------- */

float trace_float(uint32_t word)
{
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

void trace_word_text(uint32_t word, char text[TRACE_TEXT_SIZE])
{
    const float value = trace_float(word);

    if (isinf(value))
        snprintf(text, TRACE_TEXT_SIZE, "%s", value > 0 ? "inf" : "-inf");
    else if (fabsf(value) >= 1e-9f && fabsf(value) < 1e9f)
        snprintf(text, TRACE_TEXT_SIZE, "%.4g", (double)value);
    else
        snprintf(text, TRACE_TEXT_SIZE, "%" PRId32, (int32_t)word);
}
