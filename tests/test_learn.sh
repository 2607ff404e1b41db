#!/bin/sh
# Tests the learner's program: every command, every invalid input, passing and failing exercises, two concurrent
# processes, and watching. The test works in a copy of the tree whose four exercises are copies of one exercise under
# different names.
#
# run: $b
set -u
. tests/tap.sh
. tests/learn_tree.sh
. tests/command_line.sh
b=$1
root=$PWD
tree=$scratch/tree
mine=$tree/exercises/mine
first=$mine/02_warp_maximum.cu
progress=$mine/.progress
seconds=60 # longer than any operation in this test takes

mine_before=$(ls -la exercises/mine 2>/dev/null)
chmod 755 "$scratch"
learn_tree "$b" "$tree"
learn_exercise "$b" "$tree" 02_warp_maximum 02_warp_maximum
for name in 03_second_maximum 08_up_sweep 08_up_and_down; do
    learn_exercise "$b" "$tree" 02_warp_maximum $name
done
cp "$b/tests/learn" "$tree/$b/learn"
original=$tree/exercises/02_warp_maximum/exercise.cu
fill "$original" exercises/02_warp_maximum/solution.txt >"$scratch/solved.cu"
answer_named exercises/02_warp_maximum/wrong_answers.txt ties_to_the_higher >"$scratch/ties.txt"
fill "$scratch/solved.cu" "$scratch/ties.txt" >"$scratch/wrong.cu"
: >"$scratch/all" # all of the test's standard output

# learn WORD...: runs build/learn in the tree; sets $code to its exit status, $said to its standard output and $refused
# to its standard error
learn() {
    (cd "$tree" && exec "$b/learn" "$@") >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
    said=$(cat "$scratch/out")
    refused=$(cat "$scratch/err")
    cat "$scratch/out" >>"$scratch/all"
}

# refuses NAME PATTERN WORD...: checks for exit status 2, no standard output and one matching line on standard error
refuses() {
    refuses_name=$1
    refuses_pattern=$2
    shift 2
    learn "$@"
    matches "$refuses_name: says why" "learn: $refuses_pattern" "$refused"
    equal "$refuses_name: exit, lines, output" "2 1 0" "$code $(wc -l <"$scratch/err") $(wc -c <"$scratch/out")"
}

# begin: removes all of the learner's work
begin() {
    rm -rf "$mine"
}

# without_figures TEXT: prints the text with seeds and times replaced by N
without_figures() {
    printf '%s\n' "$1" | sed 's/seed [0-9][0-9]*/seed N/g; s/, [0-9.]* s$/, N s/'
}

# state NAME: prints the exercise's state and the number of hints seen, from the list
state() {
    learn list
    printf '%s\n' "$said" | sed -n "s/^[> ] $1  *[a-z]* *\** *//p" | sed 's/  */ /g'
}

# wait_for COUNT TEXT FILE: waits until COUNT lines of the file contain the text
wait_for() {
    wait_end=$(($(date +%s) + seconds))
    while [ ! -e "$3" ] || [ "$(grep -c -e "$2" "$3")" -lt "$1" ]; do
        [ "$(date +%s)" -lt $wait_end ] || return 1
        sleep 0.02
    done
}

# wait_until COMMAND...: waits until the command succeeds
wait_until() {
    wait_end=$(($(date +%s) + seconds))
    until "$@"; do
        [ "$(date +%s)" -lt $wait_end ] || return 1
        sleep 0.02
    done
}

# await PID: waits until the child process has ended; sets $ended to its exit code
await() {
    wait_until gone "$1" || kill -9 "$1"
    wait "$1"
    ended=$?
}

gone() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# --- the command line ---
learn --help
equal 'help: exit' 0 "$code"
matches 'help: what it shows' 'usage: *list*run*hint*reset*solution*' "$said"
learn run --help
matches 'help: the words of the README' '*the next unsolved exercise, even if this one is*unfinished; it stays on the list*' "$said"
matches 'help behind a command' 'usage: *' "$said"
learn --version
equal 'version' '0 MoE routing, kernel by kernel: 1.0' "$code $said"
refuses 'an unknown command' "'frob' is no command; '$b/learn --help' lists them" frob
refuses 'a misspelt command' "'lst' is no command; is it list? '$b/learn --help' lists them" lst
refuses 'an unknown flag' "'--frob' is no command; *" --frob
refuses 'an unknown flag of a command' 'run: --frob: no such argument; *' run --frob
refuses 'a flag of another command' 'hint: --gpu: no such argument; *' hint --gpu
refuses 'a word too many' "list: '02_w' is one word too many" list 02_w
refuses 'a name too many' "run: '03' is one word too many" run 02_w 03
refuses 'a seed that is no number' "--seed: 'x' is not a whole number" run 02_w --seed x
refuses 'a negative seed' '--seed: -1; it must be 0 or more' run 02_w --seed=-1
refuses 'no seed' '--seed: needs a number' run 02_w --seed
for order in random random: random:x forward ''; do
    SIMT_ORDER=$order refuses "an order '$order' of threads, which is no answer's fault" \
        "SIMT_ORDER: '$order'; where it is set, it must be reverse or random:SEED, such as random:1" run 02_w
done
refuses 'reset: a part of a name' \
    "reset: 'sweep' is only a part of 08_up_sweep; reset takes a name's beginning, of one exercise" reset sweep
refuses 'reset what' "reset: which exercise? '$b/learn list' shows them" reset
refuses 'solution of what' 'solution: which exercise? *' solution
refuses 'an unknown name' "no exercise is called 'zzzzzz'; '$b/learn list' shows all" run zzzzzz
refuses 'a misspelt name' "no exercise is called 'warp_maxinum'; the nearest: 02_warp_maximum; *" hint warp_maxinum
refuses 'a misspelt name that is near two' \
    "no exercise is called '08_yp_'; the nearest: 08_up_sweep, 08_up_and_down; *" reset 08_yp_
refuses 'a part of two names' "'08' may be more than one exercise: 08_up_sweep, 08_up_and_down; *" solution 08
refuses 'an empty name' "'' is no exercise's name; *" run ''
refuses 'a long name' "'0000*' is no exercise's name; *" run "$(printf %0200d 0)"
refuses 'a name that a terminal would act on' "no exercise is called '?\[31mx'; *" run "$(printf '\033[31mx')"
equal 'nothing was made so far' no "$([ -e "$mine" ] && echo yes || echo no)"

