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
    return source->num_braces_at_device_function > 0;
}

bool opens_namespace_or_extern_c(const char *code, size_t open_brace)
{
    size_t position = open_brace;

    while (position > 0 && !is_one_of(code[position - 1], ";{})\n"))
        if (is_word_at(code, --position, "namespace") || is_word_at(code, position, "extern"))
            return true;
    return false;
}

bool may_be_macro(const char *code, size_t begin, size_t end)
{
    if (end - begin == 1)
        return false;
    for (size_t position = begin; position < end; position++)
        if (code[position] >= 'a' && code[position] <= 'z')
            return false;
    return true;
}

/* Apart from the specifiers there are only built-in types, or a single name, which is then the type. */
bool are_certainly_type_and_specifiers(const char *code, size_t begin, size_t end)
{
    static const char *const specifiers[] = {"static", "inline", "extern", "const", "struct", "enum", "union", NULL};
    static const char *const types[] = {"void", "bool",     "char",   "short", "int",    "long",
                                        "auto", "unsigned", "signed", "float", "double", NULL};
    unsigned names = 0;

    for (size_t position = begin, next; position < end; position = next) {
        next = is_word_character(code[position]) ? word_end(code, position) : position + 1;
        if (!is_word_character(code[position]) && !is_one_of(code[position], " *&:"))
            return false;
        if (!is_word_character(code[position]) || contains_any_word(code, position, next, specifiers) ||
            contains_any_word(code, position, next, types))
            continue;
        if (may_be_macro(code, position, next) || starts_with(code + position, "__"))
            return false;
        names += code[next] != ':';
    }
    return names == 0 || (names == 1 && !contains_any_word(code, begin, end, types));
}

/** Returns whether another declaration of the name in [begin, end) has `__device__`. */
static bool is_declared_for_device(const char *code, size_t begin, size_t end)
{
    for (const char *found = strchr(code, code[begin]); found; found = strchr(found + 1, code[begin])) {
        const size_t position = (size_t)(found - code);

        if (strncmp(found, code + begin, end - begin) == 0 && !is_word_character(found[end - begin]) &&
            (position == 0 || !is_word_character(code[position - 1])) &&
            find_word_earlier_in_declaration(code, position, "__device__") != NOWHERE)
            return true;
    }
    return false;
}

/**
 * Returns whether the `{` at `position`, outside any function, begins the body of a function that certainly belongs to
 * the host: `static int name(...) {`, or such a template.
 */
static bool begins_host_function(const char *code, size_t position)
{
    const size_t close = skip_space_back(code, position);
    const size_t open = close > 0 && code[close - 1] == ')' ? matching_bracket(code, close - 1, -1) : NOWHERE;
    const size_t name_end = open == NOWHERE ? 0 : skip_space_back(code, open);
    const size_t name = word_begin(code, name_end);
    size_t begin = skip_space(code, declaration_begin_before_brace(code, position));

    if (is_word_at(code, begin, "template")) {
        const size_t list = skip_space(code, word_end(code, begin));

        begin = code[list] == '<' ? matching_bracket(code, list, 1) : NOWHERE;
        begin = begin == NOWHERE ? position : begin + 1;
    }
    return begin < name && name < name_end && code[name - 1] != ':' && !may_be_macro(code, name, name_end) &&
           are_certainly_type_and_specifiers(code, begin, name) && !is_declared_for_device(code, name, name_end);
}

bool count_brace_and_mark_blocks(struct source *source, size_t position)
{
    const char *code = source->code;

    if (code[position] == '{') {
        const size_t head = declaration_begin_before_brace(code, position);
        const bool in_parentheses = head > 0 && code[head - 1] == '(';
        const bool is_value = opens_member_initializer(code, position);
        bool begins = source->num_braces_at_function == 0 && !in_parentheses && !is_value &&
                      !opens_namespace_or_extern_c(code, position);

        source->num_open_braces++;
        if (begins) {
            source->num_braces_at_function = source->num_open_braces;
            source->in_host_only_function = begins_host_function(code, position);
            if (source->in_host_only_function && !add_insertion(source, position + 1, " SIMT_FAULT_IF_RUN_BY_KERNEL;"))
                return false;
        }
        if (source->num_braces_at_device_function == 0 &&
            (find_word_outside_parentheses(code, head, position, "__global__") != NOWHERE ||
             find_word_outside_parentheses(code, head, position, "__device__") != NOWHERE)) {
            source->num_braces_at_device_function = source->num_open_braces;
            source->device_body_begin = position;
            source->in_host_device_function = find_word_outside_parentheses(code, head, position, "__host__") !=
                                              NOWHERE;
            begins = !is_value;
        }
        return !begins || mark_basic_blocks_of_function(source, position);
    } else if (code[position] == '}' && source->num_open_braces > 0) {
        if (source->num_braces_at_function == source->num_open_braces)
            source->num_braces_at_function = 0;
        if (source->num_braces_at_device_function == source->num_open_braces)
            source->num_braces_at_device_function = 0;
        source->num_open_braces--;
    }
    return true;
}

void track_braces_at_conditional_directive(struct source *source, size_t position)
{
    const char *word = source->code + skip_space(source->code, position + 1);

    if (starts_with(word, "if") && source->num_open_conditionals < MAX_CONDITIONALS)
        source->num_braces_at_conditional[source->num_open_conditionals++] = source->num_open_braces;
    else if (starts_with(word, "el") && source->num_open_conditionals > 0) {
        source->num_open_braces = source->num_braces_at_conditional[source->num_open_conditionals - 1];
        if (source->num_braces_at_device_function >
            source->num_open_braces) /* the function began in the other branch */
            source->num_braces_at_device_function = 0;
    } else if (starts_with(word, "endif") && source->num_open_conditionals > 0)
        source->num_open_conditionals--;
}
