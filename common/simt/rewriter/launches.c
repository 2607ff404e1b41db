/**
 * @file launches.c
 * @brief Rewrites launches: kernel<<<grid, block>>>(args), launches by the kernel's address, and launch bounds.
 */
#include "rewrite.h"

#include <string.h>

/**
 * Returns the start of the expression in parentheses that ends at `at`, or NOWHERE if the parentheses are those of a
 * call.
 */
static size_t parenthesis_begin(const char *code, size_t at)
{
    const size_t open = partner(code, at - 1, -1);

    return open == NOWHERE || is_word(code[skip_space_back(code, open) - 1]) ? NOWHERE : open;
}

/**
 * Returns the start of the expression that ends at `at` and names a kernel: a name such as a::b<c>::d<e>, an expression
 * in parentheses, or an element or a member of one of these. Returns NOWHERE if there is none.
 */
static size_t kernel_begin(const char *code, size_t at)
{
    while (code[at - 1] != ')') {
        if (is_one_of(code[at - 1], ">]")) {
            const size_t open = partner(code, at - 1, -1);
            if (open == NOWHERE)
                return NOWHERE;
            at = skip_space_back(code, open);
            continue;
        }
        const size_t name_end = at;
        while (is_word(code[at - 1]))
            at--;
        if (at == name_end)
            return NOWHERE;
        const size_t before = skip_space_back(code, at);
        const bool scope = starts_with(code + before - 2, "::"), arrow = starts_with(code + before - 2, "->");
        if (!scope && !arrow && code[before - 1] != '.')
            return at;
        at = skip_space_back(code, before - (scope || arrow ? 2 : 1));
        if (scope && !is_word(code[at - 1]) && code[at - 1] != '>')
            return before - 2;
    }
    return parenthesis_begin(code, at);
}

/**
 * Returns the position in [at, limit) of the `>>>` that ends the launch configuration around `at`: the first one
 * outside brackets that is followed by a `(`. A `<` is first tried as the start of template arguments; if the
 * configuration then has no end, the `<` is interpreted as "less than", beginning with the last `<`.
 */
static size_t configuration_end(const char *code, size_t at, size_t limit)
{
    size_t end = NOWHERE; /* a >>> between a < and its >: the end, if that < is "less than" */

    for (; at < limit && code[at] && !is_one_of(code[at], ";)]}\n"); at++) {
        if (starts_with(code + at, ">>>") && code[skip_space(code, at + 3)] == '(')
            return at;
        if (starts_with(code + at, "<<<"))
            break;
        if (starts_with(code + at, "<<")) {
            at++;
            continue;
        }
        if (!is_one_of(code[at], "([{<"))
            continue;
        const size_t close = partner(code, at, 1);
        if (close == NOWHERE && code[at] == '<')
            continue;
        if (close == NOWHERE)
            break;
        const size_t inside = code[at] == '<' ? configuration_end(code, at + 1, close + 1) : NOWHERE;
        if (inside != NOWHERE)
            end = inside;
        at = close;
    }
    return end;
}

/**
 * Writes [begin, end) as the contents of a string: comments and white space become one space, and quotes are escaped.
 */
static void write_quoted(const struct source *source, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        const bool space = source->code[at] == ' ';

        if (space && source->code[at - 1] == ' ')
            continue;
        if (source->text[at] == '\n' && !space) { /* in a raw string: keeps the kernel's name on one line */
            fputs("\\n", stdout);
            continue;
        }
        if (starts_with(source->text + at, "\\\n") && !space) { /* in a string that continues on the next line */
            at++;
            continue;
        }
        if (is_one_of(source->text[at], "\"\\") && !space)
            putchar('\\');
        putchar(space ? ' ' : source->text[at]);
    }
}

bool rewrite_launch(struct source *source, size_t at)
{
    const char *code = source->code;
    const size_t kernel_end = skip_space_back(code, at);
    const size_t kernel = kernel_begin(code, kernel_end);
    const size_t close = configuration_end(code, at + 3, source->size);

    if (kernel == NOWHERE || kernel < source->copied)
        return fail(source, at, "before <<< must stand a kernel's name or an expression in parentheses");
    if (close == NOWHERE)
        return fail(source, at, "after <<< must follow, in the same statement, its >>> and an argument list");
    if (partner(code, skip_space(code, close + 3), 1) == NOWHERE)
        return fail(source, close, "the argument list after >>> has no end");
    if (in_device_function(source) && !source->host_too)
        return fail(source, at,
                    "a kernel cannot launch kernels on the simulator: launch this one from the host, afterwards");

    copy_to(source, kernel);
    fputs("simt_launch(SIMT_KERNEL((", stdout);
    copy_to(source, kernel_end);
    fputs(")), \"", stdout);
    write_quoted(source, kernel, kernel_end);
    fputs("\", ", stdout);
    copy_to(source, at);
    source->copied = at + 3;
    copy_to(source, close);
    putchar(')');
    source->copied = close + 3;
    return true;
}

/** Returns the comma that ends the argument at `at`, or NOWHERE if the call ends first. */
static size_t argument_end(const char *code, size_t at)
{
    for (; code[at] && code[at] != ')'; at++) {
        if (code[at] == ',')
            return at;
        if (is_one_of(code[at], "([{") && (at = partner(code, at, 1)) == NOWHERE)
            return NOWHERE;
    }
    return NOWHERE;
}

void rewrite_launch_call(struct source *source, size_t end, bool second)
{
    const char *code = source->code;
    size_t open = skip_space(code, end);

    if (code[open] != '(')
        return;
    if (second && (open = argument_end(code, open + 1)) == NOWHERE)
        return;
    size_t cast = skip_space(code, open + 1), cast_end = cast;

    if (is_word_at(code, cast, "reinterpret_cast"))
        cast_end = skip_space(code, cast + strlen("reinterpret_cast"));
    const size_t close = is_one_of(code[cast_end], "(<") ? partner(code, cast_end, 1) : NOWHERE;

    if (close == NOWHERE)
        return;
    for (size_t at = cast_end + 1, word; at < close; at = word) {
        word = is_word(code[at]) ? word_end(code, at) : at + 1;
        if (!is_one_of(code[at], " *") && !is_word_at(code, at, "void") && !is_word_at(code, at, "const"))
            return;
    }
    replace(source, cast, close + 1, "");
}

bool rewrite_launch_bounds(struct source *source, size_t end)
{
    const char *code = source->code;
    const size_t open = skip_space(code, end);
    const size_t close = code[open] == '(' ? partner(code, open, 1) : NOWHERE;
    size_t at = close;

    for (; at != NOWHERE && !is_one_of(code[at], "{;}\n") && code[at]; at++) {
        if (code[at] == '(' && (at = partner(code, at, 1)) == NOWHERE)
            return true;
    }
    if (at == NOWHERE || code[at] != '{')
        return true;
    if (!count_brace(source, at))
        return false;
    copy_to(source, at + 1);
    fputs(" SIMT_LAUNCH_BOUNDS", stdout);
    write_line(source, open, close + 1);
    return true;
}
