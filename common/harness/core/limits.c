#include "harness/core/limits.h"

#include <inttypes.h>

/* Ids travel as int32_t, and chapters number an invalid expert id + num_experts. */
enum { MAX_EXPERTS = 1 << 20 };

bool num_tokens_check(int64_t num_tokens, struct error *error)
{
    return num_tokens >= 0 || error_set(error, "--num-tokens: %" PRId64 "; it must be 0 or more", num_tokens);
}

bool num_experts_check(int num_experts, struct error *error)
{
    return (num_experts >= 1 && num_experts <= MAX_EXPERTS) ||
           error_set(error, "--num-experts: %d; it must be 1 to %d", num_experts, MAX_EXPERTS);
}

bool count_check(const char *name, int count, struct error *error)
{
    return count >= 1 || error_set(error, "--%s: %d; it must be at least 1", name, count);
}
