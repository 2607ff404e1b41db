/** @file moe/check.h  The checker of the layer's output, for programs and tests. */
#ifndef MOE_CHECK_H
#define MOE_CHECK_H

#include "harness/moe/run.h"

/** Poison: the byte that fills output and workspace before a launch. As f32 and as bf16 it is NaN. */
enum { MOE_POISON = 0xff };

/** Returns the number of tokens that a check recomputes: all tokens, unless they need too much work. */
int64_t moe_checked_tokens(const struct moe_problem *problem);

/**
 * Checks that every element of the output has been written, and computes some tokens, or all, in double: the first, the
 * last, one of the busiest expert and others drawn by the seed, every element of each.
 *
 * The allowed error of an element is that of rounding in f32 and to the type. A sum of n products in f32 is rounded n
 * times, each time by at most 2^-24 of a running sum that is at most the sum S of the products' absolute values; errors
 * propagate through later operations. For arrays from files these bounds are added up, because every error may have the
 * worst sign, as with equal elements. For random arrays that would be a hundred times the actual error. There the
 * errors are taken as independent and of either sign. Each is sub-Gaussian: an error of at most b with the parameter
 * b^2 (Hoeffding's lemma); that of rounding to the type, uniform up to half a unit b, with its variance b^2 / 3. Their
 * sum exceeds L times the root of the sum of these parameters with a probability below 2 exp(-L^2 / 2) (for sums in
 * floating point: Higham and Mary, 2019). L is such that this stays below 1e-9 for all the values of a check together:
 * the elements of the intermediate, partial and output of the checked tokens. For a thousand values L is 7.5, for a
 * million 8.4.
 *
 * In bf16 the intermediate, an expert's output before or after it is weighted, and the output must be rounded to the
 * nearest number, and nothing else. The check rounds at the same points. A value that is farther from the middle of two
 * numbers than its error can reach has one right rounding, and adds no error to what follows; an element whose error
 * cannot reach the next middle must have exactly the expected bits. So truncated values, superfluous roundings (of the
 * halves that SwiGLU multiplies, of a sum over topk) and factors off by 1/256 are rejected where f32's error is small
 * compared with a unit of bf16. A value near a middle counts with half a unit of either sign. Once f32's errors
 * exceed half a unit, as in sums of thousands of products, every rounding is taken as an independent error, and a
 * single superfluous one is no larger than those allowed.
 *
 * Returns false and RUN_WRONG with the first failure as one line, "output[3][17]: expected ..., got ..."; as
 * RUN_NO_DEVICE when memory is short.
 */
bool moe_check(const struct moe_layer *layer, const struct tensors *tensors, struct error *error);

#endif
