/**
 * @file chapter_page.c
 * @brief Makes the pages of the documentation site from the Markdown files of the repository.
 *
 * chapter_page OUT   in the repository's root; OUT is a folder that is there
 *
 * A page for each chapters/NN_name/README.md: the walkthrough, with its place in the course, the way to its neighbours, how
 * long it takes to read, and what belongs to it. A page for each docs/pages/NAME.md, for the router data, and for each
 * exercise, to which its chapter leads. A page "chapters"
 * that lists them; uses.dox, by which the pages of shared kernels lead back to chapters; search.tsv, for docs/site.sh. In pages two more markers are known:
 *
 *   <!-- results: ... -->    docs/figures/results.svg, once it is there, and what it shows in words
 *   <!-- chapters -->        the chapters and what each gains, from docs/results/h200
 *   <!-- run: COMMAND -->    the command and what it prints; <!-- run 1: COMMAND --> must exit with 1
 *
 * Exits 1 with one line that names a file and a line where something is missing, 2 if it is not used as above.
 */
#include "gains.h"
#include "page_text.h"
#include "text_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/** Reading: words a minute, and lines of code. */
enum { WORDS_A_MINUTE = 200, LINES_A_MINUTE = 15, MAX_CHAPTERS = 32 };

static const struct {
    int first, last;
    const char *title;
} parts[] = {{1, 5, "the gate"}, {6, 10, "align"}, {11, 15, "the layer, several GPUs and the limit"}};

enum { NUM_PARTS = sizeof parts / sizeof *parts };

static int number_of(const struct page *page)
{
    return text_begins(page->path, "chapters/") ? atoi(page->path + strlen("chapters/")) : 0;
}

static int part_of(int chapter)
{
    for (int i = 0; i < NUM_PARTS; i++)
        if (chapter <= parts[i].last)
            return i;
    return NUM_PARTS - 1;
}

/* --- finding pages ---------------------------------------------------------------------------------------------------- */

static bool add_page(struct site *site, const char *path, const char *id, struct error *error)
{
    struct page *const page = &site->pages[site->num_pages];

    if (site->num_pages == MAX_PAGE)
        return error_set(error, "%s: it is one page too many; there is room for %d", path, MAX_PAGE);
    snprintf(page->path, sizeof page->path, "%s", path);
    snprintf(page->id, sizeof page->id, "%s", id);
    site->num_pages++;
    return page_read_title(page, error);
}

/** What a folder's entry is as a page: its path and the id it has if it gives itself none. False if it is none. */
typedef bool name_page(const char *entry, char path[PAGE_PATH_SIZE], char id[PAGE_ID_SIZE]);

static bool name_chapter(const char *entry, char path[PAGE_PATH_SIZE], char id[PAGE_ID_SIZE])
{
    snprintf(path, PAGE_PATH_SIZE, "chapters/%.200s/README.md", entry);
    snprintf(id, PAGE_ID_SIZE, "chapter_%.2s", entry);
    return isdigit((unsigned char)entry[0]) && isdigit((unsigned char)entry[1]) && entry[2] == '_' &&
           text_file_exists(path);
}

static bool name_other(const char *entry, char path[PAGE_PATH_SIZE], char id[PAGE_ID_SIZE])
{
    const char *const dot = strrchr(entry, '.');

    snprintf(path, PAGE_PATH_SIZE, "docs/pages/%.200s", entry);
    snprintf(id, PAGE_ID_SIZE, "%.*s", dot ? (int)(dot - entry) : 0, entry);
    return dot && dot > entry && strcmp(dot, ".md") == 0;
}

static bool find_in(struct site *site, const char *folder, name_page *name, struct error *error)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    bool good = count >= 0 || error_set(error, "%s: %s", folder, strerror(errno));

    for (int i = 0; i < count; i++) {
        char path[PAGE_PATH_SIZE], id[PAGE_ID_SIZE];

        good = good && (!name(entries[i]->d_name, path, id) || add_page(site, path, id, error));
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return good;
}

static bool name_exercise(const char *entry, char path[PAGE_PATH_SIZE], char id[PAGE_ID_SIZE])
{
    snprintf(path, PAGE_PATH_SIZE, "exercises/%.200s/README.md", entry);
    snprintf(id, PAGE_ID_SIZE, "exercise_%.50s", entry);
    return isdigit((unsigned char)entry[0]) && text_file_exists(path);
}

