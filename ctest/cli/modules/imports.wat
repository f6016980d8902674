;; An import of every kind; only env.abort is ever provided. The start function must never run.
(module
  (import "env" "abort" (func $abort (param i32 i32 i32 i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
  (import "env" "memory" (memory 1))
  (import "env" "table" (table 4 funcref))
  (import "env" "base" (global i32))
  (func $boom unreachable)
  (start $boom)
  (func (export "run")))
