#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

bool error_set_as(struct error *error, enum run_result result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->result = result;
    return false;
}

void error_words_set(error_words *words, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(*words, sizeof *words, format, arguments);
    va_end(arguments);
}