static bool find_exercises(struct site *site, struct error *error)
{
    static const char list[] = "exercises/README.md";

    return !text_file_exists(list) ||
           (add_page(site, list, "exercises", error) && find_in(site, "exercises", name_exercise, error) &&
            add_page(site, "exercises/AUTHORING.md", "exercise_authoring", error));
}

static bool find_pages(struct site *site, struct error *error)
{
    return find_in(site, "chapters", name_chapter, error) && find_in(site, "docs/pages", name_other, error) &&
           add_page(site, "common/data/router/README.md", "router_data", error) && find_exercises(site, error);
}

/* --- a chapter's place ------------------------------------------------------------------------------------------------ */

/** The chapter `step` after `page`, or NULL. Chapters come first among the pages, in order. */
static const struct page *neighbour(const struct site *site, const struct page *page, int step)
{
    const struct page *const other = page + step;

    return other >= site->pages && other < site->pages + site->num_pages && number_of(other) > 0 ? other : NULL;
}

static int count_chapters(const struct site *site)
{
    int count = 0;

    for (size_t i = 0; i < site->num_pages; i++)
        count += number_of(&site->pages[i]) > 0;
    return count;
}

static void write_way(FILE *out, const struct page *page, const char *relation, const char *before, const char *after)
{
    if (page)
        fprintf(out, "<a rel=\"%s\" href=\"%s.html\">%s%s%s</a>", relation, page->id, before, page->title, after);
    else
        fputs("<span></span>", out);
}

static void write_navigation(const struct site *site, const struct page *page, FILE *out)
{
    fputs("\n@htmlonly<nav class=\"way\" aria-label=\"Chapters\">", out);
    write_way(out, neighbour(site, page, -1), "prev", "&larr; ", "");
    fputs("<a href=\"chapters.html\">All chapters</a>", out);
    write_way(out, neighbour(site, page, 1), "next", "", " &rarr;");
    fputs("</nav>@endhtmlonly\n\n", out);
}

/* --- what belongs to a chapter ---------------------------------------------------------------------------------------- */

/** The folder of a chapter's README, with a slash at its end. */
static size_t folder_length(const struct page *page)
{
    return (size_t)(strrchr(page->path, '/') - page->path) + 1;
}

static void write_files(const struct site *site, const struct page *page, FILE *out)
{
    const char *comma = "";

    fputs("<li>Source: ", out);
    for (size_t i = 0; i < site->sources.count; i++) {
        const char *const path = site->sources.paths[i];
        char url[SITE_URL_SIZE];

        if (strncmp(path, page->path, folder_length(page)) == 0 && site_sources_url(&site->sources, path, url)) {
            fprintf(out, "%s<a href=\"%s\">%s</a>", comma, url, path + folder_length(page));
            comma = ", ";
        }
    }
    fputs("</li>", out);
}

/** Whether a file of the chapter includes `header`, a path below common/. */
static bool includes(const struct site *site, const struct page *page, const char *header)
{
    char wanted[PAGE_PATH_SIZE];
    bool found = false;

    snprintf(wanted, sizeof wanted, "#include \"%.*s\"", PAGE_PATH_SIZE - 16, header);
    for (size_t i = 0; i < site->sources.count && !found; i++) {
        struct error ignored;
        char *const text = strncmp(site->sources.paths[i], page->path, folder_length(page)) == 0
                               ? text_file_read(site->sources.paths[i], &ignored)
                               : NULL;

        found = text && strstr(text, wanted);
        free(text);
    }
    return found;
}

/** The page on which Doxygen describes a file, from the one that shows it. */
static void describe_url(char url[SITE_URL_SIZE])
{
    strcpy(strstr(url, "_source.html"), ".html");
}

static void write_headers(const struct site *site, const struct page *page, FILE *out)
{
    static const char common[] = "common/";
    const char *lead = "<li>Headers it uses: ";

    for (size_t i = 0; i < site->sources.count; i++) {
        const char *const path = site->sources.paths[i];
        char url[SITE_URL_SIZE];

        if (!text_begins(path, common) || !includes(site, page, path + strlen(common)) ||
            !site_sources_url(&site->sources, path, url))
            continue;
        describe_url(url);
        fprintf(out, "%s<a href=\"%s\">%s</a>", lead, url, path + strlen(common));
        lead = ", ";
    }
    if (*lead == ',')
        fputs("</li>", out);
}

