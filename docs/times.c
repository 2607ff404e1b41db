#include "times.h"

#include "texts.h"

#include "harness/align/input.h"
#include "../tests/simt/json.h"
#include "harness/core/record.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NUM_SIZES = 7,
    MAX_CHAPTERS = TIMES_MAX_CHAPTERS,
    NAME_SIZE = TIMES_NAME_SIZE,
    TEXT_SIZE = 512,
    PATH_SIZE = 1024
};

static const int sizes[NUM_SIZES] = {1, 16, 64, 512, 4096, 16384, 65536};

/** The chapter that runs on the host: its times are those that the next chapter has recorded beside its own. */
static const char host_chapter[] = "01_cpu_baseline";

static const char old_kernel[] = " (*recorded from an older kernel*)";

static const char pytorch_source[] = "chapters/01_cpu_baseline/grouped_topk.py";
static const char cub_source[] = "tests/peers/cub_align.cu";

/** One recorded file. Without values nothing is recorded. */
struct result {
    char name[NAME_SIZE]; /**< the chapter's, or a twin's with its folder */
    struct json_file file;
    bool old; /**< the source is not what it was */
};

/** What is recorded of one subject, chapters in the course's order. */
struct results {
    struct result library; /**< PyTorch or CUB */
    struct result chapters[MAX_CHAPTERS];
    int num_chapters;
};

/* --- sources ---------------------------------------------------------------------------------------------------------- */

bool times_read_sources(struct times_origin *origin, struct error *error)
{
    FILE *const pipe = popen("sha256sum chapters/*/*.* tests/peers/*.*", "r");
    char line[512];
    int count = 0;

    if (!pipe)
        return error_set(error, "sha256sum: %s", strerror(errno));
    while (count < TIMES_MAX_SOURCES && fgets(line, sizeof line, pipe))
        count += sscanf(line, "%64[0-9a-f]  %255[^\n]", origin->sources[count].hash, origin->sources[count].path) == 2;
    origin->num_sources = count;
    if (pclose(pipe) != 0 || count == TIMES_MAX_SOURCES)
        return error_set(error, "sha256sum chapters/*/*.* tests/peers/*.*: it failed, or lists %d files or more",
                         TIMES_MAX_SOURCES);
    return true;
}

const char *times_find_hash(const struct times_origin *origin, const char *path)
{
    for (int i = 0; i < origin->num_sources; i++)
        if (strcmp(origin->sources[i].path, path) == 0)
            return origin->sources[i].hash;
    return NULL;
}

/** Where the chapter's kernel is, if there is such a chapter. */
static void kernel_path(const struct times_request *request, const char *chapter, char path[PATH_SIZE])
{
    const char *const file = request->align ? "align.cu" : strcmp(chapter, host_chapter) == 0 ? "gate.c" : "gate.cu";

    snprintf(path, PATH_SIZE, "chapters/%s/%s", chapter, file);
}

/** A name without the folder that a twin's has in front. */
static const char *own_name(const char *name)
{
    const char *const slash = strchr(name, '/');

    return slash ? slash + 1 : name;
}

/**
 * The chapter whose kernel is timed. A twin is the kernel of a chapter, built otherwise, and its name begins with the chapter's:
 * "without_room/10_fill_packed" is one of 10_fill. No other name is cut.
 */
static void find_timed(const struct times_origin *origin, const struct times_request *request, const char *name,
                       char chapter[NAME_SIZE], char path[PATH_SIZE])
{
    char *end;

    snprintf(chapter, NAME_SIZE, "%s", own_name(name));
    kernel_path(request, chapter, path);
    while (strchr(name, '/') && !times_find_hash(origin, path) && (end = strrchr(chapter, '_'))) {
        *end = '\0';
        kernel_path(request, chapter, path);
    }
}

/* --- results ---------------------------------------------------------------------------------------------------------- */

/** Reads a file and compares the hash of its source with the present one. */
static bool read_result(const struct times_origin *origin, const char *path, const char *source, struct result *result,
                        struct error *error)
{
    const char *const hash = times_find_hash(origin, source);

    if (!json_read(path, &result->file, error))
        return false;
    if (!hash)
        return error_set(error, "%s: %s, which it measured, is gone", path, source);
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

/** The file is of the problem that is asked for. */
static bool check_problem(const char *path, const struct json *root, const struct times_request *request,
                          struct error *error)
{
    const struct json *const problem = json_member(root, "problem");
    const double block_size = json_number(problem, "block_size", 0.0);

