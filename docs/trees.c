#include "trees.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 1024 };

extern char **environ;

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    return length > 0;
}

bool tree_parse(const char *words, struct tree_request *request, struct error *error)
{
    char range[32];
    int length = 0, count = 0;

    if (sscanf(words, "%31s %n", range, &length) != 1)
        return error_set(error, "a tree of nothing; 'tree: 0-7 PROGRAM' has words and a program");
    if (!tree_range_parse(range, &request->range, error))
        return false;
    snprintf(request->command, sizeof request->command, "%s", words + length);
    for (const char *at = request->command; *at; at++)
        count += *at == ' ';
    if (!is_name(request->command, strcspn(request->command, " ")) || count > TREE_MAX_ARGUMENTS)
        return error_set(error, "'%.40s' is no program and at most %d arguments", request->command, TREE_MAX_ARGUMENTS);
    return true;
}

/** Runs a program until it ends, without what it prints, but with its errors. False if it cannot be run or fails. */
static bool run(char *const *arguments, struct error *error)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return error_set(error, "%s: out of memory", arguments[0]);
    int reason = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (reason == 0)
        reason = posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (reason != 0)
        return error_set(error, "%s: it cannot be run: %s", arguments[0], strerror(reason));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return error_set(error, "%s: %s", arguments[0], strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return error_set(error, "%s: it failed, with %s %d", arguments[0], WIFEXITED(status) ? "exit" : "signal",
                     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/** Runs the request's program so that it leaves its trace in a file. */
static bool run_traced(const char *programs, const struct tree_request *request, char *trace, struct error *error)
{
    char program[PATH_SIZE], command[TREE_COMMAND_SIZE], trace_flag[] = "--trace";
    char *arguments[TREE_MAX_ARGUMENTS + 4];
    int count = 0;

    strcpy(command, request->command);
    for (char *word = strtok(command, " "); word; word = strtok(NULL, " "))
        arguments[count++] = word;
    snprintf(program, sizeof program, "%s/%s", programs, arguments[0]);
    arguments[0] = program;
    arguments[count++] = trace_flag;
    arguments[count++] = trace;
    arguments[count] = NULL;
    return run(arguments, error);
}

bool tree_write(FILE *out, const char *programs, const struct tree_request *request, struct error *error)
{
    const struct tree_range range = request->range;
    char folder[] = "/tmp/tables.XXXXXX", trace[64];

    if (!mkdtemp(folder))
        return error_set(error, "%s: %s", folder, strerror(errno));
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    fputs("\n```\n", out);
    const bool good = run_traced(programs, request, trace, error) && tree_steps_write(out, trace, range, error);
    unlink(trace);
    rmdir(folder);
    fprintf(out, "```\n\nPrinted by `build/cpu/%s --trace trace.json` and `build/cpu/tree_steps %d-%d trace.json`.\n\n",
            request->command, range.first, range.first + range.count - 1);
    return good;
}
