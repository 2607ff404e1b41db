#include "answer_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 256 };

static const char small_letters[] = "abcdefghijklmnopqrstuvwxyz";

/** How far a region was read. */
struct reader {
    const char *at, *end;
    const struct text *text;
    const struct regions *regions;
    const char *path; /**< the line's, as `#line` has it */
    char path_text[512];
    int line;
    bool line_begins; /**< nothing but white space and comments so far */
    bool capitals;    /**< the last token is a word in capitals: a macro's name, perhaps */
    int call_depth;   /**< of the first open bracket that may be a macro's; 0: there is none */
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

static size_t word_length(const char *at)
{
    size_t length = 0;

    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t");
}

/* --- what is skipped ---------------------------------------------------------------------------------------------- */

/** Moves on to where a comment ends. A backslash would make a compiler see another end than this does. */
static bool skip_comment(struct reader *reader, const char *end, struct error *error)
{
    const struct reader began = *reader;

    for (reader->at += 2; reader->at < reader->end && !is_at(reader, end); reader->at++) {
        if (*reader->at == '\\' && reader->at[1 + strspn(reader->at + 1, " \t\v\f\r")] == '\n')
            return refuse(reader, error, "\\", "this comment goes on in the next line");
        reader->line += *reader->at == '\n';
    }
    if (reader->at == reader->end)
        return *end == '\n' || refuse(&began, error, "/*", "the region has no end of this comment");
    reader->at += *end == '\n' ? 0 : 2;
    return true;
}

/** A text or a character. */
static bool skip_quoted(struct reader *reader, struct error *error)
{
    const char quote[2] = {*reader->at, '\0'};

    for (reader->at++; reader->at < reader->end && *reader->at != *quote && *reader->at != '\n'; reader->at++)
        reader->at += *reader->at == '\\' && reader->at[1] != '\n';
    if (reader->at == reader->end || *reader->at == '\n')
        return refuse(reader, error, quote, "it has no end in its line");
    reader->at++;
    return true;
}

/* --- directives --------------------------------------------------------------------------------------------------- */

static bool read_next(struct reader *reader, struct error *error);

static bool is_outside(const struct reader *reader, const char *word, size_t length)
{
    const struct region *region = reader->regions->region;
    const struct region *const last = region + reader->regions->count;
    size_t next = 0;

    for (size_t at = 0; at < reader->text->size; at += next) {
        const char *const here = reader->text->text + at;

        for (; region < last && at >= region->end; region++)
            continue;
        next = word_length(here);
        if ((region == last || at < region->begin) && next == length && memcmp(here, word, length) == 0)
            return true;
        next += next == 0;
    }
    return false;
}

/** What follows in the line of a directive, which ends what it begins. */
static bool read_rest(struct reader *reader, struct error *error)
{
    struct reader line = *reader;

    line.end = reader->at + strcspn(reader->at, "\n");
    line.depth = 0;
    while (line.at < line.end) {
        if (is_at(&line, "##"))
            return refuse(reader, error, "##", "a macro of an answer makes no words");
        if (!read_next(&line, error))
            return false;
    }
    reader->at = line.end;
    return line.depth == 0 || refuse(reader, error, "#", "the line opens more than it closes");
}

/** A macro changes nothing that is not the learner's. */
static bool read_macro(struct reader *reader, struct error *error)
{
    const char *const name = reader->at;
    const size_t length = word_length(name);

    if (!isupper((unsigned char)*name) || strcspn(name, small_letters) < length || is_outside(reader, name, length))
        return refuse(reader, error, "#define",
                      "a macro has a name in capitals that the rest of the file does not have");
    return read_rest(reader, error);
}

/** `#line N "path"` is regions_fill()'s; `#pragma unroll` is a loop's. */
static bool read_directive(struct reader *reader, struct error *error)
{
    const char *const begin = reader->at++;
    char line[600];
    int number;

    skip_blanks(reader);

    const size_t length = word_length(reader->at);
    const bool defines = is_at(reader, "define ") || is_at(reader, "undef "), pragma = is_at(reader, "pragma ");

    reader->at += length;
    skip_blanks(reader);
    if (defines)
        return read_macro(reader, error);
    if (pragma && word_length(reader->at) == 6 && is_at(reader, "unroll"))
        return read_rest(reader, error);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(begin, "\n"), begin);
    if (sscanf(line, "#line %d \"%511[^\"]\"", &number, reader->path_text) == 2) {
        reader->path = reader->path_text;
        reader->line = number - 1; /* the line break behind it counts */
        reader->at = begin + strcspn(begin, "\n");
        return true;
    }
    line[40] = '\0';
    return refuse(reader, error, line, "a region has no preprocessor lines but macros and #pragma unroll");
}

