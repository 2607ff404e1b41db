#include "code_text.h"

#include "text_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum kind { PLAIN, COMMENT, KEYWORD, DIRECTIVE, LITERAL };

static const char *const classes[] = {"", "comment", "keyword", "preprocessor", "stringliteral"}; /* Doxygen's names */

static const char *const keywords[] = {
    "__device__",
    "__forceinline__",
    "__global__",
    "__host__",
    "__launch_bounds__",
    "__shared__",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "true",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "void",
    "volatile",
    "while",
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_keyword(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strlen(keywords[i]) == length && strncmp(text, keywords[i], length) == 0)
            return true;
    return false;
}

/** The length of a quoted literal, up to the end of its line at most. */
static size_t literal_length(const char *text)
{
    size_t i = 1;

    while (text[i] && text[i] != '\n' && text[i] != *text)
        i += 1 + (text[i] == '\\' && text[i + 1] && text[i + 1] != '\n');
    return i + (text[i] == *text);
}

static size_t comment_length(const char *text)
{
    const char *const end = text[1] == '/' ? strchr(text, '\n') : strstr(text + 2, "*/");

    return !end ? strlen(text) : (size_t)(end - text) + (text[1] == '*' ? 2 : 0);
}

/** The kind and the length of what begins at `text`. */
static size_t next_piece(const char *text, bool first_in_line, enum kind *kind)
{
    size_t length = 1;

    *kind = PLAIN;
    if (*text == '/' && (text[1] == '/' || text[1] == '*')) {
        *kind = COMMENT;
        return comment_length(text);
    }
    if (*text == '"' || *text == '\'') {
        *kind = LITERAL;
        return literal_length(text);
    }
    if (*text == '#' && first_in_line) {
        *kind = DIRECTIVE;
        length += strspn(text + length, " ");
        while (is_word(text[length]))
            length++;
    } else if (is_word(*text)) {
        while (is_word(text[length]))
            length++;
        *kind = is_keyword(text, length) ? KEYWORD : PLAIN;
    }
    return length;
}

static void find_kinds(struct code_text *code)
{
    bool first_in_line = true;

    for (const char *at = code->text; *at;) {
        enum kind kind;
        const size_t length = next_piece(at, first_in_line, &kind);

        memset(code->kinds + (at - code->text), kind, length);
        first_in_line = *at == '\n' || (first_in_line && isspace((unsigned char)*at));
        at += length;
    }
}

static void find_lines(struct code_text *code)
{
    code->starts[1] = 0;
    for (size_t i = 0; code->text[i]; i++)
        if (code->text[i] == '\n')
            code->starts[++code->num_lines + 1] = i + 1;
    if (code->text[code->starts[code->num_lines + 1]]) { /* a last line without a newline */
        code->num_lines++;
        code->starts[code->num_lines + 1] = strlen(code->text) + 1;
    }
}

bool code_text_read(const char *path, struct code_text *code, struct error *error)
{
    *code = (struct code_text){.text = text_file_read(path, error)};
    if (!code->text)
        return false;

    const size_t bytes = strlen(code->text) + 1;

    code->kinds = calloc(bytes, sizeof *code->kinds);
    code->marked = calloc(bytes, sizeof *code->marked);
    code->starts = calloc(bytes + 2, sizeof *code->starts);
    if (!code->kinds || !code->marked || !code->starts) {
        code_text_free(code);
        return error_set(error, "out of memory for %s", path);
    }
    find_kinds(code);
    find_lines(code);
    return true;
}

void code_text_free(struct code_text *code)
{
    free(code->text);
    free(code->kinds);
    free(code->marked);
    free(code->starts);
    *code = (struct code_text){0};
}

size_t code_text_length(const struct code_text *code, int line)
{
    return code->starts[line + 1] - code->starts[line] - 1;
}

void code_write_escaped(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '&')
            fputs("&amp;", out);
        else if (text[i] == '<')
            fputs("&lt;", out);
        else if (text[i] == '>')
            fputs("&gt;", out);
        else if (text[i] == '"')
            fputs("&quot;", out);
        else if (text[i] == '*') /* Doxygen looks for the ends of comments, wherever they stand */
            fputs("&#42;", out);
        else
            fputc(text[i], out);
    }
}

static void write_run(FILE *out, const struct code_text *code, size_t start, size_t length)
{
    const unsigned char kind = code->kinds[start];

    fputs(code->marked[start] ? "<mark>" : "", out);
    if (kind != PLAIN)
        fprintf(out, "<span class=\"%s\">", classes[kind]);
    code_write_escaped(out, code->text + start, length);
    fputs(kind != PLAIN ? "</span>" : "", out);
    fputs(code->marked[start] ? "</mark>" : "", out);
}

void code_text_write(FILE *out, const struct code_text *code, int line)
{
    const size_t end = code->starts[line] + code_text_length(code, line);

    for (size_t start = code->starts[line], next; start < end; start = next) {
        next = start + 1;
        while (next < end && code->kinds[next] == code->kinds[start] && code->marked[next] == code->marked[start])
            next++;
        write_run(out, code, start, next - start);
    }
}
