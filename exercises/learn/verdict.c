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

enum { NONCE_SIZE = 33 }; /* as the program writes it: hexadecimal digits */

/** Bytes nobody can foresee; where the system has none to give, the time's. */
static void random_fill(unsigned char *bytes, size_t size)
{
    if (getrandom(bytes, size, 0) == (ssize_t)size)
        return;

    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(now.tv_nsec >> i % 4 * 8 ^ getpid());
}

uint64_t verdict_fresh_seed(void)
{
    uint64_t bits;

    random_fill((unsigned char *)&bits, sizeof bits);
    return bits % 1000000000;
}

static void make_nonce(char nonce[NONCE_SIZE])
{
    unsigned char bytes[(NONCE_SIZE - 1) / 2];

    random_fill(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
}

static struct verdict_limits limits_or_defaults(const struct verdict_limits *limits)
{
    return (struct verdict_limits){
        .seconds = limits->seconds > 0 ? limits->seconds : 10,
        .memory_bytes = limits->memory_bytes ? limits->memory_bytes : (size_t)2 << 30,
        .output_bytes = limits->output_bytes ? limits->output_bytes : (size_t)4 << 20,
        .file_bytes = limits->file_bytes ? limits->file_bytes : (size_t)1 << 20,
        .events = limits->events ? limits->events : UINT64_C(50000000),
    };
}

/* --- records ------------------------------------------------------------------------------------------------------ */

/** How far the records go. */
struct records {
    bool foreign;                   /**< there is a line that is not the grader's, or not where it belongs */
    bool done;                      /**< the last record came, and nothing after it */
    char trying[VERDICT_NAME_SIZE]; /**< the case that was begun and not ended; "" if there is none */
};

enum { MAX_FIELDS = 4, LINE_SIZE = 4096 };

/** A record: its fields after the nonce. Those that are not there are "". */
struct record {
    char line[LINE_SIZE];
    const char *field[MAX_FIELDS];
    int count;
};

/** Splits a line at its tabs; the last field takes what is left. False if it does not begin with the nonce. */
static bool split(const char *begin, size_t length, const char *nonce, struct record *record)
{
    const size_t nonce_length = strlen(nonce);
    char *at = record->line;

    memset(record->field, 0, sizeof record->field);
    record->count = 0;
    if (length >= LINE_SIZE || length <= nonce_length || memcmp(begin, nonce, nonce_length) != 0 ||
        begin[nonce_length] != '\t' || memchr(begin, '\0', length))
        return false;
    memcpy(record->line, begin + nonce_length + 1, length - nonce_length - 1);
    record->line[length - nonce_length - 1] = '\0';
    while (at && record->count < MAX_FIELDS) {
        record->field[record->count++] = at;
        at = record->count < MAX_FIELDS ? strchr(at, '\t') : NULL;
        if (at)
            *at++ = '\0';
    }
    for (int i = record->count; i < MAX_FIELDS; i++)
        record->field[i] = "";
    return true;
}

/** Copies text that a terminal may show: no control characters. */
static void copy_shown(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    for (; *to; to++)
        if ((unsigned char)*to < ' ' || *to == 0x7f)
            *to = '?';
}

static bool read_plan(const struct record *record, struct verdict *verdict, const struct records *records)
{
    const long planned = strtol(record->field[1], NULL, 10);

    (void)records;
    if (verdict->planned != 0 || planned < 1 || planned > VERDICT_MAX_CASES)
        return false;
    verdict->planned = (int)planned;
    return true;
}

static bool read_try(const struct record *record, const struct verdict *verdict, struct records *records)
{
    if (records->trying[0] || !record->field[1][0] || verdict->num_cases == verdict->planned)
        return false;
    copy_shown(records->trying, sizeof records->trying, record->field[1]);
    return true;
}

static bool read_measure(const struct record *record, struct verdict *verdict, const struct records *records)
{
    struct verdict_measure *const measure = &verdict->measures[verdict->num_measures];

    if (!records->trying[0] || record->count < 3)
        return false;
    if (verdict->num_measures == VERDICT_MAX_MEASURES)
        return true; /* nobody looks at so many */
    memcpy(measure->of_case, records->trying, sizeof measure->of_case);
    copy_shown(measure->name, sizeof measure->name, record->field[1]);
    measure->value = strtod(record->field[2], NULL);
    verdict->num_measures++;
    return true;
}

static bool read_case(const struct record *record, struct verdict *verdict, struct records *records)
{
    static const char *const results[] = {[CASE_PASSED] = "pass", [CASE_FAILED] = "fail", [CASE_FAULTED] = "fault"};
    struct verdict_case *const last = &verdict->cases[verdict->num_cases];

    if (!records->trying[0])
        return false;
    copy_shown(last->name, sizeof last->name, record->field[1]);
    if (strcmp(last->name, records->trying) != 0)
        return false;
    copy_shown(last->message, sizeof last->message, record->field[3]);
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (strcmp(record->field[2], results[i]) == 0) {
            last->result = (enum case_result)i;
            verdict->num_cases++;
            records->trying[0] = '\0';
            return true;
        }
    }
    return false;
}

/** Reads one record; false if it does not belong where it is. */
static bool read_record(const struct record *record, struct verdict *verdict, struct records *records)
{
    const char *const kind = record->field[0];

    if (records->done)
        return false;
    if (strcmp(kind, "plan") == 0)
        return read_plan(record, verdict, records);
    if (strcmp(kind, "try") == 0)
        return read_try(record, verdict, records);
    if (strcmp(kind, "measure") == 0)
        return read_measure(record, verdict, records);
    if (strcmp(kind, "case") == 0)
        return read_case(record, verdict, records);
    records->done = strcmp(kind, "done") == 0 && !records->trying[0];
    return records->done;
}

