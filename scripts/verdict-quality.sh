#!/usr/bin/env bash
# What verdicts are worth (docs/verdict-quality.md): records experiments in which the truth is known and prints tables of how
# often it was found. An hour or two; interrupted, the same command goes on.
#
#   scripts/verdict-quality.sh [--quick] [--busy] [--pairs N | --suites N] [--changes C,C...] [--workloads ID,ID...]
#                              [--programs DIR] [--out DIR]
#
#   --quick      a few minutes: three workloads, no slowdown and 2 %
#   --busy       with two neighbours that never sleep
#   --pairs N    of each workload and change (default 48)
#   --suites N   instead N experiments of all bundled workloads for each change, as CI runs them: until there is a
#                verdict on each, 150 s at most. Without a change the candidate is the same program by another build id
#   --changes    of the candidate, of 0%,shift,0.5%,1%,2%,5%, its default (shift: its code is moved, and nothing else)
#   --programs   where they were built (default build/release/bin)
set -euo pipefail
cd "$(dirname "$0")/.."

bin=build/release/bin
changes=(0% shift 0.5% 1% 2% 5%) pairs=48 suites=0 out=build/verdict-quality busy=no
workloads=(fib collatz sieve quicksort crc32 sha256 matmul nbody mandelbrot list hash_table dispatch)
while [ $# -gt 0 ]; do
  case $1 in
    --quick) changes=(0% 2%) workloads=(fib crc32 sieve) pairs=24 ;;
    --busy) busy=yes ;;
    --pairs) pairs=$2 && shift ;;
    --suites) suites=$2 && shift ;;
    --changes) IFS=, read -ra changes <<<"$2" && shift ;;
    --workloads) IFS=, read -ra workloads <<<"$2" && shift ;;
    --programs) bin=$2 && shift ;;
    --out) out=$2 && shift ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift
done
if [ ! -x $bin/wago_verdict_quality ]; then
  echo "verdict-quality.sh: build first: cmake --preset release && cmake --build --preset release" >&2
  exit 2
fi

neighbours=()
trap 'kill "${neighbours[@]}" 2>/dev/null || true' EXIT
if [ $busy = yes ]; then
  for _ in 1 2; do
    (while :; do :; done) &
    neighbours+=($!)
  done
fi

mkdir -p "$out"
experiments=()
measure() { # CHANGE NAME FLAG...: into $out/NAME.wagoexp
  local change=$1 experiment="$out/$2.wagoexp" candidate=$bin/wago-profile changed=()
  shift 2
  case $change in
    0%) [ "$suites" = 0 ] || candidate="$out/wago-profile" ;;
    shift) changed=(--candidate-arg "code-shift 16") ;;
    *) changed=(--inject-slowdown "$change") ;;
  esac
  $bin/wago-profile profile experiment --catalog corpora/catalog.json --baseline $bin/wago-profile --candidate "$candidate" \
    --no-captures "${changed[@]}" "$@" --out "$experiment" >&2
  experiments+=("$experiment")
}

if [ "$suites" = 0 ]; then
  for change in "${changes[@]}"; do
    measure "$change" "$change" "${workloads[@]/#/--workload=}" --pairs "$pairs" --budget 24h
  done
  $bin/wago_verdict_quality "${experiments[@]}"
else
  # Another build id makes it another program of which nothing is known, so that time alone decides: the id, which follows
  # the head of its note, begins with zeros.
  if [ ! -e "$out/wago-profile" ]; then
    cp $bin/wago-profile "$out/new"
    note=$(LC_ALL=C grep -abom1 -P '\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0' "$out/new" | head -n1 | cut -d: -f1)
    printf '\0\0\0\0' | dd of="$out/new" bs=1 seek=$((note + 16)) conv=notrunc status=none
    mv "$out/new" "$out/wago-profile"
  fi
  for suite in $(seq "$suites"); do
    for change in "${changes[@]}"; do
      measure "$change" "$change-$suite" --budget 150s
    done
  done
  $bin/wago_verdict_quality --as-run --block=8 "${experiments[@]}"
fi
