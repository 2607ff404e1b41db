#include "learner_file.h"

#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_KEPT = 10000 };

/** Reads `size` bytes, or fewer at the end of the file. Returns the number of bytes read, or -1 on failure. */
static ssize_t read_all(int file, char *bytes, size_t size)
{
    size_t used = 0;

    while (used < size) {
        const ssize_t got = read(file, bytes + used, size - used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(file, bytes, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        size -= (size_t)put;
    }
    return true;
}

/** Returns an error message if the text cannot be a learner's file, or NULL if it can. */
static const char *bad_text(const char *text, size_t size)
{
    if (memchr(text, 0, size))
        return "it holds a zero byte, so it is no text";
    if (strspn(text, " \t\r\n") == size)
        return "it is empty";
    return NULL;
}

static bool read_open(int file, const char *path, char **text, struct error *error)
{
    struct stat status;
    const char *bad;
    ssize_t size;

    if (fstat(file, &status) != 0)
        return error_set(error, "%s: it cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%s: %s, not a file", path,
                         S_ISDIR(status.st_mode) ? "a directory" : "a device or a pipe");
    if (status.st_size > LEARNER_FILE_MAX_BYTES)
        return error_set(error, "%s: it is larger than 1 MiB", path);
    *text = malloc((size_t)status.st_size + 1);
    if (!*text)
        return error_set(error, "%s: out of memory", path);
    size = read_all(file, *text, (size_t)status.st_size);
    if (size < 0)
        return error_set(error, "%s: it cannot be read: %s", path, strerror(errno));
    (*text)[size] = '\0';
    bad = bad_text(*text, (size_t)size);
    return !bad || error_set(error, "%s: %s", path, bad);
}

bool text_file_read(const char *path, char **text, struct error *error)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a FIFO must not block */
    bool good;

    *text = NULL;
    if (file < 0)
        return error_set(error, "%s: %s", path,
                         errno != ENOENT ? strerror(errno)
                         : strstr(path, "exercises/mine/")
                             ? "it is not there"
                             : "it is not there, but belongs to the course: `git checkout` restores it");
    good = read_open(file, path, text, error);
    close(file);
    if (!good) {
        free(*text);
        *text = NULL;
    }
    return good;
}

/** Writes the text to an open file and closes it. Returns false with errno set on failure. */
static bool write_and_close(int file, const char *text)
{
    const bool written = write_all(file, text, strlen(text));
    const int reason = errno;

    if (close(file) != 0)
        return false;
    errno = reason;
    return written;
}

/** Creates the file directly at its path, for file systems without hard links. */
static bool make_in_place(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int reason;

    if (file < 0)
        return false;
    if (write_and_close(file, text))
        return true;
    reason = errno;
    unlink(path);
    errno = reason;
    return false;
}

/**
 * Creates the complete file atomically, by hard-linking a temporary file to its path. link() never replaces an existing
 * file, and the file watcher does not react to it.
 */
static bool make_by_link(const char *path, const char *text)
{
    char *temporary;
    const int file = atomic_file_create_temporary(path, &temporary);
    bool good = file >= 0 && write_and_close(file, text) && link(temporary, path) == 0;
    const int reason = errno;

    atomic_file_remove_and_free_temporary(temporary);
    errno = reason;
    if (!good && (reason == EPERM || reason == ENOSYS || reason == EOPNOTSUPP))
        good = make_in_place(path, text);
    return good;
}

bool learner_file_create(const char *exercise_path, const char *path, struct error *error)
{
    char *text;
    bool good;

    if (!text_file_read(exercise_path, &text, error))
        return false;
    good = make_by_link(path, text) || error_set(error, "%s: it cannot be made: %s", path, strerror(errno));
    free(text);
    return good;
}

bool path_set_aside(const char *path, char *new_path, size_t size, struct error *error)
{
    struct stat status;

    new_path[0] = '\0';
    if (lstat(path, &status) != 0)
        return errno == ENOENT || error_set(error, "%s: %s", path, strerror(errno));
    for (int i = 1; i < MAX_KEPT; i++) {
        if (snprintf(new_path, size, "%s.%d", path, i) >= (int)size)
            break;
        if (lstat(new_path, &status) == 0)
            continue;
        if (errno == ENOENT && rename(path, new_path) == 0)
            return true;
        return error_set(error, "%s: it cannot be renamed to %s: %s", path, new_path, strerror(errno));
    }
    new_path[0] = '\0';
    return error_set(error, "%s: it cannot be set aside: no name is free", path);
}
