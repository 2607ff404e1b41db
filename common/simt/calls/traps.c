/**
 * @file traps.c
 * @brief Faults that only the CPU detects (signals), and faults that a kernel raises itself (__trap(), assert()).
 */
#include "device_calls.h"
#include "kernel_calls.h"
#include "lanes/lanes.h"
#include "machine/fault.h"
#include "machine/source_lines.h"
#include "machine/host_threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

/** Reports a call of a pure virtual function as a fault. */
_Noreturn void __cxa_pure_virtual(void)
{
    simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "call of a pure virtual function", "calls it");
}

/**
 * Reports that supposedly unreachable code has been reached: as a fault of the running thread or, outside kernels, of
 * the host, which then aborts.
 */
static _Noreturn void fault_reached(uintptr_t call_site, const char *kind, const char *by_thread, const char *by_host)
{
    char location[LOCATION_TEXT_SIZE];

    if (simt_running.lane)
        simt_fault_here(cudaErrorLaunchFailure, call_site, kind, "%s", by_thread);
    simt_format_source_line(call_site, location);
    fprintf(stderr, "%s: %s\n", location, by_host);
    abort();
}

/** Reports that a function has reached its end without the return that its type requires (-fsanitize=return). */
_Noreturn void __ubsan_handle_missing_return(void *data)
{
    (void)data;
    fault_reached(SIMT_RETURN_ADDRESS(), "missing return",
                  "reaches the end of a function that returns a value" SIMT_ADVICE_PREFIX "a return on each path",
                  "a function of the host reaches its end without returning a value");
}

/** Reports that __builtin_unreachable() has been reached (-fsanitize=unreachable). */
_Noreturn void __ubsan_handle_builtin_unreachable(void *data)
{
    (void)data;
    fault_reached(SIMT_RETURN_ADDRESS(), "false assumption",
                  "reaches __builtin_unreachable()" SIMT_ADVICE_PREFIX "an assert(false) or __trap() in its place",
                  "the host reaches __builtin_unreachable()");
}

_Noreturn void simt_reject_host_call(const char *name, uintptr_t call_site)
{
    char location[LOCATION_TEXT_SIZE];

    simt_fault_print_if_unread();
    fflush(stdout);
    simt_format_source_line(call_site, location);
    fprintf(stderr, "%s: the host calls %s, which exists in kernels and __device__ functions only\n", location, name);
    _exit(EXIT_FAILURE);
}

void simt_fault_false_assumption(const char *condition)
{
    if (simt_running.lane)
        simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "false assumption",
                        "lets the compiler assume what does not hold: %s" SIMT_ADVICE_PREFIX "an assert() of it",
                        condition);
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

enum { NUM_SIGNALS = 5, MAX_FRAME_BYTES = 1 << 30 };

static struct sigaction before[NUM_SIGNALS];
static stack_t stack_before;
static const int signals[NUM_SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGPROF, SIGVTALRM};

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

static uintptr_t interrupted_stack(const ucontext_t *context)
{
#if defined __x86_64__
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
    return (uintptr_t)context->uc_mcontext.sp;
#else
    return (uintptr_t)context;
#endif
}

/** Returns the return address of a call whose target has not executed an instruction yet. */
static uintptr_t caller_of_target(const ucontext_t *context)
{
#if defined __x86_64__
    return *(const uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
    return (uintptr_t)context->uc_mcontext.regs[30];
#else
    (void)context;
    return 0;
#endif
}

/**
 * Checks whether a division that trapped may divide the smallest integer by -1, for which x86-64 raises a signal
 * whereas a GPU returns the dividend. If so, clears the sign extension of the dividend, so that the re-executed
 * instruction returns the dividend. A division by 0 raises the signal again.
 */
static bool repeat_division(ucontext_t *context)
{
#if defined __x86_64__
    greg_t *const low = &context->uc_mcontext.gregs[REG_RAX], *const high = &context->uc_mcontext.gregs[REG_RDX];

    if ((int32_t)*high == -1 && ((int32_t)*low == INT32_MIN || *low == INT64_MIN)) {
        *high = 0;
        return true;
    }
#else
    (void)context;
#endif
    return false;
}

/**
 * Period of the timer that detects a lane that runs without recording events, in a loop that the compiler or the
 * rewriter has left without hooks; the event limit cannot end such a loop. Each tick during which the same lane has
 * recorded no event counts as the number of events that a lane typically records per tick.
 */
enum { TICK_MICROSECONDS = 10000, EVENTS_OF_TICK = 400000 };

static struct silence {
    pthread_t thread; /* the launching thread; the system may deliver the signal to any thread */
    struct launch_progress progress;
    const struct lane *lane;
    const struct lane_event *cursor;
    uint64_t ticks, limit;
} silence;

static void start_ticks(uint64_t event_limit, suseconds_t period)
{
    const struct timeval tick = {.tv_usec = period};

    silence = (struct silence){.thread = pthread_self(), .limit = event_limit / EVENTS_OF_TICK + 1};
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_interval = tick, .it_value = tick}, NULL);
}

