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

bool check_cuda_name_is_supported(const struct source *source, size_t position)
{
    char what[200];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (source->num_open_conditionals > 0 || !starts_with(source->code + position, names[i].name))
            continue;
        snprintf(what, sizeof what, "%.*s: the simulator does not support %s",
                 (int)(word_end(source->code, position) - position), source->code + position, names[i].why);
        return print_error_at(source, position, what);
    }
    return true;
}

/**
 * Returns whether `position` is the beginning of a statement, or of the operand of a cast to void with which a
 * statement begins.
 */
static bool begins_statement(const char *code, size_t position)
{
    static const char *const words[] = {"if", "while", "for", "switch", "else", "do", NULL};
    size_t end = skip_space_back(code, position), open, begin;

    if (end == 0 || is_one_of(code[end - 1], ";{}\n"))
        return true;
    if (code[end - 1] == ')') {
        if ((open = matching_bracket(code, end - 1, -1)) == NOWHERE)
            return false;
        if (is_word_at(code, skip_space(code, open + 1), "void"))
            return true;
        end = skip_space_back(code, open);
    }
    for (begin = end; begin > 0 && is_word_character(code[begin - 1]); begin--)
        continue;
    return contains_any_word(code, begin, end, words);
}

bool check_try_wait_result_used(const struct source *source, size_t position)
{
    return !begins_statement(source->code, position) ||
           print_error_at(
               source, position,
               "the result of mbarrier_try_wait() is ignored, and is false if the phase has not ended: repeat the "
               "call until it is true, or call mbarrier_wait()");
}

bool rewrite_include(struct source *source, size_t position)
{
    const size_t word = skip_space(source->code, position + 1);

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
            copy_to_output_replacing(source, open + 1, open + 1 + length, header->here);
        } else if (source->num_open_conditionals == 0) {
            snprintf(what, sizeof what, "%.*s is not supported by the simulator: %s", (int)strcspn(text, ">\"\n"), text,
                     header->why);
            return print_error_at(source, position, what);
        }
        return true;
    }
    return true;
}

/* --- conditions on __CUDA_ARCH__ ---------------------------------------------------------------------------------- */

/** Returns the length of the directive's line at `position`, without the '\n' that ends it. */
static size_t line_length(const char *code, size_t position)
{
    return strcspn(code + position, "\n");
}

/** Returns whether the code in [begin, end) consists of complete statements, none of which declares a name. */
static bool are_statements(const char *code, size_t begin, size_t end)
{
    static const char *const declarations[] = {"using", "typedef", "template", "static", "struct", NULL};
    bool begins = true;

    for (size_t position = skip_space(code, begin); position < end; position = skip_space(code, position + 1)) {
        if (begins &&
            (begins_declaration(code, position) || contains_any_word(code, position, position + 1, declarations)))
            return false;
        if (code[position] == '\n' || code[position] == '#' || is_one_of(code[position], ")]}"))
            return false;
        const size_t close = is_one_of(code[position], "([{") ? matching_bracket(code, position, 1) : position;

        if (close == NOWHERE || close >= end)
            return false;
        begins = is_one_of(code[close], ";}");
        position = close;
    }
    return begins;
}

/**
 * Finds the rest of the conditional whose #if is at `position`. Returns false if it contains an #elif or another
 * conditional, or anything but statements.
 */
static bool find_choice(const char *code, size_t position, struct architecture_conditional *architecture_conditional)
{
    *architecture_conditional = (struct architecture_conditional){
        .if_begin = position, .if_end = position + line_length(code, position), .else_begin = NOWHERE};
    size_t begin = architecture_conditional->if_end + 1;

    for (size_t next = begin; code[next]; next++) {
        const size_t word = code[next] == '#' ? skip_space(code, next + 1) : next;
        const bool divides = is_word_at(code, word, "else");

        if (code[next] != '#')
            continue;
        if (!(divides && architecture_conditional->else_begin == NOWHERE) && !is_word_at(code, word, "endif"))
            return false;
        if (!are_statements(code, begin, next))
            return false;
        *(divides ? &architecture_conditional->else_begin : &architecture_conditional->endif_begin) = next;
        *(divides ? &architecture_conditional->else_end
                  : &architecture_conditional->endif_end) = next + line_length(code, next);
        if (!divides)
            return true;
        begin = architecture_conditional->else_end + 1;
        next = architecture_conditional->else_end;
    }
    return false;
}

