/**
 * @file test_fuzz.c
 * @brief Fuzzes the parsers of files and options with arbitrary bytes: no parser may crash, and results must be
 *        consistent with the input.
 *
 *     test_fuzz                             runs every input in tests/fuzz_inputs.txt; each takes a different path
 *     sh tests/fuzz.sh TARGET EXECUTIONS    runs new inputs from libFuzzer; compiles this file with -DFUZZ=TARGET
 *
 * Parsers that are static functions are made accessible by including their source files.
 */
#include "base/number.h"
#include "harness/align/load.c"
#include "harness/align/options.h"
#include "harness/gate/options.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define main   rewriter_main
#define source rewriter_source
#include "simt/rewriter/source.c"
#include "simt/rewriter/arguments.c"
#include "simt/rewriter/mark_blocks.c"
#include "simt/rewriter/position.c"
#include "simt/rewriter/launches.c"
#include "simt/rewriter/variables.c"
#include "simt/rewriter/declared_names.c"
#include "simt/rewriter/device_code.c"
#include "simt/rewriter/directives.c"
#include "simt/rewriter/host_code.c"
#include "simt/rewriter/arithmetic.c"
#include "simt/rewriter/pointer_casts.c"
#include "simt/rewriter/subscripts.c"
#include "simt/rewriter/rewrite_launch.c"
#undef main
#undef source

#define record verdict_record
#define split  split_record
#include "../exercises/learn/verdict.c"
#undef record
#undef split

#include "../exercises/learn/learner_file.h"
#include "../exercises/learn/progress.h"
#include "../exercises/learn/regions.h"

#define must(condition)                                                             \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

