/**
 * @file source_lines.c
 * @brief Finds the file and line of a program counter with addr2line from binutils, which comes with every compiler.
 */
#include "source_lines.h"

#include "program_image.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

/** Directories of the simulator's headers. Lines of inlined functions in these directories are never reported. */
#define OWN_DIRECTORY   "common/simt/"
#define NAMES_DIRECTORY "common/hip/"

/** addr2line or a compatible program. It is started once and looks up one address at a time. */
struct tool {
    const char *name;
    pid_t starter; /**< process that tried to start it; a forked process starts its own */
    int socket;
    FILE *answers; /**< NULL if it could not be started */
};

static struct tool tools[] = {
    {.name = "addr2line"},
#if defined __aarch64__
    {.name = "aarch64-linux-gnu-addr2line"},
#endif
    {.name = "llvm-addr2line"},
};

/**
 * Starts the tool on this program, with `other_end` of a socket pair as its input and output. The tool exits when no
 * process has the simulator's end open.
 */
static bool spawn_tool(const char *name, int other_end)
{
    static char program[PATH_MAX];
    char *const arguments[] = {(char *)name, "-a", "-f", "-i", "-e", program, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    bool started;

    if (!simt_program_find_segments() || !realpath(simt_program.file_path, program) ||
        posix_spawn_file_actions_init(&actions) != 0)
        return false;
    posix_spawn_file_actions_adddup2(&actions, other_end, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, other_end, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    started = posix_spawnp(&child, name, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

static bool tool_runs(struct tool *tool)
{
    int ends[2];

    if (tool->starter == getpid())
        return tool->answers != NULL;
    if (tool->answers)
        fclose(tool->answers); /* the tool of the other process keeps running */
    tool->starter = getpid();
    tool->answers = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    tool->socket = ends[0];
    if (spawn_tool(tool->name, ends[1]))
        tool->answers = fdopen(ends[0], "r");
    close(ends[1]);
    if (!tool->answers)
        close(ends[0]);
    return tool->answers != NULL;
}

/**
 * Selects the frames of an address to return: the first one outside both the simulator's and the system's headers, the
 * first one outside the system's headers, the first one outside the simulator's headers, or all frames, each followed
 * by a newline.
 */
enum frames { FIRST_FRAME, FIRST_FRAME_OF_ALL, ANY_FRAME, ALL_FRAMES };

/**
 * Adds a frame as "file:line" to the text. Returns false if the frame has no line, or is in a header that `which`
 * excludes.
 */
static bool take_frame(char *line, enum frames which, char *text, size_t size)
{
    const size_t length = strlen(text);
    char *end = strstr(line, " (discriminator"); /* the discriminator differs between copies of one statement */

    if (!end)
        end = strchr(line, '\n');
    if (end)
        snprintf(end, 2, "%s", which == ALL_FRAMES ? "\n" : "");
    if (line[0] == '?' || strstr(line, ":?") || (which != ANY_FRAME && strncmp(line, "/usr/", 5) == 0))
        return false;
    if (which != FIRST_FRAME_OF_ALL && (strstr(line, OWN_DIRECTORY) || strstr(line, NAMES_DIRECTORY)))
        return false;
    snprintf(text + length, size - length, "%s", line[0] == '.' && line[1] == '/' ? line + 2 : line);
    return true;
}

/**
 * Returns whether a function copies a structure. If the compiler generated the function, its line is that of the
 * structure's definition, not that of the access.
 */
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
 * Reads the tool's answer for one address: the address itself, then for each frame a line with the function and a line
 * with the source location. The answer for address 0, about which the tool knows nothing, marks the end. Takes the
 * innermost frame that `which` allows, or all frames. The line where a structure is copied is preferred to that of the
 * structure's definition.
 */
static bool read_frames(FILE *answers, enum frames which, char *text, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    unsigned addresses = 0, lines_of_0 = 2;
    bool found = false, is_function = false, copies = false, is_structures = false;

    while (lines_of_0 > 0 && getline(&line, &room, answers) > 0) {
        if (strncmp(line, "0x", 2) == 0) {
            addresses++;
            is_function = true;
            continue;
        }
        if (addresses == 2) {
            lines_of_0--;
        } else if (is_function) {
            copies = which == FIRST_FRAME && copies_structure(line);
        } else {
            if (is_structures && !copies)
                *text = 0;
            if (!*text || which == ALL_FRAMES)
                found |= take_frame(line, which, text, size);
            is_structures = copies && *text;
        }
        is_function = !is_function;
    }
    free(line);
    return found && lines_of_0 == 0;
}

/** Queries the tool for an address. Returns whether the source location is known. */
static bool query_tool(struct tool *tool, uintptr_t pc, enum frames which, char *text, size_t size)
{
    char question[64];
    const int length = snprintf(question, sizeof question, "0x%" PRIxPTR "\n0x0\n", pc - 1 - simt_program.load_bias);

    *text = 0;
    return tool_runs(tool) && send(tool->socket, question, (size_t)length, MSG_NOSIGNAL) == length &&
           read_frames(tool->answers, which, text, size);
}

/**
 * Returns the build directory. Compilers record absolute paths, so the directory is the part of this file's recorded
 * path that precedes its relative path.
 */
static const char *build_directory(struct tool *tool)
{
    static char directory[LOCATION_TEXT_SIZE];
    static bool known;
    char here[LOCATION_TEXT_SIZE];

    if (!known && query_tool(tool, (uintptr_t)simt_format_source_line + 1, FIRST_FRAME_OF_ALL, here, sizeof here)) {
        char *name = strstr(here, __FILE__);

        if (name && __FILE__[0] != '/') {
            memcpy(directory, here, (size_t)(name - here));
            directory[name - here] = 0;
        }
        known = true;
    }
    return directory;
}

/** Removes the build directory from the beginning of each line. */
static void strip_build_directory(struct tool *tool, char *text)
{
    const char *directory = build_directory(tool);
    const size_t length = strlen(directory);

    for (char *line = text; length > 0 && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, directory, length) == 0)
            memmove(line, line + length, strlen(line + length) + 1);
    }
}

static void name_function(uintptr_t pc, char text[LOCATION_TEXT_SIZE])
{
    Dl_info info;

    if (pc && dladdr((void *)pc, &info) && info.dli_sname)
        snprintf(text, LOCATION_TEXT_SIZE, "%s+0x%" PRIxPTR, info.dli_sname, pc - (uintptr_t)info.dli_saddr);
    else if (pc)
        snprintf(text, LOCATION_TEXT_SIZE, "program+0x%" PRIxPTR, pc - simt_program.load_bias);
    else
        snprintf(text, LOCATION_TEXT_SIZE, "?");
}

static void look_up(uintptr_t pc, enum frames which, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (query_tool(&tools[i], pc, which, text, size)) {
            strip_build_directory(&tools[i], text);
            return;
        }
    }
    for (size_t i = 0; which == FIRST_FRAME && i < sizeof tools / sizeof *tools; i++)
        if (query_tool(&tools[i], pc, ANY_FRAME, text, size))
            return;
    name_function(pc, text);
}

/* --- the separate process that looks up lines --------------------------------------------------------------------- */

static int questions = -1, answers = -1;

struct question {
    uintptr_t pc;
    enum frames which;
};

/**
 * Answers queries until no process that could send one is left. Closes the files inherited from the parent, so that
 * this process does not keep them open.
 */
static _Noreturn void answer_questions(int from, int to)
{
    const int nothing = open("/dev/null", O_RDWR);
    char text[STACK_TEXT_SIZE];
    struct question question;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 5; i++)
        if (i != from && i != to)
            dup2(nothing, i);
    while (read(from, &question, sizeof question) == sizeof question) {
        memset(text, 0, sizeof text);
        look_up(question.pc, question.which, text, sizeof text);
        if (write(to, text, sizeof text) != sizeof text)
            break;
    }
    _exit(0);
}

