/**
 * @file launches.c
 * @brief Rewrites launches: kernel<<<grid, block>>>(args), launches by the kernel's address, and launch bounds.
 */
#include "rewrite.h"

#include <string.h>

/**
 * Returns the start of the expression in parentheses that ends at `position`, or NOWHERE if the parentheses are those
 * of a call.
 */
static size_t parenthesis_begin(const char *code, size_t position)
{
    const size_t open = matching_bracket(code, position - 1, -1);

    return open == NOWHERE || is_word_character(code[skip_space_back(code, open) - 1]) ? NOWHERE : open;
}

/**
 * Returns the start of the expression that ends at `position` and names a kernel: a name such as a::b<c>::d<e>, an
 * expression in parentheses, or an element or a member of one of these. Returns NOWHERE if there is none.
 */
static size_t kernel_begin(const char *code, size_t position)
{
    while (code[position - 1] != ')') {
        if (is_one_of(code[position - 1], ">]")) {
            const size_t open = matching_bracket(code, position - 1, -1);
            if (open == NOWHERE)
                return NOWHERE;
            position = skip_space_back(code, open);
            continue;
        }
        const size_t name_end = position;
        while (is_word_character(code[position - 1]))
            position--;
        if (position == name_end)
            return NOWHERE;
        const size_t before = skip_space_back(code, position);
        const bool scope = starts_with(code + before - 2, "::"), arrow = starts_with(code + before - 2, "->");
        if (!scope && !arrow && code[before - 1] != '.')
            return position;
        position = skip_space_back(code, before - (scope || arrow ? 2 : 1));
        if (scope && !is_word_character(code[position - 1]) && code[position - 1] != '>')
            return before - 2;
    }
    return parenthesis_begin(code, position);
}

/**
 * Returns the position in [position, limit) of the `>>>` that ends the launch configuration around `position`: the
 * first one outside brackets that is followed by a `(`. A `<` is first tried as the start of template arguments; if the
 * configuration then has no end, the `<` is interpreted as "less than", beginning with the last `<`.
 */
static size_t configuration_end(const char *code, size_t position, size_t limit)
{
    size_t end = NOWHERE; /* a >>> between a < and its >: the end, if that < is "less than" */

    for (; position < limit && code[position] && !is_one_of(code[position], ";)]}\n"); position++) {
        if (starts_with(code + position, ">>>") && code[skip_space(code, position + 3)] == '(')
            return position;
        if (starts_with(code + position, "<<<"))
            break;
        if (starts_with(code + position, "<<")) {
            position++;
            continue;
        }
        if (!is_one_of(code[position], "([{<"))
            continue;
        const size_t close = matching_bracket(code, position, 1);
        if (close == NOWHERE && code[position] == '<')
            continue;
        if (close == NOWHERE)
            break;
        const size_t inside = code[position] == '<' ? configuration_end(code, position + 1, close + 1) : NOWHERE;
        if (inside != NOWHERE)
            end = inside;
        position = close;
    }
    return end;
}

/**
 * Writes [begin, end) as the contents of a string: comments and white space become one space, and quotes are escaped.
 */
static void write_quoted(const struct source *source, size_t begin, size_t end)
{
    for (size_t position = begin; position < end; position++) {
        const bool space = source->code[position] == ' ';

        if (space && source->code[position - 1] == ' ')
            continue;
        if (source->text[position] == '\n' && !space) { /* in a raw string: keeps the kernel's name on one line */
            fputs("\\n", stdout);
            continue;
        }
        if (starts_with(source->text + position, "\\\n") && !space) { /* in a string that continues on the next line */
            position++;
            continue;
        }
        if (is_one_of(source->text[position], "\"\\") && !space)
            putchar('\\');
        putchar(space ? ' ' : source->text[position]);
    }
}

bool rewrite_launch(struct source *source, size_t position)
{
    const char *code = source->code;
    const size_t kernel_end = skip_space_back(code, position);
    const size_t kernel = kernel_begin(code, kernel_end);
    const size_t close = configuration_end(code, position + 3, source->size);

    if (kernel == NOWHERE || kernel < source->num_copied_characters)
        return print_error_at(source, position,
                              "before <<< must stand a kernel's name or an expression in parentheses");
    if (close == NOWHERE)
        return print_error_at(source, position,
                              "after <<< must follow, in the same statement, its >>> and an argument list");
    if (matching_bracket(code, skip_space(code, close + 3), 1) == NOWHERE)
        return print_error_at(source, close, "the argument list after >>> has no end");
    if (in_device_function(source) && !source->in_host_device_function)
        return print_error_at(
            source, position,
            "a kernel cannot launch kernels on the simulator: launch this one from the host, afterwards");

    if (!check_launch_matches_kernel(source, kernel, kernel_end, skip_space(code, close + 3)) ||
        !check_launch_lambdas_are_device(source, skip_space(code, close + 3)))
        return false;

    copy_to_output_until(source, kernel);
    fputs("simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((", stdout);
    copy_to_output_until(source, kernel_end);
    fputs(")), \"", stdout);
    write_quoted(source, kernel, kernel_end);
    fputs("\", ", stdout);
    copy_to_output_until(source, position);
    source->num_copied_characters = position + 3;
    copy_to_output_until(source, close);
    putchar(')');
    source->num_copied_characters = close + 3;
    return true;
}

/** Returns the comma that ends the argument at `position`, or NOWHERE if the call ends first. */
static size_t argument_end(const char *code, size_t position)
{
    for (; code[position] && code[position] != ')'; position++) {
        if (code[position] == ',')
            return position;
        if (is_one_of(code[position], "([{") && (position = matching_bracket(code, position, 1)) == NOWHERE)
            return NOWHERE;
    }
    return NOWHERE;
}

void remove_kernel_cast(struct source *source, size_t name_end, bool kernel_is_second)
{
    const char *code = source->code;
    size_t open = skip_space(code, name_end);

    if (code[open] != '(')
        return;
    if (kernel_is_second && (open = argument_end(code, open + 1)) == NOWHERE)
        return;
    size_t cast = skip_space(code, open + 1), cast_end = cast;

    if (is_word_at(code, cast, "reinterpret_cast"))
        cast_end = skip_space(code, cast + strlen("reinterpret_cast"));
    const size_t close = is_one_of(code[cast_end], "(<") ? matching_bracket(code, cast_end, 1) : NOWHERE;

    if (close == NOWHERE)
        return;
    for (size_t position = cast_end + 1, word; position < close; position = word) {
        word = is_word_character(code[position]) ? word_end(code, position) : position + 1;
        if (!is_one_of(code[position], " *") && !is_word_at(code, position, "void") &&
            !is_word_at(code, position, "const"))
            return;
    }
    copy_to_output_replacing(source, cast, close + 1, "");
}

bool copy_launch_bounds_to_body(struct source *source, size_t keyword_end)
{
    const char *code = source->code;
    const size_t open = skip_space(code, keyword_end);
    const size_t close = code[open] == '(' ? matching_bracket(code, open, 1) : NOWHERE;
    size_t position = close;

    for (; position != NOWHERE && !is_one_of(code[position], "{;}\n") && code[position]; position++) {
        if (code[position] == '(' && (position = matching_bracket(code, position, 1)) == NOWHERE)
            return true;
    }
    if (position == NOWHERE || code[position] != '{')
        return true;
    if (!count_brace_and_mark_blocks(source, position))
        return false;
    copy_to_output_until(source, position + 1);
    fputs(" SIMT_LAUNCH_BOUNDS", stdout);
    write_joined_line(source, open, close + 1);
    return true;
}
