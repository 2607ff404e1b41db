/** @file align/problem.h  Checks, array sizes and a description of an align problem, for the harness. */
#ifndef ALIGN_PROBLEM_H
#define ALIGN_PROBLEM_H

#include "base/error.h"
#include "harness/align/align.h"
#include "harness/core/dtype.h"

/**
 * Sets *numel to num_tokens * topk. If a factor is out of range or numel is above 2147483647, returns false with an
 * error that names the flag.
 */
bool align_compute_numel(int64_t num_tokens, int topk, int64_t *numel, struct error *error);

/**
 * Checks numel, num_experts and block_size, but not the capacity. If this function returns true, neither
 * align_worst_case_capacity() nor an implementation's capacity() overflows. On failure the error names the flag, its
 * value and the allowed values.
 */
bool align_shape_check(const struct align_problem *problem, struct error *error);

/**
 * Checks that a capacity that was computed, rather than given, is at most 2147483647. On failure the error names the
 * cause: --block-size or, if most slots are for ids, the flag --`ids_flag`.
 */
bool align_check_computed_capacity(const struct align_problem *problem, const char *ids_flag, struct error *error);

/** Checks the shape, then that the capacity is a multiple of block_size in the range 0 to 2147483647. */
bool align_problem_check(const struct align_problem *problem, struct error *error);

/** Returns the number of elements of expert_ids. The problem must have passed align_problem_check(). */
static inline int64_t align_row_block_capacity(const struct align_problem *problem)
{
    return problem->capacity / problem->block_size;
}

/**
 * Reads or writes element `index` of topk_ids, an array of numel ids of the problem's type. align_store_id() writes an
 * id that does not fit in i32 as -1, which names no expert either.
 */
static inline int64_t align_load_id(const struct align_problem *problem, const void *topk_ids, int64_t index)
{
    return problem->wide_ids ? ((const int64_t *)topk_ids)[index] : ((const int32_t *)topk_ids)[index];
}

static inline void align_store_id(const struct align_problem *problem, void *topk_ids, int64_t index, int64_t id)
{
    if (problem->wide_ids)
        ((int64_t *)topk_ids)[index] = id;
    else
        ((int32_t *)topk_ids)[index] = id >= INT32_MIN && id <= INT32_MAX ? (int32_t)id : -1;
}

/** Returns whether the id names an expert. Other ids are skipped. */
static inline bool align_id_is_valid(const struct align_problem *problem, int64_t id)
{
    return id >= 0 && id < problem->num_experts;
}

/** Returns the type of topk_ids. */
static inline enum dtype align_ids_dtype(const struct align_problem *problem)
{
    return problem->wide_ids ? DTYPE_I64 : DTYPE_I32;
}

/** Returns a one-line reason why the implementation does not support the problem, or NULL if it does. */
static inline const char *align_unsupported_reason(const struct align_implementation *implementation,
                                                   const struct align_problem *problem)
{
    if (problem->overlap && !implementation->supports_overlap)
        return "--overlap: this program launches one kernel after the other; chapters 14a, 14b, 15 and 17 overlap them";
    return implementation->unsupported_reason ? implementation->unsupported_reason(problem) : NULL;
}

/** Writes a one-line description: "16384 i32 ids of 256 experts in blocks of 64, 32512 slots". */
void align_problem_describe(const struct align_problem *problem, char *text, size_t size);

#endif
