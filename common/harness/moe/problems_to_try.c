#include "harness/moe/options.h"

#include "base/random.h"

#define SHAPE(tokens, hidden, intermediate, experts, chosen)                                                    \
    {                                                                                                           \
        .num_tokens = tokens, .hidden_size = hidden, .intermediate_size = intermediate, .num_experts = experts, \
        .topk = chosen                                                                                          \
    }

/* Shapes for tensor cores, in multiples of 64, then shapes that no tile divides, and the smallest shape. */
static const struct moe_problem shapes[] = {
    SHAPE(5, 128, 64, 8, 2),   SHAPE(9, 64, 128, 4, 3),   SHAPE(11, 192, 64, 16, 4), SHAPE(1, 256, 128, 8, 8),
    SHAPE(64, 64, 64, 2, 1),   SHAPE(0, 64, 64, 4, 2),    SHAPE(130, 64, 64, 3, 1),  SHAPE(7, 65, 63, 5, 2),
    SHAPE(19, 33, 130, 6, 3),  SHAPE(3, 1, 1, 1, 1),      SHAPE(9, 100, 24, 40, 6),  SHAPE(70, 31, 17, 1, 2),
    SHAPE(5, 704, 64, 8, 2),  /* six steps of 128: the ring of three is filled again, the last time where results go */
    SHAPE(200, 64, 64, 3, 1), /* in LARGE_BLOCKS: full, partial and empty blocks */
    SHAPE(200, 128, 64, 3, 1), SHAPE(20, 256, 128, 3, 2), SHAPE(3, 768, 64, 1, 1), /* of 128: a ring of eleven, too */
};

static const int block_sizes[] = {16, 1, 8, 64, 5, 128};

enum {
    LARGE_BLOCKS = 192,
    NUM_SHAPES = sizeof shapes / sizeof *shapes,
    NUM_BLOCK_SIZES = sizeof block_sizes / sizeof *block_sizes,
    NUM_DISTS = MOE_DIST_COUNT - MOE_DIST_GENERATED, /* without the router, which has too many experts */
    NUM_TYPES = 2,
    NUM_PROBLEMS = NUM_SHAPES * NUM_TYPES * NUM_DISTS
};

/**
 * Makes problem `number` of every combination of shape, type and distribution. Block size and map are drawn; half of
 * the problems have the implementation's own block size. Problems that fill a large block have large blocks.
 */
bool moe_problem_to_try(int number, uint64_t seed, struct moe_options *options)
{
    struct random random = random_seed(seed, (uint64_t)number);

    if (number >= NUM_PROBLEMS)
        return false;
    *options = moe_options_default();
    options->problem = shapes[number / NUM_DISTS / NUM_TYPES];
    options->bf16 = number / NUM_DISTS % NUM_TYPES == 0;
    options->problem.dtype = options->bf16 ? DTYPE_BF16 : DTYPE_F32;
    options->block_size_given = random_below(&random, 2);
    options->problem.block_size = block_sizes[random_below(&random, NUM_BLOCK_SIZES)];
    if (options->problem.num_tokens > LARGE_BLOCKS) {
        options->block_size_given = true;
        options->problem.block_size = LARGE_BLOCKS;
    }
    options->map = random_below(&random, 3) == 0 ? "random" : "none";
    options->dist = MOE_DIST_GENERATED + number % NUM_DISTS;
    options->program = (struct program_options){.num_tokens = options->problem.num_tokens,
                                                .num_tokens_given = true,
                                                .check_all = true,
                                                .seed = seed + (uint64_t)number};
    options->hidden_size_given = options->intermediate_size_given = options->num_experts_given = true;
    options->topk_given = options->dist_given = true;
    return true;
}
