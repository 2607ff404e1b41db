/**
 * @file fiber.h
 * @brief A CUDA thread's own stack, and the switch from one stack to another.
 */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Bytes of a fiber's stack that a kernel may use: 192 KiB. Below it lies a third as much for functions that do not look
 * where they are, the C library's and the simulator's; those of kernels look as they begin. Nothing that is unmapped
 * lies between two stacks: it would make each a mapping of its own, dear to make and to fork.
 */
extern size_t fiber_stack_bytes;

/** Bytes below the lowest stack that nobody may touch, which even a large frame does not step over. */
enum { FIBER_GUARD_BYTES = 1024 * 1024 };

/**
 * Before any is mapped: from now on 24 KiB, in a few large pages. For processes that live for one launch: most of its
 * time.
 */
void fiber_stacks_are_small(void);

/** Equally sized stacks, one above the other. */
struct fiber_stacks {
    unsigned char *base;
    size_t mapped; /**< bytes, the guard's too */
    unsigned count;
};

/** Maps `count` stacks, or returns false with nothing mapped. */
bool fiber_stacks_map(struct fiber_stacks *stacks, unsigned count);
void fiber_stacks_unmap(struct fiber_stacks *stacks);

/** Bytes from one stack to the next. */
static inline size_t fiber_stride(void)
{
    return fiber_stack_bytes + fiber_stack_bytes / 3;
}

/** The lowest byte of stack `index` that a kernel may use. */
static inline unsigned char *fiber_stack(const struct fiber_stacks *stacks, unsigned index)
{
    return stacks->base + FIBER_GUARD_BYTES + index * fiber_stride() + fiber_stack_bytes / 3;
}

/**
 * Prepares a stack so that the first switch to the returned stack pointer calls entry(), which must not return.
 * `colour` moves the frame down a little: neighbours whose frames all start a page apart would share cache sets.
 */
void *fiber_prepare(unsigned char *stack, size_t colour, void (*entry)(void));

/** Saves the caller's registers on its stack, its stack pointer in *from, and goes on where `to` was saved. */
void simt_fiber_switch(void **from, void *to);

/** The stack pointer of whoever runs fibers, while one runs. */
extern void *fiber_home;

/** Goes home from a fiber that is not resumed: its stack is started afresh. */
_Noreturn void fiber_abandon(void);

#endif
