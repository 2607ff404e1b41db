/** @file source_lines.h  From program counters to places in the source. */
#ifndef SIMT_SOURCE_LINES_H
#define SIMT_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACE_TEXT = 512, STACK_TEXT = 2048 };

/** "file:line" of the call that returns to `pc`, or function+offset, or "?". */
void simt_source_line(uintptr_t pc, char text[PLACE_TEXT]);

/**
 * The line of that call and of those that the compiler has inlined around it, the innermost first, each with a newline
 * behind it. Two calls in one line are told apart if the compiler does so.
 */
void simt_source_stack(uintptr_t pc, char text[STACK_TEXT]);

/** From now on a process of its own looks up what simt_source_line() is asked, here and in processes forked later. */
bool simt_source_lines_apart(void);

#endif
