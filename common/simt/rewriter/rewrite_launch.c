/**
 * @file rewrite_launch.c
 * @brief Turns what in a kernel file is not C++ into C++, marks what the simulator counts, and leaves every line where
 * it was.
 *
 *     rewrite_launch FILE.cu > FILE.cc
 *
 *     kernel<T><<<grid, block>>>(args)   ->   simt_launch(SIMT_KERNEL((kernel<T>)), "kernel<T>", grid, block)(args)
 *     cudaLaunchKernel((void *)kernel,   ->   cudaLaunchKernel(kernel,
 *     #include <math_constants.h>        ->   #include <cuda_runtime.h>                  and other headers of CUDA's
 *     __launch_bounds__(n) name(T x) {   ->   __launch_bounds__(n) name(T x) { SIMT_LAUNCH_BOUNDS(n)
 *
 * Variables; a gap behind each shows an access that runs over its end:
 *
 *     extern __shared__ T name[];        ->   T *const name = (decltype(+name))simt_dynamic_shared;      in a function
 *     extern __shared__ T name[];        ->   extern __thread T name[] __asm__("simt_dynamic_shared");       elsewhere
 *     __shared__ T name[size];           ->   __shared__ T name[size]; SIMT_SHARED_GAP
 *     __device__ T name;                 ->   SIMT_DEVICE_VARIABLE T name; SIMT_DEVICE_GAP
 *     __constant__ T name[size];         ->   __constant__ T name[size]; SIMT_CONSTANT_GAP
 *
 * In functions of the device, what C++ leaves open and a GPU does not, and where blocks begin (mark_blocks.c):
 *
 *     a << b   a >> b                    ->   a << simt_count * b         a >> simt_count * b
 *     (int)x   static_cast<int>(x)       ->   simt_to<int>()->* x         simt_cast<int>(x)
 *                                             and other integers of 4 or 8 bytes
 *     a[i]   &a.b[i]                     ->   a[simt_within<decltype(a)>() |= i]
 *                                             &a.b[simt_up_to<decltype(a.b)>() |= i]
 *     #if __CUDA_ARCH__                  ->   #if SIMT_CUDA_ARCH
 *                                             unless one of the branches has inline assembly or #include
 *     if (a) x;                          ->   if (a) { SIMT_BLOCK; x; } SIMT_BLOCK;
 *
 * Anything it cannot rewrite is an error, one line: FILE:LINE: what is wrong. Exit 1.
 */
#include "mark_blocks.h"
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Whether the rewriting is inside a function that is the device's, or the host's too. */
static bool in_device_function(const struct source *source)
{
    return source->device_braces > 0;
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

/** `at`, the start of a whole expression; NOWHERE if a call's function, an object or a pointer stands before it. */
static size_t whole(const char *code, size_t at)
{
    const size_t before = skip_space_back(code, at);

    if (code[before - 1] == '.' || starts_with(code + before - 2, "->"))
        return NOWHERE;
    return code[at] == '(' && is_word(code[before - 1]) ? NOWHERE : at;
}

/** The start of the kernel that ends at `at`: name, a::b<c>::d<e>, or an expression in parentheses; else NOWHERE. */
static size_t kernel_begin(const char *code, size_t at)
{
    if (code[at - 1] == ')') {
        const size_t open = partner(code, at - 1, -1);
        return open == NOWHERE ? NOWHERE : whole(code, open);
    }
    for (;;) {
        if (code[at - 1] == '>' && (at = partner(code, at - 1, -1)) == NOWHERE)
            return NOWHERE;
        const size_t name_end = at = skip_space_back(code, at);
        while (is_word(code[at - 1]))
            at--;
        if (at == name_end)
            return NOWHERE;
        const size_t scope = skip_space_back(code, at);
        if (!starts_with(code + scope - 2, "::"))
            return whole(code, at);
        const size_t outer = skip_space_back(code, scope - 2);
        if (!is_word(code[outer - 1]) && code[outer - 1] != '>')
            return scope - 2;
        at = outer;
    }
}

/**
 * The `>>>` in [at, limit) that ends the launch configuration that `at` is in: the first outside brackets with a `(`
 * after it. A `<` is tried as the start of template arguments, and taken for "less than" if that leaves no end, the
 * last one first.
 */
static size_t configuration_end(const char *code, size_t at, size_t limit)
{
    size_t end = NOWHERE; /* if the last < that has one inside is "less than" */

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

/** Writes [begin, end) as the inside of a string: one space for comments and white space, quotes escaped. */
static void write_quoted(const struct source *source, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        const bool space = source->code[at] == ' ';

        if (space && source->code[at - 1] == ' ')
            continue;
        if (source->text[at] == '\n' && !space) { /* in a raw string: the name stays in its line */
            fputs("\\n", stdout);
            continue;
        }
        if (starts_with(source->text + at, "\\\n") && !space) { /* in a string that goes on in the next line */
            at++;
            continue;
        }
        if (is_one_of(source->text[at], "\"\\") && !space)
            putchar('\\');
        putchar(space ? ' ' : source->text[at]);
    }
}

/** Writes [begin, end) in one line, without comments, and what strings have in several lines joined. */
static void write_line(const struct source *source, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at++) {
        const char c = source->code[at] == ' ' ? ' ' : source->text[at];

        if (c == '\\' && source->text[at + 1] == '\n')
            at++;
        else if (c != '\n')
            putchar(c);
    }
}

