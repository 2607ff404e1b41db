/**
 * @file source.c
 * @brief Reads a kernel file, separates its code from comments and literals, and writes the output with all insertions.
 */
#include "source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool print_error_at(const struct source *source, size_t position, const char *message)
{
    size_t line = 0; /* 0: the #line directive, the first line of the text, is not in the file */

    for (size_t i = 0; i < position; i++)
        line += source->text[i] == '\n';
    fprintf(stderr, "%s:%zu: %s\n", source->path, line, message);
    return false;
}

bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

bool starts_with(const char *text, const char *prefix)
{
    return *text == *prefix && strncmp(text, prefix, strlen(prefix)) == 0;
}

/* --- code, comments and literals ---------------------------------------------------------------------------------- */

/** Returns the end of the comment that starts at `position`, or NOWHERE if the comment is not closed. */
static size_t comment_end(const char *text, size_t position)
{
    if (text[position + 1] == '*') {
        const char *end = strstr(text + position + 2, "*/");
        return end ? (size_t)(end - text) + 2 : NOWHERE;
    }
    while (text[position] && (text[position] != '\n' || text[position - 1] == '\\'))
        position++;
    return position;
}

/** Returns the end of the raw string whose opening quote is at `position`, or NOWHERE if the string is not closed. */
static size_t raw_string_end(const char *text, size_t position)
{
    const int delimiter = (int)strcspn(text + position + 1, "( \n");
    char close[20]; /* a delimiter has at most 16 characters */

    snprintf(close, sizeof(close), ")%.*s\"", delimiter, text + position + 1);
    const char *end = delimiter > 16 ? NULL : strstr(text + position + 1 + delimiter, close);
    return end ? (size_t)(end - text) + strlen(close) : NOWHERE;
}

/**
 * Returns the end of the string or character literal at `position`. A literal without a closing quote ends with its
 * line, and the compiler will report it.
 */
static size_t literal_end(const char *text, size_t position)
{
    const char quote = text[position++];

    while (text[position] && text[position] != quote && text[position] != '\n')
        position += text[position] == '\\' && text[position + 1] ? 2 : 1;
    return text[position] == quote ? position + 1 : position;
}

size_t word_end(const char *text, size_t position)
{
    const bool number = isdigit((unsigned char)text[position]);

    while (is_word_character(text[position]) ||
           (number && text[position] == '\'' && is_word_character(text[position + 1])))
        position++;
    return position;
}

