/** @file counting.h  The observer that counts, for simt_counters_read(). */
#ifndef SIMT_COUNTING_H
#define SIMT_COUNTING_H

#include "lanes/observer.h"

extern const struct observer simt_counting;

/** What is counted from here to simt_counting_end() is of the kernel that a launch names so. False: no memory. */
bool simt_counting_begin(const char *written);
void simt_counting_end(void);

#endif
