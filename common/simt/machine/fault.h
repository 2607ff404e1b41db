/**
 * @file fault.h
 * @brief Functions that record the first fault of a launch and return the line that describes it. Used by all checks.
 */
#ifndef SIMT_FAULT_H
#define SIMT_FAULT_H

#include "cuda_runtime.h"

#include <inttypes.h>

/** True once the running launch has a fault, which ends it. */
extern bool simt_faulted;

/**
 * Records a fault of the running thread at `pc` (0 if unknown) and ends the launch; does not return. `format`, a printf
 * format, describes the fault and follows "thread (x,y,z) of block (x,y,z) ".
 */
_Noreturn void simt_fault_here(cudaError_t error, uintptr_t pc, const char *fault_kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Does the same as simt_fault_here(), but reports the line of the call to the function that contains `callee_pc`. */
_Noreturn void simt_fault_at_line_of_call(uintptr_t callee_pc, const char *fault_kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Ends the running thread, at `pc`, instead of the launch; returns only if no thread runs. If a fault follows a read of
 * an unwritten value, both may result from a barrier that the thread has missed and other threads have yet to reach.
 */
extern void (*simt_fault_end_thread)(uintptr_t pc);

enum { NUM_FAULT_CALLERS = 8 };
/** Stores the return addresses of the running thread's innermost calls in progress, if a thread runs. */
extern void (*simt_fault_store_callers)(uintptr_t callers[NUM_FAULT_CALLERS]);

/** Records a stack overflow of the running thread, and ends the launch. */
_Noreturn void simt_fault_stack_overflow(uintptr_t pc);

/**
 * Records a fault of `thread` in the running block and sets simt_faulted. Used by the scheduler: unlike
 * simt_fault_here(), this function returns.
 */
void simt_fault_thread(cudaError_t error, uint3 thread, uintptr_t pc, const char *fault_kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/**
 * Records the error of a host call, such as a launch that is rejected before it begins. `format` must produce the
 * complete line of the message.
 */
void simt_fault_record_host_error(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Records the error of a runtime call that the host made at `call_site`: "FILE:LINE: NAME: ERROR: REASON". `format`
 * produces the reason.
 */
cudaError_t simt_fault_runtime_call(uintptr_t call_site, const char *name, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * Records that less address space is available than the simulator needs to reserve. Returns the error for the call that
 * needs it.
 */
cudaError_t simt_fault_no_address_space(void);

/**
 * Faults that are only suspected at first. If a race follows a read of an unwritten value, the race explains the read.
 */
enum suspicion { SUSPECT_UNWRITTEN_READ, SUSPECT_RACE };

/**
 * Records an action of the running thread as a suspected fault, unless a recorded suspicion explains it. Any other
 * fault confirms the suspected one, which is then reported instead of the other fault. simt_fault_confirm() also
 * confirms it, and returns whether there was a suspected fault.
 */
void simt_fault_suspect(enum suspicion new_suspicion, cudaError_t error, uintptr_t pc, const char *fault_kind,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
/** Returns whether a suspected fault is recorded. */
bool simt_fault_is_suspected(void);
/** Confirms the suspected fault, which then ends the launch. Returns whether there was one. */
bool simt_fault_confirm(void);
/** Drops the suspected fault if `strongest_dismissed` is its kind or explains it. */
void simt_fault_dismiss_suspected_up_to(enum suspicion strongest_dismissed);
/**
 * Drops the suspected fault if, in the source, it (or the second access of a suspected race) comes after the call that
 * returns to `call_return_pc`. That call is a barrier that some threads missed, and the suspected fault is a
 * consequence. Runs on the host's stack.
 */
void simt_fault_dismiss_if_after_call_in_source(uintptr_t call_return_pc);

/**
 * Returns whether, in the source, the call that returns to `pc` comes after the call that returns to `other_pc`.
 * Compares the outermost frames in which the two differ: the frame of `pc` must be in the same file, on a later line.
 * Runs on the host's stack.
 */
bool simt_call_is_after_in_source(uintptr_t pc, uintptr_t other_pc);

/**
 * Prints the line of the last fault once, unless the program has read it, because a program that does not call
 * simt_fault_message() can print only CUDA's description of the error. Also called at the end of the program.
 */
void simt_fault_print_if_unread(void);

/** Clears the last fault once its line has been read or shown. */
void simt_fault_clear(void);

/**
 * Adds the source locations to the line of the last fault. Runs on the host's stack, and does nothing if there was no
 * fault.
 */
void simt_fault_add_locations(void);
/** Returns the error code of the last fault, or cudaSuccess. */
cudaError_t simt_fault_error(void);

enum { NUMBER_TEXT_SIZE = 32 };
/** Formats a number with thousands separators; returns a pointer to its first digit in `text`. */
const char *simt_format_thousands_separated(uint64_t number, char text[NUMBER_TEXT_SIZE]);

/** Returns the advice for faults of a kind, or NULL if there is none. */
const char *simt_fault_advice(const char *fault_kind);

/**
 * Format of a program counter in a fault's text; simt_fault_add_locations() replaces it with ":line" or "file:line".
 */
#define SIMT_PC_LOCATION_FORMAT "\001%" PRIxPTR "\002"
/**
 * Begins the advice in a fault's text. If a fault's text has no advice, simt_fault_add_locations() adds the advice for
 * its kind.
 */
#define SIMT_ADVICE_PREFIX "; try: "
/**
 * In a fault's text: simt_fault_add_locations() keeps the text after this mark only if the last location before it is
 * the line of the fault.
 */
#define SIMT_KEEP_REST_IF_AT_FAULT_LINE_MARK "\003"

#endif
