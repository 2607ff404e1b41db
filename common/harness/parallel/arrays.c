#include "harness/parallel/arrays.h"

#include "base/memory.h"
#include "harness/align/problem.h"
#include "harness/moe/check.h"
#include "harness/moe/problem.h"

#include <stdlib.h>
#include <string.h>

/* --- lists -------------------------------------------------------------------------------------------------------- */

/** Returns whether rank `to` has any of the token's experts. */
static bool is_needed(const struct rank_share *share, const struct moe_layer *layer, int64_t token, int to)
{
    const int topk = layer->problem.topk;

    for (int k = 0; k < topk; k++)
        if (share->part_of_expert[layer->routing.topk_ids[token * topk + k]] == to / share->num_intermediate_slices)
            return true;
    return false;
}

/**
 * Counts the rows sent to each rank. A rank receives a token only once, even if it has several of the token's experts.
 */
static bool count_rows(const struct parallel_options *options, const struct rank_share *share,
                       const struct moe_layer *layer, struct exchanged_row_counts *row_counts, struct error *error)
{
    if (!ALLOCATE_ARRAY(row_counts->num_rows_sent_to, share->num_ranks, error) ||
        !ALLOCATE_ARRAY(row_counts->num_rows_received_from, share->num_ranks, error))
        return false;
    row_counts->num_sent_rows = options->dispatch == DISPATCH_BROADCAST
                                    ? share->own_tokens_end - share->own_tokens_begin
                                    : 0;
    for (int r = 0; r < share->num_ranks; r++) {
        row_counts->num_rows_sent_to[r] = row_counts->num_rows_received_from[r] = 0;
        for (int64_t t = share->own_tokens_begin; options->dispatch == DISPATCH_ALL_TO_ALL && t < share->own_tokens_end;
             t++)
            row_counts->num_rows_sent_to[r] += is_needed(share, layer, t, r);
        row_counts->num_sent_rows += row_counts->num_rows_sent_to[r];
    }
    return true;
}

/** Copies the ids and weights of this rank's row `own` to row `sent` of the rows that it sends. */
static void list_row(const struct rank_share *share, const struct moe_layer *layer, struct tensors *arrays, int64_t own,
                     int64_t sent)
{
    const int topk = layer->problem.topk;
    const int64_t from = (share->own_tokens_begin + own) * topk, to = sent * topk;

    memcpy((int32_t *)arrays->tensor[RANK_SENT_IDS].host.data + to, layer->routing.topk_ids + from,
           topk * sizeof(int32_t));
    memcpy((float *)arrays->tensor[RANK_SENT_WEIGHTS].host.data + to, layer->routing.topk_weights + from,
           topk * sizeof(float));
}

// [list_rows]
/**
 * Lists the rows by destination rank, counts them, and records, for each of this rank's tokens, the indices of its sent
 * rows, in which the token's sums are returned.
 */
static void list_rows(const struct rank_share *share, const struct moe_layer *layer, struct tensors *arrays)
{
    int32_t *const counts = arrays->tensor[RANK_SENT_COUNTS].host.data;
    int32_t *const rows = arrays->tensor[RANK_SENT_ROWS].host.data, *const sum_rows =
                                                                        arrays->tensor[RANK_SUM_ROWS].host.data;
    const int64_t own = share->own_tokens_end - share->own_tokens_begin;
    int32_t sent = 0;

    for (int r = 0; r < share->num_ranks; r++) {
        const int32_t first = sent;

        for (int64_t t = 0; t < own; t++) {
            const bool is_sent = is_needed(share, layer, share->own_tokens_begin + t, r);

            sum_rows[t * share->num_ranks + r] = is_sent ? sent : -1;
            if (!is_sent)
                continue;
            list_row(share, layer, arrays, t, sent);
            rows[sent++] = (int32_t)t;
        }
        counts[r] = sent - first;
    }
}
// [list_rows]

/* --- arrays ------------------------------------------------------------------------------------------------------- */

static struct tensor array(const char *name, enum tensor_role role, enum dtype dtype, int64_t rows, int64_t columns)
{
    return (struct tensor){.name = name, .role = role, .host = {dtype, 2, {rows, columns}, NULL}};
}

// [weights]
/**
 * Returns the tensor for this rank's slice of the local experts' weights: `part_width` out of every `part_pitch`
 * elements of the complete array. If the complete array is generated, the slice is generated as well, on the device.
 */
