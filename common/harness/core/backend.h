/**
 * @file core/backend.h
 * @brief The device that runs the kernels: a GPU (backend_gpu.c) or the CPU simulator (backend_simt.c). A program links
 *        exactly one of the two.
 *
 * The rest of the harness uses only CUDA's runtime API and this header.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "base/error.h"
#include "harness/core/dtype.h"
#include "harness/core/generated.h"
#include "harness/core/gpu_needs.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** A description of the backend for reports. Unknown strings are "". */
struct backend_info {
    char device_name[256]; /**< device name, such as "NVIDIA H200" or "CPU simulator" */
    char driver_version[64];
    char toolkit_version[64];
    struct gpu gpu;         /**< properties of the GPU; all zeros for the simulator */
    bool can_measure_times; /**< whether backend_time_launch() works; false for the simulator */
    bool has_counters;      /**< whether backend_read_counters() returns counters */
};

/**
 * Finds the device that is to run the kernels. If no device meets `needs` (which may be NULL), returns false and sets
 * *error.
 */
bool backend_open(struct backend_info *backend, const struct gpu_needs *needs, struct error *error);

/** Returns the number of bytes of device memory that can still be allocated, or SIZE_MAX if it is unknown. */
size_t backend_available_device_memory_bytes(void);

/** A deterministic counter of the work done by launches: its value is the same in every run. */
struct counter {
    const char *name; /**< static string; words are joined by '_' */
    uint64_t value;
};

enum { MAX_COUNTERS = 32 };

/** Sets all counters to 0. */
void backend_reset_counters(void);

enum { MAX_KERNELS = 16, KERNEL_NAME_SIZE = 64 };

/** Counters of the launches of one kernel. */
struct kernel_counters {
    char name[KERNEL_NAME_SIZE]; /**< kernel name as in the launch, without template arguments */
    struct counter counters[MAX_COUNTERS];
};

/** A branch at which warps diverged. Only backend_describe_divergent_branches() can locate it in the source. */
struct divergent_branch {
    uintptr_t pc;
    uint64_t num_divergences;
};

enum { MAX_DIVERGENT_BRANCHES = 64 };

/** The number of memory requests of one kind that the code at a program counter made. */
struct requests_at_pc {
    uintptr_t pc;
    const char *kind; /**< the beginning of their counters' names: static string */
    uint64_t num_requests;
};

enum { MAX_REQUEST_PCS = 64 };

/** The counters of a run. All counters are zero on a GPU, where nothing is counted. */
struct run_counters {
    struct counter totals[MAX_COUNTERS]; /**< sums over all kernels */
    int num_counters;
    int num_counters_omitted_if_zero; /**< number of rare counters, which come last; reports omit those that are 0 */
    struct kernel_counters
        kernels[MAX_KERNELS]; /**< in the order of their first launches, each with num_counters counters */
    int num_kernels;
    struct divergent_branch divergent_branches[MAX_DIVERGENT_BRANCHES];
    int num_divergent_branches;
    struct requests_at_pc requests_by_pc[MAX_REQUEST_PCS]; /**< none before backend_enable_request_counts_by_line() */
    int num_request_pcs;
    uint64_t global_atomic_requests; /**< atomic requests to global memory; not in reports */
};

/** Reads the counters accumulated since backend_reset_counters(). */
void backend_read_counters(struct run_counters *counters);

/** Describes where warps diverged, the most divergent lines first: "gate.cu:40 (16 times), :52 (8 times)". */
void backend_describe_divergent_branches(const struct run_counters *counters, char *text, size_t size);

/** From now on, counts the memory requests of each source line as well, which is slower. */
void backend_enable_request_counts_by_line(void);

/**
 * Describes, as backend_describe_divergent_branches() does, the lines with the most requests of the kind that a counter
 * counts, such as "global_load_requests" or "global_load_sectors". Writes "" if none are known.
 */
void backend_describe_lines_with_most_requests(const struct run_counters *counters, const char *counter_name,
                                               char *text, size_t size);

/**
 * Shares the device's memory with processes that are forked later, so that they can launch kernels as well. Must be
 * called before any allocation. Returns false if the backend does not support sharing, as on a GPU.
 */
bool backend_try_share_memory_with_forks(void);

