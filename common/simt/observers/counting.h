/**
 * @file counting.h
 * @brief The observer that counts events; simt_counters_read() returns its counters. Used by launch.c.
 */
#ifndef SIMT_COUNTING_H
#define SIMT_COUNTING_H

#include "lanes/observer.h"

extern const struct observer simt_counting_observer;

/**
 * Counts events of a launch, until simt_counting_end_launch(), for the kernel whose name in the launch is
 * `kernel_name`. Returns false if memory runs out.
 */
bool simt_counting_begin_launch(const char *kernel_name);
void simt_counting_end_launch(void);

#endif