size_t word_begin(const char *text, size_t end)
{
    while (end > 0 && is_word_character(text[end - 1]))
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
 * Returns the end of the comment, literal, space or code at `position`, or NOWHERE if a comment or a raw string is not
 * closed. *fill is the character that replaces this stretch in source->code, or '\0' for code.
 */
static size_t stretch_end(const char *text, size_t position, char *fill)
{
    *fill = ' ';
    if (isspace((unsigned char)text[position]))
        return position + 1;
    if (starts_with(text + position, "\\\n"))
        return position + 2;
    if (starts_with(text + position, "//") || starts_with(text + position, "/*"))
        return comment_end(text, position);
    *fill = '"';
    if (text[position] == '"' || text[position] == '\'')
        return literal_end(text, position);
    *fill = '\0';
    if (!is_word_character(text[position]))
        return position + 1;
    const size_t end = word_end(text, position);
    if (!starts_raw_string(text + position, end - position))
        return end;
    *fill = '"';
    return raw_string_end(text, end);
}

/** Possible values of the condition of a conditional directive, as far as the rewriter can tell. */
enum condition { UNKNOWN, NEVER, ALWAYS };

/** Returns the condition of the directive with the word at `position`: `if 0`, `elif (true)`, or `else`. */
static enum condition condition_at(const char *code, size_t position)
{
    static const char *const never[] = {"0", "false", NULL}, *const always[] = {"1", "true", NULL};
    size_t begin = word_end(code, position);

    if (!is_word_at(code, position, "if") && !is_word_at(code, position, "elif"))
        return UNKNOWN;
    begin += strspn(code + begin, " (");

    const size_t end = word_end(code, begin), behind = end + strspn(code + end, " )");

    if (code[behind] && code[behind] != '\n')
        return UNKNOWN;
    return contains_any_word(code, begin, end, never)    ? NEVER
           : contains_any_word(code, begin, end, always) ? ALWAYS
                                                         : UNKNOWN;
}

/** Replaces the code that an `#if 0` or the `#else` of an `#if 1` leaves out with white space, as if in a comment. */
static void blank_disabled_code(char *code)
{
    bool is_chosen[MAX_CONDITIONALS] = {false}; /* an earlier branch of the conditional is certainly compiled */
    int depth = 0, disabled = 0;                /* `disabled`: the depth of the conditional that leaves out the code */

    for (size_t position = 0, end; code[position]; position = end) {
        const bool directive = code[position] == '#', was_disabled = disabled > 0;
        const size_t word = directive ? skip_space(code, position + 1) : position;

        end = directive ? position + strcspn(code + position, "\n") : position + 1;
        if (directive && starts_with(code + word, "if"))
            is_chosen[++depth % MAX_CONDITIONALS] = false;
        if (directive && (starts_with(code + word, "if") || starts_with(code + word, "el")) && depth > 0 &&
            depth < MAX_CONDITIONALS && (!disabled || disabled == depth)) {
            const enum condition condition = condition_at(code, word);

            disabled = is_chosen[depth] || condition == NEVER ? depth : 0;
            is_chosen[depth] = is_chosen[depth] || condition == ALWAYS;
        }
        if (directive && starts_with(code + word, "endif") && depth > 0 && disabled == depth--)
            disabled = 0;
        if (was_disabled && disabled)
            memset(code + position, ' ', end - position);
        else if (directive && code[end])
            end++; /* keeps the '\n' */
    }
}

bool strip_comments_and_literals(struct source *source)
{
    bool line_is_blank = true, directive = false;

    for (size_t position = 0, end; position < source->size; position = end) {
        const bool newline = source->text[position] == '\n';
        char fill;

        end = stretch_end(source->text, position, &fill);
        if (end == NOWHERE)
            return print_error_at(source, position, "a comment or a raw string has no end");
        memcpy(source->code + position, source->text + position, end - position);
        if (fill)
            memset(source->code + position, newline && directive ? '\n' : fill, end - position);
        directive = !newline && (directive || (line_is_blank && source->text[position] == '#'));
        line_is_blank = newline || (line_is_blank && fill == ' ');
    }
    source->code[source->size] = '\0';
    blank_disabled_code(source->code);
    return true;
}

/* --- macros that stringize their arguments ---------------------------------------------------------------------- */

void find_stringizing_macros(struct source *source)
{
    const char *const code = source->code;

    for (size_t position = 0; code[position]; position++) {
        const size_t word = code[position] == '#' ? skip_space(code, position + 1) : position;
        const size_t name = is_word_at(code, word, "define") ? skip_space(code, word_end(code, word)) : NOWHERE;

        if (code[position] != '#' || name == NOWHERE || code[word_end(code, name)] != '(')
            continue;
        for (position = word_end(code, name); code[position] && code[position] != '\n'; position++) {
            const bool stringizes = code[position] == '#' && code[position - 1] != '#' &&
                                    is_word_character(code[skip_space(code, position + 1)]);

            if (stringizes && source->num_stringizing_macros < MAX_STRINGIZING_MACROS) {
                source->stringizing_macros[source->num_stringizing_macros++] = name;
                break;
            }
        }
        position += strcspn(code + position, "\n") - 1;
    }
}

bool must_not_rewrite_call_arguments(const struct source *source, size_t position)
{
    const char *const code = source->code;
    const size_t end = word_end(code, position), open = skip_space(code, end);
    const size_t close = code[open] == '(' ? matching_bracket(code, open, 1) : NOWHERE;
    bool stringizes = is_word_at(code, position, "assert");

    for (size_t i = 0; i < source->num_stringizing_macros && close != NOWHERE; i++) {
        const size_t name = source->stringizing_macros[i];

        stringizes = stringizes || (name != position && word_end(code, name) - name == end - position &&
                                    strncmp(code + name, code + position, end - position) == 0);
    }
    for (size_t i = open; stringizes && close != NOWHERE && i < close; i++)
        stringizes = !starts_with(code + i, "<<<");
    return stringizes && close != NOWHERE;
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

static void step_over_brace(char c, size_t position, struct braces *open)
{
    if (c == '{' && open->count++ == 0)
        open->outermost = position;
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

    for (size_t position = 0; code[position]; position++) {
        const size_t word = code[position] == '#' ? skip_space(code, position + 1) : position;
        const int last = conditionals - 1;
        int inside = 0;

        if (code[position] != '#') {
            step_over_brace(code[position], position, &open);
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
        for (; code[position + 1] && code[position + 1] != '\n'; position++)
            inside += (code[position + 1] == '{') - (code[position + 1] == '}');
        *in_macro |= inside != 0;
    }
    return open;
}

/** Returns the first comment after `position` that contains the start of another comment, or NOWHERE. */
static size_t find_swallowed_comment(const char *text, size_t position)
{
    for (size_t end; text[position]; position = end) {
        const char *inner;
        char fill;

        end = stretch_end(text, position, &fill);
        inner = starts_with(text + position, "/*") ? strstr(text + position + 2, "/*") : NULL;
        if (inner && inner < text + end)
            return position;
    }
    return NOWHERE;
}

bool check_braces_balanced(const struct source *source)
{
    bool in_macro = false;
    const struct braces open = open_at_end(source->code, &in_macro);
    size_t comment;

    if (open.count == 0 || in_macro)
        return true;
    comment = find_swallowed_comment(source->text, open.outermost);
    return comment == NOWHERE
               ? print_error_at(source, open.outermost, "this { is never closed")
               : print_error_at(source, comment, "this comment contains another /*: is its own */ missing?");
}

/* --- walking through code ----------------------------------------------------------------------------------------- */

size_t skip_space(const char *code, size_t position)
{
    return position + strspn(code + position, " ");
}

size_t skip_space_back(const char *code, size_t position)
{
    while (position > 0 && code[position - 1] == ' ')
        position--;
    return position;
}

bool is_one_of(char c, const char *characters)
{
    return c && strchr(characters, c);
}

size_t matching_bracket(const char *code, size_t position, int step)
{
    const char *openers = step > 0 ? "([{<" : ")]}>", *closers = step > 0 ? ")]}>" : "([{<";
    char close[MAX_NESTING_DEPTH] = {closers[strchr(openers, code[position]) - openers]};
    int depth = 0;

    for (position += step; code[position] && code[position] != '\n'; position += step) {
        const bool angle = is_one_of(close[depth], "<>");
        const char c = code[position];

        if (is_one_of(c, "<>") && (!angle || (c == '>' && code[position - 1] == '-')))
            continue;
        if (c == '<' && code[position + step] == '<') {
            position += step;
        } else if (c == close[depth]) {
            if (depth-- == 0)
                return position;
        } else if (is_one_of(c, closers) || (angle && c == ';')) {
            return NOWHERE;
        } else if (is_one_of(c, openers)) {
            if (++depth == MAX_NESTING_DEPTH)
                return NOWHERE;
            close[depth] = closers[strchr(openers, c) - openers];
        }
    }
    return NOWHERE;
}

bool is_word_at(const char *code, size_t position, const char *word)
{
    return starts_with(code + position, word) && !is_word_character(code[position + strlen(word)]) &&
           (position == 0 || !is_word_character(code[position - 1]));
}

size_t find_word_earlier_in_declaration(const char *code, size_t position, const char *word)
{
    while (position > 0 && !is_one_of(code[position - 1], ";{}\n"))
        if (is_word_at(code, --position, word))
            return position;
    return NOWHERE;
}

bool opens_member_initializer(const char *code, size_t open)
{
    for (size_t end = skip_space_back(code, open), name; end > 0; end = skip_space_back(code, open)) {
        if (code[end - 1] == '>' && matching_bracket(code, end - 1, -1) != NOWHERE)
            end = skip_space_back(code, matching_bracket(code, end - 1, -1));
        name = word_begin(code, end);

        const size_t sign = skip_space_back(code, name);
        const size_t before = sign > 0 ? skip_space_back(code, sign - 1) : 0;

        if (name == end || before == 0)
            return false;
        if (code[sign - 1] == ':')
            return code[before - 1] == ')' || is_word_at(code, word_begin(code, before), "noexcept");
        if (code[sign - 1] != ',' || !is_one_of(code[before - 1], ")}"))
            return false;
        open = matching_bracket(code, before - 1, -1);
        if (open == NOWHERE)
            return false;
    }
    return false;
}

size_t declaration_begin_before_brace(const char *code, size_t open_brace)
{
    size_t position = open_brace;

    while (position > 0 && !is_one_of(code[position - 1], ";{\n(")) {
        size_t open = position - 1;

        if (code[open] == ')')
            open = matching_bracket(code, open, -1);
        else if (code[open] == '}' &&
                 ((open = matching_bracket(code, open, -1)) == NOWHERE || !opens_member_initializer(code, open)))
            break;
        position = open == NOWHERE ? position - 1 : open;
    }
    return position;
}

size_t find_word_outside_parentheses(const char *code, size_t begin, size_t end, const char *word)
{
    for (size_t position = begin; position < end; position++) {
        const size_t close = code[position] == '(' ? matching_bracket(code, position, 1) : NOWHERE;

        if (is_word_at(code, position, word))
            return position;
        if (close < end)
            position = close;
    }
    return NOWHERE;
}

bool contains_any_word(const char *code, size_t begin, size_t end, const char *const *words)
{
    for (size_t position = begin; position < end; position++)
        for (size_t i = 0; words[i]; i++)
            if (is_word_at(code, position, words[i]))
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

bool begins_declaration(const char *code, size_t position)
{
    size_t end = position = skip_space(code, position);

    while (is_word_character(code[end]) || code[end] == ':')
        end++;
    if (end == position || is_keyword_before_value(code, end))
        return false;
    position = skip_space(code, end);
    if (code[position] == '<' && matching_bracket(code, position, 1) != NOWHERE)
        position = matching_bracket(code, position, 1) + 1;
    return is_word_character(code[position + strspn(code + position, " *&")]);
}

bool may_be_in_fold_expression(const char *code, size_t position)
{
    enum { LENGTH = 1000 }; /* of a fold expression, so that long expressions are rewritten in linear time */
    const size_t middle = position, begin = position < LENGTH ? 0 : position - LENGTH;

    if (!memmem(code + begin, strnlen(code + begin, 2 * LENGTH), "...", 3))
        return false;
    while (position > 0 && middle - position < LENGTH && !is_one_of(code[position - 1], "([{;}\n")) {
        const size_t open = is_one_of(code[position - 1], ")]") ? matching_bracket(code, position - 1, -1)
                                                                : position - 1;

        position = open == NOWHERE ? position - 1 : open;
    }
    for (; code[position] && position < middle + LENGTH && !is_one_of(code[position], ")]};\n"); position++) {
        const size_t close = is_one_of(code[position], "([{") ? matching_bracket(code, position, 1) : NOWHERE;

        if (starts_with(code + position, "..."))
            return true;
        position = close == NOWHERE ? position : close;
    }
    return false;
}

bool value_ends_at(const char *code, size_t end)
{
    end = skip_space_back(code, end);
    return end > 0 && (is_one_of(code[end - 1], ")]\"") ||
                       (is_word_character(code[end - 1]) && !is_keyword_before_value(code, end)));
}

bool may_enclose_declarator(const char *code, size_t open)
{
    const size_t end = skip_space_back(code, open);

    return end > 0 && (is_word_character(code[end - 1]) || is_one_of(code[end - 1], "*&>,")) &&
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
    const size_t open = matching_bracket(code, close, -1);

    if (open == NOWHERE)
        return NOWHERE;
    const size_t first = skip_space(code, open + 1);
    const size_t callee_end = code[open - 1] == '>' ? matching_bracket(code, open - 1, -1) : open;

    if (callee_end == NOWHERE || (is_last && (code[first] == '&' || skip_space(code, word_end(code, first)) == close ||
                                              (code[first] == '*' && may_enclose_declarator(code, open)))))
        return NOWHERE;
    const size_t begin = word_begin(code, callee_end);

    if (contains_any_word(code, begin, callee_end, no_callees))
        return NOWHERE;
    return is_keyword_before_value(code, callee_end) ? callee_end : begin;
}

size_t member_chain_begin(const char *code, size_t end)
{
    for (size_t begin = end;;) {
        size_t part_end = skip_space_back(code, begin);

        while (code[part_end - 1] == ']' && matching_bracket(code, part_end - 1, -1) != NOWHERE)
            part_end = skip_space_back(code, matching_bracket(code, part_end - 1, -1));
        if (code[part_end - 1] == ')') {
            begin = parentheses_begin(code, part_end - 1, part_end == skip_space_back(code, end));
            if (begin == NOWHERE)
                return end;
        } else {
            begin = word_begin(code, part_end);
            if (begin == part_end || isdigit((unsigned char)code[begin]))
                return end;
        }
        size_t before = skip_space_back(code, begin);

        while (starts_with(code + before - 2, "::")) {
            begin = word_begin(code, before - 2);
            if (code[begin - 1] == '>')
                return end;
            before = skip_space_back(code, begin);
        }
        if (code[before - 1] != '.' && !starts_with(code + before - 2, "->"))
            return begin;
        begin = before - (code[before - 1] == '.' ? 1 : 2);
    }
}

unsigned size_of_built_in_type(const char *code, size_t begin, size_t end)
{
    static const char *const types[5][12] = {
        {"char", "bool", "int8_t", "uint8_t", NULL},
        {"short", "half", "__half", "__nv_bfloat16", "int16_t", "uint16_t", "char2", "uchar2", NULL},
        {"int", "unsigned", "float", "int32_t", "uint32_t", "char4", "uchar4", "short2", "half2", "__half2",
         "__nv_bfloat162", NULL},
        {"long", "double", "int64_t", "uint64_t", "size_t", "int2", "uint2", "float2", "short4", NULL},
        {"int4", "uint4", "float4", "double2", "longlong2", "ulonglong2", NULL},
    };

    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (contains_any_word(code, begin, end, types[i]))
            return 1u << i;
    return 0;
}

size_t postfix_expression_end(const char *code, size_t position)
{
    size_t end = position;

    for (;; position = skip_space(code, end)) {
        if (is_word_character(code[position]))
            end = word_end(code, position);
        else if (code[position] == '.' || starts_with(code + position, "->"))
            end = position + 1 + (code[position] == '-');
        else if (is_one_of(code[position], "[(") && matching_bracket(code, position, 1) != NOWHERE)
            end = matching_bracket(code, position, 1) + 1;
        else
            break;
    }
    return end;
}

/* --- output ----------------------------------------------------------------------------------------------------- */

/** Compares insertions by position, and insertions at the same position by the order in which they were made. */
static int compare_insertions(const void *left, const void *right)
{
    const struct insertion *a = left, *b = right;

    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

bool reserve_array_entry(const struct source *source, size_t position, void **entries, size_t num_entries,
                         size_t *capacity, size_t entry_bytes)
{
    if (num_entries < *capacity)
        return true;
    void *const larger = realloc(*entries, (2 * *capacity + 64) * entry_bytes);

    if (!larger)
        return print_error_at(source, position, "out of memory");
    *entries = larger;
    *capacity = 2 * *capacity + 64;
    return true;
}

bool add_insertion(struct source *source, size_t position, const char *text)
{
    if (!reserve_array_entry(source, position, (void **)&source->insertions, source->num_insertions,
                             &source->insertion_capacity, sizeof *source->insertions))
        return false;
    source->insertions[source->num_insertions] = (struct insertion){position, source->num_insertions, text};
    source->num_insertions++;
    return true;
}

void sort_insertions(struct source *source)
{
    const size_t first = source->num_inserted;

    if (source->num_insertions > first)
        qsort(source->insertions + first, source->num_insertions - first, sizeof *source->insertions,
              compare_insertions);
}

static void copy_text(struct source *source, size_t end)
{
    if (end <= source->num_copied_characters)
        return;
    fwrite(source->text + source->num_copied_characters, 1, end - source->num_copied_characters, stdout);
    source->num_copied_characters = end;
}

/** Writes the text up to `end`, and the insertions before `end` or, if `at_end`, also those at `end`. */
static void copy_insertions(struct source *source, size_t end, bool at_end)
{
    for (; source->num_inserted < source->num_insertions; source->num_inserted++) {
        const struct insertion *next = &source->insertions[source->num_inserted];

        if (next->position > end || (next->position == end && !at_end))
            break;
        copy_text(source, next->position);
        fputs(next->text, stdout);
    }
    copy_text(source, end);
}

void copy_to_output_until(struct source *source, size_t end)
{
    copy_insertions(source, end, true);
}

void copy_to_output_before_insertions(struct source *source, size_t end)
{
    copy_insertions(source, end, false);
}

void copy_to_output_replacing(struct source *source, size_t begin, size_t end, const char *text)
{
    copy_to_output_until(source, begin);
    fputs(text, stdout);
    source->num_copied_characters = end;
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

void write_joined_line(const struct source *source, size_t begin, size_t end)
{
    for (size_t position = begin; position < end; position++) {
        const char c = source->code[position] == ' ' ? ' ' : source->text[position];

        if (c == '\\' && source->text[position + 1] == '\n')
            position++;
        else if (c != '\n')
            putchar(c);
    }
}
