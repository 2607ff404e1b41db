/** @file chapters/14b_align_published_counts/shared_bytes.h  The dynamic shared memory that a launch needs. */
#ifndef ALIGN_SHARED_BYTES_H
#define ALIGN_SHARED_BYTES_H

#include "harness/align/align.h"

/**
 * Returns the number of bytes of shared memory that a block of the kernel for many ids needs, or 0 if 48 KB suffice.
 * With more than 256 experts, a block needs nine words per expert; otherwise only more than 262,144 ids need more than
 * 48 KB: 55 KB, or 167 KB for the tiles of 16,384 ids that are used for more than 524,288.
 */
static inline size_t align_many_ids_shared_bytes_if_over_48_kb(const struct align_problem *problem)
{
    const size_t experts = ((size_t)problem->num_experts + 255) / 256 * 256;
    const size_t of_experts = (9 * experts + 256) * sizeof(int32_t);

    if (problem->numel <= 4096 && problem->kernel != ALIGN_KERNEL_LARGE)
        return 0;
    if (problem->num_experts > 256)
        return of_experts > 48 * 1024 ? of_experts : 0;
    return problem->numel > 524288 ? 167 * 1024 : problem->numel > 262144 ? 55 * 1024 : 0;
}

#endif
