#!/bin/sh
# Measures with gcov which lines of common/ the tests execute: prints a table of the files, and the total.
#
#   sh tests/coverage.sh            builds into build/coverage, runs the tests, prints the table
#   sh tests/coverage.sh --lines    prints every line that the last run did not execute
#
# The script runs the tests that are C programs and the scripts that run programs of this build. Processes that are
# killed by a signal or run as another user are not counted. A test fails if its program cannot write the counts; a test
# with a time limit may fail because instrumented programs are slower.
set -eu
b=build/coverage

# report: reads gcov's data for every object; a line counts as executed if any program has executed it
report() {
    # shellcheck disable=SC2016 # the quoted text is Python
    find $b -name '*.gcda' | xargs -n 50 gcov --json-format --stdout 2>/dev/null | python3 -c '
import collections, json, sys
counts = collections.defaultdict(dict)
for text in sys.stdin:
    for file in json.loads(text)["files"]:
        for line in file["lines"]:
            lines = counts[file["file"]]
            lines[line["line_number"]] = lines.get(line["line_number"], 0) + line["count"]
done = total = 0
for name, lines in sorted(counts.items()):
    if not name.startswith("common/"):
        continue
    executed = sum(count > 0 for count in lines.values())
    done, total = done + executed, total + len(lines)
    if sys.argv[1:] == ["--lines"]:
        source = open(name).read().splitlines()
        for number in sorted(number for number, count in lines.items() if count == 0):
            print(f"{name}:{number}: {source[number - 1].strip()}")
    else:
        print(f"{name:50} {executed:5} of {len(lines):5} {100 * executed / len(lines):6.1f} %")
print(f"{chr(99)}ommon/ {done} of {total} lines: {100 * done / total:.1f} %")' "$@"
}

case ${1:-} in
'') ;;
--lines)
    report --lines
    exit
    ;;
*)
    echo "coverage.sh: $1: unknown; --lines is the only option" >&2
    exit 2
    ;;
esac
mkdir -p $b
sed "s|^b = .*|b = $b|; s|^host_flags =.*|host_flags = --coverage -fprofile-update=atomic|" build.ninja >$b/build.ninja
ninja -f $b/build.ninja cpu learn primer $b/tests/learn $b/tests/programs.a $b/tests/simt.a
find $b -name '*.gcda' -delete
# shellcheck disable=SC2046 # one word per program
REWRITE_LAUNCH=$b/cpu/rewrite_launch sh tests/run.sh -b $b \
    $(cd $b && find tests -type f -name 'test_*' | sed "s|^|$b/|") \
    "tests/test_chapters.sh $b/cpu/01_cpu_baseline" "tests/test_chapters.sh $b/cpu/10_align_parallel_fill" \
    test_command_line test_align_command_line test_out_of_memory test_rewrite_launch test_counter_list \
    test_align_counters test_grade exercises/02_warp_maximum || true
report
