#include "counter_table.h"

#include "machine_counters.h"
#include "texts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** A column's source: a report of the simulator's, or a GPU's counters. */
struct column {
    struct run_report report;
    struct machine_counters machine;
};

/* --- a request -------------------------------------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
    for (const char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    return *text && strlen(text) < COUNTER_NAME_SIZE;
}

/** "03", "08_plain_tree", "06:fill_kernel" or "machine:03". */
static bool add_column(char *word, struct counter_request *request, struct error *error)
{
    char *colon = strchr(word, ':');
    const char *run = word, *kernel = "";
    bool machine = false;

    if (colon) {
        *colon++ = '\0';
        machine = strcmp(word, "machine") == 0;
        run = machine ? colon : word;
        kernel = machine ? "" : colon;
    }
    if (!is_name(run) || !isdigit((unsigned char)run[0]) || !isdigit((unsigned char)run[1]) ||
        (colon && !is_name(colon)))
        return error_set(error, "a column '%.40s%s%.40s'; 03, 06:fill_kernel and machine:03 are some", word,
                         colon ? ":" : "", colon ? colon : "");
    if (request->num_columns == COUNTER_MAX_COLUMNS)
        return error_set(error, "more than %d columns", COUNTER_MAX_COLUMNS);
    request->columns[request->num_columns].machine = machine;
    strcpy(request->columns[request->num_columns].run, run);
    strcpy(request->columns[request->num_columns].kernel, kernel);
    request->num_columns++;
    return true;
}

/** What stands before a comma: "per token", "of KERNEL" or "by NUMBER". */
static bool take_mode(const char *text, struct counter_request *request, struct error *error)
{
    char *const name = strncmp(text, "of ", 3) == 0   ? request->kernel
                       : strncmp(text, "by ", 3) == 0 ? request->by
                                                      : NULL;

    if (strcmp(text, "per token") == 0) {
        request->per_token = true;
        return true;
    }
    if (!name || !is_name(text + 3))
        return error_set(error, "counters '%.60s'; 'per token', 'of KERNEL' and 'by NUMBER' are known", text);
    strcpy(name, text + 3);
    return true;
}

bool counter_table_parse(char *words, struct counter_request *request, struct error *error)
{
    memset(request, 0, sizeof *request);
    for (char *comma = strchr(words, ','); comma; comma = strchr(words, ',')) {
        *comma = '\0';
        if (!take_mode(words, request, error))
            return false;
        words = comma + 1 + strspn(comma + 1, " ");
    }
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        if (!add_column(word, request, error))
            return false;
    return request->num_columns > 0 || error_set(error, "counters of nothing; 'counters: 03 04' is of two chapters");
}

bool counter_table_add_row(const char *text, struct counter_request *request, struct error *error)
{
    const size_t length = strcspn(text, ":");
    const char *const remark = text[length] ? text + length + 1 + strspn(text + length + 1, " ") : "";
    char name[COUNTER_NAME_SIZE];

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (!run_counter_find(name))
        return error_set(error, "'%.60s' is no counter", name);
    if (request->num_rows == COUNTER_MAX_ROWS || strlen(remark) >= COUNTER_REMARK_SIZE || strchr(remark, '|'))
        return error_set(error, "more than %d rows, or a remark of more than %d characters or with a '|'",
                         COUNTER_MAX_ROWS, COUNTER_REMARK_SIZE - 1);
    request->rows[request->num_rows].counter = run_counter_find(name);
    strcpy(request->rows[request->num_rows].remark, remark);
    request->num_rows++;
    return true;
}

/* --- a table ---------------------------------------------------------------------------------------------------------- */

static bool any_machine(const struct counter_request *request)
{
    for (int i = 0; i < request->num_columns; i++)
        if (request->columns[i].machine)
            return true;
    return false;
}

/** Whether every column is of the same run, so that a kernel's name says enough. */
static bool is_one_run(const struct counter_request *request)
{
    for (int i = 1; i < request->num_columns; i++)
        if (strcmp(request->columns[i].run, request->columns[0].run) != 0)
            return false;
    return true;
}

static bool any_remark(const struct counter_request *request)
{
    for (int i = 0; i < request->num_rows; i++)
        if (*request->rows[i].remark)
            return true;
    return false;
}

/** "08_plain_tree" as "08, plain tree". */
static void write_run_name(FILE *out, const char *run)
{
    fprintf(out, "%.2s", run);
    if (run[2])
        fputs(",", out);
    for (const char *at = run + 2; *at; at++)
        fputc(*at == '_' ? ' ' : *at, out);
}

static void write_heading(FILE *out, const struct counter_request *request, int index, const struct column *column)
{
    const char *const run = request->columns[index].run, *const kernel = request->columns[index].kernel;
    char text[RUN_NUMBER_SIZE];

    fputs(" ", out);
    if (any_machine(request))
        fputs(request->columns[index].machine ? "machine, " : "source, ", out);
    if (*request->by)
        fputs(run_format(run_report_problem(&column->report, request->by), text), out);
    else if (!*kernel || !is_one_run(request))
        write_run_name(out, run);
    if (*kernel)
        fprintf(out, "%s`%s`", is_one_run(request) ? "" : ", ", kernel);
    fprintf(out, "%s |", request->columns[index].machine && column->machine.old ? " *(an older kernel)*" : "");
}

