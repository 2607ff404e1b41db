/**
 * @file directives.c
 * @brief Rewrites directives: includes of CUDA headers, and conditions on __CUDA_ARCH__. Reports CUDA names that the
 *        simulator does not declare.
 */
#include "rewrite.h"

#include <string.h>

/**
 * Maps the CUDA headers whose names begin with `name` to the simulator's header with the same contents, `here`. If
 * `here` is NULL, `why` is a message that tells the user what to write instead.
 */
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
    {"helper_", NULL, "it belongs to NVIDIA's samples: check errors by a macro of your own"},
    {"cufft", NULL, "write a kernel"},
    {"cusparse", NULL, "write a kernel"},
    {"cusolver", NULL, "write a kernel"},
    {"cuComplex", NULL, "write a structure of two numbers"},
    {"nvToolsExt", NULL, "leave it out: there is no profiler"},
    {"nvtx3/", NULL, "leave it out: there is no profiler"},
    {"cuda_fp8", NULL, "the small number types here are __half and __nv_bfloat16"},
};

/** Prefixes of CUDA names that the simulator does not support, and what to use instead. */
static const struct name {
    const char *name, *why;
} names[] = {
    {"cudaArray", "textures, surfaces and arrays: read global memory, by a pointer"},
    {"cudaMallocArray", "textures, surfaces and arrays: read global memory, by a pointer"},
    {"cudaMalloc3DArray", "textures, surfaces and arrays: read global memory, by a pointer"},
    {"cudaChannelFormat", "textures, surfaces and arrays: read global memory, by a pointer"},
    {"cudaCreateChannelDesc", "textures, surfaces and arrays: read global memory, by a pointer"},
    {"cudaBindTexture", "textures, surfaces and arrays: read global memory, by a pointer"},
    {"cudaGraphCreate", "graphs of single nodes: capture a stream, by cudaStreamBeginCapture()"},
    {"cudaGraphAdd", "graphs of single nodes: capture a stream, by cudaStreamBeginCapture()"},
    {"cudaKernelNodeParams", "graphs of single nodes: capture a stream, by cudaStreamBeginCapture()"},
    {"cudaIpc", "memory of other processes: cudaMalloc() in each"},
    {"cuInit(", "the driver's functions: use the runtime's, cudaMalloc() and its kin"},
};

bool check_name(const struct source *source, size_t at)
{
    char what[200];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (source->conditionals > 0 || !starts_with(source->code + at, names[i].name))
            continue;
        snprintf(what, sizeof what, "%.*s: the simulator does not support %s", (int)(word_end(source->code, at) - at),
                 source->code + at, names[i].why);
        return fail(source, at, what);
    }
    return true;
}

/**
 * Returns whether `at` is the beginning of a statement, or of the operand of a cast to void with which a statement
 * begins.
 */
static bool begins_statement(const char *code, size_t at)
{
    static const char *const words[] = {"if", "while", "for", "switch", "else", "do", NULL};
    size_t end = skip_space_back(code, at), open, begin;

    if (end == 0 || is_one_of(code[end - 1], ";{}\n"))
        return true;
    if (code[end - 1] == ')') {
        if ((open = partner(code, end - 1, -1)) == NOWHERE)
            return false;
        if (is_word_at(code, skip_space(code, open + 1), "void"))
            return true;
        end = skip_space_back(code, open);
    }
    for (begin = end; begin > 0 && is_word(code[begin - 1]); begin--)
        continue;
    return has_word(code, begin, end, words);
}

bool check_wait(const struct source *source, size_t at)
{
    return !begins_statement(source->code, at) ||
           fail(source, at,
                "the result of mbarrier_try_wait() is ignored, and is false if the phase has not ended: repeat the "
                "call until it is true, or call mbarrier_wait()");
}

bool rewrite_include(struct source *source, size_t at)
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

/* --- conditions on __CUDA_ARCH__ ---------------------------------------------------------------------------------- */

/** Returns the length of the directive's line at `at`, without the '\n' that ends it. */
static size_t line_length(const char *code, size_t at)
{
    return strcspn(code + at, "\n");
}

/** Returns whether the code in [begin, end) consists of complete statements, none of which declares a name. */
static bool are_statements(const char *code, size_t begin, size_t end)
{
    static const char *const declarations[] = {"using", "typedef", "template", "static", "struct", NULL};
    bool begins = true;

    for (size_t at = skip_space(code, begin); at < end; at = skip_space(code, at + 1)) {
        if (begins && (begins_declaration(code, at) || has_word(code, at, at + 1, declarations)))
            return false;
        if (code[at] == '\n' || code[at] == '#' || is_one_of(code[at], ")]}"))
            return false;
        const size_t close = is_one_of(code[at], "([{") ? partner(code, at, 1) : at;

        if (close == NOWHERE || close >= end)
            return false;
        begins = is_one_of(code[close], ";}");
        at = close;
    }
    return begins;
}

