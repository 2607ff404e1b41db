/** @file align/options.h  An align program's command line. */
#ifndef ALIGN_OPTIONS_H
#define ALIGN_OPTIONS_H

#include "harness/align/align.h"
#include "harness/align/input.h"
#include "harness/core/program.h"

enum align_source { ALIGN_SOURCE_ROUTER, ALIGN_SOURCE_FILE, ALIGN_SOURCE_GENERATED, ALIGN_SOURCE_COUNTS };

/* So many 4-byte words are 16 bytes: where sorted_token_ids begins matters up to there. */
enum { ALIGN_MISALIGNMENTS = 4 };

/**
 * How much room the ids get: what the implementation allocates, what they need, or more than the implementation would
 * allocate.
 */
enum align_room { ALIGN_ROOM_BOUND, ALIGN_ROOM_EXACT, ALIGN_ROOM_SPARE, NUM_ALIGN_ROOMS };

/** What was asked for. Strings belong to argv. */
struct align_options {
    struct program_options program;
    struct align_problem problem; /**< its numel and, unless given, its capacity are settled by align_load() */
    int topk;
    bool num_experts_given;
    bool topk_given;
    bool ids_given;
    bool capacity_given;
    int misalign; /**< words that sorted_token_ids begins past a 16-byte boundary */
    enum align_source source;
    const char *ids_path; /**< ALIGN_SOURCE_FILE */
    enum align_dist dist; /**< ALIGN_SOURCE_GENERATED */
    const char *counts;   /**< ALIGN_SOURCE_COUNTS: a comma between two */
    const char *map;      /**< as given: "none", "random" or a file */
    enum align_room room; /**< what the capacity becomes once the ids are known */
};

/**
 * Parses the command line; --help and --version print and exit. Returns false with one line that names the argument,
 * what was given and what is allowed.
 */
bool align_options_parse(struct program *program, int argc, char **argv, struct align_options *options);

/** What an empty command line asks for: the real router's choices. */
struct align_options align_options_default(void);

/** "auto", "large", "small", in the order of the enum; NULL ends them. */
extern const char *const align_kernel_names[];

/** "bound", "exact", "spare", likewise. */
extern const char *const align_room_names[];

/** One word for where the ids come from: the distribution's name, "router", "file" or "counts". */
const char *align_source_name(const struct align_options *options);

/** Makes program->command the one that repeats this run, every choice spelled out. */
void align_options_command(const struct align_options *options, struct program *program);

/**
 * Problem number 0, 1, ..., as options with check_all: its kernel is the implementation's own choice where the
 * implementation does not take the one drawn. False: there is none of this number, it was the last before it.
 */
bool align_problem_to_try(int number, uint64_t seed, struct align_options *options);

#endif
