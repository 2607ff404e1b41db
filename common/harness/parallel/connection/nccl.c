/**
 * @file parallel/connection/nccl.c  Connects ranks through NCCL, with one GPU per rank. The ranks exchange NCCL's id
 * through MPI if mpirun started them, or through shared memory if this program forked them.
 *
 * NCCL is configured as non-blocking: a call may return while it is still in progress and is then polled until the time
 * limit. A build without nccl.h supports only one rank.
 */
#include "harness/parallel/ranks.h"

#include <stdlib.h>

#ifdef HAVE_NCCL

#include "base/memory.h"
#include "base/backoff.h"
#include "harness/core/device_buffer.h"

#include <nccl.h>
#include <string.h>

#ifdef HAVE_MPI
#include <mpi.h>

const char connection_version[] = "ranks by: NCCL, MPI\n";
#else
const char connection_version[] = "ranks by: NCCL\n";
#endif

const bool connection_can_fork_ranks = true;

static ncclComm_t comm_of(const struct rank_group *group)
{
    return (ncclComm_t)group->connection;
}

/** Returns the address at which NCCL stores the group's communicator. */
static ncclComm_t *comm_pointer(struct rank_group *group)
{
    return (ncclComm_t *)&group->connection;
}

/** Waits for a call that may still be in progress in a communicator, because an NCCL thread executes it. */
static bool call_is_done(const struct rank_group *group, ncclComm_t comm, ncclResult_t result, struct error *error)
{
    const double begin = monotonic_seconds();

    while (result == ncclInProgress && comm) {
        const ncclResult_t requested = ncclCommGetAsyncError(comm, &result);

        if (requested != ncclSuccess)
            result = requested;
        if (result == ncclInProgress && !backoff_wait(begin, group->ranks->time_limit_seconds))
            return group_error_set_timed_out(group, error);
    }
    return result == ncclSuccess || group_error_set(group, error, "NCCL: %s", ncclGetErrorString(result));
}

/** True while a group that connection_collectives_batch_start() began is open; per thread, like NCCL's groups. */
static bool is_grouped;

/**
 * Waits for a collective: first for the call, then for the stream. Inside a group, returns immediately, because the
 * collective has not started yet.
 */
static bool await(const struct rank_group *group, ncclResult_t result, struct error *error)
{
    const double begin = monotonic_seconds();
    cudaError_t status;

    if (is_grouped && (result == ncclSuccess || result == ncclInProgress))
        return true;
    if (!call_is_done(group, comm_of(group), result, error))
        return false;
    while ((status = cudaStreamQuery(group->ranks->stream)) == cudaErrorNotReady) {
        ncclResult_t state = ncclSuccess;

        if (ncclCommGetAsyncError(comm_of(group), &state) != ncclSuccess ||
            (state != ncclSuccess && state != ncclInProgress))
            return group_error_set(group, error, "NCCL: %s; a rank may be gone", ncclGetErrorString(state));
        if (!backoff_wait(begin, group->ranks->time_limit_seconds))
            return group_error_set_timed_out(group, error);
    }
    return status == cudaSuccess || error_set_cuda_failure(error, "a collective", status);
}

/* --- rendezvous --------------------------------------------------------------------------------------------------- */

/** Passes the NCCL id, with which the ranks connect, from rank 0 to the other ranks through shared memory. */
static bool exchange_id_in_memory(const struct rank_context *ranks, ncclUniqueId *id, struct error *error)
{
    const double begin = monotonic_seconds();

    _Static_assert(sizeof id->internal <= sizeof ranks->rendezvous->nccl_id, "an id fits");
    if (ranks->all_ranks.rank == 0) {
        if (ncclGetUniqueId(id) != ncclSuccess)
            return group_error_set(&ranks->all_ranks, error, "NCCL gives no id");
        memcpy(ranks->rendezvous->nccl_id, id->internal, sizeof id->internal);
        ranks->rendezvous->nccl_id_is_set = 1;
    }
    while (!ranks->rendezvous->nccl_id_is_set)
        if (!backoff_wait(begin, ranks->time_limit_seconds))
            return group_error_set_timed_out(&ranks->all_ranks, error);
    memcpy(id->internal, ranks->rendezvous->nccl_id, sizeof id->internal);
    return true;
}