    if (!request->align)
        return check_field(path, problem, "dtype", request->dtype, error);
    return block_size == request->block_size ||
           error_set(error, "%s: \"block_size\" is %g; it must be %d", path, block_size, request->block_size);
}

/** The file is of a chapter, or of a program like one, as it runs on a GPU. */
static bool check_bench(const char *path, const struct json *root, const char *name,
                        const struct times_request *request, struct error *error)
{
    return check_field(path, root, "chapter", name, error) && check_problem(path, root, request, error) &&
           check_field(path, root, "distribution", request->dist, error) &&
           check_field(path, root, "cache", "warm", error);
}

static bool read_chapter(const struct times_origin *origin, const char *path, const struct times_request *request,
                         struct result *result, struct error *error)
{
    char chapter[NAME_SIZE], source[PATH_SIZE];

    find_timed(origin, request, result->name, chapter, source);
    return read_result(origin, path, source, result, error) &&
           check_bench(path, result->file.values, chapter, request, error);
}

/** Reads PyTorch's times, or in align CUB's, if they are recorded. */
static bool read_library(const struct times_origin *origin, const struct times_request *request, struct result *result,
                         struct error *error)
{
    const char *const name = request->align ? "cub_align" : "pytorch_gate";
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/%s_%s.json", origin->directory, name, request->results);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    if (!read_result(origin, path, request->align ? cub_source : pytorch_source, result, error))
        return false;
    if (!request->align)
        return check_problem(path, result->file.values, request, error);
    return check_bench(path, result->file.values, name, request, error);
}

/** The chapter in "02_warp_per_group_f32.json", if that is what the name is like. */
static bool chapter_of(const char *file, const struct times_request *request, char chapter[NAME_SIZE])
{
    char ending[48];
    const size_t length = strlen(file);

    snprintf(ending, sizeof ending, "_%s.json", request->results);
    if (length <= strlen(ending) + 3 || length >= NAME_SIZE || strcmp(file + length - strlen(ending), ending) != 0 ||
        !isdigit((unsigned char)file[0]) || !isdigit((unsigned char)file[1]) || file[2] != '_')
        return false;
    snprintf(chapter, NAME_SIZE, "%.*s", (int)(length - strlen(ending)), file);
    return strcmp(chapter, host_chapter) != 0;
}

static bool read_chapters(const struct times_origin *origin, struct dirent *const *entries, int count,
                          const struct times_request *request, struct results *results, struct error *error)
{
    for (int i = 0; i < count && results->num_chapters < MAX_CHAPTERS; i++) {
        struct result *const result = &results->chapters[results->num_chapters];
        char path[PATH_SIZE];

        if (!chapter_of(entries[i]->d_name, request, result->name))
            continue;
        results->num_chapters++;
        snprintf(path, sizeof path, "%s/%s", origin->directory, entries[i]->d_name);
        if (!read_chapter(origin, path, request, result, error))
            return false;
    }
    return true;
}

/** Reads the twins that the request names. */
static bool read_twins(const struct times_origin *origin, const struct times_request *request, struct results *results,
                       struct error *error)
{
    for (int i = 0; i < request->num_chapters && results->num_chapters < MAX_CHAPTERS; i++) {
        struct result *const result = &results->chapters[results->num_chapters];
        char path[PATH_SIZE];

        if (!strchr(request->chapters[i], '/'))
            continue;
        snprintf(result->name, sizeof result->name, "%s", request->chapters[i]);
        snprintf(path, sizeof path, "%s/%s_%s.json", origin->directory, result->name, request->results);
        results->num_chapters++;
        if (!read_chapter(origin, path, request, result, error))
            return false;
    }
    return true;
}

static void free_results(struct results *results)
{
    json_free(&results->library.file);
    for (int i = 0; i < results->num_chapters; i++)
        json_free(&results->chapters[i].file);
}

static bool read_results(const struct times_origin *origin, const struct times_request *request,
                         struct results *results, struct error *error)
{
    struct dirent **entries;
    const int count = scandir(origin->directory, &entries, NULL, alphasort);

