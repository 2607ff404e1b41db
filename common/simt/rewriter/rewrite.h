/** @file rewrite.h  What is rewritten, by the word or the sign that it begins with; false: an error was printed. */
#ifndef SIMT_REWRITER_REWRITE_H
#define SIMT_REWRITER_REWRITE_H

#include "source.h"

/** Whether the rewriting is inside a function that is the device's, or the host's too. */
bool in_device_function(const struct source *source);
/** A function begins at the outermost `{` that is no namespace's; one of the device's, at that behind its qualifier. */
bool count_brace(struct source *source, size_t at);
/** Both sides of an `#else` begin in as many braces. */
void count_conditional(struct source *source, size_t at);
/** Rewrites the launch whose `<<<` is at `at`; the text before it is copied or about to be. */
bool rewrite_launch(struct source *source, size_t at);
/**
 * Leaves out what makes a void pointer of the kernel in cudaLaunchKernel((void *)kernel, ...): the types come from it.
 */
void rewrite_launch_call(struct source *source, size_t end);
/**
 * Copies what stands in the parentheses behind `__launch_bounds__` to the beginning of the function's body, if that
 * follows.
 */
bool rewrite_launch_bounds(struct source *source, size_t end);
/** Rewrites the declaration that has `__shared__` at `at` if its array has no size; else leaves a gap behind it. */
bool rewrite_shared(struct source *source, size_t at);
/** Puts a variable of a kernel's where no host variable is, and a gap behind it. */
void rewrite_variable(struct source *source, size_t at, size_t end, const char *attribute, const char *gap);
/** Whether the parenthesis at `at` is an attribute's and no function's. */
bool is_attribute(const char *code, size_t at);
/** Names the header here that has what is in one of CUDA's, or says why none has. */
bool rewrite_include(struct source *source, size_t at);
/**
 * Defines __CUDA_ARCH__ for a directive; host functions do not see it, nor does what is there to choose inline assembly
 * or a header.
 */
void rewrite_architecture(struct source *source, size_t at, size_t end);
/** Marks the count of the shift at `at`. */
void rewrite_shift(struct source *source, size_t at);
/** Rewrites the cast whose ( is at `at`, if it is one to a wide integer. */
void rewrite_cast(struct source *source, size_t at);
void rewrite_static_cast(struct source *source, size_t at, size_t end);
/** Marks the index behind the [ at `at`, if an element of a function's own array or of a structure's is meant. */
void rewrite_subscript(struct source *source, size_t at);

#endif
