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

/** Starts addr2line on the program and the addresses in `input`, with or without the functions; its output comes from *read_end. The process, or -1. */
static pid_t start_addr2line(const char *tool, int input, bool functions, int *read_end)
{
    static char program[4096];
    char *const arguments[] = {(char *)tool, "-a", "-i", "-e", program, functions ? "-f" : NULL, NULL};
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

/**
 * What is wanted of the frames of an address: the first, the first in one of our headers too, or all with their
 * newlines.
 */
enum frames { FIRST_FRAME, FIRST_FRAME_OF_ALL, ALL_FRAMES };

/** Takes a frame as "file:line", unless it is nobody's line, or in one of our headers. */
static bool take_frame(char *line, enum frames which, char *text, size_t size)
{
    const size_t length = strlen(text);
    char *end = strstr(line, " (discriminator"); /* which copies of one statement do not share */

    if (!end)
        end = strchr(line, '\n');
    if (end)
        snprintf(end, 2, "%s", which == ALL_FRAMES ? "\n" : "");
    if (line[0] == '?' || strstr(line, ":?") || strncmp(line, "/usr/", 5) == 0)
        return false;
    if (which != FIRST_FRAME_OF_ALL && strstr(line, OWN_DIRECTORY))
        return false;
    snprintf(text + length, size - length, "%s", line[0] == '.' && line[1] == '/' ? line + 2 : line);
    return true;
}

/** Whether a function copies a structure: unless somebody wrote it, its line is the structure's, and nobody's access. */
static bool copies_structure(const char *function)
{
    static const char *const signatures[] = {"aSERKS", "aSEOS", "C1ERKS", "C2ERKS",
                                             "C4ERKS", "C1EOS", "C2EOS",  "C4EOS"};

    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const char *found = strstr(function, signatures[i]);

        if (found && strcspn(found + strlen(signatures[i]), "_") + strlen(signatures[i]) + 2 == strlen(found))
            return true;
    }
    return false;
}

/**
 * Of each address, which the tool repeats, the innermost frame that counts, or all. An empty text where there is none.
 * The first is rather where a structure is copied than the structure's own line.
 */
static bool pick_frames(FILE *output, size_t count, enum frames which, char *text, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    size_t seen = 0;
    bool found = false, is_function = false, copies = false, is_structures = false;

    while (getline(&line, &room, output) > 0) {
        if (strncmp(line, "0x", 2) == 0) {
            seen++;
            is_function = which == FIRST_FRAME;
            is_structures = false;
        } else if (is_function) {
            copies = copies_structure(line);
            is_function = false;
        } else if (seen > 0 && seen <= count) {
            char *const place = text + (seen - 1) * size;

            if (is_structures && !copies)
                *place = 0;
            if (!*place || which == ALL_FRAMES)
                found |= take_frame(line, which, place, size);
            is_structures = copies && *place;
            is_function = which == FIRST_FRAME;
        }
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

/** Whether the tool knows the place of any of them; each has `size` characters of the text. */
static bool run_addr2line(const char *tool, const uintptr_t *pc, size_t count, enum frames which, char *text,
                          size_t size)
{
    const int input = address_file(pc, count);
    bool found = false;
    int read_end;
    int status;

    for (size_t i = 0; i < count; i++)
        text[i * size] = 0;
    if (input < 0)
        return false;
    const pid_t child = start_addr2line(tool, input, which == FIRST_FRAME, &read_end);

    close(input);
    if (child < 0)
        return false;
    FILE *output = fdopen(read_end, "r");

    if (output) {
        found = pick_frames(output, count, which, text, size);
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
    char here[PLACE_TEXT];

    if (!known && run_addr2line(tool, &own, 1, FIRST_FRAME_OF_ALL, here, sizeof here)) {
        char *name = strstr(here, __FILE__);

        if (name && __FILE__[0] != '/') {
            memcpy(directory, here, (size_t)(name - here));
            directory[name - here] = 0;
        }
        known = true;
    }
    return directory;
}

/** At the beginning of each line. */
static void strip_build_directory(const char *tool, char *text)
{
    const char *directory = build_directory(tool);
    const size_t length = strlen(directory);

    for (char *line = text; length > 0 && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, directory, length) == 0)
            memmove(line, line + length, strlen(line + length) + 1);
    }
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

static void look_up(const uintptr_t *pc, size_t count, enum frames which, char *text, size_t size)
{
#if defined __aarch64__
    static const char *const tools[] = {"addr2line", "aarch64-linux-gnu-addr2line", "llvm-addr2line"};
#else
    static const char *const tools[] = {"addr2line", "llvm-addr2line"};
#endif
    bool found = false;

    for (size_t i = 0; !found && i < sizeof tools / sizeof *tools; i++) {
        found = run_addr2line(tools[i], pc, count, which, text, size);
        for (size_t j = 0; found && j < count; j++)
            strip_build_directory(tools[i], text + j * size);
    }
    for (size_t j = 0; j < count; j++) {
        if (!text[j * size])
            name_function(pc[j], text + j * size);
    }
}

void simt_source_lines(const uintptr_t *pc, size_t count, char (*text)[PLACE_TEXT])
{
    look_up(pc, count, FIRST_FRAME, text[0], PLACE_TEXT);
}

/* --- another process that looks them up --------------------------------------------------------------------------- */

static int questions = -1, answers = -1;

struct question {
    uintptr_t pc;
    enum frames which;
};

/** Answers until nobody is left who could ask. It holds on to nothing that its parent has open. */
static _Noreturn void answer_questions(int from, int to)
{
    const int nothing = open("/dev/null", O_RDWR);
    char text[STACK_TEXT];
    struct question question;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 5; i++)
        if (i != from && i != to)
            dup2(nothing, i);
    while (read(from, &question, sizeof question) == sizeof question) {
        memset(text, 0, sizeof text);
        look_up(&question.pc, 1, question.which, text, sizeof text);
        if (write(to, text, sizeof text) != sizeof text)
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

static void ask(struct question question, char text[STACK_TEXT])
{
    size_t size = 0;
    ssize_t more = write(questions, &question, sizeof question);

    while (more > 0 && size < STACK_TEXT) {
        more = read(answers, text + size, STACK_TEXT - size);
        size += more > 0 ? (size_t)more : 0;
    }
    if (size < STACK_TEXT)
        name_function(question.pc, text);
    text[STACK_TEXT - 1] = '\0';
}

/** The text that belongs to an address, which stays until some more have been asked for. */
static const char *remembered(uintptr_t pc, enum frames which)
{
    enum { REMEMBERED = 64 };
    static struct place {
        uintptr_t pc;
        enum frames which;
        char text[STACK_TEXT];
    } places[REMEMBERED];
    static unsigned next;
    struct place *place = &places[next];

    for (unsigned i = 0; i < REMEMBERED; i++) {
        if (pc && places[i].pc == pc && places[i].which == which)
            return places[i].text;
    }
    *place = (struct place){.pc = pc, .which = which};
    if (pc && questions >= 0)
        ask((struct question){pc, which}, place->text);
    else if (pc)
        look_up(&pc, 1, which, place->text, STACK_TEXT);
    else
        name_function(pc, place->text);
    next = (next + 1) % REMEMBERED;
    return place->text;
}

void simt_source_line(uintptr_t pc, char text[PLACE_TEXT])
{
    snprintf(text, PLACE_TEXT, "%.*s", PLACE_TEXT - 1, remembered(pc, FIRST_FRAME));
}

void simt_source_stack(uintptr_t pc, char text[STACK_TEXT])
{
    snprintf(text, STACK_TEXT, "%s", remembered(pc, ALL_FRAMES));
}