static struct tensor weights(const char *name, const struct tensor *whole, const struct rank_share *share,
                             int64_t piece, int64_t row)
{
    const int slice = share->rank % share->num_intermediate_slices;
    struct tensor tensor = array(name, TENSOR_INPUT, whole->host.dtype, share->num_local_experts, piece);

    if (!whole->host.data) {
        tensor.recipe = (struct tensor_values_recipe){whole->recipe.values, piece, share->local_experts};
        tensor.recipe.values.part_width = row;
        tensor.recipe.values.part_pitch = row * share->num_intermediate_slices;
        tensor.recipe.values.part_offset = row * slice;
    }
    return tensor;
}
// [weights]

/** Copies the slice from the complete array if that array is from a file. */
static void cut_weights(const struct tensor *whole, const struct rank_share *share, int64_t piece, int64_t row,
                        struct tensor *tensor)
{
    const size_t bytes = (size_t)row * dtype_size(whole->host.dtype);

    for (int64_t i = 0; whole->host.data && i < share->num_local_experts * piece / row; i++) {
        const int64_t of_whole = share->local_experts[i * row / piece] * (piece / row) + i % (piece / row);

        memcpy((char *)tensor->host.data + (size_t)i * bytes,
               (const char *)whole->host.data + ((size_t)of_whole * share->num_intermediate_slices +
                                                 (size_t)(share->rank % share->num_intermediate_slices)) *
                                                    bytes,
               bytes);
    }
}

/** Lists all arrays with their types and shapes. */
static void list_arrays(const struct rank_share *share, const struct moe_problem *problem, const struct tensors *whole,
                        const struct exchanged_row_counts *row_counts, bool all_to_all, struct tensors *arrays)
{
    const enum dtype dtype = problem->dtype;
    const int64_t n = problem->num_tokens, h = problem->hidden_size, i = problem->intermediate_size;
    const int64_t own = share->own_tokens_end - share->own_tokens_begin, sent = row_counts->num_sent_rows,
                  positions = moe_num_choices(problem);
    const int64_t *const token_offsets = share->token_offsets + share->rank / share->tp_size;
    const int topk = problem->topk, num_experts = problem->num_experts;
    const struct tensor list[NUM_RANK_ARRAYS] = {
        [RANK_OWN_HIDDEN] = array("own_hidden", TENSOR_INPUT, dtype, own, h),
        [RANK_SENT_IDS] = array("sent_ids", TENSOR_INPUT, DTYPE_I32, sent, topk),
        [RANK_SENT_WEIGHTS] = array("sent_weights", TENSOR_INPUT, DTYPE_F32, sent, topk),
        [RANK_SENT_ROWS] = array("sent_rows", TENSOR_INPUT, DTYPE_I32, sent, 1),
        [RANK_SENT_COUNTS] = array("sent_counts", TENSOR_INPUT, DTYPE_I32, share->num_ranks, 1),
        [RANK_SUM_ROWS] = array("sum_rows", TENSOR_INPUT, DTYPE_I32, own, share->num_ranks),
        [RANK_W13] = weights("w13", &whole->tensor[MOE_TENSOR_W13], share, moe_w13_elements_per_expert(problem), i * h),
        [RANK_W2] = weights("w2", &whole->tensor[MOE_TENSOR_W2], share, moe_w2_elements_per_expert(problem), i),
        [RANK_EXPERT_MAP] = array("expert_map", TENSOR_INPUT, DTYPE_I32, num_experts, 1),
        [RANK_RECEIVED_COUNTS] = array("received_counts", TENSOR_WORKSPACE, DTYPE_I32, share->num_ranks, 1),
        [RANK_SENT_HIDDEN] = array("sent_hidden", TENSOR_WORKSPACE, dtype, sent, h),
        [RANK_HIDDEN] = array("hidden", TENSOR_WORKSPACE, dtype, n, h),
        [RANK_TOPK_IDS] = array("topk_ids", TENSOR_WORKSPACE, DTYPE_I32, n, topk),
        [RANK_TOPK_WEIGHTS] = array("topk_weights", TENSOR_WORKSPACE, DTYPE_F32, n, topk),
        [RANK_SORTED_TOKEN_IDS] = array("sorted_token_ids", TENSOR_WORKSPACE, DTYPE_I32, problem->capacity, 1),
        [RANK_EXPERT_IDS] = array("expert_ids", TENSOR_WORKSPACE, DTYPE_I32, problem->capacity / problem->block_size,
                                  1),
        [RANK_NUM_TOKENS_POST_PADDED] = array("num_tokens_post_padded", TENSOR_WORKSPACE, DTYPE_I32, 1, 1),
        [RANK_ALIGN_WORKSPACE] = array("align's workspace", TENSOR_WORKSPACE, DTYPE_U8, 0,
                                       1), /* the chapter sets the size */
        [RANK_INTERMEDIATE] = array("intermediate", TENSOR_WORKSPACE, dtype, positions, i),
        [RANK_PARTIAL] = array("partial", TENSOR_WORKSPACE, dtype, positions, h),
        [RANK_OUTPUT] = array("output", TENSOR_WORKSPACE, dtype, n, h),
        [RANK_SUMS] = array("sums", TENSOR_WORKSPACE, DTYPE_F32, n, h),
        [RANK_SENT_SUMS] = array("sent_sums", TENSOR_WORKSPACE, DTYPE_F32, sent, h),
        [RANK_OWN_RESULT] = array("own_result", TENSOR_WORKSPACE, dtype, own, h),
        [RANK_RESULT] = array("result", TENSOR_OUTPUT, dtype, token_offsets[1] - token_offsets[0], h),
    };
    _Static_assert((int)NUM_RANK_ARRAYS <= (int)MAX_TENSORS, "they fit into tensors");
    static const int of_all_to_all[] = {RANK_SENT_ROWS,   RANK_SENT_COUNTS, RANK_SUM_ROWS,  RANK_RECEIVED_COUNTS,
                                        RANK_SENT_HIDDEN, RANK_SENT_SUMS,   RANK_OWN_RESULT};

    memcpy(arrays->tensor, list, sizeof list);
    arrays->num_tensors = NUM_RANK_ARRAYS;
    arrays->poison_byte = MOE_POISON_BYTE;
    for (size_t a = 0; a < sizeof of_all_to_all / sizeof *of_all_to_all; a++)
        arrays->tensor[of_all_to_all[a]].is_absent = !all_to_all;
}

