/**
 * @file align/run.h
 * @brief Align's tensors: functions that list them, fill them from the command line's input, and describe the launch.
 */
#ifndef ALIGN_RUN_H
#define ALIGN_RUN_H

#include "harness/align/options.h"
#include "harness/align/reference.h"
#include "harness/core/run.h"

/** Indices of align's tensors. */
enum {
    ALIGN_TENSOR_TOPK_IDS,
    ALIGN_TENSOR_EXPERT_MAP,
    ALIGN_TENSOR_SORTED_TOKEN_IDS,
    ALIGN_TENSOR_EXPERT_IDS,
    ALIGN_TENSOR_NUM_TOKENS_POST_PADDED,
    ALIGN_TENSOR_WORKSPACE,
    NUM_ALIGN_TENSORS
};

/**
 * Lists the tensors of a checked problem and allocates them on the host. sorted_token_ids begins
 * `sorted_ids_misalign_words` words past a 16-byte boundary on the device; the workspace has the size that
 * `implementation` needs (no workspace if it is NULL). If memory runs out, frees everything and returns false.
 */
bool align_tensors_allocate_host(const struct align_problem *problem, const struct align_implementation *implementation,
                                 bool has_map, int sorted_ids_misalign_words, struct tensors *tensors,
                                 struct error *error);

/** Allocates tensors in the same way for another problem or implementation, and copies the inputs of `source`. */
bool align_tensors_allocate_host_and_copy_inputs(const struct tensors *source, const struct align_problem *problem,
                                                 const struct align_implementation *implementation,
                                                 struct tensors *tensors, struct error *error);

/** Returns the tensors' addresses in device memory, for a kernel, or in host memory, for a checker. */
struct align_buffers align_buffers_at(const struct tensors *tensors, enum tensor_location location);

/**
 * Completes `options` (tokens, experts, topk, the ids' type, the capacity) from the input that the options select,
 * checks that the problem is valid and supported, allocates the tensors, fills the inputs and counts the ids' groups.
 * The real router's ids are the choices that the gate's reference makes from the router's logits. The caller frees the
 * tensors and groups. On failure (invalid arguments, a file error or no memory), frees everything, returns false and
 * sets *error.
 */
bool align_prepare_problem_and_tensors(struct align_options *options, const struct align_implementation *implementation,
                                       struct tensors *tensors, struct align_group_layout *groups, struct error *error);

/**
 * Fills expert_map [num_experts] as `option_value`, the value of --expert-map, requires; "none" leaves the map
 * unchanged. On failure, returns false and sets *error.
 */
bool align_load_expert_map(const char *option_value, int num_experts, uint64_t seed, int32_t *expert_map,
                           struct error *error);

/** Makes the struct with which core/run.h launches and checks the implementation, and core/bench.h times it. */
struct checked_launch align_make_checked_launch(const struct align_problem *problem,
                                                const struct align_implementation *implementation);

#endif
