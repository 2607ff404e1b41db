/**
 * @file fault.h
 * @brief The first fault of a launch: the functions that record it, and the line that describes it. Used by all checks.
 */
#ifndef SIMT_FAULT_H
#define SIMT_FAULT_H

#include "cuda_runtime.h"

#include <inttypes.h>

/** True once the running launch has a fault, which ends it. */
extern bool simt_faulted;

/**
 * Records a fault of the running thread at `pc` (0: unknown) and ends the launch; does not return. `format` describes
 * the fault after "thread (x,y,z) of block (x,y,z) "; "%" directives as in printf.
 */
_Noreturn void simt_fault_here(cudaError_t error, uintptr_t pc, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Records that the running thread's frames reach below its stack, and ends the launch. */
/** Does the same for the call of the function that `pc` is in. */
_Noreturn void simt_fault_of_call(uintptr_t pc, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum { FAULT_CALLERS = 8 };
/** Stores where the innermost calls in progress of the running thread return to, if there is one. */
extern void (*simt_fault_callers)(uintptr_t callers[FAULT_CALLERS]);
_Noreturn void simt_fault_stack(uintptr_t pc);

/**
 * Records a fault of a `thread` of the running block, for the scheduler: like simt_fault_here, but returns. Sets
 * simt_faulted.
 */
void simt_fault_thread(cudaError_t error, uint3 thread, uintptr_t pc, const char *kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Records the error of a host call, such as a launch that is rejected before it begins. `format` is the whole line. */
void simt_fault_launch(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Records the error of a call of the runtime that the host made at `caller`: "FILE:LINE: NAME: ERROR: REASON". `format`
 * is the reason.
 */
cudaError_t simt_fault_call(uintptr_t caller, const char *name, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * Records that there is less address space than the simulator reserves. Returns the error for the call that needs it.
 */
cudaError_t simt_fault_no_address_space(void);

/** Faults that are only suspected at first. A race explains a read of an unwritten value before it. */
enum suspicion { SUSPECT_UNWRITTEN, SUSPECT_RACE };

/**
 * Records what the running thread did as a suspected fault, unless one is recorded that explains it. Any other fault
 * confirms the suspicion, which is then reported instead; so does simt_fault_confirm(), which returns whether there was
 * one.
 */
void simt_fault_suspect(enum suspicion what, cudaError_t error, uintptr_t pc, const char *kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool simt_fault_suspected(void);
bool simt_fault_confirm(void);
/** Drops the suspected fault if it is of this kind or is explained by this kind. */
void simt_fault_dismiss(enum suspicion what);
/**
 * Forgets the suspected fault if it, or the second side of a race, comes after the call that returns to `pc` in the
 * source: some threads missed that barrier, and the rest follows from it. Runs on the host's stack.
 */
void simt_fault_dismiss_after(uintptr_t pc);

/**
 * Checks whether a call comes after another in the source: of the outermost calls around them that differ, its own has
 * the larger line of the same file. Runs on the host's stack.
 */
bool simt_is_behind(uintptr_t pc, uintptr_t other_pc);

/**
 * Prints the line of the last fault, once, unless the program has asked for it; CUDA's own text for the error is all
 * that a program without simt_fault() can print. Also called at the end of the program.
 */
void simt_fault_show(void);

/** Forgets the last fault, once its line has been read or shown. */
void simt_fault_clear(void);

/**
 * Completes the line of the last fault on the host's stack, with its source locations. Does nothing if there was none.
 */
void simt_fault_resolve(void);
cudaError_t simt_fault_error(void);

/** Returns what to try against faults of a kind, or NULL. */
const char *simt_fault_advice(const char *kind);

/** Format of a source location in a fault's text; simt_fault_resolve() replaces it by ":line" or "file:line". */
#define SIMT_LOCATION "\001%" PRIxPTR "\002"
/** In a fault's text: what follows says what to try. Without it, simt_fault_resolve() adds the advice for the kind. */
#define SIMT_TRY "; try: "
/** In a fault's text: the rest is kept only if the last location before it is the line of the fault itself. */
#define SIMT_IF_SAME_LINE "\003"

#endif
