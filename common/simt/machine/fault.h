/** @file fault.h  The first thing that a launch does wrong: who notes it, and the line that comes of it. */
#ifndef SIMT_FAULT_H
#define SIMT_FAULT_H

#include "cuda_runtime.h"

#include <inttypes.h>

/** The running launch has done something wrong and is at its end. */
extern bool simt_faulted;

/**
 * The running thread did something wrong at `pc` (0: unknown). Writes the line, ends the launch, does not return.
 * `format` describes it after "thread (x,y,z) of block (x,y,z) "; "%" directives as in printf.
 */
_Noreturn void simt_fault_here(cudaError_t error, uintptr_t pc, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** The running thread's frames reach below its stack. */
_Noreturn void simt_fault_stack(uintptr_t pc);

/** As simt_fault_here, for the scheduler: names a `thread` of the running block, returns, and simt_faulted is set. */
void simt_fault_thread(cudaError_t error, uint3 thread, uintptr_t pc, const char *kind, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** A launch that was refused before it began. */
void simt_fault_launch(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * There is less address space than the simulator reserves: says so, and returns what the call that needs it returns.
 */
cudaError_t simt_fault_no_room(void);

/**
 * What the running thread did may turn out to be wrong: noted if it is the first. Any other fault that is found makes
 * it one, which is reported instead; so does simt_fault_confirm(), which returns whether there was any to report.
 */
void simt_fault_suspect(cudaError_t error, uintptr_t pc, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool simt_fault_suspected(void);
bool simt_fault_confirm(void);
void simt_fault_dismiss(void);

/** Forgets the last fault's line. */
void simt_fault_clear(void);

/** Finishes the line of the last fault on the host's stack: resolves places. Does nothing when there was none. */
void simt_fault_resolve(void);
cudaError_t simt_fault_error(void);

/** Marks a place in a fault's text that simt_fault_resolve() replaces by ":line" or "file:line". */
#define SIMT_PLACE "\001%" PRIxPTR "\002"

#endif
