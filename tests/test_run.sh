#!/bin/sh
# Tests tests/run.sh on tests that pass, fail, skip, crash, hang, print nothing, and plan more tests than they run.
. tests/tap.sh
unset SHARE

# test_file NAME TEXT: writes a test
test_file() {
    printf '%s\n' "$2" >"$scratch/$1.sh"
}

# run ARGUMENT...: runs tests/run.sh; prints its exit status and output, without the tests' times
run() {
    output=$(cd "$scratch" && sh "$root/tests/run.sh" "$@" 2>&1)
    status=$?
    printf '%s\n%s\n' "$status" "$output" | sed 's/  [0-9.]* s$//'
}
root=$(pwd)

test_file passing 'echo 1..2; echo "ok 1 - a"; echo "ok 2 - b"'
test_file late_plan 'echo "ok 1 - a"; echo 1..1'
test_file failing 'echo 1..2; echo "ok 1 - a"; echo "not ok 2 - b"; echo "# because"; echo oh >&2; exit 1'
test_file skipping 'echo 1..3; echo "ok 1 - a # SKIP no nvcc"; echo "ok 2 - b"; echo "ok 3 - c # skip"'
test_file skipping_all 'echo "1..0 # SKIP no GPU"'
test_file crashing 'echo 1..2; echo "ok 1 - a"; kill -SEGV $$'
test_file hanging 'echo 1..1; sleep 100; echo "ok 1 - a"'
test_file stubborn 'trap "" TERM; echo 1..1; sleep 100 & wait; sleep 100'
test_file silent ':'
test_file empty 'echo 1..0'
test_file short 'echo 1..3; echo "ok 1 - a"; echo "ok 2 - b"'
test_file long 'echo 1..1; echo "ok 1 - a"; echo "ok 2 - b"'
test_file bad_exit 'echo 1..1; echo "ok 1 - a"; exit 3'
test_file arguments 'echo 1..$#; for a; do echo "ok 1 - $a"; done'

equal 'a test that passes' '0
ok      passing  2 passed
2 passed, 0 failed, 0 skipped' "$(run passing.sh)"
equal 'a plan at the end' '0
ok      late_plan  1 passed
1 passed, 0 failed, 0 skipped' "$(run late_plan.sh)"
equal 'a test that fails: all it said' '1
FAILED  failing  1 passed, 1 failed

--- failing ---
1..2
ok 1 - a
not ok 2 - b
# because
oh
1 passed, 1 failed, 0 skipped' "$(run failing.sh)"
equal 'a test that skips: by name, with reasons' '0
ok      skipping  1 passed, 2 skipped
skipped: skipping: a: no nvcc
skipped: skipping: c: no reason given
1 passed, 0 failed, 2 skipped' "$(run skipping.sh)"
equal 'a test that skips all of it, alone: nothing ran' '1
ok      skipping_all  0 passed, 1 skipped
skipped: skipping_all: all of it: no GPU
0 passed, 0 failed, 1 skipped' "$(run skipping_all.sh)"
equal 'a test that skips all of it, beside another' 0 "$(run skipping_all.sh passing.sh | head -n 1)"
equal 'a test that crashes' '1
FAILED  crashing  1 passed, 1 failed

--- crashing ---
1..2
ok 1 - a
--- it was ended by signal 11
1 passed, 1 failed, 0 skipped' "$(run crashing.sh | grep -v 'Segmentation fault')"
equal 'a test that hangs' '1
FAILED  hanging  0 passed, 1 failed

--- hanging ---
1..1
--- it did not end in 1 s, or was killed
0 passed, 1 failed, 0 skipped' "$(run -t 1 hanging.sh)"
equal 'a test that hangs and will not be told' '0 passed, 1 failed, 0 skipped' \
    "$(run -t 1 stubborn.sh | tail -n 1)"
