/** @file array_reserve.c  Grows arrays whose length is not known in advance. */
#include "array_reserve.h"

#include <stdlib.h>
#include <string.h>

bool simt_array_reserve(void *array, size_t *capacity, size_t needed, size_t element_bytes)
{
    const size_t larger = 2 * needed + 16;
    void *memory;

    if (needed <= *capacity)
        return true;
    memcpy(&memory, array, sizeof memory);
    memory = realloc(memory, larger * element_bytes);
    if (!memory)
        return false;
    memset((char *)memory + *capacity * element_bytes, 0, (larger - *capacity) * element_bytes);
    memcpy(array, &memory, sizeof memory);
    *capacity = larger;
    return true;
}
