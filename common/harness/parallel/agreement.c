#include "harness/parallel/agreement.h"

#include "base/memory.h"
#include "harness/moe/moe.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t FNV_START = 0xcbf29ce484222325u;

/** Extends an FNV-1a hash of inputs that must be the same in all ranks. */
static uint64_t hash(uint64_t state, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        state = (state ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return state;
}

/**
 * Checks that all ranks have the same hash. If the hashes differ, returns false in every rank; the error names two
 * ranks whose hashes differ.
 */
static bool all_have(const struct rank_context *ranks, uint64_t own, const char *what, struct error *error)
{
    uint64_t *all;

    if (!ALLOCATE_ARRAY(all, ranks->all_ranks.size, error) ||
        !group_all_gather_host(&ranks->all_ranks, &own, sizeof own, all, error))
        return false;
    for (int r = 1; r < ranks->all_ranks.size; r++)
        if (all[r] != all[0] && error->exit_code == RUN_VERIFIED)
            error_set(error, "ranks 0 and %d disagree on %s", r, what);
    free(all);
    return error->exit_code == RUN_VERIFIED;
}

bool ranks_have_same_arguments(const struct rank_context *ranks, int argc, char **argv, struct error *error)
{
    uint64_t own = FNV_START;
    struct error differ = {.exit_code = RUN_VERIFIED};

    for (int i = 1; i < argc; i++)
        own = hash(own, argv[i], strlen(argv[i]) + 1);
    if (all_have(ranks, own, "the command line", &differ))
        return true;
    *error = differ;
    return false;
}

bool ranks_have_same_problem_and_routing(const struct rank_context *ranks, const struct moe_layer *layer,
                                         struct error *error)
{
    const struct moe_problem *const problem = &layer->problem;
    const int64_t sizes[] = {problem->num_tokens,  problem->hidden_size, problem->intermediate_size,
                             problem->num_experts, problem->topk,        problem->dtype};
    const size_t positions = (size_t)moe_num_choices(problem);
    uint64_t own = hash(FNV_START, sizes, sizeof sizes);

    own = hash(own, layer->routing.topk_ids, positions * sizeof *layer->routing.topk_ids);
    own = hash(own, layer->routing.topk_weights, positions * sizeof *layer->routing.topk_weights);
    return all_have(ranks, own, "the layer or the routing, as their files have it", error);
}
