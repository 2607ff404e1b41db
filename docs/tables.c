/**
 * @file tables.c
 * @brief Writes into Markdown files what is recorded and what programs print.
 *
 * tables [--check] [--results DIR] [--programs DIR] FILE.md...
 *
 * In the repository's root; results are in docs/results/h200 and programs in build/cpu unless the arguments say otherwise.
 * What it writes stands between a marker and the line `<!-- end -->`:
 *
 *   <!-- times: f32 -->               times of the gate (f32, f16 or bf16) and then the chapters wanted, if not all: from
 *                                     DIR/CHAPTER_f32.json, as --bench --format json writes it, and
 *                                     DIR/pytorch_gate_f32.json, as tests/peers/pytorch_gate.py does
 *   <!-- times: align 64 -->          times of align with that block size, and chapters: from DIR/CHAPTER_b64.json and
 *   <!-- times: align 64 uniform -->  DIR/cub_align_b64.json; of ids so generated, from DIR/CHAPTER_b64_uniform.json ...
 *   <!-- tree: 0-7 PROGRAM ... -->    what words 0 to 7 of dynamic shared memory hold at each barrier, when the program
 *                                     runs with these arguments
 *
 * --check writes nothing. Exits 1 if it finds something that is not as it would write it, 2 if a file cannot be read or
 * understood or a program fails.
 */
#include "times.h"
#include "trees.h"

#include "harness/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 22, TEXT_SIZE = 512 };

/** Where what is written comes from. */
struct origin {
    struct times_origin times;
    const char *programs;
};

/* --- markers ---------------------------------------------------------------------------------------------------------- */

enum marker { MARKER_NONE, MARKER_TIMES, MARKER_TREE, MARKER_END, MARKER_BAD };

/** What a marker asks for. */
struct request {
    struct times_request times;
    struct tree_request tree;
};

/** What kind of marker the line is. A comment whose first word ends with a colon must be one that is known. */
static enum marker parse_line(const char *line, size_t length, const struct origin *origin, struct request *request,
                              struct error *error)
{
    char text[TEXT_SIZE], *end;

    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text), line);
    if (strncmp(text, "<!-- ", 5) != 0)
        return MARKER_NONE;
    if (strcmp(text, "<!-- end -->") == 0)
        return MARKER_END;
    if (text[5 + strcspn(text + 5, " :")] != ':')
        return MARKER_NONE;
    end = strstr(text, " -->");
    if (end && end[4] == '\0' && strncmp(text, "<!-- times: ", 12) == 0) {
        *end = '\0';
        return times_parse(text + 12, &origin->times, &request->times, error) ? MARKER_TIMES : MARKER_BAD;
    }
    if (end && end[4] == '\0' && strncmp(text, "<!-- tree: ", 11) == 0) {
        *end = '\0';
        return tree_parse(text + 11, &request->tree, error) ? MARKER_TREE : MARKER_BAD;
    }
    error_set(error, "'%.60s' is no marker; <!-- times: f32 --> and <!-- tree: 0-7 PROGRAM --> are some", text);
    return MARKER_BAD;
}

/** Writes what the marker asks for. */
static bool write_requested(FILE *out, enum marker marker, const struct request *request, const struct origin *origin,
                            struct error *error)
{
    if (marker == MARKER_TIMES)
        return times_write(out, &origin->times, &request->times, error);
    return marker != MARKER_TREE || tree_write(out, origin->programs, &request->tree, error);
}

/* --- files ------------------------------------------------------------------------------------------------------------ */

/** Fails with the file and the line in front of the reason. */
static bool fail_at(const char *path, int line, struct error *error)
{
    const struct error reason = *error;

    return error_set(error, "%s:%d: %s", path, line, reason.text);
}

/** Copies the file's text to `out`, with new tables. */
static bool rewrite(const char *path, const char *text, const struct origin *origin, FILE *out, struct error *error)
{
    int line = 1, table = 0;

    for (; *text; line++) {
        const size_t length = strcspn(text, "\n"), taken = length + (text[length] == '\n');
        struct request request;
        const enum marker marker = parse_line(text, length, origin, &request, error);
        const bool begins = marker == MARKER_TIMES || marker == MARKER_TREE;

        if (marker == MARKER_BAD)
            return fail_at(path, line, error);
        if (table ? begins : marker == MARKER_END)
            return error_set(error,
                             table ? "%s:%d: the table before has no <!-- end -->" : "%s:%d: <!-- end --> of no table",
                             path, line);
        if (!table || marker == MARKER_END)
            fwrite(text, 1, taken, out);
        if (!write_requested(out, marker, &request, origin, error))
            return marker == MARKER_TREE ? fail_at(path, line, error) : false;
        table = begins ? line : marker == MARKER_END ? 0 : table;
        text += taken;
    }
    return !table || error_set(error, "%s:%d: the table has no <!-- end -->", path, table);
}

static bool read_text(const char *path, char **text, struct error *error)
{
    FILE *const file = fopen(path, "rb");
    void *memory;

    *text = NULL;
    if (!file)
        return error_set(error, "%s: %s", path, strerror(errno));
    if (!memory_allocate(&memory, MOST_BYTES + 1, error)) {
        fclose(file);
        return false;
    }
    *text = memory;
    errno = 0;
    const size_t size = fread(*text, 1, MOST_BYTES + 1, file);
    const bool failed = ferror(file);
    const int reason = errno;
    fclose(file);
    if (failed)
        return error_set(error, "%s: %s", path, strerror(reason));
    if (size > MOST_BYTES || memchr(*text, '\0', size))
        return error_set(error, "%s: it has more than %d bytes, or a NUL", path, MOST_BYTES);
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
    static struct origin origin = {.times.directory = "docs/results/h200", .programs = "build/cpu"};
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
        else
            break;
    }
    if (first == argc || argv[first][0] == '-') {
        fprintf(stderr, "usage: tables [--check] [--results DIR] [--programs DIR] FILE.md...\n");
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
