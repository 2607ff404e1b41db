/** @file align/run.h  Align's tensors: what they are, filling them from the command line, a run over them. */
#ifndef ALIGN_RUN_H
#define ALIGN_RUN_H

#include "harness/align/options.h"
#include "harness/align/reference.h"
#include "harness/core/run.h"

/** Align's tensors, in their order. */
enum {
    ALIGN_TOPK_IDS,
    ALIGN_EXPERT_MAP,
    ALIGN_SORTED_TOKEN_IDS,
    ALIGN_EXPERT_IDS,
    ALIGN_NUM_TOKENS_POST_PADDED,
    ALIGN_WORKSPACE,
    NUM_ALIGN_TENSORS
};

/**
 * Lists the tensors of a checked problem and allocates them on the host: sorted_token_ids begins `misalign` words past
 * a 16-byte boundary on the device; the workspace is what `implementation` asks for (NULL: none). False, owning
 * nothing, without memory.
 */
bool align_tensors_allocate(const struct align_problem *problem, const struct align_implementation *implementation,
                            bool has_map, int misalign, struct tensors *tensors, struct error *error);

/** The same for another problem or implementation with the inputs of `like`, which are copied. */
bool align_tensors_like(const struct tensors *like, const struct align_problem *problem,
                        const struct align_implementation *implementation, struct tensors *tensors,
                        struct error *error);

/** Where a kernel, or a checker, finds them. */
struct align_buffers align_buffers_at(const struct tensors *tensors, enum tensor_place place);

/**
 * Completes `options` (tokens, experts, topk, the ids' type, the capacity) from the input it names, checks the problem,
 * asks the implementation whether it supports it, allocates the tensors and fills the inputs; `groups` are those of the
 * ids. The real router's ids are what the gate's reference makes of its logits. The caller frees both. False, owning
 * nothing, with the reason: the arguments, a file or memory.
 */
bool align_load(struct align_options *options, const struct align_implementation *implementation,
                struct tensors *tensors, struct align_groups *groups, struct error *error);

/** Fills expert_map [num_experts] by --expert-map: none leaves it alone. False with the reason: the file, memory. */
bool align_load_map(const char *given, int num_experts, uint64_t seed, int32_t *expert_map, struct error *error);

/** The implementation's launch and check, for running and timing. */
struct launch align_launch_of(const struct align_problem *problem, const struct align_implementation *implementation);

#endif
