#include "harness/align/run.h"

#include "harness/align/check.h"
#include "harness/align/problem.h"
#include "harness/core/backend.h"

#include <string.h>

/* --- on the device ------------------------------------------------------------------------------------------------ */

static bool allocate(const struct align_problem *problem, const struct align_step *step, int offset, bool has_map,
                     struct align_device *device, struct error *error)
{
    const size_t map_bytes = has_map ? align_expert_map_bytes(problem) : 0;
    const size_t workspace_bytes = step->workspace_bytes ? step->workspace_bytes(problem) : 0;

    return device_buffer_allocate(&device->topk_ids, align_topk_ids_bytes(problem), error) &&
           device_buffer_allocate(&device->expert_map, map_bytes, error) &&
           device_buffer_allocate_at(&device->sorted_token_ids, offset * sizeof(int32_t),
                                     align_sorted_token_ids_bytes(problem), error) &&
           device_buffer_allocate(&device->expert_ids, align_expert_ids_bytes(problem), error) &&
           device_buffer_allocate(&device->num_tokens_post_padded, sizeof(int32_t), error) &&
           device_buffer_allocate(&device->workspace, workspace_bytes, error);
}

bool align_device_start(const struct align_problem *problem, const struct align_step *step, int offset,
                        const struct align_input *input, struct align_device *device, struct error *error)
{
    memset(device, 0, sizeof *device);
    if (allocate(problem, step, offset, input->expert_map != NULL, device, error) &&
        device_buffer_upload(&device->topk_ids, input->topk_ids, error) &&
        device_buffer_upload(&device->expert_map, input->expert_map, error))
        return true;
    align_device_end(device);
    return false;
}

void align_device_end(struct align_device *device)
{
    device_buffer_free(&device->topk_ids);
    device_buffer_free(&device->expert_map);
    device_buffer_free(&device->sorted_token_ids);
    device_buffer_free(&device->expert_ids);
    device_buffer_free(&device->num_tokens_post_padded);
    device_buffer_free(&device->workspace);
}

struct align_buffers align_device_buffers(const struct align_input *input, const struct align_device *device)
{
    const struct align_buffers buffers = {
        .topk_ids = device->topk_ids.data,
        .expert_map = input->expert_map ? device->expert_map.data : NULL,
        .sorted_token_ids = device->sorted_token_ids.data,
        .expert_ids = device->expert_ids.data,
        .num_tokens_post_padded = device->num_tokens_post_padded.data,
        .workspace = device->workspace.data,
    };
    return buffers;
}

bool align_device_poison(const struct align_device *device, struct error *error)
{
    return device_buffer_fill(&device->sorted_token_ids, ALIGN_POISON, error) &&
           device_buffer_fill(&device->expert_ids, ALIGN_POISON, error) &&
           device_buffer_fill(&device->num_tokens_post_padded, ALIGN_POISON, error) &&
           device_buffer_fill(&device->workspace, ALIGN_POISON, error);
}

/** Everything outside the outputs and the workspace is as it was. */
static bool surroundings_hold(const struct align_input *input, const struct align_device *device, struct error *error)
{
    return device_buffer_guards_hold(&device->topk_ids, "topk_ids", error) &&
           device_buffer_guards_hold(&device->expert_map, "expert_map", error) &&
           device_buffer_guards_hold(&device->sorted_token_ids, "sorted_token_ids", error) &&
           device_buffer_guards_hold(&device->expert_ids, "expert_ids", error) &&
           device_buffer_guards_hold(&device->num_tokens_post_padded, "num_tokens_post_padded", error) &&
           device_buffer_guards_hold(&device->workspace, "workspace", error) &&
           device_buffer_equals(&device->topk_ids, input->topk_ids, "topk_ids", error) &&
           device_buffer_equals(&device->expert_map, input->expert_map, "expert_map", error);
}

/* --- checking ----------------------------------------------------------------------------------------------------- */

enum run_result align_device_verify(const struct align_problem *problem, const struct align_step *step,
                                    const struct align_input *input, const struct align_device *device,
                                    const struct align_output *output, struct error *error)
{
    struct align_failure failure;

    if (!device_buffer_download(&device->sorted_token_ids, output->sorted_token_ids, error) ||
        !device_buffer_download(&device->expert_ids, output->expert_ids, error) ||
        !device_buffer_download(&device->num_tokens_post_padded, output->num_tokens_post_padded, error) ||
        !surroundings_hold(input, device, error))
        return RUN_WRONG;
    switch (align_check(problem, input, output, step->ascending, &failure, error)) {
    case ALIGN_RIGHT:
        return RUN_VERIFIED;
    case ALIGN_WRONG:
        align_failure_describe(&failure, error->text, sizeof error->text);
        return RUN_WRONG;
    default:
        return RUN_NO_DEVICE;
    }
}

/* --- running ------------------------------------------------------------------------------------------------------ */

static enum run_result launch(const struct align_problem *problem, const struct align_step *step,
                              const struct align_input *input, const struct align_device *device, struct error *error)
{
    const struct align_buffers buffers = align_device_buffers(input, device);
    cudaError_t status;

    if (!align_device_poison(device, error))
        return RUN_NO_DEVICE;
    backend_reset_counters();
    status = step->launch(problem, &buffers, NULL);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    return status == cudaSuccess ? RUN_READY : run_launch_failed(status, error);
}

enum run_result align_run(const struct align_problem *problem, const struct align_step *step, int offset,
                          const struct align_input *input, const struct align_output *output, struct error *error)
{
    struct align_device device;
    enum run_result result;

    if (!align_device_start(problem, step, offset, input, &device, error))
        return RUN_NO_DEVICE;
    result = launch(problem, step, input, &device, error);
    if (result == RUN_READY)
        result = align_device_verify(problem, step, input, &device, output, error);
    align_device_end(&device);
    return result;
}
