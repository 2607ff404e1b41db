/**
 * @file mark_blocks.c
 * @brief Inserts a mark at the beginning of each basic block of the source, so that the counters count these blocks and
 *        not those of the compiler's output.
 *
 * A block is a stretch of code that, as far as the source shows, is executed together and to its end by all lanes that
 * enter it. A block begins at the start of a kernel, of each side of an `if`, of each iteration of a loop, at each
 * label of a `switch`, at the right operand of && and ||, at a side of a ?: that calls a function or accesses memory,
 * and after a statement that contains any of these:
 *
 *     if (a) x; else y; z;        ->   if (a) { SIMT_BASIC_BLOCK; x; } else { SIMT_BASIC_BLOCK; y; } SIMT_BASIC_BLOCK;
 *                                      z;
 *     for (;;) x; z;              ->   for (;;) { SIMT_LOOP_ITERATION; x; } SIMT_BASIC_BLOCK; z;     and while, and do
 *     case 1: x;                  ->   case 1: SIMT_BASIC_BLOCK; x;
 *     v = a && b; z;              ->   v = a && SIMT_AND_OPERAND && b; SIMT_BASIC_BLOCK; z;     || has SIMT_OR_OPERAND
 *     v = a ? f() : 0; z;         ->   v = a ? (SIMT_CONDITIONAL_OPERAND, f()) : 0; SIMT_BASIC_BLOCK; z;
 *     v = a ? b : -b;             ->   unchanged: a select, whatever a compiler generates for it
 *     __device__ int f() { ... }  ->   __device__ int f() { SIMT_CALLED_FUNCTION; ... }     if it has blocks or arrays
 *     f(a && b);                  ->   f( SIMT_RECONVERGE_EXPRESSION_BEGIN a && SIMT_AND_OPERAND && b
 *                                          SIMT_RECONVERGE_EXPRESSION_END);     in the middle of a statement
 *
 * Only the device with 64 lanes uses SIMT_RECONVERGE_EXPRESSION_BEGIN and SIMT_RECONVERGE_EXPRESSION_END: lanes that
 * diverge in the part of the expression between them reconverge at its end. No block begins there. The two marks are
 * left out where a && or ?: may belong to template arguments, as in f(a<b && c>(d)), and in a part that a directive
 * divides.
 *
 * Host functions are marked as well, because a macro may hide a function's `__device__`; on the host the marks do
 * nothing. The last statement of a side of an `if` or of a function needs no mark after it, because a mark follows the
 * `if` or the call anyway. A constexpr function gets no marks. A function gets none, except for a kernel's first, if a
 * conditional directive separates a head from its body or an `if` from its `else`, or chooses between two opening
 * braces or two `?`. A && directly after a directive is not marked.
 */
#include "mark_blocks.h"

#include "arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/**
 * The state of a function's traversal. Each walk_...() returns the position after the code that it walked through, or
 * NOWHERE if it could not parse that code.
 */
struct walk {
    struct source *source;
    const char *code;
    int quiet;   /* above 0: the code is not evaluated, or no mark may be inserted */
    int depth;   /* nesting depth of statements and brackets */
    bool failed; /* out of memory */
};

static size_t walk_statement(struct walk *walk, size_t position, bool *parted);
static size_t walk_function(struct walk *walk, size_t position, const char *first_mark);

static void mark(struct walk *walk, size_t position, const char *text)
{
    if (walk->quiet == 0 && !add_insertion(walk->source, position, text))
        walk->failed = true;
}

/**
 * Returns the position after white space, comments and directives. Sets *divided if one of the directives is an #if,
 * #elif, #else or #endif.
 */
static size_t skip_blank(const char *code, size_t position, bool *divided)
{
    for (position += strspn(code + position, " \n"); code[position] == '#';
         position += strspn(code + position, " \n")) {
        const size_t word = skip_space(code, position + 1);

        *divided = *divided || starts_with(code + word, "if") || starts_with(code + word, "el") ||
                   starts_with(code + word, "endif");
        position += strcspn(code + position, "\n");
    }
    return position;
}

/* --- expressions -------------------------------------------------------------------------------------------------- */

/**
 * Returns whether the word in [position, end), which is followed by a parenthesis, is not the name of a called function
 * but a type, `return`, or an operator such as sizeof, which evaluates nothing.
 */