/* --- words and brackets ------------------------------------------------------------------------------------------- */

static bool read_word(struct reader *reader, struct error *error)
{
    static const char *const words[] = {"asm",     "__asm", "__asm__", "__attribute", "__attribute__",
                                        "_Pragma", "gnu",   "__gnu__", "clang",       "_Clang"};
    static const char *const beginnings[] = {"simt_", "SIMT_", "__tsan", "__sanitizer"};
    const size_t length = word_length(reader->at);
    char word[64];

    snprintf(word, sizeof word, "%.*s", (int)length, reader->at);
    reader->at += length;
    reader->capitals = isupper((unsigned char)word[0]) && !strpbrk(word, small_letters);
    if (reader->at[0] == '"' && reader->at[-1] == 'R')
        return refuse(reader, error, word, "a region has no raw strings");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return refuse(reader, error, word,
                          "what a kernel does is written in CUDA C here, so that it can be counted");
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(word, beginnings[i], strlen(beginnings[i])) == 0)
            return refuse(reader, error, word, "this is the simulator's, and no part of CUDA");
    return true;
}

/** What a macro is given has no braces: it could put them in another order, and the region would end elsewhere. */
static bool read_bracket(struct reader *reader, bool called, struct error *error)
{
    static const char opening[] = "({[", closing[] = ")}]";
    const char *const opens = strchr(opening, *reader->at), *const closes = strchr(closing, *reader->at);
    const char bracket[2] = {*reader->at, '\0'};

    reader->at++;
    if (reader->call_depth && (*bracket == '{' || *bracket == '}'))
        return refuse(reader, error, bracket, "what stands between a macro's brackets has no braces");
    if (opens) {
        if (reader->depth == MAX_DEPTH)
            return refuse(reader, error, bracket, "too many brackets are open");
        reader->opened[reader->depth++] = *bracket;
        if (called)
            reader->call_depth = reader->depth;
    } else if (reader->depth == 0 || reader->opened[--reader->depth] != opening[closes - closing]) {
        return refuse(reader, error, bracket, "the region closes what it has not opened");
    } else if (reader->depth < reader->call_depth) {
        reader->call_depth = 0;
    }
    return true;
}

/** What is no comment and no directive. */
static bool read_token(struct reader *reader, struct error *error)
{
    const char c = *reader->at;
    const bool called = c == '(' && reader->capitals && !reader->call_depth;

    reader->capitals = false;
    if (is_at(reader, "%:") || is_at(reader, "<%") || is_at(reader, "%>") || is_at(reader, "??"))
        return refuse(reader, error, "%: <% %> ??", "write the characters that these stand for");
    if (strchr("(){}[]", c))
        return read_bracket(reader, called, error);
    if (isalpha((unsigned char)c) || c == '_')
        return read_word(reader, error);
    if (c == '"' || c == '\'')
        return skip_quoted(reader, error);
    if (c == '\\')
        return refuse(reader, error, "\\", "outside of a text there is none; a macro is one line");
    if (isdigit((unsigned char)c)) /* 1'000 is a number */
        reader->at += strspn(reader->at, "0123456789'._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    else
        reader->at++;
    return true;
}

static bool read_next(struct reader *reader, struct error *error)
{
    const char c = *reader->at;
    const bool line_begins = reader->line_begins;

    if (isspace((unsigned char)c)) {
        reader->line += c == '\n';
        reader->line_begins |= c == '\n';
        reader->at++;
        return true;
    }
    if (is_at(reader, "/*"))
        return skip_comment(reader, "*/", error);
    if (is_at(reader, "//"))
        return skip_comment(reader, "\n", error);
    reader->line_begins = false;
    return c == '#' && line_begins ? read_directive(reader, error) : read_token(reader, error);
}

static bool check_region(const struct text *text, const struct regions *regions, const struct region *region,
                         struct error *error)
{
    struct reader reader = {.at = text->text + region->begin,
                            .end = text->text + region->end,
                            .text = text,
                            .regions = regions,
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
        if (!check_region(text, &regions, &regions.region[i], error))
            return false;
    return true;
}
