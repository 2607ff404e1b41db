/**
 * @file core/generated.h
 * @brief Arrays whose elements a hash makes of their numbers: the same wherever they are made, on the host or a GPU.
 *
 * So a layer's weights, which may be more than the host has memory for, are made where they lie, and the checker makes
 * once more those that it looks at.
 */
#ifndef GENERATED_H
#define GENERATED_H

#include <stdint.h>

#ifdef __CUDACC__
#define GENERATED_FUNCTION static __host__ __device__ inline
#else
#define GENERATED_FUNCTION static inline
#endif

/**
 * Numbers evenly spread from -scale to scale. With a row they are a part of the whole array, as a rank has it: `row`
 * elements of every `pitch`, from element `skip` on.
 */
struct generated {
    uint64_t state; /**< of the seed and the array */
    float scale;
    int64_t row, pitch, skip;
};

/** The output of number `index` of SplitMix64 (Steele, Lea and Flood, 2014): 64 bits, each as good as random. */
GENERATED_FUNCTION uint64_t generated_bits(uint64_t state, uint64_t index)
{
    uint64_t z = state + (index + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/** Array number `stream` of a seed's. */
GENERATED_FUNCTION struct generated generated_start(uint64_t seed, uint64_t stream, float scale)
{
    struct generated generated = {generated_bits(generated_bits(seed, 0), stream), scale, 0, 0, 0};

    return generated;
}

/** Element `index`: a multiple of scale / 2^23, rounded once. */
GENERATED_FUNCTION float generated_value(struct generated generated, int64_t index)
{
    if (generated.row)
        index = index / generated.row * generated.pitch + index % generated.row + generated.skip;

    const int32_t value = (int32_t)(generated_bits(generated.state, (uint64_t)index) >> 40) - (1 << 23);

    return (float)value * 0x1p-23f * generated.scale;
}

#endif
