/** @file grade_state.h  The state of a running case, used only in this folder: its memory, figures and result. */
#ifndef GRADE_STATE_H
#define GRADE_STATE_H

#include "grade.h"
#include "harness/core/backend.h"
#include "harness/core/device_buffer.h"

#include <setjmp.h>

enum { GRADE_MAX_ARRAYS = 32, GRADE_MESSAGE_SIZE = 1280, GRADE_INPUT_DESCRIPTION_SIZE = 240 };
enum { GRADE_MAX_MEASUREMENTS = 64, GRADE_MEASUREMENT_NAME_SIZE = 64 };

/** The results that the learner's process returns to the grader. */
struct grade_child_results {
    bool ended_normally; /**< the process ended normally */
    cudaError_t status;
    struct run_counters counters;
    char fault[GRADE_MESSAGE_SIZE]; /**< the message of backend_fault_message(), or "" */
    unsigned char result[GRADE_MAX_RESULT_BYTES];
};

/** How a case ended. GRADE_UNGRADED: the grader failed, or an earlier case left the device unusable. */
enum grade_result { GRADE_PASSED, GRADE_FAILED, GRADE_FAULTED, GRADE_UNGRADED };

/** A figure that a case measured and that is shown to the learner. */
struct grade_measurement {
    char name[GRADE_MEASUREMENT_NAME_SIZE];
    double value;
};

/** A case's array in device memory. */
struct grade_array {
    const char *name;
    struct device_buffer buffer;
    const void *initial_contents; /**< the contents, which a launch must not change; NULL for an output */
};

struct grade_context {
    jmp_buf failure_target; /**< the longjmp() target of a failure */
    uint64_t seed;
    struct random random;
    struct backend_info backend;
    struct grade_child_results *child_results; /**< shared with the learner's processes; NULL on a GPU */
    cudaError_t child_status;                  /**< the launch's status */
    char child_abnormal_end[192];              /**< how the process ended if not normally, or "" */
    struct run_counters
        counters; /**< counters of the launches that GRADE_LAUNCH_AND_CHECK() or a similar function waited for */
    char input_description[GRADE_INPUT_DESCRIPTION_SIZE];
    struct grade_array arrays[GRADE_MAX_ARRAYS];
    int num_arrays;
    void **host_allocations; /**< allocations of grade_allocate_host() */
    int num_host_allocations, max_host_allocations;
    struct grade_measurement measurements[GRADE_MAX_MEASUREMENTS];
    int num_measurements;
    enum grade_result result;
    char message[GRADE_MESSAGE_SIZE];
    cudaError_t failed_launch_status;
};

/** Runs a case from a clean state: sets result and message, and frees the case's arrays and memory. */
void grade_run_case(struct grade_context *grade, const struct grade_case *grade_case);

/**
 * Allocates the memory that the learner's processes share with the grader, lets the host access device memory, and
 * enables the counts by line; does nothing on a GPU. Returns false if out of memory.
 */
bool grade_prepare_for_child_processes(struct grade_context *grade);

/** Reads the counters of the launches since the last call, and resets them. */
void grade_read_and_reset_counters(struct grade_context *grade);

/** Ends the case after a launch that failed with `status`. The message is the simulator's if it has one, else
 * `text`. */
_Noreturn void grade_end_case_with_launch_failure(struct grade_context *grade, cudaError_t status, const char *text);

/** Ends the case because of a problem that is not the learner's fault. */
_Noreturn void grade_end_case_ungraded(struct grade_context *grade, const struct error *error);

#endif
