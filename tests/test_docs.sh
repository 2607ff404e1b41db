#!/bin/sh
# The documentation site: what becomes of a page, everything that must stop it from being made, and the site as a whole.
#
#   sh tests/test_docs.sh BUILD   what `ninja docs` needs is there in BUILD
. tests/tap.sh
build=$(realpath "$1")
root=$PWD

# --- a course of two chapters -----------------------------------------------------------------------------------------

tiny=$scratch/tiny
mkdir -p "$tiny/chapters/01_first" "$tiny/chapters/02_second" "$tiny/docs/pages" "$tiny/docs/figures" "$tiny/docs/results" \
    "$tiny/common/data/router" "$tiny/common/kernels" "$tiny/out"
printf '// [sum]\nint a;\nint b;\n// [sum]\n// [once]\n' >"$tiny/chapters/01_first/gate.c"
printf '#include "kernels/part.cuh"\n// [other]\n// [other]\n' >"$tiny/chapters/02_second/gate.cu"
echo '/** @file part.cuh */' >"$tiny/common/kernels/part.cuh"
echo '# Data' >"$tiny/common/data/router/README.md"
echo 'picture' >"$tiny/docs/figures/a.svg"
echo '[]' >"$tiny/docs/results/a.json"
printf '# Terms {#glossary}\n\n## Warp {#term_warp}\n<!-- words: warp, warps -->\nText.\n' >"$tiny/docs/pages/glossary.md"
printf '# Course {#mainpage}\n\n<!-- chapters -->\n' >"$tiny/docs/pages/main_page.md"
mkdir -p "$tiny/exercises/01_one" "$tiny/exercises/grade"
printf '# Exercises\n\n[One](01_one/README.md)\n' >"$tiny/exercises/README.md"
printf '# How to add one\n\nCopy [it](01_one).\n' >"$tiny/exercises/AUTHORING.md"
printf '# 01_one: what it is about\n\nAfter [one](../../chapters/01_first/README.md).\n' >"$tiny/exercises/01_one/README.md"
printf '# 02 Second {#chapter_02}\n\n**Its idea.** 7 minutes. Files.\n' >"$tiny/chapters/02_second/README.md"

# page LINE...: the first chapter's README
page() {
    printf '# 01 First {#chapter_01}\n\n**The idea.**\n\n' >"$tiny/chapters/01_first/README.md"
    printf '%s\n' "$@" >>"$tiny/chapters/01_first/README.md"
}

# make: the exit status, and what the tool said
make() {
    said=$(cd "$tiny" && "$build/cpu/chapter_page" out 2>&1)
    echo "$?${said:+ $said}"
}

# becomes NAME EXPECTED LINE...: a line of the page that is made
becomes() {
    name=$1
    expected=$2
    shift 2
    page "$@"
    equal "$name: made" 0 "$(make)"
    equal "$name" "$expected" "$(grep -Fx -e "$expected" "$tiny/out/chapter_01.md")"
}

becomes 'bold text may begin with a quotation' '<b>&quot;A claim.&quot;</b> No.' '**"A claim."** No.'
becomes 'code and a term in a quotation' 'So &quot;`a` of a [warp](@ref term_warp)&quot;.' 'So "`a` of a warp".'
becomes 'stars in code are no bold text' '`a ** b` <b>c' '`a ** b` **c' 'd** e'
page '**open' '' 'next'
equal 'bold text that does not end' \
    "1 chapter_page: chapters/01_first/README.md:6: the paragraph before has '**' without its other end" "$(make)"
page 'A warp and a warp, in Warps.' '' '## A heading, too' '' '`warp` [warp](gate.c)'
equal 'a page is made' 0 "$(make)"
equal 'the first use of a term leads to the glossary' 'A [warp](@ref term_warp) and a warp, in Warps.' \
    "$(grep '^A ' "$tiny/out/chapter_01.md")"
equal 'a heading has an id from its words' '## A heading, too {#chapter_01_a_heading_too}' \
    "$(grep '^## ' "$tiny/out/chapter_01.md")"
equal 'code and links hold no terms; a source has its page' '`warp` [warp](gate_8c_source.html)' \
    "$(grep '^`' "$tiny/out/chapter_01.md")"
