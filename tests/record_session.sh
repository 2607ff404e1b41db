#!/bin/sh
# Rebuilds the list and the recorded session of exercises/README.md from the catalogue and from the output of
# build/learn.
#
#   sh tests/record_session.sh BUILD            prints the whole README
#   sh tests/record_session.sh BUILD --write    writes it
#
# The session takes one exercise from failing to passing, in a copy of the tree; the learner's first answer is wrong.
# Then it runs another, unsolved, whose kernel exceeds its budget.
set -u
. tests/learn_tree.sh
b=$1
readme=exercises/README.md
exercise=01_group_score
budget=05_rows_apart
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
tree=$scratch/tree

# list: prints a row for each line of the catalogue
list() {
    echo '| exercise | kind | difficulty | what it is about |'
    echo '|---|---|---|---|'
    sed -n 's/^    {"\([^"]*\)", EXERCISE_\([A-Z]*\), \([1-3]\), "\(.*\)"},$/\1 \2 \3 \4/p' "$b/cpu/obj/catalogue.c" |
        while read -r name kind difficulty about; do
            stars=$(printf %s ★★★ | cut -b "-$((difficulty * 3))")
            kind=$(echo "$kind" | tr '[:upper:]' '[:lower:]')
            echo "| [$name]($name/README.md) | $kind | $stars | $about |"
        done
}

# types COMMAND WORD...: prints a command as the learner types it, and its output
types() {
    echo "\$ $*"
    (cd "$tree" && "$@" </dev/null 2>&1) | sed "s|$b/learn|build/learn|g"
}

# answers FILE WHAT: makes the learner's edit and prints it as a command
answers() {
    echo
    echo "\$ \$EDITOR exercises/mine/$exercise.cu    # $2"
    fill "exercises/$exercise/exercise.cu" "$1" >"$tree/exercises/mine/$exercise.cu"
}

# shows_answer: prints the learner's edit; only the wrong one is shown, because the right one would solve the exercise
shows_answer() {
    echo "\$ sed -n '/TODO group_score/,/END group_score/p' exercises/mine/$exercise.cu"
    sed -n '/TODO group_score/,/END group_score/p' "$tree/exercises/mine/$exercise.cu"
    echo
}

session() {
    learn_tree "$b" "$tree"
    learn_exercise "$b" "$tree" $exercise $exercise
    learn_exercise "$b" "$tree" $budget $budget
    cp "$b/learn" "$tree/$b/learn"
    echo '```console'
    types "$b/learn" run 01 --seed 1
    echo
    types "$b/learn" hint 01
    answer_named "exercises/$exercise/wrong_answers.txt" ties_count_once >"$scratch/answer"
    answers "$scratch/answer" 'the largest, then the largest of the smaller ones: drops equal values'
    shows_answer
    types "$b/learn" run 01 --seed 1
    answers "exercises/$exercise/solution.txt" 'when a new largest is found, the old one becomes the second'
    types "$b/learn" run 01 --seed 1
    echo
    types "$b/learn" run 05_rows --seed 1
    echo '```'
}

list >"$scratch/list"
session | sed "s|^\\\$ $b/learn|\$ build/learn|" >"$scratch/session"
awk -v list="$scratch/list" -v session="$scratch/session" '
    function put(file, line) {
        print ""
        while ((getline line < file) > 0)
            print line
        print ""
    }
    /^<!-- end -->$/ { skipped = 0 }
    !skipped
    /^<!-- list -->$/ { put(list); skipped = 1 }
    /^<!-- session -->$/ { put(session); skipped = 1 }
' $readme >"$scratch/readme"
if [ "${2:-}" = --write ]; then
    cp "$scratch/readme" $readme
else
    cat "$scratch/readme"
fi
