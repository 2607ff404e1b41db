/** @file moe/run.h  The layer's tensors: what they are, filling them from the command line, a run over them. */
#ifndef MOE_RUN_H
#define MOE_RUN_H

#include "harness/core/run.h"
#include "harness/moe/options.h"
#include "harness/moe/routing.h"

/** The layer's tensors, in their order. */
enum {
    MOE_HIDDEN,
    MOE_W13,
    MOE_W2,
    MOE_TOPK_WEIGHTS,
    MOE_SORTED_TOKEN_IDS,
    MOE_EXPERT_IDS,
    MOE_NUM_TOKENS_POST_PADDED,
    MOE_INTERMEDIATE,
    MOE_PARTIAL,
    MOE_OUTPUT,
    MOE_WORKSPACE,
    NUM_MOE_TENSORS
};

/** A problem and what is known of it besides the tensors: what a run and its check are given. */
struct moe_layer {
    struct moe_problem problem;
    struct moe_routing routing;
    uint64_t seed;  /**< of generated arrays, and of the tokens that are checked where not all are */
    bool is_random; /**< no array is from a file: rounding errors are independent of each other */
    int slices;     /**< so many ranks have a part of every expert's intermediate elements each; 0: it is not divided */
};

/** Which of the weights come from files: they have a copy on the host, others a recipe. */
struct moe_weights {
    bool w13_has_copy, w2_has_copy;
};

/**
 * Lists the tensors of a layer whose problem is complete and whose routing is known, with the workspace that
 * `implementation` asks for, allocates them on the host and fills the inputs: hidden as the seed has it, what align
 * makes of the routing, and not the weights that have a copy. False, owning nothing, without memory.
 */
bool moe_tensors_allocate(const struct moe_layer *layer, const struct moe_implementation *implementation,
                          struct moe_weights weights, struct tensors *tensors, struct error *error);

/** The same inputs for another implementation and its block size. False, owning nothing, when memory is short. */
bool moe_tensors_like(const struct tensors *like, const struct moe_layer *layer,
                      const struct moe_implementation *implementation, struct tensors *tensors, struct error *error);

/** Where a kernel finds them, on the device. */
struct moe_buffers moe_buffers_of(const struct tensors *tensors);

/** Sets the problem's block size, as asked for or as the implementation wants it, and the capacity. */
bool moe_settle_blocks(struct moe_problem *problem, const struct moe_implementation *implementation, int asked,
                       struct error *error);

/**
 * Completes `options` from the files that it names and from defaults (`large`: those of a GPU), checks the problem,
 * asks the implementation whether it supports it, makes the routing, allocates the tensors and fills the inputs. The
 * caller frees layer->routing and the tensors. False, owning nothing, with the reason: the arguments, a file, memory.
 */
bool moe_load(struct moe_options *options, const struct moe_implementation *implementation, bool large,
              struct moe_layer *layer, struct tensors *tensors, struct error *error);

/** The implementation's launch and check, for running and timing. */
struct launch moe_launch_of(const struct moe_layer *layer, const struct moe_implementation *implementation);

#endif
