/**
 * @file grade_answer.c
 * @brief Grades answers, for the tests: fills each answer into the exercise, builds and runs the program, and judges
 *        the run.
 *
 *     grade_answer EXERCISE [ANSWERS.txt] [--only NAME] [--seed S]... [--gpu]
 *
 * EXERCISE is the name of the exercise's folder. Without ANSWERS.txt, the exercise is graded unsolved. Regions that the
 * answers omit are taken from the exercise's solution.txt. A file may hold several answers, each after a line
 * `=== NAME`, from which the answer's lines are numbered. In such a file, an answer without a region is an edit of the
 * solution: blocks of lines, separated by blank lines, in which ' ' marks an unchanged line, '-' a removed line and '+'
 * an added line. Line numbers then refer to the edited solution.
 *
 * Prints a line for each answer and seed; the compiler's messages go to standard error. Exits with 0 if all answers
 * passed, 1 if one was rejected, 2 if one did not compile or could not be run, and 3 if there is no GPU.
 */
#include "learn/build_answer.h"
#include "learn/exercise_list.h"
#include "learn/learner_file.h"
#include "learn/regions.h"
#include "learn/verdict.h"

#include "base/standard_output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PASSED = 0, REFUSED = 1, CANNOT = 2, NO_DEVICE = 3, PATH_SIZE = 512, MAX_SEEDS = 8 };

/** The exercise, the answer and the options of one grading. */
struct grading_request {
    const char *exercise; /**< the exercise's name */
    const char *answers;  /**< the file of answers, or NULL */
    const char *only;     /**< the name of the only answer to grade, or NULL */
    uint64_t seeds[MAX_SEEDS];
    int num_seeds;
    bool gpu;
};

/** The texts of exercise.cu and of solution.txt, for the regions that answers omit. `text` is NULL until read. */
struct texts_of_exercise {
    char exercise_path[PATH_SIZE], solution_path[PATH_SIZE];
    struct named_text exercise, solution;
};

static int worse(int code, int other)
{
    return code > other ? code : other;
}

static int cannot(const char *name, const char *reason)
{
    fprintf(stderr, "%s: %s\n", name, reason);
    return CANNOT;
}

/* --- the command line --------------------------------------------------------------------------------------------- */

static bool read_seed(const char *text, struct grading_request *request)
{
    uint64_t seed;
    char *end;

    errno = 0;
    seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || request->num_seeds == MAX_SEEDS)
        return false;
    request->seeds[request->num_seeds++] = seed;
    return true;
}

/** Returns the last part of a folder's path. Removes slashes at the path's end. */
static const char *name_in(char *folder)
{
    for (size_t length = strlen(folder); length > 1 && folder[length - 1] == '/'; length--)
        folder[length - 1] = '\0';

    const char *const slash = strrchr(folder, '/');

    return slash ? slash + 1 : folder;
}

static bool read_arguments(int argc, char **argv, struct grading_request *request)
{
    int words = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--gpu") == 0) {
            request->gpu = true;
        } else if (strcmp(argv[i], "--seed") == 0) {
            if (++i == argc || !read_seed(argv[i], request))
                return false;
        } else if (strcmp(argv[i], "--only") == 0) {
            if (++i == argc)
                return false;
            request->only = argv[i];
        } else if (argv[i][0] == '-' || words == 2) {
            return false;
        } else if (words++ == 0) {
            request->exercise = name_in(argv[i]);
        } else {
            request->answers = argv[i];
        }
    }
    if (request->num_seeds == 0)
        request->seeds[request->num_seeds++] = verdict_fresh_seed();
    return words > 0;
}

/* --- one answer --------------------------------------------------------------------------------------------------- */

static int report(const char *name, uint64_t seed, const struct verdict *verdict)
{
    if (verdict->has_no_device) {
        fprintf(stderr, "%s: no device: %s\n", name, verdict->reason);
        return NO_DEVICE;
    }
    if (verdict->has_passed)
        printf("%s: passed: %d cases", name, verdict->num_cases);
    else
        printf("%s: refused: %s%s%s", name, verdict->reason_case_name, verdict->reason_case_name[0] ? ": " : "",
               verdict->reason);
    printf(" [seed %" PRIu64 ", %.2f s]\n", seed, verdict->seconds);
    return verdict->has_passed ? PASSED : REFUSED;
}

static int run(const struct grading_request *request, const char *name, uint64_t seed, const char *program)
{
    const struct program_to_judge graded = {
        .path = program,
        .seed = seed,
        .stop_after_failure = true,
        .limits = {.memory_bytes = request->gpu ? SIZE_MAX : 0},
    };
    struct verdict verdict;
    struct error error;
    int code;

    if (!verdict_run(&graded, &verdict, &error))
        return cannot(name, error.text);
    code = report(name, seed, &verdict);
    verdict_free(&verdict);
    return code;
}

