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

enum { STREAM_OWNERS = 3000 };

bool split_ranks(const struct parallel_options *options, const struct ranks *ranks, struct split *split,
                 struct error *error)
{
    const int size = ranks->all.size, tp = options->num_tp ? options->num_tp : 1;
    const int64_t dp = options->num_dp ? options->num_dp : size / tp;

    *split = (struct split){.num_ranks = size, .rank = ranks->all.rank, .num_dp = (int)dp, .num_tp = tp};
    if (dp * tp != size) {
        const int64_t wanted = (dp ? dp : 1) * tp;

        return error_set(
            error, "--dp, --tp: %" PRId64 " x %d ranks; %d %s started; start %" PRId64 ": mpirun -n %" PRId64 " ...%s",
            dp ? dp : 1, tp, size, size == 1 ? "was" : "were", wanted, wanted, connection_forks ? ", or --gpus" : "");
    }
    split->num_parts = options->num_ep ? options->num_ep : size;
    if (size % split->num_parts != 0)
        return error_set(error, "--ep: %d; it must be a divisor of the number of ranks, %d", split->num_parts, size);
    split->num_slices = size / split->num_parts;
    return true;
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

/** Parses "5,0,17", one number per TP group, into the prefix sums cu_tokens. */
static bool parse_tokens(const char *list, struct split *split, struct error *error)
{
    const char *at = list;
    int numbers = 1;

    for (const char *c = list; *c; c++)
        numbers += *c == ',';
    if (numbers != split->num_dp)
        return error_set(error, "--tokens-per-group: %d number%s for %d TP group%s; give one for each (--dp)", numbers,
                         numbers == 1 ? "" : "s", split->num_dp, split->num_dp == 1 ? "" : "s");
    for (int d = 0; d < split->num_dp; d++) {
        const size_t length = strcspn(at, ",");
        char digits[24];
        int64_t count;

        snprintf(digits, sizeof digits, "%.*s", (int)length, at);
        if (!parse_integer("tokens-per-group", digits, 0, INT_MAX, &count, error))
            return false;
        split->cu_tokens[d + 1] = split->cu_tokens[d] + count;
        at += length + 1;
    }
    return true;
}

bool split_count_tokens(struct parallel_options *options, struct split *split, struct error *error)
{
    struct program_options *const program = &options->moe.program;

    if (!ALLOCATE_ARRAY(split->cu_tokens, split->num_dp + 1, error))
        return false;
    split->cu_tokens[0] = 0;
    if (!options->tokens_per_group)
        return true;
    if (!parse_tokens(options->tokens_per_group, split, error))
        return false;
    if (program->num_tokens_given && program->num_tokens != split->cu_tokens[split->num_dp])
        return error_set(error, "--num-tokens: %" PRId64 "; --tokens-per-group has %" PRId64, program->num_tokens,
                         split->cu_tokens[split->num_dp]);
    program->num_tokens_given = true;
    program->num_tokens = split->cu_tokens[split->num_dp];
    return true;
}

int64_t split_share_begin(const struct split *split, int rank)
{
    const int64_t *const cu_tokens = split->cu_tokens + rank / split->num_tp;

    return cu_tokens[0] + (cu_tokens[1] - cu_tokens[0]) * (rank % split->num_tp) / split->num_tp;
}

/* --- experts ------------------------------------------------------------------------------------------------------ */

/** Distributes the experts among the parts, in order or shuffled. The sizes of the parts differ by at most one. */
static void deal_experts(const struct parallel_options *options, bool shuffled, int num_experts, struct split *split)
{
    struct random random = random_seed(options->moe.program.seed, STREAM_OWNERS);

    for (int e = 0; e < num_experts; e++)
        split->owner_parts[e] = (int32_t)((int64_t)e * split->num_parts / num_experts);
    for (int e = num_experts - 1; shuffled && e > 0; e--) {
        const uint32_t other = random_below(&random, (uint32_t)e + 1);
        const int32_t owner = split->owner_parts[e];

        split->owner_parts[e] = split->owner_parts[other];
        split->owner_parts[other] = owner;
    }
}

/** Assigns local ids to a part's experts, in the order of expert numbers. */
static void number_experts(int part, int num_experts, struct split *split)
{
    int32_t next = 0;

    for (int e = 0; e < num_experts; e++)
        split->expert_map[e] = split->owner_parts[e] == part ? next++ : -1;
}

/**
 * Reads an expert map for each part from a file, one per row. Every expert must be in exactly one row; otherwise the
 * error names the expert.
 */
static bool read_maps(const char *path, const struct npy_array *file, int num_experts, struct split *split,
                      struct error *error)
{
    const int own_part = split->rank / split->num_slices;
    int32_t *map;
    bool good = ALLOCATE_ARRAY(map, num_experts, error);

