/**
 * @file fault.c
 * @brief The first fault of a launch: recorded where it happens, formatted as one line afterwards.
 *
 * The faulty lane runs on its own small stack, so it records only the fault and its program counters. Files and lines
 * are looked up on the host's stack once the launch has ended.
 */
#include "fault.h"

#include "errors.h"
#include "fiber.h"
#include "host_threads.h"
#include "program_image.h"
#include "source_lines.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DETAIL = 1600, LINE = 3072 };

static struct fault {
    bool present;
    cudaError_t error;
    uintptr_t pc;
    bool is_function_call;                /**< the fault is the call of the function that `pc` is in */
    uintptr_t callers[NUM_FAULT_CALLERS]; /**< return addresses of the calls in progress; 0 after the last */
    uint3 thread;
    uint3 block;
    char kind[64];
    char detail[DETAIL];
    char line[LINE];
} fault, suspected;
static char first[LINE];         /**< line of an earlier fault that the program has not read yet */
static bool is_read;             /**< simt_fault_message() has returned the line */
static bool is_any_read;         /**< simt_fault_message() has been called */
static unsigned num_printed;     /**< number of lines that simt_fault_print_if_unread() has printed */
static bool is_noted;            /**< simt_fault_here() is recording a fault, on the lane's stack */
static enum suspicion suspicion; /**< the kind of the suspected fault */

bool simt_faulted;
void (*simt_fault_store_callers)(uintptr_t callers[NUM_FAULT_CALLERS]);
void (*simt_fault_end_thread)(uintptr_t pc);

/**
 * Makes room for another fault. If the program has read neither the last fault nor its error, the last fault is kept in
 * `first`, because it may be the cause of the new one: a kernel may read data that a rejected launch should have
 * written. If the program has read only the error, the last fault is printed.
 */
static void make_room(void)
{
    if (simt_peek_last_error_unnoticed() == cudaSuccess)
        simt_fault_print_if_unread();
    if (!fault.present || is_read || simt_peek_last_error_unnoticed() == cudaSuccess)
        first[0] = 0;
    else if (!first[0])
        memcpy(first, fault.line, sizeof first);
    is_read = simt_program_has_noticed_error = false;
}

static void note(struct fault *noted, cudaError_t error, uint3 thread, uintptr_t pc, const char *kind,
                 const char *format, va_list arguments)
{
    noted->present = true;
    noted->error = error;
    noted->pc = pc;
    noted->is_function_call = false;
    memset(noted->callers, 0, sizeof noted->callers);
    if (simt_fault_store_callers)
        simt_fault_store_callers(noted->callers);
    noted->thread = thread;
    noted->block = simt_block_idx;
    snprintf(noted->kind, sizeof noted->kind, "%s", kind);
    vsnprintf(noted->detail, sizeof noted->detail, format, arguments);
    noted->line[0] = 0;
}

void simt_fault_suspect(enum suspicion new_suspicion, cudaError_t error, uintptr_t pc, const char *fault_kind,
                        const char *format, ...)
{
    va_list arguments;

    if (suspected.present && new_suspicion <= suspicion)
        return;
    suspicion = new_suspicion;
    va_start(arguments, format);
    note(&suspected, error, simt_thread_idx, pc, fault_kind, format, arguments);
    va_end(arguments);
}

bool simt_fault_is_suspected(void)
{
    return suspected.present;
}

bool simt_fault_confirm(void)
{
    if (!suspected.present)
        return false;
    if (!simt_faulted) {
        make_room();
        fault = suspected;
    }
    simt_faulted = true;
    suspected.present = false;
    return true;
}

void simt_fault_dismiss_suspected_up_to(enum suspicion strongest_dismissed)
{
    if (suspicion <= strongest_dismissed)
        suspected.present = false;
}

/** Returns the offset at which the line that ends before `end` begins. */
static size_t line_before(const char *text, size_t end)
{
    for (end--; end > 0 && text[end - 1] != '\n'; end--)
        ;
    return end;
}

bool simt_call_is_after_in_source(uintptr_t pc, uintptr_t other_pc)
{
    char stack[STACK_TEXT_SIZE], other[STACK_TEXT_SIZE];

    simt_format_inlined_call_lines(pc, stack);
    simt_format_inlined_call_lines(other_pc, other);

    size_t end = strlen(stack), other_end = strlen(other);

    while (end > 0 && other_end > 0) {
        const char *const line = stack + line_before(stack, end);
        const char *const other_line = other + line_before(other, other_end);
        const size_t file = strcspn(line, ":"), other_file = strcspn(other_line, ":");

        if (file != other_file || strncmp(line, other_line, file) != 0)
            return false;
        if (atol(line + file + 1) != atol(other_line + file + 1))
            return atol(line + file + 1) > atol(other_line + file + 1);
        end = (size_t)(line - stack);
        other_end = (size_t)(other_line - other);
    }
    return false;
}

