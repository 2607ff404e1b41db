#include "run_report.h"

#include "harness/core/record.h"

#include <math.h>
#include <string.h>

/* In the order in which they are shown. */
static const struct run_counter counters[] = {
    {.name = "launches", .label = "launches", .in_all = true},
    {.name = "blocks", .label = "blocks"},
    {.name = "shuffles", .label = "shuffles"},
    {.name = "votes", .label = "votes"},
    {.name = "block_barriers", .label = "block barriers", .gpu_otherwise = true},
    {.name = "warp_barriers", .label = "warp barriers", .gpu_otherwise = true},
    {.name = "basic_blocks", .label = "basic blocks run by a warp"},
    {.name = "lanes_active", .label = "lanes that ran them"},
    {.name = "lanes_possible", .label = "lanes that could have"},
    {.name = "divergent_branches", .label = "branches that split a warp"},
    {.name = "global_load_requests", .label = "global load requests"},
    {.name = "global_load_sectors", .label = "global load sectors"},
    {.name = "global_store_requests", .label = "global store requests"},
    {.name = "global_store_sectors", .label = "global store sectors"},
    {.name = "shared_load_requests", .label = "shared load requests"},
    {.name = "shared_load_wavefronts", .label = "shared load wavefronts"},
    {.name = "shared_store_requests", .label = "shared store requests"},
    {.name = "shared_store_wavefronts", .label = "shared store wavefronts"},
    {.name = "shared_conflicts", .label = "bank conflicts"},
    {.name = "atomic_requests", .label = "atomic requests"},
    {.name = "atomic_conflicts", .label = "atomic conflicts"},
    {.name = "global_requests",
     .label = "global load and store requests",
     .parts = {"global_load_requests", "global_store_requests"}},
    {.name = "global_sectors",
     .label = "global load and store sectors",
     .parts = {"global_load_sectors", "global_store_sectors"}},
    {.name = "shared_wavefronts",
     .label = "shared load and store wavefronts",
     .parts = {"shared_load_wavefronts", "shared_store_wavefronts"}},
    {.name = "branches", .label = "branch instructions", .gpu_only = true},
    {.name = "instructions", .label = "instructions run by a warp", .gpu_only = true},
    {.name = "thread_instructions", .label = "instructions run by a lane", .gpu_only = true},
};

enum { NUM_COUNTERS = sizeof counters / sizeof *counters };

const struct run_counter *run_counter_find(const char *name)
{
    for (int i = 0; i < NUM_COUNTERS; i++)
        if (strcmp(counters[i].name, name) == 0)
            return &counters[i];
    return NULL;
}

const struct run_counter *run_counter_at(int index)
{
    const bool plain = index < NUM_COUNTERS && !counters[index].parts[0] && !counters[index].gpu_only;

    return plain ? &counters[index] : NULL;
}

bool run_report_read(const char *directory, const char *name, struct run_report *report, struct error *error)
{
    snprintf(report->path, sizeof report->path, "%s/%s.json", directory, name);
    if (!json_read(report->path, &report->file, error))
        return false;

    const struct json *const root = report->file.values, *const verified = json_member(root, "verified");
    const char *const chapter = json_string(root, "chapter", "");
    bool good = true;

    if (strncmp(chapter, name, 2) != 0)
        good = error_set(error, "%s: \"chapter\" is \"%s\"; it must begin with %.2s", report->path, chapter, name);
    else if (!verified || verified->type != JSON_BOOLEAN || !verified->boolean)
        good = error_set(error, "%s: its result was not verified", report->path);
    if (!good)
        json_free(&report->file);
    return good;
}

void run_report_free(struct run_report *report)
{
    json_free(&report->file);
}

/** Where the counters of a kernel are, or of all of them; NULL if there is no such kernel. */
static const struct json *find_counters(const struct run_report *report, const char *kernel)
{
    const struct json *const kernels = json_member(report->file.values, "kernels");

    if (*kernel == '\0')
        return json_member(report->file.values, "counters");
    for (const struct json *at = kernels ? kernels->first : NULL; at; at = at->next)
        if (strcmp(json_string(at, "name", ""), kernel) == 0)
            return json_member(at, "counters");
    return NULL;
}

bool run_report_count(const struct run_report *report, const char *kernel, const struct run_counter *counter,
                      double *count, struct error *error)
{
    const struct json *const values = find_counters(report, kernel);
    const char *const parts[2] = {counter->parts[0] ? counter->parts[0] : counter->name, counter->parts[1]};

    if (!values)
        return error_set(error, "%s: it has no counters of the kernel '%s'", report->path, kernel);
    *count = 0.0;
    for (int i = 0; i < 2 && parts[i]; i++) {
        const double part = json_number(values, parts[i], -1.0);

        if (part < 0.0)
            return error_set(error, "%s: it has no counter \"%s\"", report->path, parts[i]);
        *count += part;
    }
    return true;
}

double run_report_problem(const struct run_report *report, const char *name)
{
    return json_number(json_member(report->file.values, "problem"), name, 0.0);
}

const char *run_format(double number, char text[RUN_NUMBER_SIZE])
{
    if (number >= 99.95 || number == floor(number))
        return grouped_digits((uint64_t)round(number), text);
    snprintf(text, RUN_NUMBER_SIZE, "%#.3g", number);
    return text;
}

/* Programs have the folder that they have in the course, wherever they were built. */
void run_source_add(struct run_source *source, const struct run_report *report, bool any_program)
{
    const struct json *const root = report->file.values;
    const char *const command = json_string(root, "command", ""), *const folder = strstr(command, "cpu/");
    const char *const program = folder ? folder + strlen("cpu/") : command;
    char name[TEXTS_SIZE], text[TEXTS_SIZE];

    texts_add(&source->inputs, json_string(root, "input", ""));
    snprintf(name, sizeof name, "%.*s", (int)strcspn(program, " "), program);
    snprintf(text, sizeof text, "build/cpu/%.*s", TEXTS_SIZE - 16, program);
    texts_add_command(&source->commands, text, any_program ? name : "");
}

void run_source_write(FILE *out, const struct run_source *source, bool more)
{
    texts_write(out, &source->commands, "`");
    fputs(more ? ", and so on" : "", out);
    fputs(source->inputs.count > 0 ? "; the input: " : "", out);
    texts_write(out, &source->inputs, "");
    fputs(".\n", out);
}