/** Rewrites the launch whose `<<<` is at `at`; the text before it is copied or about to be. */
static bool rewrite_launch(struct source *source, size_t at)
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

/**
 * Leaves out what makes a void pointer of the kernel in cudaLaunchKernel((void *)kernel, ...): the types come from it.
 */
static void rewrite_launch_call(struct source *source, size_t end)
{
    const char *code = source->code;
    const size_t open = skip_space(code, end);

    if (code[open] != '(')
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

/* --- dynamic shared memory ---------------------------------------------------------------------------------------- */

/** One `extern __shared__ T name[]`, or name[][N]: where its parts are in the code. */
struct dynamic_array {
    size_t extern_word; /**< NOWHERE: it has none */
    size_t shared_word;
    size_t name, name_end;
    size_t open, close; /**< the brackets without a size; NOWHERE: all have one */
    size_t semicolon;
};

/**
 * Finds the brackets without a size and the `;` of the declaration that `at` is in; false for anything but one such
 * array.
 */
static bool find_unsized_array(const char *code, size_t at, struct dynamic_array *array)
{
    array->open = NOWHERE;
    for (; code[at] && code[at] != ';'; at++) {
        const bool unsized = code[at] == '[' && code[skip_space(code, at + 1)] == ']';

        if (is_one_of(code[at], "=}\n") || (array->open != NOWHERE && !is_one_of(code[at], "[ ")))
            return false;
        if (unsized && array->open == NOWHERE)
            array->open = at;
        if (is_one_of(code[at], "([{") && (at = partner(code, at, 1)) == NOWHERE)
            return false;
        if (unsized)
            array->close = at;
    }
    array->semicolon = at;
    return code[at] && array->open != NOWHERE;
}

/** The array as a pointer to its first element: compilers forget a variable's other name inside templates. */
static void write_pointer(struct source *source, const struct dynamic_array *array)
{
    const bool rows = source->code[skip_space(source->code, array->close + 1)] == '[';

    replace(source, array->extern_word, array->extern_word + strlen("extern"), "");
    replace(source, array->shared_word, array->shared_word + strlen("__shared__"), "");
    replace(source, array->name, array->name, rows ? "(*const " : "*const ");
    replace(source, array->open, array->close + 1, rows ? ")" : "");
    copy_to(source, array->semicolon);
    fputs(" = (decltype(+", stdout);
    fwrite(source->text + array->name, 1, array->name_end - array->name, stdout);
    fputs("))simt_dynamic_shared", stdout);
}

/** Where the declaration goes on after its `;`; NOWHERE if it has none before the directive that it is in ends. */
static size_t declaration_end(const char *code, size_t at)
{
    for (; code[at] && !is_one_of(code[at], ")]}\n"); at++) {
        if (code[at] == ';')
            return at + 1;
        if (is_one_of(code[at], "([{") && (at = partner(code, at, 1)) == NOWHERE)
            return NOWHERE;
    }
    return NOWHERE;
}

static void write_gap(struct source *source, size_t at, const char *gap)
{
    const size_t end = declaration_end(source->code, at);

    if (end == NOWHERE)
        return;
    copy_to(source, end);
    fputs(gap, stdout);
}

/** The word among those before `at` in the same declaration that are not in the output yet, or NOWHERE. */
static size_t find_uncopied(const struct source *source, size_t at, const char *word)
{
    const size_t found = find_before(source->code, at, word);

    return found >= source->copied ? found : NOWHERE;
}

/** Shared variables are static; CUDA lets one say so. */
static void leave_out_static(struct source *source, size_t at, size_t end)
{
    const size_t before = find_uncopied(source, at, "static"), behind = skip_space(source->code, end);

    if (before != NOWHERE)
        replace(source, before, before + strlen("static"), "");
    if (is_word_at(source->code, behind, "static"))
        replace(source, behind, behind + strlen("static"), "");
}

/** Rewrites the declaration that has `__shared__` at `at` if its array has no size; else leaves a gap behind it. */
static bool rewrite_shared(struct source *source, size_t at)
{
    struct dynamic_array array = {.extern_word = find_uncopied(source, at, "extern"), .shared_word = at};
    const size_t word = at + strlen("__shared__");
    const bool dynamic = array.extern_word != NOWHERE;

    if (dynamic != find_unsized_array(source->code, word, &array))
        return fail(source, at, "dynamic shared memory is declared as: extern __shared__ T name[];");
    if (!dynamic) {
        leave_out_static(source, at, word);
        write_gap(source, word, " SIMT_SHARED_GAP");
        return true;
    }
    array.name = array.name_end = skip_space_back(source->code, array.open);
    while (is_word(source->code[array.name - 1]))
        array.name--;
    if (array.name < word || array.name == array.name_end)
        return fail(source, at, "dynamic shared memory needs a name: extern __shared__ T name[];");
    if (source->function_braces > 0) {
        write_pointer(source, &array);
        return true;
    }
    replace(source, at, word, "__thread");
    copy_to(source, array.semicolon);
    fputs(" __asm__(\"simt_dynamic_shared\")", stdout);
    return true;
}

/* --- variables in global and constant memory ---------------------------------------------------------------------- */

/** Whether the parenthesis at `at` is an attribute's and no function's. */
static bool is_attribute(const char *code, size_t at)
{
    static const char *const words[] = {"__align__", "alignas", "__attribute__"};
    size_t word = at = skip_space_back(code, at);

    while (word > 0 && is_word(code[word - 1]))
        word--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == at - word && starts_with(code + word, words[i]))
            return true;
    return false;
}

