#include "plot_data.h"

#include "run_report.h"

#include <string.h>

enum { MAX_CHAPTERS = 16, NUM_PANELS = 6 };

/** What is drawn of an operator: counters, each in a panel of its own. */
struct operator_panels {
    const char *name;
    bool per_token; /**< else the counters are in all */
    const char *counters[NUM_PANELS];
};

static const struct operator_panels operators[] = {
    {"gate",
     true,
     {"shuffles", "block_barriers", "divergent_branches", "shared_wavefronts", "shared_conflicts", "global_sectors"}},
    {"align",
     false,
     {"block_barriers", "shuffles", "divergent_branches", "global_store_requests", "global_sectors",
      "shared_wavefronts"}},
};

static const struct run_counter *panel_counter(const struct operator_panels *operator, int panel)
{
    return run_counter_find(operator->counters[panel]);
}

static void describe(FILE *out, const struct operator_panels *operator, const char * first, const char *last)
{
    const char *labels[NUM_PANELS];

    for (int panel = 0; panel < NUM_PANELS; panel++)
        labels[panel] = panel_counter(operator, panel)->label;
    plot_write_description(out,
                           "Six groups of bars, one for each counter of the simulator; in each a bar for each of the "
                           "chapters %s to %s, with its value: %s, %s, %s, %s, %s and %s.",
                           first, last, labels[0], labels[1], labels[2], labels[3], labels[4], labels[5]);
}

static bool write_panel(FILE *out, const struct operator_panels *operator, int panel, char *const *chapters,
                        const struct run_report *reports, int count, struct error *error)
{
    for (int i = 0; i < count; i++) {
        const double tokens = operator->per_token ? run_report_problem(&reports[i], "num_tokens") : 1.0;
        char text[RUN_NUMBER_SIZE];
        double value;

        if (!run_report_count(&reports[i], "", panel_counter(operator, panel), &value, error))
            return false;
        if (tokens < 1.0)
            return error_set(error, "%s: counters per token of no tokens", reports[i].path);
        fprintf(out, "%d %.10g \"%.2s\" \"%s\"\n", i, value / tokens, chapters[i], run_format(value / tokens, text));
    }
    return true;
}

static bool write_panels(FILE *out, const struct operator_panels *operator, char * const * chapters,
                         const struct run_report *reports, int count, struct error *error)
{
    char number[RUN_NUMBER_SIZE], text[PLOT_TEXT_SIZE];

    describe(out, operator, chapters[0], chapters[count - 1]);
    snprintf(
        text, sizeof text,
        "%s, from the CPU simulator; %s tokens of the router's data.", operator->per_token ? "Per token" : "In all",
        run_format(run_report_problem(&reports[0], "num_tokens"), number));
    plot_write_text(out, "source", text);
    fprintf(out, "num_chapters = %d\narray panel[%d]\n", count, NUM_PANELS);
    for (int i = 0; i < NUM_PANELS; i++) {
        fprintf(out, "panel[%d] = ", i + 1);
        plot_write_quoted(out, panel_counter(operator, i)->label, '\'');
        fputc('\n', out);
    }
    fputs("$counters << END\n", out);
    for (int i = 0; i < NUM_PANELS; i++) {
        fprintf(out, "%s# %s\n", i > 0 ? "\n\n" : "", operator->counters[i]);
        if (!write_panel(out, operator, i, chapters, reports, count, error))
            return false;
    }
    fputs("END\n", out);
    return true;
}

bool plot_counters(FILE *out, const char *operator_name, const char *runs, char *const *chapters, int num_chapters,
                   struct error *error)
{
    static struct run_report reports[MAX_CHAPTERS];
    const struct operator_panels *operator= NULL;
    int read = 0;

    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (strcmp(operators[i].name, operator_name) == 0)
            operator= & operators[i];
    if (!operator)
        return error_set(error, "counters of '%s'; it must be gate or align", operator_name);
    if (num_chapters > MAX_CHAPTERS)
        return error_set(error, "%d chapters; %d at most can be drawn", num_chapters, MAX_CHAPTERS);
    while (read < num_chapters && run_report_read(runs, chapters[read], &reports[read], error))
        read++;
    const bool good = read == num_chapters && write_panels(out, operator, chapters, reports, num_chapters, error);
    while (read > 0)
        run_report_free(&reports[--read]);
    return good;
}