    for (int e = 0; e < num_experts; e++)
        split->owner_parts[e] = -1;
    for (int part = 0; good && part < split->num_parts; part++) {
        const struct npy_array row = {
            file->dtype, 1, {num_experts}, (char *)file->data + (size_t)part * num_experts * dtype_size(file->dtype)};

        good = align_convert_expert_map(&row, num_experts, map, error);
        for (int e = 0; good && e < num_experts; e++) {
            if (map[e] >= 0 && split->owner_parts[e] >= 0)
                good = error_set(error, "%s: expert %d is in row %d and in row %d", path, e, split->owner_parts[e],
                                 part);
            if (map[e] >= 0)
                split->owner_parts[e] = part;
        }
        if (good && part == own_part)
            memcpy(split->expert_map, map, (size_t)num_experts * sizeof *map);
    }
    free(map);
    for (int e = 0; good && e < num_experts; e++)
        if (split->owner_parts[e] < 0)
            good = error_set(error, "%s: expert %d has no owner: it is -1 in every row", path, e);
    return good;
}

static bool map_from_file(const char *path, int num_experts, struct split *split, struct error *error)
{
    struct npy_array file;
    bool good;

    if (!array_file_exists("expert-map", path, error) ||
        !npy_read_kind(path, NPY_INTEGERS, 2, 2, "[parts, experts]", &file, error))
        return false;
    good = (file.shape[0] == split->num_parts && file.shape[1] == num_experts) ||
           error_set(error, "%s: %" PRId64 " rows of %" PRId64 "; it must be %d, of %d experts each", path,
                     file.shape[0], file.shape[1], split->num_parts, num_experts);
    good = good && read_maps(path, &file, num_experts, split, error);
    npy_free(&file);
    return good;
}

static bool split_experts(const struct parallel_options *options, const char *map, int num_experts, struct split *split,
                          struct error *error)
{
    const enum array_source source = array_source(map);

    if (split->num_parts > num_experts)
        return error_set(error, "--ep: %d parts of %d expert%s; a part must have one at least", split->num_parts,
                         num_experts, num_experts == 1 ? "" : "s");
    if (!ALLOCATE_ARRAY(split->owner_parts, num_experts, error) ||
        !ALLOCATE_ARRAY(split->expert_map, num_experts, error) ||
        !ALLOCATE_ARRAY(split->local_experts, num_experts, error))
        return false;
    if (source == ARRAY_FILE) {
        if (!map_from_file(map, num_experts, split, error))
            return false;
    } else {
        deal_experts(options, source == ARRAY_RANDOM, num_experts, split);
        number_experts(split->rank / split->num_slices, num_experts, split);
    }
    for (int e = 0; e < num_experts; e++)
        if (split->expert_map[e] >= 0) {
            split->local_experts[split->expert_map[e]] = e;
            split->num_local++;
        }
    return true;
}

bool split_layer(const struct parallel_options *options, const char *expert_map_option,
                 const struct moe_problem *problem, struct split *split, struct error *error)
{
    const int tp_group = split->rank / split->num_tp;

    if (problem->intermediate_size % split->num_slices != 0)
        return error_set(error,
                         "--intermediate-size: %d; %d ranks have equal slices of an expert, which it must divide into",
                         problem->intermediate_size, split->num_slices);
    split->slice_size = problem->intermediate_size / split->num_slices;
    for (int d = 0; !options->tokens_per_group && d < split->num_dp; d++)
        split->cu_tokens[d + 1] = problem->num_tokens * (d + 1) / split->num_dp;
    split->own_begin = split->cu_tokens[tp_group];
    split->own_end = split->cu_tokens[tp_group + 1];
    if (options->dispatch == DISPATCH_ALL_TO_ALL) {
        split->own_begin = split_share_begin(split, split->rank);
        split->own_end = split->rank % split->num_tp + 1 < split->num_tp ? split_share_begin(split, split->rank + 1)
                                                                         : split->cu_tokens[tp_group + 1];
    }
    return split_experts(options, expert_map_option, problem->num_experts, split, error);
}

void split_free(struct split *split)
{
    free(split->cu_tokens);
    free(split->owner_parts);
    free(split->expert_map);
    free(split->local_experts);
}
