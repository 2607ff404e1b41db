#!/bin/sh
# The plots of docs/figures: that they show the recorded numbers, and that one that does not is found.
#
# run: $b/cpu/plot_data $b/docs/plots $b/run
. tests/tap.sh
tool=$1
made=$2
runs=$3
gate='f32 01_cpu_baseline 02_warp_per_group 03_divergence_free 04_bitonic_sort 05_fused_gate'
align='align 64 06_align_serial 07_align_vector_pad 08_align_blelloch 09_align_warp_scan 10_align_parallel_fill'

succeeds 'the committed plots are of the numbers of today' sh docs/plot.sh check "$made"/*.data

# --- the numbers ---

equal 'times are those of the results, all of them' '' "$(python3 - "$made" 2>&1 <<'END'
import json, sys
def blocks(name):
    text = open(f"{sys.argv[1]}/{name}.data").read().split("$times << END\n")[1].split("END\n")[0]
    result = {}
    for block in text.split("\n\n\n"):
        label, *lines = block.strip().split("\n")
        result[label[2:]] = [tuple(map(float, line.split())) for line in lines]
    return result
def rows(name, get):
    rows = json.load(open(f"docs/results/h200/{name}.json"))["rows"]
    return [(row["num_tokens"], get(row)) for row in rows]
def median(key):
    return lambda row: row[key]["median_us"]
expected = {"gate_times": {"PyTorch eager": rows("pytorch_gate_f32", median("eager_graph")),
                           "PyTorch compiled": rows("pytorch_gate_f32", median("compiled_graph")),
                           "01_cpu_baseline": rows("02_warp_per_group_f32", median("before")),
                           "floor": rows("02_warp_per_group_f32", lambda row: row["floor_us"])},
            "align_times": {"CUB radix sort": rows("cub_align_b64", median("here")),
                            "floor": rows("10_align_parallel_fill_b64", lambda row: row["floor_us"])}}
for name in "02_warp_per_group", "03_divergence_free", "04_bitonic_sort", "05_fused_gate":
    expected["gate_times"][name] = rows(name + "_f32", median("here"))
for name in ("06_align_serial", "07_align_vector_pad", "08_align_blelloch", "09_align_warp_scan",
             "10_align_parallel_fill"):
    expected["align_times"][name] = rows(name + "_b64", median("here"))
for plot in expected:
    shown = blocks(plot)
    if set(shown) != set(expected[plot]):
        print(plot, sorted(shown))
    for label in expected[plot]:
        if shown.get(label) != [(float(a), b) for a, b in expected[plot][label]]:
            print(plot, label, shown.get(label), expected[plot][label])
few_and_many = {}
for line in open(f"{sys.argv[1]}/results.data").read().split("<< END\n")[1].split("END")[0].split("\n"):
    if line.strip():
        place, few, many, rest = line.split(" ", 3)
        few_and_many[rest.split('"')[1], float(few)] = float(many)
wanted = {}
for plot in expected:
    for label, points in expected[plot].items():
        if label != "PyTorch eager":
            wanted[label.replace("_", " "), dict(points)[1]] = dict(points)[65536]
if few_and_many != wanted:
    print(few_and_many, wanted)
END
)"

equal 'counters are those of the CSV reports' '' "$(python3 - "$made" "$runs" 2>&1 <<'END'
import csv, sys
sums = {"shared_wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
        "global_sectors": ("global_load_sectors", "global_store_sectors")}
for plot, tokens in ("gate", True), ("align", False):
    text = open(f"{sys.argv[1]}/{plot}_counters.data").read().split("<< END\n")[1].split("END")[0]
    panels = text.split("\n\n\n")
    if len(panels) != 6:
        print(plot, len(panels))
    for panel in panels:
        name, *bars = panel.strip().split("\n")
        for bar in bars:
            place, value, chapter, shown = bar.split()
            report = next(csv.DictReader(open(f"{sys.argv[2]}/{chapter.strip(chr(34))}.csv")))
            wanted = sum(int(report[part]) for part in sums.get(name[2:], (name[2:],)))
            wanted = wanted / int(report["num_tokens"]) if tokens else wanted
            shown = float(shown.strip('"').replace(",", ""))
            if abs(float(value) - wanted) > 1e-6 * wanted or abs(shown - wanted) > 0.01 * wanted:
                print(plot, bar, wanted)
END
)"

equal 'the load is that of the choices, the words those of the rows' '' "$(python3 - "$made" 2>&1 <<'END'
import collections, json, re, struct, sys
raw = open(f"{sys.argv[1]}/load/topk_ids.npy", "rb").read()
data = raw[10 + struct.unpack("<H", raw[8:10])[0]:]
ids = struct.unpack(f"<{len(data) // 4}i", data)
words = json.load(open("common/data/router/tokens.json"))
load, total = collections.Counter(ids), collections.Counter(words)
text = open(f"{sys.argv[1]}/expert_load.data").read()
bars = re.findall(r"^\d+ (\d+) # expert (\d+)$", text, re.M)
if len(bars) != 256 or any(load[int(expert)] != int(count) for count, expert in bars):
    print("bars")
if [int(count) for count, _ in bars] != sorted((int(count) for count, _ in bars), reverse=True):
    print("order")
idle = re.search(r"^idle = '(.*)'", text, re.M).group(1)
if [int(expert) for expert in idle.split(", ")] != [expert for expert in range(256) if load[expert] == 0]:
    print("idle")
names = {"a space": " ", "an end of line": "\n", "a rare word": "<unk>"}
busy = re.findall(r"busy_expert\[\d\] = (\d+); busy_choices\[\d\] = (\d+); busy_words\[\d\] = '(.*)'", text)
if [int(expert) for expert, _, _ in busy] != [expert for expert, _ in load.most_common(5)]:
    print("busy")
for expert, count, said in busy:
    sent = collections.Counter(words[i // 8] for i, one in enumerate(ids) if one == int(expert))
    shown = re.findall(r"(?:^|, )(.+?) (\d+) of (\d+)(?=,|$)", said)
    if sorted(sent.values())[:-4:-1] != [int(often) for _, often, _ in shown]:
        print(expert, "not the three words it gets most", said)
    for word, often, of in shown:
        word = names.get(word, word.strip('"'))
        if sent[word] != int(often) or total[word] != int(of):
            print(expert, word, often, of)
END
)"

# --- the pictures ---

equal 'well-formed, with words, a card, text of 12 px, at most 60 kB, and nothing from elsewhere' '' "$(python3 - "$made" 2>&1 <<'END'
import glob, os, re, sys, xml.dom.minidom
for data in glob.glob(sys.argv[1] + "/*.data"):
    path = "docs/figures/" + os.path.basename(data)[:-5] + ".svg"
    text = open(path).read()
    svg = xml.dom.minidom.parseString(text).documentElement
    words = [svg.getElementsByTagName(name)[0].firstChild.data for name in ("title", "desc")]
    card = svg.getElementsByTagName("rect")[0]
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', text)]
    links = [value for name, value in re.findall(r"""((?:xlink:)?href|src)=["']([^"']*)""", text) if value[0] != "#"]
    if (min(map(len, words)) < 20 or card.getAttribute("fill") != "#fdfdfb" or min(sizes) < 12 or links
            or float(card.getAttribute("width")) != float(svg.getAttribute("width")) - 1
            or os.path.getsize(path) > 60000 or re.search(r"<script|<image|<foreignObject|@import|url\(\s*['\"]?[^#'\"]", text)
            or not re.search(r'font-family="system-ui', text)):
        print(path, min(map(len, words)), min(sizes), links)
END
)"

# A copy of what the check reads, to be spoiled.
mkdir -p "$scratch/tree/docs" "$scratch/tree/data"
cp -r docs/plot.sh docs/plots docs/figures "$scratch/tree/docs/"
cp "$made"/*.data "$scratch/tree/data/"

# checked: the exit status and what the check says in the copy
checked() {
    (cd "$scratch/tree" && said=$(sh docs/plot.sh check data/*.data 2>&1); echo "$? $said")
}

equal 'the copy is good' '0 ' "$(checked)"
sed -i '0,/^1 46/s//1 47/' "$scratch/tree/data/gate_times.data"
equal 'another number is found' \
    '1 docs/figures/gate_times.svg: not of today'\''s numbers, or drawn by another docs/plots/gate_times.gnuplot; ninja figures draws it anew' \
    "$(checked)"
cp "$made/gate_times.data" "$scratch/tree/data/"
echo '# more' >>"$scratch/tree/docs/plots/counters.gnuplot"
equal 'another script is found, one that scripts load too' '2' "$(checked | grep -c '_counters.svg: not of today.*ninja figures')"
cp docs/plots/counters.gnuplot "$scratch/tree/docs/plots/"
sed -i 's/>36.4</>3.64</' "$scratch/tree/docs/figures/results.svg"
equal 'an edited picture is found' '1 docs/figures/results.svg: not as gnuplot left it; ninja figures draws it anew' "$(checked)"
head -n 100 docs/figures/results.svg >"$scratch/tree/docs/figures/results.svg"
equal 'half a picture is found' '1 docs/figures/results.svg: not as gnuplot left it; ninja figures draws it anew' "$(checked)"
rm "$scratch/tree/docs/figures/results.svg"
equal 'a missing picture is found' '1 docs/figures/results.svg: it is missing; ninja figures draws it' "$(checked)"

mkdir "$scratch/bin"
shell=$(command -v sh)
said=$(PATH=$scratch/bin "$shell" docs/plot.sh draw "$made/results.data" 2>&1)
equal 'without gnuplot a line says what to do' '1 gnuplot is missing: sh common/setup.sh docs installs it' "$? $said"
equal 'no words: usage' 2 "$(sh docs/plot.sh 2>/dev/null; echo $?)"
if command -v gnuplot >/dev/null; then
    sh docs/plot.sh draw "$made/results.data" >"$scratch/tree/docs/figures/results.svg"
    equal 'what is drawn anew is good' '0 ' "$(checked)"
    echo 'source = ' >"$scratch/results.data"
    sh docs/plot.sh draw "$scratch/results.data" >"$scratch/out" 2>/dev/null
    equal 'data that gnuplot does not take draws nothing' '1 0' "$(($? > 0)) $(wc -c <"$scratch/out" | tr -d ' ')"
else
    skip 'what is drawn anew is good' 'no gnuplot'
    skip 'data that gnuplot does not take draws nothing' 'no gnuplot'
fi

# --- results that are old, odd or missing ---

# refuses NAME WORDS ARGUMENT...: exit 2, nothing on stdout, one line that has the words
refuses() {
    refuses_name=$1
    refuses_words=$2
    shift 2
    "$tool" "$@" >"$scratch/out" 2>"$scratch/err"
    equal "$refuses_name: exit, output, lines" '2 0 1' "$? $(wc -c <"$scratch/out" | tr -d ' ') $(wc -l <"$scratch/err" | tr -d ' ')"
    matches "$refuses_name: says why" "plot_data: *$refuses_words*" "$(cat "$scratch/err")"
}

results=$scratch/results
cp -r docs/results/h200 "$results"
equal 'as recorded: as drawn' '' "$("$tool" --results "$results" times "$gate" | cmp - "$made/gate_times.data" 2>&1)"

sed -i 's/"kernel_source_sha256": "..../"kernel_source_sha256": "0000/' "$results/04_bitonic_sort_f32.json" "$results/cub_align_b64.json"
matches 'an older kernel is named below the plot' "*old = 'Recorded from an older kernel: 04_bitonic_sort'*" \
    "$("$tool" --results "$results" times "$gate")"
matches 'and in the picture of all results' "*old = 'Recorded from an older kernel: 04_bitonic_sort, CUB radix sort'*" \
    "$("$tool" --results "$results" results "$gate" "$align")"
if command -v gnuplot >/dev/null; then
    "$tool" --results "$results" times "$gate" >"$scratch/gate_times.data"
    matches 'the picture says so' '*>Recorded from an older kernel: 04_bitonic_sort<*' \
        "$(sh docs/plot.sh draw "$scratch/gate_times.data" | tr '\n' ' ' | sed 's/> *</></g; s/>\t*/>/g')"
