#include "token_paths.h"

#include "base/memory.h"
#include "harness/align/align.h"
#include "harness/moe/problem.h"
#include "parallel.h"

#include <stdlib.h>

/* --- on the device ------------------------------------------------------------------------------------------------ */

/** Returns the device address of one of this rank's arrays. */
static void *data(const struct parallel_layer *layer, int array)
{
    return tensor_data(layer->arrays, array, TENSOR_ON_DEVICE);
}

static bool launched(cudaError_t status, struct error *error)
{
    return status == cudaSuccess || error_set_launch_failure(status, error);
}

// [compute]
/** Runs align and this rank's experts on the received tokens, as on a single device, and adds up the results. */
static bool compute(struct parallel_layer *layer, int64_t num_tokens, struct error *error)
{
    struct moe_problem problem = *layer->problem;
    struct align_problem align;

    problem.num_tokens = num_tokens;
    align = moe_align_problem(&problem);
    align.capacity = problem.capacity = align_worst_case_capacity_capped_by_ids(&align);

    const struct align_buffers lists = {data(layer, RANK_TOPK_IDS),
                                        data(layer, RANK_EXPERT_MAP),
                                        data(layer, RANK_SORTED_TOKEN_IDS),
                                        data(layer, RANK_EXPERT_IDS),
                                        data(layer, RANK_NUM_TOKENS_POST_PADDED),
                                        data(layer, RANK_ALIGN_WORKSPACE)};
    const struct moe_buffers buffers = {
        .hidden = data(layer, RANK_HIDDEN),
        .w13 = data(layer, RANK_W13),
        .w2 = data(layer, RANK_W2),
        .topk_weights = data(layer, RANK_TOPK_WEIGHTS),
        .sorted_token_ids = data(layer, RANK_SORTED_TOKEN_IDS),
        .expert_ids = data(layer, RANK_EXPERT_IDS),
        .num_tokens_post_padded = data(layer, RANK_NUM_TOKENS_POST_PADDED),
        .intermediate = data(layer, RANK_INTERMEDIATE),
        .partial = data(layer, RANK_PARTIAL),
        .output = data(layer, RANK_OUTPUT),
    };
    const cudaStream_t stream = layer->ranks->stream;

    return stage_begin(layer, "align", error) &&
           launched(num_tokens > 0 ? align_launch(&align, &lists, stream) : cudaSuccess, error) &&
           stage_end(layer, (struct layer_stage){.performed_by = "10_align_parallel_fill"}, error) &&
           stage_begin(layer, "experts", error) &&
           launched(num_tokens > 0 ? layer->expert_implementation.launch(&problem, &buffers, stream) : cudaSuccess,
                    error) &&
           stage_end(layer, (struct layer_stage){.performed_by = layer->expert_implementation.name}, error) &&
           stage_begin(layer, "sum", error) &&
           launched(sum_partial_launch(&problem, data(layer, RANK_PARTIAL), data(layer, RANK_SUMS), stream), error) &&
           stage_end(layer, (struct layer_stage){.performed_by = "parallel.cu"}, error);
}
// [compute]

/* --- broadcast ---------------------------------------------------------------------------------------------------- */

/** All-gathers an array's rows within the DP group. `row` is the size of one row in bytes. */
static bool gather_rows(struct parallel_layer *layer, int own, int all, size_t row, struct error *error)
{
    const int64_t *const token_offsets = layer->share->token_offsets;
    int64_t *bytes;
    bool good = ALLOCATE_ARRAY(bytes, layer->dp_group.size, error);

    for (int d = 0; good && d < layer->dp_group.size; d++)
        bytes[d] = (token_offsets[d + 1] - token_offsets[d]) * (int64_t)row;
    good = good && group_all_gather(&layer->dp_group, data(layer, own), bytes, data(layer, all), error);
    free(bytes);
    return good;
}

/** All-gathers the DP group's tokens, with their choices, in one group call. */
static bool gather_tokens(struct parallel_layer *layer, size_t row, struct error *error)
{
    const size_t topk = (size_t)layer->problem->topk;
    bool good;

    collectives_group_start(&layer->dp_group);
    good = gather_rows(layer, RANK_OWN_HIDDEN, RANK_HIDDEN, row, error) &&
           gather_rows(layer, RANK_SENT_IDS, RANK_TOPK_IDS, topk * sizeof(int32_t), error) &&
           gather_rows(layer, RANK_SENT_WEIGHTS, RANK_TOPK_WEIGHTS, topk * sizeof(float), error);
    return collectives_group_end(&layer->dp_group, error) && good;
}

