#include "gains.h"

#include "text_file.h"

#include "../tests/simt/json.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = "docs/results/h200";
enum { FEW = 1, MANY = 65536, PATH_SIZE = 512, FIRST_ALIGN = 6, FIRST_MOE = 11 };

/** A chapter's times of few and many tokens, its own and those of the chapter before in the same run; 0 is none. */
struct times {
    double here[2], before[2];
    char hash[65]; /**< of the kernel that was timed */
};

/** The file of results that begins with "NN_" and ends as those of that operator do; "" if there is none. */
static void find_results(int chapter, char path[PATH_SIZE])
{
    const char *const ending = chapter < FIRST_ALIGN ? "_f32.json" : "_b64.json";
    DIR *const directory = opendir(folder);
    const struct dirent *entry;

    path[0] = '\0';
    while (directory && (entry = readdir(directory))) {
        const size_t length = strlen(entry->d_name);

        if (atoi(entry->d_name) == chapter && length > strlen(ending) &&
            strcmp(entry->d_name + length - strlen(ending), ending) == 0)
            snprintf(path, PATH_SIZE, "%s/%s", folder, entry->d_name);
    }
    if (directory)
        closedir(directory);
}

static bool read_times(const char *path, struct times *times, struct error *error)
{
    struct json_file file;
    const struct json *rows;

    *times = (struct times){0};
    if (!json_read(path, &file, error))
        return false;
    rows = json_member(file.values, "rows");
    for (const struct json *row = rows ? rows->first : NULL; row; row = row->next) {
        const double tokens = json_number(row, "num_tokens", 0);
        const int which = tokens == FEW ? 0 : tokens == MANY ? 1 : -1;

        if (which < 0)
            continue;
        times->here[which] = json_number(json_member(row, "here"), "median_us", 0);
        times->before[which] = json_number(json_member(row, "before"), "median_us", 0);
    }
    snprintf(times->hash, sizeof times->hash, "%s", json_string(file.values, "kernel_source_sha256", ""));
    json_free(&file);
    return rows || error_set(error, "%s: it has no \"rows\"", path);
}

void gains_write_head(FILE *out)
{
    fputs("| chapter | the idea | 1 token, us | 65,536 tokens, us | times as fast as before |\n"
          "|---|---|---:|---:|---:|\n",
          out);
}

/** Three digits, and commas: 2.84, 13,900. */
static void write_number(FILE *out, double number)
{
    long rounded = (long)(number + 0.5);
    long unit = 1;

    while (rounded / unit >= 1000)
        unit *= 10;
    rounded = (long)(number / (double)unit + 0.5) * unit;
    if (number < 99.95)
        fprintf(out, number < 9.995 ? "%.2f" : "%.1f", number);
    else if (rounded < 1000)
        fprintf(out, "%ld", rounded);
    else
        fprintf(out, "%ld,%03ld", rounded / 1000, rounded % 1000);
}

static void write_time(FILE *out, double time)
{
    fputc(' ', out);
    if (time > 0)
        write_number(out, time);
    else
        fputc('-', out);
    fputs(" |", out);
}

/** Whether the chapter's kernel is not the one that was timed. */
static bool is_old(const char *readme, int chapter, const char *hash)
{
    const char *const kernel = chapter < FIRST_ALIGN ? "gate.cu" : chapter < FIRST_MOE ? "align.cu" : "moe.cu";
    char command[PATH_SIZE + 64], now[65] = "";

    snprintf(command, sizeof command, "sha256sum '%.*s/%s'", (int)(strrchr(readme, '/') - readme), readme, kernel);
    FILE *const pipe = popen(command, "r");
    const bool known = pipe && fscanf(pipe, "%64s", now) == 1;
    if (pipe)
        pclose(pipe);
    return !known || strcmp(now, hash) != 0;
}

/** How many times as fast as the chapter before, for few and for many tokens. */
static void write_ratios(FILE *out, const struct times *times)
{
    fputc(' ', out);
    for (int i = 0; i < 2; i++) {
        fputs(i ? ", " : "", out);
        if (times->here[i] > 0 && times->before[i] > 0)
            write_number(out, times->before[i] / times->here[i]);
        else
            fputc('-', out);
    }
    fputs(" |\n", out);
}

bool gains_write_row(FILE *out, const char *readme, const char *id, const char *title, const char *idea,
                     struct error *error)
{
    const int chapter = atoi(strchr(readme, '/') + 1);
    struct times times = {0};
    char path[PATH_SIZE];

    /* Chapter 01 runs on the host; the next has timed it beside itself. */
    find_results(chapter == 1 ? 2 : chapter, path);
    if (*path && !read_times(path, &times, error))
        return false;
    fprintf(out, "| [%s](@ref %s)%s | %s |", title, id,
            chapter > 1 && *path && is_old(readme, chapter, times.hash) ? " *(times of an older kernel)*" : "", idea);
    for (int i = 0; i < 2; i++)
        write_time(out, chapter == 1 ? times.before[i] : times.here[i]);
    if (chapter == 1 || (times.before[0] <= 0 && times.before[1] <= 0))
        fputs(" |\n", out);
    else
        write_ratios(out, &times);
    return true;
}

bool gains_write_source(FILE *out, int first, int last, struct error *error)
{
    struct json_file file;
    char path[PATH_SIZE] = "";

    for (int chapter = first; chapter <= last; chapter++) {
        char found[PATH_SIZE];

        find_results(chapter, found);
        if (*found)
            strcpy(path, found);
    }
    if (!*path) {
        fputs("\nNo times are recorded yet.\n", out);
        return true;
    }
    if (!json_read(path, &file, error))
        return false;
    fprintf(
        out,
        "\nMicroseconds per call, median, %s, %s, recorded on %.10s by `build/gpu/NAME --bench`%s. The last column is "
        "for 1 and for 65,536 tokens, both chapters in one run.\n",
        json_string(file.values, "device", "?"), json_string(file.values, "toolkit", "?"),
        json_string(file.values, "date", "?"), first == 1 ? "; chapter 01 on that machine's CPU" : "");
    json_free(&file);
    return true;
}