static bool is_no_call(const char *code, size_t position, size_t end)
{
    static const char *const words[] = {"sizeof",   "alignof",  "decltype", "bool",    "char",       "short",
                                        "int",      "long",     "float",    "double",  "unsigned",   "signed",
                                        "size_t",   "int8_t",   "int16_t",  "int32_t", "int64_t",    "uint8_t",
                                        "uint16_t", "uint32_t", "uint64_t", "return",  "static_cast"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == end - position && starts_with(code + position, words[i]))
            return true;
    return false;
}

/**
 * Returns whether the character at `position` is the parenthesis of a call, the bracket of a subscript, a * or -> that
 * dereferences a pointer, or a && or ||.
 */
static bool is_call_or_access(const char *code, size_t position)
{
    const size_t before = skip_space_back(code, position);
    size_t word = before;

    if (code[position] == '[' || starts_with(code + position, "->") || starts_with(code + position, "&&") ||
        starts_with(code + position, "||"))
        return true;
    if (code[position] == '*')
        return !value_ends_at(code, position);
    if (code[position] != '(' || before == 0)
        return false;
    if (code[before - 1] == '>') { /* either a function's template arguments or a comparison */
        word = matching_bracket(code, before - 1, -1);
        if (word == NOWHERE)
            return false;
        word = skip_space_back(code, word);
    }
    const size_t end = word;

    word = word_begin(code, end);
    return word < end && !isdigit((unsigned char)code[word]) && !is_no_call(code, word, end);
}

/**
 * Returns whether the side of a ?: in [begin, end) consists only of names, numbers and arithmetic, so that every lane
 * may compute it.
 */
static bool is_plain(const char *code, size_t begin, size_t end)
{
    for (size_t position = begin; position < end; position++)
        if (is_call_or_access(code, position))
            return false;
    return true;
}

/** Returns whether the && at `position` declares a reference. */
static bool is_reference(const char *code, size_t position)
{
    const size_t before = skip_space_back(code, position);

    return !value_ends_at(code, position) || (before >= 4 && is_word_at(code, before - 4, "auto")) ||
           is_one_of(code[skip_space(code, position + 2)], ",)>=");
}

/**
 * A part of an expression without a comma or an assignment, so that parentheses around it change nothing. Lanes that
 * diverge in it reconverge at its end.
 */
struct part {
    size_t begin;
    bool parted;     /* lanes may have diverged in it, outside brackets that are marked as separate parts */
    bool any_parted; /* lanes may have diverged in it or in a part before it */
    size_t angle;    /* the last > in or before it that may end template arguments; commas in these are not dividers */
};

static size_t walk_expression(struct walk *walk, size_t position, const char *stops, struct part *part);

/**
 * Marks the beginning of a part and its `end`, where the lanes that diverged in it reconverge. A part that contains a
 * directive gets no marks, because an #if may give it several ends.
 */
static void join(struct walk *walk, const struct part *part, size_t end)
{
    if (!part->parted || part->begin <= part->angle || memchr(walk->code + part->begin, '#', end - part->begin))
        return;
    mark(walk, part->begin, " SIMT_RECONVERGE_EXPRESSION_BEGIN ");
    mark(walk, end, " SIMT_RECONVERGE_EXPRESSION_END");
}

/** Begins the next part of an expression after an operator that divides it. Returns `position`. */
static size_t next_part(struct part *part, size_t position)
{
    *part = (struct part){.begin = position, .any_parted = part->any_parted, .angle = part->angle};
    return position;
}

/**
 * Walks through one side of a ?:, from `begin` up to one of the characters in `stops`. A side that seems to end at a
 * comma between template arguments is not marked.
 */
static size_t walk_side(struct walk *walk, size_t begin, const char *stops, struct part *part)
{
    const size_t first = walk->source->num_insertions;
    struct part side;

    mark(walk, begin, "(SIMT_CONDITIONAL_OPERAND, ");
    const size_t end = walk_expression(walk, begin, stops, &side);

    if (end == NOWHERE)
        return NOWHERE;
    if (end < side.angle)
        part->angle = side.angle;
    if (end < side.angle || is_plain(walk->code, begin, end)) {
        walk->source->num_insertions = first; /* a plain side has no other marks: a call or a && would not be plain */
        return end;
    }
    mark(walk, end, ")");
    part->parted = part->any_parted = true;
    return end;
}

