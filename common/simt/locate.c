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

/** Where the headers are whose inlined functions are nobody's line. */
#define OWN_DIRECTORY "common/simt/"

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

/** The innermost frame, with `ours` or else not in one of our headers, as "file:line"; false if there is none. */
static bool pick_frame(char *output, bool ours, char text[PLACE_TEXT])
{
    char *rest = NULL;

    for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *discriminator = strstr(line, " (discriminator");

        if (discriminator)
            *discriminator = 0;
        if (line[0] == '?' || strstr(line, ":?") || strncmp(line, "/usr/", 5) == 0)
            continue;
        if (!ours && strstr(line, OWN_DIRECTORY))
            continue;
        snprintf(text, PLACE_TEXT, "%s", line[0] == '.' && line[1] == '/' ? line + 2 : line);
        return true;
    }
    return false;
}

static bool ask(const char *tool, uintptr_t pc, bool ours, char text[PLACE_TEXT])
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
    return pick_frame(output, ours, text);
}

/** Compilers record absolute names: what stands before our own source's relative one is the directory of the build. */
static const char *build_directory(const char *tool)
{
    static char directory[PLACE_TEXT];
    static bool known;
    char here[PLACE_TEXT];

    if (!known && ask(tool, (uintptr_t)simt_locate + 1, true, here)) {
        char *name = strstr(here, __FILE__);

        if (name && __FILE__[0] != '/') {
            memcpy(directory, here, (size_t)(name - here));
            directory[name - here] = 0;
        }
        known = true;
    }
    return directory;
}

static void strip_build_directory(const char *tool, char text[PLACE_TEXT])
{
    const char *directory = build_directory(tool);
    const size_t length = strlen(directory);

    if (length > 0 && strncmp(text, directory, length) == 0)
        memmove(text, text + length, strlen(text + length) + 1);
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

    for (size_t i = 0; pc && !found && i < sizeof tools / sizeof *tools; i++) {
        found = ask(tools[i], pc, false, text);
        if (found)
            strip_build_directory(tools[i], text);
    }
    if (!found)
        name_function(pc, text);
    places[next].pc = pc;
    memcpy(places[next].text, text, PLACE_TEXT);
    next = (next + 1) % REMEMBERED;
}
