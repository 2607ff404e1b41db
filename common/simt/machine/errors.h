/**
 * @file errors.h
 * @brief The errors that the host program can read: the last one, and a sticky one, which stays until it is read. Used
 *        by the runtime API.
 */
#ifndef SIMT_ERRORS_H
#define SIMT_ERRORS_H

#include "cuda_runtime.h"

/** Makes `error` the next result of cudaGetLastError(), and returns `error`; cudaSuccess changes nothing. */
cudaError_t simt_set_error(cudaError_t error);
/** Does the same as simt_set_error(); in addition, launches and other calls fail until the error is read. */
cudaError_t simt_set_sticky_error(cudaError_t error);
/** Returns the error that keeps launches from running until it is read, or cudaSuccess. */
cudaError_t simt_sticky_error(void);

#endif
