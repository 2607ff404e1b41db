/**
 * @file parallel/connection/stubs_without_library.h
 * @brief The connection of a build without MPI or NCCL, included by mpi.c or nccl.c: a run has one rank, which needs no
 *        connection, so that the functions for groups of ranks do nothing or fail.
 */
#include "harness/parallel/ranks.h"

#include <stdlib.h>

const char connection_version[] = "ranks by: none\n";

/** Fails if mpirun started several processes, because each would act as the only rank. */
bool connection_open(struct rank_context *ranks, struct error *error)
{
    const char *const size = getenv("OMPI_COMM_WORLD_SIZE") ? getenv("OMPI_COMM_WORLD_SIZE") : getenv("PMI_SIZE");

    return !size || atoi(size) <= 1 ||
           group_error_set(&ranks->all_ranks, error,
                           "%s ranks were started, but this program was built without %s, for one; "
                           "sh common/setup.sh checks installs MPI; then build it again",
                           size, CONNECTION_MISSING_LIBRARY);
}

void connection_close(struct rank_context *ranks)
{
    (void)ranks;
}

/** Does nothing, because there is no other rank to wait for. */
bool connection_barrier_on_stream(const struct rank_context *ranks, struct error *error)
{
    (void)ranks, (void)error;
    return true;
}

/** Does nothing: without a library there is one rank, whose groups are not divided. */
bool connection_split_group(const struct rank_group *parent, int color, struct rank_group *group, struct error *error)
{
    (void)parent, (void)color, (void)group, (void)error;
    return true;
}

void connection_free_group(struct rank_group *group)
{
    (void)group;
}

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
    (void)send_buffer, (void)bytes, (void)receive_buffer;
    return group_error_set(group, error, "this program was built for one rank");
}

bool connection_all_reduce(const struct rank_group *group, float *sums, int64_t num_sums, struct error *error)
{
    (void)sums, (void)num_sums;
    return group_error_set(group, error, "this program was built for one rank");
}

bool connection_all_to_all(const struct rank_group *group, const void *send_buffer, const int64_t *send_bytes,
                           void *receive_buffer, const int64_t *receive_bytes, struct error *error)
{
    (void)send_buffer, (void)send_bytes, (void)receive_buffer, (void)receive_bytes;
    return group_error_set(group, error, "this program was built for one rank");
}