/** "num_experts" as "experts". */
static void write_corner(FILE *out, const struct counter_request *request)
{
    const char *at = strncmp(request->by, "num_", 4) == 0 ? request->by + 4 : request->by;

    fputs("\n| ", out);
    for (; *at; at++)
        fputc(*at == '_' ? ' ' : *at, out);
    fputs(*request->by ? " |" : "counter |", out);
}

static void write_head(FILE *out, const struct counter_request *request, const struct column *columns)
{
    write_corner(out, request);
    for (int i = 0; i < request->num_columns; i++)
        write_heading(out, request, i, &columns[i]);
    fprintf(out, "%s\n|---|", any_remark(request) ? " remark |" : "");
    for (int i = 0; i < request->num_columns; i++)
        fputs("---:|", out);
    fputs(any_remark(request) ? "---|\n" : "\n", out);
}

static bool write_cell(FILE *out, const struct counter_request *request, int index, const struct column *column,
                       const struct run_counter *counter, struct error *error)
{
    const bool machine = request->columns[index].machine;
    const char *const kernel = *request->columns[index].kernel ? request->columns[index].kernel : request->kernel;
    const double num_tokens = machine ? column->machine.num_tokens : run_report_problem(&column->report, "num_tokens");
    char text[RUN_NUMBER_SIZE];
    double count;

    if (counter->gpu_only && !machine) {
        fputs(" |", out);
        return true;
    }
    if (machine ? !machine_counters_count(&column->machine, counter, &count, error)
                : !run_report_count(&column->report, kernel, counter, &count, error))
        return false;
    if (request->per_token && !(num_tokens >= 1.0))
        return error_set(error, "%s: its problem has no \"num_tokens\"", column->report.path);
    fprintf(out, " %s%s |", run_format(request->per_token && !counter->in_all ? count / num_tokens : count, text),
            request->per_token && counter->in_all ? " in all" : "");
    return true;
}

static bool write_rows(FILE *out, const struct counter_request *request, const struct column *columns,
                       struct error *error)
{
    const bool remarks = any_remark(request);

    for (int row = 0; row < request->num_rows; row++) {
        fprintf(out, "| %s |", request->rows[row].counter->label);
        for (int i = 0; i < request->num_columns; i++)
            if (!write_cell(out, request, i, &columns[i], request->rows[row].counter, error))
                return false;
        if (remarks)
            fprintf(out, " %s%s|", request->rows[row].remark, *request->rows[row].remark ? " " : "");
        fputs("\n", out);
    }
    return true;
}

/* --- where a table's figures come from -------------------------------------------------------------------------------- */

static void write_simulated(FILE *out, const struct counter_request *request, const struct column *columns)
{
    struct run_source source = {0};

    for (int i = 0; i < request->num_columns; i++)
        if (!request->columns[i].machine)
            run_source_add(&source, &columns[i].report, !is_one_run(request) && !*request->by);
    if (source.commands.count == 0)
        return;
    if (*request->by)
        source.commands.count = 1;
    fprintf(out, "%s by the CPU simulator", any_machine(request) ? "Source: counted" : "Counted");
    if (request->per_token)
        fputs(", per token", out);
    if (*request->kernel)
        fprintf(out, ", of `%s`", request->kernel);
    fputs(": ", out);
    run_source_write(out, &source, *request->by);
}

static void write_measured(FILE *out, const struct counter_request *request, const struct column *columns)
{
    struct texts machines = {0}, days = {0}, commands = {0};
    char text[TEXTS_SIZE];

    for (int i = 0; i < request->num_columns; i++) {
        const struct machine_counters *const machine = &columns[i].machine;

        if (!request->columns[i].machine)
            continue;
        snprintf(text, sizeof text, "%s, CUDA %s", machine->gpu, machine->cuda);
        texts_add(&machines, text);
        texts_add(&days, machine->date);
        texts_add_command(&commands, machine->command, machine->chapter);
    }
    if (commands.count == 0)
        return;
    fputs("Machine: counted by Nsight Compute on ", out);
    texts_write(out, &machines, "");
    fputs(", recorded on ", out);
    texts_write(out, &days, "");
    fputs(" by ", out);
    texts_write(out, &commands, "`");
    fputs(".\n", out);
}

/* --- files ------------------------------------------------------------------------------------------------------------ */

static bool read_column(const char *runs, const struct times_origin *origin, const struct counter_request *request,
                        int index, struct column *column, struct error *error)
{
    if (!request->columns[index].machine)
        return run_report_read(runs, request->columns[index].run, &column->report, error);
    if (*request->kernel || *request->by)
        return error_set(error, "a GPU's counters are of all kernels of one problem: no 'of' and no 'by'");
    return machine_counters_read(origin, request->columns[index].run, &column->machine, error);
}

bool counter_table_write(FILE *out, const char *runs, const struct times_origin *origin,
                         const struct counter_request *request, struct error *error)
{
    struct column *const columns = calloc(COUNTER_MAX_COLUMNS, sizeof *columns);
    bool good = columns || error_set(error, "out of memory");

    if (good && request->num_rows == 0)
        good = error_set(error, "counters without rows; <!-- row: shuffles --> is one");
    for (int i = 0; good && i < request->num_columns; i++)
        good = read_column(runs, origin, request, i, &columns[i], error);
    if (good) {
        write_head(out, request, columns);
        good = write_rows(out, request, columns, error);
    }
    if (good) {
        fputs("\n", out);
        write_simulated(out, request, columns);
        write_measured(out, request, columns);
        fputs("\n", out);
    }
    for (int i = 0; columns && i < request->num_columns; i++)
        run_report_free(&columns[i].report);
    free(columns);
    return good;
}
