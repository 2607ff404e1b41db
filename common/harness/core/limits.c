#include "harness/core/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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