bool simt_source_lines_start_process(void)
{
    int question[2], answer[2];

    if (!simt_program_find_segments() || pipe2(question, O_CLOEXEC) != 0)
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

static void ask(struct question question, char text[STACK_TEXT_SIZE])
{
    size_t size = 0;
    ssize_t more = write(questions, &question, sizeof question);

    while (more > 0 && size < STACK_TEXT_SIZE) {
        more = read(answers, text + size, STACK_TEXT_SIZE - size);
        size += more > 0 ? (size_t)more : 0;
    }
    if (size < STACK_TEXT_SIZE)
        name_function(question.pc, text);
    text[STACK_TEXT_SIZE - 1] = '\0';
}

/**
 * Returns the text for an address, from a small cache; the text stays valid until REMEMBERED other addresses have been
 * looked up.
 */
static const char *remembered(uintptr_t pc, enum frames which)
{
    enum { REMEMBERED = 64 };
    static struct location {
        uintptr_t pc;
        enum frames which;
        char text[STACK_TEXT_SIZE];
    } locations[REMEMBERED];
    static unsigned next;
    struct location *location = &locations[next];

    for (unsigned i = 0; i < REMEMBERED; i++) {
        if (pc && locations[i].pc == pc && locations[i].which == which)
            return locations[i].text;
    }
    *location = (struct location){.pc = pc, .which = which};
    if (pc && questions >= 0)
        ask((struct question){pc, which}, location->text);
    else if (pc)
        look_up(pc, which, location->text, STACK_TEXT_SIZE);
    else
        name_function(pc, location->text);
    next = (next + 1) % REMEMBERED;
    return location->text;
}

void simt_format_source_line(uintptr_t pc, char text[LOCATION_TEXT_SIZE])
{
    snprintf(text, LOCATION_TEXT_SIZE, "%.*s", LOCATION_TEXT_SIZE - 1, remembered(pc, FIRST_FRAME));
}

void simt_format_source_line_seen_from(const char *here, uintptr_t pc, char text[LOCATION_TEXT_SIZE])
{
    const char *const colon = strrchr(here, ':');
    const size_t file = colon ? (size_t)(colon - here) : 0;
    size_t shared = 0; /* length of the folders that both have */
    char location[LOCATION_TEXT_SIZE];
    const char *part = location;

    simt_format_source_line(pc, location);
    for (size_t i = 0; here[i] && location[i] == here[i]; i++)
        shared = here[i] == '/' ? i + 1 : shared;
    if (colon && strncmp(location, here, file + 1) == 0)
        part += file;
    else if (shared > 1 && (here[0] == '/' || (!strchr(location + shared, '/') && !strchr(here + shared, '/'))))
        part += shared;
    snprintf(text, LOCATION_TEXT_SIZE, "%s", part);
}

void simt_describe_pc(uintptr_t pc, char *text, size_t size)
{
    char location[LOCATION_TEXT_SIZE];

    simt_format_source_line(pc, location);
    snprintf(text, size, "%s", location);
}

void simt_format_inlined_call_lines(uintptr_t pc, char text[STACK_TEXT_SIZE])
{
    snprintf(text, STACK_TEXT_SIZE, "%s", remembered(pc, ALL_FRAMES));
}
