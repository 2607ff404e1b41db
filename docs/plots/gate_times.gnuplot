# title: The gate's time against the number of tokens
heading = 'The gate: microseconds per call'
load 'docs/plots/times.gnuplot'
