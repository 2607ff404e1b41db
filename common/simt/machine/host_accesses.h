/** @file host_accesses.h  Detects accesses by host code to device memory, which are errors. */
#ifndef SIMT_HOST_ACCESSES_H
#define SIMT_HOST_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Installs a signal handler for invalid accesses. If describe() recognises the address as device memory, the handler
 * prints the source line of the access before the signal ends the process. Returns false if the handler cannot be
 * installed.
 */
bool simt_install_host_access_handler(bool (*describe)(uintptr_t address, char *text, size_t size));
/** The copy that the host is making for CUDA; `name` is NULL if there is none. An invalid access is then its fault. */
extern struct host_copy {
    const char *name; /**< name of the call */
    uintptr_t call_site;
    const void *to, *from;
    size_t bytes;
} simt_host_copy;
/**
 * Address of the host's latest access whose fault the recorded message reports. If the access then raises a signal, the
 * message is printed.
 */
extern uintptr_t simt_reported_host_access_address;
/** Reports that host code at `pc` reads or writes a device variable, and ends the process. */
_Noreturn void simt_reject_host_access_to_variable(const char *variable, bool store, uintptr_t pc);

#endif
