#include "harness/core/say.h"

#include <stdarg.h>
#include <stdio.h>

void say(char (*text)[96], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(*text, sizeof *text, format, arguments);
    va_end(arguments);
}
