#include "harness/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Bytes that can be had without swapping, as the kernel estimates them; all of the machine's where it does not say. */
static size_t available_bytes(void)
{
    FILE *const file = fopen("/proc/meminfo", "r");
    unsigned long long kilobytes = 0;
    char line[128];

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes ? (size_t)kilobytes * 1024 : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Below this nobody needs to ask. */
static const size_t SMALL_BYTES = (size_t)1 << 24;

bool memory_allocate(void **memory, size_t bytes, struct error *error)
{
    const size_t available = bytes < SMALL_BYTES ? SMALL_BYTES : available_bytes();

    *memory = bytes <= available ? malloc(bytes ? bytes : 1) : NULL;
    if (*memory)
        return true;
    return error_set(error, "out of memory: %zu bytes are needed, %zu can be had", bytes, available);
}
