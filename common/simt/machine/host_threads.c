#include "host_threads.h"

#include "source_lines.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t inside = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_t launching;
static unsigned depth; /* number of times that the thread inside has locked the mutex */

void simt_host_lock(void)
{
    pthread_mutex_lock(&inside);
    depth++;
}

void simt_host_unlock(const int *unused)
{
    (void)unused;
    depth--;
    pthread_mutex_unlock(&inside);
}

unsigned simt_host_lock_depth(void)
{
    return depth;
}

void simt_host_unlock_to_depth(unsigned outer_depth)
{
    while (depth > outer_depth)
        simt_host_unlock(NULL);
}

bool simt_is_non_launching_host_thread(void)
{
    const pthread_t first = __atomic_load_n(&launching, __ATOMIC_SEQ_CST);

    return first && !pthread_equal(first, pthread_self());
}

_Noreturn void simt_reject_host_thread(uintptr_t pc, const char *action)
{
    static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER; /* held by the first of several failing threads */
    char location[LOCATION_TEXT_SIZE];

    pthread_mutex_lock(&ending);
    simt_format_source_line(pc, location);
    fprintf(stderr, "%s: a second thread of the host %s\n", location, action);
    fflush(stdout);
    _exit(EXIT_FAILURE);
}

/* Shared memory is the thread-local storage of the first thread that launches, so no other thread may launch. */
void simt_check_is_only_launching_thread(uintptr_t call_site)
{
    pthread_t first = 0;

    if (!__atomic_compare_exchange_n(&launching, &first, pthread_self(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
        !pthread_equal(first, pthread_self()))
        simt_reject_host_thread(call_site, "launches; the simulator has one: launch from it, into streams");
}
