/**
 * @file source_lines.c
 * @brief From a program counter to file and line, by addr2line of binutils, which comes with every compiler.
 */
#include "source_lines.h"

#include "program_image.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/** Where the headers are whose inlined functions are nobody's line. */
#define OWN_DIRECTORY "common/simt/"

/** Starts addr2line on the program and the addresses in `input`; its output comes from *read_end. The process, or -1. */
static pid_t start_addr2line(const char *tool, int input, int *read_end)
{
    static char program[4096];
    char *const arguments[] = {(char *)tool, "-a", "-i", "-e", program, NULL};
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
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
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

/** Takes a frame as "file:line", unless it is nobody's line, or in one of our headers and not to be `ours`. */
static bool take_frame(char *line, bool ours, char text[PLACE_TEXT])
{
    char *end = strstr(line, " (discriminator");

    end = end ? end : strchr(line, '\n');
    if (end)
        *end = 0;
    if (line[0] == '?' || strstr(line, ":?") || strncmp(line, "/usr/", 5) == 0)
        return false;
    if (!ours && strstr(line, OWN_DIRECTORY))
        return false;
    snprintf(text, PLACE_TEXT, "%s", line[0] == '.' && line[1] == '/' ? line + 2 : line);
    return true;
}

/** Of each address, which the tool repeats, the innermost frame that counts. An empty text where there is none. */
static bool pick_frames(FILE *output, size_t count, bool ours, char (*text)[PLACE_TEXT])
{
    char *line = NULL;
    size_t room = 0;
    size_t seen = 0;
    bool found = false;

    while (getline(&line, &room, output) > 0) {
        if (strncmp(line, "0x", 2) == 0)
            seen++;
        else if (seen > 0 && seen <= count && !text[seen - 1][0])
            found |= take_frame(line, ours, text[seen - 1]);
    }
    free(line);
    return found;
}

/** A file without a name that holds the addresses, to be read from its start; -1 if it cannot be. */
static int address_file(const uintptr_t *pc, size_t count)
{
    const int file = memfd_create("addresses", MFD_CLOEXEC);
    bool good = file >= 0;

    for (size_t i = 0; i < count && good; i++)
        good = dprintf(file, "0x%" PRIxPTR "\n", pc[i] - 1 - simt_program.bias) > 0;
    if (good && lseek(file, 0, SEEK_SET) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/** Whether the tool knows the place of any of them. */
static bool run_addr2line(const char *tool, const uintptr_t *pc, size_t count, bool ours, char (*text)[PLACE_TEXT])
{
    const int input = address_file(pc, count);
    bool found = false;
    int read_end;
    int status;

    for (size_t i = 0; i < count; i++)
        text[i][0] = 0;
    if (input < 0)
        return false;
    const pid_t child = start_addr2line(tool, input, &read_end);

    close(input);
    if (child < 0)
        return false;
    FILE *output = fdopen(read_end, "r");

    if (output) {
        found = pick_frames(output, count, ours, text);
        fclose(output);
    } else {
        close(read_end);
    }
    while (waitpid(child, &status, 0) < 0)
        ;
    return found;
}

/** Compilers record absolute names: what stands before our own source's relative one is the directory of the build. */
static const char *build_directory(const char *tool)
{
    static char directory[PLACE_TEXT];
    static bool known;
    const uintptr_t own = (uintptr_t)simt_source_line + 1;
    char here[1][PLACE_TEXT];

    if (!known && run_addr2line(tool, &own, 1, true, here)) {
        char *name = strstr(here[0], __FILE__);

        if (name && __FILE__[0] != '/') {
            memcpy(directory, here[0], (size_t)(name - here[0]));
            directory[name - here[0]] = 0;
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
        snprintf(text, PLACE_TEXT, "program+0x%" PRIxPTR, pc - simt_program.bias);
    else
        snprintf(text, PLACE_TEXT, "?");
}

void simt_source_lines(const uintptr_t *pc, size_t count, char (*text)[PLACE_TEXT])
{
#if defined __aarch64__
    static const char *const tools[] = {"addr2line", "aarch64-linux-gnu-addr2line", "llvm-addr2line"};
#else
    static const char *const tools[] = {"addr2line", "llvm-addr2line"};
#endif
    bool found = false;

    for (size_t i = 0; !found && i < sizeof tools / sizeof *tools; i++) {
        found = run_addr2line(tools[i], pc, count, false, text);
        for (size_t j = 0; found && j < count; j++)
            strip_build_directory(tools[i], text[j]);
    }
    for (size_t j = 0; j < count; j++) {
        if (!text[j][0])
            name_function(pc[j], text[j]);
    }
}

/* --- another process that looks them up --------------------------------------------------------------------------- */

static int questions = -1, answers = -1;

/** Answers until nobody is left who could ask. It holds on to nothing that its parent has open. */
static _Noreturn void answer_questions(int from, int to)
{
    const int nothing = open("/dev/null", O_RDWR);
    char text[1][PLACE_TEXT];
    uintptr_t pc;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 5; i++)
        if (i != from && i != to)
            dup2(nothing, i);
    while (read(from, &pc, sizeof pc) == sizeof pc) {
        memset(text, 0, sizeof text);
        simt_source_lines(&pc, 1, text);
        if (write(to, text[0], PLACE_TEXT) != PLACE_TEXT)
            break;
    }
    _exit(0);
}

bool simt_source_lines_apart(void)
{
    int question[2], answer[2];

    if (!simt_program_find() || pipe2(question, O_CLOEXEC) != 0)
        return false;
    if (pipe2(answer, O_CLOEXEC) != 0) {
        close(question[0]);
        close(question[1]);
        return false;
    }

    const pid_t child = fork();

    if (child == 0) {
        close(question[1]);
        close(answer[0]);
        answer_questions(question[0], answer[1]);
    }
    close(question[0]);
    close(answer[1]);
    questions = question[1];
    answers = answer[0];
    return child > 0;
}

static void ask(uintptr_t pc, char text[PLACE_TEXT])
{
    size_t size = 0;
    ssize_t more = write(questions, &pc, sizeof pc);

    while (more > 0 && size < PLACE_TEXT) {
        more = read(answers, text + size, PLACE_TEXT - size);
        size += more > 0 ? (size_t)more : 0;
    }
    if (size < PLACE_TEXT)
        name_function(pc, text);
    text[PLACE_TEXT - 1] = '\0';
}

void simt_source_line(uintptr_t pc, char text[PLACE_TEXT])
{
    enum { REMEMBERED = 64 };
    static struct place {
        uintptr_t pc;
        char text[1][PLACE_TEXT];
    } places[REMEMBERED];
    static unsigned next;
    struct place *place = &places[next];

    for (unsigned i = 0; i < REMEMBERED; i++) {
        if (pc && places[i].pc == pc) {
            memcpy(text, places[i].text[0], PLACE_TEXT);
            return;
        }
    }
    place->pc = pc;
    if (pc && questions >= 0)
        ask(pc, place->text[0]);
    else if (pc)
        simt_source_lines(&pc, 1, place->text);
    else
        name_function(pc, place->text[0]);
    memcpy(text, place->text[0], PLACE_TEXT);
    next = (next + 1) % REMEMBERED;
}