    memset(results, 0, sizeof *results);
    if (count < 0)
        return error_set(error, "%s: %s", origin->directory, strerror(errno));
    const bool good = read_library(origin, request, &results->library, error) &&
                      read_chapters(origin, entries, count, request, results, error) &&
                      read_twins(origin, request, results, error);
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

const char *times_format(double us, char text[TIMES_US_SIZE])
{
    double unit = 1.0;

    if (!(us > 0.0 && us < 1e12))
        return strcpy(text, "-");
    if (us < 99.95) {
        snprintf(text, TIMES_US_SIZE, "%#.3g", us);
        return text;
    }
    while (us / unit >= 999.5)
        unit *= 10.0;
    return grouped_digits((uint64_t)(round(us / unit) * unit), text);
}

static void write_us(FILE *out, double us)
{
    char text[TIMES_US_SIZE];

    fprintf(out, " %s |", times_format(us, text));
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
    const struct json *const root = results->library.file.values;
    const struct json *const launches = json_member(json_member(root, "launches"), way);
    const double least = json_number(launches, "least", 0.0), most = json_number(launches, "most", 0.0);
    char label[TEXT_SIZE], name[32], counts[64] = "";

    if (least > 0.0 && least == most)
        snprintf(counts, sizeof counts, " (%.0f launches)", most);
    else if (least > 0.0)
        snprintf(counts, sizeof counts, " (%.0f to %.0f launches)", least, most);
    snprintf(label, sizeof label, "PyTorch, %s, in a %s%.60s%s", way, how, counts,
             results->library.old ? " (*recorded from an older grouped_topk.py*)" : "");
    snprintf(name, sizeof name, "%s_%s", way, how);
    write_row(out, label, &results->library, name);
}

static void write_cub(FILE *out, const struct results *results)
{
    char label[TEXT_SIZE];

    snprintf(label, sizeof label, "CUB radix sort%s",
             results->library.old ? " (*recorded from an older cub_align.cu*)" : "");
    write_row(out, label, &results->library, "here");
}

/** The recorded result that has times of the chapter on the host beside its own, or NULL. */
static const struct result *find_host(const struct results *results)
{
    for (int i = 0; i < results->num_chapters; i++)
        if (strcmp(json_string(results->chapters[i].file.values, "before", ""), host_chapter) == 0)
            return &results->chapters[i];
    return NULL;
}

/** "16 threads", or where that is not recorded, "on the host". */
static void describe_host(const struct result *result, char text[32])
{
    const double threads = result ? json_number(result->file.values, "host_threads", 0.0) : 0.0;

    strcpy(text, "on the host");
    if (threads >= 1.0 && threads < 1e6)
        snprintf(text, 32, "%.0f thread%s", threads, threads == 1.0 ? "" : "s");
}

static void write_host(FILE *out, const struct results *results)
{
    const struct result *const result = find_host(results);
    char label[TEXT_SIZE], host[32];

    describe_host(result, host);
    snprintf(label, sizeof label, "%s, %s", host_chapter, host);
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
    snprintf(label, sizeof label, "%s%s", own_name(name), result && result->old ? old_kernel : "");
    write_row(out, label, result, "here");
}

/* --- where a table's figures come from -------------------------------------------------------------------------------- */

/** What the results were recorded with, when and how. */
struct provenance {
    struct texts machines, days, commands;
    bool more; /**< and commands like those */
};

static void add_result(struct provenance *provenance, const struct result *result)
{
    const struct json *const root = result ? result->file.values : NULL;
    char text[TEXT_SIZE];

    if (!root)
        return;
    snprintf(text, sizeof text, "%s, %s", json_string(root, "device", "?"), json_string(root, "toolkit", "?"));
    texts_add(&provenance->machines, text);
    snprintf(text, sizeof text, "%.10s", json_string(root, "date", "?"));
    texts_add(&provenance->days, text);
    texts_add_command(&provenance->commands, json_string(root, "command", ""), own_name(result->name));
}

static void write_provenance(FILE *out, const struct provenance *provenance)
{
    if (provenance->machines.count == 0) {
        fputs("Nothing is recorded yet.\n", out);
        return;
    }
    texts_write(out, &provenance->machines, "");
    fputs(", recorded on ", out);
    texts_write(out, &provenance->days, "");
    fputs(" by ", out);
    texts_write(out, &provenance->commands, "`");
    fputs(provenance->more ? ", and so on.\n" : ".\n", out);
}

/* --- a table ---------------------------------------------------------------------------------------------------------- */

static void add_chapter(struct times_request *request, const char *name)
{
    if (request->num_chapters < MAX_CHAPTERS)
        snprintf(request->chapters[request->num_chapters++], NAME_SIZE, "%s", name);
}

/** With no chapters named, those of which anything is recorded. */
static void complete_request(struct times_request *request, const struct results *results)
{
    if (!request->align)
        add_chapter(request, host_chapter);
    for (int i = 0; i < results->num_chapters; i++)
        add_chapter(request, results->chapters[i].name);
}

static void write_header(FILE *out, const int *num_tokens, int count)
{
    char text[32];

    fputs("\n| tokens |", out);
    for (int i = 0; i < count; i++)
        fprintf(out, " %s |", grouped_digits((uint64_t)num_tokens[i], text));
    fputs("\n|---|", out);
    for (int i = 0; i < count; i++)
        fputs("---:|", out);
    fputs("\n", out);
}

static void write_library(FILE *out, const struct times_request *request, const struct results *results)
{
    if (request->align) {
        write_cub(out, results);
        return;
    }
    if (request->num_chapters == 0)
        write_pytorch(out, results, "eager", "stream");
    write_pytorch(out, results, "eager", "graph");
    if (request->num_chapters == 0) {
        write_pytorch(out, results, "compiled", "stream");
        write_pytorch(out, results, "compiled", "graph");
    }
}

/** Where the table's row of that name comes from, or NULL. */
static const struct result *find_source(const struct results *results, const char *chapter)
{
    return strcmp(chapter, host_chapter) == 0 ? find_host(results) : find_chapter(results, chapter);
}

/**
 * The result whose floor is the table's. The gate's chapters all have the same; align's move fewer bytes once they need less
 * room, so there the last one counts.
 */
static const struct result *find_floor(const struct times_request *request, const struct results *results)
{
    const struct result *floor = results->num_chapters > 0 ? &results->chapters[0] : NULL;

    for (int i = 0; request->align && i < request->num_chapters; i++) {
        const struct result *const source = find_source(results, request->chapters[i]);

        floor = source ? source : floor;
    }
    return floor;
}

static void write_table(FILE *out, struct times_request request, const struct results *results)
{
    struct provenance provenance = {0};
    const struct result *floor;

    write_header(out, sizes, NUM_SIZES);
    write_library(out, &request, results);
    if (request.num_chapters == 0)
        complete_request(&request, results);
    for (int i = 0; i < request.num_chapters; i++)
        write_chapter(out, results, request.chapters[i]);
    floor = find_floor(&request, results);
    write_row(out, "floor", floor, "floor_us");

    add_result(&provenance, floor);
    for (int i = 0; i < request.num_chapters; i++)
        add_result(&provenance, find_source(results, request.chapters[i]));
    add_result(&provenance, &results->library);
    fputs("\n", out);
    write_provenance(out, &provenance);
    fputs("\n", out);
}

/* --- a table of the small kernel -------------------------------------------------------------------------------------- */

enum { NUM_SMALL = 4 };

static const int small_sizes[NUM_SMALL] = {1, 16, 64, 120};

static const char *const small_kernels[] = {"small", "large"};

static bool check_number(const char *path, const struct json *object, const char *name, int wanted, struct error *error)
{
    const double is = json_number(object, name, -1.0);

    return is == wanted || error_set(error, "%s: \"%s\" is %g; it must be %d", path, name, is, wanted);
}

/** Reads the file of one number of tokens, if it is recorded. */
static bool read_small(const struct times_origin *origin, const struct times_request *request, const char *kernel,
                       int num_tokens, struct result *result, struct error *error)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/small/%s_e%d_n%d_%s.json", origin->directory, result->name, request->num_experts,
             num_tokens, kernel);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    if (!read_chapter(origin, path, request, result, error))
        return false;
    const struct json *const problem = json_member(result->file.values, "problem");
    if (!check_number(path, problem, "num_experts", request->num_experts, error) ||
        !check_field(path, problem, "kernel", kernel, error))
        return false;
    return find_row(result, num_tokens) || error_set(error, "%s: it has no row of %d tokens", path, num_tokens);
}

