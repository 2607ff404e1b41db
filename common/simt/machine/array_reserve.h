/** @file array_reserve.h  Grows arrays whose length is not known in advance. */
#ifndef SIMT_ARRAY_RESERVE_H
#define SIMT_ARRAY_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Ensures that the array whose pointer is stored at `array` has room for `needed` elements of `element_bytes` bytes;
 * new elements are zeroed. If out of memory, returns false and leaves the array unchanged.
 */
bool simt_array_reserve(void *array, size_t *capacity, size_t needed, size_t element_bytes);

#endif