// [run_layer_with_broadcast]
bool run_layer_with_broadcast(struct parallel_layer *layer, struct error *error)
{
    const struct rank_share *const share = layer->share;
    const struct moe_problem *const problem = layer->problem;
    const size_t h = (size_t)problem->hidden_size, topk = (size_t)problem->topk;
    const size_t row = h * dtype_size(problem->dtype), choice = topk * (sizeof(int32_t) + sizeof(float));
    const int64_t n = problem->num_tokens, own = share->own_tokens_end - share->own_tokens_begin;
    float *const sums = data(layer, RANK_SUMS), *const own_sums = sums + (size_t)share->own_tokens_begin * h;

    return stage_begin(layer, "broadcast", error) && gather_tokens(layer, row, error) &&
           stage_end(layer,
                     describe_collective_stage("all-gather", &layer->dp_group, (double)n * (row + choice),
                                               (double)own * (row + choice)),
                     error) &&
           compute(layer, n, error) && stage_begin(layer, "reduce DP", error) &&
           group_all_reduce(&layer->dp_group, sums, n * (int64_t)h, error) &&
           stage_end(layer, describe_all_reduce_stage(&layer->dp_group, (double)n * h * sizeof(float)), error) &&
           stage_begin(layer, "reduce TP", error) &&
           group_all_reduce(&layer->tp_group, own_sums, own * (int64_t)h, error) &&
           stage_end(layer, describe_all_reduce_stage(&layer->tp_group, (double)own * h * sizeof(float)), error) &&
           stage_begin(layer, "round", error) &&
           launched(add_rows_launch(problem, own_sums, NULL, 1, own, data(layer, RANK_RESULT), layer->ranks->stream),
                    error) &&
           stage_end(layer, (struct layer_stage){.performed_by = "parallel.cu"}, error);
}
// [run_layer_with_broadcast]

/* --- all-to-all --------------------------------------------------------------------------------------------------- */

/** Fills received_of with the number of rows that each rank sends to this rank, and sets *received to their sum. */
static bool exchange_counts(struct parallel_layer *layer, int64_t *received, struct error *error)
{
    const int size = layer->share->num_ranks;
    int32_t *counts;
    int64_t *bytes;
    cudaError_t status = cudaSuccess;
    bool good = ALLOCATE_ARRAY(counts, size, error);

    good = ALLOCATE_ARRAY(bytes, size, error) && good;
    for (int r = 0; good && r < size; r++)
        bytes[r] = sizeof *counts;
    good = good && group_all_to_all(&layer->ranks->all_ranks, data(layer, RANK_SENT_COUNTS), bytes,
                                    data(layer, RANK_RECEIVED_COUNTS), bytes, error);
    if (good)
        status = cudaMemcpy(counts, data(layer, RANK_RECEIVED_COUNTS), (size_t)size * sizeof *counts,
                            cudaMemcpyDeviceToHost);
    *received = 0;
    for (int r = 0; good && status == cudaSuccess && r < size; r++)
        *received += layer->row_counts->num_rows_received_from[r] = counts[r];
    free(counts);
    free(bytes);
    return status == cudaSuccess ? good : error_set_cuda_failure(error, "the counts of rows", status);
}

/**
 * Sends each row to the rank of its experts or, if `back`, the result of each received row to the rank that sent
 * the row. `row` is the size of one row in bytes.
 */
static bool exchange_rows(struct parallel_layer *layer, int from, int to, size_t row, bool back, struct error *error)
{
    const int size = layer->share->num_ranks;
    const int64_t *const sent = back ? layer->row_counts->num_rows_received_from : layer->row_counts->num_rows_sent_to;
    const int64_t *const received = back ? layer->row_counts->num_rows_sent_to
                                         : layer->row_counts->num_rows_received_from;
    int64_t *bytes;
    bool good = ALLOCATE_ARRAY(bytes, 2 * size, error);

    for (int r = 0; good && r < size; r++) {
        bytes[r] = sent[r] * (int64_t)row;
        bytes[size + r] = received[r] * (int64_t)row;
    }
    good = good &&
           group_all_to_all(&layer->ranks->all_ranks, data(layer, from), bytes, data(layer, to), bytes + size, error);
    free(bytes);
    return good;
}

/**
 * Sends tokens and their choices to the ranks of their experts: first the counts, then all arrays in one group call.
 */
