#!/bin/sh
# Grades the exercises on a GPU: every solution must pass, and every unsolved exercise must fail.
#
#   sh tests/gpu/exercises.sh GRADE_ANSWER      (after ninja learn-gpu)
#
# Exercises with a budget or a prediction may pass unsolved on a GPU, because they need the simulator's counters;
# exercises whose fault has no effect on a GPU may also pass. These exercises are nevertheless run unsolved, with either
# result accepted, to check that the grader survives a crash or a hang.
. tests/tap.sh
grade_answer=$1

# grade EXERCISE [ANSWERS]: prints the grader's exit status and the first line of its output
grade() {
    said=$("$grade_answer" "$@" --seed 1 --gpu 2>&1)
    echo "$? $said" | head -n 1
}

for folder in exercises/[0-9]*; do
    name=${folder#exercises/}
    solved=$(grade "$name" "$folder/solution.txt")
    case $solved in
    '3 '*'this program needs '*)
        skip "$name" "$solved"
        continue
        ;;
    esac
    matches "$name, solved" '0 *' "$solved"
    case $(sed -n 3p "$folder/README.md") in
    Write,* | Extend,*) matches "$name, as it comes" '1 *' "$(grade "$name")" ;;
    *) matches "$name, as it comes" '[01] *' "$(grade "$name")" ;;
    esac
done
finish
