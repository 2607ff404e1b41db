/**
 * @file grade.h
 * @brief The interface that an exercise's grader uses.
 *
 * A grader.c defines `grade_cases`. Each case makes its input, launches the learner's kernel, checks the output, and
 * reports a mistake in the learner's terms. A case passes by returning. It ends at its first failure: grade_fail() does
 * not return, nor does any other function here that finds a mistake, unless its comment says so. Memory from this
 * header is freed when the case ends, however it ends.
 */
#ifndef GRADE_H
#define GRADE_H

#include "base/random.h"
#include "harness/align/input.h"
#include "harness/core/gpu_needs.h"
#include "harness/gate/input.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The running case. */
struct grade;

/** A check of the learner's code. Names consist of short words joined by '_', and are unique within a grader. */
struct grade_case {
    const char *name;
    void (*run)(struct grade *grade);
    bool needs_counters; /**< skipped on a GPU, which has no counters */
};

/** The grader's cases, the simplest first, because the learner is shown the first one that fails. */
extern const struct grade_case grade_cases[];
extern const int num_grade_cases;

/** The GPU features that the exercise needs. A grader without this definition needs none. */
extern const struct gpu_needs grade_needs;

/* --- input -------------------------------------------------------------------------------------------------------- */

/**
 * Returns the case's random numbers (base/random.h): new ones in every run, but the same for the same seed and case.
 */
struct random *grade_random(struct grade *grade);

/** Allocates `bytes` of host memory. */
void *grade_host(struct grade *grade, size_t bytes);

/** Fills an array with normally distributed numbers, hardly any two of which are equal. */
void grade_fill_distinct(struct random *random, float *values, int count);

/** Fills an array with -1, 0 and 1, so that many elements are equal. */
void grade_fill_ties(struct random *random, float *values, int count);

/** Describes the input of the following launches, to be appended to messages: "3 tokens of 20 experts, many equal". */
__attribute__((format(printf, 2, 3))) void grade_given(struct grade *grade, const char *format, ...);

/* --- a small operator of the exercise's own ----------------------------------------------------------------------- */

/**
 * Copies an array to device memory, between guard bands. The launch must not change it. `name` is the parameter's name.
 */
void *grade_input(struct grade *grade, const char *name, const void *host, size_t bytes);

/** Allocates device memory between guard bands and poisons it: every byte is GRADE_POISON. */
void *grade_output(struct grade *grade, const char *name, size_t bytes);

/** Copies an array to device memory, between guard bands; the kernel may change it. */
void *grade_inout(struct grade *grade, const char *name, const void *host, size_t bytes);

/** The byte that fills an output: -1515870811 as an int32_t, -2.87e-16 as a float. No right answer may contain it. */
enum { GRADE_POISON = 0xa5 };

/**
 * Launches and checks the status: grade_ran(grade, warp_maximum_launch(...)). On the simulator the learner's code runs
 * in its own process, of which only the changes to device memory are kept. Waits for the kernel, then fails the case if
 * the kernel had a fault, wrote to a guard band or changed an input. Afterwards grade_counter() refers to this launch.
 */
#define grade_ran(grade, launch) (grade_launch(grade, launch), grade_launched(grade))
void grade_launched(struct grade *grade);

/**
 * Does the first half of grade_ran(): launches, and returns the status, which can be checked before grade_launched().
 */
#define grade_launch(grade, launch) \
    (grade_apart_begins(grade) ? grade_apart_ends(grade, (launch)) : (void)0, grade_apart_status(grade))
cudaError_t grade_apart_status(struct grade *grade);

/**
 * Calls a function of the learner's that returns numbers instead of launching: GRADE_ASK(grade, &forecast,
 * forecast_of(capacity)). The result must not contain pointers and has at most GRADE_ASKED_BYTES.
 */
#define GRADE_ASK(grade, result, call)                                                                        \
    (grade_apart_begins(grade) ? (*(result) = (call), grade_apart_returns(grade, (result), sizeof *(result))) \
                               : (void)0,                                                                     \
     grade_asked(grade, (result), sizeof *(result)))
enum { GRADE_ASKED_BYTES = 256 };
void grade_asked(struct grade *grade, void *result, size_t bytes);

/* The parts of grade_launch() and GRADE_ASK(), defined in grade_apart.c. */
bool grade_apart_begins(struct grade *grade);
void grade_apart_ends(struct grade *grade, cudaError_t status);
void grade_apart_returns(struct grade *grade, const void *result, size_t bytes);

