#!/bin/sh
# Finds the tests, runs those whose files have changed since they last passed, in parallel, and totals their reports,
# which are in the Test Anything Protocol. By default, JOBS is one more than the number of processors, because some tests
# wait.
#
#   sh tests/run.sh [-a] [-b BUILD] [-j JOBS] [-t SECONDS]              runs the tests; with -a also the exhaustive ones
#   sh tests/run.sh [-b BUILD] [-j JOBS] [-t SECONDS] TEST...           runs these tests, even if nothing has changed
#
# With SHARE=K/N in the environment (K from 0 to N - 1), -a includes only every N-th exhaustive run, from the K-th on.
#
# The tests are tests/**/test_*.sh, test_*.py, and the programs built from tests/**/test_*.c and .cu:
# BUILD/tests/**/test_*. A TEST is a part of a test's path and arguments ("test_chapters", "02_warp"), a file, or a file
# and its arguments as one word. Comments at the very top of a script set how it is run:
#
#   # run: ARGUMENT...        runs it with these arguments, once for each such line; $b is BUILD (build). If the last
#                             argument is a pattern, it runs once for each file that matches.
#   # run in all: ARGUMENT... does the same, but only with -a or if the test is named; takes precedence over a pattern
#                             of `run` that matches as well
#   # takes: long             starts before the others
#   # needs: a, b             a Python test is skipped if there is no python3 with these modules
#
# Python tests are run by tests/tap.py. A test passes if all planned tests ran and passed, it exited with 0, and it
# took at most SECONDS (600). The last line gives the totals. Exits with 1 if a test failed or none ran.
#
# Ninja runs the tests: each is an edge of BUILD/ok/tests.ninja and depends on every file of the course that one of its
# processes opened (tests/preloaded/record_reads.c records them). A test that skipped a part also depends on the
# installed programs.
set -u

# read_tap STATUS SECONDS: reads a test's output; prints the numbers of passed, failed and skipped tests, then a line
# for each skip and for each reason for failure
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
                    skip(after, reason) # the form in which cmocka prints it
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

# header NAME FILE: prints the values of this name in the comments at the top of a script, one per line
header() {
    sed -n "/^#/!q; s/^# $1: *//p" "$2"
}

# start WORD...: runs a test with its interpreter
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
    *)
        if [ ! -x "$1" ]; then
            echo "no test has this name, or its program is not built: ninja tested builds all" >&2
            exit 1
        fi
        CMOCKA_MESSAGE_OUTPUT=TAP exec "$@"
        ;;
    esac
}

