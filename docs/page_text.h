/** @file page_text.h  From a Markdown file of the repository to the text of a page of the site. */
#ifndef PAGE_TEXT_H
#define PAGE_TEXT_H

#include "glossary.h"
#include "site_sources.h"

#include <stdio.h>

enum { MAX_PAGE = 64, PAGE_ID_SIZE = 64, PAGE_TITLE_SIZE = 128, PAGE_PATH_SIZE = 512 };

/** A page: a file that becomes one, its id and its title. */
struct page {
    char path[PAGE_PATH_SIZE], id[PAGE_ID_SIZE], title[PAGE_TITLE_SIZE];
};

/** All that a page may refer to. */
struct site {
    struct page pages[MAX_PAGE];
    size_t num_pages;
    struct site_sources sources;
    struct glossary glossary;
    const char *out; /**< the folder for what is made; files that pages link to go to out/files */
    /** Writes what stands for the marker `<!-- text -->`; `known` tells whether there is one. */
    bool (*write_marker)(const struct site *site, const char *text, FILE *out, bool *known, struct error *error);
};

/** What a page's text says about it. */
struct page_size {
    int words, lines_of_code;
};

/** Reads the title and the id from a file's first line, `# Title {#id}`; without an id the page's own stays. */
bool page_read_title(struct page *page, struct error *error);

/**
 * Writes everything behind the title: links lead to pages of the site, to the pages of source files, or to copies of other files;
 * a picture on its own line becomes a figure; above each snippet stands where it comes from; the first use of each term
 * leads to the glossary. Returns false with one line that names file and line: a link, a picture or a snippet's file that does
 * not exist, a tag that is not there twice, a command that fails.
 */
bool page_write_text(const struct site *site, const struct page *page, FILE *out, struct page_size *size,
                     struct error *error);

/** Writes a picture, a file of docs/figures, with what it shows in words. */
void page_write_figure(FILE *out, const char *name, const char *alternative);

#endif
