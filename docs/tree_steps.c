#include "tree_steps.h"

#include "../tests/simt/json.h"
#include "harness/core/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 24, WORD_BYTES = 4, WORD_DIGITS = 2 * WORD_BYTES };

enum content { UNWRITTEN, UNKNOWN, KNOWN };

/** What a word holds since its change number `change`. */
struct word {
    enum content content;
    int32_t value;
    int change;
};

/** The words at one barrier. */
struct step {
    int barrier; /**< as the trace counts; -1 for the end */
    struct word words[TREE_MAX_WORDS];
};

/** The words now, and at every barrier so far. */
struct steps {
    const char *trace;
    struct tree_range range;
    int64_t begin; /**< where the range begins in shared memory, in bytes */
    struct word now[TREE_MAX_WORDS];
    struct step *steps;
    int count;
    struct error *error;
};

bool tree_range_parse(const char *text, struct tree_range *range, struct error *error)
{
    char first[8], last[8];
    int length = 0;

    if (sscanf(text, "%5[0-9]-%5[0-9]%n", first, last, &length) == 2 && text[length] == '\0') {
        range->first = atoi(first);
        range->count = atoi(last) - range->first + 1;
        if (range->count >= 1 && range->count <= TREE_MAX_WORDS)
            return true;
    }
    return error_set(error, "words '%.40s'; 0-7 are some, and %d the most", text, TREE_MAX_WORDS);
}

/* --- following the trace ---------------------------------------------------------------------------------------------- */

static bool fail(const struct steps *steps, const char *what)
{
    return error_set(steps->error, "%s: %s", steps->trace, what);
}

/** A member that is a whole number of some use; -1 for what is not. */
static int64_t whole_number(const struct json *object, const char *name)
{
    const double number = json_number(object, name, -1.0);

    return number >= 0.0 && number < 1e9 ? (int64_t)number : -1;
}

static void store(struct steps *steps, int index, enum content content, int32_t value)
{
    const int change = steps->now[index].change + 1;

    steps->now[index] = (struct word){content, value, change};
}

/** A load tells what atomics had left there: since when, the steps so far know too. */
static void load(struct steps *steps, int index, int32_t value)
{
    struct word *const now = &steps->now[index];

    if (now->content != UNKNOWN)
        return;
    now->content = KNOWN;
    now->value = value;
    for (int i = steps->count - 1; i >= 0 && steps->steps[i].words[index].change == now->change; i--)
        steps->steps[i].words[index] = *now;
}

/** The word number `piece` of a value in hexadecimal, the lowest bits being number 0. */
static bool parse_word(const char *text, int piece, int32_t *value)
{
    const size_t length = strlen(text), behind = (size_t)piece * WORD_DIGITS;
    char digits[WORD_DIGITS + 1], *end;

    if (length < behind + WORD_DIGITS + 2)
        return false;
    memcpy(digits, text + length - behind - WORD_DIGITS, WORD_DIGITS);
    digits[WORD_DIGITS] = '\0';
    *value = (int32_t)strtoul(digits, &end, 16);
    return *end == '\0';
}

enum access { LOAD, STORE, ATOMIC };

/** One lane's access. `value` is a string, or null where the trace does not know it. */
static bool follow_lane(struct steps *steps, enum access access, int bytes, double offset, const struct json *value)
{
    const int64_t end = steps->begin + (int64_t)steps->range.count * WORD_BYTES;

    if (offset >= (double)end || offset + bytes <= (double)steps->begin)
        return true;
    if (bytes % WORD_BYTES != 0 || (int64_t)offset % WORD_BYTES != 0)
        return fail(steps, "it has accesses to parts of these words");
    for (int piece = 0; piece < bytes / WORD_BYTES; piece++) {
        const int64_t at = (int64_t)offset + piece * WORD_BYTES;
        const int index = (int)((at - steps->begin) / WORD_BYTES);
        int32_t word = 0;
        const bool known = value->type == JSON_STRING && parse_word(value->string, piece, &word);

        if (at < steps->begin || at >= end)
            continue;
        if (access == LOAD && known)
            load(steps, index, word);
        else if (access != LOAD)
            store(steps, index, access == STORE && known ? KNOWN : UNKNOWN, word);
    }
    return true;
}

static bool follow_access(struct steps *steps, enum access access, const struct json *event)
{
    const struct json *const offsets = json_member(event, "offset"), *const values = json_member(event, "value");
    const int bytes = (int)whole_number(event, "bytes");
    const struct json *offset = offsets ? offsets->first : NULL, *value = values ? values->first : NULL;

    for (; offset && value; offset = offset->next, value = value->next)
        if (offset->type == JSON_NUMBER && !follow_lane(steps, access, bytes, offset->number, value))
            return false;
    return true;
}

/** Keeps the words as they are now. Every warp has the barrier in the trace: steps that are the same go in the end. */
static void keep_step(struct steps *steps, int barrier)
{
    struct step *const step = &steps->steps[steps->count];

    step->barrier = barrier;
    memcpy(step->words, steps->now, sizeof step->words);
    steps->count++;
}

static bool follow_event(struct steps *steps, const struct json *event)
{
    const char *const kind = json_string(event, "kind", "");

    if (strcmp(kind, "block_barrier") == 0)
        keep_step(steps, (int)whole_number(event, "barrier"));
    else if (strcmp(kind, "shared_store") == 0)
        return follow_access(steps, STORE, event);
    else if (strcmp(kind, "shared_load") == 0)
        return follow_access(steps, LOAD, event);
    else if (strcmp(kind, "atomic") == 0 && strcmp(json_string(event, "space", ""), "shared") == 0)
        return follow_access(steps, ATOMIC, event);
    return true;
}