bool rank_arrays_create_on_host(const struct parallel_options *options, const struct rank_share *share,
                                const struct moe_layer *layer, const struct tensors *whole_layer_arrays,
                                const struct moe_problem *rank_problem, struct exchanged_row_counts *row_counts,
                                struct tensors *arrays, struct error *error)
{
    const bool all_to_all = options->dispatch == DISPATCH_ALL_TO_ALL;
    const int64_t h = rank_problem->hidden_size, own = share->own_tokens_end - share->own_tokens_begin;
    const size_t row_bytes = (size_t)h * dtype_size(rank_problem->dtype);

    *arrays = (struct tensors){.num_tensors = 0};
    if (!count_rows(options, share, layer, row_counts, error))
        return false;
    list_arrays(share, rank_problem, whole_layer_arrays, row_counts, all_to_all, arrays);
    if (!tensors_allocate_host(arrays, error))
        return false;
    memcpy(arrays->tensor[RANK_OWN_HIDDEN].host.data,
           (const char *)whole_layer_arrays->tensor[MOE_TENSOR_HIDDEN].host.data +
               (size_t)share->own_tokens_begin * row_bytes,
           (size_t)own * row_bytes);
    memcpy(arrays->tensor[RANK_EXPERT_MAP].host.data, share->expert_map,
           (size_t)rank_problem->num_experts * sizeof(int32_t));
    cut_weights(&whole_layer_arrays->tensor[MOE_TENSOR_W13], share, moe_w13_elements_per_expert(rank_problem),
                rank_problem->intermediate_size * h, &arrays->tensor[RANK_W13]);
    cut_weights(&whole_layer_arrays->tensor[MOE_TENSOR_W2], share, moe_w2_elements_per_expert(rank_problem),
                rank_problem->intermediate_size, &arrays->tensor[RANK_W2]);
    if (all_to_all)
        list_rows(share, layer, arrays);
    for (int64_t t = 0; !all_to_all && t < own; t++)
        list_row(share, layer, arrays, t, t);
    return true;
}

void rank_arrays_free(struct exchanged_row_counts *row_counts, struct tensors *arrays)
{
    tensors_free(arrays);
    free(row_counts->num_rows_sent_to);
    free(row_counts->num_rows_received_from);
}
