/** @file subscripts.c  Rewrites subscripts of arrays, so that the indices are checked against the bounds. */
#include "rewrite.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NAME = 256 };

/**
 * Returns the start of the statement that contains `position`, or NOWHERE if `position` is in the parentheses or braces
 * of an expression.
 */
static size_t statement_begin(const char *code, size_t position)
{
    while (position > 0 && !is_one_of(code[position - 1], ";}\n")) {
        const size_t before = skip_space_back(code, --position);

        if (is_one_of(code[position], "([") || (code[position] == '{' && is_one_of(code[before - 1], "=,({")))
            return NOWHERE;
        if (code[position] == '{')
            return position + 1;
        if (is_one_of(code[position], ")]") && (position = matching_bracket(code, position, -1)) == NOWHERE)
            return NOWHERE;
    }
    return position;
}

/**
 * Returns whether the `)` at `position` ends a cast or the condition of a statement, which are followed by an
 * expression, and not an attribute or a macro, which may be followed by a declaration.
 */
static bool ends_cast_or_condition(const char *code, size_t position)
{
    static const char *const words[] = {"if", "for", "while", "switch", "constexpr", NULL};
    const size_t open = matching_bracket(code, position, -1);
    const size_t end = open == NOWHERE ? 0 : skip_space_back(code, open);
    const size_t begin = word_begin(code, end);

    return open != NOWHERE &&
           (begin == end || is_keyword_before_value(code, end) || contains_any_word(code, begin, end, words));
}

/**
 * Returns whether the name at `position`, in the parentheses that open at `outer`, is declared there as an array of
 * pointers to functions, members or arrays: `int (*name[2])(int)`, `float (*name[2])[3]`.
 */
static bool is_array_of_pointers(const char *code, size_t outer, size_t position)
{
    size_t behind = skip_space(code, word_end(code, position));

    while (code[behind] == '[' && matching_bracket(code, behind, 1) != NOWHERE)
        behind = skip_space(code, matching_bracket(code, behind, 1) + 1);
    return code[behind] == ')' && is_one_of(code[skip_space(code, behind + 1)], "([") &&
           may_enclose_declarator(code, outer);
}

/**
 * Returns whether the name at `position` is certainly a use, not a declaration. The code before the name may be a type
 * or an operand with its operator: `b * a[i]` reads like a declaration.
 */
static bool is_used(const char *code, size_t position)
{
    size_t before = skip_space_back(code, position);

    if (is_word_character(code[before - 1]))
        return is_keyword_before_value(code, before);
    if (code[before - 1] == ')')
        return ends_cast_or_condition(code, before - 1);
    if (starts_with(code + before - 2, "&&"))
        return true;
    while (is_one_of(code[before - 1], "*& "))
        before--;
    while (starts_with(code + before - 2, "::")) /* the class of a pointer to a member */
        before = word_begin(code, before - 2);
    if (!is_one_of(code[before - 1], ",>") && !is_word_character(code[before - 1]))
        return !(code[before - 1] == '(' && is_array_of_pointers(code, before - 1, position));
    const size_t statement = statement_begin(code, before);

    if (statement == NOWHERE || is_keyword_before_value(code, before))
        return true;
    return memchr(code + statement, '=', before - statement) &&
           !(code[before - 1] == ',' && begins_declaration(code, statement));
}

/**
 * Returns whether a name is declared as a variable that may be an array: brackets follow the name, or its type may be
 * that of an array, such as a reference to one. The code before the name ends at `before`, and the code after the name
 * begins at `behind`.
 */
static bool may_declare_array(const char *code, size_t before, size_t behind)
{
    static const char *const before_types[] = {"using", "typename", "class", "struct", "enum", "union", "new", NULL};
    const size_t word = word_begin(code, before);
    const bool follows_type = code[before - 1] == '&' || code[before - 1] == '>' ||
                              (word < before && !is_keyword_before_value(code, before) &&
                               !contains_any_word(code, word, before, before_types));

    if (code[behind] == '[' || (code[behind] == ')' && code[skip_space(code, behind + 1)] == '['))
        return follows_type || is_one_of(code[before - 1], "*,");
    return follows_type && is_one_of(code[behind], ";=,:{)");
}

/**
 * Returns whether the file declares the name in [begin, end) as an array, or may do so. The entire file is searched,
 * because a method may use a member that is declared after it.
 */
static bool may_be_array(const char *code, size_t begin, size_t end)
{
    char name[MAX_NAME];

    if (end - begin >= sizeof name)
        return false;
    memcpy(name, code + begin, end - begin);
    name[end - begin] = '\0';
    for (const char *found = strstr(code, name); found; found = strstr(found + 1, name)) {
        const size_t position = (size_t)(found - code);

        if (position != begin && is_word_at(code, position, name) &&
            may_declare_array(code, skip_space_back(code, position), skip_space(code, position + (end - begin))))
            return true;
    }
    return false;
}

/** Returns whether no braces but those of namespaces are open at `position`. */
static bool is_outside_braces(const char *code, size_t position)
{
    int depth = 0, namespaces = 0;

    for (size_t i = 0; i < position; i++) {
        if (code[i] == '{' && depth == 0 && opens_namespace_or_extern_c(code, i))
            namespaces++;
        else if (code[i] == '{')
            depth++;
        else if (code[i] == '}' && depth > 0)
            depth--;
        else if (code[i] == '}' && namespaces-- == 0)
            return false;
    }
    return depth == 0;
}

/**
 * Returns whether the declaration of the name at `position` makes it a constant of the host: it has `const` or
 * `constexpr`, and no word that may be a memory space.
 */
