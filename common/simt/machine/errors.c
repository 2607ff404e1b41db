/** @file errors.c  Stores the runtime's last error, and maps errors to CUDA's names and descriptions. */
#include "errors.h"

#include "source_lines.h"

#include <stdio.h>

static cudaError_t last_error;
static cudaError_t error_blocking_launches;
bool simt_program_has_noticed_error;

/** Records that the program gets or uses an error. */
static cudaError_t noticed(cudaError_t error)
{
    simt_program_has_noticed_error |= error != cudaSuccess;
    return error;
}

cudaError_t simt_set_last_error(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

/** The first failed call since the program last read an error; `name` is NULL if there is none. */
static struct failed_call {
    const char *name;
    cudaError_t error;
    uintptr_t call_site;
} unread;

cudaError_t simt_record_failed_call(const char *name, cudaError_t error, uintptr_t call_site)
{
    if (!unread.name)
        unread = (struct failed_call){name, error, call_site};
    return simt_set_last_error(error);
}

void simt_print_unread_failure(void)
{
    char location[LOCATION_TEXT_SIZE];

    if (!unread.name)
        return;
    fflush(stdout);
    simt_format_source_line(unread.call_site, location);
    fprintf(stderr, "%s: %s: %s\n", location, unread.name, cudaGetErrorString(unread.error));
}

cudaError_t simt_set_error_blocking_launches(cudaError_t error)
{
    error_blocking_launches = error;
    return simt_set_last_error(error);
}

cudaError_t simt_peek_error_blocking_launches(void)
{
    return error_blocking_launches;
}

/**
 * Returns the last error and resets it. This also makes the device usable again, which on a GPU requires a new process.
 */
cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;

    last_error = error_blocking_launches = cudaSuccess;
    unread.name = NULL;
    return noticed(error);
}

cudaError_t simt_peek_last_error_unnoticed(void)
{
    return last_error;
}

cudaError_t cudaPeekAtLastError(void)
{
    unread.name = NULL;
    return noticed(last_error);
}

/** CUDA's name and description of an error. */
struct error_phrase {
    cudaError_t error;
    const char *name;
    const char *text;
};

#define NAMED(error) error, #error

static const struct error_phrase errors[] = {
    {NAMED(cudaSuccess), "no error"},
    {NAMED(cudaErrorInvalidValue), "invalid argument"},
    {NAMED(cudaErrorMemoryAllocation), "out of memory"},
    {NAMED(cudaErrorInitializationError), "initialization error"},
    {NAMED(cudaErrorInvalidConfiguration), "invalid configuration argument"},
    {NAMED(cudaErrorInvalidPitchValue), "invalid pitch argument"},
    {NAMED(cudaErrorInvalidSymbol), "invalid device symbol"},
    {NAMED(cudaErrorInvalidDevicePointer), "invalid device pointer"},
    {NAMED(cudaErrorInvalidMemcpyDirection), "invalid copy direction for memcpy"},
    {NAMED(cudaErrorInvalidDeviceFunction), "invalid device function"},
    {NAMED(cudaErrorNoDevice), "no CUDA-capable device is detected"},
    {NAMED(cudaErrorInvalidDevice), "invalid device ordinal"},
    {NAMED(cudaErrorInvalidResourceHandle), "invalid resource handle"},
    {NAMED(cudaErrorIllegalState), "the operation cannot be performed in the present state"},
    {NAMED(cudaErrorNotReady), "device not ready"},
    {NAMED(cudaErrorIllegalAddress), "an illegal memory access was encountered"},
    {NAMED(cudaErrorLaunchOutOfResources), "too many resources requested for launch"},
    {NAMED(cudaErrorLaunchTimeout), "the launch timed out and was terminated"},
    {NAMED(cudaErrorAssert), "device-side assert triggered"},
    {NAMED(cudaErrorMisalignedAddress), "misaligned address"},
    {NAMED(cudaErrorNoKernelImageForDevice), "no kernel image is available for execution on the device"},
    {NAMED(cudaErrorUnsupportedLimit), "limit is not supported on this architecture"},
    {NAMED(cudaErrorLaunchFailure), "unspecified launch failure"},
    {NAMED(cudaErrorCooperativeLaunchTooLarge), "too many blocks in cooperative launch"},
    {NAMED(cudaErrorNotSupported), "operation not supported"},
    {NAMED(cudaErrorPeerAccessUnsupported), "peer access is not supported between these two devices"},
    {NAMED(cudaErrorHostMemoryAlreadyRegistered), "part or all of the requested memory range is already mapped"},
    {NAMED(cudaErrorHostMemoryNotRegistered), "pointer does not correspond to a registered memory region"},
    {NAMED(cudaErrorNotPermitted), "operation not permitted"},
    {NAMED(cudaErrorStreamCaptureUnsupported), "operation not permitted when stream is capturing"},
    {NAMED(cudaErrorStreamCaptureInvalidated), "operation failed due to a previous error during capture"},
    {NAMED(cudaErrorStreamCaptureUnmatched), "capture was not ended in the same stream as it began"},
    {NAMED(cudaErrorStreamCaptureUnjoined), "capturing stream has unjoined work"},
    {NAMED(cudaErrorStreamCaptureIsolation), "dependency created on uncaptured work in another stream"},
    {NAMED(cudaErrorStreamCaptureImplicit),
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {NAMED(cudaErrorCapturedEvent), "operation not permitted on an event last recorded in a capturing stream"},
    {NAMED(cudaErrorUnknown), "unknown error"},
};

static struct error_phrase words_of(cudaError_t error)
{
    static const char unknown[] = "unrecognized error code";

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].error == error)
            return errors[i];
    }
    return (struct error_phrase){error, unknown, unknown};
}

const char *cudaGetErrorName(cudaError_t error)
{
    return words_of(noticed(error)).name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return words_of(noticed(error)).text;
}
