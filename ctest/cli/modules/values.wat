;; Each type in and out, and several results at once.
(module
  (func (export "i32") (param i32) (result i32) (local.get 0))
  (func (export "i64") (param i64) (result i64) (local.get 0))
  (func (export "f32") (param f32) (result f32) (local.get 0))
  (func (export "f64") (param f64) (result f64) (local.get 0))
  (func (export "funcref") (param funcref) (result i32) (ref.is_null (local.get 0)))
  (func (export "all") (result i32 i64 f32 f64)
    (i32.const -1) (i64.const -2) (f32.const 0.1) (f64.const nan:0x1))
  (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  (func (export "nothing")))
