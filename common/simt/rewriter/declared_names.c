/** @file declared_names.c  Finds the declarations and the calls of a name in the file. */
#include "declared_names.h"

#include "arguments.h"
#include "rewrite.h"

#include <ctype.h>
#include <string.h>

size_t find_next_occurrence(const char *code, size_t position, size_t name_begin, size_t name_end)
{
    for (const char *found = strchr(code + position, code[name_begin]); found;
         found = strchr(found + 1, code[name_begin])) {
        const size_t here = (size_t)(found - code);

        if (strncmp(found, code + name_begin, name_end - name_begin) == 0 &&
            !is_word_character(found[name_end - name_begin]) && (here == 0 || !is_word_character(found[-1])))
            return here;
    }
    return NOWHERE;
}

/** Returns whether a type may end at `end`, so that a name after it is declared. */
static bool may_end_type(const char *code, size_t end)
{
    return end > 0 && !is_keyword_before_value(code, end) &&
           (is_word_character(code[end - 1]) || is_one_of(code[end - 1], "*&>"));
}

bool is_declared_here_as_function(const char *code, size_t name_begin, size_t name_end)
{
    const size_t open = skip_space(code, name_end);

    return code[open] == '(' && !is_one_of(code[skip_space(code, open + 1)], "*&") &&
           may_end_type(code, skip_space_back(code, name_begin));
}

/**
 * Returns whether the `*` or `&` before `position`, if there is one, is an operator between two values, as in
 * `x = a * name(`, rather than a part of a type, as in `int *name(`.
 */
static bool follows_operand(const char *code, size_t position)
{
    size_t end = skip_space_back(code, position);

    if (end == 0 || !is_one_of(code[end - 1], "*&"))
        return false;
    while (end > 0 && is_one_of(code[end - 1], "*& "))
        end--;
    const size_t word = word_begin(code, end), before = skip_space_back(code, word);

    if (word == end || isdigit((unsigned char)code[word]))
        return end > 0 && is_one_of(code[end - 1], ")]=([?0123456789");
    return before > 0 && (is_keyword_before_value(code, before) || is_one_of(code[before - 1], "=+-/%[(<,?|!^.") ||
                          starts_with(code + before - 2, "->"));
}

bool may_be_declared_here_as_variable(const char *code, size_t name_begin, size_t name_end)
{
    return is_one_of(code[skip_space(code, name_end)], "=;,{)[") &&
           may_end_type(code, skip_space_back(code, name_begin));
}

/** Returns whether the innermost open brace before `position` is that of a class. */
static bool is_in_class(const char *code, size_t position)
{
    static const char *const words[] = {"struct", "class", "union", NULL};
    int depth = 1;

    while (position > 0 && depth > 0) {
        position--;
        depth += (code[position] == '}') - (code[position] == '{');
    }
    const size_t head = declaration_begin_before_brace(code, position);

    return depth == 0 && !memchr(code + head, '(', position - head) && contains_any_word(code, head, position, words);
}

const char *device_attribute_of_function(const char *code, size_t name_begin, size_t name_end)
{
    const char *attribute = NULL;

    for (size_t position = find_next_occurrence(code, 0, name_begin, name_end); position != NOWHERE;
         position = find_next_occurrence(code, position + 1, name_begin, name_end)) {
        if (may_be_declared_here_as_variable(code, position, position + (name_end - name_begin)))
            return NULL;
        if (follows_operand(code, position) ||
            !is_declared_here_as_function(code, position, position + (name_end - name_begin)))
            continue;
        const bool is_kernel = find_word_earlier_in_declaration(code, position, "__global__") != NOWHERE;

        if (!is_kernel &&
            (find_word_earlier_in_declaration(code, position, "__device__") == NOWHERE ||
             find_word_earlier_in_declaration(code, position, "__host__") != NOWHERE || is_in_class(code, position)))
            return NULL;
        if (attribute && strcmp(attribute, is_kernel ? "__global__" : "__device__") != 0)
            return NULL;
        attribute = is_kernel ? "__global__" : "__device__";
    }
    return attribute;
}

bool is_free_function_call(const char *code, size_t name_begin, size_t name_end)
{
    static const char *const of_headers[] = {"min", "max", "abs", "swap", "clamp", "round", "pow", NULL};
    static const char *const unevaluated[] = {"decltype", "sizeof", "noexcept", NULL};
    const size_t before = skip_space_back(code, name_begin), word = before > 0 ? skip_space_back(code, before - 1) : 0;
    size_t open = skip_space(code, name_end);

    if (code[open] == '<' && code[open + 1] != '<') {
        const size_t close = matching_bracket(code, open, 1);

        open = close == NOWHERE ? open : skip_space(code, close + 1);
    }
    return code[open] == '(' &&
           (follows_operand(code, name_begin) || !is_declared_here_as_function(code, name_begin, name_end)) &&
           before > 0 && code[before - 1] != '.' &&
           !(before > 1 && (starts_with(code + before - 2, "->") || starts_with(code + before - 2, "::"))) &&
           !contains_any_word(code, name_begin, name_end, of_headers) &&
           !(code[before - 1] == '(' && contains_any_word(code, word_begin(code, word), word, unevaluated));
}

