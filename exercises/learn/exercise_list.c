#include "learn/exercise_list.h"

const struct exercise exercise_list[] = {
#define EXERCISE(name, chapter, kind, difficulty, title) {name, chapter, kind, difficulty, title},
#include "learn/catalogue.h"
#undef EXERCISE
};

const size_t num_exercises = sizeof exercise_list / sizeof *exercise_list;

_Static_assert(sizeof exercise_list / sizeof *exercise_list <= MAX_EXERCISES, "too many exercises");

const char *exercise_kind_word(enum exercise_kind kind)
{
    static const char *const words[] = {"write", "mend", "budget", "predict", "extend"};

    return words[kind];
}

const char *exercise_stars(const struct exercise *exercise)
{
    static const char *const stars[] = {"*", "**", "***"};

    return stars[exercise->difficulty - 1];
}
