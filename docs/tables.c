/**
 * @file tables.c
 * @brief Writes the tables of recorded times into Markdown files.
 *
 * tables [--check] [--results DIR] FILE.md...   in the repository's root; DIR is docs/results/h200 unless given
 *
 * A table stands between the lines `<!-- times: f32 -->` and `<!-- end -->`: f32, f16 or bf16, and then the chapters wanted,
 * if not all. Its figures come from DIR/CHAPTER_f32.json, as --bench --format json writes it, and DIR/pytorch_gate_f32.json,
 * as tests/peers/pytorch_gate.py does; what is not recorded shows as "-". A kernel that has changed since is marked.
 * --check writes nothing. Exits 1 if it finds a table that is not as recorded, 2 if a file cannot be read or understood.
 */
#include "harness/json.h"
#include "harness/memory.h"
#include "harness/report.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUM_SIZES = 7, MOST_CHAPTERS = 32, MOST_SOURCES = 256, MOST_BYTES = 1 << 22, NAME_SIZE = 64, TEXT_SIZE = 512 };

static const int sizes[NUM_SIZES] = {1, 16, 64, 512, 4096, 16384, 65536};

/** The chapter that runs on the host: its times are those that the next chapter has recorded beside its own. */
static const char host_chapter[] = "01_cpu_baseline";

static const char pytorch_source[] = "chapters/01_cpu_baseline/grouped_topk.py";

/** The hash of every source file as it is now. */
struct sources {
    struct {
        char hash[65], path[256];
    } files[MOST_SOURCES];
    int count;
};

/** One recorded file. Without values nothing is recorded. */
struct result {
    char name[NAME_SIZE]; /**< the chapter's */
    struct json_file file;
    bool old; /**< the source is not what it was */
};

/** What is recorded of one type, chapters in the course's order. */
struct results {
    char dtype[8];
    struct result pytorch, chapters[MOST_CHAPTERS];
    int num_chapters;
};

/** Where results come from. */
struct origin {
    const char *directory;
    struct sources sources;
};

/** What a marker asks for. */
struct request {
    char dtype[8];
    char chapters[MOST_CHAPTERS][NAME_SIZE];
    int num_chapters; /**< 0: all of them */
};

/** Different texts, in the order they came in. There is room for a table's chapters, the floor's, PyTorch, and one more. */
struct texts {
    char texts[MOST_CHAPTERS + 3][TEXT_SIZE];
    int count;
};

/* --- sources ---------------------------------------------------------------------------------------------------------- */

static bool read_sources(struct sources *sources, struct error *error)
{
    FILE *const pipe = popen("sha256sum chapters/*/*.*", "r");
    char line[512];

    sources->count = 0;
    if (!pipe)
        return error_set(error, "sha256sum: %s", strerror(errno));
    while (sources->count < MOST_SOURCES && fgets(line, sizeof line, pipe))
        if (sscanf(line, "%64[0-9a-f]  %255[^\n]", sources->files[sources->count].hash,
                   sources->files[sources->count].path) == 2)
            sources->count++;
    if (pclose(pipe) != 0 || sources->count == MOST_SOURCES)
        return error_set(error, "sha256sum chapters/*/*.*: it failed, or lists %d files or more", MOST_SOURCES);
    return true;
}

/** The file's hash, or NULL if there is no such file. */
static const char *find_hash(const struct sources *sources, const char *path)
{
    for (int i = 0; i < sources->count; i++)
        if (strcmp(sources->files[i].path, path) == 0)
            return sources->files[i].hash;
    return NULL;
}

/** The hash of the chapter's kernel, or NULL if there is no such chapter. */
static const char *find_kernel(const struct sources *sources, const char *chapter)
{
    char path[NAME_SIZE + 32];

    snprintf(path, sizeof path, "chapters/%s/%s", chapter, strcmp(chapter, host_chapter) == 0 ? "gate.c" : "gate.cu");
    return find_hash(sources, path);
}

/* --- results ---------------------------------------------------------------------------------------------------------- */

