;; Extended Euclid with several values at once: functions with two results, loops with parameters. Adds up
;; gcd(a, b) and the Bezout coefficients of all pairs 1 <= a, b <= $limit.
(module
  (func $divide (param $a i64) (param $b i64) (result i64 i64)
    (i64.div_s (local.get $a) (local.get $b))
    (i64.rem_s (local.get $a) (local.get $b)))

  ;; gcd of a and b, and an x such that a*x = gcd modulo b.
  (func $euclid (param $a i64) (param $b i64) (result i64 i64)
    (local $x i64) (local $next_x i64) (local $quotient i64)
    (local.get $a) (local.get $b)
    (i64.const 1) (i64.const 0)
    (loop $step (param i64 i64 i64 i64) (result i64 i64)
      (local.set $next_x) (local.set $x) (local.set $b) (local.set $a)
      (local.get $a) (local.get $x)
      (i64.ne (local.get $b) (i64.const 0))
      (if (param i64 i64) (result i64 i64)
        (then
          (drop) (drop)
          (call $divide (local.get $a) (local.get $b))
          (local.set $a) (local.set $quotient)
          (local.get $b)
          (local.get $a)
          (local.get $next_x)
          (i64.sub (local.get $x) (i64.mul (local.get $quotient) (local.get $next_x)))
          (br $step)))))

  (func $bezout (export "bezout") (param $limit i32) (result i64)
    (local $a i64) (local $b i64) (local $end i64) (local $sum i64)
    (local.set $end (i64.extend_i32_u (local.get $limit)))
    (local.set $a (i64.const 1))
    (loop $rows
      (local.set $b (i64.const 1))
      (loop $columns
        (call $euclid (local.get $a) (local.get $b))
        (i64.mul (i64.const 31))
        (i64.add)
        (i64.add (i64.mul (local.get $sum) (i64.const 3)))
        (local.set $sum)
        (br_if $columns
          (i64.le_s (local.tee $b (i64.add (local.get $b) (i64.const 1))) (local.get $end))))
      (br_if $rows
        (i64.le_s (local.tee $a (i64.add (local.get $a) (i64.const 1))) (local.get $end))))
    (local.get $sum)))
