#!/bin/sh
# Finds the tests and runs them, as many at once as there are processors, and adds up what they report in the Test
# Anything Protocol.
#
#   sh tests/run.sh [-b BUILD] [-j JOBS] [-t SECONDS] [TEST...]      every test, or only these
#
# The tests are tests/**/test_*.sh, test_*.py, and the programs built from tests/**/test_*.c and .cu:
# BUILD/tests/**/test_*. A TEST is a part of a test's path and arguments ("test_chapters", "02_warp"), a file, or a file
# and arguments in one word. Comments at the very top of a script say more about it:
#
#   # run: ARGUMENT...    how it is run, once for each such line; $b is BUILD (build). Where the last argument is a
#                         pattern, once for each file that fits.
#   # takes: long         it begins before the others
#   # needs: a, b         a Python test is skipped if there is no python3 with these modules
#
# Python tests are run by tests/tap.py. A test passes if all it planned ran and passed, it exited with 0, and took at
# most SECONDS (600). The last line is the sum. Exits 1 if anything failed or nothing ran.
set -u

# read_tap STATUS SECONDS: reads a test's output; prints "passed failed skipped", then a line for each skip and reason
# to fail
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

# header NAME FILE: what a script's comments at its top say for this name, a line each
header() {
    sed -n "/^#/!q; s/^# $1: *//p" "$2"
}

# start WORD...: runs a test by what runs it
start() {
    case $1 in
    *.sh) exec sh "$@" ;;
    *.py)
        modules=$(header needs "$1" | tr -d ' ')
        python=$(dirname "$0")/../common/python.sh
        if reason=$(sh "$python" "$modules" -c '' 2>&1); then
            exec sh "$python" "$modules" -B "$(dirname "$0")/tap.py" "$@"
        fi
        echo "1..0 # SKIP $reason"
        ;;
    *) CMOCKA_MESSAGE_OUTPUT=TAP exec "$@" ;;
    esac
}

# run_one FOLDER SECONDS NUMBER TEST: runs one test into FOLDER/NUMBER.output and .result, and prints its line
run_one() {
    output=$1/$3.output
    errors=$1/$3.errors
    result=$1/$3.result
    limit=$2
    # shellcheck disable=SC2086 # a test is words
    set -- $4
    started=$(LC_ALL=C date +%s.%N)
    timeout -k 2 "$limit" sh "$0" --start "$@" >"$output" 2>"$errors" </dev/null &
    child=$!
    trap 'kill "$child" 2>/dev/null; exit 1' HUP INT TERM
    wait "$child"
    status=$?
    seconds=$(echo "$started $(LC_ALL=C date +%s.%N)" | LC_ALL=C awk '{ printf "%.1f", $2 - $1 }')
    read_tap "$status" "$limit" <"$output" >"$result"
    name=$(basename "$1" | sed 's/\.\(sh\|py\)$//')
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

# runs_of FILE: a test's file with its arguments, a line for each run
runs_of() {
    case $1 in *.sh | *.py) header run "$1" ;; esac | sed "s|\$b|$build|g" | {
        runs=0
        while read -r arguments; do
            last=${arguments##* }
            for match in $last; do
                echo "$1 ${arguments%"$last"}$match"
                runs=$((runs + 1))
            done
        done
        [ "$runs" -gt 0 ] || echo "$1"
    }
}

# find_tests: all of them, a line for each run, those that take long first
find_tests() {
    find tests '(' -name 'test_*.sh' -o -name 'test_*.py' -o -name 'test_*.c' -o -name 'test_*.cu' ')' 2>/dev/null |
        sort |
        while read -r source; do
            case $source in
            *.c | *.cu) echo "1 $build/${source%.*}" ;;
            *) runs_of "$source" | sed "s/^/$([ "$(header takes "$source")" = long ]; echo $?) /" ;;
            esac
        done | sort -s -k 1,1 | cut -d ' ' -f 2-
}

# choose TEST...: the tests to run, a line each
choose() {
    [ $# -gt 0 ] || find_tests
    for test in "$@"; do
        if [ -f "$test" ]; then
            runs_of "$test"
        elif [ -f "${test%% *}" ]; then
            echo "$test"
        else
            find_tests | grep -F -e "$test" || echo "$test"
        fi
    done
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
    echo 'usage: sh tests/run.sh [-b BUILD] [-j JOBS] [-t SECONDS] [TEST...]' >&2
    exit 2
}

case ${1:-} in
--start)
    shift
    start "$@"
    exit
    ;;
--one)
    shift
    run_one "$@"
    exit
    ;;
esac

build=build
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
limit=600
while getopts b:j:t: option; do
    case $option in
    b) build=$OPTARG ;;
    j) jobs=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

choose "$@" >"$folder/chosen"
number=0
while read -r test; do
    number=$((number + 1))
    printf '0 1 0\nfail it could not be run\n%s\n' "$test" >"$folder/$number.result"
    : >"$folder/$number.output"
    : >"$folder/$number.errors"
    printf '%s\0%s\0' "$number" "$test"
done <"$folder/chosen" >"$folder/tests"
xargs -0 -r -n 2 -P "$jobs" sh "$0" --one "$folder" "$limit" <"$folder/tests"
show_problems "$folder" "$(wc -l <"$folder/chosen")"
echo '0 0 0' | cat - "$folder"/*.result 2>/dev/null |
    awk '/^[0-9]+ [0-9]+ [0-9]+$/ { passed += $1; failed += $2; skipped += $3 }
        END {
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
            exit failed > 0 || passed == 0
        }'
