# test_layers.sh LIBRARY: checks that the simulator's folders form layers, each of which calls and includes only the
# layers that the table on the simulator's page allows.
#
# run: $b/cpu/libsimt.a

. tests/tap.sh

simt=common/simt

# layers: prints the folders of the page's table, from the lowest to the highest
layers() {
    sed -n '/^| layer /,/^$/s/^| [^|]* | `\([a-z]*\)` |.*/\1/p' docs/pages/simulator.md | tac
}

# calls: prints "FOLDER/FILE FOLDER/FILE SYMBOL" for each symbol that one file of the library uses from another
calls() {
    nm -A "$1" | awk '{ sub(/^[^:]*:/, ""); split($0, part, /\.o:/); file = part[1]
            sub(/^common_simt_/, "", file); sub(/_/, "/", file); kind = $(NF - 1) }
        kind == "U" { uses[file, $NF] } kind ~ /^[TDBRCV]$/ { owner[$NF] = file }
        END { for (use in uses) { split(use, pair, SUBSEP)
            if (pair[2] in owner && owner[pair[2]] != pair[1]) print pair[1], owner[pair[2]], pair[2] } }' | sort
}

# includes: prints "FOLDER/FILE FOLDER/FILE HEADER" for each header of another layer that a file includes
includes() {
    (cd $simt && grep -o '^#include "[a-z]*/[a-z_]*\.h"' -- */*.[ch]) |
        sed 's|^\([a-z/_]*\)\.[ch]:#include "\(.*\)\.h"$|\1 \2 \2.h|'
}

# upward: reports the calls or includes, read from standard input, that the table does not allow. Only the highest layer
# may use the observers.
upward() {
    awk 'NR == FNR { rank[highest = $1] = NR; next }
        { split($1, from, "/"); split($2, to, "/") }
        from[1] in rank && to[1] in rank && (rank[to[1]] > rank[from[1]] ||
            (to[1] == "observers" && from[1] != "observers" && from[1] != highest)) {
            print $1 " must not use " $3 " of " $2 }' "$scratch/layers" -
}

# circles: prints the files whose calls, read from standard input, form cycles
circles() {
    awk '{ print $2, $1 }' | tsort 2>&1 >/dev/null | grep -v 'contains a loop'
}

layers >"$scratch/layers"
calls "$1" >"$scratch/calls"
includes >"$scratch/includes"
equal "the table has every folder once" \
    "$(find $simt -mindepth 1 -type d ! -name kernels ! -name rewriter -printf '%f\n' | sort)" "$(sort "$scratch/layers")"
matches "calls are found" "*grid/grid grid/scheduler simt_block_reset*" "$(cat "$scratch/calls")"
matches "includes are found" "*calls/copies machine/fault machine/fault.h*" "$(cat "$scratch/includes")"
equal "no file calls a higher layer's" "" "$(upward <"$scratch/calls")"
equal "no file includes a higher layer's header" "" "$(upward <"$scratch/includes")"
equal "no files call each other in a circle" "" "$(circles <"$scratch/calls")"
equal "a call upward is found" \
    "memory/shadow must not use simt_replay_events_as_warp_instructions of grid/warp_replay" \
    "$(echo memory/shadow grid/warp_replay simt_replay_events_as_warp_instructions | upward)"
equal "an observer that is known is found" "grid/grid must not use simt_counting_observer of observers/counting" \
    "$(echo grid/grid observers/counting simt_counting_observer | upward)"
matches "a circle is found" "*a/b*" "$(printf '%s\n' 'a/b a/c f' 'a/c a/b g' | circles)"
finish
