#!/bin/sh
# Measures, on a GPU, the figures in docs/pages/claims.md that are on no chapter's page, records them, regenerates the
# page's tables and prints a summary of all figures. If a measurement fails, the script reports the failure and
# continues.
#
#   ninja && ninja gpu && sh tests/gpu/measure_claims.sh      (some measurements need ncu and PyTorch)
set -u
sh common/variants.sh build/gpu >build/claims.log || exit 1
for program in build/gpu/variants/*; do echo "$program"; done |
    xargs -P 8 -I PROGRAM sh -c 'PROGRAM --check-all >>build/claims.log || echo "PROGRAM is wrong"'
python3 docs/tools/record_all.py --claims >>build/claims.log
grep ': ' build/claims.log | grep -v verified
python3 docs/tools/tables.py docs/pages/claims.md
sed -n '/{#claims_measured}/,/{#claims_checks}/p' docs/pages/claims.md | grep '^| [^t]'
python3 - <<'END_OF_PYTHON'
import sys
sys.path.insert(0, "docs/tools")
import results

def in_short(entry):
    return " ".join(f"{key} {value}" for key, value in entry.items() if value)

runs = results.load()
for run in (run for kept in runs.values() for run in kept):
    if "figures" in run:
        print(*(f"{figure['figure']} {figure['value']}" for figure in run["figures"]), sep="\n")
    for launch in run.get("kernels", []):
        print(run["command"].split("/")[-1], in_short(launch))
for run in runs.get("pytorch_launches", []):
    print(*(f"{row['num_tokens']} of {row['num_experts']}: {in_short(row['us'])}" for row in run["rows"]), sep="\n")
    print("masked_fill", run["masked_fill"] or run.get("reason"))
for run in (run for name in ("06_align_serial", "08_align_blelloch", "09_align_warp_scan") for run in runs.get(name, [])):
    problem = run.get("problem", {})
    if problem.get("capacity") or len(run.get("rows", [])) == 1 and problem["kernel"] == "large" and problem["num_experts"] != 64:
        print(run["chapter"], problem["num_experts"], "experts", problem.get("capacity", ""), run["rows"][0]["num_tokens"], "tokens",
              run["rows"][0]["here"]["median_us"], "us")
END_OF_PYTHON
