# title: The gate's time against the number of tokens
heading = 'The gate: microseconds per call'
note = ', chapter 01 on its CPU'
load 'docs/plots/times.gnuplot'
