#!/bin/sh
# Tests an exercise: all its files are present, the unsolved version fails with the message in the README, the solution
# passes, and each wrong answer is rejected for the reason stated with it.
#
# run: $b/cpu/grade_answer exercises/[0-9][0-9]*_*
# run in all: other-answers $b/cpu/grade_answer exercises/[0-9][0-9]*_*
#
# Every fourth wrong answer is tried. Which one comes first depends on the exercise's files, so that most changes to the
# files select different answers. With the word other-answers, the script instead tries every second wrong answer, none
# of which it tries without the word.
set -u
. "$(dirname "$0")/tap.sh"
others=0
if [ "$1" = other-answers ]; then
    others=1
    shift
fi
grade=$1
name=$(basename "$2")
folder=exercises/$name

# grade ARGUMENT...: grades the exercise; sets $status to the exit status, $said to the output and $log to the
# compiler's messages
grade() {
    "$grade" "$name" "$@" >"$scratch/said" 2>"$scratch/log" </dev/null
    status=$?
    said=$(cat "$scratch/said")
    log=$(cat "$scratch/log")
}

# unsolved: prints, as a pattern, the line in the code block under "## What the grader reports before you start"
unsolved() {
    awk '/^## What the grader reports/ { on = 1 } on && /^```/ { inside = !inside; next } on && inside' "$folder/README.md" |
        sed 's/[][\\?*]/\\&/g; s/\.\.\./*/g'
}

# grades: checks that the exercise has all its files, that the solution passes and that the unsolved exercise fails
grades() {
    for file in README.md exercise.cu solution.txt wrong_answers.txt hints.md grader.c; do
        succeeds "$name: has $file" test -s "$folder/$file"
    done
    succeeds "$name: is in the catalogue" grep -q "^    {\"$name\", " "$(dirname "$grade")/obj/catalogue.c"
    succeeds "$name: has eight wrong answers or more" test "$(grep -c '^=== ' "$folder/wrong_answers.txt")" -ge 8
    matches "$name: has two or three hints" "[23]" "$(grep -c '^## [1-9]$' "$folder/hints.md")"
    equal "$name: its README shows one line of unsolved output" 1 "$(unsolved | wc -l | tr -d ' ')"

    grade
    equal "$name: fails unsolved" 1 "$status"
    matches "$name: says what its README says" "$name: refused: $(unsolved) \[seed *" "$said"
    equal "$name: compiles unsolved without a warning" "" "$log"

    grade "$folder/solution.txt" --seed 1 --seed 2 --seed 3
    for seed in 1 2 3; do
        matches "$name: passes solved, seed $seed" "$name: passed: [0-9]* cases \[seed $seed, *" \
            "$(sed -n ${seed}p "$scratch/said")"
    done
    equal "$name: compiles solved without a warning" "0 " "$status $log"
}

# refuses FILE: checks that each wrong answer in the file is rejected
refuses() {
    sed -n 's/^=== //p' "$1" >"$scratch/names"
    sed -n '/^=== /{n; s|^// refused because: ||; t end; s/.*//; :end p}' "$1" >"$scratch/reasons"
    grade "$1" --seed 1
    paste -d '\n' "$scratch/names" "$scratch/reasons" "$scratch/said" >"$scratch/answers"
    while read -r what && read -r reason && read -r said; do
        matches "$name: $what: is refused" "$name: $what: refused: *" "$said"
        matches "$name: $what: says why it is" "?*" "$reason"
        # shellcheck disable=SC2254 # a reason is meant as a pattern
        matches "$name: $what: for what it is" "$name: $what: refused: *$reason*" "$said"
    done <"$scratch/answers"
    equal "$name: every wrong answer was tried" "$(wc -l <"$scratch/names")" "$(wc -l <"$scratch/said")"
    [ "$tap_failed" -eq 0 ] || printf '%s\n' "$log" | sed 's/^/# /'
}

[ "$others" -eq 1 ] || grades
first=$(($(cat "$folder"/*.* | cksum | cut -d ' ' -f 1) % 4))
step=4
if [ "$others" -eq 1 ]; then
    step=2
    first=$(((first + 1) % 2))
fi
echo "# wrong answers: each of $step from number $first"
awk -v step="$step" -v first="$first" '/^=== / { tried = n++ % step == first } tried' "$folder/wrong_answers.txt" \
    >"$scratch/wrong_answers.txt"
refuses "$scratch/wrong_answers.txt"
finish
