/**
 * @file source.c
 * @brief Reads a kernel file, separates its code from comments and literals, and writes the output with all insertions.
 */
#include "source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fail(const struct source *source, size_t at, const char *what)
{
    size_t line = 0; /* 0: the #line directive, the first line of the text, is not in the file */

    for (size_t i = 0; i < at; i++)
        line += source->text[i] == '\n';
    fprintf(stderr, "%s:%zu: %s\n", source->path, line, what);
    return false;
}

bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

bool starts_with(const char *text, const char *prefix)
{
    return *text == *prefix && strncmp(text, prefix, strlen(prefix)) == 0;
}

/* --- code, comments and literals ---------------------------------------------------------------------------------- */

/** Returns the end of the comment that starts at `at`, or NOWHERE if the comment is not closed. */
static size_t comment_end(const char *text, size_t at)
{
    if (text[at + 1] == '*') {
        const char *end = strstr(text + at + 2, "*/");
        return end ? (size_t)(end - text) + 2 : NOWHERE;
    }
    while (text[at] && (text[at] != '\n' || text[at - 1] == '\\'))
        at++;
    return at;
}

/** Returns the end of the raw string whose opening quote is at `at`, or NOWHERE if the string is not closed. */
static size_t raw_string_end(const char *text, size_t at)
{
    const int delimiter = (int)strcspn(text + at + 1, "( \n");
    char close[20]; /* a delimiter has at most 16 characters */

    snprintf(close, sizeof(close), ")%.*s\"", delimiter, text + at + 1);
    const char *end = delimiter > 16 ? NULL : strstr(text + at + 1 + delimiter, close);
    return end ? (size_t)(end - text) + strlen(close) : NOWHERE;
}

/**
 * Returns the end of the string or character literal at `at`. A literal without a closing quote ends with its line, and
 * the compiler will report it.
 */
static size_t literal_end(const char *text, size_t at)
{
    const char quote = text[at++];

    while (text[at] && text[at] != quote && text[at] != '\n')
        at += text[at] == '\\' && text[at + 1] ? 2 : 1;
    return text[at] == quote ? at + 1 : at;
}

size_t word_end(const char *text, size_t at)
{
    const bool number = isdigit((unsigned char)text[at]);

    while (is_word(text[at]) || (number && text[at] == '\'' && is_word(text[at + 1])))
        at++;
    return at;
}

size_t word_begin(const char *text, size_t end)
{
    while (end > 0 && is_word(text[end - 1]))
        end--;
    return end;
}

/** Returns whether the word of `length` characters and the quote after it start a raw string. */
static bool starts_raw_string(const char *word, size_t length)
{
    static const char *const prefixes[] = {"R\"", "LR\"", "uR\"", "UR\"", "u8R\""};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strlen(prefixes[i]) == length + 1 && starts_with(word, prefixes[i]))
            return true;
    return false;
}

/**
 * Returns the end of the comment, literal, space or code at `at`, or NOWHERE if a comment or a raw string is not
 * closed. *fill is the character that replaces this stretch in source->code, or '\0' for code.
 */
static size_t stretch_end(const char *text, size_t at, char *fill)
{
    *fill = ' ';
    if (isspace((unsigned char)text[at]))
        return at + 1;
    if (starts_with(text + at, "\\\n"))
        return at + 2;
    if (starts_with(text + at, "//") || starts_with(text + at, "/*"))
        return comment_end(text, at);
    *fill = '"';
    if (text[at] == '"' || text[at] == '\'')
        return literal_end(text, at);
    *fill = '\0';
    if (!is_word(text[at]))
        return at + 1;
    const size_t end = word_end(text, at);
    if (!starts_raw_string(text + at, end - at))
        return end;
    *fill = '"';
    return raw_string_end(text, end);
}

bool find_code(struct source *source)
{
    bool line_is_blank = true, directive = false;

    for (size_t at = 0, end; at < source->size; at = end) {
        const bool newline = source->text[at] == '\n';
        char fill;

        end = stretch_end(source->text, at, &fill);
        if (end == NOWHERE)
            return fail(source, at, "a comment or a raw string has no end");
        memcpy(source->code + at, source->text + at, end - at);
        if (fill)
            memset(source->code + at, newline && directive ? '\n' : fill, end - at);
        directive = !newline && (directive || (line_is_blank && source->text[at] == '#'));
        line_is_blank = newline || (line_is_blank && fill == ' ');
    }
    source->code[source->size] = '\0';
    return true;
}

/* --- macros that quote their arguments -------------------------------------------------------------------------- */

