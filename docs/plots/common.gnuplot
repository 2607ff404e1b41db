# What all plots share: loaded first, then a plot's data, then its script. Colours are Okabe and Ito's, as in docs/svg.h; text is
# dark, and what a colour tells a dash or a point's shape tells too.
set encoding utf8
set border 3 linecolor rgb '#8a8a8a'
set tics nomirror textcolor rgb '#1a1a1a'
unset key

blue = '#0072b2'
sky = '#56b4e9'
green = '#009e73'
orange = '#e69f00'
vermillion = '#d55e00'
purple = '#cc79a7'
grey = '#8a8a8a'
ink = '#1a1a1a'

# A part's chapters, first to last; the chapter on the host; a library, and its other form; the floor.
set style line 1 linecolor rgb orange linewidth 1.6 pointtype 4 pointsize 0.7
set style line 2 linecolor rgb green linewidth 1.6 pointtype 8 pointsize 0.8
set style line 3 linecolor rgb sky linewidth 1.6 pointtype 6 pointsize 0.7
set style line 4 linecolor rgb purple linewidth 1.6 pointtype 12 pointsize 0.8
set style line 5 linecolor rgb vermillion linewidth 3 pointtype 7 pointsize 0.8
set style line 6 linecolor rgb grey linewidth 1.6 dashtype 2 pointtype 10 pointsize 0.8
set style line 7 linecolor rgb ink linewidth 1.6 dashtype 4 pointtype 2 pointsize 0.7
set style line 8 linecolor rgb ink linewidth 1.6 dashtype 1 pointtype 5 pointsize 0.6
set style line 9 linecolor rgb blue linewidth 1.6 dashtype 3 pointtype 3 pointsize 0.6
