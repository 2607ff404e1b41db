#include "harness/align/options.h"

#include "base/random.h"

/* 1, a warp and its neighbours 31 and 33, DeepSeek-V2's 160 and V3's 256, a block of threads, one more, two blocks. */
static const int expert_counts[] = {1, 2, 3, 8, 31, 32, 33, 64, 65, 128, 160, 256, 1000, 1024, 1025, 2048};
static const int block_sizes[] = {1, 3, 16, 64, 128};

/* Up to 5,000 ids, more and fewer than experts; 1,023 to 1,025 are around the ids that a block handles at a time. */
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
    NUM_PROBLEMS = ROUNDS * NUM_EXPERT_COUNTS * NUM_BLOCK_SIZES * ALIGN_DIST_COUNT
};

/** Makes problem `number`: every combination of experts, block size and distribution, 3 times; the rest is drawn. */
bool align_problem_to_try(int number, uint64_t seed, struct align_options *options)
{
    struct random random = random_seed(seed, (uint64_t)number);
    const uint32_t batch = random_below(&random, NUM_BATCHES);

    if (number >= NUM_PROBLEMS)
        return false;
    *options = align_options_default();
    options->problem.num_experts = expert_counts[number / ALIGN_DIST_COUNT / NUM_BLOCK_SIZES % NUM_EXPERT_COUNTS];
    options->problem.block_size = block_sizes[number / ALIGN_DIST_COUNT % NUM_BLOCK_SIZES];
    options->problem.wide_ids = random_below(&random, 2);
    options->problem.kernel = (enum align_kernel)random_below(&random, ALIGN_KERNEL_SMALL + 1);
    options->program.num_tokens = batches[batch].num_tokens;
    options->program.num_tokens_given = true;
    options->topk = batches[batch].topk;
    options->misalign = (int)random_below(&random, ALIGN_MISALIGNMENTS);
    options->source = ALIGN_SOURCE_GENERATED;
    options->dist = (enum align_dist)(number % ALIGN_DIST_COUNT);
    options->map = random_below(&random, 2) ? "random" : "none";
    options->program.check_all = true;
    options->program.seed = seed + (uint64_t)number;
    options->room = (enum align_room)random_below(&random, NUM_ALIGN_ROOMS);
    return true;
}
