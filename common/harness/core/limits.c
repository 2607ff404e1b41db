#include "harness/core/limits.h"

#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * The limit exists because ids are int32_t, and some chapters encode an expert whose choice is NaN as id + num_experts.
 */
enum { MAX_EXPERTS = 1 << 20 };

/**
 * Raises the soft limit on the stack size before main() if it is too low. If the hard limit is too low, exits with a
 * one-line message.
 */
static __attribute__((constructor)) void check_stack(void)
{
    enum { STACK_BYTES = 1 << 20 };
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_BYTES)
        return;
    limit.rlim_cur = STACK_BYTES;
    if (limit.rlim_max >= STACK_BYTES && setrlimit(RLIMIT_STACK, &limit) == 0)
        return;
    fprintf(stderr, "%s: a stack of at most %ju KiB; it must be %d or more (ulimit -s)\n",
            program_invocation_short_name, (uintmax_t)limit.rlim_max / 1024, STACK_BYTES / 1024);
    _exit(2);
}

bool num_tokens_check(int64_t num_tokens, struct error *error)
{
    return num_tokens >= 0 || error_set(error, "--num-tokens: %" PRId64 "; it must be 0 or more", num_tokens);
}

bool num_experts_check(int num_experts, struct error *error)
{
    return (num_experts >= 1 && num_experts <= MAX_EXPERTS) ||
           error_set(error, "--num-experts: %d; it must be 1 to %d", num_experts, MAX_EXPERTS);
}

bool count_at_least_one_check(const char *flag, int count, struct error *error)
{
    return count >= 1 || error_set(error, "--%s: %d; it must be at least 1", flag, count);
}

/**
 * Returns whether `text` is an integer from 1 to `most` or, if `list` is set, a comma-separated list of such integers.
 */
static bool are_counts(const char *text, int64_t most, bool list)
{
    char number[24];
    int64_t value;

    for (size_t length;; text += length + 1) {
        length = list ? strcspn(text, ",") : strlen(text);
        if (length >= sizeof number)
            return false;
        memcpy(number, text, length);
        number[length] = '\0';
        if (!parse_integer("", number, 1, most, &value, &(struct error){0}))
            return false;
        if (!text[length])
            return true;
    }
}

bool environment_variables_check(struct error *error)
{
    static const struct {
        const char *name;
        int64_t most;
        bool list; /* whether a list is allowed: one number per level of nested parallel regions */
    } variables[] = {{"OMP_NUM_THREADS", 1024, true}, {"SIMT_EVENT_LIMIT", INT64_MAX, false}};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *const text = getenv(variables[i].name);

        if (text && !are_counts(text, variables[i].most, variables[i].list))
            return error_set(error, "%s: '%s'; where it is set, it must be 1 to %" PRId64, variables[i].name, text,
                             variables[i].most);
    }

    const char *const order = getenv("SIMT_ORDER");
    int64_t seed;

    return !order || strcmp(order, "reverse") == 0 ||
           (strncmp(order, "random:", 7) == 0 &&
            parse_integer("", order + 7, 0, INT64_MAX, &seed, &(struct error){0})) ||
           error_set(error, "SIMT_ORDER: '%s'; where it is set, it must be reverse or random:SEED", order);
}