/** Reads a file and compares the hash of its source with the present one. */
static bool read_result(const char *path, const char *hash, struct result *result, struct error *error)
{
    if (!json_read(path, &result->file, error))
        return false;
    if (!hash)
        return error_set(error, "%s: the source that it measured is not in chapters/", path);
    if (!json_member(result->file.values, "rows") || json_member(result->file.values, "rows")->type != JSON_ARRAY)
        return error_set(error, "%s: it has no \"rows\"", path);
    result->old = strcmp(json_string(result->file.values, "kernel_source_sha256", ""), hash) != 0;
    return true;
}

static bool check_field(const char *path, const struct json *object, const char *name, const char *wanted,
                        struct error *error)
{
    const char *const is = json_string(object, name, "");

    return strcmp(is, wanted) == 0 ||
           error_set(error, "%s: \"%s\" is \"%s\"; it must be \"%s\"", path, name, is, wanted);
}

static bool read_chapter(const struct origin *origin, const char *path, const char *dtype, struct result *result,
                         struct error *error)
{
    if (!read_result(path, find_kernel(&origin->sources, result->name), result, error))
        return false;

    const struct json *const root = result->file.values;
    return check_field(path, root, "chapter", result->name, error) &&
           check_field(path, json_member(root, "problem"), "dtype", dtype, error) &&
           check_field(path, root, "distribution", "router", error) && check_field(path, root, "cache", "warm", error);
}

static bool read_pytorch(const struct origin *origin, struct results *results, struct error *error)
{
    char path[TEXT_SIZE];

    snprintf(path, sizeof path, "%s/pytorch_gate_%s.json", origin->directory, results->dtype);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    return read_result(path, find_hash(&origin->sources, pytorch_source), &results->pytorch, error) &&
           check_field(path, json_member(results->pytorch.file.values, "problem"), "dtype", results->dtype, error);
}

/** The chapter in "02_warp_per_group_f32.json", if that is what the name is like. */
static bool chapter_of(const char *file, const char *dtype, char chapter[NAME_SIZE])
{
    char ending[16];
    const size_t length = strlen(file);

    snprintf(ending, sizeof ending, "_%s.json", dtype);
    if (length <= strlen(ending) + 3 || length >= NAME_SIZE || strcmp(file + length - strlen(ending), ending) != 0 ||
        !isdigit((unsigned char)file[0]) || !isdigit((unsigned char)file[1]) || file[2] != '_')
        return false;
    snprintf(chapter, NAME_SIZE, "%.*s", (int)(length - strlen(ending)), file);
    return strcmp(chapter, host_chapter) != 0;
}

static bool read_chapters(const struct origin *origin, struct dirent *const *entries, int count,
                          struct results *results, struct error *error)
{
    for (int i = 0; i < count && results->num_chapters < MOST_CHAPTERS; i++) {
        struct result *const result = &results->chapters[results->num_chapters];
        char path[TEXT_SIZE + 256];

        if (!chapter_of(entries[i]->d_name, results->dtype, result->name))
            continue;
        results->num_chapters++;
        snprintf(path, sizeof path, "%s/%s", origin->directory, entries[i]->d_name);
        if (!read_chapter(origin, path, results->dtype, result, error))
            return false;
    }
    return true;
}

static void free_results(struct results *results)
{
    json_free(&results->pytorch.file);
    for (int i = 0; i < results->num_chapters; i++)
        json_free(&results->chapters[i].file);
}

static bool read_results(const struct origin *origin, const char *dtype, struct results *results, struct error *error)
{
    struct dirent **entries;
    const int count = scandir(origin->directory, &entries, NULL, alphasort);

    memset(results, 0, sizeof *results);
    snprintf(results->dtype, sizeof results->dtype, "%s", dtype);
    if (count < 0)
        return error_set(error, "%s: %s", origin->directory, strerror(errno));
    const bool good = read_pytorch(origin, results, error) && read_chapters(origin, entries, count, results, error);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    if (!good)
        free_results(results);
    return good;
}

static const struct result *find_chapter(const struct results *results, const char *name)
{
    for (int i = 0; i < results->num_chapters; i++)
        if (strcmp(results->chapters[i].name, name) == 0)
            return &results->chapters[i];
    return NULL;
}

/** The row for so many tokens, or NULL. */
static const struct json *find_row(const struct result *result, int num_tokens)
{
    const struct json *const rows = result ? json_member(result->file.values, "rows") : NULL;

    for (const struct json *row = rows ? rows->first : NULL; row; row = row->next)
        if (json_number(row, "num_tokens", -1.0) == num_tokens)
            return row;
    return NULL;
}

