#include "harness/align/grid.h"

#include "harness/align/load.h"
#include "harness/align/problem.h"
#include "harness/align/run.h"
#include "harness/core/random.h"

#include <string.h>

/* One, a warp and one to either side, DeepSeek-V2's 160 and V3's 256, a block of threads and one more, two blocks. */
static const int expert_counts[] = {1, 2, 3, 8, 31, 32, 33, 64, 65, 128, 160, 256, 1000, 1024, 1025, 2048};
static const int block_sizes[] = {1, 3, 16, 64, 128};

/* Up to 5,000 ids, more and fewer than experts; 1,023 to 1,025 are about what a block of threads takes at a time. */
static const struct {
    int64_t num_tokens;
    int topk;
} batches[] = {{0, 8},  {1, 1},   {1, 7},   {2, 8},   {5, 6},   {31, 1},  {33, 2},
               {64, 4}, {129, 8}, {341, 3}, {128, 8}, {205, 5}, {512, 8}, {625, 8}};

enum {
    NUM_EXPERT_COUNTS = sizeof expert_counts / sizeof *expert_counts,
    NUM_BLOCK_SIZES = sizeof block_sizes / sizeof *block_sizes,
    NUM_BATCHES = sizeof batches / sizeof *batches,
    ROUNDS = 3,
};

/** How much room the ids get. */
enum room { ROOM_BOUND, ROOM_EXACT, ROOM_SPARE, NUM_ROOMS };

enum { SPARE_BLOCKS = 5 };

/** Every combination of these is one problem; all the rest is drawn from its number. */
struct cell {
    int experts, block_size, dist, round;
};

static bool next_cell(struct cell *cell)
{
    if (++cell->dist < ALIGN_DIST_COUNT)
        return true;
    cell->dist = 0;
    if (++cell->block_size < NUM_BLOCK_SIZES)
        return true;
    cell->block_size = 0;
    if (++cell->experts < NUM_EXPERT_COUNTS)
        return true;
    cell->experts = 0;
    return ++cell->round < ROUNDS;
}

/** The cell's problem. `room` gets what its capacity is to be, once its ids are known. */
static struct align_options options_of(const struct cell *cell, int number, uint64_t seed, enum room *room)
{
    struct random random = random_start(seed, (uint64_t)number);
    const uint32_t batch = random_below(&random, NUM_BATCHES);
    struct align_options options = align_options_default();

    options.problem.num_experts = expert_counts[cell->experts];
    options.problem.block_size = block_sizes[cell->block_size];
    options.problem.wide_ids = random_below(&random, 2);
    options.problem.kernel = (enum align_kernel)random_below(&random, ALIGN_KERNEL_SMALL + 1);
    options.num_tokens = batches[batch].num_tokens;
    options.num_tokens_given = true;
    options.topk = batches[batch].topk;
    options.offset = (int)random_below(&random, ALIGN_OFFSETS);
    options.source = ALIGN_SOURCE_GENERATED;
    options.dist = (enum align_dist)cell->dist;
    options.map = random_below(&random, 2) ? ALIGN_MAP_RANDOM : ALIGN_MAP_NONE;
    options.map_path = options.map == ALIGN_MAP_RANDOM ? "random" : "none";
    options.program.seed = seed + (uint64_t)number;
    *room = (enum room)random_below(&random, NUM_ROOMS);
    return options;
}

/** Makes the capacity what these ids need, or more than the chapter would allocate. */
static void give_room(enum room room, struct align_options *options, const struct align_groups *groups)
{
    struct align_problem *problem = &options->problem;

    if (room == ROOM_EXACT)
        problem->capacity = align_required_capacity(problem, groups);
    else if (room == ROOM_SPARE)
        problem->capacity += SPARE_BLOCKS * (int64_t)problem->block_size;
    options->capacity_given = room != ROOM_BOUND;
}

static enum run_result run_cell(const struct align_chapter *chapter, struct align_options *options, enum room room,
                                struct error *error)
{
    struct align_operands operands;
    struct align_output output;
    enum run_result result = align_load(options, chapter, &operands, error);

    if (result != RUN_READY)
        return result;
    give_room(room, options, &operands.groups);
    if (align_output_allocate(&options->problem, &output, error)) {
        result = align_run(&options->problem, &chapter->step, options->offset, &operands.input, &output, error);
        align_output_free(&output);
    } else {
        result = RUN_NO_DEVICE;
    }
    align_operands_free(&operands);
    return result;
}

/** Leaves the choice of kernel to a step that does not support the one drawn. False: it does not support the problem. */
static bool find_kernel(const struct align_step *step, struct align_options *options)
{
    struct align_problem *problem = &options->problem;

    problem->numel = options->num_tokens * options->topk;
    problem->capacity = step->capacity(problem);
    if (!step->unsupported_reason || !step->unsupported_reason(problem))
        return true;
    problem->kernel = ALIGN_KERNEL_AUTO;
    return !step->unsupported_reason(problem);
}

enum run_result align_grid(const struct align_chapter *chapter, const struct align_options *asked, const char *program,
                           FILE *stream, struct error *error)
{
    struct cell cell = {0};
    int number = 0, verified = 0, unsupported = 0;

    do {
        enum room room;
        struct align_options options = options_of(&cell, number++, asked->program.seed, &room);
        enum run_result result;

        if (!find_kernel(&chapter->step, &options)) {
            unsupported++;
            continue;
        }
        result = run_cell(chapter, &options, room, error);
        if (result != RUN_VERIFIED) {
            char command[PROGRAM_COMMAND_SIZE];
            const struct error reason = *error;

            align_options_command(&options, program, command, sizeof command);
            error_set(error, "%s (repeat it with: %s)", reason.text, command);
            return result;
        }
        verified++;
    } while (next_cell(&cell));
    fprintf(stream, "%s: %d problems verified, %d not supported\n", chapter->step.name, verified, unsupported);
    return RUN_VERIFIED;
}
