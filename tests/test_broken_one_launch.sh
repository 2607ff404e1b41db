#!/bin/sh
# Breaks one line of chapter 15's kernel at a time: the program must fail with the expected message, or launches that
# share a workspace must fail in test_routing_exchange.c.
#
# run in all: $b/cpu/15_one_launch
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
programs=$(dirname "$1")

# Compiles only the kernels for f32 and two of the shapes, and limits polling to fewer polls.
breaks_start "$programs/15_one_launch" chapters/15_one_launch/routing.cu \
    "$only_f32; /matches_router<router<\(256, 16\|128, 8\)/,+1d; s/(1 << 22)/100/"

# exchange NAME SED RESULT: edits the kernel; the test of launches that share a workspace must print RESULT, "OK" or
# "FAILED"
exchange() {
    exchange_log=$({ rebuild "$2" &&
        ${CC:-gcc} -std=c11 -Icommon/simt -Icommon -Drouting_launch_patient=routing_launch \
            -Drouting_launch_impatient=routing_launch -c tests/test_routing_exchange.c -o "$scratch/exchange.o" &&
        ${CC:-gcc} "$scratch/exchange.o" "$scratch/routing.o" "$programs/libharness.a" "$programs/libbase.a" \
            "$programs/libsimt.a" -fopenmp -lm -ldl -pthread -lcmocka -o "$scratch/exchange"; } 2>&1) || {
        tap_result 1 "$1: builds" || printf '%s\n' "$exchange_log" | sed 's/^/# /'
        return
    }
    "$scratch/exchange" >"$scratch/log" 2>&1
    equal "$1" "$3" "$(sed -n 's/^\[ *\([A-Z]*\) *\] one_workspace_serves.*/\1/p' "$scratch/log" | sed -n 2p)"
}

breaks "a plain store of a word" 's/old_word = atomicCAS(\(.*\), 0ull, shared.word);/\1 = shared.word;/; s/&workspace->sets\[!(previous/workspace->sets[!(previous/' \
    "race" "*shared.word*" --num-tokens 8
breaks "no barrier between ids and counts" '/\/\/ \[finish\]/{n;n;/__syncthreads/d}' \
    "race" "" --num-tokens 1
breaks "only 16 of more candidates are ranked" 's/if (shared.num_candidates <= WARP_SIZE . 2)/if (true)/' \
    "" "" --num-tokens 64
breaks "a token that also counts its own word" 's/token != own ? wait_for(&words\[token\]) : 0/wait_for(\&words[token])/' \
    "sorted_token_ids" "" --num-tokens 8
breaks "a block that does not publish" 's/if (lane == 0 && num_tokens > 1)/if (lane == 0 \&\& token > 0)/' \
    "got -1" "" --num-tokens 8
breaks "all tokens count as earlier tokens" 's/token < own ? 0x10001 : 1/0x10001/' "race" "*sorted_token_ids*" --num-tokens 8
breaks "groups that no block pads" 's/if (earlier == 0)/if (earlier < 0)/' "nothing was written" "" --num-tokens 8
exchange "launches of any size, not broken" 's/MAX_POLLS 100/MAX_POLLS 99/' "OK"
exchange "words that are not cleared" 's/< previous >> 1)/< 0u)/' "FAILED"
exchange "a set that is not recorded" 's/arrived == num_tokens - 1)/false)/' "FAILED"
finish
