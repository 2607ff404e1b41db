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
    NUM_ONES = 16,   /* number of words of `sums` that are initialised to all ones, for minima; the others start at 0 */
    NUM_SUMS = 128,  /* number of words that all threads update with atomics */
    OWN_WORDS = 4,   /* number of words of `own` per thread; only this thread accesses them */
    MAX_OUTPUTS = 24 /* number of words of `out` per thread */
};

struct arguments {
    const unsigned *words; /* [NUM_WORDS], never written */
    const float *reals;    /* [NUM_REALS], never written; any NaN is quiet */
    unsigned *sums;        /* [NUM_SUMS] */
    unsigned *own;         /* [threads][OWN_WORDS] */
    unsigned *exchange;    /* [threads]; after a barrier, a thread may read its block's words */
    unsigned *out;         /* [threads][outputs] */
};

struct random_kernel {
    unsigned number, blocks, threads, outputs; /* `threads` is per block */
    void (*launch)(const struct arguments *arguments);
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
