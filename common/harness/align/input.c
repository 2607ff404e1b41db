#include "harness/align/input.h"

#include "base/memory.h"
#include "base/random.h"
#include "harness/align/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams of random numbers. Each distribution uses its value in enum align_dist as its stream number. */
enum { SEQUENCE_COUNTS = 100, SEQUENCE_MAP };

const char *const align_dist_names[] = {"balanced", "uniform", "zipf", "one", "sparse", "repeated", "invalid", NULL};

/* --- shuffling ---------------------------------------------------------------------------------------------------- */

/** Swaps two elements of `bytes` bytes. */
static void swap(void *a, void *b, size_t bytes)
{
    char *const x = a, *const y = b;

    for (size_t i = 0; i < bytes; i++) {
        const char byte = x[i];

        x[i] = y[i];
        y[i] = byte;
    }
}

/** Shuffles `count` elements of `bytes` bytes each with the Fisher-Yates algorithm. */
static void shuffle(void *things, int64_t count, size_t bytes, struct random *random)
{
    for (int64_t left = count; left > 1; left--)
        swap((char *)things + (left - 1) * bytes, (char *)things + random_below(random, (uint32_t)left) * bytes, bytes);
}

/** Fills values with 0 .. count - 1 in random order. */
static void fill_shuffled(int32_t *values, int count, struct random *random)
{
    for (int i = 0; i < count; i++)
        values[i] = i;
    shuffle(values, count, sizeof *values, random);
}

/** Draws one of the values that have not been drawn yet (those from `index` on), swaps it to `index` and returns it. */
static int32_t draw(int32_t *values, int index, int count, struct random *random)
{
    swap(&values[index], &values[index + (int)random_below(random, (uint32_t)(count - index))], sizeof *values);
    return values[index];
}

/* --- distributions ------------------------------------------------------------------------------------------------ */

/** The state of id generation. */
struct generator {
    const struct align_problem *problem;
    int topk;
    int32_t *experts; /* all experts in random order, so that no distribution favours low ids */
    struct random random;
    void *topk_ids;
};

static void shuffle_ids(struct generator *generator, int64_t begin, int64_t count)
{
    const size_t bytes = dtype_size(align_ids_dtype(generator->problem));

    shuffle((char *)generator->topk_ids + begin * bytes, count, bytes, &generator->random);
}

/**
 * Fills the ids by cycling through the shuffled experts: any topk consecutive ids are distinct (topk <= num_experts),
 * and the experts' counts differ by at most one. Both properties still hold after the tokens, and the ids within each
 * token, have been shuffled.
 */
static void walk_round(struct generator *generator)
{
    const struct align_problem *const problem = generator->problem;
    const size_t token_bytes = generator->topk * dtype_size(align_ids_dtype(problem));

    for (int64_t i = 0; i < problem->numel; i++)
        align_store_id(problem, generator->topk_ids, i, generator->experts[i % problem->num_experts]);
    shuffle(generator->topk_ids, problem->numel / generator->topk, token_bytes, &generator->random);
}

/** Fills a token with ids from the first `size` experts; no expert repeats until all of them have been used. */
static void deal_distinct(struct generator *generator, int64_t begin, int count, int size)
{
    for (int k = 0; k < count; k++)
        align_store_id(generator->problem, generator->topk_ids, begin + k,
                       draw(generator->experts, k % size, size, &generator->random));
}

/**
 * Fills a token's ids with half as many distinct experts as there are ids, so that each expert occurs at least twice.
 */
static void deal_repeated(struct generator *generator, int64_t begin, int count)
{
    const int num_experts = generator->problem->num_experts, half = generator->topk > 1 ? generator->topk / 2 : 1;
    const int size = half < num_experts ? half : num_experts;

    for (int k = 0; k < size; k++)
        draw(generator->experts, k, num_experts, &generator->random);
    for (int k = 0; k < count; k++)
        align_store_id(generator->problem, generator->topk_ids, begin + k, generator->experts[k % size]);
    shuffle_ids(generator, begin, count);
}

/** Returns an id that names no expert; some such ids look valid to a kernel that truncates ids to 15, 16 or 32 bits. */
static int64_t invalid_id(int num_experts, struct random *random)
{
    const int64_t low_word = random_below(random, (uint32_t)num_experts);
    const int64_t two_to_32 = (int64_t)1 << 32;
    const int64_t ids[] = {-1,
                           num_experts,
                           num_experts + 1,
                           num_experts > 32768 ? -2 : 32768 + low_word,
                           num_experts > 65536 ? -2 : 65536 + low_word,
                           INT32_MIN,
                           INT32_MAX,
                           two_to_32,
                           two_to_32 + low_word,
                           low_word - two_to_32,
                           INT64_MIN + low_word,
                           two_to_32 - 1};

    return ids[random_below(random, sizeof ids / sizeof *ids)];
}

