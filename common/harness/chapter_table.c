/**
 * @file chapter_table.c
 * @brief A build tool: reads the CSV report of each chapter and prints a table for each operator, with the change to
 * the chapter before.
 *
 * chapter_table FILE.csv...   exits 1 if a chapter is not verified, 2 if a file cannot be read.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 64, MAX_CHAPTERS = 64, NAME_SIZE = 64 };

/** One line of a CSV file cut into fields, with the text they point into. */
struct record {
    char text[2048];
    char *fields[MAX_FIELDS];
    int count;
};

/** What a chapter reported. */
struct chapter {
    char name[NAME_SIZE], before[NAME_SIZE], device[NAME_SIZE];
    bool verified;
    double num_tokens;
    struct record names, values;
};

/** A column: the sum of up to two counters. */
struct column {
    const char *heading;
    const char *counters[2];
};

enum { MAX_COLUMNS = 12 };

/** An operator's table. */
struct table {
    int name_width;
    bool per_token; /**< else its counters are in all */
    struct column columns[MAX_COLUMNS];
    const char *notes;
};

static const struct table gate_table = {
    .name_width = 20,
    .per_token = true,
    .columns = {{"shuffles", {"shuffles"}},
                {"votes", {"votes"}},
                {"barriers", {"block_barriers"}},
                {"divergent", {"divergent_branches"}},
                {"sectors", {"global_load_sectors", "global_store_sectors"}},
                {"wavefronts", {"shared_load_wavefronts", "shared_store_wavefronts"}},
                {"conflicts", {"shared_conflicts"}},
                {"atomics", {"atomic_requests"}}},
    .notes =
        "Counters are per token, from the CPU simulator; launches are in all. divergent: branches that split a warp;\n"
        "sectors: 32-byte pieces of global memory; wavefronts: passes over the shared memory banks, conflicts: those\n"
        "beyond the least possible; lanes: the share at work. A chapter that computes on the host has no counters.\n",
};

static const struct table align_table = {
    .name_width = 22,
    .columns = {{"barriers", {"block_barriers"}},
                {"shuffles", {"shuffles"}},
                {"atomics", {"atomic_requests"}},
                {"atom conf", {"atomic_conflicts"}},
                {"divergent", {"divergent_branches"}},
                {"stores", {"global_store_requests"}},
                {"sectors", {"global_load_sectors", "global_store_sectors"}},
                {"wavefronts", {"shared_load_wavefronts", "shared_store_wavefronts"}},
                {"conflicts", {"shared_conflicts"}}},
    .notes = "Counters are in all. atom conf: atomics of a warp that wait for another of it at the same address; "
             "stores: requests\n"
             "to global memory, of a warp each; the rest as above.\n",
};

/** Cuts a line at its commas; a quoted field may hold some. */
static void split(struct record *record)
{
    char *in = record->text, *out = record->text;

    record->text[strcspn(record->text, "\r\n")] = '\0';
    record->count = 0;
    while (record->count < MAX_FIELDS) {
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

/** Align's reports alone know blocks. */
static const struct table *table_of(const struct chapter *chapter)
{
    return field(chapter, "block_size") ? &align_table : &gate_table;
}

/** The column's figure; negative if the chapter has no such counter. */
static double figure(const struct chapter *chapter, const struct column *column)
{
    const double share = table_of(chapter)->per_token && chapter->num_tokens > 0.0 ? chapter->num_tokens : 1.0;
    double sum = -1.0;

    for (int i = 0; i < 2 && column->counters[i]; i++) {
        const char *value = field(chapter, column->counters[i]);

        if (value)
            sum = (sum < 0.0 ? 0.0 : sum) + atof(value);
    }
    return sum < 0.0 ? sum : sum / share;
}

static void print_figures(const struct chapter *chapter, const struct table *table)
{
    const char *launches = field(chapter, "launches");
    const char *active = field(chapter, "lanes_active"), *possible = field(chapter, "lanes_possible");

    printf("%-*s %-8s %8s", table->name_width, chapter->name, chapter->verified ? "yes" : "NO",
           launches ? launches : "-");
    for (const struct column *column = table->columns; column->heading; column++) {
        const double value = figure(chapter, column);

        if (value < 0.0)
            printf(" %9s", "-");
        else
            printf(" %9.*f", table->per_token ? 2 : 0, value);
    }
    if (active && possible && atof(possible) > 0.0)
        printf(" %6.1f%%", 100.0 * atof(active) / atof(possible));
    else
        printf(" %7s", "-");
    printf("\n");
}

static void print_changes(const struct chapter *chapter, const struct chapter *before, const struct table *table)
{
    printf("%-*s %-8s %8s", table->name_width, "  against the last", "", "");
    for (const struct column *column = table->columns; column->heading; column++) {
        const double now = figure(chapter, column), then = figure(before, column);

        if (now < 0.0 || then < 0.0 || now == then)
            printf(" %9s", now < 0.0 || then < 0.0 ? "" : "=");
        else if (then == 0.0)
            printf(" %+9.*f", table->per_token ? 2 : 0, now);
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

/** The chapters that this table is for, if there are any. */
static void print_table(const struct chapter *chapters, int count, const struct table *table)
{
    bool begun = false;

    for (int i = 0; i < count; i++) {
        const struct chapter *before = find_chapter(chapters, count, chapters[i].before);

        if (table_of(&chapters[i]) != table)
            continue;
        if (!begun) {
            printf("%-*s %-8s %8s", table->name_width, "chapter", "verified", "launches");
            for (const struct column *column = table->columns; column->heading; column++)
                printf(" %9s", column->heading);
            printf(" %7s\n", "lanes");
        }
        begun = true;
        print_figures(&chapters[i], table);
        if (before)
            print_changes(&chapters[i], before, table);
    }
    if (begun)
        printf("\n%s", table->notes);
}

/** What align made of its input, which is the same in every chapter. */
static void print_align_input(const struct chapter *chapters, int count)
{
    for (int i = 0; i < count; i++) {
        const struct chapter *chapter = &chapters[i];

        if (table_of(chapter) != &align_table)
            continue;
        printf("Input: %s ids of %s experts, %s places in whole blocks of %s; expert %s is the busiest, with %s ids.\n",
               field(chapter, "numel"), field(chapter, "num_experts"), field(chapter, "num_tokens_post_padded"),
               field(chapter, "block_size"), field(chapter, "busiest_expert"), field(chapter, "busiest_ids"));
        return;
    }
}

int main(int argc, char **argv)
{
    static struct chapter chapters[MAX_CHAPTERS];
    bool verified = true;

    if (argc < 2 || argc - 1 > MAX_CHAPTERS) {
        fprintf(stderr, "usage: chapter_table FILE.csv... (1 to %d files)\n", MAX_CHAPTERS);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (!read_chapter(argv[i], &chapters[i - 1]))
            return 2;
        verified = verified && chapters[i - 1].verified;
    }
    print_table(chapters, argc - 1, &gate_table);
    if (table_of(&chapters[0]) != table_of(&chapters[argc - 2]))
        printf("\n");
    print_table(chapters, argc - 1, &align_table);
    print_align_input(chapters, argc - 1);
    return verified ? 0 : 1;
}
