/**
 * @file fiber.c
 * @brief Maps the fibers' stacks and switches between them: in assembly on x86-64 and AArch64, with ucontext on other
 *        processors.
 */
#include "fiber.h"

#include <sanitizer/asan_interface.h>
#include <string.h>
#include <sys/mman.h>

size_t fiber_stack_bytes = 192 * 1024;
static bool are_small;

void fiber_use_small_stacks(void)
{
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer makes frames larger */
    fiber_stack_bytes = 24 * 1024;
    are_small = true;
#endif
}

bool fiber_stacks_map(struct fiber_stacks *stacks, unsigned num_stacks)
{
    const size_t bytes = FIBER_GUARD_BYTES + num_stacks * fiber_stack_stride_bytes();
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED)
        return false;
    *stacks = (struct fiber_stacks){.base = base, .mapped_bytes = bytes, .num_stacks = num_stacks};
    madvise(base, bytes, are_small ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (mprotect(base, FIBER_GUARD_BYTES, PROT_NONE) == 0)
        return true;
    fiber_stacks_unmap(stacks);
    return false;
}

void fiber_stacks_unmap(struct fiber_stacks *stacks)
{
    if (!stacks->base)
        return;
    ASAN_UNPOISON_MEMORY_REGION(stacks->base, stacks->mapped_bytes); /* otherwise the frames would stay poisoned */
    munmap(stacks->base, stacks->mapped_bytes);
    memset(stacks, 0, sizeof *stacks);
}

void *fiber_host_stack_pointer;

_Noreturn void fiber_exit_to_host_stack(void)
{
    void *unused;

    simt_fiber_switch(&unused, fiber_host_stack_pointer);
    __builtin_unreachable();
}

/* SIMT_FIBER_UCONTEXT selects the portable implementation on any processor. */
#if defined __x86_64__ && !defined SIMT_FIBER_UCONTEXT

/* The callee-saved registers of the System V ABI. mxcsr and the x87 control word are the same in every fiber. */
__asm__(".text\n"
        ".globl simt_fiber_switch\n"
        ".type simt_fiber_switch, @function\n"
        "simt_fiber_switch:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size simt_fiber_switch, .-simt_fiber_switch\n"
        /*
         * The first frame of a fiber. Its return address is marked as undefined, so that debuggers see that it has no
         * caller.
         */
        ".globl simt_fiber_start\n"
        ".type simt_fiber_start, @function\n"
        "simt_fiber_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    call *%rbx\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size simt_fiber_start, .-simt_fiber_start\n");
void simt_fiber_start(void);

void *fiber_prepare_stack(unsigned char *stack, size_t colour_bytes, void (*entry)(void))
{
    enum { RBX = 4, RETURN = 6, WORDS = 7 };
    uintptr_t top = ((uintptr_t)stack + fiber_stack_bytes - colour_bytes) & ~(uintptr_t)15;
    void **saved = (void **)top - WORDS;

    memset(saved, 0, WORDS * sizeof *saved);
    memcpy(&saved[RBX], &entry, sizeof entry);
    void (*start)(void) = simt_fiber_start;
    memcpy(&saved[RETURN], &start, sizeof start);
    return saved;
}

#elif defined __aarch64__ && !defined SIMT_FIBER_UCONTEXT

__asm__(".text\n"
        ".globl simt_fiber_switch\n"
        ".type simt_fiber_switch, %function\n"
        "simt_fiber_switch:\n"
        "    .cfi_startproc\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size simt_fiber_switch, .-simt_fiber_switch\n"
        ".globl simt_fiber_start\n"
        ".type simt_fiber_start, %function\n"
        "simt_fiber_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined x30\n"
        "    blr x19\n"
        "    brk #1\n"
        "    .cfi_endproc\n"
        ".size simt_fiber_start, .-simt_fiber_start\n");
void simt_fiber_start(void);

void *fiber_prepare_stack(unsigned char *stack, size_t colour_bytes, void (*entry)(void))
{
    enum { X19 = 0, X30 = 11, WORDS = 20 };
    uintptr_t top = ((uintptr_t)stack + fiber_stack_bytes - colour_bytes) & ~(uintptr_t)15;
    void **saved = (void **)top - WORDS;

    memset(saved, 0, WORDS * sizeof *saved);
    memcpy(&saved[X19], &entry, sizeof entry);
    void (*start)(void) = simt_fiber_start;
    memcpy(&saved[X30], &start, sizeof start);
    return saved;
}

#else

#include <ucontext.h>

/* The ucontext of a suspended fiber is stored on the fiber's own stack, and its address serves as the stack pointer. */
void simt_fiber_switch(void **from, void *to)
{
    ucontext_t here;

    *from = &here;
    swapcontext(&here, to);
}

void *fiber_prepare_stack(unsigned char *stack, size_t colour_bytes, void (*entry)(void))
{
    const size_t context = (sizeof(ucontext_t) + 63) & ~(size_t)63;
    ucontext_t *start = (ucontext_t *)(stack + fiber_stack_bytes - context);

    getcontext(start);
    start->uc_stack.ss_sp = stack;
    start->uc_stack.ss_size = fiber_stack_bytes - context - (colour_bytes & ~(size_t)15);
    start->uc_link = NULL;
    makecontext(start, entry, 0);
    return start;
}

#endif
