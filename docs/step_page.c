/**
 * @file step_page.c
 * @brief Makes a page of the site that shows what a chapter changed: counters and times before and after, and the code.
 *
 * step_page [--results DIR] [--runs DIR] BEFORE AFTER
 *
 * In the repository's root; BEFORE and AFTER are two chapters' kernels, such as chapters/03_name/gate.cu. Counters are from
 * build/run/NN.json, times from docs/results/h200 unless the arguments say otherwise. Prints the page.
 *
 * Exits 2 with one line if something is missing or is not what it must be.
 */
#include "code_text.h"
#include "page_text.h"
#include "run_report.h"
#include "step_code.h"
#include "text_file.h"
#include "times.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ALIGN = 6 };

/** Chapter 02 against 01, which is C for the host. */
static const struct step_pair host_pairs[] = {
    {"The scores: loops over all experts; one for each lane", "scores", "score"},
    {"A group's score: a loop over its experts; five exchanges between a warp's lanes", "group_score", "group_score"},
    {"Which groups stay: group after group; every warp has one, and warp 0 compares", "group_score", "groups"},
    {"The best: a sorted list that one expert after another tries to enter; the best of 32 in five exchanges",
     "keep_best", "warp_best"},
    {"The best experts of a group: the same list; round after round the best, which is then taken out", "choose",
     "rounds"},
    {"The best experts of a token: the same list; the heads of the warps' lists", "choose", "merge"},
    {"The weights: a loop over the chosen; a lane for each", "weights", "weights"},
};

/** One side of the step. */
struct chapter {
    struct page page;
    struct step_side side;
    char name[PAGE_TITLE_SIZE], title[16]; /**< "04_bitonic_sort", "Chapter 04" */
    int number;
};

/** All of it. */
struct step {
    struct chapter before, here;
    struct times_origin times;
    const char *runs;
};

/* --- what the chapters are -------------------------------------------------------------------------------------------- */

static bool read_chapter(const char *path, struct chapter *chapter, struct error *error)
{
    const char *const name = path + strlen("chapters/"), *const slash = text_begins(path, "chapters/")
                                                                            ? strchr(name, '/')
                                                                            : NULL;
    struct site_sources sources;

    if (!slash || !isdigit((unsigned char)name[0]) || !isdigit((unsigned char)name[1]) || name[2] != '_' ||
        slash - name >= (int)sizeof chapter->name || !text_file_exists(path))
        return error_set(error, "'%s' is no chapter's kernel; chapters/03_name/gate.cu may be one", path);
    snprintf(chapter->name, sizeof chapter->name, "%.*s", (int)(slash - name), name);
    chapter->number = (name[0] - '0') * 10 + name[1] - '0';
    snprintf(chapter->title, sizeof chapter->title, "Chapter %.2s", name);
    snprintf(chapter->page.path, sizeof chapter->page.path, "chapters/%s/README.md", chapter->name);
    snprintf(chapter->page.id, sizeof chapter->page.id, "chapter_%.2s", name);
    chapter->side.path = path;
    chapter->side.title = chapter->title;
    if (!page_read_title(&chapter->page, error) || !site_sources_find(&sources, error))
        return false;

    const bool shown = site_sources_url(&sources, path, chapter->side.url);

    site_sources_free(&sources);
    return shown || error_set(error, "%s is not among the sources that the site shows", path);
}

static bool is_host(const struct chapter *chapter)
{
    const char *const dot = strrchr(chapter->side.path, '.');

    return dot && strcmp(dot, ".c") == 0;
}

static void write_text(FILE *out, const char *text)
{
    code_write_escaped(out, text, strlen(text));
}

/* --- the idea --------------------------------------------------------------------------------------------------------- */

/** Writes the text of a comment behind `start`: it goes on in lines that begin with " * " and blanks or go on a sentence. */
static bool write_comment(FILE *out, const char *text, const char *start, const char *path, struct error *error)
{
    const char *at = strstr(text, start);

    if (!at)
        return error_set(error, "%s: its first comment has no '%s'", path, start);
    at += strlen(start);
    at += strspn(at, " ");
    for (;;) {
        const size_t length = strcspn(at, "\n");
        const char *next = at + length;

        code_write_escaped(out, at, length);
        if (!text_begins(next, "\n * ") || (isupper((unsigned char)next[4]) && memchr(next + 4, ':', 8)))
            return true;
        fputc(' ', out);
        at = next + 4 + strspn(next + 4, " ");
    }
}

