/**
 * @file simt.h
 * @brief The interface through which a host program uses the CPU simulator: counters, the last fault, traces,
 *        limitations.
 *
 * Kernels never include this file; they see CUDA's own header names (cuda_runtime.h, cuda_fp16.h, cuda_bf16.h).
 */
#ifndef SIMT_H
#define SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sums over all launches since simt_counters_reset(); counter_list.h describes each counter. */
struct simt_counters {
#define COUNTER(name, label, meaning) uint64_t name;
#include "counter_list.h"
    uint64_t lane_events;            /**< lanes' loads, stores, atomics and basic blocks: a measure of simulator work */
    uint64_t global_atomic_requests; /**< the atomic_requests that are not in shared memory */
    uint64_t collective_arrivals;    /**< number of lanes' arrivals at shuffles, votes and barriers */
};

void simt_counters_reset(void);
void simt_counters_read(struct simt_counters *counters);

/**
 * Returns the number of distinct kernels that have been launched since simt_counters_reset(). Kernels are distinguished
 * by the name in the launch, without namespace and template arguments; a kernel launched by address gets the name of
 * the host function that launched it.
 */
int simt_num_distinct_launched_kernels(void);

/**
 * Retrieves the name and the counters of a kernel. Kernels are numbered in the order of their first launches. Summed
 * over all kernels, the counters equal those of simt_counters_read(). The name stays valid until the next launch or
 * reset. Returns false if there is no kernel with this index.
 */
bool simt_read_kernel_counters(int index, const char **name, struct simt_counters *counters);

/** A branch at which lanes of a warp diverged: some continued at `pc`, the others elsewhere. */
struct simt_divergent_branch {
    uintptr_t pc;
    uint64_t num_divergences; /**< number of divergences, summed over all warps */
};

enum { SIMT_MAX_DIVERGENT_BRANCHES = 64 };

/**
 * Copies the divergent branches recorded since simt_counters_reset(), or the first SIMT_MAX_DIVERGENT_BRANCHES of them,
 * and returns the number copied.
 */
int simt_read_divergent_branches(struct simt_divergent_branch first_branches[SIMT_MAX_DIVERGENT_BRANCHES]);

/** The memory requests of one kind by the code at `pc`. */
struct simt_source_line_requests {
    uintptr_t pc;
    const char *kind; /**< the beginning of their counters' names, such as "global_load" */
    uint64_t num_requests;
};

enum { SIMT_MAX_SOURCE_LINE_REQUESTS = 64 };

/** From now on, counts the memory requests of each line as well, which is slower. */
void simt_enable_request_counts_by_source_line(void);

/** Does for the requests of each line what simt_read_divergent_branches() does for branches. */
int simt_read_requests_by_source_line(struct simt_source_line_requests first_lines[SIMT_MAX_SOURCE_LINE_REQUESTS]);

/** Writes "file:line" of the code at `pc`. */
void simt_describe_pc(uintptr_t pc, char *text, size_t size);

/**
 * Returns one line about the last launch or call that failed, with file, line, thread and block, followed by "; try: "
 * and advice. Returns NULL if none has failed.
 */
const char *simt_fault_message(void);

/**
 * Makes device memory shared with processes that are forked later. Must be called before the first allocation. Also
 * reads in advance the files that launches would otherwise read, and starts a process that looks up source lines, so
 * that the forked processes need no files. Returns false if memory runs out or the process cannot be started.
 */
bool simt_share_memory_with_forks(void);

/**
 * Makes device memory accessible to the host if `allow`, and otherwise protects it again; calls nest. Intended for host
 * code that is known to access device memory only through runtime calls: each of these calls would otherwise open and
 * close the memory, which takes longer than copying a few pages.
 */
void simt_allow_host_access(bool allow);

/**
 * Restricts kernels to these bytes of their allocation from now on: an access to the rest of the allocation (guard
 * bands) is an out-of-bounds fault. Messages refer to the bytes as `name`.
 */
void simt_register_array_bounds(const void *begin, size_t bytes, const char *name);

/**
 * Marks device bytes as unwritten, so that reading them before a kernel has written them is a fault. Unlike other
 * unwritten bytes, those of this allocation may be copied by the host, which has its own checks.
 */
void simt_mark_unwritten(const void *begin, size_t bytes);

/**
 * Traces the next launch: records up to `most_events` operations of the warps in its block (0,0,0). Returns false if
 * memory runs out.
 *
 * simt_trace_end() writes a JSON object with "kernel", "grid", "block", "traced_block", "dynamic_shared" (its "offset"
 * in shared memory, and "bytes"), "source", "truncated" and "events", in the order of execution, one for each operation
 * of a warp. Each has "kind" (shuffle, vote, warp_barrier, block_barrier, shared_load, shared_store, global_load,
 * global_store, atomic, mma, matrix_memory, copy_from, copy_to, bulk_copy, mbarrier, return), "warp", "line" (and
 * "file" if it is not "source"; an unknown line is null) and "lanes", a mask. Columns have one element per lane, which
 * is null for lanes that do not participate. Values are hexadecimal bit patterns. Each kind has these members and
 * columns:
 *
 *   shuffle        operation, bytes, from (the lane that each lane reads; -1 if it keeps its own value), in, out
 *   vote           operation, in, out
 *   block_barrier  barrier (number of earlier barriers), warps; one event per warp, when the last warp has arrived
 *   shared_*       bytes, offset in shared memory, value
 *   global_*       bytes, allocation (by address; -1 for a __device__ variable), offset in it, value
 *   atomic         bytes, space, allocation if global, offset, value (before the operation)
 *   mma            operation; no columns. A warpgroup product (wgmma) is one event for each of its warps
 *   matrix_memory  operation: an ldmatrix (or .trans), whose shared_load precedes it, or a load or store by wmma
 *   copy_from      as global_load, for the source of an asynchronous copy; bytes is 0 if it writes only zeros
 *   copy_to        as shared_store; the value has not arrived yet
 *   bulk_copy      allocation and offset of the first byte that it reads (-1 and 0 if it writes only zeros); to (offset
 *                  in shared memory), copied (bytes)
 *   mbarrier       operation (init, arrive, arrive_expect, arrive_copies, wait), offset in shared memory; phase (except
 *                  for init), counted from 0; arrivals (for init), announced (bytes, for arrive_expect), parity (for
 *                  wait). A wait's event is recorded when its phase has ended; phase -1 ended at the init
 *   return         line: the last recorded line of the first lane
 */
bool simt_trace_begin(size_t most_events);

/**
 * Restricts the trace to a launch of the kernel with this name, without template arguments; NULL means any kernel. Must
 * be called after simt_trace_begin().
 */
void simt_trace_restrict_to_kernel(const char *kernel);

/**
 * Ends the trace and writes it to `stream` unless that is NULL. Returns false if nothing was launched, if writing
 * failed, or if memory ran out; in the last case errno is ENOMEM.
 */
bool simt_trace_end(FILE *stream);

/** Returns a static text of a few lines that tells the user what the simulator cannot detect. */
const char *simt_limitations_text(void);

#ifdef __cplusplus
}
#endif

#endif
