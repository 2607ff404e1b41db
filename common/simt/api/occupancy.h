/**
 * @file occupancy.h
 * @brief The device's limits for a kernel and for a launch. Used by launch.c.
 */
#ifndef SIMT_OCCUPANCY_H
#define SIMT_OCCUPANCY_H

#include <stddef.h>

/**
 * Returns the dynamic shared memory in bytes that a kernel may use: the larger of the default and the value set by
 * cudaFuncSetAttribute.
 */
size_t simt_dynamic_shared_limit_bytes(const void *kernel);

/**
 * Returns how many blocks of this shape fit on one simulated multiprocessor. All blocks of a cooperative launch must
 * fit on the device.
 */
unsigned simt_blocks_per_multiprocessor(unsigned threads_per_block, size_t dynamic_shared_bytes);

#endif
