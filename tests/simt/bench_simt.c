/**
 * @file bench_simt.c
 * @brief Measures the simulator's speed on one core, with counters and race checks, in events and arrivals per second.
 */
#include "bench_kernels.h"
#include "simt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIZE = 256, COUNT = 1 << 22, BLOCKS = 64 };

static struct buffers {
    float *a, *b, *c;
    int *words;
} buffers;

static cudaError_t run_matmul(void)
{
    return bench_matmul(buffers.a, buffers.b, buffers.c, SIZE);
}

static cudaError_t run_stream(void)
{
    return bench_grid_stride_sum(buffers.a, buffers.c, COUNT, BLOCKS);
}

static cudaError_t run_butterfly(void)
{
    return bench_butterfly(buffers.words, 100, BLOCKS);
}

static cudaError_t run_barrier(void)
{
    return bench_barrier(buffers.words, 100, BLOCKS);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/** Repeats `run` for at least half a second and prints the rates of the fastest repetition. */
static int measure(const char *name, cudaError_t (*run)(void))
{
    struct simt_counters counters;
    const double begin = now();
    double best = 1e30;

    do {
        simt_counters_reset();
        const double start = now();

        if (run() != cudaSuccess) {
            fprintf(stderr, "%s: %s\n", name, simt_fault_message());
            return 1;
        }
        const double took = now() - start;

        best = took < best ? took : best;
    } while (now() - begin < 0.5);
    simt_counters_read(&counters);
    printf("%-10s %8.1f million events/s %8.1f million arrivals/s   (%.3f s, %" PRIu64 " events, %" PRIu64
           " arrivals)\n",
           name, 1e-6 * (double)counters.lane_events / best, 1e-6 * (double)counters.collective_arrivals / best, best,
           counters.lane_events, counters.collective_arrivals);
    return 0;
}

int main(void)
{
    float *host = malloc(COUNT * sizeof *host);
    unsigned random = 1;

    if (!host)
        return 1;
    for (int i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        host[i] = (float)(random >> 8) / (float)(1 << 24);
    }
    if (cudaMalloc((void **)&buffers.a, COUNT * sizeof(float)) != cudaSuccess ||
        cudaMalloc((void **)&buffers.b, COUNT * sizeof(float)) != cudaSuccess ||
        cudaMalloc((void **)&buffers.c, COUNT * sizeof(float)) != cudaSuccess ||
        cudaMalloc((void **)&buffers.words, COUNT * sizeof(int)) != cudaSuccess ||
        cudaMemcpy(buffers.a, host, COUNT * sizeof *host, cudaMemcpyHostToDevice) != cudaSuccess ||
        cudaMemcpy(buffers.b, host, COUNT * sizeof *host, cudaMemcpyHostToDevice) != cudaSuccess) {
        fprintf(stderr, "device memory: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    free(host);
    return measure("matmul", run_matmul) || measure("stream", run_stream) || measure("butterfly", run_butterfly) ||
           measure("barrier", run_barrier);
}
