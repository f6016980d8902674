;; fib.wat after an edit: the same name and signature, other code, and a function more.
(module $fib
  (func $fib (export "fib") (param $n i32) (result i32)
    (if (result i32) (i32.le_s (local.get $n) (i32.const 1))
      (then (call $same (local.get $n)))
      (else (i32.add (call $fib (i32.sub (local.get $n) (i32.const 1)))
                     (call $fib (i32.sub (local.get $n) (i32.const 2)))))))
  (func $same (param $n i32) (result i32) (i32.mul (local.get $n) (local.get $n))))
