#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Copies a line, omitting the middle if it is too long, because the beginning and the end matter most. */
static void copy_line(char *to, size_t size, const char *line)
{
    static const char gap[] = "...";
    const size_t half = (size - sizeof gap) / 2;
    size_t length = strlen(line);

    while (length > 0 && line[length - 1] == '\n')
        length--;
    if (length < size)
        sprintf(to, "%.*s", (int)length, line);
    else
        sprintf(to, "%.*s%s%.*s", (int)half, line, gap, (int)half, line + length - half);
    for (; *to; to++)
        if (iscntrl((unsigned char)*to))
            *to = '?';
}

bool error_set_as(struct error *error, enum run_exit_code exit_code, const char *format, ...)
{
    va_list arguments;
    char *line;

    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) < 0)
        line = NULL;
    va_end(arguments);
    copy_line(error->text, sizeof error->text, line ? line : "out of memory");
    free(line);
    error->exit_code = exit_code;
    return false;
}

const char *error_find_advice_separator_or_end(const char *line)
{
    const char *const advice = strstr(line, ERROR_ADVICE_SEPARATOR);

    return advice ? advice : line + strlen(line);
}

void error_phrase_set(error_phrase *phrase, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(*phrase, sizeof *phrase, format, arguments);
    va_end(arguments);
}
