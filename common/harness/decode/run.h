/** @file decode/run.h  A decoding step's options and tensors: functions that load its input and describe its launch. */
#ifndef DECODE_RUN_H
#define DECODE_RUN_H

#include "harness/decode/decode.h"
#include "harness/moe/run.h"

/** Indices of a step's tensors, which come after the layer's. */
enum {
    DECODE_TENSOR_ROUTER_WEIGHTS = NUM_MOE_TENSORS,
    DECODE_TENSOR_CORRECTION_BIAS,
    DECODE_TENSOR_GATING_OUTPUT,
    DECODE_TENSOR_TOPK_IDS,
    DECODE_TENSOR_ALIGN_WORKSPACE,
    NUM_DECODE_TENSORS
};

/** The options of a run. Strings point into argv. */
struct decode_options {
    struct moe_options moe; /**< must be the first member, because the layer's option rows set its fields */
    int num_expert_group, topk_group;
    bool num_expert_group_given, topk_group_given;
    bool overlap_launches;
};

/** A decoding step, with the layer that it computes. */
struct decode_step {
    const struct decode_chapter *chapter;
    struct decode_problem problem;
    struct moe_layer *layer; /**< the layer; its routing is set to the verified choices */
};

/**
 * Completes the options with defaults (those for a GPU if `gpu_defaults`), checks the problem, allocates the tensors
 * and fills the inputs. The caller frees layer->routing and the tensors. On failure, frees everything, returns false
 * and sets *error.
 */
bool decode_prepare_problem_and_tensors(struct decode_options *options, const struct decode_chapter *chapter,
                                        bool gpu_defaults, struct moe_layer *layer, struct decode_step *step,
                                        struct tensors *tensors, struct error *error);

/** Makes the struct with which core/run.h launches and checks the step, and core/bench.h times it. */
struct checked_launch decode_make_checked_launch(const struct decode_step *step);

/** Starts the covering design of --check-all over tokens, routers and launches. */
void decode_start_covering_design(uint64_t seed, bool stop_after_corners, struct covering_design *covering);

/** Sets the options to the next problem of --check-all. Returns false when the design is complete. */
bool decode_options_set_next_problem(struct covering_design *covering, uint64_t seed, struct decode_options *options);

#endif
