#include "site_sources.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 512 };

static const char *const folders[] = {"chapters", "common", "docs/primer"};
static const char *const endings[] = {".c", ".h", ".cu", ".cuh", ".py"};

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_source(const char *name)
{
    const char *const dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static bool add(struct site_sources *sources, const char *path, struct error *error)
{
    char **const paths = realloc(sources->paths, (sources->count + 1) * sizeof *paths);

    if (paths)
        sources->paths = paths;
    if (!paths || !(paths[sources->count] = strdup(path)))
        return error_set(error, "out of memory");
    sources->count++;
    return true;
}

static bool find_in(struct site_sources *sources, const char *folder, struct error *error)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    bool good = count >= 0 || error_set(error, "%s: %s", folder, strerror(errno));

    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE];
        struct stat status;

        if (entries[i]->d_name[0] != '.' && strcmp(entries[i]->d_name, "data") != 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < (int)sizeof path && good &&
            stat(path, &status) == 0) {
            if (S_ISDIR(status.st_mode))
                good = find_in(sources, path, error);
            else if (is_source(path))
                good = add(sources, path, error);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return good;
}

bool site_sources_find(struct site_sources *sources, struct error *error)
{
    *sources = (struct site_sources){0};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct stat status;

        if (stat(folders[i], &status) == 0 && !find_in(sources, folders[i], error)) {
            site_sources_free(sources);
            return false;
        }
    }
    return true;
}

void site_sources_free(struct site_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        free(sources->paths[i]);
    free(sources->paths);
    *sources = (struct site_sources){0};
}

/** How many bytes of `path`, up to a slash, it shares with every other source of its name. */
static size_t shared_prefix(const struct site_sources *sources, const char *path)
{
    size_t shared = (size_t)(base_name(path) - path);

    for (size_t i = 0; i < sources->count; i++) {
        const char *const other = sources->paths[i];
        size_t same = 0;

        if (strcmp(other, path) == 0 || strcmp(base_name(other), base_name(path)) != 0)
            continue;
        while (same < shared && other[same] == path[same])
            same++;
        while (same > 0 && path[same - 1] != '/')
            same--;
        shared = same;
    }
    return shared;
}

bool site_sources_url(const struct site_sources *sources, const char *path, char url[SITE_URL_SIZE])
{
    static const char ending[] = "_source.html";
    char *out = url;
    size_t i = 0;

    while (i < sources->count && strcmp(sources->paths[i], path) != 0)
        i++;
    if (i == sources->count || strlen(path) * 2 + sizeof ending > SITE_URL_SIZE)
        return false;
    for (const char *in = path + shared_prefix(sources, path); *in; in++) {
        switch (*in) {
        case '_':
            out += sprintf(out, "__");
            break;
        case '/':
            out += sprintf(out, "_2");
            break;
        case '.':
            out += sprintf(out, "_8");
            break;
        default:
            *out++ = *in;
        }
    }
    strcpy(out, ending);
    return true;
}
