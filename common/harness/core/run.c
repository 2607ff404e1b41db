#include "harness/core/run.h"

#include "harness/core/backend.h"

bool check_supported(const char *unsupported_reason, struct error *error)
{
    error->problem_is_unsupported = unsupported_reason != NULL;
    return !unsupported_reason || error_set(error, "%s", unsupported_reason);
}

bool error_set_launch_failure(cudaError_t status, struct error *error)
{
    const char *const fault = backend_fault_message();

    if (fault)
        error_set(error, "%s", fault);
    else
        error_set_cuda_failure(error, "the launch failed", status);
    error->result = status == cudaErrorNoKernelImageForDevice || status == cudaErrorMemoryAllocation ||
                            status == cudaErrorInitializationError
                        ? RUN_CANNOT_RUN
                        : RUN_WRONG;
    return false;
}

/** Launches once, with poisoned outputs; the workspace keeps its contents. */
static bool launch_once(const struct checked_launch *launch, struct tensors *tensors, struct error *error)
{
    cudaError_t status;

    if (!tensors_poison_outputs_on_device(tensors, error))
        return false;
    backend_reset_counters();
    status = launch->launch_kernels(launch, tensors, NULL);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    return status == cudaSuccess || error_set_launch_failure(status, error);
}

bool checked_launch_run(const struct checked_launch *launch, struct tensors *tensors, struct error *error)
{
    bool good = true;

    if (launch->runs_on_host) {
        tensors_poison_outputs_on_host(tensors);
        good = launch->launch_kernels(launch, tensors, NULL) == cudaSuccess ||
               error_set_as(error, RUN_CANNOT_RUN, "out of memory");
        return good && launch->verify_outputs(launch, tensors, error);
    }
    if (!tensors_allocate_and_upload(tensors, error))
        return false;
    for (int i = 0; good && i <= launch->num_launches_before_checked; i++)
        good = launch_once(launch, tensors, error);
    good = good && tensors_download_and_check(tensors, error);
    tensors_free_device(tensors);
    return good && launch->verify_outputs(launch, tensors, error);
}
