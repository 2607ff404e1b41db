#include "glossary.h"

#include "text_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool add_word(struct glossary *glossary, const char *word, const char *id, struct error *error)
{
    for (size_t i = 0; i < glossary->count; i++)
        if (strcasecmp(glossary->words[i].word, word) == 0)
            return error_set(error, "'%s' leads to %s and to %s", word, glossary->words[i].id, id);
    if (glossary->count == GLOSSARY_MAX_WORDS || strlen(word) >= GLOSSARY_WORD_SIZE)
        return error_set(error, "'%s' is a word too many, or too long", word);
    strcpy(glossary->words[glossary->count].word, word);
    snprintf(glossary->words[glossary->count].id, GLOSSARY_WORD_SIZE, "%s", id);
    glossary->count++;
    return true;
}

/** Adds the words of a list: "warp, warps -->". */
static bool add_words(struct glossary *glossary, char *list, const char *id, struct error *error)
{
    char *const end = strstr(list, " -->");
    char *rest = NULL;

    if (!end || !*id)
        return error_set(error, "'<!-- words:%s' ends without -->, or is behind no heading with an {#id}", list);
    *end = '\0';
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (!add_word(glossary, word + strspn(word, " "), id, error))
            return false;
    return true;
}

bool glossary_read(const char *path, struct glossary *glossary, struct error *error)
{
    char id[GLOSSARY_WORD_SIZE] = "";
    char *const text = text_file_read(path, error);
    char *at = text, *line;
    bool good = text != NULL;

    *glossary = (struct glossary){0};
    while (good && (line = text_line(&at))) {
        const char *const label = strstr(line, "{#");

        if (*line == '#' && (!label || sscanf(label, "{#%47[a-z0-9_]}", id) != 1))
            id[0] = '\0';
        else if (text_begins(line, "<!-- words: ") && !add_words(glossary, line + 12, id, error))
            good = false;
    }
    free(text);
    if (text && !good) {
        const struct error reason = *error;

        return error_set(error, "%s: %s", path, reason.text);
    }
    return good;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t glossary_link(const struct glossary *glossary, struct glossary_seen *seen, const char *text, char before,
                     FILE *out)
{
    size_t best = glossary->count, length = 0;

    if (in_word(before) || before == '-' || !in_word(*text))
        return 0;
    for (size_t i = 0; i < glossary->count; i++) {
        const size_t this_length = strlen(glossary->words[i].word);

        if (this_length > length && strncasecmp(text, glossary->words[i].word, this_length) == 0 &&
            !in_word(text[this_length])) {
            best = i;
            length = this_length;
        }
    }
    if (best == glossary->count || seen->words[best])
        return 0;
    for (size_t i = 0; i < glossary->count; i++)
        if (strcmp(glossary->words[i].id, glossary->words[best].id) == 0)
            seen->words[i] = true;
    fprintf(out, "[%.*s](@ref %s)", (int)length, text, glossary->words[best].id);
    return length;
}
