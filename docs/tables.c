/**
 * @file tables.c
 * @brief Writes into Markdown files what is recorded and what programs print.
 *
 * tables [--check] [--results DIR] [--programs DIR] [--runs DIR] FILE.md...
 *
 * In the repository's root; results are in docs/results/h200, programs in build/cpu and their reports in build/run unless the
 * arguments say otherwise.
 * What it writes stands between a marker and the line `<!-- end -->`:
 *
 *   <!-- times: f32 -->               times of the gate (f32, f16 or bf16) and then the chapters wanted, if not all: from
 *                                     DIR/CHAPTER_f32.json, as --bench --format json writes it, and
 *                                     DIR/pytorch_gate_f32.json, as tests/peers/pytorch_gate.py does
 *   <!-- times: align 64 -->          times of align with that block size, and chapters: from DIR/CHAPTER_b64.json and
 *   <!-- times: align 64 uniform -->  DIR/cub_align_b64.json; of ids so generated, from DIR/CHAPTER_b64_uniform.json ...
 *                                     A chapter may be a folder in DIR, a slash and a twin, the kernel of a chapter built
 *                                     otherwise: without_room/08_align_blelloch_plain_tree, from DIR/without_room/..._b64.json
 *   <!-- times: small 64 06_a -->     times of align with 64 experts and few tokens, by each chapter's small and large kernel:
 *                                     from DIR/small/06_a_e64_n1_small.json, 06_a_e64_n1_large.json ...
 *   <!-- counters: 03 04 -->          counters of two chapters, from build/run/03.json and 04.json. A row for each marker that
 *   <!-- row: shuffles: remark -->    follows: a counter, and what there is to say about it. "per token, 03 04" divides;
 *                                     "of align_kernel, 08 09" and the columns "06:fill_kernel 06:sort_kernel" are of a
 *                                     kernel; "machine:03" is from DIR/counters/03_name.txt, as tests/gpu/count_on_gpu.sh
 *                                     prints it; "by num_experts, 08_e32 08_e128" is of one program and several problems
 *   <!-- tree: 0-7 PROGRAM ... -->    what words 0 to 7 of dynamic shared memory hold at each barrier, when the program
 *                                     runs with these arguments
 *
 * --check writes nothing. Exits 1 if it finds something that is not as it would write it, 2 if a file cannot be read or
 * understood or a program fails.
 */
#include "counter_table.h"
#include "times.h"
#include "trees.h"

#include "harness/core/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 22, TEXT_SIZE = 1024 };

/** Where what is written comes from. */
struct origin {
    struct times_origin times;
    const char *programs, *runs;
};

/* --- markers ---------------------------------------------------------------------------------------------------------- */

enum marker { MARKER_NONE, MARKER_TIMES, MARKER_TREE, MARKER_COUNTERS, MARKER_ROW, MARKER_END, MARKER_BAD };

/** What a marker asks for. */
struct request {
    struct times_request times;
    struct tree_request tree;
    struct counter_request counters;
};

/** What kind of marker "name: words" is; fills in what it asks for. */
static enum marker parse_words(char *text, const struct origin *origin, struct request *request, struct error *error)
{
    enum marker marker = MARKER_NONE;
    bool good = true;

    if (strncmp(text, "times: ", 7) == 0) {
        marker = MARKER_TIMES;
        good = times_parse(text + 7, &origin->times, &request->times, error);
    } else if (strncmp(text, "tree: ", 6) == 0) {
        marker = MARKER_TREE;
        good = tree_parse(text + 6, &request->tree, error);
    } else if (strncmp(text, "counters: ", 10) == 0) {
        marker = MARKER_COUNTERS;
        good = counter_table_parse(text + 10, &request->counters, error);
    } else if (strncmp(text, "row: ", 5) == 0) {
        marker = MARKER_ROW;
        good = counter_table_add_row(text + 5, &request->counters, error);
    }
    return good ? marker : MARKER_BAD;
}

/** What kind of marker the line is. A comment whose first word ends with a colon must be one that is known. */
static enum marker parse_line(const char *line, size_t length, const struct origin *origin, struct request *request,
                              struct error *error)
{
    char text[TEXT_SIZE], copy[TEXT_SIZE], *end;
    enum marker marker = MARKER_NONE;

    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text), line);
    if (strncmp(text, "<!-- ", 5) != 0)
        return MARKER_NONE;
    if (strcmp(text, "<!-- end -->") == 0)
        return MARKER_END;
    if (text[5 + strcspn(text + 5, " :")] != ':')
        return MARKER_NONE;
    strcpy(copy, text);
    end = strstr(copy, " -->");
    if (end && end[4] == '\0') {
        *end = '\0';
        marker = parse_words(copy + 5, origin, request, error);
    }
    if (marker != MARKER_NONE)
        return marker;
    error_set(error,
              "'%.60s' is no marker; <!-- times: f32 -->, <!-- counters: 03 04 --> and <!-- tree: 0-7 PROGRAM --> "
              "are some",
              text);
    return MARKER_BAD;
}

