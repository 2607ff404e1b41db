/** @file base/available_memory.h  How much memory there is to have. */
#ifndef AVAILABLE_MEMORY_H
#define AVAILABLE_MEMORY_H

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/** Bytes that can be had without swapping, as Linux estimates them; all of the machine's where it does not say. */
static inline size_t available_memory(void)
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

#endif
