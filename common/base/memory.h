/** @file base/memory.h Allocates host memory, and reports a shortage before Linux kills the process. */
#ifndef MEMORY_H
#define MEMORY_H

#include "base/error.h"

#include <stddef.h>

/**
 * Allocates `bytes` bytes (at least one), which the caller frees with free(). If less memory is available, returns
 * false with the reason and RUN_CANNOT_RUN, because Linux would grant the request and later kill the process.
 */
bool memory_allocate(void **memory, size_t bytes, struct error *error);

/** Sets `text` to a size for a message, such as "2.5 GB" or "16.8 MB". Returns `text`. */
const char *format_bytes(size_t bytes, char text[24]);

/** Allocates `count` elements and sets the pointer `array` to them. */
#define ALLOCATE_ARRAY(array, count, error) memory_allocate((void **)&(array), (size_t)(count) * sizeof *(array), error)

#endif
