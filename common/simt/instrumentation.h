/** @file instrumentation.h  What the compiler does not instrument itself and our device functions do. */
#ifndef SIMT_INSTRUMENTATION_H
#define SIMT_INSTRUMENTATION_H

#include "lanes.h"

/** The running lane is about to do an atomic: checks and records it. Outside kernels it does nothing. */
void simt_access_atomic(const void *pointer, unsigned bytes, uintptr_t pc);

#endif
