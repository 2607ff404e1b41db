/**
 * @file parallel/ranks.h
 * @brief The processes of one run, each with a device of its own, and what they do together: collectives.
 *
 * One interface, two connections: MPI, which moves host memory (connection/mpi.c, the CPU's programs), and NCCL, which
 * moves device memory (connection/nccl.c). A program links one. Arrays are in device memory either way. A collective
 * is done when it returns; it fails, in every rank that is still there, when some rank has not come within the time
 * limit. After that the ranks cannot be used any more: the program says why, and ends.
 */
#ifndef RANKS_H
#define RANKS_H

#include "base/error.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranks;

/** Some of the ranks, in their order. */
struct group {
    const char *name; /**< in messages: "the DP group" */
    int rank, size;
    const struct ranks *ranks;
    void *connection; /**< an MPI_Comm or an ncclComm_t; not looked at if there is one rank */
};

/** All of them. Zeros, and the time limit, before ranks_open(). */
struct ranks {
    struct group all;
    double time_limit; /**< seconds, of each collective */
    const char *stage; /**< what is being done, for messages; the program's to set */
    cudaStream_t
        stream; /**< collectives are on this stream, as what makes their input should be; NULL if there is one rank */
    bool together;               /**< ranks_agree() has reached all, whatever it said: they can leave in order */
    float *number;               /**< of device memory, for the connection */
    int forked;                  /**< so many processes of this machine are the ranks; 0: they were started by mpirun */
    struct meeting_place *place; /**< of forked ranks */
};

/** A line for --version: the libraries that this program was built with to connect ranks, or "none". */
extern const char connection_version[];

/** Whether ranks_fork() may be called: each process gets a GPU. */
extern const bool connection_forks;

/**
 * Before anything touches a device: makes `count` processes of this one, all ranks of this machine, and returns true
 * in each. False in the process that was there before, when all have ended, with the first exit code that is not 0; if
 * one is ended by a signal the others are ended, too. False with the reason, too, if there cannot be so many
 * processes.
 */
bool ranks_fork(struct ranks *ranks, int count, int *exit_code, struct error *error);

/**
 * From here on this rank says why it ends, with exit code RUN_NO_DEVICE, if it is sent away since another died, or if
 * its alarm goes off, where no collective has a limit. Once more when ranks_open() has found the rank's number.
 */
void ranks_expect_the_worst(const struct ranks *ranks, const char *program);

/**
 * Finds the other ranks: those that were forked, or that mpirun started; else this one is alone. Chooses this rank's
 * GPU.
 */
bool ranks_open(struct ranks *ranks, struct error *error);

/** Leaves, when every collective is done. */
void ranks_close(struct ranks *ranks);

/** The ranks that give the same color, one of them or more. group_free() when it is done with. */
bool group_split(const struct group *all, int color, const char *name, struct group *group, struct error *error);
void group_free(struct group *group);

/** Every rank gets what each has, one after the other: bytes[r] of rank r. Unequal parts, also none, are fine. */
bool group_all_gather(const struct group *group, const void *own, const int64_t *bytes, void *all, struct error *error);

/**
 * Every rank gets the sums of what all have, element by element, in place of its own. In f32; the order is not fixed.
 */
bool group_all_reduce(const struct group *group, float *sums, int64_t count, struct error *error);

/** Rank r is sent its own to_bytes[r], which lie one after the other, and from_bytes[r] come from it. */
bool group_all_to_all(const struct group *group, const void *to, const int64_t *to_bytes, void *from,
                      const int64_t *from_bytes, struct error *error);

/**
 * Collectives between these two are one for the connection, if it can put them together: then their arrays are not
 * filled before group_end(). Not for group_share().
 */
void group_begin(const struct group *group);
bool group_end(const struct group *group, struct error *error);

/** Lets what follows on the stream begin in all ranks at about the same time, to be timed. Need not wait itself. */
bool ranks_line_up(const struct ranks *ranks, struct error *error);

/** The same as group_all_gather() for a few bytes of host memory, as many from each. */
bool group_share(const struct group *group, const void *own, size_t bytes, void *all, struct error *error);

/**
 * Tells all ranks whether this one has failed. False if one has; where it was another, the error becomes what that one
 * will end with, and names its rank. Where all have failed alike, as by a wrong argument, rank 0 speaks for all: the
 * others' text is "".
 */
bool ranks_agree(struct ranks *ranks, struct error *error);

/** What the connection brings, for groups of two and more; the same contracts. */
bool connection_open(struct ranks *ranks, struct error *error);
void connection_close(struct ranks *ranks);
bool connection_line_up(const struct ranks *ranks, struct error *error);
bool connection_split(const struct group *all, int color, struct group *group, struct error *error);
void connection_free(struct group *group);
void connection_begin(void);
bool connection_end(const struct group *group, struct error *error);
bool connection_all_gather(const struct group *group, const void *own, const int64_t *bytes, void *all,
                           struct error *error);
bool connection_all_reduce(const struct group *group, float *sums, int64_t count, struct error *error);
bool connection_all_to_all(const struct group *group, const void *to, const int64_t *to_bytes, void *from,
                           const int64_t *from_bytes, struct error *error);

/** An error of this rank, which it names, at this stage. Returns false. */
__attribute__((format(printf, 3, 4))) bool group_error(const struct group *group, struct error *error,
                                                       const char *format, ...);

/** The error of a rank that nobody came to meet in time. */
bool group_late(const struct group *group, struct error *error);

/** What forked ranks know of each other before they are connected, in memory that they share. */
struct meeting_place {
    _Atomic int is_set;
    char id[128]; /**< NCCL's, once it is set */
};

#endif
