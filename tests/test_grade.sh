#!/bin/sh
# Tests exercises/grade/grade.h, which graders use: each case of grade_cases.c must have its expected result.
#
# run: $b/tests/grade_cases
set -u
. "$(dirname "$0")/tap.sh"
program=$1

# records KIND SEED [ARGUMENT...]: prints the records of that kind, with tabs replaced by spaces
records() {
    records_kind=$1
    records_seed=$2
    shift 2
    "$program" --seed "$records_seed" "$@" | sed -n "s/^$records_kind	*//p" | tr '\t' ' ' | sed 's/ *$//'
}

# ends CASE PATTERN: checks the result and the message of a case
ends() {
    matches "$1" "$2" "$(printf '%s\n' "$cases" | sed -n "s/^$1 //p")"
}

cases=$(records case 1)
gate='(3 tokens, 64 experts in 4 groups, *; logits: normal)'
ends gate_right 'pass'
ends gate_wrong "fail token 0: *$gate"
ends gate_refused "fault the launch failed: invalid configuration argument $gate"
ends gate_nonsense 'fault not your fault: --num-experts: *'
ends align_right 'pass'
ends align_wrong 'fail num_tokens_post_padded*(100 i32 ids of 8 experts in blocks of 16, *; ids: zipf, with a map)'
ends all_equal 'pass'
ends one_unwritten 'fail slot 3: numbers: expected 1, but it was never written (4 numbers)'
ends one_differs 'fail slot 2: numbers: expected 5, got 4'
ends float_differs 'fail slot 1: floats: expected nan, got 2'
ends past_the_end 'fail numbers: written 1 bytes past its end'
ends input_written 'fail numbers: the kernel wrote to its input'
ends not_launched 'fault the launch failed: invalid configuration argument'
ends unknown_array 'fault not your fault: the grader asks for an array that it did not make'
ends unknown_counter 'fault not your fault: the grader asks for a counter "shuffels", which is not there'
ends within_budget 'pass'
ends over_budget 'fail over budget: barriers: 4, at most 3 are allowed'
ends foreseen 'pass'
ends unforeseen 'fail shuffles: you predicted -1; more were measured'
ends nothing_stays 'pass'
ends ends_early 'fault the program ended with exit code 0 in its launch; try: no exit() *'
ends message_with_breaks 'fail one two three'
ends endless 'fault *timed out*'
ends after_endless 'fault not tried, since an earlier case did not end well'

equal "every case is announced" "$(records plan 1) $(records plan 1)" \
    "$(records try 1 | wc -l | tr -d ' ') $(printf '%s\n' "$cases" | wc -l | tr -d ' ')"
equal "figures: of all kernels, and of one" "launches 1
barriers 9
gate_kernel 9
other_kernel 0" "$(records measure 1 --only gate_right)"
equal "figures within and over the budget" "barriers 3 barriers 4" \
    "$(records measure 1 --only within_budget) $(records measure 1 --only over_budget)"

first=$(records measure 1 --only random_numbers)
matches "a case draws numbers" "first [0-9]*" "$first"
equal "the same for the same seed, alone or not" "$first" "$(records measure 1 | grep first | head -n 1)"
succeeds "others for another seed" test "$first" != "$(records measure 2 --only random_numbers)"
succeeds "others for another case" test "$first" != "$(records measure 1 --only other_numbers)"

# code ARGUMENT...: runs the program and prints its exit code
code() {
    "$program" "$@" >/dev/null 2>&1
    echo $?
}
equal "exit codes: passed, failed" "0 1" "$(code --only all_equal) $(code --only one_differs)"
equal "exit codes: no such case, no number, no value, no flag" "2 2 2 2" \
    "$(code --only nothing) $(code --seed 1x) $(code --seed) $(code --sead 1)"
finish
