/**
 * @file grade.h
 * @brief The interface that an exercise's grader uses.
 *
 * A grader.c defines `grade_cases`. Each case makes its input, launches the learner's kernel, checks the output, and
 * reports a mistake in the learner's terms. A case passes by returning. It ends at its first failure: grade_fail() does
 * not return, nor does any other function here that finds a mistake, unless its comment says otherwise. Memory that
 * these functions allocate is freed when the case ends, however it ends.
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

/** The running case, which all functions here take. */
struct grade_context;

/** A check of the learner's code. Names consist of short words joined by '_', and are unique within a grader. */
struct grade_case {
    const char *name;
    void (*run)(struct grade_context *grade);
    bool needs_counters; /**< skipped on a GPU, which has no counters */
};

/** The grader's cases, simplest first, because the learner is shown the first one that fails. */
extern const struct grade_case grade_cases[];
extern const int num_grade_cases;

/** The GPU features that the exercise needs. A grader without this definition needs none. */
extern const struct gpu_needs grade_gpu_needs;

/* --- input -------------------------------------------------------------------------------------------------------- */

/**
 * Returns the case's random number generator (base/random.h). Its numbers depend on the seed, which is new in every
 * run, and on the case.
 */
struct random *grade_random(struct grade_context *grade);

/** Allocates `bytes` of host memory. */
void *grade_allocate_host(struct grade_context *grade, size_t bytes);

/** Fills an array with normally distributed numbers, nearly all of which are distinct. */
void grade_fill_mostly_distinct(struct random *random, float *values, int count);

/** Fills an array with -1, 0 and 1, so that many elements are equal. */
void grade_fill_ties(struct random *random, float *values, int count);

/** Describes the next launches' input; messages end with this description: "3 tokens of 20 experts, many equal". */
__attribute__((format(printf, 2, 3))) void grade_describe_input(struct grade_context *grade, const char *format, ...);

/* --- the exercise's own small operator ---------------------------------------------------------------------------- */

/**
 * Copies an array of `bytes` bytes to new device memory between guard bands, and returns its address there. The launch
 * must not change it. `name` is the parameter's name in messages.
 */
void *grade_device_input(struct grade_context *grade, const char *name, const void *host, size_t bytes);

/** Allocates device memory between guard bands and poisons it: every byte is GRADE_POISON_BYTE. */
void *grade_device_output(struct grade_context *grade, const char *name, size_t bytes);

/** Copies an array to device memory, between guard bands; the kernel may change it. */
void *grade_device_inout(struct grade_context *grade, const char *name, const void *host, size_t bytes);

/** The byte that fills an output: -1515870811 as an int32_t, -2.87e-16 as a float. No correct result may contain it. */
enum { GRADE_POISON_BYTE = 0xa5 };

/**
 * Launches the kernel, waits for it and checks the launch: GRADE_LAUNCH_AND_CHECK(grade, warp_maximum_launch(...)). On
 * the simulator, the learner's code runs in its own process, and only its changes to device memory are kept.
 * Afterwards, grade_last_launch_counter() refers to this launch.
 */
#define GRADE_LAUNCH_AND_CHECK(grade, launch) \
    (GRADE_LAUNCH_AND_FETCH_STATUS(grade, launch), grade_check_launch_and_arrays(grade))

/** Fails the case if the last launch had an error or a fault, wrote to a guard band or changed an input. */
void grade_check_launch_and_arrays(struct grade_context *grade);

/**
 * Launches the kernel and waits for it, like GRADE_LAUNCH_AND_CHECK(), but returns the status, so that the grader can
 * check it before it calls grade_check_launch_and_arrays().
 */
#define GRADE_LAUNCH_AND_FETCH_STATUS(grade, launch)                                                 \
    (grade_fork_and_is_learner_process(grade) ? grade_child_store_status(grade, (launch)) : (void)0, \
     grade_fetch_child_status(grade))
cudaError_t grade_fetch_child_status(struct grade_context *grade);

/**
 * Calls a learner's function that returns numbers instead of launching a kernel, and stores what it returns in *result:
 * GRADE_CALL_AND_FETCH_RESULT(grade, &words, tree_words(num_leaves)). The result must not contain pointers or exceed
 * GRADE_MAX_RESULT_BYTES bytes.
 */
#define GRADE_CALL_AND_FETCH_RESULT(grade, result, call)                                     \
    (grade_fork_and_is_learner_process(grade)                                                \
         ? (*(result) = (call), grade_child_store_result(grade, (result), sizeof *(result))) \
         : (void)0,                                                                          \
     grade_fetch_child_result(grade, (result), sizeof *(result)))
enum { GRADE_MAX_RESULT_BYTES = 256 };

/*
 * The parts of GRADE_LAUNCH_AND_FETCH_STATUS() and GRADE_CALL_AND_FETCH_RESULT(), defined in grade_child.c.
 * grade_fork_and_is_learner_process() returns true in the process that runs the learner's code: the child or, on a GPU,
 * the grader itself.
 */
void grade_fetch_child_result(struct grade_context *grade, void *result, size_t bytes);
bool grade_fork_and_is_learner_process(struct grade_context *grade);
void grade_child_store_status(struct grade_context *grade, cudaError_t status);
void grade_child_store_result(struct grade_context *grade, const void *result, size_t bytes);