# reads OUT: prints, for Ninja, the files that the test's processes opened, except files that this run made
reads() {
    echo "$1: \\"
    sort -u "$1.log" 2>/dev/null | while IFS= read -r path; do
        case $path in .git/[!i]* | "${1%/*}"/*) continue ;; esac
        [ ! -e "$path" ] || [ "$path" -nt "$1.began" ] || [ -d "$path" -a "${path#"$build"}" != "$path" ] ||
            printf ' %s \\\n' "$path"
    done
    ! grep -q '^skip ' "$1.result" || ls -d /usr/bin /usr/lib/python3/dist-packages 2>/dev/null | sed 's/$/ \\/'
    echo
}

# run_one OUT TEST: runs one test for at most $SECONDS_OF_TEST, prints its line, and makes OUT if it passed
run_one() {
    out=$1
    limit=$SECONDS_OF_TEST
    shift
    rm -f "$out" "$out.log"
    : >"$out.began"
    started=$(LC_ALL=C date +%s.%N)
    READS_ROOT=$PWD READS_LOG=$PWD/$out.log LD_PRELOAD=$READS_RECORDER${LD_PRELOAD:+:$LD_PRELOAD} \
        timeout -k 2 "$limit" sh "$0" --start "$@" >"$out.output" 2>"$out.errors" </dev/null &
    child=$!
    trap 'kill "$child" 2>/dev/null; exit 1' HUP INT TERM
    wait "$child"
    status=$?
    seconds=$(echo "$started $(LC_ALL=C date +%s.%N)" | LC_ALL=C awk '{ printf "%.1f", $2 - $1 }')
    read_tap "$status" "$limit" <"$out.output" | sed "1s/\$/ $seconds/" >"$out.result"
    reads "$out" >"$out.d"
    rm -f "$out.log"
    name=$(basename "$1" | sed 's/\.\(sh\|py\)$//')
    shift
    for argument in "$@"; do
        name="$name $(basename "$argument")"
    done
    read -r passed failed skipped seconds <"$out.result"
    counts="$passed passed"
    [ "$failed" -eq 0 ] || counts="$counts, $failed failed"
    [ "$skipped" -eq 0 ] || counts="$counts, $skipped skipped"
    [ "$failed" -eq 0 ] && word='ok    ' || word=FAILED
    printf '%s  %s  %s  %s s\n' "$word" "$name" "$counts" "$seconds"
    echo "$name" >>"$out.result"
    [ "$failed" -eq 0 ] && mv "$out.began" "$out" # dated before the run, so that changes made during the run count
}

# runs_of [-a] FILE...: prints a line for each run of the tests in these files, long tests first; with -a, includes the
# exhaustive runs, or those that are in SHARE. A run that both kinds of comments name is exhaustive.
runs_of() {
    runs_all=
    [ "$1" != -a ] || { runs_all=yes && shift; }
    awk -v build="$build" '
        function end_file() {
            if (file != "" && !says)
                print order, "usual", file
            for (i = 1; i <= runs; i++)
                print order, kind[i], file, run[i]
        }
        FNR == 1 {
            end_file()
            file = FILENAME
            order = at_top = 1
            runs = says = 0
        }
        !/^#/ { at_top = 0 }
        at_top && /^# takes: long/ { order = 0 }
        at_top && /^# run( in all)?:/ {
            says = 1
            kind[++runs] = /^# run in/ ? "exhaustive" : "usual"
            sub(/^# run( in all)?: */, "")
            gsub(/[$]b/, build)
            run[runs] = $0
        }
        END { end_file() }' "$@" | sort -s -k 1,1 | cut -d ' ' -f 2- | while read -r kind file arguments; do
        last=${arguments##* }
        for match in ${last:-none}; do
            [ "$last" ] && echo "$kind $file ${arguments%"$last"}$match" || echo "$kind $file"
        done
    done | awk -v all="$runs_all" -v k="${SHARE%/*}" -v n="${SHARE#*/}" '
        { kind = $1; sub(/^[a-z]+ /, "") }
        !($0 in kinds) { run[++runs] = $0 }
        kind == "exhaustive" || !($0 in kinds) { kinds[$0] = kind }
        END {
            for (i = 1; i <= runs; i++)
                if (kinds[run[i]] == "usual" || all && number++ % n == k)
                    print run[i]
        }'
}

# find_tests [-a]: prints all tests, with a line for each run
find_tests() {
    [ -d tests ] || return 0
    # shellcheck disable=SC2046 # the names have no blanks
    runs_of "$@" $(find tests -name 'test_*.sh' -o -name 'test_*.py' | sort) /dev/null
    find tests '(' -name 'test_*.c' -o -name 'test_*.cu' ')' | sort | sed "s|\.[cu]*$||; s|^|$build/|"
}

# choose TEST...: prints the tests that match the words, one per line; prints exhaustive tests only if no others match
choose() {
    find_tests ${all:+-a} >"$folder/default"
    [ $# -gt 0 ] || cat "$folder/default"
    [ $# -eq 0 ] || find_tests -a >"$folder/all"
    for test in "$@"; do
        case $test in
        *.sh | *.py) [ -f "$test" ] && runs_of -a "$test" && continue ;;
        *.sh\ * | *.py\ *) [ -f "${test%% *}" ] && echo "$test" && continue ;;
        esac
        grep -F -e "$test" "$folder/default" || grep -F -e "$test" "$folder/all" || echo "$test"
    done
}

