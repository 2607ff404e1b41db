/**
 * @file warpgroup_products.h
 * @brief Products of a warpgroup (wgmma); each of its warps computes 16 rows. Used by collectives.c, instrumentation.c,
 *        the scheduler and the grid.
 */
#ifndef SIMT_WARPGROUP_PRODUCTS_H
#define SIMT_WARPGROUP_PRODUCTS_H

#include "lanes/lanes.h"

/** A lane's part of a product: `num_sums` = N / 2 sums, and the descriptors of both operands. */
struct wgmma_lane_operands {
    float *sums;
    unsigned num_sums;
    uint64_t a_descriptor, b_descriptor;
};

/**
 * Checks, before the running lane arrives, that the operands of a product are valid and that the lane's warp may read
 * them, and records that it reads them. Lane 0 does this for all lanes.
 */
void simt_product_check_and_record_operand_reads(const struct wgmma_lane_operands *operands, uintptr_t pc);
/** Computes the warp's rows of a product after all lanes have arrived; returns false after a fault. */
bool simt_product_compute_rows_or_fault(struct warp *warp, const uint64_t lane_operands_addresses[WARP_LANES]);

/** Executes a wgmma.fence for a warp. Returns false if out of memory. */
bool simt_products_record_fence(struct warp *warp);
/** Commits the warp's products since the last commit as a group. */
void simt_products_commit(struct warp *warp);
/**
 * Checks, for all groups except the last `num_pending_groups`, that no thread has written the operands since the issue.
 */
void simt_products_check_no_operand_overwritten(unsigned num_pending_groups);
/** Removes the products of all groups except the last `num_pending_groups` from the warp's pending products. */
void simt_products_remove_waited(struct warp *warp, unsigned num_pending_groups);

/**
 * Ends the launch if the running lane accesses sums of a pending product: the access is to `bytes` bytes at an address
 * on the lane's own stack.
 */
void simt_products_check_sum_access(uintptr_t address, unsigned bytes, bool store, uintptr_t pc);

/**
 * Checks, after all threads of a block have returned, that the warps of each warpgroup have issued the same products.
 */
void simt_products_check_warpgroups_agree(const struct block *block);
/**
 * Checks, after all threads of a block have returned, that all threads of a warpgroup have requested the same numbers
 * of registers, and that the last requests do not exceed the registers of a multiprocessor.
 */
void simt_register_requests_check_agree_and_fit(const struct block *block);
/** Frees a block's products. */
void simt_products_free(struct block *block);

#endif
