#include "paths.h"

#include "base/memory.h"
#include "harness/align/align.h"
#include "harness/core/backend.h"
#include "harness/moe/problem.h"
#include "parallel.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- stages ------------------------------------------------------------------------------------------------------- */

/** For tests: this rank dies or hangs here, if EXPERT_PARALLEL_STOP says so: "1:combine:die", "0:experts:hang". */
static void stop_if_asked(const struct ranks *ranks)
{
    const char *const asked = getenv("EXPERT_PARALLEL_STOP");
    char own[96];

    snprintf(own, sizeof own, "%d:%s:", ranks->all.rank, ranks->stage);
    if (!asked || strncmp(asked, own, strlen(own)) != 0)
        return;
    if (strcmp(asked + strlen(own), "die") == 0)
        raise(SIGKILL);
    for (;;)
        pause();
}

/** Begins a stage; its time begins when all ranks have come. */
static bool begin_stage(struct parallel_layer *layer, const char *name, struct error *error)
{
    layer->ranks->stage = name;
    stop_if_asked(layer->ranks);
    if (!layer->has_times)
        return true;
    if (!ranks_line_up(layer->ranks, error))
        return false;

    const cudaError_t status = cudaEventRecord(layer->begin, layer->ranks->stream);

    return status == cudaSuccess || device_error(error, name, status);
}

/** Ends it: waits until the device is done, and keeps what it was and its time. */
static bool end_stage(struct parallel_layer *layer, struct stage stage, struct error *error)
{
    struct stage *const kept = &layer->stages[layer->num_stages++];
    cudaError_t status = layer->has_times ? cudaEventRecord(layer->end, layer->ranks->stream) : cudaSuccess;
    float ms = 0.0f;

    if (status == cudaSuccess)
        status = cudaStreamSynchronize(layer->ranks->stream);
    if (status == cudaSuccess && layer->has_times)
        status = cudaEventElapsedTime(&ms, layer->begin, layer->end);
    memcpy(stage.times, kept->times, sizeof stage.times);
    stage.times[layer->repeat] = 1000.0 * ms;
    stage.name = layer->ranks->stage;
    *kept = stage;
    return status == cudaSuccess || launch_failed(status, error);
}

/** The stage that a collective was: of `bytes` in all, of which this rank had `own`. */
static struct stage moved(const char *by, const struct group *group, double bytes, double own)
{
    return (struct stage){.by = by,
                          .ranks = group->size,
                          .bytes = bytes,
                          .factor = (double)(group->size - 1) / group->size,
                          .received = bytes - own};
}

/** An all-reduce: every rank must send, and receive, all but its share twice: once to be added, once the sums. */
static struct stage reduced(const struct group *group, double bytes)
{
    struct stage stage = moved("all-reduce", group, bytes, bytes);

    stage.factor *= 2.0;
    stage.received = stage.factor * bytes;
    return stage;
}

static void *data(const struct parallel_layer *layer, int array)
{
    return operand_data(layer->arrays, array, OPERAND_DEVICE);
}

/* --- on the device ------------------------------------------------------------------------------------------------ */

static bool launched(cudaError_t status, struct error *error)
{
    return status == cudaSuccess || launch_failed(status, error);
}

// [compute]
/** The experts of this rank on the tokens that have come, as on one device, and the sum of what they have made. */
static bool compute(struct parallel_layer *layer, int64_t num_tokens, struct error *error)
{
    struct moe_problem problem = *layer->problem;
    struct align_problem align;

    problem.num_tokens = num_tokens;
    align = moe_align_problem(&problem);
    align.capacity = problem.capacity = align_capacity_of_few(&align);

    const struct align_buffers lists = {data(layer, IDS),        data(layer, EXPERT_MAP), data(layer, SORTED),
                                        data(layer, EXPERT_IDS), data(layer, NUM_PADDED), data(layer, ALIGN_WORKSPACE)};
    const struct moe_buffers buffers = {data(layer, HIDDEN),     data(layer, W13),          data(layer, W2),
                                        data(layer, WEIGHTS),    data(layer, SORTED),       data(layer, EXPERT_IDS),
                                        data(layer, NUM_PADDED), data(layer, INTERMEDIATE), data(layer, PARTIAL),
                                        data(layer, OUTPUT)};
    const cudaStream_t stream = layer->ranks->stream;

    return begin_stage(layer, "align", error) &&
           launched(num_tokens > 0 ? align_launch(&align, &lists, stream) : cudaSuccess, error) &&
           end_stage(layer, (struct stage){.by = "10_align_parallel_fill"}, error) &&
           begin_stage(layer, "experts", error) &&
           launched(num_tokens > 0 ? layer->experts.launch(&problem, &buffers, stream) : cudaSuccess, error) &&
           end_stage(layer, (struct stage){.by = layer->experts.name}, error) && begin_stage(layer, "sum", error) &&
           launched(sum_partial_launch(&problem, data(layer, PARTIAL), data(layer, SUMS), stream), error) &&
           end_stage(layer, (struct stage){.by = "parallel.cu"}, error);
}
// [compute]

