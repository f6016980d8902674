;; A trap three calls deep, in functions that only debug names name.
(module
  (memory 1)
  (func $load (param i32) (result i32) (i32.load (local.get 0)))
  (func $middle (param i32) (result i32) (i32.add (call $load (local.get 0)) (i32.const 1)))
  (func (export "outer") (param i32) (result i32) (i32.mul (call $middle (local.get 0)) (i32.const 3))))
