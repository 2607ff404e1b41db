# shellcheck shell=sh
# Read by tests that take chapter programs of any operator.

# operator_of PROGRAM: gate or align, by the flags that it has
operator_of() {
    case $("$1" --help 2>/dev/null) in
    *--block-size*) echo align ;;
    *) echo gate ;;
    esac
}
