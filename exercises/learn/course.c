#include "course.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_there(const char *folder, const char *name, mode_t type)
{
    char path[PATH_MAX];
    struct stat status;

    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && stat(path, &status) == 0 &&
           (status.st_mode & S_IFMT) == type;
}

/** Finds the repository's root from this program's path. */
static bool find_root(char root[PATH_MAX], struct error *error)
{
    const ssize_t length = readlink("/proc/self/exe", root, PATH_MAX - 1);
    char program[PATH_MAX];

    if (length < 0)
        return error_set(error, "/proc/self/exe cannot be read, so the course cannot be found: %s", strerror(errno));
    root[length] = '\0';
    memcpy(program, root, (size_t)length + 1);
    for (char *slash; (slash = strrchr(root, '/')) && slash > root;) {
        *slash = '\0';
        if (is_there(root, "build.ninja", S_IFREG) && is_there(root, "exercises", S_IFDIR))
            return true;
    }
    return error_set(error, "no folder above %s has build.ninja and exercises/: run it where 'ninja learn' made it",
                     program);
}

/**
 * Writes the path prefix from `here` to `root`: one or more "../" if `here` is below the root, else the root's full
 * path.
 */
static void find_prefix(const char *root, const char *here, char prefix[PATH_MAX])
{
    const size_t length = strlen(root);
    size_t used = 0;

    prefix[0] = '\0';
    if (strncmp(here, root, length) != 0 || (here[length] != '/' && here[length] != '\0')) {
        snprintf(prefix, PATH_MAX, "%.*s/", PATH_MAX - 2, root);
        return;
    }
    for (const char *c = here + length; *c; c++)
        if (*c == '/' && used + 4 < PATH_MAX)
            used += (size_t)snprintf(prefix + used, PATH_MAX - used, "../");
}

bool course_enter_root(struct course_paths *course, struct error *error)
{
    char here[PATH_MAX];

    if (!find_root(course->root, error))
        return false;
    if (!getcwd(here, sizeof here))
        here[0] = '\0'; /* the working directory was removed: use full paths */
    find_prefix(course->root, here, course->root_prefix);
    return chdir(course->root) == 0 || error_set(error, "%s: %s", course->root, strerror(errno));
}