static bool declares_host_constant(const char *code, size_t position)
{
    static const char *const spaces[] = {"__device__", "__constant__", "__shared__", "__managed__", NULL};
    static const char *const constants[] = {"const", "constexpr", NULL};
    bool is_constant = false;

    if (!is_outside_braces(code, position))
        return false;
    while (position > 0 && !is_one_of(code[position - 1], ";{}\n")) {
        const size_t end = skip_space_back(code, position);
        const size_t begin = word_begin(code, end);

        if (begin < end && (contains_any_word(code, begin, end, spaces) || may_be_macro(code, begin, end)))
            return false;
        is_constant = is_constant || contains_any_word(code, begin, end, constants);
        position = begin < end ? begin : end - (end > 0 && !is_one_of(code[end - 1], ";{}\n"));
    }
    return is_constant;
}

/**
 * Returns whether the name in [begin, end) certainly denotes a constant host array, that is, whether every array or
 * pointer that the file may declare under this name is one. The compiler emits no load of such an array that the
 * simulator could see.
 */
static bool is_host_constant(const char *code, size_t begin, size_t end)
{
    bool is_constant = false;

    for (const char *found = strchr(code, code[begin]); found; found = strchr(found + 1, code[begin])) {
        const size_t position = (size_t)(found - code), behind = skip_space(code, position + (end - begin));
        const size_t before = skip_space_back(code, position);

        if (position == begin || strncmp(found, code + begin, end - begin) != 0 ||
            is_word_character(code[position + (end - begin)]) ||
            (position > 0 && is_word_character(code[position - 1])) ||
            !(code[before - 1] == '*' || may_declare_array(code, before, behind)))
            continue;
        if (code[behind] != '[' || !declares_host_constant(code, position))
            return false;
        is_constant = true;
    }
    return is_constant;
}

/**
 * Returns whether the word at `position` is a keyword and not an array's name, so that the `[` after it begins a lambda
 * or a declaration.
 */
static bool is_no_name(const char *code, size_t position)
{
    return is_word_at(code, position, "auto") || is_keyword_before_value(code, word_end(code, position));
}

/** Returns whether the `&` that ends at `end` takes an address. */
static bool takes_address(const char *code, size_t end)
{
    return code[end - 1] == '&' && code[end - 2] != '&' && !value_ends_at(code, end - 1);
}

/**
 * Returns whether the operand of the `&` that ends at `end` is an argument of a function that accesses the element,
 * such as atomicAdd(), so that the index must be below the number of elements.
 */
static bool is_accessed(const char *code, size_t end)
{
    static const char *const names[] = {
        "atomic", "__ld", "__st", "__pipeline_memcpy_async", "load_matrix_sync", "store_matrix_sync"};
    size_t position = end - 1;

    while (position > 0 && code[position - 1] != '(' && !is_one_of(code[position - 1], ";{}[")) {
        position = skip_space_back(code, position);
        if (is_one_of(code[position - 1], ")]") && (position = matching_bracket(code, position - 1, -1)) == NOWHERE)
            return false;
        position -= position > 0 && !is_one_of(code[position - 1], "();{}[]");
    }
    if (position == 0 || code[position - 1] != '(')
        return false;
    const size_t word = word_begin(code, skip_space_back(code, position - 1));

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (starts_with(code + word, names[i]))
            return true;
    return false;
}

/** Returns whether the code in [begin, end) accesses a member. */
static bool has_member(const char *code, size_t begin, size_t end)
{
    for (size_t position = begin; position < end; position++)
        if (code[position] == '.' || starts_with(code + position, "->"))
            return true;
    return false;
}

/**
 * Returns the start of the operand of the subscript whose `[` is at `position`: a chain such as a.b[i]->c, or string
 * literals.
 */
static size_t operand_begin(const char *code, size_t position)
{
    size_t begin = skip_space_back(code, position);

    if (code[begin - 1] != '"')
        return member_chain_begin(code, position);
    while (code[begin - 1] == '"')
        begin = skip_space_back(code, begin - 1);
    return word_begin(code, skip_space(code, begin));
}

/**
 * Returns the start of the value in the index that begins at `position`: the position after the last comma operator. If
 * the index may contain template arguments, their commas are not taken for operators.
 */
static size_t value_of_index(const char *code, size_t position)
{
    size_t value = position;

    for (; code[position] != ']'; position++) {
        const size_t close = is_one_of(code[position], "([{") ? matching_bracket(code, position, 1) : position;

        if (code[position] == '<' || close == NOWHERE)
            return value;
        if (code[position] == ',')
            value = position + 1;
        position = close;
    }
    return value;
}

void rewrite_subscript(struct source *source, size_t position)
{
    const char *code = source->code;
    const size_t begin = operand_begin(code, position);
    const size_t name_end = word_end(code, begin);
    const size_t index = skip_space(code, position + 1);

    if (!in_device_function(source) || begin == position || is_one_of(code[index], "][{") ||
        matching_bracket(code, position, 1) == NOWHERE)
        return;
    const size_t first = skip_space(code, name_end);
    const bool of_host = first == position && is_host_constant(code, begin, name_end);
    const bool is_pointer = first == position && !may_be_array(code, begin, name_end);

    if (code[first] == '[' &&
        (is_no_name(code, begin) || is_pointer || !(has_member(code, first, position) || is_used(code, begin))))
        return;
    const size_t before = skip_space_back(code, begin);
    const bool is_address = takes_address(code, before) && !is_accessed(code, before);

    copy_to_output_before_insertions(source, value_of_index(code, position + 1));
    fputs(of_host      ? "simt_checked_constant_index_of_host_array<__typeof__("
          : is_address ? "simt_checked_index_within_array_or_end<__typeof__("
                       : "simt_checked_index_within_array<__typeof__(",
          stdout);
    write_joined_line(source, begin, position);
    fputs(")>() |= ", stdout);
}
