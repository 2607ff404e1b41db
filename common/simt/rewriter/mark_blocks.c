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
 *     if (a) x; else y; z;        ->   if (a) { SIMT_BLOCK; x; } else { SIMT_BLOCK; y; } SIMT_BLOCK; z;
 *     for (;;) x; z;              ->   for (;;) { SIMT_LOOP; x; } SIMT_BLOCK; z;             and while, and do
 *     case 1: x;                  ->   case 1: SIMT_BLOCK; x;
 *     v = a && b; z;              ->   v = a && SIMT_AND && b; SIMT_BLOCK; z;                || has SIMT_OR
 *     v = a ? f() : 0; z;         ->   v = a ? (SIMT_SIDE, f()) : 0; SIMT_BLOCK; z;
 *     v = a ? b : -b;             ->   unchanged: a select, whatever a compiler generates for it
 *     __device__ int f() { ... }  ->   __device__ int f() { SIMT_CALL; ... }                 if it has blocks
 *                                                                                          or arrays
 *     f(a && b);                  ->   f( SIMT_OPEN a && SIMT_AND && b SIMT_JOIN);           in the middle of a
 *                                                                                          statement
 *
 * Only the device with 64 lanes uses SIMT_OPEN and SIMT_JOIN: lanes that diverge in the part of the expression between
 * them reconverge at SIMT_JOIN. No block begins there. The two marks are left out where a && or ?: may belong to
 * template arguments, as in f(a<b && c>(d)), and in a part that a directive divides.
 *
 * Host functions are marked as well, because a macro may hide a function's `__device__`; on the host the marks do
 * nothing. The last statement of a side of an `if` or of a function needs no mark after it, because a mark follows the
 * `if` or the call anyway. A function with a preprocessor directive inside a statement gets no marks, and neither does
 * a constexpr function.
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

static size_t walk_statement(struct walk *walk, size_t at, bool *parted);
static size_t walk_function(struct walk *walk, size_t at, const char *first_mark);

static void mark(struct walk *walk, size_t at, const char *text)
{
    if (walk->quiet == 0 && !insert(walk->source, at, text))
        walk->failed = true;
}

/**
 * Returns the position after white space, comments and directives. Sets *divided if one of the directives is an #if,
 * #elif, #else or #endif.
 */
static size_t skip_blank(const char *code, size_t at, bool *divided)
{
    for (at += strspn(code + at, " \n"); code[at] == '#'; at += strspn(code + at, " \n")) {
        const size_t word = skip_space(code, at + 1);

        *divided = *divided || starts_with(code + word, "if") || starts_with(code + word, "el") ||
                   starts_with(code + word, "endif");
        at += strcspn(code + at, "\n");
    }
    return at;
}

/* --- expressions -------------------------------------------------------------------------------------------------- */

/**
 * Returns whether the word in [at, end), which is followed by a parenthesis, is not the name of a called function but a
 * type, `return`, or an operator such as sizeof, which evaluates nothing.
 */
static bool is_no_call(const char *code, size_t at, size_t end)
{
    static const char *const words[] = {"sizeof",   "alignof",  "decltype", "bool",    "char",       "short",
                                        "int",      "long",     "float",    "double",  "unsigned",   "signed",
                                        "size_t",   "int8_t",   "int16_t",  "int32_t", "int64_t",    "uint8_t",
                                        "uint16_t", "uint32_t", "uint64_t", "return",  "static_cast"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == end - at && starts_with(code + at, words[i]))
            return true;
    return false;
}

/**
 * Returns whether the character at `at` is the parenthesis of a call, the bracket of a subscript, a * or -> that
 * dereferences a pointer, or a && or ||.
 */