/** Returns a copy of the bytes as a null-terminated string, which the caller frees. */
static char *text_of(const uint8_t *bytes, size_t size)
{
    char *const text = malloc(size + 1);

    must(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

/** Writes the bytes to a file and returns its path; both are valid until the next call. */
static const char *file_of(const uint8_t *bytes, size_t size)
{
    static char path[32];
    static int file = -1;

    if (file < 0) {
        file = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    must(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size);
    return path;
}

static void must_be_a_line(const struct error *error)
{
    must(error->text[0] && error->exit_code != RUN_VERIFIED);
    for (const char *at = error->text; *at; at++)
        must(!iscntrl((unsigned char)*at));
}

/* --- .npy files --------------------------------------------------------------------------------------------------- */

static void try_npy(const uint8_t *bytes, size_t size)
{
    struct npy_array array;
    struct error error = {0};
    size_t data;

    if (!npy_read(file_of(bytes, size), &array, &error)) {
        must_be_a_line(&error);
        must(!array.data);
        return;
    }
    data = (size_t)npy_num_elements(&array) * dtype_size(array.dtype);
    must(data < size && memcmp(array.data, bytes + size - data, data) == 0);
    npy_free(&array);
}

/**
 * Parses the bytes as a .npy file. If the bytes begin like a header, prepends the magic string and the header's length,
 * because a random length would rarely be correct.
 */
static void npy(const uint8_t *bytes, size_t size)
{
    static uint8_t file[1 << 16] = "\x93NUMPY\1";
    const uint8_t *const end = size > 0 && bytes[0] == '{' ? memchr(bytes, '\n', size) : NULL;

    if (!end || size > sizeof file - 10) {
        try_npy(bytes, size);
        return;
    }
    file[8] = (uint8_t)(end + 1 - bytes);
    file[9] = (uint8_t)((end + 1 - bytes) >> 8);
    memcpy(file + 10, bytes, size);
    try_npy(file, size + 10);
}

/* --- options ------------------------------------------------------------------------------------------------------ */

enum { MAX_WORDS = 64 };

/** Checks whether the word is an option that prints a text and exits. */
static bool asks_for_help(const char *word)
{
    static const char *const words[] = {"--help", "--usage", "--version", "-?", "-V"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/** Splits a text into words at line ends; `words` has room for MAX_WORDS and a NULL. Returns the number of words. */
static int cut_into_lines(char *text, char **words)
{
    char *rest = text;
    int count = 1;

    words[0] = (char *)"program";
    while (rest && count < MAX_WORDS)
        words[count++] = strsep(&rest, "\n");
    words[count] = NULL;
    return count;
}

/** Splits a command into words in place, as a shell would with quotes and backslashes. Returns the number of words. */
static int cut_as_a_shell(char *text, char **words)
{
    int count = 0;

    while (*text && count < MAX_WORDS) {
        char *out = words[count++] = text;
        bool quoted = false, ended = false;

        for (; *text && !ended; text++) {
            if (*text == '\'')
                quoted = !quoted;
            else if (!quoted && *text == '\\')
                *out++ = *++text;
            else if (!quoted && *text == ' ')
                ended = true;
            else
                *out++ = *text;
        }
        must(!quoted);
        *out = '\0';
    }
    words[count] = NULL;
    return count;
}

/** Parses a command line; returns the command that repeats its run, which the caller frees, or NULL on an error. */
static char *command_of(bool align, int count, char **words)
{
    struct program program = {.path = words[0], .name = "program"};
    union {
        struct align_options align;
        struct gate_options gate;
    } options;

    if (!(align ? align_options_parse(&program, count, words, &options.align)
                : gate_options_parse(&program, count, words, &options.gate))) {
        must_be_a_line(&program.error);
        return NULL;
    }
    program.requested_options = *program.options;
    if (align)
        align_options_set_command(&options.align, &program);
    else
        gate_options_set_command(&options.gate, &program);
    must(program.command);
    return program.command;
}

/** Checks that the command that repeats an accepted run is itself accepted and that its own repeat command is equal. */
static void options(const uint8_t *bytes, size_t size)
{
    char *words[MAX_WORDS + 1], *const text = text_of(bytes, size);
    const bool align = size > 0 && bytes[0] == 'a';
    const int count = cut_into_lines(text, words);
    bool help = false;

    for (int i = 1; i < count; i++)
        help |= asks_for_help(words[i]);
    char *const first = help ? NULL : command_of(align, count - 1, words + 1);

    if (first) {
        char *const taken_apart = strdup(first);
        char *again[MAX_WORDS + 1];
        const int parts = cut_as_a_shell(taken_apart, again);
        char *const second = command_of(align, parts, again);

        must(second && strcmp(first, second) == 0);
        free(second);
        free(taken_apart);
    }
    free(first);
    free(text);
}

/* --- the rewriter ------------------------------------------------------------------------------------------------- */

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/**
 * An output stream that writes to memory. The stream is opened only once, because opening it takes longer than
 * rewriting an input.
 */
struct written {
    FILE *stream;
    char *text;
    size_t size;
};

static FILE *begin_to_write(struct written *written)
{
    if (!written->stream)
        written->stream = open_memstream(&written->text, &written->size);
    must(written->stream);
    rewind(written->stream);
    return written->stream;
}

static const char *end_of_writing(struct written *written)
{
    putc('\0', written->stream);
    must(fflush(written->stream) == 0 && written->text[written->size - 1] == '\0');
    return written->text;
}

/** Checks that the output has no more lines than the input, or that there is a one-line error. */
static void rewriter(const uint8_t *bytes, size_t size)
{
    static struct written output, error;
    struct rewriter_source input = {.path = "f.cu"};
    FILE *const in = fmemopen((void *)(size ? bytes : (const uint8_t *)" "), size ? size : 1, "r");
    FILE *const out = stdout, *const errors = stderr;

    must(in && read_source(&input, in));
    fclose(in);
    stdout = begin_to_write(&output);
    stderr = begin_to_write(&error);
    const bool good = strip_comments_and_literals(&input) && rewrite(&input);

    stdout = out;
    stderr = errors;
    const char *const written = end_of_writing(&output), *const said = end_of_writing(&error);

    if (good)
        must(!said[0] && count_lines(written) <= count_lines(input.text));
    else
        must(strncmp(said, "f.cu:", 5) == 0 && count_lines(said) == 1);
    free(input.text);
    free(input.code);
    free(input.insertions);
}

/* --- expert maps and counts --------------------------------------------------------------------------------------- */

/** Checks whether an array is a valid map: its local ids are 0, 1, ... in any order, each once; the rest are -1. */
static bool is_map(const struct npy_array *array, const struct align_problem *from)
{
    int64_t local = 0, largest = -1;

    for (int64_t i = 0; i < array->shape[0]; i++) {
        const int64_t id = align_load_id(from, array->data, i);

        if (id == -1)
            continue;
        for (int64_t j = 0; j < i; j++)
            if (align_load_id(from, array->data, j) == id)
                return false;
        if (id < 0)
            return false;
        largest = id > largest ? id : largest;
        local++;
    }
    return largest == local - 1;
}

static void try_map(const uint8_t *bytes, size_t size, bool wide)
{
    const size_t id = wide ? 8 : 4;
    struct npy_array array = {
        .dtype = wide ? DTYPE_I64 : DTYPE_I32, .ndim = 1, .shape = {size / id}, .data = text_of(bytes, size)};
    const struct align_problem from = {.wide_ids = wide};
    int32_t *const map = malloc(size + 1);
    struct error error = {0};

    must(map);
    if (align_convert_expert_map(&array, (int)array.shape[0], map, &error)) {
        must(is_map(&array, &from));
        for (int64_t i = 0; i < array.shape[0]; i++)
            must(map[i] == align_load_id(&from, array.data, i));
    } else {
        must(!is_map(&array, &from));
        must_be_a_line(&error);
    }
    free(map);
    npy_free(&array);
}

static void try_counts(const uint8_t *bytes, size_t size)
{
    char *const text = text_of(bytes, size);
    struct align_options requested = align_options_default();
    int64_t *counts = NULL, sum = 0;
    struct error error = {0};

    requested.counts_list = text;
    if (open_counts(&requested, &counts, &error)) {
        for (int e = 0; e < requested.problem.num_experts; e++)
            sum += counts[e];
        must(sum == requested.program.num_tokens && sum <= INT32_MAX && requested.problem.num_experts >= 1);
    } else {
        must_be_a_line(&error);
    }
    free(counts);
    free(text);
}

static void maps(const uint8_t *bytes, size_t size)
{
    if (size > 0 && bytes[0] % 4 < 2)
        try_map(bytes + 1, size - 1, bytes[0] % 4);
    else if (size > 0)
        try_counts(bytes + 1, size - 1);
}

/* --- records of the grader and the learner, and an exercise's regions --------------------------------------------- */

static void try_records(const uint8_t *bytes, size_t size)
{
    static struct verdict verdict;
    const struct child_output text = {(char *)bytes, size};
    struct records records;

    memset(&verdict, 0, sizeof verdict);
    records_read(&text, &verdict, &records);
    must(verdict.num_cases >= 0 && verdict.num_cases <= verdict.num_planned_cases &&
         verdict.num_planned_cases <= VERDICT_MAX_CASES);
    must(verdict.num_measurements >= 0 && verdict.num_measurements <= VERDICT_MAX_MEASUREMENTS);
    for (int i = 0; i < verdict.num_cases; i++)
        for (const char *at = verdict.cases[i].message; *at; at++)
            must(!iscntrl((unsigned char)*at));
}

static void try_progress(const uint8_t *bytes, size_t size)
{
    struct progress progress;
    struct error notice, error;

    must(progress_read(file_of(bytes, size), false, &progress, &notice, &error));
    must(!notice.text[0] || (progress.num_entries == 0 && !progress.resume_exercise_name[0]));
    for (size_t i = 0; i < progress.num_entries; i++)
        must(progress_find(&progress, progress.entries[i].name) == &progress.entries[i]);
    progress_free(&progress);
}

static void try_regions(const uint8_t *bytes, size_t size)
{
    char *const read = text_of(bytes, size), *filled = NULL;
    char *const second = strchr(read, '\f'); /* the answers begin here */
    struct error error = {0};
    struct regions regions;

    if (second)
        *second = '\0';

    const struct named_text exercise = {.path = "e.cu", .text = read, .size = strlen(read)};
    const struct named_text answers = {
        .path = "a.txt", .text = second ? second + 1 : "", .size = second ? strlen(second + 1) : 0};

    if (!regions_find(&exercise, &regions, &error)) {
        must_be_a_line(&error);
    } else {
        for (int i = 0; i < regions.num_regions; i++)
            must(regions.region[i].begin <= regions.region[i].end && regions.region[i].end <= exercise.size);
        must(regions_check_same_outside(&exercise, &exercise, &error));
        if (regions_fill(&exercise, &answers, &exercise, &filled, &error))
            must(filled);
        else
            must_be_a_line(&error);
    }
    free(filled);
    free(read);
}

static void records(const uint8_t *bytes, size_t size)
{
    static void (*const readers[])(const uint8_t *, size_t) = {try_records, try_progress, try_regions};

    if (size > 0)
        readers[bytes[0] % 3](bytes + 1, size - 1);
}

/* --- libFuzzer, or all kept inputs -------------------------------------------------------------------------------- */

const char kernel_source_sha256[] = "";

#ifdef FUZZ

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    FUZZ(bytes, size);
    return 0;
}

#else

#include <cmocka.h>

static const struct {
    const char *name;
    void (*take)(const uint8_t *bytes, size_t size);
} targets[] = {{"npy", npy}, {"options", options}, {"rewriter", rewriter}, {"maps", maps}, {"records", records}};

enum { NUM_TARGETS = sizeof targets / sizeof *targets };

/** Decodes base64 in place. Returns the size. */
static size_t decode(char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    size_t size = 0;
    int held = 0;

    for (const char *at = text; *at && strchr(digits, *at); at++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *at) - digits);
        held += 6;
        if (held >= 8)
            text[size++] = (char)(bits >> (held -= 8));
    }
    return size;
}

/** Runs every input of the file, whose lines are "TARGET BASE64". */
static void takes_every_input(void **state)
{
    FILE *const file = fopen("tests/fuzz_inputs.txt", "r");
    int taken[NUM_TARGETS] = {0};
    char *line = NULL;
    size_t room = 0;

    (void)state;
    assert_non_null(file);
    while (getline(&line, &room, file) > 0)
        for (int i = 0; i < NUM_TARGETS; i++) {
            char *const space = strchr(line, ' ');
            const size_t length = strlen(targets[i].name);

            if (space == line + length && strncmp(line, targets[i].name, length) == 0) {
                const size_t size = decode(space + 1);
                uint8_t *const bytes = malloc(size ? size : 1); /* so that a sanitizer detects an overrun */

                assert_non_null(bytes);
                memcpy(bytes, space + 1, size);
                targets[i].take(bytes, size);
                free(bytes);
                taken[i]++;
                break;
            }
        }
    free(line);
    fclose(file);
    for (int i = 0; i < NUM_TARGETS; i++)
        assert_true(taken[i] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_every_input)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
