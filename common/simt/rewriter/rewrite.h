/**
 * @file rewrite.h
 * @brief The rewrites of a kernel file. rewrite_launch.c calls each of them at the first word or character of the code
 * to be rewritten. They return false after printing an error.
 */
#ifndef SIMT_REWRITER_REWRITE_H
#define SIMT_REWRITER_REWRITE_H

#include "source.h"

/** Returns whether the current position is in a device function, which may also be a host function. */
bool in_device_function(const struct source *source);
/** Returns whether the `{` at `open_brace` belongs to a namespace or to `extern "C"`. */
bool opens_namespace_or_extern_c(const char *code, size_t open_brace);
/**
 * Returns whether the word in [begin, end) may be a macro: it has no lower-case letter and, unlike T, more than one
 * character.
 */
bool may_be_macro(const char *code, size_t begin, size_t end);
/**
 * Counts the brace at `position`, and marks the blocks of the function whose body begins there. A body begins at the
 * outermost `{` that is not a namespace's; the body of a device function begins at the `{` after its qualifier.
 */
bool count_brace_and_mark_blocks(struct source *source, size_t position);
/**
 * Saves the number of open braces if the conditional directive at `position` is an `#if`, and restores it at its
 * `#else`.
 */
void track_braces_at_conditional_directive(struct source *source, size_t position);
/**
 * Checks that the word in [position, end), if it is in a function that certainly belongs to the host, is not a call of
 * a device function or of a kernel without <<<>>>, and not threadIdx, blockIdx, blockDim or gridDim.
 */
bool check_no_device_or_kernel_call_in_host_function(const struct source *source, size_t position, size_t end);
/**
 * Checks that the word in [position, end), if it is in a device function, is not a call of a kernel, nor, unless the
 * function belongs to the host as well, of a function of CUDA's runtime or of the C library that only the host has.
 */
bool check_no_host_or_kernel_call_in_device_function(const struct source *source, size_t position, size_t end);
/** Returns whether the C library has a host function with the name at `position`, beside those of the file. */
bool is_c_library_host_function(const char *code, size_t position);
/** Checks that the word in [position, end), in a host function, is not a call of one of CUDA's device functions. */
bool check_no_device_intrinsic_in_host_function(const struct source *source, size_t position, size_t end);
/** Checks that no argument of the launch in the list at `arguments_open` is a lambda without `__device__`. */
bool check_launch_lambdas_are_device(const struct source *source, size_t arguments_open);
/**
 * Returns whether the words in [begin, end) are certainly a return type and C++ specifiers, so that no word can be a
 * macro that expands to `__device__`.
 */
bool are_certainly_type_and_specifiers(const char *code, size_t begin, size_t end);
/**
 * Checks that the kernel in [kernel, kernel_end), if it is a name that the file declares, has `__global__` and as many
 * parameters as the list at `arguments_open` has arguments. Accepts what it cannot decide.
 */
bool check_launch_matches_kernel(struct source *source, size_t kernel, size_t kernel_end, size_t arguments_open);
/** Checks that the kernel whose `__global__` is at `position` is not a member of a class. */
bool check_kernel_not_member(const struct source *source, size_t position);
/** Checks that the parameter with the `__grid_constant__` at `position` is const. */
bool check_grid_constant_is_const(const struct source *source, size_t position);
/** Rewrites the launch whose `<<<` is at `position`; the text before it has been copied or is about to be copied. */
bool rewrite_launch(struct source *source, size_t position);
/**
 * Removes the cast to a void pointer in cudaLaunchKernel((void *)kernel, ...), because the simulator deduces the types
 * of the parameters from the kernel. `kernel_is_second` is true if the kernel is the second argument rather than the
 * first.
 */
void remove_kernel_cast(struct source *source, size_t name_end, bool kernel_is_second);
/** Copies the arguments of `__launch_bounds__` to the beginning of the function's body, if a body follows. */
bool copy_launch_bounds_to_body(struct source *source, size_t keyword_end);
/**
 * Rewrites the declaration whose `__shared__` is at `position` if it declares an array without a size; otherwise
 * inserts a gap after the variable.
 */
