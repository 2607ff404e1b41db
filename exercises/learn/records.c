#include "learn/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void records_read(const char *text, size_t size, const char *nonce, struct verdict *verdict, struct records *records)
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
