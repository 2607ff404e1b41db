#include "harness/core/run.h"

#include "harness/core/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool check_supported(const char *unsupported_reason, struct error *error)
{
    error->problem_is_unsupported = unsupported_reason != NULL;
    return !unsupported_reason || error_set(error, "%s", unsupported_reason);
}

bool check_supported_number(const char *unsupported_reason, const char *flag, int64_t value, struct error *error)
{
    static const char multiple[] = "not a multiple of ", more[] = "more than ";
    char prefix[64];
    const size_t length = (size_t)snprintf(prefix, sizeof prefix, "--%s: ", flag);

    if (!unsupported_reason || strncmp(unsupported_reason, prefix, length) != 0)
        return true;
    const char *const what = unsupported_reason + length;
    const size_t words = strncmp(what, multiple, strlen(multiple)) == 0 ? strlen(multiple)
                         : strncmp(what, more, strlen(more)) == 0       ? strlen(more)
                                                                        : 0;

    if (words == 0 || what[words + strspn(what + words, "0123456789")] != ';')
        return check_supported(unsupported_reason, error);
    error->problem_is_unsupported = true;
    return error_set(error, "%s%" PRId64 " is %s", prefix, value, what);
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
