/**
 * @file kernels.h
 * @brief Declarations shared by a file of random kernels (generate.py) and the program that runs them (run.c): the
 *        arguments of a kernel, the layout of its memory, and the list of kernels.
 */
#ifndef RANDOM_KERNELS_H
#define RANDOM_KERNELS_H

enum {
    NUM_WORDS = 1024, /* number of elements of `words`; generate.py masks indices accordingly */
    NUM_REALS = 256,
    NUM_ALL_ONES_SUMS = 16,   /* number of words of `sums` that are initially all ones, for minima; the others are 0 */
    NUM_SUMS = 128,           /* number of words that all threads update with atomics */
    OWN_WORDS_PER_THREAD = 4, /* number of words of `own` per thread; only this thread accesses them */
    MAX_OUTPUTS_PER_THREAD = 24 /* number of words of `out` per thread */
};

struct kernel_arguments {
    const unsigned *words; /* [NUM_WORDS], never written */
    const float *reals;    /* [NUM_REALS], never written; any NaN is quiet */
    unsigned *sums;        /* [NUM_SUMS] */
    unsigned *own;         /* [threads][OWN_WORDS_PER_THREAD] */
    unsigned *exchange;    /* [threads]; after a barrier, a thread may read its block's words */
    unsigned *out;         /* [threads][outputs_per_thread] */
};

struct random_kernel {
    unsigned number, blocks, threads_per_block, outputs_per_thread;
    void (*launch)(const struct kernel_arguments *arguments);
};

#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned long long random_kernels_seed;
extern const unsigned num_random_kernels;
extern const struct random_kernel random_kernels[];
#ifdef __cplusplus
}
#endif

#endif
