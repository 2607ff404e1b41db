/** @file base/memory.h  Allocation of host memory that fails in time if memory is short. */
#ifndef MEMORY_H
#define MEMORY_H

#include "base/error.h"

#include <stddef.h>

/**
 * Allocates `bytes` (at least one), which the caller frees with free(). Fails if this machine's memory does not
 * suffice, because Linux would grant the request and kill the process later. False with a reason, RUN_NO_DEVICE.
 */
bool memory_allocate(void **memory, size_t bytes, struct error *error);

/** Allocates `count` elements for the pointer `array`. */
#define ALLOCATE_ARRAY(array, count, error) memory_allocate((void **)&(array), (size_t)(count) * sizeof *(array), error)

#endif
