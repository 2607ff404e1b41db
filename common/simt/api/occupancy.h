/** @file occupancy.h  What fits on the device. */
#ifndef SIMT_OCCUPANCY_H
#define SIMT_OCCUPANCY_H

#include <stddef.h>

/** The dynamic shared memory that a kernel may ask for: what cudaFuncSetAttribute set, or what any may have. */
size_t simt_shared_limit(const void *kernel);

/**
 * How many blocks of such a shape one of the pretended processors could hold; a cooperative launch needs room for all.
 */
unsigned simt_blocks_per_processor(unsigned threads, size_t dynamic_shared);

#endif
