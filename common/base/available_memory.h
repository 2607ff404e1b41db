/** @file base/available_memory.h  Finds the memory available to the process, for memory_allocate(). */
#ifndef AVAILABLE_MEMORY_H
#define AVAILABLE_MEMORY_H

#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/**
 * Returns the number of bytes that Linux estimates to be available without swapping or, if there is no estimate, the
 * machine's total memory; either value is capped at the process's address-space limit.
 */
static inline size_t available_host_memory_bytes(void)
{
    FILE *const file = fopen("/proc/meminfo", "r");
    unsigned long long kilobytes = 0;
    struct rlimit limit;
    char line[128];

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);

    const size_t all = kilobytes ? (size_t)kilobytes * 1024
                                 : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < all ? limit.rlim_cur : all;
}

#endif
