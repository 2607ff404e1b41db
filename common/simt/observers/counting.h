/**
 * @file counting.h
 * @brief The observer that counts, for simt_counters_read(). Used by launch.c.
 */
#ifndef SIMT_COUNTING_H
#define SIMT_COUNTING_H

#include "lanes/observer.h"

extern const struct observer simt_counting;

/**
 * Counts, until simt_counting_end(), for the kernel that a launch names `written`. Returns false if memory is short.
 */
bool simt_counting_begin(const char *written);
void simt_counting_end(void);

#endif
