# Checks that the simulator's page lists every counter with the description from the list of counters.

. tests/tap.sh

rows=$(sed -n 's/^\(RARE_\)*COUNTER(\([a-z_]*\), "[^"]*", "\([^"]*\)")$/| `\2` | \3 |/p' common/simt/counter_list.h)
equal "each counter has one line in the list" "$(grep -c '^\(RARE_\)*COUNTER' common/simt/counter_list.h)" \
    "$(echo "$rows" | wc -l)"
equal "the page has these rows" "$rows" "$(sed -n '/^| counter |/,/^$/ { /^| `/p }' docs/pages/simulator.md)"
finish
