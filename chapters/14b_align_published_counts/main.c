/** @file main.c  Chapter 14b: one launch at every size, and every group in ascending order. */
#include "exchange.h"
#include "shared_bytes.h"

static const char *unsupported_reason(const struct align_problem *problem)
{
    if (problem->kernel == ALIGN_KERNEL_SMALL && problem->numel > 4096)
        return "--kernel small: more than 4096 ids; a block has all of them, four for each of its threads";
    if (problem->num_experts > 2048)
        return "--num-experts: more than 2048; they need over 73 KB of a block's shared memory, which was never tried";
    return NULL;
}

/** Returns true, because the groups are in ascending order for every problem. */
static bool always(const struct align_problem *problem)
{
    (void)problem;
    return true;
}

int main(int argc, char **argv)
{
    static const struct align_chapter chapter = {
        .implementation = {.name = "14b_align_published_counts",
                           .supports_overlap = true,
                           .kernel_switch_ids = {4096, 8192, 16384, 65536, 262144, 524288},
                           .kernel_switch_experts = {256},
                           .unsupported_reason = unsupported_reason,
                           .capacity = align_worst_case_capacity_capped_by_ids,
                           .workspace_bytes = align_exchange_bytes,
                           .workspace_must_be_zeroed = true,
                           .shared_bytes = align_many_ids_shared_bytes_if_over_48_kb,
                           .positions_ascend = always,
                           .launch = align_launch},
        .previous = {.name = "14a_align_bit_ranks",
                     .capacity = align_worst_case_capacity_capped_by_ids,
                     .workspace_bytes = align_sector_spaced_offsets_bytes,
                     .launch = align_launch_previous},
    };
    return align_main(argc, argv, &chapter);
}
