#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static int ends[2] = {-1, -1};

static void note(int signal_number)
{
    const int saved = errno;
    const ssize_t put = write(ends[1], "", 1);

    (void)put; /* a failure does not matter: if the pipe is full, it is already readable */
    seen = signal_number;
    errno = saved;
}

bool interrupt_install_handlers(struct error *error)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note}; /* no SA_RESTART: blocking calls must return */
    struct sigaction old;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_set(error, "no pipe can be had: %s", strerror(errno));
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
            continue; /* the signal is ignored, as under nohup */
        sigaction(signals[i], &action, NULL);
    }
    return true;
}

int interrupt_last_signal(void)
{
    return seen;
}

int interrupt_poll_descriptor(void)
{
    return ends[0];
}

void interrupt_reraise_last_signal(void)
{
    if (!seen)
        return;
    signal(seen, SIG_DFL);
    raise(seen);
}
