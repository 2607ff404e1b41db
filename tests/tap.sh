# shellcheck shell=sh
# Functions that report in the Test Anything Protocol, for the shell tests ('. tests/tap.sh').
#
#   equal NAME EXPECTED ACTUAL      passes if the two texts are the same
#   matches NAME PATTERN ACTUAL     passes if the text matches the shell pattern
#   succeeds NAME COMMAND...        passes if the command succeeds
#   skip NAME REASON                reports a skipped test
#   finish                          prints the plan; exits with 1 if anything failed
#
# $scratch is an empty folder that is removed when the test ends. Tests run from the repository's root.

tap_count=0
tap_failed=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

tap_result() {
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
    else
        echo "not ok $tap_count - $2"
        tap_failed=$((tap_failed + 1))
    fi
    return "$1"
}

# tap_show NAME TEXT NAME TEXT: prints two texts as comments, to show why a test failed; returns 1
tap_show() {
    printf '%s\n' "$2" | sed "s/^/# $1: /"
    printf '%s\n' "$4" | sed "s/^/# $3: /"
    return 1
}

equal() {
    [ "$2" = "$3" ]
    tap_result $? "$1" || tap_show expected "$2" '     got' "$3"
}

matches() {
# shellcheck disable=SC2254 # the pattern must not be quoted
    case $3 in
    $2) tap_result 0 "$1" ;;
    *) tap_result 1 "$1" || tap_show expected "$2" '     got' "$3" ;;
    esac
}

succeeds() {
    tap_name=$1
    shift
    tap_output=$("$@" 2>&1)
    tap_result $? "$tap_name" || tap_show command "$*" output "$tap_output"
}

skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

finish() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit
}
