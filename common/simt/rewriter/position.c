/**
 * @file position.c
 * @brief Tracks where the rewriter is in the file: the open braces, the current function, and the preprocessor
 *        conditionals.
 */
#include "mark_blocks.h"
#include "rewrite.h"

#include <string.h>

bool in_device_function(const struct source *source)
{
    return source->device_braces > 0;
}

bool opens_namespace(const char *code, size_t at)
{
    while (at > 0 && !is_one_of(code[at - 1], ";{})\n"))
        if (is_word_at(code, --at, "namespace") || is_word_at(code, at, "extern"))
            return true;
    return false;
}

bool may_be_macro(const char *code, size_t begin, size_t end)
{
    if (end - begin == 1)
        return false;
    for (size_t at = begin; at < end; at++)
        if (code[at] >= 'a' && code[at] <= 'z')
            return false;
    return true;
}

/**
 * Returns whether the words in [begin, end) are certainly a return type and C++ specifiers, so that no word can be a
 * macro that expands to `__device__`: apart from the specifiers there are only built-in types, or a single name, which
 * is then the type.
 */
static bool are_specifiers(const char *code, size_t begin, size_t end)
{
    static const char *const specifiers[] = {"static", "inline", "extern", "const", "struct", "enum", "union", NULL};
    static const char *const types[] = {"void", "bool",     "char",   "short", "int",    "long",
                                        "auto", "unsigned", "signed", "float", "double", NULL};
    unsigned names = 0;

    for (size_t at = begin, next; at < end; at = next) {
        next = is_word(code[at]) ? word_end(code, at) : at + 1;
        if (!is_word(code[at]) && !is_one_of(code[at], " *&:"))
            return false;
        if (!is_word(code[at]) || has_word(code, at, next, specifiers) || has_word(code, at, next, types))
            continue;
        if (may_be_macro(code, at, next) || starts_with(code + at, "__"))
            return false;
        names += code[next] != ':';
    }
    return names == 0 || (names == 1 && !has_word(code, begin, end, types));
}

/** Returns whether another declaration of the name in [begin, end) has `__device__`. */
static bool is_declared_for_device(const char *code, size_t begin, size_t end)
{
    for (const char *found = strchr(code, code[begin]); found; found = strchr(found + 1, code[begin])) {
        const size_t at = (size_t)(found - code);

        if (strncmp(found, code + begin, end - begin) == 0 && !is_word(found[end - begin]) &&
            (at == 0 || !is_word(code[at - 1])) && find_before(code, at, "__device__") != NOWHERE)
            return true;
    }
    return false;
}

/**
 * Returns whether the `{` at `at`, outside any function, begins the body of a function that certainly belongs to the
 * host: `static int name(...) {`, or such a template.
 */
static bool begins_host_function(const char *code, size_t at)
{
    const size_t close = skip_space_back(code, at);
    const size_t open = close > 0 && code[close - 1] == ')' ? partner(code, close - 1, -1) : NOWHERE;
    const size_t name_end = open == NOWHERE ? 0 : skip_space_back(code, open);
    const size_t name = word_begin(code, name_end);
    size_t begin = at;

    while (begin > 0 && !is_one_of(code[begin - 1], ";}\n"))
        begin--;
    begin = skip_space(code, begin);
    if (is_word_at(code, begin, "template")) {
        const size_t list = skip_space(code, word_end(code, begin));

        begin = code[list] == '<' ? partner(code, list, 1) : NOWHERE;
        begin = begin == NOWHERE ? at : begin + 1;
    }
    return begin < name && name < name_end && code[name - 1] != ':' && !may_be_macro(code, name, name_end) &&
           are_specifiers(code, begin, name) && !is_declared_for_device(code, name, name_end);
}

bool count_brace(struct source *source, size_t at)
{
    const char *code = source->code;

    if (code[at] == '{') {
        bool begins = source->function_braces == 0 && !opens_namespace(code, at);

        source->braces++;
        if (begins) {
            source->function_braces = source->braces;
            source->host_only = begins_host_function(code, at);
            if (source->host_only && !insert(source, at + 1, " SIMT_HOST;"))
                return false;
        }
        if (source->device_braces == 0 &&
            (find_before(code, at, "__global__") != NOWHERE || find_before(code, at, "__device__") != NOWHERE)) {
            source->device_braces = source->braces;
            source->device_begin = at;
            source->host_too = find_before(code, at, "__host__") != NOWHERE;
            begins = true;
        }
        return !begins || mark_blocks(source, at);
    } else if (code[at] == '}' && source->braces > 0) {
        if (source->function_braces == source->braces)
            source->function_braces = 0;
        if (source->device_braces == source->braces)
            source->device_braces = 0;
        source->braces--;
    }
    return true;
}

void count_conditional_directive(struct source *source, size_t at)
{
    const char *word = source->code + skip_space(source->code, at + 1);

    if (starts_with(word, "if") && source->conditionals < MAX_CONDITIONALS)
        source->braces_before[source->conditionals++] = source->braces;
    else if (starts_with(word, "el") && source->conditionals > 0) {
        source->braces = source->braces_before[source->conditionals - 1];
        if (source->device_braces > source->braces) /* the function began in the other branch */
            source->device_braces = 0;
    } else if (starts_with(word, "endif") && source->conditionals > 0)
        source->conditionals--;
}
