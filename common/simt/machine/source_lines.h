/** @file source_lines.h  Source locations of program counters, for error messages. */
#ifndef SIMT_SOURCE_LINES_H
#define SIMT_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOCATION_TEXT_SIZE = 512, STACK_TEXT_SIZE = 2048 };

/**
 * Writes "file:line" of the call that returns to `pc`. If the line is not known, writes "function+offset", or "?" if
 * the function is not known either.
 */
void simt_format_source_line(uintptr_t pc, char text[LOCATION_TEXT_SIZE]);
/**
 * Writes the source line of an instruction as seen from the location `here`: ":line" if it is in the same file, and
 * otherwise without the folder if it is in the same folder, or, if the paths are absolute, without the folders that
 * both have.
 */
void simt_format_source_line_seen_from(const char *here, uintptr_t pc, char text[LOCATION_TEXT_SIZE]);

/**
 * Writes the line of the call that returns to `pc` and the lines of the calls that the compiler has inlined around it,
 * the innermost first, each followed by a newline. Two calls on one line are distinguished if the compiler does so.
 */
void simt_format_inlined_call_lines(uintptr_t pc, char text[STACK_TEXT_SIZE]);

/**
 * Starts a separate process that looks up all source lines from now on, for this process and for processes forked
 * later.
 */
bool simt_source_lines_start_process(void);

#endif
