#!/bin/sh
# Attempts to cheat (tests/learn/cheats.txt), in an exercise of each kind: each is refused, though the right answer
# follows it. Without exercises: right answers that only look like something else (tests/learn/right_answers.txt) pass.
#
# run: $b/cpu/grade_answer 01_group_score:group_score 02_lane_that_left:kernel 03_no_divergence:rounds 10_predict_the_fill:formulas 05_another_router:topk
# run: $b/cpu/grade_answer
set -u
. "$(dirname "$0")/tap.sh"
grade=$1
shift

# answers EXERCISE REGION: every cheat with the solution's region behind it
answers() {
    sed -n "/^\/\/ TODO $2\$/,/^\/\/ END $2\$/p" "exercises/$1/solution.txt" | sed '1d;$d' >"$scratch/region"
    awk -v region="$2" -v solution="$scratch/region" '
        function end_answer() {
            if (!name)
                return
            while ((getline line < solution) > 0)
                print line
            close(solution)
            print "// END " region
        }
        /^=== / { end_answer(); name = $2; print; print "// TODO " region; next }
        name { print }
        END { end_answer() }' tests/learn/cheats.txt
}

for exercise in "$@"; do
    name=${exercise%:*}
    answers "$name" "${exercise#*:}" >"$scratch/answers.txt"
    "$grade" "$name" "$scratch/answers.txt" --seed 1 >"$scratch/said" 2>"$scratch/log" </dev/null
    tried=0
    while read -r said; do
        tried=$((tried + 1))
        case $said in
        *": it does not compile") said=": refused: $said" ;;
        esac
        matches "${said%% refused:*} is refused" "*: refused: *" "$said"
    done <"$scratch/said"
    equal "$name: every cheat was tried" "$(grep -c '^=== ' tests/learn/cheats.txt)" "$tried"
done

if [ $# -eq 0 ]; then
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
fi
finish
