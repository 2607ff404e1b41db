#!/bin/sh
# Answers as grade_answer takes them: right ones that are written otherwise than the solutions pass
# (tests/learn/right_answers.txt).
#
# run: $b/cpu/grade_answer
set -u
. "$(dirname "$0")/tap.sh"
grade=$1

awk -v folder="$scratch" '
    /^=== / { file = folder "/" $2 ".answers"; print "=== " $3 > file; next }
    file { print > file }' tests/learn/right_answers.txt
tried=0
for answers in "$scratch"/*.answers; do
    "$grade" "$(basename "$answers" .answers)" "$answers" --seed 1 >"$scratch/said" 2>"$scratch/log" </dev/null
    while read -r said; do
        tried=$((tried + 1))
        matches "${said%%: passed:*} passes" '*: passed: *' "$said"
    done <"$scratch/said"
done
equal 'every right answer was tried' "$(grep -c '^=== ' tests/learn/right_answers.txt)" "$tried"
finish
