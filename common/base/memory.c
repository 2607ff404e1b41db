#include "base/memory.h"

#include "base/available_memory.h"

#include <stdio.h>
#include <stdlib.h>

/* Requests below this size are not compared with the available memory. */
static const size_t SMALL_BYTES = (size_t)1 << 24;

const char *format_bytes(size_t bytes, char text[24])
{
    const double megabytes = 1e-6 * (double)bytes;

    if (megabytes < 1000.0)
        snprintf(text, 24, "%.1f MB", megabytes);
    else
        snprintf(text, 24, "%.1f GB", 1e-3 * megabytes);
    return text;
}

bool memory_allocate(void **memory, size_t bytes, struct error *error)
{
    const size_t available = bytes < SMALL_BYTES ? SMALL_BYTES : available_host_memory_bytes();
    char needed[24], left[24];

    *memory = bytes <= available ? malloc(bytes ? bytes : 1) : NULL;
    if (*memory)
        return true;
    format_bytes(bytes, needed);
    return bytes > available ? error_set_as(error, RUN_CANNOT_RUN,
                                            "out of memory: %s are needed, %s are available; a smaller problem needs "
                                            "less",
                                            needed, format_bytes(available, left))
                             : error_set_as(error, RUN_CANNOT_RUN,
                                            "out of memory: %s are needed; a smaller problem needs less", needed);
}
