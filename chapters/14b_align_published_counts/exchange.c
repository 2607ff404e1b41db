#include "exchange.h"

size_t align_exchange_bytes(const struct align_problem *problem)
{
    const size_t experts = ((size_t)problem->num_experts + 255) / 256 * 256;

    return 16 + 2 * ALIGN_MAX_BLOCKS * experts * sizeof(int32_t);
}
