;; One export for every way in which an instruction of WebAssembly can trap, and one that runs out of stack.
(module
  (type $nothing (func))
  (type $number (func (result i32)))
  (memory 1)
  (table $table 4 funcref)
  (elem (i32.const 0) func $seven)

  (func $seven (type $number) (i32.const 7))

  (func $unreachable (export "unreachable") unreachable)
  (func $load_outside (export "load_outside") (result i64) (i64.load (i32.const 65529)))
  (func $store_outside (export "store_outside") (i32.store8 offset=65535 (i32.const 1) (i32.const 0)))
  (func $copy_outside (export "copy_outside")
    (memory.copy (i32.const 0) (i32.const 65000) (i32.const 1000)))
  (func $table_outside (export "table_outside") (result i32) (ref.is_null (table.get $table (i32.const 4))))
  (func $undefined_element (export "undefined_element") (result i32)
    (call_indirect (type $number) (i32.const 4)))
  (func $uninitialized_element (export "uninitialized_element") (result i32)
    (call_indirect (type $number) (i32.const 1)))
  (func $wrong_type (export "wrong_type") (call_indirect (type $nothing) (i32.const 0)))
  (func $divide_by_zero (export "divide_by_zero") (param $n i64) (result i64)
    (i64.rem_u (local.get $n) (i64.sub (local.get $n) (local.get $n))))
  (func $overflow (export "overflow") (param $n i32) (result i32)
    (i32.div_s (local.get $n) (i32.const -1)))
  (func $convert_nan (export "convert_nan") (param $x f64) (result i32)
    (i32.trunc_f64_s (local.get $x)))
  (func $convert_large (export "convert_large") (param $x f32) (result i64)
    (i64.trunc_f32_s (local.get $x)))

  (func $descend (param $depth i64) (result i64)
    (i64.add (call $descend (i64.add (local.get $depth) (i64.const 1))) (local.get $depth)))
  (func $exhaust (export "exhaust") (result i64) (call $descend (i64.const 0)))

  ;; After all that the instance is whole.
  (func $still_seven (export "still_seven") (result i32)
    (call_indirect (type $number) (i32.const 0))))