bool may_be_declared_in_file(const char *code, size_t name_begin, size_t name_end)
{
    for (size_t position = find_next_occurrence(code, 0, name_begin, name_end); position != NOWHERE;
         position = find_next_occurrence(code, position + 1, name_begin, name_end)) {
        const size_t found_end = position + (name_end - name_begin), before = skip_space_back(code, position);

        if (may_be_declared_here_as_variable(code, position, found_end) ||
            (is_declared_here_as_function(code, position, found_end) && !follows_operand(code, position)) ||
            (before >= 6 && is_word_at(code, before - 6, "define")))
            return true;
        const size_t scope = before >= 2 && starts_with(code + before - 2, "::") ? skip_space_back(code, before - 2)
                                                                                 : 0;

        if (scope > 0 && is_word_character(code[scope - 1]) && !is_word_at(code, word_begin(code, scope), "std"))
            return true; /* a `using` may declare it */
    }
    return false;
}

bool includes_project_header(const struct source *source)
{
    static const char *const of_cuda[] = {"cuda",   "cooperative_groups", "mma.h",    "device_", "math_constants.h",
                                          "vector", "kernels/",           "sm_",      "std",     "crt/",
                                          "math.h", "string.h",           "assert.h", "time.h",  "limits.h"};
    const char *const code = source->code;

    for (const char *found = strstr(code, "include"); found; found = strstr(found + 1, "include")) {
        const size_t word = (size_t)(found - code), sign = skip_space_back(code, word);
        const size_t open = skip_space(code, word + strlen("include"));
        bool is_known = false;

        if (sign == 0 || code[sign - 1] != '#' || source->text[open] != '"')
            continue;
        for (size_t i = 0; i < sizeof of_cuda / sizeof *of_cuda; i++)
            is_known = is_known || starts_with(source->text + open + 1, of_cuda[i]);
        if (!is_known)
            return true;
    }
    return false;
}

bool comma_count_is_uncertain(const char *code, size_t begin, size_t end, const char *doubtful_characters)
{
    for (size_t position = begin; position < end; position++) {
        const size_t word = word_end(code, position);

        if (is_one_of(code[position], doubtful_characters) || starts_with(code + position, "..."))
            return true;
        if (word == position)
            continue;
        if (may_be_macro(code, position, word) && !is_one_of(code[position], "0123456789"))
            return true;
        position = word - 1;
    }
    return false;
}

bool read_parameter_counts(const char *code, size_t open, unsigned *fewest, unsigned *most)
{
    static const char *const nothing[] = {"void", NULL};
    const size_t close = matching_bracket(code, open, 1);
    struct argument_list list;

    if (close == NOWHERE || comma_count_is_uncertain(code, open, close, "\n#") ||
        !read_argument_list(code, open, close, &list))
        return false;
    *fewest = *most = list.num_arguments;
    for (unsigned i = 0; i < list.num_arguments; i++)
        *fewest -= memchr(code + list.begin[i], '=', list.end[i] - list.begin[i]) != NULL;
    if (list.num_arguments == 1 && list.end[0] - list.begin[0] == 4 &&
        contains_any_word(code, list.begin[0], list.end[0], nothing))
        *fewest = *most = 0;
    return true;
}

bool any_overload_may_accept_call(const char *code, size_t name_begin, size_t name_end)
{
    size_t open = skip_space(code, name_end);
    bool is_known = false;
    struct argument_list arguments;

    if (code[open] == '<' && matching_bracket(code, open, 1) != NOWHERE)
        open = skip_space(code, matching_bracket(code, open, 1) + 1);
    const size_t close = code[open] == '(' ? matching_bracket(code, open, 1) : NOWHERE;

    if (close == NOWHERE || comma_count_is_uncertain(code, open, close, "<\n#") ||
        !read_argument_list(code, open, close, &arguments))
        return true;
    for (size_t position = find_next_occurrence(code, 0, name_begin, name_end); position != NOWHERE;
         position = find_next_occurrence(code, position + 1, name_begin, name_end)) {
        unsigned fewest, most;

        if (follows_operand(code, position) ||
            !is_declared_here_as_function(code, position, position + (name_end - name_begin)))
            continue;
        is_known = true;
        if (!read_parameter_counts(code, skip_space(code, position + (name_end - name_begin)), &fewest, &most) ||
            (arguments.num_arguments >= fewest && arguments.num_arguments <= most))
            return true;
    }
    return !is_known;
}
