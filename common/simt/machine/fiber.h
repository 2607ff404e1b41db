/**
 * @file fiber.h
 * @brief Fibers: each CUDA thread runs on its own stack, and a switch moves execution from one stack to another. Used
 *        by the scheduler of the simulator.
 */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Bytes of a fiber's stack that a kernel may use: 192 KiB. Kernel functions check on entry that their frames fit.
 * Functions of the C library and of the simulator do not check; they may use an additional third of this size below the
 * stack. No guard pages separate two stacks, because each stack would then be a separate mapping, which is slow to
 * create and to fork.
 */
extern size_t fiber_stack_bytes;

/** Size of the inaccessible memory below the lowest stack; even a large frame does not reach beyond it. */
enum { FIBER_GUARD_BYTES = 1024 * 1024 };

/**
 * Reduces stacks to 24 KiB each, in a few large pages. Must be called before any stack is mapped. Used by processes
 * that run a single launch and would otherwise spend most of their time mapping stacks.
 */
void fiber_use_small_stacks(void);

/** A contiguous array of equally sized stacks. */
struct fiber_stacks {
    unsigned char *base;
    size_t mapped_bytes; /**< number of mapped bytes, including the guard */
    unsigned num_stacks;
};

/** Maps `num_stacks` stacks; if that fails, maps nothing and returns false. */
bool fiber_stacks_map(struct fiber_stacks *stacks, unsigned num_stacks);
void fiber_stacks_unmap(struct fiber_stacks *stacks);

/** Returns the offset in bytes from one stack to the next. */
static inline size_t fiber_stack_stride_bytes(void)
{
    return fiber_stack_bytes + fiber_stack_bytes / 3;
}

/** Returns the lowest byte of stack `index` that a kernel may use. */
static inline unsigned char *fiber_stack_lowest_kernel_byte(const struct fiber_stacks *stacks, unsigned index)
{
    return stacks->base + FIBER_GUARD_BYTES + index * fiber_stack_stride_bytes() + fiber_stack_bytes / 3;
}

/**
 * Prepares a stack so that the first switch to the returned stack pointer calls entry(), which must not return. The
 * first frame begins `colour_bytes` bytes lower, because the frames of neighbouring stacks would otherwise compete for
 * the same cache sets.
 */
void *fiber_prepare_stack(unsigned char *stack, size_t colour_bytes, void (*entry)(void));

/**
 * Saves the caller's registers on its stack and its stack pointer in *from, and resumes the fiber whose stack pointer
 * is `to`.
 */
void simt_fiber_switch(void **from, void *to);

/** Saved stack pointer of the code that runs fibers, while a fiber runs. */
extern void *fiber_host_stack_pointer;

/**
 * Switches to fiber_host_stack_pointer from a fiber that will not be resumed; its stack must be prepared again before
 * reuse.
 */
_Noreturn void fiber_exit_to_host_stack(void);

#endif