static void on_tick(uintptr_t pc)
{
    const struct lane *const lane = simt_running.lane;

    if (!pthread_equal(pthread_self(), silence.thread)) {
        pthread_kill(silence.thread, SIGVTALRM);
        return;
    }
    if (!lane || lane != silence.lane || lane->next_event != silence.cursor ||
        memcmp(&simt_launch_progress, &silence.progress, sizeof simt_launch_progress) != 0) {
        silence.progress = simt_launch_progress;
        silence.lane = lane;
        silence.cursor = lane ? lane->next_event : NULL;
        silence.ticks = 0;
        return;
    }
    if (++silence.ticks > silence.limit)
        simt_fault_here(cudaErrorLaunchTimeout, pc, "endless loop?",
                        "was still here after %.2f s without a load, a store or a branch",
                        (double)silence.ticks * TICK_MICROSECONDS / 1e6);
}

/**
 * Turns a signal in a kernel into a fault. The handler does not return: it switches from the signal stack to that of
 * the scheduler. Because of SA_NODEFER no signal stays blocked.
 */
static void on_signal(int signal, siginfo_t *info, void *context)
{
    const uintptr_t address = (uintptr_t)info->si_addr;
    const uintptr_t pc = interrupted_pc(context) + 1;

    if (signal == SIGVTALRM) {
        on_tick(pc);
        return;
    }
    if (signal != SIGPROF && simt_is_non_launching_host_thread())
        simt_reject_host_thread(pc, SIMT_HOST_CODE_BESIDE_KERNEL_MESSAGE);
    if (signal == SIGPROF && !simt_running.lane) { /* no lane is running: retry in a millisecond */
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_usec = 1000}, NULL);
        return;
    }
    if (signal == SIGPROF) /* a grader's timer has expired in a loop that records no events */
        simt_fault_here(cudaErrorLaunchTimeout, pc, "endless loop?", "was here when the launch had used up its time");
    if (!simt_running.lane) {
        /*
         * A fault in host code: the previous handlers are restored, and the re-executed instruction raises the signal
         * again.
         */
        for (int i = 0; i < NUM_SIGNALS; i++)
            sigaction(signals[i], &before[i], NULL);
        return;
    }
    if (signal == SIGFPE && repeat_division(context))
        return;
    if (signal == SIGFPE)
        simt_fault_here(cudaErrorLaunchFailure, pc, "division by zero", "divides an integer by zero");
    if (address == interrupted_pc(context))
        simt_fault_here(cudaErrorIllegalAddress, caller_of_target(context), "illegal address",
                        "calls %s" SIMT_ADVICE_PREFIX
                        "check that the pointer has been set to a __device__ function, by code that runs on the device",
                        address ? "a function through a pointer that does not point to code"
                                : "a function through a null pointer");
    if (address - (simt_running.lane->stack_low - FIBER_GUARD_BYTES) < FIBER_GUARD_BYTES || /* in the guard */
        simt_running.lane->stack_low - interrupted_stack(context) < MAX_FRAME_BYTES)
        simt_fault_stack_overflow(pc);
    simt_fault_if_from_out_of_bounds_index(address, 0, ACCESS_LOAD, pc);
    simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                    "accesses an address where no memory is" SIMT_ADVICE_PREFIX
                    "check the pointer, and the index that is added to it");
}

bool simt_signal_handlers_and_timer_install(uint64_t event_limit)
{
    static unsigned char alternate[64 * 1024];
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};

    sigemptyset(&action.sa_mask);
    if (sigaltstack(&stack, &stack_before) != 0)
        return false;
    for (int i = 0; i < NUM_SIGNALS; i++) {
        if (sigaction(signals[i], &action, &before[i]) != 0)
            return false;
    }
    start_ticks(event_limit, TICK_MICROSECONDS);
    return true;
}

void simt_signal_handlers_and_timer_remove(void)
{
    start_ticks(0, 0);
    for (int i = 0; i < NUM_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    sigaltstack(&stack_before, NULL);
}

/* --- faults that a kernel raises itself --------------------------------------------------------------------------- */

_Noreturn void simt_trap(void)
{
    simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "trap", "executes __trap()");
}

/* Handles a failed assert(): a fault in a kernel; on the host, the same behaviour as the C library's function. */
void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    if (simt_running.lane)
        simt_fault_here(cudaErrorAssert, SIMT_RETURN_ADDRESS(), "assertion failed", "fails assert(%s)", expression);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    abort();
}

/** Reports at the end of the program that a kernel has ended it, by exit() in a function without `__device__`. */
__attribute__((destructor)) static void check_no_kernel_runs(void)
{
    if (!simt_running.lane)
        return;
    fflush(stdout);
    fprintf(stderr,
            "%s: thread (%u,%u,%u) of block (%u,%u,%u) ends the program, by exit(), which only the host can call; try: "
            "return, or __trap()\n",
            simt_current_launch.name ? simt_current_launch.name : "a kernel", simt_thread_idx.x, simt_thread_idx.y,
            simt_thread_idx.z, simt_block_idx.x, simt_block_idx.y, simt_block_idx.z);
}

/** Reports an abort() in a kernel as a fault; on the host, prints an additional line with its source location. */
_Noreturn void abort(void)
{
    const uintptr_t call_site = SIMT_RETURN_ADDRESS();
    char location[LOCATION_TEXT_SIZE];

    if (simt_running.lane)
        simt_fault_here(cudaErrorLaunchFailure, call_site, "abort", "calls abort(), which is a function of the host");
    simt_fault_print_if_unread();
    simt_format_source_line(call_site, location);
    fprintf(stderr, "%s: the host calls abort()\n", location);
    raise(SIGABRT);
    signal(SIGABRT, SIG_DFL); /* the program's own handler has returned */
    raise(SIGABRT);
    _exit(EXIT_FAILURE);
}