equal 'the way to the next chapter' 2 "$(grep -c 'rel="next" href="chapter_02.html"' "$tiny/out/chapter_01.md")"
equal 'the way back' 2 "$(grep -c 'rel="prev" href="chapter_01.html"' "$tiny/out/chapter_02.md")"
equal 'the place' 1 "$(grep -c 'Chapter 2 of 2, part 1: the gate. About 1 minutes' "$tiny/out/chapter_02.md")"
equal 'minutes in words are left out; bold text is a tag' '<b>Its idea.</b> Files.' "$(grep 'idea' "$tiny/out/chapter_02.md")"
equal 'headers that a chapter uses' 1 "$(grep -c 'href="part_8cuh.html">kernels/part.cuh' "$tiny/out/chapter_02.md")"
equal 'a shared kernel leads back' ' * Used in @ref chapter_02 "02 Second".' "$(grep Used "$tiny/out/uses.dox")"
equal 'a chapter leads to its exercises' 1 \
    "$(grep -c '<li>Exercises: <a href="exercise_01_one.html">01_one</a></li>' "$tiny/out/chapter_01.md")"
equal 'and to none of another' 0 "$(grep -c 'exercise_' "$tiny/out/chapter_02.md")"
equal 'an exercise leads to its chapter' 'After [one](@ref chapter_01).' "$(tail -n 1 "$tiny/out/exercise_01_one.md")"
equal 'the list leads to the exercise' '[One](@ref exercise_01_one)' "$(grep '^.One' "$tiny/out/exercises.md")"
equal 'a folder stands for its README' 'Copy [it](@ref exercise_01_one).' "$(tail -n 1 "$tiny/out/exercise_authoring.md")"
equal 'no step page yet' 0 "$(grep -c step_02 "$tiny/out/chapter_02.md")"
: >"$tiny/out/step_02.md"
: >"$tiny/out/stepper_02.md"
equal 'with pages of the step' 0 "$(make)"
equal 'they are linked' 2 "$(grep -c -e 'subpage step_02' -e 'subpage stepper_02' "$tiny/out/chapter_02.md")"

becomes 'a link to a chapter' '[b](@ref chapter_02)' '[b](../02_second/README.md)'
becomes 'a link over two lines' 'a [b c](@ref chapter_02)' 'a [b' 'c](../02_second/README.md)'
becomes 'a link to another file' '[b](files/docs-results-a.json)' '[b](../../docs/results/a.json)'
succeeds 'that file is there' cmp "$tiny/docs/results/a.json" "$tiny/out/files/docs-results-a.json"
becomes 'a link elsewhere' '[b](https://example.org/a)' '[b](https://example.org/a)'
becomes 'a picture' '@htmlonly<figure class="picture"><a href="figures/a.svg"><img src="figures/a.svg" alt="A &quot;b&quot;" loading="lazy"/></a></figure>@endhtmlonly' \
    '![A "b"](../../docs/figures/a.svg)'
becomes 'a snippet' '\snippet chapters/01_first/gate.c sum' '[sum in gate.c](gate.c)' '\snippet chapters/01_first/gate.c sum'
equal 'where a snippet comes from' 1 \
    "$(grep -c 'href="gate_8c_source.html#l00002">gate.c, lines 2 to 3<' "$tiny/out/chapter_01.md")"
equal 'once' 0 "$(grep -c 'sum in gate.c' "$tiny/out/chapter_01.md")"
becomes 'a command' '4' '<!-- run: echo $((2 + 2)) -->'
becomes 'a command that fails as it should' 'no' '<!-- run 3: echo no; exit 3 -->'

# refuses NAME MESSAGE LINE...: the page is not made
refuses() {
    name=$1
    message=$2
    shift 2
    page "$@"
    equal "$name" "1 chapter_page: $message" "$(make)"
}

readme=chapters/01_first/README.md
refuses 'a snippet of no file' "$readme:6: chapters/01_first/none.c: No such file or directory" '' \
    '\snippet chapters/01_first/none.c sum'
refuses 'a tag that is not there' \
    "$readme:5: the tag [none] stands in chapters/01_first/gate.c 0 times; it must stand there twice" \
    '\snippet chapters/01_first/gate.c none'
refuses 'a tag that is there once' \
    "$readme:5: the tag [once] stands in chapters/01_first/gate.c 1 times; it must stand there twice" \
    '\snippet chapters/01_first/gate.c once'
refuses 'a snippet without a tag' "$readme:5: a snippet is '\\snippet path tag': '\\snippet chapters/01_first/gate.c'" \
    '\snippet chapters/01_first/gate.c'
refuses 'a snippet of what the site does not show' "$readme:5: docs/other.c is not among the sources that the site shows" \
    '\snippet docs/other.c sum' "$(cp "$tiny/chapters/01_first/gate.c" "$tiny/docs/other.c")"
refuses 'a picture that is not there' "$readme:5: the picture '../../docs/figures/none.svg' does not exist" \
    '![A](../../docs/figures/none.svg)'
refuses 'a picture without words' "$readme:5: a picture must be '![what it shows](path)' on a line of its own: '![](a.svg)'" \
    '![](a.svg)'