/* --- the source's path -------------------------------------------------------------------------------------------- */

/** Every rank of the DP group gets the rows that each has of an array; bytes for one token's row. */
static bool gather_tokens(struct parallel_layer *layer, int own, int all, size_t row, struct error *error)
{
    const int64_t *const cu_tokens = layer->split->cu_tokens;
    int64_t *bytes;
    bool good = ALLOCATE_ARRAY(bytes, layer->dp.size, error);

    for (int d = 0; good && d < layer->dp.size; d++)
        bytes[d] = (cu_tokens[d + 1] - cu_tokens[d]) * (int64_t)row;
    good = good && group_all_gather(&layer->dp, data(layer, own), bytes, data(layer, all), error);
    free(bytes);
    return good;
}

// [run_broadcast]
bool run_broadcast(struct parallel_layer *layer, struct error *error)
{
    const struct split *const split = layer->split;
    const struct moe_problem *const problem = layer->problem;
    const size_t h = (size_t)problem->hidden_size, topk = (size_t)problem->topk;
    const size_t row = h * dtype_size(problem->dtype), choice = topk * (sizeof(int32_t) + sizeof(float));
    const int64_t n = problem->num_tokens, own = split->own_end - split->own_begin;
    float *const sums = data(layer, SUMS), *const own_sums = sums + (size_t)split->own_begin * h;

    layer->num_stages = 0;
    return begin_stage(layer, "broadcast", error) && gather_tokens(layer, OWN_HIDDEN, HIDDEN, row, error) &&
           gather_tokens(layer, SENT_IDS, IDS, topk * sizeof(int32_t), error) &&
           gather_tokens(layer, SENT_WEIGHTS, WEIGHTS, topk * sizeof(float), error) &&
           end_stage(layer, moved("all-gather", &layer->dp, (double)n * (row + choice), (double)own * (row + choice)),
                     error) &&
           compute(layer, n, error) && begin_stage(layer, "reduce DP", error) &&
           group_all_reduce(&layer->dp, sums, n * (int64_t)h, error) &&
           end_stage(layer, reduced(&layer->dp, (double)n * h * sizeof(float)), error) &&
           begin_stage(layer, "reduce TP", error) && group_all_reduce(&layer->tp, own_sums, own * (int64_t)h, error) &&
           end_stage(layer, reduced(&layer->tp, (double)own * h * sizeof(float)), error) &&
           begin_stage(layer, "round", error) &&
           launched(add_rows_launch(problem, own_sums, NULL, 1, own, data(layer, RESULT), layer->ranks->stream),
                    error) &&
           end_stage(layer, (struct stage){.by = "parallel.cu"}, error);
}
// [run_broadcast]

/* --- the path of routed tokens ------------------------------------------------------------------------------------ */

/** Fills received_of, and the sum of it: the rows that every other rank sends to this one. */
static bool exchange_counts(struct parallel_layer *layer, int64_t *received, struct error *error)
{
    const int size = layer->split->num_ranks;
    int64_t *all;
    bool good = ALLOCATE_ARRAY(all, size * size, error) &&
                group_share(&layer->ranks->all, layer->lists->sent_to, (size_t)size * sizeof *all, all, error);

    *received = 0;
    for (int r = 0; good && r < size; r++)
        *received += layer->lists->received_of[r] = all[r * size + layer->split->rank];
    free(all);
    return good;
}

