;; Bulk memory: the first 64 KiB page is filled with a pattern from a passive data segment, then $rounds times
;; shifted by overlapping copies in both directions and partly overwritten by memory.fill; the bytes are hashed
;; at the end.
(module
  (memory 2)
  (data $pattern "WagoProfile measures what it has checked. ")  ;; 42 bytes

  ;; 1 KiB of the pattern by memory.init, doubled by memory.copy until the page is full.
  (func $prepare
    (local $at i32)
    (loop $next
      (memory.init $pattern (local.get $at) (i32.const 0) (i32.const 42))
      (br_if $next
        (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 42))) (i32.const 1024))))
    (local.set $at (i32.const 1024))
    (loop $double
      (memory.copy (local.get $at) (i32.const 0) (local.get $at))
      (br_if $double
        (i32.lt_u
          (local.tee $at (i32.shl (local.get $at) (i32.const 1)))
          (i32.const 65536)))))

  (func $shuffle (param $round i32)
    (memory.copy (i32.const 0) (i32.const 65500) (i32.const 36))
    (memory.copy (i32.const 36) (i32.const 0) (i32.const 65500))
    (memory.copy (i32.const 100) (i32.const 101) (i32.const 60000))
    (memory.fill
      (i32.and (i32.mul (local.get $round) (i32.const 7919)) (i32.const 0xffff))
      (local.get $round)
      (i32.const 100)))

  (func $hash (result i64)
    (local $at i32) (local $sum i64)
    (loop $next
      (local.set $sum
        (i64.mul
          (i64.xor (local.get $sum) (i64.load (local.get $at)))
          (i64.const 0x9e3779b97f4a7c15)))
      (local.set $sum (i64.xor (local.get $sum) (i64.shr_u (local.get $sum) (i64.const 32))))
      (br_if $next
        (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 65536))))
    (local.get $sum))

  (func $bulk (export "bulk") (param $rounds i32) (result i64)
    (memory.fill (i32.const 0) (i32.const 0) (i32.const 131072))
    (call $prepare)
    (loop $next
      (if (local.get $rounds)
        (then
          (call $shuffle (local.get $rounds))
          (local.set $rounds (i32.sub (local.get $rounds) (i32.const 1)))
          (br $next))))
    (call $hash)))
