/**
 * @file grade_child.c
 * @brief Runs each launch of the learner's code in its own forked process.
 *
 * The process shares only device memory and a page for its results with the grader, so that a crash or an endless loop
 * does not affect the grader.
 */
#include "grade.h"
#include "grade_state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limit on CPU time, which stops endless loops without events. The event limit stops all other endless loops much
   earlier. */
enum { LAUNCH_SECONDS = 2 };

bool grade_prepare_for_child_processes(struct grade_context *grade)
{
    if (!grade_has_counters(grade))
        return true;
    grade->child_results = mmap(NULL, sizeof *grade->child_results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                -1, 0);
    if (grade->child_results == MAP_FAILED)
        grade->child_results = NULL;
    backend_allow_host_access(true); /* only in the grader: the learner's process disables it again */
    backend_enable_request_counts_by_line();
    return grade->child_results && backend_try_share_memory_with_forks();
}

/* --- the learner's process ---------------------------------------------------------------------------------------- */

static void become_the_learners(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    backend_allow_host_access(false);
    backend_reset_counters();
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = LAUNCH_SECONDS}, NULL);
}

void grade_child_store_status(struct grade_context *grade, cudaError_t status)
{
    struct grade_child_results *const results = grade->child_results;

    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    grade->child_status = status;
    if (!results)
        return;
    results->status = status;
    backend_read_counters(&results->counters);
    snprintf(results->fault, sizeof results->fault, "%s", backend_fault_message() ? backend_fault_message() : "");
    fflush(stdout);
    results->ended_normally = true;
    _exit(0);
}

void grade_child_store_result(struct grade_context *grade, const void *result, size_t bytes)
{
    if (grade->child_results && bytes <= sizeof grade->child_results->result)
        memcpy(grade->child_results->result, result, bytes);
    grade_child_store_status(grade, cudaSuccess);
}

/* --- the grader's process ----------------------------------------------------------------------------------------- */

/** Describes how a process crashed, exited or was stopped. */
static void say_death(int status, const struct rusage *used, char *text, size_t size)
{
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    struct rlimit memory = {.rlim_cur = RLIM_INFINITY};

    getrlimit(RLIMIT_AS, &memory);
    if (signal == SIGPROF)
        snprintf(text, size, "the program was stopped after %d s, outside its kernels: an endless loop?",
                 LAUNCH_SECONDS);
    else if (signal && (rlim_t)used->ru_maxrss > (memory.rlim_cur >> 10) / 8)
        snprintf(text, size, "the program crashed: %s, perhaps for want of memory (it may have %.0f MiB)",
                 strsignal(signal), (double)memory.rlim_cur / (1 << 20));
    else if (signal)
        snprintf(text, size, "the program crashed: %s", strsignal(signal));
    else
        snprintf(text, size,
                 "the program ended with exit code %d in its launch" ERROR_ADVICE_SEPARATOR
                 "no exit() or quick_exit() in the kernel or the function that launches it",
                 WEXITSTATUS(status));
}

bool grade_fork_and_is_learner_process(struct grade_context *grade)
{
    struct grade_child_results *const results = grade->child_results;
    const pid_t parent = getpid();
    struct rusage used = {0};
    int status = 0;

    grade->child_status = cudaSuccess;
    grade->child_abnormal_end[0] = '\0';
    if (!results)
        return true;
    memset(results, 0, sizeof *results);
    fflush(NULL);

    const pid_t child = fork();

    if (child == 0) {
        become_the_learners(parent);
        return true;
    }
    if (child < 0) {
        snprintf(grade->child_abnormal_end, sizeof grade->child_abnormal_end,
                 "not your fault: no process to launch in: %s", strerror(errno));
        return false;
    }
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
        ;
    if (!results->ended_normally || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        say_death(status, &used, grade->child_abnormal_end, sizeof grade->child_abnormal_end);
    grade->child_status = results->status;
    return false;
}

/** Returns the launch's status, or ends the case if the process died. */
cudaError_t grade_fetch_child_status(struct grade_context *grade)
{
    if (grade->child_abnormal_end[0])
        grade_end_case_with_launch_failure(grade, cudaErrorLaunchFailure, grade->child_abnormal_end);
    if (grade->child_results)
        grade->counters = grade->child_results->counters;
    else
        grade_read_and_reset_counters(grade);
    return grade->child_status;
}

void grade_fetch_child_result(struct grade_context *grade, void *result, size_t bytes)
{
    grade_fetch_child_status(grade);
    if (grade->child_results && bytes <= sizeof grade->child_results->result)
        memcpy(result, grade->child_results->result, bytes);
}
