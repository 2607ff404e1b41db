/**
 * @file grade.h
 * @brief What an exercise's grader is written with.
 *
 * A grader.c defines `grade_cases`. Each case makes its input, launches the learner's kernel, looks at what came out,
 * and says what is wrong in the learner's terms. A case that returns has passed. A case ends at its first failure:
 * grade_fail() does not return, nor does anything else here that finds something wrong (but see each function). Memory
 * from this header is freed when the case ends, however it ends.
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

/** The case that runs. */
struct grade;

/** One thing that is asked of the learner's code. Names are short words joined by '_'; each is used once. */
struct grade_case {
    const char *name;
    void (*run)(struct grade *grade);
    bool needs_counters; /**< left out on a GPU, which has none */
};

/** The grader's cases, the simplest first: the first that fails is what the learner sees. */
extern const struct grade_case grade_cases[];
extern const int num_grade_cases;

/** What the exercise needs of a GPU. A grader that does not define it needs nothing. */
extern const struct gpu_needs grade_needs;

/* --- input -------------------------------------------------------------------------------------------------------- */

/** Random numbers of this case (base/random.h): other ones in every run, the same for the same seed and case. */
struct random *grade_random(struct grade *grade);

/** `bytes` of host memory. */
void *grade_host(struct grade *grade, size_t bytes);

/** Says what the launches from here on are given, for the end of messages: "3 tokens of 20 experts, many equal". */
__attribute__((format(printf, 2, 3))) void grade_given(struct grade *grade, const char *format, ...);

/* --- a small operator of the exercise's own ----------------------------------------------------------------------- */

/**
 * A copy in device memory, between guard bands, that must still be the same after the launch. `name` is the
 * parameter's.
 */
void *grade_input(struct grade *grade, const char *name, const void *host, size_t bytes);

/** Device memory between guard bands that is poisoned: every byte is GRADE_POISON. */
void *grade_output(struct grade *grade, const char *name, size_t bytes);

/** A copy in device memory, between guard bands, that the kernel may change. */
void *grade_inout(struct grade *grade, const char *name, const void *host, size_t bytes);

/** What an output is filled with: as an int32_t -1515870811, as a float -2.87e-16. No right answer may hold it. */
enum { GRADE_POISON = 0xa5 };

/**
 * Launches, and takes the status: grade_ran(grade, warp_maximum_launch(...)). On the simulator the learner's code runs
 * in a process of its own, and only what it does to the device's memory comes back. Waits for the kernel, then fails
 * the case with its fault, a guard band written to or an input changed. Afterwards grade_counter() is about this
 * launch.
 */
#define grade_ran(grade, launch) (grade_launch(grade, launch), grade_launched(grade))
void grade_launched(struct grade *grade);

/**
 * The first half of grade_ran() only: the launch's status, for who wants to look at it before grade_launched() does.
 */
#define grade_launch(grade, launch) \
    (grade_apart_begins(grade) ? grade_apart_ends(grade, (launch)) : (void)0, grade_apart_status(grade))
cudaError_t grade_apart_status(struct grade *grade);

/**
 * Calls what is the learner's and gives numbers instead of a launch: GRADE_ASK(grade, &forecast,
 * forecast_of(capacity)). The result has no pointers and at most GRADE_ASKED_BYTES.
 */
#define GRADE_ASK(grade, result, call)                                                                        \
    (grade_apart_begins(grade) ? (*(result) = (call), grade_apart_returns(grade, (result), sizeof *(result))) \
                               : (void)0,                                                                     \
     grade_asked(grade, (result), sizeof *(result)))
enum { GRADE_ASKED_BYTES = 256 };
void grade_asked(struct grade *grade, void *result, size_t bytes);

/* What the two are made of: grade_apart.c. */
bool grade_apart_begins(struct grade *grade);
void grade_apart_ends(struct grade *grade, cudaError_t status);
void grade_apart_returns(struct grade *grade, const void *result, size_t bytes);

/** A host copy of what is in an array that grade_output() or grade_inout() made, all of it. */
const void *grade_result(struct grade *grade, const void *device);

