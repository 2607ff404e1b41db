#include "harness/parallel/split.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/random.h"
#include "harness/align/input.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCE_OWNERS = 3000 };

bool split_ranks_into_groups(const struct parallel_options *options, const struct rank_context *ranks,
                             struct rank_share *share, struct error *error)
{
    const int size = ranks->all_ranks.size, tp = options->tp_size ? options->tp_size : 1;
    const int64_t dp = options->dp_size ? options->dp_size : size / tp;

    *share = (struct rank_share){.num_ranks = size, .rank = ranks->all_ranks.rank, .dp_size = (int)dp, .tp_size = tp};
    if (dp * tp != size) {
        const int64_t wanted = (dp ? dp : 1) * tp;

        return error_set(error,
                         "--dp, --tp: %" PRId64 " x %d ranks; %d %s started; start %" PRId64 ": mpirun -n %" PRId64
                         " and this command line%s",
                         dp ? dp : 1, tp, size, size == 1 ? "was" : "were", wanted, wanted,
                         connection_can_fork_ranks ? ", or --gpus" : "");
    }
    share->num_expert_parts = options->ep_size ? options->ep_size : size;
    if (size % share->num_expert_parts != 0)
        return error_set(error, "--ep: %d; it must be a divisor of the number of ranks, %d", share->num_expert_parts,
                         size);
    share->num_intermediate_slices = size / share->num_expert_parts;
    return true;
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

/** Parses "5,0,17", one number per TP group, into the prefix sums token_offsets. */
static bool parse_tokens(const char *list, struct rank_share *share, struct error *error)
{
    const char *at = list;
    int numbers = 1;

    for (const char *c = list; *c; c++)
        numbers += *c == ',';
    const int64_t ranks = (int64_t)numbers * share->tp_size;
    char more[128] = "";

    if (numbers > share->dp_size)
        snprintf(more, sizeof more, "; %d groups need %" PRId64 " ranks: mpirun -n %" PRId64 " and --dp %d", numbers,
                 ranks, ranks, numbers);
    if (numbers != share->dp_size)
        return error_set(error, "--tokens-per-group: %d number%s for %d TP group%s; give one for each (--dp)%s",
                         numbers, numbers == 1 ? "" : "s", share->dp_size, share->dp_size == 1 ? "" : "s", more);
    for (int d = 0; d < share->dp_size; d++) {
        int64_t count;

        if (!parse_list_element("tokens-per-group", list, d, &at, INT_MAX, "TP group", &count, error))
            return false;
        share->token_offsets[d + 1] = share->token_offsets[d] + count;
    }
    return true;
}

bool split_parse_tokens_per_group_list(struct parallel_options *options, struct rank_share *share, struct error *error)
{
    struct program_options *const program = &options->moe.program;

    if (!ALLOCATE_ARRAY(share->token_offsets, share->dp_size + 1, error))
        return false;
    share->token_offsets[0] = 0;
    if (!options->tokens_per_group_list)
        return true;
    if (!parse_tokens(options->tokens_per_group_list, share, error))
        return false;
    if (program->num_tokens_given && program->num_tokens != share->token_offsets[share->dp_size])
        return error_set(error, "--num-tokens: %" PRId64 "; --tokens-per-group has %" PRId64, program->num_tokens,
                         share->token_offsets[share->dp_size]);
    program->num_tokens_given = true;
    program->num_tokens = share->token_offsets[share->dp_size];
    return true;
}

int64_t rank_share_first_all_to_all_token(const struct rank_share *share, int rank)
{
    const int64_t *const token_offsets = share->token_offsets + rank / share->tp_size;

    return token_offsets[0] + (token_offsets[1] - token_offsets[0]) * (rank % share->tp_size) / share->tp_size;
}

/* --- experts ------------------------------------------------------------------------------------------------------ */

/** Distributes the experts among the parts, in order or shuffled. The sizes of the parts differ by at most one. */
static void deal_experts(const struct parallel_options *options, bool shuffled, int num_experts,
                         struct rank_share *share)
{
    struct random random = random_seed(options->moe.program.seed, SEQUENCE_OWNERS);

    for (int e = 0; e < num_experts; e++)
        share->part_of_expert[e] = (int32_t)((int64_t)e * share->num_expert_parts / num_experts);
    for (int e = num_experts - 1; shuffled && e > 0; e--) {
        const uint32_t other = random_below(&random, (uint32_t)e + 1);
        const int32_t owner = share->part_of_expert[e];

        share->part_of_expert[e] = share->part_of_expert[other];
        share->part_of_expert[other] = owner;
    }
}

/** Assigns local ids to a part's experts, in the order of expert numbers. */
static void number_experts(int part, int num_experts, struct rank_share *share)
{
    int32_t next = 0;

    for (int e = 0; e < num_experts; e++)
        share->expert_map[e] = share->part_of_expert[e] == part ? next++ : -1;
}

/**
 * Reads an expert map for each part from a file, one per row. Every expert must be in exactly one row; otherwise the
 * error names the expert.
 */
static bool read_maps(const char *path, const struct npy_array *file, int num_experts, struct rank_share *share,
                      struct error *error)
{
    const int own_part = share->rank / share->num_intermediate_slices;
    int32_t *map;
    bool good = ALLOCATE_ARRAY(map, num_experts, error);

