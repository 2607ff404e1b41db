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
"$build/cpu/tables" --check chapters/*/README.md

rm -rf "$pages" "$html"
mkdir -p "$pages"
"$build/cpu/chapter_page" "$pages"
doxygen docs/Doxyfile

# What the pages link to beside pages; and a page's title becomes the heading that it looks like.
mkdir -p "$html/files" "$html/figures"
cp "$pages/files/"* "$html/files/" 2>/dev/null || :
cp docs/figures/*.svg "$html/figures/" 2>/dev/null || :
sed -i 's|<div class="title">\(.*\)</div></div>|<h1 class="title">\1</h1></div>|' "$html"/*.html
echo "$html/index.html"
