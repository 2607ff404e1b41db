/**
 * @file arithmetic.c
 * @brief Rewrites shifts and casts to integers, so that they give a GPU's results where C++ leaves them undefined.
 */
#include "rewrite.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/**
 * Returns whether the operand at `at` is just a number, not followed by an operator that binds more tightly than a
 * shift.
 */
static bool is_lone_number(const char *code, size_t at)
{
    return isdigit((unsigned char)code[at]) && !is_one_of(code[skip_space(code, word_end(code, at))], "*/%+-");
}

/**
 * Returns whether the >> at `at` may close two template argument lists, because a < precedes it in the same brackets.
 */
static bool may_close_templates(const char *code, size_t at)
{
    while (at-- > 0 && !is_one_of(code[at], "([{;}\n")) {
        if (is_one_of(code[at], ")]") && (at = partner(code, at, -1)) == NOWHERE)
            return true;
        if (code[at] == '<' && code[at - 1] != '<' && code[at + 1] != '<' && code[at + 1] != '=')
            return true;
    }
    return false;
}

/**
 * Returns the end of the name at `at` and of its members, subscripts and calls, as in a.b[i]->c(d), or `at` if there is
 * no name.
 */
static size_t named_value_end(const char *code, size_t at)
{
    size_t end = at;

    for (;; at = skip_space(code, end)) {
        if (is_word(code[at]))
            end = word_end(code, at);
        else if (code[at] == '.' || starts_with(code + at, "->"))
            end = at + 1 + (code[at] == '-');
        else if (is_one_of(code[at], "[(") && partner(code, at, 1) != NOWHERE)
            end = partner(code, at, 1) + 1;
        else
            break;
    }
    return end;
}

/**
 * Returns whether the compound shift whose operator is in [at, end) shifts one variable, not a bit field, by one value.
 */
static bool shifts_variable(const char *code, size_t at, size_t end)
{
    const size_t count = skip_space(code, end);
    const size_t name_end = at = skip_space_back(code, at);

    while (at > 0 && is_word(code[at - 1]))
        at--;
    return at < name_end && is_one_of(code[skip_space_back(code, at) - 1], ";{}(),") && is_word(code[count]) &&
           is_one_of(code[skip_space(code, named_value_end(code, count))], ";),");
}

void rewrite_shift(struct source *source, size_t at)
{
    const char *code = source->code;
    const bool compound = code[at + 2] == '=';
    const size_t end = at + 2 + compound;

    if (!ends_value(code, at) || may_be_fold(code, at) || is_lone_number(code, skip_space(code, end)) ||
        (compound && !shifts_variable(code, at, end)) || (code[at] == '>' && may_close_templates(code, at)) ||
        !in_device_function(source))
        return;
    copy_before(source, end);
    fputs(" simt_count *", stdout);
}

/** Returns the end of the name of an integer type of 4 or 8 bytes, or NOWHERE if there is none at `at`. */
static size_t wide_integer_end(const char *code, size_t at)
{
    static const char *const words[] = {"unsigned", "signed",  "int",    "long",    "int32_t",
                                        "uint32_t", "int64_t", "size_t", "uint64_t"};
    size_t end = NOWHERE;

    for (at = skip_space(code, at); is_word(code[at]); at = skip_space(code, end)) {
        bool known = false;

        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            known = known || is_word_at(code, at, words[i]);
        if (!known)
            return NOWHERE;
        end = word_end(code, at);
    }
    return end;
}

/** Returns whether a cast at `at` would be the operand of a unary operator, which has the precedence of a cast. */
static bool is_operand_of_unary(const char *code, size_t at)
{
    at = skip_space_back(code, at);
    if (at == 0 || is_one_of(code[at - 1], "!~"))
        return true;
    if (!is_one_of(code[at - 1], "+-*&"))
        return false;
    if (code[at - 1] == '&' && code[at - 2] == '&')
        return false;
    return !ends_value(code, at - 1);
}

void rewrite_integer_cast(struct source *source, size_t at)
{
    const char *code = source->code;
    const size_t end = wide_integer_end(code, at + 1);

    if (end == NOWHERE || code[skip_space(code, end)] != ')' || ends_value(code, at) || is_operand_of_unary(code, at) ||
        may_be_fold(code, at))
        return;
    const size_t operand = skip_space(code, skip_space(code, end) + 1);

    if (!(is_word(code[operand]) || is_one_of(code[operand], "(-+~!*&\"")) ||
        (code[operand] == '(' && wide_integer_end(code, operand + 1) != NOWHERE) || !in_device_function(source))
        return;
    replace(source, at, at + 1, "simt_to<");
    copy_to(source, end);
    replace(source, end, skip_space(code, end) + 1, ">()->* ");
}

void rewrite_integer_static_cast(struct source *source, size_t at, size_t end)
{
    const char *code = source->code;
    const size_t open = skip_space(code, end);
    const size_t close = code[open] == '<' ? wide_integer_end(code, open + 1) : NOWHERE;

    if (close != NOWHERE && code[skip_space(code, close)] == '>' && in_device_function(source))
        replace(source, at, end, "simt_cast");
}
