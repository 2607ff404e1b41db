/** @file host_accesses.h  The host may not touch device memory. */
#ifndef SIMT_HOST_ACCESSES_H
#define SIMT_HOST_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * From now on the line is printed, before the signal takes its course, of an access to memory that is not there but
 * that describe() knows for the device's. False: that cannot be.
 */
bool simt_host_watch(bool (*describe)(uintptr_t address, char *text, size_t size));
/** The host's code at `pc` reads or writes a variable of the device's: says so and ends the process. */
_Noreturn void simt_host_touches(const char *variable, bool store, uintptr_t pc);

#endif
