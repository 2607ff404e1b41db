#!/bin/sh
# The program that shows how an array in shared memory changes: steps by hand, and what it refuses.
#
# run: $b/cpu/tree_steps $b/tests/simt/scan_tree
. tests/tap.sh
tree_steps=$1
scan_tree=$2

# The static array of that kernel lies in shared memory too; the range is of the dynamic one.
"$scan_tree" 3 1 7 0 4 1 6 3 --trace "$scratch/trace.json"
equal 'the tree of eight numbers' 'word         0   1   2   3   4   5   6   7
barrier 1    0   0   0   0   0   0   0   0
barrier 2    3   1   7   0   4   1   6   3
barrier 3    3   4   7   7   4   5   6   9
barrier 4    3   4   7  11   4   5   6  14
barrier 5    3   4   7  11   4   5   6  25
barrier 6    3   4   7  11   4   5   6   0
barrier 7    3   4   7   0   4   5   6  11
barrier 8    3   0   7   4   4  11   6  16
barrier 9    0   3   4  11  11  15  16  22' "$("$tree_steps" 0-7 "$scratch/trace.json")"
equal 'words of the middle, and only the steps that change them' 'word         2   3
barrier 1    0   0
barrier 2    7   0
barrier 3    7   7
barrier 4    7  11
barrier 7    7   0
barrier 8    7   4
barrier 9    4  11' "$("$tree_steps" 2-3 "$scratch/trace.json")"
"$scan_tree" 70 5 --trace "$scratch/trace.json"
equal 'a kernel that counts in several rounds' 'word         0   1
barrier 1    0   0
barrier 2   70   5
barrier 3   70  75
barrier 4   70   0
barrier 5    0  70' "$("$tree_steps" 0-1 "$scratch/trace.json")"

# trace EVENT...: t.json, of a kernel with 16 words of dynamic shared memory from byte 64 on
trace() {
    {
        echo '{"kernel": "k", "dynamic_shared": {"offset": 64, "bytes": 64}, "truncated": false, "events": ['
        printf '%s' "$1"
        shift
        [ $# -eq 0 ] || printf ',\n%s' "$@"
        echo ']}'
    } >"$scratch/t.json"
}

# access KIND BYTES OFFSETS VALUES
access() {
    echo "{\"kind\": \"$1\", \"space\": \"shared\", \"bytes\": $2, \"offset\": [$3], \"value\": [$4]}"
}

# barrier NUMBER: two warps are there
barrier() {
    echo "{\"kind\": \"block_barrier\", \"barrier\": $1}, {\"kind\": \"block_barrier\", \"barrier\": $1}"
}

steps() { "$tree_steps" "$1" "$scratch/t.json" 2>&1; }

trace "$(access shared_store 4 '60,64,null,72,128' '"0x00000007","0xffffffff",null,"0x000186a0","0x00000009"')" "$(barrier 0)" \
    "$(access shared_store 4 64 '"0xffffffff"')" "$(barrier 1)" "$(access shared_store 4 68 '"0x00000002"')" \
    "$(barrier 2)" "$(access shared_store 4 64 '"0x00000001"')"
equal 'unwritten words, negative ones, stores that change nothing, and the end' 'word             0       1       2
barrier 1       -1       -  100000
barrier 3       -1       2  100000
end              1       2  100000' "$(steps 0-2)"
equal 'words that nobody wrote have no steps' 'word   14  15' "$(steps 14-15)"

trace "$(access shared_store 16 64 '"0x00000004000000030000000200000001"')" "$(barrier 0)" \
    "$(access shared_store 8 68 '"0x0000000600000005"')" "$(barrier 1)"
equal 'wide stores are several words' 'word        0  1  2  3
barrier 1   1  2  3  4
barrier 2   1  5  6  4' "$(steps 0-3)"
equal 'of which a range may have some' 'barrier 1 2 3
barrier 2 5 6' "$(steps 1-2 | sed 1d | tr -s ' ')"

trace "$(access shared_store 4 64 '"0x00000000"')" "$(barrier 0)" "$(access atomic 4 64,64 '"0x00000000","0x00000005"')" \
    "$(barrier 1)" "$(barrier 2)" "$(access shared_load 4 64 '"0x0000000a"')" "$(access atomic 4 64 '"0x0000000a"')" \
    "$(barrier 3)"
equal 'a load tells what atomics left, back to when they did; without one nobody knows' 'barrier 1 0
barrier 2 10
barrier 4 ?' "$(steps 0-0 | sed 1d | tr -s ' ')"
trace "$(access atomic 4 64 '"0x00000000"')" "$(barrier 0)" "$(barrier 1)" "$(access atomic 4 64 '"0x00000001"')" "$(barrier 2)"
equal 'what nobody knows can change' 'barrier 1 ?
barrier 3 ?' "$(steps 0-0 | sed 1d | tr -s ' ')"
trace "$(access shared_store 4 64 null)" "$(barrier 0)" "$(access shared_store 4 64 null)" "$(barrier 1)" \
    "$(access shared_load 4 64 '"0x00000003"')"
equal 'a store that the trace does not know is such an atomic' 'barrier 1 ?
barrier 2 3' "$(steps 0-0 | sed 1d | tr -s ' ')"
trace "$(access shared_store 4 64 '"0x00000001"')" "$(access atomic 4 64 '"0x00000001"' | sed 's/shared/global/')" \
    "$(access global_store 4 64 '"0x00000002"')" "$(barrier 0)"
equal 'global memory is elsewhere' 'barrier 1 1' "$(steps 0-0 | sed 1d | tr -s ' ')"

# refuses NAME MESSAGE RANGE: exit 2, one line
refuses() {
    equal "$1" "tree_steps: $2 2" "$(steps "$3") $(steps "$3" >"$scratch/said"; echo $?)"
}

trace "$(access shared_store 2 66 '"0x0001"')"
refuses 'parts of words' "$scratch/t.json: it has accesses to parts of these words" 0-0
trace "$(access shared_load 2 64 '"0x0001"')"
refuses 'the first part of a word' "$scratch/t.json: it has accesses to parts of these words" 0-0
equal 'parts of other words do not matter' 'word   1' "$(steps 1-1)"
refuses 'words beyond the kernel'"'s" \
    "$scratch/t.json: the kernel has 16 words of dynamic shared memory; 15 to 16 are wanted" 15-16
for range in '' 3 - 0- 3-2 0-64 0-7x x0-7 ' 0-7' -1-3 1000000-1000000; do
    refuses "no range: '$range'" "words '$range'; 0-7 are some, and 64 the most" "$range"
done
sed -i 's/"truncated": false/"truncated": true/' "$scratch/t.json"
refuses 'a trace that is cut off' "$scratch/t.json: the kernel did more than the trace holds" 0-0
sed -i 's/"dynamic_shared"/"d"/' "$scratch/t.json"
refuses 'a trace without shared memory' "$scratch/t.json: it is no trace of a kernel" 0-0
echo '{"events": []}' >"$scratch/t.json"
refuses 'no trace at all' "$scratch/t.json: it is no trace of a kernel" 0-0
echo '[' >"$scratch/t.json"
refuses 'no JSON' "$scratch/t.json:2: the file ends where a value should be" 0-0
rm "$scratch/t.json"
refuses 'no file' "$scratch/t.json: No such file or directory" 0-0
matches 'no arguments' 'usage: *' "$("$tree_steps" 2>&1)"
if [ -c /dev/full ]; then
    equal 'a full standard output' 'tree_steps: standard output: cannot be written' \
        "$("$tree_steps" 0-1 "$scratch/trace.json" 2>&1 >/dev/full)"
fi
finish
