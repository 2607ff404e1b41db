/**
 * @file tensor_cores.h
 * @brief What tensor cores do to the fragments of a warp's lanes. A fragment is a lane's part of a matrix.
 *
 * Each function is given, for each of the 32 lanes, the address of its structure as a number.
 */
#ifndef SIMT_TENSOR_CORES_H
#define SIMT_TENSOR_CORES_H

#include "device_calls.h"
#include "machine/device_limits.h"

#include <stdbool.h>

/** Of mma.m16n8k16, in PTX's layout: two elements of 16 bits a word, the lower first. */
struct mma_fragments {
    uint32_t a[4];
    uint32_t b[2];
    struct simt_floats d; /**< in and out */
};

/** Of ldmatrix: a row in, what the lane has of every matrix out. */
struct matrix_rows {
    struct simt_words fragments;
    uint16_t row[8];
};

/**
 * Of a 16x16x16 product. Lanes i and i + 16 both have row i of a and column i of b; the first has columns 0 to 7 of row
 * i of c and d, the second columns 8 to 15.
 */
struct wmma_fragments {
    const uint16_t *a;
    const uint16_t *b;
    const float *c;
    float *d;
};

/**
 * d += a b. Products are exact in f32 (but for bf16's that overflow or underflow there); they are added to d one after
 * another, in ascending order of k, and each sum is rounded to the nearest. A GPU adds several at a time and truncates,
 * in an order that nobody has promised: results differ in their last bits.
 */
void simt_complete_mma(const uint64_t lanes[WARP_LANES], enum simt_number number);
void simt_complete_wmma(const uint64_t lanes[WARP_LANES], enum simt_number number);

/** Lane i gets of each matrix the elements 2 (i % 4) and the next of row i / 4; or, `transposed`, of column i / 4. */
void simt_complete_ldmatrix(const uint64_t lanes[WARP_LANES], unsigned count, bool transposed);

#endif
