;; Collatz sequences: the steps that every number from 1 to $limit takes to reach 1, added up. Two nested
;; loops with an unpredictable branch in the inner one.
(module
  (func $steps (param $n i64) (result i64)
    (local $count i64)
    (block $done
      (loop $next
        (br_if $done (i64.eq (local.get $n) (i64.const 1)))
        (local.set $n
          (if (result i64) (i64.eqz (i64.and (local.get $n) (i64.const 1)))
            (then (i64.shr_u (local.get $n) (i64.const 1)))
            (else (i64.add (i64.mul (local.get $n) (i64.const 3)) (i64.const 1)))))
        (local.set $count (i64.add (local.get $count) (i64.const 1)))
        (br $next)))
    (local.get $count))

  (func $collatz (export "collatz") (param $limit i32) (result i64)
    (local $n i32) (local $total i64)
    (loop $next
      (if (i32.lt_u (local.get $n) (local.get $limit))
        (then
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (local.set $total
            (i64.add (local.get $total) (call $steps (i64.extend_i32_u (local.get $n)))))
          (br $next))))
    (local.get $total)))