refuses 'a picture from elsewhere' "$readme:5: the picture 'gate.c' is not in docs/figures" '![A](gate.c)'
refuses 'a link to no file' "$readme:7: it links to 'chapters/01_first/none.md': no such file" '' 'a' 'b [c](none.md)'
refuses 'a link to no file, behind one over two lines' "$readme:7: it links to 'chapters/01_first/none.md': no such file" \
    '[a' 'b](gate.c)' '[c](none.md)'
refuses 'a link out of the repository' "$readme:5: it links to '../../../a.md', which is outside the repository" \
    '[c](../../../a.md)'
refuses 'a command that fails' "$readme:5: 'exit 3' exits with 3; it must exit with 0" '<!-- run: exit 3 -->'
refuses 'a command that should fail' "$readme:5: 'true' exits with 0; it must exit with 1" '<!-- run 1: true -->'
refuses 'an open comment' "$readme:5: a comment must end on its own line" '<!-- a' 'b -->'
page ''
sed -i 's/^# //' "$tiny/$readme"
equal 'a page without a title' "1 chapter_page: $readme:1: the first line must be '# Title {#id}'" "$(make)"
page ''
sed -i 's/[*]//g' "$tiny/$readme"
equal 'a chapter without an idea' "1 chapter_page: docs/pages/main_page.md:3: $readme: it does not begin with what it is about, in bold" "$(make)"
page ''
echo '<!-- words: Warp -->' >>"$tiny/docs/pages/glossary.md"
equal 'a word of two terms' "1 chapter_page: docs/pages/glossary.md: 'Warp' leads to term_warp and to term_warp" "$(make)"
mkdir -p "$tiny/docs/results/h200"
sed -i '$d' "$tiny/docs/pages/glossary.md"
echo '{"rows": [}' >"$tiny/docs/results/h200/02_second_f32.json"
matches 'broken results' "1 chapter_page: docs/pages/main_page.md:3: docs/results/h200/02_second_f32.json:1: *" "$(make)"
echo '{}' >"$tiny/docs/results/h200/02_second_f32.json"
equal 'results without rows' '1 chapter_page: docs/pages/main_page.md:3: docs/results/h200/02_second_f32.json: it has no "rows"' "$(make)"
cat >"$tiny/docs/results/h200/02_second_f32.json" <<END
{"device": "GPU", "kernel_source_sha256": "$(sha256sum "$tiny/chapters/02_second/gate.cu" | cut -d ' ' -f 1)", "toolkit": "CUDA 1", "date": "2026-01-02T03", "rows": [
 {"num_tokens": 1, "here": {"median_us": 2.5}, "before": {"median_us": 5}},
 {"num_tokens": 65536, "here": {"median_us": 99.96}, "before": {"median_us": 12345}}]}
END
equal 'with results' 0 "$(make)"
equal 'what a chapter gains' '| [02 Second](@ref chapter_02) | Its idea. | 2.50 | 100 | 2.00, 123 |' \
    "$(grep '^| \[02' "$tiny/out/mainpage.md")"
equal 'the host is timed by the next' '| [01 First](@ref chapter_01) | The idea. | 5.00 | 12,300 | |' \
    "$(grep '^| \[01' "$tiny/out/mainpage.md" | tr -s ' ')"
echo '// changed' >>"$tiny/chapters/02_second/gate.cu"
equal 'a kernel that has changed: made' 0 "$(make)"
equal 'a kernel that has changed' 1 "$(grep -c '^| \[02.*(times of an older kernel)' "$tiny/out/mainpage.md")"
rm "$tiny/docs/pages/glossary.md"
equal 'no glossary' '1 chapter_page: docs/pages/glossary.md: No such file or directory' "$(make)"

# --- the site ---------------------------------------------------------------------------------------------------------

if ! command -v doxygen >/dev/null || ! [ -d "${DOXYGEN_AWESOME:-/usr/share/doxygen-awesome-css}" ]; then
    skip 'the site' 'doxygen or doxygen-awesome-css is not installed'
    finish
fi

# A copy of the course, in which things can be broken; the programs are the ones that were built.
copy=$scratch/copy
mkdir -p "$copy/build/docs"
cp -r chapters common docs exercises "$copy/"
mkdir "$copy/tests"
cp -r tests/peers "$copy/tests/" # the tables say whether they have changed
ln -s "$build/cpu" "$copy/build/cpu"
ln -s "$build/run" "$copy/build/run"
cp -r "$build/docs/stepper" "$build/docs/steps" "$copy/build/docs/"

# site: the exit status, and what was said
site() {
    said=$(cd "$copy" && sh docs/site.sh build 2>&1)
    echo "$?${said:+ $said}"
}