/** Walks through the two sides of the ? at `position`. */
static size_t walk_choice(struct walk *walk, size_t position, struct part *part)
{
    if (++walk->depth > MAX_NESTING_DEPTH)
        return NOWHERE;
    const size_t middle = walk_side(walk, position + 1, ":", part);
    const size_t end = middle == NOWHERE ? NOWHERE : walk_side(walk, middle + 1, ",;)]}:", part);

    walk->depth--;
    return end;
}

/**
 * Walks through the brackets at `position`. Stores in *inside the last part of the bracketed text, which ends at the
 * closing bracket.
 */
static size_t walk_inside(struct walk *walk, size_t position, struct part *inside)
{
    static const char open[] = "([{", close[][2] = {")", "]", "}"};

    if (++walk->depth > MAX_NESTING_DEPTH)
        return NOWHERE;
    const size_t end = walk_expression(walk, position + 1, close[strchr(open, walk->code[position]) - open], inside);

    walk->depth--;
    return end == NOWHERE ? NOWHERE : end + 1;
}

/**
 * Walks through the brackets at `position`; returns the position after them. Lanes that diverged inside reconverge at
 * the closing bracket or, if parentheses enclose a whole part of a statement, at the end of that part.
 */
static size_t walk_brackets(struct walk *walk, size_t position, struct part *part)
{
    struct part inside;
    const bool begins_part = walk->code[position] == '(' && skip_space(walk->code, part->begin) == position;
    const size_t end = walk_inside(walk, position, &inside);

    if (end == NOWHERE)
        return NOWHERE;
    part->any_parted = part->any_parted || inside.any_parted;
    if (begins_part && is_one_of(walk->code[skip_space(walk->code, end)], ",;)]}:"))
        part->parted = part->parted || inside.parted;
    else
        join(walk, &inside, end - 1);
    return end;
}

/** Walks through the lambda whose [ is at `position`; returns the position after its body. */
static size_t walk_lambda(struct walk *walk, size_t position)
{
    struct part quiet;

    walk->quiet++;
    position = walk_inside(walk, position, &quiet);
    if (position != NOWHERE)
        position = walk_expression(walk, position, "{;", &quiet); /* its parameters and return type */
    walk->quiet--;
    return position == NOWHERE || walk->code[position] != '{' ? position : walk_function(walk, position, "");
}

/**
 * Returns whether the parentheses after the word at `position` contain an operand that is not evaluated, or assembly.
 */
static bool is_quiet_word(const char *code, size_t position)
{
    static const char *const words[] = {"sizeof",   "alignof", "decltype", "static_assert",
                                        "noexcept", "asm",     "__asm__",  NULL};

    return contains_any_word(code, position, position + 1, words);
}

/** Walks through the word at `position`, and through its parentheses if nothing may be inserted there. */
static size_t walk_word(struct walk *walk, size_t position, struct part *part)
{
    const size_t end = word_end(walk->code, position), open = skip_space(walk->code, end);
    struct part quiet;

    if (is_word_at(walk->code, position, "return"))
        return next_part(part, end);
    if (!(is_quiet_word(walk->code, position) || must_not_rewrite_call_arguments(walk->source, position)) ||
        walk->code[open] != '(')
        return end;
    walk->quiet++;
    position = walk_inside(walk, open, &quiet);
    walk->quiet--;
    return position;
}

/** Walks through the && or || at `position`, and marks it: lanes may diverge there. */
static size_t walk_operator(struct walk *walk, size_t position, struct part *part)
{
    const bool is_and = walk->code[position] == '&';

    if ((is_and && is_reference(walk->code, position)) || may_be_in_fold_expression(walk->code, position))
        return position + 2;
    mark(walk, position + 2, is_and ? " SIMT_AND_OPERAND &&" : " SIMT_OR_OPERAND ||");
    part->parted = part->any_parted = true;
    return position + 2;
}

/** Returns whether the text in [begin, end) contains an operator that is marked: &&, || or ?:. */
static bool may_part(const char *code, size_t begin, size_t end)
{
    for (size_t position = begin; position < end; position++)
        if (code[position] == '?' || starts_with(code + position, "&&") || starts_with(code + position, "||"))
            return true;
    return false;
}

