;; Names that nobody sees.
(module
  (func (export " ") call 1)
  (func (export "\c2\a0") unreachable))