/** Adds a result, but of commands, which differ in their tokens and the kernel, none after the first. */
static void add_small(struct provenance *provenance, const struct result *result)
{
    add_result(provenance, result);
    if (provenance->commands.count > 1) {
        provenance->commands.count = 1;
        provenance->more = true;
    }
}

static void write_small_row(FILE *out, const char *chapter, const char *kernel, const struct result results[NUM_SMALL],
                            struct provenance *provenance)
{
    bool old = false;

    for (int i = 0; i < NUM_SMALL; i++)
        old = old || results[i].old;
    fprintf(out, "| %s, %s kernel%s |", chapter, kernel, old ? old_kernel : "");
    for (int i = 0; i < NUM_SMALL; i++) {
        write_us(out, json_number(json_member(find_row(&results[i], small_sizes[i]), "here"), "median_us", 0.0));
        add_small(provenance, &results[i]);
    }
    fputs("\n", out);
}

static bool do_small_row(FILE *out, const struct times_origin *origin, const struct times_request *request,
                         const char *chapter, const char *kernel, struct provenance *provenance, struct error *error)
{
    struct result results[NUM_SMALL] = {0};
    bool good = true;

    for (int i = 0; good && i < NUM_SMALL; i++) {
        snprintf(results[i].name, sizeof results[i].name, "%s", chapter);
        good = read_small(origin, request, kernel, small_sizes[i], &results[i], error);
    }
    if (good)
        write_small_row(out, chapter, kernel, results, provenance);
    for (int i = 0; i < NUM_SMALL; i++)
        json_free(&results[i].file);
    return good;
}

