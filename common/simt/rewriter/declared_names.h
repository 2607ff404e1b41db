/** @file declared_names.h  Finds the declarations and the calls of a name in the file. */
#ifndef SIMT_REWRITER_DECLARED_NAMES_H
#define SIMT_REWRITER_DECLARED_NAMES_H

#include "source.h"

/** Returns the first occurrence of the name in [name_begin, name_end) at or after `position`, or NOWHERE. */
size_t find_next_occurrence(const char *code, size_t position, size_t name_begin, size_t name_end);
/**
 * Returns whether the name in [name_begin, name_end) is declared there as a function, that is, whether a type precedes
 * the name. In `T (*name)[2]`, T is not such a name.
 */
bool is_declared_here_as_function(const char *code, size_t name_begin, size_t name_end);
/**
 * Returns whether the name in [name_begin, name_end) may be declared there as a variable or a parameter, which hides a
 * function.
 */
bool may_be_declared_here_as_variable(const char *code, size_t name_begin, size_t name_end);
/**
 * Returns the attribute, `__global__` or `__device__`, with which the file declares the function whose name is in
 * [name_begin, name_end). Returns NULL if the function may also be a host function, a method or another function, or if
 * a variable may have its name.
 */
const char *device_attribute_of_function(const char *code, size_t name_begin, size_t name_end);
/**
 * Returns whether the name in [name_begin, name_end) is called and is neither a member's name nor that of a function in
 * a header.
 */
bool is_free_function_call(const char *code, size_t name_begin, size_t name_end);
/**
 * Returns whether one of the file's functions with the name in [name_begin, name_end) may take as many arguments as the
 * call there passes.
 */
bool any_overload_may_accept_call(const char *code, size_t name_begin, size_t name_end);
/**
 * Returns whether the number of items in [begin, end) may differ from the number of commas, because of `...`, a macro
 * or one of `doubtful_characters`.
 */
bool comma_count_is_uncertain(const char *code, size_t begin, size_t end, const char *doubtful_characters);
/** Stores the fewest and the most arguments that a kernel with the parameters at `open` takes, if that is certain. */
bool read_parameter_counts(const char *code, size_t open, unsigned *fewest, unsigned *most);
/** Returns whether the file may declare the name in [name_begin, name_end): as a function, a variable or a macro. */
bool may_be_declared_in_file(const char *code, size_t name_begin, size_t name_end);
/** Returns whether the file includes a header, in quotes, that is neither CUDA's nor C's and may declare any name. */
bool includes_project_header(const struct source *source);

#endif
