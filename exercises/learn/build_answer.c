#include "build_answer.h"

#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The compilers and their flags, as space-separated words. The build generates these definitions. */
extern const char answer_rewriter[], answer_compile[], answer_link[], answer_libraries[];
extern const char answer_gpu_compile[], answer_gpu_link[], answer_gpu_libraries[];

enum { MAX_WORDS = 96, COMMAND_SIZE = 4096, PATH_ROOM = 2 * BUILT_PATH_SIZE, COMPILER_SECONDS = 120 };

/* --- commands ----------------------------------------------------------------------------------------------------- */

/** A command line under construction. */
struct command {
    const char *words[MAX_WORDS + 1]; /**< the last one is NULL */
    int count;
    char text[COMMAND_SIZE]; /**< storage for the words that the caller does not own */
    size_t used;
};

static void add_word(struct command *command, const char *word)
{
    if (command->count < MAX_WORDS)
        command->words[command->count++] = word;
}

/** Splits a space-separated text into words and adds them. */
static void add_words(struct command *command, const char *words)
{
    const size_t size = strlen(words) + 1;

    if (command->used + size > sizeof command->text)
        return;

    char *const copy = memcpy(command->text + command->used, words, size);
    char *rest = NULL;

    command->used += size;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        add_word(command, word);
}

/** Formats one word and adds it. */
__attribute__((format(printf, 2, 3))) static void add_formatted(struct command *command, const char *format, ...)
{
    const size_t room = sizeof command->text - command->used;
    char *const word = command->text + command->used;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(word, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room)
        return;
    command->used += (size_t)length + 1;
    add_word(command, word);
}

/** Appends a compiler's output to the messages. Returns false if out of memory. */
static bool add_messages(struct built_answer *built, const struct child_output *said)
{
    const size_t before = built->messages ? strlen(built->messages) : 0;
    char *const longer = realloc(built->messages, before + said->size + 1);

    if (!longer)
        return false;
    built->messages = longer;
    memcpy(longer + before, said->size ? said->text : "", said->size);
    longer[before + said->size] = '\0';
    return true;
}

/** Runs a command and appends its output to the messages. */
static enum build_result run(struct command *command, struct built_answer *built, struct error *error)
{
    static char no_end[] = "the compiler was stopped: it took too long, printed too much, or crashed\n";
    const struct verdict_limits limits = {.seconds_per_case = COMPILER_SECONDS,
                                          .memory_bytes = SIZE_MAX,
                                          .output_bytes = (size_t)64 << 20,
                                          .max_events = 1};
    const struct child_output stopped = {.text = no_end, .size = strlen(no_end)};
    struct child_result end;
    enum build_result result;

    if (!child_run(command->words, &limits, &end, error))
        return BUILD_NOT_POSSIBLE;
    result = end.outcome == CHILD_EXITED && end.exit_code == 0 ? BUILD_SUCCEEDED : BUILD_FAILED_TO_COMPILE;
    if (!add_messages(built, &end.output) || (end.outcome != CHILD_EXITED && !add_messages(built, &stopped))) {
        error_set(error, "out of memory");
        result = BUILD_NOT_POSSIBLE;
    }
    child_result_free(&end);
    return result;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

/**
 * Maps a line of the written file to its source, using the #line directives. Returns false if the line has no source.
 */
static bool find_source_line(const char *text, int number, char path[PATH_ROOM], int *line)
{
    int physical = 0;

    *line = 0;
    path[0] = '\0';
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        int next;

        if (++physical == number)
            return path[0] != '\0';
        if (sscanf(at, "#line %d \"%511[^\"\n]\"", &next, path) == 2)
            *line = next;
        else
            ++*line;
    }
    return false;
}

/**
 * Turns a message of rewrite_launch, which sees only the copy, into an error like a compiler's, with the file and line
 * in the learner's file.
 */
static void rename_place(struct built_answer *built, const char *source, const char *text)
{
    const size_t length = strlen(source);
    char path[PATH_ROOM];
    char *renamed;
    int number, line;

    if (strncmp(built->messages, source, length) != 0 || sscanf(built->messages + length, ":%d: ", &number) != 1 ||
        !find_source_line(text, number, path, &line))
        return;

    const char *const rest = strstr(built->messages + length, ": ");

    if (rest && asprintf(&renamed, "%s:%d: error%s", path, line, rest) >= 0) {
        free(built->messages);
        built->messages = renamed;
    }
}

/* --- the folder --------------------------------------------------------------------------------------------------- */

static bool make_folder(struct built_answer *built, struct error *error)
{
    char parent[BUILT_PATH_SIZE - 20];

    snprintf(parent, sizeof parent, "%s/exercises", answer_build_folder);
    if (mkdir(parent, 0777) != 0 && errno != EEXIST)
        return error_set(error, "%s: it cannot be made: %s", parent, strerror(errno));
    snprintf(built->private_folder, sizeof built->private_folder, "%s/answer.XXXXXX", parent);
    if (!mkdtemp(built->private_folder)) {
        built->private_folder[0] = '\0';
        return error_set(error, "%s: nothing can be written there: %s", parent, strerror(errno));
    }
    snprintf(built->program_path, sizeof built->program_path, "%.*s/program", BUILT_PATH_SIZE - 10,
             built->private_folder);
    return true;
}

/**
 * Writes a #line directive with the text's path, then the text. Returns the written text, which the caller frees, or
 * NULL.
 */
