#include "verdict.h"

#include "child.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t verdict_fresh_seed(void)
{
    struct timespec now;
    uint64_t bits;

    clock_gettime(CLOCK_REALTIME, &now); /* a fallback if the system provides no random numbers */
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        bits = (uint64_t)now.tv_nsec ^ (uint64_t)getpid();
    return bits % 1000000000;
}

static struct verdict_limits limits_or_defaults(const struct verdict_limits *limits)
{
    return (struct verdict_limits){
        .seconds_per_case = limits->seconds_per_case > 0 ? limits->seconds_per_case : 10,
        .memory_bytes = limits->memory_bytes ? limits->memory_bytes : (size_t)2 << 30,
        .output_bytes = limits->output_bytes ? limits->output_bytes : (size_t)4 << 20,
        .max_events = limits->max_events ? limits->max_events : UINT64_C(20000000),
    };
}

/* --- records ------------------------------------------------------------------------------------------------------ */

enum { MAX_FIELDS = 4, LINE_SIZE = 4096 };

/** The state of reading the records. */
struct records {
    bool done;                      /**< the last record has been read */
    char trying[VERDICT_NAME_SIZE]; /**< the case that has begun but not ended, or "" */
};

/** A record's fields; missing ones are "". */
struct record {
    char line[LINE_SIZE];
    const char *field[MAX_FIELDS];
};

/** Splits a line at its tabs. */
static void split(const char *begin, size_t length, struct record *record)
{
    char *rest = record->line;

    snprintf(record->line, sizeof record->line, "%.*s", (int)length, begin);
    for (int i = 0; i < MAX_FIELDS; i++)
        record->field[i] = rest ? strsep(&rest, "\t") : "";
}

/** Copies a text, with `?` in place of control characters. */
static void copy_shown(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    for (; *to; to++)
        if ((unsigned char)*to < ' ' || *to == 0x7f)
            *to = '?';
}

static void read_measure(const struct record *record, struct verdict *verdict, const struct records *records)
{
    struct verdict_measurement *const measure = &verdict->measurements[verdict->num_measurements];

    if (verdict->num_measurements == VERDICT_MAX_MEASUREMENTS)
        return; /* ignore further figures */
    memcpy(measure->case_name, records->trying, sizeof measure->case_name);
    copy_shown(measure->name, sizeof measure->name, record->field[1]);
    measure->value = strtod(record->field[2], NULL);
    verdict->num_measurements++;
}

static void read_case(const struct record *record, struct verdict *verdict, struct records *records)
{
    struct verdict_case *const last = &verdict->cases[verdict->num_cases];

    records->trying[0] = '\0';
    if (verdict->num_cases == VERDICT_MAX_CASES)
        return;
    copy_shown(last->name, sizeof last->name, record->field[1]);
    copy_shown(last->message, sizeof last->message, record->field[3]);
    last->result = strcmp(record->field[2], "pass") == 0   ? CASE_PASSED
                   : strcmp(record->field[2], "fail") == 0 ? CASE_FAILED
                                                           : CASE_FAULTED;
    verdict->num_cases++;
}

static void read_record(const struct record *record, struct verdict *verdict, struct records *records)
{
    const char *const kind = record->field[0];

    if (strcmp(kind, "plan") == 0)
        verdict->num_planned_cases = atoi(record->field[1]);
    else if (strcmp(kind, "try") == 0)
        copy_shown(records->trying, sizeof records->trying, record->field[1]);
    else if (strcmp(kind, "measure") == 0)
        read_measure(record, verdict, records);
    else if (strcmp(kind, "case") == 0)
        read_case(record, verdict, records);
    else if (strcmp(kind, "done") == 0)
        records->done = true;
}

/**
 * Reads the lines into verdict->num_planned_cases, cases and measurements. Ignores a last line without a line break.
 */