equal 'the site is made without a warning' '0 build/docs/html/index.html' "$(site)"
html=$copy/build/docs/html
succeeds 'no link or anchor leads nowhere, nothing is fetched from elsewhere, headings are in order' \
    python3 tests/check_site.py "$html"
equal 'the search knows a chapter by its name, and a term' 2 \
    "$(cat "$html"/search/all_*.js | grep -c -e "'Warp per group',\['../chapter_02.html" -e "'butterfly',\['../glossary.html#term_butterfly'")"
succeeds 'what it knows is still a list' sh -c 'for list; do [ "$(tail -n 1 "$list")" = "];" ] || exit 1; done' list \
    "$html"/search/all_*.js
equal 'a command goes on in the next line, but not within an option' 1 "$(grep -c \
    '<code class="command">build/cpu/06_align_serial <span class="option">--num-experts</span> 64 <span' "$html/chapter_06.html")"
equal 'what is short stays in one line' 1 "$(grep -c '<code>ninja figures</code>' "$html/router_data.html")"
megabytes=$(du -sm --apparent-size "$html" | cut -f 1)
succeeds "it has less than 15 MB: $megabytes" [ "$megabytes" -lt 15 ]
for chapter in chapters/*/README.md; do
    number=$(basename "$(dirname "$chapter")" | cut -c 1-2)
    succeeds "chapter $number has its page" [ -f "$html/chapter_$number.html" ]
done
# shellcheck disable=SC2046 # pages are words
looks=$(python3 tests/check_site_in_browser.py "$html" $(cd "$html" && ls -- *.html) 2>&1)
status=$?
if [ "$status" -eq 77 ]; then
    skip 'wide and narrow, light and dark' 'chromium or chromedriver is not installed'
else
    equal 'every page, wide and narrow, light and dark: no scrolling sideways, no error, enough contrast' '' "$looks"
fi

# stops NAME PATTERN FILE SED-SCRIPT: with a file changed so, the site is not made
stops() {
    cp "$copy/$3" "$scratch/kept"
    sed -i "$4" "$copy/$3"
    cmp -s "$scratch/kept" "$copy/$3" && equal "$1: the file is changed" changed same
    matches "$1" "$2" "$(site)"
    cp "$scratch/kept" "$copy/$3"
}

one=chapters/02_warp_per_group/README.md
stops 'a table that is not as recorded' "1 tables: $one:*this is not what would be written now*" "$one" 's/^| 02_warp_per_group | 3/| 02_warp_per_group | 1/'
stops 'a table of a chapter that is not there' "2 tables: $one:*is no chapter with a gate*" "$one" 's/<!-- times: f32 -->/<!-- times: f32 99_none -->/'
stops 'a snippet that is not there' "1 chapter_page: $one:*the tag \[none\] stands in*" "$one" \
    's/gate.cu warp_best$/gate.cu none/'
stops 'a picture that is not there' "1 chapter_page: $one:*the picture*" "$one" '$a ![A](../../docs/figures/none.svg)'
stops 'a link to a page that is not there' "1 *unable to resolve*" docs/pages/primer.md '$s/$/ See @ref no_page_has_this_name./'
stops 'a comment that Doxygen warns of' '1 *' common/harness/core/error.h 's/Formats the line/See @ref no_page_has_this_name. Formats/'
said=$(cd "$copy" && DOXYGEN_AWESOME=/none sh docs/site.sh build 2>&1)
equal 'without the style' '1 doxygen or doxygen-awesome-css is missing: sh common/setup.sh docs installs what the site needs' \
    "$? $said"

# --- what is printed in the page on gdb -------------------------------------------------------------------------------

gdb_page=docs/pages/stepping_in_gdb.md
if ! command -v gdb >/dev/null; then
    skip 'gdb prints what its page says' 'gdb is not installed'
elif [ "$(uname -m)" != x86_64 ]; then
    skip 'gdb prints what its page says' 'docs/lane.gdb is for x86-64'
else
    sed "s|^b = build\$|b = $scratch/debug|; s|^as_written = -O1|as_written = -O0|" build.ninja >"$scratch/debug.ninja"
    program=$scratch/debug/cpu/02_warp_per_group
    succeeds 'the build for gdb' ninja -f "$scratch/debug.ninja" "$program"
    sed -n 's/^(gdb) //p' "$gdb_page" >"$scratch/script"
    equal 'gdb prints what its page says' "$(grep '^\$[0-9]* = ' "$gdb_page")" \
        "$(cd "$root" && timeout 120 gdb -q -batch -ex 'set confirm off' -x "$scratch/script" "$program" 2>/dev/null |
            grep '^\$[0-9]* = ')"
fi
finish