/** Whether the declaration that goes on at `at` is one of variables that a kernel may change. */
static bool declares_variable(const char *code, size_t at)
{
    for (; code[at] && !is_one_of(code[at], ")}\n"); at++) {
        if (is_word_at(code, at, "const") || is_word_at(code, at, "constexpr"))
            return false;
        if (is_one_of(code[at], ";=[{"))
            return true;
        if (code[at] == '(' && !is_attribute(code, at))
            return false;
        if (is_one_of(code[at], "(<") && (at = partner(code, at, 1)) == NOWHERE)
            return false;
    }
    return false;
}

/** Puts a variable of a kernel's where no host variable is, and a gap behind it. */
static void rewrite_variable(struct source *source, size_t at, size_t end, const char *attribute, const char *gap)
{
    if (!declares_variable(source->code, end) || find_before(source->code, at, "extern") != NOWHERE)
        return;
    replace(source, at, end, attribute);
    write_gap(source, end, gap);
}

/*
 * --- headers of CUDA's ----------------------------------------------------------------------------------------------
 */

/** A header, or all whose names begin so: which header here has the same, or why there is none. */
struct header {
    const char *name, *here, *why;
};

static const struct header headers[] = {
    {"cuda.h", "cuda_runtime.h", NULL},
    {"cuda_profiler_api.h", "cuda_runtime.h", NULL},
    {"device_launch_parameters.h", "cuda_runtime.h", NULL},
    {"device_functions.h", "cuda_runtime.h", NULL},
    {"math_constants.h", "cuda_runtime.h", NULL},
    {"vector_functions.h", "cuda_runtime.h", NULL},
    {"cooperative_groups/reduce.h", "cooperative_groups.h", NULL},
    {"cooperative_groups/scan.h", "cooperative_groups.h", NULL},
    {"cooperative_groups/memcpy_async.h", NULL, "use __pipeline_memcpy_async() of cuda_pipeline.h"},
    {"cuda_pipeline_primitives.h", "cuda_pipeline.h", NULL},
    {"cuda/pipeline", NULL, "use __pipeline_memcpy_async() of cuda_pipeline.h"},
    {"cuda/", NULL, "use atomicAdd() and its kin, and __threadfence()"},
    {"cub/", NULL, "write it by shuffles and shared memory, as the chapters do"},
    {"thrust/", NULL, "write a kernel"},
    {"curand", NULL, "make random numbers on the host, or from the thread's index"},
    {"cublas", NULL, "write a kernel"},
    {"cuda_fp8", NULL, "the small number types here are __half and __nv_bfloat16"},
};

