#include "base/backoff.h"

#include <sched.h>
#include <time.h>

double monotonic_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double backoff_next_sleep_seconds(double seconds_waited)
{
    static const double awake = 0.02, longest = 0.001;

    if (seconds_waited < awake)
        return 0.0;
    return seconds_waited / 64.0 < longest ? seconds_waited / 64.0 : longest;
}

bool backoff_wait(double begin_seconds, double limit_seconds)
{
    const double waited = monotonic_seconds() - begin_seconds, nap = backoff_next_sleep_seconds(waited);
    const struct timespec time = {.tv_nsec = (long)(1e9 * nap)};

    if (waited > limit_seconds)
        return false;
    if (nap > 0.0)
        nanosleep(&time, NULL);
    else
        sched_yield(); /* the process that this one waits for may be bound to the same core */
    return true;
}
