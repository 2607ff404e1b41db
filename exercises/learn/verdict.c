#include "learn/verdict.h"

#include "learn/child.h"
#include "learn/records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

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
    const char *const arguments[] = {graded->program, "--seed", seed, graded->only ? "--only" : NULL,
                                     graded->only,    NULL};
    struct child_end end;
    struct records records;

    memset(verdict, 0, sizeof *verdict);
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