/** The exercises of a chapter begin with its number. */
static void write_exercises(const struct site *site, const struct page *page, FILE *out)
{
    const char *lead = "<li>Exercises: ";

    for (size_t i = 0; i < site->num_pages; i++) {
        const struct page *const other = &site->pages[i];

        if (!text_begins(other->id, "exercise_") || atoi(other->id + strlen("exercise_")) != number_of(page))
            continue;
        fprintf(out, "%s<a href=\"%s.html\">%.*s</a>", lead, other->id, (int)strcspn(other->title, ":"), other->title);
        lead = ", ";
    }
    if (*lead == ',')
        fputs("</li>", out);
}

/** A page that another tool has made for the chapter, if it has. */
static bool has_page(const struct site *site, const char *kind, const struct page *page)
{
    static const char *const endings[] = {".md", ".html", ".dox"};
    char path[2 * PAGE_PATH_SIZE];

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s_%02d%s", site->out, kind, number_of(page), endings[i]);
        if (text_file_exists(path))
            return true;
    }
    return false;
}

static void write_box(const struct site *site, const struct page *page, const struct page_size *size, FILE *out)
{
    const int number = number_of(page), part = part_of(number);
    const int minutes = size->words / WORDS_A_MINUTE + size->lines_of_code / LINES_A_MINUTE + 1;

    fprintf(out,
            "@htmlonly<div class=\"place\"><p>Chapter %d of %d, part %d: %s. About %d minutes: %d words, %d lines of "
            "code.</p><ul>",
            number, count_chapters(site), part + 1, parts[part].title, minutes, size->words, size->lines_of_code);
    write_files(site, page, out);
    write_headers(site, page, out);
    if (has_page(site, "step", page))
        fprintf(out, "<li><a href=\"step_%02d.html\">What this step changed</a>, line by line</li>", number);
    if (has_page(site, "stepper", page))
        fprintf(out, "<li><a href=\"stepper_%02d.html\">Step through a run</a></li>", number);
    write_exercises(site, page, out);
    fputs("</ul></div>@endhtmlonly\n\n", out);
}

/** The order of the pages in Doxygen's tree: it puts subpages below the page that names them. */
static void write_order(FILE *out)
{
    static const char *const ids[] = {"primer",    "chapters",        "exercises",  "glossary",
                                      "simulator", "stepping_in_gdb", "router_data"};

    fputs("\n@htmlonly<div hidden>@endhtmlonly\n\n", out);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        fprintf(out, "- \\subpage %s\n", ids[i]);
    fputs("\n@htmlonly</div>@endhtmlonly\n", out);
}

/** In Doxygen's tree the exercises lie below their list. */
static void write_list_of_exercises(const struct site *site, FILE *out)
{
    fputs("\n@htmlonly<div hidden>@endhtmlonly\n\n", out);
    for (size_t i = 0; i < site->num_pages; i++)
        if (text_begins(site->pages[i].id, "exercise_"))
            fprintf(out, "- \\subpage %s\n", site->pages[i].id);
    fputs("\n@htmlonly</div>@endhtmlonly\n", out);
}

/** In Doxygen's tree the pages of a step lie below their chapter. */
static void write_subpages(const struct site *site, const struct page *page, FILE *out)
{
    static const char *const kinds[] = {"step", "stepper"};

    for (int i = 0; i < 2; i++)
        if (has_page(site, kinds[i], page))
            fprintf(out, "@htmlonly<div hidden>@endhtmlonly\n\n- \\subpage %s_%02d\n\n@htmlonly</div>@endhtmlonly\n\n",
                    kinds[i], number_of(page));
}

/* --- files that are made ---------------------------------------------------------------------------------------------- */

static FILE *create(const struct site *site, const char *name, const char *ending, struct error *error)
{
    char path[2 * PAGE_PATH_SIZE];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s%s", site->out, name, ending);
    file = fopen(path, "w");
    if (!file)
        error_set(error, "%s: %s", path, strerror(errno));
    return file;
}