/**
 * Makes device memory accessible to the host without checks or, if `allow` is false, protects it again; calls nest.
 * While the memory is accessible, the caller must access it only through runtime calls, which need no check.
 */
void backend_allow_host_access(bool allow);

/**
 * Registers an array: if the backend supports it, kernels may access only these bytes of the allocation, not its guard
 * bands, and messages call the array `name`.
 */
void backend_register_array_bounds(const void *begin, size_t bytes, const char *name);

/**
 * Marks device memory as unwritten: a backend that supports this reports a kernel that reads the memory before a kernel
 * has written it.
 */
void backend_mark_unwritten(const void *begin, size_t bytes);

/**
 * Writes `num_values` generated values, starting with value number `first_index`, to device memory as f32 or bf16. If
 * `num_different` is not NULL, writes nothing but compares device memory with these values and adds the number of
 * differing elements to *num_different. Returns when the work is complete.
 */
cudaError_t backend_generate_or_compare(struct generated_array values, enum dtype dtype, int64_t first_index,
                                        int64_t num_values, void *device, uint64_t *num_different);

/** Returns one line that describes the fault of a failed launch, with file and line, or NULL if unknown. */
const char *backend_fault_message(void);

/** Returns a string that describes what the counters do not cover, or NULL. */
const char *backend_counter_limitations(void);

/**
 * Traces block (0,0,0) of the next launch, or of the next launch of the kernel named
 * `kernel_name_or_null`; the name must outlive the trace.
 * On a GPU, which does not support tracing, returns false and sets *error.
 */
bool backend_begin_first_block_trace(const char *kernel_name_or_null, struct error *error);

/**
 * Ends the trace and, unless `stream_or_null` is NULL, writes it in the format that simt.h describes. On failure,
 * returns false and sets *error.
 */
bool backend_end_and_write_trace(FILE *stream_or_null, struct error *error);

/**
 * Launches the timed work once. `launch_index` is the index of the launch, which the callback can use to rotate among
 * several inputs.
 */
typedef cudaError_t backend_timed_launch_function(void *context, int launch_index, cudaStream_t stream);

/** The state of L2 before each timed launch. */
enum backend_cache_state {
    BACKEND_CACHE_WARM,    /**< back-to-back launches; L2 holds what the previous launch left there */
    BACKEND_CACHE_FLUSHED, /**< L2 is overwritten before each launch */
};

/** Microseconds per launch: the median and percentiles over the replays of a graph. */
struct timing {
    double median, p10, p90;
};

/**
 * Returns the median and percentiles of `samples`, which are those of repeated launches or of batches of launches.
 * Sorts `samples`.
 */
struct timing timing_from_samples(double *samples, int num_samples);

/**
 * Times a launch by replaying a CUDA graph of 20 launches, or of one launch if it runs longer than 5 ms. Sets *timing
 * to the median and the 10th and 90th percentiles over the replays. `launch` must not allocate or synchronise. On
 * failure, returns false and sets *error.
 */
bool backend_time_launch(backend_timed_launch_function *launch, void *context, enum backend_cache_state cache,
                         struct timing *timing, struct error *error);

/** Measurements that give lower bounds on a kernel's time. */
struct launch_time_and_copy_rate {
    double empty_kernel_us; /**< time of an empty kernel, launched in a graph of the same kind */
    double
        copy_bytes_per_second; /**< rate of a large device-to-device copy, counting both bytes read and bytes written */
};

/** Measures both members of `measured` on this device. On failure, returns false and sets *error. */
bool backend_measure_launch_time_and_copy_rate(struct launch_time_and_copy_rate *measured, struct error *error);

/**
 * Measures the bandwidth at which all multiprocessors together read memory, without writing. On failure, returns false
 * and sets *error.
 */
bool backend_measure_read_bandwidth(double *bytes_per_second, struct error *error);

/**
 * Measures the rate of cuBLAS, in operations per second, for products of large bf16 matrices that run for at least
 * `min_us` microseconds. The products should run as long as the launches that they are compared with, because a GPU
 * at its power limit lowers its clock. The rate is 0 if cuBLAS is not installed. On failure, returns false and sets
 * *error.
 */
bool backend_measure_gemm_rate(double min_us, double *operations_per_second, struct error *error);

#endif
