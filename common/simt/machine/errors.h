/** @file errors.h  The error that the host program is told of: the last one, and one that stays until it is read. */
#ifndef SIMT_ERRORS_H
#define SIMT_ERRORS_H

#include "cuda_runtime.h"

/** Makes `error` what cudaGetLastError() returns next; cudaSuccess changes nothing. Returns it. */
cudaError_t simt_set_error(cudaError_t error);
/** As simt_set_error(), and nothing works until it is read. */
cudaError_t simt_set_sticky_error(cudaError_t error);
/** The error that keeps launches from running until it is read, or cudaSuccess. */
cudaError_t simt_sticky_error(void);

#endif
