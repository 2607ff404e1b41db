#include "harness/core/router_data.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/** Looks for the data in `directory` and every directory above it, which it cuts short on the way. */
static bool find_above(char *directory, const char *file, char *path, size_t size)
{
    for (char *end = directory + strlen(directory); end; end = strrchr(directory, '/')) {
        *end = '\0';
        if ((size_t)snprintf(path, size, "%s/common/data/router/%s", directory, file) < size && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool router_data_path(const char *file, const char *flag, char *path, size_t size, struct error *error)
{
    char directory[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);

    if (length > 0) {
        directory[length] = '\0';
        if (find_above(directory, file, path, size))
            return true;
    }
    if (getcwd(directory, sizeof directory) && find_above(directory, file, path, size))
        return true;
    return error_set(error, "common/data/router/%s: not found above the program or here; name the input with --%s",
                     file, flag);
}
