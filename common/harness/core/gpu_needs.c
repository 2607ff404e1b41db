#include "harness/core/gpu_needs.h"

static bool has(int capability, const struct gpu_needs *needs)
{
    return needs->only ? capability == needs->capability : capability >= needs->capability;
}

static const char *or_later(const struct gpu_needs *needs)
{
    return needs->only ? " and no other" : " or later";
}

bool gpu_meets(const struct gpu *gpu, const char *name, const struct gpu_needs *needs, struct error *error)
{
    if (!needs || !needs->capability || !gpu->capability || has(gpu->capability, needs))
        return true;
    return error_set_as(error, RUN_NO_DEVICE, "this program needs compute capability %d.%d%s, for %s: %s has %d.%d",
                        needs->capability / 10, needs->capability % 10, or_later(needs), needs->what, name,
                        gpu->capability / 10, gpu->capability % 10);
}

bool build_meets(const struct gpu *gpu, const char *name, const struct gpu_needs *needs, struct error *error)
{
    if (!needs || !needs->capability || !gpu->compiled_for || has(gpu->compiled_for, needs))
        return true;
    return error_set_as(error, RUN_NO_DEVICE,
                        "this program needs sm_%d%s, for %s, and this build is for sm_%d: GPU_ARCH=sm_%d ninja gpu "
                        "builds it for %s",
                        needs->capability, or_later(needs), needs->what, gpu->compiled_for, gpu->capability, name);
}

bool gpu_has_shared_memory(const struct gpu *gpu, const char *name, size_t shared_bytes, struct error *error)
{
    error->unsupported = gpu->shared_bytes && shared_bytes > gpu->shared_bytes;
    return !error->unsupported ||
           error_set_as(error, RUN_NO_DEVICE,
                        "a problem of this size needs %zu bytes of shared memory in a thread block: %s has %zu",
                        shared_bytes, name, gpu->shared_bytes);
}
