/** @file shared_variables.h  Which words of shared memory belong to a `__shared__` variable, and the fault if none does. */
#ifndef SIMT_SHARED_VARIABLES_H
#define SIMT_SHARED_VARIABLES_H

#include "shadow_cell.h"

#include <stdbool.h>
#include <stddef.h>

/** Finds the `__shared__` variables, once, in `bytes` of shared memory. None if the program has no symbols. */
void simt_shared_variables_find(size_t bytes, size_t dynamic);
/** Marks in the shadow of shared memory the words that no variable has; if no variables were found, none. */
void simt_shared_variables_mark(struct shadow_cell *shadow, size_t dynamic);
bool simt_is_unowned(const struct shadow_cell *cell);
_Noreturn void simt_fault_unowned(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access,
                                  uintptr_t pc);

#endif