/** Names the header here that has what is in one of CUDA's, or says why none has. */
static bool rewrite_include(struct source *source, size_t at)
{
    const size_t word = skip_space(source->code, at + 1);

    if (!is_word_at(source->code, word, "include"))
        return true;
    const size_t open = skip_space(source->code, word + strlen("include"));
    const char *const text = source->text + open + 1;

    if (!is_one_of(source->text[open], "<\""))
        return true;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const struct header *header = &headers[i];
        const size_t length = strlen(header->name);
        char what[200];

        if (!starts_with(text, header->name) || (header->here && !is_one_of(text[length], ">\"")))
            continue;
        if (header->here) {
            replace(source, open + 1, open + 1 + length, header->here);
        } else if (source->conditionals == 0) {
            snprintf(what, sizeof what, "%.*s is not supported by the simulator: %s", (int)strcspn(text, ">\"\n"), text,
                     header->why);
            return fail(source, at, what);
        }
        return true;
    }
    return true;
}

/*
 * --- where it is ----------------------------------------------------------------------------------------------------
 */

/** Whether the `{` at `at` belongs to a namespace or to `extern "C"`. */
static bool opens_namespace(const char *code, size_t at)
{
    while (at > 0 && !is_one_of(code[at - 1], ";{})\n"))
        if (is_word_at(code, --at, "namespace") || is_word_at(code, at, "extern"))
            return true;
    return false;
}

/** A function begins at the outermost `{` that is no namespace's; one of the device's, at that behind its qualifier. */
static bool count_brace(struct source *source, size_t at)
{
    const char *code = source->code;

    if (code[at] == '{') {
        bool begins = source->function_braces == 0 && !opens_namespace(code, at);

        source->braces++;
        if (begins)
            source->function_braces = source->braces;
        if (source->device_braces == 0 &&
            (find_before(code, at, "__global__") != NOWHERE || find_before(code, at, "__device__") != NOWHERE)) {
            source->device_braces = source->braces;
            source->device_begin = at;
            source->host_too = find_before(code, at, "__host__") != NOWHERE;
            begins = true;
        }
        return !begins || mark_blocks(source, at);
    } else if (code[at] == '}' && source->braces > 0) {
        if (source->function_braces == source->braces)
            source->function_braces = 0;
        if (source->device_braces == source->braces)
            source->device_braces = 0;
        source->braces--;
    }
    return true;
}

