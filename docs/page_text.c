#include "page_text.h"

#include "text_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** A page on its way. */
struct writer {
    const struct site *site;
    const struct page *page;
    FILE *out;
    struct page_size *size;
    struct glossary_seen seen;
    bool in_code, in_generated, in_bold;
    char fence[4];
};

bool page_read_title(struct page *page, struct error *error)
{
    char *const text = text_file_read(page->path, error);
    char *at = text, *title, *label;

    if (!text)
        return false;
    title = text_line(&at);
    if (!title || !text_begins(title, "# ")) {
        free(text);
        return error_set(error, "%s:1: the first line must be '# Title {#id}'", page->path);
    }
    label = strstr(title, " {#");
    if (label) {
        sscanf(label, " {#%63[A-Za-z0-9_]}", page->id);
        *label = '\0';
    }
    snprintf(page->title, sizeof page->title, "%s", title + 2);
    free(text);
    return true;
}

/* --- links ------------------------------------------------------------------------------------------------------------ */

/** The path, from the repository's root, that `target` means in a file: "." and ".." are resolved. */
static bool resolve(const char *file, const char *target, char path[PAGE_PATH_SIZE])
{
    const char *const slash = strrchr(file, '/');
    char joined[2 * PAGE_PATH_SIZE], *rest = NULL;
    size_t length = 0;

    snprintf(joined, sizeof joined, "%.*s/%s", (int)(slash ? slash - file : 0), file, target);
    path[0] = '\0';
    for (char *part = strtok_r(joined, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            char *const last = strrchr(path, '/');

            if (length == 0)
                return false;
            length = last ? (size_t)(last - path) : 0;
            path[length] = '\0';
            continue;
        }
        if (length + strlen(part) + 2 > PAGE_PATH_SIZE)
            return false;
        length += (size_t)sprintf(path + length, "%s%s", length ? "/" : "", part);
    }
    return true;
}

/** Copies a file that is no page and no source of the site to out/files, so that a page can lead to it. */
static bool publish(const struct site *site, const char *path, char url[SITE_URL_SIZE], struct error *error)
{
    char copy[2 * PAGE_PATH_SIZE], name[PAGE_PATH_SIZE];
    char *const text = text_file_read(path, error);
    FILE *file;

    if (!text)
        return false;
    snprintf(name, sizeof name, "%s", path);
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '-' : *c;
    snprintf(url, SITE_URL_SIZE, "files/%.*s", SITE_URL_SIZE - 16, name);
    snprintf(copy, sizeof copy, "%s/%s", site->out, url);
    file = fopen(copy, "w");
    if (!file || fputs(text, file) == EOF)
        error_set(error, "%s: %s", copy, strerror(errno));
    const bool good = file && fclose(file) == 0;
    free(text);
    return good;
}

/** Whether a link to `path` leads to the page: to its file, or to the folder whose README.md it is. */
static bool leads_to(const char *path, const char *page)
{
    const size_t length = strlen(path);

    return strncmp(path, page, length) == 0 && (page[length] == '\0' || strcmp(page + length, "/README.md") == 0);
}

/** What a link to `target` leads to on the site. */
static bool link_target(const struct writer *writer, const char *target, char url[SITE_URL_SIZE], struct error *error)
{
    const struct site *const site = writer->site;
    char path[PAGE_PATH_SIZE];

    if (text_begins(target, "http://") || text_begins(target, "https://") || *target == '#' || *target == '@') {
        if (strlen(target) >= SITE_URL_SIZE)
            return error_set(error, "a link of %zu characters; it must have fewer than %d", strlen(target),
                             SITE_URL_SIZE);
        strcpy(url, target);
        return true;
    }
    if (!resolve(writer->page->path, target, path))
        return error_set(error, "it links to '%s', which is outside the repository", target);
    for (size_t i = 0; i < site->num_pages; i++)
        if (leads_to(path, site->pages[i].path)) {
            snprintf(url, SITE_URL_SIZE, "@ref %s", site->pages[i].id);
            return true;
        }
    if (site_sources_url(&site->sources, path, url))
        return true;
    if (!text_file_exists(path))
        return error_set(error, "it links to '%s': no such file", path);
    return publish(site, path, url, error);
}

