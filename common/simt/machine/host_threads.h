/**
 * @file host_threads.h
 * @brief The host's threads: one at a time is in the simulator, and one launches all kernels.
 */
#ifndef SIMT_HOST_THREADS_H
#define SIMT_HOST_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/** Lets no other thread of the host into the functions with this line until the function returns. */
#define SIMT_ONE_HOST_THREAD const int simt_entered __attribute__((cleanup(simt_host_leave))) = (simt_host_enter(), 0)

void simt_host_enter(void);
void simt_host_leave(const int *unused);

/** Ends the program, with the source line at `caller`, if another thread of the host has launched before. */
void simt_host_launches(uintptr_t caller);

/** Checks whether the thread is not the one that launches. */
bool simt_is_second_host_thread(void);

/** What the engine cannot tell from the accesses of the running lane. */
#define SIMT_BESIDE_KERNEL "runs code of a kernel file beside a kernel: let it wait, or move that code to a C file"

/** Ends the program with a line: a second thread of the host does something at `pc` that only one may do. */
_Noreturn void simt_reject_host_thread(uintptr_t pc, const char *what);

#endif