#ifdef HAVE_MPI

/** Returns whether mpirun or another launcher started this process, so that MPI_Init() may be called. */
static bool is_launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("SLURM_STEP_NUM_TASKS");
}

static bool exchange_id_by_mpi(struct rank_context *ranks, int *local_rank, ncclUniqueId *id, struct error *error)
{
    MPI_Comm host;

    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return error_set_as(error, RUN_CANNOT_RUN, "MPI cannot be started");
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->all_ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->all_ranks.size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks->all_ranks.rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, local_rank);
    MPI_Comm_free(&host);
    if (ranks->all_ranks.rank == 0 && ncclGetUniqueId(id) != ncclSuccess)
        return group_error_set(&ranks->all_ranks, error, "NCCL gives no id");
    MPI_Bcast(id->internal, sizeof id->internal, MPI_BYTE, 0, MPI_COMM_WORLD);
    return true;
}

static void leave_mpi(void)
{
    int is_started;

    if (MPI_Initialized(&is_started) == MPI_SUCCESS && is_started)
        MPI_Finalize();
}

#else

/** Returns whether mpirun started several processes, which this build cannot connect. */
static bool is_launched(void)
{
    const char *const size = getenv("OMPI_COMM_WORLD_SIZE");

    return size && atoi(size) > 1;
}

static bool exchange_id_by_mpi(struct rank_context *ranks, int *local_rank, ncclUniqueId *id, struct error *error)
{
    (void)local_rank, (void)id;
    return group_error_set(&ranks->all_ranks, error, "this program was built without MPI; --gpus N needs none");
}

static void leave_mpi(void)
{
}

#endif

static bool choose_gpu(const struct rank_context *ranks, int local_rank, struct error *error)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);

    if (status == cudaSuccess && local_rank >= count)
        return group_error_set(&ranks->all_ranks, error,
                               "there is no GPU for it: there are %d here, and a rank needs its own", count);
    if (status == cudaSuccess)
        status = cudaSetDevice(local_rank);
    return status == cudaSuccess ||
           group_error_set(&ranks->all_ranks, error, "choosing a GPU: %s", cudaGetErrorString(status));
}

bool connection_open(struct rank_context *ranks, struct error *error)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    int local_rank = ranks->all_ranks.rank;
    ncclResult_t result;
    ncclUniqueId id;
    cudaError_t status;

    if (!ranks->num_forked_ranks && !is_launched())
        return true;
    if (ranks->num_forked_ranks)
        ranks->all_ranks.size = ranks->num_forked_ranks;
    if (ranks->num_forked_ranks ? !exchange_id_in_memory(ranks, &id, error)
                                : !exchange_id_by_mpi(ranks, &local_rank, &id, error))
        return false;
    if (!choose_gpu(ranks, local_rank, error))
        return false;
    status = cudaStreamCreateWithFlags(&ranks->stream, cudaStreamNonBlocking);
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&ranks->scratch_float, sizeof *ranks->scratch_float);
    if (status == cudaSuccess)
        status = cudaMemsetAsync(ranks->scratch_float, 0, sizeof *ranks->scratch_float, ranks->stream);
    if (status != cudaSuccess)
        return error_set_cuda_failure(error, "a stream and a number on it", status);
    config.blocking = 0;
    result = ncclCommInitRankConfig(comm_pointer(&ranks->all_ranks), ranks->all_ranks.size, id, ranks->all_ranks.rank,
                                    &config);
    return call_is_done(&ranks->all_ranks, comm_of(&ranks->all_ranks), result, error);
}

void connection_close(struct rank_context *ranks)
{
    struct error ignored = {0};
    ncclResult_t result = ncclCommFinalize(comm_of(&ranks->all_ranks));

    if (call_is_done(&ranks->all_ranks, comm_of(&ranks->all_ranks), result, &ignored))
        ncclCommDestroy(comm_of(&ranks->all_ranks));
    cudaFree(ranks->scratch_float);
    cudaStreamDestroy(ranks->stream);
    leave_mpi();
}

