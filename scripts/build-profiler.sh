#!/usr/bin/env bash
# Builds the profiling program of this source tree at OUT, for keeping: a release's runner can be measured against years later.
#
#   scripts/build-profiler.sh OUT --cli [--jobs N]
#
#   OUT         the program; an existing one is replaced only when the new one is there
#   --cli       the command line program, wago-profile
#   --jobs N    compile so many files at a time; as many as there are cores
#
# The source revision, and whether the tree was dirty, are baked in and stand in every capture and in OUT --version. What git
# ignores never makes a tree dirty; without git or outside a repository both are "unknown", which the program says.
# The build keeps its files in build/profiler, so that building again is quick.
set -euo pipefail

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
}

refuse() {
  echo "build-profiler.sh: $*" >&2
  exit 2
}

out='' cli=false jobs=$(nproc)
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) usage; exit 0 ;;
    --cli) cli=true ;;
    --jobs)
      [[ "${2-}" =~ ^[1-9][0-9]*$ ]] || refuse "--jobs needs a number"
      jobs=$2
      shift
      ;;
    -*) refuse "unknown flag $1; OUT, --cli and --jobs N are known" ;;
    *)
      [ -z "$out" ] || refuse "OUT is given twice: $out and $1"
      out=$1
      ;;
  esac
  shift
done
[ -n "$out" ] || refuse "OUT is missing: name the program to build"
$cli || refuse "say what to build: --cli, the command line program"
[ ! -d "$out" ] || refuse "$out is a directory; name the program to build"
[ -d "$(dirname "$out")" ] || refuse "the directory $(dirname "$out") does not exist"

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$source/build/profiler
cmake -G Ninja -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DWAGO_BUILD_TESTS=OFF >/dev/null
cmake --build "$build" --target wago-profile --parallel "$jobs"

cp "$build/bin/wago-profile" "$out.part"
mv "$out.part" "$out"
"$out" --version
