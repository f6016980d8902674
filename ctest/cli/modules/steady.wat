;; One chain of dependent steps: a loop whose speed depends on neither memory nor branches nor where its code lies.
(module
  (func (export "steady") (param $steps i32) (result i32)
    (local $value i32)
    (local.set $value (i32.const 1))
    (loop $again
      (local.set $value
        (i32.add (i32.mul (local.get $value) (i32.const 1664525)) (i32.const 1013904223)))
      (br_if $again (local.tee $steps (i32.sub (local.get $steps) (i32.const 1)))))
    (local.get $value)))
