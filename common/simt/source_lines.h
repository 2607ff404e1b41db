/** @file source_lines.h  From program counters to places in the source. */
#ifndef SIMT_SOURCE_LINES_H
#define SIMT_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACE_TEXT = 512 };

/** "file:line" of the call that returns to `pc`, or function+offset, or "?". */
void simt_source_line(uintptr_t pc, char text[PLACE_TEXT]);
/** The same for many, by one process. */
void simt_source_lines(const uintptr_t *pc, size_t count, char (*text)[PLACE_TEXT]);

/** From now on a process of its own looks up what simt_source_line() is asked, here and in processes forked later. */
bool simt_source_lines_apart(void);

#endif
