/** @file grader.c  10_expert_map: runs align with and without an expert map under the course's checker. */
#include "../grade/grade.h"

static const struct align_implementation step = {.name = "10_expert_map",
                                                 .capacity = align_worst_case_capacity_capped_by_ids,
                                                 .workspace_bytes = align_sector_spaced_offsets_bytes,
                                                 .launch = align_launch};

/** The parameters that a case varies; 0 stands for the default. */
struct variation {
    enum align_dist dist;
    bool has_map, wide_ids;
    int topk, offset;
    int64_t more_room; /* slots beyond the required capacity */
};

static void check(struct grade_context *grade, int64_t numel, int num_experts, int block_size,
                  struct variation variation)
{
    struct align_problem problem = {
        .numel = numel, .num_experts = num_experts, .block_size = block_size, .wide_ids = variation.wide_ids};

    if (variation.more_room > 0)
        problem.capacity = align_worst_case_capacity_capped_by_ids(&problem) + variation.more_room;
    grade_check_align(grade, &step, &problem,
                      &(struct grade_id_options){.dist = variation.dist,
                                                 .topk = variation.topk,
                                                 .has_expert_map = variation.has_map,
                                                 .misalign_words = variation.offset});
}

/** Checks that both kernels still work without a map. */
static void no_map(struct grade_context *grade)
{
    check(grade, 256, 32, 4, (struct variation){.dist = ALIGN_DIST_UNIFORM});
    check(grade, 24, 8, 4, (struct variation){.dist = ALIGN_DIST_UNIFORM, .topk = 2});
}

static void a_map(struct grade_context *grade)
{
    check(grade, 256, 32, 4, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true});
}

static void small_kernel(struct grade_context *grade)
{
    check(grade, 24, 8, 4, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true, .topk = 2});
    check(grade, 126, 7, 3, (struct variation){.dist = ALIGN_DIST_ZIPF, .has_map = true, .topk = 2});
}

/** Runs both kernels with capacity for many blocks past the last used one. */
static void past_the_last_block(struct grade_context *grade)
{
    check(grade, 512, 40, 8, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true, .more_room = 800});
    check(grade, 64, 8, 8,
          (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true, .topk = 2, .more_room = 400});
}

static void empty_groups(struct grade_context *grade)
{
    check(grade, 512, 256, 16, (struct variation){.dist = ALIGN_DIST_SPARSE, .has_map = true});
    check(grade, 100, 256, 16, (struct variation){.dist = ALIGN_DIST_ONE_EXPERT, .has_map = true});
    check(grade, 64, 8, 16, (struct variation){.dist = ALIGN_DIST_ONE_EXPERT, .has_map = true, .topk = 2});
    check(grade, 5, 256, 16, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true});
}

/** Runs with one expert, and with more experts than a block has threads. */
static void numbers_of_experts(struct grade_context *grade)
{
    check(grade, 10, 1, 4, (struct variation){.dist = ALIGN_DIST_ONE_EXPERT, .has_map = true, .topk = 1});
    check(grade, 300, 1, 4, (struct variation){.dist = ALIGN_DIST_ONE_EXPERT, .has_map = true, .topk = 1});
    check(grade, 60, 2, 1, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true, .topk = 1});
    check(grade, 900, 300, 5, (struct variation){.dist = ALIGN_DIST_ZIPF, .has_map = true});
    check(grade, 2200, 1100, 2, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true});
}

static void any_ids(struct grade_context *grade)
{
    check(grade, 1000, 64, 16, (struct variation){.dist = ALIGN_DIST_INVALID, .has_map = true});
    check(grade, 1000, 64, 16, (struct variation){.dist = ALIGN_DIST_INVALID, .has_map = true, .wide_ids = true});
    check(grade, 90, 6, 7, (struct variation){.dist = ALIGN_DIST_INVALID, .has_map = true, .topk = 3});
    check(grade, 640, 64, 64, (struct variation){.dist = ALIGN_DIST_REPEATED, .has_map = true, .wide_ids = true});
    check(grade, 90, 6, 7, (struct variation){.dist = ALIGN_DIST_ZIPF, .wide_ids = true, .topk = 3});
}

/** Runs with no ids, with one id, and with sorted_token_ids 1 to 3 words past a 16-byte boundary. */
static void few_ids(struct grade_context *grade)
{
    check(grade, 0, 64, 16, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true});
    check(grade, 0, 8, 16, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true, .more_room = 64});
    check(grade, 1, 64, 16, (struct variation){.dist = ALIGN_DIST_UNIFORM, .has_map = true, .topk = 1});
    for (int offset = 1; offset < 4; offset++)
        check(grade, 203, 50, 3, (struct variation){.dist = ALIGN_DIST_ZIPF, .has_map = true, .offset = offset});
}

const struct grade_case grade_cases[] = {
    {"no_map", no_map, false},
    {"a_map", a_map, false},
    {"small_kernel", small_kernel, false},
    {"past_the_last_block", past_the_last_block, false},
    {"empty_groups", empty_groups, false},
    {"numbers_of_experts", numbers_of_experts, false},
    {"any_ids", any_ids, false},
    {"few_ids", few_ids, false},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
