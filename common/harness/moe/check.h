/** @file moe/check.h  The checker of the layer's output, for programs and tests. */
#ifndef MOE_CHECK_H
#define MOE_CHECK_H

#include "harness/moe/run.h"

/**
 * The poison byte, which fills the output and the workspace before a launch. A value of these bytes is NaN in f32 and
 * in bf16.
 */
enum { MOE_POISON_BYTE = 0xff };

/** Returns the number of tokens that a check recomputes: all, or fewer if checking all would take too long. */
int64_t moe_num_checked_tokens(const struct moe_problem *problem);

/**
 * Checks that every element of the output has been written, and recomputes in double all tokens or a sample of them:
 * the first, the last, one that chose the busiest expert, and others drawn with the seed. Every element of these tokens
 * is checked.
 *
 * The allowed error of an element covers rounding in f32 and rounding to the type. A sum of n products in f32 is
 * rounded n times, each time by at most 2^-24 of a running sum that is at most the sum S of the products' absolute
 * values; errors propagate through later operations. For arrays from files, these bounds are added up, because all
 * errors may have the same sign, for example if the elements are equal. For random arrays, that bound would be a
 * hundred times the actual error, so the errors are treated as independent and of random sign. Each error is
 * sub-Gaussian: an error of at most b has the parameter b^2 (Hoeffding's lemma); the error of rounding to the type,
 * which is uniform up to half an ulp b, has its variance, b^2/3, as the parameter. The sum of the errors exceeds L
 * times the square root of the sum of these parameters with a probability below 2 exp(-L^2 / 2) (for sums in floating
 * point, see Higham and Mary, 2019). L is chosen so that this probability stays below 1e-9 for all values of a check
 * together: the elements of the intermediate, partial and output of the checked tokens. L is 7.5 for a thousand values,
 * and 8.4 for a million.
 *
 * In bf16, exactly three values must be rounded, each to the nearest number: the intermediate, an expert's output
 * before or after it is weighted, and the output. The check rounds at the same points. A value that is farther from the
 * midpoint between two numbers than its error can reach has only one correct rounding, and adds no error to later
 * values; an element whose error cannot reach the nearest midpoint must have exactly the expected bits. The check
 * therefore rejects truncated values, superfluous roundings (of the halves that SwiGLU multiplies, of a sum over topk)
 * and factors off by 1/256, where f32's error is small compared with an ulp of bf16. A value near a midpoint adds an
 * error of half an ulp of either sign. Once f32's errors exceed half an ulp, as in sums of thousands of products, every
 * rounding counts as an independent error, and a single superfluous rounding adds no more than the allowed errors.
 *
 * An element with an intermediate result that may exceed the range of f32 is not compared. If
 * layer->num_uncompared_elements is not NULL, the number of these elements is stored there.
 *
 * On failure, returns false and sets RUN_WRONG and the first wrong element as one line, "output[3][17]: expected ...,
 * got ..."; or sets RUN_CANNOT_RUN if memory runs out.
 */
bool moe_check(const struct moe_layer *layer, const struct tensors *tensors, struct error *error);

#endif
