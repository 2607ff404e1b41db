#!/bin/sh
# Tests tests/mutants.py on mutants that a check rejects, that are equivalent to the kernel, that survive, or whose
# entry in the list is wrong.
#
# run in all: $b
set -u
. "$(dirname "$0")/tap.sh"
build=$1

# mutants NAME EXPECTED WORD...: checks the script's output for the mutants that the words select, each run once
mutants() {
    mutants_name=$1
    mutants_expected=$2
    shift 2
    matches "mutants: $mutants_name" "$mutants_expected" \
        "$(python3 tests/mutants.py --build "$build" --run '--num-tokens 31 --dist ties' "$@" 2>&1; echo "exit $?")"
}
tie='if (other.value >= mine.value && (other.value > mine.value || other.id < mine.id))'
same="$tie :: $(echo "$tie" | sed 's/id < /id <= /') :: candidates with the same id are the same"
reversed="$tie :: $(echo "$tie" | sed 's/id < /id > /') :: not so"
echo "chapters/02*/gate.cu :: $same" >"$scratch/same"
echo "chapters/02*/gate.cu :: $reversed" >"$scratch/reversed"
echo 'chapters/02*/gate.cu :: no such line :: nor this :: it is gone' >"$scratch/gone"
mutants "one is refused" '02_warp_per_group: 1 mutants: 1 refused (wrong answer 1), 0 equivalent, 0 survived*exit 0' \
    --equivalent /dev/null 02_warp 'a tie reversed'
mutants "one is the same kernel" '*: 1 mutants: 0 refused (), 1 equivalent, 0 survived*exit 0' \
    --equivalent "$scratch/same" 02_warp 'id <= mine.id'
mutants "one survives" 'survived: *id <= mine.id*: 1 mutants: 0 refused (), 0 equivalent, 1 survived*exit 1' \
    --equivalent /dev/null 02_warp 'id <= mine.id'
mutants "one is listed wrongly" 'listed as equivalent, but wrong answer: *1 neither refused nor equivalent*exit 1' \
    --equivalent "$scratch/reversed" --all 02_warp 'a tie reversed'
mutants "one that was listed is gone" '*there is no such mutant: chapters/02*exit 1' --equivalent "$scratch/gone" \
    --list 02_warp
mutants "no mutant has this word" "mutants: no mutant matches 'nosuch'; --list shows all
exit 2" --list nosuch
finish