equal 'a test that says nothing' '--- it planned no tests
0 passed, 1 failed, 0 skipped' "$(run silent.sh | tail -n 2)"
equal 'a test without tests' '--- it has no tests
0 passed, 1 failed, 0 skipped' "$(run empty.sh | tail -n 2)"
equal 'a test that stops short of its plan' '--- it ran 2 of 3 tests
2 passed, 1 failed, 0 skipped' "$(run short.sh | tail -n 2)"
equal 'a test that does more than it planned' '--- it ran 2 of 1 tests
2 passed, 1 failed, 0 skipped' "$(run long.sh | tail -n 2)"
equal 'a test that exits with an error' '--- it exited with 3
1 passed, 1 failed, 0 skipped' "$(run bad_exit.sh | tail -n 2)"
equal 'a test that is not there' '1 0 passed, 1 failed, 0 skipped' \
    "$(run none.sh >"$scratch/said"; head -n 1 "$scratch/said" |
    tr '\n' ' '; tail -n 1 "$scratch/said")"
equal 'a test with arguments' '0
ok      arguments one two  2 passed
2 passed, 0 failed, 0 skipped' "$(run 'arguments.sh one folder/two')"
equal 'no test' '1
0 passed, 0 failed, 0 skipped' "$(run)"
equal 'many tests are added up, whatever came first' '1 7 passed, 4 failed, 3 skipped' \
    "$(run -t 5 passing.sh failing.sh skipping.sh skipping_all.sh short.sh late_plan.sh arguments.sh passing.sh silent.sh \
        >"$scratch/said"; head -n 1 "$scratch/said" | tr '\n' ' '; tail -n 1 "$scratch/said")"
matches 'a bad option' '2*usage: *' "$(run -x)"
equal 'a build that does not exist' '2
run.sh: -b nowhere: no such folder; ninja builds build' "$(run -b nowhere passing.sh)"
equal 'jobs that are no number' '2
run.sh: -j all: a positive number is needed, for example -j 4' "$(run -j all passing.sh)"

# --- finding tests, and their headers ---
folder=$scratch
scratch=$scratch/found
mkdir -p "$scratch/tests/deep" "$scratch/made/tests/deep" "$scratch/made/cpu"
test_file tests/test_plain 'echo 1..1; echo "ok 1 - a"'
test_file words 'echo 1..$#; for a; do echo "ok 1 - $a"; done'
test_file tests/test_words '#!/bin/sh
# Says its words.
#
# run: $b/one two
# run: three
. ./words.sh
# run: too late'
test_file tests/test_each '# run: first $b/cpu/[0-9]_*
echo 1..1; echo "ok 1 - $*"'
test_file tests/deep/test_last '# takes: long
echo 1..1; echo "ok 1 - a"'
touch "$scratch/made/cpu/1_a" "$scratch/made/cpu/2_b" "$scratch/made/cpu/3" "$scratch/tests/deep/test_program.c" \
    "$scratch/tests/test_kernel.cu" "$scratch/tests/helper.sh"
for program in deep/test_program test_kernel; do
    printf '#!/bin/sh\necho 1..1; echo "ok 1 - a"\n' >"$scratch/made/tests/$program"
    chmod +x "$scratch/made/tests/$program"
