/**
 * @file parallel/ranks.h
 * @brief The processes of one run, each with its own device, and their collectives.
 *
 * Two connections implement this interface: MPI, which moves host memory (connection/mpi.c, for CPU programs), and
 * NCCL, which moves device memory (connection/nccl.c). A program links one of them. With either connection, arrays are
 * in device memory. A collective is complete when it returns. A collective fails in every surviving rank if some rank
 * does not arrive within the time limit; the ranks are then unusable, and the program reports the reason and exits.
 */
#ifndef RANKS_H
#define RANKS_H

#include "base/error.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_context;

/** A group of ranks, in rank order. */
struct rank_group {
    const char *name; /**< name for messages, such as "the DP group" */
    int rank, size;
    const struct rank_context *ranks;
    void *connection; /**< an MPI_Comm or an ncclComm_t; unused in a group of one rank */
};

/** This rank's connection to all ranks. Before ranks_connect(), all members except the time limit are zero. */
struct rank_context {
    struct rank_group all_ranks;
    double time_limit_seconds;      /**< time limit for each collective, in seconds */
    const char *current_stage_name; /**< current stage, for messages; the program sets it */
    cudaStream_t stream; /**< stream of collectives and of the work that produces their input; NULL for a single rank */
    /** Set once ranks_exchange_failures() has reached all ranks, which can then disconnect cleanly. */
    bool failure_has_reached_all_ranks;
    float *scratch_float;          /**< one float in device memory, used by the connection */
    int num_forked_ranks;          /**< number of ranks that this program forked; 0 if mpirun started the ranks */
    struct rendezvous *rendezvous; /**< memory that forked ranks share */
};

/** A line for --version: the libraries that connect the ranks in this build, or "none". */
extern const char connection_version[];

/** True if ranks_fork_and_return_in_ranks() may be called; each process then gets a GPU. */
extern const bool connection_can_fork_ranks;

/**
 * Forks `num_processes` processes, which become the ranks, and returns true in each of them. Must be called before any
 * device is used. The parent, which is the original process, waits until all ranks have exited and returns false with
 * the first nonzero exit code, which becomes its own; if a signal kills a rank, the parent terminates the others. If
 * the processes cannot be created, returns false and sets *error.
 */
bool ranks_fork_and_return_in_ranks(struct rank_context *ranks, int num_processes, int *parent_exit_code,
                                    struct error *error);

/**
 * Installs signal handlers that report why this rank exits and then exit with RUN_CANNOT_RUN. The rank exits
 * if it receives SIGTERM after another rank has died, or if its alarm fires, which enforces the time limit outside
 * collectives. Must be called again after ranks_connect() has set the rank's number.
 */
void ranks_report_and_exit_on_signals(const struct rank_context *ranks, const char *program);

/**
 * Connects to the other ranks, which mpirun or ranks_fork_and_return_in_ranks() started. If neither started any ranks,
 * this rank is the only one. Chooses this rank's GPU.
 */
bool ranks_connect(struct rank_context *ranks, struct error *error);

/** Disconnects this rank, after all collectives are complete. */
void ranks_disconnect(struct rank_context *ranks);

/** Creates a group of the ranks that pass the same color. The caller frees the group with group_free(). */
bool group_split(const struct rank_group *parent, int color, const char *name, struct rank_group *group,
                 struct error *error);
void group_free(struct rank_group *group);

/**
 * All-gathers bytes[r] bytes from each rank r into every rank's receive_buffer, in rank order. Both buffers are in
 * device memory. Parts may differ in size and may be empty.
 */
bool group_all_gather(const struct rank_group *group, const void *send_buffer, const int64_t *bytes,
                      void *receive_buffer, struct error *error);

/**
 * Adds up the f32 arrays of all ranks, in device memory, element by element; the sums replace every rank's array. The
 * order of the additions is not fixed.
 */
bool group_all_reduce(const struct rank_group *group, float *sums, int64_t num_sums, struct error *error);

/**
 * Sends send_bytes[r] bytes to each rank r and receives receive_bytes[r] bytes from that rank. Both
 * buffers are in device memory; their parts are contiguous, in rank order.
 */
bool group_all_to_all(const struct rank_group *group, const void *send_buffer, const int64_t *send_bytes,
                      void *receive_buffer, const int64_t *receive_bytes, struct error *error);

/**
 * Combine the collectives issued between these two calls into one, if the connection supports grouping; their results
 * are available only after collectives_group_end(). group_all_gather_host() must not be called in between.
 */
void collectives_group_start(const struct rank_group *group);
bool collectives_group_end(const struct rank_group *group, struct error *error);

/**
 * Makes later work on the stream start at the same time in all ranks, so that it can be timed. The call itself may
 * return earlier.
 */
bool ranks_barrier_on_stream(const struct rank_context *ranks, struct error *error);

/**
 * All-gathers `bytes` bytes from each rank into every rank's receive_buffer, in rank order, as group_all_gather() does,
 * but between buffers in host memory.
 */
bool group_all_gather_host(const struct rank_group *group, const void *send_buffer, size_t bytes, void *receive_buffer,
                           struct error *error);

/**
 * Informs all ranks whether this rank has failed. Returns false if any rank has failed; if another rank has failed, the
 * error names that rank and takes its exit code. If all ranks have failed in the same way, as after an invalid
 * argument, only rank 0 reports the failure, and the error text of the others becomes "".
 */
bool ranks_exchange_failures(struct rank_context *ranks, struct error *error);

/**
 * The connection's implementations of the functions above, for groups of at least two ranks, with the same contracts.
 */
bool connection_open(struct rank_context *ranks, struct error *error);
void connection_close(struct rank_context *ranks);
bool connection_barrier_on_stream(const struct rank_context *ranks, struct error *error);
bool connection_split_group(const struct rank_group *parent, int color, struct rank_group *group, struct error *error);
void connection_free_group(struct rank_group *group);
void connection_collectives_batch_start(void);
bool connection_collectives_batch_end(const struct rank_group *group, struct error *error);
bool connection_all_gather(const struct rank_group *group, const void *send_buffer, const int64_t *bytes,
                           void *receive_buffer, struct error *error);
bool connection_all_reduce(const struct rank_group *group, float *sums, int64_t num_sums, struct error *error);
bool connection_all_to_all(const struct rank_group *group, const void *send_buffer, const int64_t *send_bytes,
                           void *receive_buffer, const int64_t *receive_bytes, struct error *error);

/** Sets an error that names this rank and its stage. Returns false. */
__attribute__((format(printf, 3, 4))) bool group_error_set(const struct rank_group *group, struct error *error,
                                                           const char *format, ...);

/** Sets the error for a rank that waited longer than the time limit for other ranks of the group. Returns false. */
bool group_error_set_timed_out(const struct rank_group *group, struct error *error);

/** Shared memory of forked ranks, through which they exchange NCCL's id before they are connected. */
struct rendezvous {
    _Atomic int nccl_id_is_set;
    char nccl_id[128]; /**< NCCL's id, valid once nccl_id_is_set is nonzero */
};

#endif