void simt_fault_dismiss_if_after_call_in_source(uintptr_t call_return_pc)
{
    const char *const second = suspected.present ? strchr(suspected.detail, '\001') : NULL;

    if (suspected.present && (simt_call_is_after_in_source(suspected.pc, call_return_pc) ||
                              (second && simt_call_is_after_in_source(strtoull(second + 1, NULL, 16), call_return_pc))))
        suspected.present = false;
}

void simt_fault_thread(cudaError_t error, uint3 thread, uintptr_t pc, const char *fault_kind, const char *format, ...)
{
    va_list arguments;

    if (simt_faulted || simt_fault_confirm())
        return;
    make_room();
    va_start(arguments, format);
    note(&fault, error, thread, pc, fault_kind, format, arguments);
    va_end(arguments);
    simt_faulted = true;
}

_Noreturn void simt_fault_here(cudaError_t error, uintptr_t pc, const char *fault_kind, const char *format, ...)
{
    va_list arguments;

    if (simt_is_non_launching_host_thread())
        simt_reject_host_thread(pc, SIMT_HOST_CODE_BESIDE_KERNEL_MESSAGE);
    if (suspected.present && suspicion == SUSPECT_UNWRITTEN_READ && error != cudaErrorLaunchTimeout &&
        simt_fault_end_thread)
        simt_fault_end_thread(pc);
    /* The suspected read of an unwritten value may be the cause of this fault, and is then reported instead. */
    if (!simt_fault_confirm()) {
        make_room();
        is_noted = true;
        va_start(arguments, format);
        note(&fault, error, simt_thread_idx, pc, fault_kind, format, arguments);
        va_end(arguments);
        is_noted = false;
        simt_faulted = true;
    }
    fiber_exit_to_host_stack();
}

_Noreturn void simt_fault_at_line_of_call(uintptr_t callee_pc, const char *fault_kind, const char *format, ...)
{
    va_list arguments;

    if (!simt_fault_confirm()) {
        make_room();
        va_start(arguments, format);
        note(&fault, cudaErrorLaunchFailure, simt_thread_idx, callee_pc, fault_kind, format, arguments);
        va_end(arguments);
        fault.is_function_call = true;
        simt_faulted = true;
    }
    fiber_exit_to_host_stack();
}

_Noreturn void simt_fault_stack_overflow(uintptr_t pc)
{
    if (is_noted) /* the stack had no room for recording the overflow, which is now done on the signals' stack */
        pc = fault.pc;
    simt_fault_here(cudaErrorIllegalAddress, pc, "stack overflow", "needs more than the %zu bytes of a thread's stack",
                    fiber_stack_bytes);
}

void simt_fault_clear(void)
{
    simt_fault_print_if_unread();
    fault.present = false;
}

cudaError_t simt_fault_error(void)
{
    return fault.present ? fault.error : cudaSuccess;
}

void simt_fault_record_host_error(cudaError_t error, const char *format, ...)
{
    va_list arguments;

    make_room();
    fault.present = true;
    fault.error = error;
    va_start(arguments, format);
    vsnprintf(fault.line, sizeof fault.line, format, arguments);
    va_end(arguments);
}

cudaError_t simt_fault_runtime_call(uintptr_t call_site, const char *name, cudaError_t error, const char *format, ...)
{
    char location[LOCATION_TEXT_SIZE], reason[DETAIL];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    simt_format_source_line(call_site, location);
    simt_fault_record_host_error(error, "%s: %s: %s: %s", location, name, cudaGetErrorString(error), reason);
    return simt_set_last_error(error);
}

cudaError_t simt_fault_no_address_space(void)
{
    simt_fault_record_host_error(cudaErrorInitializationError,
                                 "out of memory: the simulator reserves 1.3 GiB of address space, and "
                                 "less can be had (a limit? ulimit -v shows it)");
    return simt_set_last_error(cudaErrorInitializationError);
}

/**
 * Appends a source location: " at :line" if it is in the file of `here`, otherwise " at file:line", without what
 * simt_format_source_line_seen_from() leaves out. Returns true if the location is `here`.
 */
static bool append_location(char *line, size_t size, const char *pc_text, const char *here)
{
    const uintptr_t pc = (uintptr_t)strtoull(pc_text, NULL, 16);
    char location[LOCATION_TEXT_SIZE], seen[LOCATION_TEXT_SIZE];
    const size_t length = strlen(line);

    if (pc == 0)
        return false;
    simt_format_source_line(pc, location);
    simt_format_source_line_seen_from(here, pc, seen);
    snprintf(line + length, size - length, " at %s", seen);
    return strcmp(location, here) == 0;
}