static bool write_small(FILE *out, const struct times_origin *origin, const struct times_request *request,
                        struct error *error)
{
    struct provenance provenance = {0};

    write_header(out, small_sizes, NUM_SMALL);
    for (int i = 0; i < request->num_chapters; i++)
        for (int kernel = 0; kernel < 2; kernel++)
            if (!do_small_row(out, origin, request, request->chapters[i], small_kernels[kernel], &provenance, error))
                return false;
    fputs("\n", out);
    write_provenance(out, &provenance);
    fputs("\n", out);
    return true;
}

bool times_write(FILE *out, const struct times_origin *origin, const struct times_request *request, struct error *error)
{
    struct results results;

    if (request->small)
        return write_small(out, origin, request, error);
    if (!read_results(origin, request, &results, error))
        return false;
    write_table(out, *request, &results);
    free_results(&results);
    return true;
}

/* --- a step ----------------------------------------------------------------------------------------------------------- */

static void read_rows(const struct result *result, struct times_step *step)
{
    const struct json *const rows = json_member(result->file.values, "rows");

    for (const struct json *row = rows->first; row && step->num_rows < TIMES_MAX_ROWS; row = row->next) {
        step->rows[step->num_rows].num_tokens = (int)json_number(row, "num_tokens", 0.0);
        step->rows[step->num_rows].before_us = json_number(json_member(row, "before"), "median_us", 0.0);
        step->rows[step->num_rows].here_us = json_number(json_member(row, "here"), "median_us", 0.0);
        step->num_rows++;
    }
}

static bool read_source(const struct result *result, struct times_step *step, struct error *error)
{
    struct provenance provenance = {0};
    FILE *const out = fmemopen(step->source, sizeof step->source, "w");

    if (!out)
        return error_set(error, "out of memory");
    add_result(&provenance, result);
    write_provenance(out, &provenance);
    fclose(out);
    return true;
}

bool times_read_step(const struct times_origin *origin, const char *chapter, struct times_step *step,
                     struct error *error)
{
    struct times_request request = {.dtype = "f32", .block_size = 64, .dist = "router"};
    struct result result = {0};
    char path[PATH_SIZE];

    *step = (struct times_step){0};
    snprintf(path, sizeof path, "chapters/%s/align.cu", chapter);
    request.align = times_find_hash(origin, path);
    snprintf(result.name, sizeof result.name, "%s", chapter);
    snprintf(path, sizeof path, "%s/%s_%s.json", origin->directory, chapter, request.align ? "b64" : "f32");
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    bool good = read_chapter(origin, path, &request, &result, error);
    if (good) {
        read_rows(&result, step);
        step->old = result.old;
        if (strcmp(json_string(result.file.values, "before", ""), host_chapter) == 0)
            describe_host(&result, step->host);
        good = read_source(&result, step, error);
    }
    json_free(&result.file);
    return good;
}

