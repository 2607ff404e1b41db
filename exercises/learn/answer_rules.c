#include "answer_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 256 };

/** How far a region was read. */
struct reader {
    const char *at, *end;
    const char *path; /**< the line's, as `#line` has it */
    char path_text[512];
    int line;
    bool line_begins; /**< nothing but white space and comments so far */
    int depth;        /**< of open brackets */
    char opened[MAX_DEPTH];
};

static bool refuse(const struct reader *reader, struct error *error, const char *what, const char *why)
{
    return error_set(error, "%s:%d: error: %s: %s", reader->path, reader->line, what, why);
}

static bool is_at(const struct reader *reader, const char *text)
{
    const size_t length = strlen(text);

    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, text, length) == 0;
}

/* --- what is skipped ---------------------------------------------------------------------------------------------- */

static bool skip_comment(struct reader *reader, struct error *error)
{
    const struct reader began = *reader;

    for (reader->at += 2; reader->at < reader->end && !is_at(reader, "*/"); reader->at++)
        reader->line += *reader->at == '\n';
    if (reader->at == reader->end)
        return refuse(&began, error, "/*", "the region has no end of this comment");
    reader->at += 2;
    return true;
}

static void skip_line(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
}

/** A text or a character. */
static bool skip_quoted(struct reader *reader, struct error *error)
{
    const char quote = *reader->at;

    for (reader->at++; reader->at < reader->end && *reader->at != quote && *reader->at != '\n'; reader->at++)
        reader->at += *reader->at == '\\' && reader->at + 1 < reader->end;
    if (reader->at == reader->end || *reader->at == '\n')
        return refuse(reader, error, quote == '"' ? "\"" : "'", "it has no end in its line");
    reader->at++;
    return true;
}

/* --- what is looked at -------------------------------------------------------------------------------------------- */

/** `#line N "path"` is regions_fill()'s; `#pragma unroll` is a loop's. */
static bool read_directive(struct reader *reader, struct error *error)
{
    char line[600];
    int number;

    snprintf(line, sizeof line, "%.*s", (int)strcspn(reader->at, "\n"), reader->at);
    skip_line(reader);
    if (sscanf(line, "#line %d \"%511[^\"]\"", &number, reader->path_text) == 2) {
        reader->path = reader->path_text;
        reader->line = number - 1; /* the line break behind it counts */
        return true;
    }
    if (strncmp(line, "#pragma unroll", 14) == 0 && !strpbrk(line, "\\/"))
        return true;
    line[40] = '\0';
    return refuse(reader, error, line, "a region has no preprocessor lines but #pragma unroll");
}

static bool read_word(struct reader *reader, struct error *error)
{
    static const char *const words[] = {"asm",     "__asm", "__asm__", "__attribute", "__attribute__",
                                        "_Pragma", "gnu",   "__gnu__", NULL};
    static const char *const beginnings[] = {"simt_", "SIMT_", "__tsan", "__sanitizer", NULL};
    const char *const begin = reader->at;
    char word[64];

    while (reader->at < reader->end && (isalnum((unsigned char)*reader->at) || *reader->at == '_'))
        reader->at++;
    snprintf(word, sizeof word, "%.*s", (int)(reader->at - begin), begin);
    if (reader->at < reader->end && *reader->at == '"' && word[strlen(word) - 1] == 'R')
        return refuse(reader, error, word, "a region has no raw strings");
    for (size_t i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return refuse(reader, error, word,
                          "what a kernel does is written in CUDA C here, so that it can be counted");
    for (size_t i = 0; beginnings[i]; i++)
        if (strncmp(word, beginnings[i], strlen(beginnings[i])) == 0)
            return refuse(reader, error, word, "this is the simulator's, and no part of CUDA");
    return true;
}

static bool read_bracket(struct reader *reader, struct error *error)
{
    static const char opening[] = "({[", closing[] = ")}]";
    const char *const opens = strchr(opening, *reader->at), *const closes = strchr(closing, *reader->at);
    const char bracket[2] = {*reader->at, '\0'};

    reader->at++;
    if (opens) {
        if (reader->depth == MAX_DEPTH)
            return refuse(reader, error, bracket, "too many brackets are open");
        reader->opened[reader->depth++] = *bracket;
    } else if (reader->depth == 0 || reader->opened[--reader->depth] != opening[closes - closing]) {
        return refuse(reader, error, bracket, "the region closes what it has not opened");
    }
    return true;
}

static bool read_next(struct reader *reader, struct error *error)
{
    const char c = *reader->at;
    const bool line_begins = reader->line_begins;

    if (c == '\n' || isspace((unsigned char)c)) {
        reader->line += c == '\n';
        reader->line_begins |= c == '\n';
        reader->at++;
        return true;
    }
    if (is_at(reader, "/*"))
        return skip_comment(reader, error);
    if (is_at(reader, "//")) {
        skip_line(reader);
        return reader->at == reader->end || reader->at[-1] != '\\' ||
               refuse(reader, error, "\\", "this comment goes on in the next line");
    }
    reader->line_begins = false;
    if (c == '#' && line_begins)
        return read_directive(reader, error);
    if (is_at(reader, "%:") || is_at(reader, "<%") || is_at(reader, "%>") || is_at(reader, "??"))
        return refuse(reader, error, "%: <% %> ??", "write the characters that these stand for");
    if (c == '"' || c == '\'')
        return skip_quoted(reader, error);
    if (c == '\\')
        return refuse(reader, error, "\\", "it stands in no text");
    if (isalpha((unsigned char)c) || c == '_')
        return read_word(reader, error);
    if (isdigit((unsigned char)c)) { /* 1'000 is a number */
        while (reader->at < reader->end && (isalnum((unsigned char)*reader->at) || strchr("'._", *reader->at)))
            reader->at++;
        return true;
    }
    if (strchr("(){}[]", c))
        return read_bracket(reader, error);
    reader->at++;
    return true;
}

static bool check_region(const struct text *text, const struct region *region, struct error *error)
{
    struct reader reader = {.at = text->text + region->begin,
                            .end = text->text + region->end,
                            .path = text->path,
                            .line = region->first_line,
                            .line_begins = true};

    while (reader.at < reader.end)
        if (!read_next(&reader, error))
            return false;
    return reader.depth == 0 || refuse(&reader, error, region->name, "the region opens more than it closes");
}

bool answer_rules_check(const struct text *text, struct error *error)
{
    struct regions regions;

    if (!regions_find(text, &regions, error))
        return false;
    for (int i = 0; i < regions.count; i++)
        if (!check_region(text, &regions.region[i], error))
            return false;
    return true;
}
