/**
 * @file errors.h
 * @brief The errors that the host program can read: the last error, and an error that blocks launches until it is
 *        read. Used by the runtime API.
 */
#ifndef SIMT_ERRORS_H
#define SIMT_ERRORS_H

#include "cuda_runtime.h"
#include "device_limits.h"

/** Makes `error` the next result of cudaGetLastError(), and returns `error`; cudaSuccess changes nothing. */
cudaError_t simt_set_last_error(cudaError_t error);
/**
 * Sets the last error, as simt_set_last_error() does, for a failure of the runtime function `name`, which the program
 * called at `call_site`. If the program does not read the error, a message with the source line of the call is printed
 * when the program ends.
 */
cudaError_t simt_record_failed_call(const char *name, cudaError_t error, uintptr_t call_site);
/** Prints the message about a call whose error the program has not read. */
void simt_print_unread_failure(void);
/** Calls simt_record_failed_call() for an error of the enclosing runtime function. */
#define SIMT_RECORD_FAILURE(error) simt_record_failed_call(__func__, error, SIMT_RETURN_ADDRESS())
/** Does the same as simt_set_last_error(), and makes launches and other calls fail until the error is read. */
cudaError_t simt_set_error_blocking_launches(cudaError_t error);
/** Returns the last error, as cudaPeekAtLastError() does, but does not count as a read by the program. */
cudaError_t simt_peek_last_error_unnoticed(void);
/** Returns the error that prevents launches until it is read, or cudaSuccess. */
cudaError_t simt_peek_error_blocking_launches(void);

/**
 * Whether the program has noticed an error since the last fault: it has called cudaGetLastError() or
 * cudaPeekAtLastError(), or asked for an error's name or description.
 */
extern bool simt_program_has_noticed_error;

#endif
