#!/bin/sh
# An exercise: it is complete, fails unsolved with the message its README shows, passes solved, and refuses every wrong answer for
# the reason given in it.
#
# run: $b/cpu/grade_answer exercises/[0-9][0-9]_*
set -u
. "$(dirname "$0")/tap.sh"
grade=$1
name=$(basename "$2")
folder=exercises/$name

# grade ARGUMENT...: grades the exercise; then $status is the exit status, $said its first line and $log the compiler's words
grade() {
    "$grade" "$name" "$@" >"$scratch/said" 2>"$scratch/log" </dev/null
    status=$?
    said=$(head -n 1 "$scratch/said")
    log=$(cat "$scratch/log")
}

# The line in the block under "## Unsolved", as a pattern.
unsolved() {
    awk '/^## Unsolved/ { on = 1 } on && /^```/ { inside = !inside; next } on && inside' "$folder/README.md" |
        sed 's/[][\\?*]/\\&/g; s/\.\.\./*/g'
}

for file in README.md exercise.cu solution.txt hints.md grader.c; do
    succeeds "$name: has $file" test -s "$folder/$file"
done
succeeds "$name: is in the catalogue" grep -q "^EXERCISE(\"$name\", " exercises/learn/catalogue.h
matches "$name: has two or three hints" "[23]" "$(grep -c '^## [1-9]$' "$folder/hints.md")"
equal "$name: its README shows one line of unsolved output" 1 "$(unsolved | wc -l | tr -d ' ')"

grade
equal "$name: fails unsolved" 1 "$status"
matches "$name: says what its README says" "$name: refused: $(unsolved)" "$said"
equal "$name: compiles unsolved without a warning" "" "$log"

for seed in 1 2 3; do
    grade "$folder/solution.txt" --seed "$seed"
    equal "$name: passes solved, seed $seed" "0 $name: passed" "$status ${said%%: [0-9]*}"
done
equal "$name: compiles solved without a warning" "" "$log"

wrong=0
for answer in "$folder"/wrong/*.txt; do
    what=$(basename "$answer" .txt)
    wrong=$((wrong + 1))
    grade "$answer" --seed 1
    equal "$name: $what: is refused" 1 "$status"
    reason=$(sed -n '1s|^// refused because: ||p' "$answer")
    matches "$name: $what: says why it is" "?*" "$reason"
    matches "$name: $what: for what it is" "$name: refused: *$reason*" "$said"
done
succeeds "$name: has eight wrong answers or more" test "$wrong" -ge 8
finish