/**
 * Finds the rest of the conditional whose #if is at `at`. Returns false if it contains an #elif or another conditional,
 * or anything but statements.
 */
static bool find_choice(const char *code, size_t at, struct choice *choice)
{
    *choice = (struct choice){.first = at, .first_end = at + line_length(code, at), .middle = NOWHERE};
    size_t begin = choice->first_end + 1;

    for (size_t next = begin; code[next]; next++) {
        const size_t word = code[next] == '#' ? skip_space(code, next + 1) : next;
        const bool divides = is_word_at(code, word, "else");

        if (code[next] != '#')
            continue;
        if (!(divides && choice->middle == NOWHERE) && !is_word_at(code, word, "endif"))
            return false;
        if (!are_statements(code, begin, next))
            return false;
        *(divides ? &choice->middle : &choice->last) = next;
        *(divides ? &choice->middle_end : &choice->last_end) = next + line_length(code, next);
        if (!divides)
            return true;
        begin = choice->middle_end + 1;
        next = choice->middle_end;
    }
    return false;
}

/** Writes the condition in [begin, end) with values in place of __CUDA_ARCH__ and of `defined`. */
static void write_condition(const char *code, size_t begin, size_t end, const char *value, const char *is_defined)
{
    for (size_t at = begin, next; at < end; at = next) {
        next = is_word(code[at]) ? word_end(code, at) : at + 1;
        if (is_word_at(code, at, "defined")) {
            next = skip_space(code, next);
            next = code[next] == '(' ? partner(code, next, 1) + 1 : word_end(code, next);
            fputs(is_defined, stdout);
        } else if (is_word_at(code, at, "__CUDA_ARCH__")) {
            fputs(value, stdout);
        } else {
            fwrite(code + at, 1, next - at, stdout);
        }
    }
}

/** Returns whether the condition in [begin, end) names __CUDA_ARCH__ and nothing else. */
static bool is_of_architecture(const char *code, size_t begin, size_t end)
{
    bool names = false;

    for (size_t at = begin, next; at < end; at = next) {
        next = is_word(code[at]) ? word_end(code, at) : at + 1;
        const bool name = is_word_at(code, at, "__CUDA_ARCH__");

        if (is_word(code[at]) && !name && !is_word_at(code, at, "defined") && !(code[at] >= '0' && code[at] <= '9'))
            return false;
        if (code[at] == '(' && partner(code, at, 1) == NOWHERE)
            return false;
        names = names || name;
    }
    return names;
}

bool rewrite_choice(struct source *source, size_t at)
{
    static const char *const of_nvcc[] = {"asm", "__asm__", "__asm", NULL};
    struct choice *const choice = &source->choice;
    const char *const code = source->code;
    const size_t word = skip_space(code, at + 1), condition = word_end(code, word);

    if (choice->last > 0 && (at == choice->middle || at == choice->last)) {
        replace(source, at, at == choice->last ? choice->last_end : choice->middle_end,
                at == choice->last ? "}" : "} else {");
        return true;
    }
    struct choice found;
    const size_t before = skip_space_back(code, at);

    if (!in_device_function(source) || !source->host_too || !starts_with(code + word, "if") ||
        !is_one_of(code[before - 1], ";{}") || find_before(code, source->device_begin, "constexpr") != NOWHERE ||
        !is_of_architecture(code, condition, at + line_length(code, at)) || !find_choice(code, at, &found) ||
        has_word(code, at, found.last, of_nvcc))
        return false;
    *choice = found;
    copy_to(source, at);
    if (is_word_at(code, word, "if")) {
        fputs("if (simt_on_device() ?", stdout);
        write_condition(code, condition, choice->first_end, "SIMT_CUDA_ARCH", "1");
        fputs(" :", stdout);
        write_condition(code, condition, choice->first_end, "0", "0");
        fputs(") {", stdout);
    } else {
        fputs(is_word_at(code, word, "ifdef") ? "if (simt_on_device()) {" : "if (!simt_on_device()) {", stdout);
    }
    source->copied = choice->first_end;
    return true;
}

/**
 * Returns the position of the #if (step -1) or the #endif (step 1) of the innermost conditional around `at`, or the
 * beginning or the end of the code if there is none.
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

void rewrite_architecture(struct source *source, size_t at, size_t end)
{
    static const char *const of_nvcc[] = {"asm", "__asm__", "__asm", "include", NULL};
    const char *code = source->code;

    if (source->function_braces > 0 && !in_device_function(source))
        return;
    if (has_word(code, conditional_edge(code, at, -1), conditional_edge(code, at, 1), of_nvcc))
        return;
    replace(source, at, end, "SIMT_CUDA_ARCH");
}