else
    skip 'the picture says so' 'no gnuplot'
fi

sed -i "s/\"device\": \"NVIDIA H200\"/\"device\": \"a 'card' \`rm\` <b>\"/" "$results/05_fused_gate_f32.json"
matches 'what a result says is text to gnuplot and to XML' "*and a ’card’ ?rm? ?b?,*" \
    "$("$tool" --results "$results" times "$gate" | grep '^source')"

sed -i 's/"num_tokens": 65536/"num_tokens": 65/' "$results/03_divergence_free_f32.json"
refuses 'sizes that do not ascend' '03_divergence_free: 65 tokens come after 32768' --results "$results" times "$gate"
rm "$results/03_divergence_free_f32.json"
refuses 'a chapter without a result' "$results/03_divergence_free_f32.json: it is missing" --results "$results" times "$gate"
rm "$results/pytorch_gate_f32.json"
refuses 'no result of PyTorch' "$results/pytorch_gate_f32.json: it is missing" --results "$results" times "$gate"
rm "$results/cub_align_b64.json"
refuses 'no result of CUB' "$results/cub_align_b64.json: it is missing" --results "$results" times "$align"
refuses 'no results at all' "$scratch/none: " --results "$scratch/none" times "$gate"
refuses 'times of no chapters' 'times of no chapters' times f32
refuses 'times of the small kernel' 'no lines' times 'small 64 06_align_serial'
refuses 'a chapter nobody knows' "'99_none' is no chapter" times 'f32 99_none'
refuses 'align where the gate must be' 'the gate first, then of align' results "$align" "$gate"

refuses 'a report that is missing' "$scratch/02.json" counters gate "$scratch" 02
refuses 'an operator nobody knows' "counters of 'both'; it must be gate or align" counters both "$runs" 02
refuses 'no choices' "$scratch/topk_ids.npy" load "$scratch/topk_ids.npy" common/data/router/tokens.json
refuses 'choices that are none' 'layer2_logits.npy' load common/data/router/layer2_logits.npy common/data/router/tokens.json
echo '["one"]' >"$scratch/tokens.json"
refuses 'too few words' 'it has 1 words for 2048 rows' load "$made/load/topk_ids.npy" "$scratch/tokens.json"
echo '{}' >"$scratch/tokens.json"
refuses 'words that are no list' 'it must be a list of words' load "$made/load/topk_ids.npy" "$scratch/tokens.json"
"$tool" >"$scratch/out" 2>"$scratch/err"
matches 'no arguments: usage' '2 usage: plot_data *' "$? $(cat "$scratch/err")"
"$tool" load "$made/load/topk_ids.npy" common/data/router/tokens.json >/dev/full 2>"$scratch/err"
equal 'a full disk is an error' '2 plot_data: standard output: cannot be written' "$? $(cat "$scratch/err")"
finish
