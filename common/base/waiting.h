/** @file base/waiting.h  Waiting for other processes up to a time limit, on a processor that they may need, too. */
#ifndef WAITING_H
#define WAITING_H

#include <stdbool.h>

/** Seconds on a clock that only runs on. */
double seconds_now(void);

/**
 * Seconds to sleep after a look that found nothing, where so many seconds have been waited: none at first, since a nap
 * would be part of what is timed; then a 64th of the time waited, at most a millisecond.
 */
double nap_after(double waited);

/**
 * To be called between two looks at what began at `begin`: leaves the processor to others, asleep where it has been
 * long. False: that was longer than the limit.
 */
bool wait_on(double begin, double limit);

#endif
