#!/bin/sh
# Runs the README's commands on minimal installations of other systems, as a reader would. debootstrap makes each system
# in a scratch folder; the system gets a clone of this repository's HEAD and only what common/setup.sh installs.
#
#   sh tests/systems/two_commands.sh [-b BUILD] [SYSTEM...]      SYSTEM is a release that debootstrap knows; by default,
#                                                                bookworm and trixie (Debian 12 and 13)
#
# In each system, the commands are run by
#
#   root, in /root/course and without a locale: the commands at the beginning of the README, then those for the site
#   a user, in a folder with a space in its name, with a comma as the decimal separator, without a network: the same
#   commands, with the packages that the site needs installed, so that the site's tests run as well
#
# Each command is a test, whose output is in BUILD/systems/SYSTEM_N.log. The last line gives the totals; the exit status
# is 1 if anything failed. Each system takes an hour and 4 GB of scratch space ($TMPDIR). Needs root.
set -u

passed=0
failed=0
skipped=0
child=
scratch=

# clean_up: kills the running commands. Mounts are in a separate namespace and disappear with the commands.
clean_up() {
    trap - EXIT
    [ ! "$child" ] || kill -KILL "$child" 2>/dev/null
    wait
    [ ! "$scratch" ] || rm -rf --one-file-system "$scratch"
}

# finish: prints the totals and exits
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped: $1: $2"
}

# wait_for COMMAND...: runs the command in the background and waits, so that this script can be interrupted
wait_for() {
    "$@" </dev/null &
    child=$!
    wait "$child"
    set -- $?
    child=
    return "$1"
}

# apart OPTION... COMMAND...: runs the command in its own mount and PID namespaces; the options are unshare's
apart() {
    wait_for unshare --mount --pid --fork --kill-child --propagation private "$@"
}

# inside network|none WORD...: runs env with these words inside the system, with or without a network
inside() {
    inside_network=$1
    shift
    case $inside_network in
    network) apart sh -euc "$enter" "$root" : "$@" ;;
    none) apart --net sh -euc "$enter" "$root" lo_up "$@" ;;
    esac
}
# shellcheck disable=SC2016 # another shell expands the variables
enter='
lo_up() {
    chroot "$0" python3 -c "
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack(\"16sh22x\", b\"lo\", 1))  # SIOCSIFFLAGS: IFF_UP"
}
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount --rbind /sys "$0/sys"
"$1"
shift
exec chroot "$0" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb "$@"'

# try NAME COMMAND...: runs a command as a test and writes its output to a log
try() {
    name="$system, $1"
    number=$((number + 1))
    log=$logs/${system}_$number.log
    started=$(date +%s)
    shift
    "$@" >"$log" 2>&1
    status=$?
    seconds=$(($(date +%s) - started))
    sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
    if [ $status -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $name  ${sum:+$sum  }$seconds s"
    else
        failed=$((failed + 1))
        echo "FAILED  $name  ${sum:-exit $status}  $seconds s; $log has it all:"
        grep '^FAILED' "$log" || tail -n 20 "$log"
    fi
    return $status
}

# as_root COMMAND: runs the command as root in the course's folder
as_root() {
    inside network HOME=/root sh -c "cd /root/course && $1"
}

# as_user COMMAND: runs the command as the user, without a network
as_user() {
    inside none HOME=/home/reader USER=reader LANG=de_DE.UTF-8 \
        setpriv --reuid=reader --regid=reader --clear-groups sh -c "cd '/home/reader/a course' && $1"
}

# add_user: makes a user with a clone, and a locale whose decimal separator is a comma
add_user() {
    inside network HOME=/root DEBIAN_FRONTEND=noninteractive sh -euc '
        apt-get -q -y install --no-install-recommends locales
        localedef -i de_DE -f UTF-8 de_DE.UTF-8
        useradd --create-home --shell /bin/sh reader' &&
        git clone --quiet --no-hardlinks . "$root/home/reader/a course" &&
        inside network chown -R reader:reader /home/reader
}

# try_system: runs the commands in $system
try_system() {
    root=$scratch/$system
    number=0
    log=$logs/${system}_0.log
    set -- --variant=minbase
    case $(readlink -f "/usr/share/debootstrap/scripts/$system") in
    */gutsy) set -- "$@" --components=main,universe ;; # Ubuntu: cmocka is in universe
    esac
    if ! apart debootstrap "$@" "$system" "$root" >"$log" 2>&1; then
        skip "$system" "debootstrap does not make it here: $(tail -n 1 "$log")"
        return
    fi
    cat /etc/resolv.conf >"$root/etc/resolv.conf"
    git clone --quiet --no-hardlinks . "$root/root/course" && inside network chown -R root:root /root/course
    try 'root: sh common/setup.sh && ninja run' as_root 'sh common/setup.sh && ninja run' || return
    try 'root: ninja test' as_root 'ninja test'
    try 'root: sh common/setup.sh docs && ninja docs' as_root 'sh common/setup.sh docs && ninja docs'
    try 'root: another user, and a locale' add_user || return
    try 'user: sh common/setup.sh docs && ninja run' as_user 'sh common/setup.sh docs && ninja run' || return
    try 'user: ninja test' as_user 'ninja test'
    try 'user: ninja docs' as_user 'ninja docs'
    rm -rf --one-file-system "$root"
}

build=build
while getopts b: option; do
    case $option in
    b) build=$OPTARG ;;
    *)
        echo 'usage: sh tests/systems/two_commands.sh [-b BUILD] [SYSTEM...]' >&2
        exit 2
        ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- bookworm trixie

for tool in debootstrap unshare git; do
    if ! command -v $tool >/dev/null; then
        skip "$*" "there is no $tool"
        finish
    fi
done
if [ "$(id -u)" -ne 0 ]; then
    skip "$*" "only root can make a system to change into"
    finish
fi
logs=$build/systems
mkdir -p "$logs" && scratch=$(mktemp -d) || exit 1
chmod 755 "$scratch"
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
for system in "$@"; do
    try_system
done
finish
