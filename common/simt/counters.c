/** @file counters.c  What launches did, in sum and kernel by kernel. */
#include "engine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 64, NUM_COUNTERS = sizeof(struct simt_counters) / sizeof(uint64_t) };

struct simt_counters simt_counters;

struct kernel {
    char name[NAME_SIZE];
    struct simt_counters counters;
};

static struct kernel *kernels;
static size_t kernel_count, kernel_room;

/** The kernel that the running launch belongs to, and what all had counted before it. */
static struct kernel *current;
static struct simt_counters before;

/** "space::kernel<T, 32>" as "kernel"; an expression that is no name stays as it is. */
static void plain_name(const char *written, char name[NAME_SIZE])
{
    const char *begin = written, *end = written;

    for (; isalnum((unsigned char)*end) || *end == '_' || *end == ':'; end++)
        if (*end == ':')
            begin = end + 1;
    if (*end != '\0' && *end != '<')
        begin = end = written;
    snprintf(name, NAME_SIZE, "%.*s", end > begin ? (int)(end - begin) : NAME_SIZE - 1, begin);
}

static struct kernel *find_kernel(const char *name)
{
    for (size_t i = 0; i < kernel_count; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

bool simt_counters_begin(const char *written)
{
    char name[NAME_SIZE];

    plain_name(written, name);
    current = find_kernel(name);
    before = simt_counters;
    if (current)
        return true;
    if (kernel_count == kernel_room) {
        const size_t room = 2 * kernel_room + 4;
        struct kernel *const larger = realloc(kernels, room * sizeof *larger);

        if (!larger)
            return false;
        kernels = larger;
        kernel_room = room;
    }
    current = &kernels[kernel_count++];
    memset(current, 0, sizeof *current);
    strcpy(current->name, name);
    return true;
}

void simt_counters_end(void)
{
    uint64_t now[NUM_COUNTERS], then[NUM_COUNTERS], sum[NUM_COUNTERS];

    _Static_assert(sizeof now == sizeof simt_counters, "counters are 64-bit words and nothing else");
    memcpy(now, &simt_counters, sizeof now);
    memcpy(then, &before, sizeof then);
    memcpy(sum, &current->counters, sizeof sum);
    for (int i = 0; i < NUM_COUNTERS; i++)
        sum[i] += now[i] - then[i];
    memcpy(&current->counters, sum, sizeof sum);
}

void simt_counters_reset(void)
{
    memset(&simt_counters, 0, sizeof simt_counters);
    kernel_count = 0;
}

void simt_counters_read(struct simt_counters *counters)
{
    *counters = simt_counters;
}

int simt_kernels(void)
{
    return (int)kernel_count;
}

bool simt_kernel_counters(int index, const char **name, struct simt_counters *counters)
{
    if (index < 0 || (size_t)index >= kernel_count)
        return false;
    *name = kernels[index].name;
    *counters = kernels[index].counters;
    return true;
}
