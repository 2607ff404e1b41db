#include "harness/core/covering.h"

#include <assert.h>
#include <string.h>

/*
 * Numbers of problems proposed for a corner and for a pair before it counts as unsupported, and the weight, in
 * uncovered pairs, of a corner that no problem contains yet.
 */
enum { TRIES_OF_CORNER = 10000, TRIES_OF_PAIR = 100, WEIGHT_OF_CORNER = MAX_DIMENSIONS };

void covering_start(struct covering_design *covering, const struct covering_dimension *dimensions, int num_dimensions,
                    uint64_t seed, bool stop_after_corners)
{
    memset(covering, 0, sizeof *covering);
    covering->stop_after_corners = stop_after_corners;
    covering->random = random_seed(seed, 0);
    covering_add_dimensions(covering, dimensions, num_dimensions);
}

void covering_add_dimensions(struct covering_design *covering, const struct covering_dimension *dimensions,
                             int num_dimensions)
{
    assert(covering->num_dimensions + num_dimensions <= MAX_DIMENSIONS);
    memcpy(&covering->dimensions[covering->num_dimensions], dimensions, (size_t)num_dimensions * sizeof *dimensions);
    covering->num_dimensions += num_dimensions;
}

void covering_add_corner(struct covering_design *covering, int dimension, int64_t corner, bool isolated)
{
    struct covering_dimension *const to = &covering->dimensions[dimension];
    const int at = to->num_corners - (isolated ? 0 : to->num_isolated_corners);

    for (int i = 0; i < to->num_corners; i++)
        if (to->corners[i] == corner)
            return;
    assert(to->num_corners < MAX_CORNERS_PER_DIMENSION);
    memmove(&to->corners[at + 1], &to->corners[at], (size_t)(to->num_corners - at) * sizeof *to->corners);
    to->corners[at] = corner;
    to->num_corners++;
    to->num_isolated_corners += isolated;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static int all_corners(const struct covering_design *covering)
{
    return covering->first_corner_indices[covering->num_dimensions];
}

/** Returns the dimension of a corner. */
static int dimension_of(const struct covering_design *covering, int corner)
{
    int d = 0;

    while (corner >= covering->first_corner_indices[d + 1])
        d++;
    return d;
}

static bool is_alone(const struct covering_design *covering, int corner)
{
    const int d = dimension_of(covering, corner);

    return corner >= covering->first_corner_indices[d + 1] - covering->dimensions[d].num_isolated_corners;
}

/** Numbers the corners and marks the pairs that need not be covered. */
static void number_corners(struct covering_design *covering)
{
    for (int d = 0; d < covering->num_dimensions; d++)
        covering->first_corner_indices[d + 1] = covering->first_corner_indices[d] + covering->dimensions[d].num_corners;
    assert(all_corners(covering) <= MAX_ALL_CORNERS);
    for (int a = 0; a < all_corners(covering); a++)
        for (int b = 0; b < all_corners(covering); b++)
            if (a != b && (dimension_of(covering, a) == dimension_of(covering, b) || is_alone(covering, a) ||
                           is_alone(covering, b)))
                covering->pair_states[a][b] = CORNERS_NOT_NEEDED;
}

static void set_state(struct covering_design *covering, int a, int b, enum coverage state)
{
    if (covering->pair_states[a][b] == CORNERS_NOT_COVERED || state == CORNERS_COVERED)
        covering->pair_states[a][b] = covering->pair_states[b][a] = (unsigned char)state;
}

/** Returns the two corners of the target pair, or the same corner twice if the target is a single corner. */
static void target_corners(const struct covering_design *covering, int *a, int *b)
{
    const int all = all_corners(covering), pair = covering->target_corner_or_pair - all;

    *a = pair < 0 ? covering->target_corner_or_pair : pair / all;
    *b = pair < 0 ? covering->target_corner_or_pair : pair % all;
}

/** Moves the target to the next pair that is not covered. Returns false if no such pair is left. */
static bool find_target(struct covering_design *covering)
{
    const int all = all_corners(covering), end = covering->stop_after_corners ? all : all + all * all;

    for (; covering->target_corner_or_pair < end; covering->target_corner_or_pair++, covering->num_proposals = 0) {
        int a, b;

        target_corners(covering, &a, &b);
        if (covering->pair_states[a][a] == CORNERS_NOT_SUPPORTED ||
            covering->pair_states[b][b] == CORNERS_NOT_SUPPORTED)
            set_state(covering, a, b, CORNERS_NOT_SUPPORTED);
        if (covering->pair_states[a][b] == CORNERS_NOT_COVERED &&
            covering->num_proposals < (a == b ? TRIES_OF_CORNER : TRIES_OF_PAIR))
            return true;
        set_state(covering, a, b, CORNERS_NOT_SUPPORTED);
    }
    return false;
}

/* --- problems ----------------------------------------------------------------------------------------------------- */

/**
 * Returns the gain of adding a corner to the problem: the number of uncovered pairs that it completes, plus
 * WEIGHT_OF_CORNER if the corner itself is uncovered.
 */
static int gain_of(const struct covering_design *covering, int corner)
{
    int gain = covering->pair_states[corner][corner] == CORNERS_NOT_COVERED ? WEIGHT_OF_CORNER : 0;

    for (int d = 0; d < covering->num_dimensions; d++)
        gain += covering->proposed_corners[d] >= 0 &&
                covering->pair_states[corner][covering->proposed_corners[d]] == CORNERS_NOT_COVERED;
    return gain;
}

/** Returns the corner of a dimension with the largest gain; ties are broken at random. */
static int best_corner(struct covering_design *covering, int d)
{
    const int first = covering->first_corner_indices[d],
              count = covering->dimensions[d].num_corners - covering->dimensions[d].num_isolated_corners;
    const int begin = (int)random_below(&covering->random, (uint32_t)count);
    int best = first + begin, most = -1;

    for (int i = 0; i < count; i++) {
        const int corner = first + (begin + i) % count;
        const int gain = covering->pair_states[corner][corner] == CORNERS_NOT_SUPPORTED ? -1
                                                                                        : gain_of(covering, corner);

        if (gain > most) {
            most = gain;
            best = corner;
        }
    }
    return best;
}

/** Returns a random corner of a dimension, excluding isolated corners. */
static int any_corner(struct covering_design *covering, int d)
{
    const struct covering_dimension *const from = &covering->dimensions[d];

    return covering->first_corner_indices[d] +
           (int)random_below(&covering->random, (uint32_t)(from->num_corners - from->num_isolated_corners));
}

/**
 * Completes a problem that begins with the target. The first try uses the corners with the largest gain; later tries
 * use more and more of the usual corners, which most implementations support in combination, and every third try uses
 * random corners. If the target is an isolated corner, the first try uses only usual corners, and later tries use more
 * and more random corners.
 */
static void complete_row(struct covering_design *covering, bool alone)
{
    const int begin = (int)random_below(&covering->random, (uint32_t)covering->num_dimensions);
    const uint32_t tries = (uint32_t)covering->num_proposals % TRIES_OF_PAIR;
    const uint32_t usual = alone ? TRIES_OF_PAIR - tries : tries;

    for (int i = 0; i < covering->num_dimensions; i++) {
        const int d = (begin + i) % covering->num_dimensions;

        if (covering->proposed_corners[d] >= 0)
            continue;
        if (random_below(&covering->random, TRIES_OF_PAIR) < usual)
            covering->proposed_corners[d] = covering->first_corner_indices[d];
        else if (alone || covering->num_proposals >= TRIES_OF_PAIR ||
                 (tries > 0 && random_below(&covering->random, 3) == 0))
            covering->proposed_corners[d] = any_corner(covering, d);
        else
            covering->proposed_corners[d] = best_corner(covering, d);
    }
}

bool covering_propose_problem(struct covering_design *covering)
{
    int a, b;

    if (all_corners(covering) == 0)
        number_corners(covering);
    if (!find_target(covering))
        return false;
    target_corners(covering, &a, &b);
    for (int d = 0; d < covering->num_dimensions; d++)
        covering->proposed_corners[d] = -1;
    covering->proposed_corners[dimension_of(covering, a)] = a;
    covering->proposed_corners[dimension_of(covering, b)] = b;
    complete_row(covering, is_alone(covering, a));
    covering->num_proposals++;
    return true;
}

int64_t covering_proposed_corner(const struct covering_design *covering, int dimension)
{
    return covering->dimensions[dimension]
        .corners[covering->proposed_corners[dimension] - covering->first_corner_indices[dimension]];
}

bool covering_proposal_has_isolated_corner(const struct covering_design *covering)
{
    for (int d = 0; d < covering->num_dimensions; d++)
        if (is_alone(covering, covering->proposed_corners[d]))
            return true;
    return false;
}

void covering_accept_problem(struct covering_design *covering)
{
    for (int d = 0; d < covering->num_dimensions; d++)
        for (int other = 0; other < covering->num_dimensions; other++)
            if (covering->pair_states[covering->proposed_corners[d]][covering->proposed_corners[other]] !=
                CORNERS_NOT_NEEDED)
                set_state(covering, covering->proposed_corners[d], covering->proposed_corners[other], CORNERS_COVERED);
    covering->num_accepted_problems++;
}

int covering_num_corners(const struct covering_design *covering, enum coverage state)
{
    int count = 0;

    for (int corner = 0; corner < all_corners(covering); corner++)
        count += covering->pair_states[corner][corner] == state;
    return count;
}

int covering_num_pairs(const struct covering_design *covering, enum coverage state)
{
    int count = 0;

    for (int a = 0; a < all_corners(covering); a++)
        for (int b = a + 1; b < all_corners(covering); b++)
            count += covering->pair_states[a][b] == state;
    return count;
}
