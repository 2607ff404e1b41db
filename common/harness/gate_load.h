/** @file gate_load.h  From the command line to operands in host memory. */
#ifndef GATE_LOAD_H
#define GATE_LOAD_H

#include "harness/gate_options.h"

/** Why operands could not be had: exit 2 (the arguments or a file) or exit 3 (memory). */
enum load_result { LOAD_DONE, LOAD_BAD_INPUT, LOAD_NO_MEMORY };

/**
 * Completes options->problem (tokens, experts, bias) from the input it names, checks it, asks the chapter whether it
 * supports it, and fills `input`, which the caller frees. On failure `input` owns nothing and `error` has the reason.
 */
enum load_result gate_load(struct gate_options *options, const struct gate_step *step, struct gate_input *input,
                           struct error *error);

/** Finds a file of the router data in the tree that the program lies in, or else in the one it was started in. */
bool router_data_path(const char *file, char *path, size_t size, struct error *error);

#endif
