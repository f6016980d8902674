#!/bin/bash
# A samply that goes wrong, as WAGO_FAKE_SAMPLY says; otherwise it says what the real one does, and leaves a document that
# has nothing but what is looked for in it.
echo $$ >> "$WAGO_FAKE_PIDS"
if [ "$1" = --version ]; then echo "samply 9.9-fake"; exit 0; fi
while [ $# -gt 0 ]; do
  case "$1" in
    --output) output=$2 ;;
    --pid) pid=$2 ;;
  esac
  shift
done
case "$WAGO_FAKE_SAMPLY" in
  refuse)
    echo "'/proc/sys/kernel/perf_event_paranoid' is currently set to 2." >&2
    exit 1 ;;
  broken)
    echo "Failed to start profiling: frequency can be at most 100" >&2
    exit 1 ;;
  killed) kill -TERM $$ ;;
  silent) sleep 1000 ;;
  floods) yes "all work and no play makes samply a dull tool" ;;
esac
echo "Recording process with PID $pid until Ctrl+C..." >&2
[ "$WAGO_FAKE_SAMPLY" = dies ] && { sleep 0.1; exit 3; }
while [ -e "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do sleep 0.05; done
case "$WAGO_FAKE_SAMPLY" in
  hangs) sleep 1000 ;;
  nothing) exit 0 ;;
  lost) echo "Lost 12 events." >&2 ;;
esac
case "$WAGO_FAKE_SAMPLY" in
  garbage) echo fake > "$output" ;;
  nameless) echo '{"libs":[]}' > "$output" ;;
  *) echo "{\"libs\":[\"jit-$pid.dump\"]}" | gzip > "$output" ;;
esac
