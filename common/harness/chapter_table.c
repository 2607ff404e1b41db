/**
 * @file chapter_table.c
 * @brief A build tool: reads the CSV report of each chapter and prints one table, with the change to the chapter before.
 *
 * chapter_table FILE.csv...   exits 1 if a chapter is not verified, 2 if a file cannot be read.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 64, MOST_CHAPTERS = 64, NAME_SIZE = 64 };

/** One line of a CSV file cut into fields, with the text they point into. */
struct record {
    char text[2048];
    char *fields[MOST_FIELDS];
    int count;
};

/** What a chapter reported. */
struct chapter {
    char name[NAME_SIZE], before[NAME_SIZE], device[NAME_SIZE];
    bool verified;
    double num_tokens;
    struct record names, values;
};

/** A column: the sum of up to two counters, per token. */
struct column {
    const char *heading;
    const char *counters[2];
};

static const struct column columns[] = {
    {"shuffles", {"shuffles"}},
    {"votes", {"votes"}},
    {"barriers", {"block_barriers"}},
    {"divergent", {"divergent_branches"}},
    {"sectors", {"global_load_sectors", "global_store_sectors"}},
    {"smem pass", {"shared_load_wavefronts", "shared_store_wavefronts"}},
    {"conflicts", {"shared_conflicts"}},
    {"atomics", {"atomic_requests"}},
};

enum { NUM_COLUMNS = sizeof columns / sizeof *columns };

/** Cuts a line at its commas; a quoted field may hold some. */
static void split(struct record *record)
{
    char *in = record->text, *out = record->text;

    record->text[strcspn(record->text, "\r\n")] = '\0';
    record->count = 0;
    while (record->count < MOST_FIELDS) {
        bool quoted = *in == '"';

        in += quoted;
        record->fields[record->count++] = out;
        for (; *in && (quoted || *in != ','); in++) {
            if (quoted && *in == '"' && in[1] != '"') {
                quoted = false;
                continue;
            }
            in += quoted && *in == '"';
            *out++ = *in;
        }

        const bool more = *in == ',';

        in += more;
        *out++ = '\0';
        if (!more)
            return;
    }
}

static const char *field(const struct chapter *chapter, const char *name)
{
    for (int i = 0; i < chapter->names.count && i < chapter->values.count; i++)
        if (strcmp(chapter->names.fields[i], name) == 0)
            return chapter->values.fields[i];
    return NULL;
}

static void copy_name(char *name, const char *value)
{
    snprintf(name, NAME_SIZE, "%s", value ? value : "");
}

static bool read_chapter(const char *path, struct chapter *chapter)
{
    FILE *const file = fopen(path, "r");
    const bool read = file && fgets(chapter->names.text, sizeof chapter->names.text, file) &&
                      fgets(chapter->values.text, sizeof chapter->values.text, file);

    if (file)
        fclose(file);
    if (!read) {
        fprintf(stderr, "chapter_table: %s: no report in it\n", path);
        return false;
    }
    split(&chapter->names);
    split(&chapter->values);
    copy_name(chapter->name, field(chapter, "chapter"));
    copy_name(chapter->before, field(chapter, "before"));
    copy_name(chapter->device, field(chapter, "device"));
    chapter->verified = field(chapter, "verified") && strcmp(field(chapter, "verified"), "yes") == 0;
    chapter->num_tokens = field(chapter, "num_tokens") ? atof(field(chapter, "num_tokens")) : 0.0;
    return true;
}

/** The column's figure per token; negative if the chapter has no such counter. */
static double figure(const struct chapter *chapter, const struct column *column)
{
    double sum = -1.0;

    for (int i = 0; i < 2 && column->counters[i]; i++) {
        const char *value = field(chapter, column->counters[i]);

        if (value)
            sum = (sum < 0.0 ? 0.0 : sum) + atof(value);
    }
    return sum < 0.0 || chapter->num_tokens == 0.0 ? sum : sum / chapter->num_tokens;
}

static void print_figures(const struct chapter *chapter)
{
    const char *launches = field(chapter, "launches");
    const char *active = field(chapter, "lanes_active"), *possible = field(chapter, "lanes_possible");

    printf("%-20s %-8s %8s", chapter->name, chapter->verified ? "yes" : "NO", launches ? launches : "-");
    for (int i = 0; i < NUM_COLUMNS; i++) {
        const double value = figure(chapter, &columns[i]);

        if (value < 0.0)
            printf(" %9s", "-");
        else
            printf(" %9.2f", value);
    }
    if (active && possible && atof(possible) > 0.0)
        printf(" %6.1f%%", 100.0 * atof(active) / atof(possible));
    else
        printf(" %7s", "-");
    printf("\n");
}

static void print_changes(const struct chapter *chapter, const struct chapter *before)
{
    printf("%-20s %-8s %8s", "  against the last", "", "");
    for (int i = 0; i < NUM_COLUMNS; i++) {
        const double now = figure(chapter, &columns[i]), then = figure(before, &columns[i]);

        if (now < 0.0 || then < 0.0 || now == then)
            printf(" %9s", now < 0.0 || then < 0.0 ? "" : "=");
        else if (then == 0.0)
            printf(" %+9.2f", now);
        else
            printf(" %+8.1f%%", 100.0 * (now - then) / then);
    }
    printf("\n");
}

static const struct chapter *find_chapter(const struct chapter *chapters, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(chapters[i].name, name) == 0 && field(&chapters[i], "launches"))
            return &chapters[i];
    return NULL;
}

static void print_table(const struct chapter *chapters, int count)
{
    printf("%-20s %-8s %8s", "chapter", "verified", "launches");
    for (int i = 0; i < NUM_COLUMNS; i++)
        printf(" %9s", columns[i].heading);
    printf(" %7s\n", "lanes");
    for (int i = 0; i < count; i++) {
        const struct chapter *before = find_chapter(chapters, count, chapters[i].before);

        print_figures(&chapters[i]);
        if (before)
            print_changes(&chapters[i], before);
    }
    printf(
        "\nCounters are per token, from the CPU simulator; launches are in all. divergent: branches that split a "
        "warp;\n"
        "sectors: 32-byte pieces of global memory; smem pass: passes over the shared memory banks, conflicts: those\n"
        "beyond the least possible; lanes: the share at work. A chapter that computes on the host has no counters.\n");
}

int main(int argc, char **argv)
{
    static struct chapter chapters[MOST_CHAPTERS];
    bool verified = true;

    if (argc < 2 || argc - 1 > MOST_CHAPTERS) {
        fprintf(stderr, "usage: chapter_table FILE.csv... (1 to %d files)\n", MOST_CHAPTERS);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (!read_chapter(argv[i], &chapters[i - 1]))
            return 2;
        verified = verified && chapters[i - 1].verified;
    }
    print_table(chapters, argc - 1);
    return verified ? 0 : 1;
}
