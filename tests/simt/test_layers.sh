# test_layers.sh LIBRARY: the simulator's files call and include only what the table of layers on its page allows.
#
# run: $b/cpu/libsimt.a

. tests/tap.sh

folder=common/simt
page=docs/pages/simulator.md

# layers: "LAYER FILE SUFFIX" for each file of the page's table, from the lowest to the highest
layers() {
    awk -F '|' '/^\| layer / { table = 1; next } table && !/^\|/ { exit } table && /`/ { print $2 "|" $3 }' "$page" | tac |
        awk -F '|' '{ gsub(/^ +| +$/, "", $1); gsub(/ /, "_", $1); gsub(/[`, ]+/, " ", $2); n = split($2, file, " ")
            for (i = 1; i <= n; i++) { sub(/\./, " ", file[i]); print $1, file[i] } }'
}

# calls: "FILE FILE SYMBOL" for each symbol that one file of the library takes from another
calls() {
    nm -A "$1" | awk '{ sub(/^[^:]*:/, ""); split($0, part, /\.o:/); file = part[1]; sub(/^(common_)?simt_/, "", file)
            kind = $(NF - 1) }
        kind == "U" { uses[file, $NF] } kind ~ /^[TDBRCV]$/ { owner[$NF] = file }
        END { for (use in uses) { split(use, pair, SUBSEP)
            if (pair[2] in owner && owner[pair[2]] != pair[1]) print pair[1], owner[pair[2]], pair[2] } }' | sort
}

# includes: "FILE FILE HEADER" for each header that a file or its own header includes. What kernels and hosts include has no layer.
includes() {
    cut -d ' ' -f 2 "$scratch/layers" | while read -r file; do
        sed -n 's/^#include "\([a-z_]*\)\.h"$/\1/p' "$folder/$file.c" "$folder/$file.h" 2>/dev/null | while read -r header; do
            ! grep -q " $header " "$scratch/layers" || [ "$header" = "$file" ] || echo "$file" "$header" "$header.h"
        done
    done
}

# upward: of such lines, those that the table does not allow. What is told by the lanes' layer is known to the highest only.
upward() {
    awk 'NR == FNR { rank[$2] = NR; layer[$2] = $1; highest = $1; next }
        !(rank[$2] < rank[$1]) || (layer[$2] == "observers" && layer[$1] != "observers" && layer[$1] != highest) {
            print $1 " must not use " $3 " of " $2 }' "$scratch/layers" -
}

layers >"$scratch/layers"
calls "$1" >"$scratch/calls"
includes >"$scratch/includes"
equal "the table has every file once" "$(ls $folder/*.c)" "$(sed -n "s|.* \(.*\) c$|$folder/\1.c|p" "$scratch/layers" | sort)"
matches "calls are found" "*grid scheduler simt_block_begin*" "$(cat "$scratch/calls")"
equal "no file calls a higher one" "" "$(upward <"$scratch/calls")"
equal "no file includes a higher one's header" "" "$(upward <"$scratch/includes")"
equal "a call upward is found" "shadow must not use simt_replay of warp_replay" \
    "$(echo shadow warp_replay simt_replay | upward)"
equal "an observer that is known is found" "grid must not use simt_counting of counting" \
    "$(echo grid counting simt_counting | upward)"
finish
