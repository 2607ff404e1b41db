/**
 * @file run.c
 * @brief Runs random kernels (see generate.py) and prints a line for each: its number and a hash of all words that it
 *        wrote.
 *
 *   PROGRAM [NUMBER]      runs all kernels of the program, or one, whose words it also prints
 *
 * A kernel's inputs depend only on the seed and the kernel's number.
 */
#include "kernels.h"

#include "base/random.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1024 };

/** All arrays that a kernel writes, in one allocation; the hash covers all of it. */
struct written {
    unsigned sums[NUM_SUMS];
    unsigned own[MAX_THREADS * OWN_WORDS_PER_THREAD];
    unsigned exchange[MAX_THREADS];
    unsigned out[MAX_THREADS * MAX_OUTPUTS_PER_THREAD];
};

struct read {
    unsigned words[NUM_WORDS];
    float reals[NUM_REALS];
};

/** Returns random bits, a small number, a number at or near a power of two, or a word with few bits set. */
static unsigned random_word(struct random *random)
{
    const unsigned bits = (unsigned)random_bits(random);

    switch (random_below(random, 5)) {
    case 0:
        return bits & 15;
    case 1:
        return (1u << (bits & 31)) - (bits >> 5 & 1);
    case 2:
        return bits & (unsigned)random_bits(random) & (unsigned)random_bits(random);
    default:
        return bits;
    }
}

static float random_real(struct random *random)
{
    static const unsigned special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fffffff,
                                       1,          0x807fffff, 0x00800000, 0x7f7fffff, 0x3f7fffff,
                                       0x4b000001, 0xcf000000, 0x4f800000, 0x33800000};
    const unsigned bits = special[random_below(random, sizeof special / sizeof *special)];
    float real;

    switch (random_below(random, 8)) {
    case 0:
        memcpy(&real, &bits, sizeof real);
        return real;
    case 1:
        return (float)random_below(random, 100) - 50;
    case 2:
        return (random_uniform(random) - 0.5f) * 0x1p30f;
    case 3:
        return (random_uniform(random) - 0.5f) * 0x1p-125f;
    default:
        return (random_uniform(random) - 0.5f) * 8;
    }
}

/** Fills the arrays that the kernel reads, and initialises the arrays that it writes. */
static void fill(const struct random_kernel *kernel, struct read *input, struct written *output)
{
    struct random random = random_seed(random_kernels_seed, kernel->number);

    for (int i = 0; i < NUM_WORDS; i++)
        input->words[i] = random_word(&random);
    for (int i = 0; i < NUM_REALS; i++)
        input->reals[i] = random_real(&random);
    memset(output, 0, sizeof *output);
    memset(output->sums, 0xff, NUM_ALL_ONES_SUMS * sizeof *output->sums);
    for (unsigned i = 0; i < kernel->blocks * kernel->threads_per_block * OWN_WORDS_PER_THREAD; i++)
        output->own[i] = random_word(&random);
}

/** Returns a hash of the words that the kernel may have written. */
static unsigned long long hash_of(const struct random_kernel *kernel, const struct written *output)
{
    const unsigned threads = kernel->blocks * kernel->threads_per_block;
    const unsigned *const parts[] = {output->sums, output->own, output->exchange, output->out};
    const unsigned lengths[] = {NUM_SUMS, threads * OWN_WORDS_PER_THREAD, threads,
                                threads * kernel->outputs_per_thread};
    unsigned long long hash = 0xcbf29ce484222325;

    for (int part = 0; part < 4; part++) {
        for (unsigned i = 0; i < lengths[part]; i++) {
            hash = (hash ^ parts[part][i]) * 0x9e3779b97f4a7c15;
            hash ^= hash >> 32;
        }
    }
    return hash;
}

/** Prints the words that each thread stored in `out` at its end, one line per thread. */
static void print_words(const struct random_kernel *kernel, const struct written *output)
{
    for (unsigned thread = 0; thread < kernel->blocks * kernel->threads_per_block; thread++) {
        printf("thread %u:", thread);
        for (unsigned i = 0; i < kernel->outputs_per_thread; i++)
            printf(" %08x", output->out[thread * kernel->outputs_per_thread + i]);
        printf("\n");
    }
}

/**
 * Runs a kernel and prints its number and hash. On an error, prints the error message in place of the hash and returns
 * false.
 */
static bool run(const struct random_kernel *kernel, struct read *input, struct written *output,
                struct read *device_input, struct written *device_output)
{
    const struct kernel_arguments arguments = {device_input->words, device_input->reals,     device_output->sums,
                                               device_output->own,  device_output->exchange, device_output->out};
    cudaError_t error;

    fill(kernel, input, output);
    error = cudaMemcpy(device_input, input, sizeof *input, cudaMemcpyHostToDevice);
    if (!error)
        error = cudaMemcpy(device_output, output, sizeof *output, cudaMemcpyHostToDevice);
    if (!error) {
        kernel->launch(&arguments);
        error = cudaGetLastError();
    }
    if (!error)
        error = cudaMemcpy(output, device_output, sizeof *output, cudaMemcpyDeviceToHost);
    if (error)
        printf("%u %s\n", kernel->number, cudaGetErrorString(error));
    else
        printf("%u %016llx\n", kernel->number, hash_of(kernel, output));
    return !error;
}

int main(int argc, char **argv)
{
    static struct read input;
    static struct written output;
    struct read *device_input;
    struct written *device_output;

    if (cudaMalloc((void **)&device_input, sizeof input) || cudaMalloc((void **)&device_output, sizeof output)) {
        fprintf(stderr, "%s: no device memory: %s\n", argv[0], cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    for (unsigned i = 0; i < num_random_kernels; i++) {
        if (argc > 1 && random_kernels[i].number != strtoul(argv[1], NULL, 10))
            continue;
        if (!run(&random_kernels[i], &input, &output, device_input, device_output))
            return 1;
        if (argc > 1)
            print_words(&random_kernels[i], &output);
    }
    return cudaFree(device_input) || cudaFree(device_output);
}
