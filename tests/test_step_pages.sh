#!/bin/sh
# Pages that show what a step changed: those of the course, against the files that they are made from; and what docs/step_page.c
# does with changed lines, and with inputs that are missing or not what they must be.
#
# run: $b
#
# `ninja steps` has made the pages in $b/docs/steps.
. tests/tap.sh
build=$(realpath "$1")
step_page=$build/cpu/step_page

# --- the course's own -------------------------------------------------------------------------------------------------

kernel() { echo "chapters/$1"_*/*.cu; }

# figure PAGE ROW COLUMN: what stands in a table
figure() {
    sed -n "s|^<tr><th scope=\"row\">$2</th><td>||p" "$build/docs/steps/step_$1.md" | sed 's|</td></tr>||; s|</td><td>|\t|g' |
        cut -f "$3" | tr -d ,
}

# csv CHAPTER COUNTER
csv() {
    "$build/cpu/$1" --format csv | awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }'
}

# median CHAPTER ENDING SIDE TOKENS: three digits of it
median() {
    sed -n "s/.*\"num_tokens\": $4, .*\"$3\": {\"median_us\": \([0-9.]*\).*/\1/p" "docs/results/h200/$1_$2.json" |
        awk '{ printf $1 < 99.95 ? "%#.3g" : "%.0f", $1 }'
}

cat >"$scratch/sides.py" <<'END'
"""The text of one side of a page's difference: sides.py PAGE before|after"""
import html.parser
import sys

class Side(html.parser.HTMLParser):
    def __init__(self, side):
        super().__init__()
        self.side, self.text, self.kept, self.folded, self.skipped = side, [], False, False, False

    def handle_starttag(self, tag, attrs):
        classes = (dict(attrs).get("class") or "").split()
        if tag == "td" and "n" not in classes:
            self.kept = self.side in classes and "none" not in classes
        self.folded |= tag == "pre"
        self.skipped |= tag == "span" and ("sign" in classes or "n" in classes)

    def handle_endtag(self, tag):
        self.skipped &= tag != "span"
        self.folded &= tag != "pre"
        if tag == "td" and self.kept:
            self.text.append("\n")
            self.kept = False

    def handle_data(self, data):
        if (self.kept or self.folded) and not self.skipped:
            self.text.append(data)

page = open(sys.argv[1]).read()
side = Side(sys.argv[2])
side.feed(page[page.index('<table class="diff"'):])
sys.stdout.write("".join(side.text))
END