/**
 * Walks through the < at `position` and, if it begins template arguments, through these as well, because their commas
 * do not divide the expression. The < is a comparison if a blank precedes it. It is also a comparison if a word follows
 * the matching >, unless a declaration may begin there. In two cases, only the compiler can tell a comparison from
 * template arguments, and the walk continues after the <: if the text between < and > contains an operator that is
 * marked, or if both that text and `stops` contain a comma.
 */
static size_t walk_angle(const char *code, size_t position, const char *stops, struct part *part)
{
    const size_t end = is_word_character(code[position - 1]) ? matching_bracket(code, position, 1) : NOWHERE;

    if (end == NOWHERE)
        return position + 1;
    const bool is_statement = *stops == ';', word_follows = is_word_character(code[skip_space(code, end + 1)]);
    const bool has_comma = memchr(code + position, ',', end - position), has_marks = may_part(code, position, end);
    const bool ends_here = has_comma && is_one_of(',', stops);

    if (word_follows && !(is_statement && has_marks))
        return position + 1;
    if (ends_here || (has_marks && (has_comma || is_statement)))
        part->angle = end;
    return ends_here || has_marks ? position + 1 : end + 1;
}

/** Walks through the character at `position`, one of = , ; : which may divide an expression into parts. */
static size_t walk_divider(struct walk *walk, size_t position, struct part *part)
{
    const char *code = walk->code;

    if (starts_with(code + position, "=="))
        return position + 2;
    if (code[position] == '=' && (code[position - 1] == '!' ||
                                  (is_one_of(code[position - 1], "<>") && code[position - 2] != code[position - 1])))
        return position + 1;
    if (is_one_of(code[position], ",;"))
        join(walk, part, position);
    return next_part(part, position + 1);
}

/**
 * Walks from `position` up to one of the characters in `stops` outside brackets. Stores in *part the last part, which
 * ends at that character.
 */
static size_t walk_expression(struct walk *walk, size_t position, const char *stops, struct part *part)
{
    const char *code = walk->code;

    *part = (struct part){.begin = position};
    while (position != NOWHERE && code[position]) {
        if (starts_with(code + position, "::"))
            position += 2;
        else if (is_one_of(code[position], stops))
            return position;
        else if (is_one_of(code[position], ")]}"))
            return NOWHERE;
        else if (is_word_character(code[position]))
            position = walk_word(walk, position, part);
        else if (code[position] == '#')
            position += strcspn(code + position, "\n");
        else if (starts_with(code + position, "[[") && strstr(code + position, "]]"))
            position = (size_t)(strstr(code + position, "]]") - code) + 2;
        else if (code[position] == '[' && !value_ends_at(code, position))
            position = walk_lambda(walk, position);
        else if (is_one_of(code[position], "([{"))
            position = walk_brackets(walk, position, part);
        else if (code[position] == '?')
            position = walk_choice(walk, position, part);
        else if (starts_with(code + position, "&&") || starts_with(code + position, "||"))
            position = walk_operator(walk, position, part);
        else if (code[position] == '<')
            position = walk_angle(code, position, stops, part);
        else if (is_one_of(code[position], "=,;:"))
            position = walk_divider(walk, position, part);
        else
            position++;
    }
    return NOWHERE;
}

/* --- statements --------------------------------------------------------------------------------------------------- */

/**
 * Walks through the statements in the braces at `position`. Sets *parted if lanes may have diverged at the end of the
 * last one.
 */
static size_t walk_braces(struct walk *walk, size_t position, bool *parted)
{
    bool divided = false;

    *parted = false;
    position = skip_blank(walk->code, position + 1, &divided);
    while (walk->code[position] != '}') {
        const size_t end = walk->code[position] ? walk_statement(walk, position, parted) : NOWHERE;

        if (end == NOWHERE)
            return NOWHERE;
        position = skip_blank(walk->code, end, &divided);
        if (*parted && walk->code[position] != '}')
            mark(walk, end, " SIMT_BASIC_BLOCK;");
    }
    return position + 1;
}

/**
 * Walks through the statement after `position`, which is the body of an `if`, an `else` or a loop, and adds braces if
 * it has none. Lanes that may have diverged in a loop's body reconverge at its end, before the next iteration.
 */
