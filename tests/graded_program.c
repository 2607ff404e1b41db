/**
 * @file graded_program.c
 * @brief Programs that a verdict must see through, in one: `graded_program --seed S --only WHAT` does WHAT.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char nonce[64];

static void read_nonce(void)
{
    size_t length = 0;

    while (length < sizeof nonce - 1 && read(4, nonce + length, 1) == 1 && nonce[length] != '\n')
        length++;
    nonce[length] = '\0';
}

static void record(const char *text)
{
    dprintf(3, "%s\t%s\n", nonce, text);
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

/** Needs longer than one case may. */
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

static void hang_closed(void)
{
    begin();
    for (int i = 0; i < 5; i++)
        close(i);
    for (;;)
        pause();
}

/** Leaves a process that keeps its output, and says which. */
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

/** The same, but nobody can tell by the output. */
static void stay_closed(void)
{
    int ready[2];
    char byte;

    if (pipe(ready) != 0)
        return;

    const pid_t child = fork();

    if (child == 0) {
        for (int i = 0; i < 5; i++)
            close(i);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    if (read(ready[0], &byte, 1) != 1)
        return;
    printf("%d\n", (int)child);
    fflush(stdout);
    pass();
}

static void fork_in_a_case(void)
{
    begin();
    if (fork() < 0)
        return;
    end();
}

/* These would pass, were they let: each does far more than its limit, and no harm where there is none. */
enum { FAR_TOO_MUCH = 1 << 20 };

static void allocate(void)
{
    enum { MEBIBYTE = 1 << 20, MOST = 1024 };

    begin();
    for (int i = 0; i < MOST; i++) {
        char *const memory = malloc(MEBIBYTE);

        memset(memory, 1, MEBIBYTE); /* as those do who never look */
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

static void flood_records(void)
{
    begin();
    for (int i = 0; i < FAR_TOO_MUCH / 16; i++)
        record("measure\tx\t1");
    end();
}

static void flood_foreign(void)
{
    begin();
    for (int i = 0; i < FAR_TOO_MUCH / 4; i++)
        dprintf(3, "x");
    end();
}

static void die(void)
{
    begin();
    raise(SIGSEGV);
}

static void write_a_large_file(void)
{
    const char *const folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    static char block[1 << 16];
    char path[256];

    begin();
    snprintf(path, sizeof path, "%s/graded_program.XXXXXX", folder);

    const int file = mkstemp(path);

    unlink(path);
    for (size_t i = 0; i < FAR_TOO_MUCH / sizeof block * 4; i++)
        if (write(file, block, sizeof block) < 0)
            break;
    end();
}

static void wrong_nonce(void)
{
    memset(nonce, 'a', strlen(nonce));
    pass();
}

static void guessed_nonce(void)
{
    begin();
    dprintf(3, "-\tcase\tonly\tpass\t\n-\tdone\n");
}

static void foreign_line(void)
{
    begin();
    dprintf(3, "hello\n");
    end();
}

static void after_done(void)
{
    pass();
    record("case\tonly\tpass\t");
}

static void done_twice(void)
{
    pass();
    record("done");
}

static void try_twice(void)
{
    begin();
    record("try\tonly");
    end();
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
    dprintf(3, "%s\tdone", nonce);
}

static void too_few(void)
{
    record("plan\t2");
    record("try\tonly");
    end();
}

static void same_twice(void)
{
    begin();
    record("case\tonly\tpass\t");
    end();
}

static void another_case(void)
{
    begin();
    record("case\tother\tpass\t");
    record("done");
}

static void unknown_result(void)
{
    begin();
    record("case\tonly\tgreat\t");
    record("done");
}

static void no_cases(void)
{
    record("plan\t0");
    record("done");
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

/** Passes if descriptors, standard input and limits are as they should be. */
static void look_around(void)
{
    const char *const limit = getenv("SIMT_EVENT_LIMIT");
    char byte;
    bool good = read(0, &byte, 1) == 0 && limit && strcmp(limit, "12345") == 0 && getpgrp() == getpid();

    for (int i = 5; i < 256; i++)
        good &= fcntl(i, F_GETFD) < 0;
    begin();
    if (good)
        end();
}

static void say_seed(const char *seed)
{
    begin();
    dprintf(3, "%s\tcase\tonly\tfail\tseed %s\n", nonce, seed);
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
    {"hang_closed", hang_closed},
    {"stay", stay},
    {"stay_closed", stay_closed},
    {"fork_in_a_case", fork_in_a_case},
    {"allocate", allocate},
    {"flood_output", flood_output},
    {"flood_records", flood_records},
    {"flood_foreign", flood_foreign},
    {"die", die},
    {"write_a_large_file", write_a_large_file},
    {"wrong_nonce", wrong_nonce},
    {"guessed_nonce", guessed_nonce},
    {"foreign_line", foreign_line},
    {"after_done", after_done},
    {"done_twice", done_twice},
    {"try_twice", try_twice},
    {"no_done", no_done},
    {"half_a_record", half_a_record},
    {"too_few", too_few},
    {"same_twice", same_twice},
    {"another_case", another_case},
    {"unknown_result", unknown_result},
    {"no_cases", no_cases},
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
    if (argc != 5 || strcmp(argv[1], "--seed") != 0 || strcmp(argv[3], "--only") != 0)
        return 2;
    read_nonce();
    if (strcmp(argv[4], "say_seed") == 0)
        say_seed(argv[2]);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].name, argv[4]) == 0) {
            acts[i].act();
            return 0;
        }
    return 2;
}
