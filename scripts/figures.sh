#!/usr/bin/env bash
# Measures the project's figures (docs/figures.md) with the release build. Arguments go to wago_figures.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=build/release/bin
if [ ! -x $bin/wago_figures ]; then
  echo "figures.sh: build first: cmake --preset release && cmake --build --preset release" >&2
  exit 2
fi
exec $bin/wago_figures --catalog=corpora/catalog.json --fib=corpora/fib.wasm --wago=$bin/wago \
  --node-side=harness/bench/node_side.mjs "$@"