/* --- a table's rows --------------------------------------------------------------------------------------------------- */

/** Writes a time with three digits that count, or "-" if it is none. */
static void write_us(FILE *out, double us)
{
    double unit = 1.0;
    char text[32];

    if (!(us > 0.0 && us < 1e12)) {
        fputs(" - |", out);
        return;
    }
    if (us < 99.95) {
        fprintf(out, " %#.3g |", us);
        return;
    }
    while (us / unit >= 999.5)
        unit *= 10.0;
    fprintf(out, " %s |", report_count((uint64_t)(round(us / unit) * unit), text));
}

/** Writes a row of medians: of `name` in each of the result's rows, or where it has no parts, of the number itself. */
static void write_row(FILE *out, const char *label, const struct result *result, const char *name)
{
    fprintf(out, "| %s |", label);
    for (int i = 0; i < NUM_SIZES; i++) {
        const struct json *const row = find_row(result, sizes[i]);

        write_us(out, json_number(json_member(row, name), "median_us", json_number(row, name, 0.0)));
    }
    fputs("\n", out);
}

/** One of the four: `way` is eager or compiled, `how` stream or graph. */
static void write_pytorch(FILE *out, const struct results *results, const char *way, const char *how)
{
    const struct json *const root = results->pytorch.file.values;
    const struct json *const launches = json_member(json_member(root, "launches"), way);
    const double least = json_number(launches, "least", 0.0), most = json_number(launches, "most", 0.0);
    char label[TEXT_SIZE], name[32], counts[64] = "";

    if (least > 0.0 && least == most)
        snprintf(counts, sizeof counts, " (%.0f launches)", most);
    else if (least > 0.0)
        snprintf(counts, sizeof counts, " (%.0f to %.0f launches)", least, most);
    snprintf(label, sizeof label, "PyTorch, %s, in a %s%.60s%s", way, how, counts,
             results->pytorch.old ? " *(recorded from an older grouped_topk.py)*" : "");
    snprintf(name, sizeof name, "%s_%s", way, how);
    write_row(out, label, &results->pytorch, name);
}

/** The recorded result that has times of the chapter on the host beside its own, or NULL. */
static const struct result *find_host(const struct results *results)
{
    for (int i = 0; i < results->num_chapters; i++)
        if (strcmp(json_string(results->chapters[i].file.values, "before", ""), host_chapter) == 0)
            return &results->chapters[i];
    return NULL;
}

static void write_host(FILE *out, const struct results *results)
{
    const struct result *const result = find_host(results);
    const double threads = result ? json_number(result->file.values, "host_threads", 0.0) : 0.0;
    char label[TEXT_SIZE];

    snprintf(label, sizeof label, "%s, on the host", host_chapter);
    if (threads >= 1.0 && threads < 1e6)
        snprintf(label, sizeof label, "%s, %.0f thread%s", host_chapter, threads, threads == 1.0 ? "" : "s");
    write_row(out, label, result, "before");
}

static void write_chapter(FILE *out, const struct results *results, const char *name)
{
    const struct result *const result = find_chapter(results, name);
    char label[TEXT_SIZE];

    if (strcmp(name, host_chapter) == 0) {
        write_host(out, results);
        return;
    }
    snprintf(label, sizeof label, "%s%s", name, result && result->old ? " *(recorded from an older kernel)*" : "");
    write_row(out, label, result, "here");
}

/* --- where a table's figures come from -------------------------------------------------------------------------------- */

/** Adds a text unless it is there, without what Markdown would take for its own. */
static void add_text(struct texts *texts, const char *text)
{
    char *const copy = texts->texts[texts->count];

    snprintf(copy, TEXT_SIZE, "%s", text);
    for (char *at = copy; *at; at++)
        if (!isprint((unsigned char)*at) || strchr("`|<>", *at))
            *at = '?';
    for (int i = 0; i < texts->count; i++)
        if (strcmp(texts->texts[i], copy) == 0)
            return;
    texts->count += *copy != '\0';
}

