#include "watch.h"

#include "base/backoff.h"

#include <errno.h>
#include <poll.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* An editor's events for one save are a few milliseconds apart; MAX_QUIET_MS limits the wait if they continue. */
enum { QUIET_MS = 80, MAX_QUIET_MS = 1000 };

bool watch_open(struct folder_watch *watch, const char *folder, struct error *error)
{
    watch->inotify_descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch->inotify_descriptor >= 0 &&
        inotify_add_watch(watch->inotify_descriptor, folder,
                          IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR) >= 0)
        return true;
    error_set(error, "%s: it cannot be watched: %s", folder, strerror(errno));
    watch_close(watch);
    return false;
}

static bool is_loss(const struct inotify_event *event)
{
    return event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT);
}

/** Returns the name of the saved file, or NULL if the kernel's event queue overflowed. */
static const char *name_of(const struct inotify_event *event)
{
    return event->len > 0 && !(event->mask & IN_Q_OVERFLOW) ? event->name : NULL;
}

/** Reads pending events. Returns the number of saves among them, or -1 with a reason. */
static int read_events(struct folder_watch *watch, void (*saved)(void *context, const char *name), void *context,
                       struct error *error)
{
    alignas(struct inotify_event) char events[4096];
    const ssize_t size = read(watch->inotify_descriptor, events, sizeof events);
    int saves = 0;

    if (size < 0 && errno != EAGAIN && errno != EINTR) {
        error_set(error, "%s", strerror(errno));
        return -1;
    }
    for (ssize_t at = 0; at < size;) {
        const struct inotify_event *const event = (const struct inotify_event *)(events + at);

        if (is_loss(event)) {
            error_set(error, "the folder was removed or renamed");
            return -1;
        }
        saved(context, name_of(event));
        saves++;
        at += (ssize_t)(sizeof *event + event->len);
    }
    return saves;
}

enum watch_result watch_wait_for_save_or_key(struct folder_watch *watch, int stop_descriptor, int keys_descriptor,
                                             void (*on_save)(void *context, const char *name), void *context,
                                             struct error *error)
{
    struct pollfd polled[] = {{.fd = watch->inotify_descriptor, .events = POLLIN},
                              {.fd = stop_descriptor, .events = POLLIN},
                              {.fd = keys_descriptor, .events = POLLIN}};
    double first = -1; /* time of the first save since the last return, or -1 */

    for (;;) {
        const int ready = poll(polled, first < 0 ? 3 : 2, first < 0 ? -1 : QUIET_MS);
        int saves;

        if (ready < 0 && errno != EINTR) {
            error_set(error, "%s", strerror(errno));
            return WATCH_FOLDER_LOST;
        }
        if (ready > 0 && polled[1].revents)
            return WATCH_STOP_REQUESTED;
        if (ready == 0 && first >= 0)
            return WATCH_FILE_SAVED;
        if (first < 0 && ready < 0)
            return WATCH_SIGNAL_ARRIVED;
        if (first < 0 && polled[2].revents && !polled[0].revents)
            return WATCH_KEY_PRESSED;
        saves = read_events(watch, on_save, context, error);
        if (saves < 0)
            return WATCH_FOLDER_LOST;
        if (saves > 0 && first < 0)
            first = monotonic_seconds();
        if (first >= 0 && monotonic_seconds() - first >= MAX_QUIET_MS * 1e-3)
            return WATCH_FILE_SAVED;
    }
}

void watch_close(struct folder_watch *watch)
{
    if (watch->inotify_descriptor >= 0)
        close(watch->inotify_descriptor);
    watch->inotify_descriptor = -1;
}
