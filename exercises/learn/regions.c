#include "regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- lines -------------------------------------------------------------------------------------------------------- */

/** A line of a text: [begin, end) without trailing white space; the next line begins at `next`. */
struct line {
    size_t begin, end, next;
    int number;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/** Returns the line at `begin`, which is inside the text. */
static struct line line_at(const struct named_text *text, size_t begin, int number)
{
    const char *const newline = memchr(text->text + begin, '\n', text->size - begin);
    const size_t next = newline ? (size_t)(newline - text->text) + 1 : text->size;
    struct line line = {.begin = begin, .end = next, .next = next, .number = number};

    while (line.end > begin && is_space(text->text[line.end - 1]))
        line.end--;
    return line;
}

/** Moves to the next line, or to the first if `line` is all zeros. Returns false after the last line. */
static bool line_step(const struct named_text *text, struct line *line)
{
    if (line->next >= text->size)
        return false;
    *line = line_at(text, line->next, line->number + 1);
    return true;
}

/** Finds the line's text without leading white space, for messages. Returns the text's length, at most 100. */
static int line_shown(const struct named_text *text, const struct line *line, const char **begin)
{
    enum { MOST = 100 };
    size_t from = line->begin;

    while (from < line->end && is_space(text->text[from]))
        from++;
    *begin = text->text + from;
    return (int)(line->end - from < MOST ? line->end - from : MOST);
}

/* --- markers ------------------------------------------------------------------------------------------------------ */

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/** Checks whether the line consists of `word` and a name; if so, copies the name. */
static bool is_marker(const struct named_text *text, const struct line *line, const char *word,
                      char name[REGION_NAME_SIZE])
{
    const size_t word_length = strlen(word);
    const char *begin;
    const size_t length = (size_t)line_shown(text, line, &begin);

    if (length <= word_length || memcmp(begin, word, word_length) != 0 || length - word_length >= REGION_NAME_SIZE)
        return false;
    for (size_t i = word_length; i < length; i++)
        if (!is_name_character(begin[i]))
            return false;
    memcpy(name, begin + word_length, length - word_length);
    name[length - word_length] = '\0';
    return true;
}

static const struct region *find_region(const struct regions *regions, const char *name)
{
    for (int i = 0; i < regions->num_regions; i++)
        if (strcmp(regions->region[i].name, name) == 0)
            return &regions->region[i];
    return NULL;
}

/** A search for the regions in a text. */
struct search {
    const struct named_text *text;
    const struct regions *known; /**< the only names to search for; NULL for all names */
    struct regions *regions;
    struct region *open; /**< the region that is open at the current line, or NULL */
};

static bool begin_region(struct search *search, const struct line *line, const char *name, struct error *error)
{
    struct regions *const regions = search->regions;
    const char *const path = search->text->path;

    if (search->open)
        return error_set(error, "%s:%d: // TODO %s stands inside the region %s, before its // END %s", path,
                         line->number, name, search->open->name, search->open->name);
    if (find_region(regions, name))
        return error_set(error, "%s:%d: a second // TODO %s; there may be one", path, line->number, name);
    if (regions->num_regions == MAX_REGIONS)
        return error_set(error, "%s:%d: more than %d regions", path, line->number, MAX_REGIONS);
    search->open = &regions->region[regions->num_regions++];
    memcpy(search->open->name, name, REGION_NAME_SIZE);
    search->open->begin = line->next;
    search->open->first_line = line->number + 1;
    return true;
}

static bool end_region(struct search *search, const struct line *line, const char *name, struct error *error)
{
    if (!search->open)
        return error_set(error,
                         "%s:%d: // END %s has no // TODO %s before it; put that line back before the region's code",
                         search->text->path, line->number, name, name);
    if (strcmp(search->open->name, name) != 0)
        return error_set(error, "%s:%d: // END %s stands inside the region %s, before its // END %s",
                         search->text->path, line->number, name, search->open->name, search->open->name);
    search->open->end = line->begin;
    search->open->last_line = line->number;
    search->open = NULL;
    return true;
}

/** Finds regions. With `known`, markers with other names are treated as ordinary text. */
static bool find(const struct named_text *text, const struct regions *known, struct regions *regions,
                 struct error *error)
{
    struct search search = {.text = text, .known = known, .regions = regions};
    struct line line = {0};
    char name[REGION_NAME_SIZE] = "";