/** What the kernel's own first comment says. */
static bool write_idea(FILE *out, const struct chapter *here, struct error *error)
{
    static const char *const keys[] = {"Before:", "Now:", "Watch:"};
    char *const text = text_file_read(here->side.path, error), brief[32];
    char *const end = text ? strstr(text, "*/") : NULL;
    bool good = text != NULL;

    if (end)
        *end = '\0';
    snprintf(brief, sizeof brief, "@brief %s:", here->title);
    fputs("@htmlonly\n<p>In short: ", out);
    good = good && write_comment(out, text, brief, here->side.path, error);
    fputs("</p>\n<dl class=\"idea\">\n", out);
    for (int i = 0; good && i < 3; i++) {
        fprintf(out, "<dt>%.*s</dt><dd>", (int)strcspn(keys[i], ":"), keys[i]);
        good = write_comment(out, text, keys[i], here->side.path, error);
        fputs("</dd>\n", out);
    }
    fputs("</dl>\n@endhtmlonly\n\n", out);
    free(text);
    return good;
}

/* --- tables ----------------------------------------------------------------------------------------------------------- */

static void begin_table(FILE *out, const char *caption, const char *const *heads, int count)
{
    fprintf(out,
            "@htmlonly\n<div class=\"wide\" tabindex=\"0\"><table class=\"markdownTable "
            "figures\">\n<caption>%s</caption>\n<thead><tr>",
            caption);
    for (int i = 0; i < count; i++)
        if (heads[i])
            fprintf(out, "<th scope=\"col\">%s</th>", heads[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void end_table(FILE *out)
{
    fputs("</tbody>\n</table></div>\n@endhtmlonly\n\n", out);
}

/** "-29 %", "+0.3 %", "same"; with nothing before there is nothing to divide by. */
static void write_change(FILE *out, double before, double here)
{
    const double change = before > 0.0 ? (here - before) / before * 100.0 : 0.0;

    if (before == here)
        fputs("<td>same</td>", out);
    else if (before <= 0.0)
        fputs("<td>new</td>", out);
    else
        fprintf(out, fabs(change) < 9.95 ? "<td>%+.1f %%</td>" : "<td>%+.0f %%</td>", change);
}

/** A counter's row, unless neither chapter has any of it. `before` may be NULL. */
static bool write_counter(FILE *out, const struct run_counter *counter, const struct run_report *before,
                          const struct run_report *here, double divisor, struct error *error)
{
    const double by = counter->in_all ? 1.0 : divisor;
    char text[RUN_NUMBER_SIZE];
    double old = 0.0, new;

    if (!run_report_count(here, "", counter, &new, error) ||
        (before && !run_report_count(before, "", counter, &old, error)))
        return false;
    if (old == 0.0 && new == 0.0)
        return true;
    fprintf(out, "<tr><th scope=\"row\">%s%s</th>", counter->label, counter->in_all && divisor > 1.0 ? ", in all" : "");
    if (before)
        fprintf(out, "<td>%s</td>", run_format(old / by, text));
    fprintf(out, "<td>%s</td>", run_format(new / by, text));
    if (before)
        write_change(out, old, new);
    fputs("</tr>\n", out);
    return true;
}

static bool write_counter_rows(FILE *out, const struct step *step, const struct run_report *before,
                               const struct run_report *here, struct error *error)
{
    const double tokens = run_report_problem(here, "num_tokens");
    const bool per_token = step->here.number < FIRST_ALIGN;
    const char *const heads[] = {"counter", before ? step->before.title : NULL, step->here.title,
                                 before ? "change" : NULL};
    struct run_source source = {0};

    if (!(tokens >= 1.0) || (before && run_report_problem(before, "num_tokens") != tokens))
        return error_set(error, "%s: \"num_tokens\" is %g; it must be 1 or more and as in the chapter before",
                         here->path, tokens);
    begin_table(out, per_token ? "Counters for each token" : "Counters of all launches", heads, 4);
    for (int i = 0; run_counter_at(i); i++)
        if (!write_counter(out, run_counter_at(i), before, here, per_token ? tokens : 1.0, error))
            return false;
    end_table(out);
    if (before)
        run_source_add(&source, before, true);
    run_source_add(&source, here, before != NULL);
    fputs("[What the counters mean](@ref simulator_replay). Counted by the CPU simulator: ", out);
    run_source_write(out, &source, false);
    if (!before)
        fprintf(out, "%s runs on the host, where nothing is counted.\n", step->before.title);
    fputs("\n", out);
    return true;
}

static bool write_counters(FILE *out, const struct step *step, struct error *error)
{
    const bool host = is_host(&step->before);
    struct run_report before, here;
    char number[4];
    bool good;

    snprintf(number, sizeof number, "%02d", step->before.number);
    if (!host && !run_report_read(step->runs, number, &before, error))
        return false;
    snprintf(number, sizeof number, "%02d", step->here.number);
    good = run_report_read(step->runs, number, &here, error);
    if (good) {
        fprintf(out, "## What it counts {#step_%s_counters}\n\n", number);
        good = write_counter_rows(out, step, host ? NULL : &before, &here, error);
        run_report_free(&here);
    }
    if (!host)
        run_report_free(&before);
    return good;
}

static void write_time_rows(FILE *out, const struct step *step, const struct times_step *times)
{
    char host[64];
    const char *const heads[] = {"tokens", host, step->here.title, "times as fast"};

    snprintf(host, sizeof host, "%s%s%s", step->before.title, *times->host ? ", " : "", times->host);
    begin_table(out, "Microseconds per call, median", heads, 4);
    for (int i = 0; i < times->num_rows; i++) {
        const double before = times->rows[i].before_us, here = times->rows[i].here_us;
        char tokens[RUN_NUMBER_SIZE], old[TIMES_US_SIZE], new[TIMES_US_SIZE], ratio[TIMES_US_SIZE];

        fprintf(out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                run_format(times->rows[i].num_tokens, tokens), times_format(before, old), times_format(here, new),
                times_format(here > 0.0 ? before / here : 0.0, ratio));
    }
    end_table(out);
}

static bool write_times(FILE *out, const struct step *step, struct error *error)
{
    struct times_step times;

    if (!times_read_step(&step->times, step->here.name, &times, error))
        return false;
    fprintf(out, "## How long it takes {#step_%02d_times}\n\n", step->here.number);
    if (times.num_rows == 0) {
        fputs("No times are recorded yet.\n\n", out);
        return true;
    }
    write_time_rows(out, step, &times);
    if (times.old)
        fprintf(out, "*These are times of an older kernel: %s has changed since.*\n\n",
                strrchr(step->here.side.path, '/') + 1);
    fprintf(out, "%s\n", times.source);
    return true;
}

/* --- the page --------------------------------------------------------------------------------------------------------- */

static void write_way(FILE *out, const struct step *step)
{
    fprintf(out, "\n@htmlonly<nav class=\"way\" aria-label=\"Chapter\"><a href=\"%s.html\">&larr; Back to ",
            step->here.page.id);
    write_text(out, step->here.page.title);
    fprintf(out, "</a><span></span><a href=\"%s.html\">The chapter before: ", step->before.page.id);
    write_text(out, step->before.page.title);
    fputs("</a></nav>@endhtmlonly\n\n", out);
}

static bool write_code(FILE *out, const struct step *step, struct error *error)
{
    const bool host = is_host(&step->before);
    bool good;

    fprintf(out, "## The code {#step_%02d_code}\n\n", step->here.number);
    fprintf(out,
            host ? "Hardly a line is the same in C for one core and in CUDA C, so a difference would mark all of it. "
                   "Here stand "
                   "side by side the parts that do the same, of [%s](%s) and [%s](%s).\n\n"
                 : "What `diff` prints of [%s](%s) and [%s](%s); colours, folds and marks on words are the site's.\n\n",
            step->before.side.path, step->before.side.url, step->here.side.path, step->here.side.url);
    fputs("@htmlonly\n", out);
    good = host ? step_code_write_pairs(out, &step->before.side, &step->here.side, host_pairs,
                                        sizeof host_pairs / sizeof *host_pairs, error)
                : step_code_write_diff(out, &step->before.side, &step->here.side, error);
    fputs("@endhtmlonly\n", out);
    return good;
}

static bool write_page(FILE *out, const struct step *step, struct error *error)
{
    fprintf(out, "# What chapter %02d changed {#step_%02d}\n", step->here.number, step->here.number);
    write_way(out, step);
    if (!write_idea(out, &step->here, error) || !write_counters(out, step, error) || !write_times(out, step, error) ||
        !write_code(out, step, error))
        return false;
    write_way(out, step);
    return true;
}

static bool make_page(struct step *step, const char *before, const char *here, struct error *error)
{
    return read_chapter(before, &step->before, error) && read_chapter(here, &step->here, error) &&
           times_read_sources(&step->times, error) && write_page(stdout, step, error) &&
           ((fflush(stdout) == 0 && !ferror(stdout)) || error_set(error, "standard output: cannot be written"));
}

int main(int argc, char **argv)
{
    static struct step step = {.times.directory = "docs/results/h200", .runs = "build/run"};
    struct error error;
    int first = 1;

    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (strcmp(argv[first], "--results") == 0)
            step.times.directory = argv[first + 1];
        else if (strcmp(argv[first], "--runs") == 0)
            step.runs = argv[first + 1];
        else
            break;
    }
    if (argc - first != 2 || argv[first][0] == '-') {
        fputs("usage: step_page [--results DIR] [--runs DIR] BEFORE AFTER\n", stderr);
        return 2;
    }
    if (make_page(&step, argv[first], argv[first + 1], &error))
        return 0;
    fprintf(stderr, "step_page: %s\n", error.text);
    return 2;
}
