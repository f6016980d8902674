;; Mutable globals and a start function: a 64-bit xorshift generator that keeps its state in globals.
;; `draw` starts over, draws $n numbers and returns how many were odd, times 2^32, plus a hash of them all.
(module
  (global $seed i64 (i64.const 0x2545f4914f6cdd1d))
  (global $state (mut i64) (i64.const 0))
  (global $odd (mut i32) (i32.const 0))
  (global $hash (mut i32) (i32.const 0))

  (func $restart
    (global.set $state (global.get $seed))
    (global.set $odd (i32.const 0))
    (global.set $hash (i32.const 0)))
  (start $restart)

  (func $advance
    (global.set $state
      (i64.xor (global.get $state) (i64.shl (global.get $state) (i64.const 13))))
    (global.set $state
      (i64.xor (global.get $state) (i64.shr_u (global.get $state) (i64.const 7))))
    (global.set $state
      (i64.xor (global.get $state) (i64.shl (global.get $state) (i64.const 17)))))

  (func $record
    (global.set $odd
      (i32.add (global.get $odd) (i32.and (i32.wrap_i64 (global.get $state)) (i32.const 1))))
    (global.set $hash
      (i32.add
        (i32.mul (global.get $hash) (i32.const 16777619))
        (i32.wrap_i64 (i64.shr_u (global.get $state) (i64.const 32))))))

  (func $draw (export "draw") (param $n i32) (result i64)
    (call $restart)
    (loop $next
      (if (local.get $n)
        (then
          (call $advance)
          (call $record)
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (br $next))))
    (i64.or
      (i64.shl (i64.extend_i32_u (global.get $odd)) (i64.const 32))
      (i64.extend_i32_u (global.get $hash)))))
