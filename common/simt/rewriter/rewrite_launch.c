/**
 * @file rewrite_launch.c
 * @brief Turns a kernel file into C++, inserts marks for the simulator's counters, and preserves line numbers.
 *
 *     rewrite_launch FILE.cu > FILE.cc
 *
 *     kernel<T><<<grid, block>>>(args)   ->   simt_launch(SIMT_KERNEL_FINDER_AND_CALLER((kernel<T>)), "kernel<T>",
 *                                             grid, block)(args)
 *     cudaLaunchKernel((void *)kernel,   ->   cudaLaunchKernel(kernel,
 *     #include <math_constants.h>        ->   #include <cuda_runtime.h>                  and other headers of CUDA's
 *     __launch_bounds__(n) name(T x) {   ->   __launch_bounds__(n) name(T x) { SIMT_LAUNCH_BOUNDS(n)
 *
 * Variables, each followed by a gap that exposes an access past its end:
 *
 *     __noinline__                       ->   SIMT_NOINLINE                          outside __attribute__
 *     __shared__ alignas(n) T name;      ->   __shared__ __align__(n) T name;
 *
 *     extern __shared__ T name[];        ->   T *const name = (decltype(+name))simt_dynamic_shared;      in a function
 *     extern __shared__ T name[];        ->   extern __thread T name[] __asm__("simt_dynamic_shared");       elsewhere
 *     __shared__ T name[size];           ->   __shared__ T name[size]; SIMT_GAP_AFTER_SHARED_VARIABLE
 *     __device__ T name;                 ->   SIMT_DEVICE_VARIABLE T name; SIMT_GAP_AFTER_DEVICE_VARIABLE
 *     __device__ T a, b;                 ->   SIMT_DEVICE_VARIABLE T a; SIMT_GAP_AFTER_DEVICE_VARIABLE
 *                                             SIMT_DEVICE_VARIABLE T b; SIMT_GAP_AFTER_DEVICE_VARIABLE
 *                                                                                           and __constant__
 *     __device__ T (*name)(int);         ->   SIMT_DEVICE_VARIABLE_NO_CONSTINIT T (*name)(int);
 *                                             SIMT_GAP_AFTER_DEVICE_VARIABLE
 *     static T name;                     ->   static SIMT_DEVICE_VARIABLE T name; SIMT_GAP_AFTER_DEVICE_VARIABLE
 *                                                                             in a function of the device only
 *     __constant__ T name[size];         ->   __constant__ T name[size]; SIMT_GAP_AFTER_CONSTANT_VARIABLE
 *     __device__ const T name;           ->   SIMT_CONST_DEVICE_VARIABLE const T name;
 *                                             SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE
 *     __constant__ const T name;         ->   SIMT_CONST_CONSTANT_VARIABLE const T name;
 *                                             SIMT_GAP_AFTER_CONST_CONSTANT_VARIABLE
 *     short name[2];                     ->   SIMT_NVCC_SMALL_ARRAY_ALIGNMENT short name[2];
 *                                                              in a device function, if smaller than 16 bytes
 *
 * In device functions, operations that C++ leaves undefined and a GPU defines, and the beginnings of basic blocks
 * (mark_blocks.c):
 *
 *     a << b   a >> b                    ->   a << simt_shift_count * b         a >> simt_shift_count * b
 *     (int)x                             ->   simt_cast_to_integer_as_gpu_to<int>()->* x
 *     static_cast<int>(x)                ->   simt_cast_to_integer_as_gpu<int>(x)
 *                                             and other integers of 4 or 8 bytes
 *     a[i]   &a.b[i]                     ->   a[simt_checked_index_within_array<__typeof__(a)>() |= i]
 *                                             &a.b[simt_checked_index_within_array_or_end<__typeof__(a.b)>() |= i]
 *     #if __CUDA_ARCH__                  ->   #if SIMT_CUDA_ARCH
 *                                             unless one of the branches has inline assembly or #include
 *     #ifdef __CUDA_ARCH__ x; #endif     ->   if (simt_is_in_kernel()) { x; }            in a host and device function
 *     if (a) x;                          ->   if (a) { SIMT_BASIC_BLOCK; x; } SIMT_BASIC_BLOCK;
 *
 *     f(a[i])                            ->   f(simt_checked_argument(a[i]))        if f takes a structure by value
 *
 * In functions that certainly belong to the host:
 *
 *     int f() {                          ->   int f() { SIMT_FAULT_IF_RUN_BY_KERNEL;
 *
 * If the program cannot rewrite some code, it prints one line, FILE:LINE: what is wrong, and exits with status 1.
 */
