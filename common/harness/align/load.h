/** @file align_load.h  From the command line to operands in host memory. */
#ifndef ALIGN_LOAD_H
#define ALIGN_LOAD_H

#include "harness/align/options.h"
#include "harness/align/reference.h"
#include "harness/core/run_result.h"

/** What a run works on. */
struct align_operands {
    struct align_input input;
    struct align_groups groups; /**< of these ids */
};

/**
 * Completes `options` (tokens, experts, topk, the ids' type, the capacity) from the input it names, checks the problem,
 * asks the chapter whether it supports it, and fills `operands`, which the caller frees. The real router's ids are what
 * chapter->gate, launched and checked, makes of its logits. Returns RUN_READY, or what is wrong: RUN_BAD_INPUT (the
 * arguments or a file), RUN_NO_DEVICE (memory), RUN_WRONG (the gate); then `operands` owns nothing and `error` has the
 * reason.
 */
enum run_result align_load(struct align_options *options, const struct align_chapter *chapter,
                           struct align_operands *operands, struct error *error);

void align_operands_free(struct align_operands *operands);

#endif
