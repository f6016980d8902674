;; Traps while it is instantiated.
(module
  (func $divide (drop (i32.div_s (i32.const 1) (i32.const 0))))
  (start $divide)
  (func (export "run")))