/** Returns a host copy of an entire array that grade_device_output() or grade_device_inout() made. */
const void *grade_download(struct grade_context *grade, const void *device);

/**
 * Checks whether all bytes are still poison, so that a message can say "never written" instead of showing a meaningless
 * number.
 */
bool grade_is_unwritten(const void *element, size_t bytes);

/**
 * Fails at the first element that differs: "expert 17: offsets: expected 42, got 41". `index_name` is the index's name
 * ("expert").
 */
void grade_check_equal_ints(struct grade_context *grade, const char *name, const char *index_name,
                            const int32_t *expected, const void *device, size_t num_elements);

/** Fails at the first float that differs at all. NaN counts as equal to NaN. */
void grade_check_equal_floats(struct grade_context *grade, const char *name, const char *index_name,
                              const float *expected, const void *device, size_t num_elements);

/* --- the whole gate and align ------------------------------------------------------------------------------------- */

/** The type of gate_launch(), a learner's or a chapter's. */
typedef cudaError_t grade_gate_launch_function(const struct gate_problem *problem, const struct gate_buffers *buffers,
                                               cudaStream_t stream);

/**
 * Generates logits (and a bias) with this distribution, launches, checks the output and, if it is wrong, fails the case
 * with the course checker's message: token, group, expert, expected, got. The counters are then those of this launch.
 */
void grade_check_gate(struct grade_context *grade, grade_gate_launch_function *launch,
                      const struct gate_problem *problem, enum gate_dist dist);

/** Parameters for generating align's ids, in addition to the problem's. */
struct grade_id_options {
    enum align_dist dist;
    int topk;            /**< ids per token; 0 stands for 8 */
    bool has_expert_map; /**< use a random expert_map, in which half of the experts are local */
    int misalign_words;  /**< number of 4-byte words between a 16-byte boundary and sorted_token_ids, 0 to 3 */
};

/**
 * Generates ids, launches align and, like grade_check_gate(), fails the case if the output is wrong. If the problem's
 * capacity is 0, the capacity is the implementation's or, if that defines none, align_worst_case_capacity().
 */
void grade_check_align(struct grade_context *grade, const struct align_implementation *implementation,
                       const struct align_problem *problem, const struct grade_id_options *ids);

/* --- counters, budgets, predictions ------------------------------------------------------------------------------- */

/** Checks whether the device has counters; a GPU has none. */
bool grade_has_counters(const struct grade_context *grade);

/** Returns the counter with this name in common/simt/counter_list.h, for example "shuffles" or "block_barriers". */
uint64_t grade_last_launch_counter(struct grade_context *grade, const char *name);

/** Returns the counter `name` of a single kernel; `kernel` is its name in the launch, without template arguments. */
uint64_t grade_last_launch_kernel_counter(struct grade_context *grade, const char *kernel, const char *name);

/** Reports a measured figure to the learner, without judging it. */
void grade_report_measurement(struct grade_context *grade, const char *name, double value);

/**
 * Reports the measured figure and fails if it exceeds the limit: "shuffles: 20, at most 10 are allowed". If the figure
 * counts memory requests, the message also names the lines with the most of them.
 */
void grade_check_at_most(struct grade_context *grade, const char *name, uint64_t measured, uint64_t limit);

/** Reports the number of divergent branches and, if it is not 0, fails with the lines at which a warp diverges. */
void grade_check_no_divergence(struct grade_context *grade);
/** Fails the case if there are bank conflicts; the message says how many wavefronts the loads and stores took. */
void grade_check_no_bank_conflicts(struct grade_context *grade);

/**
 * Reports the measured figure per unit, for `num_units` units called `unit_name` ("warp"), and fails if it exceeds the
 * limit: "shuffles: 60 by 4 warps, 15 each; at most 10 each are allowed".
 */
void grade_check_at_most_per_unit(struct grade_context *grade, const char *name, uint64_t measured, uint64_t limit,
                                  int num_units, const char *unit_name);

/**
 * Fails if the figure is below `least`, which indicates a different method: "too few shuffles: 0, at least 20: WHY".
 */
void grade_check_at_least(struct grade_context *grade, const char *name, uint64_t measured, uint64_t least,
                          const char *why);

/** Fails if the counter is not 0: "no votes are needed here, and 4 were counted: WHY". */
void grade_check_counter_is_zero(struct grade_context *grade, const char *name, const char *why);

/**
 * Fails unless lanes exchange data by shuffles only: each of `num_warps` warps must load its input in one request and
 * use `min_shuffles_per_warp` to `max_shuffles_per_warp` shuffles, but no votes, shared memory or atomics.
 */
void grade_check_shuffles_only(struct grade_context *grade, int num_warps, int min_shuffles_per_warp,
                               int max_shuffles_per_warp);

/**
 * Reports the measured figure if the prediction is right; otherwise fails without revealing the figure: "shuffles: you
 * predicted 5; fewer were measured".
 */
void grade_check_prediction(struct grade_context *grade, const char *name, int64_t predicted, uint64_t measured);

/* --- failing ------------------------------------------------------------------------------------------------------ */

/** Ends the case with a one-line message in the learner's terms: "token 3, expert 7: expected 0.5, got 0.25". */
_Noreturn __attribute__((format(printf, 2, 3))) void grade_fail(struct grade_context *grade, const char *format, ...);

#endif
