/**
 * @file main.c
 * @brief Runs one of the primer's kernels on the simulator, and prints its output and its counters, or runs the
 * primer's first example.
 *
 * primer gate   the example, on the CPU
 * primer occupancy   the number of blocks that a multiprocessor holds
 * primer NAME   a kernel: exits 0; 1, with the reason, if the simulator rejects the kernel; 2 if there is no such
 * kernel
 */
#include "primer.h"

#include "base/edit_distance.h"
#include "simt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS = 1024, OUTPUTS = 256 };

static const struct kernel {
    const char *name;
    primer_launch *launch;
    int shown[8]; /**< indices of the output elements to print; element 0 is always printed */
} kernels[] = {
    {"who", primer_who, {1, 31, 32, 33, 127, 128, 255}},
    {"neighbours", primer_neighbours, {1, 2, 31}},
    {"strides", primer_strides, {1, 2, 31}},
    {"rows", primer_rows, {1, 2, 31}},
    {"shuffle", primer_shuffle, {1, 31}},
    {"shuffle_8", primer_shuffle_8, {1, 7, 8, 31}},
    {"branch", primer_branch, {1, 2, 3, 31}},
    {"select", primer_select, {1, 2, 3, 31}},
    {"barrier", primer_barrier, {1, 31, 32, 127}},
    {"race", primer_race, {0}},
    {"syncwarp", primer_syncwarp, {1, 2, 3, 31}},
    {"reverse", primer_reverse, {1, 127, 128, 255}},
    {"collect", primer_collect, {1, 2, 42}},
    {"sum", primer_sum, {0}},
    {"histogram", primer_histogram, {1, 2, 3, 4, 5}},
    {"tile", primer_tile, {1, 7}},
    {"publish", primer_publish, {1, 2}},
    {"unordered", primer_unordered, {0}},
    {"fences", primer_fences, {1, 2}},
};

enum { NUM_KERNELS = sizeof kernels / sizeof *kernels };

static void print_count(const char *name, uint64_t count)
{
    if (count > 0)
        printf("%-22s %5" PRIu64 "\n", name, count);
}

static void print_counters(void)
{
    struct simt_counters counters;

    simt_counters_read(&counters);
    print_count("blocks", counters.blocks);
    print_count("shuffles", counters.shuffles);
    print_count("warp barriers", counters.warp_barriers);
    print_count("block barriers", counters.block_barriers);
    print_count("divergent branches", counters.divergent_branches);
    print_count("global load requests", counters.global_load_requests);
    print_count("global load sectors", counters.global_load_sectors);
    print_count("global store requests", counters.global_store_requests);
    print_count("global store sectors", counters.global_store_sectors);
    print_count("shared load requests", counters.shared_load_requests);
    print_count("shared store requests", counters.shared_store_requests);
    print_count("atomic requests", counters.atomic_requests);
    print_count("atomic conflicts", counters.atomic_conflicts);
    printf("%-22s %5.1f %%\n", "active lanes", 100.0 * (double)counters.lanes_active / (double)counters.lanes_possible);
}

/** Runs the kernel with the input in[i] = i. `in` and `out` are device arrays. */
static cudaError_t run(const struct kernel *kernel, int *in, int *out, int *result)
{
    int numbers[INPUTS];
    cudaError_t error;

    for (int i = 0; i < INPUTS; i++)
        numbers[i] = i;
    error = cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemset(out, 0, OUTPUTS * sizeof *out); /* few kernels write every element that is copied back */
    simt_counters_reset();
    if (error == cudaSuccess)
        error = kernel->launch(in, out);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(result, out, OUTPUTS * sizeof *out, cudaMemcpyDeviceToHost);
    return error;
}

static int show(const struct kernel *kernel)
{
    int *in = NULL, *out = NULL, result[OUTPUTS];
    cudaError_t error = cudaMalloc((void **)&in, INPUTS * sizeof *in);

    if (error == cudaSuccess)
        error = cudaMalloc((void **)&out, OUTPUTS * sizeof *out);
    if (error == cudaSuccess)
        error = run(kernel, in, out, result);
    if (error != cudaSuccess) {
        printf("%s\n", simt_fault_message() ? simt_fault_message() : cudaGetErrorString(error));
    } else {
        printf("out[0] = %d", result[0]);
        for (int i = 0; kernel->shown[i]; i++)
            printf(", [%d] = %d", kernel->shown[i], result[kernel->shown[i]]);
        printf("\n");
        print_counters();
    }
    cudaFree(out);
    cudaFree(in);
    return error != cudaSuccess || fflush(stdout) != 0;
}

/** Prints how many blocks and warps fit on a multiprocessor, for several block sizes and shared-memory sizes. */
static void print_occupancy(void)
{
    static const struct {
        int threads, shared_kib;
    } needs[] = {{1024, 0}, {128, 0}, {32, 0}, {128, 24}, {128, 48}};

    printf("threads  shared KiB  blocks  warps  of 64\n");
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        const int blocks = primer_max_resident_blocks(needs[i].threads, (size_t)needs[i].shared_kib * 1024);
        const int warps = blocks * needs[i].threads / 32;

        printf("%7d %11d %7d %6d %5.1f %%\n", needs[i].threads, needs[i].shared_kib, blocks, warps, warps / 0.64);
    }
}

/** Says that an example is unknown, and which one has the most similar name, if any is similar. */
static void refuse_name(const char *name)
{
    const char *similar = NULL;
    size_t least = strlen(name) / 3 + 1;

    for (int i = -2; i < NUM_KERNELS; i++) {
        const char *const known = i == -2 ? "gate" : i == -1 ? "occupancy" : kernels[i].name;
        const size_t distance = edit_distance(name, strlen(name), known);

        if (distance < least) {
            least = distance;
            similar = known;
        }
    }
    fprintf(stderr, "primer: '%.40s' is no example%s%s%s; ", name, similar ? "; is it " : "", similar ? similar : "",
            similar ? "?" : "");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "occupancy") == 0) {
        print_occupancy();
        return fflush(stdout) != 0;
    }
    if (argc == 2 && strcmp(argv[1], "gate") == 0) {
        primer_print_gate_example();
        return fflush(stdout) != 0;
    }
    for (int i = 0; argc == 2 && i < NUM_KERNELS; i++)
        if (strcmp(argv[1], kernels[i].name) == 0)
            return show(&kernels[i]);
    if (argc == 2)
        refuse_name(argv[1]);
    fprintf(stderr, "usage: primer gate|occupancy");
    for (int i = 0; i < NUM_KERNELS; i++)
        fprintf(stderr, "|%s", kernels[i].name);
    fprintf(stderr, "\n");
    return 2;
}
