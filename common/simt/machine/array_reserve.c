/** @file array_reserve.c  Grows arrays whose length is not known in advance. */
#include "array_reserve.h"

#include <stdlib.h>
#include <string.h>

bool simt_array_reserve(void *array, size_t *room, size_t needed, size_t each)
{
    const size_t larger = 2 * needed + 16;
    void *memory;

    if (needed <= *room)
        return true;
    memcpy(&memory, array, sizeof memory);
    memory = realloc(memory, larger * each);
    if (!memory)
        return false;
    memset((char *)memory + *room * each, 0, (larger - *room) * each);
    memcpy(array, &memory, sizeof memory);
    *room = larger;
    return true;
}
