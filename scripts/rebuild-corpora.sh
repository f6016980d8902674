#!/usr/bin/env bash
# Builds the bundled modules from their sources, and derives the results that the catalog wants from native
# builds.
#
#   scripts/rebuild-corpora.sh           rewrites corpora/*.wasm and their hashes in catalog and provenance
#   scripts/rebuild-corpora.sh --check   changes nothing; fails if anything would change, and exits with 77 where the
#                                        toolchain is not there to tell
#
# Either way every result in the catalog is compared with what a native build of the same workload returns.
# This is the only thing in the project that needs a WebAssembly toolchain; corpora/PROVENANCE.md names its
# versions, and other versions are refused because they build other bytes.
set -euo pipefail

readonly corpora="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/corpora"

fail() {
  echo "rebuild-corpora: $*" >&2
  exit 1
}

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
}

require() {  # TOOL VERSION: what `TOOL --version` must mention
  local problem=
  command -v "$1" >/dev/null || problem="$1 is missing; on Debian 12: apt-get install clang-14 lld-14 wabt gcc python3"
  [[ -n "$problem" || "$("$1" --version)" == *"$2"* ]] || problem="$1 is not version $2"
  [[ -n "$problem" ]] || return 0
  $check || fail "$problem"
  echo "rebuild-corpora: skipped: $problem" >&2
  exit 77
}

build_from_c() {  # SOURCE MODULE
  local simd=()
  if grep -q '^#include "vector.h"$' "$1"; then simd=(-msimd128); fi
  clang-14 --target=wasm32 -std=c11 -O2 -Wall -Wextra -Wno-parentheses -Werror -ffreestanding -fvisibility=default \
    -fno-math-errno -ffp-contract=off -mbulk-memory -msign-ext -mnontrapping-fptoint -mmutable-globals \
    "${simd[@]}" -c "$1" -o "$2.o"
  wasm-ld-14 --no-entry --export-dynamic --stack-first -z stack-size=65536 "$2.o" -o "$2"
  rm "$2.o"
}

build_from_text() {  # SOURCE MODULE
  wat2wasm --debug-names "$1" -o "$2"
}

build_native() {  # SOURCE LIBRARY
  gcc -std=c11 -O1 -Wall -Wextra -Wno-parentheses -Werror -ffp-contract=off -fno-math-errno -fPIC -shared \
    "$1" -o "$2" -lm
}

# The hash of MODULE goes into its entries in the catalog and in the table of the provenance page.
pin() {  # MODULE CATALOG PROVENANCE
  local name hash
  name="$(basename "$1")"
  hash="$(sha256sum "$1" | cut -d ' ' -f 1)"
  grep -q "\"module\": \"$name\", \"module_sha256\": \"" "$2" || fail "$name has no workload in catalog.json"
  grep -q "^| \`$name\` |" "$3" || fail "$name has no line in PROVENANCE.md"
  sed -i "s/\(\"module\": \"$name\", \"module_sha256\": \"\)[0-9a-f]*\"/\1$hash\"/" "$2"
  sed -i "s/^\(| \`$name\` |.*| \`\)[0-9a-f]*\` |$/\1$hash\` |/" "$3"
}

# Runs one iteration of every workload natively, twice, and compares with the catalog. Calls that must trap have
# no native counterpart; PROVENANCE.md says why they trap.
compare_results() {  # CATALOG LIBRARIES
  python3 - "$@" <<'PYTHON'
import ctypes, json, struct, sys

TYPES = {"i32": (ctypes.c_uint32, "<I"), "i64": (ctypes.c_uint64, "<Q"),
         "f32": (ctypes.c_float, "<f"), "f64": (ctypes.c_double, "<d")}

def parse(slot):
    kind, text = slot.split(":")
    if kind in ("i32", "i64"):
        return kind, int(text, 0) % (1 << int(kind[1:]))
    return kind, float.fromhex(text) if "0x" in text else float(text)

def bits(kind, value):
    return struct.pack(TYPES[kind][1], value)

def show(kind, value):
    return f"{kind}:{value:#x}" if kind in ("i32", "i64") else f"{kind}:{value.hex()}"

def call(library, entry):
    """What the call returned, where that is not what the catalog wants."""
    function = getattr(library, entry["export"])
    args = [parse(slot) for slot in entry.get("args", [])]
    want = [parse(slot) for slot in entry["want"]]
    function.argtypes = [TYPES[kind][0] for kind, _ in args]
    function.restype = TYPES[want[0][0]][0] if want else None
    seen = function(*(value for _, value in args))
    if want and bits(want[0][0], seen) != bits(*want[0]):
        return show(want[0][0], seen)

catalog, libraries = sys.argv[1:]
compared = trapping = 0
wrong = {}  # message by message, once each, in order
for workload in json.load(open(catalog))["workloads"]:
    library = ctypes.CDLL(f"{libraries}/{workload['module'].removesuffix('.wasm')}.so")
    if "init" in workload:
        getattr(library, workload["init"])()
    for _ in range(2):
        for entry in workload["calls"]:
            if "want_trap" in entry:
                trapping += 1
                continue
            compared += 1
            seen = call(library, entry)
            if seen is not None:
                wrong[f"{workload['id']}: {entry['export']}({', '.join(entry.get('args', []))}) returns {seen} "
                      f"natively, the catalog wants {entry['want'][0]}"] = True
print(f"{compared // 2} results compared with native builds, {trapping // 2} calls that trap")
sys.exit("\n".join(wrong) if wrong else 0)
PYTHON
}

check=false
case "${1-}" in
  '') ;;
  --check) check=true ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac
[[ $# -le 1 ]] || { usage >&2; exit 2; }

require clang-14 'clang version 14.0.6'
require wasm-ld-14 'LLD 14.0.6'
require wat2wasm '1.0.32'
require gcc ''
require python3 ''

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/modules" "$scratch/libraries"
cp "$corpora/catalog.json" "$corpora/PROVENANCE.md" "$scratch/modules"

for source in "$corpora"/src/*.c "$corpora"/src/*.wat; do
  name="$(basename "${source%.*}")"
  module="$scratch/modules/$name.wasm"
  native="$source"
  if [[ "$source" == *.wat ]]; then
    build_from_text "$source" "$module"
    native="$corpora/twins/$name.c"
    [[ -e "$native" ]] || fail "src/$name.wat has no twin twins/$name.c"
  else
    build_from_c "$source" "$module"
  fi
  build_native "$native" "$scratch/libraries/$name.so"
  pin "$module" "$scratch/modules/catalog.json" "$scratch/modules/PROVENANCE.md"
done

if ! $check; then
  rm -f "$corpora"/*.wasm
  cp "$scratch"/modules/* "$corpora"
fi
for module in "$corpora"/*.wasm; do
  [[ -e "$scratch/modules/$(basename "$module")" ]] || fail "$(basename "$module") has no source"
done
for file in "$scratch"/modules/*; do
  name="$(basename "$file")"
  cmp -s "$file" "$corpora/$name" || fail "$name is not what its sources give; run this without --check"
done
echo "$(ls "$scratch"/modules/*.wasm | wc -l) modules are what their sources give"
compare_results "$corpora/catalog.json" "$scratch/libraries"
