#include "harness/core/run.h"

#include "harness/core/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/** Returns whether a reason says what an option's value is not: "not a multiple of 64" or "more than 32;". */
static bool is_about_value(const char *reason)
{
    static const char not_a[] = "not a ", more[] = "more than ";
    const bool is_limit = strncmp(reason, more, strlen(more)) == 0;
    const char *const limit = is_limit ? reason + strlen(more) : "";

    return strncmp(reason, not_a, strlen(not_a)) == 0 || (is_limit && limit[strspn(limit, "0123456789")] == ';');
}

bool check_option_supported(const char *unsupported_reason, const struct option_value *value, struct error *error)
{
    char prefix[64];
    const size_t length = (size_t)snprintf(prefix, sizeof prefix, "--%s: ", value->flag);

    if (!unsupported_reason || strncmp(unsupported_reason, prefix, length) != 0)
        return true;
    error->problem_is_unsupported = true;
    return is_about_value(unsupported_reason + length)
               ? error_set(error, "%s%" PRId64 "%s is %s", prefix, value->value, value->origin ? value->origin : "",
                           unsupported_reason + length)
               : error_set(error, "%s", unsupported_reason);
}

bool check_supported(const char *unsupported_reason, const struct option_value *values, struct error *error)
{
    for (; values->flag; values++)
        if (!check_option_supported(unsupported_reason, values, error))
            return false;
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
    error->exit_code = status == cudaErrorNoKernelImageForDevice || status == cudaErrorMemoryAllocation ||
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
    good = good && tensors_download_and_check_guards_and_inputs(tensors, error);
    tensors_free_device(tensors);
    return good && launch->verify_outputs(launch, tensors, error);
}
