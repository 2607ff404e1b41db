/**
 * @file moe/run.h
 * @brief The layer's tensors: functions that list them, fill them from the command line's input, and describe the
 *        launch.
 */
#ifndef MOE_RUN_H
#define MOE_RUN_H

#include "harness/core/run.h"
#include "harness/moe/options.h"
#include "harness/moe/routing.h"

/** Indices of the layer's tensors. */
enum {
    MOE_TENSOR_HIDDEN,
    MOE_TENSOR_W13,
    MOE_TENSOR_W2,
    MOE_TENSOR_TOPK_WEIGHTS,
    MOE_TENSOR_SORTED_TOKEN_IDS,
    MOE_TENSOR_EXPERT_IDS,
    MOE_TENSOR_NUM_TOKENS_POST_PADDED,
    MOE_TENSOR_INTERMEDIATE,
    MOE_TENSOR_PARTIAL,
    MOE_TENSOR_OUTPUT,
    MOE_TENSOR_WORKSPACE,
    NUM_MOE_TENSORS
};

/** A problem and its routing, which a run and its check need in addition to the tensors. */
struct moe_layer {
    struct moe_problem problem;
    struct moe_host_routing routing;
    uint64_t seed;      /**< seed of generated arrays, and of the sample of checked tokens */
    float hidden_scale; /**< scale of generated tokens */
    int64_t
        *num_uncompared_elements;   /**< if not NULL, the check stores the number of elements that it cannot compare */
    bool has_only_generated_arrays; /**< whether no array is from a file; rounding errors then count as independent */
    /** Number of ranks that divide each expert's intermediate elements; 0 if not divided. */
    int num_intermediate_slices;
};

/** Flags for the weights that have a host copy because they come from files; all others are generated on the device. */
struct moe_host_weight_flags {
    bool w13, w2;
};

/**
 * Lists the tensors of a layer whose problem and routing are complete, with the workspace that `implementation` needs,
 * and allocates them on the host. Fills the inputs: hidden, generated from the seed, and the lists that align makes
 * from the routing, but not weights with a host copy. If memory runs out, frees everything and returns false.
 */
bool moe_tensors_allocate_host_and_fill(const struct moe_layer *layer, const struct moe_implementation *implementation,
                                        struct moe_host_weight_flags has_host_copy, struct tensors *tensors,
                                        struct error *error);

/**
 * Allocates tensors for another implementation and its block size, and copies the inputs of `source`. On failure, frees
 * everything and returns false.
 */
bool moe_tensors_allocate_host_and_copy_inputs(const struct tensors *source, const struct moe_layer *layer,
                                               const struct moe_implementation *implementation, struct tensors *tensors,
                                               struct error *error);

/**
 * Returns the tensors' addresses in device memory, for a kernel, or in host memory, where a workspace has no copy.
 */
struct moe_buffers moe_buffers_at(const struct tensors *tensors, enum tensor_location location);

/** Sets the problem's capacity and block size: `requested_size` or, if that is 0, the implementation's choice. */
bool moe_set_block_size_and_capacity(struct moe_problem *problem, const struct moe_implementation *implementation,
                                     int requested_size, struct error *error);

/**
 * Completes `options` from the files that the options name and from defaults (a GPU's if `gpu_defaults`), checks that
 * the problem is valid and supported, creates the routing, allocates the tensors and fills the inputs. The caller frees
 * layer->routing and the tensors. On failure (invalid arguments, a file error or no memory), frees everything, returns
 * false and sets *error.
 */
bool moe_prepare_problem_and_tensors(struct moe_options *options, const struct moe_implementation *implementation,
                                     bool gpu_defaults, struct moe_layer *layer, struct tensors *tensors,
                                     struct error *error);

/** Makes the struct with which core/run.h launches and checks the implementation, and core/bench.h times it. */
struct checked_launch moe_make_checked_launch(const struct moe_layer *layer,
                                              const struct moe_implementation *implementation);

#endif
