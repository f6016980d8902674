#!/bin/bash
# A perf that goes wrong, as WAGO_FAKE_PERF says; what it does not spoil, the real one (WAGO_REAL_PERF) does.
echo $$ >> "$WAGO_FAKE_PIDS"
real() { exec "$WAGO_REAL_PERF" "$@"; }
case "$WAGO_FAKE_PERF: $* " in
  "silent:"*) exit 0 ;;
  *" --version "*) echo "perf version 9.9-fake"; exit 0 ;;
  *" record "*) part=record ;;
  *" inject "*) part=inject ;;
  *" script "*) part=script ;;
esac

case "$WAGO_FAKE_PERF:$part" in
  refuse:record)
    echo "Error:" >&2
    echo "No permission to enable cpu-clock:u event." >&2
    exit 255 ;;
  broken:record)
    echo "perf: cannot find libnothing.so" >&2
    exit 127 ;;
  stall:record | dies:record | nonsense:record | sleeps:record)
    sleep 1000 &  # one more in the group
    echo $! >> "$WAGO_FAKE_PIDS"
    while read -r -u 3 word; do
      case "$WAGO_FAKE_PERF:$word" in
        stall:enable) sleep 1000 ;;
        nonsense:enable) echo "what?" >&3 ;;
        dies:enable) printf 'ack\n' >&3; exit 3 ;;
        *) printf 'ack\n\0' >&3 ;;
      esac
    done ;;
  floodslog:record) yes "all work and no play makes perf a dull tool" ;;
  killed:record) kill -TERM $$ ;;
  hangs:inject) sleep 1000 ;;
  idle:inject) exit 0 ;;
  mute:script) exit 0 ;;
  half:script) "$WAGO_REAL_PERF" "$@" | head -n 3 ;;
  fails:inject) echo "perf inject: out of luck" >&2; exit 1 ;;
  garbage:script) head -c 100000 /dev/urandom | tr -d '\n'; echo ;;
  nosample:script) echo "hello 12 world" ;;
  floods:script) while :; do echo "1/1 1.000000001: 1"; echo "   1 [unknown] ([unknown])"; echo; done ;;
  lost:script) echo "1/1 1.000000001: PERF_RECORD_LOST lost 12" ;;
  floodsinject:inject) yes "all work and no play makes perf a dull tool" ;;
  *) real "$@" ;;
esac
