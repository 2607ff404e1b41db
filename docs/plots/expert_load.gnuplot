# title: How many choices each expert gets
# Experts from the busiest down, a bar each; the words that the busiest ones get; who gets nothing.
set terminal svg size 820,520 font 'sans-serif,14' noenhanced
set lmargin at screen 0.07
set rmargin at screen 0.975
set tmargin at screen 0.89
set bmargin at screen 0.23
set style fill solid noborder
set boxwidth 1
set label 1 numel.' choices of '.num_experts.' experts: how many each gets' at screen 0.017, 0.95 left font 'sans-serif:Bold,15'
set label 2 'Each word chooses 8. The text: '.num_tokens.' words of xmlrpc/client.py, from the library of Python 3.11.' \
    at screen 0.017, 0.07 left font ',12'
set label 4 'A rare word is none of the 8,192 that the model knows. A word that is there several times may go to other experts each time.' \
    at screen 0.017, 0.03 left font ',12'
set xlabel 'experts, the busiest first' offset 0, 0.4
set xrange [0.5:num_experts + 0.5]
set yrange [0:*]
set xtics (1, 32, 64, 96, 128, 160, 192, 224, 256) scale 0.5
set ytics scale 0.5
set grid ytics linecolor rgb '#e4e4df' linewidth 1 dashtype 1

set arrow 1 from 0.5, mean to num_experts + 0.5, mean nohead front linecolor rgb ink linewidth 1.4 dashtype 2
set label 3 sprintf('an even share: %g', mean) at num_experts * 0.85, mean right offset 0, 0.6 font ',13'

set label 5 'The words that each of the busiest gets most often, of how many there are:' at 29, graph 0.965 left font 'sans-serif:Bold,13'
# The busiest, each with a line from its bar's top to its words.
do for [i = 1:num_busy] {
    height = 0.89 - 0.075 * (i - 1)
    set arrow 10 + i from i + 0.5, busy_choices[i] to 27, graph height nohead linecolor rgb vermillion linewidth 1
    set label 10 + i 'expert '.busy_expert[i].', '.busy_choices[i].': '.busy_words[i] at 29, graph height left font ',13'
}
if (num_idle > 0) {
    set object 1 rectangle from num_experts - num_idle + 0.5, graph 0 to num_experts + 0.5, graph 0.012 \
        fillcolor rgb purple fillstyle solid noborder front
    set label 30 sprintf('%d experts get none:', num_idle) at num_experts, graph 0.36 right font ',13'
    set label 31 idle at num_experts, graph 0.305 right font ',12'
    set arrow 30 from num_experts - num_idle / 2.0, graph 0.27 to num_experts - num_idle / 2.0, graph 0.02 size graph 0.008, 25 \
        filled linecolor rgb purple linewidth 1.4
} else {
    set label 30 'The least busy: expert '.idle.' choices' at num_experts, graph 0.36 right font ',13'
}
plot $load using 1:2 with boxes linecolor rgb sky, \
    '' using 1:($0 < num_busy ? $2 : NaN) with boxes linecolor rgb vermillion