# write_edges [-s]: reads tests, one per line; writes the edges for Ninja, and each test's stamp to $folder/stamps. With
# -s, tests that have not run yet come first, then the others, the slowest first, so that no long test is left alone at
# the end.
write_edges() {
    # A file name has at most 255 bytes, and suffixes are added to a stamp's name.
    LC_ALL=C awk -v sorted="${1:-}" -v ok="$ok" -v stamps="$folder/stamps" '
        !seen[$0]++ {
            stamp = $0
            gsub(/[^A-Za-z0-9.-]/, "_", stamp)
            if (length(stamp) > 150)
                stamp = substr(stamp, 1, 99) "_" ++num_long
            stamp = ok "/" stamp
            print stamp >stamps
            result = stamp ".result"
            line = ""
            getline line <result
            close(result)
            print (sorted && split(line, count, " ") == 4 ? count[4] : 1e6), stamp, $0
        }' | LC_ALL=C sort -s -k 1,1nr | LC_ALL=C awk -v ok="$ok" '
        BEGIN {
            print "builddir = " ok "\nrule test"
            print "  command = sh \"$$TEST_RUNNER\" --one $out $test\n  depfile = $out.d\n  deps = gcc"
        }
        {
            stamp = $2
            sub(/^[^ ]+ [^ ]+ /, "")
            print "build " stamp ": test\n  test = " $0
        }'
}

# show_failures: prints the full output of tests that failed
show_failures() {
    while read -r stamp; do
        [ ! -e "$stamp" ] || continue
        printf '\n--- %s ---\n' "$(tail -n 1 "$stamp.result")"
        cat "$stamp.output" "$stamp.errors"
        sed -n 's/^fail /--- /p' "$stamp.result"
    done <"$folder/stamps"
}

# show_sum: prints every skipped test, then the totals; fails if a test failed or none ran
show_sum() {
    awk '
        {
            result = $0 ".result"
            num_skips = 0
            getline line <result
            split(line, count, " ")
            passed += count[1]
            failed += count[2]
            skipped += count[3]
            while ((getline line <result) > 0)
                if (sub(/^skip /, "", line))
                    skip[++num_skips] = line
            close(result)
            for (i = 1; i <= num_skips; i++)
                print "skipped: " line ": " skip[i] # `line` is the last line, which names the test
        }
        END {
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
            exit failed > 0 || passed == 0
        }' "$folder/stamps"
}

usage() {
    echo 'usage: sh tests/run.sh [-a] [-b BUILD] [-j JOBS] [-t SECONDS] [TEST...]' >&2
    exit 2
}

case ${1:-} in
--start)
    shift
    start "$@"
    exit
    ;;
--one)
    build=$(dirname "$(dirname "$2")")
    shift
    run_one "$@"
    exit
    ;;
esac

SHARE=${SHARE:-0/1}
echo "$SHARE" | awk -F / '!/^[0-9]+\/[0-9]+$/ || $1 + 0 >= $2 + 0 { exit 1 }' || {
    echo "SHARE=$SHARE: K/N with K below N is needed, for example 0/3" >&2
    exit 2
}
all=
build=build
jobs=$(($(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 1))
limit=600
while getopts ab:j:t: option; do
    case $option in
    a) all=yes ;;
    b)
        build=$OPTARG
        [ -d "$build" ] || { echo "run.sh: -b $build: no such folder; ninja builds build" >&2; exit 2; }
        ;;
    j) jobs=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
for number in "-j $jobs" "-t $limit"; do
    case ${number#-? } in
    '' | 0* | *[!0-9]*) echo "run.sh: $number: a positive number is needed, for example ${number%% *} 4" >&2; exit 2 ;;
    esac
done
ok=$build/ok
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$ok" && : >"$folder/stamps" || exit 1
export TEST_RUNNER="$0" SECONDS_OF_TEST="$limit"
# A test that itself runs tests uses the library of the outer run. The loader cannot preload a library whose folder's
# name contains a space. A gcc that fortifies by default, like Ubuntu's, would declare the recorded calls differently.
[ -e "${READS_RECORDER:-}" ] || {
    export READS_RECORDER="$folder/record_reads.so"
    gcc -std=c11 -D_GNU_SOURCE -O2 -U_FORTIFY_SOURCE -shared -fPIC "$(dirname "$0")/preloaded/record_reads.c" \
        -o "$READS_RECORDER" -ldl || exit 1
}

[ $# -gt 0 ] && sorted= || sorted=-s
choose "$@" | write_edges $sorted >"$ok/tests.ninja"
while read -r stamp; do
    [ $# -eq 0 ] || rm -f "$stamp"
    [ -e "$stamp" ] || printf '0 1 0\nfail it could not be run\n%s\n' "${stamp##*/}" >"$stamp.result"
done <"$folder/stamps"
ninja -f "$ok/tests.ninja" -j "$jobs" -k 0 | grep --line-buffered -E '^(ok    |FAILED)  |^ninja: error'
show_failures
show_sum
