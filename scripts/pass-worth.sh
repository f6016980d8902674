#!/usr/bin/env bash
# What an optimisation pass is worth: builds the profiling program with the pass and without it, measures both in pairs on the
# bundled workloads, and reports. A workload that is slower on the candidate's side, which has no such pass, is one that the pass
# speeds up; the code that differs is named with it.
#
#   scripts/pass-worth.sh PASS [--budget D] [--workload ID]... [--out DIR]
#
#   PASS        "inline calls", "forward memory", "reduce strength", "number values", "eliminate checks" or "hoist invariants"
#   --budget    time for the experiment (default 10m); interrupted, the same command goes on
#   --workload  only these (default: all that are bundled)
#   --out       where experiment and report are put (default build/pass-worth/PASS)
set -euo pipefail
cd "$(dirname "$0")/.."

pass=${1-} budget=10m workloads=() out=''
case $pass in
  '' | -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
shift
while [ $# -gt 1 ]; do
  case $1 in
    --budget) budget=$2 ;;
    --workload) workloads+=("--workload=$2") ;;
    --out) out=$2 ;;
    *) break ;;
  esac
  shift 2
done
[ $# = 0 ] || { echo "pass-worth.sh: $1 is not a flag with a value; --budget, --workload and --out are known" >&2 && exit 2; }
out=${out:-build/pass-worth/${pass// /-}}
mkdir -p "$out"

# build_program DIRECTORY [SETTING]: a build of its own, so that neither is built from nothing next time.
build_program() {
  cmake -G Ninja -S . -B "$1" -DCMAKE_BUILD_TYPE=Release -DWAGO_BUILD_TESTS=OFF -DWAGO_WITHOUT_PASS="${2-}" >/dev/null
  cmake --build "$1" --target wago-profile
}
build_program build/profiler
build_program build/without-pass "$pass"
cp build/without-pass/bin/wago-profile "$out/without"
cp build/profiler/bin/wago-profile "$out/with"

status=0
"$out/with" profile experiment --catalog corpora/catalog.json "${workloads[@]}" --baseline "$out/with" --candidate "$out/without" \
  --budget "$budget" --out "$out/pass.wagoexp" || status=$?
[ $status -le 1 ] || exit $status
"$out/with" profile report "$out/pass.wagoexp" --format html,markdown,json --fail-on never \
  --out "$out/report"
echo "report: $out/report"