static bool close_file(FILE *file, const char *name, struct error *error)
{
    const bool good = !ferror(file);

    return (fclose(file) == 0 && good) || error_set(error, "%s: it cannot be written", name);
}

static bool write_page(const struct site *site, const struct page *page, struct error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    struct page_size size;
    FILE *const body = open_memstream(&text, &bytes);
    bool good = body ? page_write_text(site, page, body, &size, error) : error_set(error, "out of memory");
    FILE *out = NULL;

    if (body)
        fclose(body);
    if (good)
        out = create(site, page->id, ".md", error);
    if (out) {
        fprintf(out, "# %s {#%s}\n\n", page->title, page->id);
        if (number_of(page) > 0) {
            write_navigation(site, page, out);
            write_box(site, page, &size, out);
        }
        if (strcmp(page->id, "mainpage") != 0)
            fputs("[TOC]\n\n", out);
        fputs(text, out);
        if (number_of(page) > 0) {
            write_navigation(site, page, out);
            write_subpages(site, page, out);
        } else if (strcmp(page->id, "mainpage") == 0) {
            write_order(out);
        } else if (strcmp(page->id, "exercises") == 0) {
            write_list_of_exercises(site, out);
        }
    }
    free(text);
    return good && out && close_file(out, page->id, error);
}

