/**
 * @file constant_reads.h
 * @brief Records the last read of each word of constant memory. Kernels cannot write constants, so a read can only race
 *        with a copy to a constant in another stream.
 */
#ifndef SIMT_CONSTANT_READS_H
#define SIMT_CONSTANT_READS_H

#include "order/stream_work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Prepares the record of the program's constants on the first call. Returns false if out of memory. */
bool simt_constant_reads_prepare(void);
/** Clears the record when the epochs restart from 0. */
void simt_constant_reads_clear(void);

/** Records that the running thread reads constants. */
void simt_record_constant_read(uintptr_t address, unsigned bytes, uintptr_t pc);
/** Records, for order/stream_work.h, the constants that the launch that ran at these epochs has read. */
void simt_constant_reads_record_uses(uint32_t first_epoch, uint32_t last_epoch);
/**
 * Reports that the last launch read a constant in a race with earlier work. Returns false if the race is not on a
 * constant.
 */
bool simt_fault_race_if_on_constant(const struct work_race *race);

#endif
