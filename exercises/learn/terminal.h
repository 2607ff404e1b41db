/** @file terminal.h  Text for people: wrapped to the terminal's width, in colour where that is wanted. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** How a piece of text looks where there is colour. Nothing is said by colour alone. */
enum style { STYLE_PLAIN, STYLE_STRONG, STYLE_FAINT, STYLE_GOOD, STYLE_BAD, STYLE_NOTE };

struct terminal {
    FILE *stream; /**< the caller's */
    bool colour;
    int width; /**< columns of a line, 40 to 100; 80 where there is no terminal */
};

/** Looks at the stream, NO_COLOR, TERM and the window's size. */
struct terminal terminal_open(FILE *stream);

/** Looks at the window's size again. */
void terminal_measure(struct terminal *terminal);

/**
 * Whether people sit at standard input and at the terminal, this program in front. Then keys come one by one, unseen,
 * until terminal_end_keys(). Again after a stop, since the shell has changed that.
 */
bool terminal_begin_keys(const struct terminal *terminal);
void terminal_end_keys(void);

/** Prints in a style, as it is. The text must come from the program itself: terminal_wrap() takes what others wrote. */
__attribute__((format(printf, 3, 4))) void terminal_print(const struct terminal *terminal, enum style style,
                                                          const char *format, ...);

/**
 * Prints text of any origin in lines that fit the width, broken between words where there are any, the first indented
 * by `first` columns and those after it by `rest`. The text's own line breaks stay; tabs become spaces; control
 * characters and bytes that are no UTF-8 become `?`. Ends with a line break.
 */
void terminal_wrap(const struct terminal *terminal, enum style style, int first, int rest, const char *text);

/** terminal_wrap() with a label in the strong style in front of the text: "  label   text". */
void terminal_labelled(const struct terminal *terminal, const char *label, enum style style, const char *text);

/** Prints `length` bytes of text of any origin, each line cut to the width: code, whose line breaks mean something. */
void terminal_code(const struct terminal *terminal, const char *text, size_t length);

/** A bar of `columns` columns, `done` of `all` filled. */
void terminal_bar(const struct terminal *terminal, int columns, size_t done, size_t all);

#endif
