#!/usr/bin/env bash
# Formatting of every source file, by clang-format 14 and .clang-format; and with --tidy clang-tidy 14's few checks (.clang-tidy).
#
#   scripts/lint.sh                     fails and names the places where clang-format would change a file
#   scripts/lint.sh --fix               formats
#   scripts/lint.sh --tidy [FILE...]    clang-tidy over the files, or over all, as build/release compiles them
#
# Exits with 77 where the tool is not installed (Debian: clang-format-14, clang-tidy-14).
set -euo pipefail
cd "$(dirname "$0")/.."

need() {
  command -v "$1" >/dev/null || {
    echo "lint.sh: skipped: $1 is not installed" >&2
    exit 77
  }
}

# Files of a clone or of an export; none that a build made.
sources() {  # PATTERN...
  local names=() pattern
  for pattern; do names+=(-o -name "$pattern"); done
  find . \( -path ./build -o -path ./.git \) -prune -o -type f \( "${names[@]:1}" \) -print
}

case "${1-}" in
  '' | --fix)
    need clang-format-14
    how=(--dry-run -Werror)
    [ -z "${1-}" ] || how=(-i)
    sources '*.cc' '*.h' | xargs clang-format-14 "${how[@]}"
    ;;
  --tidy)
    need clang-tidy-14
    shift
    [ -e build/release/compile_commands.json ] || {
      echo "lint.sh: build/release/compile_commands.json is missing: cmake --preset release && cmake --build --preset release" >&2
      exit 2
    }
    [ $# -gt 0 ] || mapfile -t files < <(sources '*.cc' | sed 's|^\./||')
    [ $# -eq 0 ] || files=("$@")
    # clang does not know all of GCC's warnings.
    printf '%s\0' "${files[@]}" |
      xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 -p build/release --quiet --extra-arg=-Wno-unknown-warning-option
    ;;
  *)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