done
# run_found ARGUMENT...: does the same as `run`, in the folder with these tests
run_found() {
    run -b made -j 1 "$@"
}
equal 'tests are found; a long one begins first' '0
ok      test_last  1 passed
ok      test_each first 1_a  1 passed
ok      test_each first 2_b  1 passed
ok      test_plain  1 passed
ok      test_words one two  2 passed
ok      test_words three  1 passed
ok      test_program  1 passed
ok      test_kernel  1 passed
9 passed, 0 failed, 0 skipped' "$(run_found)"
sed -i '1s/[^ ]*$/9.5/' "$scratch/made/ok/tests_test_words.sh_three.result"
sed -i '1s/[^ ]*$/10.5/' "$scratch/made/ok/made_tests_test_kernel.result"
echo '# changed' | tee -a "$scratch/tests/test_words.sh" "$scratch/tests/test_plain.sh" >>"$scratch/made/tests/test_kernel"
equal 'of the tests that have run, the slowest begins first' 'ok      test_kernel  1 passed
ok      test_words three  1 passed' "$(run_found | sed -n '2,3p')"
long=$(printf 'many_%.0s' $(seq 80))
equal 'arguments longer than the name of a file' "0
ok      test_words ${long}a  1 passed
ok      test_words ${long}b  1 passed
2 passed, 0 failed, 0 skipped" "$(run_found "tests/test_words.sh ${long}a" "tests/test_words.sh ${long}b")"
equal 'those with a word in their names' '0
ok      test_each first 1_a  1 passed
ok      test_each first 2_b  1 passed
2 passed, 0 failed, 0 skipped' "$(run_found cpu/)"
equal 'a file is run as its header says' '0
ok      test_words one two  2 passed
ok      test_words three  1 passed
3 passed, 0 failed, 0 skipped' "$(run_found tests/test_words.sh)"
equal 'a file and arguments as given' '0
ok      test_words four  1 passed
1 passed, 0 failed, 0 skipped' "$(run_found 'tests/test_words.sh four')"
rm "$scratch/made/tests/test_kernel" "$scratch/made/cpu"/?_?
matches 'a program that is not built fails' '1*FAILED  test_kernel  0 passed, 1 failed*' "$(run_found)"
matches 'a pattern that fits nothing stays as it is' '0*test_each first ?0-9?_?  1 passed*' \
    "$(run_found tests/test_each.sh)"

# --- tests that run again ---
test_file tests/test_reader 'cat data >/dev/null; echo 1..1; echo "ok 1 - a"'
test_file tests/test_all '# run in all: one
echo 1..$#; echo "ok 1 - a"'
test_file tests/test_skipper 'echo 1..1; echo "ok 1 - a # SKIP no such tool"'
echo 1 >"$scratch/data"
echo 'echo 1..1; echo "not ok 1 - a"' >"$scratch/tests/test_fails.sh"
ran() {
    run_found "$@" | grep -E '^(ok|FAILED) ' | awk '{ print $2 }' | tr '\n' ' '
}
ran >/dev/null
# test_kernel is not built
equal 'nothing has changed: what failed runs again' 'test_fails test_kernel ' "$(ran)"
matches 'and the sum is that of all tests' '*
8 passed, 2 failed, 1 skipped' "$(run_found)"
echo 2 >"$scratch/data"
equal 'a file that a test reads has changed' 'test_fails test_reader test_kernel ' "$(ran)"
equal 'a test that is named runs again' 'test_plain ' "$(ran test_plain)"
equal 'all: the exhaustive ones, too' 'test_all test_fails test_kernel ' "$(ran -a)"
equal 'and once is enough' 'test_fails test_kernel ' "$(ran -a)"
test_file tests/test_many '# run: usual
# run in all: made/[xyz]
# run in all: alone
# run: made/[wx]
echo 1..$#; echo "ok 1 - a"'
touch "$scratch/made/w" "$scratch/made/x" "$scratch/made/y" "$scratch/made/z"
of_share() { # K/N: prints the arguments of the runs of tests/test_many.sh
    export SHARE="$1"
    run_found -a tests/test_many.sh | awk '$1 == "ok" && $2 == "test_many" { print $3 }' | sort | tr '\n' ' '
    unset SHARE
}
equal 'a third of the exhaustive runs; the usual ones, but not a run that is both' 'alone usual w x ' "$(of_share 0/3)"
equal 'the shares are all of them' 'alone usual usual usual w w w x y z ' \
    "$(for k in 0 1 2; do of_share $k/3; done | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/^ //')"
for wrong in 3 1/0 3/3 a/3 /3 1/ 1/2/3; do
    equal "SHARE=$wrong" "SHARE=$wrong: K/N with K below N is needed, for example 0/3, exit 2" \
        "$(said=$(SHARE=$wrong sh tests/run.sh -a 2>&1); echo "$said, exit $?")"
