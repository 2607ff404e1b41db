/**
 * @file arithmetic.c
 * @brief Rewrites shifts and casts to integers, so that they give a GPU's results where C++ leaves them undefined.
 */
#include "rewrite.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/**
 * Returns whether the operand at `position` is just a number, not followed by an operator that binds more tightly than
 * a shift.
 */
static bool is_lone_number(const char *code, size_t position)
{
    return isdigit((unsigned char)code[position]) &&
           !is_one_of(code[skip_space(code, word_end(code, position))], "*/%+-");
}

/**
 * Returns whether the >> at `position` may close two template argument lists, because a < precedes it in the same
 * brackets.
 */
static bool may_close_templates(const char *code, size_t position)
{
    while (position-- > 0 && !is_one_of(code[position], "([{;}\n")) {
        if (is_one_of(code[position], ")]") && (position = matching_bracket(code, position, -1)) == NOWHERE)
            return true;
        if (code[position] == '<' && code[position - 1] != '<' && code[position + 1] != '<' &&
            code[position + 1] != '=')
            return true;
    }
    return false;
}

/**
 * Returns whether the compound shift whose operator is in [position, end) shifts one variable, not a bit field, by one
 * value.
 */
static bool shifts_variable(const char *code, size_t position, size_t end)
{
    const size_t count = skip_space(code, end);
    const size_t name_end = position = skip_space_back(code, position);

    while (position > 0 && is_word_character(code[position - 1]))
        position--;
    return position < name_end && is_one_of(code[skip_space_back(code, position) - 1], ";{}(),") &&
           is_word_character(code[count]) &&
           is_one_of(code[skip_space(code, postfix_expression_end(code, count))], ";),");
}

void rewrite_shift(struct source *source, size_t position)
{
    const char *code = source->code;
    const bool compound = code[position + 2] == '=';
    const size_t end = position + 2 + compound;

    if (!value_ends_at(code, position) || may_be_in_fold_expression(code, position) ||
        is_lone_number(code, skip_space(code, end)) || (compound && !shifts_variable(code, position, end)) ||
        (code[position] == '>' && may_close_templates(code, position)) || !in_device_function(source))
        return;
    copy_to_output_before_insertions(source, end);
    fputs(" simt_shift_count *", stdout);
}

/** Returns the end of the name of an integer type of 4 or 8 bytes, or NOWHERE if there is none at `position`. */
static size_t wide_integer_end(const char *code, size_t position)
{
    static const char *const words[] = {"unsigned", "signed",  "int",    "long",    "int32_t",
                                        "uint32_t", "int64_t", "size_t", "uint64_t"};
    size_t end = NOWHERE;

    for (position = skip_space(code, position); is_word_character(code[position]); position = skip_space(code, end)) {
        bool known = false;

        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            known = known || is_word_at(code, position, words[i]);
        if (!known)
            return NOWHERE;
        end = word_end(code, position);
    }
    return end;
}

/**
 * Returns whether a cast at `position` would be the operand of a unary operator, which has the precedence of a cast.
 */
static bool is_operand_of_unary(const char *code, size_t position)
{
    position = skip_space_back(code, position);
    if (position == 0 || is_one_of(code[position - 1], "!~"))
        return true;
    if (!is_one_of(code[position - 1], "+-*&"))
        return false;
    if (code[position - 1] == '&' && code[position - 2] == '&')
        return false;
    return !value_ends_at(code, position - 1);
}

void rewrite_integer_cast(struct source *source, size_t position)
{
    const char *code = source->code;
    const size_t end = wide_integer_end(code, position + 1);

    if (end == NOWHERE || code[skip_space(code, end)] != ')' || value_ends_at(code, position) ||
        is_operand_of_unary(code, position) || may_be_in_fold_expression(code, position))
        return;
    const size_t operand = skip_space(code, skip_space(code, end) + 1);

    if (!(is_word_character(code[operand]) || is_one_of(code[operand], "(-+~!*&\"")) ||
        (code[operand] == '(' && wide_integer_end(code, operand + 1) != NOWHERE) || !in_device_function(source))
        return;
    copy_to_output_replacing(source, position, position + 1, "simt_cast_to_integer_as_gpu_to<");
    copy_to_output_until(source, end);
    copy_to_output_replacing(source, end, skip_space(code, end) + 1, ">()->* ");
}

void rewrite_integer_static_cast(struct source *source, size_t position, size_t end)
{
    const char *code = source->code;
    const size_t open = skip_space(code, end);
    const size_t close = code[open] == '<' ? wide_integer_end(code, open + 1) : NOWHERE;

    if (close != NOWHERE && code[skip_space(code, close)] == '>' && in_device_function(source))
        copy_to_output_replacing(source, position, end, "simt_cast_to_integer_as_gpu");
}
