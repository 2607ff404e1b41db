/** @file watch.h  Waits until files in a folder are saved, with inotify. */
#ifndef WATCH_H
#define WATCH_H

#include "base/error.h"

struct folder_watch {
    int inotify_descriptor;
};

enum watch_result {
    WATCH_FILE_SAVED,     /**< some files were saved; `on_save` was called for each event */
    WATCH_KEY_PRESSED,    /**< `keys_descriptor` became readable */
    WATCH_SIGNAL_ARRIVED, /**< a signal arrived: the terminal's mode or size may have changed */
    WATCH_STOP_REQUESTED, /**< `stop_descriptor` became readable */
    WATCH_FOLDER_LOST,    /**< the folder is gone or can no longer be watched; `error` gives the reason */
};

/** Starts watching a folder. Returns false with a reason on failure. */
bool watch_open(struct folder_watch *watch, const char *folder, struct error *error);

/**
 * Waits for a save, and then until nothing has been saved for a moment, so that all events of one save by an editor are
 * reported together. A file counts as saved when it was closed after writing or another file was renamed to its name.
 *
 * @param stop_descriptor   a descriptor that becomes readable when the wait must end
 * @param keys_descriptor   a descriptor that becomes readable when a key has been pressed, or -1 if there are no keys
 * @param on_save  receives each file's name, without the folder; a name may be repeated; if it is NULL, any file may
 *               have been saved
 */
enum watch_result watch_wait_for_save_or_key(struct folder_watch *watch, int stop_descriptor, int keys_descriptor,
                                             void (*on_save)(void *context, const char *name), void *context,
                                             struct error *error);

void watch_close(struct folder_watch *watch);

#endif
