;; An init export, and one that traps.
(module
  (global $ready (mut i32) (i32.const 0))
  (func (export "init") (global.set $ready (i32.const 41)))
  (func (export "bad_init") unreachable)
  (func (export "answer") (result i32) (i32.add (global.get $ready) (i32.const 1))))
