/**
 * @file constant_reads.h
 * @brief The last read of each word of constant memory. Kernels cannot write constants, so a read can only race with
 *        work in another stream, which may copy to them.
 */
#ifndef SIMT_CONSTANT_READS_H
#define SIMT_CONSTANT_READS_H

#include "order/stream_work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Prepares the record of the program's constants on the first call. Returns false without memory. */
bool simt_constant_reads_prepare(void);
/** Clears the record, because epochs start again. */
void simt_constant_reads_forget(void);

/** Records that the running thread reads constants. */
void simt_constant_read(uintptr_t address, unsigned bytes, uintptr_t pc);
/** Reports to order/stream_work.h the constants that a launch which ran at these epochs has read. */
void simt_constant_reads_scan(uint32_t first_epoch, uint32_t last_epoch);
/** Ends the launch that ended last, because its read of a constant raced with earlier work. False: no constant. */
bool simt_fault_constant_race(const struct work_race *race);

#endif
