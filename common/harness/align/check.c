#include "harness/align/check.h"

#include "base/memory.h"
#include "harness/align/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** An answer that is being checked, and the checker's scratch memory. */
struct examination {
    const struct align_problem *problem;
    const struct align_buffers *buffers;
    bool ascending;
    struct align_group_layout groups;
    int32_t *placed_at; /* [numel] slot of sorted_token_ids that holds this position; -1 if not found yet */
    error_phrase expected, got;
    struct error *error;
};

static bool examination_start(struct examination *exam)
{
    const size_t bytes = (size_t)exam->problem->numel * sizeof *exam->placed_at;

    if (!align_group_layout_compute(exam->problem, exam->buffers->topk_ids, &exam->groups, exam->error) ||
        !align_capacity_check(exam->problem, &exam->groups, exam->error) ||
        !memory_allocate((void **)&exam->placed_at, bytes, exam->error))
        return false;
    memset(exam->placed_at, 0xff, bytes);
    return true;
}

static void examination_end(struct examination *exam)
{
    align_group_layout_free(&exam->groups);
    free(exam->placed_at);
}

static int64_t id_at(const struct examination *exam, int64_t position)
{
    return align_load_id(exam->problem, exam->buffers->topk_ids, position);
}

static bool is_position(const struct examination *exam, int32_t element)
{
    return element >= 0 && element < exam->problem->numel;
}

/* --- what is wrong ----------------------------------------------------------------------------------------- */

/**
 * Sets the error for one array element; `block` is -1 if the error concerns no particular block, and `expert` is -1
 * past the last group. The caller must have set exam->expected and exam->got. Returns false.
 */
static bool fail(struct examination *exam, const char *array, int64_t index, int64_t block, int expert,
                 const char *rule)
{
    char where[64] = "";

    if (block >= 0 && expert >= 0)
        snprintf(where, sizeof where, " (block %" PRId64 ", of expert %d)", block, expert);
    else if (block >= 0)
        snprintf(where, sizeof where, " (block %" PRId64 ", of no expert)", block);
    return error_set_as(exam->error, RUN_WRONG, "%s[%" PRId64 "]%s: %s; expected %s, got %s", array, index, where, rule,
                        exam->expected, exam->got);
}

/** Describes a value and points out if it is still the poison written before the launch. */
static void describe_value(error_phrase *text, int32_t value)
{
    int32_t poison;

    memset(&poison, ALIGN_POISON_BYTE, sizeof poison);
    error_phrase_set(text, "%" PRId32 "%s", value,
                     value == poison ? ", as before the launch: nothing was written" : "");
}

/** Describes an element of sorted_token_ids and its meaning. */
static void describe_element(error_phrase *text, const struct examination *exam, int32_t element)
{
    if (element == exam->problem->numel)
        error_phrase_set(text, "%" PRId32 ", a pad", element);
    else if (!is_position(exam, element))
        describe_value(text, element);
    else if (!align_id_is_valid(exam->problem, id_at(exam, element)))
        error_phrase_set(text, "position %" PRId32 ", whose id %" PRId64 " names no expert", element,
                         id_at(exam, element));
    else if (exam->placed_at[element] >= 0)
        error_phrase_set(text, "position %" PRId32 ", already placed at %" PRId32, element, exam->placed_at[element]);
    else
        error_phrase_set(text, "position %" PRId32 " of expert %" PRId64, element, id_at(exam, element));
}

/** Scans the expert's group from `slot` on and returns its lowest missing position, or -1 if none is missing. */
static int64_t missing_position(struct examination *exam, int expert, int64_t slot)
{
    int64_t position = 0;

    for (; slot < exam->groups.offsets[expert + 1]; slot++) {
        const int32_t element = exam->buffers->sorted_token_ids[slot];

        if (is_position(exam, element))
            exam->placed_at[element] = (int32_t)slot;
    }
    while (position < exam->problem->numel && (id_at(exam, position) != expert || exam->placed_at[position] >= 0))
        position++;
    return position < exam->problem->numel ? position : -1;
}

