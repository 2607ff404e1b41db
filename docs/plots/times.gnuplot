# Time against tokens, a line each, its name where it ends. The plots' own scripts set `heading` and `note` and load this.
set terminal svg size 820,520 font 'sans-serif,14' noenhanced
set lmargin at screen 0.085
set rmargin at screen 0.735
set tmargin at screen 0.90
set bmargin at screen (old eq '' ? 0.19 : 0.22)

set label 1 heading at screen 0.017,0.955 left font 'sans-serif:Bold,15'
set label 2 source.'. Medians; kernels are replayed from a CUDA graph'.note.'.' at screen 0.017,0.03 left font ',12'
set label 3 old at screen 0.017,0.065 left font ',12'
set xlabel 'tokens' offset 0,0.4
set logscale xy
set xrange [1:65536]
set yrange [low:high]
set xtics ('1' 1, '4' 4, '16' 16, '64' 64, '256' 256, '1,024' 1024, '4,096' 4096, '16,384' 16384, '65,536' 65536)
set ytics ('1' 1, '10' 10, '100' 100, '1,000' 1000, '10,000' 10000)
set grid xtics ytics linecolor rgb '#e4e4df' linewidth 1 dashtype 1

# Behind the end of each line its name, after the line's mark; names that would lie on each other are apart.
do for [i = 1:num_lines] {
    set arrow i from first 65536, last[i] to first 65536 * 1.5, label_at[i] nohead linestyle style[i] linewidth 1 dashtype 1
    set label 100 + i label[i] at first 65536 * 1.7, label_at[i] left offset 0.7, -0.15 point linestyle style[i] \
        font (style[i] == 5 ? 'sans-serif:Bold,13' : ',13')
}

plot for [i = 1:num_lines] $times index i - 1 using 1:2 with linespoints linestyle style[i]