/** What a chapter is about: the first bold words of its text. */
static bool read_idea(const struct page *page, char *idea, size_t bytes, struct error *error)
{
    char *const text = text_file_read(page->path, error);
    char *start = text ? strstr(text, "\n**") : NULL;
    char *const end = start ? strstr(start + 3, "**") : NULL;

    if (end) {
        *end = '\0';
        snprintf(idea, bytes, "%s", start + 3);
        for (char *c = idea; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
    } else if (text) {
        error_set(error, "%s: it does not begin with what it is about, in bold", page->path);
    }
    free(text);
    return end != NULL;
}

/** The parts, each under a heading that Doxygen does not take for a section: its tree has the chapters themselves. */
static bool write_chapter_list(const struct site *site, FILE *out, struct error *error)
{
    for (int part = 0; part < NUM_PARTS; part++) {
        bool any = false;

        fprintf(out, "\n<h1>Part %d: %s</h1>\n\n", part + 1, parts[part].title);
        for (size_t i = 0; i < site->num_pages; i++) {
            const struct page *const page = &site->pages[i];
            const int number = number_of(page);
            char idea[PAGE_TITLE_SIZE * 2];

            if (number < parts[part].first || number > parts[part].last)
                continue;
            if (!read_idea(page, idea, sizeof idea, error))
                return false;
            if (!any)
                gains_write_head(out);
            any = true;
            if (!gains_write_row(out, page->path, page->id, page->title, idea, error))
                return false;
        }
        if (!any)
            fputs("On its way.\n", out);
        else if (!gains_write_source(out, parts[part].first, parts[part].last, error))
            return false;
    }
    return true;
}

/** The list of chapters, under which Doxygen's tree shows them. */
static bool write_chapters(const struct site *site, struct error *error)
{
    FILE *const out = create(site, "chapters", ".md", error);
    bool good = out != NULL;

    if (!good)
        return false;
    fputs("# The chapters {#chapters}\n\n", out);
    good = write_chapter_list(site, out, error);
    fputs("\n@htmlonly<div hidden>@endhtmlonly\n\n", out);
    for (size_t i = 0; i < site->num_pages; i++)
        if (number_of(&site->pages[i]) > 0)
            fprintf(out, "- \\subpage %s\n", site->pages[i].id);
    fputs("\n@htmlonly</div>@endhtmlonly\n", out);
    return close_file(out, "chapters.md", error) && good;
}

/** Adds to the page of each shared kernel the chapters that use it. */
static bool write_uses(const struct site *site, struct error *error)
{
    FILE *const out = create(site, "uses", ".dox", error);

    if (!out)
        return false;
    for (size_t i = 0; i < site->sources.count; i++) {
        const char *const path = site->sources.paths[i];
        const char *lead = "Used in ";

        if (!text_begins(path, "common/kernels/"))
            continue;
        fprintf(out, "/**\n * @file %s\n", path);
        for (size_t k = 0; k < site->num_pages; k++) {
            const struct page *const page = &site->pages[k];

            if (number_of(page) > 0 && includes(site, page, path + strlen("common/"))) {
                fprintf(out, "%s@ref %s \"%s\"", *lead == ',' ? lead : " *\n * Used in ", page->id, page->title);
                lead = ", ";
            }
        }
        fprintf(out, "%s\n */\n", *lead == ',' ? "." : " *");
    }
    return close_file(out, "uses.dox", error);
}

/**
 * What Doxygen's search does not find by itself, as lines of words, a tab and where they lead: a chapter by its name behind the
 * number, and the glossary's terms.
 */
static bool write_search(const struct site *site, struct error *error)
{
    FILE *const out = create(site, "search", ".tsv", error);

    if (!out)
        return false;
    for (size_t i = 0; i < site->num_pages; i++)
        if (number_of(&site->pages[i]) > 0 && strchr(site->pages[i].title, ' '))
            fprintf(out, "%s\t%s.html\n", strchr(site->pages[i].title, ' ') + 1, site->pages[i].id);
    for (size_t i = 0; i < site->glossary.count; i++)
        if (i == 0 || strcmp(site->glossary.words[i].id, site->glossary.words[i - 1].id) != 0)
            fprintf(out, "%s\tglossary.html#%s\n", site->glossary.words[i].word, site->glossary.words[i].id);
    return close_file(out, "search.tsv", error);
}

/* --- markers ---------------------------------------------------------------------------------------------------------- */

/** Runs "COMMAND", which must exit with `expected`, and writes it with its output as code. */
static bool write_run(const char *command, int expected, FILE *out, struct error *error)
{
    char line[4096];
    int status;

    snprintf(line, sizeof line, "{ %.3500s; } 2>&1 </dev/null", command);
    fflush(out);
    FILE *const pipe = popen(line, "r");
    if (!pipe)
        return error_set(error, "'%s': %s", command, strerror(errno));
    fprintf(out, "\n```\n$ %s\n", command);
    while (fgets(line, sizeof line, pipe))
        fputs(line, out);
    fputs("```\n\n", out);
    status = pclose(pipe);
    return (WIFEXITED(status) && WEXITSTATUS(status) == expected) ||
           error_set(error, "'%s' exits with %d; it must exit with %d", command,
                     WIFEXITED(status) ? WEXITSTATUS(status) : 128, expected);
}

static bool write_marker(const struct site *site, const char *text, FILE *out, bool *known, struct error *error)
{
    int expected = 0, length = 0;

    *known = true;
    if (strcmp(text, "chapters") == 0)
        return write_chapter_list(site, out, error);
    if (text_begins(text, "results: ")) {
        if (text_file_exists("docs/figures/results.svg"))
            page_write_figure(out, "results.svg", text + strlen("results: "));
        return true;
    }
    if (text_begins(text, "run: "))
        return write_run(text + strlen("run: "), 0, out, error);
    if (sscanf(text, "run %d: %n", &expected, &length) == 1 && length > 0)
        return write_run(text + length, expected, out, error);
    *known = false;
    return true;
}

static bool make_site(struct site *site, struct error *error)
{
    char files[PAGE_PATH_SIZE];

    snprintf(files, sizeof files, "%.500s/files", site->out);
    if (mkdir(files, 0777) != 0 && errno != EEXIST)
        return error_set(error, "%s: %s", files, strerror(errno));
    if (!find_pages(site, error) || !glossary_read("docs/pages/glossary.md", &site->glossary, error))
        return false;
    for (size_t i = 0; i < site->num_pages; i++)
        if (!write_page(site, &site->pages[i], error))
            return false;
    return write_chapters(site, error) && write_uses(site, error) && write_search(site, error);
}

int main(int argc, char **argv)
{
    static struct site site;
    struct error error;

    if (argc != 2 || argv[1][0] == '-') {
        fputs("usage: chapter_page OUT\n", stderr);
        return 2;
    }
    site.out = argv[1];
    site.write_marker = write_marker;
    bool good = site_sources_find(&site.sources, &error);
    good = good && make_site(&site, &error);
    site_sources_free(&site.sources);
    if (!good)
        fprintf(stderr, "chapter_page: %s\n", error.text);
    return good ? 0 : 1;
}
