/** @file parallel/arrays.h  A rank's arrays in device memory, and the lists of the rows that it sends and receives. */
#ifndef PARALLEL_ARRAYS_H
#define PARALLEL_ARRAYS_H

#include "harness/moe/run.h"
#include "harness/parallel/split.h"

/**
 * Indices of a rank's arrays. The rank has `own` of the n tokens and sends `num_sent_rows` rows, which are copies of
 * these tokens.
 */
enum {
    RANK_OWN_HIDDEN,       /**< [own, H] */
    RANK_SENT_IDS,         /**< [num_sent_rows, topk] */
    RANK_SENT_WEIGHTS,     /**< [num_sent_rows, topk] */
    RANK_SENT_ROWS,        /**< [num_sent_rows] index of this rank's row that is sent; all-to-all only */
    RANK_SENT_COUNTS,      /**< [ranks] number of rows sent to each rank; all-to-all only */
    RANK_SUM_ROWS,         /**< [own, ranks] sent row in which a rank returns the token's sum, or -1; all-to-all only */
    RANK_W13,              /**< [local experts, 2 * slice, H] */
    RANK_W2,               /**< [local experts, H, slice] */
    RANK_EXPERT_MAP,       /**< [E] */
    RANK_RECEIVED_COUNTS,  /**< [ranks] number of rows from each rank; all-to-all only */
    RANK_SENT_HIDDEN,      /**< [num_sent_rows, H], all-to-all only */
    RANK_HIDDEN,           /**< [n, H] the received tokens; with all-to-all usually fewer than n */
    RANK_TOPK_IDS,         /**< [n, topk] */
    RANK_TOPK_WEIGHTS,     /**< [n, topk] */
    RANK_SORTED_TOKEN_IDS, /**< align's three outputs, and then its workspace */
    RANK_EXPERT_IDS,
    RANK_NUM_TOKENS_POST_PADDED,
    RANK_ALIGN_WORKSPACE,
    RANK_INTERMEDIATE, /**< [n * topk, slice] */
    RANK_PARTIAL,      /**< [n * topk, H] */
    RANK_OUTPUT,       /**< [n, H] output of moe_launch(); unused, because it is rounded before ranks' sums are added */
    RANK_SUMS,         /**< [n, H] f32 */
    RANK_SENT_SUMS,    /**< [num_sent_rows, H] f32, the sums that come back; all-to-all only */
    RANK_OWN_RESULT,   /**< [own, H]; all-to-all only */
    RANK_RESULT,       /**< [tokens of the TP group, H] */
    NUM_RANK_ARRAYS
};

/**
 * The numbers of rows that this rank sends and receives. With broadcast, only `num_sent_rows` is used; it equals `own`.
 */
struct exchanged_row_counts {
    int64_t num_sent_rows;
    int64_t *num_rows_sent_to;       /**< [ranks] */
    int64_t *num_rows_received_from; /**< [ranks], filled once the counts have been exchanged */
};

/**
 * Lists this rank's rows and arrays, and fills the inputs on the host; the caller allocates and fills device memory.
 * `rank_problem` is the problem of this rank's kernels. The caller must call rank_arrays_free() even after a failure.
 */
bool rank_arrays_create_on_host(const struct parallel_options *options, const struct rank_share *share,
                                const struct moe_layer *layer, const struct tensors *whole_layer_arrays,
                                const struct moe_problem *rank_problem, struct exchanged_row_counts *row_counts,
                                struct tensors *arrays, struct error *error);
void rank_arrays_free(struct exchanged_row_counts *row_counts, struct tensors *arrays);

#endif
