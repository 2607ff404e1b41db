/** @file moe/check.h  Is the layer's output right? */
#ifndef MOE_CHECK_H
#define MOE_CHECK_H

#include "harness/moe/run.h"

/** The byte that fills output and workspace before a launch: all of it is NaN, in f32 and in bf16. */
enum { MOE_POISON = 0xff };

/** The tokens that a check computes anew; all there are, if that is not too much. */
int64_t moe_checked_tokens(const struct moe_problem *problem);

/**
 * Checks that every element of the output has been written, and computes some tokens, or all, in double: the first, the
 * last, one of the busiest expert and others drawn by the seed, every element of each.
 *
 * An element may be off by what rounding in f32, and to the type, can make of it. A sum of n products in f32 is rounded
 * n times, each time by at most 2^-24 of a running sum that is at most the sum S of the products' sizes; errors pass
 * through what comes after them. Of arrays from files that is added up: each error may have the sign that hurts most,
 * as those of equal elements do. Of random arrays it would be a hundred times what happens. There the errors are taken
 * for independent and of either sign. Each is sub-Gaussian: one of at most b with the parameter b^2 (Hoeffding's
 * lemma), that of rounding to the type, uniform up to half a unit b, with its variance b^2 / 3. Together they exceed L
 * times the root of the sum of these with a probability below 2 exp(-L^2 / 2) (for sums in floating point: Higham and
 * Mary, 2019). With L = 7 that is 5e-11 for an element. The last rounding counts whole either way.
 *
 * Hence what it cannot see in bf16: one rounding to the type more than there should be, as of a sum over topk, or of
 * the halves that SwiGLU multiplies. It is no larger than those that are allowed for.
 *
 * False, as RUN_WRONG, with the first failure as one line, "output[3][17]: expected ..., got ..."; as RUN_NO_DEVICE
 * when memory is short.
 */
bool moe_check(const struct moe_layer *layer, const struct tensors *tensors, struct error *error);

#endif
