#!/bin/sh
# Runs tests, as many at once as there are processors, and adds up what they report in the Test Anything Protocol.
#
#   sh tests/run.sh [-j JOBS] [-t SECONDS] TEST...
#
# A TEST is a cmocka program or a shell script (*.sh), with its arguments, if any, after it in the same word. A test passes if
# all it planned ran and passed, it exited with 0, and took at most SECONDS (600). The last line is the sum. Exits 1 if
# anything failed or nothing ran.
set -u

# read_tap STATUS SECONDS: reads a test's output; prints "passed failed skipped", then a line for each skip and reason to fail
read_tap() {
    awk -v status="$1" -v seconds="$2" '
        function skip(name, reason) {
            skipped++
            notes = notes "skip " name ": " (reason == "" ? "no reason given" : reason) "\n"
        }
        function fail(reason) {
            failed++
            notes = notes "fail " reason "\n"
        }
        /^1\.\.[0-9]+/ {
            has_plan = 1
            planned += substr($1, 4)
            if (sub(/^1\.\.0 *# *[Ss][Kk][Ii][Pp][^ ]* */, ""))
                skip("all of it", $0)
        }
        /^# skip: / { reason = substr($0, 9) }
        /^(not )?ok / {
            ran++
            if ((at = match($0, / *# *[Ss][Kk][Ii][Pp][^ ]* */)) > 0) {
                name = substr($0, 1, at - 1)
                after = substr($0, at + RLENGTH)
                if (sub(/^(not )?ok *[0-9]* *-? */, "", name) && name != "")
                    skip(name, after)
                else
                    skip(after, reason) # as cmocka says it
            } else if ($1 == "ok")
                passed++
            else
                failed++
            reason = ""
        }
        END {
            if (status == 124 || status == 137)
                fail("it did not end in " seconds " s, or was killed")
            else if (status > 128)
                fail("it was ended by signal " status - 128)
            else if (!has_plan)
                fail("it planned no tests")
            else if (planned != ran)
                fail("it ran " ran + 0 " of " planned " tests")
            else if (planned == 0 && skipped == 0)
                fail("it has no tests")
            else if (status != 0 && failed == 0)
                fail("it exited with " status)
            printf "%d %d %d\n%s", passed, failed, skipped, notes
        }'
}

# run_one FOLDER SECONDS NUMBER TEST: runs one test into FOLDER/NUMBER.output and .result, and prints its line
run_one() {
    output=$1/$3.output
    errors=$1/$3.errors
    result=$1/$3.result
    # shellcheck disable=SC2086 # a test is words
    set -- "$2" $4
    limit=$1
    shift
    name=$(basename "$1" .sh)
    case $1 in
    *.sh) interpreter='sh' ;;
    *) interpreter= ;;
    esac
    start=$(date +%s.%N)
    CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 2 "$limit" $interpreter "$@" >"$output" 2>"$errors" </dev/null &
    child=$!
    trap 'kill "$child" 2>/dev/null; exit 1' HUP INT TERM
    wait "$child"
    status=$?
    seconds=$(echo "$start $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')
    read_tap "$status" "$limit" <"$output" >"$result"
    shift
    for argument in "$@"; do
        name="$name $(basename "$argument")"
    done
    read -r passed failed skipped <"$result"
    counts="$passed passed"
    [ "$failed" -eq 0 ] || counts="$counts, $failed failed"
    [ "$skipped" -eq 0 ] || counts="$counts, $skipped skipped"
    [ "$failed" -eq 0 ] && word='ok    ' || word=FAILED
    printf '%s  %s  %s  %s s\n' "$word" "$name" "$counts" "$seconds"
    echo "$name" >>"$result"
}

# show_problems FOLDER COUNT: the full output of tests that failed, then every test that was skipped
show_problems() {
    for number in $(seq "$2"); do
        read -r passed failed skipped <"$1/$number.result"
        [ "$failed" -gt 0 ] || continue
        printf '\n--- %s ---\n' "$(tail -n 1 "$1/$number.result")"
        cat "$1/$number.output" "$1/$number.errors"
        sed -n 's/^fail /--- /p' "$1/$number.result"
    done
    for number in $(seq "$2"); do
        sed -n "s/^skip /skipped: $(tail -n 1 "$1/$number.result" | sed 's/[&/\\]/\\&/g'): /p" "$1/$number.result"
    done
}

usage() {
    echo 'usage: sh tests/run.sh [-j JOBS] [-t SECONDS] TEST...' >&2
    exit 2
}

if [ "${1:-}" = --one ]; then
    shift
    run_one "$@"
    exit 0
fi

jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
limit=600
while getopts j:t: option; do
    case $option in
    j) jobs=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

number=0
for test in "$@"; do
    number=$((number + 1))
    printf '0 1 0\nfail it could not be run\n%s\n' "$test" >"$folder/$number.result"
    : >"$folder/$number.output"
    : >"$folder/$number.errors"
    printf '%s\0%s\0' "$number" "$test"
done >"$folder/tests"
xargs -0 -r -n 2 -P "$jobs" sh "$0" --one "$folder" "$limit" <"$folder/tests"
show_problems "$folder" $#
echo '0 0 0' | cat - "$folder"/*.result 2>/dev/null |
    awk '/^[0-9]+ [0-9]+ [0-9]+$/ { passed += $1; failed += $2; skipped += $3 }
        END {
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
            exit failed > 0 || passed == 0
        }'
