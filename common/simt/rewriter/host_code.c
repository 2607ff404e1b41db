/** @file host_code.c  Rejects uses of kernels, device functions and the built-in variables that nvcc rejects too. */
#include "rewrite.h"

#include <string.h>

/** Returns the first occurrence of the word in [begin, end) at or after `position`, or NOWHERE. */
static size_t next_use(const char *code, size_t position, size_t begin, size_t end)
{
    for (const char *found = strchr(code + position, code[begin]); found; found = strchr(found + 1, code[begin])) {
        const size_t here = (size_t)(found - code);

        if (strncmp(found, code + begin, end - begin) == 0 && !is_word(found[end - begin]) &&
            (here == 0 || !is_word(found[-1])))
            return here;
    }
    return NOWHERE;
}

/** Returns whether a type may end at `end`, so that a name after it is declared. */
static bool may_end_type(const char *code, size_t end)
{
    return end > 0 && !is_keyword_before_value(code, end) &&
           (is_word(code[end - 1]) || is_one_of(code[end - 1], "*&>"));
}

/**
 * Returns whether the name at `position` is declared there as a function, that is, whether a type precedes the name. In
 * `T (*name)[2]`, T is not such a name.
 */
static bool declares_function(const char *code, size_t position, size_t end)
{
    const size_t open = skip_space(code, end);

    return code[open] == '(' && !is_one_of(code[skip_space(code, open + 1)], "*&") &&
           may_end_type(code, skip_space_back(code, position));
}

/**
 * Returns whether the name at `position` may be declared there as a variable or a parameter, which hides a function.
 */
static bool may_declare_variable(const char *code, size_t position, size_t end)
{
    return is_one_of(code[skip_space(code, end)], "=;,{)[") && may_end_type(code, skip_space_back(code, position));
}

/**
 * Returns the attribute, `__global__` or `__device__`, with which the file declares the function whose name is in
 * [begin, end). Returns NULL if the function may also be a host function or may be declared elsewhere, or if a variable
 * may have its name.
 */
static const char *device_attribute(const char *code, size_t begin, size_t end)
{
    const char *attribute = NULL;

    for (size_t position = next_use(code, 0, begin, end); position != NOWHERE;
         position = next_use(code, position + 1, begin, end)) {
        if (may_declare_variable(code, position, position + (end - begin)))
            return NULL;
        if (!declares_function(code, position, position + (end - begin)))
            continue;
        if (find_word_before(code, position, "__global__") != NOWHERE)
            attribute = "__global__";
        else if (find_word_before(code, position, "__device__") != NOWHERE &&
                 find_word_before(code, position, "__host__") == NOWHERE)
            attribute = "__device__";
        else
            return NULL;
    }
    return attribute;
}

/**
 * Returns whether the name in [position, end) is called and is neither a member's name nor that of a function in a
 * header.
 */
static bool is_call(const char *code, size_t position, size_t end)
{
    static const char *const of_headers[] = {"min", "max", "abs", "swap", "clamp", "round", "pow", NULL};
    static const char *const unevaluated[] = {"decltype", "sizeof", "noexcept", NULL};
    const size_t before = skip_space_back(code, position), word = before > 0 ? skip_space_back(code, before - 1) : 0;
    size_t open = skip_space(code, end);

    if (code[open] == '<' && code[open + 1] != '<') {
        const size_t close = matching_bracket(code, open, 1);

        open = close == NOWHERE ? open : skip_space(code, close + 1);
    }
    return code[open] == '(' && !declares_function(code, position, end) && before > 0 && code[before - 1] != '.' &&
           !(before > 1 && (starts_with(code + before - 2, "->") || starts_with(code + before - 2, "::"))) &&
           !contains_word(code, position, end, of_headers) &&
           !(code[before - 1] == '(' && contains_word(code, word_begin(code, word), word, unevaluated));
}

/**
 * Returns whether the word in [position, end) names a built-in variable and the file has no variable with that name.
 */
static bool is_built_in(const char *code, size_t position, size_t end)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};

    if (!contains_word(code, position, end, names))
        return false;
    for (size_t use = next_use(code, 0, position, end); use != NOWHERE; use = next_use(code, use + 1, position, end))
        if (code[skip_space(code, use + (end - position))] != '.')
            return false;
    return true;
}

bool check_host_word(const struct source *source, size_t position, size_t end)
{
    const char *const code = source->code;
    const int length = (int)(end - position < 100 ? end - position : 100);
    char what[300];

    if (source->function_braces == 0 || !source->is_host_only || in_device_function(source) ||
        source->num_open_conditionals > 0)
        return true;
    if (is_built_in(code, position, end)) {
        snprintf(what, sizeof what, "%.*s exists in kernels only: the host knows the size of the launch from <<<>>>",
                 length, code + position);
        return fail_at(source, position, what);
    }
    const char *const attribute = is_call(code, position, end) ? device_attribute(code, position, end) : NULL;

    if (!attribute)
        return true;
    snprintf(what, sizeof what,
             strcmp(attribute, "__global__") == 0
                 ? "%.*s is a kernel, which the host launches: %.*s<<<blocks, threads>>>(...)"
                 : "%.*s is a __device__ function, which the host cannot call: declare %.*s __host__ __device__",
             length, code + position, length, code + position);
    return fail_at(source, position, what);
}

bool check_not_member(const struct source *source, size_t position)
{
    return source->function_braces == 0 || find_word_before(source->code, position, "friend") != NOWHERE ||
           find_word_before(source->code, position, "extern") != NOWHERE || source->num_open_conditionals > 0 ||
           fail_at(source, position,
                   "a kernel cannot be a member of a class: declare it outside, for example as a template");
}

bool check_grid_constant(const struct source *source, size_t position)
{
    static const char *const constant[] = {"const", NULL};
    const char *const code = source->code;
    size_t begin = position, end = position;

    while (begin > 0 && !is_one_of(code[begin - 1], "(,;{}\n")) {
        const size_t open = code[begin - 1] == '>' ? matching_bracket(code, begin - 1, -1) : NOWHERE;

        begin = open == NOWHERE ? begin - 1 : open;
    }
    while (code[end] && !is_one_of(code[end], "),;{}\n")) {
        const size_t close = code[end] == '<' ? matching_bracket(code, end, 1) : NOWHERE;

        end = close == NOWHERE ? end + 1 : close + 1;
    }
    return contains_word(code, begin, end, constant) || begin == 0 || code[begin - 1] == '\n' ||
           fail_at(source, position, "a __grid_constant__ parameter must be const");
}
