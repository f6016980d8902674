#!/bin/sh
# Builds the modules of this folder again: Debian 12's clang 14.0.6 and LLD 14.0.6.
set -e
cd "$(dirname "$0")"
object=$(mktemp)
trap 'rm -f "$object"' EXIT
for version in 4 5; do
  clang++-14 --target=wasm32 -std=c++20 -O1 -g "-gdwarf-$version" -fdebug-compilation-dir=/src \
    -fno-optimize-sibling-calls -c lines.cc -o "$object"
  wasm-ld-14 --no-entry -o "lines$version.wasm" "$object"
done