/** Writes "](target)" anew, where `text` begins with "](". Returns its length, or 0 with the reason. */
static size_t write_link_end(struct writer *writer, const char *text, struct error *error)
{
    char target[PAGE_PATH_SIZE], url[SITE_URL_SIZE];
    const size_t length = strcspn(text + 2, ") ");

    if (text[2 + length] != ')' || length >= sizeof target) {
        error_set(error, "a link without its ')', or with a blank in it: '%.40s'", text);
        return 0;
    }
    snprintf(target, sizeof target, "%.*s", (int)length, text + 2);
    if (!link_target(writer, target, url, error))
        return 0;
    fprintf(writer->out, "](%s)", url);
    return length + 3;
}

/* --- lines of text ---------------------------------------------------------------------------------------------------- */

static void count_words(struct writer *writer, const char *line)
{
    bool inside = false;

    for (; *line; line++) {
        const bool now = isalnum((unsigned char)*line) || (inside && !isspace((unsigned char)*line));

        writer->size->words += now && !inside;
        inside = now;
    }
}

/** What must be written as it is: code between backquotes, an HTML tag, the text of a link. Returns its length, or 0. */
static size_t verbatim_length(const char *text)
{
    const char *end = NULL;

    if (*text == '`') {
        const size_t quotes = strspn(text, "`");
        char mark[8] = "";

        if (quotes < sizeof mark)
            end = strstr(text + quotes, memset(mark, '`', quotes));
        return end ? (size_t)(end - text) + quotes : 0;
    }
    if (*text == '<' && (isalpha((unsigned char)text[1]) || text[1] == '/' || text[1] == '!'))
        end = strchr(text, '>');
    else if (*text == '[')
        end = strstr(text, "](");
    return end ? (size_t)(end - text) + (*text == '<') : 0;
}

/** Writes the mark of bold text, if `text` begins with it, as a tag: Doxygen 1.9.4 leaves `**"` as it is. */
static size_t write_bold(struct writer *writer, const char *text)
{
    if (!text_begins(text, "**"))
        return 0;
    fputs(writer->in_bold ? "</b>" : "<b>", writer->out);
    writer->in_bold = !writer->in_bold;
    return strlen("**");
}

/** A line of a paragraph, a list or a table. Terms are linked where `terms`. */
static bool write_line(struct writer *writer, const char *line, bool terms, struct error *error)
{
    const char *at = line;

    while (*at) {
        size_t length = verbatim_length(at);

        if (length > 0) {
            fprintf(writer->out, "%.*s", (int)length, at);
        } else if (text_begins(at, "](")) {
            length = write_link_end(writer, at, error);
            if (length == 0)
                return false;
        } else if ((length = write_bold(writer, at)) > 0) {
            /* written */
        } else if (*at == '"') { /* between two of these Doxygen takes no code and no link for what it is */
            fputs("&quot;", writer->out);
            length = 1;
        } else if (!terms || (length = glossary_link(&writer->site->glossary, &writer->seen, at, at > line ? at[-1] : 0,
                                                     writer->out)) == 0) {
            fputc(*at, writer->out);
            length = 1;
        }
        at += length;
    }
    fputc('\n', writer->out);
    return true;
}

/* --- figures ---------------------------------------------------------------------------------------------------------- */

static void write_attribute(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"')
            fputs("&quot;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
    }
}

/* A picture leads to itself: at full size it may be wider than the page. */
void page_write_figure(FILE *out, const char *name, const char *alternative)
{
    fprintf(out, "\n@htmlonly<figure class=\"picture\"><a href=\"figures/%s\"><img src=\"figures/%s\" alt=\"", name,
            name);
    write_attribute(out, alternative);
    fputs("\" loading=\"lazy\"/></a></figure>@endhtmlonly\n\n", out);
}

