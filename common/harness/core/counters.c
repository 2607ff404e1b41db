#include "harness/core/counters.h"

#include "harness/core/report.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_WIDTH = 26, KERNEL_WIDTH = 13 };

void counters_read(struct run_counters *counters)
{
    memset(counters, 0, sizeof *counters);
    counters->num_counters = backend_counters(counters->total);
    counters->num_kernels = backend_kernels(counters->kernels);
}

/* --- table ------------------------------------------------------------------------------------------------------------ */

/** "block_barriers" as "block barriers". */
static void print_words(FILE *stream, const char *name, int width)
{
    int length = 0;

    for (; name[length]; length++)
        putc(name[length] == '_' ? ' ' : name[length], stream);
    fprintf(stream, "%*s", width - length, "");
}

/** How many kernels have a column: one alone has done all. */
static int num_columns(const struct run_counters *counters)
{
    return counters->num_kernels > 1 ? counters->num_kernels : 0;
}

/** The width of a kernel's column: what its name needs, and no less than the others have. */
static int column_width(const struct kernel_counters *kernel)
{
    const int length = (int)strlen(kernel->name);

    return length > KERNEL_WIDTH ? length : KERNEL_WIDTH;
}

static void write_row(FILE *stream, const struct run_counters *counters, int index, double num_tokens)
{
    const struct counter *const total = &counters->total[index];
    char text[32];

    print_words(stream, total->name, NAME_WIDTH);
    fprintf(stream, " %15s", report_count(total->value, text));
    if (num_tokens > 0)
        fprintf(stream, " %12.2f", (double)total->value / num_tokens);
    for (int k = 0; k < num_columns(counters); k++) {
        const struct kernel_counters *const kernel = &counters->kernels[k];

        fprintf(stream, " %*s", column_width(kernel), report_count(kernel->counters[index].value, text));
    }
    putc('\n', stream);
}

void counters_write_table(FILE *stream, const struct run_counters *counters, double num_tokens)
{
    if (counters->num_counters == 0)
        return;
    fprintf(stream, "\n%-*s %15s", NAME_WIDTH, "counter", "total");
    if (num_tokens > 0)
        fprintf(stream, " %12s", "per token");
    for (int k = 0; k < num_columns(counters); k++)
        fprintf(stream, " %*s", column_width(&counters->kernels[k]), counters->kernels[k].name);
    putc('\n', stream);
    for (int i = 0; i < counters->num_counters; i++)
        write_row(stream, counters, i, num_tokens);
    if (backend_limits())
        fprintf(stream, "\n%s\n", backend_limits());
}

/* --- JSON and CSV ----------------------------------------------------------------------------------------------------- */

static void write_object(FILE *stream, const struct counter *counters, int count)
{
    putc('{', stream);
    for (int i = 0; i < count; i++)
        fprintf(stream, "%s\"%s\": %" PRIu64, i ? ", " : "", counters[i].name, counters[i].value);
    putc('}', stream);
}

void counters_write_json(FILE *stream, const struct run_counters *counters)
{
    fputs("\"counters\": ", stream);
    write_object(stream, counters->total, counters->num_counters);
    fputs(",\n  \"kernels\": [", stream);
    for (int k = 0; k < counters->num_kernels; k++) {
        fputs(k ? ",\n    {\"name\": " : "\n    {\"name\": ", stream);
        report_json_string(stream, counters->kernels[k].name);
        fputs(", \"counters\": ", stream);
        write_object(stream, counters->kernels[k].counters, counters->num_counters);
        putc('}', stream);
    }
    fputs(counters->num_kernels ? "\n  ]" : "]", stream);
}

void counters_write_csv_names(FILE *stream, const struct run_counters *counters)
{
    for (int i = 0; i < counters->num_counters; i++)
        fprintf(stream, ",%s", counters->total[i].name);
}

void counters_write_csv_values(FILE *stream, const struct run_counters *counters)
{
    for (int i = 0; i < counters->num_counters; i++)
        fprintf(stream, ",%" PRIu64, counters->total[i].value);
}
