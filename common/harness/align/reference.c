#include "harness/align/reference.h"

#include "base/memory.h"
#include "harness/align/problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t round_up(int64_t count, int multiple)
{
    return (count + multiple - 1) / multiple * multiple;
}

bool align_group_layout_compute(const struct align_problem *problem, const void *topk_ids,
                                struct align_group_layout *groups, struct error *error)
{
    const size_t num_experts = (size_t)problem->num_experts;

    memset(groups, 0, sizeof *groups);
    if (!ALLOCATE_ARRAY(groups->counts, num_experts, error) ||
        !ALLOCATE_ARRAY(groups->offsets, num_experts + 1, error)) {
        align_group_layout_free(groups);
        return false;
    }
    memset(groups->counts, 0, num_experts * sizeof *groups->counts);
    for (int64_t i = 0; i < problem->numel; i++) {
        const int64_t id = align_load_id(problem, topk_ids, i);

        if (align_id_is_valid(problem, id))
            groups->counts[id]++;
        else
            groups->num_invalid_ids++;
    }
    groups->offsets[0] = 0;
    for (size_t e = 0; e < num_experts; e++)
        groups->offsets[e + 1] = groups->offsets[e] + round_up(groups->counts[e], problem->block_size);
    return true;
}

void align_group_layout_free(struct align_group_layout *groups)
{
    free(groups->counts);
    free(groups->offsets);
    memset(groups, 0, sizeof *groups);
}

int64_t align_required_capacity(const struct align_problem *problem, const struct align_group_layout *groups)
{
    return groups->offsets[problem->num_experts];
}

bool align_capacity_check(const struct align_problem *problem, const struct align_group_layout *groups,
                          struct error *error)
{
    const int64_t required = align_required_capacity(problem, groups);

    return problem->capacity >= required ||
           error_set(error, "--capacity: %" PRId64 "; these ids need at least %" PRId64 " slots", problem->capacity,
                     required);
}

int align_busiest_expert(const struct align_problem *problem, const struct align_group_layout *groups)
{
    int busiest = 0;

    for (int e = 1; e < problem->num_experts; e++)
        if (groups->counts[e] > groups->counts[busiest])
            busiest = e;
    return busiest;
}

/** Appends every position to its expert's group, advancing the group's offset to the end of its positions. */
static void sort_positions(const struct align_problem *problem, const void *topk_ids, struct align_group_layout *groups,
                           int32_t *sorted_token_ids)
{
    for (int64_t slot = 0; slot < problem->capacity; slot++)
        sorted_token_ids[slot] = (int32_t)problem->numel;
    for (int64_t i = 0; i < problem->numel; i++) {
        const int64_t id = align_load_id(problem, topk_ids, i);

        if (align_id_is_valid(problem, id))
            sorted_token_ids[groups->offsets[id]++] = (int32_t)i;
    }
}

static void name_blocks(const struct align_problem *problem, const int32_t *expert_map,
                        const struct align_group_layout *groups, int32_t *expert_ids)
{
    int64_t block = 0;

    for (int e = 0; e < problem->num_experts; e++)
        for (; block < groups->offsets[e + 1] / problem->block_size; block++)
            expert_ids[block] = expert_map ? expert_map[e] : e;
    for (; block < align_row_block_capacity(problem); block++)
        expert_ids[block] = -1;
}

bool align_reference_compute(const struct align_problem *problem, const struct align_buffers *buffers,
                             struct error *error)
{
    struct align_group_layout groups;
    bool done;

    if (!align_group_layout_compute(problem, buffers->topk_ids, &groups, error))
        return false;
    done = align_capacity_check(problem, &groups, error);
    if (done) {
        *buffers->num_tokens_post_padded = (int32_t)align_required_capacity(problem, &groups);
        name_blocks(problem, buffers->expert_map, &groups, buffers->expert_ids);
        sort_positions(problem, buffers->topk_ids, &groups, buffers->sorted_token_ids);
    }
    align_group_layout_free(&groups);
    return done;
}
