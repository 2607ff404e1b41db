/** @file subscripts.c  Rewrites subscripts of arrays, so that the indices are checked against the bounds. */
#include "rewrite.h"

#include <ctype.h>
#include <string.h>

/**
 * Returns the start of the names, members and elements that end at `at`, such as a.b[i]->c, or `at` if there are none.
 */
static size_t chain_begin(const char *code, size_t at)
{
    for (size_t begin = at;;) {
        size_t end = skip_space_back(code, begin);

        while (code[end - 1] == ']' && partner(code, end - 1, -1) != NOWHERE)
            end = skip_space_back(code, partner(code, end - 1, -1));
        for (begin = end; is_word(code[begin - 1]);)
            begin--;
        if (begin == end || isdigit((unsigned char)code[begin]))
            return at;
        const size_t before = skip_space_back(code, begin);

        if (starts_with(code + before - 2, "::"))
            return at;
        if (code[before - 1] != '.' && !starts_with(code + before - 2, "->"))
            return begin;
        begin = before - (code[before - 1] == '.' ? 1 : 2);
    }
}

/**
 * Returns where the statement that `at` is in begins, or NOWHERE if `at` is in the parentheses or braces of an
 * expression.
 */
static size_t statement_begin(const char *code, size_t at)
{
    while (at > 0 && !is_one_of(code[at - 1], ";}\n")) {
        const size_t before = skip_space_back(code, --at);

        if (is_one_of(code[at], "([") || (code[at] == '{' && is_one_of(code[before - 1], "=,({")))
            return NOWHERE;
        if (code[at] == '{')
            return at + 1;
        if (is_one_of(code[at], ")]") && (at = partner(code, at, -1)) == NOWHERE)
            return NOWHERE;
    }
    return at;
}

/** Checks whether the statement at `at` begins like a declaration: a type, then a name. */
static bool begins_declaration(const char *code, size_t at)
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

/**
 * Checks whether the name at `at` is certainly used and not declared. A type or operators may stand before it: `b *
 * a[i]` has the words of a declaration.
 */
static bool is_used(const char *code, size_t at)
{
    size_t before = skip_space_back(code, at);

    if (is_word(code[before - 1]))
        return is_keyword_before_value(code, before);
    if (code[before - 1] == ')') {
        const size_t open = partner(code, before - 1, -1);

        return open != NOWHERE && !is_attribute(code, open);
    }
    if (starts_with(code + before - 2, "&&"))
        return true;
    while (is_one_of(code[before - 1], "*& "))
        before--;
    if (!is_one_of(code[before - 1], ",>") && !is_word(code[before - 1]))
        return true;
    const size_t statement = statement_begin(code, before);

    if (statement == NOWHERE || is_keyword_before_value(code, before))
        return true;
    return memchr(code + statement, '=', before - statement) &&
           !(code[before - 1] == ',' && begins_declaration(code, statement));
}

/** Checks whether the function that `at` is in has declared the name [begin, end) as an array, or may have. */
static bool is_array(const struct source *source, size_t begin, size_t end)
{
    const char *code = source->code;
    size_t at = source->device_begin;

    while (at > 0 && !is_one_of(code[at - 1], ";}\n")) /* its parameters */
        at--;
    for (; at < begin; at++) {
        if (strncmp(code + at, code + begin, end - begin) != 0 || is_word(code[at - 1]) ||
            is_word(code[at + (end - begin)]))
            continue;
        const size_t before = skip_space_back(code, at), behind = skip_space(code, at + (end - begin));

        if ((code[behind] == '[' || (code[behind] == ')' && code[skip_space(code, behind + 1)] == '[')) &&
            (is_one_of(code[before - 1], "*&,") ||
             (is_word(code[before - 1]) && !is_keyword_before_value(code, before))))
            return true;
    }
    return false;
}

/** Checks whether the `&` that ends at `end` takes an address. */
static bool takes_address(const char *code, size_t end)
{
    return code[end - 1] == '&' && code[end - 2] != '&' && !ends_value(code, end - 1);
}

void rewrite_subscript(struct source *source, size_t at)
{
    const char *code = source->code;
    const size_t begin = chain_begin(code, at);
    const size_t name_end = word_end(code, begin);
    const size_t index = skip_space(code, at + 1);

    if (!in_device_function(source) || begin == at || is_one_of(code[index], "][") || partner(code, at, 1) == NOWHERE)
        return;
    const char next = code[skip_space(code, name_end)];

    if (next == '[' && (is_word_at(code, begin, "auto") || !is_array(source, begin, name_end) || !is_used(code, begin)))
        return;
    copy_to(source, at + 1);
    fputs(takes_address(code, skip_space_back(code, begin)) ? "simt_up_to<decltype(" : "simt_within<decltype(", stdout);
    write_line(source, begin, at);
    fputs(")>() |= ", stdout);
}
