;; Tables and references: eight operations in a table, called by index in an order that keeps changing because
;; table.get, table.set and table.copy move them about.
(module
  (type $operation (func (param i32 i32) (result i32)))
  (table $operations 8 funcref)
  (elem $initial func $sum $difference $product $both $either $differ $rotated $mixed)

  (func $sum (type $operation) (i32.add (local.get 0) (local.get 1)))
  (func $difference (type $operation) (i32.sub (local.get 0) (local.get 1)))
  (func $product (type $operation) (i32.mul (local.get 0) (i32.or (local.get 1) (i32.const 1))))
  (func $both (type $operation) (i32.add (i32.and (local.get 0) (local.get 1)) (i32.const 0x1234567)))
  (func $either (type $operation) (i32.xor (i32.or (local.get 0) (local.get 1)) (i32.const 0x7654321)))
  (func $differ (type $operation) (i32.xor (local.get 0) (local.get 1)))
  (func $rotated (type $operation) (i32.rotl (local.get 0) (local.get 1)))
  (func $mixed (type $operation)
    (i32.mul
      (i32.xor (local.get 0) (i32.shr_u (local.get 0) (i32.const 15)))
      (i32.const 0x2c1b3c6d)))

  ;; The first operation goes to the end, the others move up by one.
  (func $rotate_table
    (local $first funcref)
    (local.set $first (table.get $operations (i32.const 0)))
    (table.copy $operations $operations (i32.const 0) (i32.const 1) (i32.const 7))
    (table.set $operations (i32.const 7) (local.get $first)))

  (func $tables (export "tables") (param $calls i32) (result i32)
    (local $i i32) (local $value i32)
    (table.init $operations $initial (i32.const 0) (i32.const 0) (i32.const 8))
    (local.set $value (i32.const 1))
    (loop $next
      (if (i32.lt_u (local.get $i) (local.get $calls))
        (then
          (local.set $value
            (call_indirect $operations (type $operation)
              (local.get $value)
              (local.get $i)
              (i32.and (local.get $i) (i32.const 7))))
          (if (i32.eqz (i32.and (local.get $i) (i32.const 63)))
            (then (call $rotate_table)))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next))))
    (local.get $value)))
