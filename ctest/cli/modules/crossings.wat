;; One call that grows memory, fills it, and copies twice.
(module
  (memory 1 4)
  (func (export "move") (param $bytes i32) (result i32)
    (memory.fill (i32.const 0) (i32.const 7) (local.get $bytes))
    (memory.copy (i32.const 1000) (i32.const 0) (local.get $bytes))
    (memory.copy (i32.const 2000) (i32.const 1000) (local.get $bytes))
    (i32.add (memory.grow (i32.const 0)) (i32.load8_u (i32.const 2000)))))
