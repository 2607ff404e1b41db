# title: Align's time against the number of tokens
heading = 'Align, blocks of 64: microseconds per call'
note = ''
load 'docs/plots/times.gnuplot'