static bool exchange_tokens(struct parallel_layer *layer, size_t row, int64_t *received, struct error *error)
{
    const size_t topk = (size_t)layer->problem->topk;
    bool good;

    if (!exchange_counts(layer, received, error))
        return false;
    collectives_group_start(&layer->ranks->all_ranks);
    good = exchange_rows(layer, RANK_SENT_HIDDEN, RANK_HIDDEN, row, false, error) &&
           exchange_rows(layer, RANK_SENT_IDS, RANK_TOPK_IDS, topk * sizeof(int32_t), false, error) &&
           exchange_rows(layer, RANK_SENT_WEIGHTS, RANK_TOPK_WEIGHTS, topk * sizeof(float), false, error);
    return collectives_group_end(&layer->ranks->all_ranks, error) && good;
}

/** Returns the traffic of an all-to-all. As in nccl-tests, a rank's bytes include those it sends to itself. */
static struct layer_stage exchanged(const struct parallel_layer *layer, int64_t sent, int64_t received, bool back,
                                    size_t row)
{
    const int64_t own = layer->row_counts->num_rows_sent_to[layer->share->rank],
                  most = sent > received ? sent : received;
    struct layer_stage stage = describe_collective_stage("all-to-all", &layer->ranks->all_ranks, (double)most * row,
                                                         0.0);

    stage.received_bytes = (double)((back ? sent : received) - own) * row;
    return stage;
}

/** All-gathers the results of the TP ranks' shares of the tokens, so that each rank of the TP group has all of them. */
static bool gather_shares(struct parallel_layer *layer, size_t row, struct error *error)
{
    const struct rank_share *const share = layer->share;
    const int first = share->rank / share->tp_size * share->tp_size;
    int64_t *bytes;
    bool good = ALLOCATE_ARRAY(bytes, share->tp_size, error);

    for (int t = 0; good && t < share->tp_size; t++) {
        const int64_t end = t + 1 < share->tp_size ? rank_share_first_all_to_all_token(share, first + t + 1)
                                                   : share->token_offsets[first / share->tp_size + 1];

        bytes[t] = (end - rank_share_first_all_to_all_token(share, first + t)) * (int64_t)row;
    }
    good = good &&
           group_all_gather(&layer->tp_group, data(layer, RANK_OWN_RESULT), bytes, data(layer, RANK_RESULT), error);
    free(bytes);
    return good;
}

// [run_layer_with_all_to_all]
bool run_layer_with_all_to_all(struct parallel_layer *layer, struct error *error)
{
    const struct rank_share *const share = layer->share;
    const struct moe_problem *const problem = layer->problem;
    const size_t h = (size_t)problem->hidden_size, topk = (size_t)problem->topk;
    const size_t row = h * dtype_size(problem->dtype), sum_row = h * sizeof(float);
    const int64_t own = share->own_tokens_end - share->own_tokens_begin, sent = layer->row_counts->num_sent_rows;
    const int64_t *const token_offsets = share->token_offsets + share->rank / share->tp_size;
    const double dp_rows = (double)(token_offsets[1] - token_offsets[0]) * row;
    int64_t received;

    return stage_begin(layer, "dispatch", error) &&
           launched(gather_rows_launch(problem, data(layer, RANK_OWN_HIDDEN), data(layer, RANK_SENT_ROWS), sent,
                                       data(layer, RANK_SENT_HIDDEN), layer->ranks->stream),
                    error) &&
           exchange_tokens(layer, row, &received, error) &&
           stage_end(layer, exchanged(layer, sent, received, false, row + topk * (sizeof(int32_t) + sizeof(float))),
                     error) &&
           compute(layer, received, error) && stage_begin(layer, "combine", error) &&
           exchange_rows(layer, RANK_SUMS, RANK_SENT_SUMS, sum_row, true, error) &&
           stage_end(layer, exchanged(layer, sent, received, true, sum_row), error) &&
           stage_begin(layer, "add", error) &&
           launched(add_rows_launch(problem, data(layer, RANK_SENT_SUMS), data(layer, RANK_SUM_ROWS), share->num_ranks,
                                    own, data(layer, RANK_OWN_RESULT), layer->ranks->stream),
                    error) &&
           stage_end(layer, (struct layer_stage){.performed_by = "parallel.cu"}, error) &&
           stage_begin(layer, "gather TP", error) && gather_shares(layer, row, error) &&
           stage_end(layer, describe_collective_stage("all-gather", &layer->tp_group, dp_rows, (double)own * row),
                     error);
}
// [run_layer_with_all_to_all]