/**
 * Reads the lines into verdict->planned, cases and measures, up to the first that does not belong. A last line without
 * an end is none.
 */
static void records_read(const char *text, size_t size, const char *nonce, struct verdict *verdict,
                         struct records *records)
{
    memset(records, 0, sizeof *records);
    for (size_t at = 0; at < size;) {
        const char *const end = memchr(text + at, '\n', size - at);
        struct record record;

        if (!end)
            return;
        if (!split(text + at, (size_t)(end - text) - at, nonce, &record) || !read_record(&record, verdict, records)) {
            records->foreign = true;
            records->done = false;
            return;
        }
        at = (size_t)(end - text) + 1;
    }
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

/** Writes why a program that did not end by itself, or not as it should, did so; false if there is nothing to say. */
static bool say_how_it_ended(const struct child_end *end, const struct verdict_limits *limits, char *text, size_t size)
{
    const double mebibytes = (double)limits->memory_bytes / (1 << 20);

    switch (end->how) {
    case CHILD_TOOK_TOO_LONG:
        snprintf(text, size, "the program was stopped after %g s: an endless loop?", limits->seconds);
        return true;
    case CHILD_WROTE_TOO_MUCH:
        snprintf(text, size, "the program was stopped after it had printed %zu KiB: a print in a loop?",
                 limits->output_bytes >> 10);
        return true;
    case CHILD_BROKEN_OFF:
        snprintf(text, size, "the program was broken off");
        return true;
    case CHILD_DIED:
        snprintf(text, size, "the program crashed: %s%s", strsignal(end->signal),
                 end->short_of_memory ? ", perhaps for want of memory" : "");
        if (end->short_of_memory)
            snprintf(text + strlen(text), size - strlen(text), " (it may have %.0f MiB)", mebibytes);
        return true;
    default:
        return false;
    }
}

/** Writes what is wrong with records that report no failure; false if they are complete. */
static bool say_what_is_missing(const struct verdict *verdict, const struct records *records,
                                const struct child_end *end, char *text, size_t size)
{
    if (records->foreign)
        snprintf(text, size, "there is a record that the grader did not write, or wrote twice");
    else if (verdict->planned == 0)
        snprintf(text, size, "the program ended with exit code %d before a case was tried", end->exit_code);
    else if (!records->done || verdict->num_cases != verdict->planned)
        snprintf(text, size, "the program ended with exit code %d when %d of %d cases had been tried", end->exit_code,
                 verdict->num_cases, verdict->planned);
    else if (end->exit_code != 0)
        snprintf(text, size, "every case passed, but the program ended with exit code %d", end->exit_code);
    else if (end->left_behind)
        snprintf(text, size, "the program left another one running behind it");
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

/** Sets passed, no_device, reason and at_case: the first case that failed, else what is wrong with the end. */
static void judge(struct verdict *verdict, const struct records *records, const struct child_end *end,
                  const struct verdict_limits *limits)
{
    enum { NO_DEVICE = 3 };
    const struct verdict_case *const failure = first_failure(verdict);

    if (failure) {
        memcpy(verdict->reason, failure->message, sizeof verdict->reason);
        memcpy(verdict->at_case, failure->name, sizeof verdict->at_case);
        if (!verdict->reason[0])
            snprintf(verdict->reason, sizeof verdict->reason, "the case failed without a word");
        return;
    }
    memcpy(verdict->at_case, records->trying, sizeof verdict->at_case);
    if (end->how == CHILD_EXITED && end->exit_code == NO_DEVICE && verdict->planned == 0 && !records->foreign) {
        verdict->no_device = true;
        snprintf(verdict->reason, sizeof verdict->reason, "%.*s",
                 verdict->output ? (int)strcspn(verdict->output, "\n") : 0, verdict->output ? verdict->output : "");
        return;
    }
    verdict->passed = !say_how_it_ended(end, limits, verdict->reason, sizeof verdict->reason) &&
                      !say_what_is_missing(verdict, records, end, verdict->reason, sizeof verdict->reason);
}

/* --- running ------------------------------------------------------------------------------------------------------ */

/** What a program printed, without characters that a terminal would obey. Takes the text over. */
static char *output_to_show(struct child_text *output)
{
    char *const text = output->text;

    output->text = NULL;
    for (size_t i = 0; i < output->size; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f)
            text[i] = '?';
    return text;
}

bool verdict_run(const struct graded_program *graded, struct verdict *verdict, struct error *error)
{
    const struct verdict_limits limits = limits_or_defaults(&graded->limits);
    char seed[24], nonce[NONCE_SIZE];
    const char *arguments[7] = {graded->program, "--seed", seed};
    int count = 3;
    struct child_end end;
    struct records records;

    memset(verdict, 0, sizeof *verdict);
    if (graded->until_failure)
        arguments[count++] = "--until-failure";
    if (graded->only) {
        arguments[count++] = "--only";
        arguments[count] = graded->only;
    }
    snprintf(seed, sizeof seed, "%" PRIu64, graded->seed);
    make_nonce(nonce);
    if (!child_run(arguments, nonce, &limits, &end, error))
        return false;
    verdict->seconds = end.seconds;
    verdict->output = output_to_show(&end.output);
    records_read(end.records.text ? end.records.text : "", end.records.size, nonce, verdict, &records);
    judge(verdict, &records, &end, &limits);
    child_end_free(&end);
    return true;
}

void verdict_free(struct verdict *verdict)
{
    free(verdict->output);
    verdict->output = NULL;
}