# --- the list, and the first grading ---
learn list
equal 'the list of one who has not begun' '  exercise           kind          state                hints seen
> 02_warp_maximum    write    *    not begun            0 of 3
  03_second_maximum  fix      **   not begun            0 of 3
  08_up_sweep        write    **   not begun            0 of 3
  08_up_and_down     budget   ***  not begun            0 of 3

[....]  0 of 4 passed
> is where you are; '"'$b/learn' goes on there." "$said"
equal 'a list makes nothing' no "$([ -e "$mine" ] && echo yes || echo no)"
learn run
equal 'unsolved: exit' 1 "$code"
equal 'unsolved: what it says' "exercises/mine/02_warp_maximum.cu  seed N, N s
NOT PASSED at one_token  (0 of 7 cases pass)
  token 0: lane 0 wrote nothing; expected expert E" "$(without_figures "$said" | head -n 3 | sed 's/expert .*/expert E/')"
matches 'unsolved: what else failed, and what helps' \
    "*  also * equal_scores,*  repeat * $b/learn run 02_warp_maximum --seed N
  task     exercises/02_warp_maximum/README.md
  hint     $b/learn hint 02_warp_maximum  (0 of 3 seen)" "$(without_figures "$said")"
succeeds 'the copy is the exercise' cmp "$original" "$first"
equal 'an untouched copy is not begun' 'not begun 0 of 3' "$(state 02_warp_maximum)"
learn run 02_w
seed=$(printf '%s' "$said" | sed -n 's/.*seed \([0-9]*\),.*/\1/p')
told=$(without_figures "$said")
learn run 02_w --seed "$seed"
equal 'the same seed tells the same' "$told" "$(without_figures "$said")"
learn run 02_w
succeeds 'another seed each time' [ "$(printf '%s' "$said" | sed -n 's/.*seed \([0-9]*\),.*/\1/p')" != "$seed" ]
for name in 02_warp_maximum WARP_MAX exercises/mine/02_warp_maximum.cu 02_warp_maximum.cu exercises/02_warp_maximum/; do
    learn run "$name"
    equal "a name: $name" 1 "$code"
done
cp "$scratch/wrong.cu" "$first"
learn run 02
matches 'a wrong answer: where' '*
NOT PASSED at equal_scores  (* of 7 cases pass)
*' "$said"
matches 'a wrong answer: in words of the task' '*  token *, lane *: expected expert * with score *, got expert *' \
    "$said"
equal 'a wrong answer is failing' 'failing 0 of 3' "$(state 02_warp_maximum)"

# --- code that does not compile ---
sed 's/return mine;/return mne;/' "$scratch/solved.cu" >"$first"
line=$(grep -n 'return mne' "$first" | cut -d : -f 1)
learn run 02
equal 'it does not compile: exit' 2 "$code"
matches 'it does not compile: the learner'"'"'s file and line' "exercises/mine/02_warp_maximum.cu
NOT COMPILED: 1 error
exercises/mine/02_warp_maximum.cu:$line:*: error: *mne*return mne;*
  task *" "$said"
succeeds 'it does not compile: no seed to repeat' [ -z "$(printf '%s' "$said" | grep repeat)" ]
equal 'it does not compile: that is failing' 'failing 0 of 3' "$(state 02_warp_maximum)"
(cd / && "$tree/$b/learn" run 02) >"$scratch/out" 2>&1
equal 'from another folder: a path that leads there' "$tree/exercises/mine/02_warp_maximum.cu
$tree/exercises/mine/02_warp_maximum.cu:$line" "$(sed -n '1p; 3p' "$scratch/out" | cut -d : -f 1,2)"
matches 'from another folder: the source line' '*return mne;*' "$(cat "$scratch/out")"
(cd "$mine" && "../../$b/learn" run 02) >"$scratch/out" 2>&1
equal 'from below: a path that leads there' ../../exercises/mine/02_warp_maximum.cu "$(head -n 1 "$scratch/out")"
printf '%s\n' 's/return mine;/return mne; \/\/ \x1b[2J/' >"$scratch/script"
sed -f "$scratch/script" "$scratch/solved.cu" >"$first"
learn run 02
matches 'a control character in the source' '*return mne; // ?\[2J*' "$said"
sed 's/        other.value = __shfl/        if (other.id < 9) return mine; other.value = __shfl/' "$scratch/solved.cu" |
    sed 's/candidate other;/candidate other = mine;/' >"$first"
line=$(grep -n 'other.id < 9' "$first" | cut -d : -f 1)
learn run 02
matches 'a fault: the file and the line' "*
NOT PASSED at one_token *
  exercises/mine/02_warp_maximum.cu:$line: shuffle *" "$said"
(cd "$mine" && "../../$b/learn" run 02) >"$scratch/out" 2>&1
matches 'a fault, from below: a path that leads there' "*
  ../../exercises/mine/02_warp_maximum.cu:$line: shuffle *" "$(cat "$scratch/out")"
awk '{ print } /\/\/ TODO kernel/ { for (i = 0; i < 9; i++) print "    wrong_" i " = 1;" }' "$scratch/solved.cu" \
    >"$first"
learn run 02
matches 'many errors: the first few' '*NOT COMPILED: 9 errors
*wrong_0*wrong_1*wrong_2*
6 more errors

  task *' "$said"
succeeds 'many errors: no more' [ -z "$(printf '%s' "$said" | grep wrong_3)" ]
sed 's/    return mine;/    mine.id = mine.id < sizeof mine; return mine;/' "$scratch/solved.cu" \
    >"$first"
learn run 02
matches 'a warning is shown beside the failure' '*NOT PASSED*
  The compiler warns:
    exercises/mine/02_warp_maximum.cu:*: warning: *
          |*^*
  repeat *' "$said"

# The line has about 140 columns and the error is beyond column 80, so the beginning of the line is not shown.
wide=$(printf '%060d' 0 | tr 0 ' ')
sed "s/    return mine;/$wide$wide    return mne;/" "$scratch/solved.cu" >"$first"
line=$(grep -n 'return mne' "$first" | cut -d : -f 1)
learn run 02
matches 'an error beyond the last column: its code and the caret' '*NOT COMPILED: 1 error
*:'"$line"':* error: *
*'"$line"' |  *  return mne;
      |  *  ^~~
      |  *  mine

*' "$said"
sed 's/    return mine;/    std::optional<int> all; return mine;/' "$scratch/solved.cu" >"$first"
learn run 02
matches 'a note is wrapped' '*
exercises/mine/02_warp_maximum.cu:*: note: *
    *did you forget to *#include <optional>*