bool rewrite_shared_variable(struct source *source, size_t position);
/**
 * Replacements of a variable's qualifier, for one kind of device memory: for variables and const ones, both also
 * without __constinit if the declarator has parentheses or a `*` before it, and for const variables of templates; and
 * the gaps to insert.
 */
struct variable_qualifier_replacements {
    const char *variable, *variable_no_constinit, *const_variable, *const_variable_no_constinit, *const_of_template;
    const char *gap, *const_gap;
};
/**
 * Replaces the qualifier of a `__device__` or `__constant__` variable or constant, so that it is stored separately from
 * those of the host, and inserts a gap after it. Rejects a variable of a template, which compilers do not store
 * there.
 */
bool rewrite_device_variable(struct source *source, size_t position, size_t end,
                             const struct variable_qualifier_replacements *replacements);
/** Rewrites a static variable of a device function as rewrite_device_variable() does. */
bool rewrite_static_variable(struct source *source, size_t position, size_t end);
/**
 * Aligns the local array of a device function whose type ends with the word in [position, end), if the array has less
 * than 16 bytes: compilers align larger ones, and nvcc also those that are read as a wider type.
 */
void align_small_array(struct source *source, size_t position, size_t end);
/** Checks that the word `tensor_map` at `position` does not declare a local variable, which no bulk copy can read. */
bool check_tensor_map_not_local(const struct source *source, size_t position, size_t end);
/**
 * Checks that the kernel whose `__global__` is before `position` has no tensor map as a parameter without
 * __grid_constant__, because each thread may have a copy of such a parameter.
 */
bool check_tensor_maps_are_grid_constant(const struct source *source, size_t position);
/** Returns whether the parenthesis at `position` belongs to an attribute and not to a function. */
bool is_attribute_parenthesis(const char *code, size_t position);
/**
 * Replaces an included CUDA header with the simulator's header that has the same contents, or prints why there is none.
 */
bool rewrite_include(struct source *source, size_t position);
/** Rejects a word that is a CUDA name unsupported by the simulator, and prints what to use instead. */
bool check_cuda_name_is_supported(const struct source *source, size_t position);
/** Checks that the result of the mbarrier_try_wait() at `position` is used; prints an error if it is ignored. */
bool check_try_wait_result_used(const struct source *source, size_t position);
/**
 * Rewrites the directive whose `#` is at `position` if it begins, divides or ends statements of a host and device
 * function that depend on __CUDA_ARCH__: they become statements of an if, because the simulator has one function for
 * both. Returns whether it did, not whether it succeeded. Leaves conditionals that contain more than statements, or
 * other conditionals.
 */
bool try_rewrite_architecture_conditional(struct source *source, size_t position);
/**
 * Replaces __CUDA_ARCH__ in a directive with the simulator's macro. Directives in host functions keep __CUDA_ARCH__,
 * and so do those that select inline assembly or a header.
 */
void rewrite_architecture_macro(struct source *source, size_t position, size_t end);
/** Marks the count of the shift at `position`, so that a count of at least the type's width gives a GPU's result. */
void rewrite_shift(struct source *source, size_t position);
/** Rewrites the cast whose `(` is at `position`, if it is a cast to a wide integer. */
void rewrite_integer_cast(struct source *source, size_t position);
void rewrite_integer_static_cast(struct source *source, size_t position, size_t end);
/**
 * Rewrites the cast to a pointer whose `(` is at `position`, and the reinterpret_cast whose name ends at `end`: if the
 * type is built in, its operand becomes an argument of simt_of_unknown_alignment(). Return false if memory runs out.
 */
bool hide_pointer_cast_alignment(struct source *source, size_t position);
bool hide_reinterpret_cast_alignment(struct source *source, size_t end);
/**
 * Marks the index after the `[` at `position` for a bounds check, if it selects an element of a local array or of an
 * array in a structure.
 */
void rewrite_subscript(struct source *source, size_t position);

#endif
