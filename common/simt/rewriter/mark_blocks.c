/**
 * @file mark_blocks.c
 * @brief Marks in every function where the source's blocks begin, so that what is counted is the source's.
 *
 * A block is what all lanes that begin it run to its end together, as far as the source says. One begins with a kernel,
 * with each side of an `if`, each turn of a loop, each label of a `switch`, the right operand of && and ||, a side of a
 * ?: that calls a function or touches memory, and behind a statement that has any of these:
 *
 *     if (a) x; else y; z;        ->   if (a) { SIMT_BLOCK; x; } else { SIMT_BLOCK; y; } SIMT_BLOCK; z;
 *     for (;;) x; z;              ->   for (;;) { SIMT_BLOCK; x; } SIMT_BLOCK; z;            and while, and do
 *     case 1: x;                  ->   case 1: SIMT_BLOCK; x;
 *     v = a && b; z;              ->   v = a && SIMT_AND && b; SIMT_BLOCK; z;                || has SIMT_OR
 *     v = a ? f() : 0; z;         ->   v = a ? (SIMT_SIDE, f()) : 0; SIMT_BLOCK; z;
 *     v = a ? b : -b;             ->   the same: it is a select, whatever a compiler makes of it
 *     __device__ int f() { ... }  ->   __device__ int f() { SIMT_CALL; ... }                 if it has blocks
 *                                                                                          or arrays
 *
 * A function may be the device's without saying so, by a macro; in the host's, marks do nothing. No mark is needed
 * behind a statement with which an `if` or a function ends: the next one follows anyway. A function in which a
 * preprocessor line stands inside a statement is left without marks, and so is a constexpr function.
 */
#include "mark_blocks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** The function that is walked through. Each walk returns where it ended, or NOWHERE: it cannot be walked through. */
struct walk {
    struct source *source;
    const char *code;
    int quiet;   /* above 0: nothing is evaluated here, or nothing may be inserted */
    int depth;   /* of statements and brackets in each other */
    bool failed; /* out of memory */
};

static size_t walk_statement(struct walk *walk, size_t at, bool *parted);
static size_t walk_function(struct walk *walk, size_t at, const char *first_mark);

static void mark(struct walk *walk, size_t at, const char *text)
{
    if (walk->quiet == 0 && !insert(walk->source, at, text))
        walk->failed = true;
}

/** Behind white space, comments and directives; *divided is set if one of these is an #if or a part of one. */
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

/** Whether the word at `at`, with a parenthesis behind it, is no call: a conversion, or nothing that is evaluated. */
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

/** Whether the sign at `at` is a call's parenthesis, an element's bracket, or takes what a pointer points to. */
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
    if (code[before - 1] == '>') { /* a function's template arguments, or a comparison */
        word = partner(code, before - 1, -1);
        if (word == NOWHERE)
            return false;
        word = skip_space_back(code, word);
    }
    const size_t end = word;

    while (word > 0 && is_word(code[word - 1]))
        word--;
    return word < end && !isdigit((unsigned char)code[word]) && !is_no_call(code, word, end);
}

/** Whether a side of a ?: is one that every lane may as well compute: names, numbers and arithmetic. */
static bool is_plain(const char *code, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++)
        if (is_call_or_access(code, at))
            return false;
    return true;
}

/** Whether the && at `at` declares a reference. */
static bool is_reference(const char *code, size_t at)
{
    const size_t before = skip_space_back(code, at);

    return !ends_value(code, at) || (before >= 4 && is_word_at(code, before - 4, "auto")) ||
           is_one_of(code[skip_space(code, at + 2)], ",)>=");
}

static size_t walk_expression(struct walk *walk, size_t at, const char *stops, bool *parted);

/** One side of a ?:, from `begin` up to one of `stops`. */
static size_t walk_side(struct walk *walk, size_t begin, const char *stops, bool *parted)
{
    const size_t first = walk->source->insertion_count;

    mark(walk, begin, "(SIMT_SIDE, ");
    const size_t end = walk_expression(walk, begin, stops, parted);

    if (end == NOWHERE)
        return NOWHERE;
    if (is_plain(walk->code, begin, end)) {
        walk->source->insertion_count = first; /* it has nothing else to mark: a call or a && would not be plain */
        return end;
    }
    mark(walk, end, ")");
    *parted = true;
    return end;
}

/** The two sides of the ? at `at`. */
static size_t walk_choice(struct walk *walk, size_t at, bool *parted)
{
    if (++walk->depth > MAX_DEPTH)
        return NOWHERE;
    const size_t middle = walk_side(walk, at + 1, ":", parted);
    const size_t end = middle == NOWHERE ? NOWHERE : walk_side(walk, middle + 1, ",;)]}:", parted);

    walk->depth--;
    return end;
}

/** What stands in the brackets at `at`; returns where it goes on behind them. */
static size_t walk_brackets(struct walk *walk, size_t at, bool *parted)
{
    static const char open[] = "([{", close[][2] = {")", "]", "}"};

    if (++walk->depth > MAX_DEPTH)
        return NOWHERE;
    const size_t end = walk_expression(walk, at + 1, close[strchr(open, walk->code[at]) - open], parted);

    walk->depth--;
    return end == NOWHERE ? NOWHERE : end + 1;
}

