#!/bin/sh
# Tests common/setup.sh with stubs in place of the machine's commands: which packages it installs, and its output.
. tests/tap.sh

# machine COMMAND...: makes a new folder of commands, $bin, with everything except these commands, which the stub of
# apt-get adds
machine() {
    bin=$scratch/bin
    log=$scratch/log
    rm -rf "$bin"
    mkdir "$bin"
    : >"$log"
    for tool in sh cat mktemp rm tail env chmod cp; do
        ln -s "$(command -v $tool)" "$bin/$tool"
    done
    for command in g++ ld ninja doxygen dot chromium chromedriver clang clang++ clang-format qemu-aarch64 \
        aarch64-linux-gnu-g++ aarch64-linux-gnu-gcc mpicc mpirun python3 patch; do
        fake "$command" 'case "$*" in *dumpversion) echo 12 ;; esac'
    done
    fake gcc 'case "$*" in
        *dumpversion) echo 12.2.0 ;;
        *) [ ! -e "'"$scratch"'/no_headers" ] ;;
        esac'
    rm -f "$scratch/no_headers"
    fake id 'echo 0'
    fake apt-get 'echo "$DEBIAN_FRONTEND: apt-get $*" >>'"$log"'
        case "$*" in *install*)
            for package in "$@"; do
                case $package in
                ninja-build) package=ninja ;; graphviz) package=dot ;; qemu-user) package=qemu-aarch64 ;;
                esac
                cp '"$bin/ld $bin"'/$package
            done
            rm -f '"$scratch"'/no_headers ;;
        esac'
    fake sudo 'echo "sudo $*" >>'"$log"'
        [ "$1" = -n ] && shift
        "$@"'
    for missing in "$@"; do
        rm "$bin/$missing"
    done
}

# fake COMMAND BODY: makes a command
fake() {
    printf '#!%s\n%s\n' "$(command -v sh)" "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

# setup ARGUMENT...: runs common/setup.sh; prints its exit status and output
setup() {
    said=$(PATH=$bin DOXYGEN_AWESOME=$scratch LUNR=$scratch "$(command -v sh)" common/setup.sh "$@" 2>&1 </dev/null)
    echo "$? $said"
}

installs() {
    sed -n 's/^noninteractive.*--no-install-recommends //p' "$log"
}

machine
equal 'nothing missing: one line' '0 setup: nothing is missing' "$(setup)"
equal 'nothing missing: no apt' '' "$(cat "$log")"
equal 'nothing missing for docs and checks' '0 setup: nothing is missing' "$(setup docs checks)"
equal 'nothing missing for docs and checks: no apt' '' "$(cat "$log")"

machine ninja
equal 'ninja missing' '0 setup: installing ninja-build
setup: done' "$(setup)"
equal 'ninja missing: apt is asked once, without questions' 'noninteractive: apt-get -q -y update
noninteractive: apt-get -q -y install --no-install-recommends ninja-build' "$(cat "$log")"
equal 'the second time there is nothing to do' '0 setup: nothing is missing' "$(setup)"

machine ld
touch "$scratch/no_headers"
fake g++ 'echo 11.4.0'
setup >"$scratch/said"
equal 'headers missing and a compiler too old' 'g++ binutils libc6-dev libcmocka-dev' "$(installs)"

machine python3
setup >"$scratch/said"
equal 'Python missing' 'python3' "$(installs)"
machine
fake python3 'case "$*" in *version_info*) exit 1 ;; esac'
setup >"$scratch/said"
equal 'Python too old' 'python3' "$(installs)"

machine
setup hip >"$scratch/said"
equal 'hip' 'hipcc' "$(installs)"

machine dot clang-format qemu-aarch64
equal 'what docs and checks need does not matter to run' '0 setup: nothing is missing' "$(setup)"
setup docs >"$scratch/said"
equal 'docs' 'graphviz' "$(installs)"
machine dot clang-format qemu-aarch64
setup checks >"$scratch/said"
equal 'checks' 'clang-format qemu-user' "$(installs)"
machine
fake mpicc 'exit 1'
setup checks >"$scratch/said"
equal 'an mpicc without headers' 'libopenmpi-dev' "$(installs)"
machine
fake clang 'case "$*" in *-fopenmp*) exit 1 ;; esac'
setup checks >"$scratch/said"
equal "a clang without OpenMP's header" 'libomp-dev' "$(installs)"
machine dot clang-format qemu-aarch64 ninja
setup checks docs >"$scratch/said"
equal 'words combine' 'ninja-build clang-format qemu-user graphviz' "$(installs)"

machine
fake g++ 'echo 10.2.1'
fake apt-get 'exit 0'
equal 'still too old after installing' '1 setup: installing g++
setup: still missing after installing: g++ 12 or newer' "$(setup)"
fake apt-get 'echo "E: no route"; exit 100'
equal 'apt fails: its words and one line' '1 setup: installing g++
E: no route
setup: apt-get could not install g++' "$(setup)"

machine ninja
fake id 'echo 1000'
setup >"$scratch/said"
equal 'not root: through sudo, which must not ask' 'sudo -n env DEBIAN_FRONTEND=noninteractive apt-get -q -y update' \
    "$(head -n 1 "$log")"
equal 'not root: it worked' 'ninja-build' "$(installs)"
machine ninja sudo
fake id 'echo 1000'
equal 'neither root nor sudo' '1 setup: missing: ninja 1.10 or newer; run this as root, or install sudo' "$(setup)"
equal 'neither root nor sudo: no apt' '' "$(cat "$log")"

machine apt-get ninja clang++
equal 'neither Debian nor Ubuntu' "1 setup: missing: ninja 1.10 or newer, clang; this is neither Debian nor Ubuntu, \
install them with its own package manager" "$(setup checks)"
machine apt-get
equal 'neither, but nothing missing' '0 setup: nothing is missing' "$(setup)"

machine ninja
equal 'an unknown word' '2 setup: doc: unknown; the words are docs (for the site), checks (for tests that are skipped without clang, PyTorch, NumPy or MPI) and hip' "$(setup checks doc)"
equal 'an unknown word: no apt' '' "$(cat "$log")"

finish
