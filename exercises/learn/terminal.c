#include "terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { NO_TERMINAL_WIDTH = 80, LEAST_WIDTH = 40, MAX_WIDTH = 100, TAB = 4, LABEL_COLUMNS = 11 };

static const char *const style_codes[] = {"", "\033[1m", "\033[2m", "\033[1;32m", "\033[1;31m", "\033[36m"};

struct terminal terminal_for_stream(FILE *stream)
{
    const bool is_terminal = isatty(fileno(stream));
    const char *const no_color = getenv("NO_COLOR");
    const char *const term = getenv("TERM");
    struct terminal terminal = {.stream = stream};

    terminal.has_colour = is_terminal && !(no_color && no_color[0]) && !(term && strcmp(term, "dumb") == 0);
    terminal_update_width(&terminal);
    return terminal;
}

void terminal_update_width(struct terminal *terminal)
{
    struct winsize size;
    int width = NO_TERMINAL_WIDTH;

    if (ioctl(fileno(terminal->stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    terminal->num_columns = width < LEAST_WIDTH ? LEAST_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : width;
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

static struct termios lines; /* the terminal's mode before single keys were read */
static bool has_keys;

bool terminal_begin_single_keys(const struct terminal *terminal)
{
    struct termios keys;

    has_keys = isatty(STDIN_FILENO) && isatty(fileno(terminal->stream)) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
               tcgetattr(STDIN_FILENO, &lines) == 0;
    if (!has_keys)
        return false;
    keys = lines;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    return has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

void terminal_end_single_keys(void)
{
    if (has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &lines);
    has_keys = false;
}

static void begin_style(const struct terminal *terminal, enum terminal_style style)
{
    if (terminal->has_colour)
        fputs(style_codes[style], terminal->stream);
}

static void end_style(const struct terminal *terminal, enum terminal_style style)
{
    if (terminal->has_colour && style != STYLE_PLAIN)
        fputs("\033[0m", terminal->stream);
}

void terminal_print(const struct terminal *terminal, enum terminal_style style, const char *format, ...)
{
    va_list arguments;

    begin_style(terminal, style);
    va_start(arguments, format);
    vfprintf(terminal->stream, format, arguments);
    va_end(arguments);
    end_style(terminal, style);
}

/** Returns the size of the UTF-8 character at `text` (not empty), or 0 if it is invalid or a control character. */
static size_t character_size(const char *text)
{
    const unsigned char first = (unsigned char)text[0];
    const size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;

    if (first < 0x20 || first == 0x7f)
        return 0;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    return first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 0 : size; /* excludes further control characters */
}

/** Prints the character at `text`, or `?` if it is invalid. Returns its size in bytes. */
static size_t put_character(const struct terminal *terminal, const char *text)
{
    const size_t size = character_size(text);

    if (size == 0) {
        fputc('?', terminal->stream);
        return 1;
    }
    fwrite(text, 1, size, terminal->stream);
    return size;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/** Returns the number of columns of the word at `text`, up to a blank or the end of the line. */
static int word_columns(const char *text)
{
    int columns = 0;

    while (*text && *text != '\n' && !is_blank(*text)) {
        const size_t size = character_size(text);

        text += size ? size : 1;
        columns++;
    }
    return columns;
}

static void start_line(const struct terminal *terminal, int indent, int *column)
{
    fprintf(terminal->stream, "\n%*s", indent, "");
    *column = indent;
}

/**
 * Prints words starting at `column`, and indents all lines after the first by `rest` columns. Ends with a line break.
 */
static void wrap_from(const struct terminal *terminal, enum terminal_style style, int column, int rest,
                      const char *text)
{
    int blanks = 0; /* number of blanks before the next word */

    begin_style(terminal, style);
    while (*text) {
        if (*text == '\n') {
            if (text[1])
                start_line(terminal, rest, &column);
            blanks = 0;
            text++;
            continue;
        }
        if (is_blank(*text)) {
            blanks += *text == '\t' ? TAB : 1;
            text++;
            continue;
        }
        if (column > rest && column + blanks + word_columns(text) > terminal->num_columns)
            start_line(terminal, rest, &column);
        else
            column += fprintf(terminal->stream, "%*s", blanks, "");
        blanks = 0;
        while (*text && *text != '\n' && !is_blank(*text)) {
            if (column >= terminal->num_columns) /* a word longer than a line */
                start_line(terminal, rest, &column);
            text += put_character(terminal, text);
            column++;
        }
    }
    end_style(terminal, style);
    fputc('\n', terminal->stream);
}

void terminal_print_wrapped(const struct terminal *terminal, enum terminal_style style, int first_indent,
                            int rest_indent, const char *text)
{
    fprintf(terminal->stream, "%*s", first_indent, "");
    wrap_from(terminal, style, first_indent, rest_indent, text);
}

void terminal_print_labelled(const struct terminal *terminal, const char *label, enum terminal_style text_style,
                             const char *text)
{
    terminal_print(terminal, STYLE_STRONG, "  %-*s", LABEL_COLUMNS - 2, label);
    wrap_from(terminal, text_style, LABEL_COLUMNS, LABEL_COLUMNS, text);
}

void terminal_print_code(const struct terminal *terminal, int indent, const char *text, size_t num_bytes)
{
    const char *const end = text + num_bytes;
    int column = 0;

    while (text < end) {
        if (column == 0 && *text != '\n')
            column = fprintf(terminal->stream, "%*s", indent, "");
        if (*text == '\n') {
            fputc('\n', terminal->stream);
            column = 0;
            text++;
        } else if (column >= terminal->num_columns) {
            text++;
        } else if (*text == '\t') {
            do
                fputc(' ', terminal->stream);
            while (++column < terminal->num_columns && column % TAB != 0);
            text++;
        } else {
            text += put_character(terminal, text);
            column++;
        }
    }
    if (num_bytes > 0 && end[-1] != '\n')
        fputc('\n', terminal->stream);
}

void terminal_print_bar(const struct terminal *terminal, size_t filled_columns, size_t num_columns)
{
    fputc('[', terminal->stream);
    begin_style(terminal, STYLE_GOOD);
    for (size_t i = 0; i < filled_columns; i++)
        fputc('#', terminal->stream);
    end_style(terminal, STYLE_GOOD);
    for (size_t i = filled_columns; i < num_columns; i++)
        fputc('.', terminal->stream);
    fputc(']', terminal->stream);
}
