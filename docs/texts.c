#include "texts.h"

#include <ctype.h>
#include <string.h>

void texts_add(struct texts *texts, const char *text)
{
    char *copy;

    if (texts->count == MAX_TEXTS)
        return;
    copy = texts->texts[texts->count];
    snprintf(copy, TEXTS_SIZE, "%s", text);
    for (char *at = copy; *at; at++)
        if (!isprint((unsigned char)*at) || strchr("`|<>", *at))
            *at = '?';
    for (int i = 0; i < texts->count; i++)
        if (strcmp(texts->texts[i], copy) == 0)
            return;
    texts->count += *copy != '\0';
}

void texts_add_command(struct texts *texts, const char *command, const char *program)
{
    const char *const name = *program ? strstr(command, program) : NULL;
    char text[TEXTS_SIZE], *out;

    if (name)
        snprintf(text, sizeof text, "%.*sNAME%s", (int)(name - command), command, name + strlen(program));
    else
        snprintf(text, sizeof text, "%s", command);
    out = strstr(text, " --out ");
    if (out)
        *out = '\0';
    texts_add(texts, text);
}

void texts_write(FILE *out, const struct texts *texts, const char *quote)
{
    for (int i = 0; i < texts->count; i++)
        fprintf(out, "%s%s%s%s", i == 0 ? "" : i + 1 < texts->count ? ", " : " and ", quote, texts->texts[i], quote);
}
