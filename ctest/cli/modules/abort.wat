(module
  (import "env" "abort" (func $abort (param i32 i32 i32 i32)))
  (func $check (param i32) (if (local.get 0) (then (call $abort (i32.const 1) (i32.const 2) (i32.const 3) (i32.const 4)))))
  (func (export "main") (param i32) (call $check (local.get 0))))