    for (int e = 0; e < num_experts; e++)
        share->part_of_expert[e] = -1;
    for (int part = 0; good && part < share->num_expert_parts; part++) {
        const struct npy_array row = {
            file->dtype, 1, {num_experts}, (char *)file->data + (size_t)part * num_experts * dtype_size(file->dtype)};

        good = align_convert_expert_map(&row, num_experts, map, error);
        for (int e = 0; good && e < num_experts; e++) {
            if (map[e] >= 0 && share->part_of_expert[e] >= 0)
                good = error_set(error, "%s: expert %d is in row %d and in row %d", path, e, share->part_of_expert[e],
                                 part);
            if (map[e] >= 0)
                share->part_of_expert[e] = part;
        }
        if (good && part == own_part)
            memcpy(share->expert_map, map, (size_t)num_experts * sizeof *map);
    }
    free(map);
    for (int e = 0; good && e < num_experts; e++)
        if (share->part_of_expert[e] < 0)
            good = error_set(error, "%s: expert %d has no owner: it is -1 in every row", path, e);
    return good;
}

static bool map_from_file(const char *path, int num_experts, struct rank_share *share, struct error *error)
{
    struct npy_array file;
    bool good;

    if (!array_file_check_exists("expert-map", path, error) ||
        !npy_read_kind(path, NPY_INTEGERS, 2, 2, "[parts, experts]", &file, error))
        return false;
    good = (file.shape[0] == share->num_expert_parts && file.shape[1] == num_experts) ||
           error_set(error, "%s: %" PRId64 " rows of %" PRId64 "; it must be %d, of %d experts each", path,
                     file.shape[0], file.shape[1], share->num_expert_parts, num_experts);
    good = good && read_maps(path, &file, num_experts, share, error);
    npy_free(&file);
    return good;
}

static bool split_experts(const struct parallel_options *options, const char *map, int num_experts,
                          struct rank_share *share, struct error *error)
{
    const enum array_source source = parse_array_source(map);

    if (share->num_expert_parts > num_experts)
        return error_set(error, "--ep: %d parts of %d expert%s; a part must have one at least", share->num_expert_parts,
                         num_experts, num_experts == 1 ? "" : "s");
    if (!ALLOCATE_ARRAY(share->part_of_expert, num_experts, error) ||
        !ALLOCATE_ARRAY(share->expert_map, num_experts, error) ||
        !ALLOCATE_ARRAY(share->local_experts, num_experts, error))
        return false;
    if (source == ARRAY_SOURCE_FILE) {
        if (!map_from_file(map, num_experts, share, error))
            return false;
    } else {
        deal_experts(options, source == ARRAY_SOURCE_RANDOM, num_experts, share);
        number_experts(share->rank / share->num_intermediate_slices, num_experts, share);
    }
    for (int e = 0; e < num_experts; e++)
        if (share->expert_map[e] >= 0) {
            share->local_experts[share->expert_map[e]] = e;
            share->num_local_experts++;
        }
    return true;
}

bool split_layer(const struct parallel_options *options, const char *expert_map_argument,
                 const struct moe_problem *problem, struct rank_share *share, struct error *error)
{
    const int tp_group = share->rank / share->tp_size;

    if (problem->intermediate_size % share->num_intermediate_slices != 0)
        return error_set(error,
                         "--intermediate-size: %d; %d ranks have equal slices of an expert, which it must divide into",
                         problem->intermediate_size, share->num_intermediate_slices);
    share->intermediate_slice_size = problem->intermediate_size / share->num_intermediate_slices;
    for (int d = 0; !options->tokens_per_group_list && d < share->dp_size; d++)
        share->token_offsets[d + 1] = problem->num_tokens * (d + 1) / share->dp_size;
    share->own_tokens_begin = share->token_offsets[tp_group];
    share->own_tokens_end = share->token_offsets[tp_group + 1];
    if (options->dispatch == DISPATCH_ALL_TO_ALL) {
        share->own_tokens_begin = rank_share_first_all_to_all_token(share, share->rank);
        share->own_tokens_end = share->rank % share->tp_size + 1 < share->tp_size
                                    ? rank_share_first_all_to_all_token(share, share->rank + 1)
                                    : share->token_offsets[tp_group + 1];
    }
    return split_experts(options, expert_map_argument, problem->num_experts, share, error);
}

void rank_share_free(struct rank_share *share)
{
    free(share->token_offsets);
    free(share->part_of_expert);
    free(share->expert_map);
    free(share->local_experts);
}
