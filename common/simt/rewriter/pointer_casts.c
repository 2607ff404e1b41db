/**
 * @file pointer_casts.c
 * @brief Passes the operands of casts to pointers to a function from which gcc learns no alignment.
 */
#include "rewrite.h"

#include <string.h>

/**
 * If a pointer to a built-in type of 2 bytes or more is named at `position`, returns the end of the pointer type and
 * stores the type's alignment; otherwise returns NOWHERE.
 */
static size_t pointer_type_end(const char *code, size_t position, unsigned *alignment)
{
    static const char *const qualifiers[] = {"const", "volatile", "signed", "__restrict__", NULL};

    *alignment = 0;
    for (position = skip_space(code, position); is_word_character(code[position]);
         position = skip_space(code, word_end(code, position))) {
        const size_t end = word_end(code, position);
        const unsigned size = size_of_built_in_type(code, position, end);

        if (size > 0)
            *alignment = size;
        else if (!contains_any_word(code, position, end, qualifiers))
            return NOWHERE;
    }
    if (*alignment < 2 || code[position] != '*')
        return NOWHERE;
    position = skip_space(code, position + 1);
    while (is_word_character(code[position]) && contains_any_word(code, position, word_end(code, position), qualifiers))
        position = skip_space(code, word_end(code, position));
    return position;
}

/** Returns whether the parentheses that open at `position` contain a pointer type and are therefore a cast. */
static bool is_pointer_cast(const char *code, size_t position)
{
    const size_t close = matching_bracket(code, position, 1);

    return close != NOWHERE && code[skip_space_back(code, close) - 1] == '*';
}

/**
 * Returns the end of the operand of the cast that ends at `position`, or NOWHERE if the operand is not certainly a name
 * with its members, subscripts and calls, or an expression in parentheses, after further casts to pointers and unary
 * operators.
 */
static size_t operand_end(const char *code, size_t position)
{
    for (position = skip_space(code, position);; position = skip_space(code, position)) {
        if (is_one_of(code[position], "&*") && code[position + 1] != code[position])
            position++;
        else if (code[position] == '(' && is_pointer_cast(code, position))
            position = matching_bracket(code, position, 1) + 1;
        else
            break;
    }
    const size_t end = postfix_expression_end(code, position), behind = skip_space(code, end);

    if (end == position || is_one_of(code[behind], "<:\"'{") || starts_with(code + behind, "++") ||
        starts_with(code + behind, "--"))
        return NOWHERE;
    /* The parentheses may be a cast to a type that is not known here, whose operand begins behind them. */
    if (code[position] == '(' && end == matching_bracket(code, position, 1) + 1 && is_one_of(code[behind], "&*+-!~"))
        return NOWHERE;
    return end;
}

/** Encloses [begin, end) in a call of simt_of_unknown_alignment(). */
static bool enclose(struct source *source, size_t begin, size_t end, unsigned alignment)
{
    const char *const call = alignment == 2   ? "simt_of_unknown_alignment<2>("
                             : alignment == 4 ? "simt_of_unknown_alignment<4>("
                             : alignment == 8 ? "simt_of_unknown_alignment<8>("
                                              : "simt_of_unknown_alignment<16>(";

    if (!add_insertion(source, begin, call) || !add_insertion(source, end, ")"))
        return false;
    sort_insertions(source);
    return true;
}

bool hide_pointer_cast_alignment(struct source *source, size_t position)
{
    const char *const code = source->code;
    unsigned alignment;
    const size_t close = pointer_type_end(code, position + 1, &alignment);

    if (close == NOWHERE || code[close] != ')' || value_ends_at(code, position) || !in_device_function(source))
        return true;
    const size_t end = operand_end(code, close + 1);

    return end == NOWHERE || enclose(source, close + 1, end, alignment);
}

bool hide_reinterpret_cast_alignment(struct source *source, size_t end)
{
    const char *const code = source->code;
    const size_t less = skip_space(code, end);
    unsigned alignment;
    const size_t greater = code[less] == '<' ? pointer_type_end(code, less + 1, &alignment) : NOWHERE;
    const size_t open = greater != NOWHERE && code[greater] == '>' ? skip_space(code, greater + 1) : 0;
    const size_t close = open > 0 && code[open] == '(' ? matching_bracket(code, open, 1) : NOWHERE;

    return close == NOWHERE || !in_device_function(source) || enclose(source, open + 1, close, alignment);
}