/** Both sides of an `#else` begin in as many braces. */
static void count_conditional(struct source *source, size_t at)
{
    const char *word = source->code + skip_space(source->code, at + 1);

    if (starts_with(word, "if") && source->conditionals < MAX_CONDITIONALS)
        source->braces_before[source->conditionals++] = source->braces;
    else if (starts_with(word, "el") && source->conditionals > 0) {
        source->braces = source->braces_before[source->conditionals - 1];
        if (source->device_braces > source->braces) /* the function began on the other side */
            source->device_braces = 0;
    } else if (starts_with(word, "endif") && source->conditionals > 0)
        source->conditionals--;
}

/*
 * --- launch bounds --------------------------------------------------------------------------------------------------
 */

/**
 * Copies what stands in the parentheses behind `__launch_bounds__` to the beginning of the function's body, if that
 * follows.
 */
static bool rewrite_launch_bounds(struct source *source, size_t end)
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

/*
 * --- what device code computes --------------------------------------------------------------------------------------
 */

/** Whether what stands alone at `at` is a number that no operator binds more closely than a shift does. */
static bool is_lone_number(const char *code, size_t at)
{
    return isdigit((unsigned char)code[at]) && !is_one_of(code[skip_space(code, word_end(code, at))], "*/%+-");
}

/** Whether the >> at `at` may close two template argument lists: a < stands before it, in the same brackets. */
static bool may_close_templates(const char *code, size_t at)
{
    while (at-- > 0 && !is_one_of(code[at], "([{;}\n")) {
        if (is_one_of(code[at], ")]") && (at = partner(code, at, -1)) == NOWHERE)
            return true;
        if (code[at] == '<' && code[at - 1] != '<' && code[at + 1] != '<' && code[at + 1] != '=')
            return true;
    }
    return false;
}

/** The end of the name at `at` with what follows it, such as a.b[i]->c(d); `at` if there is none. */
static size_t named_value_end(const char *code, size_t at)
{
    size_t end = at;

    for (;; at = skip_space(code, end)) {
        if (is_word(code[at]))
            end = word_end(code, at);
        else if (code[at] == '.' || starts_with(code + at, "->"))
            end = at + 1 + (code[at] == '-');
        else if (is_one_of(code[at], "[(") && partner(code, at, 1) != NOWHERE)
            end = partner(code, at, 1) + 1;
        else
            break;
    }
    return end;
}

/** Whether the compound shift at `at`, which ends at `end`, is of one variable, no bit field, by one value. */
static bool shifts_variable(const char *code, size_t at, size_t end)
{
    const size_t count = skip_space(code, end);
    const size_t name_end = at = skip_space_back(code, at);

    while (at > 0 && is_word(code[at - 1]))
        at--;
    return at < name_end && is_one_of(code[skip_space_back(code, at) - 1], ";{}(),") && is_word(code[count]) &&
           is_one_of(code[skip_space(code, named_value_end(code, count))], ";),");
}

/** Marks the count of the shift at `at`. */
static void rewrite_shift(struct source *source, size_t at)
{
    const char *code = source->code;
    const bool compound = code[at + 2] == '=';
    const size_t end = at + 2 + compound;

    if (!ends_value(code, at) || is_lone_number(code, skip_space(code, end)) ||
        (compound && !shifts_variable(code, at, end)) || (code[at] == '>' && may_close_templates(code, at)) ||
        !in_device_function(source))
        return;
    copy_to(source, end);
    fputs(" simt_count *", stdout);
}

/** The end of the name of an integer type of 4 or 8 bytes; NOWHERE if there is none at `at`. */
static size_t wide_integer_end(const char *code, size_t at)
{
    static const char *const words[] = {"unsigned", "signed",  "int",    "long",    "int32_t",
                                        "uint32_t", "int64_t", "size_t", "uint64_t"};
    size_t end = NOWHERE;

    for (at = skip_space(code, at); is_word(code[at]); at = skip_space(code, end)) {
        bool known = false;

        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            known = known || is_word_at(code, at, words[i]);
        if (!known)
            return NOWHERE;
        end = word_end(code, at);
    }
    return end;
}