/** Writes what the marker asks for. */
static bool write_requested(FILE *out, enum marker marker, const struct request *request, const struct origin *origin,
                            struct error *error)
{
    switch (marker) {
    case MARKER_TIMES:
        return times_write(out, &origin->times, &request->times, error);
    case MARKER_TREE:
        return tree_write(out, origin->programs, &request->tree, error);
    case MARKER_COUNTERS:
        return counter_table_write(out, origin->runs, &origin->times, &request->counters, error);
    default:
        return true;
    }
}

/* --- files ------------------------------------------------------------------------------------------------------------ */

/** Fails with the file and the line in front of the reason. */
static bool fail_at(const char *path, int line, struct error *error)
{
    const struct error reason = *error;

    return error_set(error, "%s:%d: %s", path, line, reason.text);
}

/** A table on its way: what it is of, and the line it begins in. */
struct table {
    enum marker marker; /**< MARKER_NONE between tables */
    int line;
    bool written;
    struct request request;
};

/** Writes the table unless it is written. The figures of times name their own file where something is wrong. */
static bool write_table(FILE *out, const char *path, struct table *table, const struct origin *origin,
                        struct error *error)
{
    if (table->written)
        return true;
    table->written = true;
    if (write_requested(out, table->marker, &table->request, origin, error))
        return true;
    return table->marker == MARKER_TIMES ? false : fail_at(path, table->line, error);
}

/** What must not stand where it does. Returns false with the reason. */
static bool check_place(const char *path, int line, enum marker marker, const struct table *table, struct error *error)
{
    const bool begins = marker == MARKER_TIMES || marker == MARKER_TREE || marker == MARKER_COUNTERS;

    if (begins && table->marker != MARKER_NONE)
        return error_set(error, "%s:%d: the table before has no <!-- end -->", path, line);
    if (marker == MARKER_END && table->marker == MARKER_NONE)
        return error_set(error, "%s:%d: <!-- end --> of no table", path, line);
    if (marker == MARKER_ROW && (table->marker != MARKER_COUNTERS || table->written))
        return error_set(error, "%s:%d: a row must follow <!-- counters: ... --> or another row", path, line);
    return true;
}

/** Does a line: keeps it, or drops it where it is part of what was written before. */
static bool rewrite_line(FILE *out, const char *path, int line, const char *text, size_t length, struct table *table,
                         const struct origin *origin, struct error *error)
{
    const bool inside = table->marker != MARKER_NONE;
    const enum marker marker = parse_line(text, length, origin, &table->request, error);

    if (marker == MARKER_BAD)
        return fail_at(path, line, error);
    if (!check_place(path, line, marker, table, error))
        return false;
    if (inside && marker != MARKER_ROW && !write_table(out, path, table, origin, error))
        return false;
    if (!inside || marker == MARKER_ROW || marker == MARKER_END)
        fwrite(text, 1, length + (text[length] == '\n'), out);
    if (marker == MARKER_END) {
        table->marker = MARKER_NONE;
    } else if (marker != MARKER_NONE && marker != MARKER_ROW) {
        table->marker = marker;
        table->line = line;
        table->written = false;
    }
    return true;
}

/** Copies the file's text to `out`, with new tables. */
static bool rewrite(const char *path, const char *text, const struct origin *origin, FILE *out, struct error *error)
{
    struct table *const table = calloc(1, sizeof *table);
    bool good = table || error_set(error, "out of memory for %s", path);

    for (int line = 1; good && *text; line++) {
        const size_t length = strcspn(text, "\n");

        good = rewrite_line(out, path, line, text, length, table, origin, error);
        text += length + (text[length] == '\n');
    }
    if (good && table->marker != MARKER_NONE)
        good = error_set(error, "%s:%d: the table has no <!-- end -->", path, table->line);
    free(table);
    return good;
}

