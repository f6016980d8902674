(module
  (func (export "spin") (loop (br 0)))
  (func $deep (export "deep") (call $deep) (call $deep)))