/** Whether a cast at `at` would be the operand of an operator that binds as closely as it does. */
static bool is_operand_of_unary(const char *code, size_t at)
{
    at = skip_space_back(code, at);
    if (at == 0 || is_one_of(code[at - 1], "!~"))
        return true;
    if (!is_one_of(code[at - 1], "+-*&"))
        return false;
    if (code[at - 1] == '&' && code[at - 2] == '&')
        return false;
    return !ends_value(code, at - 1);
}

/** Rewrites the cast whose ( is at `at`, if it is one to a wide integer. */
static void rewrite_cast(struct source *source, size_t at)
{
    const char *code = source->code;
    const size_t end = wide_integer_end(code, at + 1);

    if (end == NOWHERE || code[skip_space(code, end)] != ')' || ends_value(code, at) || is_operand_of_unary(code, at))
        return;
    const size_t operand = skip_space(code, skip_space(code, end) + 1);

    if (!(is_word(code[operand]) || is_one_of(code[operand], "(-+~!*&\"")) ||
        (code[operand] == '(' && wide_integer_end(code, operand + 1) != NOWHERE) || !in_device_function(source))
        return;
    replace(source, at, at + 1, "simt_to<");
    copy_to(source, end);
    replace(source, end, skip_space(code, end) + 1, ">()->* ");
}

static void rewrite_static_cast(struct source *source, size_t at, size_t end)
{
    const char *code = source->code;
    const size_t open = skip_space(code, end);
    const size_t close = code[open] == '<' ? wide_integer_end(code, open + 1) : NOWHERE;

    if (close != NOWHERE && code[skip_space(code, close)] == '>' && in_device_function(source))
        replace(source, at, end, "simt_cast");
}

/* --- elements of arrays ------------------------------------------------------------------------------------------- */

/** The start of the names, members and elements that end at `at`, such as a.b[i]->c; `at` if something else does. */
static size_t chain_begin(const char *code, size_t at)
{
    for (size_t begin = at;;) {
        size_t end = skip_space_back(code, begin);

        while (code[end - 1] == ']' && partner(code, end - 1, -1) != NOWHERE)
            end = skip_space_back(code, partner(code, end - 1, -1));
        for (begin = end; is_word(code[begin - 1]);)
            begin--;
        if (begin == end || isdigit((unsigned char)code[begin]))
            return at;
        const size_t before = skip_space_back(code, begin);

        if (starts_with(code + before - 2, "::"))
            return at;
        if (code[before - 1] != '.' && !starts_with(code + before - 2, "->"))
            return begin;
        begin = before - (code[before - 1] == '.' ? 1 : 2);
    }
}

/** Where the statement that `at` is in begins; NOWHERE if `at` is in the parentheses or the braces of an expression. */
static size_t statement_begin(const char *code, size_t at)
{
    while (at > 0 && !is_one_of(code[at - 1], ";}\n")) {
        const size_t before = skip_space_back(code, --at);

        if (is_one_of(code[at], "([") || (code[at] == '{' && is_one_of(code[before - 1], "=,({")))
            return NOWHERE;
        if (code[at] == '{')
            return at + 1;
        if (is_one_of(code[at], ")]") && (at = partner(code, at, -1)) == NOWHERE)
            return NOWHERE;
    }
    return at;
}

/** Whether the statement at `at` begins as a declaration does: a type, then a name. */
static bool begins_declaration(const char *code, size_t at)
{
    size_t end = at = skip_space(code, at);

    while (is_word(code[end]) || code[end] == ':')
        end++;
    if (end == at || is_keyword_before_value(code, end))
        return false;
    at = skip_space(code, end);
    if (code[at] == '<' && partner(code, at, 1) != NOWHERE)
        at = partner(code, at, 1) + 1;
    return is_word(code[at + strspn(code + at, " *&")]);
}

