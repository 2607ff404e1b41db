/**
 * @file chapter_table.c
 * @brief A build tool: reads the CSV report of each chapter and prints a table for each operator, with the change to
 * the chapter before.
 *
 * chapter_table FILE.csv...   exits 1 if a chapter is not verified, 2 if a file cannot be read.
 */
#include "base/record.h"
#include "base/standard_output.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 64, MAX_CHAPTERS = 64, MAX_COLUMNS = 12 };

/** One line of a CSV file cut into fields, with the text they point into. */
struct line {
    char text[2048];
    char *fields[MAX_FIELDS];
    int count;
};

/** What a chapter reported. */
struct chapter {
    struct line names, values;
};

/** A column: the sum of up to two counters. */
struct column {
    const char *heading;
    const char *counters[2];
};

/** An operator's table. */
struct table {
    const char *field; /**< that its reports have, and no others */
    int name_width;
    bool per_token; /**< else its counters are in all */
    struct column columns[MAX_COLUMNS];
    const char *notes; /**< {name} is what the first chapter's report has in that field */
};

static const struct table tables[] = {
    {.field = "score",
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
         "beyond the least possible; lanes: the share at work. A chapter that computes on the host has no counters.\n"},
    {.field = "block_size",
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
              "to global memory, of a warp each; the rest as above.\n"
              "Input: {numel} ids of {num_experts} experts, {num_tokens_post_padded} places in whole blocks of "
              "{block_size}; expert {busiest_expert} is the busiest, with {busiest_ids} ids.\n"},
    {.field = "hidden_size",
     .name_width = 20,
     .columns = {{"barriers", {"block_barriers"}},
                 {"loads", {"global_load_requests"}},
                 {"sectors", {"global_load_sectors", "global_store_sectors"}},
                 {"shared", {"shared_load_requests", "shared_store_requests"}},
                 {"wavefronts", {"shared_load_wavefronts", "shared_store_wavefronts"}},
                 {"conflicts", {"shared_conflicts"}},
                 {"divergent", {"divergent_branches"}}},
     .notes =
         "Counters are in all. loads: requests to global memory, of a warp each; shared: those to shared memory; the "
         "rest as above.\n"
         "Input: {num_tokens} tokens of {hidden_size}, each to {topk} of {num_experts} experts of "
         "{intermediate_size}, {dtype}; {bytes} bytes to move, {operations} operations.\n"},
};

/* --- reports ------------------------------------------------------------------------------------------------------ */

/** Cuts a line at its commas; a quoted field may hold some. */
static void split(struct line *line)
{
    char *out = line->text;

    line->count = 0;
    for (const char *in = line->text, *end = in + strcspn(in, "\r\n"); in <= end && line->count < MAX_FIELDS; in++) {
        bool quoted = false;

        line->fields[line->count++] = out;
        for (; in < end && (quoted || *in != ','); in++) {
            if (*in != '"')
                *out++ = *in;
            else if (quoted && in[1] == '"')
                *out++ = *++in;
            else
                quoted = !quoted;
        }
        *out++ = '\0';
    }
}

/** What the report has in the field of this name; NULL if it has no such field. */
static const char *field(const struct chapter *chapter, const char *name)
{
    for (int i = 0; i < chapter->names.count && i < chapter->values.count; i++)
        if (strcmp(chapter->names.fields[i], name) == 0)
            return chapter->values.fields[i];
    return NULL;
}

static bool read_chapter(const char *path, struct chapter *chapter)
{
    FILE *const file = fopen(path, "r");
    const bool read = file && fgets(chapter->names.text, sizeof chapter->names.text, file) &&
                      fgets(chapter->values.text, sizeof chapter->values.text, file);

    if (file)
        fclose(file);
    if (read) {
        split(&chapter->names);
        split(&chapter->values);
        if (field(chapter, "chapter"))
            return true;
    }
    fprintf(stderr, "chapter_table: %s: no report in it\n", path);
    return false;
}

static const char *field_or(const struct chapter *chapter, const char *name, const char *other)
{
    return field(chapter, name) ? field(chapter, name) : other;
}

static bool is_verified(const struct chapter *chapter)
{
    return strcmp(field_or(chapter, "verified", ""), "yes") == 0;
}

