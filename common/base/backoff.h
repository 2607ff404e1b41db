/**
 * @file base/backoff.h
 * @brief Waits for other processes up to a time limit, without occupying a processor that they may need.
 */
#ifndef BACKOFF_H
#define BACKOFF_H

#include <stdbool.h>

/** Returns the time of a monotonic clock in seconds. */
double seconds_now(void);

/**
 * Returns the seconds to sleep after an unsuccessful poll, `waited` seconds after the wait began: 0 at first, because a
 * sleep would add to a measured time; then a 64th of the time waited, at most a millisecond.
 */
double backoff_seconds(double waited);

/**
 * Yields the processor between two polls of a wait that began at `begin`, and sleeps if the wait has already been long.
 * Returns false if the wait has exceeded `limit` seconds.
 */
bool backoff_wait(double begin, double limit);

#endif