*' "$said"
sed 's/    return mine;/    mine.id = __shfl_up(mine.id, 1); return mine;/' "$scratch/solved.cu" >"$first"
learn run 02
matches 'a shuffle without a mask, which gcc reports twice' '*NOT COMPILED: 1 error
exercises/mine/02_warp_maximum.cu:*: error: *
*__shfl_up_sync(mask,*
  task *' "$said"
sed 's/    return mine;/    if (mine.id > 0) { return mine;/' "$scratch/solved.cu" >"$first"
learn run 02
open=$(grep -n '^{' "$first" | cut -d : -f 1 | head -n 1)
matches 'a brace that is not closed is the first error' "exercises/mine/02_warp_maximum.cu
NOT COMPILED: 1 error
exercises/mine/02_warp_maximum.cu:$open: error: this { is never closed

  task *" "$said"
sed 's/    return mine;/    typeid(mine); return mine;/' "$scratch/solved.cu" >"$first"
learn run 02
matches 'an error of the simulator is wrapped as well' '*NOT COMPILED: 1 error
exercises/mine/02_warp_maximum.cu:'"$line"': error: a kernel has no dynamic_cast and no
    typeid: *
  task *' "$said"

# --- files that cannot be graded ---
# no_file NAME PATTERN: checks that the learner's file is rejected, with a line that explains how to restore it
no_file() {
    refuses "$1" \
        "exercises/mine/02_warp_maximum.cu: $2 ('$b/learn reset 02_warp_maximum' brings the original back and keeps a copy of what is there)" \
        run 02
}
: >"$first"
no_file 'an empty file' 'it is empty'
printf '\n \n' >"$first"
no_file 'a blank file' 'it is empty'
printf 'a\0b' >"$first"
no_file 'a file that is no text' 'it holds a zero byte, so it is no text'
head -c 2000000 /dev/zero | tr '\0' x >"$first"
no_file 'a huge file' 'it is larger than 1 MiB'
rm "$first" && mkfifo "$first"
no_file 'a pipe' 'a device or a pipe, not a file'
rm "$first" && mkdir "$first"
no_file 'a directory' 'a directory, not a file'
learn reset 02
matches 'a directory is set aside too' '*
What was there is kept as exercises/mine/02_warp_maximum.cu.1.' "$said"
rm -r "$first.1"
sed '/#include "exercise.h"/d' "$scratch/solved.cu" >"$first"
refuses 'it includes nothing' \
    'exercises/mine/02_warp_maximum.cu:*: this line was "#include "exercise.h"": put it back, *' run 02
sed 's/enum { WARPS = 4 }/enum { WARPS = 8 }/' "$scratch/solved.cu" >"$first"
refuses 'the launch was changed' 'exercises/mine/02_warp_maximum.cu:*: this line was *' run 02
sed '/END kernel/d' "$scratch/solved.cu" >"$first"
refuses 'a marker is gone' 'exercises/mine/02_warp_maximum.cu:*' run 02
rm "$first"
refuses 'a file that was deleted' \
    "exercises/mine/02_warp_maximum.cu is gone; '$b/learn reset 02_warp_maximum' makes it from the original again" \
        run 02
refuses 'a hint for a file that was deleted' '*is gone; *' hint 02
equal 'it is not made unasked' no "$([ -e "$first" ] && echo yes || echo no)"
learn reset 02
equal 'it is made when asked' '0 exercises/mine/02_warp_maximum.cu is the original again.' "$code $said"
succeeds 'it is the original' cmp "$original" "$first"
chmod 000 "$first"
if unprivileged true 2>/dev/null; then
    chmod -R a+w "$mine" && chmod 000 "$first"
    (cd "$tree" && unprivileged "$b/learn" run 02) >"$scratch/out" 2>"$scratch/err"
    equal 'a file that cannot be read: exit' '2 1 0' "$? $(wc -l <"$scratch/err") $(wc -c <"$scratch/out")"
    matches 'a file that cannot be read' 'learn: exercises/mine/02_warp_maximum.cu: Permission denied (*' \
        "$(cat "$scratch/err")"
else
    skip 'a file that cannot be read' 'setpriv cannot take rights away here'
fi
chmod 644 "$first"

# --- passing ---
begin
learn run 02
cp "$scratch/solved.cu" "$first"
learn run 02 --seed 7
equal 'solved: exit' 0 "$code"
equal 'solved: what it says' "exercises/mine/02_warp_maximum.cu  seed N, N s
PASSED  all 7 cases
  measured shuffles a warp 10, global load requests a warp 1
  compare  $b/learn solution 02_warp_maximum
  next     $b/learn next  (03_second_maximum)" "$(without_figures "$said")"
equal 'solved: the list' 'passed 0 of 3' "$(state 02_warp_maximum)"
learn list
matches 'solved: the bar' '*
\[#...\]  1 of 4 passed
*' "$said"
matches 'solved: where one is now' '*
> 03_second_maximum *' "$said"
cp "$scratch/wrong.cu" "$first"
learn run 02
equal 'passed once: a failure is told' 'passed, failing now 0 of 3' "$(state 02_warp_maximum)"
learn list
matches 'passed once: it counts' '*  1 of 4 passed*' "$said"

# --- the next exercise ---
learn next
equal 'next: the first that is not passed' 'Next: 03_second_maximum  (fix **)
  a tie that is lost
  task     exercises/03_second_maximum/README.md
  edit     exercises/mine/03_second_maximum.cu' "$said"
succeeds 'next: its copy is made' cmp "$original" "$mine/03_second_maximum.cu"
learn next
matches 'next: one is left for later' '03_second_maximum is left for later.
Next: 08_up_sweep *' "$said"
learn run
matches 'run with no name: the one where one is' 'exercises/mine/08_up_sweep.cu *' "$said"
learn next
learn next
matches 'next: from the start again' '08_up_and_down is left for later.
Next: 03_second_maximum *' "$said"
for name in 03_second_maximum 08_up_sweep; do
    cp "$scratch/solved.cu" "$mine/$name.cu"
    learn run $name
done
equal 'the one after the last that was passed' "  next     $b/learn next  (08_up_and_down)" \
    "$(printf '%s\n' "$said" | tail -n 1)"
learn next
learn next
matches 'next: no other' 'Only 08_up_and_down is left.*' "$said"
cp "$scratch/solved.cu" "$mine/08_up_and_down.cu"
learn run 08_up_and
equal 'the last one: no next' "  compare  $b/learn solution 08_up_and_down" "$(printf '%s\n' "$said" | tail -n 1)"
learn next
equal 'all are passed' '0 Every exercise is passed.' "$code $said"
refuses 'run with no name: all are passed' 'every exercise is passed: say which one is meant' run
learn list
matches 'the list of one who is done' '*
\[####\]  4 of 4 passed' "$said"

# `next` selects the exercise after the last solved one, even if earlier exercises are open or that exercise has already
# been begun
begin
learn run 02
learn run 08_up_and_down
learn run 08_up_sweep
cp "$scratch/solved.cu" "$mine/08_up_sweep.cu"
learn run 08_up_sweep
equal 'solved out of order: what follows it' "  next     $b/learn next  (08_up_and_down)" \
    "$(printf '%s\n' "$said" | tail -n 1)"
learn next
matches 'solved out of order: next' 'Next: 08_up_and_down *' "$said"
learn next
matches 'what follows the last one: the first that is open' '08_up_and_down is left for later.
Next: 02_warp_maximum *' "$said"
learn run 08_up_sweep
learn next
matches 'solved once more: one stays where one was' '02_warp_maximum is left for later.
Next: 03_second_maximum *' "$said"

begin
learn run 08_up_sweep
learn hint 03
learn list
matches 'one is at the first that is not passed, whatever else was tried' '*> 02_warp_maximum *' "$said"

# --- hints ---
begin
learn hint 02
matches 'the first hint' '0 Hint 1 of 3
  *' "$code $said"
learn hint
matches 'the second hint, where one is' 'Hint 2 of 3
  *' "$said"
equal 'hints are counted' 'not begun 2 of 3' "$(state 02_warp_maximum)"
learn run
matches 'a failed run tells of the next' "*hint 02_warp_maximum  (2 of 3 seen)" "$said"
learn hint
matches 'the third' 'Hint 3 of 3
  *' "$said"
learn hint
equal 'after the last, all once more' "Hint 1 of 3
Hint 2 of 3
Hint 3 of 3
There are no more. The solution: $b/learn solution 02_warp_maximum" "$(printf '%s\n' "$said" | grep '^[HT]')"
learn run
matches 'a failed run tells of the solution' "*  stuck    $b/learn solution 02_warp_maximum" "$said"
cp "$tree/exercises/08_up_sweep/hints.md" "$scratch/hints.md"
printf 'no steps\n' >"$tree/exercises/08_up_sweep/hints.md"
refuses 'hints without steps' "exercises/08_up_sweep/hints.md: hints stand under lines '## 1', '## 2', ... up to 9" \
    hint 08_up_sweep
printf '## 1\na\n## 3\nb\n' >"$tree/exercises/08_up_sweep/hints.md"
refuses 'a step is missing' 'exercises/08_up_sweep/hints.md: *' hint 08_up_sweep
printf '## 1\n## 2\nb\n' >"$tree/exercises/08_up_sweep/hints.md"
refuses 'a step that says nothing' 'exercises/08_up_sweep/hints.md: *' hint 08_up_sweep
rm "$tree/exercises/08_up_sweep/hints.md"
refuses 'no hints' 'exercises/08_up_sweep/hints.md: it is not there, but belongs to the course: `git checkout` restores it' hint 08_up_sweep
printf '# T\n\nhello\n\n## 1\n\nOne\nline.\n- a\n- b\n\n```\nx\n  y\n```\n\n## 2\nb\n' \
    >"$tree/exercises/08_up_sweep/hints.md"
learn hint 08_up_sweep
equal 'paragraphs are filled; lists and code stay' 'Hint 1 of 2
  One line.
  - a
  - b

  ```
  x
    y
  ```' "$(printf '%s\n' "$said" | sed 's/^ *$//')"
cp "$scratch/hints.md" "$tree/exercises/08_up_sweep/hints.md"

# --- the solution ---
begin
learn solution 02
equal 'the solution is not shown at once: exit' 1 "$code"
matches 'the solution is not shown at once' \
    '02_warp_maximum is not passed yet. *asked once more, this shows the*solution.' "$said"
learn solution 02
equal 'asked twice' '0     // TODO warp_best' "$code $(printf '%s\n' "$said" | head -n 1)"
code_lines() {
    grep -v '^ *// ' "$1"
}
code_lines exercises/02_warp_maximum/solution.txt >"$scratch/expected"
code_lines "$scratch/out" >"$scratch/got"
succeeds 'every line of its code is as it was' cmp "$scratch/expected" "$scratch/got"
words() {
    tr -s ' \n/' '\n\n\n' <"$1" | grep .
}
words exercises/02_warp_maximum/solution.txt >"$scratch/expected"
words "$scratch/out" >"$scratch/got"
succeeds 'every word of its comments is there' cmp "$scratch/expected" "$scratch/got"
equal 'its comments fit 80 columns' '' "$(grep '^ *// ' "$scratch/out" | grep '.\{81\}')"
learn solution 03
equal 'the other one was not asked for' 1 "$code"
succeeds 'asking for the solution begins the exercise' cmp "$tree/exercises/03_second_maximum/exercise.cu" \
    "$mine/03_second_maximum.cu"
rm "$mine/03_second_maximum.cu"
learn solution 03
equal 'the solution, without a file' '0     // TODO' "$code $(printf '%s\n' "$said" | head -n 1 | cut -c 1-11)"
learn run 08_up_sweep
cp "$scratch/solved.cu" "$mine/08_up_sweep.cu"
learn run 08_up_sweep
learn solution 08_up_sweep
equal 'after passing: at once' '0     // TODO warp_best' "$code $(printf '%s\n' "$said" | head -n 1)"

# --- starting over ---
begin
learn run 02
for text in one two; do
    echo $text >"$first"
    learn reset 02_warp_maximum
done
learn reset 02
equal 'reset: the original is not kept' '0 exercises/mine/02_warp_maximum.cu is the original again.' "$code $said"
echo two >"$first"
rm "$first.2"
learn reset 02
equal 'reset: what it says' '0 exercises/mine/02_warp_maximum.cu is the original again.
What was there is kept as exercises/mine/02_warp_maximum.cu.2.' "$code $said"
equal 'reset: what was there is kept' 'one two' "$(cat "$first.1") $(cat "$first.2")"
succeeds 'reset: the original is back' cmp "$original" "$first"
cp "$scratch/solved.cu" "$first"
learn run 02
learn hint 02
learn reset 02
equal 'reset: nothing is passed or shown' 'not begun 0 of 3' "$(state 02_warp_maximum)"
learn solution 02
equal 'reset: the solution is not shown at once' 1 "$code"
learn reset 03
equal 'reset: what was never begun is begun' '0 exercises/mine/03_second_maximum.cu is the original again.' \
    "$code $said"
mv "$original" "$scratch/moved"
cp "$scratch/wrong.cu" "$first"
refuses 'reset: no original' 'exercises/02_warp_maximum/exercise.cu: it is not there, but belongs to the course: `git checkout` restores it' reset 02
succeeds 'reset: then nothing is touched' cmp "$scratch/wrong.cu" "$first"
refuses 'run: no original' 'exercises/02_warp_maximum/exercise.cu: it is not there, but belongs to the course: `git checkout` restores it' run 02
mv "$scratch/moved" "$original"

# --- the record ---
begin
learn run 02
learn hint 03
learn hint 03
echo '09_not_here passed yes no 2' >"$scratch/line"
sed -i "/^end/e cat $scratch/line" "$progress"
learn hint 03
equal 'the record: a line an exercise, also of those that are not here' '02_warp_maximum failed no no 0
03_second_maximum ungraded no no 3
09_not_here passed yes no 2' "$(grep '^0' "$progress" | sort)"
# damaged NAME: checks that the current record is set aside
damaged() {
    learn list
    matches "$1: a list says so" '0 learn: exercises/mine/.progress is damaged; *' "$code $refused"
    learn hint 02
    equal "$1: it is kept, and one line says so" \
        '0 learn: exercises/mine/.progress was damaged: it is kept as exercises/mine/.progress.damaged, and the record begins anew' \
        "$code $refused"
    learn hint 02
    equal "$1: and all goes on" '0 Hint 2 of 3' "$code $refused$(printf '%s\n' "$said" | head -n 1)"
}
echo garbage >"$progress"
damaged 'a record that is none'
sed -i '/^end/d' "$progress"
damaged 'a record without its end'
sed -i 's/^02.*/02_warp_maximum failed no no 100/' "$progress"
damaged 'a record with a wrong number'
sed -i 's/^at .*/at ..\/x/' "$progress"
damaged 'a record with a wrong name'
printf '\0' >>"$progress"
damaged 'a record with a zero byte'
rm "$progress" && mkdir "$progress"
damaged 'a directory for a record'
equal 'all of them are kept' 6 "$(find "$mine" -name '.progress.damaged*' | wc -l)"
equal 'the first is kept as it was' garbage "$(cat "$progress.damaged.1")"
equal 'nothing else is left there' '' "$(find "$mine" -name '*.tmp')"
equal 'no build is left behind' '' "$(find "$tree/$b/exercises" -mindepth 1)"

# --- two processes at once ---
begin
learn run 02
mkfifo "$scratch/gate"
flock "$mine/.lock" sh -c "echo held >$scratch/held; cat $scratch/gate" &
wait_for 1 held "$scratch/held"
(cd "$tree" && exec "$b/learn" run 02) >"$scratch/second" 2>"$scratch/second_err" &
second=$!
wait_for 1 'waiting' "$scratch/second_err"
equal 'the second says that it waits' 'learn: another learn is at work here; waiting for it' \
    "$(cat "$scratch/second_err")"
equal 'and grades nothing' '' "$(cat "$scratch/second")"
learn list
equal 'a list need not wait' 0 "$code"
: >"$scratch/gate"
await $second
equal 'then it goes on' '1 NOT PASSED' "$ended $(grep -o '^NOT PASSED' "$scratch/second")"
rm -f "$scratch/held"
flock "$mine/.lock" sh -c "echo held >$scratch/held; cat $scratch/gate" &
wait_for 1 held "$scratch/held"
(cd "$tree" && exec "$b/learn" run 02) >"$scratch/second" 2>"$scratch/second_err" &
second=$!
wait_for 1 'waiting' "$scratch/second_err"
kill -TERM $second
await $second
equal 'the wait can be broken off' 143 "$ended"
: >"$scratch/gate"
begin
pids=
for name in 02_warp_maximum 03_second_maximum 08_up_sweep 08_up_and_down 02_warp_maximum 03_second_maximum; do
    (cd "$tree" && exec "$b/learn" hint $name) >"$scratch/hint.$name.$$" 2>/dev/null &
    pids="$pids $!"
done
(cd "$tree" && exec "$b/learn" run 08_up_sweep) >/dev/null 2>&1 &
for pid in $pids $!; do
    wait "$pid"
done
equal 'seven at once: nothing is lost' '02_warp_maximum ungraded no no 2
03_second_maximum ungraded no no 2
08_up_and_down ungraded no no 1
08_up_sweep failed no no 1' "$(grep '^0' "$progress" | sort)"

# --- watching ---
# watch: starts build/learn; sets $watcher to its process id; its output is in $scratch/watch
watch() {
    : >"$scratch/watch"
    (cd "$tree" && exec "$b/learn") >"$scratch/watch" 2>"$scratch/watch_err" </dev/null &
    watcher=$!
    wait_for 1 '^Watching' "$scratch/watch"
}
# graded NAME: prints how many times the exercise was graded
graded() {
    grep -c -e "^exercises/mine/$1.cu\$" -e "^exercises/mine/$1.cu  seed" "$scratch/watch"
}
begin
watch
wait_for 1 '^NOT PASSED' "$scratch/watch"
equal 'watching: where one is' '[....]  0 of 4 passed

02_warp_maximum  (write *)
  the best expert among a warp'"'"'s 32 lanes
  task     exercises/02_warp_maximum/README.md
  edit     exercises/mine/02_warp_maximum.cu

Watching exercises/mine: a file is graded when it is saved. Ctrl-C ends.' "$(head -n 8 "$scratch/watch")"
equal 'watching: that one is graded' 1 "$(graded 02_warp_maximum)"
cat "$scratch/solved.cu" >"$first"
wait_for 1 '^Next: ' "$scratch/watch"
matches 'watching: a save that truncates and writes' "*
PASSED  all 7 cases
  measured shuffles a warp 10, global load requests a warp 1
  compare  $b/learn solution 02_warp_maximum

\[#...\]  1 of 4 passed
Next: 03_second_maximum  (fix \*\*)
*" "$(cat "$scratch/watch")"
succeeds 'watching: the next copy is made' wait_until cmp "$original" "$mine/03_second_maximum.cu"
cp "$scratch/wrong.cu" "$mine/08_up_and_down.cu"
wait_for 1 '^exercises/mine/08_up_and_down.cu' "$scratch/watch"
equal 'watching: a copy that was made is no save' 0 "$(graded 03_second_maximum)"
cp "$scratch/wrong.cu" "$mine/#edited"
mv "$mine/#edited" "$mine/03_second_maximum.cu"
wait_for 1 '^exercises/mine/03_second_maximum.cu' "$scratch/watch"
succeeds 'watching: a save by a rename' wait_for 2 'NOT PASSED at equal_scores' "$scratch/watch"
kill -STOP $watcher
for number in 1 2 3 4 5 6 7 8 9; do
    cp "$scratch/solved.cu" "$mine/08_up_sweep.cu"
    : >"$mine/08_up_sweep.cu"
    cp "$scratch/solved.cu" "$mine/x$number" && mv "$mine/x$number" "$mine/08_up_sweep.cu"
    echo >"$mine/08_up_sweep.cu~"
    echo >"$mine/.08_up_sweep.cu.swp"
    echo >"$mine/4913"
done
kill -CONT $watcher
wait_for 1 '^exercises/mine/08_up_sweep.cu' "$scratch/watch"
echo >"$mine/02_warp_maximum.cu~"
echo >"$mine/02_warp_maximum.cu.1"
sed 's/return mine;/return mne;/' "$scratch/solved.cu" >"$mine/08_up_and_down.cu"
succeeds 'watching: what does not compile' wait_for 1 'NOT COMPILED' "$scratch/watch"
equal 'watching: a burst of events grades once' '1 2' "$(graded 08_up_sweep) $(graded 08_up_and_down)"
equal 'watching: nothing else was graded again' '2 1' "$(graded 02_warp_maximum) $(graded 03_second_maximum)"
rm "$first"
: >"$mine/08_up_and_down.cu"
succeeds 'watching: a file that cannot be graded is told' wait_for 1 '08_up_and_down.cu: it is empty' \
    "$scratch/watch_err"
cp "$scratch/solved.cu" "$scratch/again.cu"
mv "$scratch/again.cu" "$first"
succeeds 'watching: and it goes on' wait_for 3 '^exercises/mine/02_warp_maximum.cu' "$scratch/watch"
succeeds 'watching: an exercise that had passed before does not move the learner on' wait_until sh -c \
    "[ \$(grep -c '^PASSED' '$scratch/watch') -eq 3 ]"
equal 'watching: another that passes does' 2 "$(grep -c '^Next: ' "$scratch/watch")"
kill -INT $watcher
await $watcher
equal 'watching: Ctrl-C ends it, and it says how far one is' '0 [##..]  2 of 4 passed' \
    "$ended $(tail -n 1 "$scratch/watch")"
equal 'watching: what it refused' 1 "$(wc -l <"$scratch/watch_err")"
equal 'watching: the record has it all' '02_warp_maximum passed yes no 0
03_second_maximum failed no no 0
08_up_and_down failed no no 0
08_up_sweep passed yes no 0' "$(grep '^0' "$progress" | sort)"
cat "$scratch/watch" >>"$scratch/all"
rm "$mine/08_up_and_down.cu"
watch
equal 'watching: the file where one is is gone' '1 0' \
    "$(grep -c '08_up_and_down.cu is gone; ' "$scratch/watch_err") $(grep -c '^exercises/mine' "$scratch/watch")"
learn reset 08_up_and
cp "$scratch/wrong.cu" "$mine/08_up_and_down.cu"
succeeds 'watching: and graded when it is there again and saved' wait_for 1 '^exercises/mine/08_up_and_down.cu' \
    "$scratch/watch"
kill -TERM $watcher
await $watcher
equal 'watching: SIGTERM ends it as such' 143 "$ended"
watch
wait_for 1 '^NOT PASSED' "$scratch/watch"
rm -r "$mine"
await $watcher
equal 'watching: the folder is removed' '2 learn: the folder was removed or renamed' \
    "$ended $(cat "$scratch/watch_err")"
begin
learn run 02
printf '#!/bin/sh\necho $$ >"%s"\nexec sleep 1000\n' "$scratch/compiling" >"$scratch/slow"
rm "$tree/$b/cpu/rewrite_launch"
cp "$scratch/slow" "$tree/$b/cpu/rewrite_launch"
chmod +x "$tree/$b/cpu/rewrite_launch"
cp "$progress" "$scratch/before"
(cd "$tree" && exec "$b/learn" run 02) >"$scratch/out" 2>"$scratch/err" &
second=$!
wait_until [ -s "$scratch/compiling" ]
kill -TERM $second
await $second
equal 'a grading that is broken off: exit, and no word' '143 0 0' \
    "$ended $(wc -c <"$scratch/out") $(wc -c <"$scratch/err")"
succeeds 'a grading that is broken off: what it ran is gone' wait_until gone "$(cat "$scratch/compiling")"
equal 'a grading that is broken off: its folder is gone' '' "$(find "$tree/$b/exercises" -mindepth 1)"
succeeds 'a grading that is broken off: the record is as it was' cmp "$scratch/before" "$progress"
rm "$tree/$b/cpu/rewrite_launch"
ln -s "$root/$b/cpu/rewrite_launch" "$tree/$b/cpu/rewrite_launch"

# --- output of a learner's kernel ---
printing=$scratch/printing.cu
awk '{ print } /\/\/ TODO kernel/ { print "    if (threadIdx.x == 0) printf(\"hello\\033[2J %d\\n\", token);" }' \
    "$scratch/solved.cu" >"$printing"
cp "$printing" "$first"
learn run 02
matches 'what it prints is not shown unasked' '*  printed  * bytes; add --output to see them*' "$said"
learn run 02 --output
matches 'what it prints is shown when asked for' '*
  The program printed:
    hello?\[2J 0
*' "$said"
sed 's/    return mine;/    for (;;) mine.id++;/' "$scratch/solved.cu" >"$first"
learn run 02
matches 'an endless loop' '1 *NOT PASSED at one_token*' "$code $said"

# --- step by step ---
begin
learn hint 02
cat "$scratch/solved.cu" >"$first"
learn step 02
equal 'step: what it says' "0 This page plays what your kernel does, step by step:
  $b/step/02_warp_maximum.html" "$code $said"
succeeds 'step: the page names its steps' grep -q 'all lanes read lane ^ 16 (__shfl_xor_sync)' \
    "$tree/$b/step/02_warp_maximum.html"
succeeds 'step: the page has what plays it' test -s "$tree/$b/step/stepper.js" -a -s "$tree/$b/step/stepper.css"
equal 'step: nothing is judged' 'begun 1 of 3' "$(state 02_warp_maximum)"
sed 's/return mine;/return mne;/' "$scratch/solved.cu" >"$first"
learn step 02
matches 'step: what does not compile' '2 *NOT COMPILED: 1 error*' "$code $said"
cp "$scratch/solved.cu" "$first"
mkdir "$scratch/no_python"
printf '#!/bin/sh\necho no python >&2\nexit 1\n' >"$scratch/no_python/python3"
chmod +x "$scratch/no_python/python3"
(cd "$tree" && PATH=$scratch/no_python:$PATH exec "$b/learn" step 02) >"$scratch/out" 2>"$scratch/err"
equal 'step: without Python' \
    "2 learn: $b/step/02_warp_maximum.json is the trace, but python3 made no page of it: no python" \
    "$? $(cat "$scratch/err")"

# --- places ---
mkdir "$scratch/alone"
cp "$tree/$b/learn" "$scratch/alone/learn"
"$scratch/alone/learn" list >"$scratch/out" 2>"$scratch/err"
equal 'away from the course: exit' '2 1 0' "$? $(wc -l <"$scratch/err") $(wc -c <"$scratch/out")"
matches 'away from the course' "learn: no folder above $scratch/alone/learn has build.ninja and exercises/: *" \
    "$(cat "$scratch/err")"
begin
(cd / && "$tree/$b/learn" list) >"$scratch/out" 2>&1
matches 'from any folder' '*> 02_warp_maximum *' "$(cat "$scratch/out")"
(mkdir "$scratch/gone" && cd "$scratch/gone" && rmdir "$scratch/gone" && "$tree/$b/learn" run 02) >"$scratch/out" 2>&1
equal 'from a folder that is gone: whole paths' "$tree/exercises/mine/02_warp_maximum.cu" \
    "$(head -n 1 "$scratch/out" | cut -d ' ' -f 1)"
(cd "$tree" && "$b/learn" list >/dev/full) 2>"$scratch/err"
equal 'an output that is full' '2 learn: standard output: cannot be written: No space left on device' "$? $(cat "$scratch/err")"
mv "$tree/$b/cpu/graders.a.objects/exercises_08_up_sweep_grader.o" "$scratch/moved"
refuses 'a grader that was not built' '*ninja learn*' run 08_up_sweep
mv "$scratch/moved" "$tree/$b/cpu/graders.a.objects/exercises_08_up_sweep_grader.o"
for file in libsimt.a libgrade.a; do
    mv "$tree/$b/cpu/$file" "$scratch/moved"
    refuses "a library that was not built: $file" "$b/cpu/$file is not built: *ninja learn*" run 08_up_sweep
    mv "$scratch/moved" "$tree/$b/cpu/$file"
done
learn run 02 --gpu
equal 'no GPU: exit and lines' '3 1 0' "$code $(wc -l <"$scratch/err") $(wc -c <"$scratch/out")"
case $refused in
'learn: '*/*': '*) equal 'no GPU: no path of an object' '' "$refused" ;;
esac
(cd "$tree" && PATH=/nonexistent "$b/learn" run 02) >"$scratch/out" 2>"$scratch/err"
equal 'no compiler: exit, lines, output' '2 1 0' "$? $(wc -l <"$scratch/err") $(wc -c <"$scratch/out")"

# --- a tree that cannot be written ---
if unprivileged true 2>/dev/null; then
    chmod -R a+rX "$tree"
    # cannot NAME WORD...: checks for exit status 2 and one line
    cannot() {
        cannot_name=$1
        shift
        (cd "$tree" && unprivileged "$b/learn" "$@") >"$scratch/out" 2>"$scratch/err" </dev/null
        equal "$cannot_name: exit, lines, output" '2 1 0' "$? $(wc -l <"$scratch/err") $(wc -c <"$scratch/out")"
        matches "$cannot_name: says why" 'learn: exercises/mine: it cannot be *: Permission denied' \
            "$(cat "$scratch/err")"
    }
    begin
    chmod a-w "$tree/exercises"
    cannot 'no copies can be made' run 02
    cannot 'no copies can be made: bare'
    cannot 'no copies can be made: hint' hint 02
    cannot 'no copies can be made: reset' reset 02
    chmod u+w "$tree/exercises"
    learn run 02
    chmod -R a-w "$mine"
    cannot 'nothing can be noted' run 02
    cannot 'nothing can be noted: solution' solution 02
    cannot 'nothing can be noted: next' next
    succeeds 'the copy is as it was' cmp "$original" "$first"
    (cd "$tree" && unprivileged "$b/learn" list) >"$scratch/out" 2>"$scratch/err"
    equal 'the list is shown all the same' '0 0' "$? $(wc -l <"$scratch/err")"
    chmod -R u+w "$mine"
else
    skip 'a tree that cannot be written' 'setpriv cannot take rights away here'
fi

# --- colours and terminals ---
esc=$(printf '\033')
equal 'no colour where there is no terminal' 0 "$(grep -c "$esc" "$scratch/all")"
wide=$(LC_ALL=C.UTF-8 grep -v '^        if (other.value > mine.value || ' "$scratch/all" | LC_ALL=C.UTF-8 wc -L)
succeeds "no line is longer than 80 columns: $wide" [ "$wide" -le 80 ]
# on_terminal COLUMNS COMMAND: prints the command's output on a terminal of that width
on_terminal() {
    (cd "$tree" && TERM=xterm script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r')
}
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    begin
    matches 'colour on a terminal' "*$esc\[1;31mNOT PASSED$esc\[0m*" "$(on_terminal 80 "$b/learn run 02")"
    equal 'NO_COLOR turns it off' 0 "$(on_terminal 80 "NO_COLOR=1 $b/learn run 02" | grep -c "$esc")"
    equal 'an empty NO_COLOR does not' yes "$(on_terminal 80 "NO_COLOR= $b/learn run 02" | grep -q "$esc" && echo yes)"
    equal 'a terminal without colour has none' 0 "$(on_terminal 80 "TERM=dumb $b/learn run 02" | grep -c "$esc")"
    on_terminal 60 "NO_COLOR=1 $b/learn run 02; NO_COLOR=1 $b/learn hint 02" >"$scratch/narrow"
    succeeds 'a narrow terminal: lines fit' [ "$(LC_ALL=C.UTF-8 wc -L <"$scratch/narrow")" -le 60 ]
    matches 'a narrow terminal: nothing is missing' '*Hint 1 of 3*' "$(cat "$scratch/narrow")"

    begin
    mkfifo "$scratch/keys"
    (cd "$tree" && TERM=dumb script -qec "stty cols 60; $b/learn; stty -a" /dev/null) <"$scratch/keys" \
        >"$scratch/seen" 2>&1 &
    seer=$!
    exec 9>"$scratch/keys"
    # press KEY COUNT TEXT: presses the key; the text must then be in COUNT lines, followed by the line with the keys
    pressed=1
    press() {
        printf '%s' "$1" >&9
        pressed=$((pressed + 1))
        succeeds "the key $1" wait_for "$2" "$3" "$scratch/seen"
        wait_for $pressed 'h hint  n next  o output  l list  q quit' "$scratch/seen"
    }
    wait_for 1 'q quit' "$scratch/seen"
    press h 1 'Hint 1 of 3'
    press n 1 '^Next: 03_second_maximum'
    press h 2 'Hint 1 of 3'
    awk '{ print } /\/\/ TODO kernel/ { print "    printf(\"hello\\n\");" }' "$original" >"$mine/03_second_maximum.cu"
    wait_for 1 '  printed ' "$scratch/seen"
    pressed=$((pressed + 1)) # because saving the file has printed that line again
    press o 1 '^    hello'
    press l 1 '> 03_second_maximum'
    printf 'xq' >&9
    await $seer
    exec 9>&-
    matches 'the key q ends it, and keys are lines again' "0 *0 of 4 passed*[ ;]icanon*[ ;]echo *" \
        "$ended $(tr '\r\n' '  ' <"$scratch/seen")"
else
    skip 'colour on a terminal' 'script(1) cannot make one here'
fi

# --- errors ---
begin
learn run 02_w --seed 1
mkfifo "$scratch/pipe"
cp "$scratch/wrong.cu" "$first"
"$b/cpu/02_warp_per_group" --num-tokens 3 --format json >"$scratch/report.json" 2>/dev/null
export tree mine scratch
hostile "$b/learn" <<'END'
2|learn: standard output: cannot be written: No space left on device|cd "$tree"; $P list >/dev/full
2|learn: standard output: cannot be written: Bad file descriptor|cd "$tree"; $P list >&-
2|learn: standard output: cannot be written|cd "$tree"; $P run 02_w --seed 1 >&-
2|learn: standard output: cannot be written: Bad file descriptor|$P --help >&-
2|learn: standard output: cannot be written: No space left on device|$P --version >/dev/full
2||cd "$tree"; $P list >&- 2>&- <&-
0||cd "$tree"; env -i $P list
2|learn: --seed: '?1' is not a whole number (leave out the white space)|cd "$tree"; $P run --seed "$(printf '\t1')"
2|learn: 'a?[[]31m' is no command; *|$P "$(printf 'a\033[31m')"
2|learn: exercises/*: Too many open files|cd "$tree"; ulimit -n 6; $P run 02_w
0||cd "$tree"; grep -q "02_warp_maximum failed" "$mine/.progress"
2||cd "$tree"; ulimit -f 0; $P run 02_w --seed 1
0||cd "$tree"; grep -q "02_warp_maximum failed" "$mine/.progress"
3|learn: too little memory, address space (ulimit -v shows a limit) or processes to launch in|cd "$tree"; ulimit -v 100000; $P run 02_w --seed 1
1||cd "$tree"; OMP_NUM_THREADS=abc SIMT_EVENT_LIMIT=x $P run 02_w --seed 1
0||cd "$tree"; mv "$mine" "$scratch/kept"; : >"$mine"; $P list; e=$?; rm "$mine"; mv "$scratch/kept" "$mine"; exit $e
2|learn: exercises/mine: it cannot be *|cd "$tree"; mv "$mine" "$scratch/kept"; mkfifo "$mine"; $P run 02_w; e=$?; rm "$mine"; mv "$scratch/kept" "$mine"; exit $e
END
hostile "$b/cpu/grade_answer" <<'END'
2|02_warp_maximum: standard output: cannot be written|$P 02_warp_maximum exercises/02_warp_maximum/solution.txt --seed 1 >&-
2|02_warp_maximum: */pipe: a device or a pipe, not a file|$P 02_warp_maximum "$scratch/pipe"
2|usage: *|$P ""x --seed -1
END
hostile "python3 common/chapter_table.py" <<'END'
2|chapter_table: standard output: cannot be written|$P "$scratch/report.json" >/dev/full
2|chapter_table: standard output: cannot be written|$P "$scratch/report.json" >&-
2|chapter_table: */nothing: No such file or directory|$P "$scratch/report.json" "$scratch/nothing"
2|chapter_table: tests/tap.sh: no report in it; a chapter's program with --format json prints one|$P tests/tap.sh
END
hostile "$b/cpu/rewrite_launch" <<'END'
1|*: the output cannot be written: *|$P chapters/02_warp_per_group/gate.cu >/dev/full
1|*: the output cannot be written: *|$P chapters/02_warp_per_group/gate.cu >&-
END
hostile "$b/cpu/first_3" "$b/cpu/primer gate" "$b/cpu/primer who" <<'END'
1||$P >/dev/full
1||$P >&-
END

# --- the README and the catalogue ---
sed -n 's/^    {"\([^"]*\)".*/\1/p' "$b/cpu/obj/catalogue.c" | sort >"$scratch/catalogue"
find exercises -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' | sed 's/.*\///' | sort >"$scratch/folders"
equal 'the catalogue has every folder, and no other' "$(cat "$scratch/folders")" "$(cat "$scratch/catalogue")"
sh tests/record_session.sh "$b" >"$scratch/readme"
without_times() {
    sed 's/\(seed [0-9]*\), [0-9.]* s$/\1, N s/' "$1"
}
without_times exercises/README.md >"$scratch/expected"
without_times "$scratch/readme" >"$scratch/got"
succeeds 'exercises/README.md has the catalogue'"'"'s list, and what learn says now (tests/record_session.sh writes both)' \
    diff -u "$scratch/expected" "$scratch/got"
equal 'the session passes in the end' 'PASSED  all' "$(grep -o '^PASSED  all' "$scratch/readme")"
equal 'a file of a learner was not touched' "$mine_before" "$(ls -la exercises/mine 2>/dev/null)"

finish