/**
 * Launches an all-reduce of a single number, which completes in no rank until all ranks have arrived. Later work on the
 * stream waits for this all-reduce, but the host does not.
 */
bool connection_barrier_on_stream(const struct rank_context *ranks, struct error *error)
{
    return call_is_done(&ranks->all_ranks, comm_of(&ranks->all_ranks),
                        ncclAllReduce(ranks->scratch_float, ranks->scratch_float, 1, ncclFloat32, ncclSum,
                                      comm_of(&ranks->all_ranks), ranks->stream),
                        error);
}

bool connection_split_group(const struct rank_group *parent, int color, struct rank_group *group, struct error *error)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclResult_t result;

    config.blocking = 0;
    group->connection = NULL;
    result = ncclCommSplit(comm_of(parent), color, parent->rank, comm_pointer(group), &config);
    if (result == ncclSuccess) /* NCCL also returns success while the split communicator is still in progress */
        result = ncclInProgress;
    if (!call_is_done(parent, comm_of(parent), result, error) ||
        !call_is_done(parent, comm_of(group), ncclInProgress, error))
        return false;
    result = ncclCommUserRank(comm_of(group), &group->rank);
    if (result == ncclSuccess)
        result = ncclCommCount(comm_of(group), &group->size);
    return call_is_done(parent, comm_of(group), result, error);
}

void connection_free_group(struct rank_group *group)
{
    struct error ignored = {0};
    const ncclResult_t result = ncclCommFinalize(comm_of(group));

    if (call_is_done(group, comm_of(group), result, &ignored))
        ncclCommDestroy(comm_of(group));
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

/** Returns the first result that is neither success nor "in progress", or else the last result. */
static ncclResult_t worse(ncclResult_t before, ncclResult_t result)
{
    return before == ncclSuccess || before == ncclInProgress ? result : before;
}

void connection_collectives_batch_start(void)
{
    is_grouped = ncclGroupStart() == ncclSuccess;
}

bool connection_collectives_batch_end(const struct rank_group *group, struct error *error)
{
    const bool began = is_grouped;

    is_grouped = false;
    return !began || await(group, ncclGroupEnd(), error);
}

bool connection_all_gather(const struct rank_group *group, const void *send_buffer, const int64_t *bytes,
                           void *receive_buffer, struct error *error)
{
    ncclResult_t result = ncclGroupStart();
    char *to = receive_buffer;

    for (int r = 0; r < group->size; r++) { /* NCCL's all-gather requires equal parts: each rank broadcasts its part */
        if (bytes[r])
            result = worse(result, ncclBroadcast(send_buffer, to, (size_t)bytes[r], ncclInt8, r, comm_of(group),
                                                 group->ranks->stream));
        to += bytes[r];
    }
    return await(group, worse(result, ncclGroupEnd()), error);
}

// [all_reduce]
bool connection_all_reduce(const struct rank_group *group, float *sums, int64_t num_sums, struct error *error)
{
    return await(
        group, ncclAllReduce(sums, sums, (size_t)num_sums, ncclFloat32, ncclSum, comm_of(group), group->ranks->stream),
        error);
}
// [all_reduce]

// [all_to_all]
bool connection_all_to_all(const struct rank_group *group, const void *send_buffer, const int64_t *send_bytes,
                           void *receive_buffer, const int64_t *receive_bytes, struct error *error)
{
    ncclResult_t result = ncclGroupStart();
    const char *send = send_buffer;
    char *receive = receive_buffer;

    for (int r = 0; r < group->size; r++) {
        if (send_bytes[r])
            result = worse(result,
                           ncclSend(send, (size_t)send_bytes[r], ncclInt8, r, comm_of(group), group->ranks->stream));
        if (receive_bytes[r])
            result = worse(
                result, ncclRecv(receive, (size_t)receive_bytes[r], ncclInt8, r, comm_of(group), group->ranks->stream));
        send += send_bytes[r];
        receive += receive_bytes[r];
    }
    return await(group, worse(result, ncclGroupEnd()), error);
}
// [all_to_all]

#else

#define CONNECTION_MISSING_LIBRARY "NCCL"
#include "harness/parallel/connection/stubs_without_library.h"

const bool connection_can_fork_ranks = false;

#endif
