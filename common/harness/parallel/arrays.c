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
        if (share->owner_parts[layer->routing.topk_ids[token * topk + k]] == to / share->num_intermediate_slices)
            return true;
    return false;
}

/**
 * Counts the rows sent to each rank. A rank receives a token only once, even if it has several of the token's experts.
 */
static bool count_rows(const struct parallel_options *options, const struct rank_share *share,
                       const struct moe_layer *layer, struct exchanged_row_counts *lists, struct error *error)
{
    if (!ALLOCATE_ARRAY(lists->num_rows_sent_to, share->num_ranks, error) ||
        !ALLOCATE_ARRAY(lists->num_rows_received_from, share->num_ranks, error))
        return false;
    lists->num_sent_rows = options->dispatch == DISPATCH_BROADCAST ? share->own_end - share->own_begin : 0;
    for (int r = 0; r < share->num_ranks; r++) {
        lists->num_rows_sent_to[r] = lists->num_rows_received_from[r] = 0;
        for (int64_t t = share->own_begin; options->dispatch == DISPATCH_ALL_TO_ALL && t < share->own_end; t++)
            lists->num_rows_sent_to[r] += is_needed(share, layer, t, r);
        lists->num_sent_rows += lists->num_rows_sent_to[r];
    }
    return true;
}

/** Copies the ids and weights of this rank's row `own` to row `sent` of the rows that it sends. */
static void list_row(const struct rank_share *share, const struct moe_layer *layer, struct tensors *arrays, int64_t own,
                     int64_t sent)
{
    const int topk = layer->problem.topk;
    const int64_t from = (share->own_begin + own) * topk, to = sent * topk;

    memcpy((int32_t *)arrays->tensor[SENT_IDS].host.data + to, layer->routing.topk_ids + from, topk * sizeof(int32_t));
    memcpy((float *)arrays->tensor[SENT_WEIGHTS].host.data + to, layer->routing.topk_weights + from,
           topk * sizeof(float));
}

// [list_rows]
/**
 * Lists the rows by destination rank, counts them, and records, for each of this rank's tokens, the indices of its sent
 * rows, in which the token's sums are returned.
 */
