#!/usr/bin/env bash
# From a clean clone to a profile: installs what is missing, builds the programs, records every bundled workload with its result checked,
# and prints where the captures are. Arguments go to ctest (-R fib, say).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh
cmake --preset release
cmake --build --preset release --target wago wago-profile wago_catalog_bundled

status=0
ctest --preset release -L profile "$@" || status=$?
if run=$(readlink build/release/profile/latest); then
  echo "Captures: build/release/profile/$run"
  echo "Read one: build/release/bin/wago-profile profile top build/release/profile/latest/bundled/fib.wagoprof"
fi
exit "$status"