#include "arguments.h"
#include "rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Checks that the word at `position`, which only host functions may use, is in one; if not, prints `why`. */
static bool check_host_only(const struct source *source, size_t position, const char *why)
{
    return !in_device_function(source) || source->in_host_device_function || print_error_at(source, position, why);
}

/** Checks that the word at `position` is not the `thread_local` of a kernel's variable. */
static bool check_thread_local(const struct source *source, size_t position)
{
    return !is_word_at(source->code, position, "thread_local") ||
           check_host_only(source, position, "a kernel has no thread_local variables: declare a local variable");
}

/** Checks that the type of the kernel whose `__global__` is in [position, end) may be void. */
static bool check_kernel_type(const struct source *source, size_t position, size_t end)
{
    static const char *const types[] = {"int", "float", "double", "bool", "unsigned", "long", "char", NULL};
    const char *const code = source->code;

    while (position > 0 && (is_word_character(code[position - 1]) || code[position - 1] == ' '))
        position--;
    while (is_word_character(code[end]) || code[end] == ' ')
        end++;
    for (; position < end; position = skip_space(code, word_end(code, position)))
        if (contains_any_word(code, position, word_end(code, position), types))
            return print_error_at(source, position,
                                  "a kernel returns void: it may store a result in memory that the host reads");
    return true;
}

/** Checks the words in [begin, end), which are not rewritten. */
static bool check_quoted(const struct source *source, size_t begin, size_t end)
{
    for (size_t position = begin, next; position < end; position = next) {
        next = is_word_character(source->code[position]) ? word_end(source->code, position) : position + 1;
        if (is_word_character(source->code[position]) &&
            !(check_no_device_or_kernel_call_in_host_function(source, position, next) &&
              check_no_host_or_kernel_call_in_device_function(source, position, next)))
            return false;
    }
    return true;
}

static const struct variable_qualifier_replacements global_memory = {
    .variable = "SIMT_DEVICE_VARIABLE",
    .variable_no_constinit = "SIMT_DEVICE_VARIABLE_NO_CONSTINIT",
    .const_variable = "SIMT_CONST_DEVICE_VARIABLE",
    .const_variable_no_constinit = "SIMT_CONST_DEVICE_VARIABLE_NO_CONSTINIT",
    .const_of_template = "__device__",
    .gap = " SIMT_GAP_AFTER_DEVICE_VARIABLE",
    .const_gap = " SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE"};
static const struct variable_qualifier_replacements constant_memory = {
    .variable = "__constant__",
    .variable_no_constinit = "SIMT_CONSTANT_VARIABLE_NO_CONSTINIT",
    .const_variable = "SIMT_CONST_CONSTANT_VARIABLE",
    .const_variable_no_constinit = "SIMT_CONST_CONSTANT_VARIABLE_NO_CONSTINIT",
    .const_of_template = "",
    .gap = " SIMT_GAP_AFTER_CONSTANT_VARIABLE",
    .const_gap = " SIMT_GAP_AFTER_CONST_CONSTANT_VARIABLE"};

