#!/bin/sh
# Checks the exact formulas that chapters 06 to 10 state for counters: barriers as a function of the number of experts,
# and requests for writing the padding as a function of the capacity.
#
# run: $b/cpu
set -u
. "$(dirname "$0")/tap.sh"
programs=$1

# report PROGRAM ARGUMENT...: prints the program's JSON, for 64 tokens and the kernel for large batches
report() {
    name=$1
    shift
    "$programs/$name" --kernel large --num-tokens 64 --dist uniform --format json "$@"
}

# count COUNTER [KERNEL]: reads a report; prints the value of a counter for all launches or for the launches of one
# kernel
count() {
    line='^  "counters"'
    [ $# -lt 2 ] || line="\"name\": \"$2\""
    sed -n "/$line/s/.*\"$1\": \([0-9]*\).*/\1/p"
}

# steps EXPERTS: prints how often 1 must be doubled to reach EXPERTS
steps() {
    awk -v experts="$1" 'BEGIN { for (size = 1; size < experts; size *= 2) n++; print n + 0 }'
}

for experts in 2 3 8 31 32 33 128 160 256 1000 1024; do
    topk=$((experts < 8 ? experts : 8))
    tree=$(report 08_align_blelloch --num-experts "$experts" --topk "$topk" | count block_barriers)
    equal "08, $experts experts: 2 ceil(log2 E) + 2 barriers" $((2 * $(steps "$experts") + 2)) "$tree"
    for name in 09_align_warp_scan 10_align_parallel_fill; do
        shuffles=$(report $name --num-experts "$experts" --topk "$topk" | count block_barriers)
        equal "$name, $experts experts: 3 + 2 barriers" 5 "$shuffles"
    done
done
equal '08, 2048 experts: 2 * 11 + 2 barriers' 24 "$(report 08_align_blelloch --num-experts 2048 | count block_barriers)"
equal '09, 2048 experts: two a thread, 3 + 2 barriers' 5 \
    "$(report 09_align_warp_scan --num-experts 2048 | count block_barriers)"

for block_size in 16 64 128; do
    for blocks in 300 301 777 1024; do
        set -- --block-size "$block_size" --capacity $((block_size * blocks))
        scalar=$(report 06_align_serial "$@" | count global_store_requests fill_kernel)
        equal "06, $blocks blocks of $block_size: ceil(capacity / 32) requests write pads" \
            $(((block_size * blocks + 31) / 32)) "$scalar"
        without=$(report 06_align_serial "$@" | count global_store_requests align_kernel)
        with=$(report 07_align_vector_pad "$@" | count global_store_requests align_kernel)
        equal "07, $blocks blocks of $block_size: ceil(capacity / 128) requests write pads" \
            $(((block_size * blocks + 127) / 128)) $((with - without))
    done
done

conflicts=$(report 08_align_blelloch | count shared_conflicts)
equal '08: the tree with room between its nodes has no bank conflict' 0 "$conflicts"
succeeds '08: the tree without room has some' \
    test "$(report 08_align_blelloch_plain_tree | count shared_conflicts)" -gt 0
finish
