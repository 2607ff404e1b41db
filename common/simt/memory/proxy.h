/**
 * @file proxy.h
 * @brief The check that a proxy fence separates stores from the bulk copies and warpgroup products that read them. Used
 *        by bulk_copies.c and warpgroup_products.c.
 */
#ifndef SIMT_PROXY_H
#define SIMT_PROXY_H

#include "shadow.h"

/** Records that the current epoch holds only the writes of a bulk copy. Returns false if out of memory. */
bool simt_proxy_record_epoch_is_bulk_copy(void);

/**
 * Ends the launch unless the asynchronous proxy sees the last write to a word: either a bulk copy made the write, or a
 * proxy fence after the write is ordered before the current operation. `reader_phrase` is the verb phrase of the error
 * message.
 */
void simt_check_proxy_fence_after_last_write(const struct shadow_cell *cell, enum memory_space space, uintptr_t pc,
                                             const char *reader_phrase);

#endif
