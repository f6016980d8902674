;; Vectors in and out.
(module
  (func (export "add") (param v128 v128) (result v128) (i32x4.add (local.get 0) (local.get 1)))
  (func (export "scale") (param f64 v128) (result v128 f64)
    (f64x2.mul (local.get 1) (f64x2.splat (local.get 0)))
    (f64x2.extract_lane 1 (local.get 1))))
