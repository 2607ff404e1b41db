#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int whole_file_temporary(const char *path, char **name)
{
    const size_t room = strlen(path) + 40;
    int file = -1;

    *name = malloc(room);
    for (int i = 0; *name && file < 0 && i < 100; i++) {
        snprintf(*name, room, "%s.%ld.%d.tmp", path, (long)getpid(), i);
        file = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    return file;
}

static bool cannot_write(const struct whole_file *file, const char *flag, int reason, struct error *error)
{
    return error_set(error, "%s%s: it cannot be written: %s", flag, file->path, strerror(reason));
}

bool whole_file_open(struct whole_file *file, const char *flag, const char *path, struct error *error)
{
    struct stat status;

    *file = (struct whole_file){.path = path};
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return error_set(error, "%s%s: %s is there; only a regular file is replaced", flag, path,
                         S_ISDIR(status.st_mode) ? "a directory" : "a device, a pipe or a socket");

    const int descriptor = whole_file_temporary(path, &file->temporary);
    const int reason = errno;

    if (descriptor >= 0)
        file->stream = fdopen(descriptor, "w");
    if (file->stream)
        return true;
    if (descriptor >= 0) {
        close(descriptor);
        unlink(file->temporary);
    }
    free(file->temporary);
    file->temporary = NULL;
    return cannot_write(file, flag, reason, error);
}

bool whole_file_keep(struct whole_file *file, const char *flag, struct error *error)
{
    bool good = fflush(file->stream) == 0 && !ferror(file->stream);
    int reason;

    good = good && (fsync(fileno(file->stream)) == 0 || errno == EINVAL); /* EINVAL: this file system has no fsync */
    reason = errno;
    if (fclose(file->stream) != 0 && good) {
        good = false;
        reason = errno;
    }
    file->stream = NULL;
    if (good && rename(file->temporary, file->path) != 0) {
        good = false;
        reason = errno;
    }
    if (!good) {
        whole_file_drop(file);
        return cannot_write(file, flag, reason, error);
    }
    free(file->temporary);
    file->temporary = NULL;
    return true;
}

void whole_file_drop(struct whole_file *file)
{
    if (file->stream)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    *file = (struct whole_file){.path = file->path};
}
