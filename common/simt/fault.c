/**
 * @file fault.c
 * @brief The first thing a launch does wrong: written down where it happens, turned into one line afterwards.
 *
 * The lane that is at fault runs on its own small stack, so it only notes what and where; files and lines are looked up on
 * the host's stack once the launch has ended.
 */
#include "engine.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { DETAIL = 512, LINE = 2048 };

static struct fault {
    bool present;
    cudaError_t error;
    uintptr_t pc;
    uint3 thread;
    uint3 block;
    char kind[64];
    char detail[DETAIL];
    char line[LINE];
} fault;

static void note(cudaError_t error, const struct lane *lane, uintptr_t pc, const char *kind, const char *format,
                 va_list arguments)
{
    fault.present = true;
    fault.error = error;
    fault.pc = pc;
    fault.thread = lane->index;
    fault.block = simt_block_idx;
    snprintf(fault.kind, sizeof fault.kind, "%s", kind);
    vsnprintf(fault.detail, sizeof fault.detail, format, arguments);
    fault.line[0] = 0;
    simt_now.faulted = true;
}

void simt_fault_lane(cudaError_t error, const struct lane *lane, uintptr_t pc, const char *kind, const char *format,
                     ...)
{
    va_list arguments;

    if (simt_now.faulted || simt_uninitialised_fault())
        return;
    va_start(arguments, format);
    note(error, lane, pc, kind, format, arguments);
    va_end(arguments);
}

_Noreturn void simt_fault_here(cudaError_t error, uintptr_t pc, const char *kind, const char *format, ...)
{
    struct lane *lane = simt_now.lane;
    va_list arguments;

    /* Whatever this is may well come of a value that was never written. */
    if (!simt_uninitialised_fault()) {
        va_start(arguments, format);
        note(error, lane, pc, kind, format, arguments);
        va_end(arguments);
    }
    /* This fiber is not resumed: the next launch starts its stack afresh. */
    simt_fiber_switch(&lane->stack_pointer, simt_now.scheduler);
    __builtin_unreachable();
}

void simt_fault_clear(void)
{
    fault.present = false;
}

cudaError_t simt_fault_error(void)
{
    return fault.present ? fault.error : cudaSuccess;
}

void simt_fault_launch(cudaError_t error, const char *format, ...)
{
    va_list arguments;

    fault.present = true;
    fault.error = error;
    va_start(arguments, format);
    vsnprintf(fault.line, sizeof fault.line, format, arguments);
    va_end(arguments);
}

/** Appends a place: " at :line" when it is in `file`, else " at file:line". */
static void append_place(char *line, size_t size, const char *pc_text, const char *here)
{
    const uintptr_t pc = (uintptr_t)strtoull(pc_text, NULL, 16);
    const char *colon = strrchr(here, ':');
    char place[PLACE_TEXT];
    const size_t length = strlen(line);

    if (pc == 0)
        return;
    simt_locate(pc, place);
    if (colon && strncmp(place, here, (size_t)(colon - here) + 1) == 0)
        snprintf(line + length, size - length, " at %s", strrchr(place, ':'));
    else
        snprintf(line + length, size - length, " at %s", place);
}

void simt_fault_resolve(void)
{
    char here[PLACE_TEXT];
    char *line = fault.line;

    if (!fault.present || line[0])
        return;
    simt_locate(fault.pc, here);
    snprintf(line, LINE, "%s: %s: thread (%u,%u,%u) of block (%u,%u,%u) ", here, fault.kind, fault.thread.x,
             fault.thread.y, fault.thread.z, fault.block.x, fault.block.y, fault.block.z);
    for (const char *at = fault.detail; *at;) {
        const char *mark = strchr(at, '\001');
        const char *end = mark ? strchr(mark, '\002') : NULL;
        const size_t length = strlen(line);

        if (!end) {
            snprintf(line + length, LINE - length, "%s", at);
            break;
        }
        snprintf(line + length, LINE - length, "%.*s", (int)(mark - at), at);
        append_place(line, LINE, mark + 1, here);
        at = end + 1;
    }
}

const char *simt_fault(void)
{
    return fault.present ? fault.line : NULL;
}

/* --- what only the processor sees --------------------------------------------------------------------------------- */

static struct sigaction before[3];
static stack_t stack_before;
static const int signals[3] = {SIGSEGV, SIGBUS, SIGFPE};

static uintptr_t interrupted_pc(const ucontext_t *context)
{
#if defined __x86_64__
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/** Leaves the signal's stack for the scheduler's: with SA_NODEFER nothing is left blocked. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
    const uintptr_t address = (uintptr_t)info->si_addr;
    const uintptr_t pc = interrupted_pc(context) + 1;

    if (!simt_now.lane) {
        /* The host's own: let it happen again without us. */
        for (int i = 0; i < 3; i++)
            sigaction(signals[i], &before[i], NULL);
        return;
    }
    if (signal == SIGFPE)
        simt_fault_here(cudaErrorLaunchFailure, pc, "division by zero", "divides an integer by zero");
    if (address - (simt_now.lane->stack - FIBER_GUARD_BYTES) < FIBER_GUARD_BYTES)
        simt_fault_here(cudaErrorIllegalAddress, pc, "stack overflow", "needs more than %d bytes of stack",
                        FIBER_STACK_BYTES);
    simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address", "accesses memory that is not there");
}

bool simt_signals_catch(void)
{
    static unsigned char alternate[64 * 1024];
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    sigemptyset(&action.sa_mask);
    if (sigaltstack(&stack, &stack_before) != 0)
        return false;
    for (int i = 0; i < 3; i++) {
        if (sigaction(signals[i], &action, &before[i]) != 0)
            return false;
    }
    return true;
}

void simt_signals_release(void)
{
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &before[i], NULL);
    sigaltstack(&stack_before, NULL);
}

/* --- what a kernel refuses itself --------------------------------------------------------------------------------- */

_Noreturn void simt_trap(void)
{
    simt_fault_here(cudaErrorLaunchFailure, SIMT_CALLER(), "trap", "executes __trap()");
}

/* assert() of the C library ends here; outside kernels it does what the library's does. */
void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    if (simt_now.lane)
        simt_fault_here(cudaErrorAssert, SIMT_CALLER(), "assertion failed", "does not have %s", expression);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    abort();
}
