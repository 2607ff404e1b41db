/**
 * @file print_counts.c
 * @brief Prints every counter of four kernels, one per line, for test_same_counts.sh: the counters must not depend on
 * addresses.
 */
#include "bench_kernels.h"
#include "simt.h"

#include <inttypes.h>
#include <stdio.h>

enum { SIZE = 64, COUNT = 1 << 14, BLOCKS = 3 };

static int print(const char *name, cudaError_t error)
{
    struct simt_counters counters;

    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", name, simt_fault_message() ? simt_fault_message() : cudaGetErrorString(error));
        return 1;
    }
    simt_counters_read(&counters);
    simt_counters_reset();
#define COUNTER(counter, label, meaning) printf("%s " #counter " %" PRIu64 "\n", name, counters.counter);
#include "counter_list.h"
    printf("%s events %" PRIu64 "\n%s arrivals %" PRIu64 "\n", name, counters.lane_events, name,
           counters.collective_arrivals);
    return 0;
}

int main(void)
{
    static float host[COUNT];
    float *a;
    float *b;
    float *c;
    unsigned random = 1;

    for (int i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        host[i] = (float)(random >> 8) / (float)(1 << 24);
    }
    if (cudaMalloc((void **)&a, sizeof host) != cudaSuccess || cudaMalloc((void **)&b, sizeof host) != cudaSuccess ||
        cudaMalloc((void **)&c, sizeof host) != cudaSuccess ||
        cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess ||
        cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess)
        return 1;
    return print("matmul", bench_matmul(a, b, c, SIZE)) ||
           print("stream", bench_grid_stride_sum(a, c, COUNT, BLOCKS)) ||
           print("butterfly", bench_butterfly((int *)c, 7, BLOCKS)) ||
           print("barrier", bench_barrier((int *)c, 7, BLOCKS));
}