/** A function without a name, whose [ is at `at`; returns where it goes on behind its body. */
static size_t walk_lambda(struct walk *walk, size_t at)
{
    bool parted = false;

    walk->quiet++;
    at = walk_brackets(walk, at, &parted);
    if (at != NOWHERE)
        at = walk_expression(walk, at, "{;", &parted); /* its parameters and what it returns */
    walk->quiet--;
    return at == NOWHERE || walk->code[at] != '{' ? at : walk_function(walk, at, "");
}

/** Whether what stands in parentheses behind the word at `at` is not evaluated, or quoted, or is assembly's. */
static bool is_quiet_word(const char *code, size_t at)
{
    static const char *const words[] = {"assert",   "sizeof", "alignof", "decltype", "static_assert",
                                        "noexcept", "asm",    "__asm__", NULL};

    return has_word(code, at, at + 1, words);
}

/** What begins with the word at `at`. */
static size_t walk_word(struct walk *walk, size_t at)
{
    const size_t end = word_end(walk->code, at), open = skip_space(walk->code, end);
    bool parted = false;

    if (!is_quiet_word(walk->code, at) || walk->code[open] != '(')
        return end;
    walk->quiet++;
    at = walk_brackets(walk, open, &parted);
    walk->quiet--;
    return at;
}

/** An operator that may part lanes, at `at`. */
static size_t walk_operator(struct walk *walk, size_t at, bool *parted)
{
    const bool is_and = walk->code[at] == '&';

    if (is_and && is_reference(walk->code, at))
        return at + 2;
    mark(walk, at + 2, is_and ? " SIMT_AND &&" : " SIMT_OR ||");
    *parted = true;
    return at + 2;
}

/** From `at` up to one of the characters in `stops` that stands in no brackets; *parted is set if lanes may part. */
static size_t walk_expression(struct walk *walk, size_t at, const char *stops, bool *parted)
{
    const char *code = walk->code;

    while (at != NOWHERE && code[at]) {
        if (starts_with(code + at, "::"))
            at += 2;
        else if (is_one_of(code[at], stops))
            return at;
        else if (is_one_of(code[at], ")]}"))
            return NOWHERE;
        else if (is_word(code[at]))
            at = walk_word(walk, at);
        else if (code[at] == '#')
            at += strcspn(code + at, "\n");
        else if (starts_with(code + at, "[[") && strstr(code + at, "]]"))
            at = (size_t)(strstr(code + at, "]]") - code) + 2;
        else if (code[at] == '[' && !ends_value(code, at))
            at = walk_lambda(walk, at);
        else if (is_one_of(code[at], "([{"))
            at = walk_brackets(walk, at, parted);
        else if (code[at] == '?')
            at = walk_choice(walk, at, parted);
        else if (starts_with(code + at, "&&") || starts_with(code + at, "||"))
            at = walk_operator(walk, at, parted);
        else
            at++;
    }
    return NOWHERE;
}

/* --- statements --------------------------------------------------------------------------------------------------- */

/** The statements in the braces at `at`. *parted: lanes may be apart when the last has ended. */
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
 * The statement behind `at` that an `if`, an `else` or a loop governs, in braces of its own if it has none. Lanes that
 * may be apart at its end come together there if the next turn of a loop follows.
 */
