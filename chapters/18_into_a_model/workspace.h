/** @file workspace.h  Chapter 18: the memory through which the blocks of a launch synchronise. */
#ifndef MOE_ROUTING_WORKSPACE_H
#define MOE_ROUTING_WORKSPACE_H

#include <cuda_runtime.h>
#include <stddef.h>

/** Bytes of a workspace that hold the layer's counters, enough for 16,380 blocks of rows. */
enum { LAYER_COUNTER_BYTES = 1 << 16 };

/**
 * Finds the workspace of a stream of the current device, or of the capture that the stream is in: LAYER_COUNTER_BYTES
 * of counters, then the workspaces of chapters 15 and 14b for this number of experts. In a capture, if no workspace
 * is left, returns cudaErrorStreamCaptureUnsupported. */
cudaError_t workspace_find_or_allocate(cudaStream_t stream, int device, int num_experts, char **memory);

#endif
