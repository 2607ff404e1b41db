#include "harness/core/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_directory_ready(const char *directory, struct error *error)
{
    struct stat status;

    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return error_set(error, "--out: %s: %s", directory, strerror(errno));
    if (stat(directory, &status) != 0)
        return error_set(error, "--out: %s: %s", directory, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_set(error, "--out: %s: not a directory", directory);
    if (access(directory, W_OK | X_OK) != 0)
        return error_set(error, "--out: %s: %s", directory, strerror(errno));
    return true;
}

static bool join(const char *directory, const char *name, char path[PATH_MAX], struct error *error)
{
    if (snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX)
        return true;
    return error_set(error, "--out: %s: the path is too long", directory);
}

bool output_write(const char *directory, const struct output_file *files, int num_files, struct error *error)
{
    char path[PATH_MAX];

    for (int i = 0; i < num_files; i++) {
        if (join(directory, files[i].name, path, error) && npy_write(path, files[i].array, error))
            continue;
        while (i-- > 0)
            if (join(directory, files[i].name, path, &(struct error){""}))
                unlink(path);
        return false;
    }
    return true;
}