/** `![alternative text](path.svg)` on a line of its own. */
static bool write_figure(struct writer *writer, const char *line, struct error *error)
{
    char alternative[1024], target[PAGE_PATH_SIZE], path[PAGE_PATH_SIZE];
    int length = 0;

    if (sscanf(line, "![%1023[^]]](%511[^) ])%n", alternative, target, &length) != 2 || line[length] != '\0')
        return error_set(error, "a picture must be '![what it shows](path)' on a line of its own: '%.60s'", line);
    if (!resolve(writer->page->path, target, path) || !strchr(path, '/') || !text_file_exists(path))
        return error_set(error, "the picture '%s' does not exist", target);

    const char *const name = strrchr(path, '/') + 1;
    if ((size_t)(name - path) != strlen("docs/figures/") || !text_begins(path, "docs/figures/"))
        return error_set(error, "the picture '%s' is not in docs/figures", target);
    page_write_figure(writer->out, name, alternative);
    return true;
}

/* --- snippets --------------------------------------------------------------------------------------------------------- */

/** The lines between the two that hold "[tag]", counted from 1. */
static bool find_snippet(const char *path, const char *tag, int *first, int *last, struct error *error)
{
    char *const text = text_file_read(path, error);
    char *at = text, *line;
    int count = 0;

    if (!text)
        return false;
    for (int number = 1; (line = text_line(&at)); number++) {
        const char *const found = strstr(line, tag);

        if (!found || found == line || found[-1] != '[' || found[strlen(tag)] != ']')
            continue;
        if (count++ == 0)
            *first = number + 1;
        else
            *last = number - 1;
    }
    free(text);
    return count == 2 ||
           error_set(error, "the tag [%s] stands in %s %d times; it must stand there twice", tag, path, count);
}

/** `\snippet path tag`: checked, and headed by a link to the lines it shows. */
static bool write_snippet(struct writer *writer, const char *line, struct error *error)
{
    char path[PAGE_PATH_SIZE], tag[64], url[SITE_URL_SIZE];
    const char *slash;
    int first = 0, last = 0;

    if (sscanf(line, "\\snippet %511s %63s", path, tag) != 2)
        return error_set(error, "a snippet is '\\snippet path tag': '%.60s'", line);
    if (!find_snippet(path, tag, &first, &last, error))
        return false;
    if (!site_sources_url(&writer->site->sources, path, url))
        return error_set(error, "%s is not among the sources that the site shows", path);
    slash = strrchr(path, '/');
    fprintf(writer->out,
            "\n@htmlonly<p class=\"origin\"><a href=\"%s#l%05d\">%s, lines %d to %d</a></p>@endhtmlonly\n\n", url,
            first, slash ? slash + 1 : path, first, last);
    fprintf(writer->out, "%s\n\n", line);
    writer->size->lines_of_code += last - first + 1;
    return true;
}

/* --- the page --------------------------------------------------------------------------------------------------------- */

/** In a README the line above a snippet leads to its file; on the site write_snippet() says it better. */
static bool leads_to_snippet(const char *line, const char *next)
{
    return *line == '[' && line[strlen(line) - 1] == ')' && text_begins(next, "\\snippet ");
}

/** Chapters say how long they take in so many words; the site counts. */
static void cut_minutes(char *line)
{
    char *const minutes = strstr(line, " minutes. ");
    char *start = minutes;

    while (start && start > line && isdigit((unsigned char)start[-1]))
        start--;
    if (start && start < minutes)
        memmove(start, minutes + strlen(" minutes. "), strlen(minutes + strlen(" minutes. ")) + 1);
}

