# shellcheck shell=sh
# Functions for scripts that take measurements on a GPU.

# print_head KIND NAME SOURCE COMMAND: prints the beginning of a recorded run; KIND is chapter or peer
print_head() {
    cat <<END_OF_HEAD
{
  "$1": "$2",
  "gpu": "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)",
  "cuda": "$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')",
  "date": "$(date +%Y-%m-%d)",
  "kernel_source_sha256": "$(sh common/source_hash.sh "$3")",
  "command": "$4",
END_OF_HEAD
}
