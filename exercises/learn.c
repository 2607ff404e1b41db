/**
 * @file learn.c
 * @brief The learner's program: shows the next exercise, the mistakes in an answer, hints and the learner's progress.
 */
#include "learn/child.h"
#include "learn/commands.h"
#include "learn/interrupt.h"

#include "base/edit_distance.h"
#include "base/environment.h"
#include "base/number.h"
#include "base/standard_output.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum name { NAME_NONE, NAME_OPTIONAL, NAME_NEEDED };

/** A command, and the words that may follow it. */
struct command {
    const char *word;
    enum name name;
    bool grades; /**< accepts --seed, --gpu and --output */
    int (*run)(struct learn_session *learn, const struct parsed_command *parsed);
};

/* The first command is the default, for a command line without a command. */
static const struct command commands[] = {
    {"", NAME_NONE, false, command_watch},        {"list", NAME_NONE, false, command_list},
    {"run", NAME_OPTIONAL, true, command_run},    {"hint", NAME_OPTIONAL, false, command_hint},
    {"reset", NAME_NEEDED, false, command_reset}, {"solution", NAME_NEEDED, false, command_solution},
    {"next", NAME_NONE, false, command_next},     {"step", NAME_OPTIONAL, false, command_make_stepper_page},
};

static const char help[] = //
    "usage: %s [COMMAND] [NAME]\n"
    "\n"
    "Exercises of the course \"MoE routing, kernel by kernel\".\n"
    "\n"
    "  (no command)     show where you are, then grade files as they are saved\n"
    "  list             every exercise and how far it is\n"
    "  run [NAME]       grade one file; without a NAME the one you are at\n"
    "      --seed S       on the same inputs as before (default: fresh ones)\n"
    "      --gpu          on an NVIDIA GPU: answers only, nothing is counted\n"
    "      --output       show what the program printed\n"
    "  hint [NAME]      one step of help, one more each time\n"
    "  step [NAME]      make a page that plays what your kernel does, step by step\n"
    "  next             move on to the next unsolved exercise, even if this one is\n"
    "                   unfinished; it stays on the list\n"
    "  reset NAME       begin anew; the file is kept as NAME.cu.1, .2, ...\n"
    "  solution NAME    after passing, or when asked twice\n"
    "\n"
    "Your files are exercises/mine/NAME.cu. Write between // TODO and // END.\n"
    "A part of a NAME is enough if no other exercise has it: 02_w, warp_max.\n"
    "NO_COLOR=1 turns colours off. Exit status: 0 passed or done, 1 not passed,\n"
    "2 bad usage or file, 3 no GPU.\n";

static int show_usage(const char *command)
{
    printf(help, command);
    return LEARN_DONE;
}

/** Returns the command with this name. On failure, returns NULL with a one-line error. */
static const struct command *find_command(const char *word, const char *program, struct error *error)
{
    const struct command *similar = NULL;
    size_t least = strlen(word) / 3 + 1;

    for (size_t i = 1; i < sizeof commands / sizeof *commands; i++) {
        const size_t distance = edit_distance(word, strlen(word), commands[i].word);

        if (distance == 0)
            return &commands[i];
        if (distance < least) {
            least = distance;
            similar = &commands[i];
        }
    }
    error_set(error, "'%.40s' is no command; %s%s%s'%s --help' lists them", word, similar ? "is it " : "",
              similar ? similar->word : "", similar ? "? " : "", program);
    return NULL;
}

/**
 * Returns the value of `--flag VALUE` or `--flag=VALUE` at *at, and moves *at to the word with the value. Returns NULL
 * if the word is not the flag or if the flag has no value.
 */
static const char *flag_value(char **argv, int argc, int *at, const char *flag)
{
    const size_t length = strlen(flag);

    if (strncmp(argv[*at], flag, length) != 0)
        return NULL;
    if (argv[*at][length] == '=')
        return argv[*at] + length + 1;
    if (argv[*at][length] || *at + 1 == argc)
        return NULL;
    return argv[++*at];
}

/** Parses one word after the command. On failure, returns false with a one-line error. */
static bool parse_word(const struct command *command, int argc, char **argv, int *at, struct parsed_command *parsed,
                       struct error *error)
{
    const char *const word = argv[*at];
    const char *value;

    if (word[0] != '-') {
        if (command->name == NAME_NONE || parsed->exercise_name)
            return error_set(error, "%s: '%.40s' is one word too many", command->word, word);
        parsed->exercise_name = word;
        return true;
    }
    if (command->grades && strcmp(word, "--gpu") == 0)
        return parsed->grading.on_gpu = true;
    if (command->grades && strcmp(word, "--output") == 0)
        return parsed->grading.show_output = true;
    if (command->grades && strcmp(word, "--seed") == 0 && *at + 1 == argc)
        return error_set(error, "--seed: needs a number");
    value = command->grades ? flag_value(argv, argc, at, "--seed") : NULL;
    if (value) {
        int64_t seed = 0;

        parsed->grading.has_seed = parse_integer("seed", value, 0, INT64_MAX, &seed, error);
        parsed->grading.seed = (uint64_t)seed;
        return parsed->grading.has_seed;
    }
    return error_set(error, "%s: %.40s: no such argument; '%s --help' lists them", command->word, word, argv[0]);
}

/** Parses the command line. On failure, returns NULL with a one-line error. */
static const struct command *parse(int argc, char **argv, struct parsed_command *parsed, struct error *error)
{
    const struct command *const command = argc < 2 ? &commands[0] : find_command(argv[1], argv[0], error);

    for (int i = 2; command && i < argc; i++)
        if (!parse_word(command, argc, argv, &i, parsed, error))
            return NULL;
    if (command && command->name == NAME_NEEDED && !parsed->exercise_name) {
        error_set(error, "%s: which exercise? '%s list' shows them", command->word, argv[0]);
        return NULL;
    }
    return command;
}

/** Checks whether any word of the command line is `long_word` or `short_word`. */
static bool has_word(int argc, char **argv, const char *long_word, const char *short_word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], long_word) == 0 || strcmp(argv[i], short_word) == 0)
            return true;
    return false;
}

static int run_command(const struct command *command, const char *program, const struct parsed_command *parsed)
{
    struct learn_session learn = {
        .program_path = program, .terminal = terminal_for_stream(stdout), .lock_descriptor = -1};
    struct error error = {0};
    int code;

    if (!simt_order_variable_check(&error) || !course_enter_root(&learn.course_paths, &error) ||
        !interrupt_install_handlers(&error))
        return learn_print_error(&error);
    child_set_stop_condition(interrupt_last_signal);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe must not kill this program before it has removed its build */
    code = command->run(&learn, parsed);
    progress_free(&learn.progress);
    return code;
}

/** Reports an error if standard output could not be written. Returns the exit code. */
static int finish(int code)
{
    struct error error;

    return standard_output_flush(&error) ? code : learn_print_error(&error);
}

int main(int argc, char **argv)
{
    struct parsed_command parsed = {0};
    struct error error = {0};
    const struct command *command;
    int code;

    open_closed_standard_streams_ignore_sigxfsz();
    if (has_word(argc, argv, "--help", "-h"))
        return finish(show_usage(argv[0]));
    if (has_word(argc, argv, "--version", "-V")) {
        puts("MoE routing, kernel by kernel: 1.0");
        return finish(LEARN_DONE);
    }
    command = parse(argc, argv, &parsed, &error);
    if (!command)
        return learn_print_error(&error);
    code = finish(run_command(command, argv[0], &parsed));
    if (command->run != command_watch || interrupt_last_signal() != SIGINT)
        interrupt_reraise_last_signal();
    return code;
}
