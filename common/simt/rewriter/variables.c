/**
 * @file variables.c
 * @brief Rewrites the declarations of device variables in shared, global and constant memory.
 */
#include "rewrite.h"

#include <stdlib.h>
#include <string.h>

/* --- shared memory ------------------------------------------------------------------------------------------------ */

/** The positions of the parts of a declaration such as `extern __shared__ T name[]`, or name[][N]. */
struct dynamic_array {
    size_t extern_word; /**< NOWHERE if there is no `extern` */
    size_t shared_word;
    size_t name, name_end;
    size_t open, close; /**< the brackets without a size; NOWHERE if all have one */
    size_t semicolon;
};

/**
 * Finds the empty brackets and the `;` of the declaration that contains `position`. Returns false unless the
 * declaration declares exactly one array, with empty brackets.
 */
static bool find_unsized_array(const char *code, size_t position, struct dynamic_array *array)
{
    array->open = NOWHERE;
    for (; code[position] && code[position] != ';'; position++) {
        const bool unsized = code[position] == '[' && code[skip_space(code, position + 1)] == ']';

        if (is_one_of(code[position], "=}\n") || (array->open != NOWHERE && !is_one_of(code[position], "[ ")))
            return false;
        if (unsized && array->open == NOWHERE)
            array->open = position;
        if (is_one_of(code[position], "([{") && (position = matching_bracket(code, position, 1)) == NOWHERE)
            return false;
        if (unsized)
            array->close = position;
    }
    array->semicolon = position;
    return code[position] && array->open != NOWHERE;
}

/** Replaces an alignas after __shared__, where C++ allows an attribute but not alignas. */
static void rewrite_alignas(struct source *source, size_t end)
{
    const size_t position = skip_space(source->code, end);

    if (is_word_at(source->code, position, "alignas"))
        write_replacement(source, position, position + strlen("alignas"), "__align__");
}

/**
 * Writes a pointer to the array's first element in place of the array, because compilers ignore the assembler name of a
 * variable in a template.
 */
static void write_pointer(struct source *source, const struct dynamic_array *array)
{
    const bool rows = source->code[skip_space(source->code, array->close + 1)] == '[';

    write_replacement(source, array->extern_word, array->extern_word + strlen("extern"), "");
    write_replacement(source, array->shared_word, array->shared_word + strlen("__shared__"), "");
    rewrite_alignas(source, array->shared_word + strlen("__shared__"));
    write_replacement(source, array->name, array->name, rows ? "(*const " : "*const ");
    write_replacement(source, array->open, array->close + 1, rows ? ")" : "");
    copy_until(source, array->semicolon);
    fputs(" = (decltype(+", stdout);
    fwrite(source->text + array->name, 1, array->name_end - array->name, stdout);
    fputs("))simt_dynamic_shared", stdout);
}

/**
 * Returns the position after the `;` of the declaration, or NOWHERE if the declaration is in a directive that ends
 * first.
 */
static size_t declaration_end(const char *code, size_t position)
{
    for (; code[position] && !is_one_of(code[position], ")]}\n"); position++) {
        if (code[position] == ';')
            return position + 1;
        if (is_one_of(code[position], "([{") && (position = matching_bracket(code, position, 1)) == NOWHERE)
            return NOWHERE;
    }
    return NOWHERE;
}

static void write_gap(struct source *source, size_t position, const char *gap)
{
    const size_t end = declaration_end(source->code, position);

    if (end == NOWHERE)
        return;
    copy_until(source, end);
    fputs(gap, stdout);
}

/**
 * Returns the position of `word` before `position` in the same declaration, or NOWHERE if there is none or it has
 * already been written.
 */
static size_t find_uncopied(const struct source *source, size_t position, const char *word)
{
    const size_t found = find_word_before(source->code, position, word);

    return found >= source->num_copied ? found : NOWHERE;
}

/** Removes the word `static`, which CUDA allows although shared variables are static anyway. */
static void leave_out_static(struct source *source, size_t position, size_t end)
{
    const size_t before = find_uncopied(source, position, "static"), behind = skip_space(source->code, end);

    if (before != NOWHERE)
        write_replacement(source, before, before + strlen("static"), "");
    if (is_word_at(source->code, behind, "static"))
        write_replacement(source, behind, behind + strlen("static"), "");
}

