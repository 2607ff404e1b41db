/**
 * @file exercises.c
 * @brief The list of exercises for the tests of build/learn: copies of one exercise under different names.
 */
#include "../../exercises/learn/exercise_list.h"

const struct exercise exercise_list[] = {
    {"02_warp_maximum", EXERCISE_WRITE, 1, "the best expert among a warp's 32 lanes"},
    {"03_second_maximum", EXERCISE_FIX, 2, "a tie that is lost"},
    {"08_up_sweep", EXERCISE_WRITE, 2, "half of a tree of sums"},
    {"08_up_and_down", EXERCISE_BUDGET, 3, "the whole tree, with no bank conflict"},
};

const size_t num_exercises = sizeof exercise_list / sizeof *exercise_list;
