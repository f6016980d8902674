#!/usr/bin/env bash
# Installs the Debian 12 packages that WagoProfile is built with; does nothing where all are there.
# Needs root, or sudo.
set -euo pipefail

if [ $# -gt 0 ]; then
  [ "$1" = --help ] || [ "$1" = -h ] || { echo "install-deps.sh: takes no arguments" >&2; exit 2; }
  sed -n '2,3s/^# //p' "$0"
  exit 0
fi

# ccache: a test builds this tree again, in another place.
packages=(
  cmake ninja-build g++ ccache git ca-certificates python3
  llvm-19-dev libzstd-dev zlib1g-dev libsqlite3-dev
  libbenchmark-dev googletest libgtest-dev nlohmann-json3-dev libcli11-dev
  wabt
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "install-deps.sh: needs root or sudo to install: ${missing[*]}" >&2
    exit 2
  }
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