static size_t walk_governed(struct walk *walk, size_t position, bool in_loop)
{
    bool divided = false, parted = false;
    const size_t begin = skip_blank(walk->code, position, &divided);
    const bool has_braces = walk->code[begin] == '{';

    if (divided)
        return NOWHERE;
    if (in_loop)
        mark(walk, has_braces ? begin + 1 : position, has_braces ? " SIMT_LOOP_ITERATION;" : " { SIMT_LOOP_ITERATION;");
    else
        mark(walk, has_braces ? begin + 1 : position, has_braces ? " SIMT_BASIC_BLOCK;" : " { SIMT_BASIC_BLOCK;");
    const size_t end = walk_statement(walk, begin, &parted);

    if (end == NOWHERE)
        return NOWHERE;
    if (parted && in_loop)
        mark(walk, has_braces ? end - 1 : end, " SIMT_BASIC_BLOCK;");
    if (!has_braces)
        mark(walk, end, " }");
    return end;
}

/**
 * Walks through the parentheses of the statement whose first word ends at `position`; returns the position after them.
 * A condition needs no SIMT_RECONVERGE_EXPRESSION_END at its end, because a block begins after it anyway; the
 * expression that a `for` evaluates after an iteration does need one.
 */
static size_t walk_condition(struct walk *walk, size_t position, bool is_for)
{
    struct part part;
    const size_t open = skip_space(walk->code, position);
    const size_t end = walk->code[open] == '(' ? walk_inside(walk, open, &part) : NOWHERE;

    if (end != NOWHERE && is_for)
        join(walk, &part, end - 1);
    return end;
}

/**
 * Returns the position of `word` if it is the next word after `position`, otherwise NOWHERE. Sets *divided if a
 * conditional directive precedes the word.
 */
static size_t find_next(const char *code, size_t position, const char *word, bool *divided)
{
    position = skip_blank(code, position, divided);
    return is_word_at(code, position, word) ? position : NOWHERE;
}

/**
 * Walks through both sides of an `if`, the first of which begins after `position`, by calling side() for each of them.
 */
static size_t walk_sides(struct walk *walk, size_t position,
                         size_t (*side)(struct walk *walk, size_t position, bool *parted), bool *parted)
{
    bool divided = false, other_parted = false;

    position = side(walk, position, parted);
    const size_t other = position == NOWHERE ? NOWHERE : find_next(walk->code, position, "else", &divided);

    if (other == NOWHERE)
        return position;
    position = divided ? NOWHERE : side(walk, other + strlen("else"), &other_parted);
    *parted = *parted || other_parted;
    return position;
}

static size_t walk_side_of_if(struct walk *walk, size_t position, bool *parted)
{
    *parted = true;
    return walk_governed(walk, position, false);
}

/** Walks through the `if` statement whose first word ends at `position`. */
static size_t walk_if(struct walk *walk, size_t position, bool *parted)
{
    const size_t word = skip_space(walk->code, position);
    const bool of_compiler = is_word_at(walk->code, word, "constexpr"); /* lanes do not diverge there */

    walk->quiet += of_compiler;
    position = walk_condition(walk, of_compiler ? word + strlen("constexpr") : position, false);
    walk->quiet -= of_compiler;
    return position == NOWHERE ? NOWHERE
                               : walk_sides(walk, position, of_compiler ? walk_statement : walk_side_of_if, parted);
}

/** Walks through the `do` loop whose first word ends at `position`. */
static size_t walk_do(struct walk *walk, size_t position)
{
    bool divided = false;
    struct part condition;

    position = walk_governed(walk, position, true);
    if (position == NOWHERE || (position = find_next(walk->code, position, "while", &divided)) == NOWHERE || divided)
        return NOWHERE;
    position = walk_expression(walk, position, ";", &condition);
    return position == NOWHERE ? NOWHERE : position + 1;
}

/** Walks through the label at `position` and the statement after it. */
static size_t walk_label(struct walk *walk, size_t position, bool *parted)
{
    static const char *const labels[] = {"case", "default", NULL};
    bool divided = false;
    struct part value;

    walk->quiet++;
    position = walk_expression(walk, position, ":;", &value);
    walk->quiet--;
    if (position == NOWHERE || walk->code[position] == ';')
        return NOWHERE;
    const size_t next = skip_blank(walk->code, position + 1, &divided);

    if (contains_any_word(walk->code, next, next + 1, labels) || walk->code[next] == '}')
        return position + 1;
    mark(walk, position + 1, " SIMT_BASIC_BLOCK;");
    return walk_statement(walk, next, parted);
}

