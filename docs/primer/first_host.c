/** @file first_host.c  The host code for the reader's first kernel: calls count_launch() and checks the counts. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#ifndef __NVCC__
#include "simt.h"
#else
#define simt_fault_message() NULL /* a GPU gives no details of a fault */
#endif

enum { NUM_IDS = 100, NUM_EXPERTS = 6 };

cudaError_t count_launch(const int *ids, int num_ids, int *counts);

// [host]
/** Counts the ids on the device. `ids` [NUM_IDS] and `counts` [NUM_EXPERTS] are in host memory. */
static cudaError_t count_on_device(const int *ids, int *counts)
{
    int *device_ids = NULL, *device_counts = NULL;
    cudaError_t error = cudaMalloc((void **)&device_ids, NUM_IDS * sizeof *ids);

    if (error == cudaSuccess)
        error = cudaMalloc((void **)&device_counts, NUM_EXPERTS * sizeof *counts);
    if (error == cudaSuccess)
        error = cudaMemcpy(device_ids, ids, NUM_IDS * sizeof *ids, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemset(device_counts, 0, NUM_EXPERTS * sizeof *counts);
    if (error == cudaSuccess)
        error = count_launch(device_ids, NUM_IDS, device_counts); /* only enqueues the kernel */
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize(); /* waits until the kernel has ended */
    if (error == cudaSuccess)
        error = cudaMemcpy(counts, device_counts, NUM_EXPERTS * sizeof *counts, cudaMemcpyDeviceToHost);
    cudaFree(device_counts);
    cudaFree(device_ids);
    return error;
}
// [host]

static void print_row(const char *name, const int *values)
{
    printf("%-10s", name);
    for (int expert = 0; expert < NUM_EXPERTS; expert++)
        printf(" %4d", values[expert]);
    printf("\n");
}

int main(void)
{
    int ids[NUM_IDS], counts[NUM_EXPERTS], expected[NUM_EXPERTS] = {0}, experts[NUM_EXPERTS];
    int wrong = 0;

    for (int i = 0; i < NUM_IDS; i++) {
        ids[i] = i * i % NUM_EXPERTS;
        expected[ids[i]]++;
    }

    const cudaError_t error = count_on_device(ids, counts);

    if (error != cudaSuccess) {
        printf("%s\n", simt_fault_message() ? simt_fault_message() : cudaGetErrorString(error));
        return 1;
    }
    for (int expert = 0; expert < NUM_EXPERTS; expert++) {
        experts[expert] = expert;
        wrong += counts[expert] != expected[expert];
    }
    print_row("expert", experts);
    print_row("counted", counts);
    print_row("expected", expected);
    printf("%s\n", wrong ? "wrong" : "right");
    return wrong != 0 || fflush(stdout) != 0;
}
