/** @file site_sources.h  The source files that the site shows, and where Doxygen puts them. */
#ifndef SITE_SOURCES_H
#define SITE_SOURCES_H

#include "harness/core/error.h"

#include <stddef.h>

enum { SITE_URL_SIZE = 256 };

/** Paths from the repository's root, in alphabetical order within a folder. */
struct site_sources {
    char **paths;
    size_t count;
};

/** Finds what lies in chapters/, common/ and docs/primer/ and is C, CUDA C or Python, but in no folder "data". Returns false with the reason. */
bool site_sources_find(struct site_sources *sources, struct error *error);

void site_sources_free(struct site_sources *sources);

/**
 * The page that shows a source file: Doxygen names it after the file, and after as much of the path as files of the same name
 * do not share. Returns false if the site does not show `path`.
 */
bool site_sources_url(const struct site_sources *sources, const char *path, char url[SITE_URL_SIZE]);

#endif