static void deal_invalid(struct generator *generator, int64_t begin, int count)
{
    const int num_experts = generator->problem->num_experts;
    struct random *const random = &generator->random;

    for (int k = 0; k < count; k++) {
        const int64_t valid = random_below(random, (uint32_t)num_experts);

        align_store_id(generator->problem, generator->topk_ids, begin + k,
                       random_below(random, 2) ? valid : invalid_id(num_experts, random));
    }
}

/* --- zipf --------------------------------------------------------------------------------------------------------- */

/**
 * A Zipf generator, which draws rank r with a probability proportional to 1 / (r + 1). It also tracks the ranks that
 * the current token already has.
 */
struct zipf {
    int size;
    double *below;   /**< [size] sum of the weights of ranks 0 to this one */
    int32_t *deck;   /**< [size] every rank once, with the current token's ranks first */
    int32_t *placed; /**< [size] index of each rank in the deck */
};

static bool zipf_start(int size, struct zipf *zipf, struct error *error)
{
    double sum = 0.0;

    *zipf = (struct zipf){.size = size};
    if (!ALLOCATE_ARRAY(zipf->below, size, error) || !ALLOCATE_ARRAY(zipf->deck, size, error) ||
        !ALLOCATE_ARRAY(zipf->placed, size, error))
        return false;
    for (int rank = 0; rank < size; rank++) {
        sum += 1.0 / (rank + 1);
        zipf->below[rank] = sum;
        zipf->deck[rank] = zipf->placed[rank] = rank;
    }
    return true;
}

static void zipf_end(struct zipf *zipf)
{
    free(zipf->below);
    free(zipf->deck);
    free(zipf->placed);
}

