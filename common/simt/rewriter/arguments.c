/**
 * @file arguments.c
 * @brief Marks arguments that are structures in memory and are passed by value, because gcc does not instrument the
 *        loads that copy such an argument:
 *
 *     f(s[k], n)                  ->   f(simt_checked_argument(s[k]), n)        if the file declares f(type name, ...)
 *     s[k] + *t                   ->   simt_checked_argument(s[k]) + simt_checked_argument(*t)
 *                                                                      if it declares operator+(type name, type name)
 *
 * simt_checked_argument() checks the load and returns its operand. A function is identified by its name and its number
 * of parameters. The names of function objects are unknown, so a call of an unknown name counts as one of the file's
 * operator().
 */
#include "arguments.h"

#include <ctype.h>
#include <string.h>

#define OPERATORS "+-*/%&|^<>=!"

bool read_argument_list(const char *code, size_t open, size_t close, struct argument_list *list)
{
    size_t begin = open + 1;

    list->num_arguments = 0;
    for (size_t position = begin; position <= close; position++) {
        const bool is_template = code[position] == '<' && is_word_character(code[skip_space_back(code, position) - 1]);

        if (position < close && (is_one_of(code[position], "([{") || is_template)) {
            const size_t end = matching_bracket(code, position, 1);

            if (end != NOWHERE && end < close)
                position = end;
            else if (!is_template)
                return false;
            continue;
        }
        if (position < close && code[position] != ',')
            continue;
        const size_t first = skip_space(code, begin), last = skip_space_back(code, position);

        if (first < last) {
            if (list->num_arguments == MAX_PARAMETERS)
                return false;
            list->begin[list->num_arguments] = first;
            list->end[list->num_arguments++] = last;
        }
        begin = position + 1;
    }
    return true;
}

/**
 * Returns whether the word in [begin, end) is certainly not the name of a class: a built-in type, a keyword, or a name
 * that ends in _t.
 */
static bool is_no_class(const char *code, size_t begin, size_t end)
{
    static const char *const words[] = {"void",   "bool",     "char",   "short",  "int",    "long",  "float", "double",
                                        "signed", "unsigned", "auto",   "return", "delete", "throw", "new",   "else",
                                        "case",   "goto",     "sizeof", "using",  "class",  NULL};

    return contains_any_word(code, begin, end, words) || (end - begin > 2 && starts_with(code + end - 2, "_t"));
}

/** Returns whether the file defines the class whose name is in [begin, end). */
static bool is_defined_class(const char *code, size_t begin, size_t end)
{
    static const char *const words[] = {"struct", "class", "union"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (const char *found = strstr(code, words[i]); found; found = strstr(found + 1, words[i])) {
            const size_t name = skip_space(code, (size_t)(found - code) + strlen(words[i]));

            if (strncmp(code + name, code + begin, end - begin) == 0 && word_end(code, name) == name + (end - begin))
                return true;
        }
    }
    return false;
}

/**
 * Returns whether the parameter in [begin, end) is passed by value and may be a class, that is, whether it consists of
 * a type's name and another name. Sets *is_class if the file defines the class.
 */
static bool is_by_value(const char *code, size_t begin, size_t end, bool *is_class)
{
    const char *const value = memchr(code + begin, '=', end - begin);

    if (value)
        end = skip_space_back(code, (size_t)(value - code));
    for (size_t position = begin; position < end; position++)
        if (is_one_of(code[position], "&*[(."))
            return false;
    if (is_word_at(code, begin, "const") || is_word_at(code, begin, "struct"))
        begin = skip_space(code, word_end(code, begin));
    size_t position = word_end(code, begin);

    if (position == begin || is_no_class(code, begin, position))
        return false;
    *is_class = is_defined_class(code, begin, position) || starts_with(code + begin, "std");
    while (starts_with(code + position, "::"))
        position = word_end(code, position + 2);
    position = skip_space(code, position);
    if (code[position] == '<' && matching_bracket(code, position, 1) != NOWHERE)
        position = skip_space(code, matching_bracket(code, position, 1) + 1);
    return is_word_character(code[position]) && word_end(code, position) == end;
}

/** Returns whether a parameter declares a name after a type, which an argument of a call cannot do. */
static bool is_declared(const char *code, size_t begin, size_t end)
{
    const size_t first = word_end(code, begin);
    const size_t second = skip_space(code, first);

    return first > begin && second < end && !is_keyword_before_value(code, first) &&
           (is_word_character(code[second]) || (is_one_of(code[second], "*&") && second == first));
}

/**
 * Returns the function with this name and number of parameters, or NULL. The empty range [begin, begin) is operator().
 */
static struct declared_function *find_function(const struct source *source, size_t begin, size_t end, unsigned count)
{
    for (size_t i = 0; i < source->num_functions; i++) {
        struct declared_function *const function = &source->functions[i];

        if (function->num_parameters == count && function->name_length == end - begin &&
            strncmp(source->code + function->name_begin, source->code + begin, end - begin) == 0)
            return function;
    }
    return NULL;
}

