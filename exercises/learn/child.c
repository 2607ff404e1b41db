#include "child.h"

#include "base/backoff.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { RECORDS_FD = 3, LOWEST_FD = 10, SHOWN_OUTPUT = 64 << 10 };

/* --- pipes -------------------------------------------------------------------------------------------------------- */

/** The two ends of a pipe; -1 if closed. */
struct pipe_ends {
    int read, write;
};

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/** Moves a descriptor to a number that the child does not use, and closes the old descriptor. Returns -1 on failure. */
static int move_up(int descriptor)
{
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, LOWEST_FD);

    close(descriptor);
    return moved;
}

static bool pipe_open(struct pipe_ends *ends)
{
    int both[2];

    if (pipe2(both, O_CLOEXEC) != 0)
        return false;
    ends->read = move_up(both[0]);
    ends->write = move_up(both[1]);
    return ends->read >= 0 && ends->write >= 0;
}

/** The pipes between parent and child. */
struct pipes {
    struct pipe_ends output, records;
    struct pipe_ends start; /**< sends errno if the program cannot be started */
};

static void pipes_close(struct pipes *pipes)
{
    struct pipe_ends *const all[] = {&pipes->output, &pipes->records, &pipes->start};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        close_end(&all[i]->read);
        close_end(&all[i]->write);
    }
}

static bool pipes_open(struct pipes *pipes, struct error *error)
{
    const struct pipe_ends closed = {-1, -1};

    *pipes = (struct pipes){closed, closed, closed};
    if (pipe_open(&pipes->output) && pipe_open(&pipes->records) && pipe_open(&pipes->start))
        return true;
    error_set(error, "no pipe to run the program with: %s", strerror(errno));
    pipes_close(pipes);
    return false;
}

/* --- the child's side --------------------------------------------------------------------------------------------- */

/** The child's environment: this process's environment with a few variables set, and storage for their text. */
struct environment {
    char **variables;
    char events[64];
};

/**
 * Makes the environment, which limits the number of threads, because malloc reserves 64 MiB for each thread. Returns
 * false if memory runs out.
 */
static bool environment_make(struct environment *environment, uint64_t events)
{
    static char threads[] = "OMP_NUM_THREADS=2", policy[] = "OMP_WAIT_POLICY=passive", arenas[] = "MALLOC_ARENA_MAX=1";
    char *const set[] = {environment->events, threads, policy, arenas};
    enum { COUNT = sizeof set / sizeof *set };
    size_t count = 0, kept = 0;

    snprintf(environment->events, sizeof environment->events, "SIMT_EVENT_LIMIT=%" PRIu64, events);
    while (environ[count])
        count++;
    environment->variables = malloc((count + COUNT + 1) * sizeof *environment->variables);
    if (!environment->variables)
        return false;
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;

        for (int j = 0; j < COUNT; j++)
            replaced |= strncmp(environ[i], set[j], strcspn(set[j], "=") + 1) == 0;
        if (!replaced)
            environment->variables[kept++] = environ[i];
    }
    for (int j = 0; j < COUNT; j++)
        environment->variables[kept++] = set[j];
    environment->variables[kept] = NULL;
    return true;
}

static void limit(int resource, rlim_t value)
{
    struct rlimit now_set;

    if (getrlimit(resource, &now_set) == 0 && (now_set.rlim_max == RLIM_INFINITY || value < now_set.rlim_max))
        setrlimit(resource, &(struct rlimit){value, value});
}

