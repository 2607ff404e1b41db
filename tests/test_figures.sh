#!/bin/sh
# The pictures of real runs, and the tool that draws them.
#
# run: $b/cpu/trace_figure $b/cpu/stepper_page $b/docs
. tests/tap.sh
tool=$1
stepper=$2
made=$3
traces=$made/traces

succeeds 'the committed figures are what the tool makes' sh docs/check_figures.sh "$made"/figures/*.svg
mkdir -p "$scratch/figures"
sed 's/five steps/six steps/' "$made/figures/02_butterfly.svg" >"$scratch/figures/02_butterfly.svg"
matches 'a figure that differs is named, and what to do' '1 docs/figures/02_butterfly.svg: *run ninja figures' \
    "$(said=$(sh docs/check_figures.sh "$scratch/figures/02_butterfly.svg" 2>&1); echo "$? $said")"

# What every picture must be: XML, with words for those who do not see it, on a card of its own, readable, small.
faults=$(python3 - "$made"/figures/*.svg <<'END'
import os, re, sys, xml.dom.minidom
for path in sys.argv[1:]:
    text = open(path).read()
    svg = xml.dom.minidom.parseString(text).documentElement
    words = [svg.getElementsByTagName(name)[0].firstChild.data for name in ("title", "desc")]
    card = svg.getElementsByTagName("rect")[0]
    sizes = [int(size) for size in re.findall(r"(\d+)px", text)]
    if (min(map(len, words)) < 20 or card.getAttribute("fill") != "#fdfdfb" or min(sizes) < 12
            or float(card.getAttribute("width")) < float(svg.getAttribute("width")) - 1 or os.path.getsize(path) > 60000):
        print(path)
END
)
equal 'pictures have words, a card, text of 12 px and at most 60 kB' '' "$faults"

# numbers FILE: all texts of a picture that are whole numbers, on one line
numbers() {
    grep -o '>-*[0-9]*</text>' "$1" | tr -dc '0-9\n-' | tr '\n' ' '
}

matches 'the tree ends with the sums of 3 1 7 0 4 1 6 3' '*3 1 7 0 4 1 6 3 *0 3 4 11 11 15 16 22 ' \
    "$(numbers "$made/figures/08_tree.svg")"
matches 'and keeps their sum' '*25 is kept as the total*' "$(cat "$made/figures/08_tree.svg")"
sums=$(sed -n 's/.*--counts \([0-9,]*\) .*/\1/p' "$made/stepper/stepper_09.md" | head -n 1 | tr , '\n' |
    awk '{ printf "%d ", sum; sum += $1 }')
matches 'the scan ends with the sums of its counts' "* $sums" "$(numbers "$made/figures/09_scan.svg")"
equal 'the bitonic sort has 15 steps of the right reach' '1 2 1 4 2 1 8 4 2 1 16 8 4 2 1 ' \
    "$(grep -o 'reads lane ^ [0-9]*' "$made/figures/04_bitonic.svg" | sed 's/.* //' | tr '\n' ' ')"
equal 'the butterfly has five' '16 8 4 2 1 ' \
    "$(grep -o 'reads lane ^ [0-9]*' "$made/figures/02_butterfly.svg" | sed 's/.* //' | tr '\n' ' ')"
equal 'a token among four has three' '4 2 1 ' \
    "$(grep -o 'reads lane ^ [0-9]*' "$made/figures/05_tokens.svg" | sed 's/.* //' | tr '\n' ' ')"
matches 'all but one warp wait while one thread adds up' '*>warps 8 to 31<*>waits<*' "$(cat "$made/figures/06_waiting.svg")"

equal 'chapter 06 fills by eight requests, chapter 07 by two' \
    'Chapter 06: 4 bytes a lane, 8 requests, 32 sectors;Chapter 07: 16 bytes a lane, 2 requests, 32 sectors;' \
    "$(grep -o 'Chapter 0[67]: [^<]*' "$made/figures/07_stores.svg" | tr '\n' ';')"
equal 'half of the lanes run in each step, then all' '16 16 16 16 16 32 32 32 32 32 ' \
    "$(grep -o 'step [1-5]: [0-9]* of 32 run' "$made/figures/03_split.svg" | sed 's/.*: //; s/ .*//' | tr '\n' ' ')"
equal 'as many lanes take as in the butterfly, in both halves' '160' "$(grep -o '>new<' "$made/figures/03_split.svg" | wc -l | tr -d ' ')"
chosen=$(tail -c 32 "$traces/01_flow/topk_ids.npy" | od -An -v -td4 -w32 | tr -s ' ' | sed 's/^ //')
equal "a token's experts are those of its row, in order" "$chosen" \
    "$(grep -o 'expert [0-9]*<' "$made/figures/01_flow.svg" | tr -dc '0-9\n' | tr '\n' ' ' | sed 's/ $//')"
equal 'four groups stay' '4 4' \
    "$(grep -c '>stays<' "$made/figures/01_flow.svg") $(grep -c '>is left out<' "$made/figures/01_flow.svg")"

# refuses NAME WORDS ARGUMENT...: exit 2, nothing on stdout, one line that has the words
refuses() {
    refuses_name=$1
    refuses_words=$2
    shift 2
    "$@" >"$scratch/out" 2>"$scratch/err"
    equal "$refuses_name: exit, output, lines" '2 0 1' "$? $(wc -c <"$scratch/out" | tr -d ' ') $(wc -l <"$scratch/err" | tr -d ' ')"
    matches "$refuses_name: says why" "*$refuses_words*" "$(cat "$scratch/err")"
}

