/**
 * @file fiber.h
 * @brief A CUDA thread's own stack, and the switch from one stack to another.
 */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of one fiber's stack, and of the unmapped stretch below it, which even a large frame does not step over. */
enum { FIBER_STACK_BYTES = 192 * 1024, FIBER_GUARD_BYTES = 64 * 1024 };

/** Equally sized stacks, each above its guard. */
struct fiber_stacks {
    unsigned char *base;
    size_t mapped;
    size_t stride; /**< bytes from one stack to the next */
    size_t guard;  /**< bytes below each that nobody may touch */
    unsigned count;
    unsigned guarded; /**< how many have their guard, which is a mapping of its own: dear where a process forks */
};

/** Maps `count` stacks, none with a guard so far, or returns false with nothing mapped. */
bool fiber_stacks_map(struct fiber_stacks *stacks, unsigned count);
/** Puts the guards below the first `count` stacks; false if there is no memory for that. */
bool fiber_stacks_guard(struct fiber_stacks *stacks, unsigned count);
void fiber_stacks_unmap(struct fiber_stacks *stacks);

/** The lowest usable byte of stack `index`. */
static inline unsigned char *fiber_stack(const struct fiber_stacks *stacks, unsigned index)
{
    return stacks->base + index * stacks->stride + stacks->guard;
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
