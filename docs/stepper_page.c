/**
 * @file stepper_page.c
 * @brief Makes the page on which a reader steps through what a kernel did.
 *
 *     build/cpu/02_warp_per_group --num-tokens 1 --trace trace.json
 *     build/cpu/stepper_page html 02_warp_per_group trace.json build/cpu/02_warp_per_group --num-tokens 1 > page.html
 *
 * Writes the page to standard output: `page` for the site, Markdown with the HTML in it; `html` an HTML file of its own. It
 * holds all data; docs/stepper/stepper.js plays it, and stepper.css must lie beside it. The words behind the trace are the
 * command that made it, to be shown. Without scripts the page is the list of steps and the source. Exits 2, with one line,
 * if a file cannot be read.
 */
#include "memory_map.h"
#include "source_text.h"
#include "stepper_data.h"
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What the page is of. */
struct stepper {
    const char *chapter; /**< 02_warp_per_group */
    int num_words;
    char **words; /**< of the command */
    struct trace trace;
    struct source_text sources[TRACE_MAX_FILES];
    struct memory_map map;
};

/* --- reading ---------------------------------------------------------------------------------------------------------- */

static void free_sources(struct stepper *stepper, int count)
{
    for (int i = 0; i < count; i++)
        source_text_free(&stepper->sources[i]);
}

static void free_stepper(struct stepper *stepper)
{
    memory_map_free(&stepper->map);
    free_sources(stepper, stepper->trace.num_files);
    trace_free(&stepper->trace);
}

static bool read_sources(struct stepper *stepper, struct error *error)
{
    for (int i = 0; i < stepper->trace.num_files; i++)
        if (!source_text_read(stepper->trace.files[i], &stepper->sources[i], error)) {
            free_sources(stepper, i);
            return false;
        }
    return true;
}

static bool read_stepper(const char *path, struct stepper *stepper, struct error *error)
{
    if (!trace_read(path, &stepper->trace, error))
        return false;
    if (!read_sources(stepper, error)) {
        trace_free(&stepper->trace);
        return false;
    }
    if (memory_map_make(&stepper->trace, stepper->sources, &stepper->map, error))
        return true;
    free_sources(stepper, stepper->trace.num_files);
    trace_free(&stepper->trace);
    return false;
}

/* --- the page's parts ------------------------------------------------------------------------------------------------- */

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
    }
}

static void write_command(FILE *out, const struct stepper *stepper)
{
    for (int i = 0; i < stepper->num_words; i++) {
        fputs(i > 0 ? " " : "", out);
        write_escaped(out, stepper->words[i]);
    }
}

static void write_kernel(FILE *out, const struct stepper *stepper)
{
    const char *const kernel = stepper->trace.kernel;

    fprintf(out, "<code>%.*s</code>", (int)strcspn(kernel, "<"), kernel);
}

/** The list of steps: what people read where no script runs, and what the script says aloud. */
static void write_steps(FILE *out, const struct stepper *stepper)
{
    int barrier = -1;

    fputs("<details class=\"stepper-list\" open>\n<summary>All steps as text</summary>\n<ol tabindex=\"0\">\n", out);
    for (size_t i = 0; i < stepper->trace.num_events; i++) {
        const struct trace_event *const event = &stepper->trace.events[i];

        if (!stepper_shows(event, barrier))
            continue;
        fputs("<li>", out);
        if (event->kind == TRACE_BLOCK_BARRIER)
            barrier = event->barrier;
        else
            fprintf(out, "warp %d, ", event->warp);
        if (event->line > 0)
            fprintf(out, "line %d: ", event->line);
        stepper_text_write(out, &stepper->trace, &stepper->map, stepper->sources, event);
        fputs("</li>\n", out);
    }
    fputs("</ol>\n</details>\n", out);
}

static void write_source(FILE *out, const char *path, const struct source_text *source)
{
    fputs("<div class=\"stepper-file\"><p><code>", out);
    write_escaped(out, path);
    fputs("</code></p>\n<pre class=\"stepper-source\" tabindex=\"0\">", out);
    for (int i = 0; i < source->num_lines; i++) {
        fprintf(out, "<span data-n=\"%d\">", i + 1);
        write_escaped(out, source->lines[i].text);
        fputs("</span>\n", out);
    }
    fputs("</pre></div>\n", out);
}

static bool write_stepper(FILE *out, const struct stepper *stepper, struct error *error)
{
    fputs("<section class=\"stepper\" aria-label=\"A run, step by step\">\n<p>What the warps of one block did when "
          "this ran, "
          "kernel ",
          out);
    write_kernel(out, stepper);
    fputs(":</p>\n<pre class=\"stepper-command\" tabindex=\"0\">", out);
    write_command(out, stepper);
    fputs("</pre>\n<div class=\"stepper-view\"></div>\n", out);
    write_steps(out, stepper);
    fputs("<div class=\"stepper-files\">\n", out);
    for (int i = 0; i < stepper->trace.num_files; i++)
        write_source(out, stepper->trace.files[i], &stepper->sources[i]);
    fputs("</div>\n<script type=\"application/json\" class=\"stepper-data\">\n", out);
    if (!stepper_data_write(out, &stepper->trace, &stepper->map, error))
        return false;
    fputs("</script>\n</section>\n<script src=\"stepper.js\"></script>\n", out);
    return true;
}

/* --- the whole page --------------------------------------------------------------------------------------------------- */

static bool write_page(FILE *out, const struct stepper *stepper, struct error *error)
{
    fprintf(out, "# Chapter %.2s, step by step {#stepper_%.2s}\n\n", stepper->chapter, stepper->chapter);
    fputs("@htmlonly\n<link rel=\"stylesheet\" href=\"stepper.css\">\n", out);
    fprintf(out,
            "<nav class=\"way\" aria-label=\"Chapters\"><a href=\"chapter_%.2s.html\">&larr; Chapter %.2s</a></nav>\n",
            stepper->chapter, stepper->chapter);
    if (!write_stepper(out, stepper, error))
        return false;
    fputs("@endhtmlonly\n", out);
    return true;
}

static bool write_html(FILE *out, const struct stepper *stepper, struct error *error)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
            "content=\"width=device-width, initial-scale=1\">\n<title>Chapter %.2s, step by step</title>\n"
            "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"stepper.css\">\n</head>\n"
            "<body class=\"stepper-page\">\n<h1>Chapter %.2s, step by step</h1>\n",
            stepper->chapter, stepper->chapter);
    if (!write_stepper(out, stepper, error))
        return false;
    fputs("</body>\n</html>\n", out);
    return true;
}

int main(int argc, char **argv)
{
    const bool html = argc > 1 && strcmp(argv[1], "html") == 0;
    struct stepper stepper = {0};
    struct error error;
    bool good;

    if (argc < 5 || (!html && strcmp(argv[1], "page") != 0)) {
        fputs("usage: stepper_page page|html CHAPTER TRACE.json COMMAND...\n", stderr);
        return 2;
    }
    stepper.chapter = argv[2];
    stepper.words = argv + 4;
    stepper.num_words = argc - 4;
    good = read_stepper(argv[3], &stepper, &error);
    if (good) {
        good = (html ? write_html : write_page)(stdout, &stepper, &error);
        free_stepper(&stepper);
    }
    if (good && (fflush(stdout) != 0 || ferror(stdout)))
        good = error_set(&error, "standard output: cannot be written");
    if (!good)
        fprintf(stderr, "stepper_page: %s\n", error.text);
    return good ? 0 : 2;
}
