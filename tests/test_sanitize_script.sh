#!/bin/sh
# Tests tests/gpu/sanitize.sh with a stub compute-sanitizer: which arguments the script passes to the tool, and that the
# script fails unless every run is clean.
. tests/tap.sh
bin=$scratch/bin
mkdir -p "$bin" "$scratch/none"

# sanitizer BODY: puts into PATH a compute-sanitizer that records its arguments
sanitizer() {
    printf '#!%s\necho "$*" >>"%s"\n%s\n' "$(command -v sh)" "$scratch/asked" "$1" >"$bin/compute-sanitizer"
    chmod +x "$bin/compute-sanitizer"
    : >"$scratch/asked"
}

# sanitize PROGRAM...: prints the script's exit status, and how many of its tests passed and failed
sanitize() {
    output=$(PATH=$bin:$PATH CUDA_HOME='' CUDA_DEFAULT=$scratch/none sh tests/gpu/sanitize.sh "$@" 2>&1)
    echo "$? $(echo "$output" | grep -c '^ok ') $(echo "$output" | grep -c '^not ok ')"
}

# A tool that runs the program and prints a summary in the format of the real tools.
# shellcheck disable=SC2016 # the stub expands the variables
clean='tool=$2
shift 6
"$@" || exit
case $tool in
racecheck) echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" ;;
*) echo "========= ERROR SUMMARY: 0 errors" ;;
esac'

# program NAME STATUS OPTION [REASON]: puts into PATH a stub of a chapter's program that always prints the option,
# prints the reason on standard error and exits with STATUS
program() {
    printf '#!%s\necho %s\necho "%s" >&2\nexit %s\n' "$(command -v sh)" "$3" "${4:-}" "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}
program gate 0 --num-expert-group
program wrong 1 --num-expert-group
program align 0 --block-size
program parallel 0 --tokens-per-group
program other 0 --num-rows
program older_build 3 --hidden-size 'layer: this program needs sm_90, and this build is for sm_80'
program older_gpu 3 --hidden-size 'layer: this program needs compute capability 9.0: T4 has 7.5'
program no_gpu 3 --num-expert-group 'gate: no GPU: none is visible'

message='sanitize.sh: compute-sanitizer is missing: it comes with the CUDA Toolkit'
mkdir "$scratch/tools"
ln -s "$(command -v dirname)" "$(command -v sh)" "$scratch/tools"
for program in '' true; do
    # shellcheck disable=SC2086 # none, or one
    equal "no compute-sanitizer${program:+, and a program}" "$message 1" \
        "$(PATH=$scratch/tools CUDA_HOME='' CUDA_DEFAULT=$scratch/none sh tests/gpu/sanitize.sh $program 2>&1 | tr '\n' ' ';
            PATH=$scratch/tools CUDA_HOME='' CUDA_DEFAULT=$scratch/none sh tests/gpu/sanitize.sh $program 2>/dev/null; echo $?)"
done

sanitizer "$clean"
equal 'no program: there is a compute-sanitizer' '0 0 0' "$(sanitize)"
equal 'it was not run' '' "$(cat "$scratch/asked")"
equal 'all clean' '0 10 0' "$(sanitize gate)"
equal 'what was asked for' '--tool memcheck --error-exitcode 86 --print-limit 5 gate --num-tokens 300 --dtype f32
--tool memcheck --error-exitcode 86 --print-limit 5 gate --num-tokens 300 --dtype bf16
--tool racecheck --error-exitcode 86 --print-limit 5 gate --num-tokens 300 --dtype f32
--tool racecheck --error-exitcode 86 --print-limit 5 gate --num-tokens 300 --dtype bf16
--tool synccheck --error-exitcode 86 --print-limit 5 gate --num-tokens 300 --dtype f32
--tool synccheck --error-exitcode 86 --print-limit 5 gate --num-tokens 300 --dtype bf16
--tool initcheck --error-exitcode 86 --print-limit 5 gate --num-tokens 300 --dtype f32
--tool initcheck --error-exitcode 86 --print-limit 5 gate --num-tokens 300 --dtype bf16
--tool memcheck --error-exitcode 86 --print-limit 5 gate --check-all
--tool synccheck --error-exitcode 86 --print-limit 5 gate --check-all' "$(cat "$scratch/asked")"
: >"$scratch/asked"
equal 'an align program' '0 14 0' "$(sanitize align)"
equal 'what was asked for of that' '--num-tokens 700 --ids i32
--num-tokens 300 --ids i64 --expert-map random --misalign 1
--num-tokens 30 --num-experts 16 --dist uniform' "$(sed -n "s|.*racecheck .* align ||p" "$scratch/asked")"
equal 'a program with ranks: its two runs, no grid' '0 8 0' "$(sanitize parallel)"
equal 'a program of another operator: as it comes' '0 6 0' "$(sanitize other)"
equal 'two programs' '0 20 0' "$(sanitize gate gate)"
equal 'a program that does not verify' '1 0 10' "$(sanitize wrong)"
for lacking in older_build older_gpu; do
    matches "$lacking: skipped, with the reason" "ok 1 - $lacking # SKIP layer: *" \
        "$(PATH=$bin:$PATH sh tests/gpu/sanitize.sh $lacking 2>&1)"
done
equal 'no GPU at all is no reason to skip' '1 0 10' "$(sanitize no_gpu)"
sanitizer 'echo "========= ERROR SUMMARY: 1 error"; exit 86'
equal 'an error, told by the exit status too' '1 0 10' "$(sanitize gate)"
sanitizer 'echo "========= ERROR SUMMARY: 1 error"'
equal 'an error, told by the summary alone' '1 0 10' "$(sanitize gate)"
sanitizer 'echo "========= ERROR SUMMARY: 10 errors"'
equal 'ten errors are not none' '1 0 10' "$(sanitize gate)"
sanitizer 'echo "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)"'
equal 'a warning of a race' '1 0 10' "$(sanitize gate)"
sanitizer "$clean; echo '========= LEAK SUMMARY: 4 bytes leaked in 1 allocations'"
equal 'one summary clean, another not' '1 0 10' "$(sanitize gate)"
sanitizer 'echo "========= ERROR SUMMARY: 0 errors"'
equal "another tool's summary is not racecheck's" '1 8 2' "$(sanitize gate)"
sanitizer 'echo verified'
equal 'no summary' '1 0 10' "$(sanitize gate)"
sanitizer 'echo "========= ERROR SUMMARY: 0 errors"; kill -9 $$'
equal 'killed' '1 0 10' "$(sanitize gate)"
sanitizer "$clean; [ \$tool != synccheck ] || exit 86"
equal 'one tool finds something' '1 7 3' "$(sanitize gate)"
mv "$bin/compute-sanitizer" "$scratch/none"
mkdir "$scratch/none/bin"
mv "$scratch/none/compute-sanitizer" "$scratch/none/bin"
equal "the toolkit's own" '1 7 3' "$(sanitize gate)"
finish