/* --- a plot's lines --------------------------------------------------------------------------------------------------- */

/** Adds a line of medians: of `name` in each of the result's rows that has it, as write_row() does. */
static bool add_line(struct times_lines *lines, enum times_kind kind, const char *label, const struct result *result,
                     const char *name, struct error *error)
{
    struct times_line *const line = &lines->lines[lines->num_lines++];
    const struct json *const rows = json_member(result->file.values, "rows");
    int before = 0;

    *line = (struct times_line){.kind = kind, .old = result->old};
    snprintf(line->label, sizeof line->label, "%s", label);
    for (const struct json *row = rows->first; row && line->num_points < TIMES_MAX_POINTS; row = row->next) {
        const double tokens = json_number(row, "num_tokens", 0.0);
        const double us = json_number(json_member(row, name), "median_us", json_number(row, name, 0.0));

        if (!(us > 0.0 && us < 1e12))
            continue;
        if (!(tokens > before && tokens <= 1 << 30))
            return error_set(error, "%s: %g tokens come after %d in its rows; they must ascend", label, tokens, before);
        before = (int)tokens;
        line->points[line->num_points].num_tokens = before;
        line->points[line->num_points++].us = us;
    }
    return line->num_points > 1 || error_set(error, "%s: its rows have fewer than two times of \"%s\"", label, name);
}

static bool add_library(struct times_lines *lines, const struct times_origin *origin,
                        const struct times_request *request, const struct result *library, struct error *error)
{
    const char *const name = request->align ? "cub_align" : "pytorch_gate";

    if (!library->file.values)
        return error_set(error, "%s/%s_%s.json: it is missing", origin->directory, name, request->results);
    if (request->align)
        return add_line(lines, TIMES_LIBRARY, "CUB radix sort", library, "here", error);
    return add_line(lines, TIMES_LIBRARY, "PyTorch eager", library, "eager_graph", error) &&
           add_line(lines, TIMES_LIBRARY, "PyTorch compiled", library, "compiled_graph", error);
}

static bool add_chapter_line(struct times_lines *lines, const struct times_origin *origin,
                             const struct times_request *request, const struct results *results, const char *name,
                             struct error *error)
{
    const bool host = strcmp(name, host_chapter) == 0;
    const struct result *const source = find_source(results, name);

    if (!source && host)
        return error_set(error, "%s: no result that is recorded beside it", name);
    if (!source)
        return error_set(error, "%s/%s_%s.json: it is missing", origin->directory, name, request->results);
    return add_line(lines, host ? TIMES_HOST : TIMES_CHAPTER, name, source, host ? "before" : "here", error);
}

/** As texts_write(), into the lines' source. */
static void add_source(struct times_lines *lines, const struct texts *texts, const char *lead)
{
    for (int i = 0; i < texts->count; i++) {
        const size_t length = strlen(lines->source);

        snprintf(lines->source + length, sizeof lines->source - length, "%s%s",
                 i == 0                 ? lead
                 : i + 1 < texts->count ? ", "
                                        : " and ",
                 texts->texts[i]);
    }
}

static bool fill_lines(struct times_lines *lines, const struct times_origin *origin,
                       const struct times_request *request, const struct results *results, struct error *error)
{
    struct provenance provenance = {0};

    memset(lines, 0, sizeof *lines);
    if (!add_library(lines, origin, request, &results->library, error))
        return false;
    for (int i = 0; i < request->num_chapters; i++) {
        if (!add_chapter_line(lines, origin, request, results, request->chapters[i], error))
            return false;
        add_result(&provenance, find_source(results, request->chapters[i]));
    }
    add_result(&provenance, &results->library);
    add_source(lines, &provenance.machines, "");
    add_source(lines, &provenance.days, ", recorded on ");
    return add_line(lines, TIMES_FLOOR, "floor", find_floor(request, results), "floor_us", error);
}

bool times_read_lines(const struct times_origin *origin, const struct times_request *request, struct times_lines *lines,
                      struct error *error)
{
    struct results results;

