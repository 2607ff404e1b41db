/** @file load.h  From the command line to operands in host memory. */
#ifndef ALIGN_LOAD_H
#define ALIGN_LOAD_H

#include "harness/align/options.h"
#include "harness/align/reference.h"
#include "harness/core/operand.h"

/**
 * Completes `options` (tokens, experts, topk, the ids' type, the capacity) from the input it names, checks the problem, asks the
 * chapter whether it supports it, allocates the operands and fills the inputs; `groups` are those of the ids. The real router's
 * ids are what chapter->gate, launched and checked, makes of its logits. The caller frees both. False, owning nothing, with the
 * reason: the arguments or a file, memory, the gate.
 */
bool align_load(struct align_options *options, const struct align_chapter *chapter, struct operands *operands,
                struct align_groups *groups, struct error *error);

#endif