/** Writes the condition in [begin, end) with values in place of __CUDA_ARCH__ and of `defined`. */
static void write_condition(const char *code, size_t begin, size_t end, const char *value, const char *is_defined)
{
    for (size_t position = begin, next; position < end; position = next) {
        next = is_word_character(code[position]) ? word_end(code, position) : position + 1;
        if (is_word_at(code, position, "defined")) {
            next = skip_space(code, next);
            next = code[next] == '(' ? matching_bracket(code, next, 1) + 1 : word_end(code, next);
            fputs(is_defined, stdout);
        } else if (is_word_at(code, position, "__CUDA_ARCH__")) {
            fputs(value, stdout);
        } else {
            fwrite(code + position, 1, next - position, stdout);
        }
    }
}

/** Returns whether the condition in [begin, end) names __CUDA_ARCH__ and nothing else. */
static bool is_of_architecture(const char *code, size_t begin, size_t end)
{
    bool names = false;

    for (size_t position = begin, next; position < end; position = next) {
        next = is_word_character(code[position]) ? word_end(code, position) : position + 1;
        const bool name = is_word_at(code, position, "__CUDA_ARCH__");

        if (is_word_character(code[position]) && !name && !is_word_at(code, position, "defined") &&
            !(code[position] >= '0' && code[position] <= '9'))
            return false;
        if (code[position] == '(' && matching_bracket(code, position, 1) == NOWHERE)
            return false;
        names = names || name;
    }
    return names;
}

bool try_rewrite_architecture_conditional(struct source *source, size_t position)
{
    static const char *const of_nvcc[] = {"asm", "__asm__", "__asm", NULL};
    struct architecture_conditional *const architecture_conditional = &source->architecture_conditional;
    const char *const code = source->code;
    const size_t word = skip_space(code, position + 1), condition = word_end(code, word);

    if (architecture_conditional->endif_begin > 0 &&
        (position == architecture_conditional->else_begin || position == architecture_conditional->endif_begin)) {
        copy_to_output_replacing(source, position,
                                 position == architecture_conditional->endif_begin ? architecture_conditional->endif_end
                                                                                   : architecture_conditional->else_end,
                                 position == architecture_conditional->endif_begin ? "}" : "} else {");
        return true;
    }
    struct architecture_conditional found;
    const size_t before = skip_space_back(code, position);

    if (!in_device_function(source) || !source->in_host_device_function || !starts_with(code + word, "if") ||
        !is_one_of(code[before - 1], ";{}") ||
        find_word_earlier_in_declaration(code, source->device_body_begin, "constexpr") != NOWHERE ||
        !is_of_architecture(code, condition, position + line_length(code, position)) ||
        !find_choice(code, position, &found) || contains_any_word(code, position, found.endif_begin, of_nvcc))
        return false;
    *architecture_conditional = found;
    copy_to_output_until(source, position);
    if (is_word_at(code, word, "if")) {
        fputs("if (simt_is_in_kernel() ?", stdout);
        write_condition(code, condition, architecture_conditional->if_end, "SIMT_CUDA_ARCH", "1");
        fputs(" :", stdout);
        write_condition(code, condition, architecture_conditional->if_end, "0", "0");
        fputs(") {", stdout);
    } else {
        fputs(is_word_at(code, word, "ifdef") ? "if (simt_is_in_kernel()) {" : "if (!simt_is_in_kernel()) {", stdout);
    }
    source->num_copied_characters = architecture_conditional->if_end;
    return true;
}

/**
 * Returns the position of the #if (step -1) or the #endif (step 1) of the innermost conditional around `position`, or
 * the beginning or the end of the code if there is none.
 */
static size_t conditional_edge(const char *code, size_t position, int step)
{
    static const char *const begin[] = {"if", "ifdef", "ifndef", NULL};
    static const char *const end[] = {"endif", NULL};
    int depth = 0;

    for (position += step; code[position] && position > 0; position += step) {
        if (code[position] != '#')
            continue;
        const size_t word = skip_space(code, position + 1);
        const bool begins = contains_any_word(code, word, word + 1, begin);
        const bool ends = contains_any_word(code, word, word + 1, end);

        if ((step > 0 ? ends : begins) && depth-- == 0)
            return position;
        depth += step > 0 ? begins : ends;
    }
    return position;
}

void rewrite_architecture_macro(struct source *source, size_t position, size_t end)
{
    static const char *const of_nvcc[] = {"asm", "__asm__", "__asm", "include", NULL};
    const char *code = source->code;

    if (source->num_braces_at_function > 0 && !in_device_function(source))
        return;
    if (contains_any_word(code, conditional_edge(code, position, -1), conditional_edge(code, position, 1), of_nvcc))
        return;
    copy_to_output_replacing(source, position, end, "SIMT_CUDA_ARCH");
}
