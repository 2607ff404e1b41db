/** @file interrupt.h  Ctrl-C and its like, as a flag and a descriptor, so that work ends in order. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include "base/error.h"

#include <stdbool.h>

/** From now on SIGINT, SIGTERM and SIGHUP interrupt blocking calls and are noted, no more. False with a reason. */
bool interrupt_open(struct error *error);

/** The signal that came last, or 0. */
int interrupt_seen(void);

/** Readable once a signal came. */
int interrupt_descriptor(void);

/** Ends the process as the signal would have. Returns only if none came. */
void interrupt_obey(void);

#endif