void find_quoting(struct source *source)
{
    const char *const code = source->code;

    for (size_t at = 0; code[at]; at++) {
        const size_t word = code[at] == '#' ? skip_space(code, at + 1) : at;
        const size_t name = is_word_at(code, word, "define") ? skip_space(code, word_end(code, word)) : NOWHERE;

        if (code[at] != '#' || name == NOWHERE || code[word_end(code, name)] != '(')
            continue;
        for (at = word_end(code, name); code[at] && code[at] != '\n'; at++) {
            const bool quotes = code[at] == '#' && code[at - 1] != '#' && is_word(code[skip_space(code, at + 1)]);

            if (quotes && source->quoting_count < MAX_QUOTING) {
                source->quoting[source->quoting_count++] = name;
                break;
            }
        }
        at += strcspn(code + at, "\n") - 1;
    }
}

bool quotes_arguments(const struct source *source, size_t at)
{
    const char *const code = source->code;
    const size_t end = word_end(code, at), open = skip_space(code, end);
    const size_t close = code[open] == '(' ? partner(code, open, 1) : NOWHERE;
    bool quotes = is_word_at(code, at, "assert");

    for (size_t i = 0; i < source->quoting_count && close != NOWHERE; i++) {
        const size_t name = source->quoting[i];

        quotes = quotes || (name != at && word_end(code, name) - name == end - at &&
                            strncmp(code + name, code + at, end - at) == 0);
    }
    for (size_t i = open; quotes && close != NOWHERE && i < close; i++)
        quotes = !starts_with(code + i, "<<<");
    return quotes && close != NOWHERE;
}

/* --- braces ------------------------------------------------------------------------------------------------------- */

/** The braces that are open at some position. */
struct braces {
    int count;
    size_t outermost;
};

static struct braces fewer(struct braces a, struct braces b)
{
    return a.count < b.count ? a : b;
}

static void step_over_brace(char c, size_t at, struct braces *open)
{
    if (c == '{' && open->count++ == 0)
        open->outermost = at;
    else if (c == '}' && open->count > 0)
        open->count--;
}

/**
 * Returns the braces that are open at the end of the file. After a conditional, this function assumes the fewest that
 * can be open, so that it counts none in code that compiles. Sets *in_macro if a directive's braces are not balanced.
 */
static struct braces open_at_end(const char *code, bool *in_macro)
{
    struct braces open = {0}, before[MAX_CONDITIONALS], least[MAX_CONDITIONALS];
    int conditionals = 0;

    for (size_t at = 0; code[at]; at++) {
        const size_t word = code[at] == '#' ? skip_space(code, at + 1) : at;
        const int last = conditionals - 1;
        int inside = 0;

        if (code[at] != '#') {
            step_over_brace(code[at], at, &open);
            continue;
        }
        if (starts_with(code + word, "if") && conditionals < MAX_CONDITIONALS) {
            before[conditionals] = least[conditionals] = open;
            conditionals++;
        } else if (starts_with(code + word, "el") && last >= 0) {
            least[last] = fewer(least[last], open);
            open = before[last];
        } else if (starts_with(code + word, "endif") && last >= 0) {
            open = fewer(least[last], open);
            conditionals--;
        }
        for (; code[at + 1] && code[at + 1] != '\n'; at++)
            inside += (code[at + 1] == '{') - (code[at + 1] == '}');
        *in_macro |= inside != 0;
    }
    return open;
}

/** Returns the first comment after `at` that contains the start of another comment, or NOWHERE. */
static size_t find_swallowed_comment(const char *text, size_t at)
{
    for (size_t end; text[at]; at = end) {
        const char *inner;
        char fill;

        end = stretch_end(text, at, &fill);
        inner = starts_with(text + at, "/*") ? strstr(text + at + 2, "/*") : NULL;
        if (inner && inner < text + end)
            return at;
    }
    return NOWHERE;
}

bool check_braces(const struct source *source)
{
    bool in_macro = false;
    const struct braces open = open_at_end(source->code, &in_macro);
    size_t comment;

    if (open.count == 0 || in_macro)
        return true;
    comment = find_swallowed_comment(source->text, open.outermost);
    return comment == NOWHERE ? fail(source, open.outermost, "this { is never closed")
                              : fail(source, comment, "this comment contains another /*: is its own */ missing?");
}

/* --- walking through code ----------------------------------------------------------------------------------------- */

size_t skip_space(const char *code, size_t at)
{
    return at + strspn(code + at, " ");
}

size_t skip_space_back(const char *code, size_t at)
{
    while (at > 0 && code[at - 1] == ' ')
        at--;
    return at;
}

bool is_one_of(char c, const char *characters)
{
    return c && strchr(characters, c);
}

