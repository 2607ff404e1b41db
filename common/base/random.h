/**
 * @file base/random.h
 * @brief Reproducible random numbers: a seed and a sequence number give the same numbers on every machine.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <math.h>
#include <stdint.h>

/** The state of one sequence (SplitMix64: Steele, Lea and Flood, 2014). */
struct random {
    uint64_t state;
};

/** Returns 64 uniformly distributed bits. */
static inline uint64_t random_bits(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/** Returns the start of sequence number `sequence` of a seed. */
static inline struct random random_seed(uint64_t seed, uint64_t sequence)
{
    struct random random = {seed};

    random.state = random_bits(&random) ^ sequence * 0xd1342543de82ef95u;
    random_bits(&random);
    return random;
}

/** Returns a uniformly distributed number in [0, 1), a multiple of 2^-24. */
static inline float random_uniform(struct random *random)
{
    return (float)(random_bits(random) >> 40) * 0x1p-24f;
}

/** Returns a uniformly distributed integer in [0, limit). */
static inline uint32_t random_below(struct random *random, uint32_t limit)
{
    return (uint32_t)((random_bits(random) >> 32) * limit >> 32);
}

/** Returns a normally distributed number with mean 0 and standard deviation 1 (Box and Muller). */
static inline float random_normal(struct random *random)
{
    const double radius = sqrt(-2.0 * log(1.0 - (double)random_uniform(random)));

    return (float)(radius * cos(6.283185307179586 * (double)random_uniform(random)));
}

#endif
