/** @file timing.c  Computes the median and the 10th and 90th percentiles of times, for the backends. */
#include "harness/core/backend.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct timing timing_of(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare_doubles);
    return (struct timing){times[count / 2], times[count / 10], times[count - 1 - count / 10]};
}
