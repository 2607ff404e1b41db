/** @file host_code.c  Rejects uses of kernels, device functions and the built-in variables that nvcc rejects too. */
#include "arguments.h"
#include "declared_names.h"
#include "rewrite.h"

#include <limits.h>
#include <string.h>

/**
 * Returns whether the word in [position, end) names a built-in variable and the file has no variable with that name.
 */
static bool is_built_in(const char *code, size_t position, size_t end)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};

    if (!contains_any_word(code, position, end, names))
        return false;
    for (size_t use = find_next_occurrence(code, 0, position, end); use != NOWHERE;
         use = find_next_occurrence(code, use + 1, position, end))
        if (code[skip_space(code, use + (end - position))] != '.')
            return false;
    return true;
}

/* --- kernels and their launches ----------------------------------------------------------------------------------- */

/** Returns the position behind the template arguments at `position`, or `position` if there are none. */
static size_t skip_template_arguments(const char *code, size_t position)
{
    const bool are_there = code[position] == '<' && !starts_with(code + position, "<<<");
    const size_t close = are_there ? matching_bracket(code, position, 1) : NOWHERE;

    return close == NOWHERE ? position : skip_space(code, close + 1);
}

/** Returns whether the name at `position` is declared there as a function that certainly belongs to the host. */
static bool declares_host_function(const char *code, size_t position, size_t end)
{
    size_t begin = position;

    while (begin > 0 && !is_one_of(code[begin - 1], ";{}\n"))
        begin--;
    begin = skip_space(code, begin);
    if (is_word_at(code, begin, "template"))
        begin = skip_template_arguments(code, skip_space(code, word_end(code, begin)));
    return is_declared_here_as_function(code, position, end) && begin < position &&
           are_certainly_type_and_specifiers(code, begin, position);
}

/** Returns whether the body of the function that is declared with the name at `name_end` contains `position`. */
static bool contains(const char *code, size_t name_end, size_t position)
{
    const size_t close = matching_bracket(code, skip_space(code, name_end), 1);
    const size_t body = close == NOWHERE ? NOWHERE : skip_space(code, close + 1);
    int depth = 0;

    if (body == NOWHERE || code[body] != '{' || body > position)
        return false;
    for (size_t at = body; at < position; at++) {
        depth += (code[at] == '{') - (code[at] == '}');
        if (depth == 0)
            return false;
    }
    return true;
}

/**
 * Returns the declaration of the name in [begin, end) if the name can only be that of a host function of the file,
 * otherwise NOWHERE. A function that contains `launch`, a launch of this name, may be the host's part of a kernel in a
 * header.
 */
static size_t host_function(const char *code, size_t begin, size_t end, size_t launch)
{
    size_t declaration = NOWHERE;

    for (size_t position = find_next_occurrence(code, 0, begin, end); position != NOWHERE;
         position = find_next_occurrence(code, position + 1, begin, end)) {
        const size_t name_end = position + (end - begin);

        if (may_be_declared_here_as_variable(code, position, name_end))
            return NOWHERE;
        if (!is_declared_here_as_function(code, position, name_end))
            continue;
        if (!declares_host_function(code, position, name_end) || contains(code, name_end, launch))
            return NOWHERE;
        declaration = declaration == NOWHERE ? position : declaration;
    }
    return declaration;
}

/** Reports that the function declared at `declaration` is launched without being a kernel. Returns false. */
static bool fail_no_global(const struct source *source, size_t declaration)
{
    const int length = (int)(word_end(source->code, declaration) - declaration);
    char what[300];

    snprintf(
        what, sizeof what, "%.*s is launched by <<<>>>, but has no __global__: declare it as __global__ void %.*s(...)",
        length < 80 ? length : 80, source->code + declaration, length < 80 ? length : 80, source->code + declaration);
    return print_error_at(source, declaration, what);
}

/** Reports that the __device__ function in [position, end) is launched. Returns false. */
static bool fail_device_launch(const struct source *source, size_t position, size_t end)
{
    const int length = (int)(end - position < 80 ? end - position : 80);
    char what[300];

    snprintf(what, sizeof what,
             "a __device__ function call cannot be configured: %.*s is launched by <<<>>>, so declare it as __global__ "
             "void %.*s(...)",
             length, source->code + position, length, source->code + position);
    return print_error_at(source, position, what);
}

/** Returns the position of the first launch of the name in [begin, end), or NOWHERE. */
static size_t find_launch(const char *code, size_t begin, size_t end)
{
    size_t position = find_next_occurrence(code, 0, begin, end);

    while (position != NOWHERE &&
           !starts_with(code + skip_template_arguments(code, skip_space(code, position + (end - begin))), "<<<"))
        position = find_next_occurrence(code, position + 1, begin, end);
    return position;
}

/** Checks that no host function that encloses `position` is launched as a kernel. */
static bool check_not_launched(const struct source *source, size_t position)
{
    const char *const code = source->code;
    int depth = source->num_open_braces - source->num_braces_at_function + 1;
    size_t body = position;

    while (body > 0 && depth > 0) {
        body--;
        depth += (code[body] == '}') - (code[body] == '{');
    }
    const size_t close = skip_space_back(code, body);
    const size_t open = close > 0 && code[close - 1] == ')' ? matching_bracket(code, close - 1, -1) : NOWHERE;

    if (open == NOWHERE)
        return true;
    const size_t end = skip_space_back(code, open), begin = word_begin(code, end);
    const size_t launch = begin < end ? find_launch(code, begin, end) : NOWHERE;
    const size_t declaration = launch == NOWHERE ? NOWHERE : host_function(code, begin, end, launch);

    return declaration == NOWHERE || fail_no_global(source, declaration);
}