static int zipf_draw(const struct zipf *zipf, struct random *random)
{
    const double value = (double)(random_bits(random) >> 11) * 0x1p-53 * zipf->below[zipf->size - 1];
    int low = 0, high = zipf->size - 1;

    while (low < high) {
        const int middle = low + (high - low) / 2;

        if (value < zipf->below[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/**
 * Returns a rank that differs from the token's `dealt` previous ranks; after 16 failed draws, picks one of the
 * remaining ranks uniformly.
 */
static int zipf_deal(struct zipf *zipf, int dealt, struct random *random)
{
    int rank = zipf_draw(zipf, random);

    for (int tries = 1; tries < 16 && zipf->placed[rank] < dealt; tries++)
        rank = zipf_draw(zipf, random);
    if (zipf->placed[rank] < dealt)
        rank = zipf->deck[dealt + (int)random_below(random, (uint32_t)(zipf->size - dealt))];

    const int from = zipf->placed[rank], other = zipf->deck[dealt];

    swap(&zipf->deck[dealt], &zipf->deck[from], sizeof *zipf->deck);
    zipf->placed[rank] = dealt;
    zipf->placed[other] = from;
    return rank;
}

static void deal_zipf(struct generator *generator, struct zipf *zipf, int64_t begin, int count)
{
    for (int k = 0; k < count; k++)
        align_store_id(generator->problem, generator->topk_ids, begin + k,
                       generator->experts[zipf_deal(zipf, k % zipf->size, &generator->random)]);
}

/* --- generating --------------------------------------------------------------------------------------------------- */

static int sparse_size(int num_experts)
{
    const int size = num_experts / 16 > 2 ? num_experts / 16 : 2;

    return size < num_experts ? size : num_experts;
}

bool align_generate_ids(const struct align_problem *problem, int topk, enum align_dist dist, uint64_t seed,
                        void *topk_ids, struct error *error)
{
    const int num_experts = problem->num_experts;
    const int size = dist == ALIGN_DIST_ONE_EXPERT ? 1
                     : dist == ALIGN_DIST_SPARSE   ? sparse_size(num_experts)
                                                   : num_experts;
    struct generator generator = {problem, topk, NULL, random_seed(seed, dist), topk_ids};
    struct zipf zipf = {0};
    const bool ready = ALLOCATE_ARRAY(generator.experts, num_experts, error) &&
                       (dist != ALIGN_DIST_ZIPF || zipf_start(num_experts, &zipf, error));

    if (ready)
        fill_shuffled(generator.experts, num_experts, &generator.random);
    if (ready && dist == ALIGN_DIST_BALANCED)
        walk_round(&generator);
    for (int64_t begin = 0; ready && begin < problem->numel; begin += topk) {
        const int count = problem->numel - begin < topk ? (int)(problem->numel - begin) : topk;

        if (dist == ALIGN_DIST_BALANCED)
            shuffle_ids(&generator, begin, count);
        else if (dist == ALIGN_DIST_ZIPF)
            deal_zipf(&generator, &zipf, begin, count);
        else if (dist == ALIGN_DIST_REPEATED)
            deal_repeated(&generator, begin, count);
        else if (dist == ALIGN_DIST_INVALID)
            deal_invalid(&generator, begin, count);
        else
            deal_distinct(&generator, begin, count, size);
    }
    zipf_end(&zipf);
    free(generator.experts);
    return ready;
}

bool align_sum_counts(const int64_t *counts, int num_experts, int64_t *numel, struct error *error)
{
    int64_t sum = 0;

    for (int e = 0; e < num_experts; e++) {
        if (counts[e] < 0)
            return error_set(error, "--counts: %" PRId64 " for expert %d; a count is 0 or more", counts[e], e);
        if (counts[e] > INT32_MAX - sum)
            return error_set(error, "--counts: more than %d ids with expert %d's; that is the most there can be",
                             INT32_MAX, e);
        sum += counts[e];
    }
    *numel = sum;
    return true;
}

void align_generate_ids_with_counts(const struct align_problem *problem, const int64_t *counts, uint64_t seed,
                                    void *topk_ids)
{
    struct random random = random_seed(seed, SEQUENCE_COUNTS);
    int64_t i = 0;

    for (int e = 0; e < problem->num_experts; e++)
        for (int64_t left = counts[e]; left > 0; left--)
            align_store_id(problem, topk_ids, i++, e);
    shuffle(topk_ids, problem->numel, dtype_size(align_ids_dtype(problem)), &random);
}

void align_repeat_ids_from_array(const struct align_problem *problem, const struct npy_array *source, void *topk_ids)
{
    const struct align_problem from = {.wide_ids = source->dtype == DTYPE_I64};
    const int64_t count = npy_num_elements(source);

    for (int64_t i = 0; i < problem->numel; i++)
        align_store_id(problem, topk_ids, i, align_load_id(&from, source->data, i % count));
}

/* --- maps --------------------------------------------------------------------------------------------------------- */

void align_generate_half_local_expert_map(int num_experts, uint64_t seed, int32_t *expert_map)
{
    struct random random = random_seed(seed, SEQUENCE_MAP);
    const int num_local = num_experts - num_experts / 2;

    fill_shuffled(expert_map, num_experts, &random);
    for (int e = 0; e < num_experts; e++)
        if (expert_map[e] >= num_local)
            expert_map[e] = -1;
}

/**
 * Checks the local ids in an expert map; first_at [num_experts] is scratch memory. On failure the error names
 * --expert-map.
 */
static bool check_local_ids(const int32_t *expert_map, int num_experts, int32_t *first_at, struct error *error)
{
    char range[40] = " is 0";
    int num_local = 0;

    for (int e = 0; e < num_experts; e++) {
        num_local += expert_map[e] != -1;
        first_at[e] = -1;
    }
    if (num_local > 1)
        snprintf(range, sizeof range, "s are 0 to %d, each once", num_local - 1);
    for (int e = 0; e < num_experts; e++) {
        const int32_t local = expert_map[e];

        if (local == -1)
            continue;
        if (local < 0 || local >= num_local)
            return error_set(error, "--expert-map: %" PRId32 " at index %d; the %d local expert%s, and others are -1",
                             local, e, num_local, range);
        if (first_at[local] >= 0)
            return error_set(error,
                             "--expert-map: %" PRId32 " at index %d and at index %" PRId32
                             "; the %d local expert%s, and others are -1",
                             local, e, first_at[local], num_local, range);
        first_at[local] = e;
    }
    return true;
}

bool align_convert_expert_map(const struct npy_array *source, int num_experts, int32_t *expert_map, struct error *error)
{
    const struct align_problem from = {.wide_ids = source->dtype == DTYPE_I64};
    const int64_t length = npy_num_elements(source);
    int32_t *first_at;
    bool right;

    if (length != num_experts)
        return error_set(error,
                         "--expert-map: %" PRId64 " value%s for %d expert%s; each needs one, its local number or -1",
                         length, length == 1 ? "" : "s", num_experts, num_experts == 1 ? "" : "s");
    for (int e = 0; e < num_experts; e++) {
        const int64_t local = align_load_id(&from, source->data, e);

        if (local < INT32_MIN || local > INT32_MAX)
            return error_set(error, "--expert-map: %" PRId64 " at index %d; a local expert is below %d, others are -1",
                             local, e, num_experts);
        expert_map[e] = (int32_t)local;
    }
    if (!ALLOCATE_ARRAY(first_at, num_experts, error))
        return false;
    right = check_local_ids(expert_map, num_experts, first_at, error);
    free(first_at);
    return right;
}
