;; An export of every kind.
(module
  (memory (export "memory") 1 2)
  (table (export "table") 10 20 funcref)
  (global (export "counter") (mut i64) (i64.const 0))
  (global (export "limit") f32 (f32.const 1))
  (func (export "sum") (param i32 i64) (result f64) (f64.const 0))
  (func (export "with space")))
