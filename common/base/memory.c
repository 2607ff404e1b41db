#include "base/memory.h"

#include "base/available_memory.h"

#include <stdlib.h>

/* Requests below this size are not compared with the available memory. */
static const size_t SMALL_BYTES = (size_t)1 << 24;

bool memory_allocate(void **memory, size_t bytes, struct error *error)
{
    const size_t available = bytes < SMALL_BYTES ? SMALL_BYTES : available_memory();

    *memory = bytes <= available ? malloc(bytes ? bytes : 1) : NULL;
    if (*memory)
        return true;
    return bytes > available ? error_set_as(error, RUN_NO_DEVICE,
                                            "out of memory: %zu bytes are needed, %zu can be had; "
                                            "a smaller problem needs less",
                                            bytes, available)
                             : error_set_as(error, RUN_NO_DEVICE,
                                            "out of memory: %zu bytes are needed; a smaller problem needs less", bytes);
}