size_t partner(const char *code, size_t at, int step)
{
    const char *openers = step > 0 ? "([{<" : ")]}>", *closers = step > 0 ? ")]}>" : "([{<";
    char close[MAX_DEPTH] = {closers[strchr(openers, code[at]) - openers]};
    int depth = 0;

    for (at += step; code[at] && code[at] != '\n'; at += step) {
        const bool angle = is_one_of(close[depth], "<>");
        const char c = code[at];

        if (is_one_of(c, "<>") && (!angle || (c == '>' && code[at - 1] == '-')))
            continue;
        if (c == '<' && code[at + step] == '<') {
            at += step;
        } else if (c == close[depth]) {
            if (depth-- == 0)
                return at;
        } else if (is_one_of(c, closers) || (angle && c == ';')) {
            return NOWHERE;
        } else if (is_one_of(c, openers)) {
            if (++depth == MAX_DEPTH)
                return NOWHERE;
            close[depth] = closers[strchr(openers, c) - openers];
        }
    }
    return NOWHERE;
}

bool is_word_at(const char *code, size_t at, const char *word)
{
    return starts_with(code + at, word) && !is_word(code[at + strlen(word)]) && (at == 0 || !is_word(code[at - 1]));
}

size_t find_before(const char *code, size_t at, const char *word)
{
    while (at > 0 && !is_one_of(code[at - 1], ";{}\n"))
        if (is_word_at(code, --at, word))
            return at;
    return NOWHERE;
}

bool has_word(const char *code, size_t begin, size_t end, const char *const *words)
{
    for (size_t at = begin; at < end; at++)
        for (size_t i = 0; words[i]; i++)
            if (is_word_at(code, at, words[i]))
                return true;
    return false;
}

