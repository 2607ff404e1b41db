/** @file interrupt.h  SIGINT, SIGTERM and SIGHUP as a flag and a descriptor, so that commands can clean up. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include "base/error.h"

#include <stdbool.h>

/** Makes SIGINT, SIGTERM and SIGHUP only interrupt blocking calls and set the flag. Returns false with a reason. */
bool interrupt_open(struct error *error);

/** Returns the last signal, or 0. */
int interrupt_seen(void);

/** Returns a descriptor that becomes readable when a signal arrives. */
int interrupt_descriptor(void);

/** Ends the process as the last signal would have. Returns only if there was none. */
void interrupt_obey(void);

#endif