/** Rows of an array go to the ranks that have experts of them, or, `back`, the other way; bytes for a row. */
static bool exchange_rows(struct parallel_layer *layer, int from, int to, size_t row, bool back, struct error *error)
{
    const int size = layer->split->num_ranks;
    const int64_t *const sent = back ? layer->lists->received_of : layer->lists->sent_to;
    const int64_t *const received = back ? layer->lists->sent_to : layer->lists->received_of;
    int64_t *bytes;
    bool good = ALLOCATE_ARRAY(bytes, 2 * size, error);

    for (int r = 0; good && r < size; r++) {
        bytes[r] = sent[r] * (int64_t)row;
        bytes[size + r] = received[r] * (int64_t)row;
    }
    good = good && group_all_to_all(&layer->ranks->all, data(layer, from), bytes, data(layer, to), bytes + size, error);
    free(bytes);
    return good;
}

/** The stage that an exchange was, of which nccl-tests counts what a rank sends, or receives, itself included. */
static struct stage exchanged(const struct parallel_layer *layer, int64_t sent, int64_t received, bool back, size_t row)
{
    const int64_t own = layer->lists->sent_to[layer->split->rank], most = sent > received ? sent : received;
    struct stage stage = moved("all-to-all", &layer->ranks->all, (double)most * row, 0.0);

    stage.received = (double)((back ? sent : received) - own) * row;
    return stage;
}

/** The TP ranks have a share of the DP rank's tokens each; afterwards each has all of them. */
static bool gather_shares(struct parallel_layer *layer, size_t row, struct error *error)
{
    const struct split *const split = layer->split;
    const int first = split->rank / split->tp * split->tp;
    int64_t *bytes;
    bool good = ALLOCATE_ARRAY(bytes, split->tp, error);

    for (int t = 0; good && t < split->tp; t++) {
        const int64_t end = t + 1 < split->tp ? split_first_token(split, first + t + 1)
                                              : split->cu_tokens[first / split->tp + 1];

        bytes[t] = (end - split_first_token(split, first + t)) * (int64_t)row;
    }
    good = good && group_all_gather(&layer->tp, data(layer, OWN_RESULT), bytes, data(layer, RESULT), error);
    free(bytes);
    return good;
}

// [run_all_to_all]
bool run_all_to_all(struct parallel_layer *layer, struct error *error)
{
    const struct split *const split = layer->split;
    const struct moe_problem *const problem = layer->problem;
    const size_t h = (size_t)problem->hidden_size, topk = (size_t)problem->topk;
    const size_t row = h * dtype_size(problem->dtype), sum_row = h * sizeof(float);
    const int64_t own = split->own_end - split->own_begin, sent = layer->lists->sent;
    const int64_t *const cu_tokens = split->cu_tokens + split->rank / split->tp;
    const double dp_rows = (double)(cu_tokens[1] - cu_tokens[0]) * row;
    int64_t received;

    layer->num_stages = 0;
    return begin_stage(layer, "dispatch", error) &&
           launched(gather_rows_launch(problem, data(layer, OWN_HIDDEN), data(layer, SENT_ROWS), sent,
                                       data(layer, SENT_HIDDEN), layer->ranks->stream),
                    error) &&
           exchange_counts(layer, &received, error) && exchange_rows(layer, SENT_HIDDEN, HIDDEN, row, false, error) &&
           exchange_rows(layer, SENT_IDS, IDS, topk * sizeof(int32_t), false, error) &&
           exchange_rows(layer, SENT_WEIGHTS, WEIGHTS, topk * sizeof(float), false, error) &&
           end_stage(layer, exchanged(layer, sent, received, false, row + topk * (sizeof(int32_t) + sizeof(float))),
                     error) &&
           compute(layer, received, error) && begin_stage(layer, "combine", error) &&
           exchange_rows(layer, SUMS, SENT_SUMS, sum_row, true, error) &&
           end_stage(layer, exchanged(layer, sent, received, true, sum_row), error) &&
           begin_stage(layer, "add", error) &&
           launched(add_rows_launch(problem, data(layer, SENT_SUMS), data(layer, SUM_PLACES), split->num_ranks, own,
                                    data(layer, OWN_RESULT), layer->ranks->stream),
                    error) &&
           end_stage(layer, (struct stage){.by = "parallel.cu"}, error) && begin_stage(layer, "gather TP", error) &&
           gather_shares(layer, row, error) &&
           end_stage(layer, moved("all-gather", &layer->tp, dp_rows, (double)own * row), error);
}
// [run_all_to_all]
