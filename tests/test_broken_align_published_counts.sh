#!/bin/sh
# Breaks one line of chapter 14b's kernel at a time: the program must fail with the expected message, or launches that
# share a workspace must fail in test_align_exchange.c.
#
# run in all: $b/cpu/14b_align_published_counts
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
programs=$(dirname "$1")
many="--num-tokens 2048"

# Compiles only the kernels for 32-bit ids and up to 256 experts, with two block sizes, and limits polling to fewer
# polls.
breaks_start "$programs/14b_align_published_counts" chapters/14b_align_published_counts/align.cu \
    '/problem->wide_ids ? launch_many<int64_t>/{N;s/problem->wide_ids.*: //}
     /if (problem->num_experts > STATIC_EXPERTS)$/,+1d
     /if (numel <= \(8192\|65536\|262144\|524288\))$/,+1d
     s/, LONG_TILE_IDS_PER_THREAD>(problem/, 4>(problem/
     s/(1 << 22)/100/'

# build_exchange SED: edits the kernel and links it with the test of launches that share a workspace, as
# $scratch/exchange
build_exchange() {
    rebuild "$1" &&
        ${CC:-gcc} -std=c11 -Icommon/simt -Icommon -Dalign_launch_patient=align_launch \
            -Dalign_launch_impatient=align_launch -c tests/test_align_exchange.c -o "$scratch/exchange.o" &&
        ${CC:-gcc} "$scratch/exchange.o" "$scratch/align.o" "$programs/obj/14b_align_published_counts/parts.a" \
            "$programs/libharness.a" "$programs/libbase.a" "$programs/libsimt.a" -fopenmp -lm -ldl -pthread -lcmocka \
            -o "$scratch/exchange"
}

# exchange NAME SED WORD: edits the kernel; the test of launches of many sizes that share a workspace must print WORD,
# "OK" or "FAILED"
exchange() {
    exchange_log=$(build_exchange "$2" 2>&1) || {
        tap_result 1 "$1: builds" || printf '%s\n' "$exchange_log" | sed 's/^/# /'
        return
    }
    "$scratch/exchange" >"$scratch/log" 2>&1
    equal "$1" "$3" "$(sed -n 's/^\[ *\([A-Z]*\) *\] one_workspace_serves.*/\1/p' "$scratch/log" | sed -n 2p)"
}

# shellcheck disable=SC2086 # must split into words
{
    breaks "no barrier between bits and their sums" 's/return !__syncthreads_or(twice);/return !twice;/' "race" "*marks*" $many
    breaks "a row that is not published" 's/^            if (first)$/            if (first \&\& blockIdx.x > 0)/' \
        "expected 26368, got -1" "" $many
    breaks "a block that returns at once" '/^    word64 \*const sets = /i if (blockIdx.x == 0) return;' \
        "expected 26368, got -1" "" $many
    breaks "a plain store of a row" 's/atomicExch(&row\[e \/ COUNTS_PER_WORD\], word | WRITTEN)/row[e \/ COUNTS_PER_WORD] = word | WRITTEN/' "race" \
        "*row*" $many
    breaks "more blocks than the device holds" 's/= multiprocessors < ALIGN_MAX_BLOCKS ? multiprocessors :/=/' \
        "too many blocks in cooperative launch" "" --num-tokens 4096
}
exchange "launches of any size, not broken" 's/MAX_POLLS 100/MAX_POLLS 99/' "OK"
exchange "rows that are not cleared" 's/i < (int)(previous >> 1)/i < 0/' "FAILED"
exchange "arrivals that are not reset" '/atomicAnd(&workspace->arrivals, gave_up_bit(set));/d' "FAILED"
finish