static void list_rows(const struct rank_share *share, const struct moe_layer *layer, struct tensors *arrays)
{
    int32_t *const counts = arrays->tensor[SENT_COUNTS].host.data;
    int32_t *const rows = arrays->tensor[SENT_ROWS].host.data, *const sum_rows = arrays->tensor[SUM_ROWS].host.data;
    const int64_t own = share->own_end - share->own_begin;
    int32_t sent = 0;

    for (int r = 0; r < share->num_ranks; r++) {
        const int32_t first = sent;

        for (int64_t t = 0; t < own; t++) {
            const bool is_sent = is_needed(share, layer, share->own_begin + t, r);

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
    struct tensor tensor = array(name, TENSOR_INPUT, whole->host.dtype, share->num_local, piece);

    if (!whole->host.data) {
        tensor.recipe = (struct tensor_recipe){whole->recipe.values, piece, share->local_experts};
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

    for (int64_t i = 0; whole->host.data && i < share->num_local * piece / row; i++) {
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
                        const struct exchanged_row_counts *lists, bool all_to_all, struct tensors *arrays)
{
    const enum dtype dtype = problem->dtype;
    const int64_t n = problem->num_tokens, h = problem->hidden_size, i = problem->intermediate_size;
    const int64_t own = share->own_end - share->own_begin, sent = lists->num_sent_rows,
                  positions = moe_num_positions(problem);
    const int64_t *const cu_tokens = share->cu_tokens + share->rank / share->tp_size;
    const int topk = problem->topk, num_experts = problem->num_experts;
    const struct tensor list[NUM_ARRAYS] = {
        [OWN_HIDDEN] = array("own_hidden", TENSOR_INPUT, dtype, own, h),
        [SENT_IDS] = array("sent_ids", TENSOR_INPUT, DTYPE_I32, sent, topk),
        [SENT_WEIGHTS] = array("sent_weights", TENSOR_INPUT, DTYPE_F32, sent, topk),
        [SENT_ROWS] = array("sent_rows", TENSOR_INPUT, DTYPE_I32, sent, 1),
        [SENT_COUNTS] = array("sent_counts", TENSOR_INPUT, DTYPE_I32, share->num_ranks, 1),
        [SUM_ROWS] = array("sum_rows", TENSOR_INPUT, DTYPE_I32, own, share->num_ranks),
        [W13] = weights("w13", &whole->tensor[MOE_W13], share, moe_w13_elements(problem), i * h),
        [W2] = weights("w2", &whole->tensor[MOE_W2], share, moe_w2_elements(problem), i),
        [EXPERT_MAP] = array("expert_map", TENSOR_INPUT, DTYPE_I32, num_experts, 1),
        [RECEIVED_COUNTS] = array("received_counts", TENSOR_WORKSPACE, DTYPE_I32, share->num_ranks, 1),
        [SENT_HIDDEN] = array("sent_hidden", TENSOR_WORKSPACE, dtype, sent, h),
        [HIDDEN] = array("hidden", TENSOR_WORKSPACE, dtype, n, h),
        [TOPK_IDS] = array("topk_ids", TENSOR_WORKSPACE, DTYPE_I32, n, topk),
        [TOPK_WEIGHTS] = array("topk_weights", TENSOR_WORKSPACE, DTYPE_F32, n, topk),
        [SORTED_TOKEN_IDS] = array("sorted_token_ids", TENSOR_WORKSPACE, DTYPE_I32, problem->capacity, 1),
        [EXPERT_IDS] = array("expert_ids", TENSOR_WORKSPACE, DTYPE_I32, problem->capacity / problem->block_size, 1),
        [NUM_TOKENS_POST_PADDED] = array("num_tokens_post_padded", TENSOR_WORKSPACE, DTYPE_I32, 1, 1),
        [ALIGN_WORKSPACE] = array("align's workspace", TENSOR_WORKSPACE, DTYPE_U8, 0,
                                  1), /* the chapter sets the size */
        [INTERMEDIATE] = array("intermediate", TENSOR_WORKSPACE, dtype, positions, i),
        [PARTIAL] = array("partial", TENSOR_WORKSPACE, dtype, positions, h),
        [OUTPUT] = array("output", TENSOR_WORKSPACE, dtype, n, h),
        [SUMS] = array("sums", TENSOR_WORKSPACE, DTYPE_F32, n, h),
        [SENT_SUMS] = array("sent_sums", TENSOR_WORKSPACE, DTYPE_F32, sent, h),
        [OWN_RESULT] = array("own_result", TENSOR_WORKSPACE, dtype, own, h),
        [RESULT] = array("result", TENSOR_OUTPUT, dtype, cu_tokens[1] - cu_tokens[0], h),
    };
    _Static_assert((int)NUM_ARRAYS <= (int)MAX_TENSORS, "they fit into tensors");
    static const int of_all_to_all[] = {SENT_ROWS,   SENT_COUNTS, SUM_ROWS,  RECEIVED_COUNTS,
                                        SENT_HIDDEN, SENT_SUMS,   OWN_RESULT};

    memcpy(arrays->tensor, list, sizeof list);
    arrays->num_tensors = NUM_ARRAYS;
    arrays->poison_byte = MOE_POISON_BYTE;
    for (size_t a = 0; a < sizeof of_all_to_all / sizeof *of_all_to_all; a++)
        arrays->tensor[of_all_to_all[a]].is_absent = !all_to_all;
}

bool rank_arrays_create(const struct parallel_options *options, const struct rank_share *share,
                        const struct moe_layer *layer, const struct tensors *whole, const struct moe_problem *local,
                        struct exchanged_row_counts *lists, struct tensors *arrays, struct error *error)
{
    const bool all_to_all = options->dispatch == DISPATCH_ALL_TO_ALL;
    const int64_t h = local->hidden_size, own = share->own_end - share->own_begin;
    const size_t row_bytes = (size_t)h * dtype_size(local->dtype);

    *arrays = (struct tensors){.num_tensors = 0};
    if (!count_rows(options, share, layer, lists, error))
        return false;
    list_arrays(share, local, whole, lists, all_to_all, arrays);
    if (!tensors_allocate(arrays, error))
        return false;
    memcpy(arrays->tensor[OWN_HIDDEN].host.data,
           (const char *)whole->tensor[MOE_HIDDEN].host.data + (size_t)share->own_begin * row_bytes,
           (size_t)own * row_bytes);
    memcpy(arrays->tensor[EXPERT_MAP].host.data, share->expert_map, (size_t)local->num_experts * sizeof(int32_t));
    cut_weights(&whole->tensor[MOE_W13], share, moe_w13_elements(local), local->intermediate_size * h,
                &arrays->tensor[W13]);
    cut_weights(&whole->tensor[MOE_W2], share, moe_w2_elements(local), local->intermediate_size, &arrays->tensor[W2]);
    if (all_to_all)
        list_rows(share, layer, arrays);
    for (int64_t t = 0; !all_to_all && t < own; t++)
        list_row(share, layer, arrays, t, t);
    return true;
}

void rank_arrays_free(struct exchanged_row_counts *lists, struct tensors *arrays)
{
    tensors_free(arrays);
    free(lists->num_rows_sent_to);
    free(lists->num_rows_received_from);
}
