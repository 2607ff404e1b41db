/** @file grade_state.h  What a case that runs has made and found. For grade's own files. */
#ifndef GRADE_STATE_H
#define GRADE_STATE_H

#include "grade.h"
#include "harness/core/backend.h"
#include "harness/core/device_buffer.h"

#include <setjmp.h>

enum { GRADE_MAX_ARRAYS = 32, GRADE_MESSAGE_SIZE = 900, GRADE_GIVEN_SIZE = 240 };
enum { GRADE_MAX_FIGURES = 64, GRADE_FIGURE_NAME_SIZE = 64 };

/** What comes back from the learner's process. */
struct grade_apart {
    bool ended; /**< it came to its end */
    cudaError_t status;
    struct run_counters counters;
    char fault[GRADE_MESSAGE_SIZE]; /**< backend_fault()'s line, or "" */
    unsigned char result[GRADE_ASKED_BYTES];
};

/** How a case ended. GRADE_NOT_TRIED: it was left out, since an earlier one left no device to try it on. */
enum grade_result { GRADE_PASSED, GRADE_FAILED, GRADE_FAULTED, GRADE_NOT_TRIED };

/** What a case measured, for the learner to see. */
struct grade_figure {
    char name[GRADE_FIGURE_NAME_SIZE];
    double value;
};

/** Device memory that a case made. */
struct grade_array {
    const char *name;
    struct device_buffer buffer;
    const void *input; /**< what it must still hold after a launch; NULL for an output */
};

struct grade {
    jmp_buf end; /**< where a case that fails goes */
    uint64_t seed;
    struct random random;
    struct backend backend;
    struct grade_apart *apart;    /**< shared with the learner's processes; NULL: there are none, on a GPU */
    cudaError_t apart_status;     /**< of the launch, as grade_apart_begins() and grade_apart_ends() found it */
    char apart_death[120];        /**< how a process ended that did not come to its end, or "" */
    struct run_counters counters; /**< of the last launches that grade_ran() or its like waited for */
    char given[GRADE_GIVEN_SIZE];
    struct grade_array arrays[GRADE_MAX_ARRAYS];
    int num_arrays;
    void **memory; /**< of grade_host() */
    int num_memory, most_memory;
    struct grade_figure figures[GRADE_MAX_FIGURES];
    int num_figures;
    enum grade_result result;
    char message[GRADE_MESSAGE_SIZE];
    cudaError_t status; /**< of the launch that failed */
};

/** Runs a case from a clean start: sets result and message, and frees all that it made. */
void grade_try(struct grade *grade, const struct grade_case *grade_case);

/** Opens what the learner's processes and this one share, if there are to be such processes. False: no memory. */
bool grade_apart_open(struct grade *grade);

/** Reads the counters of what was launched since the last time, and starts anew. */
void grade_count(struct grade *grade);

/** Ends the case because of a launch that failed with `status`: with what the simulator said of it, else `text`. */
_Noreturn void grade_fault(struct grade *grade, cudaError_t status, const char *text);

/** Ends the case for a reason that is not the learner's. */
_Noreturn void grade_give_up(struct grade *grade, const struct error *error);

#endif