/** Builds an exercise with its regions filled in and runs it with each seed. */
static int build_and_run(const struct grading_request *request, const char *name, const struct named_text *text)
{
    const struct answer_to_build answer = {.exercise_name = request->exercise, .text = *text, .for_gpu = request->gpu};
    struct built_answer built;
    struct error error;
    int code = PASSED;

    switch (build_answer(&answer, &built, &error)) {
    case BUILD_SUCCEEDED:
        fputs(built.messages, stderr);
        for (int i = 0; i < request->num_seeds; i++)
            code = worse(code, run(request, name, request->seeds[i], built.program_path));
        break;
    case BUILD_FAILED_TO_COMPILE:
        printf("%s: it does not compile\n", name);
        fputs(built.messages, stderr);
        code = CANNOT;
        break;
    case BUILD_NOT_POSSIBLE:
        code = cannot(name, error.text);
        break;
    }
    built_answer_remove(&built);
    return code;
}

static int grade(const struct grading_request *request, const struct texts_of_exercise *texts, const char *name,
                 const struct named_text *answers)
{
    struct error error;
    char *filled;
    int code;

    if (!regions_fill(&texts->exercise, answers, &texts->solution, &filled, &error))
        return cannot(name, error.text);

    const struct named_text text = {.path = texts->exercise_path, .text = filled, .size = strlen(filled)};

    code = build_and_run(request, name, &text);
    free(filled);
    return code;
}

/* --- edits -------------------------------------------------------------------------------------------------------- */

/** Returns the beginning of the next line, or `end` after the last line. */
static const char *line_after(const char *line, const char *end)
{
    const char *const newline = memchr(line, '\n', (size_t)(end - line));

    return newline ? newline + 1 : end;
}

/** Checks whether an answer is an edit, that is, has no region. */
static bool is_edit(const struct named_text *answers)
{
    const char *const end = answers->text + answers->size;

    for (const char *line = answers->text; line < end; line = line_after(line, end))
        if (strncmp(line, "// TODO ", 8) == 0)
            return false;
    return true;
}

/**
 * Returns the lines of a block that have one of the two marks, without the marks; the caller frees them. Returns NULL
 * if out of memory.
 */
static char *lines_marked(const char *block, const char *end, const char *marks)
{
    char *const lines = malloc((size_t)(end - block) + 1);
    size_t size = 0;

    for (const char *line = block, *next; lines && line < end; line = next) {
        next = line_after(line, end);
        if (*line != marks[0] && *line != marks[1])
            continue;
        memcpy(lines + size, line + 1, (size_t)(next - line) - 1);
        size += (size_t)(next - line) - 1;
    }
    if (lines)
        lines[size] = '\0';
    return lines;
}

/**
 * Finds complete lines that occur exactly once in a text. Returns NULL if they do not occur or occur more than once.
 */
static const char *find_once(const char *text, const char *lines)
{
    const char *const end = text + strlen(text), *found = NULL;

    for (const char *line = text; *lines && line < end; line = line_after(line, end)) {
        if (strncmp(line, lines, strlen(lines)) != 0)
            continue;
        if (found)
            return NULL;
        found = line;
    }
    return found;
}

/** Replaces a block's old lines in the text with its new lines. */
static bool apply_block(char **text, const char *block, const char *end, const char *path, struct error *error)
{
    char *const before = lines_marked(block, end, " -"), *const after = lines_marked(block, end, " +");
    const char *const at = before && after ? find_once(*text, before) : NULL;
    char *edited = NULL;

    if (!before || !after)
        error_set(error, "out of memory");
    else if (!at)
        error_set(error, "%s: the solution does not have these lines once: %.*s", path, (int)strcspn(before, "\n"),
                  before);
    else if (asprintf(&edited, "%.*s%s%s", (int)(at - *text), *text, after, at + strlen(before)) < 0)
        edited = NULL, error_set(error, "out of memory");
    free(before);
    free(after);
    if (!edited)
        return false;
    free(*text);
    *text = edited;
    return true;
}

/** Applies an edit to the solution. The caller always frees *edited. Returns false with a one-line error on failure. */
static bool apply_edit(const char *solution, const struct named_text *edit, char **edited, struct error *error)
{
    const char *const end = edit->text + edit->size;
    bool good = (*edited = strdup(solution)) != NULL || error_set(error, "out of memory");
    int blocks = 0;

    for (const char *line = edit->text, *next; good && line < end; line = next) {
        next = line_after(line, end);
        if (*line == '\n' || strncmp(line, "//", 2) == 0)
            continue;
        if (!strchr(" -+", *line))
            return error_set(error, "%s: this line is no part of an edit: %.*s", edit->path, (int)strcspn(line, "\n"),
                             line);
        while (next < end && strchr(" -+", *next))
            next = line_after(next, end);
        good = apply_block(edited, line, next, edit->path, error);
        blocks++;
    }
    return good && (blocks > 0 || error_set(error, "%s: there is neither a region nor an edit", edit->path));
}