/** Adds the function whose parameters are between `open` and `close`. Returns false after an error message. */
static bool add_function(struct source *source, size_t begin, size_t end, const struct argument_list *parameters)
{
    uint32_t by_value = 0, classes = 0;
    bool declares = false;

    for (unsigned i = 0; i < parameters->num_arguments; i++) {
        bool is_class = false;

        declares = declares || is_declared(source->code, parameters->begin[i], parameters->end[i]);
        if (!is_by_value(source->code, parameters->begin[i], parameters->end[i], &is_class))
            continue;
        by_value |= 1u << i;
        classes |= (uint32_t)is_class << i;
    }
    struct declared_function *const known = find_function(source, begin, end, parameters->num_arguments);

    if (!declares && by_value == 0)
        return true;
    if (known) {
        known->by_value_parameter_mask &= by_value;
        known->class_parameter_mask &= classes;
        return true;
    }
    if (!reserve_array_entry(source, begin, (void **)&source->functions, source->num_functions,
                             &source->function_capacity, sizeof *source->functions))
        return false;
    source->functions[source->num_functions++] = (struct declared_function){
        begin, end - begin, parameters->num_arguments, by_value, classes};
    return true;
}

/** Returns the start of the word, or of the `operator` with a symbol, that ends at `end`; `end` if there is neither. */
static size_t name_begin(const char *code, size_t end)
{
    size_t begin = word_begin(code, end), word;

    if (begin < end)
        return begin;
    while (begin > 0 && is_one_of(code[begin - 1], OPERATORS))
        begin--;
    word = skip_space_back(code, begin);
    return begin < end && word >= 8 && is_word_at(code, word - 8, "operator") ? word - 8 : end;
}

bool find_declared_functions(struct source *source)
{
    const char *const code = source->code;

    for (size_t position = 0; code[position]; position++) {
        if (code[position] != '(')
            continue;
        const size_t close = matching_bracket(code, position, 1), end = skip_space_back(code, position);
        const size_t begin = name_begin(code, end);
        struct argument_list parameters;
        const bool is_functor = end >= 1 && code[end - 1] == ')' && end >= 10 &&
                                starts_with(code + end - 10, "operator()");

        if (close == NOWHERE || (begin == end && !is_functor) ||
            !read_argument_list(code, position, close, &parameters))
            continue;
        if (parameters.num_arguments > 0 && !add_function(source, begin, end, &parameters))
            return false;
    }
    return true;
}

/**
 * Returns whether an argument is an element or a member in memory: a chain such as a.b[i]->c that contains a subscript
 * or an arrow, or a dereferenced chain. `is_class` means that its type is certainly a class, so it is not a bit-field.
 */
static bool is_in_memory(const char *code, size_t position, size_t end, bool is_class)
{
    bool accesses = code[position] == '*', is_member = false;

    if (code[position] == '(' && matching_bracket(code, position, 1) == end - 1)
        return is_in_memory(code, skip_space(code, position + 1), skip_space_back(code, end - 1), is_class);
    if (accesses)
        position = skip_space(code, position + 1);
    const size_t name_end = word_end(code, position);

    if (name_end == position || isdigit((unsigned char)code[position]))
        return false;
    for (position = skip_space(code, name_end); position < end; position = skip_space(code, position)) {
        is_member = false;
        if (code[position] == '[') {
            accesses = true;
            position = matching_bracket(code, position, 1);
            if (position++ == NOWHERE)
                return false;
        } else if (code[position] == '.' || starts_with(code + position, "->")) {
            accesses = accesses || code[position] == '-';
            is_member = true;
            position = skip_space(code, position + (code[position] == '.' ? 1 : 2));
            position = word_end(code, position);
        } else {
            return false;
        }
    }
    return accesses && position == skip_space(code, end) && (!is_member || is_class);
}

/**
 * Returns whether the parentheses at `open` and `close` enclose a pointer that is declared, as in `type (*name)[2]` or
 * `type (*name)(int)`, rather than an argument of a function with the name in [begin, end).
 */
static bool encloses_declarator(const struct source *source, size_t begin, size_t end, size_t open, size_t close)
{
    const char *const code = source->code;
    const size_t star = skip_space(code, open + 1), before = skip_space_back(code, begin);
    bool is_function = false;

    if (code[star] != '*' || !is_one_of(code[skip_space(code, close + 1)], "[("))
        return false;
    for (size_t i = 0; i < source->num_functions && !is_function; i++)
        is_function = source->functions[i].name_length == end - begin &&
                      strncmp(code + source->functions[i].name_begin, code + begin, end - begin) == 0;
    return is_no_class(code, begin, end) || is_defined_class(code, begin, end) ||
           (!is_function && before > 0 &&
            (is_word_character(code[before - 1]) || is_one_of(code[before - 1], ";{}(,<:\n")));
}

