/**
 * @file locate.c
 * @brief From a program counter to file and line, by addr2line of binutils, which comes with every compiler.
 */
#include "engine.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/** Starts addr2line on the program; its output comes from *read_end. Returns the process, or -1. */
static pid_t start(const char *tool, char *address, int *read_end)
{
    static char program[4096];
    char *const arguments[] = {(char *)tool, "-i", "-e", program, address, NULL};
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t child = -1;

    if (length <= 0)
        return -1;
    program[length] = 0;
    if (pipe(ends) != 0)
        return -1;
    if (posix_spawn_file_actions_init(&actions) == 0) {
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
        if (posix_spawnp(&child, tool, &actions, NULL, arguments, environ) != 0)
            child = -1;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (child < 0)
        close(ends[0]);
    *read_end = ends[0];
    return child;
}

/** The innermost frame that is not one of our headers', as "file:line"; false if there is none. */
static bool pick_frame(char *output, char text[PLACE_TEXT])
{
    char *rest = NULL;

    for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *discriminator = strstr(line, " (discriminator");

        if (discriminator)
            *discriminator = 0;
        if (line[0] == '?' || strstr(line, ":?") || strstr(line, "common/simt/") || strstr(line, "/usr/"))
            continue;
        snprintf(text, PLACE_TEXT, "%s", line[0] == '.' && line[1] == '/' ? line + 2 : line);
        return true;
    }
    return false;
}

static bool ask(const char *tool, uintptr_t pc, char text[PLACE_TEXT])
{
    char address[32];
    char output[8192];
    size_t length = 0;
    int read_end;
    int status;

    snprintf(address, sizeof address, "0x%" PRIxPTR, pc - 1 - simt_image.bias);
    const pid_t child = start(tool, address, &read_end);

    if (child < 0)
        return false;
    for (;;) {
        const ssize_t got = read(read_end, output + length, sizeof output - 1 - length);

        if (got <= 0)
            break;
        length += (size_t)got;
    }
    output[length] = 0;
    close(read_end);
    while (waitpid(child, &status, 0) < 0)
        ;
    return pick_frame(output, text);
}

static void name_function(uintptr_t pc, char text[PLACE_TEXT])
{
    Dl_info info;

    if (pc && dladdr((void *)pc, &info) && info.dli_sname)
        snprintf(text, PLACE_TEXT, "%s+0x%" PRIxPTR, info.dli_sname, pc - (uintptr_t)info.dli_saddr);
    else if (pc)
        snprintf(text, PLACE_TEXT, "program+0x%" PRIxPTR, pc - simt_image.bias);
    else
        snprintf(text, PLACE_TEXT, "?");
}

void simt_locate(uintptr_t pc, char text[PLACE_TEXT])
{
    enum { REMEMBERED = 16 };
    static struct place {
        uintptr_t pc;
        char text[PLACE_TEXT];
    } places[REMEMBERED];
    static unsigned next;
#if defined __aarch64__
    static const char *const tools[] = {"addr2line", "aarch64-linux-gnu-addr2line", "llvm-addr2line"};
#else
    static const char *const tools[] = {"addr2line", "llvm-addr2line"};
#endif

    for (unsigned i = 0; i < REMEMBERED; i++) {
        if (pc && places[i].pc == pc) {
            memcpy(text, places[i].text, PLACE_TEXT);
            return;
        }
    }
    bool found = false;

    for (size_t i = 0; pc && !found && i < sizeof tools / sizeof *tools; i++)
        found = ask(tools[i], pc, text);
    if (!found)
        name_function(pc, text);
    places[next].pc = pc;
    memcpy(places[next].text, text, PLACE_TEXT);
    next = (next + 1) % REMEMBERED;
}
