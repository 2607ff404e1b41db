# shellcheck shell=sh
# Read by tests that take chapter programs of any operator.

# operator_of PROGRAM: gate or align, by an option that only it has; other, of which tests ask what every program can do
operator_of() {
    case $("$1" --help 2>/dev/null) in
    *--block-size*) echo align ;;
    *--num-expert-group*) echo gate ;;
    *) echo other ;;
    esac
}
