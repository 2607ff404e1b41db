#include "harness/gate/run.h"

#include "harness/core/backend.h"
#include "harness/gate/check.h"
#include "harness/gate/problem.h"
#include "harness/core/memory.h"

#include <stdlib.h>
#include <string.h>

bool gate_output_allocate(const struct gate_problem *problem, struct gate_output *output, struct error *error)
{
    const size_t choices = gate_choices(problem);

    memset(output, 0, sizeof *output);
    if (memory_allocate((void **)&output->topk_weights, choices * sizeof(float), error) &&
        memory_allocate((void **)&output->topk_ids, choices * sizeof(int32_t), error))
        return true;
    gate_output_free(output);
    return false;
}

void gate_output_free(struct gate_output *output)
{
    free(output->topk_weights);
    free(output->topk_ids);
    memset(output, 0, sizeof *output);
}

/* --- on the device ------------------------------------------------------------------------------------------------ */

bool gate_device_start(const struct gate_problem *problem, const struct gate_input *input, struct gate_device *device,
                       struct error *error)
{
    memset(device, 0, sizeof *device);
    if (device_buffer_allocate(&device->gating_output, gate_logits_bytes(problem), error) &&
        device_buffer_allocate(&device->correction_bias, gate_bias_bytes(problem), error) &&
        device_buffer_allocate(&device->topk_weights, gate_choices(problem) * sizeof(float), error) &&
        device_buffer_allocate(&device->topk_ids, gate_choices(problem) * sizeof(int32_t), error) &&
        device_buffer_upload(&device->gating_output, input->gating_output, error) &&
        device_buffer_upload(&device->correction_bias, input->correction_bias, error))
        return true;
    gate_device_end(device);
    return false;
}

void gate_device_end(struct gate_device *device)
{
    device_buffer_free(&device->gating_output);
    device_buffer_free(&device->correction_bias);
    device_buffer_free(&device->topk_weights);
    device_buffer_free(&device->topk_ids);
}

struct gate_buffers gate_device_buffers(const struct gate_problem *problem, const struct gate_device *device)
{
    const struct gate_buffers buffers = {
        .gating_output = device->gating_output.data,
        .correction_bias = problem->has_bias ? device->correction_bias.data : NULL,
        .topk_weights = device->topk_weights.data,
        .topk_ids = device->topk_ids.data,
    };
    return buffers;
}

bool gate_device_poison(const struct gate_device *device, struct error *error)
{
    return device_buffer_fill(&device->topk_weights, DEVICE_POISON, error) &&
           device_buffer_fill(&device->topk_ids, DEVICE_POISON, error);
}

/** Everything outside the outputs is as it was. */
static bool surroundings_hold(const struct gate_input *input, const struct gate_device *device, struct error *error)
{
    return device_buffer_guards_hold(&device->gating_output, "gating_output", error) &&
           device_buffer_guards_hold(&device->correction_bias, "correction_bias", error) &&
           device_buffer_guards_hold(&device->topk_weights, "topk_weights", error) &&
           device_buffer_guards_hold(&device->topk_ids, "topk_ids", error) &&
           device_buffer_equals(&device->gating_output, input->gating_output, "gating_output", error) &&
           device_buffer_equals(&device->correction_bias, input->correction_bias, "correction_bias", error);
}

/* --- checking ----------------------------------------------------------------------------------------------------- */

static enum run_result check(const struct gate_problem *problem, const struct gate_input *input,
                             const struct gate_output *output, struct error *error)
{
    const struct gate_buffers buffers = {
        .gating_output = input->gating_output,
        .correction_bias = input->correction_bias,
        .topk_weights = output->topk_weights,
        .topk_ids = output->topk_ids,
    };
    struct gate_failure failure;

    switch (gate_check(problem, &buffers, GATE_TIES_LOWER_FIRST, &failure, error)) {
    case GATE_RIGHT:
        return RUN_VERIFIED;
    case GATE_WRONG:
        gate_failure_describe(&failure, error->text, sizeof error->text);
        return RUN_WRONG;
    default:
        return RUN_NO_DEVICE;
    }
}

enum run_result gate_device_verify(const struct gate_problem *problem, const struct gate_input *input,
                                   const struct gate_device *device, struct gate_output *output, struct error *error)
{
    if (!device_buffer_download(&device->topk_weights, output->topk_weights, error) ||
        !device_buffer_download(&device->topk_ids, output->topk_ids, error) || !surroundings_hold(input, device, error))
        return RUN_WRONG;
    return check(problem, input, output, error);
}

/* --- running ------------------------------------------------------------------------------------------------------ */

static enum run_result run_on_host(const struct gate_problem *problem, const struct gate_step *step,
                                   const struct gate_input *input, struct gate_output *output, struct error *error)
{
    const struct gate_buffers buffers = {
        .gating_output = input->gating_output,
        .correction_bias = input->correction_bias,
        .topk_weights = output->topk_weights,
        .topk_ids = output->topk_ids,
    };

    memset(output->topk_weights, DEVICE_POISON, gate_choices(problem) * sizeof(float));
    memset(output->topk_ids, DEVICE_POISON, gate_choices(problem) * sizeof(int32_t));
    if (!step->compute(problem, &buffers)) {
        error_set(error, "out of memory");
        return RUN_NO_DEVICE;
    }
    return check(problem, input, output, error);
}

static enum run_result run_on_device(const struct gate_problem *problem, const struct gate_step *step,
                                     const struct gate_input *input, struct gate_output *output, struct error *error)
{
    struct gate_device device;
    enum run_result result;

    if (!gate_device_start(problem, input, &device, error))
        return RUN_NO_DEVICE;
    if (gate_device_poison(&device, error)) {
        const struct gate_buffers buffers = gate_device_buffers(problem, &device);
        cudaError_t status;

        backend_reset_counters();
        status = step->launch(problem, &buffers, NULL);
        if (status == cudaSuccess)
            status = cudaDeviceSynchronize();
        result = status == cudaSuccess ? gate_device_verify(problem, input, &device, output, error)
                                       : run_launch_failed(status, error);
    } else {
        result = RUN_NO_DEVICE;
    }
    gate_device_end(&device);
    return result;
}

enum run_result gate_run(const struct gate_problem *problem, const struct gate_step *step,
                         const struct gate_input *input, struct gate_output *output, struct error *error)
{
    return step->launch ? run_on_device(problem, step, input, output, error)
                        : run_on_host(problem, step, input, output, error);
}
