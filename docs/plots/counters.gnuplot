# The simulator's counters as small multiples: a panel for each counter, a bar for each chapter, its value above it. The plots' own
# scripts set `heading` and load this.
set terminal svg size 820,500 font 'sans-serif,13' noenhanced
set border 1 linecolor rgb '#8a8a8a'
set style fill solid noborder
set boxwidth 0.7
set xtics scale 0 offset 0, 0.3
unset ytics
set xrange [-0.6:num_chapters - 0.4]
set label 1 heading at screen 0.02, 0.955 left font 'sans-serif:Bold,15'
set label 2 source at screen 0.02, 0.03 left font ',12'

set multiplot layout 2, 3 margins screen 0.03, 0.975, 0.125, 0.82 spacing screen 0.04, 0.17
do for [i = 1:6] {
    set yrange [*:*]
    stats $counters index i - 1 using 2 nooutput
    set yrange [0:(STATS_max > 0 ? STATS_max * 1.16 : 1)]
    set label 3 panel[i] at graph 0, 1.1 left font ',13'
    plot $counters index i - 1 using 1:2:xtic(3) with boxes linecolor rgb sky, \
        '' index i - 1 using 1:2:4 with labels offset 0, 0.6 font ',12'
    unset label 1
    unset label 2
}
unset multiplot
