/**
 * @file grade_answer.c
 * @brief Grades a text with answers, as the tests do: fills the exercise with it, builds, runs, judges.
 *
 *     grade_answer EXERCISE [ANSWERS.txt] [--seed S] [--gpu]
 *
 * EXERCISE is a folder's name. Without answers the exercise is graded as it comes. A region that the answers leave out is
 * taken from the exercise's solution.txt. The first line says how it went; exits with 0 for passed, 1 for refused, 2 if it
 * could not be tried (or does not compile), 3 without a GPU to try it on.
 */
#include "learn/build_answer.h"
#include "learn/regions.h"
#include "learn/verdict.h"

#include "text_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSED = 0, REFUSED = 1, CANNOT = 2, NO_DEVICE = 3, PATH_SIZE = 512 };

/** What is to be graded. */
struct request {
    const char *exercise; /**< its name */
    const char *answers;  /**< a file, or NULL */
    uint64_t seed;
    bool gpu;
};

static int cannot(const char *exercise, const char *reason)
{
    fprintf(stderr, "%s: %s\n", exercise, reason);
    return CANNOT;
}

static bool read_seed(const char *text, uint64_t *seed)
{
    char *end;

    errno = 0;
    *seed = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/** The last part of a folder's path. Cuts slashes at its end off. */
static const char *name_in(char *folder)
{
    for (size_t length = strlen(folder); length > 1 && folder[length - 1] == '/'; length--)
        folder[length - 1] = '\0';

    const char *const slash = strrchr(folder, '/');

    return slash ? slash + 1 : folder;
}

static bool read_arguments(int argc, char **argv, struct request *request)
{
    int words = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--gpu") == 0) {
            request->gpu = true;
        } else if (strcmp(argv[i], "--seed") == 0) {
            if (++i == argc || !read_seed(argv[i], &request->seed))
                return false;
        } else if (argv[i][0] == '-' || words == 2) {
            return false;
        } else if (words++ == 0) {
            request->exercise = name_in(argv[i]);
        } else {
            request->answers = argv[i];
        }
    }
    return words > 0;
}

/* --- the text ----------------------------------------------------------------------------------------------------- */

static bool read_text(const char *path, struct text *text, struct error *error)
{
    text->path = path;
    text->text = text_file_read(path, error);
    text->size = text->text ? strlen(text->text) : 0;
    return text->text != NULL;
}

/** The exercise with its regions filled, for the caller to free(); NULL with one line. */
static char *fill(const struct text *exercise, const char *answers_path, const char *solution_path, struct error *error)
{
    struct text answers = {0}, solution = {0};
    char *filled = NULL;

    if (read_text(answers_path, &answers, error) && read_text(solution_path, &solution, error))
        regions_fill(exercise, &answers, &solution, &filled, error);
    free((char *)answers.text);
    free((char *)solution.text);
    return filled;
}

/** What is to be compiled, for the caller to free(); NULL with one line. */
static char *make_text(const struct request *request, const char *exercise_path, struct error *error)
{
    char solution_path[PATH_SIZE];
    struct text exercise;
    char *filled;

    if (!read_text(exercise_path, &exercise, error) || !request->answers)
        return (char *)exercise.text;
    snprintf(solution_path, sizeof solution_path, "exercises/%s/solution.txt", request->exercise);
    filled = fill(&exercise, request->answers, solution_path, error);
    free((char *)exercise.text);
    return filled;
}

/* --- grading ------------------------------------------------------------------------------------------------------ */

static int report(const struct request *request, const struct verdict *verdict)
{
    const char *const exercise = request->exercise;

    if (verdict->no_device) {
        fprintf(stderr, "%s: no device: %s\n", exercise, verdict->reason);
        return NO_DEVICE;
    }
    if (verdict->passed) {
        printf("%s: passed: %d cases, seed %" PRIu64 ", %.2f s\n", exercise, verdict->num_cases, request->seed,
               verdict->seconds);
        return PASSED;
    }
    printf("%s: refused: %s%s%s\n", exercise, verdict->at_case, verdict->at_case[0] ? ": " : "", verdict->reason);
    printf("seed %" PRIu64 ", %.2f s\n", request->seed, verdict->seconds);
    return REFUSED;
}

static int run(const struct request *request, const struct built_answer *built)
{
    const struct graded_program graded = {
        .program = built->program,
        .seed = request->seed,
        .limits = {.memory_bytes = request->gpu ? SIZE_MAX : 0},
    };
    struct verdict verdict;
    struct error error;
    int code;

    if (!verdict_run(&graded, &verdict, &error))
        return cannot(request->exercise, error.text);
    code = report(request, &verdict);
    verdict_free(&verdict);
    return code;
}

static int build_and_run(const struct request *request, const char *path, const char *text)
{
    const struct answer answer = {
        .exercise = request->exercise,
        .text = {.path = path, .text = text, .size = strlen(text)},
        .gpu = request->gpu,
    };
    struct built_answer built;
    struct error error;
    int code = CANNOT;

    switch (build_answer(&answer, &built, &error)) {
    case BUILD_DONE:
        fputs(built.messages, stderr);
        code = run(request, &built);
        break;
    case BUILD_REFUSED:
        printf("%s: it does not compile\n%s", request->exercise, built.messages);
        break;
    case BUILD_IMPOSSIBLE:
        cannot(request->exercise, error.text);
        break;
    }
    built_answer_remove(&built);
    return code;
}

int main(int argc, char **argv)
{
    struct request request = {.seed = verdict_fresh_seed()};
    char path[PATH_SIZE];
    struct error error;
    int code;

    if (!read_arguments(argc, argv, &request)) {
        fprintf(stderr, "usage: %s EXERCISE [ANSWERS.txt] [--seed NUMBER] [--gpu]\n", argv[0]);
        return CANNOT;
    }
    snprintf(path, sizeof path, "exercises/%s/exercise.cu", request.exercise);

    char *const text = make_text(&request, path, &error);

    if (!text)
        return cannot(request.exercise, error.text);
    code = build_and_run(&request, path, text);
    free(text);
    return code;
}
