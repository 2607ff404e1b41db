#!/bin/sh
# The exercises on a GPU: every solution passes, and what is unsolved does not.
#
#   sh tests/gpu/exercises.sh GRADE_ANSWER      (after ninja learn-gpu)
#
# A budget and a prediction need the simulator's counters: such an exercise is right on a GPU before it is solved. So is
# a kernel whose fault a GPU lets pass; these are only run, so that neither a crash nor a hang gets out of the grader.
. tests/tap.sh
grade_answer=$1

# grade EXERCISE [ANSWERS]: the exit status, and the first line
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
