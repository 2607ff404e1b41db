#!/bin/sh
# Makes the documentation site in BUILD/docs/html, from the repository's root: sh docs/site.sh BUILD
#
# The programs and the tools it needs are built before (ninja docs). It fails, with a line that says why, where a page names
# something that is not there, where a committed table is not what the tools make now, and at Doxygen's first warning.
set -eu
build=$1
export SITE_OUT="$build/docs"
export DOXYGEN_AWESOME="${DOXYGEN_AWESOME:-/usr/share/doxygen-awesome-css}"
pages=$SITE_OUT/pages
html=$SITE_OUT/html

if ! command -v doxygen >/dev/null || ! [ -f "$DOXYGEN_AWESOME/doxygen-awesome.css" ]; then
    echo 'doxygen or doxygen-awesome-css is missing: sh common/setup.sh docs installs what the site needs' >&2
    exit 1
fi
python3 docs/tools/tables.py --check --build "$build" chapters/*/README.md

mkdir -p "$pages"
exec 9>"$SITE_OUT/lock"
flock 9 # two at once would change each other's pages
rm -rf "$html" "$pages/files"
find "$pages" -maxdepth 1 -type f -delete
cp "$SITE_OUT"/stepper/stepper_*.md "$SITE_OUT"/steps/step_*.md "$pages/"
"$build/cpu/chapter_page" "$pages"
doxygen docs/Doxyfile

# What the pages link to beside pages. Then a page's title becomes the heading that it looks like, and what is below it moves
# one level down: Doxygen makes the title no heading, and its sections the highest ones.
mkdir -p "$html/files" "$html/figures"
cp "$pages/files/"* "$html/files/" 2>/dev/null || :
cp docs/figures/*.svg "$html/figures/"
cp "$SITE_OUT/stepper/stepper.js" "$SITE_OUT/stepper/stepper.css" "$html/"
sed -i 's|<div class="title">\(.*\)</div></div>|<h1 class="title">\1</h1></div>|' "$html"/*.html
for page in "$html"/index.html $(cd "$pages" && ls -- *.md | sed "s|^|$html/|; s|md$|html|"); do
    [ ! -f "$page" ] || sed -i -E '/class="title"|class="toc"/!{
        s|<(/?)h4>|<\1h5>|g; s|<(/?)h3>|<\1h4>|g; s|<(/?)h2>|<\1h3>|g; s|<(/?)h1>|<\1h2>|g
    }' "$page"
done
# A line may end behind a hyphen, but not in the middle of an option: --trace would become -- and trace. What is longer than a
# line of a phone is a command, which begins where the text stands and goes on below.
for page in $(cd "$pages" && ls -- *.md | sed "s|^|$html/|; s|md$|html|") "$html/index.html"; do
    [ -f "$page" ] || continue
    awk -F '<code>' '{
        line = $1
        for (i = 2; i <= NF; i++) {
            end = index($i, "</code>")
            code = substr($i, 1, end - 1)
            gsub(/ --?[A-Za-z][^ <]*/, "<span class=\"option\">&</span>", code)
            gsub(/<span class="option"> /, " <span class=\"option\">", code)
            line = line (length(substr($i, 1, end - 1)) > 40 ? "<code class=\"command\">" : "<code>") code substr($i, end)
        }
        print line
    }' "$page" >"$page.tmp" && mv "$page.tmp" "$page"
done
# Lists of names have no heading of the first level, and files without macros that are described link to those.
sed -i 's|<div class="contents">|<div class="contents"><h1>Names in the source files</h1>|; s|<h3>|<h2>|; s|</h3>|</h2>|' "$html"/globals*.html
for page in "$html"/*.html; do
    grep -q 'id="define-members"' "$page" || echo "$page"
done | xargs sed -i '/^<a href="#define-members">Macros<\/a>/d'
sed -i 's|<div class="toc"><h3>Table of Contents</h3>|<div class="toc"><h2>On this page</h2>|' "$html"/*.html
sed -i 's|toc > h3|toc > h2|' "$html/doxygen-awesome-interactive-toc.js"
sed -i 's|div\.toc h3|div.toc h2|' "$html/doxygen-awesome.css"

# Every line of a source has its anchor under two attributes; one will do, and the site is half a megabyte smaller.
sed -i -E 's| id="(l[0-9]+)" name="l[0-9]+"| id="\1"|' "$html"/*_source.html

# The tree at the side names variables after files, and a name in JavaScript cannot begin with a digit.
sed -i -E '1s/^var ([0-9])/var _\1/' "$html"/[0-9]*.js
sed -i "s|eval(n.replace(/.-/g,'_'))|eval(n.replace(/-/g,'_').replace(/^(?=[0-9])/,'_'))|" "$html/navtree.js"

# The search finds what begins with what was typed. Chapters begin with a number, and a glossary's terms are no symbols: they
# are added to the list of names with their first letter, all_N.js, where N counts the letters that have a list, in hexadecimal.
letters=$(sed -n 's/^  0: "\(.*\)",$/\1/p' "$html/search/searchdata.js")
awk -F '\t' -v letters="$letters" '
    {
        name = tolower($1)
        list = index(letters, substr(name, 1, 1)) - 1
        gsub(/_/, "_5f", name); gsub(/ /, "_20", name); gsub(/,/, "_2c", name); gsub(/-/, "_2d", name)
        if (list >= 0 && name ~ /^[a-z0-9_]+$/)
            printf "%x ,[\047%s_t%d\047,[\047%s\047,[\047../%s\047,1,\047%s\047]]]\n", list, name, NR, $1, $2,
                $2 ~ /^glossary/ ? "glossary" : "chapter"
    }' "$pages/search.tsv" | while read -r list entry; do
    sed -i '$d' "$html/search/all_$list.js"
    printf '%s\n];\n' "$entry" >>"$html/search/all_$list.js"
done
echo "$html/index.html"
