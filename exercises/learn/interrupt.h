/** @file interrupt.h  SIGINT, SIGTERM and SIGHUP as a flag and a descriptor, so that commands can clean up. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include "base/error.h"

#include <stdbool.h>

/** Makes SIGINT, SIGTERM and SIGHUP only interrupt blocking calls and set the flag. Returns false with a reason on
 * failure. */
bool interrupt_install_handlers(struct error *error);

/** Returns the last signal's number, or 0 if there was none. */
int interrupt_last_signal(void);

/** Returns a descriptor that becomes readable when a signal arrives. */
int interrupt_poll_descriptor(void);

/** Terminates the process as the last signal would have done. Returns only if there was no signal. */
void interrupt_reraise_last_signal(void);

#endif
