/**
 * @file proxy.c
 * @brief The check for missing proxy fences. Loads and stores use the generic proxy; bulk copies and the operands of
 *        warpgroup products use the asynchronous proxy.
 *
 * The asynchronous proxy sees what the generic proxy wrote only after a proxy fence. The writes of bulk copies have
 * separate epochs, by which the check identifies them.
 */
#include "proxy.h"

#include "machine/fault.h"
#include "machine/program_image.h"
#include "machine/array_reserve.h"

#include <string.h>

/* --- epochs of bulk copies ---------------------------------------------------------------------------------------- */

static struct epochs {
    uint32_t first; /**< first epoch of the launch for which the bits are valid */
    size_t words;
    uint64_t *word; /**< one bit per epoch from `first` on: 1 if the epoch belongs to a bulk copy */
} epochs;

bool simt_proxy_record_epoch_is_bulk_copy(void)
{
    const uint32_t epoch = simt_current_order.epoch;

    if (epochs.first != simt_current_order.launch_begin_epoch && epochs.words > 0)
        memset(epochs.word, 0, epochs.words * sizeof *epochs.word);
    epochs.first = simt_current_order.launch_begin_epoch;
    const size_t word = (epoch - epochs.first) / 64;

    if (!simt_array_reserve(&epochs.word, &epochs.words, word + 1, sizeof *epochs.word))
        return false;
    epochs.word[word] |= UINT64_C(1) << (epoch - epochs.first) % 64;
    return true;
}

static bool is_of_copy(uint32_t epoch)
{
    const size_t word = (epoch - epochs.first) / 64;

    return epochs.first == simt_current_order.launch_begin_epoch && word < epochs.words &&
           (epochs.word[word] >> (epoch - epochs.first) % 64 & 1);
}

/* --- the check ---------------------------------------------------------------------------------------------------- */

/** No barrier of a block orders a write of another block. */
static const char advice_between_blocks[] = SIMT_ADVICE_PREFIX
    "a proxy fence, such as async_proxy_fence(), in the thread that issues the copy, after it has waited for the other "
    "block's message (atomic, flag or grid barrier); or in the writer, after the write and before the message";

void simt_check_proxy_fence_after_last_write(const struct shadow_cell *cell, enum memory_space space, uintptr_t pc,
                                             const char *reader_phrase)
{
    static uint32_t good_epoch, good_write, good_now, good_reader; /* the last check that passed */
    static enum memory_space good_space;
    const uint32_t thread = cell->packed_write >> WRITE_THREAD_SHIFT;

    if (cell->write_epoch < simt_current_order.launch_begin_epoch ||
        (cell->write_epoch == good_epoch && thread == good_write && simt_current_order.epoch == good_now &&
         simt_current_order.packed_thread == good_reader && space == good_space))
        return;
    if (!is_of_copy(cell->write_epoch) && !simt_is_access_ordered_by_proxy_fence(cell->write_epoch, thread, space)) {
        const uint3 index = simt_thread_index(thread);
        const uint3 block = simt_block_index(simt_block_running_at(cell->write_epoch));

        simt_fault_dismiss_suspected_up_to(SUSPECT_UNWRITTEN_READ);
        simt_fault_here(
            cudaErrorLaunchFailure, pc, "no fence to the asynchronous proxy",
            "%s 4 bytes that thread (%u,%u,%u) of block (%u,%u,%u) wrote" SIMT_PC_LOCATION_FORMAT
            ", with no fence.proxy.async between%s",
            reader_phrase, index.x, index.y, index.z, block.x, block.y, block.z,
            simt_pc_in_slot(cell->packed_write & PC_SLOT_MASK),
            simt_block_running_at(cell->write_epoch) == simt_current_order.block_number ? "" : advice_between_blocks);
    }
    good_epoch = cell->write_epoch;
    good_write = thread;
    good_now = simt_current_order.epoch;
    good_reader = simt_current_order.packed_thread;
    good_space = space;
}
