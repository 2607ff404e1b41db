#include "grade_fill.h"

void grade_fill_random(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = (int32_t)random_below(random, 1000);
}

void grade_fill_small(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = 1 + (int32_t)random_below(random, 99);
}

void grade_fill_equal(struct random *random, int32_t *counts, int num_experts)
{
    const int32_t count = 1 + (int32_t)random_below(random, 1000);

    for (int e = 0; e < num_experts; e++)
        counts[e] = count;
}

void grade_fill_zero(struct random *random, int32_t *counts, int num_experts)
{
    (void)random;
    for (int e = 0; e < num_experts; e++)
        counts[e] = 0;
}

void grade_fill_one(struct random *random, int32_t *counts, int num_experts)
{
    grade_fill_zero(random, counts, num_experts);
    counts[random_below(random, (uint32_t)num_experts)] = 1 + (int32_t)random_below(random, 999);
}
