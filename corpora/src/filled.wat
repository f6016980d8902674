;; What an initialising export leaves in memory is read by the measured one: `fill` writes 256 KiB of numbers
;; of a linear congruential generator, `scan` hashes them.
(module
  (memory $numbers (export "memory") 4)

  (func $fill (export "fill")
    (local $at i32) (local $state i64)
    (local.set $state (i64.const 0x853c49e6748fea9b))
    (loop $next
      (local.set $state
        (i64.add
          (i64.mul (local.get $state) (i64.const 6364136223846793005))
          (i64.const 1442695040888963407)))
      (i64.store (local.get $at) (local.get $state))
      (br_if $next
        (i32.ne
          (local.tee $at (i32.add (local.get $at) (i32.const 8)))
          (i32.const 262144)))))

  (func $scan (export "scan") (result i64)
    (local $at i32) (local $hash i64)
    (loop $next
      (local.set $hash
        (i64.mul
          (i64.xor (i64.rotl (local.get $hash) (i64.const 5)) (i64.load (local.get $at)))
          (i64.const 0x100000001b3)))
      (br_if $next
        (i32.ne
          (local.tee $at (i32.add (local.get $at) (i32.const 8)))
          (i32.const 262144))))
    (local.get $hash)))
