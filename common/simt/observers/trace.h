/**
 * @file trace.h
 * @brief The observer that records the operations of one block's warps, which simt_trace_end() writes to a file. Used
 *        by launch.c.
 *
 * Lanes run ahead of the replay, so a value must be recorded when the lane accesses it. Therefore memory is watched
 * while the block runs, and every access takes the slow path. Programs that do not trace do not pay this cost.
 */
#ifndef SIMT_TRACE_H
#define SIMT_TRACE_H

#include "lanes/observer.h"

extern const struct observer simt_tracing_observer;

/**
 * Begins the trace if the launch that is about to start is to be traced, and returns whether it is. The traced launch
 * is the first one after simt_trace_begin() or, after simt_trace_restrict_to_kernel(), the first one of the given
 * kernel.
 */
bool simt_trace_start_if_requested(const struct launch *launch);

#endif
