/** @file terminal.h  Human-readable output: wrapped to the terminal's width and, if wanted, in colour. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** The style of a text on a terminal with colours. Colour never carries information that the text lacks. */
enum terminal_style { STYLE_PLAIN, STYLE_STRONG, STYLE_FAINT, STYLE_GOOD, STYLE_BAD, STYLE_NOTE };

struct terminal {
    FILE *stream; /**< owned by the caller */
    bool has_colour;
    int num_columns; /**< columns per line, 40 to 100; 80 without a terminal */
};

/** Returns the settings for a stream, from NO_COLOR, TERM and the window's size. */
struct terminal terminal_for_stream(FILE *stream);

/** Updates the width from the window's size. */
void terminal_update_width(struct terminal *terminal);

/**
 * Makes standard input return single keys without echo until terminal_end_single_keys(). Returns false unless standard
 * input and the stream are terminals and this program is in the foreground. Must be called again after the process has
 * been suspended, because the shell resets the mode.
 */
bool terminal_begin_single_keys(const struct terminal *terminal);
void terminal_end_single_keys(void);

/**
 * Prints text unchanged, in a style. The text must come from the program itself; use terminal_print_wrapped() for any
 * other text.
 */
__attribute__((format(printf, 3, 4))) void terminal_print(const struct terminal *terminal, enum terminal_style style,
                                                          const char *format, ...);

/**
 * Prints text of any origin, wrapped to the width, between words if possible. The first line is indented by
 * `first_indent` columns, the others by `rest_indent`. The text's own line breaks are kept; tabs become spaces; control
 * characters and bytes that are not UTF-8 become `?`. Ends with a line break.
 */
void terminal_print_wrapped(const struct terminal *terminal, enum terminal_style style, int first_indent,
                            int rest_indent, const char *text);

/** Prints a label in the strong style and then the text, wrapped as by terminal_print_wrapped(): "  label   text". */
void terminal_print_labelled(const struct terminal *terminal, const char *label, enum terminal_style text_style,
                             const char *text);

/** Prints `num_bytes` bytes of code of any origin, indented. Lines are truncated to the width, so that none wraps. */
void terminal_print_code(const struct terminal *terminal, int indent, const char *text, size_t num_bytes);

/** Prints a bar of `num_columns` columns, of which the first `filled_columns` are filled. */
void terminal_print_bar(const struct terminal *terminal, size_t filled_columns, size_t num_columns);

#endif
