# title: What the simulator counts in align, by chapter
heading = 'Align: what a call costs'
load 'docs/plots/counters.gnuplot'