static int grade_edit(const struct grading_request *request, const struct texts_of_exercise *texts, const char *what,
                      const char *name, const struct named_text *edit)
{
    char path[PATH_SIZE + REGION_NAME_SIZE], *edited = NULL;
    struct error error;
    int code;

    snprintf(path, sizeof path, "%s:%s", texts->solution_path, what);
    if (apply_edit(texts->solution.text, edit, &edited, &error))
        code = grade(request, texts, name, &(struct named_text){.path = path, .text = edited, .size = strlen(edited)});
    else
        code = cannot(name, error.text);
    free(edited);
    return code;
}

/* --- several answers ---------------------------------------------------------------------------------------------- */

static const char separator[] = "=== ";

/** Returns the first line, at or after `text`, that begins an answer, or NULL if there is none. */
static const char *find_separator(const char *text)
{
    while (text && strncmp(text, separator, strlen(separator)) != 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text;
}

/** Grades the answer from a line `=== NAME` up to `end`, unless --only names another answer. */
static int grade_section(const struct grading_request *request, const struct texts_of_exercise *texts,
                         const char *begin, const char *end, bool *graded)
{
    const char *const line_end = begin + strcspn(begin, "\n");
    char what[REGION_NAME_SIZE], name[PATH_SIZE], path[PATH_SIZE];

    snprintf(what, sizeof what, "%.*s", (int)(line_end - begin) - (int)strlen(separator), begin + strlen(separator));
    if (request->only && strcmp(request->only, what) != 0)
        return PASSED;
    *graded = true;
    snprintf(name, sizeof name, "%s: %s", request->exercise, what);
    snprintf(path, sizeof path, "%s:%s", request->answers, what);

    const char *const text = *line_end ? line_end + 1 : line_end;
    const struct named_text answers = {.path = path, .text = text, .size = (size_t)(end - text)};

    return is_edit(&answers) ? grade_edit(request, texts, what, name, &answers) : grade(request, texts, name, &answers);
}

/** Grades all answers in a file. */
static int grade_answers(const struct grading_request *request, const struct texts_of_exercise *texts, const char *text)
{
    const char *begin = find_separator(text);
    int code = PASSED;
    bool graded = false;

    if (!begin && !request->only)
        return grade(request, texts, request->exercise,
                     &(struct named_text){.path = request->answers, .text = text, .size = strlen(text)});
    if (begin && begin != text)
        return cannot(request->answers, "there is something in front of the first line '=== NAME'");
    for (const char *end; begin; begin = end) {
        end = find_separator(begin + 1);
        code = worse(code, grade_section(request, texts, begin, end ? end : begin + strlen(begin), &graded));
    }
    return graded ? code : cannot(request->answers, "it has no answer of that name");
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static bool read_text(const char *path, struct named_text *text, struct error *error)
{
    char *read;

    if (!text_file_read(path, &read, error))
        return false;
    *text = (struct named_text){.path = path, .text = read, .size = strlen(read)};
    return true;
}

/** Returns whether a file or folder exists; if not, sets the error to its path and the reason. */
static bool exists(const char *path, struct error *error)
{
    return access(path, F_OK) == 0 || error_set(error, "%s: %s", path, strerror(errno));
}

/** Returns whether the exercise has a folder; if not, the error lists the exercises with the nearest names. */
static bool has_folder(const char *name, struct error *error)
{
    char folder[PATH_SIZE];
    const struct exercise *nearest;

    snprintf(folder, sizeof folder, "exercises/%s", name);
    if (access(folder, F_OK) == 0)
        return true;
    nearest = exercise_find(name, error);
    return nearest && error_set(error, "no exercise is called '%s'; the nearest: %s", name, nearest->name);
}

static int grade_request(const struct grading_request *request, struct texts_of_exercise *texts)
{
    struct named_text answers = {0};
    struct error error;
    int code;

    if (!has_folder(request->exercise, &error))
        return cannot("grade_answer", error.text);
    if (!read_text(texts->exercise_path, &texts->exercise, &error))
        return cannot(request->exercise, error.text);
    if (!request->answers)
        return build_and_run(request, request->exercise, &texts->exercise);
    if (!exists(request->answers, &error) || !read_text(texts->solution_path, &texts->solution, &error) ||
        !read_text(request->answers, &answers, &error))
        return cannot(request->exercise, error.text);
    code = grade_answers(request, texts, answers.text);
    free((char *)answers.text);
    return code;
}

int main(int argc, char **argv)
{
    struct grading_request request = {.exercise = NULL};
    struct texts_of_exercise texts = {.exercise.text = NULL};
    struct error error;
    int code;

    open_closed_standard_streams_ignore_sigxfsz();

    if (!read_arguments(argc, argv, &request)) {
        fprintf(stderr, "usage: %s EXERCISE [ANSWERS.txt] [--only NAME] [--seed NUMBER]... [--gpu]\n", argv[0]);
        return CANNOT;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(texts.exercise_path, PATH_SIZE, "exercises/%s/exercise.cu", request.exercise);
    snprintf(texts.solution_path, PATH_SIZE, "exercises/%s/solution.txt", request.exercise);
    code = grade_request(&request, &texts);
    free((char *)texts.exercise.text);
    free((char *)texts.solution.text);
    return standard_output_flush(&error) ? code : cannot(request.exercise, error.text);
}
