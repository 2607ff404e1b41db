/**
 * @file tensor_cores.h
 * @brief Tensor-core operations on the fragments of a warp's lanes, for collectives.c. A fragment is a lane's part of a
 *        matrix.
 *
 * Each function takes, for each of the 32 lanes, the address of the lane's structure as an integer.
 */
#ifndef SIMT_TENSOR_CORES_H
#define SIMT_TENSOR_CORES_H

#include "device_calls.h"
#include "machine/device_limits.h"

#include <stdbool.h>

/**
 * A lane's fragments of mma.m16n8k16 in PTX's layout: each word holds two 16-bit elements, the first in the low half.
 */
struct mma_fragments {
    uint32_t a[4];
    uint32_t b[2];
    struct simt_fragment_floats d; /**< accumulators: input and output */
};

/** A lane's part of an ldmatrix: a row as input, and its fragment of every matrix as output. */
struct ldmatrix_lane_data {
    struct simt_fragment_words fragments;
    uint16_t row[8];
};

/**
 * A lane's fragments of a 16x16x16 product. Lanes i and i + 16 both hold row i of a and column i of b. Lane i holds
 * columns 0 to 7 of row i of c and d, and lane i + 16 holds columns 8 to 15.
 */
struct wmma_fragments {
    const uint16_t *a;
    const uint16_t *b;
    const float *c;
    float *d;
};

/**
 * Computes d += a b. The products of elements are exact in f32, except that products of bf16 may overflow or underflow.
 * They are added to d one after another, in ascending order of k, and each sum is rounded to nearest. A GPU adds
 * several products at a time, in an undocumented order and with truncation, so its results differ in the last bits.
 */
void simt_complete_mma(const uint64_t lane_addresses[WARP_LANES], enum simt_mma_element_type type);
void simt_complete_wmma(const uint64_t lane_addresses[WARP_LANES], enum simt_mma_element_type type);

/**
 * Stores elements 2 (i % 4) and 2 (i % 4) + 1 of row i / 4 of each matrix (of column i / 4 if `transposed`) in lane i's
 * fragments.
 */
void simt_complete_ldmatrix(const uint64_t lane_addresses[WARP_LANES], unsigned num_matrices, bool transposed);

#endif
