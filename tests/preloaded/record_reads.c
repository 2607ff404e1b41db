/**
 * @file record_reads.c
 * @brief Records which of the course's files the processes of a test open to read, list or execute; preloaded into
 *        these processes.
 *
 * tests/run.sh compiles this library and passes it two environment variables: the course's folder, READS_ROOT, and a
 * file to append to, READS_LOG. Each line is a path relative to the folder, as the process spelled it. The code
 * allocates no memory and preserves errno.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Appends a path below the course's folder to READS_LOG, unless the process has a limit on file sizes. */
static void append(const char *path)
{
    const char *const root = getenv("READS_ROOT"), *const log = getenv("READS_LOG");
    const size_t length = root ? strlen(root) : 0;
    struct rlimit limit;
    char line[PATH_MAX + 1];

    if (!length || !log || strncmp(path, root, length) != 0 || path[length] != '/')
        return;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur != RLIM_INFINITY)
        return;
    const int size = snprintf(line, sizeof line, "%s\n", path + length + 1);
    const int file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

    if (file >= 0 && size > 0 && (size_t)size < sizeof line && write(file, line, (size_t)size) != size)
        abort(); /* a test whose reads were not recorded would never run again */
    if (file >= 0)
        close(file);
}

/** Records a file that was opened relative to a folder; `folder` is a file descriptor or AT_FDCWD. */
static void note(int folder, const char *path)
{
    const int error = errno;
    char whole[2 * PATH_MAX + 2] = "", link[40];

    if (*path != '/') {
        if (folder == AT_FDCWD)
            snprintf(link, sizeof link, "/proc/self/cwd");
        else
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        const ssize_t length = readlink(link, whole, PATH_MAX);

        if (length > 0)
            snprintf(whole + length, sizeof whole - (size_t)length, "/%s", path);
        path = whole;
    }
    append(path);
    errno = error;
}

__attribute__((constructor)) static void note_program(void)
{
    char path[PATH_MAX] = "";

    if (readlink("/proc/self/exe", path, sizeof path - 1) > 0)
        note(AT_FDCWD, path);
}

/**
 * Opens a file as the C library does and records it if it is only read. `rest` contains a mode if the flags require
 * one.
 */
static int open_and_note(int folder, const char *path, int flags, va_list rest)
{
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    const int file = (int)syscall(SYS_openat, folder, path, flags, mode);

    if (file >= 0 && (flags & O_ACCMODE) == O_RDONLY)
        note(folder, path);
    return file;
}

/** Points `next` to the C library's function of this name. */
#define FIND(next, name) *(void **)&(next) = dlsym(RTLD_NEXT, name)

static FILE *fopen_and_note(const char *name, const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *);

    FIND(next, name);
    FILE *const file = next(path, mode);

    if (file && *mode == 'r' && !strchr(mode, '+'))
        note(AT_FDCWD, path);
    return file;
}

#define OPEN(name)                                                   \
    int name(const char *path, int flags, ...)                       \
    {                                                                \
        va_list rest;                                                \
                                                                     \
        va_start(rest, flags);                                       \
        const int file = open_and_note(AT_FDCWD, path, flags, rest); \
                                                                     \
        va_end(rest);                                                \
        return file;                                                 \
    }
#define OPENAT(name)                                               \
    int name(int folder, const char *path, int flags, ...)         \
    {                                                              \
        va_list rest;                                              \
                                                                   \
        va_start(rest, flags);                                     \
        const int file = open_and_note(folder, path, flags, rest); \
                                                                   \
        va_end(rest);                                              \
        return file;                                               \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
/* Functions that programs compiled with _FORTIFY_SOURCE call. */
int __open_2(const char *path, int flags, ...);
int __open64_2(const char *path, int flags, ...);
int __openat_2(int folder, const char *path, int flags, ...);
int __openat64_2(int folder, const char *path, int flags, ...);
OPEN(__open_2)
OPEN(__open64_2)
OPENAT(__openat_2)
OPENAT(__openat64_2)

FILE *fopen(const char *path, const char *mode)
{
    return fopen_and_note("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen_and_note("fopen64", path, mode);
}

DIR *opendir(const char *path)
{
    DIR *(*next)(const char *);

    FIND(next, "opendir");
    DIR *const folder = next(path);

    if (folder)
        note(AT_FDCWD, path);
    return folder;
}
