# title: What the chapters gain, in microseconds per call
# Two panels, the gate above align, a row for each chapter: its time for one token and for 65,536, on one axis for both. Narrow,
# with large text, so that a phone shows it whole.
height = 586.0
row = 30 / height
low = 0.075
set terminal svg size 460,height font 'sans-serif,14' noenhanced
set lmargin at screen 0.33
set rmargin at screen 0.995
set logscale x
set xrange [low:200000]
unset xtics
unset ytics
set border 0

set label 1 source at screen 0.03, 16 / height left font ',12'
set label 6 'Floor: an empty kernel, or moving the bytes.' at screen 0.03, 34 / height left font ',12'
set label 2 old at screen 0.03, 52 / height left font ',12'

set multiplot
do for [part = 1:2] {
    count = part == 1 ? num_gate : num_align
    # The middle of the panel's first row, and what stands above it.
    row_1 = part == 1 ? 1 - 76 / height : 1 - 76 / height - row * num_gate - 46 / height
    set tmargin at screen row_1 + row / 2
    set bmargin at screen row_1 + row / 2 - row * count
    set yrange [count - 0.5:-0.5]
    set label 3 (part == 1 ? 'Gate, microseconds' : 'Align, microseconds') at screen 0.03, row_1 + 32 / height left font 'sans-serif:Bold,16'
    if (part == 1) {
        set label 4 '1 token' at word($results[1], 2), graph 1 center offset 0, 0.3 font ',13'
        set label 5 '65,536 tokens' at word($results[1], 3), graph 1 center offset 0, 0.3 font ',13'
    }
    plot $results index part - 1 using 2:1:($3 - $2):(0) with vectors nohead linecolor rgb '#d5d5cf' linewidth 4, \
        '' index part - 1 using 2:1 with points pointtype 7 pointsize 0.9 linecolor rgb blue, \
        '' index part - 1 using 3:1 with points pointtype 5 pointsize 0.8 linecolor rgb vermillion, \
        '' index part - 1 using 2:1:6 with labels right offset -0.7, 0 font ',13', \
        '' index part - 1 using 3:1:7 with labels left offset 0.7, 0 font ',13', \
        '' index part - 1 using (low):1:5 with labels right offset -0.5, 0
    do for [i = 1:6] {
        unset label i
    }
}
unset multiplot
