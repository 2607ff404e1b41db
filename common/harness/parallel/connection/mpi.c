/**
 * @file parallel/connection/mpi.c  Connects ranks through MPI, which needs host memory: device arrays are copied
 * through the host. A build without mpi.h supports only one rank.
 */
#include "harness/parallel/ranks.h"

const bool connection_can_fork_ranks = false;

#ifdef HAVE_MPI

#include "base/memory.h"
#include "base/backoff.h"
#include "harness/core/device_buffer.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

const char connection_version[] = "ranks by: MPI\n";

/** Returns the number of processes that Open MPI, MPICH or Slurm started, according to their environment variables. */
static int ranks_started(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 1;
}

static MPI_Comm comm_of(const struct rank_group *group)
{
    return (MPI_Comm)(intptr_t)group->connection; /* MPI_Comm is a pointer or an int */
}

/** Waits for a request. Sleeps between polls, because other ranks may need this CPU core. */
static bool await(const struct rank_group *group, int begun, MPI_Request *request, struct error *error)
{
    static const struct timespec nap = {.tv_nsec = 50000};
    const double begin = monotonic_seconds();
    int done = 0, result = begun;

    while (result == MPI_SUCCESS && !done) {
        result = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done && monotonic_seconds() - begin > group->ranks->time_limit_seconds)
            return group_error_set_timed_out(group, error);
        if (!done)
            nanosleep(&nap, NULL);
    }
    return result == MPI_SUCCESS || group_error_set(group, error, "MPI: error %d; a rank may be gone", result);
}

bool connection_open(struct rank_context *ranks, struct error *error)
{
    if (ranks_started() == 1)
        return true;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return error_set_as(error, RUN_CANNOT_RUN, "MPI cannot be started");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ranks->all_ranks.connection = (void *)(intptr_t)MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->all_ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->all_ranks.size);
    return true;
}

void connection_close(struct rank_context *ranks)
{
    (void)ranks;
    MPI_Finalize();
}

/** Does nothing, because nothing is timed on the CPU. */
bool connection_barrier_on_stream(const struct rank_context *ranks, struct error *error)
{
    (void)ranks, (void)error;
    return true;
}

bool connection_split_group(const struct rank_group *parent, int color, struct rank_group *group, struct error *error)
{
    MPI_Comm comm;

    if (MPI_Comm_split(comm_of(parent), color, parent->rank, &comm) != MPI_SUCCESS)
        return group_error_set(parent, error, "MPI cannot make %s", group->name);
    MPI_Comm_rank(comm, &group->rank);
    MPI_Comm_size(comm, &group->size);
    group->connection = (void *)(intptr_t)comm;
    return true;
}

void connection_free_group(struct rank_group *group)
{
    MPI_Comm comm = comm_of(group);

    MPI_Comm_free(&comm);
}

/* --- arrays of a device ------------------------------------------------------------------------------------------- */

/**
 * Host staging arrays for MPI, one to send from and one to receive into, and the size and offset of each rank's part.
 */
struct staged {
    void *to, *from;
    size_t to_bytes, from_bytes;
    int *counts; /**< [4, size]: bytes to each rank, their offsets, bytes from each rank, their offsets */
};

/**
 * Fills a row of `counts` with the ranks' byte counts and the next row with their prefix sums. Returns false if the
 * number of bytes overflows MPI's int.
 */
static bool count_parts(const struct rank_group *group, const int64_t *bytes, int *counts, size_t *sum,
                        struct error *error)
{
    int64_t total = 0;

    for (int r = 0; r < group->size; r++) {
        if (total + bytes[r] > INT_MAX)
            return group_error_set(group, error, "more than %d bytes at once, which MPI cannot count", INT_MAX);
        counts[r] = (int)bytes[r];
        counts[group->size + r] = (int)total;
        total += bytes[r];
    }
    *sum = (size_t)total;
    return true;
}

static void staged_free(struct staged *staged)
{
    free(staged->to);
    free(staged->from);
    free(staged->counts);
}

/**
 * Allocates both arrays, and copies the data to be sent from the device into one of them. The caller must call
 * staged_free() even after a failure.
 */
