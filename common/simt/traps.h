/** @file traps.h  Faults that the processor finds. */
#ifndef SIMT_TRAPS_H
#define SIMT_TRAPS_H

#include <stdbool.h>

/** While a kernel runs, signals that its instructions raise are faults. */
bool simt_signals_catch(void);
void simt_signals_release(void);

#endif
