/**
 * @file trace.h
 * @brief The observer that records the operations of the warps of one block, for simt_trace_end(). Used by launch.c.
 *
 * Lanes run ahead of the replay, so a value must be recorded when the lane accesses it. Therefore memory is watched
 * while the block runs, and every access takes the slow path. Programs without a trace have no such cost.
 */
#ifndef SIMT_TRACE_H
#define SIMT_TRACE_H

#include "lanes/observer.h"

extern const struct observer simt_tracing;

/**
 * Starts a launch and returns whether it is traced: the first after simt_trace_begin(), or the first of the kernel
 * given to simt_trace_only().
 */
bool simt_tracing_begin(const struct launch *launch);

#endif
