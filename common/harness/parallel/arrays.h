/** @file parallel/arrays.h  What a rank has in its device's memory, and the lists of who is sent what. */
#ifndef PARALLEL_ARRAYS_H
#define PARALLEL_ARRAYS_H

#include "harness/moe/run.h"
#include "harness/parallel/split.h"

/** A rank's arrays, n tokens in all, `own` of them this rank's, `sent` rows of these sent somewhere. */
enum {
    OWN_HIDDEN,      /**< [own, H] */
    SENT_IDS,        /**< [sent, topk] */
    SENT_WEIGHTS,    /**< [sent, topk] */
    SENT_ROWS,       /**< [sent] the own row that each is; all-to-all only, as all that begins so but these three */
    SENT_COUNTS,     /**< [ranks] rows to each rank; all-to-all only */
    SUM_PLACES,      /**< [own, ranks] the row sent that brought a token's sum from a rank, -1: none; all-to-all only */
    W13,             /**< [local experts, 2 * slice, H] */
    W2,              /**< [local experts, H, slice] */
    EXPERT_MAP,      /**< [E] */
    RECEIVED_COUNTS, /**< [ranks] rows from each rank; all-to-all only */
    SENT_HIDDEN,     /**< [sent, H], all-to-all only */
    HIDDEN,          /**< [n, H] the tokens that came; with all-to-all mostly fewer than n */
    IDS,             /**< [n, topk] */
    WEIGHTS,         /**< [n, topk] */
    SORTED,          /**< sorted_token_ids, expert_ids, num_tokens_post_padded as align makes them, and its workspace */
    EXPERT_IDS,
    NUM_PADDED,
    ALIGN_WORKSPACE,
    INTERMEDIATE, /**< [n * topk, slice] */
    PARTIAL,      /**< [n * topk, H] */
    OUTPUT,       /**< [n, H] of moe_launch(), rounded to the type too early to be added: not used */
    SUMS,         /**< [n, H] f32 */
    SENT_SUMS,    /**< [sent, H] f32, as they came back; all-to-all only */
    OWN_RESULT,   /**< [own, H]; all-to-all only */
    RESULT,       /**< [tokens of the DP rank, H] */
    NUM_ARRAYS
};

/**
 * Rows that this rank sends and receives, in the order of ranks. Broadcast: `sent` is own, and the rest is not used.
 */
struct lists {
    int64_t sent;
    int64_t *sent_to;     /**< [ranks] */
    int64_t *received_of; /**< [ranks] filled when counts have been exchanged */
};

/** Lists rows and arrays of this rank, and fills the inputs on the host. arrays_free() in any case. */
bool arrays_make(const struct parallel_options *options, const struct split *split, const struct moe_layer *layer,
                 const struct tensors *whole, const struct moe_problem *local, struct lists *lists,
                 struct tensors *arrays, struct error *error);
void arrays_free(struct lists *lists, struct tensors *arrays);

#endif
