;; Division: the remainders and quotients of $n by every smaller number, and a division that traps when it is
;; asked to divide by zero.
(module
  (func $divide (export "divide") (param $a i32) (param $b i32) (result i32)
    (i32.div_s (local.get $a) (local.get $b)))

  ;; sum over d in 1..n of (n / d) * (n mod d), wrapping at 32 bits
  (func $quotients (export "quotients") (param $n i32) (result i32)
    (local $d i32) (local $sum i32)
    (local.set $d (local.get $n))
    (loop $next
      (if (local.get $d)
        (then
          (local.set $sum
            (i32.add (local.get $sum)
              (i32.mul
                (call $divide (local.get $n) (local.get $d))
                (i32.rem_s (local.get $n) (local.get $d)))))
          (local.set $d (i32.sub (local.get $d) (i32.const 1)))
          (br $next))))
    (local.get $sum)))
