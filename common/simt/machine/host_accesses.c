/**
 * @file host_accesses.c
 * @brief Reports accesses by the host to device memory, which no GPU allows: prints one line with the source location
 *        and lets the signal end the process.
 *
 * While no kernel runs, the pages of the arena are inaccessible. Device variables are part of the program's data and
 * stay accessible, so the host functions in a kernel file report their own accesses to these variables.
 */
#include "host_accesses.h"

#include "fault.h"
#include "program_image.h"
#include "source_lines.h"

#include <execinfo.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/** The previous handler, which receives all signals that are not caused by accesses to device memory. */
static struct sigaction before;
static bool (*describe)(uintptr_t address, char *text, size_t size);

static bool in_program(uintptr_t pc)
{
    return pc - simt_program.text_low < simt_program.text_high - simt_program.text_low;
}

/** Returns whether the code at `pc` is in the program and from the user's source, not the simulator or a C++ header. */
static bool is_of_user(uintptr_t pc)
{
    char location[LOCATION_TEXT_SIZE];

    if (!in_program(pc))
        return false;
    simt_format_source_line(pc, location);
    return strncmp(location, "program+", 8) != 0 && strncmp(location, "/usr/", 5) != 0;
}

/**
 * Returns the program counter of the interrupted code or, if the user has not written it, for example if memcpy() or
 * cudaMalloc() made the access, that of the innermost call from the user's code.
 */
static uintptr_t place_in_program(uintptr_t interrupted)
{
    enum { CALLERS = 32 };
    void *callers[CALLERS];

    if (is_of_user(interrupted + 1))
        return interrupted + 1;
    const int count = backtrace(callers, CALLERS);

    /* The first frames belong to this file, up to the signal frame, which is not in the program. */
    bool below = false;
    for (int i = 0; i < count; i++) {
        const uintptr_t pc = (uintptr_t)callers[i];

        below = below || !in_program(pc);
        if (below && is_of_user(pc))
            return pc;
    }
    return in_program(interrupted) ? interrupted + 1 : 0;
}

static void say(uintptr_t pc, const char *does, const char *what, bool in_library)
{
    char location[LOCATION_TEXT_SIZE];

    simt_format_source_line(pc, location);
    if (strstr(what, "freed") && !in_library) {
        fprintf(
            stderr,
            "%s: illegal address: the host %s memory from CUDA, %s; try: cudaFree() or cudaFreeHost() after the last "
            "access; memory from cudaMalloc() has to be copied\n",
            location, does, what);
        return;
    }
    if (strncmp(what, "the variable ", strlen("the variable ")) == 0) {
        fprintf(stderr, "%s: illegal address: the host %s device memory, %s; it has to be copied; try: %s\n", location,
                does, what, strcmp(does, "writes") == 0 ? "cudaMemcpyToSymbol()" : "cudaMemcpyFromSymbol()");
        return;
    }
    fprintf(stderr,
            "%s: illegal address: the host %s device memory, %s; it has to be copied%s; try: %s, or "
            "cudaMallocManaged()%s\n",
            location, does, what, in_library ? ", and freed by CUDA" : "",
            strcmp(does, "writes") == 0 ? "an array of the host and cudaMemcpy() from it"
                                        : "cudaMemcpy() to an array of the host",
            in_library ? "; cudaFree() or cudaFreeHost() in place of free() or delete" : "");
}

#ifdef __aarch64__
/**
 * Returns whether an instruction that accesses memory is a store. Needed on systems that do not report the kind of
 * access.
 */
static bool is_store(uint32_t instruction)
{
    const bool one_register = (instruction >> 27 & 7) == 7;
    const bool vector = instruction >> 26 & 1;

    /* Bit 22 is set for a load; a sign-extending load has bit 23 set instead. */
    return one_register && !vector ? (instruction >> 22 & 3) == 0 : !(instruction >> 22 & 1);
}
#endif

struct host_copy simt_host_copy;
uintptr_t simt_reported_host_access_address;

/** Prints the line of a copy that has met memory that the host cannot read or write. */
static void say_copy(uintptr_t address)
{
    const struct host_copy copy = simt_host_copy;
    const bool in_from = address - (uintptr_t)copy.from < copy.bytes;
    const bool in_to = address - (uintptr_t)copy.to < copy.bytes;
    char location[LOCATION_TEXT_SIZE];

    simt_format_source_line(copy.call_site, location);
    fprintf(stderr,
            "%s: %s: illegal address: the %s is not memory of the host that can be %s, at 0x%" PRIxPTR
            "; try: the address of a variable or array with room for %zu bytes; for a std::vector, its data()\n",
            location, copy.name,
            in_to     ? "destination"
            : in_from ? "source"
                      : "source or destination",
            in_to     ? "written"
            : in_from ? "read"
                      : "used",
            address, copy.bytes);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    const char *does = "uses";
    uintptr_t pc = 0;
    char where[160];

    sigaction(signal, &before, NULL);
    if (!describe((uintptr_t)info->si_addr, where, sizeof where)) {
        if (simt_host_copy.name)
            say_copy((uintptr_t)info->si_addr);
        simt_fault_print_if_unread(); /* the fault may explain why an allocation has failed */
        return;                       /* the access is retried with the previous handler */
    }
    if (simt_reported_host_access_address && (uintptr_t)info->si_addr == simt_reported_host_access_address) {
        simt_fault_print_if_unread();
        return;
    }
#if defined __x86_64__
    pc = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
    does = interrupted->uc_mcontext.gregs[REG_ERR] & 2 ? "writes" : "reads";
#elif defined __aarch64__
    pc = (uintptr_t)interrupted->uc_mcontext.pc;
    does = is_store(*(const uint32_t *)pc) ? "writes" : "reads";
#endif
    say(place_in_program(pc), does, where, !in_program(pc));
}

bool simt_install_host_access_handler(bool (*describe_device)(uintptr_t address, char *text, size_t size))
{
    struct sigaction last;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

    describe = describe_device;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGSEGV, &action, &last) != 0)
        return false;
    if (!(last.sa_flags & SA_SIGINFO) || last.sa_sigaction != on_signal)
        before = last;
    return true;
}

_Noreturn void simt_reject_host_access_to_variable(const char *variable, bool store, uintptr_t pc)
{
    char what[160];

    snprintf(what, sizeof what, "the variable '%s'", variable);
    say(pc, store ? "writes" : "reads", what, false);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    _exit(EXIT_FAILURE);
}
