;; Which function runs when none is named: _start before main, whatever else there is.
(module
  (func (export "other") (result i32) (i32.const 3))
  (func (export "main") (result i32) (i32.const 2))
  (func (export "_start") unreachable))
