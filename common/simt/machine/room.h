/** @file room.h  Arrays that grow. */
#ifndef SIMT_ROOM_H
#define SIMT_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Makes room for `needed` elements of `each` bytes in the array whose pointer is at `array`; new elements are zeroed.
 * Returns false without memory, and the array is then unchanged.
 */
bool simt_make_room(void *array, size_t *room, size_t needed, size_t each);

#endif
