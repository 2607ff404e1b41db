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
        copy_to_output_replacing(source, position, position + strlen("alignas"), "__align__");
}

/**
 * Writes a pointer to the array's first element in place of the array, because compilers ignore the assembler name of a
 * variable in a template.
 */
static void write_pointer(struct source *source, const struct dynamic_array *array)
{
    const bool rows = source->code[skip_space(source->code, array->close + 1)] == '[';

    copy_to_output_replacing(source, array->extern_word, array->extern_word + strlen("extern"), "");
    copy_to_output_replacing(source, array->shared_word, array->shared_word + strlen("__shared__"), "");
    rewrite_alignas(source, array->shared_word + strlen("__shared__"));
    copy_to_output_replacing(source, array->name, array->name, rows ? "(*const " : "*const ");
    copy_to_output_replacing(source, array->open, array->close + 1, rows ? ")" : "");
    copy_to_output_until(source, array->semicolon);
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

/** Writes the text up to the end of the declaration at `position`, and a gap behind it. */
static void write_gap(struct source *source, size_t position, const char *gap)
{
    const size_t end = declaration_end(source->code, position);

    if (end == NOWHERE)
        return;
    copy_to_output_until(source, end);
    fputs(gap, stdout);
}

/**
 * Returns the position of the next comma after `position`, outside brackets and template arguments, before the
 * declaration ends at `end`; NOWHERE if there is none.
 */
static size_t next_declarator(const char *code, size_t position, size_t end)
{
    for (; position < end && code[position] != ';'; position++) {
        const bool is_template = code[position] == '<' && position > 0 && is_word_character(code[position - 1]);
        const size_t close = is_template || is_one_of(code[position], "([{") ? matching_bracket(code, position, 1)
                                                                             : NOWHERE;

        if (code[position] == ',')
            return position;
        position = close < end ? close : position;
    }
    return NOWHERE;
}

/**
 * Returns the end of the type that begins at `position`, which is where the first declared name, or a `*` before it,
 * begins. Returns NOWHERE if the type is not just a name with attributes and template arguments.
 */
static size_t type_end(const char *code, size_t position, size_t end)
{
    size_t name = NOWHERE; /* the last word */

    for (position = skip_space(code, position); position < end; position = skip_space(code, position)) {
        const size_t next = word_end(code, position);
        const size_t open = skip_space(code, next);

        if (next == position && starts_with(code + position, "::")) {
            position += 2;
        } else if (next == position && code[position] == '<' && name != NOWHERE) {
            position = matching_bracket(code, position, 1);
            if (position == NOWHERE)
                return NOWHERE;
            position++;
        } else if (next == position) {
            return is_one_of(code[position], "*(") ? position : is_one_of(code[position], "[=,;{") ? name : NOWHERE;
        } else if (is_word_at(code, position, "__align__") && code[open] == '(') {
            position = matching_bracket(code, open, 1);
            if (position == NOWHERE)
                return NOWHERE;
            position++;
        } else if (is_word_at(code, position, "alignas") || is_word_at(code, position, "__attribute__") ||
                   is_word_at(code, position, "struct") || is_word_at(code, position, "union") ||
                   is_word_at(code, position, "enum") || is_word_at(code, position, "class")) {
            return NOWHERE;
        } else {
            name = position;
            position = next;
        }
    }
    return NOWHERE;
}

/** Writes [begin, end) of the code, with one blank behind it, or nothing if there are only blanks. */
static void write_words(const char *code, size_t begin, size_t end)
{
    begin = skip_space(code, begin);
    end = skip_space_back(code, end);
    if (begin < end) {
        fwrite(code + begin, 1, end - begin, stdout);
        putchar(' ');
    }
}

/**
 * Writes a declaration of several variables, `qualifier` T a, b;, as one declaration for each, so that a gap follows
 * each variable. `position` is that of the qualifier, whose replacement has been written; `end` is the position behind
 * it. A declaration that is not understood keeps its form, and gets one gap.
 */
static void write_gaps(struct source *source, size_t position, size_t end, const char *qualifier, const char *gap)
{
    const char *const code = source->code;
    const size_t last = declaration_end(code, end);
    size_t begin = position;

    while (begin > 0 && !is_one_of(code[begin - 1], ";{}\n"))
        begin--;
    begin = skip_space(code, begin);
    const size_t type = last == NOWHERE ? NOWHERE : type_end(code, end, last);
    const bool is_simple = type != NOWHERE && strcspn(code + begin, "*&(<[\"=") >= position - begin &&
                           !memchr(code + end, '"', type - end);

    for (size_t comma = is_simple ? next_declarator(code, type, last) : NOWHERE; comma != NOWHERE;
         comma = next_declarator(code, comma + 1, last)) {
        copy_to_output_until(source, comma);
        printf(";%s ", gap);
        write_words(code, begin, position);
        write_words(qualifier, 0, strlen(qualifier));
        write_words(code, end, type);
        source->num_copied_characters = comma + 1;
    }
    write_gap(source, end, gap);
}

/**
 * Returns the position of `word` before `position` in the same declaration, or NOWHERE if there is none or it has
 * already been written.
 */
static size_t find_uncopied(const struct source *source, size_t position, const char *word)
{
    const size_t found = find_word_earlier_in_declaration(source->code, position, word);

    return found >= source->num_copied_characters ? found : NOWHERE;
}

/** Removes the word `static`, which CUDA allows although shared variables are static anyway. */
static void leave_out_static(struct source *source, size_t position, size_t end)
{
    const size_t before = find_uncopied(source, position, "static"), behind = skip_space(source->code, end);

    if (before != NOWHERE)
        copy_to_output_replacing(source, before, before + strlen("static"), "");
    if (is_word_at(source->code, behind, "static"))
        copy_to_output_replacing(source, behind, behind + strlen("static"), "");
}

/**
 * Writes `text` in place of the qualifier in [position, end), behind the attributes that follow it, because `text` has
 * words that may not stand before them.
 */
static void write_qualifier(struct source *source, size_t position, size_t end, const char *text)
{
    const char *const code = source->code;
    size_t behind = end;

    for (size_t next = skip_space(code, end);; next = skip_space(code, behind)) {
        const size_t word = word_end(code, next), open = skip_space(code, word);
        const bool alignment = is_word_at(code, next, "alignas") && code[open] == '(';
        const size_t close = alignment                        ? matching_bracket(code, open, 1)
                             : starts_with(code + next, "[[") ? matching_bracket(code, next, 1)
                                                              : NOWHERE;

        if (close == NOWHERE)
            break;
        behind = close + 1;
    }
    if (behind > end) {
        copy_to_output_replacing(source, position, end, "");
        copy_to_output_until(source, behind);
        putchar(' ');
        position = end = behind;
    }
    copy_to_output_replacing(source, position, end, text);
}

/**
 * Returns the position of the `=` or `{` that initialises a variable of the declaration at `position`, or NOWHERE if
 * there is none.
 */
static size_t find_initializer(const char *code, size_t position)
{
    static const char *const classes[] = {"struct", "class", "union", "enum", NULL};
    const size_t begin = position;

    for (; code[position] && !is_one_of(code[position], ";)}\n"); position++) {
        const bool is_template = code[position] == '<' && is_word_character(code[skip_space_back(code, position) - 1]);

        if (code[position] == '=' || (code[position] == '{' && !contains_any_word(code, begin, position, classes)))
            return position;
        if ((is_template || is_one_of(code[position], "([{")) &&
            (position = matching_bracket(code, position, 1)) == NOWHERE)
            return NOWHERE;
    }
    return NOWHERE;
}

/** Checks that the variable whose `__shared__` is at `position` is not initialised, nor in a host function. */
static bool check_shared_variable(const struct source *source, size_t position)
{
    if (source->num_open_conditionals > 0)
        return true;
    if (source->num_braces_at_function > 0 && source->in_host_only_function && !in_device_function(source))
        return print_error_at(
            source, position,
            "a __shared__ variable declaration is not allowed inside a host function body: only kernels and "
            "__device__ functions have shared memory");
    return find_initializer(source->code, position) == NOWHERE ||
           print_error_at(
               source, position,
               "initializer not allowed for __shared__ variable: shared memory has no initial value; let threads "
               "write it, then __syncthreads()");
}

bool rewrite_shared_variable(struct source *source, size_t position)
{
    struct dynamic_array array = {.extern_word = find_uncopied(source, position, "extern"), .shared_word = position};
    const size_t word = position + strlen("__shared__");
    const bool dynamic = array.extern_word != NOWHERE;

    if (!check_shared_variable(source, position))
        return false;
    if (dynamic != find_unsized_array(source->code, word, &array))
        return print_error_at(source, position, "dynamic shared memory is declared as: extern __shared__ T name[];");
    if (!dynamic) {
        leave_out_static(source, position, word);
        if (starts_with(source->code + skip_space(source->code, word), "[["))
            write_qualifier(source, position, word, "__shared__");
        rewrite_alignas(source, word);
        write_gap(source, word, " SIMT_GAP_AFTER_SHARED_VARIABLE");
        return true;
    }
    array.name = array.name_end = skip_space_back(source->code, array.open);
    while (is_word_character(source->code[array.name - 1]))
        array.name--;
    if (array.name < word || array.name == array.name_end)
        return print_error_at(source, position, "dynamic shared memory needs a name: extern __shared__ T name[];");
    if (source->num_braces_at_function > 0) {
        write_pointer(source, &array);
        return true;
    }
    copy_to_output_replacing(source, position, word, "__thread");
    rewrite_alignas(source, word);
    copy_to_output_until(source, array.semicolon);
    fputs(" __asm__(\"simt_dynamic_shared\")", stdout);
    return true;
}

/* --- global and constant memory ----------------------------------------------------------------------------------- */

bool is_attribute_parenthesis(const char *code, size_t position)
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

enum declared { NO_VARIABLE, VARIABLE, CONSTANT, COMPILE_TIME_CONSTANT };

/** Updates what a declaration declares after its next word or character, at `position`, before the declared name. */
static void step_declared(const char *code, size_t position, enum declared *declared)
{
    if (is_word_at(code, position, "constexpr"))
        *declared = COMPILE_TIME_CONSTANT;
    else if (*declared != COMPILE_TIME_CONSTANT && is_word_at(code, position, "const"))
        *declared = CONSTANT;
    else if (*declared != COMPILE_TIME_CONSTANT && code[position] == '*') /* a pointer to constants is a variable */
        *declared = VARIABLE;
}

/**
 * Returns what is declared by the declaration whose qualifier is at [qualifier, position): nothing, variables that a
 * kernel may change, or constants.
 */
static enum declared find_declared(const char *code, size_t qualifier, size_t position)
{
    static const char *const constants[] = {"const", NULL};
    enum declared declared = VARIABLE;
    size_t begin = qualifier;

    while (begin > 0 && !is_one_of(code[begin - 1], ";{}\n"))
        begin--;
    for (; begin < qualifier; begin++)
        step_declared(code, begin, &declared);
    for (; code[position] && !is_one_of(code[position], ")}\n"); position++) {
        if (is_word_at(code, position, "operator"))
            return NO_VARIABLE;
        step_declared(code, position, &declared);
        if (starts_with(code + position, "[[") && matching_bracket(code, position, 1) != NOWHERE)
            position = matching_bracket(code, position, 1);
        else if (is_one_of(code[position], ";=[{"))
            return declared;
        else if (code[position] == '(' && surrounds_pointer(code, position))
            return contains_any_word(code, position, matching_bracket(code, position, 1), constants) ? CONSTANT
                                                                                                     : VARIABLE;
        else if (code[position] == '(' && !is_attribute_parenthesis(code, position))
            return NO_VARIABLE;
        else if (is_one_of(code[position], "(<") && (position = matching_bracket(code, position, 1)) == NOWHERE)
            return NO_VARIABLE;
    }
    return code[position] == '\n' && declared != VARIABLE && is_word_at(code, qualifier, "__constant__")
               ? declared /* in a macro; no function has this qualifier */
               : NO_VARIABLE;
}

/** Returns whether the declaration at `position` has the name in parentheses, as that of a function pointer does. */
static bool declares_in_parentheses(const char *code, size_t position)
{
    for (; code[position] && !is_one_of(code[position], ";=[{"); position++)
        if (code[position] == '(' && surrounds_pointer(code, position))
            return true;
    return false;
}

/**
 * Replaces the qualifier at [position, end) in a declaration of constants, because compilers do not place constants in
 * the same section as variables. Compilers store those of a template or with `inline` in sections of their own.
 */
static bool rewrite_device_constant(struct source *source, size_t position, size_t end,
                                    const struct variable_qualifier_replacements *replacements, bool is_checked)
{
    static const char *const inlined[] = {"inline", NULL};
    const char *const code = source->code;

    if (find_word_earlier_in_declaration(code, position, "template") != NOWHERE ||
        find_word_earlier_in_declaration(code, position, "inline") != NOWHERE ||
        contains_any_word(code, end, end + strcspn(code + end, ";=[{("), inlined)) {
        copy_to_output_replacing(source, position, end, replacements->const_of_template);
        return true;
    }
    const bool is_extern = find_word_earlier_in_declaration(code, position, "extern") != NOWHERE;

    if (is_extern && *replacements->const_of_template) /* __device__: the definition says where the constant is */
        return true;
    write_qualifier(source, position, end,
                    is_checked ? replacements->const_variable : replacements->const_variable_no_constinit);
    if (!is_extern)
        write_gaps(source, position, end,
                   is_checked ? replacements->const_variable : replacements->const_variable_no_constinit,
                   replacements->const_gap);
    return true;
}

/** Returns whether [position, end) is a `__device__` beside another qualifier, as in `__device__ __constant__`. */
static bool is_qualified_otherwise(const char *code, size_t position, size_t end)
{
    static const char *const others[] = {"__constant__", "__shared__", NULL};

    if (!is_word_at(code, position, "__device__"))
        return false;
    while (position > 0 && !is_one_of(code[position - 1], ";{}\n"))
        position--;
    return contains_any_word(code, position, end + strcspn(code + end, ";=[{("), others);
}

bool rewrite_device_variable(struct source *source, size_t position, size_t end,
                             const struct variable_qualifier_replacements *replacements)
{
    const enum declared declared = find_declared(source->code, position, end);
    const bool is_extern = find_word_earlier_in_declaration(source->code, position, "extern") != NOWHERE;
    const bool is_template = find_word_earlier_in_declaration(source->code, position, "template") != NOWHERE;
    const bool in_declarator = declares_in_parentheses(source->code, end) ||
                               source->code[skip_space_back(source->code, position) - 1] == '*';

    if (declared == NO_VARIABLE || is_qualified_otherwise(source->code, position, end))
        return true;
    if (declared != VARIABLE)
        return rewrite_device_constant(source, position, end, replacements, declared == CONSTANT && !in_declarator);
    if (is_extern)
        return true;
    if (is_template)
        return print_error_at(
            source, position,
            "the simulator has no __device__ or __constant__ variables of templates, nor of class templates: "
            "declare a variable for each type");
    write_qualifier(source, position, end,
                    in_declarator ? replacements->variable_no_constinit : replacements->variable);
    write_gaps(source, position, end, in_declarator ? replacements->variable_no_constinit : replacements->variable,
               replacements->gap);
    return true;
}

/**
 * Returns whether the current function may be in several object files, so that the linker merges its static variables.
 */
static bool is_merged(const struct source *source)
{
    static const char *const words[] = {"template", "inline", "__forceinline__"};
    const size_t head = declaration_begin_before_brace(source->code, source->device_body_begin);
    bool merged = source->num_braces_at_function <
                  source->num_braces_at_device_function; /* the function is in a class */

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        merged = merged ||
                 find_word_outside_parentheses(source->code, head, source->device_body_begin, words[i]) != NOWHERE;
    return merged;
}

bool rewrite_static_variable(struct source *source, size_t position, size_t end)
{
    static const char *const qualified[] = {"__shared__", "__device__", "__constant__", NULL};
    const char *code = source->code;

    if (!in_device_function(source) || source->in_host_device_function ||
        find_word_earlier_in_declaration(code, position, "__shared__") != NOWHERE ||
        contains_any_word(code, end, end + strcspn(code + end, ";=[{("), qualified) ||
        find_declared(code, position, end) != VARIABLE)
        return true;
    if (is_merged(source))
        return print_error_at(
            source, position,
            "a static variable of a template, inline or member function would be the host's: declare it "
            "__device__, outside the function");
    static const struct variable_qualifier_replacements replacements = {
        .variable = "static SIMT_DEVICE_VARIABLE",
        .variable_no_constinit = "static SIMT_DEVICE_VARIABLE_NO_CONSTINIT",
        .gap = " SIMT_GAP_AFTER_DEVICE_VARIABLE"};

    return rewrite_device_variable(source, position, end, &replacements);
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
           (is_one_of(code[before - 1], ")];{}") || contains_any_word(code, word_begin(code, before), before, words));
}

/** Returns whether the declaration whose type ends with the word at `position` begins a statement. */
static bool begins_local_declaration(const char *code, size_t position)
{
    static const char *const before_types[] = {"const", "volatile", "constexpr", "unsigned", "signed", NULL};
    size_t begin = skip_space_back(code, position);

    while (begin > 0 && is_word_character(code[begin - 1]) &&
           contains_any_word(code, word_begin(code, begin), begin, before_types))
        begin = skip_space_back(code, word_begin(code, begin));
    return begin > 0 && is_one_of(code[begin - 1], ";{}") && is_in_block(code, position);
}

void align_small_array(struct source *source, size_t position, size_t end)
{
    enum { ALIGNED_ANYWAY = 16 };
    const char *const code = source->code;
    const unsigned size = size_of_built_in_type(code, position, end);
    const size_t name = skip_space(code, end), open = size && name > end ? skip_space(code, word_end(code, name)) : 0;

    if (size == 0 || !in_device_function(source) || name == end || !is_word_character(code[name]) || code[open] != '[')
        return;
    const size_t number = skip_space(code, open + 1), close = skip_space(code, word_end(code, number));
    const unsigned long count = strtoul(code + number, NULL, 10);

    if (count >= 2 && count * size < ALIGNED_ANYWAY && code[close] == ']' && code[skip_space(code, close + 1)] != '[' &&
        begins_local_declaration(code, position))
        copy_to_output_replacing(source, position, position, "SIMT_NVCC_SMALL_ARRAY_ALIGNMENT ");
}

/** Returns the position of the name that the `tensor_map` before `end` declares, or NOWHERE if it declares no map. */
static size_t declared_map(const char *code, size_t end)
{
    static const char *const qualifiers[] = {"const", "__grid_constant__"};
    size_t position = skip_space(code, end);

    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (is_word_at(code, position, qualifiers[i]))
            position = skip_space(code, word_end(code, position));
    return is_word_character(code[position]) ? position : NOWHERE; /* otherwise a pointer, a reference or a cast */
}

bool check_tensor_map_not_local(const struct source *source, size_t position, size_t end)
{
    static const char *const elsewhere[] = {"__shared__", "static", "extern", NULL};
    size_t statement = position;

    while (statement > 0 && !is_one_of(source->code[statement - 1], ";{}\n"))
        statement--;
    return !in_device_function(source) || source->in_host_device_function ||
           declared_map(source->code, end) == NOWHERE ||
           contains_any_word(source->code, statement, position, elsewhere) ||
           print_error_at(source, position,
                          "a bulk copy cannot read a tensor map in a local variable: use the kernel's parameter");
}

bool check_tensor_maps_are_grid_constant(const struct source *source, size_t position)
{
    static const char *const constant[] = {"__grid_constant__", NULL};
    const char *const code = source->code;
    size_t parameter = position, name;

    if (find_word_earlier_in_declaration(code, position, "__global__") == NOWHERE)
        return true;
    for (; code[position] && !is_one_of(code[position], "{;\n"); position++) {
        if (is_one_of(code[position], "(,"))
            parameter = position;
        if (is_word_at(code, position, "tensor_map") &&
            (name = declared_map(code, word_end(code, position))) != NOWHERE &&
            !contains_any_word(code, parameter, name, constant))
            return print_error_at(source, position,
                                  "a kernel's tensor map must be a const __grid_constant__ parameter");
    }
    return true;
}
