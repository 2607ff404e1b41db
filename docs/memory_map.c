#include "memory_map.h"

#include "harness/core/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 4 };

/** One word that is written, in the order of the trace. */
struct written {
    int space;
    int64_t word;
    size_t order;
    int file, line;
    enum trace_kind kind;
};

/* --- names ------------------------------------------------------------------------------------------------------------ */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/** Copies the name that ends before `end`; false if there is none. */
static bool name_before(const char *begin, const char *end, char name[MAP_NAME_SIZE])
{
    const char *first = end;

    while (first > begin && is_word(first[-1]))
        first--;
    if (first == end || isdigit((unsigned char)*first) || end - first >= MAP_NAME_SIZE)
        return false;
    memcpy(name, first, (size_t)(end - first));
    name[end - first] = '\0';
    return true;
}

/** The first name with an index behind it. */
static bool indexed_name(const char *text, char name[MAP_NAME_SIZE])
{
    for (const char *bracket = strchr(text, '['); bracket; bracket = strchr(bracket + 1, '['))
        if (name_before(text, bracket, name))
            return true;
    return false;
}

/** The first name in "(name + ...". */
static bool offset_name(const char *text, char name[MAP_NAME_SIZE])
{
    for (const char *plus = strstr(text, " + "); plus; plus = strstr(plus + 1, " + "))
        if (name_before(text, plus, name))
            return true;
    return false;
}

/** What a pointer of this name points into, if the source says `name = (type *)(array + ...`. */
static void follow_alias(const struct source_text *source, int line, char name[MAP_NAME_SIZE])
{
    char declaration[MAP_NAME_SIZE + 8];

    snprintf(declaration, sizeof declaration, "const %s = (", name);
    for (int i = line - 1; i > 0 && i > line - 20; i--) {
        const char *const found = strstr(source->lines[i - 1].text, declaration);

        if (found && strchr(found, '*') && offset_name(found, name))
            return;
    }
}

void memory_name(const struct source_text *source, int line, enum trace_kind kind, char name[MAP_NAME_SIZE])
{
    const char *text, *atomic;

    name[0] = '\0';
    if (line < 1 || line > source->num_lines)
        return;
    text = source->lines[line - 1].text + strspn(source->lines[line - 1].text, " ");
    atomic = strstr(text, "atomicAdd(&");
    if (kind == TRACE_ATOMIC && atomic)
        text = atomic;
    else if ((kind == TRACE_GLOBAL_LOAD || kind == TRACE_SHARED_LOAD) && strstr(text, " = "))
        text = strstr(text, " = ");
    if (text[0] != '*' && (kind == TRACE_SHARED_STORE || kind == TRACE_GLOBAL_STORE)) { /* a variable's assignment */
        const size_t length = strcspn(text, " [(=;");

        if (strncmp(text + length, " = ", 3) == 0 && name_before(text, text + length, name))
            return;
    }
    if (text[0] == '*') {
        const char *end = text + 1;

        while (is_word(*end))
            end++;
        name_before(text + 1, end, name);
    } else if (!indexed_name(text, name)) {
        offset_name(text, name);
    }
    follow_alias(source, line, name);
}

/* --- what is written -------------------------------------------------------------------------------------------------- */

bool memory_accesses(const struct trace_event *event)
{
    return event->kind >= TRACE_SHARED_LOAD && event->kind <= TRACE_ATOMIC;
}

int memory_space(const struct trace_event *event, int lane)
{
    return trace_is_shared(event) ? MAP_SHARED : event->lane[lane].allocation;
}

static bool writes(const struct trace_event *event)
{
    return event->kind == TRACE_SHARED_STORE || event->kind == TRACE_GLOBAL_STORE || event->kind == TRACE_ATOMIC;
}

static size_t note_event(const struct trace_event *event, size_t order, struct written *written)
{
    size_t count = 0;

    for (int lane = 0; lane < TRACE_LANES; lane++) {
        for (int piece = 0; event->lanes >> lane & 1 && piece * WORD_BYTES < event->bytes; piece++, count++)
            written[count] = (struct written){.space = memory_space(event, lane),
                                              .word = event->lane[lane].offset / WORD_BYTES + piece,
                                              .order = order + count,
                                              .file = event->file,
                                              .line = event->line,
                                              .kind = event->kind};
    }
    return count;
}

static int compare(const void *a, const void *b)
{
    const struct written *const x = a, *const y = b;

    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/** Joins words, sorted and each once, to regions: neighbours whose first writers name the same array. */
static void join(struct memory_map *map, const struct written *written, size_t count, const struct source_text *sources)
{
    char name[MAP_NAME_SIZE];

    for (size_t i = 0; i < count; i++) {
        struct memory_region *region = map->num_regions > 0 ? &map->regions[map->num_regions - 1] : NULL;

        if (i > 0 && written[i].space == written[i - 1].space && written[i].word == written[i - 1].word)
            continue;
        if (region && region->space == written[i].space && region->space != MAP_SHARED)
            strcpy(name, region->name); /* an allocation is one array */
        else
            memory_name(&sources[written[i].file], written[i].line, written[i].kind, name);
        if (region && region->space == written[i].space && region->first + region->count == written[i].word &&
            strcmp(region->name, name) == 0) {
            region->count++;
            continue;
        }
        region = &map->regions[map->num_regions++];
        *region = (struct memory_region){.space = written[i].space, .first = written[i].word, .count = 1};
        strcpy(region->name, name);
    }
}

bool memory_map_make(const struct trace *trace, const struct source_text *sources, struct memory_map *map,
                     struct error *error)
{
    void *written, *regions;
    size_t room = 1, count = 0;

    *map = (struct memory_map){0};
    for (size_t i = 0; i < trace->num_events; i++)
        if (writes(&trace->events[i]))
            room += (size_t)TRACE_LANES * TRACE_WORDS;
    if (!memory_allocate(&written, room * sizeof(struct written), error))
        return false;
    for (size_t i = 0; i < trace->num_events; i++)
        if (writes(&trace->events[i]))
            count += note_event(&trace->events[i], count, (struct written *)written + count);
    qsort(written, count, sizeof(struct written), compare);
    if (!memory_allocate(&regions, (count + 1) * sizeof *map->regions, error)) {
        free(written);
        return false;
    }
    map->regions = regions;
    join(map, written, count, sources);
    free(written);
    return true;
}

void memory_map_free(struct memory_map *map)
{
    free(map->regions);
    *map = (struct memory_map){0};
}

int memory_map_find(const struct memory_map *map, const struct trace_event *event, int lane)
{
    const int space = memory_space(event, lane);
    const int64_t word = event->lane[lane].offset / WORD_BYTES;

    for (int i = 0; i < map->num_regions; i++) {
        const struct memory_region *const region = &map->regions[i];

        if (region->space == space && word >= region->first && word < region->first + region->count)
            return i;
    }
    return -1;
}