/** Returns whether the statement at `position` has a label of a `switch` or of a `goto`. */
static bool has_label(const char *code, size_t position)
{
    const size_t end = skip_space(code, word_end(code, position));

    return is_word_at(code, position, "case") || (code[end] == ':' && code[end + 1] != ':');
}

/**
 * Returns whether the statement at `position` gets no marks: a declaration of a type or of a constant that the compiler
 * computes, or assembly.
 */
static bool is_quiet_statement(const char *code, size_t position)
{
    static const char *const words[] = {"constexpr", "static_assert", "static", "using", "typedef", "struct",
                                        "class",     "union",         "enum",   "asm",   "__asm__", NULL};

    return contains_any_word(code, position, position + 1, words);
}

/**
 * Walks through a declaration, an expression or a jump at `position`. The end of its last part is marked only if a call
 * precedes that part, as in a[f()] = b && c, where a[f()] is evaluated after b && c. Otherwise the lanes reconverge
 * after the statement.
 */
static size_t walk_simple(struct walk *walk, size_t position, bool *parted)
{
    const bool quiet = is_quiet_statement(walk->code, position);
    const bool leaves = is_word_at(walk->code, position, "return");
    struct part last;

    walk->quiet += quiet;
    const size_t end = walk_expression(walk, position, ";", &last);

    if (end != NOWHERE && memchr(walk->code + position, '(', last.begin - position))
        join(walk, &last, end);
    walk->quiet -= quiet;
    *parted = end != NOWHERE && last.any_parted && !quiet && !leaves;
    return end == NOWHERE ? NOWHERE : end + 1;
}

/**
 * Walks through the statement at `position`; returns its end. Sets *parted if lanes that began the statement together
 * may have diverged at its end.
 */
static size_t walk_one_statement(struct walk *walk, size_t position, bool *parted)
{
    const char *code = walk->code;
    bool divided = false;

    position = skip_blank(code, position, &divided);
    const size_t end = is_word_character(code[position]) ? word_end(code, position) : position;

    *parted = true;
    if (divided)
        return NOWHERE;
    if (code[position] == '{')
        return walk_braces(walk, position, parted);
    if (is_word_at(code, position, "if"))
        return walk_if(walk, end, parted);
    if (is_word_at(code, position, "do"))
        return walk_do(walk, end);
    if (is_word_at(code, position, "for") || is_word_at(code, position, "while")) {
        position = walk_condition(walk, end, is_word_at(code, position, "for"));
        return position == NOWHERE ? NOWHERE : walk_governed(walk, position, true);
    }
    if (is_word_at(code, position, "switch")) {
        bool last_parted;

        position = walk_condition(walk, end, false);
        return position == NOWHERE ? NOWHERE : walk_statement(walk, position, &last_parted);
    }
    *parted = false;
    return has_label(code, position) ? walk_label(walk, position, parted) : walk_simple(walk, position, parted);
}

