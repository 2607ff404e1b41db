#!/bin/sh
# Draws a plot with gnuplot, and tells whether the committed ones are of today's numbers; from the repository's root.
#
#   sh docs/plot.sh draw BUILD/docs/plots/NAME.data     the SVG, by docs/plots/NAME.gnuplot, to stdout
#   sh docs/plot.sh check BUILD/docs/plots/NAME.data... docs/figures/NAME.svg is of this data, drawn by this script
#
# What gnuplot writes differs from version to version. So an SVG holds a hash of what it was drawn from, which is compared,
# and one of itself, which tells whether somebody has edited or cut it. `check` needs no gnuplot.
set -eu

# made_from DATA: the hash of the data and of what draws it
made_from() {
    {
        cat "$1" docs/plot.sh docs/plots/common.gnuplot
        name=$(basename "$1" .data)
        cat "docs/plots/$name.gnuplot"
        sed -n "s/^load '\(.*\)'/\1/p" "docs/plots/$name.gnuplot" | xargs -r cat
    } | sha256sum | cut -d ' ' -f 1
}

# itself: the hash of the SVG on stdin but for the line with hashes
itself() {
    grep -v '^<!-- drawn from ' | sha256sum | cut -d ' ' -f 1
}

# said WORD FILE...: what the comment "# WORD: " of one of the files says
said() {
    word=$1
    shift
    cat "$@" | sed -n "s/^# $word: //p" | head -n 1
}

draw() {
    if ! command -v gnuplot >/dev/null; then
        echo 'gnuplot is missing: sh common/setup.sh docs installs it' >&2
        exit 1
    fi
    script=docs/plots/$(basename "$1" .data).gnuplot
    svg=$(mktemp)
    trap 'rm -f "$svg" "$svg.whole"' EXIT
    gnuplot docs/plots/common.gnuplot "$1" "$script" >"$svg"
    # The card that all figures stand on, words for those who do not see it, and the fonts of the other figures.
    awk -v title="$(said title "$script" "$1")" -v description="$(said description "$1" "$script")" '
        !begun && / width="[0-9]+" height="[0-9]+"/ {
            begun = 1
            width = height = $0
            sub(/.* width="/, "", width); sub(/".*/, "", width)
            sub(/.* height="/, "", height); sub(/".*/, "", height)
            printf "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%d\" height=\"%d\" ",
                width, height
            printf "viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title description\">\n", width, height
            printf "<title id=\"title\">%s</title>\n<desc id=\"description\">%s</desc>\n", title, description
            printf "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#fdfdfb\" stroke=\"#c9c9c4\"/>\n",
                width - 1, height - 1
        }
        /<g id="gnuplot_canvas">/ { in_body = 1 }
        !in_body || /^[ \t]*$/ || /<rect x="0" y="0"/ { next }
        /<title>/ { sub(/<title>[^<]*<\/title>/, "") }
        { print }' "$svg" |
        sed "s/font-family=\"sans-serif:Bold\"/font-weight=\"600\" font-family=\"sans-serif\"/
             s/font-family=\"sans-serif\"/font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif\"/" \
            >"$svg.whole"
    sed "1a <!-- drawn from $(made_from "$1"), itself $(itself <"$svg.whole") -->" "$svg.whole"
}

# check_one DATA: says what is wrong, if anything
check_one() {
    picture=docs/figures/$(basename "$1" .data).svg
    if ! [ -f "$picture" ]; then
        echo "$picture: it is missing; ninja figures draws it" >&2
        return 1
    fi
    if ! grep -q "^<!-- drawn from $(made_from "$1"), " "$picture"; then
        echo "$picture: not of today's numbers, or drawn by another docs/plots/$(basename "$1" .data).gnuplot; ninja figures draws it anew" >&2
        return 1
    fi
    if ! grep -q "^<!-- drawn from .*, itself $(itself <"$picture") -->\$" "$picture"; then
        echo "$picture: not as gnuplot left it; ninja figures draws it anew" >&2
        return 1
    fi
}

case ${1-} in
draw) draw "$2" ;;
check)
    shift
    status=0
    for data in "$@"; do
        check_one "$data" || status=1
    done
    exit $status
    ;;
*)
    echo 'usage: sh docs/plot.sh draw NAME.data, or check NAME.data...' >&2
    exit 2
    ;;
esac
