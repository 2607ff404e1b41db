/** @file warpgroup_products.h  Products of a warpgroup (wgmma), of which each warp does the rows that are its own. */
#ifndef SIMT_WARPGROUP_PRODUCTS_H
#define SIMT_WARPGROUP_PRODUCTS_H

#include "lanes/lanes.h"

/** What a lane brings to one: `count` = N / 2 sums, and both operands' descriptors. */
struct product_part {
    float *sums;
    unsigned count;
    uint64_t a, b;
};

/** The running lane is about to come to a product: checks the operands and, for its warp, that they may be read. */
void simt_product_begin(const struct product_part *part, uintptr_t pc);
/** All lanes have come; false: it is a fault. */
bool simt_product_complete(struct warp *warp, const uint64_t lanes[WARP_LANES]);

/** A fence, a commit; the wait for all groups but some: checks that nobody wrote the operands, then completes it. */
bool simt_products_fence(struct warp *warp);
void simt_products_commit(struct warp *warp);
void simt_products_wait(unsigned pending);
void simt_products_waited(struct warp *warp, unsigned pending);

/**
 * Ends the launch if the running lane touches sums of a product that is not done; `bytes` at an address on its own
 * stack.
 */
void simt_products_check(uintptr_t address, unsigned bytes, bool store, uintptr_t pc);

/** The threads of a block have returned: a fault unless the warps of each warpgroup have done the same products. */
void simt_products_check_groups(const struct block *block);
/** Forgets a block's products. */
void simt_products_end(struct block *block);

#endif
