#!/bin/sh
# Tests grade_answer: correct answers that differ from the solutions (tests/learn/right_answers.txt) must pass, and an
# edit must either be applied exactly or be rejected with a one-line message.
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

# edit NAME PATTERN: grades 00_own_element's solution with the edit on standard input; checks that the result matches
# PATTERN
edit() {
    { echo '=== edited' && cat; } >"$scratch/edit.txt"
    said=$("$grade" 00_own_element "$scratch/edit.txt" --seed 1 2>&1 </dev/null)
    matches "an edit: $1" "00_own_element: edited: $2" "$said"
}

edit 'lines that stay, go and come, in two blocks' 'passed: *' <<'END'
// The order of the blocks does not matter.
-    return (count + THREADS - 1) / THREADS;
+    const int blocks = (count + THREADS - 1) / THREADS;
+
+    return blocks;

     if (i < count)
-        scaled[i] = weights[i] * factor;
+        scaled[i] = factor * weights[i];
END
edit 'a line of the edited solution' "refused: *solution.txt:edited:8: out-of-bounds *" <<'END'
-    if (i < count)
+    if (i <= count)
END
edit 'lines that are not there' "*edit.txt:edited: the solution does not have these lines once:     if (i < counts)" <<'END'
-    if (i < counts)
+    if (i <= count)
END
edit 'lines that are there twice' "*edit.txt:edited: the solution does not have these lines once: *" <<'END'
 
+    // Once more.
END
edit 'only lines that come' "*edit.txt:edited: the solution does not have these lines once: " <<'END'
+    if (i <= count)
END
edit 'a line without a mark' "*edit.txt:edited: this line is no part of an edit: if (i < count)" <<'END'
if (i < count)
END
edit 'nothing' "*edit.txt:edited: there is neither a region nor an edit" </dev/null

equal 'a misspelt exercise' "2 grade_answer: no exercise is called '00_own_elemnt'; the nearest: 00_own_element" \
    "$(said=$("$grade" 00_own_elemnt 2>&1); echo "$? $said")"
equal 'part of a name' "2 grade_answer: no exercise is called '08_up'; the nearest: 08_up_sweep" \
    "$(said=$("$grade" 08_up 2>&1); echo "$? $said")"
equal 'answers that are not there' "2 00_own_element: $scratch/none.txt: No such file or directory" \
    "$(said=$("$grade" 00_own_element "$scratch/none.txt" 2>&1); echo "$? $said")"
finish