/** Whether the bytes are all poison still: say "never written" rather than a strange number. */
bool grade_is_unwritten(const void *element, size_t bytes);

/**
 * Fails at the first element that differs: "expert 17: offsets: expected 42, got 41". `of` is what the index counts.
 */
void grade_equal_int(struct grade *grade, const char *name, const char *of, const int32_t *expected, const void *device,
                     size_t count);

/** The same for floats, which must be equal; NaN is equal to NaN. */
void grade_equal_float(struct grade *grade, const char *name, const char *of, const float *expected, const void *device,
                       size_t count);

/* --- the gate and align, whole ------------------------------------------------------------------------------------ */

/** gate_launch() or another of that type. */
typedef cudaError_t grade_gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers,
                                      cudaStream_t stream);

/**
 * Generates logits (and a bias) of the distribution, launches, and fails the case with the course's checker's line:
 * token, group, expert, expected, got. Then the counters are this launch's.
 */
void grade_gate(struct grade *grade, grade_gate_launch *launch, const struct gate_problem *problem,
                enum gate_dist dist);

/** How ids are made for align, beyond the problem. */
struct grade_ids {
    enum align_dist dist;
    int topk;     /**< ids of a token; 0 is 8 */
    bool has_map; /**< a random expert_map, half the experts local */
    int offset;   /**< 4-byte words that sorted_token_ids lies past a 16-byte boundary, 0 to 3 */
};

/** The same for align. A problem without a capacity (0) gets what `step` says, or align_capacity(). */
void grade_align(struct grade *grade, const struct align_implementation *step, const struct align_problem *problem,
                 const struct grade_ids *ids);

/* --- counters, budgets, predictions ------------------------------------------------------------------------------- */

/** False on a GPU. */
bool grade_has_counters(const struct grade *grade);

/** What was counted, by the name in common/simt/counter_list.h: "shuffles", "block_barriers", "global_load_sectors". */
uint64_t grade_counter(struct grade *grade, const char *name);

/** The same of one kernel only, by the name in its launch. */
uint64_t grade_kernel_counter(struct grade *grade, const char *kernel, const char *name);

/** Reports a figure to the learner: what was measured. */
void grade_measure(struct grade *grade, const char *name, double value);

/** Reports the figure and fails if it is over the limit: "shuffles: 20, at most 10 are allowed". */
void grade_budget(struct grade *grade, const char *name, uint64_t measured, uint64_t limit);

/**
 * The same for each of `count` warps, or whatever `of` says ("warp"): the figure is one's. "shuffles: 60 by 4 warps, 15
 * each; at most 10 each are allowed".
 */
void grade_budget_each(struct grade *grade, const char *name, uint64_t measured, uint64_t limit, int count,
                       const char *of);

/** Fails if there were fewer, which shows that the answer came another way: "too few shuffles: 0, at least 20: WHY". */
void grade_at_least(struct grade *grade, const char *name, uint64_t measured, uint64_t least, const char *why);

/** Fails if anything was counted: "no votes are needed here, and 4 were counted: WHY". */
void grade_unused(struct grade *grade, const char *name, const char *why);

/**
 * What is asked where lanes are to learn from each other by shuffles: each of `warps` warps loads its input in one
 * request, takes `least` to `most` shuffles, and has no other way from lane to lane: no votes, no shared memory, no
 * atomics.
 */
void grade_by_shuffles(struct grade *grade, int warps, int least, int most);

/**
 * Reports the figure if it was foreseen, else fails without naming it: "shuffles: you predicted 5; fewer were
 * measured".
 */
void grade_prediction(struct grade *grade, const char *name, int64_t predicted, uint64_t measured);

/* --- failing ------------------------------------------------------------------------------------------------------ */

/** Ends the case: what is wrong, in one line, in the learner's terms: "token 3, expert 7: expected 0.5, got 0.25". */
_Noreturn __attribute__((format(printf, 2, 3))) void grade_fail(struct grade *grade, const char *format, ...);

#endif
