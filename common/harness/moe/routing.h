/** @file moe/routing.h  The layer's routing: each token's experts and their weights, and which experts are local. */
#ifndef MOE_ROUTING_H
#define MOE_ROUTING_H

#include "harness/align/reference.h"
#include "harness/moe/options.h"

/** The routing in host memory, for the checker. Kernels get the lists that align builds from this routing. */
struct moe_host_routing {
    int32_t *topk_ids;                /**< [num_tokens, topk], each 0 to E - 1 */
    float *topk_weights;              /**< [num_tokens, topk] */
    int32_t *expert_map;              /**< [E] local id of each expert, or -1 if not local; NULL if all are local */
    int32_t *local_experts;           /**< [L] expert of each local id */
    struct align_group_layout groups; /**< groups of the ids by expert */
};

void moe_host_routing_free(struct moe_host_routing *routing);

/** Returns whether the problem can use the real router: 256 experts, of which its gate chooses up to 32. */
bool moe_can_use_router_data(const struct moe_problem *problem);

/**
 * Fills topk_ids and topk_weights [num_tokens, topk] of a problem whose shape has been checked, either with the gate
 * reference's choices for the real router's logits, repeated as needed, or with generated choices. Generated weights
 * are random and add up to 1 for every token. On failure (router data or memory), returns false and sets *error.
 */
bool moe_fill_topk_ids_and_weights(const struct moe_problem *problem, enum moe_routing_dist dist, uint64_t seed,
                                   int32_t *topk_ids, float *topk_weights, struct error *error);

#endif