static bool read_text(const char *path, char **text, struct error *error)
{
    FILE *const file = fopen(path, "rb");
    void *memory;

    *text = NULL;
    if (!file)
        return error_set(error, "%s: %s", path, strerror(errno));
    if (!memory_allocate(&memory, MAX_BYTES + 1, error)) {
        fclose(file);
        return false;
    }
    *text = memory;
    errno = 0;
    const size_t size = fread(*text, 1, MAX_BYTES + 1, file);
    const bool failed = ferror(file);
    const int reason = errno;
    fclose(file);
    if (failed)
        return error_set(error, "%s: %s", path, strerror(reason));
    if (size > MAX_BYTES || memchr(*text, '\0', size))
        return error_set(error, "%s: it has more than %d bytes, or a NUL", path, MAX_BYTES);
    (*text)[size] = '\0';
    return true;
}

/** Puts the text in the file's place, whole or not at all. */
static bool write_text(const char *path, const char *text, struct error *error)
{
    char temporary[TEXT_SIZE];
    struct stat status;
    int reason = 0;

    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid()) >= sizeof temporary)
        return error_set(error, "%s: its name is too long", path);
    FILE *const file = fopen(temporary, "wx");
    if (!file)
        return error_set(error, "%s: %s", temporary, strerror(errno));
    if (stat(path, &status) != 0 || fchmod(fileno(file), status.st_mode & 07777) != 0 || fputs(text, file) == EOF)
        reason = errno;
    if (fclose(file) != 0 && reason == 0)
        reason = errno;
    if (reason == 0 && rename(temporary, path) != 0)
        reason = errno;
    if (reason == 0)
        return true;
    unlink(temporary);
    return error_set(error, "%s: it cannot be written: %s", path, strerror(reason));
}

/** Makes the text that the file should have; the caller frees it. */
static bool make_text(const char *path, const char *text, const struct origin *origin, char **made, struct error *error)
{
    size_t size = 0;
    FILE *const out = open_memstream(made, &size);

    if (!out)
        return error_set(error, "out of memory for %s", path);
    const bool good = rewrite(path, text, origin, out, error);
    const bool whole = !ferror(out);
    if (fclose(out) != 0 || !whole)
        return error_set(error, "out of memory for %s", path);
    return good;
}

/** The number of the first line in which the texts differ. */
static int first_difference(const char *a, const char *b)
{
    int line = 1;

    for (; *a && *a == *b; a++, b++)
        line += *a == '\n';
    return line;
}

enum outcome { AS_RECORDED = 0, NOT_AS_RECORDED = 1, FAILED = 2 };

static enum outcome do_file(const char *path, const struct origin *origin, bool check, struct error *error)
{
    char *text = NULL, *made = NULL;
    enum outcome outcome = FAILED;

    if (read_text(path, &text, error) && make_text(path, text, origin, &made, error)) {
        outcome = AS_RECORDED;
        if (strcmp(text, made) != 0 && check) {
            error_set(error, "%s:%d: this is not what would be written now: ninja tables writes it anew", path,
                      first_difference(text, made));
            outcome = NOT_AS_RECORDED;
        } else if (strcmp(text, made) != 0 && !write_text(path, made, error)) {
            outcome = FAILED;
        }
    }
    free(made);
    free(text);
    return outcome;
}

int main(int argc, char **argv)
{
    static struct origin origin = {
        .times.directory = "docs/results/h200", .programs = "build/cpu", .runs = "build/run"};
    struct error error;
    bool check = false;
    int first = 1, worst = AS_RECORDED;

    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--check") == 0)
            check = true;
        else if (strcmp(argv[first], "--results") == 0 && first + 1 < argc)
            origin.times.directory = argv[++first];
        else if (strcmp(argv[first], "--programs") == 0 && first + 1 < argc)
            origin.programs = argv[++first];
        else if (strcmp(argv[first], "--runs") == 0 && first + 1 < argc)
            origin.runs = argv[++first];
        else
            break;
    }
    if (first == argc || argv[first][0] == '-') {
        fprintf(stderr, "usage: tables [--check] [--results DIR] [--programs DIR] [--runs DIR] FILE.md...\n");
        return FAILED;
    }
    if (!times_read_sources(&origin.times, &error)) {
        fprintf(stderr, "tables: %s\n", error.text);
        return FAILED;
    }
    for (int i = first; i < argc; i++) {
        const enum outcome outcome = do_file(argv[i], &origin, check, &error);

        if (outcome != AS_RECORDED)
            fprintf(stderr, "tables: %s\n", error.text);
        worst = (int)outcome > worst ? (int)outcome : worst;
    }
    return worst;
}
