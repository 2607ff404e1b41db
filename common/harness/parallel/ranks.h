/**
 * @file parallel/ranks.h
 * @brief The processes of one run, each with its own device, and their collectives.
 *
 * There are two connections behind this interface: MPI, which moves host memory (connection/mpi.c, for CPU programs),
 * and NCCL, which moves device memory (connection/nccl.c). A program links one of them. With both, arrays are in device
 * memory. A collective is complete when it returns; it fails, in every surviving rank, if some rank does not arrive
 * within the time limit. After that the ranks cannot be used any more: the program reports the reason and ends.
 */
#ifndef RANKS_H
#define RANKS_H

#include "base/error.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranks;

/** A group of ranks, in their order. */
struct group {
    const char *name; /**< in messages: "the DP group" */
    int rank, size;
    const struct ranks *ranks;
    void *connection; /**< an MPI_Comm or an ncclComm_t; not used if there is one rank */
};

/** All ranks. Before ranks_connect(), everything is zero except the time limit. */
struct ranks {
    struct group all;
    double time_limit;   /**< seconds, of each collective */
    const char *stage;   /**< current stage, for messages; the program sets it */
    cudaStream_t stream; /**< for collectives, and for the work that makes their input; NULL if there is one rank */
    bool agreed;         /**< ranks_agree() has reached all ranks, so that they can leave in order */
    float *number;       /**< in device memory, for the connection */
    int forked;          /**< number of forked processes, which are the ranks; 0: mpirun started the ranks */
    struct rendezvous *rendezvous; /**< shared by forked ranks */
};

/** Line for --version: the libraries that connect the ranks of this build, or "none". */
extern const char connection_version[];

/** Checks whether ranks_fork() may be called; each process gets a GPU. */
extern const bool connection_forks;

/**
 * Forks `count` processes, which are the ranks of this machine, and returns true in each of them. No device may have
 * been used before. The original process waits until all have ended and returns false with the first exit code other
 * than 0; if a signal ends one of them, it ends the others. It also returns false, with the reason, if the processes
 * cannot be created.
 */
bool ranks_fork(struct ranks *ranks, int count, int *exit_code, struct error *error);

/**
 * Installs handlers, so that this rank reports why it ends, with exit code RUN_NO_DEVICE, when SIGTERM ends it after
 * another rank has died, or when its alarm goes off, which replaces the time limit outside collectives. Call it again
 * when ranks_connect() has set the rank's number.
 */
void ranks_install_signal_handlers(const struct ranks *ranks, const char *program);

/**
 * Connects to the other ranks, which were forked or started by mpirun; otherwise there is only this rank. Chooses this
 * rank's GPU.
 */
bool ranks_connect(struct ranks *ranks, struct error *error);

/** Disconnects this rank, after all collectives are complete. */
void ranks_disconnect(struct ranks *ranks);

/** Makes a group of the ranks that pass the same color, one or more. The caller frees it with group_free(). */
bool group_split(const struct group *all, int color, const char *name, struct group *group, struct error *error);
void group_free(struct group *group);

/** Gathers bytes[r] bytes of each rank r, one after the other, in every rank. Parts may differ in size and be empty. */
bool group_all_gather(const struct group *group, const void *own, const int64_t *bytes, void *all, struct error *error);

/**
 * Adds up the f32 arrays of all ranks element by element; the sums replace every rank's array. The order of additions
 * is not fixed.
 */
bool group_all_reduce(const struct group *group, float *sums, int64_t count, struct error *error);

/** Sends to_bytes[r] bytes to each rank r and receives from_bytes[r] from it; parts lie one after the other. */
bool group_all_to_all(const struct group *group, const void *to, const int64_t *to_bytes, void *from,
                      const int64_t *from_bytes, struct error *error);

/**
 * Combines the collectives between these two calls into one, if the connection can; then their arrays are not filled
 * before group_end(). Not allowed for group_share().
 */
void group_begin(const struct group *group);
bool group_end(const struct group *group, struct error *error);

/** Aligns the start of later work on the stream in all ranks, to time it. The call itself need not wait. */
bool ranks_synchronize(const struct ranks *ranks, struct error *error);

/** Gathers a few bytes of host memory of each rank in every rank; all parts have the same size. */
bool group_share(const struct group *group, const void *own, size_t bytes, void *all, struct error *error);

/**
 * Shares with all ranks whether this one has failed. Returns false if any has; if it was another, the error gets that
 * rank's exit code and names the rank. If all ranks have failed in the same way, as by a wrong argument, only rank 0
 * reports it: the others' text becomes "".
 */
bool ranks_agree(struct ranks *ranks, struct error *error);

/** Functions of the connection, for groups of two and more ranks, with the contracts of their counterparts above. */
bool connection_open(struct ranks *ranks, struct error *error);
void connection_close(struct ranks *ranks);
bool connection_synchronize(const struct ranks *ranks, struct error *error);
bool connection_split(const struct group *all, int color, struct group *group, struct error *error);
void connection_free(struct group *group);
void connection_begin(void);
bool connection_end(const struct group *group, struct error *error);
bool connection_all_gather(const struct group *group, const void *own, const int64_t *bytes, void *all,
                           struct error *error);
bool connection_all_reduce(const struct group *group, float *sums, int64_t count, struct error *error);
bool connection_all_to_all(const struct group *group, const void *to, const int64_t *to_bytes, void *from,
                           const int64_t *from_bytes, struct error *error);

/** Sets an error that names this rank and its stage. Returns false. */
__attribute__((format(printf, 3, 4))) bool group_error(const struct group *group, struct error *error,
                                                       const char *format, ...);

/** Sets the error of a rank for which not every rank of the group came within the time limit. Returns false. */
bool group_timed_out(const struct group *group, struct error *error);

/** Shared memory of forked ranks, through which they exchange NCCL's id before they are connected. */
struct rendezvous {
    _Atomic int is_set;
    char id[128]; /**< NCCL's, once it is set */
};

#endif