static bool begin_or_end_code(struct writer *writer, const char *line)
{
    const char *const text = line + strspn(line, " ");

    if (!writer->in_code && (text_begins(text, "```") || text_begins(text, "~~~"))) {
        snprintf(writer->fence, sizeof writer->fence, "%.3s", text);
        writer->in_code = true;
        return true;
    }
    if (writer->in_code && text_begins(text, writer->fence)) {
        writer->in_code = false;
        return true;
    }
    return false;
}

/** A line that is a comment: dropped, kept, or replaced by what the site's marker stands for. */
static bool write_comment(struct writer *writer, const char *line, struct error *error)
{
    char text[1024];
    bool known = false;

    if (strcmp(line, "<!-- end -->") == 0)
        writer->in_generated = false;
    if (sscanf(line, "<!-- %1023[^\n]", text) != 1)
        return true;
    char *const end = strstr(text, " -->");
    if (!end)
        return error_set(error, "a comment must end on its own line");
    *end = '\0';
    if (!writer->site->write_marker(writer->site, text, writer->out, &known, error))
        return false;
    writer->in_generated |= !known && strchr(text, ':') && !text_begins(text, "words:");
    return true;
}

/** A heading gets an id from its words if it has none, so that links to it last. */
static bool write_heading(struct writer *writer, const char *line, struct error *error)
{
    const char *at = line + strspn(line, "# ");
    bool gap = true;

    if (strstr(line, "{#"))
        return write_line(writer, line, false, error);
    fprintf(writer->out, "%s {#%s", line, writer->page->id);
    for (; *at; at++) {
        if (isalnum((unsigned char)*at))
            fprintf(writer->out, "%s%c", gap ? "_" : "", tolower((unsigned char)*at));
        gap = !isalnum((unsigned char)*at);
    }
    fputs("}\n", writer->out);
    return true;
}

static bool write_any(struct writer *writer, char *line, const char *next, struct error *error)
{
    if (begin_or_end_code(writer, line) || writer->in_code) {
        writer->size->lines_of_code += writer->in_code;
        fprintf(writer->out, "%s\n", line);
        return true;
    }
    if (text_begins(line, "<!-- "))
        return write_comment(writer, line, error);
    if (text_begins(line, "!["))
        return write_figure(writer, line, error);
    if (text_begins(line, "\\snippet "))
        return write_snippet(writer, line, error);
    if (leads_to_snippet(line, next))
        return true;
    if (text_begins(line, "##"))
        return write_heading(writer, line, error);
    cut_minutes(line);
    if (*line == '\0' && writer->in_bold)
        return error_set(error, "the paragraph before has '**' without its other end");
    if (!writer->in_generated)
        count_words(writer, line);
    return write_line(writer, line, *line != '|' && !writer->in_generated && strcmp(writer->page->id, "glossary") != 0,
                      error);
}

/** Puts a link's text that goes on in the next line on one line, and returns whether it did: Doxygen would lose its way. */
static bool join_link(const struct writer *writer, char *line, char **at)
{
    const char *const open = strrchr(line, '[');

    if (writer->in_code || !open || strchr(open, ']') || **at == '\0' || **at == '\n')
        return false;
    text_line(at);
    line[strlen(line)] = ' ';
    return true;
}

bool page_write_text(const struct site *site, const struct page *page, FILE *out, struct page_size *size,
                     struct error *error)
{
    struct writer writer = {.site = site, .page = page, .out = out, .size = size};
    char *const text = text_file_read(page->path, error);
    char *at = text, *line;
    bool good = text != NULL;
    int number = 1;
    bool joined = false; /* the line before was two */

    *size = (struct page_size){0};
    if (good)
        text_line(&at); /* the title */
    while (good && (line = text_line(&at))) {
        number += 1 + joined;
        joined = join_link(&writer, line, &at);
        good = write_any(&writer, line, at, error);
    }
    free(text);
    if (text && !good) {
        const struct error reason = *error;

        return error_set(error, "%s:%d: %s", page->path, number, reason.text);
    }
    return good;
}
