/**
 * @file core/backend.h
 * @brief What runs the kernels: a GPU (backend_gpu.c) or the CPU simulator (backend_simt.c). A program links one.
 *
 * Everything else in the harness sees only CUDA's runtime API and this header.
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

/** What the backend is, as reports print it. Unknown entries are "". */
struct backend {
    char device[256]; /**< "NVIDIA H200", "CPU simulator" */
    char driver[64];
    char toolkit[64];
    struct gpu gpu;    /**< all zeros for the simulator */
    bool has_times;    /**< backend_time() works */
    bool has_counters; /**< backend_read_counters() finds any */
};

/** Finds the device. Returns false and the reason when there is none that can run kernels with these needs, or NULL. */
bool backend_open(struct backend *backend, const struct gpu_needs *needs, struct error *error);

/** A deterministic count of what the launches did. */
struct counter {
    const char *name; /**< static; words joined by '_' */
    uint64_t value;
};

enum { MAX_COUNTERS = 32 };

/** Sets all counters to 0. */
void backend_reset_counters(void);

enum { MAX_KERNELS = 16, KERNEL_NAME_SIZE = 64 };

/** What the launches of one kernel did. */
struct kernel_counters {
    char name[KERNEL_NAME_SIZE]; /**< as the launch has it, without template arguments */
    struct counter counters[MAX_COUNTERS];
};

/** The counters of a run. All zero: nothing was counted, as on a GPU. */
struct run_counters {
    struct counter total[MAX_COUNTERS]; /**< the sums of the kernels' */
    int num_counters;
    int num_rare; /**< the last so many: of what few programs do, so that reports leave out those that are 0 */
    struct kernel_counters
        kernels[MAX_KERNELS]; /**< in the order of their first launches; each has num_counters of them */
    int num_kernels;
    uint64_t global_atomic_requests; /**< those of the atomic requests that are not in shared memory; in no report */
};

/** Reads what has been counted since backend_reset_counters(). */
void backend_read_counters(struct run_counters *counters);

/**
 * Before anything is allocated: whether launches may be made in processes that are forked later, which share the
 * device's memory with this one. A GPU's may not.
 */
bool backend_share(void);

/**
 * The caller touches device memory by calls of the runtime only, until it says `false`: nobody needs to watch it. Calls
 * nest.
 */
void backend_keep_open(bool open);

/** Makes device memory off limits to kernels, if the backend can: guard bands. */
void backend_forbid(const void *begin, size_t bytes);

/**
 * Device memory holds what the host will look for: a kernel that reads it before one has written it is refused, if the
 * backend can.
 */
void backend_unwrite(const void *begin, size_t bytes);

/**
 * Writes `count` generated values, from number `first` on, to device memory in the type f32 or bf16; or, with `others`,
 * writes nothing and adds to it how many elements there are not so. Returns when that is done.
 */
cudaError_t backend_generate(struct generated values, enum dtype dtype, int64_t first, int64_t count, void *device,
                             uint64_t *others);

/** One line that says what a failed launch did wrong, with file and line; NULL if the backend cannot tell. */
const char *backend_fault(void);

/** What the counters cannot see: text for people, or NULL. */
const char *backend_limits(void);

/**
 * Traces block (0,0,0) of the next launch, or of the next of the kernel of that name; the name stays the caller's.
 * Returns false with the reason: a GPU cannot be watched so.
 */
bool backend_trace_begin(const char *kernel, struct error *error);

/**
 * Ends the trace and writes it, as simt.h describes it; without a stream only ends it. Returns false with the reason.
 */
bool backend_trace_end(FILE *stream, struct error *error);

/** Launches once what is to be timed. `turn` counts the launches, for whoever rotates among several inputs. */
typedef cudaError_t backend_launch(void *context, int turn, cudaStream_t stream);

enum backend_cache {
    BACKEND_WARM,    /**< launches follow one another: what one left in L2 is there for the next */
    BACKEND_FLUSHED, /**< L2 is overwritten before each launch */
};

/** Microseconds per launch over the replays of a graph. */
struct timing {
    double median, p10, p90;
};

/** Sorts the times, of repeated launches or batches of them, and picks the three. */
struct timing timing_of(double *times, int count);

/**
 * Times a launch: a CUDA graph of 20, or of one that takes more than 5 ms, replayed; the median and the 10th and 90th
 * percentile over the replays. `launch` must not allocate or synchronise. Returns false with the reason.
 */
bool backend_time(backend_launch *launch, void *context, enum backend_cache cache, struct timing *timing,
                  struct error *error);

/** What no kernel can be faster than. */
struct floor_figures {
    double empty_us;         /**< an empty kernel in the same kind of graph */
    double bytes_per_second; /**< a large device-to-device copy, counting bytes read and bytes written */
};

/** Measures the floor on this device. Returns false with the reason. */
bool backend_measure_floor(struct floor_figures *figures, struct error *error);

/** Bytes a second that all multiprocessors together read from memory, and write nothing. False with the reason. */
bool backend_measure_reading(double *bytes_per_second, struct error *error);

/**
 * Operations a second of a library's products of large bf16 matrices, one after the other for at least so many
 * microseconds: as long as what they are compared with took, since a GPU that has to stay within its power lowers its
 * clock. 0 if the library is not there. False with the reason.
 */
bool backend_measure_products(double least_us, double *operations_per_second, struct error *error);

#endif
