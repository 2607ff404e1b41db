# test_same_counts.sh PROGRAM: checks that PROGRAM's counters are the same in every run although its addresses differ.
#
# run: $b/tests/simt/print_counts

. tests/tap.sh

first=$("$1")
matches "counts are printed" "*matmul shared_load_wavefronts*barrier arrivals*" "$first"
for run in 2 3 4 5; do
    equal "run $run counts what the first did" "$first" "$("$1")"
done
equal "a larger environment changes nothing" "$first" "$(PADDING=$(seq 1000) "$1")"
if command -v setarch >/dev/null && setarch -R true 2>/dev/null; then
    equal "without address space randomisation too" "$first" "$(setarch -R "$1")"
else
    skip "without address space randomisation too" "setarch cannot switch it off here"
fi
finish