    memset(regions, 0, sizeof *regions);
    if (memchr(text->text, '\0', text->size))
        return error_set(error, "%s: this is not text: it has a byte 0", text->path);
    while (line_step(text, &line)) {
        const bool begins = is_marker(text, &line, "// TODO ", name);

        if ((!begins && !is_marker(text, &line, "// END ", name)) || (known && !find_region(known, name)))
            continue;
        if (!(begins ? begin_region : end_region)(&search, &line, name, error))
            return false;
    }
    if (search.open)
        return error_set(error, "%s:%d: // TODO %s has no // END %s after it", text->path, search.open->first_line - 1,
                         search.open->name, search.open->name);
    return true;
}

bool regions_find(const struct named_text *text, struct regions *regions, struct error *error)
{
    return find(text, NULL, regions, error) &&
           (regions->num_regions > 0 || error_set(error, "%s: there is no region: no line // TODO NAME", text->path));
}

/* --- filling ------------------------------------------------------------------------------------------------------ */

/** Checks that there are only comments and blank lines between the answers' regions. */
static bool nothing_between(const struct named_text *answers, const struct regions *regions, struct error *error)
{
    struct line line = {0};
    int next = 0;

    while (line_step(answers, &line)) {
        const char *begin;
        const int length = line_shown(answers, &line, &begin);

        if (next < regions->num_regions && line.number >= regions->region[next].first_line) {
            next += line.number == regions->region[next].last_line;
            continue;
        }
        if (length > 0 && (length < 2 || memcmp(begin, "//", 2) != 0))
            return error_set(error, "%s:%d: this line is in no region: %.*s", answers->path, line.number, length,
                             begin);
    }
    return true;
}

/** Finds the answers' regions and checks that the exercise has each of them. */
static bool find_answers(const struct regions *asked, const struct named_text *answers, struct regions *regions,
                         struct error *error)
{
    if (!regions_find(answers, regions, error) || !nothing_between(answers, regions, error))
        return false;
    for (int i = 0; i < regions->num_regions; i++)
        if (!find_region(asked, regions->region[i].name))
            return error_set(error, "%s:%d: the exercise has no region %s", answers->path,
                             regions->region[i].first_line - 1, regions->region[i].name);
    return true;
}

static void write_line_directive(FILE *stream, int line, const char *path)
{
    fprintf(stream, "#line %d \"", line);
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            fputc('\\', stream);
        fputc(*path, stream);
    }
    fputs("\"\n", stream);
}

/** Writes the characters [begin, end), and a line break if they do not end with one. */
static void write_part(FILE *stream, const struct named_text *text, size_t begin, size_t end)
{
    fwrite(text->text + begin, 1, end - begin, stream);
    if (end > begin && text->text[end - 1] != '\n')
        fputc('\n', stream);
}

/** A text and its regions. */
struct source {
    const struct named_text *text;
    struct regions regions;
};

static void write_filled(FILE *stream, const struct source *exercise, const struct source sources[2])
{
    size_t copied = 0;

    for (int i = 0; i < exercise->regions.num_regions; i++) {
        const struct region *const hole = &exercise->regions.region[i];
        const struct region *const first = find_region(&sources[0].regions, hole->name);
        const struct region *const filling = first ? first : find_region(&sources[1].regions, hole->name);
        const struct named_text *const from = (first ? &sources[0] : &sources[1])->text;

        write_part(stream, exercise->text, copied, hole->begin);
        write_line_directive(stream, filling->first_line, from->path);
        write_part(stream, from, filling->begin, filling->end);
        write_line_directive(stream, hole->last_line, exercise->text->path);
        copied = hole->end;
    }
    write_part(stream, exercise->text, copied, exercise->text->size);
}

