/** @file base/memory.h  Host memory that says no in time. */
#ifndef MEMORY_H
#define MEMORY_H

#include "base/error.h"

#include <stddef.h>

/**
 * Allocates `bytes` (at least one) for the caller to free(). Refuses what this machine's memory cannot hold, since
 * Linux would hand it out and kill the process later. Returns false with a reason, RUN_NO_DEVICE.
 */
bool memory_allocate(void **memory, size_t bytes, struct error *error);

/** The same for the array that a pointer is to have. */
#define ALLOCATE_ARRAY(array, count, error) memory_allocate((void **)&(array), (size_t)(count) * sizeof *(array), error)

#endif