/**
 * Appends to the error the number of positions that are missing from sorted_token_ids, and the first and the last if
 * all between them are missing as well.
 */
static void count_missing(struct examination *exam)
{
    struct error *const error = exam->error;
    const size_t length = strlen(error->text);
    char range[64] = "";
    int64_t positions = 0, missing = 0, first = 0, last = 0;
    bool is_range = true, is_past = false; /* a position after the first missing one has been placed */

    for (int64_t slot = 0; slot < exam->problem->capacity; slot++) {
        const int32_t element = exam->buffers->sorted_token_ids[slot];

        if (is_position(exam, element))
            exam->placed_at[element] = (int32_t)slot;
    }
    for (int64_t i = 0; i < exam->problem->numel; i++) {
        const bool belongs = align_id_is_valid(exam->problem, id_at(exam, i));

        positions += belongs;
        if (belongs && exam->placed_at[i] >= 0)
            is_past = missing > 0;
        if (!belongs || exam->placed_at[i] >= 0)
            continue;
        first = missing++ == 0 ? i : first;
        last = i;
        is_range = is_range && !is_past;
    }
    if (missing > 1 && is_range)
        snprintf(range, sizeof range, ", %" PRId64 " to %" PRId64, first, last);
    if (missing > 0)
        snprintf(error->text + length, sizeof error->text - length, "; missing: %" PRId64 " of %" PRId64 " positions%s",
                 missing, positions, range);
}

/** Sets the error for a slot of the expert's group; `expert` is -1 for slots past the last group. Returns false. */
static bool fail_slot(struct examination *exam, int64_t slot, int expert, const char *rule)
{
    fail(exam, "sorted_token_ids", slot, slot / exam->problem->block_size, expert, rule);
    count_missing(exam);
    return false;
}

/** Sets the error for a slot that should hold one of the expert's positions. Returns false. */
static bool fail_position(struct examination *exam, int64_t slot, int expert, const char *rule)
{
    int64_t missing;

    describe_element(&exam->got, exam, exam->buffers->sorted_token_ids[slot]);
    missing = missing_position(exam, expert, slot);
    if (missing >= 0)
        error_phrase_set(&exam->expected, "a position of expert %d (%" PRId64 " is missing)", expert, missing);
    else
        error_phrase_set(&exam->expected, "a position of expert %d", expert);
    return fail_slot(exam, slot, expert, rule);
}

/* --- sizes and owners --------------------------------------------------------------------------------------------- */

static bool total_is_right(struct examination *exam)
{
    const int64_t right = align_required_capacity(exam->problem, &exam->groups);
    const int32_t got = *exam->buffers->num_tokens_post_padded;

    if (got == right)
        return true;
    error_phrase_set(&exam->expected, "%" PRId64, right);
    describe_value(&exam->got, got);
    return fail(exam, "num_tokens_post_padded", 0, -1, -1,
                "it is the sum of the groups, each rounded up to whole blocks");
}

static bool owner_is_right(struct examination *exam, int64_t block, int expert)
{
    const int32_t *const expert_map = exam->buffers->expert_map;
    const int32_t right = expert < 0 ? -1 : expert_map ? expert_map[expert] : expert;
    const int32_t got = exam->buffers->expert_ids[block];

    if (got == right)
        return true;
    error_phrase_set(&exam->expected, "%" PRId32, right);
    describe_value(&exam->got, got);
    return fail(exam, "expert_ids", block, block, expert,
                expert < 0   ? "past the last block it is -1"
                : expert_map ? "it is what expert_map says of the block's expert"
                             : "it is the block's expert");
}

static bool owners_are_right(struct examination *exam)
{
    const struct align_problem *problem = exam->problem;
    int64_t block = 0;

    for (int e = 0; e < problem->num_experts; e++)
        for (; block < exam->groups.offsets[e + 1] / problem->block_size; block++)
            if (!owner_is_right(exam, block, e))
                return false;
    for (; block < align_row_block_capacity(problem); block++)
        if (!owner_is_right(exam, block, -1))
            return false;
    return true;
}

/* --- positions ---------------------------------------------------------------------------------------------------- */

