/** @file timing.c  Computes the median and the 10th and 90th percentiles of times, for the backends. */
#include "harness/core/backend.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct timing timing_from_samples(double *samples, int num_samples)
{
    qsort(samples, (size_t)num_samples, sizeof *samples, compare_doubles);
    return (struct timing){samples[num_samples / 2], samples[num_samples / 10],
                           samples[num_samples - 1 - num_samples / 10]};
}
