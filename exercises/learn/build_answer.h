/**
 * @file build_answer.h
 * @brief Builds the program that grades an answer: the answer's text, compiled like a chapter's kernel, and the grader.
 *
 * The commands and flags come from build.ninja, which generates a C file with them. All paths are relative to the
 * repository's root, which must be the working directory. `ninja learn` must have built the graders.
 */
#ifndef BUILD_ANSWER_H
#define BUILD_ANSWER_H

#include "base/error.h"
#include "regions.h"

#include <stdbool.h>

/** The course's build folder, such as "build". */
extern const char answer_build_folder[];

/** The result of building an answer. */
enum build_result {
    BUILD_SUCCEEDED,
    BUILD_FAILED_TO_COMPILE, /**< it does not compile or link; `messages` gives the reason, in the learner's lines */
    BUILD_NOT_POSSIBLE,      /**< building failed, see `error`: no compiler, no grader, no disk space, no nvcc */
};

enum { BUILT_PATH_SIZE = 256 };

/** A built program and its private folder. */
struct built_answer {
    char private_folder[BUILT_PATH_SIZE]; /**< "" before it is made and after it is removed */
    char program_path[BUILT_PATH_SIZE];   /**< in the folder */
    char *messages; /**< the compiler's output, with warnings, possibly ""; NULL only before building */
};

/** An answer to build. */
struct answer_to_build {
    const char *exercise_name; /**< the exercise's name, which is its folder's name: "02_warp_maximum" */
    struct named_text text;    /**< the file with its regions filled in; text.path is the file's name in messages */
    bool for_gpu;              /**< compile with nvcc, for a GPU */
    bool colour_messages;      /**< colour the compiler's messages */
};

/**
 * Builds the answer in a new folder below build/exercises/, in about a second. The text is written unchanged, after a
 * #line directive with its path. The caller must call built_answer_remove(), whatever the result.
 */
enum build_result build_answer(const struct answer_to_build *answer, struct built_answer *built, struct error *error);

/** Removes the folder with its contents, and frees the messages. */
void built_answer_remove(struct built_answer *built);

#endif