static size_t walk_governed(struct walk *walk, size_t at, bool in_loop)
{
    bool divided = false, parted = false;
    const size_t begin = skip_blank(walk->code, at, &divided);
    const bool has_braces = walk->code[begin] == '{';

    if (divided)
        return NOWHERE;
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

/** The parentheses of the statement whose first word ends at `at`; returns where they end. */
static size_t walk_condition(struct walk *walk, size_t at)
{
    bool parted = false;
    const size_t open = skip_space(walk->code, at);

    return walk->code[open] == '(' ? walk_brackets(walk, open, &parted) : NOWHERE;
}

/** Where the word `word` follows `at`; NOWHERE if another does, *divided if an #if stands between. */
static size_t find_next(const char *code, size_t at, const char *word, bool *divided)
{
    at = skip_blank(code, at, divided);
    return is_word_at(code, at, word) ? at : NOWHERE;
}

/** The statements that an `if` chooses from, the first behind `at`; `side` walks through one. */
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

/** An `if` whose word ends at `at`. */
static size_t walk_if(struct walk *walk, size_t at, bool *parted)
{
    const size_t word = skip_space(walk->code, at);
    const bool of_compiler = is_word_at(walk->code, word, "constexpr"); /* it parts no lanes */

    walk->quiet += of_compiler;
    at = walk_condition(walk, of_compiler ? word + strlen("constexpr") : at);
    walk->quiet -= of_compiler;
    return at == NOWHERE ? NOWHERE : walk_sides(walk, at, of_compiler ? walk_statement : walk_side_of_if, parted);
}

/** A `do` whose word ends at `at`. */
static size_t walk_do(struct walk *walk, size_t at)
{
    bool divided = false, parted = false;

    at = walk_governed(walk, at, true);
    if (at == NOWHERE || (at = find_next(walk->code, at, "while", &divided)) == NOWHERE || divided)
        return NOWHERE;
    at = walk_expression(walk, at, ";", &parted);
    return at == NOWHERE ? NOWHERE : at + 1;
}

/** The label at `at`, and the statement behind it. */
static size_t walk_label(struct walk *walk, size_t at, bool *parted)
{
    static const char *const labels[] = {"case", "default", NULL};
    bool divided = false;

    walk->quiet++;
    at = walk_expression(walk, at, ":;", parted);
    walk->quiet--;
    if (at == NOWHERE || walk->code[at] == ';')
        return NOWHERE;
    const size_t next = skip_blank(walk->code, at + 1, &divided);

    if (has_word(walk->code, next, next + 1, labels) || walk->code[next] == '}')
        return at + 1;
    mark(walk, at + 1, " SIMT_BLOCK;");
    return walk_statement(walk, next, parted);
}

/** Whether the statement at `at` has a label: of a switch, or for a goto. */
static bool has_label(const char *code, size_t at)
{
    const size_t end = skip_space(code, word_end(code, at));

    return is_word_at(code, at, "case") || (code[end] == ':' && code[end + 1] != ':');
}

/** Whether the statement at `at` declares what the compiler computes, or a type. */
static bool is_quiet_statement(const char *code, size_t at)
{
    static const char *const words[] = {"constexpr", "static_assert", "static", "using", "typedef", "struct",
                                        "class",     "union",         "enum",   "asm",   "__asm__", NULL};

    return has_word(code, at, at + 1, words);
}

/** A declaration, an expression, or a jump, at `at`. */
static size_t walk_simple(struct walk *walk, size_t at, bool *parted)
{
    const bool quiet = is_quiet_statement(walk->code, at);
    const bool leaves = is_word_at(walk->code, at, "return");

    walk->quiet += quiet;
    at = walk_expression(walk, at, ";", parted);
    walk->quiet -= quiet;
    *parted = *parted && !quiet && !leaves;
    return at == NOWHERE ? NOWHERE : at + 1;
}

/** The statement at `at`; returns its end. *parted: lanes that began it together may be apart there. */
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
        at = walk_condition(walk, end);
        return at == NOWHERE ? NOWHERE : walk_governed(walk, at, true);
    }
    if (is_word_at(code, at, "switch")) {
        bool last_parted;

        at = walk_condition(walk, end);
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
 * Whether a function's own array is declared in [begin, end). Such a frame may be larger than a stack, which is checked
 * where a function begins; compilers leave that check out of a function that calls nothing and touches only its frame.
 */
static bool declares_array(const char *code, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        size_t name = at;

        if (code[at] != '[')
            continue;
        while (is_word(code[name - 1]))
            name--;
        const size_t type_end = skip_space_back(code, name);

        if (name < at && type_end < name && (is_word(code[type_end - 1]) || code[type_end - 1] == '>') &&
            !is_keyword_before_value(code, type_end) && find_before(code, name, "__shared__") == NOWHERE)
            return true;
    }
    return false;
}

/** Where the body at `at` ends, both sides of an #else having as many braces open at their beginning. */
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

/** The body at `at` of a function or a lambda, with `first_mark` at its beginning; if that is empty, as needed. */
static size_t walk_function(struct walk *walk, size_t at, const char *first_mark)
{
    const size_t first = walk->source->insertion_count;
    bool parted;
    const int depth = walk->depth;
    size_t end = walk_braces(walk, at, &parted);

    walk->depth = depth;
    if (end == NOWHERE || end != body_end(walk->code, at)) { /* an #if stands in a statement */
        walk->source->insertion_count = first;
        end = NOWHERE;
    }
    if (*first_mark)
        mark(walk, at + 1, first_mark);
    else if (walk->source->insertion_count > first || (end != NOWHERE && declares_array(walk->code, at, end)))
        mark(walk, at + 1, " SIMT_CALL;");
    return end;
}

/** Whether the `{` at `at` is a function's body and not a value's. */
static bool is_body(const char *code, size_t at)
{
    const size_t before = skip_space_back(code, at);
    size_t begin = at;

    while (begin > 0 && !is_one_of(code[begin - 1], ";{}\n"))
        begin--;
    return before > 0 && code[before - 1] != '=' && memchr(code + begin, '(', at - begin);
}

bool mark_blocks(struct source *source, size_t at)
{
    struct walk walk = {.source = source, .code = source->code};
    const bool is_kernel = find_before(source->code, at, "__global__") != NOWHERE;

    if (!is_body(source->code, at) || find_before(source->code, at, "constexpr") != NOWHERE)
        return true;
    walk_function(&walk, at, is_kernel ? " SIMT_BLOCK;" : "");
    sort_insertions(source);
    return !walk.failed;
}
