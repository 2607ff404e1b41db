#include "harness/parallel/layer.h"

#include "base/memory.h"
#include "harness/core/backend.h"
#include "harness/core/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- stages ------------------------------------------------------------------------------------------------------- */

/**
 * Kills or hangs this rank, for tests, at the stage that EXPERT_PARALLEL_STOP names: "1:combine:die", "0:experts:hang".
 */
static void stop_if_asked(const struct rank_context *ranks)
{
    const char *const requested = getenv("EXPERT_PARALLEL_STOP");
    char own[96];

    snprintf(own, sizeof own, "%d:%s:", ranks->all_ranks.rank, ranks->current_stage_name);
    if (!requested || strncmp(requested, own, strlen(own)) != 0)
        return;
    if (strcmp(requested + strlen(own), "die") == 0)
        raise(SIGKILL);
    for (;;)
        pause();
}

bool stage_begin(struct parallel_layer *layer, const char *name, struct error *error)
{
    layer->ranks->current_stage_name = name;
    stop_if_asked(layer->ranks);
    if (!layer->can_measure_times)
        return true;
    if (!ranks_barrier_on_stream(layer->ranks, error))
        return false;

    const cudaError_t status = cudaEventRecord(layer->begin_event, layer->ranks->stream);

    return status == cudaSuccess || error_set_cuda_failure(error, name, status);
}

bool stage_end(struct parallel_layer *layer, struct layer_stage stage, struct error *error)
{
    struct layer_stage *const kept = &layer->stages[layer->num_stages++];
    cudaError_t status = layer->can_measure_times ? cudaEventRecord(layer->end_event, layer->ranks->stream)
                                                  : cudaSuccess;
    float ms = 0.0f;

    if (status == cudaSuccess)
        status = cudaStreamSynchronize(layer->ranks->stream);
    if (status == cudaSuccess && layer->can_measure_times)
        status = cudaEventElapsedTime(&ms, layer->begin_event, layer->end_event);
    memcpy(stage.times_us, kept->times_us, sizeof stage.times_us);
    stage.times_us[layer->repeat_index] = 1000.0 * ms;
    stage.name = layer->ranks->current_stage_name;
    *kept = stage;
    return status == cudaSuccess || error_set_launch_failure(status, error);
}

struct layer_stage describe_collective_stage(const char *collective_name, const struct rank_group *group,
                                             double array_bytes, double own_part_bytes)
{
    return (struct layer_stage){.performed_by = collective_name,
                                .num_ranks = group->size,
                                .array_bytes = array_bytes,
                                .bus_bandwidth_factor = (double)(group->size - 1) / group->size,
                                .received_bytes = array_bytes - own_part_bytes};
}

struct layer_stage describe_all_reduce_stage(const struct rank_group *group, double array_bytes)
{
    struct layer_stage stage = describe_collective_stage("all-reduce", group, array_bytes, array_bytes);

    stage.bus_bandwidth_factor *= 2.0;
    stage.received_bytes = stage.bus_bandwidth_factor * array_bytes;
    return stage;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static bool run_once(struct parallel_layer *layer, parallel_layer_function *run_layer, struct error *error)
{
    layer->num_stages = 0;
    return run_layer(layer, error);
}

bool parallel_layer_run_and_time(struct parallel_layer *layer, parallel_layer_function *run_layer, int num_timed_runs,
                                 struct error *error)
{
    bool good = !layer->can_measure_times ||
                (cudaEventCreate(&layer->begin_event) == cudaSuccess &&
                 cudaEventCreate(&layer->end_event) == cudaSuccess) ||
                error_set_as(error, RUN_CANNOT_RUN, "events cannot be created");

    backend_reset_counters();
    good = good && run_once(layer, run_layer, error);
    for (layer->repeat_index = 0; good && layer->can_measure_times && layer->repeat_index < num_timed_runs;
         layer->repeat_index++)
        good = run_once(layer, run_layer, error);
    for (int s = 0; good && s < layer->num_stages; s++)
        layer->stages[s].median_us = layer->can_measure_times
                                         ? timing_from_samples(layer->stages[s].times_us, num_timed_runs).median
                                         : 0.0;
    if (layer->begin_event)
        cudaEventDestroy(layer->begin_event);
    if (layer->end_event)
        cudaEventDestroy(layer->end_event);
    return good;
}

bool layer_combine_stages_of_ranks(struct parallel_layer *layer, struct error *error)
{
    const int size = layer->ranks->all_ranks.size;
    bool good = true;
    double *all;

    if (!ALLOCATE_ARRAY(all, 3 * size, error))
        return false;
    for (int s = 0; good && s < layer->num_stages; s++) {
        struct layer_stage *const stage = &layer->stages[s];
        const double own[3] = {stage->median_us, stage->array_bytes, stage->received_bytes};

        good = group_all_gather_host(&layer->ranks->all_ranks, own, sizeof own, all, error);
        stage->received_bytes = 0.0;
        for (int r = 0; good && r < size; r++) {
            stage->median_us = all[3 * r] > stage->median_us ? all[3 * r] : stage->median_us;
            stage->array_bytes = all[3 * r + 1] > stage->array_bytes ? all[3 * r + 1] : stage->array_bytes;
            stage->received_bytes += all[3 * r + 2];
        }
    }
    free(all);
    return good;
}
