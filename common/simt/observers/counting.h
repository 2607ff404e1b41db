/**
 * @file counting.h
 * @brief The observer that counts events; simt_counters_read() returns its counters. Used by launch.c.
 */
#ifndef SIMT_COUNTING_H
#define SIMT_COUNTING_H

#include "lanes/observer.h"

extern const struct observer simt_counting_observer;

/**
 * Counts events for the kernel whose name in the launch is `launch_name`, until simt_counting_end(). Returns false if
 * memory runs out.
 */
bool simt_counting_begin(const char *launch_name);
void simt_counting_end(void);

#endif