/** Follows the events from first to last; `steps->steps` has room for a step at each warp's barriers and one more. */
static bool follow(struct steps *steps, const struct json *events)
{
    for (const struct json *event = events->first; event; event = event->next)
        if (!follow_event(steps, event))
            return false;
    keep_step(steps, -1);
    return true;
}

/* --- writing ---------------------------------------------------------------------------------------------------------- */

static bool same_words(const struct word *a, const struct word *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].content != b[i].content || (a[i].content == KNOWN && a[i].value != b[i].value) ||
            (a[i].content == UNKNOWN && a[i].change != b[i].change))
            return false;
    return true;
}

/** Leaves out steps with the same words as the one before. */
static void drop_same(struct steps *steps)
{
    static const struct word nothing[TREE_MAX_WORDS];
    const struct word *last = nothing;
    int kept = 0;

    for (int i = 0; i < steps->count; i++) {
        if (same_words(steps->steps[i].words, last, steps->range.count))
            continue;
        if (kept < i)
            steps->steps[kept] = steps->steps[i];
        last = steps->steps[kept++].words;
    }
    steps->count = kept;
}

static const char *word_text(struct word word, char text[TEXT_SIZE])
{
    if (word.content == KNOWN)
        snprintf(text, TEXT_SIZE, "%" PRId32, word.value);
    else
        snprintf(text, TEXT_SIZE, "%s", word.content == UNKNOWN ? "?" : "-");
    return text;
}

static const char *step_text(const struct step *step, char text[TEXT_SIZE])
{
    if (step->barrier >= 0)
        snprintf(text, TEXT_SIZE, "barrier %d", step->barrier + 1);
    else
        snprintf(text, TEXT_SIZE, "end");
    return text;
}

/** The widths of the steps' column and of all others. */
static void measure(const struct steps *steps, int *step_width, int *word_width)
{
    char text[TEXT_SIZE];

    *step_width = (int)strlen("word");
    *word_width = snprintf(text, sizeof text, "%d", steps->range.first + steps->range.count - 1);
    for (int s = 0; s < steps->count; s++) {
        const int width = (int)strlen(step_text(&steps->steps[s], text));

        *step_width = width > *step_width ? width : *step_width;
        for (int i = 0; i < steps->range.count; i++) {
            const int length = (int)strlen(word_text(steps->steps[s].words[i], text));

            *word_width = length > *word_width ? length : *word_width;
        }
    }
}

static void write_steps(FILE *out, const struct steps *steps)
{
    char text[TEXT_SIZE];
    int step_width, word_width;

    measure(steps, &step_width, &word_width);
    fprintf(out, "%-*s ", step_width, "word");
    for (int i = 0; i < steps->range.count; i++)
        fprintf(out, "  %*d", word_width, steps->range.first + i);
    for (int s = 0; s < steps->count; s++) {
        fprintf(out, "\n%-*s ", step_width, step_text(&steps->steps[s], text));
        for (int i = 0; i < steps->range.count; i++)
            fprintf(out, "  %*s", word_width, word_text(steps->steps[s].words[i], text));
    }
    fputs("\n", out);
}

/* --- a file ----------------------------------------------------------------------------------------------------------- */

/** The range lies in the kernel's dynamic shared memory; notes where. */
static bool find_range(struct steps *steps, const struct json *root)
{
    const struct json *const dynamic = json_member(root, "dynamic_shared"), *const whole = json_member(root,
                                                                                                       "truncated");
    const int64_t words = whole_number(dynamic, "bytes") / WORD_BYTES, offset = whole_number(dynamic, "offset");

    if (offset < 0 || !whole || !json_member(root, "events"))
        return fail(steps, "it is no trace of a kernel");
    if (whole->boolean)
        return fail(steps, "the kernel did more than the trace holds");
    if (steps->range.first + (int64_t)steps->range.count > words)
        return error_set(steps->error,
                         "%s: the kernel has %" PRId64 " words of dynamic shared memory; %d to %d are wanted",
                         steps->trace, words, steps->range.first, steps->range.first + steps->range.count - 1);
    steps->begin = offset + (int64_t)steps->range.first * WORD_BYTES;
    return true;
}

static size_t count_events(const struct json *events, const char *kind)
{
    size_t count = 0;

    for (const struct json *event = events->first; event; event = event->next)
        count += strcmp(json_string(event, "kind", ""), kind) == 0;
    return count;
}

static bool write_file(FILE *out, struct steps *steps, const struct json *root)
{
    void *memory;
    bool good;

    if (!find_range(steps, root))
        return false;

    const struct json *const events = json_member(root, "events");

    if (!memory_allocate(&memory, (count_events(events, "block_barrier") + 1) * sizeof *steps->steps, steps->error))
        return false;
    steps->steps = memory;
    good = follow(steps, events);
    if (good) {
        drop_same(steps);
        write_steps(out, steps);
    }
    free(memory);
    return good;
}

bool tree_steps_write(FILE *out, const char *trace, struct tree_range range, struct error *error)
{
    struct steps steps = {.trace = trace, .range = range, .error = error};
    struct json_file file;

    if (!json_read(trace, &file, error))
        return false;

    const bool good = write_file(out, &steps, file.values);

    json_free(&file);
    return good;
}
