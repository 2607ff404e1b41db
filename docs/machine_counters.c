#include "machine_counters.h"

#include "text_file.h"

#include <stdlib.h>
#include <string.h>

/** Finds the chapter's kernel among the sources, and by it the chapter's name. NULL is none; else its hash. */
static const char *find_kernel(const struct times_origin *origin, const char *number, char chapter[TIMES_NAME_SIZE])
{
    for (int i = 0; i < origin->num_sources; i++) {
        const char *const path = origin->sources[i].path, *const end = strstr(path, ".cu");

        if (strncmp(path, "chapters/", 9) == 0 && strncmp(path + 9, number, 2) == 0 && path[11] == '_' && end &&
            end[3] == '\0') {
            snprintf(chapter, TIMES_NAME_SIZE, "%.*s", (int)strcspn(path + 9, "/"), path + 9);
            return origin->sources[i].hash;
        }
    }
    return NULL;
}

/** Takes "# key: value" if the line is one that is known. */
static void take_header(struct machine_counters *machine, const char *line)
{
    const struct {
        const char *key;
        char *value;
    } headers[] = {{"# gpu: ", machine->gpu},
                   {"# cuda: ", machine->cuda},
                   {"# date: ", machine->date},
                   {"# command: ", machine->command},
                   {"# kernel_sha256: ", machine->hash}};

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (text_begins(line, headers[i].key))
            snprintf(headers[i].value, MACHINE_TEXT_SIZE, "%s", line + strlen(headers[i].key));
}

/** Takes a row: name, simulator's figure, GPU's figure, what the GPU calls it. */
static void take_row(struct machine_counters *machine, const char *line)
{
    char name[MACHINE_NAME_SIZE], simulator[32], gpu[32], *end;

    if (machine->num_counters == MACHINE_MAX_COUNTERS || sscanf(line, "%47s %31s %31s", name, simulator, gpu) != 3)
        return;
    machine->counters[machine->num_counters].count = strtod(gpu, &end);
    if (*end == '\0')
        strcpy(machine->counters[machine->num_counters++].name, name);
}

static bool check(struct machine_counters *machine, struct error *error)
{
    const char *const last = strrchr(machine->command, ' ');

    machine->num_tokens = last ? strtod(last + 1, NULL) : 0.0;
    if (!strstr(machine->command, machine->chapter) || !(machine->num_tokens >= 1.0))
        return error_set(error, "%s: \"# command:\" is '%s'; it must end with %s and the number of tokens",
                         machine->path, machine->command, machine->chapter);
    if (!*machine->gpu || !*machine->cuda || !*machine->date || !*machine->hash || machine->num_counters == 0)
        return error_set(error,
                         "%s: it needs the lines '# gpu:', '# cuda:', '# date:' and '# kernel_sha256:', and rows",
                         machine->path);
    return true;
}

bool machine_counters_read(const struct times_origin *origin, const char *number, struct machine_counters *machine,
                           struct error *error)
{
    const char *hash;
    char *text, *at;

    memset(machine, 0, sizeof *machine);
    hash = find_kernel(origin, number, machine->chapter);
    if (!hash)
        return error_set(error, "'%s' is no chapter with a kernel", number);
    snprintf(machine->path, sizeof machine->path, "%s/counters/%s.txt", origin->directory, machine->chapter);
    text = text_file_read(machine->path, error);
    if (!text)
        return false;
    at = text;
    for (const char *line = text_line(&at); line; line = text_line(&at)) {
        if (*line == '#')
            take_header(machine, line);
        else
            take_row(machine, line);
    }
    free(text);
    machine->old = strcmp(machine->hash, hash) != 0;
    return check(machine, error);
}

static bool find_count(const struct machine_counters *machine, const char *name, double *count, struct error *error)
{
    for (int i = 0; i < machine->num_counters; i++)
        if (strcmp(machine->counters[i].name, name) == 0) {
            *count += machine->counters[i].count;
            return true;
        }
    return error_set(error, "%s: it has no '%s'", machine->path, name);
}

bool machine_counters_count(const struct machine_counters *machine, const struct run_counter *counter, double *count,
                            struct error *error)
{
    *count = 0.0;
    if (counter->gpu_otherwise)
        return error_set(error, "a GPU counts %s once for each warp: it has no column beside the simulator's",
                         counter->name);
    if (!counter->parts[0])
        return find_count(machine, counter->name, count, error);
    return find_count(machine, counter->parts[0], count, error) && find_count(machine, counter->parts[1], count, error);
}
