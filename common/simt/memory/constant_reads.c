/** @file constant_reads.c  Records the last read of each word of constant memory. */
#include "constant_reads.h"

#include "machine/fault.h"
#include "machine/pages.h"
#include "machine/program_image.h"
#include "order/happens_before.h"
#include "shadow.h"

#include <string.h>

static struct constant_read {
    uint32_t epoch;
    uint32_t thread;
    uintptr_t pc;
} * reads;

static size_t word_count(void)
{
    return (simt_program.constant_high - simt_program.constant_low + 3) / 4;
}

bool simt_constant_reads_prepare(void)
{
    if (!reads)
        reads = pages_map((word_count() + 1) * sizeof *reads);
    return reads;
}

void simt_constant_reads_clear(void)
{
    memset(reads, 0, word_count() * sizeof *reads);
}

void simt_record_constant_read(uintptr_t address, unsigned bytes, uintptr_t pc)
{
    const size_t first = (address - simt_program.constant_low) / 4;
    const size_t last = (address + bytes - 1 - simt_program.constant_low) / 4;

    for (size_t word = first; word <= last; word++)
        reads[word] = (struct constant_read){simt_current_order.epoch,
                                             simt_current_order.packed_thread >> WRITE_THREAD_SHIFT, pc};
}

void simt_constant_reads_record_uses(uint32_t first_epoch, uint32_t last_epoch)
{
    for (size_t word = 0; word < word_count(); word++)
        if (reads[word].epoch >= first_epoch && reads[word].epoch <= last_epoch)
            simt_work_record_use(USE_READ, simt_program.constant_low + 4 * word, 4);
}

bool simt_fault_race_if_on_constant(const struct work_race *race)
{
    const size_t word = (race->address - simt_program.constant_low) / 4;

    if (word >= word_count())
        return false;
    simt_block_idx = simt_block_index(simt_block_running_at(reads[word].epoch));
    simt_fault_stream_race(simt_thread_index(reads[word].thread), reads[word].pc, 4, race);
    return true;
}