done
rm "$scratch/tests/test_many.sh" "$scratch/made"/[w-z]
rm "$scratch/data"
equal 'a file that a test reads is gone' 'test_fails test_reader test_kernel ' "$(ran)"
rm "$scratch/tests/test_fails.sh" "$scratch/tests/test_reader.sh" "$scratch/tests/test_all.sh" \
    "$scratch/tests/test_skipper.sh"

# --- Python ---
# python_test LIMIT: writes a test with an argument, subtests and skips
python_test() {
    sed "s/LIMIT/$1/" >"$scratch/tests/test_python.py" <<'PYTHON'
# run: $b/one
"""Passes, fails, skips and has parts."""
import sys
import unittest

import beside

limit = LIMIT


class Case(unittest.TestCase):
    def test_arguments(self):
        """Checks the arguments and the import."""
        print("not ok 1 - what it prints is no result")
        self.assertEqual(sys.argv[1:], ["made/one"])
        self.assertEqual(beside.VALUE, 1)

    def test_parts(self):
        for part in range(3):
            with self.subTest(part=part):
                self.assertNotEqual(part, limit)

    @unittest.skip("no GPU")
    def test_skips(self):
        pass


@unittest.skipIf(limit == 1, "all of them")
class Other(unittest.TestCase):
    def test_ends(self):
        self.assertTrue(limit)
PYTHON
}
echo 'VALUE = 1' >"$scratch/tests/beside.py"
python_test 7
equal 'Python: a test, its parts, a skip with its reason' '0
ok      test_python one  5 passed, 1 skipped
skipped: test_python one: Case.test_skips: no GPU
5 passed, 0 failed, 1 skipped' "$(run_found test_python)"
python_test 1
run_found test_python >"$scratch/said"
equal 'Python: a part that fails' '1 3 passed, 1 failed, 2 skipped' \
    "$(head -n 1 "$scratch/said") $(tail -n 1 "$scratch/said")"
succeeds 'Python: which' grep '^not ok 3 - Case.test_parts (part=1)$' "$scratch/said"
succeeds 'Python: why' grep '^# AssertionError: 1 == 1$' "$scratch/said"
python_test 0
equal 'Python: two that fail' '3 passed, 2 failed, 1 skipped' "$(run_found test_python | tail -n 1)"
echo 'VALUE =' >"$scratch/tests/beside.py"
equal 'Python: it cannot be loaded' '0 passed, 1 failed, 0 skipped' "$(run_found test_python | tail -n 1)"
succeeds 'Python: nothing is left beside a test' [ ! -e "$scratch/tests/__pycache__" ]
rm "$scratch/tests/test_python.py"
echo 'print("1..1"); print("ok 1 - a"); raise SystemExit(__name__ != "__main__")' >"$scratch/tests/test_prints.py"
equal 'Python: one that prints TAP itself' '0
ok      test_prints  1 passed
1 passed, 0 failed, 0 skipped' "$(run_found test_prints)"
echo '# needs: json, no_such_module' >"$scratch/tests/test_needs.py"
equal 'Python: without a module that it needs' \
    'skipped: test_needs: all of it: no python3 here has json,no_such_module: sh common/setup.sh docs checks installs every module that the course needs
1 passed, 0 failed, 1 skipped' "$(run_found test_needs test_prints | tail -n 2)"
for words in '' 'docs/tools/tables.py --help' 'tables.py' '-c pass'; do
    # shellcheck disable=SC2086 # must split into words
    said=$(sh common/python.sh $words 2>&1)
    matches "python.sh ${words:-without arguments}" \
        "2 python.sh: *; usage: sh common/python.sh MODULE,... ARGUMENT..., as in sh common/python.sh torch *" "$? $said"
done
matches 'python.sh: a file in place of the modules' \
    "python.sh: 'docs/tools/tables.py' is no module; the first argument names the modules that Python must have; usage: *torch docs/tools/tables.py" \
    "$(sh common/python.sh docs/tools/tables.py --help 2>&1)"
echo '# needs: json, unittest.mock' >"$scratch/tests/test_needs.py"
equal 'Python: with the modules that it needs, but no test' '1 passed, 1 failed, 0 skipped' \
    "$(run_found test_needs test_prints | tail -n 1)"
