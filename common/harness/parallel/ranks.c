#include "harness/parallel/ranks.h"

#include "base/memory.h"
#include "harness/core/device_buffer.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool group_error_set(const struct rank_group *group, struct error *error, const char *format, ...)
{
    char what[320];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_set_as(error, RUN_CANNOT_RUN, "rank %d, %s: %s", group->ranks->all_ranks.rank,
                        group->ranks->current_stage_name, what);
}

bool group_error_set_timed_out(const struct rank_group *group, struct error *error)
{
    return group_error_set(group, error, "not every rank of %s came within %g s (--timeout)", group->name,
                           group->ranks->time_limit_seconds);
}

/* --- processes ---------------------------------------------------------------------------------------------------- */

/** Records that a rank has ended. Returns its exit code. */
static int record_end(pid_t pid, int status, pid_t *pids, int count)
{
    for (int r = 0; r < count; r++) {
        if (pids[r] != pid)
            continue;
        pids[r] = 0;
        if (WIFSIGNALED(status))
            fprintf(stderr, "%s: rank %d was ended by signal %d\n", program_invocation_short_name, r, WTERMSIG(status));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : RUN_CANNOT_RUN;
}

static void signal_ranks(const pid_t *pids, int count, int signal)
{
    for (int r = 0; r < count; r++)
        if (pids[r])
            kill(pids[r], signal);
}

/**
 * Waits for all ranks. After a rank has failed, the others have two seconds to exit; they then receive SIGTERM and,
 * three seconds later, SIGKILL. Returns the first nonzero exit code.
 */
static int await_ranks(pid_t *pids, int count)
{
    enum { NAP_MS = 50, NAPS_BEFORE_SIGTERM = 2000 / NAP_MS, NAPS_BEFORE_SIGKILL = 5000 / NAP_MS };
    static const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
    int first_code = 0, naps = 0, status;

    for (int ended = 0; ended < count;) {
        const pid_t pid = waitpid(-1, &status, first_code ? WNOHANG : 0);

        if (pid > 0) {
            const int code = record_end(pid, status, pids, count);

            first_code = first_code ? first_code : code;
            ended++;
            continue;
        }
        nanosleep(&nap, NULL);
        naps++;
        if (naps == NAPS_BEFORE_SIGTERM)
            signal_ranks(pids, count, SIGTERM);
        if (naps == NAPS_BEFORE_SIGKILL)
            signal_ranks(pids, count, SIGKILL);
    }
    return first_code;
}

bool ranks_fork_and_return_in_ranks(struct rank_context *ranks, int num_processes, int *parent_exit_code,
                                    struct error *error)
{
    pid_t *pids;

    ranks->rendezvous = mmap(NULL, sizeof *ranks->rendezvous, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                             0);
    if (ranks->rendezvous == MAP_FAILED)
        return error_set_as(error, RUN_CANNOT_RUN, "shared memory: %s", strerror(errno));
    if (!ALLOCATE_ARRAY(pids, num_processes, error))
        return false;
    for (int r = 0; r < num_processes; r++) {
        pids[r] = fork();
        if (pids[r] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            free(pids);
            ranks->all_ranks.rank = r;
            ranks->num_forked_ranks = num_processes;
            return true;
        }
        if (pids[r] < 0) {
            error_set_as(error, RUN_CANNOT_RUN, "process %d of %d: %s", r, num_processes, strerror(errno));
            for (int other = 0; other < r; other++)
                kill(pids[other], SIGTERM);
            num_processes = r;
        }
    }
    *parent_exit_code = await_ranks(pids, num_processes);
    free(pids);
    return false;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/**
 * The message of a rank that SIGTERM or its alarm terminates, formatted beforehand because a signal handler must not
 * format text.
 */
static char last_words[128];

static void report_and_exit(int signal)
{
    (void)signal;
    if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
        _exit(RUN_BAD_INPUT);
    _exit(RUN_CANNOT_RUN);
}

void ranks_report_and_exit_on_signals(const struct rank_context *ranks, const char *program)
{
    const struct sigaction action = {.sa_handler = report_and_exit};

    snprintf(last_words, sizeof last_words, "%s: rank %d: ended before the others: a rank has died, or did not come\n",
             program, ranks->all_ranks.rank);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

bool ranks_connect(struct rank_context *ranks, struct error *error)
{
    ranks->current_stage_name = "start";
    ranks->all_ranks = (struct rank_group){"the run", ranks->all_ranks.rank, 1, ranks, NULL};
    return connection_open(ranks, error);
}

void ranks_disconnect(struct rank_context *ranks)
{
    if (ranks->all_ranks.connection)
        connection_close(ranks);
    if (ranks->num_forked_ranks)
        munmap(ranks->rendezvous, sizeof *ranks->rendezvous);
}

bool group_split(const struct rank_group *parent, int color, const char *name, struct rank_group *group,
                 struct error *error)
{
    *group = *parent;
    group->name = name;
    return parent->size == 1 || connection_split_group(parent, color, group, error);
}

void group_free(struct rank_group *group)
{
    if (group->connection && group->connection != group->ranks->all_ranks.connection)
        connection_free_group(group);
    group->connection = NULL;
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

/** Completes a collective of a single-rank group by copying the rank's bytes to the result. */
static bool keep(const struct rank_group *group, const void *own, int64_t bytes, void *all, struct error *error)
{
    const cudaError_t status =
        bytes ? cudaMemcpyAsync(all, own, (size_t)bytes, cudaMemcpyDeviceToDevice, group->ranks->stream) : cudaSuccess;

    return status == cudaSuccess || error_set_cuda_failure(error, "copying on the device", status);
}

bool group_all_gather(const struct rank_group *group, const void *send_buffer, const int64_t *bytes,
                      void *receive_buffer, struct error *error)
{
    return group->size == 1 ? keep(group, send_buffer, bytes[0], receive_buffer, error)
                            : connection_all_gather(group, send_buffer, bytes, receive_buffer, error);
}

bool group_all_reduce(const struct rank_group *group, float *sums, int64_t num_sums, struct error *error)
{
    return group->size == 1 || num_sums == 0 || connection_all_reduce(group, sums, num_sums, error);
}

bool group_all_to_all(const struct rank_group *group, const void *send_buffer, const int64_t *send_bytes,
                      void *receive_buffer, const int64_t *receive_bytes, struct error *error)
{
    return group->size == 1
               ? keep(group, send_buffer, send_bytes[0], receive_buffer, error)
               : connection_all_to_all(group, send_buffer, send_bytes, receive_buffer, receive_bytes, error);
}

bool group_all_gather_host(const struct rank_group *group, const void *send_buffer, size_t bytes, void *receive_buffer,
                           struct error *error)
{
    const size_t all_bytes = bytes * (size_t)group->size;
    char *device = NULL;
    int64_t *parts;
    cudaError_t status;
    bool good;

    if (group->size == 1) {
        memcpy(receive_buffer, send_buffer, bytes);
        return true;
    }
    if (!ALLOCATE_ARRAY(parts, group->size, error))
        return false;
    for (int r = 0; r < group->size; r++)
        parts[r] = (int64_t)bytes;
    status = cudaMalloc((void **)&device, bytes + all_bytes);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(device + all_bytes, send_buffer, bytes, cudaMemcpyHostToDevice, group->ranks->stream);
    good = status == cudaSuccess && connection_all_gather(group, device + all_bytes, parts, device, error);
    if (good)
        status = cudaMemcpy(receive_buffer, device, all_bytes, cudaMemcpyDeviceToHost);
    cudaFree(device);
    free(parts);
    return status == cudaSuccess ? good : error_set_cuda_failure(error, "a few bytes of device memory", status);
}

void collectives_group_start(const struct rank_group *group)
{
    if (group->size > 1)
        connection_collectives_batch_start();
}

bool collectives_group_end(const struct rank_group *group, struct error *error)
{
    return group->size == 1 || connection_collectives_batch_end(group, error);
}

bool ranks_barrier_on_stream(const struct rank_context *ranks, struct error *error)
{
    return ranks->all_ranks.size == 1 || connection_barrier_on_stream(ranks, error);
}

/** Sets this rank's error from the results of all ranks. */
static void hear(const struct rank_context *ranks, const int32_t *all, struct error *error)
{
    int failed = 0;

    for (int r = 0; r < ranks->all_ranks.size; r++)
        failed += all[r] == (int32_t)error->exit_code;
    if (error->exit_code != RUN_VERIFIED) {
        if (failed == ranks->all_ranks.size && ranks->all_ranks.rank > 0)
            error->text[0] = '\0';
        return;
    }
    for (int r = 0; error->exit_code == RUN_VERIFIED && r < ranks->all_ranks.size; r++)
        if (all[r])
            error_set_as(error, (enum run_exit_code)all[r], "rank %d, %s: rank %d has failed, and says why",
                         ranks->all_ranks.rank, ranks->current_stage_name, r);
}

bool ranks_exchange_failures(struct rank_context *ranks, struct error *error)
{
    const int32_t own = (int32_t)error->exit_code;
    struct error failed = {.exit_code = RUN_VERIFIED};
    int32_t *all = NULL;

    ranks->failure_has_reached_all_ranks = ALLOCATE_ARRAY(all, ranks->all_ranks.size, &failed) &&
                                           group_all_gather_host(&ranks->all_ranks, &own, sizeof own, all, &failed);
    if (ranks->failure_has_reached_all_ranks)
        hear(ranks, all, error);
    else if (!own)
        *error = failed;
    free(all);
    return error->exit_code == RUN_VERIFIED;
}
