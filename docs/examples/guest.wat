;; What the examples run. guest.wasm is `wat2wasm guest.wat`.
(module
  (import "host" "log" (func $log (param i32 i32)))
  (type $binary (func (param i32 i32) (result i32)))
  (memory (export "memory") 1 16)
  (table (export "operations") 4 funcref)
  (data (i32.const 16) "hello from the guest")

  (func (export "greet")
    (call $log (i32.const 16) (i32.const 20)))

  ;; The sum of `count` 32-bit numbers from `address` on.
  (func (export "sum") (param $address i32) (param $count i32) (result i64)
    (local $sum i64)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (i64.add (local.get $sum) (i64.load32_s (local.get $address))))
        (local.set $address (i32.add (local.get $address) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next)))
    (local.get $sum))

  ;; operations[index](a, b)
  (func (export "operate") (param $index i32) (param $a i32) (param $b i32) (result i32)
    (call_indirect (type $binary) (local.get $a) (local.get $b) (local.get $index))))