scratch=$folder

test_file slow 'sleep 1; echo 1..1; echo "ok 1 - a"'
start=$(date +%s)
run -j 4 'slow.sh a' 'slow.sh b' 'slow.sh c' 'slow.sh d' >/dev/null
succeeds 'several at once' [ $(($(date +%s) - start)) -lt 4 ]

cat >"$scratch/program.c" <<'END'
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "skip.h"

static void passes(void **state)
{
    (void)state;
}
static void fails(void **state)
{
    (void)state;
    assert_int_equal(1, 2);
}
static void skips(void **state)
{
    (void)state;
    skip_because("no such GPU");
}
static void skips_in_silence(void **state)
{
    (void)state;
    skip();
}
static void crashes(void **state)
{
    (void)state;
    *(volatile int *)0 = 1;
}
static void aborts(void **state)
{
    (void)state;
    abort();
}
static void leaves(void **state)
{
    (void)state;
    exit(0);
}
static int cannot(void **state)
{
    (void)state;
    return -1;
}

int main(void)
{
#ifdef GROUPS
    const struct CMUnitTest one[] = {cmocka_unit_test(passes), cmocka_unit_test(passes)};
    const struct CMUnitTest two[] = {cmocka_unit_test(passes)};
    return cmocka_run_group_tests(one, NULL, NULL) + cmocka_run_group_tests(two, NULL, NULL);
#else
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes), cmocka_unit_test(CASE)};
    (void)passes, (void)fails, (void)skips, (void)skips_in_silence, (void)crashes, (void)aborts, (void)leaves;
    return cmocka_run_group_tests(tests, SETUP, NULL);
#endif
    (void)cannot;
}
END

# cmocka FLAGS...: compiles the program with these flags and runs it; prints its exit status and its last line
cmocka() {
    gcc -Itests "$@" "$scratch/program.c" -lcmocka -o "$scratch/program" 2>"$scratch/said" || cat "$scratch/said"
    run ./program >"$scratch/said"
    echo "$(head -n 1 "$scratch/said") $(tail -n 1 "$scratch/said")"
}

equal 'cmocka: passed' '0 2 passed, 0 failed, 0 skipped' "$(cmocka -DCASE=passes -DSETUP=NULL)"
equal 'cmocka: failed' '1 1 passed, 1 failed, 0 skipped' "$(cmocka -DCASE=fails -DSETUP=NULL)"
equal 'cmocka: skipped' '0 1 passed, 0 failed, 1 skipped' "$(cmocka -DCASE=skips -DSETUP=NULL)"
equal 'cmocka: the reason' 'skipped: program: CASE: no such GPU' "$(grep '^skipped' "$scratch/said")"
equal 'cmocka: skipped without a reason' '0 1 passed, 0 failed, 1 skipped' \
    "$(cmocka -DCASE=skips_in_silence -DSETUP=NULL)"
equal 'cmocka: no reason' 'skipped: program: CASE: no reason given' "$(grep '^skipped' "$scratch/said")"
equal 'cmocka: crashed' '1 1 passed, 1 failed, 0 skipped' "$(cmocka -DCASE=crashes -DSETUP=NULL)"
matches 'cmocka: aborted' '1 * 1 failed, 0 skipped' "$(cmocka -DCASE=aborts -DSETUP=NULL)"
matches 'cmocka: left' '1 * 1 failed, 0 skipped' "$(cmocka -DCASE=leaves -DSETUP=NULL)"
matches 'cmocka: could not be set up' '1 0 passed, * failed, 0 skipped' "$(cmocka -DCASE=passes -DSETUP=cannot)"
equal 'cmocka: two groups' '0 3 passed, 0 failed, 0 skipped' "$(cmocka -DGROUPS)"

said=$(sh tests/coverage.sh --line 2>&1)
equal 'coverage.sh: an unknown option' '2 coverage.sh: --line: unknown; --lines is the only option' "$? $said"
finish