for number in 02 03 04 05 07 08 09 10; do
    page=$build/docs/steps/step_$number.md
    equal "$number has its page" "# What chapter $number changed {#step_$number}" "$(head -n 1 "$page")"
    before=$(printf '%02d' $((${number#0} - 1)))
    equal "$number: the way back" 2 "$(grep -c "href=\"chapter_$number.html\">&larr; Back to $number " "$page")"
    [ "$number" != 02 ] || continue
    # shellcheck disable=SC2046 # two names
    set -- $(kernel "$before") $(kernel "$number")
    python3 "$scratch/sides.py" "$page" before >"$scratch/before"
    python3 "$scratch/sides.py" "$page" after >"$scratch/after"
    succeeds "$number: the left side is chapter $before" cmp "$1" "$scratch/before"
    succeeds "$number: the right side is chapter $number" cmp "$2" "$scratch/after"
    equal "$number: lines removed and added, as diff has them" \
        "$(diff --minimal "$1" "$2" | grep -c '^<') $(diff --minimal "$1" "$2" | grep -c '^>')" \
        "$(grep -c '"before removed"' "$page") $(grep -c '"after added"' "$page")"
done
succeeds 'the first of align begins another operator' [ ! -e "$build/docs/steps/step_06.md" ]

equal '04: shuffles per token, as the CSV has them' \
    "$(($(csv 03_divergence_free shuffles) / 2048)) $(($(csv 04_bitonic_sort shuffles) / 2048)) -29 %" \
    "$(figure 04 shuffles 1) $(figure 04 shuffles 2) $(figure 04 shuffles 3)"
equal '09: barriers in all' "$(csv 08_align_blelloch block_barriers) $(csv 09_align_warp_scan block_barriers) -72 %" \
    "$(figure 09 'block barriers' 1) $(figure 09 'block barriers' 2) $(figure 09 'block barriers' 3)"
equal '09: a counter from nothing' '0 165 new' "$(figure 09 shuffles 1) $(figure 09 shuffles 2) $(figure 09 shuffles 3)"
equal '02: the host counts nothing' "$(($(csv 02_warp_per_group shuffles) / 2048))" "$(figure 02 shuffles 1)"
equal '02: the host and its threads' 1 "$(grep -c '<th scope="col">Chapter 01, [0-9]* threads</th>' "$build/docs/steps/step_02.md")"
for tokens in 1 512 65536; do
    row=$(echo $tokens | sed 's/^65536$/65,536/')
    equal "04: times of $tokens tokens" "$(median 04_bitonic_sort f32 before $tokens) $(median 04_bitonic_sort f32 here $tokens)" \
        "$(figure 04 "$row" 1) $(figure 04 "$row" 2)"
    equal "10: times of $tokens tokens" \
        "$(median 10_align_parallel_fill b64 before $tokens) $(median 10_align_parallel_fill b64 here $tokens)" \
        "$(figure 10 "$row" 1) $(figure 10 "$row" 2)"
done
line=$(grep -n 'if (other.value >= mine.value' "$(kernel 02)" | cut -d : -f 1)
equal '03: the branch of 02 is removed, on its side' 1 \
    "$(grep "\"n before removed\" role=\"cell\">$line<" "$build/docs/steps/step_03.md" | sed 's/<[^>]*>//g' | grep -c 'if (other.value')"
equal '02: what does the same stands side by side' 7 "$(grep -c 'scope="rowgroup"' "$build/docs/steps/step_02.md")"

# --- a step of two chapters -------------------------------------------------------------------------------------------

tiny=$scratch/tiny
results=$tiny/docs/results/h200
mkdir -p "$tiny/chapters/03_third" "$tiny/chapters/04_fourth" "$tiny/common" "$tiny/tests/peers" "$tiny/runs" "$results"
touch "$tiny/tests/peers/a.cu"
echo '# 03 Third & more' >"$tiny/chapters/03_third/README.md"
echo '# 04 Fourth' >"$tiny/chapters/04_fourth/README.md"

# report NUMBER NAME SHUFFLES
report() {
    counters=$(sed 's/[a-z_]*/"&": 0/; s/^/, /' <<END | tr -d '\n'
launches
blocks
votes
block_barriers
warp_barriers
basic_blocks
lanes_active
lanes_possible
divergent_branches
global_load_requests
global_load_sectors
global_store_requests
global_store_sectors
shared_load_requests
shared_load_wavefronts
shared_store_requests
shared_store_wavefronts
shared_conflicts
atomic_requests
atomic_conflicts
END
    )
    echo "{\"chapter\": \"$2\", \"command\": \"b/cpu/$2\", \"input\": \"logits\", \"verified\": true," \
        "\"problem\": {\"num_tokens\": 4}, \"counters\": {\"shuffles\": $3$counters}}" >"$tiny/runs/$1.json"
}

record() {
    cat >"$results/04_fourth_f32.json" <<END
{"chapter": "04_fourth", "before": "03_third", "device": "GPU", "toolkit": "CUDA 1.2", "command": "gpu/04_fourth --bench",
 "date": "2026-01-02", "kernel_source_sha256": "$(sha256sum "$tiny/chapters/04_fourth/gate.cu" | cut -d ' ' -f 1)",
 "distribution": "router", "cache": "warm", "problem": {"dtype": "f32"},
 "rows": [{"num_tokens": 2048, "here": {"median_us": 5}, "before": {"median_us": 12345}}, {"num_tokens": 1, "here": {"median_us": 5}}]}
END
}

# course: two kernels, the second with a line changed, one more and one less
course() {
    {
        printf '/**\n * @file gate.cu\n * @brief Chapter 03: <the> third.\n *\n * Before: 2.\n * Now:    3.\n * Watch:  it.\n */\n'
        seq -f '// same %g' 20
        printf 'int a = b < c && "d";\n/* a comment\n   of two lines */\nint gone;\n'
    } >"$tiny/chapters/03_third/gate.cu"
    sed 's/Chapter 03: <the> third/Chapter 04: a <b> \& "c",\n * in two lines/; s/b < c/b < e/; /gone/d' "$tiny/chapters/03_third/gate.cu" \
        >"$tiny/chapters/04_fourth/gate.cu"
    echo 'int more;' >>"$tiny/chapters/04_fourth/gate.cu"
    sed -i 's/^int more;/#define MORE "<x>" \/\/ *\//' "$tiny/chapters/04_fourth/gate.cu"
    report 03 03_third 6
    report 04 04_fourth 4
    record
}

# make: the exit status, and what the tool said; the page is in $scratch/page
make() {
    said=$(cd "$tiny" && "$step_page" --runs runs chapters/03_third/gate.cu "${1:-chapters/04_fourth/gate.cu}" 2>&1 >"$scratch/page")
    echo "$?${said:+ $said}"
}

course
equal 'a page is made' 0 "$(make)"
equal 'what it is about, escaped and over two lines' '<p>In short: a &lt;b&gt; &amp; &quot;c&quot;, in two lines.</p>' "$(grep 'In short' "$scratch/page")"
equal 'titles are escaped' 2 "$(grep -c 'The chapter before: 03 Third &amp; more' "$scratch/page")"
equal 'a counter that is there, and none that is not' '<tr><th scope="row">shuffles</th><td>1.50</td><td>1</td><td>-33 %</td></tr>' \
    "$(sed -n '/Counters/,/<\/table>/p' "$scratch/page" | grep 'scope="row"')"
equal 'times' '<tr><th scope="row">2,048</th><td>12,300</td><td>5.00</td><td>2,470</td></tr>
<tr><th scope="row">1</th><td>-</td><td>5.00</td><td>-</td></tr>' "$(sed -n '/Microseconds/,/<\/table>/p' "$scratch/page" | grep 'scope="row"')"
# shellcheck disable=SC2016 # these quotes are Markdown's
equal 'where they come from' 'GPU, CUDA 1.2, recorded on 2026-01-02 by `gpu/NAME --bench`.' "$(grep '^GPU' "$scratch/page")"
equal 'they are of this kernel' 0 "$(grep -c older "$scratch/page")"
equal 'a changed line on either side, its word marked' \
    '<tr role="row"><td class="n before removed" role="cell">29</td><td class="before removed" role="cell"><code><span class="sign">-</span><span class="keyword">int</span> a = b &lt; <mark>c</mark> &amp;&amp; <span class="stringliteral">&quot;d&quot;</span>;</code></td><td class="n after added" role="cell">30</td><td class="after added" role="cell"><code><span class="sign">+</span><span class="keyword">int</span> a = b &lt; <mark>e</mark> &amp;&amp; <span class="stringliteral">&quot;d&quot;</span>;</code></td></tr>' \
    "$(grep 'before removed.*>30<' "$scratch/page")"
equal 'a comment of two lines is one on both' 4 "$(grep -E '>3[01]<' "$scratch/page" | grep -o 'class="comment"' | wc -l)"
equal 'nothing that Doxygen takes for the end of a comment' 0 "$(sed -n '/<table class="diff"/,$p' "$scratch/page" | grep -c '\*/')"
equal 'what has not changed is folded, but for three lines beside a change' '<summary>19 lines unchanged</summary>' \
    "$(grep -o '<summary>.*</summary>' "$scratch/page")"
equal 'columns have scopes, tables captions' '12 3' \
    "$(grep -o 'scope="col"' "$scratch/page" | wc -l) $(grep -c '<caption>' "$scratch/page")"
equal 'each side leads to its source' 2 "$(grep -o '<a href="0[34]__[a-z]*_2gate_8cu_source.html">gate.cu</a>' "$scratch/page" | wc -l)"
echo '// changed' >>"$tiny/chapters/04_fourth/gate.cu"
equal 'a kernel that has changed: made' 0 "$(make)"
equal 'its times say so' '*These are times of an older kernel: gate.cu has changed since.*' "$(grep older "$scratch/page")"
rm "$results"/*
equal 'without times: made' 0 "$(make)"
equal 'it says so' 'No times are recorded yet.' "$(grep 'No times' "$scratch/page")"
course

# refuses NAME MESSAGE FILE SED-SCRIPT: with a file changed so, or gone, there is no page
refuses() {
    if [ "${4:-}" ]; then
        sed -i "$4" "$tiny/$3"
    else
        rm "$tiny/$3"
    fi
    equal "$1" "2 step_page: $2" "$(make)"
    course
}

refuses 'no report' 'runs/03.json: No such file or directory' runs/03.json
refuses 'no report of the chapter' 'runs/04.json: No such file or directory' runs/04.json
refuses 'a report of another chapter' 'runs/04.json: "chapter" is "05_fifth"; it must begin with 04' runs/04.json 's/04_fourth/05_fifth/'
refuses 'a wrong result' 'runs/04.json: its result was not verified' runs/04.json s/true/false/
refuses 'a report of another problem' 'runs/04.json: "num_tokens" is 8; it must be 1 or more and as in the chapter before' \
    runs/04.json 's/"num_tokens": 4/"num_tokens": 8/'
refuses 'a report without a counter' 'runs/04.json: it has no counter "votes"' runs/04.json s/votes/notes/
refuses 'times that cannot be read' 'docs/results/h200/04_fourth_f32.json: it has no "rows"' \
    docs/results/h200/04_fourth_f32.json s/rows/lines/
refuses 'times of another chapter' 'docs/results/h200/04_fourth_f32.json: "chapter" is "05"; it must be "04_fourth"' \
    docs/results/h200/04_fourth_f32.json 's/"chapter": "04_fourth"/"chapter": "05"/'
refuses 'no kernel' "'chapters/04_fourth/gate.cu' is no chapter's kernel; chapters/03_name/gate.cu may be one" chapters/04_fourth/gate.cu
refuses 'a kernel that does not say what it does' "chapters/04_fourth/gate.cu: its first comment has no 'Watch:'" \
    chapters/04_fourth/gate.cu '/Watch/d'
equal 'a kernel of no chapter' "2 step_page: 'docs/gate.cu' is no chapter's kernel; chapters/03_name/gate.cu may be one" "$(make docs/gate.cu)"
mv "$tiny/chapters/03_third/gate.cu" "$tiny/chapters/03_third/gate.c"
said=$(cd "$tiny" && "$step_page" --runs runs chapters/03_third/gate.c chapters/04_fourth/gate.cu 2>&1 >/dev/null)
equal 'a host without the parts that are shown' '2 step_page: chapters/03_third/gate.c: it has no lines between two [scores]' "$? $said"
course
rm "$tiny/chapters/04_fourth/README.md"
equal 'no walkthrough' '2 step_page: chapters/04_fourth/README.md: No such file or directory' "$(make)"
echo '# 04 Fourth' >"$tiny/chapters/04_fourth/README.md"
cp "$tiny/chapters/04_fourth/gate.cu" "$tiny/chapters/03_third/gate.cu"
equal 'a step that changed nothing' '2 step_page: chapters/03_third/gate.cu and chapters/04_fourth/gate.cu are the same' "$(make)"
said=$("$step_page" 2>&1)
equal 'no arguments' '2 usage: step_page [--results DIR] [--runs DIR] BEFORE AFTER' "$? $said"
finish