/**
 * Whether the name at `at` is certainly used and not declared. Before it there may be a type, or operators: `b * a[i]`
 * has the words of a declaration.
 */
static bool is_used(const char *code, size_t at)
{
    size_t before = skip_space_back(code, at);

    if (is_word(code[before - 1]))
        return is_keyword_before_value(code, before);
    if (code[before - 1] == ')') {
        const size_t open = partner(code, before - 1, -1);

        return open != NOWHERE && !is_attribute(code, open);
    }
    if (starts_with(code + before - 2, "&&"))
        return true;
    while (is_one_of(code[before - 1], "*& "))
        before--;
    if (!is_one_of(code[before - 1], ",>") && !is_word(code[before - 1]))
        return true;
    const size_t statement = statement_begin(code, before);

    if (statement == NOWHERE || is_keyword_before_value(code, before))
        return true;
    return memchr(code + statement, '=', before - statement) &&
           !(code[before - 1] == ',' && begins_declaration(code, statement));
}

/** Whether the function that `at` is in has declared the name [begin, end) as an array, or may have. */
static bool is_array(const struct source *source, size_t begin, size_t end)
{
    const char *code = source->code;
    size_t at = source->device_begin;

    while (at > 0 && !is_one_of(code[at - 1], ";}\n")) /* its parameters */
        at--;
    for (; at < begin; at++) {
        if (strncmp(code + at, code + begin, end - begin) != 0 || is_word(code[at - 1]) ||
            is_word(code[at + (end - begin)]))
            continue;
        const size_t before = skip_space_back(code, at), behind = skip_space(code, at + (end - begin));

        if ((code[behind] == '[' || (code[behind] == ')' && code[skip_space(code, behind + 1)] == '[')) &&
            (is_one_of(code[before - 1], "*&,") ||
             (is_word(code[before - 1]) && !is_keyword_before_value(code, before))))
            return true;
    }
    return false;
}

/** Whether the `&` that ends at `end` takes an address. */
static bool takes_address(const char *code, size_t end)
{
    return code[end - 1] == '&' && code[end - 2] != '&' && !ends_value(code, end - 1);
}

/** Marks the index behind the [ at `at`, if an element of a function's own array or of a structure's is meant. */
static void rewrite_subscript(struct source *source, size_t at)
{
    const char *code = source->code;
    const size_t begin = chain_begin(code, at);
    const size_t name_end = word_end(code, begin);
    const size_t index = skip_space(code, at + 1);

    if (!in_device_function(source) || begin == at || is_one_of(code[index], "][") || partner(code, at, 1) == NOWHERE)
        return;
    const char next = code[skip_space(code, name_end)];

    if (next == '[' && (is_word_at(code, begin, "auto") || !is_array(source, begin, name_end) || !is_used(code, begin)))
        return;
    copy_to(source, at + 1);
    fputs(takes_address(code, skip_space_back(code, begin)) ? "simt_up_to<decltype(" : "simt_within<decltype(", stdout);
    write_line(source, begin, at);
    fputs(")>() |= ", stdout);
}

/** An assertion is quoted where it fails, so it stays as it is. */
static void copy_assertion(struct source *source, size_t end)
{
    const size_t open = skip_space(source->code, end);
    const size_t close = source->code[open] == '(' ? partner(source->code, open, 1) : NOWHERE;

    if (close != NOWHERE)
        copy_to(source, close + 1);
}

/**
 * Where the directive that begins last before `at`, and has a word such as "if", does; its nesting is counted by
 * `step`.
 */
static size_t conditional_edge(const char *code, size_t at, int step)
{
    static const char *const begin[] = {"if", "ifdef", "ifndef", NULL};
    static const char *const end[] = {"endif", NULL};
    int depth = 0;

    for (at += step; code[at] && at > 0; at += step) {
        if (code[at] != '#')
            continue;
        const size_t word = skip_space(code, at + 1);
        const bool begins = has_word(code, word, word + 1, begin);
        const bool ends = has_word(code, word, word + 1, end);

        if ((step > 0 ? ends : begins) && depth-- == 0)
            return at;
        depth += step > 0 ? begins : ends;
    }
    return at;
}