/** Executes the program in the child; on failure, sends errno to the parent. Uses only calls allowed after fork(). */
static _Noreturn void become(const char *const arguments[], const struct pipes *pipes,
                             const struct environment *environment, const struct verdict_limits *limits, pid_t parent)
{
    const int nothing = open("/dev/null", O_RDONLY);
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    limit(RLIMIT_CORE, 0);
    if (limits->memory_bytes != SIZE_MAX)
        limit(RLIMIT_AS, limits->memory_bytes);
    if (dup2(nothing, STDIN_FILENO) >= 0 && dup2(pipes->output.write, STDOUT_FILENO) >= 0 &&
        dup2(pipes->output.write, STDERR_FILENO) >= 0 && dup2(pipes->records.write, RECORDS_FD) >= 0)
        execvpe(arguments[0], (char *const *)arguments, environment->variables);

    const int why = errno;

    if (write(pipes->start.write, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

/** Forks a child that executes the program. Returns the child's process id, or -1 with errno set. */
static pid_t start(const char *const arguments[], const struct pipes *pipes, const struct verdict_limits *limits)
{
    struct environment environment;
    const pid_t parent = getpid();

    if (!environment_make(&environment, limits->max_events))
        return -1;

    const pid_t child = fork();

    if (child == 0)
        become(arguments, pipes, &environment, limits, parent);
    free(environment.variables);
    if (child > 0)
        setpgid(child, child); /* the child calls it as well: either may run first */
    return child;
}

/** Starts the program and closes the child's pipe ends. Returns the child's process id, or -1 with a one-line error. */
static pid_t start_with_pipes(const char *const arguments[], const struct verdict_limits *limits, struct pipes *pipes,
                              struct error *error)
{
    const pid_t child = start(arguments, pipes, limits);
    int why = child < 0 ? errno : 0;

    close_end(&pipes->output.write);
    close_end(&pipes->records.write);
    close_end(&pipes->start.write);
    if (child > 0 && read(pipes->start.read, &why, sizeof why) != sizeof why)
        return child;
    if (child > 0)
        waitpid(child, NULL, 0);
    error_set(error, "%s: it cannot be started: %s", arguments[0], strerror(why));
    return -1;
}

/* --- the parent's side -------------------------------------------------------------------------------------------- */

/** A pipe that is read to its end. */
struct stream {
    int *end;
    struct child_output *text;
    size_t kept;  /**< largest number of bytes to keep */
    size_t total; /**< number of bytes read so far */
};

static bool keep(struct stream *stream, const char *bytes, size_t size)
{
    struct child_output *const text = stream->text;
    const size_t room = stream->kept - text->size;
    const size_t more = size < room ? size : room;
    char *const larger = more ? realloc(text->text, text->size + more + 1) : text->text;

    stream->total += size;
    if (more == 0)
        return true;
    if (!larger)
        return false;
    memcpy(larger + text->size, bytes, more);
    text->text = larger;
    text->size += more;
    text->text[text->size] = '\0';
    return true;
}

/** Reads the available bytes once, and closes the pipe at its end. */
static void take(struct stream *stream)
{
    char bytes[16384];
    const ssize_t count = read(*stream->end, bytes, sizeof bytes);

    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (count <= 0 || !keep(stream, bytes, (size_t)count))
        close_end(stream->end);
}

/**
 * Waits at most `milliseconds` for data or end-of-file on either pipe, then reads from the ready pipes. Returns the
 * number of ready pipes.
 */
static int take_any(struct stream streams[2], int milliseconds)
{
    struct pollfd ready[2];
    int found;

    for (int i = 0; i < 2; i++)
        ready[i] = (struct pollfd){.fd = *streams[i].end, .events = POLLIN}; /* poll() ignores the descriptor -1 */
    found = poll(ready, 2, milliseconds);
    for (int i = 0; i < 2 && found > 0; i++)
        if (ready[i].revents)
            take(&streams[i]);
    return found > 0 ? found : 0;
}

static bool has_ended(pid_t child)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == child;
}

static int (*stop_asked)(void);

void child_set_stop_condition(int (*should_stop)(void))
{
    stop_asked = should_stop;
}

/** Reads until the child has ended or must be stopped. Does not reap the child, so that its id is not reused. */
static enum child_outcome watch(pid_t child, struct stream streams[2], const struct verdict_limits *limits)
{
    enum { SLICE = 20 };
    double deadline = monotonic_seconds() + limits->seconds_per_case;

    for (;;) {
        const bool ended = has_ended(child);
        const size_t recorded = streams[1].total;

        /* Once the child has ended, all its output is in the pipes, so read until they are empty. */
        const int found = take_any(streams, ended ? 0 : SLICE);

        if (streams[1].total > recorded)
            deadline = monotonic_seconds() + limits->seconds_per_case;

        if (streams[0].total > limits->output_bytes)
            return CHILD_WROTE_TOO_MUCH;
        if (ended && found == 0)
            return CHILD_EXITED;
        if (stop_asked && stop_asked())
            return CHILD_STOPPED_ON_REQUEST;
        if (!ended && monotonic_seconds() > deadline)
            return CHILD_TOOK_TOO_LONG;
        if (ended && monotonic_seconds() > deadline) /* another process still writes to a pipe */
            return CHILD_EXITED;
    }
}

/** Kills the child and the rest of its group, reaps the child and records how it ended. */
static void reap(pid_t child, const struct verdict_limits *limits, struct child_result *result)
{
    struct rusage used = {0};
    int status = 0;

    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
        ;
    if (result->outcome != CHILD_EXITED)
        return;
    if (WIFSIGNALED(status)) {
        result->outcome = CHILD_KILLED;
        result->signal = WTERMSIG(status);
        result->maybe_out_of_memory = (size_t)used.ru_maxrss > (limits->memory_bytes >> 10) / 8;
    } else {
        result->exit_code = WEXITSTATUS(status);
    }
}

bool child_run(const char *const arguments[], const struct verdict_limits *limits, struct child_result *result,
               struct error *error)
{
    struct pipes pipes;
    struct stream streams[2] = {
        {.end = &pipes.output.read, .text = &result->output, .kept = SHOWN_OUTPUT},
        {.end = &pipes.records.read, .text = &result->record_lines, .kept = limits->output_bytes},
    };
    const double began = monotonic_seconds();

    memset(result, 0, sizeof *result);
    if (!pipes_open(&pipes, error))
        return false;

    const pid_t child = start_with_pipes(arguments, limits, &pipes, error);

    if (child > 0) {
        result->outcome = watch(child, streams, limits);
        reap(child, limits, result);
        result->wall_seconds = monotonic_seconds() - began;
    }
    pipes_close(&pipes);
    return child > 0;
}

void child_result_free(struct child_result *result)
{
    free(result->output.text);
    free(result->record_lines.text);
    memset(result, 0, sizeof *result);
}