static void records_read(const struct child_output *text, struct verdict *verdict, struct records *records)
{
    memset(records, 0, sizeof *records);
    for (size_t at = 0; at < text->size;) {
        const char *const end = memchr(text->text + at, '\n', text->size - at);
        struct record record;

        if (!end)
            return;
        split(text->text + at, (size_t)(end - text->text) - at, &record);
        read_record(&record, verdict, records);
        at = (size_t)(end - text->text) + 1;
    }
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

/** Describes why a program was stopped or crashed. Returns false if the program exited. */
static bool say_how_it_ended(const struct child_result *end, const struct verdict_limits *limits, char *text,
                             size_t size)
{
    const double mebibytes = (double)limits->memory_bytes / (1 << 20);

    switch (end->outcome) {
    case CHILD_TOOK_TOO_LONG:
        snprintf(text, size, "the program was stopped after %g s: an endless loop?", limits->seconds_per_case);
        return true;
    case CHILD_WROTE_TOO_MUCH:
        snprintf(text, size, "the program was stopped after it had printed %zu KiB: a print in a loop?",
                 limits->output_bytes >> 10);
        return true;
    case CHILD_STOPPED_ON_REQUEST:
        snprintf(text, size, "the program was broken off");
        return true;
    case CHILD_KILLED:
        snprintf(text, size, "the program crashed: %s%s", strsignal(end->signal),
                 end->maybe_out_of_memory ? ", perhaps for want of memory" : "");
        if (end->maybe_out_of_memory)
            snprintf(text + strlen(text), size - strlen(text), " (it may have %.0f MiB)", mebibytes);
        return true;
    default:
        return false;
    }
}

/** Describes what is missing from records that report no failure. Returns false if the records are complete. */
static bool say_what_is_missing(const struct verdict *verdict, const struct records *records,
                                const struct child_result *end, char *text, size_t size)
{
    if (verdict->num_planned_cases == 0)
        snprintf(text, size, "the program ended with exit code %d before a case was tried", end->exit_code);
    else if (!records->done || verdict->num_cases != verdict->num_planned_cases)
        snprintf(text, size, "the program ended with exit code %d when %d of %d cases had been tried", end->exit_code,
                 verdict->num_cases, verdict->num_planned_cases);
    else if (end->exit_code != 0)
        snprintf(text, size, "every case passed, but the program ended with exit code %d", end->exit_code);
    else
        return false;
    return true;
}

static const struct verdict_case *first_failure(const struct verdict *verdict)
{
    for (int i = 0; i < verdict->num_cases; i++)
        if (verdict->cases[i].result != CASE_PASSED)
            return &verdict->cases[i];
    return NULL;
}

/**
 * Sets has_passed, has_no_device, reason and at_case from the first failed case or, if none failed, from the program's
 * end.
 */
static void judge(struct verdict *verdict, const struct records *records, const struct child_result *end,
                  const struct verdict_limits *limits)
{
    enum { NO_DEVICE = 3 };
    const struct verdict_case *const failure = first_failure(verdict);

    if (failure) {
        memcpy(verdict->reason, failure->message, sizeof verdict->reason);
        memcpy(verdict->reason_case_name, failure->name, sizeof verdict->reason_case_name);
        if (!verdict->reason[0])
            snprintf(verdict->reason, sizeof verdict->reason, "the case failed without a word");
        return;
    }
    memcpy(verdict->reason_case_name, records->trying, sizeof verdict->reason_case_name);
    if (end->outcome == CHILD_EXITED && end->exit_code == NO_DEVICE && verdict->num_planned_cases == 0) {
        verdict->has_no_device = true;
        snprintf(verdict->reason, sizeof verdict->reason, "%.*s",
                 verdict->output ? (int)strcspn(verdict->output, "\n") : 0, verdict->output ? verdict->output : "");
        return;
    }
    verdict->has_passed = !say_how_it_ended(end, limits, verdict->reason, sizeof verdict->reason) &&
                          !say_what_is_missing(verdict, records, end, verdict->reason, sizeof verdict->reason);
}

/* --- running ------------------------------------------------------------------------------------------------------ */

/** Returns a program's output, with `?` in place of control characters. Takes ownership of the text. */
static char *output_to_show(struct child_output *output)
{
    char *const text = output->text;

    output->text = NULL;
    for (size_t i = 0; i < output->size; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f)
            text[i] = '?';
    return text;
}

bool verdict_run(const struct program_to_judge *program, struct verdict *verdict, struct error *error)
{
    const struct verdict_limits limits = limits_or_defaults(&program->limits);
    char seed[24];
    const char *arguments[8] = {program->path, "--records", "--seed", seed};
    int count = 4;
    struct child_result end;
    struct records records;

    memset(verdict, 0, sizeof *verdict);
    if (program->stop_after_failure)
        arguments[count++] = "--until-failure";
    if (program->only_case_name) {
        arguments[count++] = "--only";
        arguments[count] = program->only_case_name;
    }
    snprintf(seed, sizeof seed, "%" PRIu64, program->seed);
    if (!child_run(arguments, &limits, &end, error))
        return false;
    verdict->seconds = end.wall_seconds;
    verdict->output = output_to_show(&end.output);
    records_read(&end.record_lines, verdict, &records);
    judge(verdict, &records, &end, &limits);
    child_result_free(&end);
    return true;
}

void verdict_free(struct verdict *verdict)
{
    free(verdict->output);
    verdict->output = NULL;
}
