/** @file primer.h  The primer's kernels, each a few lines long and with a single idea; main.c runs them. */
#ifndef PRIMER_H
#define PRIMER_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Chooses two of six experts and prints each step. */
void primer_print_gate_example(void);

/** Launches a kernel that reads `in`, 1,024 ints, and writes `out`, 256 ints, both in device memory. */
typedef cudaError_t primer_launch(const int *in, int *out);

primer_launch primer_who, primer_neighbours, primer_strides, primer_rows, primer_shuffle, primer_shuffle_8,
    primer_branch, primer_select, primer_barrier, primer_race, primer_syncwarp, primer_reverse, primer_collect,
    primer_sum, primer_histogram, primer_tile, primer_publish, primer_unordered, primer_fences;

/** Returns how many blocks of the kernel `reverse` fit on a multiprocessor at a time, or 0 if none fits. */
int primer_max_resident_blocks(int threads, size_t shared_bytes);

#ifdef __cplusplus
}
#endif

#endif
