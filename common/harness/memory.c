#include "harness/memory.h"

#include <stdlib.h>
#include <unistd.h>

bool memory_allocate(void **memory, size_t bytes, struct error *error)
{
    const size_t physical = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

    *memory = bytes <= physical ? malloc(bytes ? bytes : 1) : NULL;
    if (*memory)
        return true;
    return error_set(error, "out of memory: %zu bytes are needed, this machine has %zu", bytes, physical);
}