bool is_keyword_before_value(const char *code, size_t end)
{
    static const char *const words[] = {"return", "case", "else", "do"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (end >= strlen(words[i]) && is_word_at(code, end - strlen(words[i]), words[i]))
            return true;
    return false;
}

bool begins_declaration(const char *code, size_t at)
{
    size_t end = at = skip_space(code, at);

    while (is_word(code[end]) || code[end] == ':')
        end++;
    if (end == at || is_keyword_before_value(code, end))
        return false;
    at = skip_space(code, end);
    if (code[at] == '<' && partner(code, at, 1) != NOWHERE)
        at = partner(code, at, 1) + 1;
    return is_word(code[at + strspn(code + at, " *&")]);
}

bool may_be_fold(const char *code, size_t at)
{
    enum { LENGTH = 1000 }; /* of a fold expression, so that long expressions are rewritten in linear time */
    const size_t middle = at, begin = at < LENGTH ? 0 : at - LENGTH;

    if (!memmem(code + begin, strnlen(code + begin, 2 * LENGTH), "...", 3))
        return false;
    while (at > 0 && middle - at < LENGTH && !is_one_of(code[at - 1], "([{;}\n")) {
        const size_t open = is_one_of(code[at - 1], ")]") ? partner(code, at - 1, -1) : at - 1;

        at = open == NOWHERE ? at - 1 : open;
    }
    for (; code[at] && at < middle + LENGTH && !is_one_of(code[at], ")]};\n"); at++) {
        const size_t close = is_one_of(code[at], "([{") ? partner(code, at, 1) : NOWHERE;

        if (starts_with(code + at, "..."))
            return true;
        at = close == NOWHERE ? at : close;
    }
    return false;
}

bool ends_value(const char *code, size_t end)
{
    end = skip_space_back(code, end);
    return end > 0 &&
           (is_one_of(code[end - 1], ")]\"") || (is_word(code[end - 1]) && !is_keyword_before_value(code, end)));
}

bool may_enclose_declarator(const char *code, size_t open)
{
    const size_t end = skip_space_back(code, open);

    return end > 0 && (is_word(code[end - 1]) || is_one_of(code[end - 1], "*&>,")) &&
           !is_keyword_before_value(code, end);
}

/**
 * Returns the start of the operand whose closing parenthesis is at `close`: a call, a cast, or an expression in
 * parentheses. Returns NOWHERE if a subscript follows (`is_last`) and the parentheses may belong to a declaration, such
 * as `int (&name)[2]`.
 */
static size_t parentheses_begin(const char *code, size_t close, bool is_last)
{
    static const char *const no_callees[] = {"if", "while", "for", "switch", "sizeof", "alignof", "decltype", NULL};
    const size_t open = partner(code, close, -1);

    if (open == NOWHERE)
        return NOWHERE;
    const size_t first = skip_space(code, open + 1);
    const size_t callee_end = code[open - 1] == '>' ? partner(code, open - 1, -1) : open;

    if (callee_end == NOWHERE || (is_last && (code[first] == '&' || skip_space(code, word_end(code, first)) == close ||
                                              (code[first] == '*' && may_enclose_declarator(code, open)))))
        return NOWHERE;
    const size_t begin = word_begin(code, callee_end);

    if (has_word(code, begin, callee_end, no_callees))
        return NOWHERE;
    return is_keyword_before_value(code, callee_end) ? callee_end : begin;
}

size_t chain_begin(const char *code, size_t at)
{
    for (size_t begin = at;;) {
        size_t end = skip_space_back(code, begin);

        while (code[end - 1] == ']' && partner(code, end - 1, -1) != NOWHERE)
            end = skip_space_back(code, partner(code, end - 1, -1));
        if (code[end - 1] == ')') {
            begin = parentheses_begin(code, end - 1, end == skip_space_back(code, at));
            if (begin == NOWHERE)
                return at;
        } else {
            begin = word_begin(code, end);
            if (begin == end || isdigit((unsigned char)code[begin]))
                return at;
        }
        size_t before = skip_space_back(code, begin);

        while (starts_with(code + before - 2, "::")) {
            begin = word_begin(code, before - 2);
            if (code[begin - 1] == '>')
                return at;
            before = skip_space_back(code, begin);
        }
        if (code[before - 1] != '.' && !starts_with(code + before - 2, "->"))
            return begin;
        begin = before - (code[before - 1] == '.' ? 1 : 2);
    }
}

/* --- output ----------------------------------------------------------------------------------------------------- */

/** Compares insertions by position, and insertions at the same position by the order in which they were made. */
static int compare_insertions(const void *left, const void *right)
{
    const struct insertion *a = left, *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

bool reserve_entry(const struct source *source, size_t at, void **entries, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return true;
    void *const larger = realloc(*entries, (2 * *room + 64) * bytes);

    if (!larger)
        return fail(source, at, "out of memory");
    *entries = larger;
    *room = 2 * *room + 64;
    return true;
}

bool insert(struct source *source, size_t at, const char *text)
{
    if (!reserve_entry(source, at, (void **)&source->insertions, source->insertion_count, &source->insertion_room,
                       sizeof *source->insertions))
        return false;
    source->insertions[source->insertion_count] = (struct insertion){at, source->insertion_count, text};
    source->insertion_count++;
    return true;
}

void sort_insertions(struct source *source)
{
    const size_t first = source->inserted;

    if (source->insertion_count > first)
        qsort(source->insertions + first, source->insertion_count - first, sizeof *source->insertions,
              compare_insertions);
}

static void copy_text(struct source *source, size_t end)
{
    if (end <= source->copied)
        return;
    fwrite(source->text + source->copied, 1, end - source->copied, stdout);
    source->copied = end;
}

/** Writes the text up to `end`, and the insertions before `end` or, if `at_end`, also those at `end`. */
static void copy_insertions(struct source *source, size_t end, bool at_end)
{
    for (; source->inserted < source->insertion_count; source->inserted++) {
        const struct insertion *next = &source->insertions[source->inserted];

        if (next->at > end || (next->at == end && !at_end))
            break;
        copy_text(source, next->at);
        fputs(next->text, stdout);
    }
    copy_text(source, end);
}

void copy_to(struct source *source, size_t end)
{
    copy_insertions(source, end, true);
}

void copy_before(struct source *source, size_t end)
{
    copy_insertions(source, end, false);
}

void replace(struct source *source, size_t begin, size_t end, const char *text)
{
    copy_to(source, begin);
    fputs(text, stdout);
    source->copied = end;
}

/* --- input ------------------------------------------------------------------------------------------------------ */

bool read_source(struct source *source, FILE *file)
{
    size_t capacity = 1 << 12, header = strlen(source->path) + 16;

    for (;;) {
        char *larger = realloc(source->text, capacity + header);
        if (!larger)
            return false;
        source->text = larger;
        if (source->size == 0)
            source->size = (size_t)sprintf(source->text, "#line 1 \"%s\"\n", source->path);
        source->size += fread(source->text + source->size, 1, capacity + header - 1 - source->size, file);
        if (source->size < capacity + header - 1)
            break;
        capacity *= 2;
    }
    source->text[source->size] = '\0';
    source->code = malloc(source->size + 1);
    return source->code && !ferror(file);
}

void write_line(const struct source *source, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        const char c = source->code[at] == ' ' ? ' ' : source->text[at];

        if (c == '\\' && source->text[at + 1] == '\n')
            at++;
        else if (c != '\n')
            putchar(c);
    }
}