static bool is_call_or_access(const char *code, size_t at)
{
    const size_t before = skip_space_back(code, at);
    size_t word = before;

    if (code[at] == '[' || starts_with(code + at, "->") || starts_with(code + at, "&&") || starts_with(code + at, "||"))
        return true;
    if (code[at] == '*')
        return !ends_value(code, at);
    if (code[at] != '(' || before == 0)
        return false;
    if (code[before - 1] == '>') { /* either a function's template arguments or a comparison */
        word = partner(code, before - 1, -1);
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
    for (size_t at = begin; at < end; at++)
        if (is_call_or_access(code, at))
            return false;
    return true;
}

/** Returns whether the && at `at` declares a reference. */
static bool is_reference(const char *code, size_t at)
{
    const size_t before = skip_space_back(code, at);

    return !ends_value(code, at) || (before >= 4 && is_word_at(code, before - 4, "auto")) ||
           is_one_of(code[skip_space(code, at + 2)], ",)>=");
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

static size_t walk_expression(struct walk *walk, size_t at, const char *stops, struct part *part);

/**
 * Marks the beginning of a part and its `end`, where the lanes that diverged in it reconverge. A part that contains a
 * directive gets no marks, because an #if may give it several ends.
 */
static void join(struct walk *walk, const struct part *part, size_t end)
{
    if (!part->parted || part->begin <= part->angle || memchr(walk->code + part->begin, '#', end - part->begin))
        return;
    mark(walk, part->begin, " SIMT_OPEN ");
    mark(walk, end, " SIMT_JOIN");
}

/** Begins the next part of an expression after an operator that divides it. Returns `at`. */
static size_t next_part(struct part *part, size_t at)
{
    *part = (struct part){.begin = at, .any_parted = part->any_parted, .angle = part->angle};
    return at;
}

/**
 * Walks through one side of a ?:, from `begin` up to one of the characters in `stops`. A side that seems to end at a
 * comma between template arguments is not marked.
 */
static size_t walk_side(struct walk *walk, size_t begin, const char *stops, struct part *part)
{
    const size_t first = walk->source->insertion_count;
    struct part side;

    mark(walk, begin, "(SIMT_SIDE, ");
    const size_t end = walk_expression(walk, begin, stops, &side);

    if (end == NOWHERE)
        return NOWHERE;
    if (end < side.angle)
        part->angle = side.angle;
    if (end < side.angle || is_plain(walk->code, begin, end)) {
        walk->source->insertion_count = first; /* a plain side has no other marks: a call or a && would not be plain */
        return end;
    }
    mark(walk, end, ")");
    part->parted = part->any_parted = true;
    return end;
}

/** Walks through the two sides of the ? at `at`. */
static size_t walk_choice(struct walk *walk, size_t at, struct part *part)
{
    if (++walk->depth > MAX_DEPTH)
        return NOWHERE;
    const size_t middle = walk_side(walk, at + 1, ":", part);
    const size_t end = middle == NOWHERE ? NOWHERE : walk_side(walk, middle + 1, ",;)]}:", part);

    walk->depth--;
    return end;
}

/**
 * Walks through the brackets at `at`. Stores in *inside the last part of the bracketed text, which ends at the closing
 * bracket.
 */
static size_t walk_inside(struct walk *walk, size_t at, struct part *inside)
{
    static const char open[] = "([{", close[][2] = {")", "]", "}"};

    if (++walk->depth > MAX_DEPTH)
        return NOWHERE;
    const size_t end = walk_expression(walk, at + 1, close[strchr(open, walk->code[at]) - open], inside);

    walk->depth--;
    return end == NOWHERE ? NOWHERE : end + 1;
}

/**
 * Walks through the brackets at `at`; returns the position after them. Lanes that diverged inside reconverge at the
 * closing bracket or, if parentheses enclose a whole part of a statement, at the end of that part.
 */
static size_t walk_brackets(struct walk *walk, size_t at, struct part *part)
{
    struct part inside;
    const bool begins_part = walk->code[at] == '(' && skip_space(walk->code, part->begin) == at;
    const size_t end = walk_inside(walk, at, &inside);

    if (end == NOWHERE)
        return NOWHERE;
    part->any_parted = part->any_parted || inside.any_parted;
    if (begins_part && is_one_of(walk->code[skip_space(walk->code, end)], ",;)]}:"))
        part->parted = part->parted || inside.parted;
    else
        join(walk, &inside, end - 1);
    return end;
}

/** Walks through the lambda whose [ is at `at`; returns the position after its body. */
static size_t walk_lambda(struct walk *walk, size_t at)
{
    struct part quiet;

    walk->quiet++;
    at = walk_inside(walk, at, &quiet);
    if (at != NOWHERE)
        at = walk_expression(walk, at, "{;", &quiet); /* its parameters and return type */
    walk->quiet--;
    return at == NOWHERE || walk->code[at] != '{' ? at : walk_function(walk, at, "");
}

/** Returns whether the parentheses after the word at `at` contain an operand that is not evaluated, or assembly. */
static bool is_quiet_word(const char *code, size_t at)
{
    static const char *const words[] = {"sizeof",   "alignof", "decltype", "static_assert",
                                        "noexcept", "asm",     "__asm__",  NULL};

    return has_word(code, at, at + 1, words);
}

/** Walks through the word at `at`, and through its parentheses if nothing may be inserted there. */
static size_t walk_word(struct walk *walk, size_t at, struct part *part)
{
    const size_t end = word_end(walk->code, at), open = skip_space(walk->code, end);
    struct part quiet;

    if (is_word_at(walk->code, at, "return"))
        return next_part(part, end);
    if (!(is_quiet_word(walk->code, at) || quotes_arguments(walk->source, at)) || walk->code[open] != '(')
        return end;
    walk->quiet++;
    at = walk_inside(walk, open, &quiet);
    walk->quiet--;
    return at;
}

/** Walks through the && or || at `at`, and marks it: lanes may diverge there. */
static size_t walk_operator(struct walk *walk, size_t at, struct part *part)
{
    const bool is_and = walk->code[at] == '&';

    if ((is_and && is_reference(walk->code, at)) || may_be_fold(walk->code, at))
        return at + 2;
    mark(walk, at + 2, is_and ? " SIMT_AND &&" : " SIMT_OR ||");
    part->parted = part->any_parted = true;
    return at + 2;
}

/** Returns whether the text in [begin, end) contains an operator that is marked: &&, || or ?:. */
static bool may_part(const char *code, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++)
        if (code[at] == '?' || starts_with(code + at, "&&") || starts_with(code + at, "||"))
            return true;
    return false;
}

/**
 * Walks through the < at `at` and, if it begins template arguments, through these as well, because their commas do not
 * divide the expression. The < is a comparison if a blank precedes it. It is also a comparison if a word follows the
 * matching >, unless a declaration may begin there. In two cases, only the compiler can tell a comparison from template
 * arguments, and the walk continues after the <: if the text between < and > contains an operator that is marked, or if
 * both that text and `stops` contain a comma.
 */
static size_t walk_angle(const char *code, size_t at, const char *stops, struct part *part)
{
    const size_t end = is_word(code[at - 1]) ? partner(code, at, 1) : NOWHERE;

    if (end == NOWHERE)
        return at + 1;
    const bool is_statement = *stops == ';', word_follows = is_word(code[skip_space(code, end + 1)]);
    const bool has_comma = memchr(code + at, ',', end - at), has_marks = may_part(code, at, end);
    const bool ends_here = has_comma && is_one_of(',', stops);

    if (word_follows && !(is_statement && has_marks))
        return at + 1;
    if (ends_here || (has_marks && (has_comma || is_statement)))
        part->angle = end;
    return ends_here || has_marks ? at + 1 : end + 1;
}

/** Walks through the character at `at`, one of = , ; : which may divide an expression into parts. */
static size_t walk_divider(struct walk *walk, size_t at, struct part *part)
{
    const char *code = walk->code;

    if (starts_with(code + at, "=="))
        return at + 2;
    if (code[at] == '=' && (code[at - 1] == '!' || (is_one_of(code[at - 1], "<>") && code[at - 2] != code[at - 1])))
        return at + 1;
    if (is_one_of(code[at], ",;"))
        join(walk, part, at);
    return next_part(part, at + 1);
}

/**
 * Walks from `at` up to one of the characters in `stops` outside brackets. Stores in *part the last part, which ends at
 * that character.
 */
static size_t walk_expression(struct walk *walk, size_t at, const char *stops, struct part *part)
{
    const char *code = walk->code;

    *part = (struct part){.begin = at};
    while (at != NOWHERE && code[at]) {
        if (starts_with(code + at, "::"))
            at += 2;
        else if (is_one_of(code[at], stops))
            return at;
        else if (is_one_of(code[at], ")]}"))
            return NOWHERE;
        else if (is_word(code[at]))
            at = walk_word(walk, at, part);
        else if (code[at] == '#')
            at += strcspn(code + at, "\n");
        else if (starts_with(code + at, "[[") && strstr(code + at, "]]"))
            at = (size_t)(strstr(code + at, "]]") - code) + 2;
        else if (code[at] == '[' && !ends_value(code, at))
            at = walk_lambda(walk, at);
        else if (is_one_of(code[at], "([{"))
            at = walk_brackets(walk, at, part);
        else if (code[at] == '?')
            at = walk_choice(walk, at, part);
        else if (starts_with(code + at, "&&") || starts_with(code + at, "||"))
            at = walk_operator(walk, at, part);
        else if (code[at] == '<')
            at = walk_angle(code, at, stops, part);
        else if (is_one_of(code[at], "=,;:"))
            at = walk_divider(walk, at, part);
        else
            at++;
    }
    return NOWHERE;
}

/* --- statements --------------------------------------------------------------------------------------------------- */

/**
 * Walks through the statements in the braces at `at`. Sets *parted if lanes may have diverged at the end of the last
 * one.
 */
static size_t walk_braces(struct walk *walk, size_t at, bool *parted)
{
    bool divided = false;

    *parted = false;
    at = skip_blank(walk->code, at + 1, &divided);
    while (walk->code[at] != '}') {
        const size_t end = walk->code[at] ? walk_statement(walk, at, parted) : NOWHERE;

        if (end == NOWHERE)
            return NOWHERE;
        at = skip_blank(walk->code, end, &divided);
        if (*parted && walk->code[at] != '}')
            mark(walk, end, " SIMT_BLOCK;");
    }
    return at + 1;
}

/**
 * Walks through the statement after `at`, which is the body of an `if`, an `else` or a loop, and adds braces if it has
 * none. Lanes that may have diverged in a loop's body reconverge at its end, before the next iteration.
 */
static size_t walk_governed(struct walk *walk, size_t at, bool in_loop)
{
    bool divided = false, parted = false;
    const size_t begin = skip_blank(walk->code, at, &divided);
    const bool has_braces = walk->code[begin] == '{';

    if (divided)
        return NOWHERE;
    if (in_loop)
        mark(walk, has_braces ? begin + 1 : at, has_braces ? " SIMT_LOOP;" : " { SIMT_LOOP;");
    else
        mark(walk, has_braces ? begin + 1 : at, has_braces ? " SIMT_BLOCK;" : " { SIMT_BLOCK;");
    const size_t end = walk_statement(walk, begin, &parted);

    if (end == NOWHERE)
        return NOWHERE;
    if (parted && in_loop)
        mark(walk, has_braces ? end - 1 : end, " SIMT_BLOCK;");
    if (!has_braces)
        mark(walk, end, " }");
    return end;
}

/**
 * Walks through the parentheses of the statement whose first word ends at `at`; returns the position after them. A
 * condition needs no SIMT_JOIN at its end, because a block begins after it anyway; the expression that a `for`
 * evaluates after an iteration does need one.
 */
static size_t walk_condition(struct walk *walk, size_t at, bool is_for)
{
    struct part part;
    const size_t open = skip_space(walk->code, at);
    const size_t end = walk->code[open] == '(' ? walk_inside(walk, open, &part) : NOWHERE;

    if (end != NOWHERE && is_for)
        join(walk, &part, end - 1);
    return end;
}

/**
 * Returns the position of `word` if it is the next word after `at`, otherwise NOWHERE. Sets *divided if a conditional
 * directive precedes the word.
 */
static size_t find_next(const char *code, size_t at, const char *word, bool *divided)
{
    at = skip_blank(code, at, divided);
    return is_word_at(code, at, word) ? at : NOWHERE;
}

/** Walks through both sides of an `if`, the first of which begins after `at`, by calling side() for each of them. */
static size_t walk_sides(struct walk *walk, size_t at, size_t (*side)(struct walk *walk, size_t at, bool *parted),
                         bool *parted)
{
    bool divided = false, other_parted = false;

    at = side(walk, at, parted);
    const size_t other = at == NOWHERE ? NOWHERE : find_next(walk->code, at, "else", &divided);

    if (other == NOWHERE)
        return at;
    at = divided ? NOWHERE : side(walk, other + strlen("else"), &other_parted);
    *parted = *parted || other_parted;
    return at;
}

static size_t walk_side_of_if(struct walk *walk, size_t at, bool *parted)
{
    *parted = true;
    return walk_governed(walk, at, false);
}

/** Walks through the `if` statement whose first word ends at `at`. */
static size_t walk_if(struct walk *walk, size_t at, bool *parted)
{
    const size_t word = skip_space(walk->code, at);
    const bool of_compiler = is_word_at(walk->code, word, "constexpr"); /* lanes do not diverge there */

    walk->quiet += of_compiler;
    at = walk_condition(walk, of_compiler ? word + strlen("constexpr") : at, false);
    walk->quiet -= of_compiler;
    return at == NOWHERE ? NOWHERE : walk_sides(walk, at, of_compiler ? walk_statement : walk_side_of_if, parted);
}

/** Walks through the `do` loop whose first word ends at `at`. */
static size_t walk_do(struct walk *walk, size_t at)
{
    bool divided = false;
    struct part condition;

    at = walk_governed(walk, at, true);
    if (at == NOWHERE || (at = find_next(walk->code, at, "while", &divided)) == NOWHERE || divided)
        return NOWHERE;
    at = walk_expression(walk, at, ";", &condition);
    return at == NOWHERE ? NOWHERE : at + 1;
}

/** Walks through the label at `at` and the statement after it. */
static size_t walk_label(struct walk *walk, size_t at, bool *parted)
{
    static const char *const labels[] = {"case", "default", NULL};
    bool divided = false;
    struct part value;

    walk->quiet++;
    at = walk_expression(walk, at, ":;", &value);
    walk->quiet--;
    if (at == NOWHERE || walk->code[at] == ';')
        return NOWHERE;
    const size_t next = skip_blank(walk->code, at + 1, &divided);

    if (has_word(walk->code, next, next + 1, labels) || walk->code[next] == '}')
        return at + 1;
    mark(walk, at + 1, " SIMT_BLOCK;");
    return walk_statement(walk, next, parted);
}

/** Returns whether the statement at `at` has a label of a `switch` or of a `goto`. */
static bool has_label(const char *code, size_t at)
{
    const size_t end = skip_space(code, word_end(code, at));

    return is_word_at(code, at, "case") || (code[end] == ':' && code[end + 1] != ':');
}

/**
 * Returns whether the statement at `at` gets no marks: a declaration of a type or of a constant that the compiler
 * computes, or assembly.
 */
static bool is_quiet_statement(const char *code, size_t at)
{
    static const char *const words[] = {"constexpr", "static_assert", "static", "using", "typedef", "struct",
                                        "class",     "union",         "enum",   "asm",   "__asm__", NULL};

    return has_word(code, at, at + 1, words);
}

/**
 * Walks through a declaration, an expression or a jump at `at`. The end of its last part is marked only if a call
 * precedes that part, as in a[f()] = b && c, where a[f()] is evaluated after b && c. Otherwise the lanes reconverge
 * after the statement.
 */
static size_t walk_simple(struct walk *walk, size_t at, bool *parted)
{
    const bool quiet = is_quiet_statement(walk->code, at);
    const bool leaves = is_word_at(walk->code, at, "return");
    struct part last;

    walk->quiet += quiet;
    const size_t end = walk_expression(walk, at, ";", &last);

    if (end != NOWHERE && memchr(walk->code + at, '(', last.begin - at))
        join(walk, &last, end);
    walk->quiet -= quiet;
    *parted = end != NOWHERE && last.any_parted && !quiet && !leaves;
    return end == NOWHERE ? NOWHERE : end + 1;
}

/**
 * Walks through the statement at `at`; returns its end. Sets *parted if lanes that began the statement together may
 * have diverged at its end.
 */
static size_t walk_one_statement(struct walk *walk, size_t at, bool *parted)
{
    const char *code = walk->code;
    bool divided = false;

    at = skip_blank(code, at, &divided);
    const size_t end = is_word(code[at]) ? word_end(code, at) : at;

    *parted = true;
    if (divided)
        return NOWHERE;
    if (code[at] == '{')
        return walk_braces(walk, at, parted);
    if (is_word_at(code, at, "if"))
        return walk_if(walk, end, parted);
    if (is_word_at(code, at, "do"))
        return walk_do(walk, end);
    if (is_word_at(code, at, "for") || is_word_at(code, at, "while")) {
        at = walk_condition(walk, end, is_word_at(code, at, "for"));
        return at == NOWHERE ? NOWHERE : walk_governed(walk, at, true);
    }
    if (is_word_at(code, at, "switch")) {
        bool last_parted;

        at = walk_condition(walk, end, false);
        return at == NOWHERE ? NOWHERE : walk_statement(walk, at, &last_parted);
    }
    *parted = false;
    return has_label(code, at) ? walk_label(walk, at, parted) : walk_simple(walk, at, parted);
}

static size_t walk_statement(struct walk *walk, size_t at, bool *parted)
{
    if (++walk->depth > MAX_DEPTH)
        return NOWHERE;
    at = walk_one_statement(walk, at, parted);
    walk->depth--;
    return at;
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

/**
 * Returns whether the function's body in [begin, end) declares a local array. Such an array may make the frame larger
 * than the stack. The compiler's hook at the beginning of a function checks the frame's size, but compilers omit the
 * hook in a function that calls nothing and accesses only its frame, so SIMT_CALL is inserted as a call.
 */
static bool declares_array(const char *code, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        if (code[at] != '[')
            continue;
        const size_t name = word_begin(code, at);
        const size_t type_end = skip_space_back(code, name);

        if (name < at && type_end < name && (is_word(code[type_end - 1]) || code[type_end - 1] == '>') &&
            !is_keyword_before_value(code, type_end) && find_before(code, name, "__shared__") == NOWHERE)
            return true;
    }
    return false;
}

/** Returns the end of the body at `at`. An #else restores the number of braces that were open at its #if. */
static size_t body_end(const char *code, size_t at)
{
    int braces = 0, conditionals = 0, before[MAX_CONDITIONALS];

    for (; code[at]; at++) {
        const char *word = code + skip_space(code, at + 1);

        braces += (code[at] == '{') - (code[at] == '}');
        if (code[at] == '}' && braces == 0)
            return at + 1;
        if (code[at] != '#')
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
 * Walks through the body of a function or a lambda at `at`. Inserts `first_mark` at its beginning or, if `first_mark`
 * is empty, SIMT_CALL if the body has blocks or arrays.
 */
static size_t walk_function(struct walk *walk, size_t at, const char *first_mark)
{
    const size_t first = walk->source->insertion_count;
    bool parted;
    const int depth = walk->depth;
    size_t end = walk_braces(walk, at, &parted);

    walk->depth = depth;
    if (end == NOWHERE || end != body_end(walk->code, at)) { /* there is an #if inside a statement */
        walk->source->insertion_count = first;
        end = NOWHERE;
    }
    if (*first_mark)
        mark(walk, at + 1, first_mark);
    else if (walk->source->insertion_count > first || (end != NOWHERE && declares_array(walk->code, at, end)))
        mark(walk, at + 1, " SIMT_CALL;");
    return end;
}

/** Returns the end of the attributes, such as `alignas(16)` or `__align__(8)`, that begin at `at`. */
static size_t attributes_end(const char *code, size_t at)
{
    for (;;) {
        const size_t open = skip_space(code, word_end(code, at));
        const bool brackets = starts_with(code + at, "[[");

        if (!brackets && !(code[open] == '(' && open > at))
            return at;
        const size_t close = partner(code, brackets ? at : open, 1);

        if (close == NOWHERE)
            return at;
        at = skip_space(code, close + 1);
    }
}

/** Returns whether the `{` at `at` begins the body of a class whose declaration begins at `begin` or later. */
static bool is_class_body(const char *code, size_t begin, size_t at)
{
    static const char *const words[] = {"struct", "class", "union", "enum", NULL};

    for (size_t end; begin < at; begin = end) {
        const size_t close = is_one_of(code[begin], "<(") ? partner(code, begin, 1) : NOWHERE;

        end = close < at ? close + 1 : is_word(code[begin]) ? word_end(code, begin) : begin + 1;
        if (close < at || !has_word(code, begin, end, words))
            continue;
        size_t name = attributes_end(code, skip_space(code, end));

        while (is_word(code[name]) || starts_with(code + name, "::"))
            name = skip_space(code, is_word(code[name]) ? word_end(code, name) : name + 2);
        if (name == at || code[name] == ':' || code[name] == '<')
            return true;
    }
    return false;
}

/** Returns whether the `{` at `at` begins a function's body and not a value or a class. */
static bool is_body(const char *code, size_t at)
{
    const size_t before = skip_space_back(code, at);
    size_t begin = at;

    while (begin > 0 && !is_one_of(code[begin - 1], ";{}\n"))
        begin--;
    return before > 0 && code[before - 1] != '=' && memchr(code + begin, '(', at - begin) &&
           !is_class_body(code, begin, at);
}

bool mark_blocks(struct source *source, size_t at)
{
    struct walk walk = {.source = source, .code = source->code};
    const bool is_kernel = find_before(source->code, at, "__global__") != NOWHERE;

    if (!is_body(source->code, at) || find_before(source->code, at, "constexpr") != NOWHERE)
        return true;
    walk_function(&walk, at, is_kernel ? " SIMT_BLOCK;" : "");
    const size_t end = body_end(source->code, at);
    const bool marked = end == NOWHERE || mark_arguments(source, at, end);

    sort_insertions(source);
    return marked && !walk.failed;
}
