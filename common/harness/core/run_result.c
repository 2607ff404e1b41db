#include "harness/core/run_result.h"

#include "harness/core/backend.h"
#include "harness/core/device_buffer.h"

enum run_result run_launch_failed(cudaError_t status, struct error *error)
{
    const char *const fault = backend_fault();

    if (fault)
        error_set(error, "%s", fault);
    else
        device_error(error, "the launch failed", status);
    return status == cudaErrorNoKernelImageForDevice || status == cudaErrorMemoryAllocation ? RUN_NO_DEVICE : RUN_WRONG;
}