/**
 * Defines __CUDA_ARCH__ for a directive; host functions do not see it, nor does what is there to choose inline assembly
 * or a header.
 */
static void rewrite_architecture(struct source *source, size_t at, size_t end)
{
    static const char *const of_nvcc[] = {"asm", "__asm__", "__asm", "include", NULL};
    const char *code = source->code;

    if (source->function_braces > 0 && !in_device_function(source))
        return;
    if (has_word(code, conditional_edge(code, at, -1), conditional_edge(code, at, 1), of_nvcc))
        return;
    replace(source, at, end, "SIMT_CUDA_ARCH");
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

/** Rewrites what begins with the word in [at, end). */
static bool rewrite_word(struct source *source, size_t at, size_t end)
{
    if (is_word_at(source->code, at, "__shared__"))
        return rewrite_shared(source, at);
    if (is_word_at(source->code, at, "__launch_bounds__"))
        return rewrite_launch_bounds(source, end);
    if (is_word_at(source->code, at, "__device__"))
        rewrite_variable(source, at, end, "SIMT_DEVICE_VARIABLE", " SIMT_DEVICE_GAP");
    else if (is_word_at(source->code, at, "__constant__"))
        rewrite_variable(source, at, end, "__constant__", " SIMT_CONSTANT_GAP");
    else if (is_word_at(source->code, at, "__CUDA_ARCH__"))
        rewrite_architecture(source, at, end);
    else if (is_word_at(source->code, at, "cudaLaunchKernel") ||
             is_word_at(source->code, at, "cudaLaunchCooperativeKernel"))
        rewrite_launch_call(source, end);
    else if (is_word_at(source->code, at, "assert"))
        copy_assertion(source, end);
    else if (is_word_at(source->code, at, "static_cast"))
        rewrite_static_cast(source, at, end);
    return true;
}

/** Rewrites what begins with the character at `at`, which is in no word. */
static bool rewrite_sign(struct source *source, size_t at)
{
    const char *const sign = source->code + at;

    if (*sign == '#') {
        count_conditional(source, at);
        return rewrite_include(source, at);
    }
    if (starts_with(sign, "<<<"))
        return rewrite_launch(source, at);
    if (is_one_of(*sign, "{}"))
        return count_brace(source, at);
    if (starts_with(sign, "<<") || starts_with(sign, ">>"))
        rewrite_shift(source, at);
    else if (*sign == '(')
        rewrite_cast(source, at);
    else if (*sign == '[')
        rewrite_subscript(source, at);
    return true;
}

static bool rewrite(struct source *source)
{
    for (size_t at = 0, end; at < source->size; at = end) {
        const bool word = is_word(source->code[at]);

        end = word ? word_end(source->code, at) : at + 1;
        if (!(word ? rewrite_word(source, at, end) : rewrite_sign(source, at)))
            return false;
        if (end < source->copied)
            end = source->copied;
    }
    copy_to(source, source->size);
    return true;
}

int main(int argc, char **argv)
{
    struct source source = {.path = argv[argc - 1]};

    if (argc != 2) {
        fputs("usage: rewrite_launch FILE.cu > FILE.cc\n", stderr);
        return 2;
    }
    FILE *file = fopen(source.path, "rb");
    bool good = file && read_source(&source, file);
    if (!good)
        fprintf(stderr, "%s: %s\n", source.path, strerror(errno));
    good = good && find_code(&source) && rewrite(&source);
    if (good && fflush(stdout) != 0) {
        fprintf(stderr, "%s: the output cannot be written: %s\n", source.path, strerror(errno));
        good = false;
    }
    if (file)
        fclose(file);
    free(source.text);
    free(source.code);
    free(source.insertions);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
