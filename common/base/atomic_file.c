#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- signals ------------------------------------------------------------------------------------------------------ */

enum { MAX_TEMPORARIES = 16 };

/* Names of the existing temporary files, which are removed when the program exits; "" marks a free slot. */
static char temporaries[MAX_TEMPORARIES][PATH_MAX];

/* `changing` is 1 while the list is being updated; a signal that arrives during an update is stored in `waiting`. */
static volatile sig_atomic_t changing, waiting;

static void remove_temporaries(void)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (temporaries[i][0])
            unlink(temporaries[i]);
}

static void end_by(int signal_number)
{
    if (changing) {
        waiting = signal_number;
        return;
    }
    remove_temporaries();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void begin_change(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    static bool begun;
    struct sigaction now;

    if (!begun)
        atexit(remove_temporaries); /* a library may call exit() */
    begun = true;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &(struct sigaction){.sa_handler = end_by, .sa_flags = SA_RESTART}, NULL);
    changing = 1;
}

static void end_change(void)
{
    changing = 0;
    if (waiting)
        raise(waiting);
}

/**
 * Replaces `old` with `name` in the list; "" stands for a free slot. If no slot is free, the file is not listed and
 * therefore not removed if a signal kills the program.
 */
static void note(const char *old, const char *name)
{
    for (int i = 0; i < MAX_TEMPORARIES; i++)
        if (strcmp(temporaries[i], old) == 0 && strlen(name) < PATH_MAX) {
            strcpy(temporaries[i], name);
            return;
        }
}

/* --- temporaries -------------------------------------------------------------------------------------------------- */

int atomic_file_create_temporary(const char *path, char **temporary_path)
{
    const size_t room = strlen(path) + 40;
    int file = -1, reason;

    *temporary_path = malloc(room);
    begin_change();
    for (int i = 0; *temporary_path && file < 0 && i < 100; i++) {
        snprintf(*temporary_path, room, "%s.%ld.%d.tmp", path, (long)getpid(), i);
        file = open(*temporary_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    reason = errno;
    if (file >= 0)
        note("", *temporary_path);
    end_change();
    if (file < 0) {
        free(*temporary_path);
        *temporary_path = NULL;
    }
    errno = reason;
    return file;
}

void atomic_file_remove_and_free_temporary(char *temporary_path)
{
    const int reason = errno;

    if (!temporary_path)
        return;
    begin_change();
    unlink(temporary_path);
    note(temporary_path, "");
    end_change();
    free(temporary_path);
    errno = reason;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static bool cannot_write(const struct atomic_file *file, struct error *error)
{
    const int reason = errno;
    const char *const slash = strrchr(file->path, '/');
    const int length = slash ? (int)(slash - file->path) : 0;

    if (reason == ENOENT && length > 0)
        return error_set(error, "%s%s: it cannot be written: %s (mkdir -p %.*s)", file->message_prefix, file->path,
                         strerror(reason), length, file->path);
    return error_set(error, "%s%s: it cannot be written: %s", file->message_prefix, file->path, strerror(reason));
}

static void drop(struct atomic_file *file)
{
    if (file->stream)
        fclose(file->stream);
    atomic_file_remove_and_free_temporary(file->temporary_path);
    free(file->path);
    *file = (struct atomic_file){0};
}

bool atomic_file_open(struct atomic_file *file, const char *message_prefix, const char *path, struct error *error)
{
    struct stat status;
    int descriptor;

    *file = (struct atomic_file){.message_prefix = message_prefix};
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return error_set(error, "%s%s: %s is there; only a regular file is replaced", message_prefix, path,
                         S_ISDIR(status.st_mode) ? "a directory" : "a device, a pipe or a socket");
    file->path = realpath(path, NULL); /* keeps a symbolic link and replaces its target */
    if (!file->path)
        file->path = strdup(path);
    if (!file->path)
        return error_set_as(error, RUN_CANNOT_RUN, "%s%s: out of memory", message_prefix, path);
    descriptor = atomic_file_create_temporary(file->path, &file->temporary_path);
    if (descriptor >= 0)
        file->stream = fdopen(descriptor, "w");
    if (file->stream)
        return true;
    cannot_write(file, error);
    if (descriptor >= 0)
        close(descriptor);
    drop(file);
    return false;
}

/** Closes the file. Returns false if the file is incomplete. */
static bool finish(struct atomic_file *file, struct error *error)
{
    /* EINVAL: this file system does not support fsync */
    const bool written = fflush(file->stream) == 0 && !ferror(file->stream) &&
                         (fsync(fileno(file->stream)) == 0 || errno == EINVAL);
    const int reason = errno;
    const bool closed = fclose(file->stream) == 0;

    file->stream = NULL;
    if (!written)
        errno = reason;
    return (written && closed) || cannot_write(file, error);
}

/**
 * Renames the temporary file to its final path. If the file system can exchange names, the old file gets the temporary
 * name.
 */
static bool replace(const struct atomic_file *file)
{
    return renameat2(AT_FDCWD, file->temporary_path, AT_FDCWD, file->path, RENAME_EXCHANGE) == 0 ||
           ((errno == ENOENT || errno == EINVAL || errno == ENOSYS) && rename(file->temporary_path, file->path) == 0);
}

/** Undoes replace(), unless it overwrote the old file because the system cannot exchange names. */
static void put_back(const struct atomic_file *file)
{
    if (renameat2(AT_FDCWD, file->temporary_path, AT_FDCWD, file->path, RENAME_EXCHANGE) != 0 && errno == ENOENT)
        rename(file->path, file->temporary_path);
}

bool atomic_files_commit(struct atomic_file *files, int num_files, struct error *error)
{
    bool good = true;
    int done = 0;

    for (int i = 0; good && i < num_files; i++)
        good = !files[i].stream || finish(&files[i], error);
    begin_change();
    for (; good && done < num_files; done += good)
        good = !files[done].temporary_path || replace(&files[done]) || cannot_write(&files[done], error);
    while (!good && done-- > 0)
        if (files[done].temporary_path)
            put_back(&files[done]);
    end_change();
    atomic_files_discard(files, num_files);
    return good;
}

void atomic_files_discard(struct atomic_file *files, int num_files)
{
    for (int i = 0; i < num_files; i++)
        drop(&files[i]);
}
