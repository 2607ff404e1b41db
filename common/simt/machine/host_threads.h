/**
 * @file host_threads.h
 * @brief Host threads: only one at a time may be inside the simulator, and one thread must launch all kernels.
 */
#ifndef SIMT_HOST_THREADS_H
#define SIMT_HOST_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/** Keeps other host threads out of all functions that use this macro until the enclosing function returns. */
#define SIMT_HOLD_HOST_LOCK \
    const int simt_entered __attribute__((cleanup(simt_host_unlock), unused)) = (simt_host_lock(), 0)

void simt_host_lock(void);
void simt_host_unlock(const int *unused);
/** Returns how many functions with SIMT_HOLD_HOST_LOCK the calling thread has entered; it must be in one of them. */
unsigned simt_host_lock_depth(void);
/** Leaves all but the outermost `outer_depth` of these functions: a kernel has called them, and a fault ended it. */
void simt_host_unlock_to_depth(unsigned outer_depth);

/** Ends the program, reporting the source line at `call_site`, if another host thread has already launched a kernel. */
void simt_check_is_only_launching_thread(uintptr_t call_site);

/** Returns whether the calling thread is not the thread that launches kernels. */
bool simt_is_non_launching_host_thread(void);

/** Message for a second host thread that executes hooks while a kernel runs: its accesses look like those of a lane. */
#define SIMT_HOST_CODE_BESIDE_KERNEL_MESSAGE \
    "runs code of a kernel file beside a kernel: let it wait, or move that code to a C file"

/** Prints that a second host thread does `action` at `pc`, which only one thread may do, and ends the program. */
_Noreturn void simt_reject_host_thread(uintptr_t pc, const char *action);

#endif
