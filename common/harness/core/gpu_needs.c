#include "harness/core/gpu_needs.h"

static bool has(int capability, const struct gpu_needs *needs)
{
    return needs->requires_exact_capability ? capability == needs->min_compute_capability
                                            : capability >= needs->min_compute_capability;
}

static const char *or_later(const struct gpu_needs *needs)
{
    return needs->requires_exact_capability ? " and no other" : " or later";
}

bool gpu_check_meets_needs(const struct gpu *gpu, const char *gpu_name, const struct gpu_needs *needs,
                           struct error *error)
{
    if (!needs || !needs->min_compute_capability || !gpu->compute_capability || has(gpu->compute_capability, needs))
        return true;
    return error_set_as(error, RUN_CANNOT_RUN, "this program needs compute capability %d.%d%s, for %s: %s has %d.%d",
                        needs->min_compute_capability / 10, needs->min_compute_capability % 10, or_later(needs),
                        needs->feature_name, gpu_name, gpu->compute_capability / 10, gpu->compute_capability % 10);
}

bool build_check_meets_needs(const struct gpu *gpu, const char *gpu_name, const struct gpu_needs *needs,
                             struct error *error)
{
    if (!needs || !needs->min_compute_capability || !gpu->compiled_architecture ||
        has(gpu->compiled_architecture, needs))
        return true;
    return error_set_as(error, RUN_CANNOT_RUN,
                        "this program needs sm_%d%s, for %s, and this build is for sm_%d: GPU_ARCH=sm_%d ninja gpu "
                        "builds it for %s",
                        needs->min_compute_capability, or_later(needs), needs->feature_name, gpu->compiled_architecture,
                        gpu->compute_capability, gpu_name);
}

bool gpu_check_has_shared_memory(const struct gpu *gpu, const char *gpu_name, size_t shared_bytes, struct error *error)
{
    error->problem_is_unsupported = gpu->max_shared_bytes && shared_bytes > gpu->max_shared_bytes;
    return !error->problem_is_unsupported ||
           error_set_as(error, RUN_CANNOT_RUN,
                        "a problem of this size needs %zu bytes of shared memory in a thread block: %s has %zu",
                        shared_bytes, gpu_name, gpu->max_shared_bytes);
}