/** Adds the result's command, with NAME for the chapter, so that those of several chapters are one. */
static void add_command(struct texts *texts, const struct result *result)
{
    const char *const command = json_string(result->file.values, "command", "");
    const char *const name = *result->name ? strstr(command, result->name) : NULL;
    char text[TEXT_SIZE], *out;

    if (name)
        snprintf(text, sizeof text, "%.*sNAME%s", (int)(name - command), command, name + strlen(result->name));
    else
        snprintf(text, sizeof text, "%s", command);
    out = strstr(text, " --out "); /* where it was written says nothing about the figures */
    if (out)
        *out = '\0';
    add_text(texts, text);
}

static void write_texts(FILE *out, const struct texts *texts, const char *quote)
{
    for (int i = 0; i < texts->count; i++)
        fprintf(out, "%s%s%s%s", i == 0 ? "" : i + 1 < texts->count ? ", " : " and ", quote, texts->texts[i], quote);
}

/** What the results were recorded with, when and how. */
struct provenance {
    struct texts machines, days, commands;
};

static void add_result(struct provenance *provenance, const struct result *result)
{
    const struct json *const root = result ? result->file.values : NULL;
    char text[TEXT_SIZE];

    if (!root)
        return;
    snprintf(text, sizeof text, "%s, %s", json_string(root, "device", "?"), json_string(root, "toolkit", "?"));
    add_text(&provenance->machines, text);
    snprintf(text, sizeof text, "%.10s", json_string(root, "date", "?"));
    add_text(&provenance->days, text);
    add_command(&provenance->commands, result);
}

static void write_provenance(FILE *out, const struct provenance *provenance)
{
    if (provenance->machines.count == 0) {
        fputs("Nothing is recorded yet.\n", out);
        return;
    }
    write_texts(out, &provenance->machines, "");
    fputs(", recorded on ", out);
    write_texts(out, &provenance->days, "");
    fputs(" by ", out);
    write_texts(out, &provenance->commands, "`");
    fputs(".\n", out);
}

/* --- a table ---------------------------------------------------------------------------------------------------------- */

/** With no chapters named, those of which anything is recorded. */
static void complete_request(struct request *request, const struct results *results)
{
    snprintf(request->chapters[request->num_chapters++], NAME_SIZE, "%s", host_chapter);
    for (int i = 0; i < results->num_chapters && request->num_chapters < MOST_CHAPTERS; i++)
        snprintf(request->chapters[request->num_chapters++], NAME_SIZE, "%s", results->chapters[i].name);
}

static void write_header(FILE *out)
{
    char text[32];

    fputs("\n| tokens |", out);
    for (int i = 0; i < NUM_SIZES; i++)
        fprintf(out, " %s |", report_count((uint64_t)sizes[i], text));
    fputs("\n|---|", out);
    for (int i = 0; i < NUM_SIZES; i++)
        fputs("---:|", out);
    fputs("\n", out);
}

static void write_table(FILE *out, struct request *request, const struct results *results)
{
    struct provenance provenance = {0};
    const struct result *const floor = results->num_chapters > 0 ? &results->chapters[0] : NULL;

    write_header(out);
    if (request->num_chapters == 0) {
        write_pytorch(out, results, "eager", "stream");
        write_pytorch(out, results, "eager", "graph");
        write_pytorch(out, results, "compiled", "stream");
        write_pytorch(out, results, "compiled", "graph");
        complete_request(request, results);
    } else {
        write_pytorch(out, results, "eager", "graph");
    }
    for (int i = 0; i < request->num_chapters; i++)
        write_chapter(out, results, request->chapters[i]);
    write_row(out, "floor", floor, "floor_us");

    add_result(&provenance, floor);
    for (int i = 0; i < request->num_chapters; i++)
        add_result(&provenance, strcmp(request->chapters[i], host_chapter) == 0
                                    ? find_host(results)
                                    : find_chapter(results, request->chapters[i]));
    add_result(&provenance, &results->pytorch);
    fputs("\n", out);
    write_provenance(out, &provenance);
    fputs("\n", out);
}

/* --- markers ---------------------------------------------------------------------------------------------------------- */

enum marker { MARKER_NONE, MARKER_TIMES, MARKER_END, MARKER_BAD };

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/** Takes the words of a marker apart; they are cut from `words`. Chapters end up in the course's order. */
static enum marker parse_request(char *words, const struct sources *sources, struct request *request,
                                 struct error *error)
{
    const char *word = strtok(words, " ");

