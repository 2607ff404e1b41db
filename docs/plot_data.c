/**
 * @file plot_data.c
 * @brief Writes what a script in docs/plots draws, as text that gnuplot loads before it.
 *
 * plot_data [--results DIR] times "f32 CHAPTER..."                       times against tokens
 * plot_data [--results DIR] results "f32 CHAPTER..." "align 64 CHAPTER..."   times for few and for many tokens
 * plot_data counters gate|align RUNS NN...                               counters of the simulator, from RUNS/NN.json
 * plot_data load topk_ids.npy tokens.json                                the load of experts, and whose words it is
 *
 * In the repository's root; results are in docs/results/h200 unless the arguments say otherwise. Exits 2, with one line, if a
 * file is missing or cannot be understood.
 */
#include "plot_data.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void plot_write_quoted(FILE *out, const char *text, char quote)
{
    fputc(quote, out);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("\u2019", out);
        else
            fputc((unsigned char)*text < ' ' || *text == quote || *text == '`' || *text == '\\' ? '?' : *text, out);
    }
    fputc(quote, out);
}

void plot_write_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s = ", name);
    plot_write_quoted(out, text, '\'');
    fputc('\n', out);
}

void plot_write_description(FILE *out, const char *format, ...)
{
    char text[PLOT_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("# description: ", out);
    for (const char *at = text; *at; at++)
        fputc((unsigned char)*at < ' ' || strchr("<>&\"", *at) ? '?' : *at, out);
    fputc('\n', out);
}

static int usage(void)
{
    fputs(
        "usage: plot_data [--results DIR] times \"WORDS\", results \"GATE WORDS\" \"ALIGN WORDS\", counters gate|align "
        "RUNS NN..., or load topk_ids.npy tokens.json\n",
        stderr);
    return 2;
}

/** Writes what the arguments ask for. `known` tells whether they ask for something. */
static bool write_data(FILE *out, const char *directory, int count, char **words, bool *known, struct error *error)
{
    static struct times_origin origin;
    const char *const name = count > 0 ? words[0] : "";
    const bool times = strcmp(name, "times") == 0 && count == 2;
    const bool results = strcmp(name, "results") == 0 && count == 3;

    *known = true;
    if (times || results) {
        origin.directory = directory;
        if (!times_read_sources(&origin, error))
            return false;
        return times ? plot_times(out, &origin, words[1], error)
                     : plot_results(out, &origin, words[1], words[2], error);
    }
    if (strcmp(name, "counters") == 0 && count > 3)
        return plot_counters(out, words[1], words[2], words + 3, count - 3, error);
    if (strcmp(name, "load") == 0 && count == 3)
        return plot_load(out, words[1], words[2], error);
    *known = false;
    return false;
}

int main(int argc, char **argv)
{
    const bool elsewhere = argc > 2 && strcmp(argv[1], "--results") == 0;
    const int skipped = elsewhere ? 3 : 1;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size); /* nothing is printed of what then fails */
    struct error error = {.text = "there is no memory for its text"};
    bool known = true;

    bool good = out && write_data(out, elsewhere ? argv[2] : "docs/results/h200", argc - skipped, argv + skipped,
                                  &known, &error);
    if (out && fclose(out) != 0)
        good = error_set(&error, "there is no memory for its text");
    if (good && (fwrite(text, 1, size, stdout) != size || fflush(stdout) != 0))
        good = error_set(&error, "standard output: cannot be written");
    free(text);
    if (!known)
        return usage();
    if (!good)
        fprintf(stderr, "plot_data: %s\n", error.text);
    return good ? 0 : 2;
}
