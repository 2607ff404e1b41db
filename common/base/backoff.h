/**
 * @file base/backoff.h
 * @brief Waits for other processes up to a time limit, without occupying a processor that they may need.
 */
#ifndef BACKOFF_H
#define BACKOFF_H

#include <stdbool.h>

/** Returns the monotonic clock's time in seconds. */
double monotonic_seconds(void);

/**
 * Returns how many seconds to sleep after an unsuccessful poll, `seconds_waited` into the wait: 0 at first, because
 * sleeping would distort measured times; then 1/64 of the time waited, but at most a millisecond.
 */
double backoff_next_sleep_seconds(double seconds_waited);

/**
 * Yields the processor between two polls of a wait that began at `begin_seconds`; sleeps once the wait has become long.
 * Returns false if the wait has exceeded `limit_seconds`.
 */
bool backoff_wait(double begin_seconds, double limit_seconds);

#endif
