# title: What the simulator counts in the gate, by chapter
heading = 'The gate: what a token costs'
load 'docs/plots/counters.gnuplot'