/** Rewrites the code that begins with the word in [position, end). */
static bool rewrite_word(struct source *source, size_t position, size_t end)
{
    align_small_array(source, position, end);
    if (is_word_at(source->code, position, "__shared__"))
        return rewrite_shared_variable(source, position);
    if (is_word_at(source->code, position, "static"))
        return check_thread_local(source, skip_space(source->code, end)) &&
               rewrite_static_variable(source, position, end);
    if (is_word_at(source->code, position, "throw") || is_word_at(source->code, position, "try"))
        return check_host_only(
            source, position,
            "a kernel has no exceptions: store an error in memory that the host reads, or call __trap()");
    if (is_word_at(source->code, position, "dynamic_cast") || is_word_at(source->code, position, "typeid"))
        return check_host_only(
            source, position, "a kernel has no dynamic_cast and no typeid: call a virtual function, or store the kind");
    if (is_word_at(source->code, position, "__launch_bounds__"))
        return check_tensor_maps_are_grid_constant(source, end) && copy_launch_bounds_to_body(source, end);
    if (is_word_at(source->code, position, "__global__"))
        return check_kernel_not_member(source, position) && check_kernel_type(source, position, end) &&
               check_tensor_maps_are_grid_constant(source, end);
    if (is_word_at(source->code, position, "__grid_constant__"))
        return check_grid_constant_is_const(source, position);
    if (is_word_at(source->code, position, "thread_local"))
        return check_thread_local(source, position);
    if (is_word_at(source->code, position, "mbarrier_try_wait"))
        return check_try_wait_result_used(source, position);
    if (is_word_at(source->code, position, "tensor_map"))
        return check_tensor_map_not_local(source, position, end);
    if (is_word_at(source->code, position, "__device__"))
        return rewrite_device_variable(source, position, end, &global_memory);
    if (is_word_at(source->code, position, "__constant__"))
        return rewrite_device_variable(source, position, end, &constant_memory);
    if (is_word_at(source->code, position, "__CUDA_ARCH__"))
        rewrite_architecture_macro(source, position, end);
    else if (is_word_at(source->code, position, "cudaLaunchKernel") ||
             is_word_at(source->code, position, "cudaLaunchCooperativeKernel"))
        remove_kernel_cast(source, end, false);
    else if (is_word_at(source->code, position, "cudaLaunchKernelExC"))
        remove_kernel_cast(source, end, true);
    else if (is_word_at(source->code, position, "__noinline__") && !is_one_of(source->code[position - 1], "(,"))
        copy_to_output_replacing(source, position, end, "SIMT_NOINLINE");
    else if (must_not_rewrite_call_arguments(source, position)) {
        const size_t close = matching_bracket(source->code, skip_space(source->code, end), 1);

        if (!check_quoted(source, end, close))
            return false;
        copy_to_output_until(source, close + 1);
    } else if (is_word_at(source->code, position, "static_cast"))
        rewrite_integer_static_cast(source, position, end);
    else if (is_word_at(source->code, position, "reinterpret_cast")) {
        if (!hide_reinterpret_cast_alignment(source, end))
            return false;
    } else if (starts_with(source->code + position, "cu") && !check_cuda_name_is_supported(source, position))
        return false;
    return check_no_device_or_kernel_call_in_host_function(source, position, end) &&
           check_no_host_or_kernel_call_in_device_function(source, position, end);
}

/** Rewrites the code that begins with the character at `position`, which is not part of a word. */
static bool rewrite_sign(struct source *source, size_t position)
{
    const char *const sign = source->code + position;

    if (*sign == '#' && try_rewrite_architecture_conditional(source, position))
        return true;
    if (*sign == '#') {
        track_braces_at_conditional_directive(source, position);
        return rewrite_include(source, position);
    }
    if (starts_with(sign, "<<<"))
        return rewrite_launch(source, position);
    if (is_one_of(*sign, "{}"))
        return count_brace_and_mark_blocks(source, position);
    if (starts_with(sign, "<<") || starts_with(sign, ">>"))
        rewrite_shift(source, position);
    else if (*sign == '(') {
        rewrite_integer_cast(source, position);
        return hide_pointer_cast_alignment(source, position);
    } else if (*sign == '[')
        rewrite_subscript(source, position);
    return true;
}

static bool rewrite(struct source *source)
{
    for (size_t position = 0, end; position < source->size; position = end) {
        const bool word = is_word_character(source->code[position]);

        end = word ? word_end(source->code, position) : position + 1;
        if (!(word ? rewrite_word(source, position, end) : rewrite_sign(source, position)))
            return false;
        if (end < source->num_copied_characters)
            end = source->num_copied_characters;
    }
    copy_to_output_until(source, source->size);
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
        fprintf(stderr, "rewrite_launch: %s: %s\n", source.path, strerror(errno));
    good = good && strip_comments_and_literals(&source) && check_braces_balanced(&source);
    if (good)
        find_stringizing_macros(&source);
    good = good && find_declared_functions(&source) && rewrite(&source);
    if (good && fflush(stdout) != 0) {
        fprintf(stderr, "rewrite_launch: %s: the output cannot be written: %s\n", source.path, strerror(errno));
        good = false;
    }
    if (file)
        fclose(file);
    free(source.text);
    free(source.code);
    free(source.insertions);
    free(source.functions);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