/** Appends the advice for this kind of fault, unless the fault's own text gives advice. */
static void append_advice(char *line, size_t size, const char *kind)
{
    if (strcmp(kind, "shared memory race") == 0 && strstr(line, " of dynamic shared memory"))
        kind = "dynamic shared memory race";
    const char *const advice = strstr(line, SIMT_ADVICE_PREFIX) ? NULL : simt_fault_advice(kind);
    const size_t length = strlen(line);

    if (advice)
        snprintf(line + length, size - length, SIMT_ADVICE_PREFIX "%s", advice);
}

/** Resolves SIMT_KEEP_REST_IF_AT_FAULT_LINE_MARK: removes it and, unless the lines are the same, the text after it. */
static void resolve_same_line(char *line, bool same_line)
{
    char *const mark = strchr(line, SIMT_KEEP_REST_IF_AT_FAULT_LINE_MARK[0]);

    if (mark && same_line)
        memmove(mark, mark + 1, strlen(mark));
    else if (mark)
        *mark = 0;
}

/** Returns whether a location is a line of the program's own source, not of a library. */
static bool is_own_line(const char *location)
{
    return strchr(location, ':') && strncmp(location, "/usr/", 5) != 0;
}

/**
 * Finds the line of the fault. If the fault is a call of a function that was inlined, this is the line of the enclosing
 * frame. If the fault is in a library function, it is the line of the innermost call made from outside the library.
 */
static void locate(char here[LOCATION_TEXT_SIZE])
{
    char stack[STACK_TEXT_SIZE] = "", outer[LOCATION_TEXT_SIZE];

    if (fault.is_function_call)
        simt_format_inlined_call_lines(fault.pc, stack);
    const char *const around = strchr(stack, '\n');

    if (around && around[1])
        snprintf(here, LOCATION_TEXT_SIZE, "%.*s", (int)strcspn(around + 1, " \n"), around + 1);
    else
        simt_format_source_line(fault.is_function_call ? fault.callers[0] : fault.pc, here);
    for (unsigned i = 0; i < NUM_FAULT_CALLERS && fault.callers[i] && !is_own_line(here); i++) {
        simt_format_source_line(fault.callers[i], outer);
        if (is_own_line(outer))
            strcpy(here, outer);
    }
}

const char *simt_format_thousands_separated(uint64_t number, char text[NUMBER_TEXT_SIZE])
{
    char *at = text + NUMBER_TEXT_SIZE - 1;

    *at = '\0';
    for (int digits = 0; digits == 0 || number > 0; digits++, number /= 10) {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10);
    }
    return at;
}

void simt_fault_add_locations(void)
{
    char here[LOCATION_TEXT_SIZE];
    char *line = fault.line;
    bool same_line = false;

    if (!fault.present || line[0])
        return;
    locate(here);
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
        same_line = append_location(line, LINE, mark + 1, here);
        at = end + 1;
    }
    resolve_same_line(line, same_line);
    append_advice(line, LINE, fault.kind);
}

const char *simt_fault_message(void)
{
    is_read = is_any_read = true;
    return !fault.present ? NULL : first[0] ? first : fault.line;
}

void simt_fault_print_if_unread(void)
{
    if (!fault.present || is_read || !fault.line[0])
        return;
    fflush(stdout);
    fprintf(stderr, "%s\n", first[0] ? first : fault.line);
    is_read = true;
    num_printed++;
}

/** Ends the program with status 1 in place of 0. Called at the end of exit(), with the status of the program. */
static void replace_status_0(int status, void *unused)
{
    (void)unused;
    if (status != 0)
        return;
    fflush(stdout);
    fprintf(stderr, "exit status 1 in place of 0, because the simulator has reported %u fault%s\n", num_printed,
            plural_ending(num_printed));
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

/** Returns whether the simulator is part of the program itself and not of a library that the program has loaded. */
static bool is_linked_into_program(void)
{
    struct link_map *object = NULL;
    Dl_info info;

    return dladdr1((void *)(uintptr_t)replace_status_0, &info, (void **)&object, RTLD_DL_LINKMAP) && object &&
           !object->l_prev && !object->l_name[0];
}

__attribute__((destructor)) static void show_at_exit(void)
{
    /* A program that has called simt_fault_message() expects faults, and decides on its status itself. */
    const bool ignores_fault = fault.present && !is_any_read && !simt_program_has_noticed_error;

    simt_print_unread_failure();
    simt_fault_print_if_unread();
    if (num_printed > 0 && ignores_fault && is_linked_into_program())
        on_exit(replace_status_0, NULL);
}