bool rewrite_shared_variable(struct source *source, size_t position)
{
    struct dynamic_array array = {.extern_word = find_uncopied(source, position, "extern"), .shared_word = position};
    const size_t word = position + strlen("__shared__");
    const bool dynamic = array.extern_word != NOWHERE;

    if (dynamic != find_unsized_array(source->code, word, &array))
        return fail_at(source, position, "dynamic shared memory is declared as: extern __shared__ T name[];");
    if (!dynamic) {
        leave_out_static(source, position, word);
        rewrite_alignas(source, word);
        write_gap(source, word, " SIMT_SHARED_GAP");
        return true;
    }
    array.name = array.name_end = skip_space_back(source->code, array.open);
    while (is_word(source->code[array.name - 1]))
        array.name--;
    if (array.name < word || array.name == array.name_end)
        return fail_at(source, position, "dynamic shared memory needs a name: extern __shared__ T name[];");
    if (source->function_braces > 0) {
        write_pointer(source, &array);
        return true;
    }
    write_replacement(source, position, word, "__thread");
    rewrite_alignas(source, word);
    copy_until(source, array.semicolon);
    fputs(" __asm__(\"simt_dynamic_shared\")", stdout);
    return true;
}

/* --- global and constant memory ----------------------------------------------------------------------------------- */

bool is_attribute(const char *code, size_t position)
{
    static const char *const words[] = {"__align__", "alignas", "__attribute__"};
    position = skip_space_back(code, position);
    const size_t word = word_begin(code, position);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == position - word && starts_with(code + word, words[i]))
            return true;
    return false;
}

/** Returns whether the parentheses at `open` contain the name of a pointer or an array of pointers: `(*name[2])`. */
static bool surrounds_pointer(const char *code, size_t open)
{
    const size_t close = matching_bracket(code, open, 1);

    return close != NOWHERE && code[skip_space(code, open + 1)] == '*' && !memchr(code + open + 1, '(', close - open);
}

/** Returns whether the declaration that continues at `position` declares variables that a kernel may change. */
static bool declares_variable(const char *code, size_t position)
{
    static const char *const constants[] = {"const", NULL};
    bool is_constant = false; /* a pointer to constants is a variable */

    for (; code[position] && !is_one_of(code[position], ")}\n"); position++) {
        if (is_word_at(code, position, "constexpr") || is_word_at(code, position, "operator"))
            return false;
        if (is_word_at(code, position, "const") || code[position] == '*')
            is_constant = code[position] != '*';
        if (is_one_of(code[position], ";=[{"))
            return !is_constant;
        if (code[position] == '(' && surrounds_pointer(code, position))
            return !contains_word(code, position, matching_bracket(code, position, 1), constants);
        if (code[position] == '(' && !is_attribute(code, position))
            return false;
        if (is_one_of(code[position], "(<") && (position = matching_bracket(code, position, 1)) == NOWHERE)
            return false;
    }
    return false;
}

/** Returns whether the declaration at `position` has the name in parentheses, as that of a function pointer does. */
static bool declares_in_parentheses(const char *code, size_t position)
{
    for (; code[position] && !is_one_of(code[position], ";=[{"); position++)
        if (code[position] == '(' && surrounds_pointer(code, position))
            return true;
    return false;
}

bool rewrite_device_variable(struct source *source, size_t position, size_t end, const char *attribute,
                             const char *pointer_attribute, const char *gap)
{
    if (!declares_variable(source->code, end) || find_word_before(source->code, position, "extern") != NOWHERE)
        return true;
    if (find_word_before(source->code, position, "template") != NOWHERE)
        return fail_at(
            source, position,
            "the simulator has no __device__ or __constant__ variables of templates, nor of class templates: "
            "declare a variable for each type");
    write_replacement(source, position, end,
                      declares_in_parentheses(source->code, end) ? pointer_attribute : attribute);
    write_gap(source, end, gap);
    return true;
}

/**
 * Returns whether the current function may be in several object files, so that the linker merges its static variables.
 */
static bool is_merged(const struct source *source)
{
    static const char *const words[] = {"template", "inline", "__forceinline__"};
    bool merged = source->function_braces < source->device_braces; /* the function is in a class */

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        merged = merged || find_word_before(source->code, source->device_begin, words[i]) != NOWHERE;
    return merged;
}

bool rewrite_static_variable(struct source *source, size_t position, size_t end)
{
    static const char *const qualified[] = {"__shared__", "__device__", "__constant__", NULL};
    const char *code = source->code;

    if (!in_device_function(source) || source->is_also_host ||
        find_word_before(code, position, "__shared__") != NOWHERE ||
        contains_word(code, end, end + strcspn(code + end, ";=[{("), qualified) || !declares_variable(code, end))
        return true;
    if (is_merged(source))
        return fail_at(source, position,
                       "a static variable of a template, inline or member function would be the host's: declare it "
                       "__device__, outside the function");
    return rewrite_device_variable(source, position, end, "static SIMT_DEVICE_VARIABLE", "static SIMT_DEVICE_POINTER",
                                   " SIMT_DEVICE_GAP");
}

