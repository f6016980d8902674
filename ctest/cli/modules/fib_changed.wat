;; fib.wat after an edit: the same name and signature, other code, and a function more.
(module $fib
  (func $fib (export "fib") (param $n i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $n) (i32.const 2))
      (then (local.get $n))
      (else (i32.add (call $step (local.get $n) (i32.const 1))
                     (call $step (local.get $n) (i32.const 2))))))
  (func $step (param $n i32) (param $by i32) (result i32)
    (call $fib (i32.sub (local.get $n) (local.get $by)))))