static bool position_is_right(struct examination *exam, int64_t slot, int expert)
{
    const int32_t element = exam->buffers->sorted_token_ids[slot];

    if (element == exam->problem->numel)
        return fail_position(exam, slot, expert, "a group's positions come before its pads");
    if (!is_position(exam, element))
        return fail_position(exam, slot, expert, "every element is a position or numel");
    if (!align_id_is_valid(exam->problem, id_at(exam, element)))
        return fail_position(exam, slot, expert, "ids that name no expert are skipped");
    if (id_at(exam, element) != expert)
        return fail_position(exam, slot, expert, "a block holds positions of its own expert only");
    if (exam->placed_at[element] >= 0)
        return fail_position(exam, slot, expert, "no position is placed twice");
    exam->placed_at[element] = (int32_t)slot;
    return true;
}

/** Checks that an element is larger than the previous one, which must be a valid position of the same expert. */
static bool position_ascends(struct examination *exam, int64_t slot, int expert)
{
    const int32_t before = exam->buffers->sorted_token_ids[slot - 1], element = exam->buffers->sorted_token_ids[slot];

    if (element > before)
        return true;
    error_phrase_set(&exam->expected, "a position above %" PRId32, before);
    error_phrase_set(&exam->got, "position %" PRId32, element);
    return fail_slot(exam, slot, expert, "positions ascend inside a group");
}

static bool pad_is_right(struct examination *exam, int64_t slot, int expert)
{
    const int32_t element = exam->buffers->sorted_token_ids[slot];

    if (element == exam->problem->numel)
        return true;
    error_phrase_set(&exam->expected, "%" PRId64 ", a pad", exam->problem->numel);
    describe_element(&exam->got, exam, element);
    return fail_slot(exam, slot, expert,
                     expert < 0 ? "past the last block every element is numel"
                                : "after its last position a group holds numel");
}

static bool group_is_right(struct examination *exam, int expert)
{
    const int64_t begin = exam->groups.offsets[expert];
    const int64_t pads = begin + exam->groups.counts[expert];

    for (int64_t slot = begin; slot < pads; slot++)
        if (!position_is_right(exam, slot, expert) ||
            (exam->ascending && slot > begin && !position_ascends(exam, slot, expert)))
            return false;
    for (int64_t slot = pads; slot < exam->groups.offsets[expert + 1]; slot++)
        if (!pad_is_right(exam, slot, expert))
            return false;
    return true;
}

static bool slots_are_right(struct examination *exam)
{
    for (int e = 0; e < exam->problem->num_experts; e++)
        if (!group_is_right(exam, e))
            return false;
    for (int64_t slot = align_required_capacity(exam->problem, &exam->groups); slot < exam->problem->capacity; slot++)
        if (!pad_is_right(exam, slot, -1))
            return false;
    return true;
}

/**
 * Checks that each id that names an expert had its position placed and that every other id was skipped. The other
 * checks imply this result only if the checker has counted the groups correctly.
 */
static bool every_id_is_placed_or_skipped(struct examination *exam)
{
    for (int64_t i = 0; i < exam->problem->numel; i++) {
        const bool placed = exam->placed_at[i] >= 0;

        if (placed != align_id_is_valid(exam->problem, id_at(exam, i))) {
            error_phrase_set(&exam->expected, "its position %s", placed ? "skipped" : "placed");
            error_phrase_set(&exam->got, "its position %s", placed ? "placed" : "nowhere");
            return fail(exam, "topk_ids", i, -1, -1, "an id that names an expert is placed, any other is skipped");
        }
    }
    return true;
}

bool align_check(const struct align_problem *problem, const struct align_buffers *buffers, bool ascending,
                 struct error *error)
{
    struct examination exam = {.problem = problem, .buffers = buffers, .ascending = ascending, .error = error};
    const bool ready = examination_start(&exam);
    const bool right = ready && total_is_right(&exam) && owners_are_right(&exam) && slots_are_right(&exam) &&
                       every_id_is_placed_or_skipped(&exam);

    if (!ready)
        error->exit_code = RUN_CANNOT_RUN;
    examination_end(&exam);
    return right;
}
