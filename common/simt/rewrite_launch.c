/**
 * @file rewrite_launch.c
 * @brief Turns the two things in a kernel file that are not C++ into C++, and leaves every line where it was.
 *
 *     rewrite_launch FILE.cu > FILE.cc
 *
 *     kernel<T><<<grid, block, smem, stream>>>(args)   ->   simt_launch((kernel<T>), "kernel<T>", grid, block, smem, stream)(args)
 *     extern __shared__ T name[];                      ->   extern __thread T name[] __asm__("simt_dynamic_shared");
 *
 * Anything it cannot rewrite is an error, one line: FILE:LINE: what is wrong. Exit 1.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What a character of the source belongs to. A directive's characters carry DIRECTIVE as well. */
enum { CODE = 1, SPACE = 2, LITERAL = 4, DIRECTIVE = 8 };

#define NOWHERE SIZE_MAX

struct source {
    const char *path;
    char *text; /* `size` characters and a terminating 0 */
    unsigned char *kind;
    size_t size;
    size_t copied; /* how much of the text is already in the output */
};

static bool fail(const struct source *source, size_t at, const char *what)
{
    size_t line = 1;

    for (size_t i = 0; i < at; i++)
        line += source->text[i] == '\n';
    fprintf(stderr, "%s:%zu: %s\n", source->path, line, what);
    return false;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_code(const struct source *source, size_t at)
{
    return at < source->size && source->kind[at] & CODE;
}

/** Whether `word` stands at `at`, character by character, as code. */
static bool code_is(const struct source *source, size_t at, const char *word)
{
    return is_code(source, at) && strncmp(source->text + at, word, strlen(word)) == 0;
}

/** The first character at or after `at`, before `end`, that is neither white space nor comment; else `end`. */
static size_t skip_space(const struct source *source, size_t at, size_t end)
{
    while (at < end && source->kind[at] & SPACE)
        at++;
    return at;
}

/** The end of the text before `at` that is neither white space nor comment. */
static size_t skip_space_back(const struct source *source, size_t at)
{
    while (at > 0 && source->kind[at - 1] & SPACE)
        at--;
    return at;
}

/** The end of the word or number that starts at `at`. */
static size_t word_end(const struct source *source, size_t at)
{
    const char *text = source->text;
    const bool number = isdigit((unsigned char)text[at]);

    while (is_word(text[at]) || (number && text[at] == '\'' && is_word(text[at + 1])))
        at++;
    return at;
}

static bool word_is(const struct source *source, size_t begin, size_t end, const char *word)
{
    return end - begin == strlen(word) && memcmp(source->text + begin, word, end - begin) == 0;
}

/** Where a macro's body ends for a character inside one; the end of the file for any other. */
static size_t region_end(const struct source *source, size_t at)
{
    if (!(source->kind[at] & DIRECTIVE))
        return source->size;
    while (at < source->size && source->kind[at] & DIRECTIVE)
        at++;
    return at;
}

/* --- what is code, what is not -------------------------------------------------------------------------------------- */

/** The end of the comment that starts at `at`, or NOWHERE. */
static size_t comment_end(const struct source *source, size_t at)
{
    const char *text = source->text;

    if (text[at + 1] == '*') {
        const char *end = strstr(text + at + 2, "*/");
        return end ? (size_t)(end - text) + 2 : NOWHERE;
    }
    while (at < source->size && !(text[at] == '\n' && text[at - 1] != '\\'))
        at++;
    return at;
}

/** The end of the raw string whose quote is at `at`, or NOWHERE. */
static size_t raw_string_end(const struct source *source, size_t at)
{
    const char *open = strchr(source->text + at, '(');
    const size_t delimiter = open ? (size_t)(open - source->text) - at - 1 : 0;
    char close[20];

    if (!open || delimiter > 16)
        return NOWHERE;
    snprintf(close, sizeof(close), ")%.*s\"", (int)delimiter, source->text + at + 1);
    const char *end = strstr(open, close);
    return end ? (size_t)(end - source->text) + strlen(close) : NOWHERE;
}

/** The end of the string or character whose quote is at `at`. One left open ends with its line; the compiler will say so. */
static size_t literal_end(const struct source *source, size_t at)
{
    const char quote = source->text[at++];

    while (at < source->size && source->text[at] != quote && source->text[at] != '\n')
        at += source->text[at] == '\\' && at + 1 < source->size ? 2 : 1;
    return at < source->size && source->text[at] == quote ? at + 1 : at;
}

static bool is_raw_prefix(const struct source *source, size_t begin, size_t end)
{
    static const char *const prefixes[] = {"R", "u8R", "uR", "UR", "LR"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (word_is(source, begin, end, prefixes[i]))
            return source->text[end] == '"';
    return false;
}

/** The end of the stretch of one kind that starts at `at`, and that kind; NOWHERE if it never ends. */
static size_t stretch_end(const struct source *source, size_t at, unsigned char *kind)
{
    const char *text = source->text;

    *kind = SPACE;
    if (isspace((unsigned char)text[at]))
        return at + 1;
    if (text[at] == '\\' && text[at + 1] == '\n')
        return at + 2;
    if (text[at] == '/' && (text[at + 1] == '/' || text[at + 1] == '*'))
        return comment_end(source, at);
    *kind = LITERAL;
    if (text[at] == '"' || text[at] == '\'')
        return literal_end(source, at);
    *kind = CODE;
    if (!is_word(text[at]))
        return at + 1;
    const size_t end = word_end(source, at);
    if (!is_raw_prefix(source, at, end))
        return end;
    *kind = LITERAL;
    return raw_string_end(source, end);
}

static bool classify(struct source *source)
{
    bool line_is_blank = true, directive = false;

    for (size_t at = 0, end; at < source->size; at = end) {
        unsigned char kind;

        if (source->text[at] == '\n')
            directive = false;
        end = stretch_end(source, at, &kind);
        if (end == NOWHERE)
            return fail(source, at, kind == SPACE ? "comment without an end" : "raw string without an end");
        if (kind == CODE && source->text[at] == '#' && line_is_blank)
            directive = true;
        memset(source->kind + at, directive ? kind | DIRECTIVE : kind, end - at);
        line_is_blank = source->text[at] == '\n' || (line_is_blank && kind == SPACE);
    }
    return true;
}

/* --- brackets ------------------------------------------------------------------------------------------------------- */

/** The position after the bracket that closes the one at `at`, or NOWHERE. */
static size_t bracket_end(const struct source *source, size_t at, size_t end)
{
    size_t depth = 0;

    for (; at < end; at++) {
        if (!is_code(source, at))
            continue;
        if (strchr("([{", source->text[at]))
            depth++;
        else if (strchr(")]}", source->text[at]) && --depth == 0)
            return at + 1;
    }
    return NOWHERE;
}

/** The position of the bracket that opens the one just before `at`, or NOWHERE. */
static size_t bracket_begin(const struct source *source, size_t at)
{
    size_t depth = 0;

    while (at-- > 0) {
        if (!is_code(source, at))
            continue;
        if (strchr(")]}", source->text[at]))
            depth++;
        else if (strchr("([{", source->text[at]) && --depth == 0)
            return at;
    }
    return NOWHERE;
}

/** The position after the `>` that closes the `<` at `at` if that opens template arguments, or NOWHERE. */
static size_t template_end(const struct source *source, size_t at, size_t end)
{
    size_t depth = 0;

    while (at < end) {
        const char c = is_code(source, at) ? source->text[at] : ' ';

        if (strchr(";)]}", c))
            return NOWHERE;
        if (strchr("([{", c)) {
            at = bracket_end(source, at, end);
            continue; /* NOWHERE ends the loop */
        }
        if (code_is(source, at, "<<") || code_is(source, at, "->")) {
            at += 2;
            continue;
        }
        if (c == '<')
            depth++;
        else if (c == '>' && --depth == 0)
            return at + 1;
        at++;
    }
    return NOWHERE;
}

/** The position of the `<` that opens the template arguments closed just before `at`, or NOWHERE. */
static size_t template_begin(const struct source *source, size_t at)
{
    size_t depth = 0;

    while (at-- > 0) {
        const char c = is_code(source, at) ? source->text[at] : ' ';

        if (strchr(";([{", c))
            return NOWHERE;
        if (strchr(")]}", c)) {
            at = bracket_begin(source, at + 1);
            if (at == NOWHERE)
                return NOWHERE;
        } else if (at > 0 && (code_is(source, at - 1, "<<") || code_is(source, at - 1, "->"))) {
            at--;
        } else if (c == '>') {
            depth++;
        } else if (c == '<' && --depth == 0) {
            return at;
        }
    }
    return NOWHERE;
}

/* --- launches ------------------------------------------------------------------------------------------------------- */

/** The start of the kernel that ends at `end`: a::b<c>, table[i], object.kernel, or (anything); NOWHERE if there is none. */
static size_t kernel_begin(const struct source *source, size_t end)
{
    const char *text = source->text;
    size_t at = end;

    if (at > 0 && is_code(source, at - 1) && text[at - 1] == ')') {
        at = bracket_begin(source, at);
        const size_t before = at == NOWHERE ? 0 : skip_space_back(source, at);
        return before > 0 && is_word(text[before - 1]) ? NOWHERE : at; /* f(x)<<<...>>> is not understood */
    }
    for (;;) {
        while (at > 0 && is_code(source, at - 1) && strchr(">]", text[at - 1])) {
            at = text[at - 1] == '>' ? template_begin(source, at) : bracket_begin(source, at);
            if (at == NOWHERE)
                return NOWHERE;
            at = skip_space_back(source, at);
        }
        const size_t word = at;
        while (at > 0 && is_code(source, at - 1) && is_word(text[at - 1]))
            at--;
        if (at == word)
            return NOWHERE;
        const size_t before = skip_space_back(source, at);
        const bool global = before >= 2 && code_is(source, before - 2, "::");
        if (global || (before >= 2 && code_is(source, before - 2, "->")))
            at = before - 2;
        else if (before >= 1 && code_is(source, before - 1, "."))
            at = before - 1;
        else
            return at;
        const size_t outer = skip_space_back(source, at);
        if (global &&
            (outer == 0 || !is_code(source, outer - 1) || !(is_word(text[outer - 1]) || text[outer - 1] == '>')))
            return at;
        at = outer;
    }
}

/**
 * The position of the `>>>` that ends a launch configuration: the first one outside all brackets with a `(` after it. A `<`
 * is tried as the start of template arguments first and taken for "less than" if that leaves no end.
 */
static size_t configuration_end(const struct source *source, size_t at, size_t end)
{
    while (at < end) {
        const char c = is_code(source, at) ? source->text[at] : ' ';

        if (strchr(";)]}", c))
            return NOWHERE;
        if (strchr("([{", c)) {
            at = bracket_end(source, at, end);
            continue;
        }
        if (code_is(source, at, ">>>") && code_is(source, skip_space(source, at + 3, end), "("))
            return at;
        if (c == '<') {
            const size_t after = template_end(source, at, end);
            const size_t found = after == NOWHERE ? NOWHERE : configuration_end(source, after, end);
            if (found != NOWHERE)
                return found;
        }
        at++;
    }
    return NOWHERE;
}

static void copy_to(struct source *source, size_t end)
{
    fwrite(source->text + source->copied, 1, end - source->copied, stdout);
    source->copied = end;
}

/** Writes [begin, end) as the inside of a string: one space for white space and comments, quotes escaped. */
static void write_quoted(const struct source *source, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        if (source->kind[at] & SPACE) {
            if (!(source->kind[at - 1] & SPACE))
                putchar(' ');
            continue;
        }
        if (source->text[at] == '"' || source->text[at] == '\\')
            putchar('\\');
        putchar(source->text[at]);
    }
}

/** Rewrites the launch whose `<<<` is at `at`. */
static bool rewrite_launch(struct source *source, size_t at)
{
    const size_t end = region_end(source, at);
    const size_t kernel_stop = skip_space_back(source, at);
    const size_t kernel_start = kernel_begin(source, kernel_stop);
    const size_t close = configuration_end(source, at + 3, end);

    if (kernel_start == NOWHERE || kernel_start < source->copied)
        return fail(source, at, "<<< without a kernel's name, or an expression in parentheses, before it");
    if (close == NOWHERE)
        return fail(source, at, "<<< without a matching >>>( in the same statement");
    if (skip_space(source, at + 3, end) == close)
        return fail(source, at, "<<<>>> without a grid and a block");
    if (bracket_end(source, skip_space(source, close + 3, end), end) == NOWHERE)
        return fail(source, close, "the launch's argument list is not closed");

    copy_to(source, kernel_start);
    fputs("simt_launch((", stdout);
    copy_to(source, kernel_stop);
    fputs("), \"", stdout);
    write_quoted(source, kernel_start, kernel_stop);
    fputs("\", ", stdout);
    copy_to(source, at);
    source->copied = at + 3;
    copy_to(source, close);
    putchar(')');
    source->copied = close + 3;
    return true;
}

/* --- dynamic shared memory ------------------------------------------------------------------------------------------ */

/** The end of the alignas(...), __align__(...) or qualifier that starts at `at`; `at` if none does. */
static size_t qualifier_end(const struct source *source, size_t at, size_t end)
{
    const size_t word = word_end(source, at);

    if (word_is(source, at, word, "const") || word_is(source, at, word, "volatile"))
        return word;
    if (!word_is(source, at, word, "alignas") && !word_is(source, at, word, "__align__"))
        return at;
    const size_t open = skip_space(source, word, end);
    return code_is(source, open, "(") ? bracket_end(source, open, end) : at;
}

/** The `;` of a declaration of name[], or name[][N], whose type starts at `at`; NOWHERE for anything else. */
static size_t unsized_array_end(const struct source *source, size_t at, size_t end)
{
    bool unsized = false;

    while (at < end && !code_is(source, at, ";")) {
        const char c = is_code(source, at) ? source->text[at] : ' ';
        const size_t inside = c == '[' ? skip_space(source, at + 1, end) : NOWHERE;

        if (strchr("={}", c) || (unsized && source->kind[at] & CODE && c != '['))
            return NOWHERE;
        if (strchr("([", c)) {
            unsized = unsized || code_is(source, inside, "]");
            at = bracket_end(source, at, end);
        } else {
            at++;
        }
    }
    return at < end && unsized ? at : NOWHERE;
}

/**
 * Rewrites the declaration whose specifiers start at `at` if they hold both extern and __shared__; *after is where to go on.
 * Alignments move to the front, where C++ wants them; the line breaks they leave stay.
 */
static bool rewrite_shared(struct source *source, size_t at, size_t *after)
{
    const size_t end = region_end(source, at);
    bool is_extern = false, is_shared = false;
    size_t type = at;

    for (size_t stop;; type = skip_space(source, stop, end)) {
        stop = type < end ? word_end(source, type) : type;
        if (word_is(source, type, stop, "extern"))
            is_extern = true;
        else if (word_is(source, type, stop, "__shared__"))
            is_shared = true;
        else if ((stop = qualifier_end(source, type, end)) == type || stop == NOWHERE)
            break;
    }
    *after = word_end(source, at);
    if (!is_shared)
        return true;
    const size_t semicolon = unsized_array_end(source, type, end);
    if (!is_extern)
        return semicolon == NOWHERE ||
               fail(source, at, "an array of shared memory without a size needs extern before __shared__");
    if (semicolon == NOWHERE)
        return fail(source, at, "extern __shared__ must declare one array without a size: extern __shared__ T name[];");

    copy_to(source, at);
    while (source->copied < type) {
        const size_t stop = qualifier_end(source, source->copied, end);
        const size_t word = stop == source->copied ? word_end(source, stop) : stop;
        if (stop == source->copied)
            source->copied = word;
        copy_to(source, stop > word ? stop : word);
        copy_to(source, skip_space(source, source->copied, type));
    }
    fputs("extern __thread ", stdout);
    copy_to(source, semicolon);
    fputs(" __asm__(\"simt_dynamic_shared\")", stdout);
    *after = semicolon;
    return true;
}

/* --- the file ------------------------------------------------------------------------------------------------------- */

static bool rewrite(struct source *source)
{
    fputs("#line 1 \"", stdout);
    for (const char *c = source->path; *c; c++)
        printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputs("\"\n", stdout);

    for (size_t at = 0; at < source->size;) {
        if (!is_code(source, at)) {
            at++;
        } else if (is_word(source->text[at])) {
            if (!rewrite_shared(source, at, &at))
                return false;
        } else if (code_is(source, at, "<<<")) {
            if (!rewrite_launch(source, at))
                return false;
            at = source->copied;
        } else {
            at++;
        }
    }
    copy_to(source, source->size);
    return true;
}

/** Reads the file and makes room for its kinds; both are the caller's to free, on failure too. */
static bool read_source(struct source *source)
{
    FILE *file = fopen(source->path, "rb");
    size_t capacity = 1 << 16;
    bool good = file && (source->text = malloc(capacity));

    while (good) {
        source->size += fread(source->text + source->size, 1, capacity - 1 - source->size, file);
        if (source->size < capacity - 1)
            break;
        char *larger = realloc(source->text, capacity *= 2);
        good = larger != NULL;
        if (larger)
            source->text = larger;
    }
    good = good && !ferror(file);
    if (good) {
        source->text[source->size] = '\0';
        good = (source->kind = malloc(source->size + 1)) != NULL;
    }
    if (!good)
        fprintf(stderr, "%s: %s\n", source->path, strerror(errno));
    if (file)
        fclose(file);
    return good;
}

int main(int argc, char **argv)
{
    struct source source = {.path = argv[argc - 1]};

    if (argc != 2) {
        fputs("usage: rewrite_launch FILE.cu > FILE.cc\n", stderr);
        return 2;
    }
    bool good = read_source(&source) && classify(&source) && rewrite(&source);
    if (good && (fflush(stdout) != 0 || ferror(stdout)))
        good = fail(&source, source.size, "the output cannot be written");
    free(source.text);
    free(source.kind);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