    if (request->num_chapters == 0)
        return error_set(error, "times of no chapters; name those that are wanted");
    if (request->small)
        return error_set(error, "times of the small kernel have no lines; 'align 64 CHAPTER' has");
    if (!read_results(origin, request, &results, error))
        return false;
    const bool good = fill_lines(lines, origin, request, &results, error);
    free_results(&results);
    return good;
}

/* --- a request -------------------------------------------------------------------------------------------------------- */

/** Puts chapters in the course's order. Twins stay where they are named among those of the same number. */
static void sort_chapters(struct times_request *request)
{
    char name[NAME_SIZE];

    for (int i = 1; i < request->num_chapters; i++) {
        int j = i;

        strcpy(name, request->chapters[i]);
        for (; j > 0 && strncmp(own_name(request->chapters[j - 1]), own_name(name), 2) > 0; j--)
            strcpy(request->chapters[j], request->chapters[j - 1]);
        strcpy(request->chapters[j], name);
    }
}

static bool is_dist(const char *word)
{
    for (int dist = 0; dist < ALIGN_DIST_COUNT; dist++)
        if (strcmp(word, align_dist_names[dist]) == 0)
            return true;
    return false;
}

/** Reads the words behind "align" that are no chapters; returns the first that may be one, or NULL. */
static const char *parse_align(struct times_request *request)
{
    const char *word = strtok(NULL, " ");
    int length = 0;

    request->align = true;
    if (!word || sscanf(word, "%6d%n", &request->block_size, &length) != 1 || word[length] != '\0')
        request->block_size = 0;
    snprintf(request->dist, sizeof request->dist, "router");
    snprintf(request->results, sizeof request->results, "b%d", request->block_size);
    word = strtok(NULL, " ");
    if (!word || !is_dist(word))
        return word;
    snprintf(request->dist, sizeof request->dist, "%s", word);
    snprintf(request->results, sizeof request->results, "b%d_%s", request->block_size, word);
    return strtok(NULL, " ");
}

/** Reads the number behind "small"; returns the first word that may be a chapter, or NULL. */
static const char *parse_small(struct times_request *request)
{
    const char *const word = strtok(NULL, " ");
    int length = 0;

    request->align = request->small = true;
    request->block_size = 64;
    snprintf(request->dist, sizeof request->dist, "uniform");
    if (!word || sscanf(word, "%6d%n", &request->num_experts, &length) != 1 || word[length] != '\0')
        request->num_experts = 0;
    return strtok(NULL, " ");
}

/** The word names a chapter, or a twin of one and the folder of its results. */
static bool is_chapter(const struct times_origin *origin, const struct times_request *request, const char *word)
{
    char chapter[NAME_SIZE], path[PATH_SIZE];

    if (strlen(word) >= NAME_SIZE || word[0] == '.' || (request->small && strchr(word, '/')))
        return false;
    find_timed(origin, request, word, chapter, path);
    return times_find_hash(origin, path) != NULL;
}

bool times_parse(char *words, const struct times_origin *origin, struct times_request *request, struct error *error)
{
    const char *word = strtok(words, " ");

    memset(request, 0, sizeof *request);
    if (word && strcmp(word, "align") == 0) {
        word = parse_align(request);
        if (request->block_size < 1)
            return error_set(error, "times of align without a block size; 'align 64' has one");
    } else if (word && strcmp(word, "small") == 0) {
        word = parse_small(request);
        if (request->num_experts < 1 || !word)
            return error_set(error, "times of the small kernel; 'small 64 CHAPTER' has experts and a chapter");
    } else if (word && (strcmp(word, "f32") == 0 || strcmp(word, "f16") == 0 || strcmp(word, "bf16") == 0)) {
        snprintf(request->dtype, sizeof request->dtype, "%s", word);
        snprintf(request->dist, sizeof request->dist, "router");
        snprintf(request->results, sizeof request->results, "%s", word);
        word = strtok(NULL, " ");
    } else {
        return error_set(error, "times of '%s'; it must be f32, f16, bf16, align or small", word ? word : "");
    }
    for (; word; word = strtok(NULL, " ")) {
        if (request->num_chapters == MAX_CHAPTERS || !is_chapter(origin, request, word))
            return error_set(error, "'%s' is no chapter with %s, or one too many", word,
                             request->align ? "an align" : "a gate");
        strcpy(request->chapters[request->num_chapters++], word);
    }
    sort_chapters(request);
    return true;
}
