/** @file terminal.h  Output for people: wrapped to the terminal's width, in colour where that is wanted. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** The style of a text where there is colour. No information is in the colour alone. */
enum style { STYLE_PLAIN, STYLE_STRONG, STYLE_FAINT, STYLE_GOOD, STYLE_BAD, STYLE_NOTE };

struct terminal {
    FILE *stream; /**< the caller's */
    bool colour;
    int width; /**< columns of a line, 40 to 100; 80 where there is no terminal */
};

/** Returns the settings for a stream, from NO_COLOR, TERM and the window's size. */
struct terminal terminal_open(FILE *stream);

/** Updates the width from the window's size. */
void terminal_measure(struct terminal *terminal);

/**
 * Switches standard input to single keys without echo until terminal_end_keys(). Returns false unless standard input
 * and the stream are terminals and this program is in the foreground. Call it again after a stop: the shell resets it.
 */
bool terminal_begin_keys(const struct terminal *terminal);
void terminal_end_keys(void);

/** Prints in a style, unchanged. The text must be the program's own; use terminal_wrap() for any other text. */
__attribute__((format(printf, 3, 4))) void terminal_print(const struct terminal *terminal, enum style style,
                                                          const char *format, ...);

/**
 * Prints text of any origin in lines that fit the width, broken between words if possible. The first line is indented
 * by `first` columns, the others by `rest`. The text's own line breaks stay; tabs become spaces; control characters and
 * bytes that are not UTF-8 become `?`. Ends with a line break.
 */
void terminal_wrap(const struct terminal *terminal, enum style style, int first, int rest, const char *text);

/** Prints a label in the strong style and then the text, wrapped like terminal_wrap()'s: "  label   text". */
void terminal_labelled(const struct terminal *terminal, const char *label, enum style style, const char *text);

/** Prints `length` bytes of code of any origin. Each line is cut to the width, because its line breaks matter. */
void terminal_code(const struct terminal *terminal, const char *text, size_t length);

/** Prints a bar of `columns` columns of which the part `done` / `all` is filled. */
void terminal_bar(const struct terminal *terminal, int columns, size_t done, size_t all);

#endif
