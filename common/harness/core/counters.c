#include "harness/core/counters.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_WIDTH = 26, KERNEL_WIDTH = 13 };

/** A line of the table. One kernel alone has done all: it gets no column. */
static void add_row(const struct run_counters *counters, int index, double num_tokens, struct record *row)
{
    const struct counter *const total = &counters->total[index];
    char text[64];

    snprintf(text, sizeof text, "%s", total->name);
    for (char *c = text; (c = strchr(c, '_'));)
        *c = ' ';
    record_column(row, -NAME_WIDTH, "counter", "%s", text);
    record_column(row, 15, "total", "%s", grouped_digits(total->value, text));
    if (num_tokens > 0)
        record_column(row, 12, "per token", "%.2f", (double)total->value / num_tokens);
    for (int k = 0; counters->num_kernels > 1 && k < counters->num_kernels; k++) {
        const struct kernel_counters *const kernel = &counters->kernels[k];
        const int length = (int)strlen(kernel->name);

        record_column(row, length > KERNEL_WIDTH ? length : KERNEL_WIDTH, kernel->name, "%s",
                      grouped_digits(kernel->counters[index].value, text));
    }
}

static void add_values(const struct counter *counters, int count, struct record *values)
{
    for (int i = 0; i < count; i++)
        record_number(values, IN_DATA, counters[i].name, "%" PRIu64, counters[i].value);
}

void counters_report(const struct run_counters *counters, double num_tokens, struct record *report)
{
    struct record *list;

    if (counters->num_counters > 0) {
        record_text(report, IN_TABLE, NULL, "%s", "");
        list = record_list(report, IN_TABLE, NULL);
        for (int i = 0; i < counters->num_counters; i++)
            add_row(counters, i, num_tokens, record_object(list, IN_TABLE, NULL));
        if (backend_limits())
            record_text(report, IN_TABLE, NULL, "\n%s", backend_limits());
    }
    add_values(counters->total, counters->num_counters, record_object(report, IN_DATA, "counters"));
    list = record_list(report, IN_JSON, "kernels");
    for (int k = 0; k < counters->num_kernels; k++) {
        struct record *const kernel = record_object(list, IN_JSON, NULL);

        record_text(kernel, IN_JSON, "name", "%s", counters->kernels[k].name);
        add_values(counters->kernels[k].counters, counters->num_counters, record_object(kernel, IN_JSON, "counters"));
    }
}