static char *write_source(const struct named_text *text, const char *path, struct error *error)
{
    FILE *const file = fopen(path, "w");
    char *whole = NULL;
    bool good = file && asprintf(&whole, "#line 1 \"%s\"\n%.*s", text->path, (int)text->size, text->text) >= 0;

    if (good)
        good = fputs(whole, file) >= 0;
    if (file && fclose(file) != 0)
        good = false;
    if (good)
        return whole;
    error_set(error, "%s: it cannot be written: %s", path, strerror(errno));
    free(whole);
    return NULL;
}

void built_answer_remove(struct built_answer *built)
{
    DIR *const folder = built->private_folder[0] ? opendir(built->private_folder) : NULL;
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    if (built->private_folder[0])
        rmdir(built->private_folder);
    free(built->messages);
    memset(built, 0, sizeof *built);
}

/* --- building ----------------------------------------------------------------------------------------------------- */

static enum build_result rewrite(const char *folder, struct built_answer *built, struct error *error)
{
    struct command command = {.count = 0};

    add_words(&command, "sh -c");
    add_word(&command, "exec \"$0\" \"$1\" > \"$2\"");
    add_word(&command, answer_rewriter);
    add_formatted(&command, "%s/answer.cu", folder);
    add_formatted(&command, "%s/answer.cc", folder);
    return run(&command, built, error);
}

static enum build_result compile(const struct answer_to_build *answer, struct built_answer *built, struct error *error)
{
    struct command command = {.count = 0};

    add_words(&command, answer->for_gpu ? answer_gpu_compile : answer_compile);
    if (!answer->for_gpu)
        add_formatted(&command, "-fdiagnostics-color=%s", answer->colour_messages ? "always" : "never");
    add_formatted(&command, "-Iexercises/%s", answer->exercise_name);
    add_words(&command, answer->for_gpu ? "-c" : "-x c++ -c");
    add_formatted(&command, "%s/answer.%s", built->private_folder, answer->for_gpu ? "cu" : "cc");
    add_word(&command, "-o");
    add_formatted(&command, "%s/answer.o", built->private_folder);
    return run(&command, built, error);
}

static void grader_path(const struct answer_to_build *answer, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/%s/graders.a.objects/exercises_%s_grader.o", answer_build_folder,
             answer->for_gpu ? "gpu" : "cpu", answer->exercise_name);
}

static enum build_result link_program(const struct answer_to_build *answer, struct built_answer *built,
                                      struct error *error)
{
    struct command command = {.count = 0};
    char grader[PATH_ROOM];

    grader_path(answer, grader);
    add_words(&command, answer->for_gpu ? answer_gpu_link : answer_link);
    add_formatted(&command, "%s/answer.o", built->private_folder);
    add_word(&command, grader);
    add_words(&command, answer->for_gpu ? answer_gpu_libraries : answer_libraries);
    add_word(&command, "-o");
    add_word(&command, built->program_path);
    return run(&command, built, error);
}

/** Writes the source and, for the simulator, rewrites its launches. */
static enum build_result prepare(const struct answer_to_build *answer, struct built_answer *built, struct error *error)
{
    char path[PATH_ROOM];
    enum build_result result = BUILD_SUCCEEDED;

    snprintf(path, sizeof path, "%s/answer.cu", built->private_folder);

    char *const written = write_source(&answer->text, path, error);

    if (!written)
        return BUILD_NOT_POSSIBLE;
    if (!answer->for_gpu) {
        result = rewrite(built->private_folder, built, error);
        if (result == BUILD_FAILED_TO_COMPILE)
            rename_place(built, path, written);
    }
    free(written);
    return result;
}

/** Returns whether the grader, the rewriter and the libraries exist; if not, sets the error to what builds them. */
static bool is_built(const struct answer_to_build *answer, struct error *error)
{
    const char *const how = answer->for_gpu
                                ? "`ninja learn-gpu` builds all (it needs nvcc); without --gpu the simulator grades"
                                : "`ninja learn` builds all";
    const char *const words = answer->for_gpu ? answer_gpu_libraries : answer_libraries;
    char path[PATH_ROOM];

    grader_path(answer, path);
    if (access(path, R_OK) != 0)
        return error_set(error, "the grader%s is not built: %s", answer->for_gpu ? " for a GPU" : "", how);
    if (!answer->for_gpu && access(answer_rewriter, X_OK) != 0)
        return error_set(error, "%s is not built: %s", answer_rewriter, how);
    for (const char *word = words; *word; word += strcspn(word, " "), word += strspn(word, " ")) {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(word, " "), word);
        if (strstr(path, ".a") && access(path, R_OK) != 0)
            return error_set(error, "%s is not built: %s", path, how);
    }
    return true;
}

enum build_result build_answer(const struct answer_to_build *answer, struct built_answer *built, struct error *error)
{
    enum build_result result;

    memset(built, 0, sizeof *built);
    if (!is_built(answer, error))
        return BUILD_NOT_POSSIBLE;
    if (!add_messages(built, &(struct child_output){NULL, 0})) {
        error_set(error, "out of memory");
        return BUILD_NOT_POSSIBLE;
    }
    if (!make_folder(built, error))
        return BUILD_NOT_POSSIBLE;
    result = prepare(answer, built, error);
    if (result == BUILD_SUCCEEDED)
        result = compile(answer, built, error);
    if (result == BUILD_SUCCEEDED)
        result = link_program(answer, built, error);
    return result;
}
