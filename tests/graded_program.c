/**
 * @file graded_program.c
 * @brief Several graded programs in one executable: `graded_program --records --seed S --only WHAT` behaves like the
 *        graded program WHAT.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void record(const char *text)
{
    dprintf(3, "%s\n", text);
}

static void begin(void)
{
    record("plan\t1");
    record("try\tonly");
}

static void end(void)
{
    record("case\tonly\tpass\t");
    record("done");
}

static void pass(void)
{
    begin();
    end();
}

/** Passes four cases that together take longer than the time limit of one case. */
static void slow(void)
{
    enum { CASES = 4 };

    record("plan\t4");
    for (int i = 0; i < CASES; i++) {
        record("try\tone_of_four");
        usleep(600000);
        record("case\tone_of_four\tpass\t");
    }
    record("done");
}

static void hang(void)
{
    begin();
    for (;;)
        pause();
}

/**
 * Starts a child process that outlives this process and keeps standard output open, and prints the child's process id.
 */
static void stay(void)
{
    const pid_t child = fork();

    if (child == 0)
        for (;;)
            pause();
    printf("%d\n", (int)child);
    fflush(stdout);
    pass();
}

/*
 * An amount far above every limit. Without limits, a program that uses this much of a resource would pass and do no
 * harm.
 */
enum { FAR_TOO_MUCH = 1 << 20 };

static void allocate(void)
{
    enum { MEBIBYTE = 1 << 20, MOST = 1024 };

    begin();
    for (int i = 0; i < MOST; i++) {
        char *const memory = malloc(MEBIBYTE);

        memset(memory, 1, MEBIBYTE); /* like a program that never checks for NULL */
    }
    end();
}

static void flood_output(void)
{
    begin();
    for (int i = 0; i < FAR_TOO_MUCH; i++)
        puts("here I am");
    end();
}

static void die(void)
{
    begin();
    raise(SIGSEGV);
}

static void no_done(void)
{
    begin();
    record("case\tonly\tpass\t");
}

static void half_a_record(void)
{
    begin();
    record("case\tonly\tpass\t");
    dprintf(3, "done");
}

static void too_few(void)
{
    record("plan\t2");
    record("try\tonly");
    end();
}

static void second_fails(void)
{
    record("plan\t3");
    record("try\tfirst");
    record("measure\tshuffles\t10");
    record("case\tfirst\tpass\t");
    record("try\tsecond");
    record("case\tsecond\tfail\ttoken 3: \033[31mno");
    record("try\tthird");
    record("case\tthird\tfault\tx.cu:4: race");
    record("done");
    printf("\033[2Jcleared\n");
    exit(1);
}

static void fail_and_die(void)
{
    record("plan\t2");
    record("try\tfirst");
    record("case\tfirst\tfail\ttoken 3");
    record("try\tsecond");
    raise(SIGSEGV);
}

static void exit_five(void)
{
    pass();
    exit(5);
}

static void exit_at_once(void)
{
    begin();
    exit(0);
}

static void no_device(void)
{
    fprintf(stderr, "no GPU here\n");
    exit(3);
}

static void no_device_halfway(void)
{
    begin();
    exit(3);
}

static void nothing(void)
{
}

/** Passes if standard input, the limits and the process group are set as expected. */
static void look_around(void)
{
    const char *const limit = getenv("SIMT_EVENT_LIMIT");
    char byte;
    const bool good = read(0, &byte, 1) == 0 && limit && strcmp(limit, "12345") == 0 && getpgrp() == getpid();

    begin();
    if (good)
        end();
}

static void say_seed(const char *seed)
{
    begin();
    dprintf(3, "case\tonly\tfail\tseed %s\n", seed);
    record("done");
    exit(1);
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {
    {"pass", pass},
    {"hang", hang},
    {"slow", slow},
    {"stay", stay},
    {"allocate", allocate},
    {"flood_output", flood_output},
    {"die", die},
    {"no_done", no_done},
    {"half_a_record", half_a_record},
    {"too_few", too_few},
    {"second_fails", second_fails},
    {"fail_and_die", fail_and_die},
    {"exit_five", exit_five},
    {"exit_at_once", exit_at_once},
    {"no_device", no_device},
    {"no_device_halfway", no_device_halfway},
    {"nothing", nothing},
    {"look_around", look_around},
};

int main(int argc, char **argv)
{
    if (argc != 6 || strcmp(argv[1], "--records") != 0 || strcmp(argv[2], "--seed") != 0 ||
        strcmp(argv[4], "--only") != 0)
        return 2;
    if (strcmp(argv[5], "say_seed") == 0)
        say_seed(argv[3]);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].name, argv[5]) == 0) {
            acts[i].act();
            return 0;
        }
    return 2;
}