/** Returns a host copy of a whole array that grade_output() or grade_inout() made. */
const void *grade_result(struct grade *grade, const void *device);

/** Checks whether all bytes are still poison, so that a message can say "never written" instead of a strange number. */
bool grade_is_unwritten(const void *element, size_t bytes);

/**
 * Fails at the first element that differs: "expert 17: offsets: expected 42, got 41". `of` names the index ("expert").
 */
void grade_equal_int(struct grade *grade, const char *name, const char *of, const int32_t *expected, const void *device,
                     size_t count);

/** Fails at the first float that differs. NaN equals NaN. */
void grade_equal_float(struct grade *grade, const char *name, const char *of, const float *expected, const void *device,
                       size_t count);

/* --- the whole gate and align ------------------------------------------------------------------------------------- */

/** The type of gate_launch(). */
typedef cudaError_t grade_gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers,
                                      cudaStream_t stream);

/**
 * Generates logits (and a bias) of the distribution, launches, and fails the case with the course checker's line:
 * token, group, expert, expected, got. Afterwards the counters are those of this launch.
 */
void grade_gate(struct grade *grade, grade_gate_launch *launch, const struct gate_problem *problem,
                enum gate_dist dist);

/** Parameters of align's ids that the problem does not include. */
struct grade_ids {
    enum align_dist dist;
    int topk;     /**< ids per token; 0 stands for 8 */
    bool has_map; /**< use a random expert_map, in which half of the experts are local */
    int offset;   /**< 4-byte words between a 16-byte boundary and sorted_token_ids, 0 to 3 */
};

/**
 * Generates ids, launches align and fails the case like grade_gate(). If the problem's capacity is 0, the capacity is
 * that of `step` or, if `step` defines none, align_capacity().
 */
void grade_align(struct grade *grade, const struct align_implementation *step, const struct align_problem *problem,
                 const struct grade_ids *ids);

/* --- counters, budgets, predictions ------------------------------------------------------------------------------- */

/** Checks whether the device has counters; a GPU has none. */
bool grade_has_counters(const struct grade *grade);

/** Returns a counter by its name in common/simt/counter_list.h: "shuffles", "block_barriers", "global_load_sectors". */
uint64_t grade_counter(struct grade *grade, const char *name);

/** Returns a counter of a single kernel, given by its name in the launch. */
uint64_t grade_kernel_counter(struct grade *grade, const char *kernel, const char *name);

/** Reports a measured figure to the learner. */
void grade_measure(struct grade *grade, const char *name, double value);

/** Reports the figure, and fails if it exceeds the limit: "shuffles: 20, at most 10 are allowed". */
void grade_budget(struct grade *grade, const char *name, uint64_t measured, uint64_t limit);

/** Reports the divergent branches, and fails if there are any, with the lines at which a warp diverges. */
void grade_without_divergence(struct grade *grade);

/**
 * Reports the figure per unit, for `count` units that `of` names ("warp"), and fails if it exceeds the limit:
 * "shuffles: 60 by 4 warps, 15 each; at most 10 each are allowed".
 */
void grade_budget_each(struct grade *grade, const char *name, uint64_t measured, uint64_t limit, int count,
                       const char *of);

/** Fails if the figure is below `least`, which suggests another method: "too few shuffles: 0, at least 20: WHY". */
void grade_at_least(struct grade *grade, const char *name, uint64_t measured, uint64_t least, const char *why);

/** Fails if the counter is not 0: "no votes are needed here, and 4 were counted: WHY". */
void grade_unused(struct grade *grade, const char *name, const char *why);

/**
 * Checks that lanes exchange data only by shuffles: each of `warps` warps loads its input in one request, uses `least`
 * to `most` shuffles, and no votes, shared memory or atomics.
 */
void grade_by_shuffles(struct grade *grade, int warps, int least, int most);

/**
 * Reports the figure if the prediction is right; otherwise fails without revealing it: "shuffles: you predicted 5;
 * fewer were measured".
 */
void grade_prediction(struct grade *grade, const char *name, int64_t predicted, uint64_t measured);

/* --- failing ------------------------------------------------------------------------------------------------------ */

/** Ends the case with the mistake in one line, in the learner's terms: "token 3, expert 7: expected 0.5, got 0.25". */
_Noreturn __attribute__((format(printf, 2, 3))) void grade_fail(struct grade *grade, const char *format, ...);

#endif