static size_t walk_statement(struct walk *walk, size_t position, bool *parted)
{
    if (++walk->depth > MAX_NESTING_DEPTH)
        return NOWHERE;
    position = walk_one_statement(walk, position, parted);
    walk->depth--;
    return position;
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

/**
 * Returns whether the function's body in [begin, end) declares a local array. Such an array may make the frame larger
 * than the stack. The compiler's hook at the beginning of a function checks the frame's size, but compilers omit the
 * hook in a function that calls nothing and accesses only its frame, so SIMT_CALLED_FUNCTION is inserted as a call.
 */
static bool declares_array(const char *code, size_t begin, size_t end)
{
    for (size_t position = begin; position < end; position++) {
        if (code[position] != '[')
            continue;
        const size_t name = word_begin(code, position);
        const size_t type_end = skip_space_back(code, name);

        if (name < position && type_end < name &&
            (is_word_character(code[type_end - 1]) || code[type_end - 1] == '>') &&
            !is_keyword_before_value(code, type_end) &&
            find_word_earlier_in_declaration(code, name, "__shared__") == NOWHERE)
            return true;
    }
    return false;
}

/** Returns the end of the body at `position`. An #else restores the number of braces that were open at its #if. */
static size_t body_end(const char *code, size_t position)
{
    int braces = 0, conditionals = 0, before[MAX_CONDITIONALS];

    for (; code[position]; position++) {
        const char *word = code + skip_space(code, position + 1);

        braces += (code[position] == '{') - (code[position] == '}');
        if (code[position] == '}' && braces == 0)
            return position + 1;
        if (code[position] != '#')
            continue;
        if (starts_with(word, "if") && conditionals < MAX_CONDITIONALS)
            before[conditionals++] = braces;
        else if (starts_with(word, "el") && conditionals > 0)
            braces = before[conditionals - 1];
        else if (starts_with(word, "endif") && conditionals > 0)
            conditionals--;
    }
    return NOWHERE;
}

/**
 * Walks through the body of a function or a lambda at `position`. Inserts `first_mark` at its beginning or, if
 * `first_mark` is empty, SIMT_CALLED_FUNCTION if the body has blocks or arrays.
 */
static size_t walk_function(struct walk *walk, size_t position, const char *first_mark)
{
    const size_t first = walk->source->num_insertions;
    bool parted;
    const int depth = walk->depth;
    size_t end = walk_braces(walk, position, &parted);

    walk->depth = depth;
    if (end == NOWHERE || end != body_end(walk->code, position)) { /* an #if divides a statement */
        walk->source->num_insertions = first;
        end = NOWHERE;
    }
    if (*first_mark)
        mark(walk, position + 1, first_mark);
    else if (walk->source->num_insertions > first || (end != NOWHERE && declares_array(walk->code, position, end)))
        mark(walk, position + 1, " SIMT_CALLED_FUNCTION;");
    return end;
}

/** Returns the end of the attributes, such as `alignas(16)` or `__align__(8)`, that begin at `position`. */
static size_t attributes_end(const char *code, size_t position)
{
    for (;;) {
        const size_t open = skip_space(code, word_end(code, position));
        const bool brackets = starts_with(code + position, "[[");

        if (!brackets && !(code[open] == '(' && open > position))
            return position;
        const size_t close = matching_bracket(code, brackets ? position : open, 1);

        if (close == NOWHERE)
            return position;
        position = skip_space(code, close + 1);
    }
}

/** Returns whether the `{` at `position` begins the body of a class whose declaration begins at `begin` or later. */
static bool is_class_body(const char *code, size_t begin, size_t position)
{
    static const char *const words[] = {"struct", "class", "union", "enum", NULL};

    for (size_t end; begin < position; begin = end) {
        const size_t close = is_one_of(code[begin], "<(") ? matching_bracket(code, begin, 1) : NOWHERE;

        end = close < position ? close + 1 : is_word_character(code[begin]) ? word_end(code, begin) : begin + 1;
        if (close < position || !contains_any_word(code, begin, end, words))
            continue;
        size_t name = attributes_end(code, skip_space(code, end));

        while (is_word_character(code[name]) || starts_with(code + name, "::"))
            name = skip_space(code, is_word_character(code[name]) ? word_end(code, name) : name + 2);
        if (name == position || code[name] == ':' || code[name] == '<')
            return true;
    }
    return false;
}

/** Returns whether the `{` at `position`, in the declaration from `begin`, begins a function and no value or class. */
static bool is_body(const char *code, size_t begin, size_t position)
{
    const size_t before = skip_space_back(code, position);
    const size_t open = begin > 0 && code[begin - 1] == '(' ? begin - 1
                                                            : begin; /* of the call that a lambda is given */

    return before > 0 && code[before - 1] != '=' && memchr(code + open, '(', position - open) &&
           !is_class_body(code, begin, position);
}

bool mark_basic_blocks_of_function(struct source *source, size_t body_begin)
{
    struct walk walk = {.source = source, .code = source->code};
    const size_t head = declaration_begin_before_brace(source->code, body_begin);
    const bool is_kernel = find_word_outside_parentheses(source->code, head, body_begin, "__global__") != NOWHERE;

    if (!is_body(source->code, head, body_begin) ||
        find_word_outside_parentheses(source->code, head, body_begin, "constexpr") != NOWHERE)
        return true;
    walk_function(&walk, body_begin, is_kernel ? " SIMT_BASIC_BLOCK;" : "");
    const size_t end = body_end(source->code, body_begin);
    const bool marked = end == NOWHERE || mark_struct_arguments(source, body_begin, end);

    sort_insertions(source);
    return marked && !walk.failed;
}