/** Returns the size of a type of 1, 2 or 4 bytes whose last word is in [begin, end), or 0 for other words. */
static unsigned size_of_type(const char *code, size_t begin, size_t end)
{
    static const char *const types[3][9] = {
        {"char", "bool", "int8_t", "uint8_t", NULL},
        {"short", "half", "__half", "__nv_bfloat16", "int16_t", "uint16_t", NULL},
        {"int", "unsigned", "float", "int32_t", "uint32_t", NULL},
    };

    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (contains_word(code, begin, end, types[i]))
            return 1u << i;
    return 0;
}

/** Returns whether the innermost open brace before `position` is that of a block of statements, not of a class. */
static bool is_in_block(const char *code, size_t position)
{
    static const char *const words[] = {"else", "do", NULL};
    int depth = 1;

    while (position > 0 && depth > 0) {
        position--;
        depth += (code[position] == '}') - (code[position] == '{');
    }
    const size_t before = skip_space_back(code, position);

    return before > 0 &&
           (is_one_of(code[before - 1], ")];{}") || contains_word(code, word_begin(code, before), before, words));
}

/** Returns whether the declaration whose type ends with the word at `position` begins a statement. */
static bool begins_local_declaration(const char *code, size_t position)
{
    static const char *const before_types[] = {"const", "volatile", "constexpr", "unsigned", "signed", NULL};
    size_t begin = skip_space_back(code, position);

    while (begin > 0 && is_word(code[begin - 1]) && contains_word(code, word_begin(code, begin), begin, before_types))
        begin = skip_space_back(code, word_begin(code, begin));
    return begin > 0 && is_one_of(code[begin - 1], ";{}") && is_in_block(code, position);
}

void align_small_array(struct source *source, size_t position, size_t end)
{
    enum { ALIGNED_ANYWAY = 16 };
    const char *const code = source->code;
    const unsigned size = size_of_type(code, position, end);
    const size_t name = skip_space(code, end), open = size && name > end ? skip_space(code, word_end(code, name)) : 0;

    if (size == 0 || !in_device_function(source) || name == end || !is_word(code[name]) || code[open] != '[')
        return;
    const size_t number = skip_space(code, open + 1), close = skip_space(code, word_end(code, number));
    const unsigned long count = strtoul(code + number, NULL, 10);

    if (count >= 2 && count * size < ALIGNED_ANYWAY && code[close] == ']' && code[skip_space(code, close + 1)] != '[' &&
        begins_local_declaration(code, position))
        write_replacement(source, position, position, "SIMT_SMALL_ARRAY ");
}

/** Returns the position of the name that the `tensor_map` before `end` declares, or NOWHERE if it declares no map. */
static size_t declared_map(const char *code, size_t end)
{
    static const char *const qualifiers[] = {"const", "__grid_constant__"};
    size_t position = skip_space(code, end);

    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (is_word_at(code, position, qualifiers[i]))
            position = skip_space(code, word_end(code, position));
    return is_word(code[position]) ? position : NOWHERE; /* otherwise a pointer, a reference or a cast */
}

bool check_map_not_local(const struct source *source, size_t position, size_t end)
{
    static const char *const elsewhere[] = {"__shared__", "static", "extern", NULL};
    size_t statement = position;

    while (statement > 0 && !is_one_of(source->code[statement - 1], ";{}\n"))
        statement--;
    return !in_device_function(source) || source->is_also_host || declared_map(source->code, end) == NOWHERE ||
           contains_word(source->code, statement, position, elsewhere) ||
           fail_at(source, position,
                   "a bulk copy cannot read a tensor map in a local variable: use the kernel's parameter");
}

bool check_map_parameters(const struct source *source, size_t position)
{
    static const char *const constant[] = {"__grid_constant__", NULL};
    const char *const code = source->code;
    size_t parameter = position, name;

    if (find_word_before(code, position, "__global__") == NOWHERE)
        return true;
    for (; code[position] && !is_one_of(code[position], "{;\n"); position++) {
        if (is_one_of(code[position], "(,"))
            parameter = position;
        if (is_word_at(code, position, "tensor_map") &&
            (name = declared_map(code, word_end(code, position))) != NOWHERE &&
            !contains_word(code, parameter, name, constant))
            return fail_at(source, position, "a kernel's tensor map must be a const __grid_constant__ parameter");
    }
    return true;
}