/** Checks that the kernel in [begin, end) is declared with as many parameters as the list at `open` has arguments. */
static bool check_argument_count(const struct source *source, size_t begin, size_t end, size_t open)
{
    const char *const code = source->code;
    const size_t close = matching_bracket(code, open, 1);
    unsigned fewest, most = UINT_MAX;
    struct argument_list arguments;
    char what[200];

    if (close == NOWHERE || comma_count_is_uncertain(code, open, close, "<\n#") ||
        !read_argument_list(code, open, close, &arguments))
        return true;
    for (size_t position = find_next_occurrence(code, 0, begin, end); position != NOWHERE;
         position = find_next_occurrence(code, position + 1, begin, end)) {
        const size_t name_end = position + (end - begin);

        if (!is_declared_here_as_function(code, position, name_end))
            continue;
        if (!read_parameter_counts(code, skip_space(code, name_end), &fewest, &most) ||
            (arguments.num_arguments >= fewest && arguments.num_arguments <= most))
            return true;
    }
    if (most == UINT_MAX)
        return true;
    snprintf(what, sizeof what, "%.*s has %u parameter%s, but the launch passes %u argument%s",
             (int)(end - begin < 80 ? end - begin : 80), code + begin, most, most == 1 ? "" : "s",
             arguments.num_arguments, arguments.num_arguments == 1 ? "" : "s");
    return print_error_at(source, begin, what);
}

bool check_launch_matches_kernel(struct source *source, size_t kernel, size_t kernel_end, size_t arguments_open)
{
    const char *const code = source->code;
    const size_t end = word_end(code, kernel), checked = source->checked_launch_kernel;

    if (end == kernel || source->num_open_conditionals > 0 ||
        skip_space_back(code, skip_template_arguments(code, skip_space(code, end))) != kernel_end)
        return true;
    /* A file may launch one kernel thousands of times; its declarations are searched for only at the first of them. */
    if (checked == 0 || strncmp(code + checked, code + kernel, end - kernel) != 0 ||
        is_word_character(code[checked + (end - kernel)])) {
        const size_t declaration = host_function(code, kernel, end, kernel);

        if (declaration != NOWHERE)
            return fail_no_global(source, declaration);
        const char *const attribute = device_attribute_of_function(code, kernel, end);

        if (attribute && strcmp(attribute, "__device__") == 0)
            return fail_device_launch(source, kernel, end);
        source->checked_launch_kernel = kernel;
        source->checked_kernel_is_own = attribute && strcmp(attribute, "__global__") == 0;
    }
    return !source->checked_kernel_is_own || check_argument_count(source, kernel, end, arguments_open);
}

/* --- words of host functions -------------------------------------------------------------------------------------- */

bool check_no_device_or_kernel_call_in_host_function(const struct source *source, size_t position, size_t end)
{
    const char *const code = source->code;
    const int length = (int)(end - position < 100 ? end - position : 100);
    char what[300];

    if (source->num_braces_at_function == 0 || !source->in_host_only_function || in_device_function(source) ||
        source->num_open_conditionals > 0)
        return true;
    if (is_built_in(code, position, end)) {
        if (!check_not_launched(source, position))
            return false;
        snprintf(what, sizeof what,
                 "%.*s exists in kernels and __device__ functions only; on the host, use the size given in <<<>>>",
                 length, code + position);
        return print_error_at(source, position, what);
    }
    const char *const attribute = is_free_function_call(code, position, end) &&
                                          any_overload_may_accept_call(code, position, end) &&
                                          !is_c_library_host_function(code, position)
                                      ? device_attribute_of_function(code, position, end)
                                      : NULL;

    if (!attribute)
        return check_no_device_intrinsic_in_host_function(source, position, end);
    snprintf(
        what, sizeof what,
        strcmp(attribute, "__global__") == 0
            ? "a __global__ function call must be configured: %.*s<<<blocks, threads>>>(...)"
            : "calling a __device__ function(\"%.*s\") from a __host__ function is not allowed: declare it __host__ "
              "__device__",
        length, code + position);
    return print_error_at(source, position, what);
}

bool check_kernel_not_member(const struct source *source, size_t position)
{
    return source->num_braces_at_function == 0 ||
           find_word_earlier_in_declaration(source->code, position, "friend") != NOWHERE ||
           find_word_earlier_in_declaration(source->code, position, "extern") != NOWHERE ||
           source->num_open_conditionals > 0 ||
           print_error_at(source, position,
                          "a kernel cannot be a member of a class: declare it outside, for example as a template");
}

bool check_grid_constant_is_const(const struct source *source, size_t position)
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
    return contains_any_word(code, begin, end, constant) || begin == 0 || code[begin - 1] == '\n' ||
           print_error_at(source, position, "a __grid_constant__ parameter must be const");
}