/** The column's figure; negative if the chapter has no such counter. */
static double figure(const struct table *table, const struct chapter *chapter, const struct column *column)
{
    const double num_tokens = atof(field_or(chapter, "num_tokens", "0"));
    double sum = -1.0;

    for (int i = 0; i < 2 && column->counters[i]; i++)
        if (field(chapter, column->counters[i]))
            sum = (sum < 0.0 ? 0.0 : sum) + atof(field(chapter, column->counters[i]));
    return sum < 0.0 || !table->per_token || num_tokens <= 0.0 ? sum : sum / num_tokens;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void add_figures(const struct table *table, const struct chapter *chapter, struct record *row)
{
    const double possible = atof(field_or(chapter, "lanes_possible", "0"));

    record_column(row, -table->name_width, "chapter", "%s", field_or(chapter, "chapter", ""));
    record_column(row, -8, "verified", "%s", is_verified(chapter) ? "yes" : "NO");
    record_column(row, 8, "launches", "%s", field_or(chapter, "launches", "-"));
    for (const struct column *column = table->columns; column->heading; column++) {
        const double value = figure(table, chapter, column);

        if (value < 0.0)
            record_column(row, 9, column->heading, "-");
        else
            record_column(row, 9, column->heading, "%.*f", table->per_token ? 2 : 0, value);
    }
    if (possible > 0.0)
        record_column(row, 7, "lanes", "%.1f%%", 100.0 * atof(field_or(chapter, "lanes_active", "0")) / possible);
    else
        record_column(row, 7, "lanes", "-");
}

static void add_changes(const struct table *table, const struct chapter *chapter, const struct chapter *before,
                        struct record *row)
{
    record_column(row, -table->name_width - 18, "", "  against the last");
    for (const struct column *column = table->columns; column->heading; column++) {
        const double now = figure(table, chapter, column), then = figure(table, before, column);

        if (now < 0.0 || then < 0.0 || now == then)
            record_column(row, 9, column->heading, now < 0.0 || then < 0.0 ? "" : "=");
        else if (then == 0.0)
            record_column(row, 9, column->heading, "%+.*f", table->per_token ? 2 : 0, now);
        else
            record_column(row, 9, column->heading, "%+.1f%%", 100.0 * (now - then) / then);
    }
}

static void print_notes(const char *notes, const struct chapter *chapter)
{
    char name[64];

    for (int length = 0; *notes; notes += length) {
        if (sscanf(notes, "{%63[a-z_]}%n", name, &length) == 1 && length > 0)
            fputs(field_or(chapter, name, ""), stdout);
        else
            length = 1, putchar(*notes);
    }
}

static const struct chapter *find_chapter(const struct chapter *chapters, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(field_or(&chapters[i], "chapter", ""), name) == 0 && field(&chapters[i], "launches"))
            return &chapters[i];
    return NULL;
}

/** Prints the chapters that this table is for, if there are any. `follows`: another table stands above it. */
static bool print_table(const struct table *table, const struct chapter *chapters, int count, bool follows)
{
    struct record report = {0}, *const list = record_list(&report, IN_TABLE, NULL);
    const struct chapter *first = NULL;
    struct error error;

    for (int i = 0; i < count; i++) {
        const struct chapter *const before = find_chapter(chapters, count, field_or(&chapters[i], "before", ""));

        if (!field(&chapters[i], table->field))
            continue;
        first = first ? first : &chapters[i];
        add_figures(table, &chapters[i], record_object(list, IN_TABLE, NULL));
        if (before)
            add_changes(table, &chapters[i], before, record_object(list, IN_TABLE, NULL));
    }
    if (first) {
        fputs(follows ? "\n" : "", stdout);
        record_write(&report, RECORD_TABLE, stdout, &error); /* main() sees whether it arrives */
        putchar('\n');
        print_notes(table->notes, first);
    }
    record_free(&report);
    return first != NULL;
}

int main(int argc, char **argv)
{
    static struct chapter chapters[MAX_CHAPTERS];
    bool verified = true, follows = false;
    struct error error;

    standard_streams_keep();
    if (argc < 2 || argc - 1 > MAX_CHAPTERS) {
        fprintf(stderr, "usage: chapter_table FILE.csv... (1 to %d files)\n", MAX_CHAPTERS);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (!read_chapter(argv[i], &chapters[i - 1]))
            return 2;
        verified = is_verified(&chapters[i - 1]) && verified;
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        follows = print_table(&tables[i], chapters, argc - 1, follows) || follows;
    if (standard_output_arrives(&error))
        return verified ? 0 : 1;
    fprintf(stderr, "chapter_table: %s\n", error.text);
    return 2;
}