static bool stage(const struct rank_group *group, const void *to, struct staged *staged, struct error *error)
{
    cudaError_t status;

    if (!memory_allocate(&staged->to, staged->to_bytes, error) ||
        !memory_allocate(&staged->from, staged->from_bytes, error))
        return false;
    status = cudaStreamSynchronize(group->ranks->stream);
    if (status == cudaSuccess && staged->to_bytes)
        status = cudaMemcpy(staged->to, to, staged->to_bytes, cudaMemcpyDeviceToHost);
    return status == cudaSuccess || error_set_cuda_failure(error, "copying from the device", status);
}

static bool unstage(const struct staged *staged, void *from, struct error *error)
{
    const cudaError_t status = staged->from_bytes
                                   ? cudaMemcpy(from, staged->from, staged->from_bytes, cudaMemcpyHostToDevice)
                                   : cudaSuccess;

    return status == cudaSuccess || error_set_cuda_failure(error, "copying to the device", status);
}

/** Does nothing, because MPI cannot group collectives. */
void connection_collectives_batch_start(void)
{
}

bool connection_collectives_batch_end(const struct rank_group *group, struct error *error)
{
    (void)group, (void)error;
    return true;
}

bool connection_all_gather(const struct rank_group *group, const void *send_buffer, const int64_t *bytes,
                           void *receive_buffer, struct error *error)
{
    const int size = group->size;
    struct staged staged = {.to_bytes = (size_t)bytes[group->rank]};
    MPI_Request request;
    const bool good = ALLOCATE_ARRAY(staged.counts, 2 * size, error) &&
                      count_parts(group, bytes, staged.counts, &staged.from_bytes, error) &&
                      stage(group, send_buffer, &staged, error) &&
                      await(group,
                            MPI_Iallgatherv(staged.to, (int)staged.to_bytes, MPI_BYTE, staged.from, staged.counts,
                                            staged.counts + size, MPI_BYTE, comm_of(group), &request),
                            &request, error) &&
                      unstage(&staged, receive_buffer, error);

    staged_free(&staged);
    return good;
}

bool connection_all_reduce(const struct rank_group *group, float *sums, int64_t num_sums, struct error *error)
{
    const int64_t bytes = num_sums * (int64_t)sizeof *sums;
    struct staged staged = {.to_bytes = (size_t)bytes, .from_bytes = (size_t)bytes};
    MPI_Request request;
    const bool good =
        (num_sums <= INT_MAX || group_error_set(group, error, "more than %d sums, which MPI cannot count", INT_MAX)) &&
        stage(group, sums, &staged, error) &&
        await(group,
              MPI_Iallreduce(staged.to, staged.from, (int)num_sums, MPI_FLOAT, MPI_SUM, comm_of(group), &request),
              &request, error) &&
        unstage(&staged, sums, error);

    staged_free(&staged);
    return good;
}

bool connection_all_to_all(const struct rank_group *group, const void *send_buffer, const int64_t *send_bytes,
                           void *receive_buffer, const int64_t *receive_bytes, struct error *error)
{
    const int size = group->size;
    struct staged staged = {0};
    MPI_Request request;
    const bool good = ALLOCATE_ARRAY(staged.counts, 4 * size, error) &&
                      count_parts(group, send_bytes, staged.counts, &staged.to_bytes, error) &&
                      count_parts(group, receive_bytes, staged.counts + 2 * size, &staged.from_bytes, error) &&
                      stage(group, send_buffer, &staged, error) &&
                      await(group,
                            MPI_Ialltoallv(staged.to, staged.counts, staged.counts + size, MPI_BYTE, staged.from,
                                           staged.counts + 2 * size, staged.counts + 3 * size, MPI_BYTE, comm_of(group),
                                           &request),
                            &request, error) &&
                      unstage(&staged, receive_buffer, error);

    staged_free(&staged);
    return good;
}

#else

#define CONNECTION_MISSING_LIBRARY "MPI"
#include "harness/parallel/connection/stubs_without_library.h"

#endif