refuses 'no arguments' 'usage: trace_figure' "$tool"
refuses 'a figure nobody knows' 'usage: trace_figure' "$tool" spiral "$traces/02.json"
refuses 'no trace' "$scratch/none.json" "$tool" butterfly "$scratch/none.json"
refuses 'a trace without the exchanges' 'no exchange over 16 lanes in snippet \[[]warp_best]' "$tool" butterfly "$traces/05.json"
refuses 'a trace without a tree' 'no word becomes the sum of two' "$tool" tree "$traces/06.json"
refuses 'a trace without the scan' 'do not add up in two levels' "$tool" scan "$traces/08.json"
refuses 'arrays that are not there' 'sorted_token_ids.npy' "$tool" blocks "$scratch"
sed 's/"truncated": false/"truncated": true/' "$traces/02.json" >"$scratch/cut.json"
refuses 'half a trace' 'no trace of a whole kernel' "$tool" butterfly "$scratch/cut.json"
echo '{}' >"$scratch/empty.json"
refuses 'JSON that is no trace' 'no trace of a whole kernel' "$tool" butterfly "$scratch/empty.json"
sed 's/"kind": "shared_store"/"kind": "shared_shop"/' "$traces/02.json" >"$scratch/shop.json"
refuses 'an event nobody knows' 'is none that a trace has' "$tool" butterfly "$scratch/shop.json"

# A trace whose numbers are not those of a run: one value that a lane receives, then what is stored in the end.
python3 - "$traces/02.json" "$traces/09.json" "$scratch" "$traces/07_stores.json" <<'END'
import json, sys
def write(trace, name):
    with open(sys.argv[3] + "/" + name, "w") as file:
        json.dump(trace, file)
trace = json.load(open(sys.argv[1]))
next(event for event in trace["events"] if event["kind"] == "shuffle")["out"][3] = "0x0000007b"
write(trace, "shuffle.json")
trace = json.load(open(sys.argv[1]))
for event in trace["events"]:
    if event["kind"] == "shared_store" and event["lanes"] == 1:
        event["value"][0] = "0x0000007b"
write(trace, "stored.json")
trace = json.load(open(sys.argv[2]))
stores = [event for event in trace["events"] if event["kind"] == "shared_store" and event["warp"] == 1]
stores[-2]["value"][5] = "0x0000007b"
write(trace, "begins.json")
trace = json.load(open(sys.argv[4]))
stores = [event for event in trace["events"] if event["kind"] == "global_store"]
stores[1]["offset"] = stores[0]["offset"]
write(trace, "twice.json")
trace["events"].remove(stores[1])
write(trace, "half.json")
END
refuses 'a lane that receives what nobody brought' 'is none that a trace has' "$tool" butterfly "$scratch/shuffle.json"
refuses 'a best that is not the one stored' 'goes on with another result' "$tool" butterfly "$scratch/stored.json"
refuses 'a begin that is not the sum' 'do not add up in two levels' "$tool" scan "$scratch/begins.json"
refuses 'stores of lists that differ' 'they must have as many' "$tool" stores "$traces/06_stores.json" "$scratch/half.json"
refuses 'a list written twice' 'once from end to end' "$tool" stores "$traces/06_stores.json" "$scratch/twice.json"
refuses 'a trace without a list' 'does not fill a list' "$tool" stores "$traces/06_stores.json" "$traces/06.json"
"$(dirname "$tool")/03_divergence_free" --num-tokens 1 --dist normal --trace "$scratch/other.json" >"$scratch/out"
refuses 'butterflies of two tokens' 'they do not take the same' "$tool" split "$traces/02.json" "$scratch/other.json"
refuses 'a trace with no butterfly in it' 'no exchange over 16 lanes' "$tool" split "$traces/02.json" "$traces/05.json"
refuses 'one trace where there must be two' 'usage: trace_figure' "$tool" split "$traces/02.json"
cp "$traces/01_flow/topk_ids.npy" "$traces/01_flow/topk_weights.npy" "$scratch/"
printf '\001' | dd of="$scratch/topk_ids.npy" bs=1 seek=$(($(wc -c <"$scratch/topk_ids.npy") - 32)) conv=notrunc 2>/dev/null
refuses 'experts that the scores do not give' 'is not what the router' "$tool" flow "$scratch"
cp "$traces/01_flow/topk_ids.npy" "$scratch/"
printf '\100' | dd of="$scratch/topk_weights.npy" bs=1 seek=$(($(wc -c <"$scratch/topk_weights.npy") - 29)) conv=notrunc 2>/dev/null
refuses 'a weight that they do not give' 'is not what the router' "$tool" flow "$scratch"
cp "$traces/06_blocks/sorted_token_ids.npy" "$scratch/topk_ids.npy"
refuses 'ids of another operator' 'it must be <i4, 8 in a row' "$tool" flow "$scratch"
"$tool" butterfly "$traces/02.json" >/dev/full 2>"$scratch/err"
equal 'a full disk is an error' '2 trace_figure: standard output: cannot be written' "$? $(cat "$scratch/err")"

refuses 'a page of nothing' 'usage: stepper_page' "$stepper" html 02_warp_per_group
refuses 'a page without a trace' "$scratch/none.json" "$stepper" html 02_warp_per_group "$scratch/none.json" run
finish
