/**
 * @file trace.h
 * @brief The observer that takes down what the warps of one block do, for simt_trace_end().
 *
 * Lanes run ahead of the replay, so a value must be taken down when the lane is there: while the block runs, memory is
 * watched, and every access goes the slow way. Programs that ask for no trace pay nothing.
 */
#ifndef SIMT_TRACE_H
#define SIMT_TRACE_H

#include "lanes/observer.h"

extern const struct observer simt_tracing;

/**
 * A launch begins. Whether it is the one to trace: the first after simt_trace_begin(), or of the kernel that it waits
 * for.
 */
bool simt_tracing_begin(const struct launch *launch);

#endif