bool regions_fill(const struct named_text *exercise, const struct named_text *answers,
                  const struct named_text *fallback, char **filled, struct error *error)
{
    struct source holes = {.text = exercise};
    struct source sources[2] = {{.text = answers}, {.text = fallback}};
    size_t size;
    FILE *stream;

    *filled = NULL;
    if (!regions_find(exercise, &holes.regions, error) ||
        !find_answers(&holes.regions, answers, &sources[0].regions, error) ||
        (fallback && !find_answers(&holes.regions, fallback, &sources[1].regions, error)))
        return false;
    for (int i = 0; i < holes.regions.num_regions; i++)
        if (!find_region(&sources[0].regions, holes.regions.region[i].name) &&
            !find_region(&sources[1].regions, holes.regions.region[i].name))
            return error_set(error, "%s: the region %s is missing", (fallback ? fallback : answers)->path,
                             holes.regions.region[i].name);
    stream = open_memstream(filled, &size);
    if (!stream)
        return error_set(error, "out of memory");
    write_filled(stream, &holes, sources);
    if (fclose(stream) == 0)
        return true;
    free(*filled);
    *filled = NULL;
    return error_set(error, "out of memory");
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/** Returns the part [begin, end) of a text. */
static struct named_text part_of(const struct named_text *text, size_t begin, size_t end)
{
    return (struct named_text){.path = text->path, .text = text->text + begin, .size = end - begin};
}

/** Moves to the next line or, after the last one, to an empty line. Returns false if no line was left. */
static bool step_or_empty(const struct named_text *text, struct line *line)
{
    if (line_step(text, line))
        return true;
    line->begin = line->end = line->next = text->size;
    line->number++;
    return false;
}

static bool equal_lines(const struct named_text *a, const struct line *line_a, const struct named_text *b,
                        const struct line *line_b)
{
    const size_t length = line_a->end - line_a->begin;

    return length == line_b->end - line_b->begin &&
           memcmp(a->text + line_a->begin, b->text + line_b->begin, length) == 0;
}

/** Compares two texts line by line, ignoring trailing blanks. Additional lines at the end must be blank. */
static bool same_lines(const struct named_text *exercise, const struct named_text *learner, int line_before,
                       struct error *error)
{
    struct line expected = {0}, found = {.number = line_before};

    for (;;) {
        const bool more_expected = step_or_empty(exercise, &expected);
        const bool more_found = step_or_empty(learner, &found);
        const char *was;

        if (!more_expected && !more_found)
            return true;
        if (equal_lines(exercise, &expected, learner, &found))
            continue;

        const int length = line_shown(exercise, &expected, &was);

        if (!more_expected)
            return error_set(error, "%s:%d: this line is not the exercise's: write between // TODO and // END only",
                             learner->path, found.number);
        return error_set(error, "%s:%d: this line was \"%.*s\": put it back, and write between // TODO and // END only",
                         learner->path, found.number, length, was);
    }
}

/** Checks that both texts have the same regions in the same order. */
static bool same_regions(const struct regions *expected, const struct named_text *learner, const struct regions *found,
                         struct error *error)
{
    for (int i = 0; i < expected->num_regions; i++) {
        const char *const name = expected->region[i].name;

        if (!find_region(found, name))
            return error_set(error, "%s: the lines // TODO %s and // END %s are gone; put them back", learner->path,
                             name, name);
        if (strcmp(found->region[i].name, name) != 0)
            return error_set(error, "%s:%d: the region %s belongs here", learner->path, found->region[i].first_line - 1,
                             name);
    }
    return true;
}

bool regions_check_same_outside(const struct named_text *exercise, const struct named_text *learner,
                                struct error *error)
{
    struct regions expected, found;
    size_t from = 0, at = 0;
    int line_before = 0;

    if (!regions_find(exercise, &expected, error) || !find(learner, &expected, &found, error) ||
        !same_regions(&expected, learner, &found, error))
        return false;
    for (int i = 0; i <= expected.num_regions; i++) {
        const bool last = i == expected.num_regions;
        const struct named_text original = part_of(exercise, from, last ? exercise->size : expected.region[i].begin);
        const struct named_text part = part_of(learner, at, last ? learner->size : found.region[i].begin);

        if (!same_lines(&original, &part, line_before, error))
            return false;
        if (last)
            break;
        from = expected.region[i].end;
        at = found.region[i].end;
        line_before = found.region[i].last_line - 1;
    }
    return true;
}
