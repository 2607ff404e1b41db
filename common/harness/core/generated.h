/**
 * @file core/generated.h
 * @brief Arrays whose elements are hashes of their indices, and therefore the same on the host and on a GPU.
 *
 * A layer's weights, which may need more memory than the host has, are generated in device memory. The checker
 * regenerates the elements that it needs.
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
 * An array of numbers uniformly distributed between -scale and scale. If `part_width` is not 0, the array is a rank's
 * part of a larger array: it consists of `part_width` elements out of every `part_pitch`, starting at element
 * `part_offset`.
 */
struct generated_array {
    uint64_t state; /**< derived from the seed and the array's sequence number */
    float scale;
    int64_t part_width, part_pitch, part_offset;
};

/** Returns output number `index` of SplitMix64 (Steele, Lea and Flood, 2014): 64 pseudo-random bits. */
GENERATED_FUNCTION uint64_t generated_bits(uint64_t state, uint64_t index)
{
    uint64_t z = state + (index + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/** Returns the array that sequence number `sequence` of a seed generates. */
GENERATED_FUNCTION struct generated_array generated_array_make(uint64_t seed, uint64_t sequence, float scale)
{
    struct generated_array generated = {generated_bits(generated_bits(seed, 0), sequence), scale, 0, 0, 0};

    return generated;
}

/** Returns element `index` of the array: a multiple of scale / 2^23, rounded once. */
GENERATED_FUNCTION float generated_value(struct generated_array generated, int64_t index)
{
    if (generated.part_width)
        index = index / generated.part_width * generated.part_pitch + index % generated.part_width +
                generated.part_offset;

    const int32_t value = (int32_t)(generated_bits(generated.state, (uint64_t)index) >> 40) - (1 << 23);

    return (float)value * 0x1p-23f * generated.scale;
}

#endif
