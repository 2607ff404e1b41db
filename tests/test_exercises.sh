#!/bin/sh
# An exercise: it is complete, fails unsolved with the message its README shows, passes solved, and refuses wrong answers
# for the reason given in each.
#
# run: $b/cpu/grade_answer exercises/[0-9][0-9]*_*
# run in all: every-answer $b/cpu/grade_answer exercises/[0-9][0-9]*_*
#
# Of the wrong answers each fourth is tried, beginning where the exercise's files say, so that most changes try others;
# or, after the word every-answer, all, and nothing else.
set -u
. "$(dirname "$0")/tap.sh"
step=4
if [ "$1" = every-answer ]; then
    step=1
    shift
fi
grade=$1
name=$(basename "$2")
folder=exercises/$name

# grade ARGUMENT...: grades the exercise; then $status is the exit status, $said what it said and $log the compiler's
# words
grade() {
    "$grade" "$name" "$@" >"$scratch/said" 2>"$scratch/log" </dev/null
    status=$?
    said=$(cat "$scratch/said")
    log=$(cat "$scratch/log")
}

# The line in the block under "## Unsolved", as a pattern.
unsolved() {
    awk '/^## Unsolved/ { on = 1 } on && /^```/ { inside = !inside; next } on && inside' "$folder/README.md" |
        sed 's/[][\\?*]/\\&/g; s/\.\.\./*/g'
}

# grades: the exercise has what it needs, and tells the solution from what it comes as
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

# refuses FILE: each wrong answer in it
refuses() {
    sed -n 's/^=== //p' "$1" >"$scratch/names"
    sed -n '/^=== /{n; s|^// refused because: ||; t end; s/.*//; :end p}' "$1" >"$scratch/reasons"
    grade "$1" --seed 1
    paste -d '\n' "$scratch/names" "$scratch/reasons" "$scratch/said" >"$scratch/answers"
    while read -r what && read -r reason && read -r said; do
        matches "$name: $what: is refused" "$name: $what: refused: *" "$said"
        matches "$name: $what: says why it is" "?*" "$reason"
        # shellcheck disable=SC2254 # a reason is a pattern
        matches "$name: $what: for what it is" "$name: $what: refused: *$reason*" "$said"
    done <"$scratch/answers"
    equal "$name: every wrong answer was tried" "$(wc -l <"$scratch/names")" "$(wc -l <"$scratch/said")"
    [ "$tap_failed" -eq 0 ] || printf '%s\n' "$log" | sed 's/^/# /'
}

[ "$step" -eq 1 ] || grades
first=$(($(cat "$folder"/*.* | cksum | cut -d ' ' -f 1) % step))
echo "# wrong answers: each of $step, the first is $first"
awk -v step="$step" -v first="$first" '/^=== / { tried = n++ % step == first } tried' "$folder/wrong_answers.txt" \
    >"$scratch/wrong_answers.txt"
refuses "$scratch/wrong_answers.txt"
finish