    memset(request, 0, sizeof *request);
    if (!word || (strcmp(word, "f32") != 0 && strcmp(word, "f16") != 0 && strcmp(word, "bf16") != 0)) {
        error_set(error, "times of '%s'; it must be f32, f16 or bf16", word ? word : "");
        return MARKER_BAD;
    }
    snprintf(request->dtype, sizeof request->dtype, "%s", word);
    while ((word = strtok(NULL, " "))) {
        if (request->num_chapters == MOST_CHAPTERS || strlen(word) >= NAME_SIZE || !find_kernel(sources, word)) {
            error_set(error, "'%s' is no chapter with a gate, or one too many", word);
            return MARKER_BAD;
        }
        strcpy(request->chapters[request->num_chapters++], word);
    }
    qsort(request->chapters, (size_t)request->num_chapters, NAME_SIZE, compare_names);
    return MARKER_TIMES;
}

/** What kind of marker the line is. A comment whose first word ends with a colon must be one that is known. */
static enum marker parse_line(const char *line, size_t length, const struct sources *sources, struct request *request,
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
    if (strncmp(text, "<!-- times: ", 12) != 0 || !end || end[4] != '\0') {
        error_set(error, "'%.60s' is no marker; <!-- times: f32 --> is one", text);
        return MARKER_BAD;
    }
    *end = '\0';
    return parse_request(text + 12, sources, request, error);
}

/* --- files ------------------------------------------------------------------------------------------------------------ */

/** Fails with the file and the line in front of the reason. */
static bool fail_at(const char *path, int line, struct error *error)
{
    const struct error reason = *error;

    return error_set(error, "%s:%d: %s", path, line, reason.text);
}

static bool write_requested(FILE *out, struct request *request, const struct origin *origin, struct error *error)
{
    struct results results;

    if (!read_results(origin, request->dtype, &results, error))
        return false;
    write_table(out, request, &results);
    free_results(&results);
    return true;
}

/** Copies the file's text to `out`, with new tables. */
static bool rewrite(const char *path, const char *text, const struct origin *origin, FILE *out, struct error *error)
{
    int line = 1, table = 0;

    for (; *text; line++) {
        const size_t length = strcspn(text, "\n"), taken = length + (text[length] == '\n');
        struct request request;
        const enum marker marker = parse_line(text, length, &origin->sources, &request, error);

        if (marker == MARKER_BAD)
            return fail_at(path, line, error);
        if (table ? marker == MARKER_TIMES : marker == MARKER_END)
            return error_set(error,
                             table ? "%s:%d: the table before has no <!-- end -->" : "%s:%d: <!-- end --> of no table",
                             path, line);
        if (!table || marker == MARKER_END)
            fwrite(text, 1, taken, out);
        if (marker == MARKER_TIMES && !write_requested(out, &request, origin, error))
            return false;
        table = marker == MARKER_TIMES ? line : marker == MARKER_END ? 0 : table;
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

enum outcome { AS_RECORDED = 0, NOT_AS_RECORDED = 1, FAILED = 2 };

static enum outcome do_file(const char *path, const struct origin *origin, bool check, struct error *error)
{
    char *text = NULL, *made = NULL;
    enum outcome outcome = FAILED;

    if (read_text(path, &text, error) && make_text(path, text, origin, &made, error)) {
        outcome = AS_RECORDED;
        if (strcmp(text, made) != 0 && check) {
            error_set(error, "%s: a table is not what %s gives: ninja tables writes it anew", path, origin->directory);
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
    static struct origin origin = {.directory = "docs/results/h200"};
    struct error error;
    bool check = false;
    int first = 1, worst = AS_RECORDED;

    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--check") == 0)
            check = true;
        else if (strcmp(argv[first], "--results") == 0 && first + 1 < argc)
            origin.directory = argv[++first];
        else
            break;
    }
    if (first == argc || argv[first][0] == '-') {
        fprintf(stderr, "usage: tables [--check] [--results DIR] FILE.md...\n");
        return FAILED;
    }
    if (!read_sources(&origin.sources, &error)) {
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