/** Marks the arguments of the call whose function name is in [begin, end) and whose parenthesis is at `open`. */
static bool mark_call(struct source *source, size_t begin, size_t end, size_t open)
{
    const size_t close = matching_bracket(source->code, open, 1);
    struct argument_list arguments;
    const struct declared_function *function = NULL;

    if (close == NOWHERE || encloses_declarator(source, begin, end, open, close) ||
        !read_argument_list(source->code, open, close, &arguments))
        return true;
    for (unsigned count = arguments.num_arguments; count <= MAX_PARAMETERS && !function; count++)
        function = find_function(source, begin, end, count); /* the last parameters may have default values */
    const size_t type_end = skip_space_back(source->code, begin);

    if (!function) /* type name(arguments) calls the constructor */
        function = find_function(source, name_begin(source->code, type_end), type_end, arguments.num_arguments);
    if (!function)
        function = find_function(source, begin, begin, arguments.num_arguments);
    for (unsigned i = 0; function && i < arguments.num_arguments; i++) {
        const size_t first = arguments.begin[i], last = arguments.end[i];

        if (!(function->by_value_parameter_mask >> i & 1) ||
            !is_in_memory(source->code, first, last, function->class_parameter_mask >> i & 1))
            continue;
        if (!add_insertion(source, first, "simt_checked_argument(") || !add_insertion(source, last, ")"))
            return false;
    }
    return true;
}

/**
 * Returns the file's operator with the symbol in [begin, end) if it takes its first (or second) operand by value,
 * otherwise NULL. *parameter is the operand's number among the operator's parameters.
 */
static const struct declared_function *find_operator(const struct source *source, size_t begin, size_t end, bool second,
                                                     unsigned *parameter)
{
    for (size_t i = 0; i < source->num_functions; i++) {
        const struct declared_function *const function = &source->functions[i];
        const size_t symbol = skip_space(source->code, function->name_begin + 8),
                     name_end = function->name_begin + function->name_length;

        *parameter = second ? function->num_parameters - 1 : 0;
        if (function->name_length > 8 && is_word_at(source->code, function->name_begin, "operator") &&
            name_end - symbol == end - begin &&
            strncmp(source->code + symbol, source->code + begin, end - begin) == 0 &&
            function->num_parameters == (second ? function->num_parameters : 2) &&
            function->by_value_parameter_mask >> *parameter & 1)
            return function;
    }
    return NULL;
}

/** Returns the end of the chain of members and subscripts, such as *a.b[i]->c, that begins at `position`. */
static size_t chain_end(const char *code, size_t position)
{
    size_t end = code[position] == '*' ? skip_space(code, position + 1) : position;

    for (end = word_end(code, end);;) {
        const size_t next = skip_space(code, end);

        if (code[next] == '[' && matching_bracket(code, next, 1) != NOWHERE)
            end = matching_bracket(code, next, 1) + 1;
        else if (code[next] == '.' || starts_with(code + next, "->"))
            end = word_end(code, skip_space(code, next + (code[next] == '.' ? 1 : 2)));
        else
            return code[next] == '(' ? position : end;
    }
}

/** Returns the end of the operator that begins at `position`. */
static size_t operator_end(const char *code, size_t position)
{
    const bool is_double = code[position + 1] == code[position] && is_one_of(code[position], "+-&|<>=");
    size_t end = position + (is_double ? 2 : 1);

    if (code[end] == '=' && is_one_of(code[position], OPERATORS))
        end++;
    return end;
}

/** Marks the operands of the operator whose symbol is in [begin, end), if it is one of the file's operators. */
static bool mark_operands(struct source *source, size_t begin, size_t end)
{
    const char *const code = source->code;
    const size_t left_end = skip_space_back(code, begin), right = skip_space(code, end);
    size_t left = member_chain_begin(code, left_end);
    unsigned number;
    const struct declared_function *function = find_operator(source, begin, end, false, &number);

    if (!value_ends_at(code, begin))
        return true;
    const size_t star = skip_space_back(code, left);

    if (left < left_end && star > 0 && code[star - 1] == '*' && !value_ends_at(code, star - 1))
        left = star - 1;
    if (function && is_in_memory(code, left, left_end, function->class_parameter_mask >> number & 1) &&
        !(add_insertion(source, left, "simt_checked_argument(") && add_insertion(source, left_end, ")")))
        return false;
    function = find_operator(source, begin, end, true, &number);
    const size_t right_end = chain_end(code, right);

    return !function || right_end == right ||
           !is_in_memory(code, right, right_end, function->class_parameter_mask >> number & 1) ||
           (add_insertion(source, right, "simt_checked_argument(") && add_insertion(source, right_end, ")"));
}

bool mark_struct_arguments(struct source *source, size_t begin, size_t end)
{
    const char *const code = source->code;

    for (size_t position = begin; position < end; position++) {
        const size_t name_end = word_end(code, position);
        size_t open = skip_space(code, name_end);

        if (is_one_of(code[position], OPERATORS) && !is_one_of(code[position - 1], OPERATORS) &&
            !mark_operands(source, position, operator_end(code, position)))
            return false;
        if (name_end == position || isdigit((unsigned char)code[position]))
            continue;
        if (code[open] == '<' && matching_bracket(code, open, 1) != NOWHERE)
            open = skip_space(code, matching_bracket(code, open, 1) + 1);
        if (code[open] == '(' && !is_keyword_before_value(code, name_end) &&
            !mark_call(source, position, name_end, open))
            return false;
        position = name_end - 1;
    }
    return true;
}
