#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 1 << 22 };

char *text_file_read(const char *path, struct error *error)
{
    FILE *const file = fopen(path, "r");
    char *const text = file ? malloc(MAX_BYTES + 2) : NULL;
    size_t bytes = 0;

    if (text)
        bytes = fread(text, 1, MAX_BYTES + 1, file);
    if (!text || ferror(file)) {
        error_set(error, "%s: %s", path, strerror(errno));
    } else if (bytes > MAX_BYTES || memchr(text, '\0', bytes)) {
        error_set(error, "%s: it has more than %d bytes, or a NUL", path, MAX_BYTES);
    } else {
        fclose(file);
        text[bytes] = '\0';
        return text;
    }
    free(text);
    if (file)
        fclose(file);
    return NULL;
}

bool text_file_exists(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

char *text_line(char **text)
{
    char *const line = *text;
    char *const newline = strchr(line, '\n');

    if (*line == '\0')
        return NULL;
    *text = newline ? newline + 1 : line + strlen(line);
    if (newline)
        *newline = '\0';
    return line;
}

bool text_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}
